#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/roofline/answer.h"
#include "chapters/roofline/roofline/published_dots.h"
#include "chapters/roofline/shared/source_words.h"
#include "widgets/number/number.h"

namespace chapters::roofline::roofline {
namespace {

using models::Placement, models::RooflineOp, widgets::format_text;

/// Operations with a dot of their own, in the order in which they claim room for their names. The others share a place
/// with one of these (a norm with the residual add, a prompt with its matmuls) and get their dot when they are chosen.
constexpr RooflineOp dotted[] = {
    RooflineOp::decode_gate, RooflineOp::flash_attention, RooflineOp::attention_scores, RooflineOp::decode_attention,
    RooflineOp::gate,        RooflineOp::softmax,         RooflineOp::residual,         RooflineOp::attention_unfused};

/// Ends of lines that leave the picture, FLOP/B.
constexpr double far_left = 1e-30, far_right = 1e30;

Picture::Dot dot_of(const Outputs& out, const Placement& p, std::string label, std::string_view operation,
                    std::int64_t batch = 0) {
  return {.x = p.intensity,
          .y = p.achieved_flops_per_s,
          .regime = p.regime,
          .label = std::move(label),
          .operation = std::string(operation),
          .batch = batch,
          .roof = models::attainable_flops_per_s(out.machine, p.intensity)};
}

Picture::Arrow arrow_between(const Placement& from, const Placement& to, std::string label) {
  return {true, from.intensity, from.achieved_flops_per_s, to.intensity, to.achieved_flops_per_s, std::move(label)};
}

void arrange_launch(const Outputs& out, Picture& pic) {
  if (!(out.placement.launch_s > 0)) return;
  const double rate = out.work.flops / out.placement.launch_s;
  pic.launch = {"launches allow " + format_text(rate, "FLOP/s"),
                "FLOP of your operation / (kernels x launch)",
                {far_left, far_right},
                {rate, rate}};
}

void arrange_roofs(const Inputs& in, const models::Chip& main, const Outputs& out, Picture& pic) {
  for (const RoofRow& row : out.roofs) {
    const models::Machine& m = row.machine;
    const std::string info = "min(peak, intensity x " + format_text(m.bandwidth_bytes_per_s, "B/s") + "), ridge " +
                             format_text(row.ridge, "FLOP/B");
    const std::string peak = format_text(m.peak_flops_per_s, "FLOP/s");
    if (&row == &out.roofs.front() && row.chip == main.short_name) {
      pic.flat = {(in.chips.empty() ? row.format : row.chip + ", " + row.format) + " " + peak,
                  info,
                  {row.ridge, far_right},
                  {m.peak_flops_per_s, m.peak_flops_per_s},
                  in.chips.empty() ? peak : row.chip};
      continue;
    }
    const std::string other = row.format == models::format_label(in.format) ? "" : " (" + row.format + ")";
    pic.roofs.push_back({row.chip + " " + peak + other,
                         info,
                         {far_left, row.ridge, far_right},
                         {far_left * m.bandwidth_bytes_per_s, m.peak_flops_per_s, m.peak_flops_per_s},
                         row.chip});
  }
}

void arrange_operations(const Inputs& in, const Outputs& out, const Run& run, Picture& pic) {
  if (shows(in, "fusion") && out.fusion.speedup > 0)
    pic.fusion = arrow_between(out.fusion.unfused, out.fusion.fused,
                               "fused: " + format_text(out.fusion.speedup, "", 2) + "\xC3\x97 as fast");
  const auto placed = [&](RooflineOp op) -> const Placement* {
    for (const OperationRow& row : out.operations)
      if (row.named.op == op) return &row.placement;
    if (pic.fusion.shown && op == RooflineOp::attention_unfused) return &out.fusion.unfused;
    if (pic.fusion.shown && op == RooflineOp::flash_attention) return &out.fusion.fused;
    return nullptr;
  };
  for (const RooflineOp op : dotted) {
    const std::string_view id = models::roofline_op_id(op);
    const auto* p = placed(op);
    if (p && id != in.operation) pic.dots.push_back(dot_of(out, *p, models::find_work(run.works, op)->label, id));
  }
}

void arrange_decode(const Inputs& in, const Outputs& out, Picture& pic) {
  if (!(out.decode.time_s > 0)) return;
  if (out.decode_limit < out.ridge) {
    pic.kv_wall = out.decode_limit;
    pic.wall_label = "cache wall " + format_text(out.decode_limit, "FLOP/B");
  }
  pic.walk.label = "decode, batch 1 to 256";
  pic.walk.info = "batch x FLOP per token / (weights + batch x context x cache bytes per token)";
  for (const WalkRow& row : out.walk) {
    const auto batch = static_cast<std::int64_t>(row.batch);
    pic.steps.push_back(dot_of(out, row.placement, std::to_string(batch), "decode", batch));
    pic.walk.xs.push_back(row.placement.intensity);
    pic.walk.ys.push_back(row.placement.achieved_flops_per_s);
  }
  if (!shows(in, "quantization")) return;
  pic.quantization =
      arrow_between(out.decode, out.quantized,
                    in.weight_bits + "-bit weights: " + format_text(out.quantized_speedup, "", 2) + "\xC3\x97 as fast");
  if (!shows(in, "walk") && in.operation != "decode")
    pic.dots.push_back(dot_of(out, out.decode, "decode, batch " + std::to_string(in.batch), "decode"));
  pic.dots.push_back(dot_of(out, out.quantized, "decode, " + in.weight_bits + "-bit weights", ""));
}

Picture::Line slanted_line(const models::Ceiling& ceiling, const models::Machine& machine, std::string info) {
  return {ceiling.label + " " + format_text(ceiling.per_s, "B/s"),
          std::move(info),
          {far_left, machine.peak_flops_per_s / ceiling.per_s},
          {far_left * ceiling.per_s, machine.peak_flops_per_s}};
}

void arrange_ceilings(const Outputs& out, const Run& run, Picture& pic) {
  if (run.memory.per_s > 0)
    pic.slope = slanted_line(run.memory, out.machine, "intensity x bandwidth; " + source_words(run.memory.source));
  for (const CeilingRow& row : out.ceilings) {
    const models::Ceiling& c = row.ceiling;
    const std::string info = row.basis + ": " + row.source;
    if (!row.of_bandwidth)
      pic.measured_ceilings.push_back({c.label + " " + format_text(c.per_s, "FLOP/s") + ", " +
                                           format_text(std::round(100 * c.per_s / out.machine.peak_flops_per_s), "%") +
                                           " of the peak",
                                       info,
                                       {row.ridge, far_right},
                                       {c.per_s, c.per_s}});
    else if (c.basis == models::Basis::measured && c.level == models::LevelKind::memory)
      pic.measured_ceilings.push_back(slanted_line(c, out.machine, info));
    else
      pic.ceilings.push_back(slanted_line(c, out.machine, info));
  }
}

void arrange_measured(const Inputs& in, const models::Chip& chip, const Outputs& out, Picture& pic) {
  if (shows(in, "measured")) pic.published = published_dots(in, chip, out);
  for (const MeasuredRow& row : out.measured_points)
    pic.measured.push_back({.x = row.intensity,
                            .y = row.flops_per_s,
                            .label = row.name,
                            .roof = models::attainable_flops_per_s(out.machine, row.intensity),
                            .name = row.name,
                            .info = "measured, " + format_text(row.share_of_roof_percent, "%") + " of the roof"});
}

/// Ranges in which the roofs and the dots lie. Dots stretch them by three decades at most: what lies further stands at
/// the edge with an arrow. Dots below the roof stretch nothing, except the learner's own and measured ones.
void arrange_ranges(const Outputs& out, Picture& pic) {
  constexpr double reach = 1e3;
  const double least_x = 0.5, most_x = 30 * out.ridge;
  double x_lo = least_x, x_hi = most_x, below = HUGE_VAL, y_hi = out.machine.peak_flops_per_s;
  const auto cover = [&](double x) {
    if (!(x > 0)) return;
    x_lo = std::min(x_lo, std::max(x / 1.7, least_x / reach));
    x_hi = std::max(x_hi, std::min(x * 1.7, most_x * reach));
  };
  for (const auto* set : {&pic.dots, &pic.steps, &pic.measured, &pic.published})
    for (const Picture::Dot& dot : *set) cover(dot.x);
  cover(out.placement.intensity);
  if (out.placement.achieved_flops_per_s > 0) below = out.placement.achieved_flops_per_s;
  for (const Picture::Dot& dot : pic.measured) {
    below = std::min(below, dot.y);
    y_hi = std::max(y_hi, dot.y);
  }
  for (const RoofRow& row : out.roofs) y_hi = std::max(y_hi, row.machine.peak_flops_per_s);
  for (const Picture::Gain& gain : pic.gains) y_hi = std::max(y_hi, gain.to);
  const double roof = out.machine.bandwidth_bytes_per_s * x_lo;
  pic.x_lo = x_lo;
  pic.x_hi = x_hi;
  for (double x = out.ridge; x > x_lo / reach; x *= std::pow(10.0, -0.125)) {
    pic.ground.xs.insert(pic.ground.xs.begin(), x);
    pic.ground.ys.insert(pic.ground.ys.begin(), x * out.machine.bandwidth_bytes_per_s);
  }
  pic.y_lo = std::min(roof / 1.6, std::max(below / 2.5, roof / reach));
  pic.y_hi = y_hi * 2.4;
  if (!pic.launch.ys.empty() && (pic.launch.ys[0] < pic.y_lo || pic.launch.ys[0] > pic.y_hi / 2)) pic.launch = {};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture pic;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!chip || !(out.ridge > 0)) return pic;
  arrange_roofs(in, *chip, out, pic);
  arrange_launch(out, pic);
  arrange_operations(in, out, run, pic);
  arrange_decode(in, out, pic);
  arrange_ceilings(out, run, pic);
  arrange_measured(in, *chip, out, pic);
  say_answer(in, out, run, pic);
  arrange_ranges(out, pic);
  return pic;
}

}  // namespace chapters::roofline::roofline
