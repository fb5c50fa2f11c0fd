#include <algorithm>
#include <cmath>

#include "chapters/roofline/tiling_waves/draw.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::roofline::tiling_waves {
namespace {

using models::Schedule, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

/// More waves than this would be stripes: those before the last stand together, with a break in the axis.
constexpr std::int64_t max_waves = 12;

/// Where time lies: even, or with the part before `break_at` pressed together.
struct TimeAxis {
  float left = 0, right = 0;
  double break_at = 1, break_px = 1;  ///< shares of the time and of the width
  float x(double share) const {
    const double at = share <= break_at ? break_px * share / break_at
                                        : break_px + (1 - break_px) * (share - break_at) / (1 - break_at);
    return left + static_cast<float>(std::clamp(at, 0.0, 1.0)) * (right - left);
  }
  double share(float px) const {
    const double at = std::clamp(static_cast<double>((px - left) / (right - left)), 0.0, 1.0);
    return at <= break_px ? break_at * at / break_px : break_at + (1 - break_at) * (at - break_px) / (1 - break_px);
  }
};

TimeAxis axis_of(const Outputs& out, float left, float right) {
  TimeAxis axis{left, right};
  const std::int64_t waves = out.result.waves;
  if (out.setting.schedule == Schedule::stream_k || waves <= max_waves) return axis;
  axis.break_at = static_cast<double>(waves - 1) / static_cast<double>(waves);
  axis.break_px = 0.74;
  return axis;
}

struct Frame {
  const Outputs& out;
  const Painter& painter;
  Rect area;
  TimeAxis axis;
  double end_s = 0;
  float y(double slots) const {
    return area.max.y - static_cast<float>(slots / static_cast<double>(out.slots)) * area.height();
  }
};

void label_in(const Frame& f, Rect r, std::string_view words, ImU32 ink) {
  const auto& t = widgets::theme();
  const ImVec2 size = widgets::text_size(words, Type::small);
  if (size.x + t.px(6) > r.width() || size.y + t.px(4) > r.height()) return;
  const ImVec2 mid{(r.min.x + r.max.x) / 2, (r.min.y + r.max.y - t.type(Type::small)) / 2};
  f.painter.text(mid, words, ink, Type::small, Font::sans, widgets::Align::center);
}

/// The same on a fill whose lightness may lie where neither dark nor white reads well: then on a plate.
void label_on(const Frame& f, Rect r, std::string_view words, ImU32 fill) {
  const auto& t = widgets::theme();
  constexpr double readable = 4.6;
  const ImU32 ink = widgets::text_on(fill, t);
  if (widgets::contrast(ink, fill) >= readable) return label_in(f, r, words, ink);
  const ImVec2 half{widgets::text_size(words, Type::small).x / 2 + t.px(3), t.type(Type::small) / 2 + t.px(2)};
  const ImVec2 mid{(r.min.x + r.max.x) / 2, (r.min.y + r.max.y) / 2};
  if (2 * half.x + t.px(2) > r.width() || 2 * half.y > r.height()) return;
  f.painter.rect({mid.x - half.x, mid.y - half.y}, {mid.x + half.x, mid.y + half.y}, t.card, t.px(3));
  label_in(f, r, words, t.text);
}

/// Two slanted strokes where the axis is broken.
void paint_break(const Frame& f, float x) {
  const auto& t = widgets::theme();
  const float half = t.px(5);
  for (const float shift : {-t.px(3), t.px(3)}) {
    f.painter.line({x + shift - t.px(2), f.area.max.y + half}, {x + shift + t.px(2), f.area.max.y - half}, t.background,
                   t.px(4));
    f.painter.line({x + shift - t.px(2), f.area.max.y + half}, {x + shift + t.px(2), f.area.max.y - half}, t.text,
                   t.px(1.5f));
  }
}

/// Busy slots below, idle ones hatched above, from one time to another; shares of the whole.
void paint_waves(const Frame& f, std::int64_t first, std::int64_t count, double from, double to, std::int64_t busy) {
  const auto& t = widgets::theme();
  const float x0 = f.axis.x(from), x1 = std::max(x0 + 1, f.axis.x(to) - 1);
  const bool stream = f.out.setting.schedule == Schedule::stream_k;
  const ImU32 fill = widgets::colour(
      stream ? widgets::Tint::ramp(1, 3) : tint_of_wave(f.out, count > 1 ? first + count / 2 : first), t);
  const Rect works{{x0, f.y(static_cast<double>(busy))}, {x1, f.area.max.y}},
      idles{{x0, f.area.min.y}, {x1, works.min.y}};
  f.painter.rect(works.min, works.max, fill);
  if (busy < f.out.slots) {
    f.painter.rect(idles.min, idles.max, t.card);
    widgets::hatch(f.painter, idles, t.muted, t.px(6));
    widgets::Line idle;
    idle.add_integer(f.out.slots - busy).add(" idle");
    const ImVec2 size = widgets::text_size(idle.view(), Type::small);
    const ImVec2 mid{(idles.min.x + idles.max.x) / 2, (idles.min.y + idles.max.y) / 2};
    if (size.x + t.px(10) < idles.width() && size.y + t.px(6) < idles.height()) {
      f.painter.rect({mid.x - size.x / 2 - t.px(3), mid.y - size.y / 2 - t.px(1)},
                     {mid.x + size.x / 2 + t.px(3), mid.y + size.y / 2 + t.px(1)}, t.card, t.px(3));
      label_in(f, idles, idle.view(), t.text);
    }
  }
  widgets::Line name;
  if (stream)
    name.add("one share per slot");
  else if (count > 1)
    name.add_integer(count).add(" full waves");
  else
    name.add(f.axis.break_at < 1 || x1 - x0 > t.px(60) ? "wave " : "").add_integer(first + 1);
  label_on(f, works, name.view(), fill);
}

void paint_axis(const Frame& f) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), y = f.area.max.y + t.px(6);
  f.painter.line({f.area.min.x, f.area.max.y}, {f.area.max.x, f.area.max.y}, t.line);
  f.painter.text({f.area.min.x, y}, "0", t.muted, Type::small, Font::mono);
  const auto end = widgets::format(f.end_s, "s");
  const float end_x = f.area.max.x - f.painter.text({f.area.max.x, y}, end.view(), t.muted, Type::small, Font::mono,
                                                    widgets::Align::right);
  if (f.axis.break_at < 1) {
    const auto at = widgets::format(f.end_s * f.axis.break_at, "s");
    const float x = f.axis.x(f.axis.break_at), half = widgets::text_size(at.view(), Type::small, Font::mono).x / 2;
    if (x + half + t.px(8) < end_x)
      f.painter.text({x, y}, at.view(), t.muted, Type::small, Font::mono, widgets::Align::center);
    paint_break(f, f.area.min.x + 0.5f * (x - f.area.min.x));
  }
  widgets::Line slots;
  slots.add_integer(f.out.slots).add(f.out.slots == 1 ? " slot" : " slots");
  f.painter.text({f.area.min.x, f.area.min.y - small - t.px(4)}, slots.view(), t.muted, Type::small);
}

/// The block under the pointer in the tiles of C: its slot in its wave.
void mark_block(const Frame& f, const BlockPlace& lit) {
  if (lit.slot < 0) return;
  const auto& t = widgets::theme();
  const double waves = static_cast<double>(f.out.result.waves);
  const bool stream = f.out.setting.schedule == Schedule::stream_k;
  const float x0 = f.axis.x(stream ? 0 : static_cast<double>(lit.wave) / waves),
              x1 = f.axis.x(stream ? 1 : static_cast<double>(lit.wave + 1) / waves),
              y = f.y(static_cast<double>(lit.slot % f.out.slots) + 0.5);
  f.painter.rect({x0, y - t.px(3)}, {x1, y + t.px(3)}, t.background);
  f.painter.rect({x0, y - t.px(2)}, {x1, y + t.px(2)}, t.text);
}

void drag_cursor(const Frame& f, View& view) {
  const auto& t = widgets::theme();
  const float x = f.axis.x(view.time), wide = t.px(14);
  ImGui::SetCursorScreenPos({x - wide / 2, f.area.min.y});
  widgets::press_area("drag time", {wide, f.area.height()});
  const bool held = ImGui::IsItemActive(), lit = held || ImGui::IsItemHovered() || ImGui::IsItemFocused();
  if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (held && ImGui::IsMouseDown(ImGuiMouseButton_Left)) view.time = f.axis.share(ImGui::GetIO().MousePos.x);
  if (ImGui::IsItemFocused()) {
    const auto keys = widgets::play_keys();
    if (keys.steps != 0)
      view.time = std::clamp(view.time + keys.steps / static_cast<double>(f.out.result.waves), 0.0, 1.0);
  }
  if (lit && !held) widgets::tip("time cursor", "drag it: tiles of later waves turn pale");
  const float at = f.axis.x(view.time);
  f.painter.line({at, f.area.min.y}, {at, f.area.max.y}, t.accent, t.px(lit ? 2.5f : 1.5f));
  const ImVec2 triangle[] = {
      {at - t.px(5), f.area.min.y - t.px(6)}, {at + t.px(5), f.area.min.y - t.px(6)}, {at, f.area.min.y}};
  f.painter.polygon(triangle, t.accent);
}

void record_waves(widgets::Record& record, const Picture& pic) {
  widgets::DataTable table{"slots over time", {"first wave", "waves", "from (s)", "to (s)", "busy slots"}, {}};
  for (const models::WaveSpan& s : pic.run->spans)
    table.rows.push_back({std::to_string(s.first_wave + 1), std::to_string(s.waves), widgets::exact(s.start_s),
                          widgets::exact(s.end_s), std::to_string(s.busy_slots)});
  record.tables.push_back(std::move(table));
}

}  // namespace

void draw_slots(const Outputs& out, const Picture& pic, View& view, Room room) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter painter = Painter::window();
  const Rect area{
      {at.x, at.y + small + t.px(8)},
      {at.x + room.width - t.px(9), std::max(at.y + small + t.px(30), at.y + room.height - small - t.px(10))}};
  Frame f{out, painter, area, axis_of(out, area.min.x, area.max.x),
          pic.run->spans.empty() ? 0 : pic.run->spans.back().end_s};
  ImGui::SetCursorScreenPos(area.min);
  ImGui::SetNextItemAllowOverlap();
  widgets::press_area("slots over time", {area.width(), area.height()}, ImGuiButtonFlags_None);
  const bool hovered = ImGui::IsItemHovered();
  const std::int64_t waves = out.result.waves;
  if (waves < 1 || out.slots < 1) return;  // an infeasible state
  const double n = static_cast<double>(waves);
  if (out.setting.schedule == Schedule::stream_k) {
    paint_waves(f, 0, 1, 0, 1, out.result.work_units);
  } else if (waves <= max_waves) {
    for (std::int64_t w = 0; w < waves; ++w)
      paint_waves(f, w, 1, static_cast<double>(w) / n, static_cast<double>(w + 1) / n,
                  w + 1 == waves ? out.last_wave_blocks : out.slots);
  } else {
    paint_waves(f, 0, waves - 1, 0, f.axis.break_at, out.slots);
    paint_waves(f, waves - 1, 1, f.axis.break_at, 1, out.last_wave_blocks);
  }
  paint_axis(f);
  mark_block(f, view.lit());
  drag_cursor(f, view);
  if (widgets::Record* record = painter.record()) record_waves(*record, pic);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!hovered || !area.contains(mouse) || out.setting.schedule == Schedule::stream_k) return;
  const std::int64_t wave = std::min(waves - 1, static_cast<std::int64_t>(f.axis.share(mouse.x) * n));
  view.point({wave, -1});
  widgets::Line name, value;
  name.add("wave ").add_integer(wave + 1).add(" of ").add_integer(waves);
  value.add_integer(wave + 1 == waves ? out.last_wave_blocks : out.slots)
      .add(" of ")
      .add_integer(out.slots)
      .add(" slots at work");
  widgets::tip(name.view(), value.view(), "its tiles are lit");
}

}  // namespace chapters::roofline::tiling_waves
