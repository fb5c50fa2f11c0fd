#include <algorithm>
#include <cmath>

#include "chapters/roofline/tiling_waves/draw.h"
#include "widgets/base/painter.h"
#include "widgets/number/number.h"

namespace chapters::roofline::tiling_waves {
namespace {

using models::Schedule, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

models::TileWork work_of(const Picture& pic, std::size_t row, std::size_t col) {
  return pic.run->tiles.at(static_cast<std::int64_t>(row), static_cast<std::int64_t>(col));
}

bool streams(const Outputs& out) { return out.setting.schedule == Schedule::stream_k; }

BlockPlace place_of(const Outputs& out, const models::TileWork& work) {
  return {streams(out) ? 0 : work.wave, work.first_block};
}

/// What is written on a tile: its wave from 1, or how many blocks share it.
std::int64_t number_of(const Outputs& out, const models::TileWork& work) {
  return streams(out) ? work.blocks : work.wave + 1;
}

void paint_tile(const Painter& painter, Rect r, const models::TileWork& work, ImU32 fill, bool pale,
                std::string_view number) {
  const auto& t = widgets::theme();
  const float gap = r.width() > 6 ? 1.0f : 0.0f;
  r.max = {r.max.x - gap, r.max.y - gap};
  const ImVec2 used{r.min.x + r.width() * static_cast<float>(work.used_n),
                    r.min.y + r.height() * static_cast<float>(work.used_m)};
  const bool partly = used.x < r.max.x - 0.5f || used.y < r.max.y - 0.5f;
  if (partly) {
    painter.rect(r.min, r.max, t.card);
    widgets::hatch(painter, r, widgets::with_alpha(fill, pale ? 0.4f : 0.9f), t.px(5));
  }
  painter.rect(r.min, used, pale ? widgets::with_alpha(fill, 0.18f) : fill);
  const ImVec2 size = widgets::text_size(number, Type::small, Font::mono);
  constexpr double readable = 4.6;
  if (widgets::contrast(widgets::text_on(fill, t), fill) < readable) return;
  if (number.empty() || pale || partly || size.x + t.px(4) > r.width() || size.y > r.height()) return;
  painter.text({(r.min.x + r.max.x) / 2, (r.min.y + r.max.y - t.type(Type::small)) / 2}, number,
               widgets::text_on(fill, t), Type::small, Font::mono, widgets::Align::center);
}

void record_tiles(widgets::Record& record, const TileBoard& tiles) {
  constexpr std::int64_t most = 100'000;
  widgets::DataTable table{"tiles of C", {"row", "column", "wave", "slot", "filled"}, {}};
  const std::int64_t n = std::min(most, tiles.result.tiles);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t row = i / tiles.result.tiles_n, col = i % tiles.result.tiles_n;
    const auto work = tiles.at(row, col);
    table.rows.push_back({std::to_string(row), std::to_string(col), std::to_string(work.wave + 1),
                          std::to_string(work.first_block + 1), widgets::exact(work.used_m * work.used_n)});
  }
  record.tables.push_back(std::move(table));
}

void say_tile(const Outputs& out, std::int64_t row, std::int64_t col, const models::TileWork& work) {
  widgets::Line name, value;
  name.add("tile ").add_integer(row + 1).add(" down, ").add_integer(col + 1).add(" across");
  if (streams(out))
    value.add_integer(work.blocks).add(work.blocks == 1 ? " thread block" : " thread blocks").add(" from slot ");
  else
    value.add("wave ").add_integer(work.wave + 1).add(", slot ");
  value.add_integer(work.first_block + 1).add(", ").add(widgets::format(100 * work.used_m * work.used_n, "%", 3));
  value.add(" wanted");
  widgets::tip(name.view(), value.view(), "the slot that makes it is marked over time");
}

}  // namespace

BlockPlace View::lit() const { return ImGui::GetFrameCount() - pointed_frame <= 1 ? pointed : BlockPlace{}; }

void View::point(BlockPlace place) {
  pointed = place;
  pointed_frame = ImGui::GetFrameCount();
}

widgets::Tint tint_of_wave(const Outputs& out, std::int64_t wave) {
  if (streams(out)) {
    const auto blocks = static_cast<std::uint64_t>(std::max<std::int64_t>(1, out.result.work_units));
    return widgets::Tint::ramp(static_cast<std::uint64_t>(wave), blocks);
  }
  if (wave + 1 == out.result.waves && out.last_wave_blocks < out.slots) return widgets::Tint::series(4);
  return widgets::Tint::ramp(static_cast<std::uint64_t>(wave) + 1, static_cast<std::uint64_t>(out.result.waves) + 2);
}

std::int64_t wave_at(const Outputs& out, double time) {
  return std::min(out.result.waves - 1, static_cast<std::int64_t>(time * static_cast<double>(out.result.waves)));
}

void draw_tiles(const Outputs& out, const Picture& pic, View& view, Room room) {
  const auto& t = widgets::theme();
  const Rect area = widgets::canvas("tiles of C", {room.width, room.height}, {t.px(60), t.px(40)});
  const bool hovered = ImGui::IsItemHovered();
  const Painter painter = Painter::window();
  widgets::TileGridLayout& l = view.tiles;
  const auto rows = static_cast<std::size_t>(out.result.tiles_m), cols = static_cast<std::size_t>(out.result.tiles_n);
  const widgets::TileGridData data{
      .rows = rows, .cols = cols, .tile = [](const void*, std::size_t, std::size_t) { return widgets::Tile{}; }};
  widgets::layout_tile_grid(data, {.aspect = pic.tile_aspect, .numbers = false}, area, widgets::measure_text, l);
  const BlockPlace lit = view.lit();
  const std::int64_t reached = wave_at(out, view.time);
  for (std::size_t r = 0; r < l.rows; ++r)
    for (std::size_t c = 0; c < l.cols; ++c) {
      const auto work = work_of(pic, r * l.row_stride, c * l.col_stride);
      const BlockPlace place = place_of(out, work);
      const ImU32 fill = widgets::colour(tint_of_wave(out, streams(out) ? work.first_block : work.wave), t);
      const bool pointed = lit.any() && lit.slot < 0 && !streams(out);  // a wave, from the other picture
      const bool pale = pointed ? work.wave != lit.wave : !streams(out) && work.wave > reached;
      widgets::Line number;
      if (l.tile_w > t.px(12)) number.add_integer(number_of(out, work));
      paint_tile(painter, l.tile(r, c), work, fill, pale, number.view());
      if (lit.slot >= 0 && place == lit) {
        const Rect mark = l.tile(r, c);
        painter.frame({mark.min.x - 1, mark.min.y - 1}, mark.max, t.text, t.px(2));
      }
    }
  if (widgets::Record* record = painter.record()) record_tiles(*record, pic.run->tiles);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!hovered || l.rows == 0 || !l.grid.contains(mouse)) return;
  const auto index = [](float px, float tile, std::size_t stride, std::size_t n) {
    return std::min(static_cast<std::size_t>(px / tile) * stride, n - 1);
  };
  const std::size_t row = index(mouse.y - l.grid.min.y, l.tile_h, l.row_stride, rows),
                    col = index(mouse.x - l.grid.min.x, l.tile_w, l.col_stride, cols);
  const auto work = work_of(pic, row, col);
  view.point(place_of(out, work));
  say_tile(out, static_cast<std::int64_t>(row), static_cast<std::int64_t>(col), work);
}

}  // namespace chapters::roofline::tiling_waves
