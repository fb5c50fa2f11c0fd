#include <algorithm>
#include <cmath>

#include "chapters/inference/attention_patterns/lab.h"
#include "widgets/number/number.h"

namespace chapters::inference::attention_patterns {
namespace {

using widgets::format_text;

constexpr std::int32_t max_cone_rows = 64;
/// Influence below this part of a row's largest is the palest shade.
constexpr double faint = 1e-6;

std::string count_text(double n) { return format_text(n, ""); }

/// A run of equal levels along a row of cells; -1 leaves a cell out.
template <class Level>
void add_runs(std::int32_t row, std::int32_t cells, Level&& level_of, std::vector<Shade>& out) {
  for (std::int32_t c = 0; c < cells;) {
    const std::int32_t level = level_of(c);
    std::int32_t end = c + 1;
    while (end < cells && level_of(end) == level) ++end;
    if (level >= 0) out.push_back({row, c, end, level});
    c = end;
  }
}

std::int32_t level_at(double share) {
  return static_cast<std::int32_t>(std::clamp(std::floor(share * shade_levels), 0.0, shade_levels - 1.0));
}

/// Which rows of many are drawn: at most so many, the first and the last among them.
std::size_t layer_of_row(std::int32_t row, std::int32_t rows, std::size_t layers) {
  if (rows <= 1) return layers;
  return 1 + static_cast<std::size_t>(row) * (layers - 1) / static_cast<std::size_t>(rows - 1);
}

void arrange_cone(const Inputs& in, const Run& run, Picture& p) {
  const auto& bins = run.cone->influence.bins;
  const auto& reach = run.cone->reach;
  const std::size_t layers = reach.size() - 1;
  p.layers = static_cast<std::int64_t>(layers);
  for (const std::int64_t step : {4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 1024, 4096})
    if (step >= p.layers) {
      p.axis_layers = step;
      break;
    }
  const auto n = static_cast<double>(in.sequence);
  // Random blocks have no edge: what they bring lies anywhere.
  if (in.pattern != Pattern::block || in.blocks_random == 0)
    for (const auto& row : reach) p.edge.push_back(static_cast<float>(row.edge_tokens / n));
  if (bins.empty()) return;
  p.cone_columns = static_cast<std::int32_t>(bins.front().size());
  p.cone_rows = static_cast<std::int32_t>(std::min<std::size_t>(layers, max_cone_rows));
  for (std::int32_t row = 0; row < p.cone_rows; ++row) {
    const std::size_t l = layer_of_row(row, p.cone_rows, layers);
    const auto& of = bins[l];
    const double most = *std::max_element(of.begin(), of.end());
    const double edge = n - reach[l].edge_tokens;
    add_runs(
        row, p.cone_columns,
        [&](std::int32_t c) {
          const double value = of[static_cast<std::size_t>(c)];
          const bool in_edge = (c + 1) * n / p.cone_columns > edge;
          if (!in_edge && !(value > 1e-12 * most)) return -1;
          return level_at(1 - std::log(std::max(value / most, faint)) / std::log(faint) - 1e-9);
        },
        p.cone);
  }
}

void arrange_grid(const MaskGrid& g, std::vector<Shade>& out) {
  for (std::int64_t r = 0; r < g.cells; ++r)
    add_runs(
        static_cast<std::int32_t>(r), static_cast<std::int32_t>(r + 1),
        [&](std::int32_t c) {
          const double d = g.density[static_cast<std::size_t>(r * g.cells + c)];
          // The diagonal's cells are half empty in every mask.
          return d < 0 ? -1 : level_at(std::sqrt(std::min(1.0, (c == r ? 2 : 1) * d)) - 1e-9);
        },
        out);
}

Card card_of(const PatternRow& row, const MaskGrid& grid, std::size_t i) {
  Card c;
  // One word each: a card is narrow.
  c.name = i + 1 == pattern_choice_count ? "the model's" : std::string(row.name.substr(0, row.name.find(' ')));
  std::transform(c.name.begin(), c.name.begin() + 1, c.name.begin(),
                 [](char x) { return static_cast<char>(std::tolower(x)); });
  c.work = format_text(row.work_share, "%") + " work";
  c.kept = count_text(row.kept_tokens) + " kept";
  c.depth = std::isfinite(row.layers_to_all)
                ? "all in " + count_text(row.layers_to_all) + (row.layers_to_all == 1 ? " layer" : " layers")
                : "never all";
  arrange_grid(grid, c.shades);
  c.cells = static_cast<std::int32_t>(grid.cells);
  c.yours = row.yours;
  return c;
}

void arrange_mask(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  arrange_grid(run.mask, p.mask);
  p.mask_cells = static_cast<std::int32_t>(run.mask.cells);
  const double tiles = static_cast<double>(run.mask.side / in.tile);
  p.mask_title = "One layer's mask: rows ask, columns are seen";
  p.mask_words = "A cell is " + count_text(static_cast<double>(run.mask.side)) + " queries by as many keys" +
                 (tiles > 1 ? ", " + count_text(tiles) + " by " + count_text(tiles) + " tiles of a kernel" : "") +
                 ". Paler: fewer pairs in it.";
  p.tile_words = "In all layers a kernel with tiles of " + count_text(static_cast<double>(in.tile)) + " computes " +
                 format_text(out.tile_share, "%") + " of the causal tiles; " + format_text(out.tile_fill, "%") +
                 " of what it computes is wanted.";
}

void arrange_price(const Inputs& in, const Outputs& out, Picture& p) {
  const auto chip = find_chip(in.chip);
  const auto model = find_model(in.model);
  // Times share their scale, so that one sees whether attention is what takes it.
  const double longest = std::max({out.causal.prefill_s, out.price.prefill_s, out.price.linear_s});
  const auto row = [&](std::string name, std::string output, std::string_view unit, double yours, double causal,
                       std::string note) {
    PriceRow r{.name = std::move(name), .output = std::move(output), .note = std::move(note)};
    r.yours = yours;
    r.causal = causal;
    r.most = unit == "s" ? longest : std::max(yours, causal);
    r.words = format_text(yours, unit);
    if (yours != causal) r.words += " of " + format_text(causal, unit);
    p.price.push_back(std::move(r));
  };
  row("attention", "prefill_s", "s", out.price.prefill_s, out.causal.prefill_s, "the prompt, by tiles");
  row("other matmuls", "linear_s", "s", out.price.linear_s, out.causal.linear_s, "same layers, same tokens");
  row("pairs wanted", "attention_flops", "FLOP", out.price.flops, out.price.tile_flops, "of what the tiles compute");
  row("cache", "cache_bytes", "B", out.price.cache_bytes, out.causal.cache_bytes, "kept for one sequence");
  row("read a token", "read_bytes", "B", out.price.read_bytes, out.causal.read_bytes, "keys and values, decode");
  p.price_words =
      std::string("Filled: yours. Hollow: causal attention in all layers, or all pairs of the computed tiles. ") +
      count_text(out.stack_layers) + " layers in the heads of " + (model ? (*model)->name : "the model") + " on one " +
      (chip ? (*chip)->short_name : "chip") + ", every time the least that is possible.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || !run.cone) return p;
  p.answer = answer_of(in, out);
  arrange_cone(in, run, p);
  p.edge_dragged = out.full_layers == 0 && (in.pattern == Pattern::window || in.pattern == Pattern::sinks);
  p.near_share = out.near_tokens / static_cast<double>(in.sequence);
  p.near_words = format_text(in.near_share, "%") + " from the last " + count_text(out.near_tokens);
  if (in.pattern == Pattern::sinks && out.near_tokens >= static_cast<double>(in.sequence))
    p.near_words += ", the sinks among them";
  p.edge_words = "Dashed: what can arrive";
  if (in.pattern == Pattern::dilated && out.full_layers == 0 && in.dilation > 1)
    p.edge_words += ", one token in " + count_text(static_cast<double>(in.dilation));
  p.edge_words += ".";
  p.model_words =
      "Shade, log: how much does, if a layer keeps " + format_text(in.residual, "") + " and spreads the rest evenly.";
  for (std::size_t i = 0; i < out.patterns.size(); ++i) p.cards.push_back(card_of(out.patterns[i], run.thumbs[i], i));
  arrange_mask(in, out, run, p);
  arrange_price(in, out, p);
  return p;
}

}  // namespace chapters::inference::attention_patterns
