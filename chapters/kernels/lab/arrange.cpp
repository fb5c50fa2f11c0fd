#include "chapters/kernels/lab/arrange_parts.h"
#include "widgets/number/number.h"

namespace chapters::kernels::lab {
namespace {

using ::kernels::Ladder;
using ::kernels::Measure;
using widgets::format_text;

std::string percent(double share) { return format_text(100 * share, "%", share < 0.0995 ? 2 : 3); }

/// The median time, and half the interquartile range as a share of it.
std::string time_text(const RunRow& run) {
  return format_text(run.time_s, "s") +
         (run.samples > 1 ? " \xC2\xB1" + format_text(100 * run.spread_s / run.time_s / 2, "%", 2) : " once");
}

Bar bar_of(const RatedRung& rated, const ::kernels::Rung& rung, const Ladder& ladder, const models::OpCost& cost) {
  Bar bar{rated, rung.id, rung.title, rung.change, {}, {}, {}, {}, {}};
  if (const auto& p = rated.prediction) {
    bar.predicted_text = "model " + percent(rated.limit.share);
    bar.hover = std::string(p->why) + " Limited by " + std::string(models::limit_label(p->bound.limit)) + ".";
    if (p->published_share > 0)
      bar.published_text = std::string(p->published_source) + ": " + percent(p->published_share);
  }
  if (timed(rated.run)) {
    bar.rate = rate_text(ladder, cost.flops, cost.bytes(), rated.run->time_s);
    bar.time = time_text(*rated.run);
  }
  return bar;
}

/// Which ceiling the selected rung's roof is, and the operation's size.
std::string caption_of(const Inputs& in, const Outputs& out, const RatedRung& now) {
  const Ladder& ladder = *out.ladder;
  const Ceilings& c = now.ceilings;
  const bool bandwidth = now.floor_s > 0 && against_bandwidth(in, ladder, ladder.rungs[out.selected].roof);
  const bool measured = bandwidth ? c.bandwidth_measured : c.arithmetic_measured;
  const auto prefix = ladder.size_unit == "B" ? widgets::Prefix::binary : widgets::Prefix::none;
  const std::string size(widgets::format(static_cast<double>(out.size), ladder.size_unit, 4, prefix).view());
  return "share of each rung's roof; rung " + std::to_string(out.selected + 1) + ": " +
         (bandwidth ? c.bandwidth + ", " + format_text(out.roof.bytes_per_s, "B/s")
                    : c.arithmetic + ", " + format_text(out.roof.flops_per_s, "FLOP/s")) +
         (measured ? ", measured here; " : "; ") + std::string(ladder.size_label) + " " + size;
}

}  // namespace

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

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture picture;
  if (!out.reason.empty() || !out.ladder) return picture;
  const Ladder& ladder = *out.ladder;
  const auto rated = rate_rungs(in, ladder, out.size);
  if (!rated) return picture;
  const models::OpCost cost = ladder.cost(out.size);
  for (std::size_t i = 0; i < rated->size(); ++i)
    picture.bars.push_back(bar_of((*rated)[i], ladder.rungs[i], ladder, cost));
  picture.caption = caption_of(in, out, (*rated)[out.selected]);
  picture.plot = arrange_plot(in, out, *rated);
  picture.source = arrange_source(in, out, *rated);
  return picture;
}

}  // namespace chapters::kernels::lab
