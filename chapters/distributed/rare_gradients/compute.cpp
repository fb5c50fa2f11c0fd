#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "chapters/distributed/rare_gradients/lab.h"
#include "chapters/mechanism/catalog.h"

namespace chapters::distributed::rare_gradients {

using namespace models::rare;

RareSetup setup_of(const Inputs& in, RareMethod method) {
  RareSetup s{.method = method,
              .workers = static_cast<std::size_t>(in.workers),
              .rate = in.rate,
              .skew = in.skew / 100,
              .seed = static_cast<std::uint64_t>(in.seed)};
  // What does not touch a method stays as it is, so that its training is found again.
  if (rare_method_compresses(method)) s.error_feedback = in.error_feedback;
  if (method == RareMethod::top_k) s.kept = in.kept / 100;
  if (method == RareMethod::power_sgd) s.rank = static_cast<std::size_t>(in.rank);
  if (method == RareMethod::stale) s.stale_by = static_cast<std::size_t>(in.stale_by);
  if (rare_method_is_local(method)) s.period = static_cast<std::size_t>(in.period);
  if (method == RareMethod::diloco) {
    s.outer_rate = in.outer_rate;
    s.outer_momentum = in.outer_momentum;
  }
  return s;
}

models::Result<double> link_rate(const Inputs& in) {
  if (in.link == RareLink::line) return models::Result<double>::ok(in.line_bytes_per_s);
  const auto network = find_network(in.network);
  if (!network) return models::Result<double>::fail(network.error);
  return models::Result<double>::ok((*network)->bytes_per_s_per_direction);
}

namespace {

std::string read_price(const Inputs& in, RarePrice& price) {
  const auto chip = find_chip(in.chip);
  if (!chip) return chip.error;
  const auto rate = link_rate(in);
  if (!rate) return rate.error;
  price = {.parameters = in.parameters,
           .step_s = in.step_s,
           .spread = in.spread / 100,
           .bytes_per_s = *rate,
           .hop_s = in.message_s,
           .memory_bytes_per_s = (*chip)->memory_bandwidth_bytes_per_s,
           .code_slowdown = in.code_slowdown,
           .layers = in.layers};
  return {};
}

double end_loss_of(const RunnerRun& r) { return r.run->looks.back().loss; }

/// By time to the goal; behind those that reach it the others, by the loss at their end.
bool is_ahead(const RunnerRun& x, const RunnerRun& y) {
  if (x.goal.reached != y.goal.reached) return x.goal.reached;
  return x.goal.reached ? x.goal.time_s < y.goal.time_s : end_loss_of(x) < end_loss_of(y);
}

/// Those that share a place stand by their bytes, and then by the loss at their end.
void put_in_order(Run& run) {
  std::iota(run.order.begin(), run.order.end(), std::size_t{0});
  std::stable_sort(run.order.begin(), run.order.end(), [&](std::size_t a, std::size_t b) {
    const RunnerRun &x = run.runners[a], &y = run.runners[b];
    if (is_ahead(x, y) || is_ahead(y, x)) return is_ahead(x, y);
    return std::pair(x.goal.bytes, end_loss_of(x)) < std::pair(y.goal.bytes, end_loss_of(y));
  });
}

std::int64_t place_of(const RunnerRun& r, const Run& run) {
  return 1 + std::count_if(run.runners.begin(), run.runners.end(), [&](const RunnerRun& o) { return is_ahead(o, r); });
}

void fill_race(const Run& run, Outputs& out) {
  const RunnerRun& all_reduce = run.runners[static_cast<std::size_t>(RareMethod::all_reduce)];
  if (all_reduce.goal.reached) {
    out.all_reduce_s = all_reduce.goal.time_s;
    out.all_reduce_bytes = all_reduce.goal.bytes;
  }
  for (std::size_t place = 0; place < run.order.size(); ++place) {
    const RunnerRun& r = run.runners[run.order[place]];
    if (!r.goal.reached) break;
    ++out.reached;
    const auto who = static_cast<Runner>(run.order[place]);
    if (place == 0) {
      out.first = who;
      out.first_s = r.goal.time_s;
      out.first_bytes = r.goal.bytes;
    }
    if (place == 1) out.second = who;
    if (out.least == Runner::none || r.goal.bytes < out.least_bytes) {
      out.least = who;
      out.least_bytes = r.goal.bytes;
      out.least_s = r.goal.time_s;
      out.least_place = static_cast<double>(place_of(r, run));
    }
  }
  out.least_is_first = out.first != Runner::none && out.least == out.first;
}

void fill_yours(const Inputs& in, const Run& run, Outputs& out) {
  const RunnerRun& r = run.runners[static_cast<std::size_t>(in.method)];
  out.place = static_cast<double>(place_of(r, run));
  if (r.goal.reached) {
    out.time_s = r.goal.time_s;
    out.bytes = r.goal.bytes;
    out.steps = r.goal.steps;
    out.faster = out.all_reduce_s / out.time_s;
    out.fewer_bytes = out.all_reduce_bytes / out.bytes;
  }
  const RareClock& c = r.clock;
  out.end_loss = end_loss_of(r);
  out.syncs = static_cast<std::int64_t>(c.talks.size());
  out.end_bytes = static_cast<double>(out.syncs) * c.sent_bytes;
  out.end_s = c.total_s();
  out.sync_bytes = c.sent_bytes;
  out.sync_s = c.transfer_s;
  out.code_s = c.code_s;
  out.ratio = c.ratio;
  out.silence_s = c.silence_s;
  out.talk_share = 100 * c.talked_s / out.end_s;
  out.wait_share = 100 * c.waited_s / out.end_s;
  out.kept_share = 100 * r.run->kept_norm;
  out.apart_share = 100 * r.run->apart;
}

void list_runners(const Run& run, Outputs& out) {
  for (const std::size_t m : run.order) {
    const RunnerRun& r = run.runners[m];
    const RareClock& c = r.clock;
    const auto steps = static_cast<double>(c.known_s.size() - 1);
    RunnerRow row{.method = std::string(runner_name(m)),
                  .place = place_of(r, run),
                  .loss = end_loss_of(r),
                  .sync_bytes = c.sent_bytes,
                  .sync_s = c.transfer_s,
                  .code_s = c.code_s,
                  .step_compute_s = c.computed_s / steps,
                  .step_code_s = c.code_s * static_cast<double>(c.talks.size()) / steps,
                  .step_wait_s = c.waited_s / steps};
    if (r.goal.reached) {
      row.time_s = r.goal.time_s;
      row.bytes = r.goal.bytes;
      row.steps = r.goal.steps;
    }
    out.runners.push_back(std::move(row));
  }
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Trainings& trainings) {
  Outputs out;
  RarePrice price;
  out.reason = read_price(in, price);
  if (!out.reason.empty()) return {std::move(out)};
  Run run;
  for (std::size_t m = 0; m < rare_method_count; ++m) {
    const RareSetup setup = setup_of(in, static_cast<RareMethod>(m));
    RunnerRun& r = run.runners[m];
    r.run = trainings.runs.get(setup, [&](const RareSetup& s) {
      const auto digits = trainings.digits.get(
          s.seed, [](std::uint64_t seed) { return std::make_shared<const RareDigits>(rare_digits(seed)); });
      auto trained = std::make_shared<const RareRun>(train_rarely(s, *digits, &progress.cancelled));
      return trained->stopped ? nullptr : trained;
    });
    if (!r.run) {
      out.reason = "The training was stopped before its end.";
      return {std::move(out)};
    }
    r.clock = rare_clock(setup, price);
    r.goal = rare_goal(*r.run, r.clock, in.target);
    progress.fraction = static_cast<float>(m + 1) / static_cast<float>(rare_method_count);
  }
  put_in_order(run);
  fill_race(run, out);
  fill_yours(in, run, out);
  list_runners(run, out);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::distributed::rare_gradients
