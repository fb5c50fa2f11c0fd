#include <algorithm>
#include <cmath>

#include "chapters/serving/paged_kv/draw_parts.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"

/// The two pools: what holds a token, what is kept for one, and what is free.
namespace chapters::serving::paged_kv {
namespace {

using models::PoolFrame, models::PoolSequence;
using widgets::Font, widgets::Line, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

/// Paints the slots from `from` to `to`, over as many rows as they take.
template <class Paint>
void over_rows(const PoolGrid& grid, std::int64_t from, std::int64_t to, Paint&& paint) {
  for (std::int64_t at = from; at < to;) {
    const std::int64_t end = std::min(to, (at / grid.row_slots() + 1) * grid.row_slots());
    paint(grid.span(at, end));
    at = end;
  }
}

/// The lines between cells, so that both pools are seen to have the same slots.
void paint_grid(const Painter& p, const PoolGrid& grid, ImU32 colour) {
  if (grid.gap() <= 0) return;
  for (std::int64_t c = 1; c < grid.columns; ++c) {
    const float x = grid.area.min.x + grid.pitch_x() * static_cast<float>(c);
    p.line({x, grid.area.min.y}, {x, grid.area.max.y}, colour);
  }
  for (std::int64_t r = 1; r < grid.rows; ++r) {
    const float y = grid.area.min.y + grid.pitch_y() * static_cast<float>(r);
    p.line({grid.area.min.x, y}, {grid.area.max.x, y}, colour);
  }
}

/// One part of the bar that names what the slots do.
struct Slice {
  double slots = 0;
  std::string_view words;
  ImU32 fill = 0;
  bool hatched = false;
};
void paint_bar(const Painter& p, Rect bar, std::initializer_list<Slice> slices, double all) {
  const auto& t = theme();
  if (bar.height() < t.px(8) || !(all > 0)) return;
  float x = bar.min.x;
  for (const Slice& s : slices) {
    const float w = bar.width() * static_cast<float>(s.slots / all);
    if (w < 0.5f) continue;
    const Rect r{{x, bar.min.y}, {std::min(bar.max.x, x + w), bar.max.y}};
    x += w;
    p.rect(r.min, {std::max(r.min.x + 1, r.max.x - 1), r.max.y}, s.fill, t.px(2));
    if (s.hatched) widgets::hatch(p, r, widgets::with_alpha(t.muted, 0.35f), t.px(6));
    Line words;
    words.add(s.words).add(" ").add(widgets::format(100 * s.slots / all, "%"));
    const ImVec2 need = widgets::text_size(words.view(), Type::small);
    if (need.x + t.px(8) > r.width()) continue;
    const ImVec2 at{r.min.x + t.px(6), (r.min.y + r.max.y - need.y) / 2};
    if (s.hatched) p.rect({at.x - t.px(3), r.min.y}, {at.x + need.x + t.px(3), r.max.y}, t.card);
    p.text(at, words.view(), s.fill == t.of(Meaning::kv_cache) ? widgets::text_on(s.fill, t) : t.text, Type::small);
  }
}

std::size_t requests_in(const PoolFrame& frame) {
  std::size_t n = 0;
  std::int32_t last = -1;
  for (const PoolSequence& one : frame.sequences) {
    n += one.request != last;
    last = one.request;
  }
  return n;
}

void paint_block(const Painter& p, const PoolGrid& grid, const PoolSequence& one, std::int64_t i, std::int32_t block,
                 std::int64_t block_tokens, ImU32 colour) {
  const Rect cell = grid.span(block * block_tokens, (block + 1) * block_tokens);
  const float gap = grid.gap();
  const std::int64_t filled = std::min(block_tokens, one.tokens - i * block_tokens);
  const ImVec2 to{cell.max.x - gap, cell.max.y - gap};
  if (filled < block_tokens) p.rect(cell.min, to, widgets::with_alpha(colour, 0.3f));
  const float top = to.y - (to.y - cell.min.y) * static_cast<float>(filled) / static_cast<float>(block_tokens);
  p.rect({cell.min.x, top}, to, colour);
}

void paint_cells(const Painter& p, const PoolGrid& grid, const Moment& moment) {
  const auto& t = theme();
  const auto n = static_cast<std::int64_t>(moment.cells.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint8_t full = moment.cells[static_cast<std::size_t>(i)];
    if (full == 0) continue;
    const Rect cell = grid.span(i * grid.cell_slots, (i + 1) * grid.cell_slots);
    p.rect(cell.min, {cell.max.x - grid.gap(), cell.max.y - grid.gap()},
           widgets::with_alpha(t.of(Meaning::kv_cache), static_cast<float>(full) / 255));
  }
}

}  // namespace

Rect PoolGrid::span(std::int64_t from, std::int64_t to) const {
  const std::int64_t row = from / row_slots(), x0 = from % row_slots(), x1 = x0 + (to - from);
  const float per_slot = area.width() / static_cast<float>(row_slots()),
              y = area.min.y + pitch_y() * static_cast<float>(row);
  return {{area.min.x + per_slot * static_cast<float>(x0), y},
          {std::min(area.max.x, area.min.x + per_slot * static_cast<float>(x1)), y + pitch_y()}};
}

ImVec2 PoolGrid::centre(std::int64_t slot) const {
  const Rect r = span(slot / cell_slots * cell_slots, slot / cell_slots * cell_slots + cell_slots);
  return {(r.min.x + r.max.x) / 2, (r.min.y + r.max.y) / 2};
}

std::int64_t PoolGrid::slot_at(ImVec2 point) const {
  if (!area.contains(point)) return -1;
  const auto row = static_cast<std::int64_t>((point.y - area.min.y) / pitch_y());
  const auto x = static_cast<std::int64_t>((point.x - area.min.x) / area.width() * static_cast<float>(row_slots()));
  const std::int64_t slot = std::min(row, rows - 1) * row_slots() + std::min(x, row_slots() - 1);
  return slot < slots ? slot : -1;
}

PoolGrid pool_grid(Rect area, std::int64_t slots, std::int64_t cell_slots, std::int64_t run_slots) {
  PoolGrid out{area, slots, cell_slots};
  const auto cells = static_cast<double>((slots + cell_slots - 1) / cell_slots);
  const double ratio = static_cast<double>(std::max(1.0f, area.width()) / std::max(1.0f, area.height()));
  const double ideal = std::max(1.0, std::sqrt(cells * ratio));
  std::int64_t best = std::max<std::int64_t>(1, std::llround(ideal));
  const std::int64_t run = run_slots / cell_slots;
  double gap = 0.3;
  for (auto c = static_cast<std::int64_t>(0.75 * ideal); run > 1 && c <= static_cast<std::int64_t>(1.35 * ideal); ++c) {
    if (c < 1 || run_slots % cell_slots != 0 || (run % c != 0 && c % run != 0)) continue;
    const double off = std::abs(std::log(static_cast<double>(c) / ideal));
    if (off > gap) continue;
    gap = off;
    best = c;
  }
  out.columns = best;
  out.rows = (static_cast<std::int64_t>(cells) + best - 1) / best;
  return out;
}

std::size_t frame_at(const Picture& picture, double at_s) {
  const auto& frames = picture.run->paged.frames;
  const double us = std::round(1e6 * at_s);
  const auto after = std::upper_bound(frames.begin(), frames.end(), us, [](double at, const PoolFrame& f) {
    return at < static_cast<double>(f.time_us);
  });
  return after == frames.begin() ? 0 : static_cast<std::size_t>(after - frames.begin()) - 1;
}

double moment_of(const Picture& picture, const View& view) {
  return view.at_s < 0 ? picture.first_s : std::min(view.at_s, picture.shown_s);
}

std::int32_t followed_at(const Picture& picture, const View& view, std::size_t frame) {
  const auto wanted = static_cast<std::int32_t>(view.followed - 1);
  for (const PoolSequence& one : picture.run->paged.frames[frame].sequences)
    if (one.request == wanted) return wanted;
  return frame < picture.moments.size() ? picture.moments[frame].follow : -1;
}

ImU32 age_colour(std::size_t i, std::size_t n) {
  const auto& t = theme();
  const float age = n > 1 ? 1 - static_cast<float>(i) / static_cast<float>(n - 1) : 1;
  return widgets::with_alpha(t.of(Meaning::kv_cache), 0.5f + 0.5f * age);
}

void paint_empty_pool(const Painter& p, const PoolGrid& grid, ImU32 rim) {
  const auto& t = theme();
  p.rect(grid.area.min, grid.area.max, widgets::with_alpha(t.card, 0.9f));
  // Behind the last slot there is no pool.
  const std::int64_t last = grid.slots % grid.row_slots();
  paint_grid(p, grid, t.panel);
  if (last > 0) {
    const Rect r = grid.span(grid.slots / grid.row_slots() * grid.row_slots(), grid.slots);
    p.rect({r.max.x, r.min.y}, grid.area.max, t.panel);
  }
  p.frame({grid.area.min.x - 2, grid.area.min.y - 2}, {grid.area.max.x + 2, grid.area.max.y + 2}, rim,
          theme().px(1.2f));
}

void paint_reserved(const Painter& p, const HeroParts& parts, const PoolFrame& frame, std::int32_t followed) {
  const auto& t = theme();
  const PoolGrid& grid = parts.reserved;
  paint_empty_pool(p, grid, t.line);
  const std::size_t n = requests_in(frame);
  std::size_t age = 0;
  std::int32_t last = frame.sequences.empty() ? -1 : frame.sequences.front().request;
  for (const PoolSequence& one : frame.sequences) {
    age += one.request != last;
    last = one.request;
    const ImU32 hue = age_colour(age, n);
    const std::int64_t from = one.first;
    over_rows(grid, from, from + one.tokens, [&](Rect r) { p.rect(r.min, r.max, hue); });
    over_rows(grid, from + one.tokens, from + one.final_tokens,
              [&](Rect r) { p.rect(r.min, r.max, widgets::with_alpha(hue, 0.3f)); });
    over_rows(grid, from + one.final_tokens, from + one.count, [&](Rect r) {
      p.rect(r.min, r.max, widgets::with_alpha(t.muted, 0.12f));
      widgets::hatch(p, r, widgets::with_alpha(t.muted, 0.3f), t.px(6));
    });
  }
  paint_grid(p, grid, t.panel);
  // The edges of each reservation, over the lines of the cells.
  for (const PoolSequence& one : frame.sequences) {
    const Rect first = grid.span(one.first, one.first + 1);
    p.line({first.min.x, first.min.y + 1}, {first.min.x, first.max.y - 1}, t.text,
           t.px(one.request == followed ? 3 : 1.5f));
    if (one.request != followed) continue;
    over_rows(grid, one.first, one.first + one.count, [&](Rect r) { p.frame(r.min, r.max, t.text, t.px(1.5f)); });
  }
  paint_bar(p, parts.reserved_bar,
            {{frame.used, "tokens", t.of(Meaning::kv_cache)},
             {frame.later, "filled later", widgets::with_alpha(t.of(Meaning::kv_cache), 0.35f)},
             {frame.never, "never filled", widgets::with_alpha(t.muted, 0.12f), true},
             {frame.stranded, "too short", t.card},
             {frame.spare, "free", t.card}},
            static_cast<double>(grid.slots));
  widgets::drew("reserved pool");
}

void paint_paged(const Painter& p, const HeroParts& parts, const Inputs& in, const PoolFrame& frame,
                 const Moment& moment, std::int32_t followed) {
  const auto& t = theme();
  const PoolGrid& grid = parts.paged;
  paint_empty_pool(p, grid, t.line);
  if (!moment.cells.empty()) {
    paint_cells(p, grid, moment);
  } else {
    const std::size_t n = requests_in(frame);
    std::size_t age = 0;
    std::int32_t last = frame.sequences.empty() ? -1 : frame.sequences.front().request;
    for (const PoolSequence& one : frame.sequences) {
      age += one.request != last;
      last = one.request;
      const ImU32 hue = one.stalled ? t.bad : age_colour(age, n);
      for (std::int64_t i = 0; i < one.count; ++i)
        paint_block(p, grid, one, i, frame.blocks[static_cast<std::size_t>(one.first + i)], in.block_tokens, hue);
    }
    for (const PoolSequence& one : frame.sequences) {
      if (one.request != followed) continue;
      for (std::int64_t i = 0; i < one.count; ++i) {
        const std::int64_t block = frame.blocks[static_cast<std::size_t>(one.first + i)];
        const Rect cell = grid.span(block * in.block_tokens, (block + 1) * in.block_tokens);
        p.frame({cell.min.x - 1, cell.min.y - 1}, {cell.max.x, cell.max.y}, t.text, t.px(1.5f));
      }
    }
  }
  paint_bar(p, parts.paged_bar,
            {{frame.used, "tokens", t.of(Meaning::kv_cache)},
             {frame.never, "unfilled ends", widgets::with_alpha(t.muted, 0.12f), true},
             {frame.stranded, "free", t.card},
             {frame.spare, "free", t.card}},
            static_cast<double>(grid.slots));
  widgets::drew("paged pool");
}

}  // namespace chapters::serving::paged_kv
