#include <algorithm>
#include <cmath>

#include "chapters/distributed/memory_split/lab.h"
#include "widgets/base/motion.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/charts/vessel.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::distributed::memory_split {

using widgets::Font, widgets::Painter, widgets::Theme, widgets::Type;

namespace {

/// The button that lets the step run over the units, and its clock.
void play_step(const Picture& picture, View& view) {
  if (widgets::button(view.playing ? "Pause##units" : "Play##units")) {
    view.playing = !view.playing;
    if (view.playing) view.play_at = static_cast<double>(std::max<std::int64_t>(0, view.moment));
    view.step = -1;
  }
  if (!view.playing) return;
  constexpr double step_s = 7;
  const auto moments = static_cast<double>(picture.moment_units.size());
  widgets::Motion& motion = widgets::motion();
  view.play_at += static_cast<double>(motion.seconds) * moments / step_s;
  view.playing = view.play_at < moments;
  view.moment = view.playing ? static_cast<std::int64_t>(view.play_at) : -1;
  motion.moving = true;
}

/// Where the strip stands: units side by side, their widths as their parameters, a row for each replica that is shown.
struct Strip {
  float left = 0, right = 0, top = 0, bottom = 0, row = 0;
  float px = 0;  ///< a parameter
  std::int64_t rows = 1;
  float x(double parameters) const { return left + static_cast<float>(parameters) * px; }
};
double start_of(const Picture& picture, std::size_t unit) { return unit > 0 ? picture.unit_ends[unit - 1] : 0; }

void paint_units(const Painter& p, const Picture& picture, const MomentUnits& now, const Strip& strip) {
  const Theme& t = widgets::theme();
  const ImU32 shard = widgets::vessel_colour(layer_look(0).tint, true, t),
              green = t.of(widgets::Meaning::communication);
  for (std::size_t i = 0; i < picture.unit_ends.size(); ++i) {
    const float x0 = strip.x(start_of(picture, i)), x1 = strip.x(picture.unit_ends[i]);
    const float gap = x1 - x0 > t.px(4) ? t.px(1) : 0;
    const bool whole = now.is_whole(i), passing = whole || now.is_ahead(i);
    for (std::int64_t r = 0; r < strip.rows; ++r) {
      const float y0 = strip.top + strip.row * static_cast<float>(r), y1 = y0 + strip.row - t.px(2);
      const bool own = !now.gathers || r == 0;
      if (whole)
        p.rect({x0, y0}, {x1 - gap, y1}, widgets::with_alpha(green, own ? 0.85f : 0.55f));
      else if (passing)
        p.rect({x0, y0}, {x1 - gap, y1}, widgets::with_alpha(green, 0.25f));
      if (own && !whole) p.rect({x0, y0}, {x1 - gap, y1}, shard);
      if (!own || passing) p.frame({x0, y0}, {x1 - gap, y1}, passing ? green : t.line, t.px(1));
    }
  }
}

void paint_row_names(const Painter& p, const Picture& picture, const MomentUnits& now, const Strip& strip) {
  const Theme& t = widgets::theme();
  for (std::int64_t r = 0; r < strip.rows; ++r) {
    widgets::Line words;
    if (now.gathers)
      words.add(picture.hosted ? "in host " : "shard of replica ").add_integer(r);
    else
      words.add("every replica");
    const float y = strip.top + strip.row * static_cast<float>(r) + (strip.row - t.px(2) - t.type(Type::small)) / 2;
    p.text({strip.left - t.px(10), y}, words.view(), r == 0 ? t.text : t.muted, Type::small, Font::sans,
           widgets::Align::right);
  }
}

/// The cursor under the unit at work, its name, and what is held at the moment.
void paint_cursor(const Painter& p, const Picture& picture, std::size_t moment, const Strip& strip, float last_x) {
  const Theme& t = widgets::theme();
  const std::size_t unit = picture.moment_units[moment].unit;
  const float from = strip.x(start_of(picture, unit)), to = strip.x(picture.unit_ends[unit]);
  const float under = strip.bottom + t.px(2);
  p.line({from, under}, {to, under}, t.accent, t.px(2));
  const std::string_view name = picture.unit_names[unit];
  const float wide = widgets::text_size(name, Type::small).x;
  const float x =
      std::clamp((from + to) / 2, strip.left + wide / 2, std::max(strip.left + wide / 2, strip.right - wide / 2));
  p.text({x, under + t.px(3)}, name, t.text, Type::small, Font::sans, widgets::Align::center);
  widgets::wrapped_text(p, {strip.left, under + t.type(Type::small) + t.px(6)}, picture.moment_words[moment],
                        last_x - strip.left, t.muted);
}

/// A drag over the strip shows the backward pass of the unit under the pointer.
void drag_strip(const Picture& picture, View& view, const Strip& strip) {
  ImGui::SetCursorScreenPos({strip.left, strip.top});
  widgets::press_area("units", {strip.right - strip.left, strip.bottom - strip.top});
  if (!ImGui::IsItemActive()) return;
  view.playing = false;
  const double where = static_cast<double>((ImGui::GetMousePos().x - strip.left) / strip.px);
  const auto under = std::upper_bound(picture.unit_ends.begin(), picture.unit_ends.end() - 1, where);
  const std::int64_t moment = picture.backward_of_unit[static_cast<std::size_t>(under - picture.unit_ends.begin())];
  if (moment >= 0) view.moment = moment;
}

}  // namespace

void draw_units(const Picture& picture, View& view, ImVec2 size) {
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float small = t.type(Type::small), body = t.type(Type::body);
  if (picture.unit_ends.empty() || picture.moment_units.empty()) return;
  const float title = p.text(at, picture.strip_title, t.text, Type::body, Font::bold);
  const float play_x = at.x + size.x - t.px(140);
  widgets::fit_text(p, {at.x + title + t.px(10), at.y}, picture.strip_words, play_x - at.x - title - t.px(20), t.muted,
                    Type::body);
  ImGui::SetCursorScreenPos({play_x, at.y - t.px(4)});
  play_step(picture, view);

  const std::size_t moment = view.moment >= 0 && view.moment < static_cast<std::int64_t>(picture.moment_units.size())
                                 ? static_cast<std::size_t>(view.moment)
                                 : picture.fullest_moment;
  const MomentUnits& now = picture.moment_units[moment];
  Strip strip{.left = at.x + t.px(170),
              .right = at.x + size.x - t.px(150),
              .top = at.y + body + t.px(12),
              .bottom = at.y + size.y - 4.2f * small - t.px(6),
              .rows = now.gathers ? std::clamp<std::int64_t>(picture.shards, 1, 4) : 1};
  strip.row = (strip.bottom - strip.top) / static_cast<float>(strip.rows);
  if (strip.right - strip.left < t.px(60) || strip.row < t.px(4)) return;
  strip.px = (strip.right - strip.left) / static_cast<float>(std::max(picture.unit_ends.back(), 1.0));
  paint_units(p, picture, now, strip);
  paint_row_names(p, picture, now, strip);
  widgets::fit_text(p, {strip.right + t.px(10), strip.top}, picture.strip_rest, at.x + size.x - strip.right - t.px(10),
                    t.muted, Type::small);
  paint_cursor(p, picture, moment, strip, at.x + size.x);
  drag_strip(picture, view, strip);
}

}  // namespace chapters::distributed::memory_split
