#include <algorithm>
#include <array>

#include "chapters/inference/flash_attention/lab.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

namespace chapters::inference::flash_attention {
namespace {

using models::inference::FlashSpan;
using models::inference::FlashUnit;
using models::inference::FlashWarps;
using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

widgets::Tint tint_of(FlashUnit unit) {
  return unit == FlashUnit::tensor_core   ? widgets::Tint(Meaning::compute_bound)
         : unit == FlashUnit::exponential ? widgets::Tint::series(3)
                                          : widgets::Tint(Meaning::communication);
}

constexpr std::array<std::string_view, 3> unit_names{"tensor cores", "exponentials", "shared memory"};

/// A lane a unit: what it does for whom, and where it has nothing to do.
void paint_lanes(const Painter& p, const WarpLanes& lanes, const FlashWarps& warps, double end, Rect area) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), head = 1.6f * small;
  const float title = p.text(area.min, lanes.title, lanes.chosen ? t.accent : t.text, Type::small, Font::bold);
  widgets::fit_text(p, {area.min.x + title + t.px(10), area.min.y}, lanes.words, area.width() - title - t.px(10),
                    t.muted, Type::small);
  if (warps.spans.empty() || !(end > 0)) return;
  const float names = widgets::text_size("shared memory", Type::small).x + t.px(10);
  const bool with_names = area.width() > 4 * names;
  const float left = area.min.x + (with_names ? names : 0), width = area.max.x - left;
  const float each = std::min(t.px(34), (area.height() - head) / 3), bar = std::max(1.0f, each - t.px(4));
  const std::size_t units = warps.exchange_clocks > 0 ? 3 : 2;
  const auto x = [&](double clock) { return left + width * static_cast<float>(clock / end); };
  for (std::size_t i = 0; i < units; ++i) {
    const float y = area.min.y + head + each * static_cast<float>(i);
    if (with_names && each >= small)
      p.text({area.min.x, y + (bar - small) / 2 - t.px(1)}, unit_names[i], t.muted, Type::small);
    const Rect lane{{left, y}, {x(warps.end), y + bar}};
    p.rect(lane.min, lane.max, widgets::with_alpha(t.of(Meaning::idle), 0.12f));
    widgets::hatch(p, lane, widgets::with_alpha(t.of(Meaning::idle), 0.55f), t.px(6));
  }
  for (const FlashSpan& span : warps.spans) {
    const float y = area.min.y + head + each * static_cast<float>(span.unit);
    const ImU32 hue = widgets::colour(tint_of(span.unit), t);
    const Rect place{{x(span.start), y}, {std::max(x(span.start) + 1, x(span.end) - t.px(1)), y + bar}};
    p.rect(place.min, place.max, hue, t.px(2));
    if (warps.workers < 2 || place.width() < t.px(12) || bar < small) continue;
    widgets::Line number;
    p.text({(place.min.x + place.max.x) / 2, y + (bar - small) / 2 - t.px(1)},
           number.add_integer(span.worker + 1).view(), widgets::text_on(hue, t), Type::small, Font::mono,
           Align::center);
  }
}

}  // namespace

void draw_warps(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  if (!picture.run || size.x < 1 || size.y < 1) return;
  const auto p = Painter::window();
  if (!(picture.lanes_end > 0)) {
    widgets::fit_text(p, origin, "Nobody states how fast this chip makes exponentials, so its warps have no clock.",
                      size.x, t.muted, Type::small);
    return;
  }
  const float line = 1.4f * t.type(Type::small);
  const float foot = line + t.px(4), gap = t.px(10);
  const float each = (size.y - foot - 2 * gap) / 3;
  for (std::size_t i = 0; i < picture.lanes.size(); ++i) {
    const float y = origin.y + static_cast<float>(i) * (each + gap);
    paint_lanes(p, picture.lanes[i], picture.run->warps[i], picture.lanes_end,
                {{origin.x, y}, {origin.x + size.x, y + each}});
  }
  widgets::Line clocks;
  clocks.add("one multiprocessor, four tiles of keys forward, ")
      .add(widgets::format(picture.lanes_end, "", 3).view())
      .add(" clocks wide; hatched: it has nothing to do; numbers: whose work");
  widgets::fit_text(p, {origin.x, origin.y + size.y - line}, clocks.view(), size.x, t.muted, Type::small);
}

}  // namespace chapters::inference::flash_attention
