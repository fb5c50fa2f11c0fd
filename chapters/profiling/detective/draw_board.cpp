#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/profiling/detective/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"

namespace chapters::profiling::detective {
namespace {

using widgets::Font, widgets::Type;

/// Design pixels. Rows below low_row have lanes that lie close, which leaves room for more of them.
constexpr float min_row = 9, low_row = 12, max_row = 24, lane_gap = 6, low_gap = 2, ruler = 32;
/// Where no more than this many rows stand on the board, they may be higher.
constexpr std::size_t few_rows = 4;
constexpr float max_few_row = 56;

std::string_view span_word(const void* context, std::uint32_t id) {
  const auto& names = static_cast<const Picture*>(context)->names;
  return id < names.size() ? std::string_view(names[id]) : std::string_view();
}

/// What was recorded of a span, for the hover.
std::string_view recorded_name(const void* context, std::uint32_t lane, std::uint32_t span) {
  const Picture& p = *static_cast<const Picture*>(context);
  if (!p.run || !p.run->played() || lane >= p.lanes.size() || span >= p.lanes[lane].source.size()) return {};
  constexpr std::string_view nothing = "nothing was recorded here";
  const std::uint32_t source = p.lanes[lane].source[span];
  if (p.run->real) {
    const auto& trace = p.run->real->ranks()[p.lanes[lane].rank];
    return source == models::trace::none ? nothing : trace.name(trace.events[source]);
  }
  const auto& task = p.run->dealt->played.job().tasks[source];
  return task.name.empty() ? nothing : task.name;
}

std::size_t rows_of_lane(const BoardLane& lane) {
  std::size_t deepest = 0;
  for (const auto& span : lane.spans) deepest = std::max<std::size_t>(deepest, span.depth);
  return deepest + 1;
}

/// The highest rows with which every lane has its place, in design pixels; a lane is no lower than its label.
float row_height(const Picture& picture, float height) {
  const auto& t = widgets::theme();
  std::size_t rows = 0;
  for (const BoardLane& lane : picture.lanes) rows += rows_of_lane(lane);
  const auto fits = [&](float row) {
    const bool low = row < low_row;
    const float label = t.type(low ? Type::small : Type::body) / t.scale + (low ? 1.0f : 3.0f);
    float all = ruler;
    for (const BoardLane& lane : picture.lanes)
      all += std::max(static_cast<float>(rows_of_lane(lane)) * (row + 2), label) + (low ? low_gap : lane_gap);
    return all <= height;
  };
  float row = rows <= few_rows ? max_few_row : max_row;
  while (row > min_row && !fits(row)) --row;
  return row;
}

/// Once in a case, whoever is guilty is brought into sight where the lanes have no room for all.
void bring_guilty(const Picture& picture, View& view) {
  if (view.guilty_of == picture.end_ns || widgets::veiled()) return;
  for (const BoardSuspect& s : picture.suspects) {
    if (!s.guilty || s.span.lane < 0 || static_cast<std::size_t>(s.span.lane) >= view.timeline.drawn_lanes()) continue;
    view.guilty_of = picture.end_ns;
    const widgets::Rect all = view.timeline.lanes_rect();
    const widgets::Rect lane = view.timeline.lane_rect(static_cast<std::size_t>(s.span.lane));
    view.timeline.scroll_px += std::max(0.0f, lane.max.y + lane.height() - all.max.y);
    return;
  }
}

/// The letters of the suspects on their longest spans; where two would stand on one another, that of the longer one.
void paint_letters(const Picture& picture, View& view) {
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const widgets::Rect all = view.timeline.lanes_rect();
  const float radius = t.px(8);
  if (all.width() < t.px(460)) return;  // the words of the spans have no room for them
  std::array<ImVec2, max_suspects> placed;
  std::size_t count = 0;
  for (const std::uint32_t i : picture.letters) {
    if (count == placed.size()) break;
    const BoardSuspect& s = picture.suspects[i];
    if (s.span.lane < 0 || static_cast<std::size_t>(s.span.lane) >= view.timeline.drawn_lanes()) continue;
    const auto& lane = picture.lanes[static_cast<std::size_t>(s.span.lane)];
    const auto& span = lane.spans[static_cast<std::size_t>(s.span.span)];
    const widgets::Rect place = view.timeline.lane_rect(static_cast<std::size_t>(s.span.lane));
    const ImVec2 at{view.timeline.x_pixel(static_cast<double>(span.start_ns) * 1e-9) + radius + t.px(2),
                    (place.min.y + place.max.y) / 2};
    if (!all.contains(at)) continue;
    const auto hides = [&](ImVec2 other) {
      return std::abs(other.x - at.x) < 2 * radius + 1 && std::abs(other.y - at.y) < 2 * radius + 1;
    };
    if (std::any_of(placed.begin(), placed.begin() + static_cast<std::ptrdiff_t>(count), hides)) continue;
    placed[count++] = at;
    // The board is given while a question is open, and who is guilty is not.
    const bool guilty = s.guilty && !widgets::veiled();
    p.rect({at.x - radius, at.y - radius}, {at.x + radius, at.y + radius}, guilty ? t.bad : t.panel, radius);
    p.ring(at, radius, s.accused ? t.accent : t.text, t.px(1.5f));
    const float wide = widgets::text_size(s.letter, Type::small).x;
    p.text({at.x - wide / 2, at.y - t.type(Type::small) / 2}, s.letter, guilty ? widgets::text_on(t.bad, t) : t.text,
           Type::small, Font::bold);
  }
}

/// A press on a span accuses whoever it belongs to.
void accuse_selected(Inputs& in, const Picture& picture, const View& view) {
  const auto at = view.timeline.selected;
  if (!picture.run->played() || at.lane < 0 || static_cast<std::size_t>(at.lane) >= picture.lanes.size()) return;
  const BoardLane& lane = picture.lanes[static_cast<std::size_t>(at.lane)];
  if (at.span < 0 || static_cast<std::size_t>(at.span) >= lane.suspect.size()) return;
  const std::int8_t suspect = lane.suspect[static_cast<std::size_t>(at.span)];
  if (suspect >= 0) accuse(in, *picture.run, static_cast<std::size_t>(suspect));
}

}  // namespace

void accuse(Inputs& in, const Run& run, std::size_t suspect) {
  // The first word opens the case: afterwards everybody knows.
  if (in.sealed && in.accused == 0 && in.charge == Charge::none && suspect < run.suspects()) {
    const bool guilty = run.guilty(suspect);
    add_record(in.history, {.kind = "detective",
                            .id = run.real ? std::string(run.real_facts->id) : "level-" + std::to_string(in.level),
                            .topic = "profiling",
                            .seed = run.real ? 0 : in.seed,
                            .right = guilty,
                            .of = 1,
                            .wrong = !guilty,
                            .time_s = in.now_s});
  }
  in.accused = static_cast<std::int64_t>(suspect) + 1;
}

void draw_board(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  // The recording is what the question gives.
  const widgets::GivenMarks given;
  view.lanes.clear();
  for (const BoardLane& lane : picture.lanes)
    view.lanes.push_back({.label = lane.label, .sublabel = lane.sublabel, .spans = lane.spans, .indent = lane.indent});
  widgets::TimelineData data;
  data.lanes = view.lanes;
  data.name = span_word;
  data.info = recorded_name;
  data.context = &picture;
  data.revision = picture.version;
  if (!widgets::veiled()) data.thread = picture.thread;
  if (view.shown != picture.version) {
    view.timeline.selected = {};
    if (view.case_shown != picture.end_ns) view.timeline.window = {};
    view.case_shown = picture.end_ns;
    view.shown = picture.version;
  }
  const auto events = widgets::draw_timeline("board", data, view.timeline,
                                             {.width = size.x,
                                              .height = size.y,
                                              .row_px = row_height(picture, size.y / t.scale),
                                              .label_px = 100,
                                              .whole_lanes = true});
  widgets::drew("board");
  if (events.clicked && !widgets::veiled()) accuse_selected(in, picture, view);
  bring_guilty(picture, view);
  paint_letters(picture, view);
}

namespace {

/// Where the rows of the line-up and the bars in them stand.
struct LineUpPlace {
  ImVec2 at{};
  float width = 0, top = 0, row = 0, names = 0;
  float left = 0, right = 0;  ///< the bars
  bool low = false;           ///< both figures stand in one line, behind both bars

  float bar_end(float part) const { return left + part * (right - left); }
};

LineUpPlace place_line_up(const Picture& picture, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  LineUpPlace l{.at = at, .width = size.x};
  l.top = at.y + t.type(Type::small) + t.px(8);
  const auto rows = static_cast<float>(std::max<std::size_t>(1, picture.suspects.size()));
  l.row = std::min(t.px(32), (at.y + size.y - l.top) / rows);
  l.names = std::min(t.px(230), size.x * 0.32f);
  l.low = l.row < t.px(22);
  l.left = at.x + l.names;
  l.right = at.x + size.x - t.px(70) - t.px(l.low ? 120 : 70);
  return l;
}

/// What a question gives of a suspect: letter, name, and how long its work took. Returns where the figure ends.
float paint_given_suspect(const widgets::Painter& p, const BoardSuspect& s, const LineUpPlace& l, float y) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small);
  const ImVec2 centre{l.at.x + t.px(12), y + l.row / 2};
  p.ring(centre, std::min(t.px(8), l.row / 2 - 1), t.text, t.px(1.2f));
  p.text({centre.x - widgets::text_size(s.letter, Type::small).x / 2, centre.y - small / 2}, s.letter, t.text,
         Type::small);
  widgets::fit_text(p, {l.at.x + t.px(28), y + (l.row - small) / 2}, s.name, l.names - t.px(34), t.text, Type::small);
  const float bar = l.bar_end(s.length_part);
  p.rect({l.left, y + l.row * 0.16f}, {std::max(bar, l.left + 1), y + l.row * 0.46f},
         widgets::with_alpha(t.muted, 0.55f), t.px(2));
  const bool won_shows = !s.verdict.empty() && !widgets::veiled();
  float end = (l.low && won_shows ? std::max(bar, l.bar_end(s.won_part)) : bar) + t.px(6);
  if (l.row >= small)
    end +=
        p.text({end, l.low ? y + (l.row - small) / 2 : y + l.row * 0.31f - small / 2}, s.length, t.muted, Type::small);
  return end;
}

/// What the step would win without the suspect, and whether it is guilty.
void paint_verdict(const widgets::Painter& p, const BoardSuspect& s, const LineUpPlace& l, float y, float length_end) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), won = l.bar_end(s.won_part);
  p.rect({l.left, y + l.row * 0.54f}, {std::max(won, l.left + t.px(1.5f)), y + l.row * 0.84f}, t.bad, t.px(2));
  // Beside the other figure where both would stand on one another.
  const float behind = l.row * 0.38f < small + 1 ? length_end + t.px(10) : 0;
  if (l.row >= small)
    p.text({std::max(won + t.px(6), behind), l.low ? y + (l.row - small) / 2 : y + l.row * 0.69f - small / 2}, s.won,
           t.text, Type::small);
  p.text({l.at.x + l.width - widgets::text_size(s.verdict, Type::small).x - t.px(4), y + (l.row - small) / 2},
         s.verdict, s.guilty ? t.bad : t.muted, Type::small, s.guilty ? Font::bold : Font::sans);
}

}  // namespace

void draw_line_up(Inputs& in, const Picture& picture, View&, ImVec2 size, float head_right) {
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  {
    const widgets::GivenMarks given;
    p.text(at, "The line-up", t.text, Type::small, Font::bold);
    const float x = at.x + widgets::text_size("The line-up", Type::small, Font::bold).x + t.px(12);
    widgets::fit_text(p, {x, at.y}, picture.line_words, at.x + size.x - x - (head_right > 0 ? head_right + t.px(8) : 0),
                      t.muted, Type::small);
  }
  const LineUpPlace l = place_line_up(picture, at, size);
  for (std::size_t i = 0; i < picture.suspects.size(); ++i) {
    const BoardSuspect& s = picture.suspects[i];
    const float y = l.top + l.row * static_cast<float>(i);
    const widgets::Rect line{{at.x, y}, {at.x + size.x, y + l.row - t.px(1)}};
    ImGui::PushID(static_cast<int>(i));
    ImGui::SetCursorScreenPos(line.min);
    if (widgets::press_area("suspect", {line.width(), line.height()}) && !widgets::veiled() && picture.run->played())
      accuse(in, *picture.run, i);
    const bool hovered = ImGui::IsItemHovered();
    ImGui::PopID();
    float length_end = 0;
    {
      const widgets::GivenMarks given;
      if (hovered) p.rect(line.min, line.max, t.card, t.px(3));
      length_end = paint_given_suspect(p, s, l, y);
    }
    if (s.guilty) p.rect(line.min, line.max, widgets::with_alpha(t.bad, 0.14f), t.px(3));
    if (s.accused) p.frame(line.min, line.max, t.accent, t.px(1.5f), t.px(3));
    if (!s.verdict.empty()) paint_verdict(p, s, l, y, length_end);
  }
}

}  // namespace chapters::profiling::detective
