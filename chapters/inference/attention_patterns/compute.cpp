#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "chapters/inference/attention_patterns/lab.h"
#include "models/base/integer_math.h"
#include "models/compression/deployment.h"
#include "models/training/packing_lengths.h"
#include "models/transformer/roofline_ops.h"

namespace chapters::inference::attention_patterns {
namespace {

namespace md = models::inference;
using models::as_double;

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t thumb_cells = 48, mask_cells = 96, cone_columns = 256;

/// The layers of a pattern, or a sentence.
models::Result<md::PatternStack> stack_of(const Inputs& in, Pattern pattern, const models::Architecture& a) {
  if (pattern == Pattern::model) return md::stack_of_model(a, in.sequence);
  const auto shape = shape_of(in, pattern);
  if (!shape) return models::Result<md::PatternStack>::fail(shape.error);
  auto mask = md::AttentionMask::make(*shape);
  if (!mask) return models::Result<md::PatternStack>::fail(std::move(mask.error));
  return models::Result<md::PatternStack>::ok(md::stack_of_layers(std::move(*mask), in.layers, in.full_every));
}

/// Cells of whole tiles, and their entries by rows that stand for them all.
MaskGrid grid_of(const md::AttentionMask& m, std::int64_t most_cells, std::int64_t tile) {
  const std::int64_t n = m.sequence(), tiles = models::ceil_div(n, tile);
  MaskGrid g;
  g.side = tile * models::ceil_div(tiles, most_cells);
  g.cells = models::ceil_div(n, g.side);
  g.density.assign(static_cast<std::size_t>(g.cells * g.cells), -1.0f);
  std::vector<md::TileSpan> tiles_in;
  std::vector<md::KeySpan> keys;
  const auto at = [&](std::int64_t r, std::int64_t c) -> float& {
    return g.density[static_cast<std::size_t>(r * g.cells + c)];
  };
  for (std::int64_t r = 0; r < g.cells; ++r) {
    m.tile_row(r, g.side, tiles_in);
    for (const md::TileSpan& s : tiles_in)
      for (std::int64_t c = s.lo; c < s.hi; ++c) at(r, c) = 0;
    const std::int64_t first = r * g.side, rows = std::min(g.side, n - first),
                       sampled = std::min<std::int64_t>(rows, 8);
    for (std::int64_t i = 0; i < sampled; ++i) {
      m.row(first + (2 * i + 1) * rows / (2 * sampled), keys);
      for (const md::KeySpan& k : keys)
        for (std::int64_t c = k.lo / g.side; c * g.side < k.hi && c < g.cells; ++c) {
          const double from = as_double(std::max(k.lo, c * g.side)), to = as_double(std::min(k.hi, (c + 1) * g.side));
          if (float& d = at(r, c); d >= 0)
            d += static_cast<float>((to - from) / as_double(k.step) / as_double(g.side * sampled));
        }
    }
  }
  return g;
}

PatternRow row_of(std::string_view name, const md::PatternStack& stack, const md::PatternPrice& price,
                  const md::PatternPrice& causal, bool yours) {
  PatternRow row{.name = std::string(name), .yours = yours};
  row.entries = stack.mask.entries();
  row.work_share = 100 * price.entries / causal.entries;
  row.tile_share = 100 * price.tile_entries / causal.tile_entries;
  row.kept_tokens = stack.mask.kept_tokens();
  row.cache_share = 100 * price.cache_bytes / causal.cache_bytes;
  row.layers_to_all = md::layers_to_everything(stack).value_or(none);
  return row;
}

md::PatternPrice causal_price(const Inputs& in, const models::Architecture& a, std::int64_t layers,
                              const md::PatternPriceSetup& setup) {
  return md::price_of_pattern(a, md::stack_of_layers(md::AttentionMask::causal(in.sequence), layers, 0), setup);
}

std::shared_ptr<const Cone> cone_of(const Inputs& in, const md::PatternStack& stack, Progress& progress, Cones& cones) {
  const ConeKey key{stack.mask.shape(), stack.full, in.residual, in.near_share / 100, !progress.facts_alone};
  return cones.get(key, [&](const ConeKey& k) -> std::shared_ptr<const Cone> {
    auto cone = std::make_shared<Cone>();
    cone->reach = md::reach_of(stack);
    cone->influence = md::influence_of(
        stack,
        {.residual = k.residual, .share = k.share, .columns = k.drawn ? cone_columns : 0, .go_on = [&](double done) {
           progress.fraction = done;
           return !progress.cancelled;
         }});
    return cone->influence.ended ? nullptr : cone;
  });
}

void add_cone(const md::PatternStack& stack, const Cone& cone, Outputs& out) {
  const md::ReachRow& input = cone.reach.back();
  out.reach_tokens = input.tokens;
  out.back_tokens = input.back_tokens;
  out.layers_to_all = md::layers_to_everything(stack).value_or(none);
  out.near_tokens = cone.influence.near_tokens;
  out.mean_back = cone.influence.mean_back;
  out.window_influence = 100 * cone.influence.window_share;
}

void add_price(const md::PatternStack& stack, Outputs& out) {
  out.entries = stack.mask.entries();
  out.causal_entries = md::AttentionMask::causal(stack.mask.sequence()).entries();
  out.work_share = 100 * out.price.entries / out.causal.entries;
  out.cache_tokens = stack.mask.kept_tokens();
  out.stack_layers = as_double(static_cast<std::int64_t>(stack.full.size()));
  out.full_layers = as_double(std::count(stack.full.begin(), stack.full.end(), true));
  out.part_layers = out.stack_layers - out.full_layers;
  out.mean_cache_tokens = out.price.kept_tokens / out.stack_layers;
  const bool windowed =
      stack.mask.pattern() != md::AttentionPattern::causal && stack.mask.pattern() != md::AttentionPattern::document;
  out.window_tokens = windowed ? as_double(stack.mask.shape().window) : none;
  if (!windowed) out.window_influence = none;
  out.tile_share = 100 * out.price.tile_entries / out.causal.tile_entries;
  out.tile_fill = 100 * out.price.entries / out.price.tile_entries;
  out.kernel_speedup = out.causal.tile_entries / out.price.tile_entries;
  out.cache_share = 100 * out.price.cache_bytes / out.causal.cache_bytes;
}

}  // namespace

models::Result<md::PatternShape> shape_of(const Inputs& in, Pattern pattern) {
  md::PatternShape s;
  s.pattern = static_cast<md::AttentionPattern>(pattern);
  s.sequence = in.sequence;
  s.window = in.window;
  s.global_every = in.global_every;
  s.dilation = in.dilation;
  s.sinks = in.sinks;
  s.blocks_back = in.blocks_back;
  s.blocks_first = in.blocks_first;
  s.blocks_random = in.blocks_random;
  s.document_tokens = in.document_tokens;
  s.seed = in.seed;
  if (pattern == Pattern::document && in.documents.find_first_not_of(" \t\n") != std::string::npos) {
    const auto lengths = models::parse_lengths(in.documents, md::max_pattern_tokens);
    if (!lengths) return models::Result<md::PatternShape>::fail(lengths.error);
    s.documents.assign(lengths->begin(), lengths->end());
  }
  return models::Result<md::PatternShape>::ok(std::move(s));
}

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Cones& cones) {
  using Answer = Computed<Outputs, Run>;
  const auto chip = find_chip(in.chip);
  if (!chip) return infeasible<Answer>(chip.error);
  const auto model = find_model(in.model);
  if (!model) return infeasible<Answer>(model.error);
  const auto product = models::nearest_format(**chip, models::Format::bf16);
  if (!product) return infeasible<Answer>((*chip)->short_name + " states no peak for such products.");
  const models::Architecture& a = (*model)->architecture;
  const models::KvRecipe* format = models::find_kv_recipe(in.kv_format);
  const md::PatternPriceSetup setup{.tile = in.tile,
                                    .kv_bits = format ? format->bits : 16,
                                    .margin_tokens = in.margin_tokens,
                                    .flops_per_s = (*chip)->peak_flops_per_s(*product).value_or(0),
                                    .memory_bytes_per_s = (*chip)->memory_bandwidth_bytes_per_s};
  auto stack = stack_of(in, in.pattern, a);
  if (!stack) return infeasible<Answer>(std::move(stack.error));
  const auto cone = cone_of(in, *stack, progress, cones);
  if (!cone) return infeasible<Answer>("The computation was stopped.");
  Outputs out;
  auto run = std::make_shared<Run>();
  const auto layers = static_cast<std::int64_t>(stack->full.size());
  out.price = md::price_of_pattern(a, *stack, setup);
  out.causal = causal_price(in, a, layers, setup);
  add_cone(*stack, *cone, out);
  add_price(*stack, out);
  run->cone = cone;
  if (!progress.facts_alone) run->mask = grid_of(stack->mask, mask_cells, in.tile);
  for (std::size_t i = 0; i < pattern_choice_count; ++i) {
    const auto pattern = static_cast<Pattern>(i);
    Inputs theirs = in;
    // What cannot be is said where it counts.
    if (in.pattern != Pattern::document) theirs.documents.clear();
    if (in.pattern != Pattern::block && in.sequence / in.window >= md::max_random_blocks) theirs.blocks_random = 0;
    auto other = stack_of(theirs, pattern, a);
    if (!other) return infeasible<Answer>(std::move(other.error));
    const auto price = md::price_of_pattern(a, *other, setup);
    const auto all = causal_price(in, a, static_cast<std::int64_t>(other->full.size()), setup);
    out.patterns.push_back(row_of(pattern_choices()[i].label, *other, price, all, pattern == in.pattern));
    if (!progress.facts_alone) run->thumbs[i] = grid_of(other->mask, thumb_cells, 1);
  }
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::inference::attention_patterns
