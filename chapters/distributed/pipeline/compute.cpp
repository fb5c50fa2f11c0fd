#include <algorithm>

#include "chapters/distributed/pipeline/lab.h"

namespace chapters::distributed::pipeline {
namespace {

using namespace models::parallel;

constexpr std::int64_t max_cells = 4096, periods = 4;

/// By how much a step is longer when another one follows it with no barrier: between the ends of the last two of
/// several.
models::Result<double> step_period_s(const Side& side) {
  using Out = models::Result<double>;
  const PipelineTimes& times = side.times;
  const auto plan = edited_steps(side.spec, periods, side.moves);
  if (!plan) return Out::fail(plan.error);
  const auto run = run_pipeline(*plan, times);
  if (!run) return Out::fail(run.error);
  double last_s = 0, before_s = 0;
  for (std::size_t rank = 0; rank < plan->orders.size(); ++rank) {
    const auto& order = plan->orders[rank];
    const std::int64_t first = plan->micro_batches / periods * (periods - 1);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const double end_s = run->start_s[rank][i] + duration_s(times, rank, order[i].kind);
      const std::int64_t last = order[i].kind == PipeKind::pair
                                    ? std::max(order[i].micro_batch, order[i].back_micro_batch)
                                    : order[i].micro_batch;
      double& end = last < first ? before_s : last_s;
      end = std::max(end, end_s);
    }
  }
  return Out::ok(last_s - before_s);
}

/// A step that never ends has no length, and none of its shares.
void forget_times(PipelineRun& run) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  run.makespan_s = run.idle_over_makespan = run.idle_over_ideal = run.span_bubble_s = none;
  for (PipelineRank& rank : run.ranks) rank.wall_bubble_s = rank.span_bubble_s = none;
}

/// Those of the learner's moves that the schedule has the blocks for.
std::vector<PipelineMove> moves_of(const Inputs& in, const PipelineSpec& spec) {
  std::vector<PipelineMove> out;
  for (const MoveRow& row : in.moves) {
    const auto rank = static_cast<std::size_t>(std::max<std::int64_t>(row.rank, 0));
    const auto block = parse_op(row.block, rank);
    const auto before = row.before.empty() ? block : parse_op(row.before, rank);
    if (!block || !before) continue;
    out.push_back({.rank = row.rank, .block = *block, .before = {}});
    if (!row.before.empty()) out.back().before = *before;
    if (!edited_steps(spec, never_drains(spec.schedule) ? in.steps : 1, out)) out.pop_back();
  }
  return out;
}

}  // namespace

models::Result<Side> run_side(const Inputs& in, bool beside, std::int64_t micro_batches, bool edited) {
  using Out = models::Result<Side>;
  Side side;
  side.spec = {.schedule = beside ? in.beside : in.schedule,
               .ranks = in.stages,
               .micro_batches = micro_batches,
               .chunks = beside ? in.beside_chunks : in.chunks};
  if (const models::Status fit = check(side.spec); !fit) return Out::fail(fit.error);
  if (side.spec.ranks * micro_batches * chunks_of(side.spec) * in.steps > max_cells)
    return Out::fail(
        "Stages x micro-batches x chunks x steps are drawn up to 4,096, and these are more: choose fewer "
        "micro-batches.");
  if (edited) side.moves = moves_of(in, side.spec);
  auto plan = edited_steps(side.spec, in.steps, side.moves);
  if (!plan) return Out::fail(plan.error);
  // The times are those of one chunk of the first schedule. The other one's chunks are as long as they must be for a
  // rank to have the same work.
  PipelineSpec first = side.spec;
  first.schedule = in.schedule;
  first.chunks = in.chunks;
  const double scale = static_cast<double>(chunks_of(first)) / static_cast<double>(chunks_of(side.spec));
  side.times.forward_s = scale * in.t_forward;
  side.times.input_gradient_s = scale * in.t_backward_input;
  side.times.weight_gradient_s = scale * in.t_backward_weight;
  side.times.pair_s =
      in.pair_share * (side.times.forward_s + (side.times.input_gradient_s + side.times.weight_gradient_s));
  side.times.link_s = in.t_link;
  side.times.rank_factor = in.rank_factors;
  PipelineAttempt attempt = attempt_pipeline(*plan, side.times);
  side.plan = std::move(*plan);
  side.run = std::move(attempt.run);
  side.stuck = std::move(attempt.stuck);
  side.reached_s = side.run.makespan_s;
  if (!side.stuck.empty()) forget_times(side.run);
  side.idle_percent = 100 * side.run.idle_over_makespan;
  return Out::ok(std::move(side));
}

namespace {

/// What only the shown schedules are asked: memory, weights, and steps without a barrier.
models::Status finish_side(const Inputs& in, Side& side) {
  side.peaks = peak_activations(side.plan);
  const auto chunks = static_cast<double>(side.plan.chunks);
  side.peak = *std::max_element(side.peaks.begin(), side.peaks.end()) / chunks;
  const std::vector<double> kept = peak_activations(side.plan, in.kept_share);
  side.peak_bytes_share = *std::max_element(kept.begin(), kept.end()) / chunks;
  side.weights = static_cast<double>(copies_of(side.spec.schedule));
  // A run that only just began has not met all versions that a long one meets.
  const bool versions = never_drains(side.spec.schedule);
  const auto long_run = versions ? edited_steps(side.spec, std::max<std::int64_t>(in.steps, periods), side.moves)
                                 : models::Result<PipelinePlan>::ok({});
  if (!long_run) return models::Status::fail(long_run.error);
  for (std::size_t rank = 0; rank < long_run->orders.size(); ++rank) {
    const WeightVersions v = weight_versions(*long_run, rank, in.micro_batches);
    side.weights = std::max(side.weights, static_cast<double>(v.versions));
    side.staleness = std::max(side.staleness, static_cast<double>(v.staleness));
  }
  if (!side.stuck.empty()) {
    side.period_s = side.idle_without_barrier = std::numeric_limits<double>::quiet_NaN();
    return models::Status::ok();
  }
  const auto period = step_period_s(side);
  if (!period) return models::Status::fail(period.error);
  side.period_s = *period;
  double work_s = 0;
  for (const PipelineRank& r : side.run.ranks) work_s += r.busy_s;
  work_s /= static_cast<double>(in.steps);
  side.idle_without_barrier = 100 * (1 - work_s / (side.period_s * static_cast<double>(side.run.ranks.size())));
  if (side.idle_without_barrier < 1e-9) side.idle_without_barrier = 0;  // rounding of many sums
  return models::Status::ok();
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  auto now = run_side(in, false, in.micro_batches, true), beside = run_side(in, true, in.micro_batches);
  if (!now || !beside) {
    out.reason = !now ? now.error : beside.error;
    return out;
  }
  for (Side* side : {&*now, &*beside})
    if (const models::Status done = finish_side(in, *side); !done) {
      out.reason = done.error;
      return out;
    }
  out.now = std::move(*now);
  out.beside = std::move(*beside);
  out.saved_s = out.beside.run.makespan_s - out.now.run.makespan_s;
  out.moves_left_out = static_cast<std::int64_t>(in.moves.size() - out.now.moves.size());
  if (!out.now.moves.empty())
    if (const auto generated = run_side(in, false, in.micro_batches)) {
      out.generated_s = generated->run.makespan_s;
      const std::vector<double> peaks = peak_activations(generated->plan);
      out.generated_peak = *std::max_element(peaks.begin(), peaks.end()) / static_cast<double>(generated->plan.chunks);
    }
  if (in.steps == 1 && out.now.moves.empty())
    if (const PipelineFormula formula = closed_form(out.now.spec, out.now.times); !formula.formula.empty()) {
      out.closed_form = formula.formula;
      out.closed_form_s = formula.bubble_s;
    }
  const double own = static_cast<double>(out.now.plan.chunks), theirs = static_cast<double>(out.beside.plan.chunks);
  const auto versions = edited_steps(out.now.spec, std::max<std::int64_t>(in.steps, periods), out.now.moves);
  for (std::size_t r = 0; r < out.now.run.ranks.size(); ++r) {
    const PipelineRank& rank = out.now.run.ranks[r];
    out.wall_bubble_s = out.now.stuck.empty() ? std::max(out.wall_bubble_s, rank.wall_bubble_s) : rank.wall_bubble_s;
    const bool full = in.room > 0 && out.now.peaks[r] / own > static_cast<double>(in.room);
    if (full && out.crowded_rank < 0) out.crowded_rank = static_cast<std::int64_t>(r);
    const std::int64_t kept = versions ? weight_versions(*versions, r, in.micro_batches).versions : 1;
    out.ranks.push_back({.rank = static_cast<std::int64_t>(r),
                         .versions = std::max(kept, copies_of(in.schedule)),
                         .busy_s = rank.busy_s,
                         .wall_bubble_s = rank.wall_bubble_s,
                         .span_bubble_s = rank.span_bubble_s,
                         .keeps = out.now.peaks[r] / own,
                         .beside_keeps = out.beside.peaks[r] / theirs});
    out.orders.push_back({static_cast<std::int64_t>(r), order_text(out.now.plan, r)});
  }
  return out;
}

}  // namespace chapters::distributed::pipeline
