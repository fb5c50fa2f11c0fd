#include "widgets/charts/tile_grid.h"

#include <algorithm>

#include "widgets/base/shorten.h"
#include "widgets/number/number.h"

namespace widgets {
namespace {

constexpr float least_tile_px = 3.0f;
constexpr std::size_t max_recorded = 100'000;

NumberText tile_number(const Tile& tile) {
  return format(std::isfinite(tile.number) ? tile.number : static_cast<double>(tile.group), "");
}

void paint_tile(const Painter& painter, Rect r, const Tile& tile, bool pale, bool number) {
  const Theme& t = theme();
  const float gap = r.width() > 6 ? 1.0f : 0.0f;
  r.max = {r.max.x - gap, r.max.y - gap};
  if (tile.group < 0) {
    painter.rect(r.min, r.max, with_alpha(t.card, 0.7f));
    return;
  }
  const ImU32 fill = colour(Tint::series(static_cast<std::uint64_t>(tile.group)), t);
  const auto part = [](float f) { return f >= 0 ? std::min(f, 1.0f) : 0.0f; };
  const ImVec2 filled{r.min.x + r.width() * part(tile.fill_x), r.min.y + r.height() * part(tile.fill_y)};
  if (filled.x < r.max.x - 0.5f || filled.y < r.max.y - 0.5f) {
    painter.rect(r.min, r.max, with_alpha(fill, pale ? 0.1f : 0.25f));
    hatch(painter, r, with_alpha(fill, pale ? 0.25f : 0.8f), t.px(5));
  }
  painter.rect(r.min, filled, pale ? with_alpha(fill, 0.22f) : fill);
  if (!number) return;
  const ImVec2 centre{(r.min.x + r.max.x) / 2, (r.min.y + r.max.y - t.type(Type::small)) / 2};
  const bool partly = filled.x < r.max.x - 0.5f || filled.y < r.max.y - 0.5f;
  if (partly && !pale) {  // a patch, so that the hatching does not cross the number
    const float w = text_size(tile_number(tile), Type::small, Font::mono).x / 2 + t.px(2);
    painter.rect({centre.x - w, centre.y}, {centre.x + w, centre.y + t.type(Type::small) + t.px(1)}, fill, t.px(2));
  }
  painter.text(centre, tile_number(tile), pale ? t.muted : text_on(fill, t), Type::small, Font::mono, Align::center);
}

void record_tiles(Record& record, const char* label, const TileGridData& d) {
  DataTable table{label, {"row", "column", "group", "filled", "number"}, {}};
  for (std::size_t r = 0; r < d.rows && table.rows.size() < max_recorded; ++r)
    for (std::size_t c = 0; c < d.cols && table.rows.size() < max_recorded; ++c) {
      const Tile tile = d.tile(d.context, r, c);
      table.rows.push_back({std::to_string(r), std::to_string(c), std::to_string(tile.group),
                            exact(static_cast<double>(tile.fill_x) * static_cast<double>(tile.fill_y)),
                            exact(tile.number)});
    }
  record.tables.push_back(std::move(table));
}

void tip_tile(const TileGridData& data, const TileGridOptions& o, std::size_t row, std::size_t col) {
  const Tile tile = data.tile(data.context, row, col);
  Line name, value;
  name.add("tile (")
      .add_integer(static_cast<std::int64_t>(row))
      .add(", ")
      .add_integer(static_cast<std::int64_t>(col))
      .add(")");
  if (tile.group >= 0) {
    value.add(o.group_title).add(" ").add_integer(tile.group);
    value.add(", ")
        .add(format(100.0 * static_cast<double>(tile.fill_x) * static_cast<double>(tile.fill_y), "%"))
        .add(" filled");
  } else {
    value.add("empty");
  }
  if (std::isfinite(tile.number)) value.add(", ").add(format(tile.number, ""));
  tip(name.view(), value.view(), data.info ? data.info(data.context, row, col) : std::string_view{});
}

}  // namespace

Rect TileGridLayout::tile(std::size_t row, std::size_t col) const {
  const auto at = [](float from, float step, std::size_t i) { return std::round(from + step * static_cast<float>(i)); };
  return {{at(grid.min.x, tile_w, col), at(grid.min.y, tile_h, row)},
          {at(grid.min.x, tile_w, col + 1), at(grid.min.y, tile_h, row + 1)}};
}

void layout_tile_grid(const TileGridData& data, const TileGridOptions& o, Rect area, Measure measure,
                      TileGridLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  out.legend_height = layout_legend(o.legend, area.width(), small + t.px(6), measure, out.placed_legend);
  const float top = o.row_title.empty() && o.col_title.empty() ? 0.0f : small + t.px(5);
  const ImVec2 origin{area.min.x, area.min.y + top + (out.legend_height > 0 ? out.legend_height + t.px(4) : 0.0f)};
  out.rows = out.cols = 0;
  out.row_stride = out.col_stride = 1;
  out.grid = {origin, origin};
  if (data.rows == 0 || data.cols == 0 || !data.tile) return;
  const float width = std::max(1.0f, area.max.x - origin.x), height = std::max(1.0f, area.max.y - origin.y);
  const auto aspect = static_cast<float>(std::isfinite(o.aspect) ? std::clamp(o.aspect, 0.05, 20.0) : 1.0);
  // One shape for all tiles: the tighter direction decides.
  const float w = std::min({width / static_cast<float>(data.cols), height / (static_cast<float>(data.rows) * aspect),
                            t.px(o.max_px), t.px(o.max_px) / aspect});
  const auto side = [](float px, float room, std::size_t count, std::size_t& stride, std::size_t& shown) {
    shown = count;
    if (px >= least_tile_px) return px;
    const auto most = std::max<std::size_t>(1, static_cast<std::size_t>(room / least_tile_px));
    stride = (count + most - 1) / most;
    shown = (count + stride - 1) / stride;
    return std::min(least_tile_px, room / static_cast<float>(shown));
  };
  out.tile_w = side(w, width, data.cols, out.col_stride, out.cols);
  out.tile_h = side(w * aspect, height, data.rows, out.row_stride, out.rows);
  out.grid.max = {origin.x + out.tile_w * static_cast<float>(out.cols),
                  origin.y + out.tile_h * static_cast<float>(out.rows)};
  // The widest number seen decides for all; more tiles than this are too small for numbers anyhow.
  out.numbers =
      o.numbers && out.rows * out.cols <= 4096 && out.row_stride * out.col_stride == 1 && out.tile_h >= small + t.px(2);
  for (std::size_t r = 0; out.numbers && r < out.rows; ++r)
    for (std::size_t c = 0; out.numbers && c < out.cols; ++c) {
      const Tile tile = data.tile(data.context, r, c);
      out.numbers = tile.group < 0 || measure(tile_number(tile), Type::small) + t.px(4) <= out.tile_w;
    }
}

TileGridEvents draw_tile_grid(const char* label, const TileGridData& data, TileGridView& view,
                              const TileGridOptions& o) {
  const Theme& t = theme();
  const Rect area = canvas(label, {o.size.x, o.size.y > 0 ? o.size.y : t.px(280)}, {t.px(60), t.px(60)});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  TileGridLayout& l = view.layout;
  layout_tile_grid(data, o, area, measure_text, l);
  const Painter painter = Painter::window();
  TileGridEvents events;
  paint_legend(painter, area.min, area.width(), o.legend, l.placed_legend);
  if (l.rows == 0) {
    fit_text(painter, l.grid.min, "Nothing to show: the grid has no tiles.", area.width(), t.muted);
    return events;
  }
  for (std::size_t r = 0; r < l.rows; ++r)
    for (std::size_t c = 0; c < l.cols; ++c) {
      const Tile tile = data.tile(data.context, r * l.row_stride, c * l.col_stride);
      paint_tile(painter, l.tile(r, c), tile, tile.group > o.up_to_group, l.numbers);
    }
  Line titles;
  if (!o.row_title.empty()) titles.add(o.row_title).add(o.col_title.empty() ? " down" : " down, ");
  if (!o.col_title.empty()) titles.add(o.col_title).add(" across");
  painter.text({l.grid.min.x, l.grid.min.y - t.type(Type::small) - t.px(3)},
               fitting_title(titles.view(), area.max.x - l.grid.min.x), t.muted, Type::small);
  if (Record* record = painter.record()) record_tiles(*record, label, data);

  const auto mark = [&](std::int64_t row, std::int64_t col, ImU32 ink, float width) {
    if (row < 0 || col < 0 || static_cast<std::size_t>(row) >= data.rows || static_cast<std::size_t>(col) >= data.cols)
      return;
    const Rect r = l.tile(static_cast<std::size_t>(row) / l.row_stride, static_cast<std::size_t>(col) / l.col_stride);
    painter.frame({r.min.x - 1, r.min.y - 1}, r.max, ink, width);
  };
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (hovered && l.grid.contains(mouse)) {
    const auto row =
        std::min(static_cast<std::size_t>((mouse.y - l.grid.min.y) / l.tile_h) * l.row_stride, data.rows - 1);
    const auto col =
        std::min(static_cast<std::size_t>((mouse.x - l.grid.min.x) / l.tile_w) * l.col_stride, data.cols - 1);
    events = {static_cast<std::int64_t>(row), static_cast<std::int64_t>(col), clicked};
    tip_tile(data, o, row, col);
    mark(events.row, events.col, t.muted, t.px(1));
    if (clicked) {
      view.row = events.row;
      view.col = events.col;
    }
  }
  mark(view.row, view.col, t.text, t.px(2));
  return events;
}

}  // namespace widgets
