#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/tiling_waves/lab.h"
#include "widgets/number/number.h"

namespace chapters::roofline::tiling_waves {
namespace {

using models::AlignmentRule;
using models::Schedule;

std::string count(std::int64_t n) { return widgets::format_text(static_cast<double>(n), "", 12); }

/// The rates below 16 bytes, 0 to 1. While the old rule is set, the inputs are hidden and their defaults hold.
void set_rates(const Inputs& in, models::TilingInputs& t) {
  const Inputs rates = in.alignment_rule == AlignmentRule::preferred ? in : Inputs{};
  t.misaligned_rate = rates.misaligned_rate / 100;
  t.partly_aligned_rate = rates.partly_aligned_rate / 100;
}

void set_sizes(const Inputs& in, models::TilingInputs& t) {
  t.m = in.m;
  t.n = in.n;
  t.k = in.k;
  t.tile_m = in.tile_m;
  t.tile_n = in.tile_n;
  t.tile_k = in.tile_k;
  t.tiles_per_sm = in.tiles_per_unit;
  t.schedule = in.schedule;
  t.split = in.schedule == Schedule::split_k ? in.splits : 1;
  t.alignment_rule = in.alignment_rule;
  if (in.format != models::Format::fp32 && in.format != models::Format::fp64) set_rates(in, t);
}

void rate_result(Outputs& out) {
  const models::TilingInputs& t = out.setting;
  const models::TilingResult& r = out.result;
  out.slots = t.sm_count * t.tiles_per_sm;
  out.last_wave_blocks = r.work_units - (r.waves - 1) * out.slots;
  const double share = r.effective_flops_per_s / t.peak_flops_per_s;
  out.efficiency = 100 * share;
  out.tile_efficiency = 100 * r.tile_efficiency;
  out.depth_efficiency = 100 * r.depth_efficiency;
  out.wave_efficiency = 100 * r.wave_efficiency;
  out.alignment_efficiency = 100 * r.alignment_efficiency;
  out.ideal_s = share * r.time_s;
  out.lost_s = r.time_s - out.ideal_s;
  out.free_range = models::free_range(t, r);
}

void add_corners(const Inputs& in, Outputs& out) {
  double best = 0;
  for (const models::SawPoint& p : models::sawtooth(out.setting, std::max(in.sweep_to, in.n))) {
    out.corners.push_back({p.n, p.waves, 100 * p.aligned, 100 * p.preferred, 100 * p.required});
    if (p.aligned <= best * (1 + 1e-12)) continue;
    best = p.aligned;
    out.best_n = p.n;
  }
  out.best_share = 100 * best;
}

models::Status add_padding(const Inputs& in, Outputs& out) {
  const auto preferred = models::padding_story(out.setting, AlignmentRule::preferred, in.pad_bytes);
  if (!preferred) return models::Status::fail(preferred.error);
  const auto required = models::padding_story(out.setting, AlignmentRule::required, in.pad_bytes);
  if (!required) return models::Status::fail(required.error);
  out.padding_preferred = *preferred;
  out.padding_required = *required;
  out.padding = in.alignment_rule == AlignmentRule::preferred ? *preferred : *required;
  out.padding_cost = 100 * static_cast<double>(out.padding.padded_n - in.n) / static_cast<double>(in.n);
  return models::Status::ok();
}

models::Status add_schedules(const Inputs& in, Outputs& out) {
  const auto all = models::compare_schedules(out.setting);
  if (!all) return models::Status::fail(all.error);
  const auto& [data_parallel, split_k, stream_k] = *all;
  const double plain_s = data_parallel.result.time_s;
  const auto add = [&](std::string name, const models::ScheduleResult& s) {
    out.schedules.push_back({std::move(name), s, 100 * s.result.wave_efficiency, plain_s / s.result.time_s});
  };
  add("data parallel", data_parallel);
  add("split-K × " + count(split_k.split), split_k);
  if (in.schedule == Schedule::split_k && in.splits != split_k.split)
    add("split-K × " + count(in.splits) + ", set", {Schedule::split_k, in.splits, out.result});
  add("stream-K", stream_k);
  out.split_k = split_k;
  out.stream_k = stream_k;
  out.best_schedule_speedup = plain_s / std::min({plain_s, split_k.result.time_s, stream_k.result.time_s});
  return models::Status::ok();
}

/// Share of the peak, in %, that was published of these rows and this depth; NaN where nobody did, or the format's peak
/// is not that of the one measured in.
double published_share(const Inputs& in, const models::Chip& chip, std::int64_t n) {
  double share = std::numeric_limits<double>::quiet_NaN();
  if (chip.peak_flops_per_s(in.format) != chip.peak_flops_per_s(models::Format::fp16) || in.units_taken > 0)
    return share;
  for (const Published& row : catalog().published_of("roofline/tiling-waves"))
    if (row.sets("chip", in.chip) && row.number("m", 0) == static_cast<double>(in.m) &&
        row.number("n", 0) == static_cast<double>(n) && row.number("k", 0) == static_cast<double>(in.k))
      share = row.measured;
  return share;
}

/// What was measured of this matmul and of the padded one.
void add_measured(const Inputs& in, const models::Chip& chip, Outputs& out) {
  out.measured_share = published_share(in, chip, in.n);
  out.measured_s = out.ideal_s / (out.measured_share / 100);
  const double wider = static_cast<double>(out.padding.padded_n) / static_cast<double>(in.n);
  out.measured_padded_s = wider * out.ideal_s / (published_share(in, chip, out.padding.padded_n) / 100);
}

Computed infeasible(std::string why) {
  Computed none;
  none.facts.reason = std::move(why);
  return none;
}

}  // namespace

models::TileWork TileBoard::at(std::int64_t row, std::int64_t col) const {
  return models::tile_work(setting, result, row, col);
}

Computed compute(const Inputs& in) {
  const auto chip = find_chip(in.chip);
  if (!chip) return infeasible(chip.error);
  auto setting = models::tiling_on(**chip, in.format, in.units_taken, in.l2_bytes_per_clock);
  if (!setting) return infeasible(setting.error);
  set_sizes(in, *setting);
  if (const std::int64_t steps = (in.k + in.tile_k - 1) / in.tile_k; setting->split > steps)
    return infeasible("Depth K = " + count(in.k) + " is " + count(steps) + (steps == 1 ? " step" : " steps") + " of " +
                      count(in.tile_k) + ", too few for " + count(in.splits) +
                      " splits: set fewer, or a smaller tile depth.");
  const auto result = models::tile_matmul(*setting);
  if (!result) return infeasible(result.error);
  Outputs out;
  out.setting = *setting;
  out.result = *result;
  rate_result(out);
  Run run{.tiles = {*setting, *result},
          .losses = models::losses_of(*result),
          .spans = models::wave_spans(*setting, *result),
          .neighbours = models::neighbours(*setting, 12)};
  out.operand_efficiency = 100 * run.losses.memory;
  out.reduction_efficiency = 100 * run.losses.reduction;
  add_corners(in, out);
  for (const models::Status& status : {add_padding(in, out), add_schedules(in, out)})
    if (!status) return infeasible(status.error);
  add_measured(in, **chip, out);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::roofline::tiling_waves
