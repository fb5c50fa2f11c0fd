#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/roofline/lab.h"
#include "kernels/kernel.h"
#include "models/transformer/roofline_ops.h"
#include "widgets/number/number.h"

namespace chapters::roofline::roofline {
using widgets::format_text;

void add_roofs(const RooflineInputs& in, const models::Chip& main, RooflineOutputs& o) {
  std::vector<const models::Chip*> chips{&main};
  for (const std::string& id : in.chips)
    if (const models::Chip* c = catalog().chip(id); c && c != &main) chips.push_back(c);
  for (const models::Chip* c : chips) {
    const auto format = models::nearest_format(*c, in.format);
    if (!format) continue;
    if (c == &main && *format != in.format) continue;
    const models::Machine m = *models::machine_of(*c, *format);
    const double ridge = models::ridge_flops_per_byte(m);
    RoofRow row{c->short_name,
                std::string(models::format_label(*format)),
                m.peak_flops_per_s,
                m.bandwidth_bytes_per_s,
                ridge,
                0,
                0};
    if (const auto p = models::place(m, {o.flops_total, o.bytes_total, 1}); p && o.bytes_total > 0) {
      row.attainable_flops_per_s = p->attainable_flops_per_s;
      row.time_s = p->time_s;
    }
    RooflinePicture::Line line;
    line.label = c->short_name + " " + format_text(m.peak_flops_per_s, "FLOP/s") +
                 (*format == in.format ? "" : " (" + row.format + ")");
    line.info = "min(peak, intensity x " + format_text(m.bandwidth_bytes_per_s, "B/s") + "), ridge " +
                format_text(ridge, "FLOP/B");
    line.xs = {1e-4, ridge, 1e9};
    line.ys = {1e-4 * m.bandwidth_bytes_per_s, m.peak_flops_per_s, m.peak_flops_per_s};
    o.roofs.push_back(std::move(row));
    if (c == &main)
      o.picture.roof = std::move(line);
    else
      o.picture.roofs.push_back(std::move(line));
  }
}

void add_measured(const RooflineInputs& in, const models::Machine& machine, RooflineOutputs& o) {
  if (in.measured.text.empty()) return;
  const kernels::Measurements read = kernels::parse_measurements(in.measured.text);
  if (!read.error.empty()) {
    o.reason = read.error;
    return;
  }
  for (const kernels::Measurement& m : read.rows) {
    const double roof = models::attainable_flops_per_s(machine, m.intensity());
    const MeasuredRow row{m.name, m.intensity(), m.flops_per_s(), 100 * m.flops_per_s() / roof};
    if (!std::isfinite(row.intensity) || !std::isfinite(row.flops_per_s) || !std::isfinite(row.share_of_roof_percent))
      continue;
    o.measured_points.push_back(row);
    o.picture.measured.xs.push_back(row.intensity);
    o.picture.measured.ys.push_back(row.flops_per_s);
    o.picture.measured.labels.push_back(m.name);
  }
}

void frame_picture(RooflineOutputs& o) {
  RooflinePicture& pic = o.picture;
  double x_lo = 0.1, x_hi = std::max(2e4, 60 * o.ridge), y_lo = HUGE_VAL, y_hi = 0;
  for (const RoofRow& r : o.roofs) {
    y_lo = std::min(y_lo, r.bandwidth_bytes_per_s * x_lo);
    y_hi = std::max(y_hi, r.peak_flops_per_s);
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
  cover(pic.selected_x, pic.selected_y);
  if (!(y_lo < y_hi)) return;
  pic.x_lo = x_lo;
  pic.x_hi = x_hi;
  pic.y_lo = y_lo / 1.8;
  pic.y_hi = y_hi * 2.2;
  auto& launch = pic.launch;
  if (!launch.ys.empty() && launch.ys[0] > pic.y_lo && launch.ys[0] < pic.y_hi / 2)
    launch.xs = {1e-4, 1e9};
  else
    launch = {};
}

}  // namespace chapters::roofline::roofline
