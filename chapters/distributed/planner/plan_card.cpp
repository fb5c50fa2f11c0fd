#include <algorithm>

#include "chapters/distributed/planner/lab.h"
#include "models/parallel/pipeline/pipeline_run.h"

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
  const auto held =
      models::memory::training_memory(job.architecture, card.price.plan,
                                      {.slack_share = job.stack.slack_share, .fixed_bytes = job.stack.reserve_bytes});
  if (held) card.held = held->held;
  return card;
}

void add_staircase(PlanCard& card) {
  const models::memory::TrainingPlan& p = card.price.plan;
  PipelineSpec spec;
  spec.schedule = p.virtual_pipeline > 1 ? PipelineSchedule::interleaved : PipelineSchedule::one_f_one_b;
  spec.ranks = std::min<std::int64_t>(p.pipeline, 64);
  spec.chunks = p.virtual_pipeline;
  std::int64_t m = p.micro_batches;
  const std::int64_t room = std::max<std::int64_t>(1, 64 / p.virtual_pipeline);
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
      card.blocks.push_back({static_cast<std::uint8_t>(lane), kind != PipeKind::forward,
                             static_cast<float>(from / run->makespan_s), static_cast<float>(to / run->makespan_s)});
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
