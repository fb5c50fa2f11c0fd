#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/interview/cheat_sheet/draw_parts.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

/// One axis of seconds: above it what the bytes take at every level, below it how long the first byte is away.
namespace chapters::interview::cheat_sheet {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

constexpr std::size_t tiers_max = 3;

/// The first tier whose last label ends before `from`, or the most that there are.
std::size_t free_tier(std::array<float, tiers_max>& ends, std::size_t tiers, float from, float to) {
  for (std::size_t i = 0; i < tiers; ++i) {
    if (ends[i] > from) continue;
    ends[i] = to;
    return i;
  }
  return tiers;
}

}  // namespace

void draw_ladder(Inputs& in, const Picture& picture, View& view, const Search& search, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(3), left = t.px(112), pad = t.px(34);
  const float x0 = corner.x + left + pad, x1 = corner.x + size.x - pad;
  const double lo = std::log10(picture.ladder_lo), hi = std::log10(picture.ladder_hi);
  const auto x_of = [&](double seconds) {
    return x0 + (x1 - x0) * static_cast<float>((std::log10(seconds) - lo) / (hi - lo));
  };
  const float middle = corner.y + std::floor(0.5f * size.y);
  const auto tiers = static_cast<std::size_t>(
      std::clamp((size.y / 2 - t.px(10)) / (line + t.px(2)), 1.0f, static_cast<float>(tiers_max)));
  p.line({x0 - pad / 2, middle}, {x1 + pad / 2, middle}, t.muted, t.px(1.5f));
  for (std::size_t i = 0; i < picture.ladder_ticks.size(); ++i) {
    const float x = x_of(picture.ladder_lo * std::pow(10.0, static_cast<double>(i)));
    if (x > x1 + pad / 2) break;
    p.line({x, middle - t.px(4)}, {x, middle + t.px(4)}, t.line);
  }
  float y = middle - line - t.px(2);
  p.text({corner.x, y - line}, "To move", t.muted, Type::small);
  draw_dragged(p, in, view, Dragged::bytes, picture.bytes_words, {corner.x, y}, "of the ladder");
  widgets::fit_text(p, {corner.x, middle + t.px(6)}, "First byte after", left, t.muted, Type::small);
  struct Label {
    ImVec2 at{};
    bool shown = false, found = false;
    float x = 0;
  };
  constexpr std::size_t labels_max = 32;
  std::array<Label, labels_max> labels{};
  const std::size_t count = std::min(picture.ladder.size(), labels_max);
  std::array<float, tiers_max> above{}, below{};
  // Stems go first, so that none runs through the words of another.
  for (std::size_t i = 0; i < count; ++i) {
    const LadderMark& mark = picture.ladder[i];
    Label& label = labels[i];
    label.x = x_of(mark.seconds);
    label.found = search.finds(mark.words);
    const float width = widgets::text_size(mark.words_shown, Type::small).x;
    const float from =
        std::clamp(label.x - width / 2, corner.x + left, std::max(corner.x + left, corner.x + size.x - width));
    const std::size_t tier = free_tier(mark.latency ? below : above, tiers, from - t.px(8), from + width);
    if (tier >= tiers) continue;
    label.shown = true;
    const float step = (line + t.px(2)) * static_cast<float>(tier);
    label.at = {from, mark.latency ? middle + t.px(9) + step : middle - t.px(9) - line - step};
    p.line({label.x, middle}, {label.x, mark.latency ? label.at.y : label.at.y + line - t.px(2)}, t.line);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const LadderMark& mark = picture.ladder[i];
    const Label& label = labels[i];
    const ImU32 tone = label.found ? t.accent : mark.latency ? t.muted : t.text;
    if (label.shown) {
      p.plate(label.at, mark.words_shown, t.background, Type::small);
      p.text(label.at, mark.words_shown, tone, Type::small);
    }
    if (mark.latency)
      p.ring({label.x, middle}, t.px(4), tone, t.px(1.5f));
    else
      p.circle({label.x, middle}, t.px(4.5f), tone);
    ImGui::SetCursorScreenPos({label.x - t.px(7), middle - t.px(7)});
    ImGui::PushID(static_cast<int>(i));
    widgets::press_area("a level", {t.px(14), t.px(14)}, ImGuiButtonFlags_None);
    ImGui::PopID();
    if (ImGui::IsItemHovered()) widgets::tip(mark.name, mark.tip, mark.source);
  }
  if (widgets::Record* record = p.record()) {
    widgets::DataTable table{"ladder", {"level", "seconds", "kind", "source"}, {}};
    for (const LadderMark& mark : picture.ladder)
      table.rows.push_back(
          {mark.name, widgets::exact(mark.seconds), mark.latency ? "first byte" : "the bytes", mark.source});
    record->tables.push_back(std::move(table));
  }
  widgets::drew("ladder");
}

}  // namespace chapters::interview::cheat_sheet
