#include <algorithm>
#include <cmath>

#include "chapters/kernels/lab/rate.h"
#include "models/base/line_diff.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::kernels::lab {
namespace {

using ::kernels::Device;
using ::kernels::Ladder;
using ::kernels::Measure;
using widgets::format_text;

bool is_bandwidth(std::string_view unit) { return unit == "B/s"; }

void fill_selected(Outputs& out, const Rated& r, const models::OpCost& cost) {
  const Bar& bar = r.bar;
  out.rung_title = bar.title;
  out.floor_s = r.floor_s;
  out.predicted_s = r.predicted_s;
  out.predicted_share = bar.predicted > 0 ? 100 * bar.predicted : 0;
  out.published_share = bar.published > 0 ? 100 * bar.published : no_number;
  out.your_share = bar.yours > 0 ? 100 * bar.yours : no_number;
  out.limit = bar.predicted > 0 ? models::limit_label(r.bound.limit) : std::string_view("not modelled");
  out.bound = bar.bound;
  const models::Machine& m = r.ceilings.machine;
  out.roof_flops_per_s = m.peak_flops_per_s;
  out.roof_bytes_per_s = m.bandwidth_bytes_per_s;
  out.ridge = models::ridge_flops_per_byte(m);
  out.attainable_flops_per_s = cost.flops > 0 ? models::attainable_flops_per_s(m, out.intensity) : 0;
  out.roofs_measured = r.ceilings.arithmetic_measured || r.ceilings.bandwidth_measured;
  if (!r.run) return;
  const RunRow& run = *r.run;
  out.failure = run.failure;
  out.registers = run.registers;
  out.spill_bytes = run.spill_store_bytes + run.spill_load_bytes;
  out.shared_bytes = run.shared_bytes;
  out.report_text = report_of(run);
  out.notes = notes_of(run.diagnostics);
  if (!timed(r.run) || bar.hidden) return;
  out.time_s = run.time_s;
  out.spread = std::min(100 * run.spread_s / run.time_s, 1e9);
  out.samples = run.samples;
  out.flops_per_s = cost.flops / run.time_s;
  out.bytes_per_s = cost.bytes() / run.time_s;
  out.error = run.error;
  out.error_bound = run.error_bound;
  out.share = bar.measured > 0 ? 100 * bar.measured : no_number;
  out.prediction_miss = out.your_share > 0 && out.share > 0 ? out.your_share - out.share : no_number;
}

void fill_source(const Inputs& in, Outputs& out, const Ladder& ladder, std::int64_t size) {
  const auto& rung = ladder.rungs[out.selected];
  const bool first = out.selected == 0;
  const auto diff = models::diff_lines(first ? rung.source : ladder.rungs[out.selected - 1].source, rung.source);
  const auto lines = models::split_lines(rung.source);
  for (std::size_t i = 0; i < lines.size(); ++i) out.source.push_back({lines[i], diff.changed[i]});
  out.changed_lines = static_cast<std::int64_t>(diff.added);
  const RunRow* edited = run_of(in, ladder, rung.id, size, true);
  if (!edited) return;
  out.edited_result = true;
  out.edited_text = timed(edited) ? "Yours: " + rate_text(ladder, edited->flops, edited->bytes, edited->time_s) + "; "
                                  : edited->failure + " ";
  out.edited_text += report_of(*edited);
  out.notes = notes_of(edited->diagnostics);
}

/// A straight line of a roofline, as two or three points on log axes.
void roof_line(const models::Machine& m, double x_lo, double x_hi, std::vector<double>& xs, std::vector<double>& ys) {
  const double ridge = models::ridge_flops_per_byte(m);
  xs = {x_lo};
  if (ridge > x_lo && ridge < x_hi) xs.push_back(ridge);
  xs.push_back(x_hi);
  for (const double x : xs) ys.push_back(models::attainable_flops_per_s(m, x));
}

void fill_plot(const Inputs& in, Outputs& out, const std::vector<Rated>& rated, const models::OpCost& cost) {
  const Ladder& ladder = *out.ladder;
  const bool gpu = ladder.device == Device::cuda;
  const Rated* top = &rated[out.selected];  // the plot's roof is that of the fastest instructions
  for (const Rated& r : rated)
    if (r.ceilings.machine.peak_flops_per_s > top->ceilings.machine.peak_flops_per_s) top = &r;
  const models::Machine m = top->ceilings.machine;
  const bool flops = ladder.measure == Measure::flops_per_s, latency = ladder.measure == Measure::latency_s;
  out.by_rung = !(out.intensity > 0);
  const auto unit_of_plot = latency ? "s" : out.by_rung && !flops ? "B/s" : "FLOP/s";
  out.y_unit = unit_of_plot;
  double low = HUGE_VAL, high = 0;
  const auto seen = [&](double y) {
    if (y > 0) low = std::min(low, y), high = std::max(high, y);
  };
  for (std::size_t i = 0; i < rated.size(); ++i) {
    const Rated& r = rated[i];
    const double amount = out.by_rung && !flops ? cost.bytes() : cost.flops,
                 x = out.by_rung ? static_cast<double>(i) : out.intensity;
    const auto y_of = [&](double time_s) { return latency ? time_s : amount / time_s; };
    if (timed(r.run) && !r.bar.hidden) {
      out.dot_x.push_back(x), out.dot_y.push_back(y_of(r.run->time_s)), out.dot_names.push_back(std::to_string(i + 1));
      seen(out.dot_y.back());
    } else if (r.predicted_s > 0) {
      out.guess_x.push_back(x), out.guess_y.push_back(y_of(r.predicted_s)),
          out.guess_names.push_back(std::to_string(i + 1));
      seen(out.guess_y.back());
    }
  }
  const auto ceiling = [&](std::string label, double bandwidth, bool wire) {
    Outputs::Ceiling c{std::move(label), bandwidth, {}, {}};
    if (!out.by_rung && wire) roof_line({m.peak_flops_per_s, bandwidth, 0}, out.plot_x_lo, out.plot_x_hi, c.x, c.y);
    out.ceilings.push_back(std::move(c));
  };
  if (out.by_rung) {
    const Ceilings& c = rated[out.selected].ceilings;
    const double roof = latency ? rated[out.selected].floor_s : flops ? m.peak_flops_per_s : m.bandwidth_bytes_per_s;
    seen(roof);
    ceiling((flops ? c.arithmetic : c.bandwidth) + " " + format_text(roof, unit_of_plot), roof, true);
  } else {
    out.plot_x_lo = std::min({0.05, out.intensity / 4, out.ridge / 8});
    out.plot_x_hi = std::max({100.0, out.intensity * 4, out.ridge * 8});
    roof_line(m, out.plot_x_lo, out.plot_x_hi, out.roof_x, out.roof_y);
    for (const double y : out.roof_y) seen(y);
    const models::Machine own = rated[out.selected].ceilings.machine;
    if (own.peak_flops_per_s < 0.99 * m.peak_flops_per_s) {
      Outputs::Ceiling c{format_text(own.peak_flops_per_s, "FLOP/s") + " of rung " + std::to_string(out.selected + 1),
                         own.peak_flops_per_s,
                         {},
                         {}};
      roof_line(own, out.plot_x_lo, out.plot_x_hi, c.x, c.y);
      out.ceilings.push_back(std::move(c));
    }
    for (const RoofRow& r : in.roofs)
      if (is_bandwidth(r.unit) && r.device == (gpu ? "cuda" : "cpu") && r.value > m.bandwidth_bytes_per_s * 1.05 &&
          out.ceilings.size() < 3)
        ceiling(r.title, r.value, true);
  }
  out.roof_label = format_text(m.peak_flops_per_s, "FLOP/s") + (top->ceilings.arithmetic_measured ? ", measured" : "");
  out.plot_y_lo = low < high ? low / 2.5 : high / 10;
  out.plot_y_hi = high > 0 ? high * 2.5 : 10;
  if (!(out.plot_y_lo > 0)) out.plot_y_lo = out.plot_y_hi / 100;
}

void fill_words(Outputs& out, const std::vector<Rated>& rated, const Inputs& in) {
  const Ladder& ladder = *out.ladder;
  const Rated& now = rated[out.selected];
  const bool wire = now.floor_s > 0 && against_bandwidth(in, ladder, ladder.rungs[out.selected].roof);
  const Ceilings& c = now.ceilings;
  const bool measured = wire ? c.bandwidth_measured : c.arithmetic_measured;
  std::string size(widgets::format(static_cast<double>(out.size), ladder.size_unit, 4,
                                   ladder.size_unit == "B" ? widgets::Prefix::binary : widgets::Prefix::none)
                       .view());
  out.caption = "share of each rung's roof; rung " + std::to_string(out.selected + 1) + ": " +
                (wire ? c.bandwidth + ", " + format_text(out.roof_bytes_per_s, "B/s")
                      : c.arithmetic + ", " + format_text(out.roof_flops_per_s, "FLOP/s")) +
                (measured ? ", measured here; " : "; ");
  out.caption += std::string(ladder.size_label) + " " + size;
  const std::size_t next = out.selected + 1;
  if (next >= rated.size()) {
    out.next_text = "This is the last rung. " + std::string(now.bar.change);
    out.next_gain = 1;
  } else {
    const Bar& b = rated[next].bar;
    out.next_gain = b.predicted > 0 && now.bar.predicted > 0 ? b.predicted / now.bar.predicted : 1;
    out.next_text = "Next, " + std::string(b.title) + ": " + std::string(b.change);
    if (out.next_text.back() != '.') out.next_text += ".";
    const Rated& r = rated[next];
    if (timed(r.run) && timed(now.run) && !r.bar.hidden && !now.bar.hidden)
      out.next_text += " Measured: " + format_text(now.run->time_s / r.run->time_s, "") + " times as fast.";
    else if (b.predicted > 0)
      out.next_text += " The model allows " + format_text(out.next_gain, "") + " times the rate.";
  }
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  const std::string& id = in.device == Device::cpu ? in.cpu_ladder : in.cuda_ladder;
  out.ladder = ::kernels::find_ladder(id);
  out.rows = static_cast<std::int64_t>(in.runs.size());
  out.prediction_rows = static_cast<std::int64_t>(in.predictions.size());
  out.roof_rows = static_cast<std::int64_t>(in.roofs.size());
  if (!out.ladder || out.ladder->rungs.empty() || !out.ladder->cost) {
    out.reason = "This program holds no ladder called \"" + id + "\".";
    return out;
  }
  const Ladder& ladder = *out.ladder;
  out.rungs = static_cast<std::int64_t>(ladder.rungs.size());
  out.selected = static_cast<std::size_t>(std::clamp<std::int64_t>(in.rung, 1, out.rungs) - 1);
  out.size = size_of(ladder, in.size);
  const models::OpCost cost = ladder.cost(out.size);
  out.flops = cost.flops;
  out.bytes = cost.bytes();
  out.intensity = cost.intensity();

  std::vector<Rated> rated;
  double first_s = 0, best_s = HUGE_VAL, best_bound = 0;
  const Rated* best = nullptr;
  for (std::size_t i = 0; i < ladder.rungs.size(); ++i) {
    rated.push_back(rate(in, ladder, i, cost, out.size));
    if (!rated.back().ceilings.error.empty()) {
      out.reason = rated.back().ceilings.error;
      return out;
    }
  }
  for (const Rated& r : rated) {
    best_bound = std::max(best_bound, r.bar.predicted);
    out.failed_rungs += r.bar.failed;
    if (!timed(r.run)) continue;
    ++out.measured_rungs;
    if (r.bar.hidden) continue;
    if (&r == &rated.front()) first_s = r.run->time_s;
    if (r.run->time_s < best_s) best_s = r.run->time_s, best = &r;
  }
  fill_selected(out, rated[out.selected], cost);
  out.best_rung = best ? std::string(best->bar.title) : "none measured yet";
  if (best) {
    out.best_share = best->bar.measured > 0 ? 100 * best->bar.measured : no_number;
    out.best_flops_per_s = cost.flops / best_s;
    out.best_bytes_per_s = cost.bytes() / best_s;
    out.speedup = first_s > 0 ? std::min(first_s / best_s, 1e9) : no_number;
  }
  out.predicted_speedup = rated.front().bar.predicted > 0 ? best_bound / rated.front().bar.predicted : 0;
  out.clock_hz = in.device == Device::cpu ? rated[out.selected].ceilings.ports.core.clock_hz
                                          : rated[out.selected].ceilings.ports.gpu.clock_hz;
  fill_source(in, out, ladder, out.size);
  fill_plot(in, out, rated, cost);
  fill_words(out, rated, in);
  for (Rated& r : rated) out.bars.push_back(std::move(r.bar));
  out.command = "ridgeline kernels run " + std::string(ladder.id) + " --rung " +
                std::string(ladder.rungs[out.selected].id) + " --size " + std::to_string(out.size) +
                (in.cold ? "" : " --warm") + " --seed " + std::to_string(in.seed) + " --seconds " +
                format_text(in.seconds_per_rung, "", 6);
  widgets::Fingerprint mark;
  mark.add(std::string_view(ladder.id)), mark.add(static_cast<double>(out.size));
  for (const Bar& b : out.bars) mark.add(b.measured), mark.add(b.predicted), mark.add(b.yours);
  mark.add(out.roof_flops_per_s), mark.add(out.roof_bytes_per_s);
  out.version = mark.value | 1;
  return out;
}

}  // namespace chapters::kernels::lab
