#include "widgets/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/base/press_area.h"
#include "widgets/timeline/timeline_frame.h"

namespace widgets {
namespace {

/// Design pixels that a dragged label column keeps.
constexpr float least_label_px = 40;

float ruler_px(const TimelineOptions& options) {
  return options.ruler || options.cursor ? theme().type(Type::small) + theme().px(14) : 0.0f;
}

void set_sizes(TimelineFrame& f) {
  f.row_px = theme().px(f.options.row_px);
  f.row_step_px = f.row_px + theme().px(2);
  f.counter_px = theme().px(f.options.counter_px);
}

/// What was zoomed to, else everything, with the end of a scenario that was set aside.
TimelineWindow shown_window(const TimelineFrame& f) {
  const TimelineIndex& x = f.index;
  return f.view.window.duration_s > 0 ? limit_window(f.view.window, x.first_s, x.last_s)
                                      : fit_window(x.first_s, std::max(x.last_s, reference_last_s(f.label)));
}

void set_viewport(TimelineFrame& f) {
  const TimelineWindow w = shown_window(f);
  f.viewport = {f.lanes.min.x, f.lanes.width(), w.start_s, w.duration_s, f.data.origin_ns};
}

void set_window(TimelineFrame& f, TimelineWindow w) {
  f.view.window = limit_window(w, f.index.first_s, f.index.last_s);
  set_viewport(f);
}

void zoom(TimelineFrame& f, double factor, double at_s) {
  const TimelineWindow w = shown_window(f);
  const double longest = 4 * (f.index.last_s - f.index.first_s);
  // A limit that is already met must not turn a zoom into a pan.
  if ((factor > 1 && w.duration_s <= 1.0000001e-9) || (factor < 1 && w.duration_s >= 0.9999999 * longest)) return;
  set_window(f, zoom_window(w, factor, at_s));
}

void keys(TimelineFrame& f, double at_s) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt || io.KeySuper) return;
  const double step = std::min(static_cast<double>(io.DeltaTime), 0.1) * 3.0;  // e-fold in a third of a second
  const TimelineWindow w = shown_window(f);
  const auto held = [](ImGuiKey key) { return ImGui::IsKeyDown(key); };
  if (held(ImGuiKey_W)) zoom(f, std::exp(step), at_s);
  if (held(ImGuiKey_S)) zoom(f, std::exp(-step), at_s);
  if (held(ImGuiKey_A)) set_window(f, pan_window(w, -w.duration_s * step * 0.5));
  if (held(ImGuiKey_D)) set_window(f, pan_window(w, w.duration_s * step * 0.5));
  if (ImGui::IsKeyPressed(ImGuiKey_F, false)) f.view.window = {};
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false))
    f.view.selected = {}, f.view.range_start_s = f.view.range_end_s = std::nan("");
  if (f.options.cursor && ImGui::IsKeyPressed(ImGuiKey_Space, false)) {
    f.view.playing = !f.view.playing;
    if (f.view.playing && f.view.cursor_s >= f.index.last_s) f.view.cursor_s = f.index.first_s;
  }
}

void interact(TimelineFrame& f, float lanes_height_px) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool hovered = ImGui::IsItemHovered(), has_mouse = ImGui::IsMousePosValid(&io.MousePos);
  const double at_s = has_mouse ? f.viewport.time_at(io.MousePos.x) : 0.0;
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  if (!hovered && ImGui::IsItemFocused())
    keys(f, shown_window(f).start_s + shown_window(f).duration_s / 2);  // for those who use no mouse
  if (hovered && has_mouse) {
    if (io.MouseWheel != 0.0f && io.KeyShift) f.view.scroll_px -= io.MouseWheel * 3.0f * f.row_step_px;
    if (io.MouseWheel != 0.0f && !io.KeyShift) zoom(f, std::pow(1.25, static_cast<double>(io.MouseWheel)), at_s);
    if (io.MouseWheelH != 0.0f) {
      const TimelineWindow w = shown_window(f);
      set_window(f, pan_window(w, -0.1 * w.duration_s * static_cast<double>(io.MouseWheelH)));
    }
    keys(f, at_s);
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) f.view.window = {};
  }
  const bool on_ruler = has_mouse && io.MouseClickedPos[0].y < f.lanes.min.y;
  if (ImGui::IsItemActivated() && has_mouse && io.KeyShift && !on_ruler)
    f.view.range_start_s = f.view.range_end_s = at_s;
  if (ImGui::IsItemActive() && has_mouse && (io.MouseDown[0] || io.MouseDown[2])) {
    const bool moved = ImGui::IsMouseDragging(io.MouseDown[0] ? ImGuiMouseButton_Left : ImGuiMouseButton_Middle);
    if (on_ruler && f.options.cursor) {
      f.view.cursor_s = std::clamp(at_s, f.index.first_s, f.index.last_s);
      f.events.cursor_moved = true;
    } else if (io.KeyShift && std::isfinite(f.view.range_start_s)) {
      f.view.range_end_s = at_s;
    } else if (moved && io.MouseDelta.x != 0.0f && f.view.grabbed.lane < 0) {
      set_window(f, pan_window(shown_window(f), -static_cast<double>(io.MouseDelta.x) / f.viewport.px_per_s()));
    }
    if (moved && !on_ruler && !io.KeyShift && f.view.grabbed.lane < 0) f.view.scroll_px -= io.MouseDelta.y;
  }
  const float threshold = io.MouseDragThreshold;
  if (f.view.grabbed.lane >= 0 && !ImGui::IsItemActive()) {
    if (io.MouseDragMaxDistanceSqr[0] >= threshold * threshold && has_mouse) f.events.dropped = f.view.grabbed;
    f.view.grabbed = {};
  }
  f.events.clicked = ImGui::IsItemDeactivated() && has_mouse && !on_ruler && !io.KeyShift && io.MouseReleased[0] &&
                     io.MouseDragMaxDistanceSqr[0] < threshold * threshold;
  f.view.scroll_px = std::clamp(f.view.scroll_px, 0.0f, std::max(0.0f, lanes_height_px - f.lanes.height()));
  set_viewport(f);
}

/// Scrolls as little as shows the row of the selected span.
void reveal_selected(TimelineFrame& f) {
  if (!std::exchange(f.view.reveal, false)) return;
  const auto [lane, span] = f.view.selected;
  if (lane < 0 || span < 0 || lane >= static_cast<std::int64_t>(f.data.lanes.size())) return;
  const auto& spans = f.data.lanes[static_cast<std::size_t>(lane)].spans;
  if (span >= static_cast<std::int64_t>(spans.size())) return;
  const auto index = static_cast<std::size_t>(lane);
  if (f.view.scratch.lanes[index].hidden) return;
  const std::size_t row = f.index.lanes[index].row_of(spans[static_cast<std::size_t>(span)].depth);
  const float top = f.row_top(index, row) - f.lane_top(index) + f.view.scratch.lanes[index].top;
  f.view.scroll_px = std::clamp(f.view.scroll_px, std::max(0.0f, top + 2 * f.row_step_px - f.lanes.height()),
                                std::max(0.0f, top - f.row_step_px));
}

/// The handle lies over the ruler as an item of its own, so that it can be found and dragged by its label.
void cursor_handle(TimelineFrame& f) {
  const float x = f.viewport.x_of_s(f.view.cursor_s), half = theme().px(8);
  if (!(x >= f.lanes.min.x - 1) || !(x <= f.lanes.max.x + 1)) return;
  ImGui::SetCursorScreenPos({x - half, f.area.min.y});
  press_area("cursor", {2 * half, f.lanes.min.y - f.area.min.y}, ImGuiButtonFlags_None);
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 0.0f)) {
    f.view.cursor_s = std::clamp(f.viewport.time_at(ImGui::GetIO().MousePos.x), f.index.first_s, f.index.last_s);
    f.view.playing = false;
    f.events.cursor_moved = true;
  }
}

/// The edge between labels and lanes is dragged; a double click gives it back to the options.
void label_edge(TimelineFrame& f) {
  const float half = theme().px(3);
  ImGui::SetCursorScreenPos({f.lanes.min.x - 2 * half, f.lanes.min.y});
  press_area("label column", {2 * half, f.lanes.height()}, ImGuiButtonFlags_None);
  const bool held = ImGui::IsItemActive();
  if (held || ImGui::IsItemHovered()) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    Painter::window().line({f.lanes.min.x - half, f.lanes.min.y}, {f.lanes.min.x - half, f.lanes.max.y}, theme().accent,
                           theme().px(2));
  }
  if (held && ImGui::IsMouseDragging(ImGuiMouseButton_Left))
    f.view.label_px = std::max(least_label_px, (ImGui::GetIO().MousePos.x - f.area.min.x) / theme().scale);
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) f.view.label_px = 0;
}

/// Only what is folded or asked for has an order of its own, kept until the lanes change.
void sort_lanes(TimelineFrame& f) {
  TimelineScratch& s = f.view.scratch;
  if (!f.options.sorted) {
    s.order.clear();
    s.order_of = 0;
    return;
  }
  Fingerprint lanes;
  for (const TimelineLane& lane : f.data.lanes) {
    lanes.add(lane.label);
    lanes.add(static_cast<std::uint64_t>(lane.sort_index));
    lanes.add(std::uint64_t{lane.indent});
  }
  if (s.order_of == lanes.value && s.order.size() == f.data.lanes.size()) return;
  timeline_order(f.data.lanes, s.order);
  s.order_of = lanes.value;
}

/// Indexes changed lanes anew.
void renew_timeline_index(const TimelineData& data, TimelineView& view) {
  view.index = index_timeline(data);
  const TimelineSelection now = view.selected;  // may come from a lesson, so it is kept while it names a span
  const bool names_lane = now.lane >= 0 && now.lane < static_cast<std::int64_t>(data.lanes.size());
  if (!names_lane || now.span >= static_cast<std::int64_t>(data.lanes[static_cast<std::size_t>(now.lane)].spans.size()))
    view.selected = {};
}

/// Places the lanes right of the labels and under a ruler of so many pixels.
void place_lanes_area(TimelineFrame& f, float ruler) {
  const TimelineOptions& options = f.options;
  const TimelineView& view = f.view;
  const bool dragged = options.label_px > 0 && options.axis_left_px < 0 && view.label_px > 0;
  const float own_px = options.label_px > 0 ? std::min(theme().px(dragged ? view.label_px : options.label_px),
                                                       f.area.width() * (dragged ? 0.6f : 0.4f))
                                            : 0.0f;
  const float left_px = options.axis_left_px >= 0 ? std::min(options.axis_left_px, f.area.width() * 0.6f) : own_px;
  const float right_px =
      options.axis_right_px >= 0 ? std::min(options.axis_right_px, f.area.width() * 0.3f) : theme().px(1);
  f.lanes = {{f.area.min.x + left_px, f.area.min.y + ruler},
             {f.area.max.x - right_px, std::max(f.area.min.y + ruler, f.area.max.y - view.scratch.legend_height)}};
}

/// The line that says that more lanes lie below.
float more_lanes_px() { return theme().type(Type::small) + theme().px(5); }

/// The part of `room` pixels, the ruler among them, that shows whole lanes alone, with a line left for the words where
/// there are more.
float whole_lanes_height(const TimelineScratch& scratch, float ruler, float room) {
  const auto end_of = [&](const TimelineScratch::PlacedLane& lane) {
    return lane.hidden ? 0.0f : ruler + lane.top + lane.height;
  };
  float last = 0, whole = 0;
  for (const auto& lane : scratch.lanes) {
    last = std::max(last, end_of(lane));
    if (end_of(lane) <= room - more_lanes_px()) whole = std::max(whole, end_of(lane));
  }
  return last > room && whole > 0 ? whole : room;
}

void paint_more_lanes(const TimelineFrame& f, const Painter& painter, float room) {
  fit_text(painter, {f.area.min.x, f.area.min.y + room - more_lanes_px() + theme().px(3)},
           "More lanes below: hold Shift and turn the wheel, or enlarge the panel.", f.area.width(), theme().muted,
           Type::small);
}

/// What is under the mouse is found, selected by a click, grabbed by a press, and explained.
void point_at_lanes(TimelineFrame& f, ImVec2 mouse, bool pressed) {
  TimelineView& view = f.view;
  const TimelineOptions& options = f.options;
  find_timeline_hover(f, mouse);
  if (f.events.clicked) view.selected = f.events.hovered;
  if (pressed && options.grabs && ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::GetIO().KeyShift &&
      f.events.hovered_count == 1)
    view.grabbed = f.events.hovered;
  if (!ImGui::IsMouseDragging(ImGuiMouseButton_Left)) tip_timeline(f, mouse);
}

}  // namespace

Rect TimelineView::lane_rect(std::size_t lane) const {
  const Rect& all = scratch.lanes_area;
  const float top = all.min.y - scroll_px + scratch.lanes[lane].top;
  return {{all.min.x, top}, {all.max.x, top + scratch.lanes[lane].height}};
}

float TimelineView::whole_height() const {
  const float ruler = scratch.lanes_area.min.y - scratch.area.min.y;
  return ruler + (scratch.lanes.empty() ? 0.0f : scratch.lanes_height - theme().px(6)) + scratch.legend_height;
}

TimelineAxis TimelineView::axis() const {
  const Rect &all = scratch.area, &lanes = scratch.lanes_area;
  return {lanes.min.x - all.min.x, all.max.x - lanes.max.x, scratch.viewport.start_s, scratch.viewport.duration_s};
}

float timeline_height(const TimelineData& data, const TimelineIndex& index, const TimelineOptions& options) {
  std::vector<TimelineScratch::PlacedLane> placed;
  return place_timeline_lanes(data, index, options, {}, {}, placed) + ruler_px(options) +
         (options.legend ? legend_row_px() + theme().px(4) : 0.0f);
}

TimelineEvents draw_timeline(const char* label, const TimelineData& data, TimelineView& view,
                             const TimelineOptions& options) {
  const bool brought = data.index && data.index->lanes.size() == data.lanes.size();
  if (!brought &&
      (view.index.lanes.size() != data.lanes.size() || view.index.fingerprint != timeline_fingerprint(data)))
    renew_timeline_index(data, view);
  TimelineFrame f{label, data, view, options, brought ? *data.index : view.index};
  set_sizes(f);
  if (view.folded.size() != data.lanes.size()) view.folded.assign(data.lanes.size(), 0);
  sort_lanes(f);
  const float lanes_height =
                  place_timeline_lanes(data, f.index, options, view.folded, view.scratch.order, view.scratch.lanes),
              ruler = ruler_px(options);
  view.scratch.lanes_height = lanes_height;
  const bool dots = std::any_of(f.index.lanes.begin(), f.index.lanes.end(), [](const auto& lane) { return lane.dots; });
  view.scratch.legend_height =
      options.legend
          ? layout_timeline_legend(data, f.index.tints, dots,
                                   options.width > 0 ? options.width : ImGui::GetContentRegionAvail().x, view.scratch)
          : 0.0f;
  const float legend = view.scratch.legend_height;
  const float available = ImGui::GetContentRegionAvail().y;
  const float natural = lanes_height + ruler + legend + theme().px(2);
  const float least = ruler + f.row_step_px * 2;
  const float room = options.height > 0 ? options.height : std::min(natural, std::max(available, least));
  const float height = options.whole_lanes ? whole_lanes_height(view.scratch, ruler, room - legend) + legend : room;

  ImGui::PushID(label);
  ImGui::BeginGroup();
  f.area = canvas(label, {options.width, height}, {theme().px(120), std::min(least, std::max(height, 1.0f))});
  place_lanes_area(f, ruler);
  set_viewport(f);
  const bool hovered = ImGui::IsItemHovered(), pressed = ImGui::IsItemActivated();
  reveal_selected(f);
  interact(f, lanes_height);
  if (options.cursor) {
    advance_playback(view, f.index, static_cast<double>(ImGui::GetIO().DeltaTime));
    cursor_handle(f);
  }
  if (options.label_px > 0 && options.axis_left_px < 0) label_edge(f);
  fold_timeline_lanes(f);
  ImGui::EndGroup();
  ImGui::PopID();

  view.scratch.area = f.area;
  view.scratch.lanes_area = f.lanes;
  view.scratch.viewport = f.viewport;
  layout_timeline_blocks(f);
  if (view.scratch.legend_height > 0) name_seen_lanes(f);
  leave_timeline(f);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (hovered && f.lanes.contains(mouse)) point_at_lanes(f, mouse, pressed);
  find_touched_links(f);
  const Painter painter = Painter::window();
  paint_timeline(f, painter);
  if (height < room) paint_more_lanes(f, painter, room);
  if (Record* record = painter.record()) record_timeline(f, *record);
  return f.events;
}

}  // namespace widgets
