#include <algorithm>

#include "chapters/kernels/lab/arrange_parts.h"
#include "widgets/number/number.h"

namespace chapters::kernels::lab {
namespace {

using ::kernels::Ladder, ::kernels::Measure, widgets::format_text;

/// The median time, and half the interquartile range as a share of it.
std::string time_text(const RunRow& run) {
  return format_text(run.time_s, "s") +
         (run.samples > 1 ? " \xC2\xB1" + format_text(100 * run.spread_s / run.time_s / 2, "%", 2) : " once");
}

/// `amount` is what the ladder counts: operations, or bytes.
Bar bar_of(const RatedRung& rated, const ::kernels::Rung& rung, const Ladder& ladder, double amount) {
  Bar bar{rated, rung.id, rung.title, rung.change};
  if (rated.floor_s > 0) bar.roof_rate = amount / rated.floor_s;
  if (rated.above_roof) bar.why_above = above_roof_text(rated);
  if (const auto& p = rated.prediction) {
    if (bar.roof_rate > 0) bar.predicted_rate = bar.roof_rate * rated.limit.share;
    const std::string most = exceeded(rated) ? "\xE2\x89\x88 " : "\xE2\x89\xA4 ",
                      least = exceeded(rated) ? "\xE2\x89\x88 " : "\xE2\x89\xA5 ";
    bar.share = most + percent_text(rated.limit.share);
    if (bar.predicted_rate > 0 && ladder.measure == Measure::latency_s)
      bar.rate = least + format_text(rated.predicted_s, "s");
    else if (bar.predicted_rate > 0)
      bar.rate = most + format_text(bar.predicted_rate, ladder.measure == Measure::flops_per_s ? "FLOP/s" : "B/s");
    bar.hover = std::string(p->why) + " Limited by " + std::string(models::limit_label(p->bound.limit)) + ".";
    if (bar.published > 0) {
      bar.published_rate = bar.roof_rate * bar.published;
      bar.published_share = percent_text(bar.published);
      bar.published_text = std::string(p->published_source) + ": ";
      if (p->published_flops_per_s > 0)
        bar.published_text += format_text(p->published_flops_per_s, "FLOP/s") + ", " +
                              percent_text(p->published_share) + " of cuBLAS there, " +
                              percent_text(p->published_peak_share) + " of its FP32 peak";
      else
        bar.published_text += percent_text(p->published_share);
    }
  }
  if (!shown(rated)) return bar;
  const RunRow& run = *rated.run;
  const bool bytes = ladder.measure != Measure::flops_per_s;
  bar.rate = rate_text(ladder, bytes ? 0 : amount, bytes ? amount : 0, run.time_s);
  bar.time = time_text(run);
  if (bar.measured >= 0) bar.share = percent_text(bar.measured);
  bar.measured_rate = amount / run.time_s;
  const double half = std::min(run.spread_s, run.time_s) / 2;
  if (run.samples > 1) {
    bar.slow_rate = amount / (run.time_s + half);
    bar.fast_rate = amount / (run.time_s - half);
  }
  return bar;
}

/// What is said of times that spread widely; empty where they do not.
std::string noise_text(const RatedRung& now) {
  if (!shown(now) || !noisy(now.run.get())) return {};
  return " Its times spread by " + format_text(100 * now.run->spread_s / now.run->time_s, "%", 2) +
         " (interquartile range): other work ran on this machine, or its clock moved. Run it again while it is quiet.";
}

/// Which ceiling the selected rung's roof is, and the operation's size.
std::string caption_of(const Inputs& in, const Outputs& out, const Run& run) {
  const Ladder& ladder = *run.ladder;
  const RatedRung& now = run.rungs[run.selected];
  const Ceilings& c = now.ceilings;
  const bool bandwidth = now.floor_s > 0 && against_bandwidth(in, ladder, run.rung().roof);
  const bool measured = bandwidth ? c.bandwidth_measured : c.arithmetic_measured;
  const auto prefix = ladder.size_unit == "B" ? widgets::Prefix::binary : widgets::Prefix::none;
  const std::string size(widgets::format(static_cast<double>(out.size), ladder.size_unit, 4, prefix).view());
  if (run.rung().roof == "gpu_launch")
    return "Its roof: " + c.bandwidth + ", " + format_text(now.floor_s, "s") + (measured ? ", measured here. " : ". ") +
           std::string(ladder.size_label) + " " + size + ".";
  return "Its roof: " +
         (bandwidth ? c.bandwidth + ", " + format_text(out.roof.bytes_per_s, "B/s")
                    : c.arithmetic + ", " + format_text(out.roof.flops_per_s, "FLOP/s")) +
         (measured ? ", measured here. " : ". ") + std::string(ladder.size_label) + " " + size + ".";
}

std::string change_of(const Run& run) {
  std::string text = "Rung " + std::to_string(run.selected + 1) + ": " + std::string(run.rung().change);
  if (text.back() != '.') text += ".";
  return text;
}

}  // namespace

std::string percent_text(double share) { return format_text(100 * share, "%", share < 0.0995 ? 2 : 3); }

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

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  if (!out.reason.empty() || !run.ladder) return picture;
  const Ladder& ladder = *run.ladder;
  const RatedRung& now = run.rungs[run.selected];
  const bool flops = ladder.measure == Measure::flops_per_s;
  const bool launches = run.rung().roof == "gpu_launch";
  picture.unit = flops ? "FLOP/s" : launches ? "/s" : "B/s";
  double highest = 0;
  for (std::size_t i = 0; i < run.rungs.size(); ++i) {
    const models::OpCost cost = cost_of(ladder, ladder.rungs[i], out.size);
    const double amount = flops ? cost.flops : launches ? 1 : cost.bytes();
    const Bar& bar = picture.bars.emplace_back(bar_of(run.rungs[i], ladder.rungs[i], ladder, amount));
    highest = std::max({highest, bar.roof_rate, bar.measured_rate});
    picture.any_hidden |= bar.hidden;
    if (bar.published_rate > 0 && picture.elsewhere.empty()) picture.elsewhere = machine_of(run.rungs[i]);
    picture.noisy_rungs += shown(run.rungs[i]) && noisy(run.rungs[i].run.get());
  }
  picture.highest = highest > 0 ? 1.1 * highest : 1;
  picture.change = change_of(run);
  picture.caption = caption_of(in, out, run) + noise_text(now);
  if (const Bar& bar = picture.bars[run.selected]; bar.published_rate > 0)
    picture.caption += " Measured elsewhere: " + bar.published_text + ".";
  picture.answer = answer_of(in, out, run);
  if (const auto& p = now.prediction)
    for (const models::PortLoad& load : p->ports.all())
      picture.ports.push_back({load.port, load.demand, load.supply, load.unit, p->why});
  picture.plot = arrange_plot(in, out, run);
  picture.source = arrange_source(in, out, run);
  picture.doors = doors_of(in, run);
  return picture;
}

}  // namespace chapters::kernels::lab
