#include <algorithm>
#include <cmath>

#include "chapters/kernels/gemm_tiling/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::kernels::gemm_tiling {
namespace {

namespace gpu = models::gpu;
using gpu::GemmGate, gpu::GemmUnit;
using models::as_double, models::ceil_div;
using widgets::format_text, widgets::Meaning, widgets::Tint;

std::string count_text(std::int64_t n) { return format_text(as_double(n), "", 12); }
std::string by(std::int64_t a, std::int64_t b) { return count_text(a) + " \xC3\x97 " + count_text(b); }
std::string binary(double bytes) { return format_text(bytes, "B", 3, widgets::Prefix::binary); }
std::string plural(std::int64_t n, std::string_view one) {
  return count_text(n) + " " + std::string(one) + (n == 1 ? "" : "s");
}

void arrange_zoom(const Outputs& out, const Cut& cut, Picture& pic) {
  const gpu::GemmShape& s = cut.shape;
  const gpu::GemmTile& t = cut.tile;
  const bool lanes = t.unit == GemmUnit::fma, grouped = t.unit == GemmUnit::wgmma;
  const gpu::GemmInstruction i = cut.instruction;
  pic.titles = {"the matrices", pic.named ? "the named block" : "a block", grouped ? "four warps" : "a warp",
                lanes ? "a thread" : "an instruction"};
  pic.sizes = {by(s.m, s.n), by(t.block_m, t.block_n) + ", " + count_text(t.block_k) + " deep", by(t.warp_m, t.warp_n),
               lanes ? by(t.thread_m, t.thread_n) + " sums at once" : "16 \xC3\x97 8 of it: 4 sums per lane"};
  const std::int64_t warps = gpu::gemm_warps(t);
  pic.notes[0] = plural(out.study.traffic.blocks, "tile") + ": each loads its rows of A and columns of B";
  pic.notes[1] = binary(out.study.budget.stage_bytes) + " per stage, " + plural(warps, grouped ? "group" : "warp") +
                 (grouped ? " of four warps" : "");
  if (lanes) {
    pic.notes[2] = "32 lanes; " + format_text(out.study.gates[2].intensity, "FLOP/B") + " from shared memory";
    pic.notes[3] = format_text(out.register_intensity, "FLOP/B") + " from what lands in registers";
    return;
  }
  const std::int64_t down = ceil_div(t.warp_m, i.m), across = ceil_div(t.warp_n, i.n);
  pic.notes[2] = grouped ? format_text(out.study.gates[2].intensity, "FLOP/B") + " from shared memory"
                         : count_text(down * across) + " fragments: A serves " + count_text(across) + ", B serves " +
                               count_text(down);
  pic.notes[3] = "point at a cell for its lane; " + count_text(i.k) + " deep in one step";
}

/// ", then C, bias": what is done to the sums.
std::string epilogue_words(const gpu::GemmEpilogue& e) {
  std::string words;
  const auto add = [&](bool there, std::string_view what) {
    if (there) words += (words.empty() ? ", then " : ", ") + std::string(what);
  };
  add(e.reads_c, "C");
  add(e.bias, "bias");
  add(e.activation, "activation");
  if (e.any() && !e.fused) words += " apart";
  return words;
}

/// What adds most to the slowest gate's time.
std::string_view hatched_words(const gpu::GemmStudy& s) {
  const double waves_s = s.time_s - s.gate_s - s.pass_s - s.tiling.reduction_s;
  if (s.pass_s >= std::max(waves_s, s.tiling.reduction_s)) return "the epilogue's own pass";
  return waves_s >= s.tiling.reduction_s ? "SMs without a tile" : "partial sums";
}

/// What of the block is more than an SM has.
void arrange_overflow(const Outputs& out, const Cut& cut, Picture& pic) {
  const gpu::GemmBudget& b = out.study.budget;
  const auto more = [&](std::string name, double needs, double limit, bool bytes) {
    const auto words = [&](double n) { return bytes ? binary(n) : format_text(n, "", 9); };
    pic.overflow = {.name = std::move(name), .needs = words(needs), .limit = words(limit), .share = needs / limit};
  };
  switch (b.fit) {
    case gpu::GemmFit::shared_memory:
      more("shared memory", b.shared_bytes, b.shared_limit_bytes, true);
      pic.overflow.parts = cut.tile.stages;
      return;
    case gpu::GemmFit::registers:
      if (b.registers > gpu::SmLimits::thread_registers)
        return more("registers per thread", as_double(b.registers), gpu::SmLimits::thread_registers, false);
      return more("registers per block", as_double(b.registers * b.threads), gpu::SmLimits::registers, false);
    case gpu::GemmFit::threads:
      return more("threads per block", as_double(b.threads), 1024, false);
    case gpu::GemmFit::tensor_memory:
      return more("tensor memory", as_double(ceil_div(cut.tile.block_m, 128) * cut.tile.block_n), 512, false);
    case gpu::GemmFit::fits:
      return;
  }
}

void arrange_lanes(const Outputs& out, const Cut& cut, Picture& pic) {
  double widest = 0;
  for (const gpu::GemmGateTime& g : out.study.gates)
    if (g.bytes > widest) widest = g.bytes;
  constexpr std::array names{"DRAM to L2", "L2 to shared memory", "shared memory to warps", "shared memory to lanes",
                             ""};
  constexpr std::array keys{"hbm_s", "l2_s", "shared_s", "registers_s", "arithmetic_s"};
  const std::array tiles{
      std::string("each matrix once"), "block " + by(cut.tile.block_m, cut.tile.block_n),
      (cut.tile.unit == GemmUnit::wgmma ? "four warps " : "warp ") + by(cut.tile.warp_m, cut.tile.warp_n),
      "thread " + by(cut.tile.thread_m, cut.tile.thread_n), std::string()};
  pic.longest_s = 0;
  const bool runs = out.study.budget.fit == gpu::GemmFit::fits;
  for (std::size_t i = 0; i < gate_count; ++i) {
    const gpu::GemmGateTime &g = out.study.gates[i], &other = out.other.gates[i];
    const bool work = i + 1 == gate_count;
    if (!work && !(g.bytes > 0)) continue;
    GateLane lane{.name = names[i],
                  .tile = tiles[i],
                  .time = runs ? format_text(g.time_s, "s") : std::string(),
                  .rate = format_text(g.rate, work ? "FLOP/s" : "B/s"),
                  .moved = work ? 0 : g.bytes / widest,
                  .time_s = g.time_s,
                  .other_s = other.time_s,
                  .other = std::isfinite(other.time_s) ? format_text(other.time_s, "s") : std::string(),
                  .output = keys[i],
                  .arithmetic = work,
                  .slowest = runs && static_cast<GemmGate>(i) == out.study.slowest};
    if (work) {
      lane.name = cut.tile.unit == GemmUnit::fma ? "FMA pipes" : "Tensor Cores";
      lane.tile =
          std::string(models::format_label(out.rates.format)) + ", " + format_text(out.study.traffic.flops, "FLOP");
      lane.tile += epilogue_words(cut.epilogue);
      if (out.instruction_share < 100)
        lane.intensity = "mma.sync, " + format_text(out.instruction_share, "%") + " of the peak" +
                         (out.rates.instruction_assumed ? " assumed" : "");
    } else {
      lane.bytes = format_text(g.bytes, "B");
      lane.intensity = format_text(g.intensity, "FLOP/B");
      if (static_cast<GemmGate>(i) == GemmGate::l2 && out.study.traffic.l2_read_bytes < out.study.traffic.l2_bytes) {
        lane.name = "read from L2";
        lane.intensity = format_text(out.study.traffic.l2_bytes, "B") + " arrive by multicast";
      }
    }
    if (runs) pic.longest_s = std::max(pic.longest_s, g.time_s);
    if (std::isfinite(other.time_s)) pic.longest_s = std::max(pic.longest_s, other.time_s);
    pic.lanes.push_back(std::move(lane));
  }
  if (!runs) return;
  pic.gate_s = out.study.gate_s;
  pic.time_s = out.study.time_s;
  // What waves and other passes add has its place where it does not squeeze the gates.
  pic.longest_s = std::max(pic.longest_s, std::min(pic.time_s, 2 * pic.longest_s)) * 1.02;
  pic.finish = "slowest gate " + format_text(pic.gate_s, "s");
  if (pic.time_s > 1.005 * pic.gate_s)
    pic.waves = "hatched: " + std::string(hatched_words(out.study)) + ", " + format_text(pic.time_s, "s") + " in all";
}

/// On this chip, or on one that differs in its memory alone.
bool measured_on(const Published& row, const models::Chip& mine) {
  const PublishedInput* on = row.input("chip");
  const models::Chip* theirs = on ? catalog().chip(on->text) : nullptr;
  return theirs && mine.architecture == theirs->architecture && mine.compute_units == theirs->compute_units &&
         mine.dense_peak_flops_per_s == theirs->dense_peak_flops_per_s;
}

/// What was measured for this matmul on the chip, with the unit that multiplies here.
std::vector<const Published*> measured_here(const models::Chip& chip, const Cut& cut) {
  const gpu::GemmShape& s = cut.shape;
  constexpr std::array<std::string_view, gpu::gemm_unit_count> units{"fma", "mma", "wgmma"};
  const std::string_view mine = units[static_cast<std::size_t>(cut.tile.unit)];
  const auto with_unit = [&](const Published& row) {
    const PublishedInput* unit = row.input("unit");
    return unit && unit->text == mine;
  };
  const auto says = [](const Published& row, std::string_view key, double value) {
    return row.number(key, std::numeric_limits<double>::quiet_NaN()) == value;
  };
  std::vector<const Published*> out;
  for (const Published& row : catalog().published_of("kernels/gemm-tiling"))
    if (says(row, "m", as_double(s.m)) && says(row, "n", as_double(s.n)) && says(row, "k", as_double(s.k)) &&
        says(row, "element_bytes", s.element_bytes) && with_unit(row) && measured_on(row, chip))
      out.push_back(&row);
  return out;
}

/// The rungs of one ladder alone, of which most were measured for this matmul on this chip.
void arrange_rungs(const Inputs& in, const Outputs& out, const Cut& cut, Picture& pic) {
  const models::Chip* chip = catalog().chip(in.chip);
  if (!chip || !pic.runs) return;
  const auto rows = measured_here(*chip, cut);
  std::ptrdiff_t most = 0;
  for (const Published* row : rows) {
    const auto rungs =
        std::count_if(rows.begin(), rows.end(), [&](const Published* other) { return other->source == row->source; });
    if (rungs <= most) continue;
    most = rungs;
    pic.ladder = row->source;
  }
  for (const Published* row : rows)
    if (row->source == pic.ladder)
      pic.rungs.push_back({row->label.empty() ? row->name : row->label, out.study.traffic.flops / row->measured});
  std::sort(pic.rungs.begin(), pic.rungs.end(),
            [](const RungMark& a, const RungMark& b) { return a.time_s < b.time_s; });
  if (pic.rungs.empty()) return;
  // The axis reaches to what is about twice the bound, and to the fastest rung in any case.
  pic.longest_s = std::max(pic.longest_s, 1.05 * pic.rungs.front().time_s);
  for (const RungMark& rung : pic.rungs)
    if (rung.time_s <= 2.2 * pic.gate_s) pic.longest_s = std::max(pic.longest_s, 1.05 * rung.time_s);
  const auto late = std::erase_if(pic.rungs, [&](const RungMark& r) { return r.time_s > pic.longest_s; });
  if (late > 0) pic.beyond = count_text(static_cast<std::int64_t>(late)) + " more, slower";
}

void arrange_budget(const Outputs& out, Picture& pic) {
  const gpu::GemmBudget& b = out.study.budget;
  const auto share = [](double part, double whole) { return 100 * part / whole; };
  const auto stages = static_cast<std::size_t>(std::min(12.0, std::round(b.shared_bytes / b.stage_bytes)));
  BudgetBar shared{.label = "shared memory of a block",
                   .words = binary(b.shared_bytes) + " of " + binary(b.shared_limit_bytes),
                   .segments = {}};
  for (std::size_t i = 0; i < stages; ++i)
    shared.segments.push_back({.label = "a stage",
                               .value = share(b.stage_bytes, b.shared_limit_bytes),
                               .tint = Meaning::memory_bound,
                               .info = "(rows + columns) x depth x bytes",
                               .hatched = i % 2 == 1});
  pic.budget.push_back(std::move(shared));
  constexpr double most = gpu::SmLimits::thread_registers, threads = 1024;
  const double sums = std::isfinite(out.accumulators) ? out.accumulators : 0, registers = as_double(b.registers);
  pic.budget.push_back({.label = "registers of a thread",
                        .words = count_text(b.registers) + " of 255",
                        .segments = {{.label = "sums",
                                      .value = share(std::min(sums, registers), most),
                                      .tint = Meaning::compute_bound,
                                      .info = "warp rows x warp columns / 32"},
                                     {.label = "other registers",
                                      .value = share(registers - std::min(sums, registers), most),
                                      .tint = Tint(),
                                      .info = "fragments, addresses and counters: as set"}}});
  pic.budget.push_back(
      {.label = "threads of a block",
       .words = count_text(b.threads) + " of 1,024",
       .segments = {
           {.label = "threads", .value = share(as_double(b.threads), threads), .tint = Tint(), .info = "warps x 32"}}});
  const double held = as_double(b.occupancy.blocks);
  pic.budget.push_back({.label = "an SM's shared memory",
                        .words = plural(b.occupancy.blocks, "block"),
                        .segments = {{.label = "blocks that it holds",
                                      .value = share(held * as_double(b.occupancy.block_shared_bytes),
                                                     as_double(out.rates.sm->shared_bytes)),
                                      .tint = Meaning::memory_bound,
                                      .info = "blocks x what each takes, the system's part included"}}});
  pic.budget.push_back(
      {.label = "an SM's registers",
       .words = plural(b.occupancy.blocks, "block"),
       .segments = {{.label = "blocks that it holds",
                     .value = share(held * as_double(b.occupancy.block_registers), gpu::SmLimits::registers),
                     .tint = Meaning::compute_bound,
                     .info = "blocks x what each takes, in units of a warp"}}});
  pic.verdict = b.fit == gpu::GemmFit::fits ? "An SM holds " + plural(b.occupancy.blocks, "block") + "; up to " +
                                                  plural(b.max_stages, "stage") + " would fit."
                                            : "The block does not fit an SM: it takes no time.";
}

/// Each gate's time over the edge of a square block, all else as set.
void arrange_curves(const Outputs& out, const Cut& cut, Picture& pic) {
  const double bm = as_double(cut.tile.block_m), bn = as_double(cut.tile.block_n);
  pic.edge = 2 * bm * bn / (bm + bn);
  widgets::Curve l2{.label = "L2",
                    .info = "blocks x (rows + columns) x K x b / its rate, as far as such a block fits",
                    .output = "l2_s",
                    .tint = Tint::series(0)};
  for (std::int64_t edge = 16; edge <= 512; edge += edge < 64 ? 8 : 16) {
    gpu::GemmTile square = cut.tile;
    square.block_m = square.block_n = edge;
    square.warp_m = std::min(square.warp_m, edge);
    square.warp_n = std::min(square.warp_n, edge);
    if (gpu::gemm_budget(square, cut.shape.element_bytes, cut.options.other_registers, *out.rates.sm).fit !=
        gpu::GemmFit::fits)
      continue;
    l2.add(as_double(edge),
           gpu::gemm_traffic(cut.shape, square, cut.epilogue).l2_read_bytes / out.rates.l2_bytes_per_s);
  }
  const auto level = [&](std::string label, GemmGate gate, Tint tint, std::string output) {
    const double s = out.study.at(gate).time_s;
    if (!(s > 0)) return;
    widgets::Curve line{
        .label = std::move(label), .info = "does not depend on the block", .output = std::move(output), .tint = tint};
    line.add(16, s);
    line.add(512, s);
    pic.curves.push_back(std::move(line));
  };
  pic.curves.push_back(std::move(l2));
  level("DRAM", GemmGate::hbm, Meaning::memory_bound, "hbm_s");
  level("shared memory", GemmGate::shared, Tint::series(4), "shared_s");
  level("registers", GemmGate::registers, Tint::series(5), "registers_s");
  level(cut.tile.unit == GemmUnit::fma ? "FMA pipes" : "Tensor Cores", GemmGate::arithmetic, Meaning::compute_bound,
        "arithmetic_s");
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture pic;
  if (!out.reason.empty()) return pic;
  const Cut& cut = run.cut;
  pic.answer = answer_of(in, out, run);
  pic.runs = out.study.budget.fit == gpu::GemmFit::fits;
  pic.named = !in.kernel.empty();
  arrange_zoom(out, cut, pic);
  arrange_lanes(out, cut, pic);
  arrange_rungs(in, out, cut, pic);
  arrange_budget(out, pic);
  arrange_curves(out, cut, pic);
  pic.doors = doors_of(out, cut);
  arrange_overflow(out, cut, pic);
  pic.other_label = out.other_slowest == Gate::none ? by(in.other_block, in.other_block) + " does not fit"
                                                    : "dashed: blocks of " + by(in.other_block, in.other_block);
  return pic;
}

}  // namespace chapters::kernels::gemm_tiling
