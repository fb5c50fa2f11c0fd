#include <algorithm>
#include <cmath>
#include <span>

#include "chapters/kernels/lab/arrange_parts.h"
#include "widgets/number/number.h"

namespace chapters::kernels::lab {
namespace {

using ::kernels::Device;
using widgets::format_text;

constexpr std::size_t max_ceilings = 3;  // without main memory's
constexpr std::string_view main_memory = "main memory";

/// The values on an axis, which has to hold them all.
struct Extent {
  double low = HUGE_VAL, high = 0;
  void add(double v) {
    if (!(v > 0) || !std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
};

/// A straight line of a roofline, as two or three points on log axes.
void trace_roof(const models::Machine& m, const PlotPicture& plot, widgets::Curve& line) {
  const double ridge = models::ridge_flops_per_byte(m);
  line.x = {plot.x_lo};
  if (ridge > plot.x_lo && ridge < plot.x_hi) line.x.push_back(ridge);
  line.x.push_back(plot.x_hi);
  for (const double x : line.x) line.y.push_back(models::attainable_flops_per_s(m, x));
}

/// A bandwidth in the tint of the dots that it bounds, those of `level`.
widgets::Curve ceiling_line(std::string label, std::size_t level, const models::Machine& m, const PlotPicture& plot) {
  widgets::Curve line{
      .label = std::move(label), .tint = widgets::Tint::series(level), .width = 1.5f, .dashed = true, .named = false};
  trace_roof(m, plot, line);
  return line;
}

/// The rate that a rung's dots stand at: measured where the learner may see it, else what the model allows.
double rate_of(const Outputs& out, const RatedRung& r) {
  if (shown(r)) return out.flops / r.run->time_s;
  return r.predicted_s > 0 ? out.flops / r.predicted_s : 0;
}

/// Operations for each byte that crosses at a level, rung by rung; NaN where they were not counted.
template <class Intensity>
void add_level(PlotPicture& plot, std::string name, std::string info, const Outputs& out, const Run& run,
               const Intensity& intensity) {
  static constexpr std::array<widgets::Marker, 3> markers{widgets::Marker::triangle, widgets::Marker::diamond,
                                                          widgets::Marker::square};
  const std::size_t place = plot.levels.size();
  widgets::Curve level{.kind = widgets::Curve::Kind::dots,
                       .label = std::move(name),
                       .info = std::move(info),
                       .tint = widgets::Tint::series(place),
                       .marker = markers[place % markers.size()]};
  for (std::size_t i = 0; i < run.rungs.size(); ++i) {
    const RatedRung& rung = run.rungs[i];
    const double x = rung.prediction ? intensity(*rung.prediction) : 0, y = rate_of(out, rung);
    if (!(x > 0) || !std::isfinite(x) || !(y > 0)) continue;
    level.add(x, y);
    if (place == 0) level.labels.push_back(std::to_string(i + 1));  // other levels repeat them at the same height
    if (i == run.selected) plot.selected.add(x, y);
  }
  if (!level.x.empty()) plot.levels.push_back(std::move(level));
}

void add_levels(const Outputs& out, const Run& run, PlotPicture& plot) {
  const bool cpu = run.ladder->device == Device::cpu;
  using Prediction = models::KernelPrediction;
  add_level(plot, cpu ? "L1" : "L1 and shared", "operations for each byte that loads and stores of the inner loop move",
            out, run, [](const Prediction& p) { return 1 / p.first_level_bytes_per_flop; });
  constexpr std::int64_t counted_from = 768;  // the smallest product that the counts behind the first cache hold for
  if (out.size >= counted_from)
    add_level(plot, "beyond L1", "operations for each byte that comes from beyond the first cache", out, run,
              [](const Prediction& p) { return 1 / p.second_level_bytes_per_flop; });
  add_level(plot, std::string(main_memory), "operations for each byte that crosses the memory's wire", out, run,
            [&](const Prediction& p) { return out.intensity / p.moved; });
}

/// The plot's roof is that of the fastest instructions.
const RatedRung& top_roof(std::span<const RatedRung> rated, std::size_t selected) {
  const RatedRung* top = &rated[selected];
  for (const RatedRung& r : rated)
    if (r.ceilings.machine.peak_flops_per_s > top->ceilings.machine.peak_flops_per_s) top = &r;
  return *top;
}

/// What the first level brings through its ports or banks, measured bandwidths of the memories between, and main
/// memory's.
void add_ceilings(const Inputs& in, const Run& run, const models::Machine& m, PlotPicture& plot) {
  const RatedRung& now = run.rungs[run.selected];
  const models::Machine& own = now.ceilings.machine;
  const bool cpu = run.ladder->device == Device::cpu;
  if (plot.levels.size() > 1) {
    const models::CorePorts& core = now.ceilings.ports.core;
    const models::GpuPorts& gpu = now.ceilings.ports.gpu;
    const double first = cpu ? (core.loads_per_cycle + core.stores_per_cycle) * core.lanes * 4 * core.clock_hz
                             : gpu.multiprocessors * gpu.shared_bytes_per_cycle * gpu.clock_hz;
    plot.ceilings.push_back(
        ceiling_line(cpu ? "L1 ports" : "rate of L1 and shared", 0, {own.peak_flops_per_s, first, 0}, plot));
  }
  const std::string_view device = ::kernels::id_of(run.ladder->device);
  for (const RoofRow& r : in.roofs)
    if (r.unit == "B/s" && r.device == device && r.value > m.bandwidth_bytes_per_s * 1.05 &&
        plot.ceilings.size() < max_ceilings)
      plot.ceilings.push_back(ceiling_line(r.title, 1, {m.peak_flops_per_s, r.value, 0}, plot));
  const auto memory = std::find_if(plot.levels.begin(), plot.levels.end(),
                                   [](const widgets::Curve& level) { return level.label == main_memory; });
  const auto place = static_cast<std::size_t>(memory - plot.levels.begin());
  plot.ceilings.push_back(ceiling_line("main memory's rate", place, m, plot));
  plot.ceilings.back().info = "intensity x bandwidth of main memory, up to the peak";
}

/// The peak, from where the steepest of the ceilings would reach it.
void add_peak(const models::Machine& m, PlotPicture& plot) {
  plot.roof = {.label = format_text(m.peak_flops_per_s, "FLOP/s"),
               .info = "the peak of the multiply-add units; each level of memory has its own slope below it",
               .tint = widgets::Tint::yours(),
               .width = 3,
               .named = false,
               .legend = false};
  double from = plot.x_hi;
  for (const widgets::Curve& c : plot.ceilings) from = std::min(from, m.peak_flops_per_s * c.x.front() / c.y.front());
  plot.roof.add(std::clamp(from, plot.x_lo, plot.x_hi), m.peak_flops_per_s);
  plot.roof.add(plot.x_hi, m.peak_flops_per_s);
}

}  // namespace

PlotPicture arrange_plot(const Inputs& in, const Outputs& out, const Run& run) {
  PlotPicture plot;
  plot.shown =
      run.ladder->measure == ::kernels::Measure::flops_per_s && out.intensity > 0 && std::isfinite(out.intensity);
  if (!plot.shown) return plot;
  plot.selected = {.kind = widgets::Curve::Kind::dots,
                   .label = "rung " + std::to_string(run.selected + 1),
                   .tint = widgets::Tint::strong(),
                   .radius = 2.5f,
                   .legend = false};
  const RatedRung& top = top_roof(run.rungs, run.selected);
  const models::Machine& m = top.ceilings.machine;
  add_levels(out, run, plot);
  Extent across, up;
  for (const widgets::Curve& level : plot.levels) {
    for (const double x : level.x) across.add(x);
    for (const double y : level.y) up.add(y);
  }
  across.add(out.roof.ridge);
  plot.x_lo = across.low / 4;
  plot.x_hi = across.high * 4;
  add_ceilings(in, run, m, plot);
  add_peak(m, plot);
  for (const double y : plot.ceilings.back().y) up.add(y);
  plot.y_lo = up.low / 2.5;
  plot.y_hi = up.high * 2.5;
  return plot;
}

}  // namespace chapters::kernels::lab
