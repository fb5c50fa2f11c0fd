#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/roofline/lab.h"
#include "widgets/number/number.h"

namespace chapters::roofline::roofline {
namespace {

using models::Placement;
using models::RooflineOp;
using widgets::format_text;

/// Operations with a dot of their own, in the order in which they claim room for their names. The others share a place
/// with one of these (a norm with the residual add, a prompt with its products) and get their dot when they are chosen.
constexpr RooflineOp dotted[] = {
    RooflineOp::decode_gate, RooflineOp::flash_attention, RooflineOp::attention_scores, RooflineOp::decode_attention,
    RooflineOp::gate,        RooflineOp::softmax,         RooflineOp::residual,         RooflineOp::attention_unfused};

/// Ends of lines that leave the picture, FLOP/B.
constexpr double far_left = 1e-4, far_right = 1e9;

void put(std::array<Picture::Dots, 3>& sets, const Placement& p, std::string label, std::string_view operation,
         std::int64_t batch = 0) {
  auto& set = sets[static_cast<std::size_t>(p.regime)];
  set.xs.push_back(p.intensity);
  set.ys.push_back(p.achieved_flops_per_s);
  set.labels.push_back(std::move(label));
  set.operations.emplace_back(operation);
  set.batches.push_back(batch);
}

Picture::Arrow arrow_between(const Placement& from, const Placement& to, std::string label) {
  return {true, from.intensity, from.achieved_flops_per_s, to.intensity, to.achieved_flops_per_s, std::move(label)};
}

std::string chosen_label(const Inputs& in, const Outputs& out) {
  if (in.operation == "custom") return "yours";
  if (in.operation == "gemm")
    return "GEMM " + std::to_string(in.m) + " x " + std::to_string(in.n) + " x " + std::to_string(in.k);
  for (const auto& named : out.works)
    if (models::roofline_op_id(named.op) == in.operation) return named.label;
  return {};
}

void arrange_chosen(const Inputs& in, const Outputs& out, Picture& pic) {
  pic.selected_label = chosen_label(in, out);
  if (!(out.placement.launch_s > 0)) return;
  const double rate = out.work.flops / out.placement.launch_s;
  pic.launch = {"launches allow this work " + format_text(rate, "FLOP/s"),
                "FLOP of the ringed operation / (kernels x launch)",
                {},
                {rate, rate}};
}

void arrange_roofs(const Inputs& in, const models::Chip& main, const Outputs& out, Picture& pic) {
  for (const RoofRow& row : out.roofs) {
    const models::Machine& m = row.machine;
    Picture::Line line;
    line.label = row.chip + " " + format_text(m.peak_flops_per_s, "FLOP/s") +
                 (row.format == models::format_label(in.format) ? "" : " (" + row.format + ")");
    line.info = "min(peak, intensity x " + format_text(m.bandwidth_bytes_per_s, "B/s") + "), ridge " +
                format_text(row.ridge, "FLOP/B");
    line.xs = {far_left, row.ridge, far_right};
    line.ys = {far_left * m.bandwidth_bytes_per_s, m.peak_flops_per_s, m.peak_flops_per_s};
    if (&row == &out.roofs.front() && row.chip == main.short_name)
      pic.roof = std::move(line);
    else
      pic.roofs.push_back(std::move(line));
  }
}

void arrange_operations(const Inputs& in, const Outputs& out, Picture& pic) {
  if (shows(in, "fusion") && out.fusion.speedup > 0)
    pic.fusion = arrow_between(out.fusion.unfused, out.fusion.fused,
                               "fuse: " + format_text(out.fusion.speedup, "", 2) + "x faster");
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
    if (p && id != in.operation) put(pic.dots, *p, models::find_work(out.works, op)->label, id);
  }
}

void arrange_decode(const Inputs& in, const Outputs& out, Picture& pic) {
  if (!(out.decode.time_s > 0)) return;
  if (out.decode_limit < out.ridge) {
    pic.kv_wall = out.decode_limit;
    pic.wall_label = "cache wall " + format_text(out.decode_limit, "FLOP/B");
  }
  pic.walk.label = "decode, batch 1 to 256";
  pic.walk.info = "batch x FLOP a token / (weights + batch x context x cache bytes a token)";
  for (const WalkRow& row : out.walk) {
    const auto batch = static_cast<std::int64_t>(row.batch);
    put(pic.steps, row.placement, "B=" + std::to_string(batch), "decode", batch);
    pic.walk.xs.push_back(row.placement.intensity);
    pic.walk.ys.push_back(row.placement.achieved_flops_per_s);
  }
  if (!shows(in, "quantization")) return;
  pic.quantization =
      arrow_between(out.decode, out.quantized,
                    in.weight_bits + "-bit weights: " + format_text(out.quantized_speedup, "", 2) + "x faster");
  if (!shows(in, "walk") && in.operation != "decode")
    put(pic.dots, out.decode, "decode, B=" + std::to_string(in.batch), "decode");
  put(pic.dots, out.quantized, "decode, " + in.weight_bits + "-bit weights", "");
}

Picture::Line slanted_line(const models::Ceiling& ceiling, const models::Machine& machine, std::string info) {
  return {ceiling.label + " " + format_text(ceiling.per_s, "B/s"),
          std::move(info),
          {far_left, machine.peak_flops_per_s / ceiling.per_s},
          {far_left * ceiling.per_s, machine.peak_flops_per_s}};
}

void arrange_ceilings(const models::Chip& chip, const Outputs& out, Picture& pic) {
  for (const models::Ceiling& c : models::bandwidth_ceilings(chip))
    if (c.level == models::LevelKind::memory && c.basis != models::Basis::measured)
      pic.slope = slanted_line(c, out.machine, "intensity x bandwidth; " + c.source);
  for (const CeilingRow& row : out.ceilings) {
    const models::Ceiling& c = row.ceiling;
    const std::string info = row.basis + ": " + c.source;
    if (!row.of_bandwidth)
      pic.measured_ceilings.push_back(
          {c.label + " " + format_text(c.per_s, "FLOP/s"), info, {row.ridge, far_right}, {c.per_s, c.per_s}});
    else if (c.basis == models::Basis::measured && c.level == models::LevelKind::memory)
      pic.measured_ceilings.push_back(slanted_line(c, out.machine, info));
    else
      pic.ceilings.push_back(slanted_line(c, out.machine, info));
  }
}

void arrange_measured(const Outputs& out, Picture& pic) {
  for (const MeasuredRow& row : out.measured_points) {
    pic.measured.xs.push_back(row.intensity);
    pic.measured.ys.push_back(row.flops_per_s);
    pic.measured.labels.push_back(row.name);
  }
}

/// Ranges in which every dot and roof lies, with room for names.
void arrange_ranges(const Outputs& out, Picture& pic) {
  double x_lo = 0.1, x_hi = std::max(2e4, 60 * out.ridge), y_lo = HUGE_VAL, y_hi = 0;
  for (const RoofRow& row : out.roofs) {
    y_lo = std::min(y_lo, row.machine.bandwidth_bytes_per_s * x_lo);
    y_hi = std::max(y_hi, row.machine.peak_flops_per_s);
  }
  const auto cover = [&](double x, double y) {
    if (!(x > 0) || !(y > 0)) return;
    x_lo = std::min(x_lo, x / 1.6);
    x_hi = std::max(x_hi, x * 1.6);
    y_lo = std::min(y_lo, y);
    y_hi = std::max(y_hi, y);
  };
  for (const auto* sets : {&pic.dots, &pic.steps})
    for (const auto& set : *sets)
      for (std::size_t i = 0; i < set.xs.size(); ++i) cover(set.xs[i], set.ys[i]);
  for (std::size_t i = 0; i < pic.measured.xs.size(); ++i) cover(pic.measured.xs[i], pic.measured.ys[i]);
  cover(out.placement.intensity, out.placement.achieved_flops_per_s);
  if (!(y_lo < y_hi)) return;
  pic.x_lo = x_lo;
  pic.x_hi = x_hi;
  pic.y_lo = y_lo / 1.8;
  pic.y_hi = y_hi * 2.2;
  auto& launch = pic.launch;
  if (!launch.ys.empty() && launch.ys[0] > pic.y_lo && launch.ys[0] < pic.y_hi / 2)
    launch.xs = {far_left, far_right};
  else
    launch = {};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture pic;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!chip) return pic;
  arrange_roofs(in, *chip, out, pic);
  if (out.ridge > 0) {
    pic.ridge_label = "ridge " + format_text(out.ridge, "FLOP/B");
    arrange_chosen(in, out, pic);
    arrange_operations(in, out, pic);
    arrange_decode(in, out, pic);
    arrange_ceilings(*chip, out, pic);
    arrange_measured(out, pic);
  }
  arrange_ranges(out, pic);
  return pic;
}

}  // namespace chapters::roofline::roofline
