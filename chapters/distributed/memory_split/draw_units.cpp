#include <algorithm>
#include <cmath>

#include "chapters/distributed/memory_split/lab.h"
#include "widgets/base/motion.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::distributed::memory_split {

using widgets::Font, widgets::Painter, widgets::Theme, widgets::Type;

namespace {

/// The button that lets the step run over the units, and its clock.
void play_step(const Outputs& out, View& view) {
  if (widgets::button(view.playing ? "Pause##units" : "Play##units")) {
    view.playing = !view.playing;
    if (view.playing) view.play_at = static_cast<double>(std::max<std::int64_t>(0, view.moment));
    view.step = -1;
  }
  if (!view.playing) return;
  constexpr double step_s = 7;
  const auto moments = static_cast<double>(out.moments.size());
  widgets::Motion& motion = widgets::motion();
  view.play_at += static_cast<double>(motion.seconds) * moments / step_s;
  view.playing = view.play_at < moments;
  view.moment = view.playing ? static_cast<std::int64_t>(view.play_at) : -1;
  motion.moving = true;
}

}  // namespace

void draw_units(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float small = t.type(Type::small), body = t.type(Type::body);
  if (out.units.empty() || out.moments.empty()) return;
  const float title = p.text(at, picture.strip_title, t.text, Type::body, Font::bold);
  const float play_x = at.x + size.x - t.px(140);
  widgets::fit_text(p, {at.x + title + t.px(10), at.y}, picture.strip_words, play_x - at.x - title - t.px(20), t.muted,
                    Type::body);
  ImGui::SetCursorScreenPos({play_x, at.y - t.px(4)});
  play_step(out, view);

  const std::size_t moment = view.moment >= 0 && view.moment < static_cast<std::int64_t>(out.moments.size())
                                 ? static_cast<std::size_t>(view.moment)
                                 : picture.fullest_moment;
  const models::memory::StepMoment& now = out.moments[moment];
  const bool gathers = now.whole.unit >= 0;
  const std::int64_t shards = out.split.steps.back().plan.data * out.split.steps.back().plan.context;
  const std::int64_t rows = gathers ? std::clamp<std::int64_t>(shards, 1, 4) : 1;
  const float left = at.x + t.px(170), right = at.x + size.x - t.px(150), top = at.y + body + t.px(12);
  const float bottom = at.y + size.y - 4.2f * small - t.px(6), row = (bottom - top) / static_cast<float>(rows);
  if (right - left < t.px(60) || row < t.px(4)) return;
  double all = 0;
  for (const auto& unit : out.units) all += unit.parameters;
  // A unit has at least three pixels, so that the last one is not lost beside a large embedding.
  const float px = (right - left) / static_cast<float>(std::max(all, 1.0));
  const std::size_t ahead = static_cast<std::size_t>(out.split.steps.back().plan.gather_ahead);
  const auto is_whole = [&](std::size_t i) {
    return gathers &&
           (i == now.unit || (now.whole.at_work > 0 && !out.split.steps.back().plan.reshard && i <= now.unit));
  };
  const auto is_ahead = [&](std::size_t i) {
    if (!gathers || now.whole.ahead <= 0) return false;
    return now.backward ? i < now.unit && now.unit - i <= ahead : i > now.unit && i - now.unit <= ahead;
  };
  const ImU32 shard = widgets::vessel_colour(layer_look(0).tint, true, t),
              green = t.of(widgets::Meaning::communication);
  double from = 0;
  float unit_left = left, unit_right = right;
  for (std::size_t i = 0; i < out.units.size(); ++i) {
    const float x0 = left + static_cast<float>(from) * px;
    from += out.units[i].parameters;
    const float x1 = left + static_cast<float>(from) * px, gap = x1 - x0 > t.px(4) ? t.px(1) : 0;
    if (i == now.unit) {
      unit_left = x0;
      unit_right = x1;
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      const float y0 = top + row * static_cast<float>(r), y1 = y0 + row - t.px(2);
      const bool own = !gathers || r == 0;
      if (is_whole(i))
        p.rect({x0, y0}, {x1 - gap, y1}, widgets::with_alpha(green, own ? 0.85f : 0.55f));
      else if (is_ahead(i))
        p.rect({x0, y0}, {x1 - gap, y1}, widgets::with_alpha(green, 0.25f));
      if (own && !is_whole(i)) p.rect({x0, y0}, {x1 - gap, y1}, shard);
      if (!own || is_whole(i) || is_ahead(i))
        p.frame({x0, y0}, {x1 - gap, y1}, is_whole(i) || is_ahead(i) ? green : t.line, t.px(1));
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    widgets::Line words;
    if (gathers)
      words.add(picture.hosted ? "in host " : "shard of replica ").add_integer(r);
    else
      words.add("every replica");
    p.text({left - t.px(10), top + row * static_cast<float>(r) + (row - t.px(2) - small) / 2}, words.view(),
           r == 0 ? t.text : t.muted, Type::small, Font::sans, widgets::Align::right);
  }
  widgets::fit_text(p, {right + t.px(10), top}, picture.strip_rest, at.x + size.x - right - t.px(10), t.muted,
                    Type::small);
  // The cursor and what it stands on.
  const float x = (unit_left + unit_right) / 2, under = bottom + t.px(2);
  p.line({unit_left, under}, {unit_right, under}, t.accent, t.px(2));
  const std::string_view name = picture.unit_names[now.unit];
  const float wide = widgets::text_size(name, Type::small).x;
  p.text({std::clamp(x, left + wide / 2, std::max(left + wide / 2, right - wide / 2)), under + t.px(3)}, name, t.text,
         Type::small, Font::sans, widgets::Align::center);
  widgets::wrapped_text(p, {left, under + small + t.px(6)}, picture.moment_words[moment], at.x + size.x - left,
                        t.muted);
  ImGui::SetCursorScreenPos({left, top});
  widgets::press_area("units", {right - left, bottom - top});
  if (ImGui::IsItemActive()) {
    view.playing = false;
    const double where = static_cast<double>((ImGui::GetMousePos().x - left) / px);
    double end = 0;
    std::size_t unit = out.units.size() - 1;
    for (std::size_t i = 0; i < out.units.size(); ++i) {
      end += out.units[i].parameters;
      if (where < end) {
        unit = i;
        break;
      }
    }
    for (std::size_t m = out.moments.size(); m-- > 0;)
      if (out.moments[m].unit == unit && out.moments[m].backward) view.moment = static_cast<std::int64_t>(m);
  }
}

}  // namespace chapters::distributed::memory_split
