#include <algorithm>

#include "chapters/distributed/planner/lab.h"
#include "models/parallel/pipeline/pipeline_run.h"
#include "models/parallel/planner/planner_schedule.h"

/// What a card says of one plan: its price, what its fullest GPU holds, its pipeline.
namespace chapters::distributed::planner {

using namespace models::parallel;

namespace {

constexpr int max_lanes = 8;

}  // namespace

PlanCard price_card(const PlannerJob& job, const PlanPoint& point) {
  PlanCard card;
  const auto price = price_plan(job, plan_of(job, point));
  if (!price) return card;
  card.point = point;
  card.name = plan_name(point);
  card.details = plan_detail(job, point);
  card.price = *price;
  if (point.context > 1) card.details += ", context by " + std::string(context_method_name(card.price.context_method));
  const auto held =
      models::memory::training_memory(job.architecture, card.price.plan,
                                      {.slack_share = job.stack.slack_share, .fixed_bytes = job.stack.reserve_bytes});
  if (held) card.held = held->held;
  return card;
}

void add_staircase(PlanCard& card) {
  const models::memory::TrainingPlan& p = card.price.plan;
  PipelineSpec spec = schedule_spec(p);
  spec.ranks = std::min<std::int64_t>(p.pipeline, 64);
  std::int64_t m = p.micro_batches;
  // Orders other than 1F1B need up to twice as many micro-batches as stages.
  const std::int64_t least = p.schedule == PipelineSchedule::one_f_one_b ? 1 : 2 * spec.ranks;
  const std::int64_t room = std::max<std::int64_t>(least, 64 / p.virtual_pipeline);
  if (m > room) m = p.virtual_pipeline > 1 ? std::max(spec.ranks, room / spec.ranks * spec.ranks) : room;
  spec.micro_batches = m;
  const auto plan = pipeline_plan(spec);
  if (!plan) return;
  PipelineTimes times;
  const bool again = p.recompute == models::Recompute::full;
  times.forward_s = 1;
  times.input_gradient_s = again ? 2 : 1;
  times.weight_gradient_s = 1;
  const auto run = run_pipeline(*plan, times);
  if (!run) return;
  const auto ranks = static_cast<int>(spec.ranks);
  card.lanes = std::min(ranks, max_lanes);
  for (int lane = 0; lane < card.lanes; ++lane) {
    const auto rank = static_cast<std::size_t>(card.lanes < 2 ? 0 : lane * (ranks - 1) / (card.lanes - 1));
    for (std::size_t i = 0; i < plan->orders[rank].size(); ++i) {
      const PipeKind kind = plan->orders[rank][i].kind;
      const double from = run->start_s[rank][i], to = from + duration_s(times, rank, kind);
      const auto add = [&](bool backward, double begin, double end) {
        card.blocks.push_back({static_cast<std::uint8_t>(lane), backward, static_cast<float>(begin / run->makespan_s),
                               static_cast<float>(end / run->makespan_s)});
      };
      // Of a forward and a backward at once each has its share of the time.
      const double turn =
          from + (to - from) * times.forward_s / (times.forward_s + times.input_gradient_s + times.weight_gradient_s);
      if (kind == PipeKind::pair) add(false, from, turn);
      add(kind != PipeKind::forward, kind == PipeKind::pair ? turn : from, to);
    }
  }
  card.micro_batches_shown = m;
}

PlanCard card_of(const PlannerJob& job, const PlanPoint& point) {
  PlanCard card = price_card(job, point);
  if (!card.name.empty()) add_staircase(card);
  return card;
}

}  // namespace chapters::distributed::planner
