#include <algorithm>
#include <array>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/tiling_waves/lab.h"
#include "widgets/number/number.h"

namespace chapters::roofline::tiling_waves {
namespace {

using models::Schedule;
using widgets::format_text;

std::string whole(std::int64_t n) { return format_text(static_cast<double>(n), "", 12); }
std::string times(double factor) { return format_text(factor, "", 3) + " times"; }

void arrange_saw(const Outputs& out, Picture& pic) {
  using widgets::Tint;
  pic.saw = {{{.label = "aligned N",
               .info = "2 M N K / (peak x time), rows of 16 bytes or more",
               .tint = Tint::series(0),
               .named = false},
              {.label = "odd N, since cuBLAS 11",
               .info = "Tensor Cores at the rate set for 2-byte alignment",
               .tint = Tint::series(1),
               .width = 1.5f,
               .named = false},
              {.label = "odd N, before cuBLAS 11",
               .info = "no Tensor Cores: vector units alone",
               .tint = Tint::series(5),
               .width = 1.5f,
               .named = false}}};
  for (const CornerRow& corner : out.corners) {
    const auto n = static_cast<double>(corner.n);
    pic.saw[0].add(n, corner.aligned);
    pic.saw[1].add(n, corner.misaligned);
    pic.saw[2].add(n, corner.without_tensor_cores);
  }
  pic.saw_top = std::min(105.0, 1.15 * out.best_share);
}

void arrange_neighbours(const Run& run, Picture& pic) {
  for (const models::Neighbour& p : run.neighbours) {
    pic.near_n.push_back(static_cast<double>(p.n));
    pic.near_preferred.push_back(100 * p.preferred);
    pic.near_required.push_back(100 * p.required);
  }
  if (!pic.near_preferred.empty())
    pic.near_top = std::min(110.0, 1.3 * *std::max_element(pic.near_preferred.begin(), pic.near_preferred.end()));
}

/// One row of flat tiles would be a line, one column of them a needle.
double drawn_aspect(const Inputs& in, const models::TilingResult& result) {
  const double across = static_cast<double>(result.tiles_n) / static_cast<double>(result.tiles_m);
  return std::clamp(static_cast<double>(in.tile_m) / static_cast<double>(in.tile_n), std::clamp(across / 8, 0.25, 2.0),
                    std::clamp(across * 8, 0.5, 4.0));
}

void write_padding(const Inputs& in, const Outputs& out, Picture& pic) {
  const std::int64_t padded_n = out.padding.padded_n;
  if (padded_n == in.n) {
    pic.padding_story = "N = " + whole(in.n) + " fills rows of " + whole(in.pad_bytes) + " bytes: nothing to pad";
    return;
  }
  pic.padding_story = "Pad N from " + whole(in.n) + " to " + whole(padded_n) + ": " +
                      format_text(out.padding_cost, "%") + " more operations";
  const auto row = [](std::string_view when, const models::PaddingStory& s) {
    return std::string(when) + format_text(s.before.time_s, "s") + " to " + format_text(s.after.time_s, "s") + ", " +
           times(s.speedup);
  };
  pic.padding_table = row("since cuBLAS 11: ", out.padding_preferred) + "; " + row("before: ", out.padding_required);
}

std::string schedule_story(const Outputs& out) {
  const std::string story = "Other ways to deal out the same work: ";
  const double plain_s = out.schedules.front().scheduled.result.time_s;
  const double split_k_s = out.split_k.result.time_s;
  const double stream_k_s = out.stream_k.result.time_s;
  if (plain_s <= std::min(split_k_s, stream_k_s)) return story + "Data parallel is best here";
  return story + (split_k_s <= stream_k_s ? "Split-K" : "Stream-K") + " gains " + times(out.best_schedule_speedup);
}

void write_headings(const Inputs& in, const std::string& chip, const Outputs& out, Picture& pic) {
  const std::int64_t waves = out.result.waves;
  pic.peak_label = in.units_taken > 0 ? "peak, " + whole(out.setting.sm_count) + " SMs" : "peak";
  const std::string slots = whole(out.slots), blocks = whole(out.result.work_units);
  pic.tile_story = whole(out.result.tiles_m) + " down M and " + whole(out.result.tiles_n) + " across N";
  pic.summary = whole(out.result.tiles) + " tiles of " + whole(in.tile_m) + " × " + whole(in.tile_n) + " for " + slots +
                " slots of " + chip + ": ";
  if (in.schedule == Schedule::stream_k) {
    pic.summary += "shared out step by step to " + blocks + " blocks.";
    pic.wave_story = blocks + " of " + slots + " slots at work, one share each";
    pic.tile_story += ", dealt to thread blocks step by step";
    return;
  }
  pic.summary += whole(waves) + (waves == 1 ? " wave, with " : " waves, the last with ") + whole(out.last_wave_blocks) +
                 " of " + slots + " slots busy.";
  pic.wave_story = format_text(out.wave_efficiency, "%") + " of " + slots + " slots busy" +
                   (out.last_wave_blocks == out.slots ? "" : ", the others idle in wave " + whole(waves));
}

/// The rates below 16 bytes are those that were measured, on the chip that they were measured on; under the old rule
/// they are those of the vector units, which the data sheet states.
bool rates_are_known(const Inputs& in) {
  const Inputs defaults;
  if (in.alignment_rule == models::AlignmentRule::required) return true;
  return in.chip == defaults.chip && in.misaligned_rate == defaults.misaligned_rate &&
         in.partly_aligned_rate == defaults.partly_aligned_rate;
}

/// What one loss leaves of what the others allow; its name ends with the verb.
struct Loss {
  std::string name;
  double left = 1;  ///< 0 to 1
};
std::string left_by(const Loss& loss) { return loss.name + widgets::figure(100 * loss.left, "%"); }

std::array<Loss, 6> losses_by_size(const Inputs& in, const models::TilingLosses& l) {
  std::array<Loss, 6> losses{
      {{rates_are_known(in) ? "misaligned rows leave " : "misaligned rows leave an assumed ", l.alignment},
       {"idle slots leave ", l.idle},
       {"edge tiles leave ", l.edge},
       {"a last step beyond K leaves ", l.depth},
       {"waiting for operands leaves ", l.memory},
       {"adding partial sums leaves ", l.reduction}}};
  std::stable_sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) { return a.left < b.left; });
  return losses;
}

std::string capitalized(std::string words) {
  words[0] = static_cast<char>(words[0] - 'a' + 'A');
  return words;
}

/// What the first loss left, what the next one leaves of that, and what padding would win.
std::string next_of(const std::array<Loss, 6>& losses, const Outputs& out) {
  constexpr double counts = 0.995;
  const std::string second = losses[1].left < counts ? left_by(losses[1]) + " of that" : std::string();
  if (out.padding.speedup > 1.05)
    return (second.empty() ? "Padded" : capitalized(second) + "; padded") + " to " +
           widgets::figure(static_cast<double>(out.padding.padded_n), "", 12) + " columns the matmul is " +
           widgets::figure(out.padding.speedup, widgets::times_unit) + " as fast.";
  if (out.setting.schedule == Schedule::data_parallel && out.best_schedule_speedup > 1.05)
    return (second.empty() ? "Another" : capitalized(second) + "; another") + " schedule makes the matmul " +
           widgets::figure(out.best_schedule_speedup, widgets::times_unit) + " as fast.";
  if (second.empty()) return "Nothing else costs anything that counts.";
  return capitalized(second) + (losses[2].left < counts ? ", and " + left_by(losses[2]) + " of the rest." : ".");
}

/// The loss that costs most and what is left in all, next to what was measured.
std::string answer_of(const Inputs& in, const models::TilingLosses& l, const Outputs& out) {
  const auto losses = losses_by_size(in, l);
  const std::string share = widgets::figure(out.efficiency, "%"), measured = widgets::figure(out.measured_share, "%");
  const bool known = out.measured_share > 0;
  std::string s;
  if (losses[0].left >= 0.995)
    s = "Tiles, waves and alignment lose nothing that counts: " + share + " of the peak is left at best";
  else
    s = capitalized(left_by(losses[0])) +
        (losses[1].left < 0.995 ? " of the peak, all losses together " + share : " of the peak at best");
  if (known) s += "; cuBLAS measured " + measured;
  s += ".\n";
  if (known && out.efficiency > 1.15 * out.measured_share && losses[0].left > 0.9)
    return s + "Measured shares have no saw-teeth over N: the library probably takes another tile for each size.";
  return s + next_of(losses, out);
}

/// Products of these rows and this depth that were measured on the chip, in a format of the same peak, within the plot.
void arrange_published_products(const Inputs& in, const models::Chip& chip, Picture& pic) {
  const double last = static_cast<double>(std::max(in.sweep_to, in.n));
  if (chip.peak_flops_per_s(in.format) != chip.peak_flops_per_s(models::Format::fp16)) return;
  pic.published_products = {.kind = widgets::Curve::Kind::dots,
                            .label = "measured, cuBLAS",
                            .info = "published for these rows and this depth; the library chooses its own tile",
                            .tint = widgets::Tint::strong(),
                            .marker = widgets::Marker::diamond,
                            .radius = 4.5f};
  for (const Published& row : catalog().published_of("roofline/tiling-waves"))
    if (row.sets("chip", in.chip) && row.number("m", 0) == static_cast<double>(in.m) &&
        row.number("k", 0) == static_cast<double>(in.k) && row.number("n", 0) <= last)
      pic.published_products.add(row.number("n", 0), row.measured);
}

/// What most of the time is lost to in which nothing is multiplied; nothing where that is little.
std::string lost_words(const models::TilingResult& r) {
  const double misaligned_s = r.compute_s * (1 - r.alignment_efficiency), waited_s = r.memory_s - r.compute_s;
  const double most_s = std::max({misaligned_s, waited_s, r.reduction_s});
  if (!(most_s > 0.02 * r.time_s)) return {};
  return most_s == misaligned_s ? "misaligned" : most_s == waited_s ? "waits for operands" : "partial sums";
}

/// This matmul on the clock, and the same padded where that changes it.
void arrange_lanes(const Inputs& in, const Outputs& out, Picture& pic) {
  const auto add = [&](std::string name, const models::TilingResult& r, double measured_s, bool yours) {
    Lane lane{.name = std::move(name),
              .waves = std::max<std::int64_t>(1, r.waves),
              .time_s = r.time_s,
              .useful = r.time_s > 0 ? std::clamp(r.alignment_efficiency * r.compute_s / r.time_s, 0.0, 1.0) : 1,
              .lost = lost_words(r),
              .measured_s = measured_s,
              .yours = yours};
    lane.words = (in.schedule == Schedule::stream_k ? "" : whole(r.waves) + (r.waves == 1 ? " wave, " : " waves, ")) +
                 format_text(r.time_s, "s");
    if (measured_s > 0) lane.words += "; measured " + format_text(measured_s, "s");
    pic.lanes.push_back(std::move(lane));
  };
  add("N = " + whole(in.n), out.result, out.measured_s, true);
  if (out.padding.padded_n != in.n)
    add("padded, " + whole(out.padding.padded_n), out.padding.after, out.measured_padded_s, false);
}

void write_edges(const Inputs& in, const Outputs& out, Picture& pic) {
  const std::int64_t last = in.n - (out.result.tiles_n - 1) * in.tile_n;
  if (last < in.tile_n)
    pic.edge_story = "the last column of tiles uses " + whole(last) + " of its " + whole(in.tile_n) + " columns";
  if (out.free_range.last_n > in.n && in.schedule != Schedule::stream_k)
    pic.edge_story += (pic.edge_story.empty() ? "N" : "; N") + std::string(" up to ") + whole(out.free_range.last_n) +
                      ": no more waves";
  pic.tile_share_m = std::min(1.0, static_cast<double>(in.tile_m) / static_cast<double>(in.m));
  pic.tile_share_n = std::min(1.0, static_cast<double>(in.tile_n) / static_cast<double>(in.n));
  pic.given_story = "C: " + whole(in.m) + " rows and " + whole(in.n) + " columns in tiles of " + whole(in.tile_m) +
                    " × " + whole(in.tile_n);
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture pic;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!out.reason.empty() || !chip) return pic;
  pic.tile_aspect = drawn_aspect(in, out.result);
  pic.answer = answer_of(in, run.losses, out);
  arrange_published_products(in, *chip, pic);
  arrange_saw(out, pic);
  arrange_neighbours(run, pic);
  write_padding(in, out, pic);
  pic.schedule_story = schedule_story(out);
  arrange_lanes(in, out, pic);
  write_edges(in, out, pic);
  write_headings(in, chip->short_name.empty() ? chip->name : chip->short_name, out, pic);
  return pic;
}

}  // namespace chapters::roofline::tiling_waves
