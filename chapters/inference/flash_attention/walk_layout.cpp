#include "chapters/inference/flash_attention/walk_layout.h"

#include <algorithm>

namespace chapters::inference::flash_attention {
namespace {

using widgets::Rect;

constexpr float strip_px = 12, gap_px = 4, chip_gap_px = 34, least_chip_px = 300, letter_px = 18;

/// Lines of the block's box from top to bottom; words give way before numbers do.
void layout_chip(float scale, float line, std::int64_t tile_rows, WalkPlaces& out) {
  const float pad = 10 * scale, left = out.chip.min.x + pad, right = out.chip.max.x - pad;
  float top = out.chip.min.y + 0.6f * pad, bottom = out.chip.max.y - 0.6f * pad;
  const auto from_top = [&](float height) {
    const Rect place{{left, top}, {right, top + height}};
    top += height;
    return place;
  };
  const auto from_bottom = [&](float height) {
    const Rect place{{left, bottom - height}, {right, bottom}};
    bottom -= height;
    return place;
  };
  const float height = out.chip.height();
  out.title = from_top(1.2f * line);
  out.vessel_words = height >= 8 * line ? from_bottom(line) : Rect{};
  out.vessel = height >= 6 * line ? from_bottom(1.5f * line) : Rect{};
  if (height >= 6 * line) bottom -= 0.3f * line;
  out.formula = height >= 13 * line ? from_bottom(1.2f * line) : Rect{};
  out.words = height >= 12 * line ? from_bottom(line) : Rect{};
  out.heads = from_top(1.1f * line);
  const Rect rows{{left, top}, {right, std::max(top, bottom - 0.2f * line)}};
  const auto fit = static_cast<std::int64_t>(rows.height() / (0.75f * line));
  out.rows = std::clamp<std::int64_t>(std::min<std::int64_t>(16, tile_rows), 1, std::max<std::int64_t>(1, fit));
  const float wide = rows.width(), gap = 12 * scale;
  const float number = std::min(46 * scale, wide * 0.16f), map = wide * 0.34f;
  const float bar = std::max(1.0f, (wide - map - number - 3 * gap) / 2);
  float x = rows.min.x;
  const auto column = [&](float width) {
    const Rect place{{x, rows.min.y}, {x + width, rows.max.y}};
    x += width + gap;
    return place;
  };
  out.tile = column(map);
  out.largest = column(bar);
  out.sum = column(bar);
  out.turn = column(number);
}

}  // namespace

std::vector<WalkStep> walk_order(const std::vector<std::int64_t>& visited, bool columns_first) {
  std::vector<WalkStep> out;
  const auto rows = static_cast<std::int32_t>(visited.size());
  const auto columns = static_cast<std::int32_t>(visited.empty() ? 0 : *std::ranges::max_element(visited));
  const auto computed = [&](std::int32_t i, std::int32_t j) { return j < visited[static_cast<std::size_t>(i)]; };
  for (std::int32_t a = 0; a < (columns_first ? columns : rows); ++a)
    for (std::int32_t b = 0; b < (columns_first ? rows : columns); ++b) {
      const WalkStep step = columns_first ? WalkStep{b, a} : WalkStep{a, b};
      if (computed(step.row, step.column)) out.push_back(step);
    }
  return out;
}

void layout_walk(Rect area, float scale, float line, std::int64_t tile_rows, WalkPlaces& out) {
  out = {};
  const bool note = area.height() >= 300 * scale, hint = area.height() >= 230 * scale;
  float foot = area.max.y;
  if (note) {
    out.note = {{area.min.x, foot - line}, {area.max.x, foot}};
    foot -= line + 2 * scale;
  }
  const float bars = 3.9f * line;
  const float each = (area.width() - 2 * 24 * scale) / 3;
  for (std::size_t i = 0; i < out.odometers.size(); ++i) {
    const float left = area.min.x + static_cast<float>(i) * (each + 24 * scale);
    out.odometers[i] = {{left, std::max(area.min.y, foot - bars)}, {left + each, foot}};
  }
  foot -= bars + 8 * scale;
  if (hint) {
    out.hint = {{area.min.x, foot - 1.7f * line}, {area.max.x, foot}};
    foot -= 1.7f * line + 4 * scale;
  }
  const float strip = strip_px * scale, gap = gap_px * scale, letter = letter_px * scale;
  const float before = letter + strip + gap, above = 2 * (strip + gap), after = gap + strip + gap + letter;
  const float high = foot - area.min.y - above, wide = area.width() - before - after;
  const bool chip = wide >= (least_chip_px + chip_gap_px) * scale + 120 * scale;
  const float side = std::max(
      1.0f, std::min(high, chip ? std::min(0.52f * wide, wide - (least_chip_px + chip_gap_px) * scale) : wide));
  const float left = area.min.x + before, top = area.min.y + above;
  out.square = {{left, top}, {left + side, top + side}};
  out.queries = {{left - gap - strip, top}, {left - gap, top + side}};
  out.keys = {{left, area.min.y}, {left + side, area.min.y + strip}};
  out.values = {{left, area.min.y + strip + gap}, {left + side, area.min.y + 2 * strip + gap}};
  out.results = {{left + side + gap, top}, {left + side + gap + strip, top + side}};
  if (!chip) return;
  out.chip = {{out.results.max.x + gap + letter + chip_gap_px * scale, area.min.y}, {area.max.x, top + side}};
  layout_chip(scale, line, tile_rows, out);
}

Rect tile_place(const Rect& square, double cells, const WalkStep& at, double rows, double columns) {
  const auto x = [&](double cell) {
    return square.min.x + square.width() * static_cast<float>(std::min(1.0, cell / cells));
  };
  const auto y = [&](double cell) {
    return square.min.y + square.height() * static_cast<float>(std::min(1.0, cell / cells));
  };
  return {{x(at.column * columns), y(at.row * rows)}, {x((at.column + 1) * columns), y((at.row + 1) * rows)}};
}

}  // namespace chapters::inference::flash_attention
