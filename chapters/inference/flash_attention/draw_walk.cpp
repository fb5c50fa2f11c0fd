#include <algorithm>
#include <cmath>

#include "chapters/inference/flash_attention/lab.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/charts/measured_strip.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::inference::flash_attention {
namespace {

using models::inference::FlashRun;
using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

constexpr std::size_t published_keys = 3;  // as many as make() names

ImU32 query_hue() { return widgets::theme().series_at(0); }
ImU32 result_hue() { return widgets::theme().series_at(1); }
ImU32 key_hue() { return widgets::theme().of(Meaning::kv_cache); }

std::size_t step_of(const Picture& picture, double walked) {
  if (!(walked > 0)) return picture.shown_step;
  const auto last = static_cast<double>(picture.steps.size()) - 1;
  return static_cast<std::size_t>(std::clamp(std::floor(walked * (last + 1)), 0.0, last));
}
double walked_at(const Picture& picture, std::size_t step) {
  return (static_cast<double>(step) + 0.5) / static_cast<double>(picture.steps.size());
}

/// Tiles of a strip along the rows or the columns; those in use are bright.
void paint_strip(const Painter& p, const Rect& at, bool down, std::int64_t tiles, double cells, double side, ImU32 hue,
                 std::int64_t in_use, std::int64_t done) {
  const auto& t = widgets::theme();
  for (std::int64_t i = 0; i < tiles; ++i) {
    const float from = static_cast<float>(std::min(1.0, static_cast<double>(i) * side / cells)),
                to = static_cast<float>(std::min(1.0, static_cast<double>(i + 1) * side / cells));
    Rect cell = at;
    const float inset = tiles > 24 ? 0 : t.px(1);
    if (down) {
      cell.min.y = at.min.y + at.height() * from + inset;
      cell.max.y = at.min.y + at.height() * to - inset;
    } else {
      cell.min.x = at.min.x + at.width() * from + inset;
      cell.max.x = at.min.x + at.width() * to - inset;
    }
    const float alpha = i == in_use ? 1.0f : i < done ? 0.85f : 0.35f;
    p.rect(cell.min, cell.max, widgets::with_alpha(hue, alpha), t.px(1.5f));
  }
}

void paint_scores(const Painter& p, const Picture& picture, const Rect& place, std::int64_t row, std::int64_t column,
                  std::int64_t rows, std::int64_t columns, bool current) {
  const auto& t = widgets::theme();
  const FlashRun& run = *picture.run->numbers;
  const float alpha = current ? 1.0f : 0.28f;
  const std::int64_t n = run.setup.tokens;
  const std::int64_t shown_rows = std::min(rows, n - row), shown_columns = std::min(columns, n - column);
  if (shown_rows < 1 || shown_columns < 1) return;
  // A frame has time for a few thousand cells: of what is done, every second in each direction stands for four.
  const std::int64_t stride = current && shown_rows * shown_columns <= 2048 ? 1 : 2;
  const float w = place.width() / static_cast<float>(shown_columns),
              h = place.height() / static_cast<float>(shown_rows);
  for (std::int64_t i = 0; i < shown_rows; i += stride)
    for (std::int64_t j = 0; j < shown_columns; j += stride) {
      const double score = run.scores.at(static_cast<std::size_t>(row + i), static_cast<std::size_t>(column + j));
      if (!std::isfinite(score)) continue;
      const double at = (score - picture.score_lo) / (picture.score_hi - picture.score_lo);
      const ImVec2 min{place.min.x + w * static_cast<float>(j), place.min.y + h * static_cast<float>(i)};
      const float sides = static_cast<float>(stride);
      p.rect(min, {std::min(place.max.x, min.x + sides * w), std::min(place.max.y, min.y + sides * h)},
             widgets::with_alpha(widgets::heat(t, at), alpha));
    }
}

/// The grid of tiles: done ones pale, those to come empty, skipped ones hatched.
void paint_square(const Painter& p, const Picture& picture, const Rect& square, std::size_t now) {
  const auto& t = widgets::theme();
  const FlashRun& run = *picture.run->numbers;
  const auto cells = static_cast<double>(run.setup.tokens);
  p.rect(square.min, square.max, t.panel);
  for (std::int64_t i = 0; i < run.row_tiles; ++i)
    for (std::int64_t j = 0; j < run.column_tiles; ++j) {
      const std::int32_t step = picture.step_at[static_cast<std::size_t>(i * run.column_tiles + j)];
      const WalkStep at{static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)};
      const Rect place =
          tile_place(square, cells, at, static_cast<double>(run.setup.rows), static_cast<double>(run.setup.columns));
      if (step < 0) {  // and all that follow in this row
        const Rect skipped{place.min, {square.max.x, place.max.y}};
        widgets::hatch(p, skipped, widgets::with_alpha(t.muted, 0.35f), t.px(7));
        break;
      }
      if (static_cast<std::size_t>(step) <= now)
        paint_scores(p, picture, place, i * run.setup.rows, j * run.setup.columns, run.setup.rows, run.setup.columns,
                     static_cast<std::size_t>(step) == now);
    }
}

void paint_grid(const Painter& p, const FlashRun& run, const Rect& square) {
  const auto& t = widgets::theme();
  const auto cells = static_cast<double>(run.setup.tokens);
  const auto line_at = [&](std::int64_t i, std::int64_t side) {
    return static_cast<float>(std::min(1.0, static_cast<double>(i * side) / cells));
  };
  for (std::int64_t i = 0; i <= run.row_tiles; ++i) {
    const float y = square.min.y + square.height() * line_at(i, run.setup.rows);
    p.line({square.min.x, y}, {square.max.x, y}, t.line);
  }
  for (std::int64_t j = 0; j <= run.column_tiles; ++j) {
    const float x = square.min.x + square.width() * line_at(j, run.setup.columns);
    p.line({x, square.min.y}, {x, square.max.y}, t.line);
  }
}

void paint_strips(const Painter& p, const Picture& picture, const WalkPlaces& l, const WalkStep* at) {
  const auto& t = widgets::theme();
  const FlashRun& run = *picture.run->numbers;
  const auto cells = static_cast<double>(run.setup.tokens), rows = static_cast<double>(run.setup.rows),
             columns = static_cast<double>(run.setup.columns);
  const std::int64_t row = at ? at->row : -1, column = at ? at->column : -1;
  paint_strip(p, l.queries, true, run.row_tiles, cells, rows, query_hue(), row, 0);
  paint_strip(p, l.keys, false, run.column_tiles, cells, columns, key_hue(), column, 0);
  paint_strip(p, l.values, false, run.column_tiles, cells, columns, key_hue(), column, 0);
  // A row's result is whole where all its tiles are done.
  paint_strip(p, l.results, true, run.row_tiles, cells, rows, result_hue(), row,
              at && !picture.columns_first ? row : 0);
  const float small = t.type(Type::small);
  const auto beside = [&](const Rect& strip, std::string_view letter) {
    p.text({strip.min.x - t.px(5), (strip.min.y + strip.max.y - small) / 2 - t.px(1)}, letter, t.text, Type::small,
           Font::bold, Align::right);
  };
  beside(l.queries, "Q");
  beside(l.keys, "K");
  beside(l.values, "V");
  p.text({l.results.max.x + t.px(5), (l.results.min.y + l.results.max.y - small) / 2 - t.px(1)},
         picture.backward ? "dQ" : "O", t.text, Type::small, Font::bold);
}

void paint_bar(const Painter& p, const Rect& at, double share, ImU32 hue, std::string_view value,
               std::string_view output) {
  const auto& t = widgets::theme();
  const float room = widgets::text_size("9,999.9 TFLOP", Type::small, Font::mono).x;
  const float full = std::max(1.0f, at.width() - room - t.px(6));
  if (widgets::output_lit(output)) widgets::paint_light(p, at.min, at.max);
  p.rect(at.min, {at.min.x + full, at.max.y}, widgets::with_alpha(t.line, 0.35f), t.px(2));
  p.rect(at.min, {at.min.x + std::max(t.px(1.5f), full * static_cast<float>(share)), at.max.y}, hue, t.px(2));
  p.text({at.max.x, (at.min.y + at.max.y - t.type(Type::small)) / 2 - t.px(1)}, value, t.text, Type::small, Font::mono,
         Align::right);
}

/// Square above, tiles below, on one scale.
void paint_odometer(const Painter& p, const Odometer& o, const Rect& at, bool given) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), names = widgets::text_size("square", Type::small).x + t.px(8);
  const float head = 1.35f * small, each = (at.height() - head) / 2, bar = std::max(t.px(4), each - t.px(5));
  const float title = p.text(at.min, o.title, t.muted, Type::small);
  if (!given && at.width() - title - widgets::text_size(o.gain, Type::small, Font::bold).x >= t.px(10))
    p.text({at.max.x, at.min.y}, o.gain, o.better ? t.good : t.bad, Type::small, Font::bold, Align::right);
  const double most = std::max({o.square, o.tiles, 1e-300});
  for (int i = 0; i < 2; ++i) {
    const float y = at.min.y + head + static_cast<float>(i) * each;
    const Rect place{{at.min.x + names, y}, {at.max.x, y + bar}};
    p.text({at.min.x, y + (bar - small) / 2 - t.px(1)}, i == 0 ? "square" : "tiles", t.text, Type::small,
           i == 0 ? Font::sans : Font::bold);
    if (given)
      p.frame(place.min, place.max, t.grid, t.px(1), t.px(2));
    else if (i == 0)
      paint_bar(p, place, o.square / most, t.muted, o.square_text, o.square_output);
    else
      paint_bar(p, place, o.tiles / most, t.accent, o.tiles_text, o.output);
  }
}

/// Play, and what the hand can do.
void draw_hint(const Picture& picture, View& view, const Rect& at) {
  const auto& t = widgets::theme();
  if (at.height() <= 0) return;
  const ImVec2 button = widgets::button_size("Pause##walk");
  ImGui::SetCursorScreenPos(at.min);
  if (widgets::button(view.playback.playing ? "Pause##walk" : "Play##walk", false, button))
    widgets::start_or_stop(view.playback, 1);
  const auto p = Painter::window();
  const float x = at.min.x + button.x + t.px(10), y = at.min.y + (button.y - t.type(Type::small)) / 2;
  widgets::Line whole;
  whole.add(picture.drawn_words).add("; drag the tile to walk, its corner to resize it");
  const float room = at.max.x - x;
  for (const std::string_view words : {whole.view(), std::string_view(picture.drawn_words)})
    if (widgets::text_size(words, Type::small).x <= room) {
      p.text({x, y}, words, t.muted, Type::small);
      return;
    }
}

/// The corner of the tile, which sets its sides.
void drag_corner(Inputs& in, const Picture& picture, View& view, ImVec2 corner) {
  const auto& t = widgets::theme();
  const float reach = t.px(9);
  ImGui::SetCursorScreenPos({corner.x - reach, corner.y - reach});
  widgets::press_area("corner of the tile", {2 * reach, 2 * reach});
  if (ImGui::IsItemActivated()) {
    view.held_rows = in.block_rows;
    view.held_columns = in.block_columns;
  }
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNWSE);
  if (!ImGui::IsItemActive()) return;
  const ImVec2 moved = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
  const double tokens = picture.run->drawn_tokens / static_cast<double>(std::max(1.0f, view.places.square.width()));
  const auto side = [&](std::int64_t held, float by) {
    const double tiles = (static_cast<double>(held) + static_cast<double>(by) * tokens) / 16;
    return std::clamp<std::int64_t>(16 * std::llround(tiles), 16, 256);
  };
  in.block_rows = side(view.held_rows, moved.y);
  in.block_columns = side(view.held_columns, moved.x);
}

/// A press or a drag on the square walks to the tile under the pointer.
void drag_walk(const Picture& picture, View& view, const Rect& square) {
  ImGui::SetCursorScreenPos(square.min);
  ImGui::SetNextItemAllowOverlap();
  widgets::press_area("walk", {square.width(), square.height()});
  const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  const widgets::PlayKeys keys = widgets::play_keys();
  if (keys.play) widgets::start_or_stop(view.playback, 1);
  if (keys.steps != 0) {
    const auto step = static_cast<std::int64_t>(step_of(picture, view.playback.time_s)) + keys.steps;
    const auto last = static_cast<std::int64_t>(picture.steps.size()) - 1;
    view.playback.time_s = walked_at(picture, static_cast<std::size_t>(std::clamp<std::int64_t>(step, 0, last)));
  }
  if (!active && !hovered) return;
  const FlashRun& run = *picture.run->numbers;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto cells = static_cast<double>(run.setup.tokens);
  const auto tile = [&](float share, std::int64_t side, std::int64_t tiles) {
    return std::clamp<std::int64_t>(
        static_cast<std::int64_t>(static_cast<double>(share) * cells / static_cast<double>(side)), 0, tiles - 1);
  };
  const std::int64_t row = tile((mouse.y - square.min.y) / square.height(), run.setup.rows, run.row_tiles);
  const std::int64_t column = tile((mouse.x - square.min.x) / square.width(), run.setup.columns, run.column_tiles);
  if (active) {
    const std::int64_t reached = std::min(column, run.visited(row) - 1);
    const std::int32_t step = picture.step_at[static_cast<std::size_t>(row * run.column_tiles + reached)];
    if (step >= 0) {
      view.playback.time_s = walked_at(picture, static_cast<std::size_t>(step));
      view.playback.playing = false;
    }
    return;
  }
  widgets::Line name;
  name.add("tile ").add_integer(row + 1).add(" down, ").add_integer(column + 1).add(" across");
  const bool skipped = column >= run.visited(row);
  widgets::tip(name.view(), skipped ? "skipped: every key comes later than every query"
                                    : "computed, used and gone: never in main memory");
}

/// From the tile to the block that holds it; the square is painted over it.
void paint_beam(const Painter& p, const WalkPlaces& l, const Rect& tile) {
  if (l.chip.width() <= 0) return;
  const ImVec2 beam[] = {{tile.max.x, tile.min.y}, l.chip.min, {l.chip.min.x, l.chip.max.y}, tile.max};
  p.polygon(beam, widgets::with_alpha(widgets::theme().accent, 0.1f));
}

void paint_plate(const Painter& p, std::string_view words, const Rect& room) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), width = widgets::text_size(words, Type::small).x;
  if (width + t.px(16) > room.width() || 2.2f * small > room.height()) return;
  const ImVec2 at{(room.min.x + room.max.x - width) / 2, (room.min.y + room.max.y - small) / 2};
  p.rect({at.x - t.px(6), at.y - t.px(3)}, {at.x + width + t.px(6), at.y + small + t.px(4)},
         widgets::with_alpha(t.card, 0.92f), t.px(4));
  p.text(at, words, t.text, Type::small);
}

void paint_tile(const Painter& p, const Picture& picture, const WalkPlaces& l, const Rect& tile) {
  const auto& t = widgets::theme();
  p.frame(tile.min, tile.max, IM_COL32_WHITE, t.px(4), t.px(2));
  p.frame(tile.min, tile.max, t.accent, t.px(2.5f), t.px(2));
  p.circle(tile.max, t.px(5.5f), IM_COL32_WHITE);
  p.circle(tile.max, t.px(4), t.accent);
  const bool skips = picture.run->numbers->setup.causal;
  const Rect& square = l.square;
  if (!picture.columns_first) {
    const float reach = skips ? square.min.x + (tile.min.y - square.min.y) : square.max.x;
    paint_plate(p, "computed, used, gone: never in main memory", {square.min, {reach, tile.min.y}});
    paint_plate(p, "not yet computed", {{square.min.x, tile.max.y}, square.max});
  } else {
    const float lower = square.min.y + (skips ? square.height() / 2 : 0);
    paint_plate(p, "gone: never in main memory", {{square.min.x, lower}, {tile.min.x, square.max.y}});
    paint_plate(p, "not yet", {{tile.max.x, square.min.y + (skips ? square.height() * 0.75f : 0)}, square.max});
  }
  if (!skips) return;
  const ImVec2 corner{square.min.x + 0.5f * square.width(), square.min.y + 0.3f * square.height()};
  paint_plate(p, "skipped", {{corner.x, square.min.y}, {square.max.x, corner.y}});
}

/// Under a veil: where the block and what it holds will stand, without a length.
void paint_given_block(const Painter& p, const WalkPlaces& l) {
  const auto& t = widgets::theme();
  if (l.chip.width() <= 0) return;
  p.frame(l.chip.min, l.chip.max, t.grid, t.px(1.5f), t.px(6));
  if (l.vessel.height() <= 0) return;
  p.frame(l.vessel.min, l.vessel.max, t.grid, t.px(1), t.px(2));
  p.rect({l.vessel.max.x - t.px(2), l.vessel.min.y - t.px(3)}, {l.vessel.max.x, l.vessel.max.y + t.px(3)}, t.muted);
  if (l.vessel_words.height() > 0)
    widgets::fit_text(p, l.vessel_words.min, "shared memory, and the rim of what a block may have",
                      l.vessel_words.width(), t.muted, Type::small);
}

}  // namespace

void draw_walk(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  if (picture.steps.empty() || size.x < 1 || size.y < 1) return;
  const auto p = Painter::window();
  const FlashRun& run = *picture.run->numbers;
  // Only a measurement of this chip, pass and schedule stands here; its name says the rest of its shape.
  const bool same = !picture.published.agreement.empty() && picture.published.agreement.front() == published_keys;
  const float measured = same && !widgets::veiled() ? widgets::measured_line_height() : 0;
  const bool line = measured > 0 && size.y - measured >= t.px(430);
  const Rect area{origin, {origin.x + size.x, origin.y + size.y - (line ? measured : 0)}};
  layout_walk(area, t.scale, 1.3f * t.type(Type::small), run.setup.rows, view.places);
  const WalkPlaces& l = view.places;
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    paint_strips(p, picture, l, nullptr);
    paint_grid(p, run, l.square);
    paint_given_block(p, l);
    widgets::fit_text(p, l.hint.min, picture.drawn_words, l.hint.width(), t.muted, Type::small);
    for (std::size_t i = 0; i < l.odometers.size(); ++i) paint_odometer(p, picture.odometers[i], l.odometers[i], true);
    return;
  }
  widgets::advance(view.playback, 1, static_cast<double>(ImGui::GetIO().DeltaTime));
  drag_walk(picture, view, l.square);
  const std::size_t now = step_of(picture, view.playback.time_s);
  const WalkStep at = picture.steps[now];
  const Rect tile = tile_place(l.square, static_cast<double>(run.setup.tokens), at, static_cast<double>(run.setup.rows),
                               static_cast<double>(run.setup.columns));
  drag_corner(in, picture, view, tile.max);
  paint_beam(p, l, tile);
  paint_square(p, picture, l.square, now);
  paint_grid(p, run, l.square);
  paint_strips(p, picture, l, &at);
  paint_tile(p, picture, l, tile);
  widgets::drew("square");
  if (l.chip.width() > 0) draw_on_chip(picture, l, at);
  draw_hint(picture, view, l.hint);
  for (std::size_t i = 0; i < l.odometers.size(); ++i) paint_odometer(p, picture.odometers[i], l.odometers[i], false);
  widgets::drew("odometers");
  if (l.note.width() > 0) widgets::fit_text(p, l.note.min, picture.bytes_words, l.note.width(), t.muted, Type::small);
  if (line) {
    ImGui::SetCursorScreenPos({origin.x, area.max.y});
    published_line("measured: ", picture.published, size, 0);
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);
}

}  // namespace chapters::inference::flash_attention
