#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "chapters/distributed/planner/lab.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/published_panel.h"
#include "models/base/integer_math.h"
#include "models/parallel/pipeline/pipeline_run.h"
#include "widgets/number/number.h"

namespace chapters::distributed::planner {

using namespace models::parallel;
using widgets::format_text;

namespace {

constexpr int max_lanes = 8;
constexpr double shown_beyond = 2.5;  // walls that the memory axis spans

std::string planner_mark(double value, std::string_view unit, int digits = 3) {
  return "`" + format_text(value, unit, digits) + "`";
}

/// The pipeline's schedule, simulated with equal stages; long ones are drawn with fewer micro-batches and said so.
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
  card.staircase = std::to_string(p.pipeline) + (p.pipeline == 1 ? " stage" : " stages");
  if (p.pipeline > 1) card.staircase += ", bubble " + widgets::format_percent(card.price.bubble_share, 2);
  if (m < p.micro_batches)
    card.staircase += "; " + std::to_string(m) + " of " + std::to_string(p.micro_batches) + " shown";
}

/// Keeps one plan a cell: thousands of plans would paint over each other.
void add_dots(const PlannerSearch& search, Picture& p) {
  constexpr double cells = 220;
  std::unordered_set<std::uint64_t> taken;
  const double y_span = std::log(p.most_s / p.least_s);
  for (std::size_t i = 0; i < search.points.size(); ++i) {
    const PlanPoint& point = search.points[i];
    if (point.memory_bytes > p.most_bytes || point.step_s > p.most_s) continue;
    const auto x = static_cast<std::uint64_t>(cells * point.memory_bytes / p.most_bytes);
    const auto y = static_cast<std::uint64_t>(cells * std::log(point.step_s / p.least_s) / y_span);
    if (!taken.insert(x << 32 | y).second) continue;
    p.dots.push_back({point.memory_bytes, point.step_s, i});
    (point.fits ? p.fit_x : p.out_x).push_back(point.memory_bytes);
    (point.fits ? p.fit_y : p.out_y).push_back(point.step_s);
    if (point.fits) p.dots_fitting += 1;
  }
}

void add_line(const PlannerSearch& search, const std::vector<std::size_t>& line, const Picture& p,
              std::vector<double>& xs, std::vector<double>& ys) {
  for (const std::size_t i : line) {
    const PlanPoint& point = search.points[i];
    if (point.memory_bytes > p.most_bytes) continue;
    xs.push_back(point.memory_bytes);
    ys.push_back(std::min(point.step_s, p.most_s));
  }
}

/// Published plans of the same job: model, chips, batch, sequence, format and software.
void add_published(const Inputs& in, const PlannerJob& job, Picture& p) {
  for (const Published& row : catalog().published_of("distributed/planner")) {
    Inputs theirs;
    Fields fields;
    describe(fields, theirs);
    set_published_inputs(fields, row);
    if (theirs.model != in.model || theirs.chip != in.chip || theirs.gpus != in.gpus ||
        theirs.global_batch != in.global_batch || theirs.sequence != in.sequence || theirs.format != in.format ||
        theirs.software != in.software)
      continue;
    const auto price = price_plan(job, plan_of(job, point_of(theirs)));
    if (!price || price->memory_bytes > p.most_bytes) continue;
    p.published_x.push_back(price->memory_bytes);
    p.published_y.push_back(price->step_s);
    p.published_names.push_back(row.label.empty() ? row.name : row.label);
  }
}

std::string answer_of(const Outputs& out, const Picture& p) {
  if (out.plans_total == 0)
    return p.search->reason.empty() ? "No plan of those that are allowed can run; allow more or change the GPUs."
                                    : "No plan can run. " + p.search->reason;
  if (!p.has_best)
    return "None of " + planner_mark(static_cast<double>(out.plans_total), "", 9) + " plans fits " +
           planner_mark(p.wall_bytes, "B") + " a GPU" +
           (out.plans_total > 0 ? "; the least that one needs is " + planner_mark(p.least_memory_bytes, "B") : "") +
           ".";
  std::string said = p.best.name + " is fastest: " + planner_mark(p.best.price.step_s, "s") + " a step in " +
                     planner_mark(p.best.price.memory_bytes, "B") + " of " + planner_mark(p.wall_bytes, "B");
  said += std::isfinite(out.beyond_step_s) ? ". Without the wall it would be " + planner_mark(out.beyond_step_s, "s")
                                           : std::string(", and none beyond the wall is faster");
  said += ".";
  if (!out.plan_problem.empty()) said += " " + out.plan_problem;
  return said;
}

/// In words: what the largest loss comes from.
std::string why_lost(const PlanCard& best, const PlanCard& second, const std::vector<LostTime>& lost) {
  const auto first = std::find_if(lost.begin(), lost.end(), [](const LostTime& l) { return l.seconds > 0; });
  if (first == lost.end()) return "No cause differs by a thousandth of the step.";
  const auto of = [](const PlanCard& c) { return c.price.plan; };
  switch (first->cause) {
    case PlanCause::bubble:
      return "Bubble: " + widgets::format_percent(second.price.bubble_share) + " of its step, " +
             widgets::format_percent(best.price.bubble_share) + " of the fastest's.";
    case PlanCause::tensor:
      return "Tensor parallel " + std::to_string(of(second).tensor) + " sends " +
             (of(second).tensor > of(best).tensor ? "more than " : "other amounts than ") +
             std::to_string(of(best).tensor) + " does.";
    case PlanCause::recompute:
      return "It runs layers again that the fastest keeps.";
    case PlanCause::products:
      return "Its products are cut smaller, or its last stage has more to do.";
    case PlanCause::data:
      return "Gradients and weights that its backward pass does not hide.";
    default:
      return "Most of it: " + std::string(step_cause_name(first->cause)) + ".";
  }
}

}  // namespace

PlanCard card_of(const PlannerJob& job, const PlanPoint& point) {
  PlanCard card;
  card.point = point;
  card.name = plan_name(point);
  card.details = plan_detail(job, point);
  const auto price = price_plan(job, plan_of(job, point));
  if (!price) return card;
  card.price = *price;
  const auto held =
      models::memory::training_memory(job.architecture, card.price.plan,
                                      {.slack_share = job.stack.slack_share, .fixed_bytes = job.stack.reserve_bytes});
  if (held) card.held = held->held;
  add_staircase(card);
  return card;
}

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  const auto job = job_of(in);
  p.search = searched(in, nullptr);
  if (!job || !p.search || !out.reason.empty()) return p;
  const PlannerSearch& search = *p.search;
  p.wall_bytes = job->cluster.memory_bytes;
  p.has_yours = out.plan_problem.empty();
  if (p.has_yours) p.yours = card_of(*job, point_of(in));
  const double memory = p.wall_bytes + in.keep_free_bytes;
  p.most_bytes = shown_beyond * memory;
  if (p.has_yours) p.most_bytes = std::max(p.most_bytes, 1.1 * std::min(out.yours.memory_bytes, 6 * memory));
  p.least_s = 1;
  if (!search.points.empty()) {
    p.least_s = search.points.front().step_s;
    p.least_memory_bytes = search.points.front().memory_bytes;
    for (const PlanPoint& point : search.points) {
      p.least_s = std::min(p.least_s, point.step_s);
      p.least_memory_bytes = std::min(p.least_memory_bytes, point.memory_bytes);
    }
  }
  p.has_best = search.fitting > 0;
  p.has_second = search.fitting > 1;
  if (p.has_yours) p.least_s = std::min(p.least_s, out.yours.step_s);
  p.most_s = std::max(6 * p.least_s, p.has_yours ? 1.3 * out.yours.step_s : 0);
  if (p.has_best) p.most_s = std::max(p.most_s, 3 * search.points.front().step_s);
  p.least_s *= 0.93;
  add_dots(search, p);
  add_line(search, search.frontier, p, p.line_x, p.line_y);
  if (p.has_best) {
    p.beyond_x.push_back(search.points.front().memory_bytes);
    p.beyond_y.push_back(search.points.front().step_s);
  }
  // Beyond the wall the line goes on from the best plan that fits to ever faster ones.
  add_line(search, search.beyond, p, p.beyond_x, p.beyond_y);
  p.fits_text = widgets::format_text(static_cast<double>(search.fitting), "", 9) + " plans fit";
  p.beyond_text = widgets::format_text(static_cast<double>(search.points.size() - search.fitting), "", 9) + " do not";
  p.wall_text = "beyond the wall, " + format_text(p.wall_bytes, "B");
  add_published(in, *job, p);
  if (p.has_best) p.best = card_of(*job, search.points[0]);
  if (p.has_second) {
    p.second = card_of(*job, search.points[1]);
    p.lost = lost_time(p.best.price.parts, p.second.price.parts);
    const double lost_s = p.second.price.step_s - p.best.price.step_s;
    p.lost_text =
        "it lost " + format_text(lost_s, "s") + " (" + widgets::format_percent(lost_s / p.best.price.step_s, 2) + "):";
    p.lost_why = why_lost(p.best, p.second, p.lost);
  }
  p.answer = answer_of(out, p);
  return p;
}

}  // namespace chapters::distributed::planner
