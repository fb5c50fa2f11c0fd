#include <algorithm>
#include <cmath>

#include "chapters/kernels/lab/arrange_parts.h"
#include "widgets/number/number.h"

namespace chapters::kernels::lab {
namespace {

using ::kernels::Device;
using ::kernels::Ladder;
using ::kernels::Measure;
using widgets::format_text;

constexpr std::size_t max_ceilings = 3;

/// The values on the plot's y axis, which has to hold them all.
struct Extent {
  double low = HUGE_VAL, high = 0;
  void add(double y) {
    if (!(y > 0)) return;
    low = std::min(low, y);
    high = std::max(high, y);
  }
};

void add_point(PlotPoints& points, double x, double y, std::size_t rung, Extent& extent) {
  points.x.push_back(x);
  points.y.push_back(y);
  points.names.push_back(std::to_string(rung + 1));
  extent.add(y);
}

/// A straight line of a roofline, as two or three points on log axes.
void roof_line(const models::Machine& m, double x_lo, double x_hi, std::vector<double>& xs, std::vector<double>& ys) {
  const double ridge = models::ridge_flops_per_byte(m);
  xs = {x_lo};
  if (ridge > x_lo && ridge < x_hi) xs.push_back(ridge);
  xs.push_back(x_hi);
  for (const double x : xs) ys.push_back(models::attainable_flops_per_s(m, x));
}

CeilingLine ceiling_line(std::string label, double value, const models::Machine& m, const PlotPicture& plot) {
  CeilingLine line{std::move(label), value, {}, {}};
  roof_line(m, plot.x_lo, plot.x_hi, line.x, line.y);
  return line;
}

/// A dot for each rung: measured where the learner may see it, else what the model allows.
void add_rungs(const Outputs& out, std::span<const RatedRung> rated, PlotPicture& plot, Extent& extent) {
  const Measure measure = out.ladder->measure;
  const double amount = plot.by_rung && measure != Measure::flops_per_s ? out.bytes : out.flops;
  const auto y_of = [&](double time_s) { return measure == Measure::latency_s ? time_s : amount / time_s; };
  for (std::size_t i = 0; i < rated.size(); ++i) {
    const RatedRung& r = rated[i];
    const double x = plot.by_rung ? static_cast<double>(i) : out.intensity;
    if (shown(r))
      add_point(plot.measured, x, y_of(r.run->time_s), i, extent);
    else if (r.predicted_s > 0)
      add_point(plot.predicted, x, y_of(r.predicted_s), i, extent);
  }
}

/// The plot's roof is that of the fastest instructions.
const RatedRung& top_roof(std::span<const RatedRung> rated, std::size_t selected) {
  const RatedRung* top = &rated[selected];
  for (const RatedRung& r : rated)
    if (r.ceilings.machine.peak_flops_per_s > top->ceilings.machine.peak_flops_per_s) top = &r;
  return *top;
}

/// The one ceiling of a plot by rung, a horizontal mark.
void add_mark(const Measure measure, const RatedRung& now, const models::Machine& m, PlotPicture& plot,
              Extent& extent) {
  const bool flops = measure == Measure::flops_per_s;
  const double roof = measure == Measure::latency_s ? now.floor_s
                      : flops                       ? m.peak_flops_per_s
                                                    : m.bandwidth_bytes_per_s;
  extent.add(roof);
  const std::string& name = flops ? now.ceilings.arithmetic : now.ceilings.bandwidth;
  plot.ceilings.push_back({name + " " + format_text(roof, plot.y_unit), roof, {}, {}});
}

/// The roofline, the selected rung's own roof where it is lower, and measured bandwidths of faster memories.
void add_roofline(const Inputs& in, const Outputs& out, const models::Machine& own, const models::Machine& m,
                  PlotPicture& plot, Extent& extent) {
  plot.x_lo = std::min({0.05, out.intensity / 4, out.roof.ridge / 8});
  plot.x_hi = std::max({100.0, out.intensity * 4, out.roof.ridge * 8});
  roof_line(m, plot.x_lo, plot.x_hi, plot.roof_x, plot.roof_y);
  for (const double y : plot.roof_y) extent.add(y);
  if (own.peak_flops_per_s < 0.99 * m.peak_flops_per_s)
    plot.ceilings.push_back(
        ceiling_line(format_text(own.peak_flops_per_s, "FLOP/s") + " of rung " + std::to_string(out.selected + 1),
                     own.peak_flops_per_s, own, plot));
  const std::string_view device = out.ladder->device == Device::cuda ? "cuda" : "cpu";
  for (const RoofRow& r : in.roofs)
    if (r.unit == "B/s" && r.device == device && r.value > m.bandwidth_bytes_per_s * 1.05 &&
        plot.ceilings.size() < max_ceilings)
      plot.ceilings.push_back(ceiling_line(r.title, r.value, {m.peak_flops_per_s, r.value, 0}, plot));
}

}  // namespace

PlotPicture arrange_plot(const Inputs& in, const Outputs& out, std::span<const RatedRung> rated) {
  const Measure measure = out.ladder->measure;
  const RatedRung& now = rated[out.selected];
  const RatedRung& top = top_roof(rated, out.selected);
  const models::Machine& m = top.ceilings.machine;
  PlotPicture plot;
  plot.by_rung = !(out.intensity > 0);
  plot.y_unit = measure == Measure::latency_s                     ? "s"
                : plot.by_rung && measure != Measure::flops_per_s ? "B/s"
                                                                  : "FLOP/s";
  Extent extent;
  add_rungs(out, rated, plot, extent);
  if (plot.by_rung)
    add_mark(measure, now, m, plot, extent);
  else
    add_roofline(in, out, now.ceilings.machine, m, plot, extent);
  plot.roof_label = format_text(m.peak_flops_per_s, "FLOP/s") + (top.ceilings.arithmetic_measured ? ", measured" : "");
  plot.y_lo = extent.low < extent.high ? extent.low / 2.5 : extent.high / 10;
  plot.y_hi = extent.high > 0 ? extent.high * 2.5 : 10;
  if (!(plot.y_lo > 0)) plot.y_lo = plot.y_hi / 100;
  return plot;
}

}  // namespace chapters::kernels::lab
