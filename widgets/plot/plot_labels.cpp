#include "widgets/plot/plot_labels.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

std::optional<Box> take(Occupancy& room, ImVec2 min, ImVec2 size) {
  min = {std::floor(min.x + 0.5f), std::floor(min.y + 0.5f)};
  const Box box{min, {min.x + size.x, min.y + size.y}};
  if (!room.is_free({{box.min.x - 3, box.min.y - 1}, {box.max.x + 3, box.max.y + 1}}))
    return std::nullopt;  // air around letters
  // Another text stays twelve pixels away on the same line and a little above and below, so that two names do not read
  // as one.
  room.block({{box.min.x - 9, box.min.y - 3}, {box.max.x + 9, box.max.y + 3}});
  return box;
}

/// Highest (smallest y) and lowest pixel of the line between two x; false when it does not reach over all of it.
bool line_extent(std::span<const ImVec2> line, float x0, float x1, float& top, float& bottom) {
  top = 1e9f;
  bottom = -1e9f;
  float from = 1e9f, to = -1e9f;
  for (std::size_t i = 1; i < line.size(); ++i) {
    ImVec2 a = line[i - 1], b = line[i];
    if (a.x > b.x) std::swap(a, b);
    if (b.x < x0 || a.x > x1) continue;
    const float slope = b.x > a.x ? (b.y - a.y) / (b.x - a.x) : 0.0f;
    const float l = std::max(a.x, x0), r = std::min(b.x, x1);
    const float yl = a.y + (l - a.x) * slope, yr = b.x > a.x ? a.y + (r - a.x) * slope : b.y;
    top = std::min({top, yl, yr});
    bottom = std::max({bottom, yl, yr});
    from = std::min(from, l);
    to = std::max(to, r);
  }
  return from <= x0 + 1 && to >= x1 - 1;
}

}  // namespace

void Occupancy::reset(const Box& area) {
  area_ = area;
  columns_ = std::clamp(static_cast<int>(std::ceil(area.width() / cell_px)), 0, 8192);
  rows_ = std::clamp(static_cast<int>(std::ceil(area.height() / cell_px)), 0, 8192);
  taken_.assign(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_), 0);
}

void Occupancy::block_cells(float x0, float y0, float x1, float y1) {
  const auto cell = [](float v, float origin, int count) {
    return static_cast<int>(std::clamp(std::floor((v - origin) / cell_px), -1.0f, static_cast<float>(count)));
  };
  const int c0 = std::max(cell(x0, area_.min.x, columns_), 0),
            c1 = std::min(cell(x1, area_.min.x, columns_), columns_ - 1);
  const int r0 = std::max(cell(y0, area_.min.y, rows_), 0), r1 = std::min(cell(y1, area_.min.y, rows_), rows_ - 1);
  if (c0 > c1) return;
  for (int r = r0; r <= r1; ++r) {
    auto* const row = taken_.data() + static_cast<std::ptrdiff_t>(r) * columns_;
    std::fill(row + c0, row + c1 + 1, std::uint8_t{1});
  }
}

void Occupancy::block(const Box& box) {
  if (box.min.x <= box.max.x && box.min.y <= box.max.y) block_cells(box.min.x, box.min.y, box.max.x, box.max.y);
}

void Occupancy::block_segment(ImVec2 a, ImVec2 b, float half_width) {
  double ax = static_cast<double>(a.x), ay = static_cast<double>(a.y), bx = static_cast<double>(b.x),
         by = static_cast<double>(b.y);
  const Box grown{{area_.min.x - half_width, area_.min.y - half_width},
                  {area_.max.x + half_width, area_.max.y + half_width}};
  if (!clip_segment(ax, ay, bx, by, grown)) return;
  // One strip a cell along the longer direction: the segment's extent within the strip, grown by its half width.
  const bool steep = std::abs(by - ay) > std::abs(bx - ax);
  if (steep) {
    std::swap(ax, ay);
    std::swap(bx, by);
  }
  if (ax > bx) {
    std::swap(ax, bx);
    std::swap(ay, by);
  }
  // A piece of the line in its own direction, from `f0` to `f1`, and the width that it has across.
  const auto block = [&](double f0, double f1, double g0, double g1) {
    const auto along0 = static_cast<float>(f0) - half_width, along1 = static_cast<float>(f1) + half_width;
    const auto across0 = static_cast<float>(std::min(g0, g1)) - half_width,
               across1 = static_cast<float>(std::max(g0, g1)) + half_width;
    if (steep)
      block_cells(across0, along0, across1, along1);
    else
      block_cells(along0, across0, along1, across1);
  };
  if (std::abs(by - ay) <=
      static_cast<double>(cell_px)) {  // hardly leaves one row of cells: a decimated line has thousands of these
    block(ax, bx, ay, by);
    return;
  }
  const double step = static_cast<double>(cell_px), slope = bx > ax ? (by - ay) / (bx - ax) : 0;
  for (double from = ax; from <= bx; from += step) {
    const double to = std::min(from + step, bx), s0 = ay + (from - ax) * slope, s1 = ay + (to - ax) * slope;
    block(from, to, s0, s1);
  }
}

bool Occupancy::is_free(const Box& box) const {
  if (!(box.min.x >= area_.min.x) || !(box.min.y >= area_.min.y) || !(box.max.x <= area_.max.x) ||
      !(box.max.y <= area_.max.y))
    return false;
  const int c0 = static_cast<int>((box.min.x - area_.min.x) / cell_px),
            r0 = static_cast<int>((box.min.y - area_.min.y) / cell_px);
  const int c1 = std::min(static_cast<int>((box.max.x - area_.min.x) / cell_px), columns_ - 1);
  const int r1 = std::min(static_cast<int>((box.max.y - area_.min.y) / cell_px), rows_ - 1);
  for (int r = r0; r <= r1; ++r)
    for (int c = c0; c <= c1; ++c)
      if (taken_[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(c)])
        return false;
  return true;
}

bool Occupancy::is_free(ImVec2 p) const {
  if (!area_.contains(p)) return false;
  const auto c = std::min(static_cast<int>((p.x - area_.min.x) / cell_px), columns_ - 1),
             r = std::min(static_cast<int>((p.y - area_.min.y) / cell_px), rows_ - 1);
  return c >= 0 && r >= 0 &&
         !taken_[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(c)];
}

bool Occupancy::is_clear(ImVec2 a, ImVec2 b, float skip_px) const {
  const float length = std::hypot(b.x - a.x, b.y - a.y);
  for (float px = skip_px; px < length; px += cell_px * 0.7f)
    if (!is_free({a.x + (b.x - a.x) * px / length, a.y + (b.y - a.y) * px / length})) return false;
  return true;
}

int Occupancy::taken_in(const Box& box) const {
  int taken = 0;
  for (float y = box.min.y; y <= box.max.y; y += 2 * cell_px)
    for (float x = box.min.x; x <= box.max.x; x += 2 * cell_px)
      if (!is_free({x, y})) ++taken;
  return taken;
}

Box place_callout(const Occupancy& room, ImVec2 anchor, const Box& area, ImVec2 size, float clear_px) {
  constexpr int columns = 14, rows = 10;
  const ImVec2 span{std::max(area.width() - size.x, 0.0f), std::max(area.height() - size.y, 0.0f)};
  Box best{area.min, {area.min.x + size.x, area.min.y + size.y}};
  float least = HUGE_VALF;
  for (int r = 0; r <= rows; ++r)
    for (int c = 0; c <= columns; ++c) {
      const ImVec2 min{std::floor(area.min.x + span.x * static_cast<float>(c) / columns),
                       std::floor(area.min.y + span.y * static_cast<float>(r) / rows)};
      const Box box{min, {min.x + size.x, min.y + size.y}};
      const ImVec2 end{std::clamp(anchor.x, box.min.x, box.max.x), std::clamp(anchor.y, box.min.y, box.max.y)};
      const float away = std::hypot(end.x - anchor.x, end.y - anchor.y);
      float cost = away * 0.02f + (away < clear_px ? 1000.0f : 0.0f);
      if (cost >= least) continue;
      cost += static_cast<float>(room.taken_in(box));
      if (cost < least && !room.is_clear(anchor, end, clear_px * 0.7f)) cost += 6;
      if (cost < least) {
        least = cost;
        best = box;
      }
    }
  return best;
}

std::optional<ImVec2> leader_needed(ImVec2 at, float radius, const Box& label) {
  const ImVec2 end{std::clamp(at.x, label.min.x, label.max.x), std::clamp(at.y, label.min.y, label.max.y)};
  if (std::hypot(end.x - at.x, end.y - at.y) <= radius + 6 + 0.7f * label.height()) return std::nullopt;
  return end;
}

std::optional<Box> place_by_point(Occupancy& room, ImVec2 at, float radius, ImVec2 size, std::span<const Box> placed) {
  for (const float rows : {0.0f, 0.9f, 2.0f, 3.2f, 4.5f, 6.5f}) {
    const float d = radius + 6 + rows * size.y, near = d * 0.7f;
    const ImVec2 tries[] = {{at.x + d, at.y - size.y / 2},
                            {at.x - d - size.x, at.y - size.y / 2},
                            {at.x - size.x / 2, at.y - d - size.y},
                            {at.x - size.x / 2, at.y + d},
                            {at.x + near, at.y - near - size.y},
                            {at.x - near - size.x, at.y - near - size.y},
                            {at.x + near, at.y + near},
                            {at.x - near - size.x, at.y + near}};
    for (const ImVec2& t : tries) {
      const Box box{t, {t.x + size.x, t.y + size.y}};
      if (const auto end = leader_needed(at, radius, box)) {
        const bool crosses = std::any_of(placed.begin(), placed.end(), [&](const Box& other) {
          double ax = static_cast<double>(at.x), ay = static_cast<double>(at.y), bx = static_cast<double>(end->x),
                 by = static_cast<double>(end->y);
          return clip_segment(ax, ay, bx, by, other);
        });
        if (crosses || !room.is_clear(at, *end, radius + 7)) continue;
      }
      if (const auto taken = take(room, t, size)) return taken;
    }
  }
  return std::nullopt;
}

std::optional<SlopedPlace> place_along_slope(Occupancy& room, std::span<const ImVec2> line, ImVec2 size, float gap) {
  for (std::size_t i = line.size(); i-- > 1;) {
    ImVec2 a = line[i - 1], b = line[i];
    if (a.x > b.x) std::swap(a, b);
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    if (length < size.x + 30 || b.x - a.x < 1) continue;
    const ImVec2 u{(b.x - a.x) / length, (b.y - a.y) / length},
        down{-u.y, u.x};  // reads from left to right; down is to its right
    const float step = std::max(10.0f, length / 40);
    for (const float side : {-gap - size.y, gap})
      for (float along = length - size.x - 15; along >= 15; along -= step) {
        const ImVec2 corner{a.x + u.x * along + down.x * side, a.y + u.y * along + down.y * side};
        bool clear = true;
        for (float x = 0; clear && x <= size.x; x += 2)
          for (float y = 0; clear && y <= size.y; y += 2)
            clear = room.is_free({corner.x + u.x * x + down.x * y, corner.y + u.y * x + down.y * y});
        if (!clear) continue;
        const ImVec2 middle{corner.x + down.x * size.y / 2, corner.y + down.y * size.y / 2};
        room.block_segment(middle, {middle.x + u.x * size.x, middle.y + u.y * size.x}, size.y / 2);
        return SlopedPlace{corner, std::atan2(u.y, u.x) * 180.0f / 3.14159265f};
      }
  }
  return std::nullopt;
}

std::optional<Box> place_along_line(Occupancy& room, std::span<const ImVec2> line, ImVec2 size, float gap) {
  if (line.size() < 2) return std::nullopt;
  float left = 1e9f, right = -1e9f;
  for (const ImVec2& p : line) {
    left = std::min(left, p.x);
    right = std::max(right, p.x);
  }
  // On a steep line the label would float far from most of it: then it belongs elsewhere along the line or nowhere.
  const float furthest = size.y * 2.2f;
  const float step = std::max(8.0f, (right - left) / 40);
  for (const bool above : {true, false})
    for (float end = right - 12; end - size.x >= left; end -= step) {
      float top = 0, bottom = 0;
      if (!line_extent(line, end - size.x, end, top, bottom) || bottom - top > furthest) continue;
      if (const auto box = take(room, {end - size.x, above ? top - gap - size.y : bottom + gap}, size)) return box;
    }
  return std::nullopt;
}

std::optional<Box> place_by_vertical(Occupancy& room, float x, const Box& area, ImVec2 size, float gap) {
  for (float y = area.max.y - gap - size.y; y >= area.min.y; y -= size.y)
    for (const float at : {x + gap, x - gap - size.x})
      if (const auto box = take(room, {at, y}, size)) return box;
  return std::nullopt;
}

}  // namespace widgets
