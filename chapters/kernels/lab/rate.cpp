#include "chapters/kernels/lab/rate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "chapters/mechanism/catalog.h"
#include "models/base/line_diff.h"
#include "widgets/number/number.h"

namespace chapters::kernels::lab {

namespace {

using ::kernels::Device;
using ::kernels::Ladder;
using ::kernels::Measure;
using models::KernelLimit;
using widgets::format_text;

std::string percent(double share) { return format_text(100 * share, "%", share < 0.0995 ? 2 : 3); }

const RoofRow* measured_roof(const Inputs& in, std::string_view device, std::string_view id) {
  for (const RoofRow& r : in.roofs)
    if (r.device == device && r.id == id && r.value > 0) return &r;
  return nullptr;
}

/// The first measured roof of the unit among the ids, in order of preference.
const RoofRow* first_roof(const Inputs& in, std::string_view device, std::span<const std::string_view> ids,
                          std::string_view unit) {
  for (const auto id : ids)
    if (const RoofRow* r = id.empty() ? nullptr : measured_roof(in, device, id); r && r->unit == unit) return r;
  return nullptr;
}

Ceilings ceilings_of(const Inputs& in, const Ladder& ladder, std::string_view rung_roof) {
  Ceilings c;
  const bool cpu = ladder.device == Device::cpu;
  const std::string_view device = cpu ? "cpu" : "cuda";
  models::CorePorts& core = c.ports.core;
  core.lanes = in.simd == Simd::avx512 ? 16 : 8;
  core.clock_hz = in.clock_hz;
  core.dram_bytes_per_s = in.dram_bytes_per_s;
  if (cpu) {
    const double lanes = rung_roof == "fma_avx2"                                                ? 8
                         : rung_roof == "fma_avx512" || measured_roof(in, device, "fma_avx512") ? 16
                                                                                                : core.lanes;
    core.lanes = lanes;
    c.machine = {in.clock_hz * lanes * core.fma_per_cycle * 2, in.dram_bytes_per_s, 0};
    c.arithmetic = "the assumed core";
    c.bandwidth = "the assumed memory";
  } else {
    const models::Chip* chip = catalog().chip(in.chip);
    if (!chip) return c.error = "No chip is called \"" + in.chip + "\": choose another.", c;
    if (chip->architecture.starts_with("CPU"))
      return c.error = chip->name + " is a processor, and these kernels run on a GPU: choose one as the chip.", c;
    auto machine = models::machine_of(*chip, models::Format::fp32);
    if (!machine)
      return c.error = chip->name + " states no FP32 peak, which these kernels are held against: choose another chip.",
             c;
    c.machine = *machine;
    models::GpuPorts& gpu = c.ports.gpu;
    gpu.clock_hz = chip->boost_clock_hz.value_or(1.7e9);
    gpu.multiprocessors = chip->compute_units ? static_cast<double>(*chip->compute_units)
                                              : std::max(1.0, c.machine.peak_flops_per_s / (256 * gpu.clock_hz));
    // Data sheets state the peak at a clock of their own: the lanes are the nearest warp's worth.
    gpu.fma_lanes =
        32 * std::max(1.0, std::round(c.machine.peak_flops_per_s / (2 * gpu.clock_hz * gpu.multiprocessors) / 32));
    gpu.dram_bytes_per_s = c.machine.bandwidth_bytes_per_s;
    gpu.l2_bytes_per_s = chip->measured.l2_bytes_per_s.value_or(1.65 * gpu.dram_bytes_per_s);
    gpu.loaded_latency_s = 1.5 * chip->measured.dram_latency_s.value_or(373e-9);
    c.arithmetic = c.bandwidth = chip->short_name.empty() ? chip->name : chip->short_name;
  }
  const std::array<std::string_view, 5> rates{rung_roof, cpu ? "fma" : "gpu_fma", cpu ? "fma_avx512" : "gpu_sgemm",
                                              cpu ? "fma_avx2" : "", ""};
  const std::array<std::string_view, 5> wires{rung_roof, cpu ? "dram_copy" : "gpu_copy", cpu ? "dram_read" : "gpu_read",
                                              "", ""};
  if (const RoofRow* r = first_roof(in, device, rates, "FLOP/s")) {
    c.machine.peak_flops_per_s = r->value;
    c.arithmetic = r->title;
    c.arithmetic_measured = true;
  }
  if (const RoofRow* r = first_roof(in, device, wires, "B/s")) {
    c.machine.bandwidth_bytes_per_s = r->value;
    c.bandwidth = r->title;
    c.bandwidth_measured = true;
    (cpu ? core.dram_bytes_per_s : c.ports.gpu.dram_bytes_per_s) = r->value;
  }
  if (const RoofRow* r = measured_roof(in, device, "latency_dram"); r && r->unit == "s") core.dram_latency_s = r->value;
  if (const RoofRow* r = measured_roof(in, device, "clock"); r && r->unit == "Hz")
    core.clock_hz = c.ports.gpu.clock_hz = r->value;
  return c;
}

Bound bound_of(KernelLimit limit) {
  return limit == KernelLimit::latency                                   ? Bound::latency
         : limit == KernelLimit::memory || limit == KernelLimit::sectors ? Bound::memory
                                                                         : Bound::compute;
}

}  // namespace

bool against_bandwidth(const Inputs& in, const Ladder& ladder, std::string_view roof) {
  for (const RoofRow& r : in.roofs)
    if (r.id == roof) return r.unit != "FLOP/s";
  if (!roof.empty()) return roof.find("fma") == std::string_view::npos && roof.find("gemm") == std::string_view::npos;
  return ladder.measure != Measure::flops_per_s;
}

const RunRow* run_of(const Inputs& in, const Ladder& ladder, std::string_view rung, std::int64_t size, bool edited) {
  for (auto r = in.runs.rbegin(); r != in.runs.rend(); ++r)
    if (r->ladder == ladder.id && r->rung == rung && r->size == size && r->cold == in.cold && r->edited == edited)
      return &*r;
  return nullptr;
}

bool timed(const RunRow* r) { return r && r->failure.empty() && r->time_s > 0; }

std::vector<Note> notes_of(std::string_view lines) {
  std::vector<Note> out;
  for (std::string_view line : models::split_lines(lines)) {
    Note note;
    std::size_t i = 0;
    while (i < line.size() && i < 6 && line[i] >= '0' && line[i] <= '9') note.line = note.line * 10 + (line[i++] - '0');
    while (i < line.size() && line[i] == ' ') ++i;
    note.error = line.substr(i, 6) == "error ";
    const auto space = line.find(' ', i);
    note.text = space == std::string_view::npos ? std::string(line.substr(i)) : std::string(line.substr(space + 1));
    out.push_back(std::move(note));
  }
  return out;
}

std::string report_of(const RunRow& r) {
  if (r.arch.empty()) return {};
  std::string out = r.arch + ": " + format_text(static_cast<double>(r.registers), "", 6) + " registers a thread";
  const double spilled = static_cast<double>(r.spill_store_bytes) + static_cast<double>(r.spill_load_bytes);
  out += spilled > 0 ? ", " + format_text(spilled, "B") + " spilled" : ", nothing spilled";
  if (r.shared_bytes > 0)
    out += ", " +
           std::string(widgets::format(static_cast<double>(r.shared_bytes), "B", 3, widgets::Prefix::binary).view()) +
           " shared";
  if (r.block_threads > 0) out += ", " + format_text(static_cast<double>(r.block_threads), "", 6) + " threads a block";
  return out;
}

std::string rate_text(const Ladder& ladder, double flops, double bytes, double time_s) {
  switch (ladder.measure) {
    case Measure::flops_per_s:
      return format_text(flops / time_s, "FLOP/s");
    case Measure::bytes_per_s:
      return format_text(bytes / time_s, "B/s");
    case Measure::latency_s:
      return format_text(time_s, "s");
  }
  return {};
}

/// Where a ladder's vector kernels are held against AVX2, its scalar ones are too: bars of one ladder are comparable.
std::string_view roof_of(const Ladder& ladder, const ::kernels::Rung& rung) {
  const bool avx2 =
      std::any_of(ladder.rungs.begin(), ladder.rungs.end(), [](const auto& r) { return r.roof == "fma_avx2"; });
  return rung.roof == "fma" && avx2 ? "fma_avx2" : rung.roof;
}

Rated rate(const Inputs& in, const Ladder& ladder, std::size_t i, const models::OpCost& cost, std::int64_t size) {
  const auto& rung = ladder.rungs[i];
  Rated out;
  out.ceilings = ceilings_of(in, ladder, roof_of(ladder, rung));
  const models::Machine& m = out.ceilings.machine;
  const bool wire = against_bandwidth(in, ladder, rung.roof) || cost.flops <= 0;
  Bar& bar = out.bar;
  bar.id = rung.id;
  bar.title = rung.title;
  bar.change = rung.change;
  out.floor_s = wire ? cost.bytes() / m.bandwidth_bytes_per_s : cost.flops / m.peak_flops_per_s;
  if (const auto p = models::predict_kernel(ladder.id, rung.id, out.ceilings.ports)) {
    out.bound = p->bound;
    // Bounds are shares of the FMA rate; where a library's product is the roof, they are held against that.
    const RoofRow* fma = rung.roof == "gpu_sgemm" ? measured_roof(in, "cuda", "gpu_fma") : nullptr;
    if (fma && out.ceilings.arithmetic_measured)
      out.bound.share = std::min(1.0, out.bound.share * fma->value / m.peak_flops_per_s);
    bar.predicted = out.bound.share;
    bar.bound = bound_of(p->bound.limit);
    bar.predicted_text = "model " + percent(out.bound.share);
    bar.hover = std::string(p->why) + " Limited by " + std::string(models::limit_label(p->bound.limit)) + ".";
    if (p->published_share > 0) {
      // A share of a library's product stands on the axis only where such a product is the roof.
      if (rung.roof != "gpu_sgemm" || out.ceilings.arithmetic_measured) bar.published = p->published_share;
      bar.published_text = std::string(p->published_source) + ": " + percent(p->published_share);
    }
    out.predicted_s = out.floor_s > 0 ? out.floor_s / out.bound.share : 0;
  }
  double yours = 0;
  for (const PredictionRow& p : in.predictions)
    if (p.ladder == ladder.id && p.rung == rung.id) yours = p.share;
  if (yours > 0) bar.yours = yours / 100;
  out.run = run_of(in, ladder, rung.id, size, false);
  if (!out.run) return out;
  const RunRow& run = *out.run;
  bar.failed = !run.failure.empty();
  bar.hidden = !bar.failed && in.predict_first && !(yours > 0);
  if (!timed(out.run)) return out;
  bar.measured =
      ladder.measure == Measure::latency_s && out.floor_s <= 0 ? -1 : std::min(out.floor_s / run.time_s, 1e6);
  bar.above_roof = bar.measured > 1.02;
  bar.rate = rate_text(ladder, cost.flops, cost.bytes(), run.time_s);
  bar.time = format_text(run.time_s, "s") +
             (run.samples > 1 ? " \xC2\xB1" + format_text(100 * run.spread_s / run.time_s / 2, "%", 2) : " once");
  return out;
}

}  // namespace chapters::kernels::lab
