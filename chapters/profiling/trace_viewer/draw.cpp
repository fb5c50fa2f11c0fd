#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "chapters/profiling/trace_viewer/lab.h"
#include "models/trace/window.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using widgets::Font;
using widgets::format;
using widgets::Painter;
using widgets::Type;

constexpr float label_px = 150;

/// The whole recording as a strip of bars; the part that the timeline shows is lit, and follows a press.
void draw_overview(const Outputs& out, View& view) {
  const auto& t = widgets::theme();
  const Painter painter = Painter::window();
  const float height = t.px(38), width = ImGui::GetContentRegionAvail().x;
  const widgets::Rect area = widgets::canvas("overview", {width, height}, {t.px(60), height});
  const float left = area.min.x + std::min(t.px(label_px), area.width() * 0.4f), right = area.max.x - t.px(1);
  painter.text_fit({area.min.x, area.min.y + t.px(4)}, "whole recording", left - area.min.x - t.px(8), t.text,
                   Type::small);
  painter.text_fit({area.min.x, area.min.y + t.px(19)}, "share busy", left - area.min.x - t.px(8), t.muted,
                   Type::small);
  const double total = out.overview_end_s - out.overview_start_s;
  if (!(total > 0) || right <= left) return;
  const auto x_of = [&](double s) {
    return left + static_cast<float>(std::clamp((s - out.overview_start_s) / total, 0.0, 1.0)) * (right - left);
  };
  painter.rect({left, area.min.y}, {right, area.max.y}, t.card, t.px(3));
  const float step = (right - left) / static_cast<float>(std::max<std::size_t>(1, out.overview.size()));
  for (std::size_t i = 0; i < out.overview.size(); ++i) {
    const float x = left + static_cast<float>(i) * step,
                tall = static_cast<float>(out.overview[i]) * (area.height() - t.px(4));
    if (tall > 0)
      painter.rect({x, area.max.y - tall}, {x + std::max(1.0f, step - 1), area.max.y},
                   widgets::with_alpha(t.accent, 0.55f));
  }
  const double from = view.duration_s > 0 ? view.start_s : out.overview_start_s,
               shown = view.duration_s > 0 ? view.duration_s : total;
  painter.rect({x_of(from), area.min.y}, {x_of(from + shown), area.max.y}, widgets::with_alpha(t.accent, 0.22f));
  painter.frame({left, area.min.y}, {right, area.max.y}, t.line, 1, t.px(3));
  if (ImGui::IsItemActive() && ImGui::GetIO().MousePos.x >= left && view.duration_s > 0) {
    const double at =
        out.overview_start_s + static_cast<double>((ImGui::GetIO().MousePos.x - left) / (right - left)) * total;
    view.start_s = at - view.duration_s / 2;
  }
  if (ImGui::IsItemHovered())
    widgets::tip("whole recording", "height: share of the time in which the device works",
                 "press or drag to move the part shown below");
  if (widgets::Record* record = painter.record()) {
    widgets::DataTable table{"overview", {"part", "busy share"}, {}};
    for (std::size_t i = 0; i < out.overview.size(); ++i)
      table.rows.push_back({std::to_string(i), widgets::exact(out.overview[i])});
    record->tables.push_back(std::move(table));
  }
}

void step_to_match(const Outputs& out, View& view, std::int64_t by) {
  const auto& found = out.lanes->found();
  const auto n = static_cast<std::int64_t>(found.size());
  if (n == 0) return;
  view.match = view.match < 0 ? (by > 0 ? 0 : n - 1) : (view.match + by + n) % n;
  const auto& f = found[static_cast<std::size_t>(view.match)];
  const auto& span = out.lanes->lanes()[f.lane].spans[f.span];
  const double start = static_cast<double>(span.start_ns - out.lanes->data().origin_ns) * 1e-9;
  show(view, {start, start + static_cast<double>(span.length_ns()) * 1e-9, {f.lane, f.span}});
}

void step_to_gap(const Outputs& out, View& view, std::int64_t by) {
  const auto n = static_cast<std::int64_t>(out.gap_places.size());
  if (n == 0) return;
  view.gap = view.gap < 0 ? (by > 0 ? 0 : n - 1) : (view.gap + by + n) % n;
  show(view, out.gap_places[static_cast<std::size_t>(view.gap)]);
}

void draw_tools(const Inputs& in, const Outputs& out, View& view) {
  const auto& t = widgets::theme();
  if (widgets::button("Fit")) view.start_s = view.duration_s = 0;
  ImGui::SameLine();
  ImGui::BeginDisabled(out.gap_places.empty());
  if (widgets::button("Next gap")) step_to_gap(out, view, 1);
  ImGui::EndDisabled();
  if (!in.search.empty()) {
    ImGui::SameLine();
    ImGui::BeginDisabled(out.lanes->found().empty());
    if (widgets::button("Previous match")) step_to_match(out, view, -1);
    ImGui::SameLine();
    if (widgets::button("Next match")) step_to_match(out, view, 1);
    ImGui::EndDisabled();
  }
  ImGui::SameLine();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  widgets::Line line;
  if (!in.search.empty()) {
    if (view.match >= 0 && view.match < static_cast<std::int64_t>(out.lanes->found().size()))
      line.add_integer(view.match + 1).add(" of ");
    line.add(out.matches_text);
  }
  if (!view.selection.text.empty()) line.add(line.view().empty() ? "" : " | ").add(view.selection.text);
  if (line.view().empty())
    line.add("Wheel zooms, drag pans, shift-drag measures a part, click selects, F fits, g: next gap");
  widgets::fit_text(Painter::window(),
                    {at.x + t.px(6), at.y + (widgets::button_size("Fit").y - t.type(Type::small)) / 2}, line.view(),
                    room - t.px(6), t.muted, Type::small);
  ImGui::NewLine();
}

/// n and g step to the next match and gap, with Shift to the one before.
void step_by_key(const Outputs& out, View& view) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt || io.KeySuper ||
      !ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows))
    return;
  const std::int64_t by = io.KeyShift ? -1 : 1;
  if (ImGui::IsKeyPressed(ImGuiKey_N)) step_to_match(out, view, by);
  if (ImGui::IsKeyPressed(ImGuiKey_G)) step_to_gap(out, view, by);
}

/// Measures the part selected by shift-drag once the button is up: over millions of events that takes longer than a
/// frame.
void measure_selection(const Outputs& out, View& view) {
  SelectionStatistics& s = view.selection;
  const widgets::TimelineView& v = view.timeline;
  const bool none =
      !std::isfinite(v.range_start_s) || !std::isfinite(v.range_end_s) || v.range_start_s == v.range_end_s;
  if (none) {
    s.text.clear();
    s.from_s = s.to_s = std::nan("");
    return;
  }
  if (ImGui::IsMouseDown(ImGuiMouseButton_Left) ||
      (s.of == out.lanes && s.from_s == v.range_start_s && s.to_s == v.range_end_s))
    return;
  s.of = out.lanes, s.from_s = v.range_start_s, s.to_s = v.range_end_s;
  const LaneSource& source = out.lanes->sources().front();
  const auto [low, high] = std::minmax(s.from_s, s.to_s);
  const auto m = models::trace::measure_window(source.recording->trace, source.device, out.lanes->time_ns(0, low),
                                               out.lanes->time_ns(0, high));
  const auto time = [](std::int64_t ns) { return std::string(format(static_cast<double>(ns) * 1e-9, "s").view()); };
  s.text = "Selected " + time(m.window_ns) + ": " + std::string(format(static_cast<double>(m.events), "").view()) +
           " tasks on the device, busy " + time(m.busy_ns) + ", computing " + time(m.comp_ns) + ", communicating " +
           time(m.comm_ns) + " (" + time(m.exposed_comm_ns) + " exposed), idle " + time(m.idle_ns) + " (" +
           time(m.idle.host_wait_ns) + " for the host)";
}

/// The findings as cards; a press shows where.
void draw_findings(const Outputs& out, View& view) {
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, gap = t.px(10);
  const int columns = width >= t.px(760) ? 3 : width >= t.px(480) ? 2 : 1;
  const auto n = static_cast<int>(std::min<std::size_t>(out.findings.size(), 6));
  const float card = (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns), height = t.px(96);
  const widgets::Meaning edges[] = {widgets::Meaning::data_loading, widgets::Meaning::communication,
                                    widgets::Meaning::backward};
  for (int i = 0; i < n; ++i) {
    const auto& finding = out.findings[static_cast<std::size_t>(i)];
    const Place& place = out.finding_places[static_cast<std::size_t>(i)];
    if (i % columns != 0) ImGui::SameLine(0, gap);
    ImGui::PushID(i);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool pressed = ImGui::InvisibleButton("finding", {card, height}, ImGuiButtonFlags_EnableNav);
    const bool can_show = place.end_s > place.start_s;
    const Painter painter = Painter::window();
    painter.rect(at, {at.x + card, at.y + height}, t.card, t.px(6));
    if (ImGui::IsItemHovered() && can_show) painter.frame(at, {at.x + card, at.y + height}, t.accent, 1, t.px(6));
    painter.rect(at, {at.x + t.px(4), at.y + height}, t.of(edges[i % 3]), t.px(2));
    widgets::Line title;
    title.add(finding.title);
    if (finding.covers_s > 0) title.add(", ").add(format(finding.covers_s, "s"));
    widgets::fit_text(painter, {at.x + t.px(14), at.y + t.px(8)}, title.view(), card - t.px(24), t.text, Type::small,
                      Font::bold);
    widgets::wrapped_text(painter, {at.x + t.px(14), at.y + t.px(28)}, finding.finding, card - t.px(24), t.muted,
                          {.line_px = t.type(Type::small) + t.px(3), .max_lines = 4});
    if (pressed && can_show) show(view, place);
    if (ImGui::IsItemHovered()) widgets::tip(title.view(), finding.finding, can_show ? "press to see where" : "");
    ImGui::PopID();
  }
}

}  // namespace

void show(View& view, const Place& place) {
  const double length = std::max(place.end_s - place.start_s, 1e-7);
  view.start_s = place.start_s - 0.6 * length;
  view.duration_s = 2.2 * length;
  view.time = std::max(0.0, place.start_s);
  if (place.at.lane >= 0) view.timeline.selected = place.at, view.timeline.reveal = true;
  ImGui::SetScrollY(0.0f);  // what asks may stand far below the timeline
}

void draw(Inputs& in, const Outputs& out, View& view) {
  if (!out.reason.empty()) return;
  const auto& t = widgets::theme();
  if (!out.lanes) {
    Painter::window().text(ImGui::GetCursorScreenPos(), "Reading...", t.muted);
    return;
  }
  widgets::TimelineView& v = view.timeline;
  if (view.shown != out.lanes) {
    v.selected = {};
    v.range_start_s = v.range_end_s = std::nan("");
    view.match = view.gap = -1;
    view.natural_scale = 0;
    ++view.version;
    const bool first = !view.shown;
    const bool moved = view.asked.start_s != out.window.start_s || view.asked.duration_s != out.window.duration_s;
    if (moved && (!first || view.duration_s == 0))
      view.start_s = out.window.start_s, view.duration_s = out.window.duration_s;
    view.asked = out.window;
    view.shown = out.lanes;
  }
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  widgets::fit_text(Painter::window(), at, out.summary, width, t.muted, Type::small);
  ImGui::Dummy({width, t.type(Type::small) + t.px(6)});
  draw_overview(out, view);
  draw_tools(in, out, view);
  step_by_key(out, view);
  v.window = {view.start_s, view.duration_s};
  v.cursor_s = view.time;
  if (view.natural_scale != t.scale) {  // asking for the height makes a layout, which a steady frame should not
    view.natural_scale = t.scale;
    view.natural_px = widgets::timeline_height(out.lanes->data(), out.lanes->index(),
                                               {.label_px = label_px, .legend = true, .fold_wrappers = true});
  }
  const float most = std::max(t.px(260), t.px(in.all_ranks || out.lanes->sources().size() > 1 ? 520 : 400));
  widgets::draw_timeline("timeline", out.lanes->data(), v,
                         {.height = std::min(view.natural_px + t.px(2), most),
                          .label_px = label_px,
                          .arrows = in.arrows ? widgets::TimelineArrows::all : widgets::TimelineArrows::touched,
                          .legend = true,
                          .fold_wrappers = true});
  view.start_s = v.window.start_s, view.duration_s = v.window.duration_s;
  view.time = v.cursor_s;
  measure_selection(out, view);
  ImGui::Dummy({width, t.px(8)});
  draw_findings(out, view);
  ImGui::Dummy({width, t.px(8)});
  draw_panels(in, out, view);
}

}  // namespace chapters::profiling::trace_viewer
