#include <algorithm>
#include <cmath>
#include <string>

#include "chapters/inference/flash_attention/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::inference::flash_attention {
namespace {

using models::as_double;
using models::inference::FlashRun;
using models::inference::FlashUnit;
using models::inference::FlashWarps;
using widgets::format_text;

std::string count_text(double n) { return format_text(n, "", 6); }

void add_walk(const Inputs& in, const FlashRun& numbers, Picture& p) {
  p.backward = in.pass == FlashPass::backward;
  p.columns_first = p.backward || in.schedule == FlashSchedule::fa1;
  std::vector<std::int64_t> visited;
  for (std::int64_t i = 0; i < numbers.row_tiles; ++i) visited.push_back(numbers.visited(i));
  p.steps = walk_order(visited, p.columns_first);
  p.step_at.assign(static_cast<std::size_t>(numbers.row_tiles * numbers.column_tiles), -1);
  for (std::size_t s = 0; s < p.steps.size(); ++s)
    p.step_at[static_cast<std::size_t>(p.steps[s].row * numbers.column_tiles + p.steps[s].column)] =
        static_cast<std::int32_t>(s);
}

/// A step in the middle of the walk whose tile brings many rows a larger maximum.
void choose_step(const FlashRun& numbers, Picture& p) {
  double best = 0;
  const auto all = static_cast<double>(p.steps.size());
  p.shown_step = p.steps.size() * 9 / 20;
  for (std::size_t s = 0; s < p.steps.size() && !p.backward; ++s) {
    const WalkStep& at = p.steps[s];
    const std::int64_t first = at.row * numbers.setup.rows;
    double grown = 0;
    for (std::int64_t i = first; i < std::min(first + numbers.setup.rows, numbers.setup.tokens) && at.column > 0; ++i)
      grown += 1 - numbers.turn(i, at.column);
    const double worth = grown * (1 - std::abs(static_cast<double>(s) / all - 0.5));
    if (worth <= best) continue;
    best = worth;
    p.shown_step = s;
  }
}

/// Ranges of what the block's box shows.
void add_ranges(const FlashRun& numbers, Picture& p) {
  double lo = HUGE_VAL, hi = -HUGE_VAL;
  for (const double s : numbers.scores.values)
    if (std::isfinite(s)) {
      lo = std::min(lo, s);
      hi = std::max(hi, s);
    }
  p.score_lo = lo;
  p.score_hi = std::max(hi, lo + 1e-9);
  for (std::int64_t i = 0; i < numbers.setup.tokens; ++i)
    for (std::int64_t j = 0; j < numbers.visited(i / numbers.setup.rows); ++j)
      p.largest_sum = std::max(p.largest_sum, numbers.sum.at(static_cast<std::size_t>(i), static_cast<std::size_t>(j)));
  const auto [least, most] = std::ranges::minmax(numbers.log_sum);
  p.row_lo = std::min(0.0, least);
  p.row_hi = std::max(most, p.row_lo + 1e-9);
  for (const double w : numbers.weight_sum) p.weight_most = std::max(p.weight_most, std::abs(w));
}

void add_words(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const FlashRun& numbers = *run.numbers;
  const double cells = as_double(numbers.setup.tokens), each = run.drawn_tokens / cells;
  const bool part = run.drawn_tokens < as_double(in.sequence);
  p.drawn_words = count_text(run.drawn_tokens) + (part ? " of " + count_text(as_double(in.sequence)) : "") +
                  (in.sequence == 1 ? " token" : " tokens");
  if (each > 1) p.drawn_words += ", a cell for " + format_text(each, "", 2);
  p.chip_title = p.backward        ? "In the block: K and V stay, Q and dO pass"
                 : p.columns_first ? "In the block: K and V stay, Q and O pass"
                                   : "In the block: Q and O stay, K and V pass";
  p.chip_words = p.backward ? "no maximum is sought: the forward pass kept log-sum-exp"
                            : "tick: maximum before this tile; pale: what it adds to the sum";
  p.chip_formula = p.backward ? "dS = P × (dP − D), dQ += dS K" : "larger maximum: O ← O × e^(old − new) + P V";
  const std::string heads =
      in.heads * in.batch == 1 ? "one head" : count_text(as_double(in.heads * in.batch)) + " heads";
  const std::string square = in.pass == FlashPass::forward    ? "scores are written and read twice"
                             : in.pass == FlashPass::backward ? "seven passes over scores and gradients"
                                                              : "eleven passes over scores and gradients";
  const std::string what = p.columns_first ? "queries" : "keys and values";
  p.bytes_words = "One layer, " + heads + ". Square: " + square + ". Tiles: " + what + " come into shared memory " +
                  format_text(out.walk.rereads, "×") + ", from main memory " + format_text(out.walk.fetches, "×") +
                  (out.walk.rereads > out.walk.fetches ? ", the rest from L2." : ".");
}

void add_shared(const Inputs& in, const Outputs& out, Picture& p) {
  p.shared_bytes = out.shared_bytes;
  p.shared_limit_bytes = out.shared_limit_bytes;
  const double d = as_double(in.head_dim) * models::inference::flash_element_bytes;
  const double rows = d * as_double(in.block_rows), columns = d * as_double(in.block_columns);
  const double stays = p.columns_first ? 2 * columns : rows, passes = p.columns_first ? rows : 2 * columns;
  const bool backward = in.pass != FlashPass::forward && out.shared_bytes > stays + as_double(in.stages) * passes;
  if (backward) {
    p.parts = {{"K", columns, true}, {"V", columns, true}};
    for (std::int64_t i = 0; i < in.stages; ++i) {
      p.parts.push_back({i == 0 ? "Q" : "next Q", rows, false});
      p.parts.push_back({i == 0 ? "dO" : "next dO", rows, false});
    }
    p.parts.push_back(
        {"dS", as_double(in.block_rows * in.block_columns) * models::inference::flash_element_bytes, false});
  } else if (p.columns_first) {
    p.parts = {{"K", columns, true}, {"V", columns, true}};
    for (std::int64_t i = 0; i < in.stages; ++i) p.parts.push_back({i == 0 ? "Q" : "next Q", rows, false});
  } else {
    p.parts = {{"Q", rows, false}};
    for (std::int64_t i = 0; i < in.stages; ++i) {
      p.parts.push_back({i == 0 ? "K" : "next K", columns, true});
      p.parts.push_back({i == 0 ? "V" : "next V", columns, true});
    }
  }
  p.shared_words = std::string(backward ? "shared memory, backward: " : "shared memory: ") +
                   format_text(out.shared_bytes, "B", 3, widgets::Prefix::binary) + " of " +
                   format_text(out.shared_limit_bytes, "B", 3, widgets::Prefix::binary) + ", tile " +
                   std::to_string(in.block_rows) + " × " + std::to_string(in.block_columns);
}

Odometer odometer(std::string title, std::string_view unit, double square, double tiles, std::string_view output,
                  std::string_view square_output) {
  Odometer o{.title = std::move(title),
             .square_text = format_text(square, unit, 4),
             .tiles_text = format_text(tiles, unit, 4),
             .output = std::string(output),
             .square_output = std::string(square_output),
             .square = square,
             .tiles = tiles,
             .better = tiles <= square};
  return o;
}

void add_odometers(const Outputs& out, Picture& p) {
  p.odometers = {odometer("main memory", "B", out.square.hbm_bytes, out.tiles.hbm_bytes, "tiled_bytes", "square_bytes"),
                 odometer("arithmetic", "FLOP", out.square_flops, out.tiled_flops, "tiled_flops", "square_flops"),
                 odometer("time at best", "s", out.square_time_s, out.tiled_time_s, "tiled_time_s", "square_time_s")};
  p.odometers[0].gain = out.bytes_ratio >= 1 ? format_text(out.bytes_ratio, "×") + " fewer"
                                             : format_text(1 / out.bytes_ratio, "×") + " more";
  p.odometers[1].gain = format_text(std::abs(out.flops_more), "%", 2) + (out.flops_more >= 0 ? " more" : " fewer");
  p.odometers[2].gain =
      out.speedup >= 1 ? format_text(out.speedup, "×") + " sooner" : format_text(1 / out.speedup, "×") + " later";
}

void add_by_rows(const Outputs& out, const Run& run, Picture& p) {
  widgets::Curve loaded{.label = "through L2", .info = "what blocks read and write", .tint = widgets::Tint::series(0)};
  widgets::Curve memory{
      .label = "main memory", .info = "what L2 does not hold", .tint = widgets::Meaning::memory_bound};
  widgets::Curve square{.label = "main memory, square",
                        .info = "scores written and read",
                        .tint = widgets::Tint::strong(),
                        .dashed = true};
  for (const RowsPoint& point : run.by_rows) {
    loaded.add(point.rows, point.l2_bytes);
    memory.add(point.rows, point.hbm_bytes);
    p.rows_limit = point.rows;
  }
  square.add(16, out.square.hbm_bytes);
  square.add(256, out.square.hbm_bytes);
  p.by_rows = {std::move(square), std::move(loaded), std::move(memory)};
}

void add_lanes(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  for (std::size_t i = 0; i < run.warps.size(); ++i) {
    const FlashWarps& warps = run.warps[i];
    WarpLanes& lanes = p.lanes[i];
    const auto schedule = static_cast<FlashSchedule>(i);
    lanes.title = std::string(schedule_name(schedule));
    lanes.chosen = schedule == in.schedule;
    if (warps.spans.empty() || i >= out.schedules.size()) continue;
    const std::string busy = format_text(out.schedules[i].tensor_busy, "%") + " busy";
    lanes.words =
        schedule == FlashSchedule::fa1
            ? "four warps split the keys and hand each other " +
                  format_text(warps.exchange_bytes, "B", 3, widgets::Prefix::binary) + " a tile; tensor cores " + busy
        : schedule == FlashSchedule::fa2
            ? "four warps split the rows, and wait for their own exponentials; tensor cores " + busy
            : "two groups of warps take turns: one makes exponentials while the other multiplies; tensor cores " + busy;
    p.lanes_end = std::max(p.lanes_end, warps.end);
  }
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || !run.numbers) return p;
  p.answer = answer_of(in, out);
  add_walk(in, *run.numbers, p);
  choose_step(*run.numbers, p);
  add_ranges(*run.numbers, p);
  add_words(in, out, run, p);
  add_shared(in, out, p);
  add_odometers(out, p);
  add_by_rows(out, run, p);
  add_lanes(in, out, run, p);
  return p;
}

}  // namespace chapters::inference::flash_attention
