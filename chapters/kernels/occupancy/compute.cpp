#include <algorithm>

#include "chapters/described/compute_capability.h"
#include "chapters/kernels/occupancy/lab.h"

namespace chapters::kernels::occupancy {
namespace {

using namespace models::gpu;

/// Shown until a text is pasted: one SGEMM with five tiles, as ptxas of CUDA 13.0 printed it for sm_90.
constexpr std::string_view example_text =
    "ptxas info    : Compiling entry function '_Z9sgemm_1x1iiiPKfS0_Pf' for 'sm_90'\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 32 registers, used 1 barriers, 1024 bytes smem\n"
    "ptxas info    : Compiling entry function '_Z9sgemm_2x2iiiPKfS0_Pf' for 'sm_90'\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 40 registers, used 1 barriers, 2048 bytes smem\n"
    "ptxas info    : Compiling entry function '_Z9sgemm_4x4iiiPKfS0_Pf' for 'sm_90'\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 64 registers, used 1 barriers, 4096 bytes smem\n"
    "ptxas info    : Compiling entry function '_Z9sgemm_8x8iiiPKfS0_Pf' for 'sm_90'\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 128 registers, used 1 barriers, 8192 bytes smem\n"
    "ptxas info    : Compiling entry function '_Z11sgemm_16x16iiiPKfS0_Pf' for 'sm_90'\n"
    "    752 bytes stack frame, 3008 bytes spill stores, 2700 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 752 bytes cumulative stack size, 16384 bytes smem\n";

double percent(double share) { return 100 * share; }
double or_nan(std::int64_t n) { return n < 0 ? std::nan("") : static_cast<double>(n); }

TileStep step_of(const Inputs& in) {
  return {.rows = in.tile_rows,
          .columns = in.tile_columns,
          .from_shared = in.operands == Operands::shared,
          .words_per_load = std::int64_t{1} << static_cast<int>(in.load_width),
          .prefetch = in.prefetch,
          .fma_latency_cycles = in.fma_latency_cycles,
          .load_latency_cycles = in.load_latency_cycles};
}

TileStep square(TileStep step, std::int64_t side) {
  step.rows = step.columns = side;
  return step;
}

void take_occupancy(const SmOccupancy& o, Outputs& out) {
  out.blocks = o.blocks;
  out.warps = o.warps;
  out.occupancy = percent(o.share);
  out.limiter = o.limit;
  out.walls = 0;
  for (int i = 0; i < occupancy_limit_count; ++i) out.walls += o.by(static_cast<OccupancyLimit>(i)) == o.blocks;
  out.max_warps = o.max_warps;
  out.block_warps = o.block_warps;
  out.by_warps = o.by_warps;
  out.by_registers = o.by_registers;
  out.by_blocks = o.by_blocks;
  out.by_shared = or_nan(o.by_shared);
  out.by_barriers = or_nan(o.by_barriers);
  out.block_registers = o.block_registers;
  out.warp_registers = o.warp_registers;
  out.register_warps = o.register_warps;
  out.registers_taken = percent(static_cast<double>(o.blocks * o.block_registers) / SmLimits::registers);
  out.block_shared_bytes = static_cast<double>(o.block_shared_bytes);
  out.shared_capacity_bytes = static_cast<double>(o.shared_capacity_bytes);
  out.block_shared_max_bytes = static_cast<double>(o.block_shared_max_bytes);
  if (o.shared_capacity_bytes > 0)
    out.shared_taken =
        percent(static_cast<double>(o.blocks * o.block_shared_bytes) / static_cast<double>(o.shared_capacity_bytes));
}

void take_margins(const OccupancyMargins& m, Outputs& out) {
  out.register_less_blocks = m.register_less.blocks;
  out.register_more_blocks = m.register_more.blocks;
  out.byte_less_blocks = m.byte_less.blocks;
  out.warp_less_occupancy = percent(m.warp_less.share);
  out.registers_free_to = or_nan(m.registers_free_to);
  out.registers_for_more = or_nan(m.registers_for_more);
  out.shared_for_more_bytes = or_nan(m.shared_for_more_bytes);
}

/// What feeds FMA pipes says nothing of a kernel on Tensor Cores.
void leave_feed_out(Outputs& out) {
  const double none = std::nan("");
  out.rate = out.feed = out.issue = out.fma_latency = out.load_latency = out.adds_per_value = none;
  out.in_flight_needed = out.in_flight = out.tile_registers = out.warps_needed = out.loads = none;
  out.rate_limit = out.blocks == 0 ? RateLimit::no_block : RateLimit::tensor;
}

void take_feed(const Run& run, const TileStep& step, Outputs& out) {
  const TileFeed feed = tile_feed(run.units, step, run.now.warps);
  out.feed = percent(feed.shared_memory);
  out.issue = percent(feed.issue_slots);
  out.fma_latency = percent(feed.fma_latency);
  out.load_latency = percent(feed.load_latency);
  if (step.from_shared) out.adds_per_value = step.multiply_adds_per_value();
  out.loads = static_cast<double>(step.loads());
  out.in_flight_needed = feed.in_flight_needed;
  out.in_flight = static_cast<double>(run.now.warps * step.multiply_adds()) / static_cast<double>(sm_schedulers);
  out.tile_registers = static_cast<double>(step.multiply_adds() + step.values() * (step.prefetch ? 2 : 1));
  out.warps_needed = static_cast<double>(warps_to_cover_latency(run.units, step));
  out.rate_limit = static_cast<RateLimit>(feed.limit);
  out.rate = percent(feed.rate);
  if (run.now.blocks == 0) {
    out.rate_limit = RateLimit::no_block;
    out.rate = std::nan("");
  } else if (out.tile_registers > static_cast<double>(run.block.registers) || out.spill_bytes > 0) {
    out.rate_limit = RateLimit::spill;
    out.rate = std::nan("");
  }
}

/// The compiled tiles, each with its own registers and shared memory, in blocks as they were compiled for.
void add_tiles(const TileStep& step, Run& run) {
  const auto compiled = compiled_tiles(run.sm->capability);
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const CompiledTile& tile = compiled[i];
    TileStep own = square(step, tile.side);
    own.from_shared = true;
    BlockNeeds block;
    block.threads = compiled_block_threads;
    block.registers = tile.registers;
    block.static_shared_bytes = tile.shared_bytes;
    const SmOccupancy o = *::models::gpu::occupancy(*run.sm, block);
    run.tiles[i] = {tile, own.multiply_adds_per_value(), percent(o.share),
                    percent(tile_feed(run.units, own, o.warps).shared_memory)};
  }
}

void add_curves(const TileStep& step, Run& run) {
  const auto add = [&](OccupancyCurve& curve, std::int64_t at, const BlockNeeds& block) {
    curve.at.push_back(static_cast<double>(at));
    curve.percent.push_back(percent(::models::gpu::occupancy(*run.sm, block)->share));
  };
  for (std::int64_t n = 1; n <= SmLimits::thread_registers; ++n) {
    BlockNeeds block = run.block;
    block.registers = n;
    add(run.over_registers, n, block);
  }
  for (std::int64_t n = 32; n <= 1024; n += 32) {
    BlockNeeds block = run.block;
    block.threads = n;
    add(run.over_threads, n, block);
  }
  for (std::int64_t n = 0; n <= run.sm->shared_bytes; n += 1024)
    add(run.over_shared, n, with_shared_bytes(run.block, n));
  for (std::size_t i = 0; i < run.latency.size(); ++i)
    for (std::int64_t warps = sm_schedulers; warps <= run.now.max_warps; warps += sm_schedulers) {
      const TileFeed feed = tile_feed(run.units, square(step, std::int64_t{1} << i), warps);
      run.latency[i].at.push_back(static_cast<double>(warps));
      run.latency[i].percent.push_back(percent(std::min(feed.fma_latency, feed.load_latency)));
    }
}

/// What the text says of the chosen kernel, or what the hand set.
std::string take_kernel(const Inputs& in, Run& run, Outputs& out) {
  out.registers = in.registers_per_thread;
  out.static_bytes = in.static_shared_bytes;
  out.barriers_used = in.barriers;
  if (in.source == Source::hand) return {};
  auto read = kernels_of(in);
  if (!read) return std::move(read.error);
  run.kernels = std::move(*read.value);
  run.chosen = static_cast<std::size_t>(std::clamp<std::int64_t>(in.ptxas_kernel, 1, std::ssize(run.kernels))) - 1;
  const PtxasKernel& kernel = run.kernels[run.chosen];
  out.kernels_read = std::ssize(run.kernels);
  out.kernel_name = kernel.name;
  out.registers = kernel.registers;
  out.static_bytes = kernel.static_shared_bytes;
  if (kernel.barriers >= 0) out.barriers_used = kernel.barriers;
  out.spill_bytes = kernel.spill_store_bytes + kernel.spill_load_bytes;
  if (kernel.capability > 0) out.compiled_for = "sm_" + std::to_string(kernel.capability);
  return {};
}

}  // namespace

models::Result<std::vector<PtxasKernel>> kernels_of(const Inputs& in) {
  return read_ptxas_log(in.ptxas.empty() ? example_text : std::string_view(in.ptxas));
}

Computed compute(const Inputs& in, Progress& progress) {
  auto run = std::make_shared<Run>();
  Computed out;
  run->sm = sm_of_capability(in.compute_capability);
  if (!run->sm) return infeasible<Computed>("The limits of this compute capability are not known: choose another.");
  if (std::string reason = take_kernel(in, *run, out.facts); !reason.empty())
    return infeasible<Computed>(std::move(reason));
  run->block = {.threads = in.block_threads,
                .registers = out.facts.registers,
                .static_shared_bytes = out.facts.static_bytes,
                .dynamic_shared_bytes = in.dynamic_shared_bytes,
                .max_dynamic_shared_bytes = in.opt_in ? run->sm->block_shared_bytes : 0,
                .carveout_percent = static_cast<int>(in.carveout_percent),
                .barriers = out.facts.barriers_used};
  const auto now = ::models::gpu::occupancy(*run->sm, run->block);
  if (!now) return infeasible<Computed>(now.error);
  run->now = *now;
  run->units = fma_units(run->sm->capability);
  take_occupancy(*now, out.facts);
  take_margins(*occupancy_margins(*run->sm, run->block), out.facts);
  const TileStep step = step_of(in);
  if (in.operands == Operands::tensor)
    leave_feed_out(out.facts);
  else
    take_feed(*run, step, out.facts);
  add_tiles(step, *run);
  out.facts.tiles_compiled_for = "sm_" + std::to_string(run->tiles[0].compiled.capability);
  out.facts.small_feed = run->tiles[0].feed;
  out.facts.small_occupancy = run->tiles[0].occupancy;
  if (!progress.facts_alone) add_curves(step, *run);
  out.run = std::move(run);
  return out;
}

}  // namespace chapters::kernels::occupancy
