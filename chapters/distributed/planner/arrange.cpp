#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "chapters/distributed/planner/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::planner {

using namespace models::parallel;
using widgets::format_text;

namespace {

constexpr double shown_beyond = 2.5;  // walls that the memory axis spans

/// The wall, and the plans as dots, without their values.
void name_plans(const Outputs& out, const PlannerSearch& search, Picture& p) {
  const auto count = [](std::size_t plans) { return format_text(static_cast<double>(plans), "", 9); };
  using Kind = widgets::Curve::Kind;
  p.fitting = {.kind = Kind::dots, .label = count(search.fitting) + " plans fit", .radius = 2};
  p.beyond = {.kind = Kind::dots,
              .label = count(search.points.size() - search.fitting) + " do not",
              .tint = widgets::Meaning::memory_bound,
              .alpha = 0.7f,
              .radius = 1.8f};
  p.published = {.kind = Kind::dots,
                 .label = "published plans",
                 .tint = widgets::Tint::good(),
                 .marker = widgets::Marker::diamond,
                 .radius = 10};
  p.wall = {.kind = Kind::area,
            .label = "more than the memory, " + format_text(out.wall_bytes, "B"),
            .tint = widgets::Meaning::memory_bound,
            .alpha = 0.10f,
            .width = 0,
            .x = {out.wall_bytes, p.most_bytes},
            .y = {p.most_s, p.most_s},
            .lower = {p.least_s, p.least_s}};
}

/// Keeps one plan a cell: thousands of plans would paint over each other.
void add_dots(const PlannerSearch& search, Picture& p) {
  constexpr double cells = 90;
  std::unordered_set<std::uint64_t> taken;
  const double y_span = std::log(p.most_s / p.least_s);
  for (std::size_t i = 0; i < search.points.size(); ++i) {
    const PlanPoint& point = search.points[i];
    if (point.memory_bytes > p.most_bytes || point.step_s > p.most_s) continue;
    const auto x = static_cast<std::uint64_t>(cells * point.memory_bytes / p.most_bytes);
    const auto y = static_cast<std::uint64_t>(cells * std::log(point.step_s / p.least_s) / y_span);
    if (!taken.insert(x << 32 | y).second) continue;
    p.dots.push_back({point.memory_bytes, point.step_s, i});
    (point.fits ? p.fitting : p.beyond).add(point.memory_bytes, point.step_s);
    if (point.fits) p.dots_fitting += 1;
  }
}

void add_line(const PlannerSearch& search, const std::vector<std::size_t>& line, const Picture& p,
              widgets::Curve& curve) {
  for (const std::size_t i : line) {
    const PlanPoint& point = search.points[i];
    if (point.memory_bytes > p.most_bytes) continue;
    curve.add(point.memory_bytes, std::min(point.step_s, p.most_s));
  }
}

/// Plans that no other beats in both time and memory: those that fit, then faster ones beyond the wall.
void add_frontiers(const PlannerSearch& search, Picture& p) {
  const bool fits = search.fitting > 0;
  widgets::Curve line{.kind = widgets::Curve::Kind::steps,
                      .label = "frontier",
                      .info = "no plan that fits beats these in time and memory",
                      .tint = widgets::Tint::strong(),
                      .named = false};
  add_line(search, search.frontier, p, line);
  if (fits) p.frontiers.push_back(std::move(line));
  widgets::Curve beyond{.kind = widgets::Curve::Kind::steps,
                        .label = fits ? "faster, but does not fit" : "frontier, none fits",
                        .tint = widgets::Meaning::memory_bound,
                        .width = 1.5f,
                        .dashed = true,
                        .named = false};
  // Beyond the wall the line goes on from the best plan that fits to ever faster ones.
  if (fits) beyond.add(search.points.front().memory_bytes, search.points.front().step_s);
  add_line(search, search.beyond, p, beyond);
  if (beyond.x.size() > 1) p.frontiers.push_back(std::move(beyond));
}

/// In words: what the largest loss comes from.
std::string why_lost(const Run& run) {
  const PlanCard &best = run.best, &second = run.second;
  const std::vector<LostTime>& lost = run.lost;
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
      return "It recomputes layers that the fastest keeps.";
    case PlanCause::products:
      return "Its matmuls are cut smaller, or its last stage has more to do.";
    case PlanCause::data:
      return "Gradients and weights that its backward pass does not hide.";
    default:
      return "Most of it: " + std::string(step_cause_name(first->cause)) + ".";
  }
}

/// What the plot spans: the wall with room beyond it, and plans from the fastest to three times the best.
void set_axes(const Inputs& in, const Outputs& out, const PlannerSearch& search, Picture& p) {
  const bool yours = out.plan_problem.empty();
  const double memory = out.wall_bytes + in.keep_free_bytes;
  p.most_bytes = shown_beyond * memory;
  if (yours) p.most_bytes = std::max(p.most_bytes, 1.1 * std::min(out.yours.memory_bytes, 6 * memory));
  if (!search.points.empty()) p.least_s = search.points.front().step_s;
  for (const PlanPoint& point : search.points) p.least_s = std::min(p.least_s, point.step_s);
  if (yours) p.least_s = std::min(p.least_s, out.yours.step_s);
  p.most_s = std::max(6 * p.least_s, yours ? 1.3 * out.yours.step_s : 0);
  if (search.fitting > 0) p.most_s = std::max(p.most_s, 3 * search.points.front().step_s);
  p.least_s *= 0.93;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || !run.search) return p;
  const PlannerSearch& search = *run.search;
  set_axes(in, out, search, p);
  name_plans(out, search, p);
  add_dots(search, p);
  add_frontiers(search, p);
  for (const PublishedPlan& plan : run.published) {
    if (plan.memory_bytes > p.most_bytes) continue;
    p.published.add(plan.memory_bytes, plan.step_s);
    p.published.labels.push_back(plan.name);
  }
  if (!run.second.name.empty()) {
    p.lost_text =
        out.runner_up_later < tie_percent
            ? "a tie within the model's error: " + format_text(out.runner_up_later, "%") + " longer"
            : format_text(out.runner_up_lost_s, "s") + " longer, " + format_text(out.runner_up_later, "%") + ":";
    p.lost_why = why_lost(run);
  }
  p.answer = answer_of(out, run);
  p.unknown = unknown_lines(in, run.job);
  return p;
}

}  // namespace chapters::distributed::planner
