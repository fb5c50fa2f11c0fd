#include "models/gpu/async_pipeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "models/base/integer_math.h"

namespace models::gpu {
namespace {

constexpr std::int64_t max_tiles = 4096, most_stages = 64, max_cycles = 1'000'000'000;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// What the blocks of an SM have in common: when each is free.
struct SharedPipes {
  std::int64_t load_free = 0, tensor_free = 0;
};

/// One block on its way: the tile whose copy is issued next, the tile that is computed next, and what its streams have
/// reached. A copy or a computation is an event whose time is known before it happens.
class BlockStreams {
 public:
  BlockStreams(const PipelineSetup& setup, PipelineTile* tiles) : s_(setup), tiles_(tiles) { plan(); }

  std::int64_t next_time() const { return std::min(next_copy_, next_compute_); }

  void step(SharedPipes& pipes) {
    if (next_copy_ <= next_compute_)
      copy(pipes);
    else
      compute(pipes);
    plan();
  }

 private:
  std::int64_t latency_of(std::int64_t tile) const {
    const auto n = static_cast<std::int64_t>(s_.latencies.size());
    return n > 0 ? s_.latencies[static_cast<std::size_t>(tile % n)] : s_.latency;
  }
  std::int64_t end_of(std::int64_t tile) const { return tile < 0 ? 0 : tiles_[tile].compute_end; }

  void copy(SharedPipes& pipes) {
    PipelineTile& t = tiles_[copied_];
    t.issue = next_copy_;
    t.transfer = std::max(next_copy_, pipes.load_free);
    pipes.load_free = t.transfer + s_.load_time;
    t.ready = t.transfer + s_.load_time + latency_of(copied_);
    if (copied_ > 0) t.ready = std::max(t.ready, tiles_[copied_ - 1].ready);
    producer_ = next_copy_ + s_.issue_time;
    if (s_.kind == PipelineKind::multistage) consumer_ = producer_;
    ++copied_;
  }
  void compute(SharedPipes& pipes) {
    PipelineTile& t = tiles_[computed_];
    t.compute_start = std::max(next_compute_, pipes.tensor_free);
    t.compute_end = pipes.tensor_free = t.compute_start + s_.compute_time;
    consumer_ = t.compute_end;
    synchronized_ = false;
    ++computed_;
  }

  void plan() {
    next_copy_ = next_compute_ = never;
    const bool more_copies = copied_ < s_.tiles, is_there = computed_ < copied_;
    switch (s_.kind) {
      case PipelineKind::sync:
        if (more_copies && copied_ == computed_) next_copy_ = end_of(computed_ - 1);
        if (is_there) next_compute_ = tiles_[computed_].ready + s_.sync_overhead;
        return;
      case PipelineKind::warp_specialized:
        if (more_copies && copied_ < s_.stages) next_copy_ = producer_;
        if (more_copies && copied_ >= s_.stages && copied_ - s_.stages < computed_)
          next_copy_ = std::max(producer_, end_of(copied_ - s_.stages) + s_.barrier_release);
        if (is_there) next_compute_ = std::max(tiles_[computed_].ready, end_of(computed_ - 1)) + s_.sync_overhead;
        return;
      case PipelineKind::multistage:
        plan_one_stream(more_copies, is_there);
        return;
    }
  }
  /// The stream issues the first copies, then for each tile waits, issues one copy more and computes.
  void plan_one_stream(bool more_copies, bool is_there) {
    if (more_copies && copied_ < s_.stages - 1 && computed_ == 0) {
      next_copy_ = consumer_;
      return;
    }
    if (!is_there) return;
    if (!synchronized_) {
      consumer_ = std::max(consumer_, tiles_[computed_].ready) + s_.sync_overhead;
      synchronized_ = true;
    }
    if (more_copies && copied_ < computed_ + s_.stages)
      next_copy_ = consumer_;
    else
      next_compute_ = consumer_;
  }

  const PipelineSetup& s_;
  PipelineTile* tiles_;
  std::int64_t copied_ = 0, computed_ = 0, producer_ = 0, consumer_ = 0;
  std::int64_t next_copy_ = never, next_compute_ = never;
  bool synchronized_ = false;
};

/// The largest number of tiles that are issued and not there yet, over all times of issue.
std::int64_t most_in_flight(std::span<const PipelineTile> tiles) {
  std::int64_t most = 0;
  std::size_t there = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    // Tiles that are issued at the same time are all under way then.
    std::size_t issued = i + 1;
    while (issued < tiles.size() && tiles[issued].issue <= tiles[i].issue) ++issued;
    while (there < issued && tiles[there].ready <= tiles[i].issue) ++there;
    most = std::max(most, static_cast<std::int64_t>(issued - there));
  }
  return most;
}

constexpr std::array latencies{
    MeasuredLatency{"v100_l1", "V100, L1", "Pointer chase, 1 to 90 KiB.", 30},
    MeasuredLatency{"v100_l2", "V100, L2", "Pointer chase, 0.3 to 4 MB.", 215},
    MeasuredLatency{"v100_dram", "V100, DRAM", "Pointer chase, from 60 MB.", 436},
    MeasuredLatency{"a100_l1", "A100, L1", "Pointer chase, 1 to 120 KiB.", 36},
    MeasuredLatency{"a100_l2", "A100, near L2", "Pointer chase, 0.3 to 10 MB: the half of the L2 at the SM's side.",
                    211},
    MeasuredLatency{"a100_l2_far", "A100, far L2", "Pointer chase, 22 to 32 MB: the other half, or a mix.", 379},
    MeasuredLatency{"a100_dram", "A100, DRAM", "Pointer chase, from 80 MB.", 571},
    MeasuredLatency{"rtx4090_l1", "RTX 4090, L1", "Pointer chase, 1 to 80 KiB.", 36},
    MeasuredLatency{"rtx4090_l2", "RTX 4090, L2", "Pointer chase, 0.2 to 30 MB.", 285},
    MeasuredLatency{"rtx4090_dram", "RTX 4090, DRAM", "Pointer chase, from 200 MB.", 571},
    MeasuredLatency{"l40_l1", "L40, L1", "Pointer chase, 1 to 80 KiB.", 36},
    MeasuredLatency{"l40_l2", "L40, L2", "Pointer chase, 0.2 to 30 MB.", 277},
    MeasuredLatency{"l40_dram", "L40, DRAM", "Pointer chase, from 200 MB.", 632},
    MeasuredLatency{"h100_l1", "H100 PCIe, L1", "Pointer chase, 1 to 150 KiB.", 34},
    MeasuredLatency{"h100_l2", "H100 PCIe, near L2", "Pointer chase, 0.45 to 10 MB.", 266},
    MeasuredLatency{"h100_dram", "H100 PCIe, DRAM", "Pointer chase, from 110 MB.", 655},
    MeasuredLatency{"h800_l2", "H800 PCIe, near L2", "Pointer chase, 0.45 to 14 MB.", 265},
    MeasuredLatency{"h800_dram", "H800 PCIe, DRAM", "Pointer chase, from 85 MB.", 623},
    MeasuredLatency{"h800_tma_l2", "H800 PCIe, TMA from L2",
                    "One bulk copy into shared memory and the wait for its barrier.", 369},
    MeasuredLatency{"h800_tma_dram", "H800 PCIe, TMA from DRAM",
                    "One bulk copy into shared memory and the wait for its barrier.", 728}};

}  // namespace

const PipelineTile& PipelineRun::at(std::int64_t block, std::int64_t tile) const {
  return tiles[static_cast<std::size_t>(block * tiles_per_block + tile)];
}

Status check_pipeline(const PipelineSetup& s) {
  if (s.tiles < 1 || s.tiles > max_tiles) return Status::fail("A pipeline has from 1 to 4,096 tiles.");
  if (s.stages < 1 || s.stages > most_stages) return Status::fail("A ring has from 1 to 64 buffers.");
  if (s.kind == PipelineKind::multistage && s.stages < 2)
    return Status::fail("One buffer leaves no place for a copy ahead: set 2 buffers, or the synchronous loop.");
  const std::int64_t times[] = {s.latency,       s.load_time,       s.compute_time,
                                s.sync_overhead, s.barrier_release, s.issue_time};
  const auto is_no_time = [](std::int64_t t) { return t < 0 || t > max_cycles; };
  if (std::any_of(std::begin(times), std::end(times), is_no_time) ||
      std::any_of(s.latencies.begin(), s.latencies.end(), is_no_time))
    return Status::fail("Every time lies between 0 and 1,000,000,000 cycles.");
  if (s.compute_time < 1 || s.load_time < 1) return Status::fail("Copying and computing take at least 1 cycle each.");
  return Status::ok();
}

PipelineRun run_pipeline(const PipelineSetup& setup, std::int64_t blocks) {
  PipelineRun run{.tiles = {}, .blocks = blocks, .tiles_per_block = setup.tiles};
  run.tiles.resize(static_cast<std::size_t>(blocks * setup.tiles));
  std::vector<BlockStreams> streams;
  streams.reserve(static_cast<std::size_t>(blocks));
  for (std::int64_t b = 0; b < blocks; ++b) streams.emplace_back(setup, run.tiles.data() + b * setup.tiles);
  SharedPipes pipes;
  while (true) {
    BlockStreams* first = &streams.front();
    for (BlockStreams& s : streams)
      if (s.next_time() < first->next_time()) first = &s;
    if (first->next_time() == never) break;
    first->step(pipes);
  }
  run.total = pipes.tensor_free;
  run.stall_cycles = run.total - blocks * setup.tiles * setup.compute_time;
  run.first_compute_start = run.tiles.front().compute_start;
  run.max_tiles_in_flight = most_in_flight(std::span(run.tiles).first(static_cast<std::size_t>(setup.tiles)));
  return run;
}

double sm_period(const PipelineSetup& setup, std::int64_t blocks) {
  // The pattern of a ring repeats with its buffers: a stretch of whole turns, with a stretch before and after it.
  PipelineSetup longer = setup;
  const std::int64_t ahead = setup.kind == PipelineKind::multistage ? setup.stages - 1 : setup.stages;
  const std::int64_t turn = setup.kind == PipelineKind::sync ? 1 : std::max<std::int64_t>(1, ahead);
  const std::int64_t stretch = turn * ceil_div(24, turn);
  longer.tiles = 3 * stretch;
  const PipelineRun run = run_pipeline(longer, blocks);
  std::vector<std::int64_t> ends;
  ends.reserve(run.tiles.size());
  for (const PipelineTile& t : run.tiles) ends.push_back(t.compute_end);
  std::sort(ends.begin(), ends.end());
  const auto count = static_cast<std::size_t>(stretch * blocks);
  return static_cast<double>(ends[2 * count - 1] - ends[count - 1]) / static_cast<double>(count);
}

double mean_period(const PipelineRun& run) {
  if (run.tiles_per_block < 2) return std::numeric_limits<double>::quiet_NaN();
  const std::int64_t last = run.tiles_per_block - 1;
  return static_cast<double>(run.at(0, last).compute_end - run.at(0, 0).compute_end) / static_cast<double>(last);
}

PipelineRate pipeline_rate(const PipelineSetup& s) {
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const bool specialized = s.kind == PipelineKind::warp_specialized;
  const double load = number(s.load_time), issue = specialized ? number(s.issue_time) : 0;
  const double compute = number(s.compute_time + s.sync_overhead + (specialized ? 0 : s.issue_time));
  const std::int64_t around =
      s.latency + s.load_time + s.sync_overhead + (specialized ? s.compute_time + s.barrier_release : 0);
  PipelineRate r;
  r.full_period = std::max({compute, load, issue});
  const auto full = static_cast<std::int64_t>(r.full_period);
  const std::int64_t itself = specialized ? 0 : 1;  // the buffer that is computed from holds no copy ahead
  r.stages_exact = number(around) / r.full_period + number(itself);
  r.stages_for_full_rate = std::max<std::int64_t>(1, ceil_div(around, full) + itself);
  r.bound = compute >= load && compute >= issue ? PipelineBound::compute
            : load >= issue                     ? PipelineBound::load
                                                : PipelineBound::issue;
  const double waited = s.kind == PipelineKind::sync
                            ? number(s.latency + s.load_time + s.sync_overhead + s.compute_time)
                            : number(around) / number(std::max<std::int64_t>(1, s.stages - itself));
  r.period = s.kind == PipelineKind::sync ? waited : std::max(r.full_period, waited);
  if (r.period > r.full_period || s.kind == PipelineKind::sync) r.bound = PipelineBound::latency;
  return r;
}

PingPong ping_pong(std::int64_t output_tiles, std::int64_t mainloop, std::int64_t epilogue) {
  PingPong out{.cooperative_total = output_tiles * (mainloop + epilogue)};
  std::array<std::int64_t, 2> group_free{};
  std::int64_t pipe_free = 0;
  for (std::int64_t i = 0; i < output_tiles; ++i) {
    std::int64_t& group = group_free[static_cast<std::size_t>(i % 2)];
    pipe_free = std::max(pipe_free, group) + mainloop;
    group = pipe_free + epilogue;
    out.total = std::max(out.total, group);
  }
  const auto main = static_cast<double>(mainloop);
  out.steady_per_tile = std::max(main, (main + static_cast<double>(epilogue)) / 2);
  return out;
}

std::int64_t ring_bytes(std::int64_t stages, std::int64_t stage_bytes, std::int64_t epilogue_bytes) {
  return stages * (stage_bytes + stage_barrier_bytes) + epilogue_bytes;
}

std::int64_t max_stages(std::int64_t capacity_bytes, std::int64_t stage_bytes, std::int64_t epilogue_bytes) {
  return std::max<std::int64_t>(0, capacity_bytes - epilogue_bytes) / (stage_bytes + stage_barrier_bytes);
}

std::int64_t resident_blocks(const SmLimits& sm, std::int64_t threads, std::int64_t registers, std::int64_t bytes) {
  const auto held = occupancy(sm, {.threads = threads,
                                   .registers = registers,
                                   .dynamic_shared_bytes = bytes,
                                   .max_dynamic_shared_bytes = sm.block_shared_bytes});
  return held ? held->blocks : 0;
}

std::span<const MeasuredLatency> measured_latencies() { return latencies; }

std::vector<std::int64_t> spread_latencies(std::int64_t mean, std::int64_t jitter, std::uint64_t seed,
                                           std::int64_t count) {
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(count));
  const std::int64_t low = std::max<std::int64_t>(0, mean - jitter);
  const auto width = static_cast<std::uint64_t>(mean + jitter - low) + 1;
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < count; ++i) {
    // SplitMix64 (Steele, Lea, Flood 2014).
    state += 0x9e3779b97f4a7c15ull;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    out.push_back(low + static_cast<std::int64_t>((z ^ (z >> 31)) % width));
  }
  return out;
}

}  // namespace models::gpu
