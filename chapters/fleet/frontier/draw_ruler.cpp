#include <algorithm>
#include <cmath>

#include "chapters/fleet/frontier/scene.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

/// The ruler, whose tilt is the exchange rate, and the words of the axes, which are chosen by pressing them.
namespace chapters::fleet::frontier {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// How far one may go from a point in a direction before it leaves the area.
float reach_in(const Rect& area, ImVec2 from, ImVec2 along) {
  float most = 1e6f;
  if (along.x > 1e-4f) most = std::min(most, (area.max.x - from.x) / along.x);
  if (along.x < -1e-4f) most = std::min(most, (area.min.x - from.x) / along.x);
  if (along.y > 1e-4f) most = std::min(most, (area.max.y - from.y) / along.y);
  if (along.y < -1e-4f) most = std::min(most, (area.min.y - from.y) / along.y);
  return std::max(0.0f, most);
}

struct RulerPlace {
  ImVec2 left{}, right{}, along{}, out{};  ///< `out` points away from the front
};

RulerPlace ruler_place(const Picture& picture, const Scene& s) {
  const auto& t = widgets::theme();
  RulerPlace r;
  r.along = s.along(picture.fall);
  r.out = {r.along.y, -r.along.x};
  const ImVec2 at = s.at(picture.winner);
  const float long_side = std::max(t.px(60), std::min(0.3f * s.wide(), t.px(280)));
  const float right = std::min(long_side, std::max(t.px(36), reach_in(s.area, at, r.along) - t.px(12)));
  const float left = std::min(0.75f * long_side, reach_in(s.area, at, {-r.along.x, -r.along.y}));
  r.right = {at.x + right * r.along.x, at.y + right * r.along.y};
  r.left = {at.x - left * r.along.x, at.y - left * r.along.y};
  return r;
}

/// Another column for one axis, or the other direction of it. Walls of an axis that changes go.
void set_axes(Inputs& in, const Run& run, bool across, bool other_column, int by) {
  std::string keys[2]{run.x.column->key, run.y.column->key};
  bool highs[2]{run.x.high, run.y.high};
  const int which = across ? 0 : 1;
  if (other_column) {
    const auto count = static_cast<int>(run.all_axes.size());
    auto at = static_cast<int>(std::find(run.all_axes.begin(), run.all_axes.end(), keys[which]) - run.all_axes.begin());
    do at = (at + by + count) % count;
    while (run.all_axes[static_cast<std::size_t>(at)] == keys[1 - which]);
    keys[which] = run.all_axes[static_cast<std::size_t>(at)];
    highs[which] = run.set->axis(keys[which])->high;
  } else {
    highs[which] = !highs[which];
  }
  in.axes = keys[0] + ", " + keys[1];
  in.best = std::string(highs[0] ? "high" : "low") + (highs[1] ? ", high" : ", low");
  (across ? in.wall_x : in.wall_y) = 0;
}

}  // namespace

void paint_ruler(const Painter& p, const Picture& picture, const Scene& s, const View& view, Labels& labels) {
  const auto& t = widgets::theme();
  const RulerPlace r = ruler_place(picture, s);
  const float deep = t.px(22);
  const auto off = [&](ImVec2 at, float by) { return ImVec2{at.x + by * r.out.x, at.y + by * r.out.y}; };
  p.clip(s.area.min, s.area.max);
  const ImVec2 body[4]{r.left, r.right, off(r.right, deep), off(r.left, deep)};
  p.polygon(body, widgets::with_alpha(t.accent, view.turning ? 0.26f : 0.18f));
  p.polyline(body, widgets::with_alpha(t.accent, 0.7f), t.px(1), true);
  const float length = std::hypot(r.right.x - r.left.x, r.right.y - r.left.y), step = t.px(14);
  int mark = 0;
  for (float at = step; at < length; at += step, ++mark) {
    const ImVec2 foot{r.left.x + at * r.along.x, r.left.y + at * r.along.y};
    p.line(foot, off(foot, mark % 5 == 4 ? deep * 0.5f : deep * 0.28f), widgets::with_alpha(t.accent, 0.7f));
  }
  p.line(r.left, r.right, t.accent, t.px(3));
  p.unclip();
  // Words keep off the ruler: a few boxes along it.
  for (int i = 0; i <= 6; ++i) {
    const float share = static_cast<float>(i) / 6;
    const ImVec2 at =
        off({r.left.x + share * (r.right.x - r.left.x), r.left.y + share * (r.right.y - r.left.y)}, deep / 2);
    labels.take({{at.x - t.px(13), at.y - t.px(11)}, {at.x + t.px(13), at.y + t.px(11)}});
  }
}

void turn_ruler(Inputs& in, const Painter& p, const Picture& picture, const Scene& s, View& view, Labels& labels) {
  const auto& t = widgets::theme();
  const RulerPlace r = ruler_place(picture, s);
  const float reach = t.px(14);
  ImGui::SetCursorScreenPos({r.right.x - reach, r.right.y - reach});
  widgets::press_area("turn the ruler", {2 * reach, 2 * reach});
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool lit = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  const bool log = picture.run->y.column->log;
  double& rate = log ? in.pays : in.pays_units;
  const double least = log ? min_pays : min_units, most = log ? max_pays : max_units;
  if (held && !view.turning) {
    view.pivot_u = picture.winner.u;
    view.pivot_v = picture.winner.v;
  }
  view.turning = held;
  if (held && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0)) {
    const ImVec2 pivot = s.at({view.pivot_u, view.pivot_v}), mouse = ImGui::GetIO().MousePos;
    const double dx = std::max(2.0, static_cast<double>(mouse.x - pivot.x)),
                 dy = std::max(0.0, static_cast<double>(mouse.y - pivot.y));
    const double fall = dy / dx * static_cast<double>(s.wide() / std::max(1.0f, s.tall()) * s.x_part / s.y_part);
    const double wanted = rate_of_slope(picture.run->y, fall / std::max(1e-9, picture.fall_of_slope));
    rate = std::clamp(wanted, least, most);
    rate = std::round(rate * 1000) / 1000;
  }
  if (ImGui::IsItemFocused())
    if (const int steps = widgets::play_keys().steps; steps != 0)
      rate = std::clamp(rate * std::pow(1.05, steps), least, most);
  if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  p.circle(r.right, t.px(lit ? 13.0f : 11.0f), widgets::with_alpha(t.accent, 0.25f));
  p.circle(r.right, t.px(6.5f), t.accent);
  p.ring(r.right, t.px(6.5f), t.text, t.px(2));
  labels.take({{r.right.x - reach, r.right.y - reach}, {r.right.x + reach, r.right.y + reach}});
  const std::string_view all = picture.rate_words;
  const auto cut = std::min(all.find(" for "), all.size());
  const std::string_view first = all.substr(0, cut), second = all.substr(std::min(cut + 1, all.size()));
  const ImVec2 a = widgets::text_size(first, Type::small, Font::bold),
               b = widgets::text_size(second, Type::small, Font::bold);
  const ImVec2 words{std::max(a.x, b.x), a.y + b.y + t.px(2)};
  const std::array<ImVec2, 4> places{ImVec2{r.right.x + t.px(16), r.right.y - words.y / 2},
                                     ImVec2{r.right.x + t.px(6), r.right.y - words.y - t.px(26)},
                                     ImVec2{r.right.x - words.x / 2, r.right.y + t.px(16)},
                                     ImVec2{r.right.x - words.x - t.px(16), r.right.y + t.px(4)}};
  if (const ImVec2* at = labels.place(places, words, s.area)) {
    p.plate(*at, first, t.panel, Type::small, Font::bold);
    p.text(*at, first, t.accent, Type::small, Font::bold);
    p.plate({at->x, at->y + a.y + t.px(2)}, second, t.panel, Type::small, Font::bold);
    p.text({at->x, at->y + a.y + t.px(2)}, second, t.accent, Type::small, Font::bold);
  }
}

void choose_axes(Inputs& in, const Painter& p, const Picture& picture, const Scene& s) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small);
  const auto chooser = [&](bool across, ImVec2 at, std::string_view title, std::string_view better, float room) {
    const float gap = t.px(10);
    const float first = std::min(room, widgets::text_size(title, Type::small).x);
    if (widgets::veiled()) {
      p.text_fit(at, title, room, t.text, Type::small);
      return;
    }
    ImGui::SetCursorScreenPos({at.x, at.y - t.px(2)});
    const bool more = picture.run->all_axes.size() > 2;
    if (widgets::press_area(across ? "another column across" : "another column up", {first, line + t.px(4)}) && more)
      set_axes(in, *picture.run, across, true, 1);
    const bool lit = ImGui::IsItemHovered() && more;
    p.text_fit(at, title, room, lit ? t.accent : t.text, Type::small);
    if (more)
      p.line({at.x, at.y + line + t.px(2)}, {at.x + first, at.y + line + t.px(2)},
             widgets::with_alpha(lit ? t.accent : t.muted, 0.6f), t.px(1));
    const float second = widgets::text_size(better, Type::small).x;
    if (first + gap + second > room) return;
    ImGui::SetCursorScreenPos({at.x + first + gap, at.y - t.px(2)});
    if (widgets::press_area(across ? "turn the axis across" : "turn the axis up", {second, line + t.px(4)}))
      set_axes(in, *picture.run, across, false, 0);
    const bool turn = ImGui::IsItemHovered();
    p.text({at.x + first + gap, at.y}, better, turn ? t.accent : t.muted, Type::small);
    if (lit || turn) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  };
  chooser(false, {s.corner.x, s.corner.y}, picture.y_title, picture.y_better, s.size.x);
  const float wide = std::min(s.wide(), widgets::text_size(picture.x_title, Type::small).x + t.px(10) +
                                            widgets::text_size(picture.x_better, Type::small).x);
  chooser(true, {s.area.min.x + (s.wide() - wide) / 2, s.area.max.y + line + t.px(10)}, picture.x_title,
          picture.x_better, s.wide());
}

}  // namespace chapters::fleet::frontier
