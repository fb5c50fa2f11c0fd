#include <algorithm>
#include <cmath>
#include <string>

#include "chapters/inference/flash_attention/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/base/integer_math.h"
#include "models/gpu/occupancy.h"

namespace chapters::inference::flash_attention {
namespace {

using namespace models::inference;
using models::as_double;

constexpr std::int64_t max_cells = 128, max_drawn_tokens = 1024, lane_tiles = 4;
constexpr double special_functions_a_clock = 16;  // CUDA C++ programming guide, throughput of exp2 in 32 bits
constexpr double shared_bytes_a_clock = 128;

FlashShape shape_of(const Inputs& in) {
  return {.sequence = in.sequence, .head_dim = in.head_dim, .heads = in.heads, .batch = in.batch, .causal = in.causal};
}

FlashTile tile_of(const Inputs& in) { return {in.block_rows, in.block_columns, in.stages}; }

double clock_of(const models::Chip& chip) { return chip.matrix_clock_hz.value_or(chip.boost_clock_hz.value_or(0)); }

/// The small head whose cells stand for tokens of the drawn part of the sequence.
FlashRunSetup numbers_of(const Inputs& in) {
  const std::int64_t drawn = std::min(in.sequence, max_drawn_tokens), cells = std::min(drawn, max_cells);
  const auto side = [&](std::int64_t block) {
    return std::clamp<std::int64_t>((block * cells + drawn / 2) / drawn, 1, cells);
  };
  return {.tokens = cells,
          .rows = side(in.block_rows),
          .columns = side(in.block_columns),
          .causal = in.causal,
          .backward = in.pass != FlashPass::forward,
          .arithmetic = in.arithmetic,
          .seed = in.seed};
}

std::string limit_of(const FlashTimes& t) {
  const double most = t.all_s();
  return most == t.matmul_s ? "matmuls" : most == t.exponential_s ? "exponentials" : most == t.hbm_s ? "memory" : "L2";
}

MultiprocessorRates rates_of(const models::Chip& chip, const FlashChip& flash) {
  const double clocks = clock_of(chip) * as_double(flash.multiprocessors);
  if (!(clocks > 0) || !(flash.exponentials_per_s > 0)) return {.matmul_flops = 0};
  return {flash.matmul_flops_per_s / clocks, flash.exponentials_per_s / clocks, shared_bytes_a_clock};
}

/// What each schedule would do with the same tile, and how its warps share it.
void fill_schedules(const Inputs& in, const models::Chip& chip, const FlashChip& flash, Outputs& out, Run& run) {
  const MultiprocessorRates rates = rates_of(chip, flash);
  for (int i = 0; i < flash_schedule_count; ++i) {
    const auto schedule = static_cast<FlashSchedule>(i);
    const auto count = count_flash(shape_of(in), tile_of(in), schedule, in.pass, flash);
    if (!count) continue;
    const std::int64_t blocks =
        flash_blocks_per_multiprocessor(shape_of(in), tile_of(in), schedule, FlashPass::forward, flash);
    ScheduleRow row{.schedule = std::string(schedule_name(schedule)),
                    .hbm_bytes = count->work.hbm_bytes,
                    .l2_bytes = count->work.l2_bytes,
                    .rereads = count->walk.rereads,
                    .fetches = count->walk.fetches,
                    .least_s = flash_times(count->work, flash).all_s()};
    if (auto warps = run_flash_warps(shape_of(in), tile_of(in), schedule, blocks, rates, lane_tiles)) {
      row.exchange_bytes = warps->exchange_bytes;
      row.tensor_busy = 100 * warps->tensor_busy;
      if (schedule == in.schedule) {
        out.tensor_busy = row.tensor_busy;
        out.exchange_bytes = row.exchange_bytes;
      }
      run.warps[static_cast<std::size_t>(i)] = std::move(*warps);
    }
    out.schedules.push_back(std::move(row));
  }
}

void fill_by_rows(const Inputs& in, const FlashChip& flash, Run& run) {
  for (std::int64_t rows = 16; rows <= 256; rows += 16) {
    FlashTile tile = tile_of(in);
    tile.rows = rows;
    const auto count = count_flash(shape_of(in), tile, in.schedule, in.pass, flash);
    if (!count) break;
    run.by_rows.push_back({as_double(rows), count->work.hbm_bytes, count->work.l2_bytes});
  }
}

void fill_facts(const Inputs& in, const FlashChip& flash, const FlashCount& count, Outputs& out) {
  const FlashShape shape = shape_of(in);
  out.square = count_square(shape, in.pass);
  out.tiles = count.work;
  out.walk = count.walk;
  out.kept_share = 100 * count.walk.kept_share;
  out.times = flash_times(count.work, flash);
  out.square_flops = out.square.flops();
  out.tiled_flops = out.tiles.flops();
  out.flops_more = 100 * (out.tiled_flops / out.square_flops - 1);
  out.bytes_ratio = out.square.hbm_bytes / out.tiles.hbm_bytes;
  out.square_time_s = square_time_s(shape, in.pass, flash);
  out.tiled_time_s = out.times.all_s();
  out.speedup = out.square_time_s / out.tiled_time_s;
  out.rate = flash_counted_flops(shape, in.pass) / out.tiled_time_s;
  out.l2_rate = out.tiles.l2_bytes / out.tiled_time_s;
  out.limit = limit_of(out.times);
  out.scores_intensity = scores_intensity(shape);
  out.ridge = flash.memory_bytes_per_s > 0 ? flash.matmul_flops_per_s / flash.memory_bytes_per_s : 0;
  if (flash.exponentials_per_s > 0) {
    out.exponential_share = 100 * out.times.exponential_s / out.times.matmul_s;
    out.in_turn_s = out.times.in_turn_s();
  } else {
    out.times.exponential_s = Outputs::none;
  }
  if (!(flash.l2_bytes_per_s > 0)) out.times.l2_s = Outputs::none;
  out.shared_bytes = flash_shared_bytes(shape, tile_of(in), in.schedule, in.pass);
  out.shared_limit_bytes = flash.block_shared_bytes;
  out.register_bytes = flash_register_bytes(shape, tile_of(in), in.pass);
  out.register_limit_bytes = flash.register_bytes;
  out.blocks = flash_blocks_per_multiprocessor(shape, tile_of(in), in.schedule, in.pass, flash);
}

/// The fastest of the published runs on this chip with the same pass and mask, whatever their shape: a rate as papers
/// count it, or their FLOPs over the time that was measured.
void find_measured(const Inputs& in, Outputs& out) {
  constexpr std::array<std::string_view, 3> passes{"forward", "backward", "both"};
  const Inputs usual;
  for (const Published& row : catalog().published_of("inference/flash-attention")) {
    const bool rate = row.output == "rate";
    if ((!rate && row.output != "tiled_time_s") || !row.sets("chip", in.chip) || !(row.measured > 0) ||
        !row.sets("pass", passes[static_cast<std::size_t>(in.pass)]) || row.sets("causal", "true") != in.causal)
      continue;
    const auto size = [&](std::string_view key, std::int64_t otherwise) {
      return static_cast<std::int64_t>(row.number(key, as_double(otherwise)));
    };
    const FlashShape shape{.sequence = size("sequence", usual.sequence),
                           .head_dim = size("head_dim", usual.head_dim),
                           .heads = size("heads", usual.heads),
                           .batch = size("batch", usual.batch),
                           .causal = in.causal};
    const double reached = rate ? row.measured : flash_counted_flops(shape, in.pass) / row.measured;
    if (out.measured_rate >= reached) continue;  // not where there is none yet
    out.measured_rate = reached;
    out.measured_run = row.name;
  }
}

void fill_numbers(const Inputs& in, const FlashRun& run, Outputs& out) {
  const bool forward = in.pass != FlashPass::backward, backward = in.pass != FlashPass::forward;
  out.max_error = std::max(forward ? run.tiles.forward : 0, backward ? run.tiles.backward : 0);
  out.square_error = std::max(forward ? run.square.forward : 0, backward ? run.square.backward : 0);
  out.unscaled_error = 100 * run.unscaled_error;
  out.new_maxima = run.later_tiles > 0 ? 100 * as_double(run.new_maxima) / as_double(run.later_tiles) : 0;
}

}  // namespace

models::Result<FlashChip> flash_chip_of(const models::Chip& chip) {
  using Out = models::Result<FlashChip>;
  const auto peak = chip.peak_flops_per_s(models::Format::bf16) ? chip.peak_flops_per_s(models::Format::bf16)
                                                                : chip.peak_flops_per_s(models::Format::fp16);
  if (!peak) return Out::fail("Nobody states a peak in 16 bits for " + chip.short_name + "; choose another chip.");
  if (!chip.shared_mem_per_unit_bytes || !chip.register_file_per_unit_bytes || !chip.compute_units)
    return Out::fail(
        chip.short_name +
        " has no multiprocessors with shared memory and registers as these tiles need them; choose a GPU.");
  FlashChip out{.matmul_flops_per_s = *peak,
                .memory_bytes_per_s = chip.memory_bandwidth_bytes_per_s,
                .l2_bytes_per_s = chip.measured.l2_bytes_per_s.value_or(0),
                .l2_bytes = chip.l2_bytes.value_or(0),
                .multiprocessors = *chip.compute_units,
                .block_shared_bytes = *chip.shared_mem_per_unit_bytes,
                .shared_bytes = *chip.shared_mem_per_unit_bytes,
                .register_bytes = *chip.register_file_per_unit_bytes};
  if (chip.vendor != "NVIDIA") return Out::ok(out);
  out.exponentials_per_s = special_functions_a_clock * as_double(out.multiprocessors) * clock_of(chip);
  const auto capability = models::gpu::capability_in(chip.architecture);
  if (const auto* sm = capability ? models::gpu::sm_limits(*capability) : nullptr) {
    out.block_shared_bytes = as_double(sm->block_shared_bytes);
    out.reserved_bytes = as_double(sm->reserved_bytes);
  }
  return Out::ok(out);
}

std::string_view schedule_name(FlashSchedule schedule) {
  return schedule == FlashSchedule::fa1 ? "FA-1" : schedule == FlashSchedule::fa2 ? "FA-2" : "FA-3";
}

Computed compute(const Inputs& in, const Progress& progress, Numbers& numbers) {
  const auto chip = find_chip(in.chip);
  if (!chip) return infeasible<Computed>(chip.error);
  const auto flash = flash_chip_of(**chip);
  if (!flash) return infeasible<Computed>(flash.error);
  const auto count = count_flash(shape_of(in), tile_of(in), in.schedule, in.pass, *flash);
  if (!count) return infeasible<Computed>(count.error);
  std::string error;
  const auto head = numbers.get(numbers_of(in), [&](const FlashRunSetup& setup) -> std::shared_ptr<const FlashRun> {
    auto run = run_flash_attention(setup);
    if (run) return std::make_shared<const FlashRun>(std::move(*run));
    error = run.error;
    return nullptr;
  });
  if (!head) return infeasible<Computed>(error);
  Computed done;
  auto run = std::make_shared<Run>();
  run->numbers = head;
  run->drawn_tokens = as_double(std::min(in.sequence, max_drawn_tokens));
  fill_facts(in, *flash, *count, done.facts);
  fill_numbers(in, *head, done.facts);
  find_measured(in, done.facts);
  fill_schedules(in, **chip, *flash, done.facts, *run);
  if (!progress.facts_alone) fill_by_rows(in, *flash, *run);
  done.run = std::move(run);
  return done;
}

}  // namespace chapters::inference::flash_attention
