#include "chapters/distributed/memory_split/layout_split.h"

#include <algorithm>
#include <cmath>

namespace chapters::distributed::memory_split {
namespace {

constexpr double most_ghost = 2.4, least_fill = 0.26;

/// Labels bottom up at least a line apart, pushed down again where the top is reached.
void spread_labels(std::vector<SplitLabel>& labels, float line, float top, float bottom) {
  float free = bottom;
  for (SplitLabel& l : labels) {
    l.y = std::min(l.at, free - line / 2);
    free = l.y - line / 2;
  }
  float taken = top;
  for (std::size_t i = labels.size(); i-- > 0;) {
    labels[i].y = std::max(labels[i].y, taken + line / 2);
    taken = labels[i].y + line / 2;
  }
}

}  // namespace

double total_of(const SplitStack& stack) {
  double sum = 0;
  for (const double v : stack) sum += std::max(0.0, v);
  return sum;
}

void layout_split(std::span<const SplitStack> stacks, const SplitStack& ghost, double rim, const SplitRoom& room,
                  SplitLayout& out) {
  out.vessels.clear();
  out.pieces.clear();
  out.ghost.clear();
  out.labels.clear();
  out.ticks.clear();
  if (stacks.empty()) return;
  double most = rim;
  for (const SplitStack& s : stacks) most = std::max(most, total_of(s));
  double fullest = 0;
  for (const SplitStack& s : stacks) fullest = std::max(fullest, total_of(s));
  const double whole = total_of(ghost);
  double shown = std::min(whole, most_ghost * most);
  // Where hardly a quarter is full the vessels are drawn as high as what they hold, and the rim is off the scale.
  out.rim_cut = fullest < least_fill * rim;
  if (out.rim_cut) most = shown = 1.25 * fullest;
  out.ghost_cut = shown < whole;
  const float height = std::max(1.0f, room.area.height());
  out.scale = std::max(most, shown) > 0 ? std::max(most, shown) / static_cast<double>(height) : 1;
  out.ground = room.area.max.y;
  const auto y_of = [&](double value) { return out.ground - static_cast<float>(value / out.scale); };
  out.rim = out.rim_cut ? room.area.min.y : y_of(rim);
  const auto count = static_cast<float>(stacks.size());
  const float gap = std::min(room.gap, room.area.width() / (3 * count));
  const float width = std::clamp((room.area.width() - gap * (count - 1)) / count, 1.0f, std::max(1.0f, room.widest));
  const float left = room.area.min.x + std::max(0.0f, (room.area.width() - width * count - gap * (count - 1)) / 2);
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const float x = std::round(left + static_cast<float>(i) * (width + gap));
    out.vessels.push_back({{x, out.rim}, {x + width, out.ground}});
    double at = 0;
    for (std::size_t k = 0; k < split_layer_count; ++k) {
      const double value = std::max(0.0, stacks[i][k]), end = at + value;
      if (!(value > 0)) continue;
      const auto piece = [&](double from, double to, bool over) {
        out.pieces.push_back({i, k, {{x, y_of(to)}, {x + width, y_of(from)}}, to - from, over});
      };
      if (room.cut_at_rim && at < rim && end > rim) {
        piece(at, rim, false);
        piece(rim, end, true);
      } else {
        piece(at, end, room.cut_at_rim && at >= rim);
      }
      if (i == 0) out.labels.push_back({.layer = k, .at = (y_of(at) + y_of(end)) / 2, .value = value});
      at = end;
    }
  }
  const double from = whole > rim ? std::max(rim, fullest) : fullest;
  out.ghost_from = y_of(from);
  out.ghost_top = y_of(std::max(shown, from));
  double at = 0;
  for (std::size_t k = 0; k < split_layer_count && shown > from && !out.rim_cut; ++k) {
    const double end = at + std::max(0.0, ghost[k]);
    const double low = std::max(at, from), high = std::min(end, shown);
    if (high > low) {
      const double value = end - low;
      out.ghost.push_back({k, y_of(high), y_of(low), value});
      if (end <= shown)
        out.labels.push_back({.layer = k, .ghost = true, .at = (y_of(high) + y_of(low)) / 2, .value = value});
    }
    at = end;
  }
  // Layers that are hardly seen have no label.
  std::erase_if(out.labels, [&](const SplitLabel& l) {
    return static_cast<float>(l.value / out.scale) < (l.ghost ? room.line : room.least_label);
  });
  spread_labels(out.labels, room.line, room.area.min.y, out.ground + room.line / 2);
  const double least = 3 * static_cast<double>(room.line) * out.scale;
  const double ten = std::pow(10, std::floor(std::log10(std::max(least, 1e-30))));
  const double step = ten * (least <= ten ? 1 : least <= 2 * ten ? 2 : least <= 5 * ten ? 5 : 10);
  const double highest = out.rim_cut ? most : std::max(fullest, std::max(shown, rim));
  for (int i = 0; i * step <= highest * (1 + 1e-9) && i < 100; ++i) {
    const float y = y_of(i * step);
    const bool near_rim = std::abs(y - out.rim) < 1.3f * room.line;
    const bool near_top = !out.rim_cut && shown > from && std::abs(y - out.ghost_top) < 1.3f * room.line;
    if (!near_rim && !near_top) out.ticks.push_back({i * step, y});
  }
}

}  // namespace chapters::distributed::memory_split
