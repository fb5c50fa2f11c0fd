#include <algorithm>
#include <cmath>

#include "chapters/profiling/trace_viewer/draw.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using widgets::Painter, widgets::Type;

constexpr float low_row_px = 19, high_row_px = 34;
constexpr std::string_view measuring = "Measuring the part selected...";

/// The whole recording as a strip of bars; the part that the timeline shows is lit, and follows a press.
void draw_overview(const Picture& pic, View& view, float label, float height) {
  const auto& t = widgets::theme();
  const Painter painter = Painter::window();
  const float width = ImGui::GetContentRegionAvail().x;
  const widgets::Rect area = widgets::canvas("overview", {width, height}, {t.px(60), height});
  const float left = area.min.x + label, right = area.max.x - t.px(1);
  painter.text_fit({area.min.x, area.min.y}, "whole recording", left - area.min.x - t.px(8), t.text, Type::small);
  painter.text_fit({area.min.x, area.min.y + t.type(Type::small) + t.px(2)}, pic.overview_title,
                   left - area.min.x - t.px(8), t.muted, Type::small);
  const std::vector<double>& parts = pic.run->overview;
  const double total = pic.overview_end_s - pic.overview_start_s;
  if (!(total > 0) || right <= left) return;
  const auto x_of = [&](double s) {
    return left + static_cast<float>(std::clamp((s - pic.overview_start_s) / total, 0.0, 1.0)) * (right - left);
  };
  painter.rect({left, area.min.y}, {right, area.max.y}, t.card, t.px(3));
  const float step = (right - left) / static_cast<float>(std::max<std::size_t>(1, parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const float x = left + static_cast<float>(i) * step,
                tall = static_cast<float>(parts[i]) * (area.height() - t.px(4));
    if (tall > 0)
      painter.rect({x, area.max.y - tall}, {x + std::max(1.0f, step - 1), area.max.y},
                   widgets::with_alpha(t.accent, 0.55f));
  }
  const double from = view.duration_s > 0 ? view.start_s : pic.overview_start_s,
               shown = view.duration_s > 0 ? view.duration_s : total;
  painter.rect({x_of(from), area.min.y}, {x_of(from + shown), area.max.y}, widgets::with_alpha(t.accent, 0.22f));
  painter.frame({left, area.min.y}, {right, area.max.y}, t.line, 1, t.px(3));
  if (ImGui::IsItemActive() && ImGui::GetIO().MousePos.x >= left && view.duration_s > 0) {
    const double at =
        pic.overview_start_s + static_cast<double>((ImGui::GetIO().MousePos.x - left) / (right - left)) * total;
    view.start_s = at - view.duration_s / 2;
  }
  if (ImGui::IsItemHovered())
    widgets::tip("whole recording",
                 pic.bars.empty() ? "height: share of the time in which the busiest thread is in some span"
                                  : "height: share of the time in which the device works",
                 "press or drag to move the part shown below");
  if (widgets::Record* record = painter.record()) {
    widgets::DataTable table{"overview", {"part", "busy share"}, {}};
    for (std::size_t i = 0; i < parts.size(); ++i) table.rows.push_back({std::to_string(i), widgets::exact(parts[i])});
    record->tables.push_back(std::move(table));
  }
}

void step_to_match(const Lanes& lanes, View& view, std::int64_t by) {
  const auto& found = lanes.found();
  const auto n = static_cast<std::int64_t>(found.size());
  if (n == 0) return;
  view.match = view.match < 0 ? (by > 0 ? 0 : n - 1) : (view.match + by + n) % n;
  const auto& f = found[static_cast<std::size_t>(view.match)];
  const auto& span = lanes.lanes()[f.lane].spans[f.span];
  const double start = static_cast<double>(span.start_ns - lanes.data().origin_ns) * 1e-9;
  show(view, {start, start + static_cast<double>(span.length_ns()) * 1e-9, {f.lane, f.span}});
}

void step_to_gap(const Picture& pic, View& view, std::int64_t by) {
  const auto n = static_cast<std::int64_t>(pic.gap_places.size());
  if (n == 0) return;
  view.gap = view.gap < 0 ? (by > 0 ? 0 : n - 1) : (view.gap + by + n) % n;
  show(view, pic.gap_places[static_cast<std::size_t>(view.gap)]);
}

void draw_tools(const Inputs& in, const Picture& pic, View& view) {
  const Lanes& lanes = *pic.run->lanes;
  const auto& t = widgets::theme();
  if (widgets::button("Fit")) view.start_s = view.duration_s = 0;
  ImGui::SameLine();
  ImGui::BeginDisabled(pic.gap_places.empty());
  if (widgets::button("Next gap")) step_to_gap(pic, view, 1);
  ImGui::EndDisabled();
  if (!in.search.empty()) {
    ImGui::SameLine();
    ImGui::BeginDisabled(lanes.found().empty());
    if (widgets::button("Previous match")) step_to_match(lanes, view, -1);
    ImGui::SameLine();
    if (widgets::button("Next match")) step_to_match(lanes, view, 1);
    ImGui::EndDisabled();
  }
  ImGui::SameLine();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float room = ImGui::GetContentRegionAvail().x;
  const float text_y = at.y + (widgets::button_size("Fit").y - t.type(Type::small)) / 2;
  if (const widgets::ShownGuess* guess = widgets::shown_guess()) {  // about the whole picture, so over it
    const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit).view(), false);
    const float wide = widgets::text_size(words.view(), Type::small).x;
    widgets::paint_guess_words(Painter::window(), {at.x + room - wide - t.px(6), text_y}, words.view());
    room -= wide + t.px(18);
  }
  widgets::Line line;
  if (!in.search.empty()) {
    if (view.match >= 0 && view.match < static_cast<std::int64_t>(lanes.found().size()))
      line.add_integer(view.match + 1).add(" of ");
    line.add(pic.matches_text);
  }
  if (view.marked.asked()) {
    const MeasuredPart* measured = view.marked.answer();
    line.add(line.view().empty() ? "" : " | ").add(measured ? std::string_view(measured->words) : measuring);
  }
  if (line.view().empty()) {
    constexpr std::string_view hint = ". Wheel zooms, drag pans, shift-drag measures a part, click selects.";
    line.add(pic.summary);
    if (widgets::text_size(line.view(), Type::small).x + widgets::text_size(hint, Type::small).x < room - t.px(6))
      line.add(hint);
  }
  widgets::fit_text(Painter::window(), {at.x + t.px(6), text_y}, line.view(), room - t.px(6), t.muted, Type::small);
}

/// n and g step to the next match and gap, with Shift to the one before.
void step_by_key(const Picture& pic, View& view) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt || io.KeySuper ||
      !ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows))
    return;
  const std::int64_t by = io.KeyShift ? -1 : 1;
  if (ImGui::IsKeyPressed(ImGuiKey_N)) step_to_match(*pic.run->lanes, view, by);
  if (ImGui::IsKeyPressed(ImGuiKey_G)) step_to_gap(pic, view, by);
}

/// Asks how the device spent the part that shift-drag marked, once the button is up.
void ask_for_mark(const Picture& pic, View& view) {
  const widgets::TimelineView& v = view.timeline;
  if (!std::isfinite(v.range_start_s) || !std::isfinite(v.range_end_s) || v.range_start_s == v.range_end_s)
    return view.marked.forget();
  if (ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  view.marked.ask(view.requests, {pic.run->lanes, v.range_start_s, v.range_end_s},
                  [](const MarkedPart& part, Progress&) { return measure_part(part); });
}

/// Asks what the file says of the span under the pointer. A part that is being measured goes first: the program answers
/// one question of a picture at a time.
void ask_about_pointed(const Picture& pic, View& view, const widgets::TimelineEvents& events) {
  if (events.hovered.span < 0 || events.hovered_count != 1 || view.marked.waiting()) return;
  view.pointed.ask(view.requests, {pic.run->lanes, events.hovered},
                   [](const PointedSpan& at, Progress&) { return at.lanes->arguments_of(at.span); });
}

/// Rows as tall as the room allows: between low and high ones the height grows evenly.
float row_height(const Lanes& lanes, View& view, const widgets::TimelineOptions& options) {
  const auto& t = widgets::theme();
  if (view.natural_scale != t.scale) {  // asking for a height makes a layout, which a steady frame should not
    view.natural_scale = t.scale;
    widgets::TimelineOptions o = options;
    o.row_px = low_row_px;
    view.low_px = widgets::timeline_height(lanes.data(), lanes.index(), o);
    o.row_px = high_row_px;
    view.high_px = widgets::timeline_height(lanes.data(), lanes.index(), o);
  }
  if (!(view.high_px > view.low_px)) return low_row_px;
  const float share = (options.height - t.px(2) - view.low_px) / (view.high_px - view.low_px);
  return std::floor(low_row_px + (high_row_px - low_row_px) * std::clamp(share, 0.0f, 1.0f));
}

/// The height at which the last lane seen ends with one of its rows, so that no words are cut in half; as far as the
/// frame before tells.
float whole_rows(const Lanes& lanes, const widgets::TimelineView& v, float height, float row_px) {
  const auto& t = widgets::theme();
  const float seen = v.lanes_rect().height(), around = v.scratch.area.height() - seen;
  if (v.drawn_lanes() == 0 || v.drawn_lanes() != lanes.data().lanes.size() || v.scroll_px != 0 || !(seen > 0))
    return height;
  const float room = height - around;
  float best = 0;
  for (std::size_t i = 0; i < v.drawn_lanes(); ++i) {
    const auto& lane = v.scratch.lanes[i];
    if (lane.hidden || lane.top > room) continue;
    if (lane.top + lane.height <= room) {
      best = std::max(best, lane.top + lane.height);
      continue;
    }
    // Of a lane that is cut: its label's two lines stay whole, and so do the rows beside them.
    const float label = t.type(Type::body) + t.type(Type::small) + t.px(4), row = t.px(row_px) + t.px(2);
    const float rows = std::floor((room - lane.top) / row) * row;
    if (rows >= label && lanes.data().lanes[i].counters.empty()) best = std::max(best, lane.top + rows);
  }
  return best > t.px(40) ? best + around : height;
}

/// The lanes' names on empty tracks: which there are is given, what happens on them is the question.
void draw_given_lanes(const Lanes& lanes, widgets::TimelineView& v, widgets::TimelineOptions options) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const widgets::GivenMarks given;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, label = t.px(options.label_px);
  const float line = t.type(Type::body), row = std::max(t.px(options.row_px), line + t.px(4)) + t.px(8);
  float y = at.y + t.px(24);
  for (const widgets::TimelineLane& lane : lanes.data().lanes) {
    if (y + row > at.y + options.height) break;
    widgets::fit_text(p, {at.x, y}, lane.label, label - t.px(8), t.text, Type::body);
    p.rect({at.x + label, y}, {at.x + width, y + row - t.px(8)}, t.card, t.px(2));
    y += row;
  }
  v.selected = {};
  ImGui::Dummy({width, options.height});
}

/// Which of the lanes that answer the panel has room for. Of several runs the streams are compared, in which idle time
/// is the ground that nothing covers: the next lane is then a stream of another run.
void say_drawn_lanes(const Lanes& lanes, const widgets::TimelineView& v) {
  const widgets::Rect all = v.lanes_rect();
  const bool several = lanes.sources().size() > 1;
  const std::string& first = lanes.sources().front().label;
  bool idle = false;
  for (std::size_t i = 0; i < v.drawn_lanes() && i < lanes.data().lanes.size(); ++i) {
    const bool seen = v.lane_rect(i).min.y < all.max.y;
    const bool gaps = lanes.data().lanes[i].label == "device idle";
    idle = idle || gaps;
    if (i == 0 && seen) widgets::drew("device");
    if (gaps && seen) widgets::drew("idle");
    const bool another = !several || !lanes.data().lanes[i].sublabel.starts_with(first + ",");
    if (i > 0 && !gaps && seen && another) widgets::drew("next lane");
  }
  if (!idle || several) widgets::drew("idle");
  if (lanes.data().lanes.size() < 2) widgets::drew("next lane");
}

}  // namespace

void show(View& view, const Place& place) {
  const double length = std::max(place.end_s - place.start_s, 1e-7);
  view.start_s = place.start_s - 0.6 * length;
  view.duration_s = 2.2 * length;
  view.time = std::max(0.0, place.start_s);
  if (place.at.lane < 0) return;
  view.timeline.selected = place.at;
  view.timeline.reveal = true;
}

void draw_timeline_panel(const Inputs& in, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Lanes& lanes = *pic.run->lanes;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(6), small = t.type(Type::small);
  view.timeline.label_px = static_cast<float>(view.label_px);
  const float wide = size.x / t.scale;  // design pixels, as the label column's
  const float label = view.label_px > 0 ? std::min(view.timeline.label_px, 0.6f * wide) : std::min(150.0f, 0.3f * wide);
  const float cards = 2 * small + t.px(19), strip = 2 * small + t.px(4), tools = widgets::button_size("Fit").y;
  const bool with_cards = !pic.cards.empty() && size.y >= t.px(330),
             with_strip = !pic.run->overview.empty() && size.y >= t.px(430);
  float y = at.y;
  if (with_cards) {
    draw_cards(pic, view, {size.x, cards});
    y += cards + gap;
  }
  if (with_strip) {
    ImGui::SetCursorScreenPos({at.x, y});
    draw_overview(pic, view, t.px(label), strip);
    y += strip + gap;
  }
  ImGui::SetCursorScreenPos({at.x, y});
  draw_tools(in, pic, view);
  step_by_key(pic, view);
  y += tools + gap;
  ImGui::SetCursorScreenPos({at.x, y});
  widgets::TimelineView& v = view.timeline;
  v.window = {view.start_s, view.duration_s};
  v.cursor_s = view.time;
  widgets::TimelineOptions options{
      .height = std::max(t.px(60), at.y + size.y - y),
      .label_px = label,
      .arrows = in.arrows ? widgets::TimelineArrows::all : widgets::TimelineArrows::touched,
      .legend = size.y >= t.px(240),  // in less room the tracks come first
      .fold_wrappers = true};
  options.row_px = row_height(lanes, view, options);
  options.height = whole_rows(lanes, v, options.height, options.row_px);
  if (const std::string* text = view.pointed.answer(); text && view.pointed.asked()->lanes == pic.run->lanes)
    options.note = {view.pointed.asked()->span, *text};
  if (widgets::veiled()) return draw_given_lanes(lanes, v, options);
  const widgets::TimelineEvents events = widgets::draw_timeline("timeline", lanes.data(), v, options);
  view.start_s = v.window.start_s;
  view.duration_s = v.window.duration_s;
  view.time = v.cursor_s;
  view.label_px = static_cast<double>(v.label_px);
  say_drawn_lanes(lanes, v);
  ask_for_mark(pic, view);
  ask_about_pointed(pic, view, events);
}

}  // namespace chapters::profiling::trace_viewer
