#include <algorithm>
#include <cmath>

#include "chapters/kernels/gemm_tiling/lab.h"
#include "models/base/integer_math.h"

namespace chapters::kernels::gemm_tiling {
namespace {

using models::as_double, models::ceil_div;
using widgets::Rect, widgets::Type;

/// A picture of rows x columns in a column of the zoom. Shapes that are too long are drawn at six to one.
ZoomPicture place_picture(Rect room, double rows, double columns, float scale) {
  const auto& t = widgets::theme();
  const float strip = std::clamp(0.15f * std::min(room.width(), room.height()), t.px(6), t.px(40)), gap = t.px(4);
  const float wide = std::max(t.px(8), room.width() - strip - gap),
              high = std::max(t.px(8), room.height() - strip - gap);
  constexpr double longest = 6;
  const double shape = std::clamp(columns / rows, 1 / longest, longest);
  const double drawn_rows = std::max(rows, columns / longest), drawn_columns = drawn_rows * shape;
  ZoomPicture out;
  // A little is left at the corner that is dragged.
  const double fits =
      0.97 * std::min(static_cast<double>(wide) / drawn_columns, static_cast<double>(high) / drawn_rows);
  out.unit = static_cast<float>(scale > 0 ? std::min(static_cast<double>(scale), fits) : fits);
  const ImVec2 from{room.min.x + strip + gap, room.min.y + strip + gap};
  const float w = static_cast<float>(drawn_columns) * out.unit, h = static_cast<float>(drawn_rows) * out.unit;
  out.square = {from, {from.x + w, from.y + h}};
  out.a = {{room.min.x, from.y}, {room.min.x + strip, from.y + h}};
  out.b = {{from.x, room.min.y}, {from.x + w, room.min.y + strip}};
  return out;
}

/// The part at (row, column) of a square cut into pieces of `rows` x `columns` of its `all_rows` x `all_columns`.
Rect piece(const Rect& square, double row, double column, double rows, double columns, double all_rows,
           double all_columns) {
  const auto x = [&](double c) {
    return square.min.x + square.width() * static_cast<float>(std::min(1.0, c / all_columns));
  };
  const auto y = [&](double r) {
    return square.min.y + square.height() * static_cast<float>(std::min(1.0, r / all_rows));
  };
  Rect out{{x(column * columns), y(row * rows)}, {x((column + 1) * columns), y((row + 1) * rows)}};
  const float least = widgets::theme().px(3);
  out.max = {std::max(out.max.x, out.min.x + least), std::max(out.max.y, out.min.y + least)};
  return out;
}

}  // namespace

int lane_of(const Cut& cut, std::int64_t row, std::int64_t column) {
  if (cut.tile.unit == models::gpu::GemmUnit::fma) return 0;
  return static_cast<int>(row % 8 * 4 + column / 2);
}

void layout_hero(const Cut& cut, Rect area, const std::array<float, 2>& scales, HeroLayout& out) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), body = t.type(Type::body), line = small + t.px(4);
  constexpr float race_rows = 6;
  const float race = std::clamp(0.46f * area.height(), race_rows * (small + t.px(3)), race_rows * t.px(58));
  const float zoom = area.height() - race - t.px(10);
  out.race = {{area.min.x, area.max.y - race}, area.max};
  out.sizes = zoom > t.px(150);
  out.notes = zoom > t.px(200);
  out.head_y = area.min.y;
  const float top = area.min.y + body + t.px(4) + (out.sizes ? line : 0);
  const float bottom = area.min.y + zoom - (out.notes ? 2 * line : 0);
  out.note_y = bottom + t.px(2);
  const float gap = std::max(t.px(16), 0.055f * area.width()), wide = (area.width() - 3 * gap) / 4;
  const models::gpu::GemmShape& s = cut.shape;
  const models::gpu::GemmTile& g = cut.tile;
  const bool lanes = g.unit == models::gpu::GemmUnit::fma;
  const std::int64_t last_m = lanes ? g.thread_m : 16, last_n = lanes ? g.thread_n : 8;
  out.cells_m = last_m;
  out.cells_n = last_n;
  const std::array rows{as_double(s.m), as_double(g.block_m), as_double(g.warp_m), as_double(last_m)};
  const std::array columns{as_double(s.n), as_double(g.block_n), as_double(g.warp_n), as_double(last_n)};
  for (std::size_t i = 0; i < out.zoom.size(); ++i) {
    const float x = area.min.x + static_cast<float>(i) * (wide + gap);
    const float scale = i == 1 || i == 2 ? scales[i - 1] : 0;
    out.zoom[i] = place_picture({{x, top}, {x + wide, std::max(bottom, top + t.px(24))}}, rows[i], columns[i], scale);
  }
  out.warps_down = ceil_div(g.block_m, g.warp_m);
  out.warps_across = ceil_div(g.block_n, g.warp_n);
  // Which part of each the next one shows: not at the edge where there is a choice, so that it is seen to be any.
  for (std::size_t i = 0; i + 1 < out.zoom.size(); ++i) {
    const std::int64_t down = ceil_div(static_cast<std::int64_t>(rows[i]), static_cast<std::int64_t>(rows[i + 1])),
                       across =
                           ceil_div(static_cast<std::int64_t>(columns[i]), static_cast<std::int64_t>(columns[i + 1]));
    const double row = i == 0 ? std::floor(0.35 * as_double(down)) : as_double((down - 1) / 2),
                 column = i == 0 ? std::floor(0.6 * as_double(across)) : as_double(across / 2);
    out.pieces_down[i] = rows[i] / rows[i + 1];
    out.pieces_across[i] = columns[i] / columns[i + 1];
    out.zoom[i].child = piece(out.zoom[i].square, row, column, rows[i + 1], columns[i + 1], rows[i], columns[i]);
  }
  ZoomPicture& last = out.zoom.back();
  last.child = last.square;
}

}  // namespace chapters::kernels::gemm_tiling
