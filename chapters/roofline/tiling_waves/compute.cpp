#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/tiling_waves/lab.h"
#include "widgets/number/number.h"

namespace chapters::roofline::tiling_waves {
namespace {

using models::AlignmentRule;
using models::Schedule;
using widgets::format_text;

std::string count(std::int64_t n) { return format_text(static_cast<double>(n), "", 12); }
std::string times(double factor) { return format_text(factor, "", 3) + " times"; }

/// 67 of Inputs as the model takes it. While the old rule is set, the rate it hides stays at its default.
double rate_now(const Inputs& in) {
  return (in.alignment_rule == AlignmentRule::preferred ? in.misaligned_rate : Inputs{}.misaligned_rate) / 100;
}

void fill_sizes(const Inputs& in, models::TilingInputs& t) {
  t.m = in.m, t.n = in.n, t.k = in.k;
  t.tile_m = in.tile_m, t.tile_n = in.tile_n, t.tile_k = in.tile_k;
  t.tiles_per_sm = in.tiles_per_unit;
  t.schedule = in.schedule;
  t.split = in.schedule == Schedule::split_k ? in.splits : 1;
  t.alignment_rule = in.alignment_rule;
  if (in.format != models::Format::fp32 && in.format != models::Format::fp64) t.misaligned_rate = rate_now(in);
}

void fill_result(const models::TilingInputs& t, const models::TilingResult& r, Outputs& out) {
  out.setting = t;
  out.result = r;
  out.losses = models::losses_of(r);
  out.tiles_m = r.tiles_m, out.tiles_n = r.tiles_n, out.tiles = r.tiles;
  out.blocks = r.work_units;
  out.waves = r.waves;
  out.slots = t.sm_count * t.tiles_per_sm;
  out.last_wave_blocks = r.work_units - (r.waves - 1) * out.slots;
  const double share = r.effective_flops_per_s / t.peak_flops_per_s;
  out.efficiency = 100 * share;
  out.tile_efficiency = 100 * r.tile_efficiency;
  out.depth_efficiency = 100 * r.depth_efficiency;
  out.wave_efficiency = 100 * r.wave_efficiency;
  out.alignment_efficiency = 100 * r.alignment_efficiency;
  out.alignment_bytes = r.alignment_bytes;
  out.effective_flops_per_s = r.effective_flops_per_s;
  out.peak_flops_per_s = t.peak_flops_per_s;
  out.time_s = r.time_s, out.compute_s = r.compute_s, out.memory_s = r.memory_s;
  out.reduction_s = r.reduction_s, out.reduction_bytes = r.reduction_bytes;
  out.ideal_s = share * r.time_s;
  out.lost_s = r.time_s - out.ideal_s;
  const models::FreeRange range = models::free_range(t, r);
  out.free_to_n = range.last_n;
  out.one_wave_less_n = range.below_n;
}

void fill_saw(const Inputs& in, Outputs& out) {
  for (const models::SawPoint& p : models::sawtooth(out.setting, std::max(in.sweep_to, in.n))) {
    out.saw_n.push_back(static_cast<double>(p.n));
    out.saw_aligned.push_back(100 * p.aligned);
    out.saw_preferred.push_back(100 * p.preferred);
    out.saw_required.push_back(100 * p.required);
    out.corners.push_back({p.n, p.waves, 100 * p.aligned, 100 * p.preferred, 100 * p.required});
    if (p.aligned > out.best_share * (1 + 1e-12)) out.best_share = p.aligned, out.best_n = p.n;
  }
  out.best_share *= 100;
  out.saw_top = std::min(105.0, 1.15 * out.best_share);
  for (const models::Neighbour& p : models::neighbours(out.setting, 12)) {
    out.near_n.push_back(static_cast<double>(p.n));
    out.near_now.push_back(100 * p.preferred);
    out.near_then.push_back(100 * p.required);
  }
  if (!out.near_now.empty())
    out.near_top = std::min(110.0, 1.3 * *std::max_element(out.near_now.begin(), out.near_now.end()));
  // One row of flat tiles would be a line, one column of them a needle.
  const double across = static_cast<double>(out.tiles_n) / static_cast<double>(out.tiles_m);
  out.tile_aspect = std::clamp(static_cast<double>(in.tile_m) / static_cast<double>(in.tile_n),
                               std::clamp(across / 8, 0.25, 2.0), std::clamp(across * 8, 0.5, 4.0));
}

std::string fill_padding(const Inputs& in, Outputs& out) {
  const auto now = models::padding_story(out.setting, AlignmentRule::preferred, in.pad_bytes);
  const auto then = models::padding_story(out.setting, AlignmentRule::required, in.pad_bytes);
  if (!now || !then) return !now ? now.error : then.error;
  const auto& chosen = in.alignment_rule == AlignmentRule::preferred ? *now : *then;
  out.padded_n = chosen.padded_n;
  out.padded_time_s = chosen.after.time_s;
  out.padding_cost = 100 * static_cast<double>(chosen.padded_n - in.n) / static_cast<double>(in.n);
  out.padding_speedup = chosen.speedup;
  out.padding_speedup_now = now->speedup;
  out.padding_speedup_then = then->speedup;
  const std::string change = count(in.n) + " to " + count(chosen.padded_n);
  out.padding_story = chosen.padded_n == in.n
                          ? "N = " + count(in.n) + " fills rows of " + count(in.pad_bytes) + " bytes: nothing to pad"
                          : "Pad N from " + change + ": " + format_text(out.padding_cost, "%") + " more operations";
  const auto row = [](std::string_view when, const models::PaddingStory& s) {
    return std::string(when) + format_text(s.before.time_s, "s") + " to " + format_text(s.after.time_s, "s") + ", " +
           times(s.speedup);
  };
  if (chosen.padded_n != in.n) out.padding_table = row("since cuBLAS 11: ", *now) + "; " + row("before: ", *then);
  return {};
}

std::string fill_schedules(const Inputs& in, Outputs& out) {
  const auto all = models::compare_schedules(out.setting);
  if (!all) return all.error;
  const double plain_s = (*all)[0].result.time_s;
  const auto add = [&](std::string name, const models::ScheduleResult& s) {
    const models::TilingResult& r = s.result;
    out.schedules.push_back({name, s.split, r.work_units, 100 * r.wave_efficiency, r.compute_s, r.memory_s,
                             r.reduction_s, r.time_s, plain_s / r.time_s});
    out.schedule_labels.push_back(std::move(name));
  };
  add("data parallel", (*all)[0]);
  const auto& split = (*all)[1];
  add("split-K x " + count(split.split), split);
  if (in.schedule == Schedule::split_k && in.splits != split.split)
    add("split-K x " + count(in.splits) + ", set", {Schedule::split_k, in.splits, out.result});
  add("stream-K", (*all)[2]);
  out.best_splits = split.split;
  out.split_k_time_s = split.result.time_s;
  out.stream_k_time_s = (*all)[2].result.time_s;
  const double least_s = std::min({plain_s, out.split_k_time_s, out.stream_k_time_s});
  out.best_schedule_speedup = plain_s / least_s;
  const std::string best = least_s == plain_s              ? "Data parallel"
                           : least_s == out.split_k_time_s ? "Split-K"
                                                           : "Stream-K";
  out.schedule_story =
      "Other ways to deal out the same work: " +
      (least_s == plain_s ? best + " is best here" : best + " gains " + times(out.best_schedule_speedup));
  return {};
}

void fill_texts(const Inputs& in, const std::string& chip, Outputs& out) {
  const std::string per_tile = count(in.tile_m) + " x " + count(in.tile_n);
  out.summary = count(out.tiles) + " tiles of " + per_tile + " for " + count(out.slots) + " slots of " + chip + ": ";
  if (in.schedule == Schedule::stream_k) {
    out.summary += "shared out step by step to " + count(out.blocks) + " blocks.";
    out.wave_story = "Slots at work over time: " + count(out.blocks) + " of " + count(out.slots) + ", one share each";
    out.tile_title = "C by thread block; number: blocks on a tile";
  } else {
    out.summary += count(out.waves) + (out.waves == 1 ? " wave, with " : " waves, the last with ") +
                   count(out.last_wave_blocks) + " of " + count(out.slots) + " slots busy.";
    out.wave_story = "Slots at work over time: " + format_text(out.wave_efficiency, "%") + " busy, " +
                     (out.waves == 1 ? "a single wave" : "the rest idles in wave " + count(out.waves));
    out.tile_title = in.schedule == Schedule::split_k ? "C by the wave that ends a tile; hatched: unwanted"
                     : out.waves > 8                  ? "C by wave, colours repeat; hatched: unwanted"
                                                      : "C by wave; hatched: unwanted";
  }
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  const auto refuse = [&](std::string why) {
    Outputs none;
    none.reason = std::move(why);
    if (!none.reason.ends_with('.')) none.reason += '.';
    return none;
  };
  const models::Chip* chip = catalog().chip(in.chip);
  if (!chip) return refuse("There is no chip '" + in.chip + "': choose one of the list");
  auto setting = models::tiling_on(*chip, in.format, in.units_taken, in.l2_bytes_per_clock);
  if (!setting) return refuse(setting.error);
  fill_sizes(in, *setting);
  if (const std::int64_t steps = (in.k + in.tile_k - 1) / in.tile_k; setting->split > steps)
    return refuse("Depth K = " + count(in.k) + " is " + count(steps) + (steps == 1 ? " step" : " steps") + " of " +
                  count(in.tile_k) + ", too few for " + count(in.splits) +
                  " splits: set fewer, or a smaller tile depth");
  const auto result = models::tile_matmul(*setting);
  if (!result) return refuse(result.error);
  fill_result(*setting, *result, out);
  fill_saw(in, out);
  for (const std::string& problem : {fill_padding(in, out), fill_schedules(in, out)})
    if (!problem.empty()) return refuse(problem);
  out.spans = models::wave_spans(*setting, *result);
  fill_texts(in, chip->short_name.empty() ? chip->name : chip->short_name, out);
  return out;
}

}  // namespace chapters::roofline::tiling_waves
