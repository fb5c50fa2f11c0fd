#include <algorithm>
#include <cmath>

#include "chapters/interview/readiness/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

/// Topics as intervals against the goal with a way into each, the days of practice, and what is due.
namespace chapters::interview::readiness {
namespace {

using widgets::Align, widgets::Painter, widgets::theme, widgets::Type;

void keep_tables(const Inputs& in, const Outputs& out, widgets::Record& record) {
  widgets::DataTable topics{
      "Readiness by topic", {"topic", "asked", "right", "near", "ready_percent", "level", "due", "next"}, {}};
  for (const Row& r : out.topics)
    topics.rows.push_back({r.topic, std::to_string(r.asked), std::to_string(r.right), std::to_string(r.near),
                           widgets::exact(r.ready_percent), std::to_string(r.level), std::to_string(r.due), r.next});
  widgets::DataTable answers{"Answers", {"drill", "seed", "said", "right", "near", "seconds", "time_unix_s"}, {}};
  for (const DrillRecord& r : in.history)
    answers.rows.push_back({r.drill, std::to_string(r.seed), widgets::exact(r.said), r.right ? "1" : "0",
                            r.near ? "1" : "0", widgets::exact(r.seconds), widgets::exact(r.time_s)});
  record.tables.push_back(std::move(topics));
  record.tables.push_back(std::move(answers));
}

/// Three first questions of sixty seconds, where nothing was answered yet; returns the height.
float draw_starts(const Picture& picture, View& view, ImVec2 at, float width) {
  if (picture.starts.empty() || widgets::veiled()) return 0;
  const auto& t = theme();
  const float gap = t.px(12), high = t.px(52),
              each = (width - gap * static_cast<float>(picture.starts.size() - 1)) /
                     static_cast<float>(picture.starts.size());
  for (std::size_t i = 0; i < picture.starts.size(); ++i) {
    ImGui::SetCursorScreenPos({at.x + (each + gap) * static_cast<float>(i), at.y});
    if (widgets::button(picture.starts[i].label.c_str(), i == 0, {each, high}))
      view.requests.open_link = picture.starts[i].link;
  }
  return high + t.px(14);
}

/// The share that the learner said, as a line through the rows.
void mark_guess(const Painter& p, const widgets::IntervalBarLayout& layout) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "plan_ready_percent") return;
  const auto& t = theme();
  const auto x = static_cast<float>(layout.map.pixel(std::clamp(guess->value, 0.0, 100.0)));
  p.dashed_line({x, layout.plot.min.y}, {x, layout.plot.max.y}, t.accent, t.px(1.5f), t.px(4));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), false);
  const float width = widgets::text_size(words.view(), Type::small).x;
  widgets::paint_guess_words(p, {x - t.px(6) - width, layout.plot.min.y}, words.view());
}

/// The rows: a click on one, or its word at the right, opens what it leads to.
void draw_ladder(std::span<const widgets::IntervalRow> rows, const Picture& picture, View& view, ImVec2 at,
                 ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const float links = widgets::text_size("look again", Type::small).x + t.px(12);
  view.topics.selected = picture.chosen;
  ImGui::SetCursorScreenPos(at);
  if (widgets::draw_interval_bars("topics", rows, view.topics,
                                  {.lo = 0,
                                   .hi = 100,
                                   .unit = "%",
                                   .axis_label = "right, and what the answers support",
                                   .size = {size.x - links, size.y},
                                   .row_px = 44}) &&
      view.topics.selected >= 0 && !picture.lines[static_cast<std::size_t>(view.topics.selected)].link.empty())
    view.requests.open_link = picture.lines[static_cast<std::size_t>(view.topics.selected)].link;
  const widgets::RowStack& stack = view.topics.layout.stack;
  for (std::size_t i = 0; i < std::min({stack.shown, picture.lines.size(), rows.size()}); ++i)
    if (picture.lines[i].act && draw_link(p, static_cast<int>(i), picture.lines[i].act,
                                          {at.x + size.x, stack.middle(i) - t.type(Type::small) / 2 - t.px(1)}))
      view.requests.open_link = picture.lines[i].link;
  mark_guess(p, view.topics.layout);
  widgets::drew("ladder");
}

void draw_topics(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(10);
  float y = at.y + draw_starts(picture, view, at, size.x);
  const float title =
      p.text_fit({at.x, y}, picture.ladder, size.x, t.text, Type::small, widgets::Font::bold) + t.px(16);
  if (title + widgets::text_size(picture.ladder_key, Type::small).x <= size.x) {
    p.text({at.x + size.x, y}, picture.ladder_key, t.muted, Type::small, widgets::Font::sans, Align::right);
  } else if (size.y > t.px(200)) {
    y += line;
    widgets::fit_text(p, {at.x, y}, picture.ladder_key, size.x, t.muted, Type::small);
  }
  y += line;
  const std::span<const widgets::IntervalRow> all(picture.rows);
  const bool folds = !picture.folded.empty();
  const float foot = folds ? line : 0, room = std::max(1.0f, at.y + size.y - y - foot);
  const float wanted = 60 + 44 * static_cast<float>(picture.known);
  const float high = view.unfolded ? room : std::min(room, t.px(wanted));
  draw_ladder(view.unfolded ? all : all.first(picture.known), picture, view, {at.x, y}, {size.x, high});
  if (widgets::Record* record = p.record()) keep_tables(in, out, *record);
  if (!folds) return;
  y += high + t.px(4);
  const float wide = p.text({at.x, y}, picture.folded, t.muted, Type::small);
  const char* word = view.unfolded ? "fold them" : "show them";
  if (draw_link(p, -1, word, {at.x + wide + t.px(14) + widgets::text_size(word, Type::small).x, y}))
    view.unfolded = !view.unfolded;
  if (draw_link(p, -2, "practise", {at.x + size.x, y})) view.requests.open_link = picture.folded_link;
}

/// A square a day, a column a week, the last square today; the more answers the further along the ramp.
void draw_days(const Calendar& calendar, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float small = t.type(Type::small);
  if (calendar.days.empty()) {
    widgets::fit_text(p, at, "No day is known yet.", size.x, t.muted, Type::small);
    return;
  }
  widgets::Line line;
  line.add_integer(calendar.days_with).add(calendar.days_with == 1 ? " day with answers" : " days with answers");
  if (calendar.most_a_day > 0) line.add(", at most ").add_integer(calendar.most_a_day).add(" a day");
  line.add("; the last square is today");
  const bool wraps = widgets::text_size(line.view(), Type::small).x > size.x;
  const float foot = (wraps ? 2.3f : 1.0f) * small + t.px(6);
  constexpr std::size_t rows = 7;
  const float side = std::floor(std::min((size.y - foot) / rows, t.px(22)));
  if (side < t.px(3)) return;
  const auto weeks = std::min<std::size_t>(calendar.days.size() / rows, static_cast<std::size_t>(size.x / side));
  const std::size_t first = calendar.days.size() - weeks * rows;
  const float gap = std::max(1.0f, side * 0.14f);
  for (std::size_t i = first; i < calendar.days.size(); ++i) {
    const std::size_t k = i - first;
    const ImVec2 corner{at.x + side * static_cast<float>(k / rows), at.y + side * static_cast<float>(k % rows)};
    const std::int64_t n = calendar.days[i];
    const auto step = static_cast<std::size_t>(
        calendar.most_a_day > 0 ? std::ceil(4.0 * static_cast<double>(n) / static_cast<double>(calendar.most_a_day))
                                : 0);
    p.rect(corner, {corner.x + side - gap, corner.y + side - gap}, n > 0 ? t.ramp_at(step, 5) : t.card, t.px(2));
    if (i + 1 == calendar.days.size())
      p.frame(corner, {corner.x + side - gap, corner.y + side - gap}, t.accent, t.px(1.5f), t.px(2));
  }
  widgets::wrapped_text(p, {at.x, at.y + side * rows + t.px(4)}, line.view(), size.x, t.muted,
                        {.line_px = 1.2f * small, .max_lines = wraps ? 2 : 1});
}

void draw_due(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float row = t.type(Type::small) + t.px(9);
  if (picture.due.empty()) {
    widgets::fit_text(p, at, "Nothing is due.", size.x, t.muted, Type::small);
    return;
  }
  const auto places = static_cast<std::size_t>(std::max(1.0f, size.y / row));
  const std::size_t shown = picture.due.size() <= places ? picture.due.size() : std::max<std::size_t>(places, 2) - 1;
  for (std::size_t i = 0; i < shown; ++i) {
    const Due& due = picture.due[i];
    const float y = at.y + row * static_cast<float>(i), act = widgets::text_size("ask me", Type::small).x + t.px(10),
                when = widgets::text_size(due.when, Type::small).x + t.px(10);
    widgets::fit_text(p, {at.x, y}, due.title, size.x - act - when, t.text, Type::small);
    p.text({at.x + size.x - act, y}, due.when, t.muted, Type::small, widgets::Font::sans, Align::right);
    if (draw_link(p, static_cast<int>(i), "ask me", {at.x + size.x, y})) view.requests.open_link = due.link;
  }
  if (shown == picture.due.size()) return;
  widgets::Line more;
  more.add("and ").add_integer(static_cast<std::int64_t>(picture.due.size() - shown)).add(" more");
  p.text({at.x, at.y + row * static_cast<float>(shown)}, more.view(), t.muted, Type::small);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (picture.rows.empty()) return;
  const auto rows = static_cast<float>(picture.known + (picture.starts.empty() ? 0 : 3));
  stage.panel("topics",
              {.title = "Topics against the goal", .least = {460, 100 + 18 * rows}, .answers = true, .marks = "ladder"},
              [&](ImVec2 size) { draw_topics(in, out, picture, view, size); });
  stage.panel("plan", {.title = "The days to the interview", .least = {560, 180}, .ideal = {0, 280}},
              [&](ImVec2 size) { draw_plan(in, picture, view, size); });
  stage.panel("days", {.title = "Days of practice", .least = {260, 110}, .ideal = {0, 180}},
              [&](ImVec2 size) { draw_days(picture.calendar, size); });
  stage.panel("due", {.title = "Due for review", .least = {260, 90}},
              [&](ImVec2 size) { draw_due(picture, view, size); });
}

}  // namespace chapters::interview::readiness
