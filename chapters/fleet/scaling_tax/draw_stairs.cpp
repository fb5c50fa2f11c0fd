#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/scaling_tax/lab.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

/// The stairs: a tread for each place between one kernel and a month of the fleet, the riser above it hatched.
namespace chapters::fleet::scaling_tax {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

struct StairPlace {
  ImVec2 min{}, max{};
  float column = 0, small = 0;
  float left(std::size_t i) const { return min.x + static_cast<float>(i) * column; }
  float y(double mfu) const { return max.y - static_cast<float>(mfu / 100) * (max.y - min.y); }
  double mfu_at(float y_px) const { return 100 * static_cast<double>((max.y - y_px) / (max.y - min.y)); }
};

using Lines = std::array<std::string_view, 3>;

/// One line, two of about one length, or three, broken at spaces and none wider than `width`; gives how many there
/// are, 0 where three are too few.
int broken(std::string_view s, float width, Lines& lines, Font font = Font::sans) {
  const auto fits = [&](std::string_view part) { return widgets::text_size(part, Type::small, font).x <= width; };
  lines = {s, {}, {}};
  if (fits(s)) return 1;
  std::size_t at = std::string_view::npos;
  for (std::size_t i = s.find(' '); i != std::string_view::npos; i = s.find(' ', i + 1)) {
    const auto longer = [&](std::size_t k) { return std::max(k, s.size() - k); };
    if (at == std::string_view::npos || longer(i) < longer(at)) at = i;
  }
  if (at == std::string_view::npos) return 0;
  lines = {s.substr(0, at), s.substr(at + 1), {}};
  if (fits(lines[0]) && fits(lines[1])) return 2;
  for (std::size_t line = 0; line < lines.size(); ++line) {
    std::size_t end = s.size();
    while (end != std::string_view::npos && !fits(s.substr(0, end))) end = s.rfind(' ', end - 1);
    if (end == std::string_view::npos || end == 0) return 0;
    lines[line] = s.substr(0, end);
    if (end == s.size()) return static_cast<int>(line) + 1;
    s.remove_prefix(end + 1);
  }
  return 0;
}

void paint_axis(const Painter& p, const StairPlace& s) {
  const auto& t = widgets::theme();
  constexpr std::array<std::string_view, 6> ticks{"0", "20", "40", "60", "80", "100"};
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const float y = s.y(20.0 * static_cast<double>(i));
    p.line({s.min.x, y}, {s.max.x, y}, i == 0 ? t.line : t.grid, t.px(1));
    p.text({s.min.x - t.px(6), y - s.small / 2}, ticks[i], t.muted, Type::small, Font::mono, Align::right);
  }
}

/// A riser of more than this is not seen as one.
constexpr float least_riser = 1.5f;

void paint_riser(const Painter& p, const StairPlace& s, const Tread& tread, float left, float right) {
  const auto& t = widgets::theme();
  const ImU32 hue = widgets::colour(tread.tint, t);
  const float top = s.y(std::max(tread.before, tread.after)), foot = s.y(std::min(tread.before, tread.after));
  if (foot - top < t.px(least_riser)) return;
  if (tread.after > tread.before) {
    // The published run is faster than the model: the step goes up.
    widgets::hatch(p, {{left, top}, {right, foot}}, widgets::with_alpha(hue, 0.5f), t.px(9));
    p.line({left, foot}, {right, foot}, hue, t.px(1));
    return;
  }
  p.rect({left, top}, {right, foot}, widgets::with_alpha(hue, 0.34f));
  // What stands idle is too dark for its own hatch.
  widgets::hatch(p, {{left, top}, {right, foot}}, tread.tint == widgets::Tint(widgets::Meaning::idle) ? t.muted : hue,
                 t.px(6));
}

/// Whether a tread shows the handle by which it is taken, though no hand is on it.
bool shows_handle(const Inputs& in, const Picture& picture, std::size_t i) {
  const Tread& tread = picture.treads[i];
  if (tread.cause == TaxCause::slow_node) return true;
  return tread.lift != Lift::none && (i == picture.pointed || in.lifted[static_cast<std::size_t>(tread.lift)] > 0);
}

/// Why, and how many points: inside of a high riser, over a low one, and over the arrow of a handle.
void paint_points(const Painter& p, const StairPlace& s, const Tread& tread, float left, bool handle) {
  const auto& t = widgets::theme();
  const float middle = left + s.column / 2, room = s.column - t.px(8), line = s.small + t.px(2);
  const float top = s.y(std::max(tread.before, tread.after)), foot = s.y(std::min(tread.before, tread.after));
  const float body = t.type(Type::body) + t.px(2);
  const float over = t.px(4) + (handle ? std::max(0.0f, t.px(14) - (foot - top)) : 0);
  Lines why;
  int lines = room >= t.px(56) ? broken(tread.why, room, why) : 0;
  float height = static_cast<float>(lines) * line + body;
  const auto has_room = [&] { return top - height - over >= s.min.y || foot - top > height + t.px(6); };
  if (!has_room()) {
    lines = 0;
    height = body;
    if (!has_room()) return;
  }
  float y = top - height - over;
  if (foot - top > height + t.px(10) || y < s.min.y) {
    y = (top + foot - height) / 2;
    float wide = widgets::text_size(tread.points, Type::body, Font::mono).x;
    for (int i = 0; i < lines; ++i)
      wide = std::max(wide, std::min(room, widgets::text_size(why[static_cast<std::size_t>(i)], Type::small).x));
    p.rect({middle - wide / 2 - t.px(5), y - t.px(3)}, {middle + wide / 2 + t.px(5), y + height + t.px(2)},
           widgets::with_alpha(t.background, 0.86f), t.px(4));
  }
  const auto plate = [&](float at_y, std::string_view words, Type type, Font font) {
    const ImVec2 extent = widgets::text_size(words, type, font);
    const float half = std::min(extent.x, room) / 2 + t.px(2);
    if (at_y < top) p.rect({middle - half, at_y}, {middle + half, at_y + extent.y}, t.background);
  };
  for (int i = 0; i < lines; ++i) {
    plate(y, why[static_cast<std::size_t>(i)], Type::small, Font::sans);
    p.text_fit({middle, y}, why[static_cast<std::size_t>(i)], room, t.muted, Type::small, Font::sans, Align::center);
    y += line;
  }
  plate(y, tread.points, Type::body, Font::mono);
  p.text_fit({middle, y}, tread.points, room, t.text, Type::body, Font::mono, Align::center);
}

/// What stands at the foot of a tread: the work lost, its price, what the tread is.
float paint_foot(const Painter& p, const StairPlace& s, const Tread& tread, float left, float tread_y) {
  const auto& t = widgets::theme();
  const float room = s.column - t.px(8), x = left + t.px(6), line = s.small + t.px(3);
  float y = s.max.y - line - t.px(2);
  Lines names;
  if (s.column < t.px(64)) {
    const int count = broken(tread.name, s.column - t.px(4), names);
    y -= static_cast<float>(std::max(0, count - 1)) * line;
    if (count == 0 || y < s.y(std::min(tread.before, tread.after)) + t.type(Type::small) + t.px(8)) return y;
    for (int i = 0; i < count; ++i)
      p.text_fit({left + s.column / 2, y + static_cast<float>(i) * line}, names[static_cast<std::size_t>(i)],
                 s.column - t.px(2), t.text, Type::small, Font::sans, Align::center);
    return y;
  }
  // Nothing stands where the tread's own figure does.
  const float highest = s.y(std::min(tread.before, tread.after)) + t.type(Type::title) + t.px(8);
  const int count = broken(tread.name, room, names, Font::bold);
  if (y - static_cast<float>(count) * line < highest) {
    if (y >= highest && count == 1) p.text_fit({x, y}, tread.name, room, t.text, Type::small, Font::bold);
    return y;
  }
  p.text_fit({x, y}, tread.gpus, room, t.muted, Type::small);
  for (int i = count; i > 0; --i) {
    y -= line;
    p.text_fit({x, y}, names[static_cast<std::size_t>(i - 1)], room, t.text, Type::small, Font::bold);
  }
  if (y - 2 * line - t.px(4) < tread_y + t.type(Type::title) + t.px(14) || s.column < t.px(64)) return y;
  y -= line + t.px(5);
  p.text_fit({x, y}, tread.dollars, room, t.muted, Type::small);
  y -= line;
  p.text_fit({x, y}, tread.work, room, t.text, Type::small, Font::mono);
  return y;
}

/// The hand on a tread: up lifts it, and of the slow node down slows it.
void drag_tread(Inputs& in, const Picture& picture, const Painter& p, const StairPlace& s, std::size_t i,
                float free_y) {
  const auto& t = widgets::theme();
  const Tread& tread = picture.treads[i];
  const bool slow = tread.cause == TaxCause::slow_node;
  if (tread.lift == Lift::none && !slow) return;
  const float reach = t.px(9), left = s.left(i), y = s.y(tread.after), x = left + s.column - t.px(14);
  ImGui::SetCursorScreenPos({left, y - reach});
  ImGui::PushID(static_cast<int>(i));
  widgets::press_area(slow ? "drag the slow node" : "lift a tread", {s.column, 2 * reach});
  ImGui::PopID();
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool hot = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  double& value = slow ? in.slow_node : in.lifted[static_cast<std::size_t>(tread.lift)];
  if (held && std::abs(ImGui::GetIO().MousePos.y - y) > t.px(1)) {
    const double mfu = s.mfu_at(ImGui::GetIO().MousePos.y);
    value = slow ? slower_at(*picture.run, mfu) : lift_at(tread, mfu);
  }
  if (ImGui::IsItemFocused()) {
    const int steps = widgets::play_keys().steps;
    if (steps != 0) value = std::clamp(value + (slow ? 1 : 5) * steps, 0.0, slow ? max_slower : 100.0);
  }
  const bool shown = hot || shows_handle(in, picture, i);
  if (hot) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    widgets::tip(tread.name, tread.points, tread.why);
  }
  if (!shown) {
    p.rect({x - t.px(7), y - t.px(2)}, {x + t.px(7), y + t.px(2)}, widgets::with_alpha(t.accent, 0.8f), t.px(2));
    return;
  }
  p.circle({x, y}, t.px(hot ? 11.0f : 9.0f), widgets::with_alpha(t.accent, 0.25f));
  p.circle({x, y}, t.px(6), t.accent);
  p.ring({x, y}, t.px(6), t.text, t.px(1.5f));
  const auto arrow = [&](float way) {
    const std::array<ImVec2, 3> points{
        {{x - t.px(4), y + way * t.px(11)}, {x, y + way * t.px(15)}, {x + t.px(4), y + way * t.px(11)}}};
    p.polyline(points, t.accent, t.px(1.5f));
  };
  arrow(1);
  if (y - t.px(15) >= s.min.y) arrow(-1);  // what has no way up points into no words above the stairs
  const std::string_view words = slow                                      ? "drag the slow node"
                                 : i == picture.pointed && !picture.lifted ? "lift a tread: all after it rise"
                                                                           : std::string_view();
  if (words.empty() || s.column < t.px(64)) return;
  Lines lines;
  const int count = broken(words, s.column - t.px(10), lines, Font::bold);
  const float from = y + t.type(Type::title) + t.px(10);
  if (from + static_cast<float>(count) * (s.small + t.px(2)) > free_y) return;
  for (int k = 0; k < count; ++k)
    p.text_fit({left + t.px(6), from + static_cast<float>(k) * (s.small + t.px(2))}, lines[static_cast<std::size_t>(k)],
               s.column - t.px(8), t.accent, Type::small, Font::bold);
}

void paint_tread(const Painter& p, const Picture& picture, const StairPlace& s, std::size_t i) {
  const auto& t = widgets::theme();
  const Tread& tread = picture.treads[i];
  const float left = s.left(i), right = left + s.column, y = s.y(tread.after);
  p.rect({left, y}, {right, s.max.y}, t.background);
  p.rect({left, y}, {right, s.max.y}, widgets::with_alpha(t.of(widgets::Meaning::forward), i % 2 == 0 ? 0.11f : 0.07f));
  paint_riser(p, s, tread, left, right);
  if (widgets::output_lit(tread.output)) widgets::paint_light(p, {left, y - t.px(4)}, {right, y + t.px(4)});
  p.line({left, s.y(tread.before)}, {left, y}, t.text, t.px(2));
  p.line({left, y}, {right, y}, t.text, t.px(2));
  const bool wide = s.column >= t.px(64);
  const float figure_y = s.y(std::min(tread.before, tread.after)) + t.px(4);
  const ImVec2 figure = widgets::text_size(tread.mfu, wide ? Type::title : Type::small, Font::mono);
  if (const float was = s.y(tread.untouched); std::abs(tread.untouched - tread.after) > 0.05) {
    const bool through = was > figure_y - t.px(2) && was < figure_y + figure.y + t.px(2);
    p.dashed_line({through ? left + figure.x + t.px(10) : left, was}, {right, was}, t.muted, t.px(1.5f), t.px(5));
  }
  p.text_fit({left + t.px(6), figure_y}, tread.mfu, s.column - (wide ? t.px(26) : t.px(6)), t.text,
             wide ? Type::title : Type::small, Font::mono);
}

}  // namespace

void draw_stairs(Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  StairPlace s;
  s.small = t.type(Type::small);
  s.min = {corner.x + t.px(36), corner.y + s.small + t.px(10)};
  s.max = {corner.x + size.x - t.px(2), corner.y + size.y - t.px(4)};
  constexpr std::string_view axis = "MFU, % of the peak";
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    paint_axis(p, s);
    p.text_fit({corner.x, corner.y}, axis, size.x, t.muted, Type::small);
    ImGui::Dummy(size);
    return;
  }
  paint_axis(p, s);
  p.text_fit({corner.x, corner.y}, axis, size.x / 2, t.muted, Type::small);
  const bool other = !picture.plan_words.empty(), lifted = !picture.lift_words.empty();
  const std::string_view note = other ? picture.plan_words : lifted ? picture.lift_words : picture.memory_words;
  constexpr std::string_view at_foot = "at the foot: the work lost there, in GPUs and dollars a month";
  p.text_fit({s.max.x, corner.y}, note.empty() ? at_foot : note, 0.72f * size.x,
             note.empty()       ? t.muted
             : lifted && !other ? t.accent
                                : t.warning,
             Type::small, Font::sans, Align::right);
  if (picture.treads.empty()) {
    ImGui::Dummy(size);
    return;
  }
  s.column = (s.max.x - s.min.x) / static_cast<float>(picture.treads.size());
  for (std::size_t i = 0; i < picture.treads.size(); ++i) paint_tread(p, picture, s, i);
  for (std::size_t i = 0; i < picture.treads.size(); ++i) {
    const Tread& tread = picture.treads[i];
    const float free_y = paint_foot(p, s, tread, s.left(i), s.y(tread.after));
    if (s.column >= t.px(46)) paint_points(p, s, tread, s.left(i), shows_handle(in, picture, i));
    drag_tread(in, picture, p, s, i, free_y);
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::fleet::scaling_tax
