#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "chapters/described/step_choices.h"
#include "chapters/inference/optimize/lab.h"

namespace chapters::inference::optimize {
namespace {

using namespace models::inference;

/// The changes in the order that the Inputs ask for.
models::Result<std::vector<RequestChange>> asked_order(const Inputs& in, const RequestJob& job) {
  using Out = models::Result<std::vector<RequestChange>>;
  std::vector<RequestChange> on = changes_on(in, order_of_number(in.order == Order::own ? in.own_order : 1));
  if (in.order == Order::reversed) std::reverse(on.begin(), on.end());
  if (in.order != Order::largest) return Out::ok(std::move(on));
  return largest_first(job, found_changes(in), on);
}

void set_measured(const Inputs& in, const RequestJob& job, ChangeSet set, const RequestState& state, double& measured,
                  double& residual) {
  const MeasuredRung* rung = find_rung(job, set, in.model);
  if (!rung) return;
  measured = rung->tokens_per_s;
  // Which draft was measured is not stated, so that ours is not held against it.
  residual = set.has(RequestChange::speculative) ? no_figure : 100 * (state.tokens_per_s / measured - 1);
}

void fill_stages(const Inputs& in, const RequestJob& job, const ChangeWalk& walk, Outputs& out) {
  ChangeSet set = found_changes(in);
  set_measured(in, job, set, out.found, out.found_measured, out.found_residual);
  set_measured(in, job, set, out.now, out.measured, out.residual);
  for (const ChangeStage& s : walk.stages) {
    set = set.with(s.change);
    StageRow& row = out.stages.emplace_back(StageRow{.change = s.change,
                                                     .name = std::string(change_name(s.change)),
                                                     .after = s.after,
                                                     .saved_s = s.saved_s,
                                                     .gain = s.gain,
                                                     .first_gain = s.first_gain,
                                                     .last_gain = s.last_gain,
                                                     .least_gain = s.least_gain,
                                                     .most_gain = s.most_gain,
                                                     .average_saved_s = s.average_saved_s,
                                                     .least_saved_s = s.least_saved_s,
                                                     .most_saved_s = s.most_saved_s,
                                                     .first_saved_s = s.first_saved_s,
                                                     .last_saved_s = s.last_saved_s});
    set_measured(in, job, set, s.after, row.measured, row.residual);
    out.changes[index_of(s.change)] = {s.gain, s.first_gain, s.last_gain, s.saved_s, s.average_saved_s};
    out.measured = row.measured;
    out.residual = row.residual;
  }
}

/// Which change its place costs most, or else favours most, and which is worth most whatever the order.
void judge(Outputs& out) {
  const StageRow *cheated = nullptr, *favoured = nullptr, *worthiest = nullptr;
  const auto better = [](const StageRow& r) { return std::max(r.first_gain, r.last_gain); };
  const auto worse = [](const StageRow& r) { return std::min(r.first_gain, r.last_gain); };
  for (const StageRow& r : out.stages) {
    if (!cheated || better(r) / r.gain > better(*cheated) / cheated->gain) cheated = &r;
    if (!favoured || r.gain / worse(r) > favoured->gain / worse(*favoured)) favoured = &r;
    if (!worthiest || r.average_saved_s > worthiest->average_saved_s) worthiest = &r;
  }
  if (!cheated) return;
  const bool costs = better(*cheated) / cheated->gain >= slight_ratio;
  const StageRow& widest = costs ? *cheated : *favoured;
  const double other = costs ? better(widest) : worse(widest);
  out.widest = widest.name;
  out.widest_gain = widest.gain;
  out.widest_other_gain = other;
  out.widest_place = other == widest.first_gain ? "as the first" : "as the last";
  out.worthiest = worthiest->name;
  out.worthiest_s = worthiest->average_saved_s;
}

double waits_of(const RequestState& s) { return 100 * s.decode.wait_s() / s.decode.time_s; }

/// Requests at once whose caches and scores fit beside the weights; what is held grows with them in a straight line.
double most_batch(const RequestJob& job, ChangeSet set, const RequestState& at) {
  RequestJob twice = job;
  twice.batch = std::min<std::int64_t>(65536, 2 * job.batch);
  if (twice.batch == job.batch) twice.batch = job.batch / 2;
  const auto other = price_request(twice, set);
  if (!other) return no_figure;
  const double step = static_cast<double>(twice.batch - job.batch), each = (other->held_bytes - at.held_bytes) / step,
               none = at.held_bytes - each * static_cast<double>(job.batch),
               room = job.memory_share * job.chip->memory_bytes - none;
  return std::clamp(std::floor(room / each * (1 + 1e-12)), 0.0, 65536.0);
}

std::vector<BatchPoint> over_batch(const RequestJob& job, ChangeSet set, double most) {
  std::vector<BatchPoint> points;
  if (!(most >= 1)) return points;
  const auto last = static_cast<std::int64_t>(std::clamp(most, 1.0, 1024.0));
  RequestJob at = job;
  for (std::int64_t batch = 1;; batch = std::min(2 * batch, last)) {
    at.batch = batch;
    const auto state = price_request(at, set);
    if (!state) break;
    points.push_back({static_cast<double>(batch), state->tpot_s, state->tokens_per_s});
    if (batch >= last) break;
  }
  return points;
}

}  // namespace

ChangeSet found_changes(const Inputs& in) {
  ChangeSet found;
  for (std::size_t i = 0; i < request_change_count; ++i)
    if (in.made[i] == Made::found) found = found.with(static_cast<RequestChange>(i));
  return found;
}

models::Result<RequestJob> read_job(const Inputs& in) {
  using Out = models::Result<RequestJob>;
  const auto model = find_model(in.model);
  if (!model) return Out::fail(model.error);
  const auto chip = find_launched_chip(in.chip);
  if (!chip) return Out::fail(chip.error);
  RequestJob job{.architecture = &(*model)->architecture, .chip = *chip};
  job.prompt = in.prompt;
  job.output = in.answer;
  job.batch = in.batch;
  job.eight_bits = in.eight_bits;
  job.four_bits = in.four_bits;
  job.cache_bits = in.cache_bits;
  job.draft_length = in.draft_length;
  job.draft_layers = in.draft_layers;
  job.acceptance = in.acceptance;
  job.chips = in.tensor_parallel;
  job.links = {
      .inside_bytes_per_s = (*chip)->interconnect.bytes_per_s_per_direction.value_or(0) * in.link_reached / 100,
      .base_s = in.call_s};
  job.whole_head = in.whole_head;
  job.host = host_of(in.launching);
  job.least_kernel_s = in.launching.least_kernel_s;
  job.shares = {.peak = in.peak_reached / 100,
                .bits16 = in.reached_16 / 100,
                .bits8 = in.reached_8 / 100,
                .bits4 = in.reached_4 / 100};
  return Out::ok(std::move(job));
}

chapters::Computed<Outputs, Run> compute(const Inputs& in, const Progress& progress) {
  const auto fail = [](std::string reason) {
    return chapters::Computed<Outputs, Run>{.facts = {.reason = std::move(reason)}};
  };
  const auto job = read_job(in);
  if (!job) return fail(job.error);
  const auto order = asked_order(in, *job);
  if (!order) return fail(order.error);
  const ChangeSet found = found_changes(in);
  const auto walk = walk_changes(*job, found, *order);
  if (!walk) return fail(walk.error);
  Outputs out;
  out.found = walk->found;
  out.now = walk->last();
  out.speedup = walk->speedup();
  out.room_bytes = job->memory_share * job->chip->memory_bytes;
  out.user_tokens_per_s = 1 / out.now.tpot_s;
  fill_stages(in, *job, *walk, out);
  judge(out);
  out.found_waits = waits_of(out.found);
  out.waits = waits_of(out.now);
  const auto launching = [&](ChangeSet set, const RequestState& s) {
    return s.decode.launches * (set.has(RequestChange::graph) ? job->host.graph_launch_s : job->host.launch_s);
  };
  ChangeSet all = found;
  for (const RequestChange c : *order) all = all.with(c);
  out.found_launching_s = launching(found, out.found);
  out.launching_s = launching(all, out.now);
  out.found_most_batch = most_batch(*job, found, out.found);
  out.most_batch = most_batch(*job, all, out.now);
  auto run = std::make_shared<Run>();
  run->bandwidth_bytes_per_s = job->chip->memory_bandwidth_bytes_per_s;
  run->largest_peak = out.found.peak_flops_per_s;
  for (const StageRow& r : out.stages) run->largest_peak = std::max(run->largest_peak, r.after.peak_flops_per_s);
  if (!progress.facts_alone) {
    run->found = over_batch(*job, found, out.found_most_batch);
    run->now = over_batch(*job, all, out.most_batch);
  }
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::inference::optimize
