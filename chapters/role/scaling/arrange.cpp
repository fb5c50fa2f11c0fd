#include <algorithm>
#include <cmath>

#include "chapters/role/scaling/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::role::scaling {
namespace {

using widgets::format_text;

/// Eight counts an octave, and those that share the batch evenly.
std::vector<std::int64_t> counts_up_to(const Inputs& in, double far) {
  std::vector<std::int64_t> counts;
  const auto m = static_cast<double>(in.replica_gpus);
  for (double n = m; n <= far * 1.0001; n *= std::exp2(0.125))
    counts.push_back(static_cast<std::int64_t>(n / m + 1e-9) * in.replica_gpus);
  if (far >= m) counts.push_back(static_cast<std::int64_t>(far / m) * in.replica_gpus);
  if (in.rule == models::BatchRule::shared_batch)
    for (std::int64_t replicas = 1; replicas <= in.batch && static_cast<double>(replicas) * m <= far; ++replicas)
      if (in.batch % replicas == 0) counts.push_back(replicas * in.replica_gpus);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

void arrange_curve(const Inputs& in, Picture& p) {
  const models::ScalingSetup setup = setup_of(in);
  const auto curve = models::scaled_steps(setup, counts_up_to(in, p.far_gpus));
  if (!curve) return;
  p.curve = *curve;
  // Within a hundredth: the replicas with most sequences have hardly more than the mean.
  const auto even = [&](const models::ScaledStep& step) {
    const std::int64_t most = models::ceil_div(in.batch, step.replicas);
    return in.rule == models::BatchRule::own_batch || step.replicas >= in.batch ||
           100 * most * step.replicas <= 101 * in.batch;
  };
  const bool enough = std::count_if(p.curve.begin(), p.curve.end(), even) >= 8;
  for (const models::ScaledStep& step : p.curve) {
    if (enough && !even(step) && &step != &p.curve.back()) continue;
    const auto n = static_cast<double>(step.gpus);
    p.gpus.push_back(n);
    double time = step.useful_s;
    for (std::size_t k = 0; k <= models::scaling_loss_count; ++k) {
      if (k > 0) time += step.loss_s[k - 1];
      p.speedup[k].push_back(n * step.useful_s / time);
    }
    for (std::size_t a = 0; a < p.all_reduce.size(); ++a) {
      const models::AllReduceGroup group{step.replicas, std::max<std::int64_t>(1, in.gpus_per_node / in.replica_gpus)};
      const double bytes = in.gradient_bytes / static_cast<double>(in.replica_gpus * in.buckets);
      const double once =
          models::all_reduce_time(static_cast<models::AllReduceAlgorithm>(a), group, setup.links, bytes).total_s();
      p.all_reduce[a].y.push_back(once * static_cast<double>(in.buckets));
    }
  }
}

/// Puts values between neighbours that are far apart, straight in logarithms, so that lines bend on linear axes too.
void fill_between(const std::vector<double>& at, std::vector<double>& values) {
  std::vector<double> filled;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const auto pieces = std::max(1.0, std::ceil(16 * std::log2(at[i + 1] / at[i])));
    const bool curved = values[i] > 0 && values[i + 1] > 0;
    for (double k = 0; k < pieces; ++k)
      filled.push_back(curved ? values[i] * std::pow(values[i + 1] / values[i], k / pieces)
                              : values[i] + (values[i + 1] - values[i]) * k / pieces);
  }
  if (!values.empty()) filled.push_back(values.back());
  values = std::move(filled);
}

void fill_curves(Picture& p) {
  const std::vector<double> at = p.gpus;
  for (auto& values : p.speedup) fill_between(at, values);
  for (widgets::Curve& curve : p.all_reduce) fill_between(at, curve.y);
  fill_between(at, p.gpus);
  p.ideal = {
      .label = "ideal", .info = "N GPUs, N times as fast", .width = 1.5f, .dashed = true, .x = p.gpus, .y = p.gpus};
  p.model = {.label = "model",
             .info = "of GPUs that share the batch evenly",
             .tint = widgets::Tint::yours(),
             .width = 2.5f,
             .named = false,
             .x = p.gpus,
             .y = p.speedup.back()};
  for (std::size_t a = 0; a < p.all_reduce.size(); ++a)
    p.all_reduce[a] = {.label = std::string(models::all_reduce_name(static_cast<models::AllReduceAlgorithm>(a))),
                       .info = "latency + bytes / bandwidth",
                       .tint = widgets::Tint::series(a),
                       .named = false,
                       .x = p.gpus,
                       .y = std::move(p.all_reduce[a].y)};
}

/// Where linear axes end: it tells nothing of what is computed, so that a question's veil gives nothing away.
double near_end(const Outputs& out, const Picture& p) {
  double end = p.points.x.empty() ? 4096 : 64;
  for (const double n : p.points.x) end = std::max(end, 4 * n);
  while (end < static_cast<double>(out.step.gpus)) end *= 2;
  return std::min(end, p.far_gpus);
}

/// Speed-up of a measured step.
double speedup_of(const Inputs& in, const Picture& p, const models::MeasuredStep& m) {
  return step_work_s(in, p.one_gpu_s, m.gpus) / m.step_s;
}

void arrange_points(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const auto points = points_of(in);
  double apart = 0;
  for (const ComparedRow& row : out.compared)
    if (std::isfinite(row.model_error)) apart = std::max(apart, std::abs(std::log1p(row.model_error / 100)));
  const std::string name(published_series(in.series).name);
  p.points = {.kind = widgets::Curve::Kind::dots, .label = "measured", .info = name, .tint = widgets::Tint::strong()};
  const bool belong = rule_of_points(in) == in.rule && std::isfinite(out.model_rms) && apart < std::log(3.0);
  if (!belong) {
    p.points_words = points.empty() ? "no measured points" : "the measured points are of another run: " + name;
    return;
  }
  for (const models::MeasuredStep& m : points) p.points.add(m.gpus, speedup_of(in, p, m));
  p.points_words = "measured: " + name + "; model off by " + format_text(out.model_rms, "%", 2) + " rms";
  if (!std::isfinite(out.serial_s) || !run.fit) return;
  p.points_words += ", serial share " + format_text(out.serial_share, "%");
  const double from = *std::min_element(p.points.x.begin(), p.points.x.end());
  p.fit = {.label = "Amdahl through the points",
           .info = "1 / (s + (1 - s) / N), least squares",
           .tint = widgets::Tint::series(1),
           .width = 1.5f,
           .dashed = true,
           .named = false};
  const auto add = [&](double n) { p.fit.add(n, speedup_of(in, p, {n, run.fit->at(n)})); };
  for (double n = from; n < p.far_gpus * 0.9999; n *= std::exp2(0.25)) add(n);
  add(p.far_gpus);
}

void arrange_money(const Inputs& in, Picture& p) {
  p.money = {.label = "more and more GPUs", .tint = widgets::Tint::yours(), .named = false, .legend = false};
  p.money_dots = {.kind = widgets::Curve::Kind::dots,
                  .label = "GPUs",
                  .info = "1, 2, 4, ... replicas",
                  .tint = widgets::Tint::yours(),
                  .radius = 3,
                  .legend = false};
  const models::ScalingSetup setup = setup_of(in);
  for (std::int64_t n = in.replica_gpus; static_cast<double>(n) <= p.far_gpus; n *= 2) {
    const auto step = models::scaled_step(setup, n);
    if (!step) break;
    const double run_s = static_cast<double>(in.steps) * p.one_gpu_s / step->speedup;
    const double cost = run_s / 3600 * static_cast<double>(n) * in.price;
    p.money.add(run_s, cost);
    p.money_dots.add(run_s, cost);
    // Every second one has its count written beside it.
    p.money_dots.labels.push_back(p.money.x.size() % 2 == 1 ? format_text(static_cast<double>(n), "") : "");
  }
}

void arrange_slowest(const Inputs& in, const Run& run, Picture& p) {
  const models::Slowness slowness = setup_of(in).slowness;
  p.slowest = {.label = "expected", .info = "E[max of N] - 1", .tint = widgets::Tint::yours(), .named = false};
  for (const models::ScaledStep& step : p.curve)
    p.slowest.add(static_cast<double>(step.gpus), 100 * models::expected_slowest(slowness, step.gpus));
  p.drawn = {.kind = widgets::Curve::Kind::dots,
             .label = "drawn, with 2 standard errors",
             .info = "every GPU of some steps",
             .tint = widgets::Tint::strong(),
             .radius = 4};
  for (const auto& [gpus, drawn] : run.drawn) {
    p.drawn.add(static_cast<double>(gpus), 100 * drawn.mean);
    p.drawn_lo.push_back(100 * (drawn.mean - 2 * drawn.standard_error));
    p.drawn_hi.push_back(100 * (drawn.mean + 2 * drawn.standard_error));
  }
}

/// What twice as many GPUs do to the time and to the bill of the run.
std::string doubling_words(const Outputs& out) {
  if (!(out.next_time > 0.005)) return "no time and costs " + widgets::figure(out.next_cost, "%") + " more";
  const std::string time = widgets::figure(out.next_time, "%") + " of the time ";
  if (std::abs(out.next_cost) < 0.05) return time + "for the same money";
  if (out.next_cost < 0) return time + "and " + widgets::figure(-out.next_cost, "%") + " of the money";
  return time + "for " + widgets::figure(out.next_cost, "%") + " more money";
}

std::string counted_gpus(std::int64_t n) {
  return widgets::figure(static_cast<double>(n), "", 9) + (n == 1 ? " GPU" : " GPUs");
}

std::string answer_of(const Inputs& in, const Outputs& out, bool ends) {
  const std::string step = widgets::figure(out.step.step_s, "s");
  std::string answer = counted_gpus(in.gpus) + " are " + widgets::figure(out.speedup, widgets::times_unit) +
                       " as fast as one, " + widgets::figure(out.efficiency, "%") + " of ideal.";
  if (in.replica_gpus > 1)
    answer = counted_gpus(in.gpus) + " do what " + widgets::figure(out.speedup, "") +
             " would do without losses: " + widgets::figure(out.efficiency, "%") + " of ideal.";
  if (in.gpus == 1) answer = "One GPU takes " + step + " per step; everything is compared with that.";
  if (in.gpus > 1 && in.gpus == in.replica_gpus)
    answer = counted_gpus(in.gpus) + " hold one copy of the model and take " + step + " per step: the ideal.";
  answer += "\nDoubling the GPUs saves " + doubling_words(out);
  const std::int64_t best = out.fastest.gpus;
  if (ends && best > in.gpus) answer += "; no doubling beyond " + counted_gpus(best) + " wins time";
  if (best < in.gpus && out.fastest.speedup > out.speedup) {
    answer += "; " + counted_gpus(best) + (best == 1 ? " is faster" : " are faster");
    if (in.rule == models::BatchRule::shared_batch && !(out.next_time > 0.005))
      answer += ", with " + widgets::figure(out.fastest.step_s, "s") + " per step";
  }
  return answer + ".";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.far_gpus = static_cast<double>(std::max(max_doubled, in.gpus));
  p.one_gpu_s = one_gpu_s(in);
  arrange_curve(in, p);
  if (p.curve.empty()) return p;
  fill_curves(p);
  arrange_points(in, out, run, p);
  arrange_money(in, p);
  arrange_slowest(in, run, p);
  p.ends = 2 * static_cast<double>(out.fastest.gpus) <= p.far_gpus;
  p.near_gpus = near_end(out, p);
  p.answer = answer_of(in, out, p.ends);
  return p;
}

}  // namespace chapters::role::scaling
