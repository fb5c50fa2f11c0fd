#include "models/parallel/planner/planner_accuracy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "models/base/integer_math.h"
#include "models/transformer/flops.h"

namespace models::parallel {
namespace {

constexpr double tie_share = 0.03;
constexpr std::size_t least_set = 5;

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double at = share * as_double(static_cast<std::int64_t>(values.size()) - 1);
  return values[static_cast<std::size_t>(std::llround(at))];
}

/// Model flops a second and GPU of a run.
double rate_of(const PlannerRuns& all, const PlannerRun& r) {
  const double tokens = as_double(r.global_batch) * as_double(r.plan.sequence);
  return megatron_flops_per_token(all.shapes[r.shape], as_double(r.plan.sequence)) * tokens /
         (r.step_s * as_double(r.gpus));
}

/// Each run's step time by the mean rate of all others on the same chip and format, dense or not.
std::vector<double> constant_rate_errors(const PlannerRuns& all) {
  using Key = std::tuple<std::string, Format, bool, bool>;
  std::map<Key, std::vector<double>> rates;
  const auto key_of = [&](const PlannerRun& r) {
    return Key{r.chip, r.format, all.shapes[r.shape].moe.routed > 0, r.adapters};
  };
  for (const PlannerRun& r : all.runs)
    if (r.step_s > 0) rates[key_of(r)].push_back(rate_of(all, r));
  std::vector<double> errors(all.runs.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < all.runs.size(); ++i) {
    const PlannerRun& r = all.runs[i];
    if (!(r.step_s > 0)) continue;
    const std::vector<double>& like = rates[key_of(r)];
    if (like.size() < 2) continue;
    const double own = rate_of(all, r);
    const double others =
        (std::accumulate(like.begin(), like.end(), 0.0) - own) / as_double(static_cast<std::int64_t>(like.size()) - 1);
    errors[i] = std::abs(own / others - 1);
  }
  return errors;
}

std::vector<double> ranks_of(std::span<const double> values, double tie) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && values[order[end]] <= values[order[i]] * (1 + tie)) ++end;
    const double mean = (as_double(static_cast<std::int64_t>(i)) + as_double(static_cast<std::int64_t>(end) - 1)) / 2;
    for (std::size_t k = i; k < end; ++k) ranks[order[k]] = mean;
    i = end;
  }
  return ranks;
}

}  // namespace

bool PlannerAccuracy::holds() const {
  const auto within = [](double value, double bar) { return bar == 0 || value <= bar; };
  return within(median, median_bar) && within(mean, mean_bar) && within(ninetieth, ninetieth_bar) &&
         within(worst, worst_bar);
}

double spearman(std::span<const double> a, std::span<const double> b, double tie) {
  const std::vector<double> x = ranks_of(a, tie), y = ranks_of(b, tie);
  const double n = as_double(static_cast<std::int64_t>(x.size()));
  const double mx = std::accumulate(x.begin(), x.end(), 0.0) / n, my = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

namespace {

/// Fills a row from the runs that `takes` accepts, and adds it where there are any.
template <class Takes>
void add_row(const PlannerRuns& all, std::span<const PricedRun> priced, const std::vector<double>& constant,
             PlannerAccuracy row, const Takes& takes, PlannerReport& report) {
  std::vector<double> errors, flat, judging;
  for (const PricedRun& p : priced) {
    const PlannerRun& r = all.runs[p.run];
    if (!(r.step_s > 0) || !p.reason.empty() || !takes(r)) continue;
    const double error = std::abs(p.error);
    errors.push_back(error);
    if (r.judges) judging.push_back(error);
    if (std::isfinite(constant[p.run])) flat.push_back(constant[p.run]);
    row.mean += error;
    if (error > row.worst) {
      row.worst = error;
      row.worst_run = r.id;
    }
  }
  row.runs = errors.size();
  if (errors.empty()) return;
  row.mean /= as_double(static_cast<std::int64_t>(errors.size()));
  row.median = quantile(errors, 0.5);
  row.ninetieth = quantile(errors, 0.9);
  row.judging = judging.size();
  row.judging_median = quantile(judging, 0.5);
  row.judging_ninetieth = quantile(judging, 0.9);
  row.constant_median = quantile(flat, 0.5);
  row.constant_ninetieth = quantile(flat, 0.9);
  report.accuracy.push_back(std::move(row));
}

void add_accuracy(const PlannerRuns& all, std::span<const PricedRun> priced, PlannerReport& report) {
  const std::vector<double> constant = constant_rate_errors(all);
  const auto moe = [&](const PlannerRun& r) { return all.shapes[r.shape].moe.routed > 0; };
  const auto add = [&](PlannerAccuracy row, const auto& takes) {
    add_row(all, priced, constant, std::move(row), takes, report);
  };
  const auto a100_h100 = [](const PlannerRun& r) { return r.chip.starts_with("a100") || r.chip.starts_with("h100"); };
  PlannerAccuracy row;
  row = {.name = "tables: Megatron 2020 to 2022, MT-NLG, torchtitan, Megatron Bridge",
         .mean_bar = 0.06,
         .ninetieth_bar = 0.15};
  add(row, [](const PlannerRun& r) { return r.group == "tables"; });
  row = {.name = "Korthikanti 2022, table 5", .mean_bar = 0.037};
  add(row, [](const PlannerRun& r) { return r.id.starts_with("kor22.table5"); });
  row = {.name = "dense, grade A, A100 and H100", .median_bar = 0.05, .ninetieth_bar = 0.15};
  add(row, [&](const PlannerRun& r) { return r.group == "runs" && !moe(r) && r.grade == "A" && a100_h100(r); });
  row = {.name = "mixture of experts", .median_bar = 0.06, .ninetieth_bar = 0.25};
  add(row, [&](const PlannerRun& r) { return r.group == "runs" && moe(r); });
  row = {.name = "dense, grade B"};
  add(row, [&](const PlannerRun& r) { return r.group == "runs" && !moe(r) && r.grade == "B"; });
  row = {.name = "dense, grade A, other GPUs"};
  add(row, [&](const PlannerRun& r) { return r.group == "runs" && !moe(r) && r.grade == "A" && !a100_h100(r); });
  row = {.name = "nanotron's best configurations"};
  add(row, [](const PlannerRun& r) { return r.group == "nanotron"; });
  row = {.name = "adapters alone (LoRA)"};
  add(row, [](const PlannerRun& r) { return r.adapters; });
  row = {.name = "all of these"};
  add(row, [](const PlannerRun&) { return true; });
}

/// How well the computed order of the runs of a set agrees with the measured one.
void add_orders(const PlannerRuns& all, std::span<const PricedRun> priced, PlannerReport& report) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> sets;
  for (const PricedRun& p : priced) {
    const PlannerRun& r = all.runs[p.run];
    if (r.set.empty() || !(r.step_s > 0) || !p.reason.empty()) continue;
    // Batches differ in some sets: seconds a sequence are compared.
    const double sequences = as_double(r.global_batch);
    sets[r.set].first.push_back(p.price.step_s / sequences);
    sets[r.set].second.push_back(r.step_s / sequences);
  }
  for (const auto& [name, values] : sets)
    if (values.first.size() >= least_set)
      report.orders.push_back({name, values.first.size(), spearman(values.first, values.second, tie_share)});
}

/// Whether what ran fits by the computed memory, and what ran out of it does not.
void count_fits(const PlannerRuns& all, std::span<const PricedRun> priced, PlannerFits& f) {
  for (const PricedRun& p : priced) {
    const PlannerRun& r = all.runs[p.run];
    if (r.fits < 0 || r.grade != "A" || !p.reason.empty()) continue;
    const bool ran = r.fits == 1;
    (ran ? f.ran : f.out_of_memory) += 1;
    if (p.price.fits == ran)
      (ran ? f.ran_fit : f.out_of_memory_refused) += 1;
    else
      f.misses.push_back(r.id);
  }
}

}  // namespace

PlannerReport planner_report(const PlannerRuns& all, std::span<const PricedRun> priced) {
  PlannerReport report;
  add_accuracy(all, priced, report);
  add_orders(all, priced, report);
  count_fits(all, priced, report.fits);
  return report;
}

}  // namespace models::parallel
