#include <algorithm>

#include "chapters/kernels/coalescing/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::kernels::coalescing {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

/// One warp's sectors among all of the block: runs of neighbours as one rectangle.
void paint_warp(const Painter& p, const WarpRow& row, const Rect& r, float each, bool chosen) {
  const auto& t = widgets::theme();
  const ImU32 hue = chosen ? t.accent : t.of(Meaning::memory_bound);
  const float inset = std::min(t.px(2), 0.15f * r.height());
  for (int i = 0; i < row.sectors;) {
    const auto at = static_cast<std::size_t>(i);
    int n = 1;
    while (i + n < row.sectors && row.ranks[at + static_cast<std::size_t>(n)] == row.ranks[at] + n &&
           row.again[at + static_cast<std::size_t>(n)] == row.again[at])
      ++n;
    const float x = r.min.x + each * static_cast<float>(row.ranks[at]);
    const Rect run{{x, r.min.y + inset}, {std::max(x + 1, x + each * static_cast<float>(n)), r.max.y - inset}};
    if (row.again[at]) {
      p.rect(run.min, run.max, t.card);
      widgets::hatch(p, run, hue, t.px(4));
      p.frame(run.min, run.max, hue);
    } else {
      p.rect(run.min, run.max, hue);
    }
    i += n;
  }
}

}  // namespace

void draw_block(Inputs& in, const Picture& picture, ImVec2 size) {
  if (!picture.run || picture.run->warps.empty()) return;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const auto& warps = picture.run->warps;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(5), names = t.px(62), counts = t.px(78);
  widgets::fit_text(p, at, picture.warps_words, size.x, t.text, Type::small, Font::bold);
  widgets::fit_text(p, {at.x, at.y + line}, picture.block_words, size.x, t.muted, Type::small);
  const Rect area{{at.x + names, at.y + 2 * line + t.px(4)}, {at.x + size.x - counts, at.y + size.y - line}};
  const auto count = static_cast<float>(warps.size());
  const float height = std::min(t.px(26), std::max(1.0f, area.height() / count));
  ImGui::SetCursorScreenPos({at.x, area.min.y});
  const bool pressed = widgets::press_area("warps", {size.x, height * count});
  const bool hovered = ImGui::IsItemHovered();
  const int steps = widgets::play_keys().steps;
  const int under = std::clamp(static_cast<int>((ImGui::GetMousePos().y - area.min.y) / height), 0,
                               static_cast<int>(warps.size()) - 1);
  if (pressed && hovered) in.warp_index = under;
  if (steps != 0)
    in.warp_index = std::clamp<std::int64_t>(in.warp_index + steps, 0, static_cast<std::int64_t>(warps.size()) - 1);
  const float each = area.width() / static_cast<float>(std::max(1, picture.distinct));
  const bool words = height >= t.type(Type::small);
  for (std::size_t i = 0; i < warps.size(); ++i) {
    const float y = area.min.y + height * static_cast<float>(i);
    const bool chosen = static_cast<std::int64_t>(i) == picture.warp;
    p.line({area.min.x, y + height}, {area.max.x, y + height}, t.grid);
    paint_warp(p, warps[i], {{area.min.x, y}, {area.max.x, y + height}}, each, chosen);
    if (!words) continue;
    const float text_y = y + (height - t.type(Type::small)) / 2;
    widgets::Line name, sectors;
    name.add("warp ").add_integer(static_cast<std::int64_t>(i));
    sectors.add_integer(warps[i].sectors);
    if (warps[i].shared > 0) sectors.add(", ").add_integer(warps[i].shared).add(" again");
    p.text({at.x, text_y}, name.view(), chosen ? t.accent : t.text, Type::small);
    p.text({at.x + size.x, text_y}, sectors.view(), t.text, Type::small, Font::mono, Align::right);
  }
  widgets::fit_text(p, {area.min.x, area.min.y + height * count + t.px(4)},
                    "the block's sectors in order; hatched: a warp before has fetched it", area.width() + counts,
                    t.muted, Type::small);
  if (hovered) {
    widgets::Line name, value;
    name.add("warp ").add_integer(under);
    value.add_integer(warps[static_cast<std::size_t>(under)].sectors).add(" sectors");
    widgets::tip(name.view(), value.view(), "press to see its fan");
  }
}

}  // namespace chapters::kernels::coalescing
