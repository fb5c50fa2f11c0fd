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

/// Where the axis runs and its labels stand.
struct LadderPlace {
  ImVec2 corner{}, size{};
  float x0 = 0, x1 = 0, pad = 0, left = 0, line = 0, middle = 0;
  std::size_t tiers = 0;  ///< rows of labels above the axis, and below it
  double lo = 0, hi = 1;  ///< logarithms of the seconds at its ends

  float x_of(double seconds) const {
    return x0 + (x1 - x0) * static_cast<float>((std::log10(seconds) - lo) / (hi - lo));
  }
};

LadderPlace place_ladder(const Picture& picture, ImVec2 corner, ImVec2 size) {
  const auto& t = theme();
  LadderPlace l{.corner = corner, .size = size};
  l.line = t.type(Type::small) + t.px(3);
  l.left = t.px(112);
  l.pad = t.px(34);
  l.x0 = corner.x + l.left + l.pad;
  l.x1 = corner.x + size.x - l.pad;
  l.lo = std::log10(picture.ladder_lo);
  l.hi = std::log10(picture.ladder_hi);
  l.middle = corner.y + std::floor(0.5f * size.y);
  l.tiers = static_cast<std::size_t>(std::clamp((size.y / 2 - t.px(8)) / l.line, 1.0f, static_cast<float>(tiers_max)));
  return l;
}

void paint_seconds(const Painter& p, const Picture& picture, const LadderPlace& l) {
  const auto& t = theme();
  const float end = l.x1 + l.pad / 2;
  p.line({l.x0 - l.pad / 2, l.middle}, {end, l.middle}, t.muted, t.px(1.5f));
  for (std::size_t i = 0; i < picture.ladder_ticks.size(); ++i) {
    const float x = l.x_of(picture.ladder_lo * std::pow(10.0, static_cast<double>(i)));
    if (x > end) break;
    p.line({x, l.middle - t.px(4)}, {x, l.middle + t.px(4)}, t.line);
  }
}

struct LevelLabel {
  ImVec2 at{};
  bool shown = false, found = false;
  float x = 0;
};
constexpr std::size_t labels_max = 32;
using LevelLabels = std::array<LevelLabel, labels_max>;

/// Places the labels in the tiers that are free and paints their stems, before any words, so that none runs through
/// those of another.
LevelLabels place_labels(const Painter& p, const Picture& picture, const Search& search, const LadderPlace& l) {
  const auto& t = theme();
  LevelLabels labels{};
  std::array<float, tiers_max> above{}, below{};
  for (std::size_t i = 0; i < std::min(picture.ladder.size(), labels_max); ++i) {
    const LadderMark& mark = picture.ladder[i];
    LevelLabel& label = labels[i];
    label.x = l.x_of(mark.seconds);
    label.found = search.finds(mark.words);
    const float width = widgets::text_size(mark.words_shown, Type::small).x, least = l.corner.x + l.left;
    const float from = std::clamp(label.x - width / 2, least, std::max(least, l.corner.x + l.size.x - width));
    const std::size_t tier = free_tier(mark.latency ? below : above, l.tiers, from - t.px(8), from + width);
    if (tier >= l.tiers) continue;
    label.shown = true;
    const float step = l.line * static_cast<float>(tier);
    label.at = {from, mark.latency ? l.middle + t.px(7) + step : l.middle - t.px(7) - l.line - step};
    p.line({label.x, l.middle}, {label.x, mark.latency ? label.at.y : label.at.y + l.line - t.px(2)}, t.line);
  }
  return labels;
}

void draw_level(const Painter& p, const LadderMark& mark, const LevelLabel& label, float middle) {
  const auto& t = theme();
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
  widgets::press_area("a level", {t.px(14), t.px(14)}, ImGuiButtonFlags_None);
  if (ImGui::IsItemHovered()) widgets::tip(mark.name, mark.tip, mark.source);
}

}  // namespace

void draw_ladder(Inputs& in, const Picture& picture, View& view, const Search& search, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const LadderPlace l = place_ladder(picture, ImGui::GetCursorScreenPos(), size);
  paint_seconds(p, picture, l);
  const float y = l.middle - l.line - t.px(2);
  p.text({l.corner.x, y - l.line}, "To move", t.muted, Type::small);
  draw_dragged(p, in, view, Dragged::bytes, picture.bytes_words, {l.corner.x, y}, "of the ladder");
  widgets::fit_text(p, {l.corner.x, l.middle + t.px(6)}, "First byte after", l.left, t.muted, Type::small);
  const LevelLabels labels = place_labels(p, picture, search, l);
  for (std::size_t i = 0; i < std::min(picture.ladder.size(), labels_max); ++i) {
    ImGui::PushID(static_cast<int>(i));
    draw_level(p, picture.ladder[i], labels[i], l.middle);
    ImGui::PopID();
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
