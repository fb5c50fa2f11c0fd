#include "models/parallel/pipeline/pipeline_run.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace models::parallel {
namespace {

constexpr double not_done = -1;
constexpr double rounding = 1e-12;  // The relative rounding error of a sum of many times.

/// An operation that another one needs.
struct PipeNeed {
  bool exists = false, crosses = false;  ///< crosses: it comes over a link
  PipeKind kind = PipeKind::forward;
  std::uint16_t stage = 0, micro_batch = 0;
};
using PipeNeeds = std::array<PipeNeed, 4>;

/// Whether no stage lies before this one. One past the last stage begins a direction, too.
bool begins_direction(const PipelinePlan& plan, std::int64_t stage) {
  return static_cast<std::uint32_t>(stage) % static_cast<std::uint32_t>(plan.depth) == 0;
}

PipeNeed need_of(const PipelinePlan& plan, std::size_t rank, PipeKind kind, std::int64_t stage, std::int64_t m) {
  return {true, plan.rank_of[static_cast<std::size_t>(stage)] != rank, kind, static_cast<std::uint16_t>(stage),
          static_cast<std::uint16_t>(m)};
}
void add_forward_needs(const PipelinePlan& plan, std::size_t rank, std::int64_t stage, std::int64_t m, PipeNeed* out) {
  if (!begins_direction(plan, stage)) out[0] = need_of(plan, rank, PipeKind::forward, stage - 1, m);
}
void add_backward_needs(const PipelinePlan& plan, std::size_t rank, std::int64_t stage, std::int64_t m, PipeNeed* out) {
  out[0] = need_of(plan, rank, PipeKind::forward, stage, m);
  if (!begins_direction(plan, stage + 1)) out[1] = need_of(plan, rank, PipeKind::backward, stage + 1, m);
}
/// Whole backwards and input gradients are both called backward here: either lets the stage before go on.
PipeNeeds needs_of(const PipelinePlan& plan, std::size_t rank, const PipeOp& op) {
  PipeNeeds out{};
  switch (op.kind) {
    case PipeKind::forward:
      add_forward_needs(plan, rank, op.stage, op.micro_batch, out.data());
      break;
    case PipeKind::backward:
    case PipeKind::input_gradient:
      add_backward_needs(plan, rank, op.stage, op.micro_batch, out.data());
      break;
    case PipeKind::weight_gradient:
      out[0] = need_of(plan, rank, PipeKind::backward, op.stage, op.micro_batch);
      break;
    case PipeKind::pair:
      add_forward_needs(plan, rank, op.stage, op.micro_batch, out.data());
      add_backward_needs(plan, rank, op.back_stage, op.back_micro_batch, out.data() + 1);
      break;
  }
  return out;
}

class PipelineWalk {
 public:
  /// `done`: where the operations are noted in the order in which they are done.
  PipelineWalk(const PipelinePlan& plan, const PipelineTimes& times, std::vector<PipelinePlace>* done = nullptr)
      : plan_(plan), times_(times), done_(done) {
    const auto cells = static_cast<std::size_t>(plan.stages * plan.micro_batches);
    forward_end_.assign(cells, not_done);
    backward_end_.assign(cells, not_done);
    next_.assign(plan.orders.size(), 0);
    free_s_.assign(plan.orders.size(), 0);
    queued_.assign(plan.orders.size(), 1);
    for (std::size_t rank = plan.orders.size(); rank > 0; --rank) ready_.push_back(rank - 1);
    out_.start_s.resize(plan.orders.size());
    for (std::size_t rank = 0; rank < plan.orders.size(); ++rank) out_.start_s[rank].reserve(plan.orders[rank].size());
  }

  PipelineAttempt run() {
    while (!ready_.empty() && error_.empty()) {
      const std::size_t rank = ready_.back();
      ready_.pop_back();
      queued_[rank] = 0;
      advance(rank);
    }
    if (error_.empty()) find_deadlock();
    summarize();
    return {std::move(out_), std::move(error_)};
  }

 private:
  double& end_of(PipeKind kind, std::int64_t stage, std::int64_t micro_batch) {
    auto& ends = kind == PipeKind::forward ? forward_end_ : backward_end_;
    return ends[static_cast<std::size_t>(stage * plan_.micro_batches + micro_batch)];
  }
  bool within(std::int64_t stage, std::int64_t micro_batch) const {
    return stage < plan_.stages && micro_batch < plan_.micro_batches;
  }

  /// Does what `rank` can do before it must wait.
  void advance(std::size_t rank) {
    const std::vector<PipeOp>& order = plan_.orders[rank];
    while (next_[rank] < order.size()) {
      const PipeOp& op = order[next_[rank]];
      if (!within(op.stage, op.micro_batch) || !within(op.back_stage, op.back_micro_batch)) {
        error_ = label(plan_, op) + " of rank " + std::to_string(rank) + " is of no stage and micro-batch of the plan.";
        return;
      }
      double start_s = free_s_[rank];
      for (const PipeNeed& need : needs_of(plan_, rank, op)) {
        if (!need.exists) continue;
        const double end_s = end_of(need.kind, need.stage, need.micro_batch);
        if (end_s == not_done) return;
        start_s = std::max(start_s, end_s + (need.crosses ? times_.link_s : 0));
      }
      const double end_s = start_s + duration_s(times_, rank, op.kind);
      out_.start_s[rank].push_back(start_s);
      free_s_[rank] = end_s;
      if (done_ != nullptr) done_->push_back({rank, next_[rank]});
      if (!finish(rank, op, end_s)) return;
      ++next_[rank];
    }
  }

  bool finish(std::size_t rank, const PipeOp& op, double end_s) {
    if (op.kind == PipeKind::weight_gradient) return true;
    if (op.kind == PipeKind::forward || op.kind == PipeKind::pair)
      if (!mark(rank, op, PipeKind::forward, op.stage, op.micro_batch, end_s)) return false;
    if (op.kind == PipeKind::forward) return true;
    const bool pair = op.kind == PipeKind::pair;
    return mark(rank, op, PipeKind::backward, pair ? op.back_stage : op.stage,
                pair ? op.back_micro_batch : op.micro_batch, end_s);
  }

  /// Notes that a stage is done with a micro-batch and wakes the rank that may wait for it.
  bool mark(std::size_t rank, const PipeOp& op, PipeKind kind, std::int64_t stage, std::int64_t m, double end_s) {
    double& end = end_of(kind, stage, m);
    if (end != not_done) {
      error_ = label(plan_, op) + " of rank " + std::to_string(rank) + " stands twice.";
      return false;
    }
    end = end_s;
    const std::int64_t to = kind == PipeKind::forward ? stage + 1 : stage - 1;
    if (begins_direction(plan_, std::max(to, stage))) return true;
    const std::size_t other = plan_.rank_of[static_cast<std::size_t>(to)];
    if (other != rank && !queued_[other]) {
      queued_[other] = 1;
      ready_.push_back(other);
    }
    return true;
  }

  /// The first thing that the stuck `rank` lacks.
  PipeNeed lacks(std::size_t rank) {
    for (const PipeNeed& need : needs_of(plan_, rank, plan_.orders[rank][next_[rank]]))
      if (need.exists && end_of(need.kind, need.stage, need.micro_batch) == not_done) return need;
    return {};
  }
  std::string named(const PipeNeed& need) const {
    return label(plan_, {.kind = need.kind,
                         .stage = static_cast<std::uint16_t>(need.stage),
                         .micro_batch = static_cast<std::uint16_t>(need.micro_batch)});
  }

  /// Follows who waits for whom from the first rank that is stuck until a rank comes up again, or one that waits for
  /// something of its own. W, which nobody waits for, is no part of it.
  void find_deadlock() {
    std::vector<std::size_t> seen;
    for (std::size_t rank = 0; rank < plan_.orders.size() && seen.empty(); ++rank)
      if (next_[rank] < plan_.orders[rank].size()) seen.push_back(rank);
    while (!seen.empty()) {
      const std::size_t rank = seen.back();
      const PipeNeed need = lacks(rank);
      if (!need.exists) return;
      const std::size_t other = plan_.rank_of[static_cast<std::size_t>(need.stage)];
      if (other == rank) {
        error_ = "Rank " + std::to_string(rank) + " would wait for ever: its " + op_text(rank) + " needs its own " +
                 named(need) + ", which does not come before it.";
        return;
      }
      const auto again = std::find(seen.begin(), seen.end(), other);
      if (again == seen.end() && next_[other] < plan_.orders[other].size()) {
        seen.push_back(other);
        continue;
      }
      const std::size_t from = again == seen.end() ? rank : *again;
      const PipeNeed first = lacks(from);
      error_ = "Rank " + std::to_string(from) + " would wait for ever: its " + op_text(from) + " needs " +
               named(first) + " of rank " + std::to_string(plan_.rank_of[static_cast<std::size_t>(first.stage)]) +
               ", which does not come before it";
      if (again != seen.end())
        for (auto at = again + 1; at != seen.end(); ++at) {
          const PipeNeed next = lacks(*at);
          error_ += "; in front of it rank " + std::to_string(*at) + " has " + op_text(*at) + ", which needs " +
                    named(next) + " of rank " + std::to_string(plan_.rank_of[static_cast<std::size_t>(next.stage)]);
          if (at - again == 2 && seen.end() - at > 2) {
            error_ += ", and so on round to rank " + std::to_string(from);
            break;
          }
        }
      error_ += ".";
      return;
    }
  }
  std::string op_text(std::size_t rank) const { return label(plan_, plan_.orders[rank][next_[rank]]); }

  void summarize() {
    double work_s = 0, busiest_s = 0;
    for (std::size_t rank = 0; rank < plan_.orders.size(); ++rank) {
      PipelineRank r;
      for (std::size_t i = 0; i < out_.start_s[rank].size(); ++i)
        r.busy_s += duration_s(times_, rank, plan_.orders[rank][i].kind);
      if (!out_.start_s[rank].empty()) r.first_s = out_.start_s[rank].front();
      r.last_s = free_s_[rank];
      r.span_bubble_s = r.last_s - r.first_s - r.busy_s;
      out_.makespan_s = std::max(out_.makespan_s, r.last_s);
      busiest_s = std::max(busiest_s, r.busy_s);
      work_s += r.busy_s;
      out_.ranks.push_back(r);
    }
    for (PipelineRank& r : out_.ranks) {
      r.wall_bubble_s = out_.makespan_s - r.busy_s;
      for (double* idle_s : {&r.wall_bubble_s, &r.span_bubble_s})
        if (*idle_s <= rounding * out_.makespan_s) *idle_s = 0;
      out_.span_bubble_s = std::max(out_.span_bubble_s, r.span_bubble_s);
    }
    if (out_.makespan_s > 0) {
      out_.idle_over_makespan = 1 - work_s / (static_cast<double>(out_.ranks.size()) * out_.makespan_s);
      out_.idle_over_ideal = (out_.makespan_s - busiest_s) / busiest_s;
    }
  }

  const PipelinePlan& plan_;
  const PipelineTimes& times_;
  std::vector<PipelinePlace>* done_;
  std::vector<double> forward_end_, backward_end_, free_s_;
  std::vector<std::size_t> next_, ready_;
  std::vector<char> queued_;
  std::string error_;
  PipelineRun out_;
};

bool does(const PipeOp& op, PipeKind kind, std::int64_t stage, std::int64_t m) {
  if (kind == PipeKind::forward)
    return (op.kind == PipeKind::forward || op.kind == PipeKind::pair) && op.stage == stage && op.micro_batch == m;
  if (op.kind == PipeKind::pair) return op.back_stage == stage && op.back_micro_batch == m;
  return (op.kind == PipeKind::backward || op.kind == PipeKind::input_gradient) && op.stage == stage &&
         op.micro_batch == m;
}

}  // namespace

double duration_s(const PipelineTimes& t, std::size_t rank, PipeKind kind) {
  const double factor = rank < t.rank_factor.size() ? t.rank_factor[rank] : 1;
  switch (kind) {
    case PipeKind::forward:
      return factor * t.forward_s;
    case PipeKind::backward:
      return factor * (t.input_gradient_s + t.weight_gradient_s);
    case PipeKind::input_gradient:
      return factor * t.input_gradient_s;
    case PipeKind::weight_gradient:
      return factor * t.weight_gradient_s;
    case PipeKind::pair:
      break;
  }
  return factor * (std::isnan(t.pair_s) ? t.forward_s + t.input_gradient_s + t.weight_gradient_s : t.pair_s);
}

PipelineAttempt attempt_pipeline(const PipelinePlan& plan, const PipelineTimes& times) {
  return PipelineWalk(plan, times).run();
}

Result<PipelineRun> run_pipeline(const PipelinePlan& plan, const PipelineTimes& times) {
  PipelineAttempt attempt = attempt_pipeline(plan, times);
  if (!attempt.stuck.empty()) return Result<PipelineRun>::fail(std::move(attempt.stuck));
  return Result<PipelineRun>::ok(std::move(attempt.run));
}

PipelineTimer::PipelineTimer(const PipelinePlan& plan) {
  std::vector<PipelinePlace> done;
  const PipelineTimes any;
  if (!PipelineWalk(plan, any, &done).run().stuck.empty()) return;
  const auto micro_batches = static_cast<std::size_t>(plan.micro_batches);
  // The operation that brings a stage's forward or backward pass of a micro-batch to its end.
  std::array<std::vector<std::uint32_t>, 2> maker;
  for (auto& m : maker) m.assign(static_cast<std::size_t>(plan.stages) * micro_batches, 0);
  const auto cell = [&](std::size_t stage, std::size_t m) { return stage * micro_batches + m; };
  steps_.reserve(done.size());
  for (const PipelinePlace& at : done) {
    const PipeOp& op = plan.orders[at.rank][at.index];
    Step step{.rank = static_cast<std::uint16_t>(at.rank), .kind = op.kind};
    std::size_t needs = 0;
    for (const PipeNeed& need : needs_of(plan, at.rank, op))
      if (need.exists)
        step.needs[needs++] = maker[need.kind == PipeKind::forward ? 0 : 1][cell(need.stage, need.micro_batch)];
    steps_.push_back(step);
    const auto own = static_cast<std::uint32_t>(steps_.size());
    const bool pair = op.kind == PipeKind::pair;
    if (pair || op.kind == PipeKind::forward) maker[0][cell(op.stage, op.micro_batch)] = own;
    if (pair) maker[1][cell(op.back_stage, op.back_micro_batch)] = own;
    if (op.kind == PipeKind::backward || op.kind == PipeKind::input_gradient)
      maker[1][cell(op.stage, op.micro_batch)] = own;
  }
  ends_.assign(steps_.size() + 1, 0.0);
  ranks_ = plan.orders.size();
}

PipelineTimer::Ends PipelineTimer::run(const PipelineTimes& times) {
  std::array<double, 5> lasts{};
  for (std::size_t i = 0; i < lasts.size(); ++i) lasts[i] = duration_s(times, ranks_, static_cast<PipeKind>(i));
  free_.assign(ranks_, 0.0);
  busy_.assign(ranks_, 0.0);
  double* end = ends_.data();
  for (const Step& step : steps_) {
    const double start_s = std::max(std::max(free_[step.rank], ends_[step.needs[0]]),
                                    std::max(ends_[step.needs[1]], ends_[step.needs[2]]));
    const double lasts_s = lasts[static_cast<std::size_t>(step.kind)];
    free_[step.rank] = *++end = start_s + lasts_s;
    busy_[step.rank] += lasts_s;
  }
  Ends out;
  for (std::size_t rank = 0; rank < ranks_; ++rank) {
    out.makespan_s = std::max(out.makespan_s, free_[rank]);
    out.busiest_s = std::max(out.busiest_s, busy_[rank]);
  }
  return out;
}

Status check_complete(const PipelinePlan& plan) {
  const auto cells = static_cast<std::size_t>(plan.stages * plan.micro_batches);
  std::array<std::vector<std::uint8_t>, 3> done;  // forwards, input gradients, weight gradients
  for (auto& d : done) d.assign(cells, 0);
  const auto at = [&](std::int64_t stage, std::int64_t m) {
    return static_cast<std::size_t>(stage * plan.micro_batches + m);
  };
  for (std::size_t rank = 0; rank < plan.orders.size(); ++rank)
    for (const PipeOp& op : plan.orders[rank]) {
      const bool pair = op.kind == PipeKind::pair, whole = pair || op.kind == PipeKind::backward;
      const std::size_t own = at(op.stage, op.micro_batch), back = pair ? at(op.back_stage, op.back_micro_batch) : own;
      if (own >= cells || back >= cells || plan.rank_of[op.stage] != rank)
        return Status::fail(label(plan, op) + " does not belong to rank " + std::to_string(rank) + ".");
      if (pair || op.kind == PipeKind::forward) ++done[0][own];
      if (whole || op.kind == PipeKind::input_gradient) ++done[1][back];
      if (whole || op.kind == PipeKind::weight_gradient) ++done[2][back];
    }
  for (std::size_t cell = 0; cell < cells; ++cell)
    for (const auto& d : done)
      if (d[cell] != 1)
        return Status::fail("Stage " + std::to_string(cell / static_cast<std::size_t>(plan.micro_batches)) +
                            " does not do each part of micro-batch " +
                            std::to_string(cell % static_cast<std::size_t>(plan.micro_batches)) + " exactly once.");
  return Status::ok();
}

std::vector<PipelinePlace> critical_path(const PipelinePlan& plan, const PipelineTimes& times, const PipelineRun& run) {
  std::vector<PipelinePlace> out;
  PipelinePlace at;
  double latest_s = -1;
  for (std::size_t rank = 0; rank < plan.orders.size(); ++rank)
    if (!plan.orders[rank].empty() && run.ranks[rank].last_s > latest_s) {
      latest_s = run.ranks[rank].last_s;
      at = {rank, plan.orders[rank].size() - 1};
    }
  if (latest_s < 0) return out;
  while (true) {
    out.push_back(at);
    const PipeOp& op = plan.orders[at.rank][at.index];
    const double start_s = run.start_s[at.rank][at.index];
    // Among what ended just then, the rank's own last operation is named first: only a start after a gap changes rank.
    double latest = not_done;
    PipelinePlace cause;
    if (at.index > 0) {
      cause = {at.rank, at.index - 1};
      latest = run.start_s[at.rank][at.index - 1] + duration_s(times, at.rank, plan.orders[at.rank][at.index - 1].kind);
    }
    // What ended at the start but for rounding is the cause.
    if (latest < start_s - rounding * run.makespan_s)
      for (const PipeNeed& need : needs_of(plan, at.rank, op)) {
        if (!need.exists) continue;
        const std::size_t rank = plan.rank_of[static_cast<std::size_t>(need.stage)];
        const auto found = std::find_if(plan.orders[rank].begin(), plan.orders[rank].end(), [&](const PipeOp& o) {
          return does(o, need.kind, need.stage, need.micro_batch);
        });
        const auto index = static_cast<std::size_t>(found - plan.orders[rank].begin());
        const double end_s =
            run.start_s[rank][index] + duration_s(times, rank, found->kind) + (need.crosses ? times.link_s : 0);
        if (end_s > latest) {
          latest = end_s;
          cause = {rank, index};
        }
      }
    if (latest == not_done) break;
    at = cause;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace models::parallel
