#include <algorithm>
#include <cmath>
#include <numeric>

#include "chapters/debugging/pyramid/lab.h"
#include "widgets/number/number.h"

namespace chapters::debugging::pyramid {
namespace {

using models::debugging::Prior, models::debugging::SearchStep, models::debugging::SearchWalk;
using widgets::format_text;

/// Bars in the order in which they are found, the shortest first: the smaller shape is the better order.
std::vector<Bar> bars_of(const SearchCase& c, const SearchWalk& walk) {
  std::vector<std::size_t> by_time(c.causes.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::stable_sort(by_time.begin(), by_time.end(),
                   [&](std::size_t a, std::size_t b) { return walk.cause_minutes[a] < walk.cause_minutes[b] - 1e-9; });
  std::vector<Bar> bars;
  for (const std::size_t i : by_time) {
    const auto& cause = c.causes[i];
    bars.push_back({.label = std::string(cause.name) + " " + format_text(100 * cause.likelihood, "%", 2),
                    .found = "found after " + format_text(walk.cause_minutes[i], "min"),
                    .layer = cause.layer,
                    .share = cause.likelihood,
                    .minutes = walk.cause_minutes[i]});
  }
  return bars;
}

/// "A, B or C": what a check that points leaves.
std::string group_words(const SearchCase& c, std::size_t check) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < c.causes.size(); ++i)
    if (c.checks[check].sees[i] > 0) names.push_back(c.causes[i].name);
  std::string words;
  for (std::size_t i = 0; i < names.size(); ++i)
    (words += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") += names[i];
  return words;
}

std::string tip_of(const SearchCase& c, const SearchStep& s) {
  if (s.skipped)
    return std::any_of(c.checks.begin(), c.checks.end(), [](const auto& k) { return k.points; })
               ? "Outside the groups it could find nothing that is left."
               : "It could find nothing that is left: it is not run.";
  const std::string reached = "Reached in " + format_text(100 * s.reached, "%", 2) + " of cases, it ";
  const std::string share = format_text(100 * s.convicts, "%", 2);
  if (!c.checks[s.check].points) return reached + "ends " + share + " of all.";
  return reached + "points in " + share + " of all: " + group_words(c, s.check) +
         ". That group is then searched in its own best order.";
}

Shape shape_of(const SearchCase& c, const SearchWalk& walk, std::string title) {
  Shape shape{.title = std::move(title),
              .mean_words = format_text(walk.mean_minutes, "min"),
              .chips = {},
              .bars = bars_of(c, walk),
              .mean = walk.mean_minutes};
  for (const SearchStep& s : walk.steps) {
    const auto& check = c.checks[s.check];
    shape.chips.push_back({.id = std::string(check.id),
                           .name = std::string(check.name),
                           .minutes = format_text(check.minutes, "", 2),
                           .words = std::string(check.name) + " " + format_text(check.minutes, ""),
                           .tip = tip_of(c, s),
                           .start = s.start,
                           .end = s.end,
                           .skipped = s.skipped,
                           .points = check.points});
  }
  return shape;
}

std::string capital(std::string words) {
  if (!words.empty() && words[0] >= 'a' && words[0] <= 'z') words[0] = static_cast<char>(words[0] - 'a' + 'A');
  return words;
}

std::string source_of(const Inputs& in, Prior prior) {
  const bool dealt = in.which == "dealt";
  if (dealt || in.likely > 0 || prior == Prior::own)
    return "Likelihoods, minutes and what a check sees are this case's own.";
  if (prior == Prior::llama3)
    return "Likelihoods: 419 interruptions of Llama 3's pre-training. Minutes and what a check sees: this case's own.";
  return "Likelihoods: faults of H200 nodes in a talk of 2025. Minutes and what a check sees: this case's own.";
}

void arrange_rows(const Inputs& in, const Outputs& out, Picture& p) {
  for (std::size_t i = 0; i < rule_count; ++i) {
    const auto rule = static_cast<Rule>(i);
    p.rules.push_back({.name = std::string(rule_name(rule, out.exact)),
                       .words = format_text(out.rule_minutes[i], ""),
                       .value = out.rule_minutes[i],
                       .marked = rule == in.against});
  }
  p.rules.push_back({.name = "yours", .words = format_text(out.mean_minutes, ""), .value = out.mean_minutes});
  std::vector<const CheckRow*> by_rate;
  for (const CheckRow& r : out.checks) by_rate.push_back(&r);
  std::stable_sort(by_rate.begin(), by_rate.end(),
                   [](const CheckRow* a, const CheckRow* b) { return a->rate > b->rate; });
  for (const CheckRow* r : by_rate)
    p.rates.push_back(
        {.name = r->name, .words = format_text(r->rate, "", 2), .value = r->rate, .marked = r->place == 1});
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  p.answer = answer_of(in, out);
  p.yours = shape_of(run.search, run.yours, "Yours");
  p.against = shape_of(run.search, run.against, capital(std::string(rule_name(in.against, out.exact))));
  if (!out.is_best) {
    p.ghost = bars_of(run.search, run.best);
    p.ghost_words =
        "dashed: " + std::string(rule_name(Rule::best, out.exact)) + ", " + format_text(out.best_minutes, "min");
  } else {
    p.ghost_words = out.exact ? "no order is faster" : "no order that was found is faster";
  }
  for (const Shape* s : {&p.yours, &p.against}) {
    for (const Chip& c : s->chips) p.longest = std::max(p.longest, c.end);
    for (const Bar& b : s->bars) p.longest = std::max(p.longest, b.minutes);
  }
  for (const Bar& b : p.ghost) p.longest = std::max(p.longest, b.minutes);
  p.source = source_of(in, run.prior);
  p.symptom = run.symptom;
  if (std::any_of(run.search.checks.begin(), run.search.checks.end(), [](const auto& c) { return c.points; }))
    p.points_words = "dashed: it points at a group";
  arrange_rows(in, out, p);
  double longest = 0;
  for (const auto& check : run.search.checks) longest = std::max(longest, check.minutes);
  for (const auto& check : run.search.checks) p.checks.push_back({std::string(check.name), check.minutes / longest});
  for (const auto& cause : run.search.causes)
    p.causes.push_back({std::string(cause.name), cause.layer, cause.likelihood});
  p.dealt = run.dealt;
  if (run.dealt) {
    p.deal_key = std::to_string(in.seed) + " " + std::to_string(in.false_alarm) + " " + std::to_string(in.sees) + " " +
                 std::to_string(in.likely);
    for (const auto& check : run.search.checks) {
      p.deal_names.emplace_back(check.name);
      p.deal_minutes.push_back(format_text(check.minutes, "min"));
    }
    for (const auto& cause : run.search.causes) p.cause_names.emplace_back(cause.name);
  }
  return p;
}

}  // namespace chapters::debugging::pyramid
