#include "widgets/plot_labels.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

std::optional<Box> take(Occupancy& room, ImVec2 min, ImVec2 size) {
  min = {std::floor(min.x + 0.5f), std::floor(min.y + 0.5f)};
  const Box box{min, {min.x + size.x, min.y + size.y}};
  if (!room.is_free(box)) return std::nullopt;
  room.block({{box.min.x - 3, box.min.y - 1}, {box.max.x + 3, box.max.y + 1}});
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
  const int c0 = std::max(cell(x0, area_.min.x, columns_), 0), c1 = std::min(cell(x1, area_.min.x, columns_), columns_ - 1);
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
  double ax = static_cast<double>(a.x), ay = static_cast<double>(a.y), bx = static_cast<double>(b.x), by = static_cast<double>(b.y);
  const Box grown{{area_.min.x - half_width, area_.min.y - half_width}, {area_.max.x + half_width, area_.max.y + half_width}};
  if (!clip_segment(ax, ay, bx, by, grown)) return;
  if (ax > bx) {
    std::swap(ax, bx);
    std::swap(ay, by);
  }
  // One strip a column of cells: the segment's height within the strip, grown by its half width.
  const double h = static_cast<double>(half_width), step = static_cast<double>(cell_px);
  const double slope = bx > ax ? (by - ay) / (bx - ax) : 0;
  for (double x = ax; x <= bx; x += step) {
    const double to = std::min(x + step, bx);
    const double y0 = bx > ax ? ay + (x - ax) * slope : ay, y1 = bx > ax ? ay + (to - ax) * slope : by;
    block_cells(static_cast<float>(x - h), static_cast<float>(std::min(y0, y1) - h), static_cast<float>(to + h),
                static_cast<float>(std::max(y0, y1) + h));
  }
}

bool Occupancy::is_free(const Box& box) const {
  if (!(box.min.x >= area_.min.x) || !(box.min.y >= area_.min.y) || !(box.max.x <= area_.max.x) || !(box.max.y <= area_.max.y)) return false;
  const int c0 = static_cast<int>((box.min.x - area_.min.x) / cell_px), r0 = static_cast<int>((box.min.y - area_.min.y) / cell_px);
  const int c1 = std::min(static_cast<int>((box.max.x - area_.min.x) / cell_px), columns_ - 1);
  const int r1 = std::min(static_cast<int>((box.max.y - area_.min.y) / cell_px), rows_ - 1);
  for (int r = r0; r <= r1; ++r)
    for (int c = c0; c <= c1; ++c)
      if (taken_[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(c)]) return false;
  return true;
}

std::optional<Box> place_by_point(Occupancy& room, ImVec2 at, float radius, ImVec2 size) {
  for (const float out : {4.0f, 4.0f + size.y * 0.9f}) {
    const float d = radius + out, near = radius * 0.7f + out * 0.7f;
    const ImVec2 tries[] = {{at.x + d, at.y - size.y / 2},          {at.x - d - size.x, at.y - size.y / 2},
                            {at.x - size.x / 2, at.y - d - size.y}, {at.x - size.x / 2, at.y + d},
                            {at.x + near, at.y - near - size.y},    {at.x - near - size.x, at.y - near - size.y},
                            {at.x + near, at.y + near},             {at.x - near - size.x, at.y + near}};
    for (const ImVec2& t : tries)
      if (const auto box = take(room, t, size)) return box;
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
    for (float end = right - 5; end - size.x >= left; end -= step) {
      float top = 0, bottom = 0;
      if (!line_extent(line, end - size.x, end, top, bottom) || bottom - top > furthest) continue;
      if (const auto box = take(room, {end - size.x, above ? top - gap - size.y : bottom + gap}, size)) return box;
    }
  return std::nullopt;
}

std::optional<Slanted> place_on_slope(Occupancy& room, std::span<const ImVec2> line, ImVec2 size, float gap) {
  for (std::size_t i = 1; i < line.size(); ++i) {
    const ImVec2 a = line[i - 1].x <= line[i].x ? line[i - 1] : line[i], b = line[i - 1].x <= line[i].x ? line[i] : line[i - 1];
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    if (!(length >= size.x + 2 * size.y)) continue;
    const ImVec2 u{(b.x - a.x) / length, (b.y - a.y) / length}, up{u.y, -u.x};
    // A turned box on a grid of upright cells: small boxes along the text, a little under its height.
    const float half = size.y * 0.42f;
    const auto each = [&](ImVec2 at, auto visit) {
      for (float along = half; along <= size.x; along += half) {
        const ImVec2 c{at.x + u.x * along - up.x * size.y / 2, at.y + u.y * along - up.y * size.y / 2};
        if (!visit(Box{{c.x - half, c.y - half}, {c.x + half, c.y + half}})) return false;
      }
      return true;
    };
    for (float start = size.y; start + size.x + size.y <= length; start += size.y) {
      const ImVec2 at{a.x + u.x * start + up.x * (gap + size.y), a.y + u.y * start + up.y * (gap + size.y)};
      if (!each(at, [&](const Box& box) { return room.is_free(box); })) continue;
      each(at, [&](const Box& box) { room.block(box); return true; });
      return Slanted{at, std::atan2(u.y, u.x) * 57.29578f};
    }
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
