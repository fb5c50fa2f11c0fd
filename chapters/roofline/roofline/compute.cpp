#include <algorithm>
#include <charconv>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/roofline/lab.h"
#include "models/machine/hierarchy.h"
#include "models/machine/op_cost.h"
#include "models/transformer/roofline_ops.h"
#include "widgets/number/number.h"

namespace chapters::roofline::roofline {
namespace {

using models::Chip;
using models::Format;
using models::Machine;
using models::Placement;
using models::RooflineOp;
using models::Work;
using widgets::format_text;

/// Operations with a dot of their own, in the order in which they claim room for their names. The others share a place
/// with one of these (a norm with the residual add, a prompt with its products) and get their dot when they are chosen.
constexpr RooflineOp dotted[] = {
    RooflineOp::decode_gate, RooflineOp::flash_attention, RooflineOp::attention_scores, RooflineOp::decode_attention,
    RooflineOp::gate,        RooflineOp::softmax,         RooflineOp::residual,         RooflineOp::attention_unfused};
constexpr double walked_batches[] = {1, 4, 16, 64, 256};

struct Builder {
  const RooflineInputs& in;
  RooflineOutputs& out;
  const Chip& chip;
  Machine machine;
  models::OpSizes sizes;
  std::vector<models::NamedWork> works;

  std::optional<Placement> placed(const Work& work) const {
    const auto p = models::place(machine, work, in.launch_cost);
    return p ? std::optional(*p) : std::nullopt;
  }
};

void put(std::array<RooflinePicture::Dots, 3>& sets, const Placement& p, std::string label, std::string_view operation,
         std::int64_t batch = 0) {
  auto& set = sets[static_cast<std::size_t>(p.regime)];
  set.xs.push_back(p.intensity);
  set.ys.push_back(p.achieved_flops_per_s);
  set.labels.push_back(std::move(label));
  set.operations.emplace_back(operation);
  set.batches.push_back(batch);
}

/// The work that was asked for, and what to call it; nothing when the model does not do it.
std::optional<Work> chosen_work(const Builder& b, std::string& label) {
  const RooflineInputs& in = b.in;
  if (in.operation == "custom") {
    label = "yours";
    return Work{in.flops, in.bytes, static_cast<double>(in.kernels)};
  }
  if (in.operation == "gemm") {
    const double e = b.sizes.element_bytes;
    const auto cost =
        models::gemm(static_cast<double>(in.m), static_cast<double>(in.n), static_cast<double>(in.k), e, e, e);
    label = "GEMM " + std::to_string(in.m) + " x " + std::to_string(in.n) + " x " + std::to_string(in.k);
    return Work{cost.flops, cost.bytes(), 1};
  }
  for (const auto& w : b.works)
    if (models::roofline_op_id(w.op) == in.operation) {
      label = w.label;
      return w.work;
    }
  return std::nullopt;
}

void choose(Builder& b) {
  RooflineOutputs& o = b.out;
  const auto work = chosen_work(b, o.picture.selected_label);
  if (!work) {
    o.reason = "This model has no such operation: choose another operation or model.";
    return;
  }
  const auto p = models::place(b.machine, *work, b.in.launch_cost);
  if (!p) {
    o.reason = "No time can be computed: " + p.error + ".";
    return;
  }
  o.intensity = p->intensity;
  o.attainable_flops_per_s = p->attainable_flops_per_s;
  o.time_s = p->time_s;
  o.regime = p->regime;
  o.achieved_flops_per_s = p->achieved_flops_per_s;
  o.share_of_peak_percent = 100 * p->achieved_flops_per_s / b.machine.peak_flops_per_s;
  o.flops_total = work->flops;
  o.bytes_total = work->bytes;
  o.kernels_total = work->kernels;
  o.compute_s = p->compute_s;
  o.memory_s = p->memory_s;
  o.launches_s = p->launch_s;
  o.picture.selected_x = p->intensity;
  o.picture.selected_y = p->achieved_flops_per_s;
  if (p->launch_s > 0) {
    o.picture.launch.label = "launches allow this work " + format_text(work->flops / p->launch_s, "FLOP/s");
    o.picture.launch.info = "FLOP of the ringed operation / (kernels x launch)";
    o.picture.launch.ys = {work->flops / p->launch_s, work->flops / p->launch_s};
  }
}

void add_decode(Builder& b) {
  RooflineOutputs& o = b.out;
  const auto* model = catalog().model(b.in.model);
  if (!model) return;
  const auto step_at = [&](double batch, double weight_bytes) {
    models::OpSizes s = b.sizes;
    s.batch = static_cast<std::int64_t>(batch);
    return models::decode_step(model->architecture, s, weight_bytes);
  };
  const double kernels = models::decode_kernels(model->architecture, b.sizes);
  const auto place_step = [&](double batch, double weight_bytes) {
    Work work = models::decode_work(step_at(batch, weight_bytes), batch);
    work.kernels = kernels;
    return b.placed(work);
  };
  const double batch = static_cast<double>(b.in.batch), wide = b.sizes.element_bytes;
  const auto now = place_step(batch, wide);
  double bits = 4;
  std::from_chars(b.in.weight_bits.data(), b.in.weight_bits.data() + b.in.weight_bits.size(), bits);
  const auto narrow = place_step(batch, bits / 8);
  if (!now || !narrow) return;
  o.decode_intensity = now->intensity;
  o.decode_time_s = now->time_s;
  o.decode_tokens_per_s = batch / now->time_s;
  o.quantized_time_s = narrow->time_s;
  o.quantized_speedup = now->time_s / narrow->time_s;
  const models::DecodeStep full = step_at(4096, wide);  // of a mixture, so many tokens read all its experts
  o.decode_limit = models::decode_intensity_limit(full);
  const auto critical = models::critical_batch(full, o.ridge);
  o.decode_verdict = critical ? "reached at a batch of " + format_text(std::ceil(*critical), "", 4)
                              : "never reached: the cache holds it below " + format_text(o.decode_limit, "FLOP/B");
  RooflinePicture& pic = o.picture;
  if (o.decode_limit < o.ridge) {
    pic.kv_wall = o.decode_limit;
    pic.wall_label = "cache wall " + format_text(o.decode_limit, "FLOP/B");
  }
  if (shows(b.in, "walk")) {
    pic.walk.label = "decode, batch 1 to 256";
    pic.walk.info = "batch x FLOP a token / (weights + batch x context x cache bytes a token)";
    for (const double size : walked_batches) {
      const auto p = place_step(size, wide);
      if (!p) continue;
      o.walk.push_back(
          {size, p->intensity, p->achieved_flops_per_s, size / p->time_s, std::string(models::regime_id(p->regime))});
      put(pic.steps, *p, "B=" + std::to_string(static_cast<int>(size)), "decode", static_cast<std::int64_t>(size));
      pic.walk.xs.push_back(p->intensity);
      pic.walk.ys.push_back(p->achieved_flops_per_s);
    }
  }
  if (shows(b.in, "quantization")) {
    pic.quantization = {true,
                        now->intensity,
                        now->achieved_flops_per_s,
                        narrow->intensity,
                        narrow->achieved_flops_per_s,
                        b.in.weight_bits + "-bit weights: " + format_text(o.quantized_speedup, "", 2) + "x faster"};
    if (!shows(b.in, "walk") && b.in.operation != "decode")
      put(pic.dots, *now, "decode, B=" + std::to_string(b.in.batch), "decode");
    put(pic.dots, *narrow, "decode, " + b.in.weight_bits + "-bit weights", "");
  }
}

void add_operations(Builder& b) {
  RooflineOutputs& o = b.out;
  const auto* apart = models::find_work(b.works, RooflineOp::attention_unfused);
  const auto* fused = models::find_work(b.works, RooflineOp::flash_attention);
  if (apart && fused) {
    const auto from = b.placed(apart->work), to = b.placed(fused->work);
    if (from && to) {
      o.fusion_speedup = from->time_s / to->time_s;
      o.fusion_bytes_ratio = apart->work.bytes / fused->work.bytes;
      if (shows(b.in, "fusion"))
        o.picture.fusion = {
            true,          from->intensity,          from->achieved_flops_per_s,
            to->intensity, to->achieved_flops_per_s, "fuse: " + format_text(o.fusion_speedup, "", 2) + "x faster"};
    }
  }
  const bool all = shows(b.in, "operations");
  for (const auto& w : b.works) {
    const auto p = b.placed(w.work);
    if (p && all)
      o.operations.push_back({w.label, std::string(models::regime_id(p->regime)), w.work.flops, w.work.bytes,
                              p->intensity, p->achieved_flops_per_s, p->time_s});
  }
  for (const RooflineOp op : dotted) {
    const auto* w = models::find_work(b.works, op);
    const bool arrow_end =
        o.picture.fusion.shown && (op == RooflineOp::attention_unfused || op == RooflineOp::flash_attention);
    if (!w || !(all || arrow_end) || models::roofline_op_id(op) == b.in.operation) continue;
    if (const auto p = b.placed(w->work)) put(o.picture.dots, *p, w->label, models::roofline_op_id(op));
  }
}

void add_ceilings(Builder& b) {
  RooflineOutputs& o = b.out;
  const double peak = b.machine.peak_flops_per_s;
  const auto slanted = [&](const models::Ceiling& c, const std::string& label) {
    const bool measured = c.basis == models::Basis::measured;
    o.ceilings.push_back({label, std::string(models::basis_id(c.basis)), c.source, c.per_s, peak / c.per_s});
    RooflinePicture::Line line{label + " " + format_text(c.per_s, "B/s"),
                               std::string(models::basis_id(c.basis)) + ": " + c.source,
                               {1e-4, peak / c.per_s},
                               {1e-4 * c.per_s, peak}};
    (measured && c.level == models::LevelKind::memory ? o.picture.measured_ceilings : o.picture.ceilings)
        .push_back(std::move(line));
  };
  bool cached = false;
  for (const models::Ceiling& c : models::bandwidth_ceilings(b.chip)) {
    const bool measured = c.basis == models::Basis::measured;
    switch (c.level) {
      case models::LevelKind::shared:
        if (shows(b.in, "shared") && !(measured && !shows(b.in, "measured"))) slanted(c, c.label);
        break;
      case models::LevelKind::l2:
        if (shows(b.in, "l2") && !cached) slanted(c, c.label);
        cached = true;
        break;
      case models::LevelKind::link:
        if (shows(b.in, "link") && !(measured && !shows(b.in, "measured"))) slanted(c, c.label);
        break;
      case models::LevelKind::pcie:
        if (shows(b.in, "pcie")) slanted(c, c.label);
        break;
      case models::LevelKind::memory:
        if (measured && shows(b.in, "measured")) slanted(c, c.label);
        if (!measured)
          o.picture.slope = {c.label + " " + format_text(c.per_s, "B/s"),
                             "intensity x bandwidth; " + c.source,
                             {1e-4, peak / c.per_s},
                             {1e-4 * c.per_s, peak}};
        break;
      default:
        break;
    }
  }
  if (!shows(b.in, "measured")) return;
  for (const models::Ceiling& c : models::compute_ceilings(b.chip)) {
    if (c.basis != models::Basis::measured || c.format != b.in.format) continue;
    o.ceilings.push_back({c.label, "measured", c.source, c.per_s, c.per_s / b.machine.bandwidth_bytes_per_s});
    o.picture.measured_ceilings.push_back({c.label + " " + format_text(c.per_s, "FLOP/s"),
                                           "measured: " + c.source,
                                           {c.per_s / b.machine.bandwidth_bytes_per_s, 1e9},
                                           {c.per_s, c.per_s}});
  }
}

}  // namespace

bool shows(const RooflineInputs& in, const char* what) {
  return std::find(in.show.begin(), in.show.end(), what) != in.show.end();
}

void set_intensity(RooflineInputs& in, const RooflineOutputs& out, double intensity) {
  in.operation = "custom";
  in.flops = std::clamp(out.flops_total, 1.0, 1e21);
  in.kernels = static_cast<std::int64_t>(std::clamp(out.kernels_total, 1.0, 1e5));
  in.bytes = std::clamp(out.flops_total / intensity, 1.0, 1e18);
}

RooflineOutputs compute_roofline(const RooflineInputs& in) {
  RooflineOutputs o;
  const Chip* chip = catalog().chip(in.chip);
  if (!chip) {
    o.reason = "There is no chip named " + in.chip + ": choose one of the list.";
    return o;
  }
  const auto machine = models::machine_of(*chip, in.format, in.launch_s);
  if (!machine) {
    o.reason = machine.error + ".";
    add_roofs(in, *chip, o);
    frame_picture(o);
    return o;
  }
  Builder b{in, o, *chip, *machine, {in.batch, in.sequence, in.context, models::format_bytes(in.format), in.kv_reads},
            {}};
  o.ridge = models::ridge_flops_per_byte(*machine);
  o.square_side = models::square_gemm_side_at(o.ridge, b.sizes.element_bytes);
  o.picture.ridge_label = "ridge " + format_text(o.ridge, "FLOP/B");
  if (const auto* model = catalog().model(in.model)) b.works = models::roofline_works(model->architecture, b.sizes);
  choose(b);
  add_roofs(in, *chip, o);
  add_operations(b);
  add_decode(b);
  add_ceilings(b);
  add_measured(in, *machine, o);
  frame_picture(o);
  return o;
}

}  // namespace chapters::roofline::roofline
