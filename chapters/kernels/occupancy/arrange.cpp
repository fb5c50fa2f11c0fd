#include <algorithm>
#include <cmath>

#include "chapters/kernels/occupancy/lab.h"
#include "widgets/number/number.h"

namespace chapters::kernels::occupancy {
namespace {

using namespace models::gpu;
using widgets::Curve, widgets::format_text, widgets::Prefix, widgets::Tint;

std::string whole(double n) { return format_text(n, "", 9); }
std::string whole(std::int64_t n) { return whole(static_cast<double>(n)); }
std::string bytes_text(double n) { return format_text(n, "B", 4, Prefix::binary); }

/// "room for 25", "room for 1,024 and more", or why there is no wall.
std::string room_words(std::int64_t by) {
  if (by < 0) return "no limit";
  return by > 9999 ? "room for thousands" : "room for " + whole(by);
}

Vessel registers_vessel(const Run& run, const Outputs& out) {
  const SmOccupancy& o = run.now;
  Vessel v{.name = "registers", .short_name = "regs", .handle = "drag registers"};
  v.capacity = static_cast<double>(SmLimits::registers);
  v.usable = std::min(v.capacity, static_cast<double>(o.register_warps * o.warp_registers));
  v.block = static_cast<double>(o.block_registers);
  v.each = whole(o.block_registers) + " each";
  v.total = v.given = "of 65,536";
  v.filled = format_text(out.registers_taken, "%");
  v.room = room_words(o.by_registers);
  v.wall = o.by_registers == o.blocks;
  return v;
}

Vessel shared_vessel(const Run& run, const Outputs& out) {
  const SmOccupancy& o = run.now;
  Vessel v{.name = "shared memory", .short_name = "shared", .handle = "drag shared memory"};
  v.capacity = std::max(1.0, static_cast<double>(o.shared_capacity_bytes));
  v.usable =
      o.block_shared_bytes > o.block_shared_max_bytes ? static_cast<double>(o.block_shared_max_bytes) : v.capacity;
  v.block = static_cast<double>(o.block_shared_bytes);
  v.each = bytes_text(v.block) + " each";
  v.total = "of " + bytes_text(out.shared_capacity_bytes);
  v.given = "of " + bytes_text(static_cast<double>(run.sm->shared_bytes));
  v.filled = std::isnan(out.shared_taken) ? "" : format_text(out.shared_taken, "%");
  v.room = room_words(o.by_shared);
  v.wall = o.by_shared >= 0 && o.by_shared == o.blocks;
  return v;
}

Vessel warps_vessel(const Run& run, const Outputs& out) {
  const SmOccupancy& o = run.now;
  Vessel v{.name = "warp slots", .short_name = "warps", .handle = "drag threads"};
  v.capacity = v.usable = static_cast<double>(o.max_warps);
  v.block = static_cast<double>(o.block_warps);
  v.cells = o.block_warps;
  v.each = whole(o.block_warps) + " each";
  v.total = v.given = "of " + whole(o.max_warps);
  v.filled = format_text(out.occupancy, "%");
  v.room = room_words(o.by_warps);
  v.wall = o.by_warps == o.blocks;
  return v;
}

/// Block slots, or barriers where these are fewer for this kernel.
Vessel slots_vessel(const Run& run) {
  const SmOccupancy& o = run.now;
  const bool barriers = o.by_barriers >= 0 && o.by_barriers < o.by_blocks;
  const double capacity = static_cast<double>(barriers ? run.sm->barriers : run.sm->blocks);
  Vessel v{.name = barriers ? "barriers" : "block slots", .short_name = barriers ? "barriers" : "blocks"};
  v.capacity = v.usable = capacity;
  v.block = barriers ? static_cast<double>(run.block.barriers) : 1;
  v.each = whole(v.block) + " each";
  v.total = "of " + whole(capacity);
  v.given = "of " + whole(run.sm->blocks);
  v.filled = format_text(100 * static_cast<double>(o.blocks) * v.block / capacity, "%");
  v.room = room_words(barriers ? o.by_barriers : o.by_blocks);
  v.wall = (barriers ? o.by_barriers : o.by_blocks) == o.blocks;
  return v;
}

void add_vessels(const Run& run, const Outputs& out, Picture& p) {
  p.vessels = {registers_vessel(run, out), shared_vessel(run, out), warps_vessel(run, out), slots_vessel(run)};
  p.blocks = out.blocks;
  const std::string next = out.blocks == 0 ? "a block" : "block " + whole(out.blocks);
  for (Vessel& v : p.vessels) v.would = next + (v.wall ? " does not fit" : " would fit");
  const std::int64_t empty = out.max_warps - out.warps;
  if (out.blocks == 0) return;
  const auto needed = static_cast<std::int64_t>(std::isnan(out.warps_needed) ? 0 : out.warps_needed);
  const bool enough = out.warps >= needed;
  p.callout_bold =
      empty == 0 ? "every warp slot is taken" : whole(empty) + " of " + whole(out.max_warps) + " slots stay empty";
  if (out.rate_limit == RateLimit::tensor)
    p.callout_words = "what feeds Tensor Cores: see GEMM tiling";
  else if (out.rate_limit == RateLimit::spill)
    p.callout_words = "the tile spills: local memory decides";
  else if (enough)
    p.callout_words = whole(needed) + " warps of this tile cover its latencies";
  else if (needed > out.max_warps)
    p.callout_words = "no number of warps covers the latencies";
  else if (out.rate_limit == RateLimit::shared_memory)
    p.callout_words = "more warps would wait for shared memory";
  else if (out.rate_limit == RateLimit::issue_slots)
    p.callout_words = "more warps would wait for issue slots";
  else
    p.callout_words = "it takes " + whole(needed) + " warps to cover the latencies";
}

void add_cross(const Inputs& in, const Run& run, const Outputs& out, Picture& p) {
  Curve& occupancy = p.cross[0];
  Curve& feed = p.cross[1];
  occupancy = {.label = "occupancy", .output = "small_occupancy", .tint = Tint(), .width = 2.5f, .named = false};
  feed = {.label = "fed by shared memory",
          .info = "words per clock * multiply-adds per value / FP32 lanes",
          .output = "small_feed",
          .tint = Tint::series(0),
          .width = 2.5f,
          .named = false};
  for (std::size_t i = 0; i < p.points.size(); ++i)
    p.points[i] = {
        .kind = Curve::Kind::dots, .label = p.cross[i].label, .tint = p.cross[i].tint, .radius = 4, .legend = false};
  for (const TilePoint& tile : run.tiles) {
    const std::string side = whole(static_cast<std::int64_t>(tile.compiled.side));
    p.tile_names.push_back(side + " \xC3\x97 " + side);
    p.tile_words.push_back(tile.compiled.spill_store_bytes > 0 ? "spills"
                                                               : whole(tile.compiled.registers) + " registers");
    feed.add(tile.adds_per_value, tile.feed);
    p.points[1].add(tile.adds_per_value, tile.feed);
    p.points[1].labels.push_back(format_text(tile.feed, ""));
    if (tile.compiled.spill_store_bytes > 0) continue;
    occupancy.add(tile.adds_per_value, tile.occupancy);
    p.points[0].add(tile.adds_per_value, tile.occupancy);
    p.points[0].labels.push_back(format_text(tile.occupancy, ""));
  }
  p.spilling = {.kind = Curve::Kind::area,
                .label = "spills",
                .tint = Tint::bad(),
                .alpha = 0.12f,
                .width = 0,
                .named = false,
                .legend = false,
                .x = {7.5, 12},
                .y = {110, 110}};
  const TilePoint& last = run.tiles.back();
  if (in.operands == Operands::tensor)
    p.cross_words = "Your kernel multiplies on Tensor Cores: these tiles are of an FP32 kernel on the FMA pipes.";
  else if (last.compiled.capability != run.sm->capability && run.sm->capability < 75)
    p.cross_words = "Registers as compiled for " + out.tiles_compiled_for + ": CUDA 13.0 compiles nothing older.";
  p.wall_words = p.tile_names.back() + " spills " + whole(last.compiled.spill_store_bytes) + " B";
  if (in.source == Source::ptxas) {
    p.kernel_words =
        (out.kernel_name.empty() ? "a kernel without a name" : out.kernel_name) +
        (out.compiled_for.empty() ? "" : ", compiled for " + out.compiled_for) + ": " + whole(out.registers) +
        " registers, " + bytes_text(static_cast<double>(out.static_bytes)) + " static, " +
        (out.spill_bytes > 0 ? format_text(static_cast<double>(out.spill_bytes), "B") + " spilled" : "nothing spilled");
    constexpr std::size_t most = 24;
    for (std::size_t i = 0; i < std::min(most, run.kernels.size()); ++i)
      p.kernel_chips.push_back(run.kernels[i].name.empty() ? "kernel " + std::to_string(i + 1)
                                                           : run.kernels[i].name.substr(0, 28));
  }
}

void add_three(const Run& run, Picture& p) {
  const OccupancyCurve* const curves[] = {&run.over_registers, &run.over_threads, &run.over_shared};
  for (std::size_t i = 0; i < p.three.size(); ++i)
    p.three[i] = {.kind = Curve::Kind::steps,
                  .label = "occupancy",
                  .info = "the rule of cuda_occupancy.h",
                  .output = "occupancy",
                  .tint = Tint::series(0),
                  .named = false,
                  .legend = false,
                  .x = curves[i]->at,
                  .y = curves[i]->percent};
  p.shared_top = static_cast<double>(run.sm->shared_bytes);
  for (std::size_t i = 0; i < p.latency.size(); ++i) {
    const std::string side = whole(std::int64_t{1} << i);
    p.latency[i] = {.label = side + " \xC3\x97 " + side,
                    .info = "the less of the two latencies' shares",
                    .tint = Tint::ramp(i + 2, p.latency.size() + 2),
                    .x = run.latency[i].at,
                    .y = run.latency[i].percent};
  }
}

/// What one less gives.
void add_less(const Outputs& out, Picture& p) {
  const auto blocks = [](double n) { return whole(n) + (n == 1 ? " block" : " blocks"); };
  p.less_words = "One register less: " + blocks(static_cast<double>(out.register_less_blocks)) +
                 "; one more: " + blocks(static_cast<double>(out.register_more_blocks)) +
                 "; one byte less: " + blocks(static_cast<double>(out.byte_less_blocks)) +
                 "; a warp less a block: " + format_text(out.warp_less_occupancy, "%") + ".";
  if (!std::isnan(out.registers_for_more))
    p.less_words += " One block more from " + whole(out.registers_for_more) + " registers down.";
  if (!std::isnan(out.shared_for_more_bytes))
    p.less_words += " One block more from " + bytes_text(out.shared_for_more_bytes) + " of shared memory down.";
}

void add_gates(const Inputs& in, const Run& run, const Outputs& out, Picture& p) {
  if (in.operands == Operands::tensor) {
    p.gates_words =
        "This kernel multiplies on Tensor Cores, which take operands from registers or straight from shared memory. "
        "The four gates here are those of the FMA pipes and say nothing of it; GEMM tiling computes its own.";
    return;
  }
  const auto add = [&](std::string_view name, double percent, std::string_view output, RateLimit limit,
                       std::string why) {
    p.gates.push_back(
        {std::string(name), format_text(percent, "%"), std::move(why), percent, output, out.rate_limit == limit});
  };
  const bool reads = in.operands == Operands::shared;
  add("shared memory", out.feed, "feed", RateLimit::shared_memory,
      reads ? whole(run.units.shared_words_per_clock) + " words \xC3\x97 " + format_text(out.adds_per_value, "") +
                  " for " + whole(run.units.lanes) + " lanes"
            : "nothing is read");
  add("issue slots", out.issue, "issue", RateLimit::issue_slots,
      whole(in.tile_rows * in.tile_columns) + " multiply-adds per step, " + whole(out.loads) +
          (out.loads == 1 ? " load" : " loads"));
  add("latency of the multiply-add", out.fma_latency, "fma_latency", RateLimit::fma_latency,
      whole(out.in_flight) + " in flight a scheduler, " + format_text(out.in_flight_needed, "") + " needed");
  add("latency of the loads", out.load_latency, "load_latency", RateLimit::load_latency,
      reads ? whole(out.warps) + " warps, " + format_text(in.load_latency_cycles, "") + " cycles to cover"
            : "nothing is read");
  p.latency_covered = std::min(out.fma_latency, out.load_latency);
  p.gates_words = "What each alone would allow of the FMA rate";
  p.latency_words = out.warps_needed > static_cast<double>(out.max_warps)
                        ? "No number of warps covers the latencies of this tile."
                        : whole(out.warps_needed) + " warps cover the latencies of this tile.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!run.sm) return p;
  p.answer = answer_of(out);
  add_vessels(run, out, p);
  add_cross(in, run, out, p);
  add_three(run, p);
  add_gates(in, run, out, p);
  add_less(out, p);
  p.doors = doors_of(in, run);
  return p;
}

}  // namespace chapters::kernels::occupancy
