#include <algorithm>
#include <cmath>

#include "chapters/described/compute_capability.h"
#include "chapters/kernels/async_pipeline/lab.h"
#include "widgets/number/number.h"

namespace chapters::kernels::async_pipeline {
namespace {

namespace gpu = models::gpu;

constexpr std::int64_t mean_tiles = 240;  ///< over which a mean is taken where latencies differ

double real(std::int64_t n) { return static_cast<double>(n); }

std::int64_t latency_used(const Inputs& in) {
  for (const gpu::MeasuredLatency& m : gpu::measured_latencies())
    if (m.id == in.latency_of) return m.cycles;
  return in.latency;
}
std::int64_t stage_bytes(const Inputs& in) { return (in.block_m + in.block_n) * in.block_k * in.element_bytes; }
std::int64_t whole_cycles(double cycles) { return std::max<std::int64_t>(1, std::llround(std::ceil(cycles - 0.5))); }
std::int64_t load_cycles(const Inputs& in) {
  if (in.times == Times::set) return in.load_time;
  return whole_cycles(real(stage_bytes(in)) / in.l2_bytes_per_clock);
}
std::int64_t compute_cycles(const Inputs& in) {
  if (in.times == Times::set) return in.compute_time;
  return whole_cycles(2 * real(in.block_m) * real(in.block_n) * real(in.block_k) / real(in.flops_per_clock));
}

const gpu::SmLimits& sm_of(const Inputs& in) {
  const gpu::SmLimits* known = sm_of_capability(in.compute_capability);
  return known ? *known : *gpu::sm_limits(80);
}

std::int64_t bytes_of(const Inputs& in, std::int64_t buffers) {
  return gpu::ring_bytes(buffers, stage_bytes(in), in.epilogue_bytes);
}
std::int64_t blocks_of(const Inputs& in, std::int64_t buffers) {
  return gpu::resident_blocks(sm_of(in), in.block_threads, in.registers_per_thread, bytes_of(in, buffers));
}

/// Cycles per tile of an SM with the blocks that fit; NaN where none does.
double sm_period_of(const Inputs& in, const PipelineSetup& setup, std::int64_t blocks) {
  if (blocks < 1) return no_figure;
  if (blocks == 1) return period_of(in, setup.kind, setup.stages);
  return gpu::sm_period(setup, std::min(blocks, max_sharing));
}

/// The loop of `buffers` buffers: with one, a single stream does one after the other.
PipelineKind kind_with(PipelineKind kind, std::int64_t buffers) {
  return kind == PipelineKind::multistage && buffers < 2 ? PipelineKind::sync : kind;
}
/// The loop that the columns under the rings are made of.
PipelineKind kind_of_stairs(const Inputs& in) {
  return in.kind == PipelineKind::sync ? PipelineKind::multistage : in.kind;
}
double stair_period(const Inputs& in, std::int64_t buffers) {
  return period_of(in, kind_with(kind_of_stairs(in), buffers), buffers);
}

void add_rate(const Inputs& in, const PipelineSetup& setup, Outputs& out) {
  const gpu::PipelineRate rate = gpu::pipeline_rate(setup);
  out.period = period_of(in, in.kind, in.stages);
  out.full_period = rate.full_period;
  out.steady_busy_percent = 100 * real(setup.compute_time) / out.period;
  out.stages_for_full_rate = rate.stages_for_full_rate;
  out.stages_exact = rate.stages_exact;
  out.bound = rate.bound;
  out.sync_period = period_of(in, PipelineKind::sync, 1);
  out.speedup = out.sync_period / out.period;
  const bool specialized = in.kind == PipelineKind::warp_specialized;
  const PipelineKind other = specialized ? PipelineKind::multistage : PipelineKind::warp_specialized;
  out.other_period = period_of(in, kind_with(other, in.stages), in.stages);
  const std::int64_t n = out.buffers;
  out.more_period = stair_period(in, n + 1);
  out.next_wins = out.period - out.more_period;
  out.then_wins = out.more_period - stair_period(in, n + 2);
  if (n > 1) {
    out.fewer_period = stair_period(in, n - 1);
    out.last_won = out.fewer_period / out.period;
  }
}

void add_price(const Inputs& in, const PipelineSetup& setup, Outputs& out) {
  const std::int64_t n = out.buffers;
  out.stage_bytes = real(stage_bytes(in));
  out.shared_bytes = real(bytes_of(in, n));
  out.capacity_bytes = real(sm_of(in).block_shared_bytes);
  out.max_buffers = gpu::max_stages(sm_of(in).block_shared_bytes, stage_bytes(in), in.epilogue_bytes);
  if (in.kind != PipelineKind::sync) out.spare_buffers = std::max<std::int64_t>(0, n - out.stages_for_full_rate);
  out.spare_bytes = real(out.spare_buffers * stage_bytes(in));
  out.blocks = blocks_of(in, n);
  for (std::int64_t more = n + 1; more <= 64; ++more) {
    out.blocks_after = blocks_of(in, more);
    if (out.blocks_after >= out.blocks) continue;
    out.blocks_leave_at = real(more);
    break;
  }
  out.pipe_period = real(std::max(setup.compute_time, setup.load_time));
  out.sm_period = sm_period_of(in, setup, out.blocks);
  out.sm_busy_percent = 100 * real(setup.compute_time) / out.sm_period;
  out.sharing_gain = out.period / out.sm_period;
  if (n < 2) return;
  out.blocks_before = blocks_of(in, n - 1);
  out.sm_fewer_period = sm_period_of(in, setup_of(in, kind_with(in.kind, n - 1), n - 1), out.blocks_before);
  out.sm_last_won = out.sm_fewer_period / out.sm_period;
}

void add_stairs(const Inputs& in, Outputs& out) {
  const std::int64_t last = std::clamp<std::int64_t>(std::max(out.buffers + 2, out.stages_for_full_rate + 1), 8, 14);
  for (std::int64_t n = 1; n <= last; ++n) {
    StairRow row{
        .buffers = n, .blocks = blocks_of(in, n), .cycles = stair_period(in, n), .shared_bytes = real(bytes_of(in, n))};
    if (in.compare == Compare::blocks)
      row.sm_cycles = sm_period_of(in, setup_of(in, kind_with(kind_of_stairs(in), n), n), row.blocks);
    out.stairs.push_back(row);
  }
}

void add_run(const PipelineSetup& setup, const PipelineRun& run, Outputs& out) {
  out.total = run.total;
  out.stall_cycles = run.stall_cycles;
  out.first_compute_start = run.first_compute_start;
  out.tiles_in_flight = run.max_tiles_in_flight;
  out.in_flight_bytes = real(run.max_tiles_in_flight) * out.stage_bytes;
  out.busy_percent = 100 * real(setup.tiles * setup.compute_time) / real(run.total);
}

void add_epilogues(const Inputs& in, Outputs& out) {
  out.mainloop_cycles = std::llround(real(in.tiles) * out.period);
  const gpu::PingPong p = gpu::ping_pong(in.output_tiles, out.mainloop_cycles, in.epilogue_time);
  out.ping_pong_total = p.total;
  out.cooperative_total = p.cooperative_total;
  out.ping_pong_cycles = p.steady_per_tile;
  out.ping_pong_gain = real(p.cooperative_total) / real(p.total);
}

/// Two of the blocks that share an SM.
void add_blocks(std::vector<Ring>& rings, const PipelineSetup& setup, std::int64_t blocks, bool yours) {
  const auto shared = std::make_shared<const PipelineRun>(gpu::run_pipeline(setup, std::min(blocks, max_sharing)));
  for (std::int64_t b = 0; b < 2; ++b)
    rings.push_back({.setup = setup, .run = shared, .block = b, .yours = yours, .fits = true});
}

/// The rings of the picture; the run of the inputs is one of them.
std::vector<Ring> rings_of(const Inputs& in, const Outputs& out, const std::shared_ptr<const PipelineRun>& own) {
  std::vector<Ring> rings;
  const auto add = [&](PipelineKind kind, std::int64_t buffers, bool yours) {
    Ring ring{.setup = setup_of(in, kind, buffers), .run = own, .yours = yours, .fits = blocks_of(in, buffers) > 0};
    if (!yours) ring.run = std::make_shared<const PipelineRun>(gpu::run_pipeline(ring.setup));
    rings.push_back(std::move(ring));
  };
  const std::int64_t n = out.buffers;
  if (in.compare == Compare::blocks) {
    // Where only one block is left, the two of a ring with one buffer fewer stand above it.
    const bool alone = out.blocks < 2;
    if (alone && out.blocks_before >= 2)
      add_blocks(rings, setup_of(in, kind_with(in.kind, n - 1), n - 1), out.blocks_before, false);
    add(in.kind, in.stages, true);
    if (alone) return rings;
    rings[0].yours = false;
    add_blocks(rings, PipelineSetup(rings[0].setup), out.blocks, true);
    return rings;
  }
  if (in.compare == Compare::kinds || in.kind == PipelineKind::sync) {
    const std::int64_t buffers = std::max<std::int64_t>(2, in.stages);
    for (const auto kind : {PipelineKind::sync, PipelineKind::multistage, PipelineKind::warp_specialized})
      add(kind, kind == PipelineKind::sync ? 1 : kind == in.kind ? in.stages : buffers, kind == in.kind);
    return rings;
  }
  for (std::int64_t b = std::max<std::int64_t>(1, n - 1); rings.size() < 3; ++b) add(kind_with(in.kind, b), b, b == n);
  return rings;
}

std::string refused(const Inputs& in, std::int64_t buffers) {
  const auto kib = [](std::int64_t bytes) {
    return widgets::format_text(real(bytes), "B", 3, widgets::Prefix::binary);
  };
  const std::int64_t most = sm_of(in).block_shared_bytes;
  const std::int64_t fit = gpu::max_stages(most, stage_bytes(in), in.epilogue_bytes);
  if (bytes_of(in, buffers) > most) {
    const std::string ring = buffers == 1 ? "One buffer" : "A ring of " + std::to_string(buffers) + " buffers";
    return ring + " takes " + kib(bytes_of(in, buffers)) + " of shared memory, and a block gets " + kib(most) +
           (fit > 0 ? ": at most " + std::to_string(fit) + (fit == 1 ? " fits." : " fit.")
                    : ": set a smaller tile or epilogue.");
  }
  return "A block of " + std::to_string(in.block_threads) + " threads with " + std::to_string(in.registers_per_thread) +
         " registers each does not fit the SM: set fewer of either.";
}

/// The sums of the tile lie in registers, but for tensor memory's (10.0 to 11.9).
std::string sums_refused(const Inputs& in) {
  const int capability = sm_of(in).capability;
  if (in.times == Times::set || (capability >= 100 && capability < 120)) return {};
  const std::int64_t sums = (in.block_m * in.block_n + in.block_threads - 1) / in.block_threads;
  if (sums <= in.registers_per_thread) return {};
  return "A tile of " + std::to_string(in.block_m) + " × " + std::to_string(in.block_n) + " has " +
         std::to_string(sums) + " sums per thread, and " + std::to_string(in.registers_per_thread) +
         " registers are set: take more threads or registers, or a smaller tile.";
}

Computed infeasible_ring(std::string why) {
  Computed none;
  none.facts.reason = std::move(why);
  return none;
}

}  // namespace

std::int64_t buffers_of(const Inputs& in) { return in.kind == PipelineKind::sync ? 1 : in.stages; }

PipelineSetup setup_of(const Inputs& in, PipelineKind kind, std::int64_t stages) {
  PipelineSetup s{.kind = kind,
                  .tiles = in.tiles,
                  .stages = kind == PipelineKind::sync ? 1 : stages,
                  .latency = latency_used(in),
                  .load_time = load_cycles(in),
                  .compute_time = compute_cycles(in),
                  .sync_overhead = in.sync_overhead,
                  .barrier_release = kind == PipelineKind::warp_specialized ? in.barrier_release : 0,
                  .issue_time = kind == PipelineKind::sync ? 0 : in.issue_time,
                  .latencies = {}};
  if (in.jitter > 0)
    s.latencies = gpu::spread_latencies(s.latency, in.jitter, static_cast<std::uint64_t>(in.seed), mean_tiles);
  return s;
}

double period_of(const Inputs& in, PipelineKind kind, std::int64_t stages) {
  PipelineSetup s = setup_of(in, kind, stages);
  if (in.jitter == 0) return gpu::pipeline_rate(s).period;
  s.tiles = mean_tiles;
  return gpu::mean_period(gpu::run_pipeline(s));
}

Computed compute(const Inputs& in, const Progress& progress) {
  const PipelineSetup setup = setup_of(in, in.kind, in.stages);
  if (const models::Status fine = gpu::check_pipeline(setup); !fine) return infeasible_ring(fine.error);
  Outputs out;
  out.buffers = buffers_of(in);
  if (const std::string why = sums_refused(in); !why.empty()) return infeasible_ring(why);
  if (blocks_of(in, out.buffers) < 1) return infeasible_ring(refused(in, out.buffers));
  out.latency_used = setup.latency;
  out.load_cycles = setup.load_time;
  out.compute_cycles = setup.compute_time;
  add_rate(in, setup, out);
  add_price(in, setup, out);
  add_stairs(in, out);
  const auto own = std::make_shared<const PipelineRun>(gpu::run_pipeline(setup));
  add_run(setup, *own, out);
  add_epilogues(in, out);
  Run run;
  if (!progress.facts_alone) run.rings = rings_of(in, out, own);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::kernels::async_pipeline
