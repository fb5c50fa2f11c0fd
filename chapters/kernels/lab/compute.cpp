#include <algorithm>
#include <memory>
#include <utility>

#include "chapters/kernels/lab/rate.h"
#include "models/base/line_diff.h"
#include "widgets/number/number.h"

namespace chapters::kernels::lab {
namespace {

using ::kernels::Device;
using ::kernels::Ladder;

double percent_or_missing(double share) { return share > 0 ? 100 * share : no_number; }

/// Everything about the selected rung but the gain of the next one.
RungFigures rung_figures(const RatedRung& r, const Ladder& ladder, std::size_t selected, const models::OpCost& cost) {
  const ::kernels::Rung& rung = ladder.rungs[selected];
  RungFigures out{
      .title = std::string(rung.title),
      .limit = std::string(r.predicted > 0 ? models::limit_label(r.limit.limit) : "not modelled"),
      .bound = r.bound,
      .predicted_share = r.predicted > 0 ? 100 * r.predicted : no_number,
      .floor_s = r.floor_s,
      .predicted_s = r.predicted_s > 0 ? r.predicted_s : no_number,
      .your_share = percent_or_missing(r.yours),
  };
  const std::string_view before = selected == 0 ? rung.source : ladder.rungs[selected - 1].source;
  out.changed_lines = static_cast<std::int64_t>(models::diff_lines(before, rung.source).added);
  if (!r.run) return out;
  const RunRow& run = *r.run;
  out.registers = run.registers;
  out.spill_bytes = run.spill_store_bytes + run.spill_load_bytes;
  out.shared_bytes = run.shared_bytes;
  if (!shown(r)) return out;
  out.time_s = run.time_s;
  out.spread = std::min(100 * run.spread_s / run.time_s, 1e9);
  out.samples = run.samples;
  out.flops_per_s = cost.flops / run.time_s;
  out.bytes_per_s = cost.bytes() / run.time_s;
  out.error = run.error;
  out.error_bound = run.error_bound;
  out.share = percent_or_missing(r.measured);
  out.prediction_miss = out.your_share > 0 && out.share > 0 ? out.your_share - out.share : no_number;
  return out;
}

/// How many times faster the model expects the rung after the selected one; NaN at the last, and without a model.
double gain_of_next(const std::vector<RatedRung>& rated, std::size_t selected) {
  if (selected + 1 >= rated.size()) return std::nan("");
  const double now = rated[selected].predicted_s, next = rated[selected + 1].predicted_s;
  return next > 0 && now > 0 ? now / next : std::nan("");
}

RoofFigures roof_figures(const Inputs& in, const Ceilings& c, const models::OpCost& cost) {
  return {
      .flops_per_s = c.machine.peak_flops_per_s,
      .bytes_per_s = c.machine.bandwidth_bytes_per_s,
      .ridge = models::ridge_flops_per_byte(c.machine),
      .attainable_flops_per_s = cost.flops > 0 ? models::attainable_flops_per_s(c.machine, cost.intensity()) : 0,
      .clock_hz = in.device == Device::cpu ? c.ports.core.clock_hz : c.ports.gpu.clock_hz,
      .measured = c.arithmetic_measured || c.bandwidth_measured,
  };
}

/// The best of the rungs whose times the learner may see.
BestFigures best_figures(const std::vector<RatedRung>& rated, const Ladder& ladder, std::int64_t size) {
  BestFigures out{.title = "none measured yet"};
  double best_bound = 0;
  const RatedRung* best = nullptr;
  for (const RatedRung& r : rated) {
    best_bound = std::max(best_bound, r.predicted);
    if (shown(r) && (!best || r.run->time_s < best->run->time_s)) best = &r;
  }
  const RatedRung& first = rated.front();
  out.predicted_speedup = first.predicted > 0 ? best_bound / first.predicted : no_number;
  if (!best) return out;
  const double best_s = best->run->time_s;
  const ::kernels::Rung& rung = ladder.rungs[static_cast<std::size_t>(best - rated.data())];
  const models::OpCost cost = cost_of(ladder, rung, size);
  out.title = rung.title;
  out.share = percent_or_missing(best->measured);
  out.flops_per_s = cost.flops / best_s;
  out.bytes_per_s = cost.bytes() / best_s;
  if (shown(first)) out.speedup = std::min(first.run->time_s / best_s, 1e9);
  return out;
}

std::string command_of(const Inputs& in, const Ladder& ladder, const ::kernels::Rung& rung, std::int64_t size) {
  return "ridgeline kernels run " + std::string(ladder.id) + " --rung " + std::string(rung.id) + " --size " +
         std::to_string(size) + (in.cold ? "" : " --warm") + " --seed " + std::to_string(in.seed) + " --seconds " +
         widgets::format_text(in.seconds_per_rung, "", 6);
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in) {
  Outputs out;
  const std::string& id = chosen_ladder(in);
  const Ladder* found = ::kernels::find_ladder(id);
  out.rows = static_cast<std::int64_t>(in.runs.size());
  out.prediction_rows = static_cast<std::int64_t>(in.predictions.size());
  out.roof_rows = static_cast<std::int64_t>(in.roofs.size());
  if (!found || found->rungs.empty() || !found->cost) {
    out.reason = "This program holds no ladder called \"" + id + "\".";
    return {.facts = std::move(out)};
  }
  const Ladder& ladder = *found;
  out.rungs = static_cast<std::int64_t>(ladder.rungs.size());
  const auto selected = static_cast<std::size_t>(std::clamp<std::int64_t>(in.rung, 1, out.rungs) - 1);
  out.size = size_of(ladder, in.size);
  const models::OpCost cost = cost_of(ladder, ladder.rungs[selected], out.size);
  out.flops = cost.flops;
  out.bytes = cost.bytes();
  out.intensity = cost.intensity();
  auto rated = rate_rungs(in, ladder, out.size);
  if (!rated) {
    out.reason = rated.error;
    return {.facts = std::move(out)};
  }
  for (const RatedRung& r : *rated) {
    out.failed_rungs += r.failed;
    out.checked_rungs += r.checked;
    out.measured_rungs += timed(r.run.get());
  }
  out.rung = rung_figures((*rated)[selected], ladder, selected, cost);
  out.rung.published_share = percent_or_missing((*rated)[selected].published);
  out.rung.next_gain = gain_of_next(*rated, selected);
  if (selected + 1 < rated->size()) {
    const RatedRung &now = (*rated)[selected], &next = (*rated)[selected + 1];
    if (shown(now) && shown(next)) out.rung.next_measured_gain = std::min(now.run->time_s / next.run->time_s, 1e9);
    // Shares of two roofs do not compare.
    const bool one_roof = std::abs(now.floor_s / next.floor_s - 1) < 1e-9;
    if (now.published > 0 && next.published > 0 && one_roof)
      out.rung.next_published_gain = next.published / now.published;
  }
  out.best = best_figures(*rated, ladder, out.size);
  out.roof = roof_figures(in, (*rated)[selected].ceilings, cost);
  out.command = command_of(in, ladder, ladder.rungs[selected], out.size);
  return {std::move(out), std::make_shared<const Run>(Run{found, selected, std::move(*rated)})};
}

}  // namespace chapters::kernels::lab
