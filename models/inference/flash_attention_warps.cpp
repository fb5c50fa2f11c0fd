#include "models/inference/flash_attention_warps.h"

#include <algorithm>
#include <array>

#include "models/base/integer_math.h"

namespace models::inference {
namespace {

struct Step {
  FlashUnit unit = FlashUnit::tensor_core;
  double clocks = 0;
};
struct Worker {
  std::int64_t tile = 0;
  std::size_t step = 0;
  double ready = 0;
};

}  // namespace

Result<FlashWarps> run_flash_warps(const FlashShape& s, const FlashTile& tile, FlashSchedule schedule,
                                   std::int64_t blocks, const MultiprocessorRates& rates, std::int64_t tiles) {
  using Out = Result<FlashWarps>;
  if (tiles < 1 || blocks < 1 || !(rates.matmul_flops > 0) || !(rates.exponentials > 0) || !(rates.shared_bytes > 0))
    return Out::fail("There must be a tile, a block, and a rate of each unit.");
  const bool halves = schedule == FlashSchedule::fa3;
  FlashWarps out;
  out.workers = std::min<std::int64_t>(8, blocks * (halves ? 2 : 1));
  const double rows = as_double(tile.rows) / (halves ? 2 : 1), columns = as_double(tile.columns);
  const double d = as_double(s.head_dim);
  out.matmul_clocks = 4 * rows * columns * d / rates.matmul_flops;
  out.exponential_clocks = rows * columns / rates.exponentials;
  const double partial = rows * d * flash_accumulator_bytes;
  if (schedule == FlashSchedule::fa1) out.exchange_bytes = 2 * as_double(out.warps_per_worker) * partial;
  out.exchange_clocks = out.exchange_bytes / rates.shared_bytes;
  std::vector<Step> steps{{FlashUnit::tensor_core, out.matmul_clocks / 2},
                          {FlashUnit::exponential, out.exponential_clocks},
                          {FlashUnit::tensor_core, out.matmul_clocks / 2}};
  if (out.exchange_clocks > 0) steps.push_back({FlashUnit::shared_memory, out.exchange_clocks});
  std::vector<Worker> workers(static_cast<std::size_t>(out.workers));
  std::array<double, flash_unit_count> free_at{};
  for (;;) {
    // Who can begin first does; of equals the one that is behind.
    Worker* next = nullptr;
    double start = 0;
    for (Worker& w : workers) {
      if (w.tile == tiles) continue;
      const double at = std::max(w.ready, free_at[static_cast<std::size_t>(steps[w.step].unit)]);
      if (next && !(at < start || (at == start && w.ready < next->ready))) continue;
      next = &w;
      start = at;
    }
    if (!next) break;
    const Step& step = steps[next->step];
    const double end = start + step.clocks;
    out.spans.push_back({next - workers.data(), next->tile, step.unit, start, end});
    free_at[static_cast<std::size_t>(step.unit)] = end;
    next->ready = end;
    if (++next->step < steps.size()) continue;
    next->step = 0;
    ++next->tile;
  }
  for (const FlashSpan& span : out.spans) out.end = std::max(out.end, span.end);
  // The steady part: without the first and the last of the tiles, where workers still wait or are done.
  const double from = out.end * (tiles > 2 ? 1.0 : 0.0) / as_double(tiles), to = out.end - from;
  double busy = 0;
  for (const FlashSpan& span : out.spans)
    if (span.unit == FlashUnit::tensor_core) busy += std::max(0.0, std::min(span.end, to) - std::max(span.start, from));
  out.tensor_busy = to > from ? busy / (to - from) : 0;
  return Out::ok(std::move(out));
}

}  // namespace models::inference
