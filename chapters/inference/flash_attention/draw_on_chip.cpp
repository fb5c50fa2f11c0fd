#include <algorithm>
#include <cmath>

#include "chapters/inference/flash_attention/lab.h"
#include "widgets/number/number.h"

namespace chapters::inference::flash_attention {
namespace {

using models::inference::FlashRun;
using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

/// What one row of the tile shows.
struct RowBars {
  double before = 0, after = 0;     ///< running maximum, or log-sum-exp twice
  double old_sum = 0, new_sum = 0;  ///< running sum: what was there, turned, and what this tile adds
  double turn = 0;
};

RowBars bars_of(const Picture& picture, std::int64_t row, const WalkStep& at) {
  const FlashRun& run = *picture.run->numbers;
  const auto i = static_cast<std::size_t>(row), j = static_cast<std::size_t>(at.column);
  if (picture.backward) {
    const double d = run.weight_sum.empty() ? 0 : run.weight_sum[i];
    return {run.log_sum[i], run.log_sum[i], 0, std::abs(d), d};
  }
  RowBars out{.after = run.largest.at(i, j), .turn = run.turn(row, at.column)};
  out.before = at.column > 0 ? run.largest.at(i, j - 1) : out.after;
  out.old_sum = at.column > 0 ? run.sum.at(i, j - 1) * out.turn : 0;
  out.new_sum = std::max(0.0, run.sum.at(i, j) - out.old_sum);
  return out;
}

void paint_tile_scores(const Painter& p, const Picture& picture, const Rect& area, const WalkStep& at,
                       std::int64_t rows) {
  const auto& t = widgets::theme();
  const FlashRun& run = *picture.run->numbers;
  const std::int64_t first = at.row * run.setup.rows, left = at.column * run.setup.columns;
  const std::int64_t columns = std::min(run.setup.columns, run.setup.tokens - left);
  const float w = area.width() / static_cast<float>(columns), h = area.height() / static_cast<float>(rows);
  p.rect(area.min, area.max, t.panel);
  // Probabilities are shown over the largest of the tile.
  double most = 1e-300;
  for (std::int64_t i = 0; i < rows && picture.backward; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto row = static_cast<std::size_t>(first + i);
      most = std::max(most, std::exp(run.scores.at(row, static_cast<std::size_t>(left + j)) - run.log_sum[row]));
    }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      const auto row = static_cast<std::size_t>(first + i);
      const double score = run.scores.at(row, static_cast<std::size_t>(left + j));
      if (!std::isfinite(score)) continue;
      const double shown = picture.backward ? std::exp(score - run.log_sum[row]) / most
                                            : (score - picture.score_lo) / (picture.score_hi - picture.score_lo);
      const ImVec2 min{area.min.x + w * static_cast<float>(j), area.min.y + h * static_cast<float>(i)};
      const float gap = std::min(w, h) > t.px(5) ? 0.5f : 0;
      p.rect({min.x + gap, min.y + gap}, {min.x + w - gap, min.y + h - gap}, widgets::heat(t, std::min(1.0, shown)));
    }
}

void paint_heads(const Painter& p, const Picture& picture, const WalkPlaces& l) {
  const auto& t = widgets::theme();
  const auto head = [&](const Rect& column, std::string_view words, std::string_view shorter) {
    for (const std::string_view one : {words, shorter})
      if (widgets::text_size(one, Type::small).x <= column.width() + t.px(8)) {
        p.text({column.min.x, l.heads.min.y}, one, t.muted, Type::small);
        return;
      }
  };
  head(l.tile, picture.backward ? "exp(score − log-sum-exp)" : "scores", picture.backward ? "P" : "S");
  head(l.largest, picture.backward ? "log-sum-exp, kept" : "running maximum", picture.backward ? "kept" : "max");
  head(l.sum, picture.backward ? "D = dO · O" : "running sum", picture.backward ? "D" : "sum");
  const std::string_view last = picture.backward ? "" : "old part ×";
  if (!last.empty()) {
    const bool fits = widgets::text_size(last, Type::small).x <= l.turn.width() + t.px(12);
    p.text({l.turn.max.x, l.heads.min.y}, fits ? last : std::string_view("old ×"), t.muted, Type::small, Font::sans,
           Align::right);
  }
}

void paint_rows(const Painter& p, const Picture& picture, const WalkPlaces& l, const WalkStep& at, std::int64_t rows) {
  const auto& t = widgets::theme();
  const FlashRun& run = *picture.run->numbers;
  const float each = l.tile.height() / static_cast<float>(rows),
              bar = std::max(1.0f, std::min(t.px(12), each - t.px(2)));
  const float small = t.type(Type::small);
  const bool numbers = each >= 0.9f * small;
  const double lo = picture.backward ? picture.row_lo : std::min(0.0, picture.score_lo);
  const double hi = picture.backward ? picture.row_hi : picture.score_hi;
  const double most_sum = picture.backward ? picture.weight_most : picture.largest_sum;
  for (std::int64_t i = 0; i < rows; ++i) {
    const RowBars b = bars_of(picture, at.row * run.setup.rows + i, at);
    const float y = l.tile.min.y + each * static_cast<float>(i) + (each - bar) / 2;
    const auto x = [&](double value) {
      return l.largest.min.x + l.largest.width() * static_cast<float>(std::clamp((value - lo) / (hi - lo), 0.0, 1.0));
    };
    p.rect({l.largest.min.x, y}, {x(b.after), y + bar}, t.series_at(2), t.px(1.5f));
    if (!picture.backward && at.column > 0)
      p.rect({x(b.before) - t.px(1), y - t.px(1)}, {x(b.before) + t.px(1), y + bar + t.px(1)}, t.text);
    const auto s = [&](double value) {
      return l.sum.min.x + l.sum.width() * static_cast<float>(std::clamp(value / most_sum, 0.0, 1.0));
    };
    p.rect({l.sum.min.x, y}, {s(b.old_sum), y + bar}, t.series_at(1), t.px(1.5f));
    p.rect({s(b.old_sum), y}, {s(b.old_sum + b.new_sum), y + bar}, widgets::with_alpha(t.series_at(1), 0.45f),
           t.px(1.5f));
    if (!numbers || (!picture.backward && at.column == 0)) continue;
    const widgets::NumberText text = widgets::format(b.turn, "", 2);
    p.text({l.turn.max.x, y + (bar - small) / 2 - t.px(1)}, text.view(),
           !picture.backward && b.turn < 1 ? t.text : t.muted, Type::small, Font::mono, Align::right);
  }
}

/// What the block holds, part by part, under the rim of what it may have.
void paint_shared(const Painter& p, const Picture& picture, const Rect& at) {
  const auto& t = widgets::theme();
  if (at.height() <= 0) return;
  const float small = t.type(Type::small), full = at.width() - t.px(3);
  const double whole = std::max(picture.shared_limit_bytes, picture.shared_bytes);
  float x = at.min.x;
  p.rect(at.min, {at.min.x + full, at.max.y}, widgets::with_alpha(t.line, 0.3f), t.px(2));
  bool next = false;
  for (const SharedPart& part : picture.parts) {
    const float width = full * static_cast<float>(part.bytes / whole);
    const ImU32 hue = part.keys ? t.of(Meaning::kv_cache) : t.series_at(0);
    next = next || part.name.starts_with("next");
    const ImU32 fill = next ? widgets::with_alpha(hue, 0.4f) : hue;
    p.rect({x + t.px(0.5f), at.min.y}, {x + width - t.px(0.5f), at.max.y}, fill, t.px(2));
    if (widgets::text_size(part.name, Type::small).x + t.px(6) <= width)
      p.text({x + width / 2, (at.min.y + at.max.y - small) / 2 - t.px(1)}, part.name,
             next ? t.text : widgets::text_on(hue, t), Type::small, Font::sans, Align::center);
    x += width;
  }
  const float rim = at.min.x + full * static_cast<float>(picture.shared_limit_bytes / whole);
  p.rect({rim, at.min.y - t.px(3)}, {rim + t.px(2), at.max.y + t.px(3)}, t.text);
}

}  // namespace

void draw_on_chip(const Picture& picture, const WalkPlaces& l, const WalkStep& at) {
  const auto& t = widgets::theme();
  const auto p = Painter::window();
  const FlashRun& run = *picture.run->numbers;
  p.rect(l.chip.min, l.chip.max, t.card, t.px(6));
  p.frame(l.chip.min, l.chip.max, t.accent, t.px(1.5f), t.px(6));
  const std::int64_t rows = std::clamp<std::int64_t>(run.setup.tokens - at.row * run.setup.rows, 1, l.rows);
  widgets::Line title;
  title.add(picture.chip_title);
  if (rows < std::min(run.setup.rows, run.setup.tokens - at.row * run.setup.rows))
    title.add("; its first ").add_integer(rows).add(" rows");
  widgets::fit_text(p, l.title.min, title.view(), l.title.width(), t.text, Type::small, Font::bold);
  paint_heads(p, picture, l);
  paint_tile_scores(p, picture, l.tile, at, rows);
  paint_rows(p, picture, l, at, rows);
  if (l.words.height() > 0)
    widgets::fit_text(p, l.words.min, picture.chip_words, l.words.width(), t.muted, Type::small);
  if (l.formula.height() > 0)
    widgets::fit_text(p, l.formula.min, picture.chip_formula, l.formula.width(), t.text, Type::small, Font::mono);
  paint_shared(p, picture, l.vessel);
  if (l.vessel_words.height() > 0)
    widgets::fit_text(p, l.vessel_words.min, picture.shared_words, l.vessel_words.width(), t.muted, Type::small);
}

}  // namespace chapters::inference::flash_attention
