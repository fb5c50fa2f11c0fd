#include <algorithm>
#include <limits>
#include <memory>

#include "chapters/distributed/pipeline/lab.h"

namespace chapters::distributed::pipeline {
namespace {

using namespace models::parallel;

constexpr std::int64_t max_cells = 4096, periods = 4;
constexpr double none = std::numeric_limits<double>::quiet_NaN();

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
  run.makespan_s = run.idle_over_makespan = run.idle_over_ideal = run.span_bubble_s = none;
  for (PipelineRank& rank : run.ranks) rank.wall_bubble_s = rank.span_bubble_s = none;
}

}  // namespace

std::size_t operations_of(const PipelinePlan& plan) {
  std::size_t operations = 0;
  for (const auto& order : plan.orders) operations += order.size();
  return operations;
}

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
        "Stages × micro-batches × chunks × steps are drawn up to 4,096, and these are more: choose fewer "
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
  return Out::ok(std::move(side));
}

namespace {

/// Weights that each rank keeps. A run that only just began has not met all versions that a long one meets.
models::Result<std::vector<WeightVersions>> versions_by_rank(const Inputs& in, const Side& side) {
  using Out = models::Result<std::vector<WeightVersions>>;
  const auto long_run = edited_steps(side.spec, std::max<std::int64_t>(in.steps, periods), side.moves);
  if (!long_run) return Out::fail(long_run.error);
  std::vector<WeightVersions> out;
  for (std::size_t rank = 0; rank < long_run->orders.size(); ++rank)
    out.push_back(weight_versions(*long_run, rank, in.micro_batches));
  return Out::ok(std::move(out));
}

/// What only the shown schedules are asked: memory, weights, and steps without a barrier. `versions` of each rank
/// matter where the schedule never drains.
models::Result<SideFigures> figures_of(const Inputs& in, const Side& side,
                                       const std::vector<WeightVersions>& versions) {
  using Out = models::Result<SideFigures>;
  SideFigures out;
  out.totals = side.run;
  out.stuck = side.stuck;
  out.idle_percent = 100 * side.run.idle_over_makespan;
  out.peaks = peak_activations(side.plan);
  const auto chunks = static_cast<double>(side.plan.chunks);
  out.peak = *std::max_element(out.peaks.begin(), out.peaks.end()) / chunks;
  out.least = *std::min_element(out.peaks.begin(), out.peaks.end()) / chunks;
  const std::vector<double> kept = peak_activations(side.plan, in.kept_share);
  out.peak_bytes_share = *std::max_element(kept.begin(), kept.end()) / chunks;
  out.weights = static_cast<double>(copies_of(side.spec.schedule));
  if (never_drains(side.spec.schedule))
    for (const WeightVersions& v : versions) {
      out.weights = std::max(out.weights, static_cast<double>(v.versions));
      out.staleness = std::max(out.staleness, static_cast<double>(v.staleness));
    }
  if (!side.stuck.empty()) {
    out.period_s = out.idle_without_barrier = none;
    return Out::ok(std::move(out));
  }
  const auto period = step_period_s(side);
  if (!period) return Out::fail(period.error);
  out.period_s = *period;
  double work_s = 0;
  for (const PipelineRank& r : side.run.ranks) work_s += r.busy_s;
  work_s /= static_cast<double>(in.steps);
  out.idle_without_barrier = 100 * (1 - work_s / (out.period_s * static_cast<double>(side.run.ranks.size())));
  if (out.idle_without_barrier < 1e-9) out.idle_without_barrier = 0;  // rounding of many sums
  return Out::ok(std::move(out));
}

/// What the moves and the closed form are held against.
void fill_references(const Inputs& in, const Side& now, Outputs& out) {
  out.moves_left_out = static_cast<std::int64_t>(in.moves.size() - now.moves.size());
  if (!now.moves.empty())
    if (const auto generated = run_side(in, false, in.micro_batches)) {
      out.generated_s = generated->run.makespan_s;
      const std::vector<double> peaks = peak_activations(generated->plan);
      out.generated_peak = *std::max_element(peaks.begin(), peaks.end()) / static_cast<double>(generated->plan.chunks);
    }
  if (in.steps == 1 && now.moves.empty())
    if (const PipelineFormula formula = closed_form(now.spec, now.times); !formula.formula.empty()) {
      out.closed_form = formula.formula;
      out.closed_form_s = formula.bubble_s;
    }
}

void fill_ranks(const Inputs& in, const Run& run, const std::vector<WeightVersions>& versions, Outputs& out) {
  const double own = static_cast<double>(run.now.plan.chunks), theirs = static_cast<double>(run.beside.plan.chunks);
  for (std::size_t r = 0; r < run.now.run.ranks.size(); ++r) {
    const PipelineRank& rank = run.now.run.ranks[r];
    out.wall_bubble_s = run.now.stuck.empty() ? std::max(out.wall_bubble_s, rank.wall_bubble_s) : rank.wall_bubble_s;
    const bool full = in.room > 0 && out.now.peaks[r] / own > static_cast<double>(in.room);
    if (full && out.crowded_rank < 0) out.crowded_rank = static_cast<std::int64_t>(r);
    out.ranks.push_back({.rank = static_cast<std::int64_t>(r),
                         .versions = std::max(versions[r].versions, copies_of(in.schedule)),
                         .busy_s = rank.busy_s,
                         .wall_bubble_s = rank.wall_bubble_s,
                         .span_bubble_s = rank.span_bubble_s,
                         .keeps = out.now.peaks[r] / own,
                         .beside_keeps = out.beside.peaks[r] / theirs});
    out.orders.push_back({static_cast<std::int64_t>(r), order_text(run.now.plan, r)});
  }
  const auto busiest = std::max_element(out.ranks.begin(), out.ranks.end(),
                                        [](const RankRow& a, const RankRow& b) { return a.busy_s < b.busy_s; });
  out.busiest_s = busiest->busy_s;
  const bool alone = std::none_of(out.ranks.begin(), out.ranks.end(), [&](const RankRow& row) {
    return row.rank != busiest->rank && row.busy_s > 0.999 * busiest->busy_s;
  });
  if (alone && out.ranks.size() > 1) out.busiest_rank = busiest->rank;
}

/// What a rank keeps over time, and which operations decide the makespan.
void add_histories(const Inputs& in, Side& side) {
  for (std::size_t rank = 0; rank < side.plan.orders.size(); ++rank)
    side.kept.push_back(kept_activations(side.plan, side.times, side.run, rank, in.kept_share));
  if (side.stuck.empty() && operations_of(side.plan) <= max_named_operations)
    side.critical = critical_path(side.plan, side.times, side.run);
}

/// Both schedules with more and more micro-batches.
void sweep_micro_batches(const Inputs& in, Run& run) {
  for (std::int64_t m = in.stages; m <= 32 * in.stages; m *= 2) {
    const auto now = run_side(in, false, m), beside = run_side(in, true, m);
    if (!now && !beside) continue;
    run.micro_batches.push_back(static_cast<double>(m));
    run.idle_percent[0].push_back(beside ? 100 * beside->run.idle_over_makespan : none);
    run.idle_percent[1].push_back(now ? 100 * now->run.idle_over_makespan : none);
  }
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, bool facts_alone) {
  auto now = run_side(in, false, in.micro_batches, true), beside = run_side(in, true, in.micro_batches);
  if (!now || !beside) return {.facts = {.reason = !now ? now.error : beside.error}};
  using Versions = models::Result<std::vector<WeightVersions>>;
  const Versions own = versions_by_rank(in, *now);
  const Versions theirs = never_drains(in.beside) ? versions_by_rank(in, *beside) : Versions::ok({});
  if (!own || !theirs) return {.facts = {.reason = !own ? own.error : theirs.error}};
  auto now_figures = figures_of(in, *now, *own), beside_figures = figures_of(in, *beside, *theirs);
  if (!now_figures || !beside_figures)
    return {.facts = {.reason = !now_figures ? now_figures.error : beside_figures.error}};
  Outputs out;
  Run run{.now = std::move(*now), .beside = std::move(*beside)};
  out.now = std::move(*now_figures);
  out.beside = std::move(*beside_figures);
  out.saved_s = out.beside.totals.makespan_s - out.now.totals.makespan_s;
  fill_references(in, run.now, out);
  fill_ranks(in, run, *own, out);
  if (!facts_alone) {
    add_histories(in, run.now);
    add_histories(in, run.beside);
    sweep_micro_batches(in, run);
  }
  return {.facts = std::move(out), .run = std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::distributed::pipeline
