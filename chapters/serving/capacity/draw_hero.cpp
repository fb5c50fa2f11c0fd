#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "chapters/serving/capacity/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::serving::capacity {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Theme, widgets::Tint, widgets::Type;

constexpr std::array<widgets::Meaning, 3> wall_meanings{widgets::Meaning::kv_cache, widgets::Meaning::memory_bound,
                                                        widgets::Meaning::compute_bound};

/// Where the walls stand.
struct WallFrame {
  float left = 0, right = 0, top = 0, ground = 0, pitch = 0, bar = 0;
  double most = 1;
  float y(double chips) const { return ground - static_cast<float>(chips / most) * (ground - top); }
  float x(std::size_t plan, std::size_t wall) const {
    const float middle = left + pitch * (static_cast<float>(plan) + 0.5f);
    return middle + (static_cast<float>(wall) - 1.5f) * bar;
  }
  float middle(std::size_t plan) const { return left + pitch * (static_cast<float>(plan) + 0.5f); }
};

/// `head`: the height of the legend over the walls; `words`: that of the line under them.
WallFrame wall_frame(const Picture& p, ImVec2 at, ImVec2 size, float head, float words) {
  const Theme& t = widgets::theme();
  WallFrame f;
  const float small = t.type(Type::small), body = t.type(Type::body), title = t.type(Type::title);
  f.left = at.x + t.px(46);
  f.right = at.x + size.x - t.px(4);
  f.top = at.y + head + title + t.px(10);
  f.ground = at.y + size.y - words - body - 2 * small - t.px(18);
  f.pitch = (f.right - f.left) / static_cast<float>(std::max<std::size_t>(1, p.plans.size()));
  f.bar = std::min(0.27f * f.pitch, t.px(46));
  f.most = std::max(1.0, p.most_chips);
  return f;
}

void paint_chip_axis(const Painter& p, const WallFrame& f) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  const double ticks = std::clamp(static_cast<double>((f.ground - f.top) / (2.4f * small)), 1.0, 4.0);
  const double raw = f.most / ticks, power = std::pow(10.0, std::floor(std::log10(std::max(1.0, raw))));
  const double step = std::max(1.0, (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10) * power);
  for (double v = 0; v <= f.most * 1.0001; v += step) {
    const float y = f.y(v);
    p.line({f.left, y}, {f.right, y}, v == 0 ? t.line : t.grid, t.px(1));
    p.text({f.left - t.px(6), y - small / 2}, widgets::format(v, "", 4), t.muted, Type::small, Font::mono,
           Align::right);
  }
  p.text({f.left - t.px(46), f.top - small - t.px(8)}, "chips", t.muted, Type::small);
}

void paint_wall(const Painter& p, const WallFrame& f, const PlanPicture& plan, std::size_t index, std::size_t wall) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), x = f.x(index, wall),
              top = plan.walls[wall].endless ? f.top : f.y(plan.walls[wall].chips);
  const ImU32 fill = t.of(wall_meanings[wall]);
  const bool binds = plan.binds == wall;
  p.rect({x + t.px(1), top}, {x + f.bar - t.px(1), f.ground}, binds ? fill : widgets::with_alpha(fill, 0.38f), t.px(2));
  if (plan.walls[wall].endless)
    widgets::hatch(p, {{x + t.px(1), top}, {x + f.bar - t.px(1), f.ground}}, t.text, t.px(6));
  const std::string_view words = plan.walls[wall].words;
  if (widgets::text_size(words, Type::small, Font::mono).x > f.bar - t.px(3)) return;
  const bool inside = f.ground - top > small + t.px(8);
  if (inside && binds)
    p.text({x + f.bar / 2, top + t.px(4)}, words, widgets::text_on(fill, t), Type::small, Font::mono, Align::center);
  else if (inside)
    p.text({x + f.bar / 2, top + t.px(4)}, words, t.text, Type::small, Font::mono, Align::center);
}

/// The fleet as a rim over the highest wall, and its number.
void paint_rim(const Painter& p, const WallFrame& f, const PlanPicture& plan, std::size_t index) {
  const Theme& t = widgets::theme();
  const float y = f.y(plan.chips), left = f.x(index, 0) - t.px(5), right = f.x(index, 2) + f.bar + t.px(5);
  const ImU32 ink = plan.yours ? t.accent : t.text;
  const float width = t.px(plan.yours ? 2.5f : 1.5f);
  p.line({left, y}, {right, y}, ink, width);
  p.line({left, y}, {left, y + t.px(6)}, ink, width);
  p.line({right, y}, {right, y + t.px(6)}, ink, width);
  widgets::fit_text(p, {f.middle(index), y - t.type(Type::title) - t.px(3)}, plan.fleet, f.pitch - t.px(6), ink,
                    Type::title, Font::mono, Align::center);
}

/// Chip, format and groups under each plan's walls, with the stroke of its line of prices.
void paint_names(const Painter& p, const WallFrame& f, const Picture& picture) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), wide = f.pitch - t.px(6), first = f.ground + t.px(4),
              second = first + t.type(Type::body) + t.px(1), third = second + small + t.px(1);
  for (std::size_t i = 0; i < picture.plans.size(); ++i) {
    const PlanPicture& plan = picture.plans[i];
    const float x = f.middle(i);
    widgets::fit_text(p, {x, first}, plan.name, wide, plan.yours ? t.accent : t.text, Type::body, Font::bold,
                      Align::center);
    widgets::fit_text(p, {x, second}, plan.format, wide, t.muted, Type::small, Font::sans, Align::center);
    p.rect({x - t.px(14), third + small + t.px(2)}, {x + t.px(14), third + small + t.px(5)},
           widgets::colour(plan.tint, t), t.px(1.5f));
    if (widgets::veiled()) continue;
    widgets::fit_text(p, {x, third}, plan.why.empty() ? std::string_view(plan.under) : std::string_view("none"), wide,
                      t.muted, Type::small, Font::mono, Align::center);
  }
}

void paint_wall_guess(const Painter& p, const WallFrame& f) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || !guess->output.starts_with("chips")) return;
  widgets::drew("guess");
  const Theme& t = widgets::theme();
  const float raw = f.y(guess->value), y = std::clamp(raw, f.top - t.px(6), f.ground);
  p.dashed_line({f.x(0, 0) - t.px(10), y}, {f.x(0, 2) + f.bar + t.px(10), y}, t.accent, t.px(2), t.px(5));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, ""), raw < y);
  widgets::paint_guess_words(p, {f.x(0, 0), y + t.px(3)}, words.view());
}

/// A drag of a wall of yours changes what it is made of.
void drag_walls(Inputs& in, const Picture& picture, const WallFrame& f) {
  const Theme& t = widgets::theme();
  static constexpr std::array<const char*, 3> ids{"drag memory", "drag latency", "drag work"};
  static constexpr std::array<std::string_view, 3> names{"memory", "latency", "work"};
  for (std::size_t wall = 0; wall < 3; ++wall) {
    ImGui::SetCursorScreenPos({f.x(0, wall), f.top});
    widgets::press_area(ids[wall], {f.bar, f.ground - f.top});
    if (ImGui::IsItemHovered())
      widgets::tip(names[wall], picture.plans[0].walls[wall].words,
                   wall == 1 ? std::string_view(picture.latency_name) : std::string_view(picture.hint));
    if (!ImGui::IsItemActive() || !ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3)) continue;
    const double factor = std::exp2(static_cast<double>(-ImGui::GetIO().MouseDelta.y / t.px(90)));
    if (wall == 1) {
      double& limit = picture.first_token_tight ? in.ttft_limit_s : in.tpot_limit_s;
      limit = std::clamp(limit / std::sqrt(factor), 1e-3, picture.first_token_tight ? 1e3 : 10.0);
    } else if (!picture.lengths) {
      in.speed = std::clamp(in.speed * factor, 1e-3, 1e4);
    } else if (wall == 0) {
      in.output_tokens = std::clamp(in.output_tokens * factor, 1.0, 32768.0);
    } else {
      in.arrival_rate = std::clamp(in.arrival_rate * factor, 0.001, 1e5);
    }
  }
}

using WallKey = std::array<widgets::LegendEntry, 3>;
WallKey wall_key(const Picture& picture) {
  return {{{picture.memory_name, wall_meanings[0]},
           {picture.latency_name, wall_meanings[1]},
           {picture.work_name, wall_meanings[2]}}};
}

/// What stands under an open question: whose walls they will be.
void paint_given(const Painter& p, const WallFrame& f, const Picture& picture) {
  const widgets::GivenMarks given;
  p.line({f.left, f.ground}, {f.right, f.ground}, widgets::theme().line, widgets::theme().px(1));
  paint_names(p, f, picture);
}

}  // namespace

void draw_hero(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  if (picture.plans.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const Theme& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const bool slope = picture.priced && size.x > t.px(520);
  const float right = slope ? std::clamp(0.36f * size.x, t.px(230), t.px(420)) : 0, left = size.x - right;
  const bool hint = size.y > t.px(300);
  const float words = hint ? t.type(Type::small) + t.px(8) : 0;
  const WallKey key = wall_key(picture);
  const float key_width = left - t.px(10), head = widgets::layout_legend(key, key_width, widgets::legend_row_px(),
                                                                         widgets::measure_text, view.legend);
  const WallFrame f = wall_frame(picture, at, {left, size.y}, head, words);
  widgets::drew("walls");
  const ImVec2 slope_at{at.x + left + t.px(16), at.y}, slope_size{right - t.px(20), size.y - words};
  if (widgets::veiled()) {
    paint_given(p, f, picture);
    if (slope) draw_slope(picture, slope_at, slope_size);
    ImGui::Dummy(size);
    return;
  }
  widgets::paint_legend(p, at, key_width, key, view.legend);
  if (f.ground > f.top + t.px(20)) {
    paint_chip_axis(p, f);
    for (std::size_t i = 0; i < picture.plans.size(); ++i) {
      const PlanPicture& plan = picture.plans[i];
      if (!plan.why.empty()) continue;
      for (std::size_t wall = 0; wall < 3; ++wall) paint_wall(p, f, plan, i, wall);
      paint_rim(p, f, plan, i);
    }
    paint_names(p, f, picture);
    paint_wall_guess(p, f);
  }
  if (hint)
    widgets::fit_text(p, {at.x, at.y + size.y - t.type(Type::small) - t.px(2)}, picture.hint, left - t.px(12), t.muted,
                      Type::small);
  if (slope) {
    draw_slope(picture, slope_at, slope_size);
    if (hint)
      widgets::fit_text(p, {at.x + left + t.px(16), at.y + size.y - t.type(Type::small) - t.px(2)}, picture.price_words,
                        right - t.px(18), t.muted, Type::small);
  }
  if (f.ground > f.top + t.px(20)) drag_walls(in, picture, f);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::serving::capacity
