#include <algorithm>
#include <cmath>

#include "chapters/profiling/utilization/lab.h"
#include "widgets/number/number.h"

namespace chapters::profiling::utilization {
namespace {

using models::UtilizationLoss, widgets::figure, widgets::format_text, widgets::Meaning, widgets::Tint;

constexpr std::array<LossLook, models::utilization_loss_count> looks{{
    {"waiting for data", "More workers, cheaper decoding, a batch ahead.", Meaning::data_loading},
    {"waiting for a copy", "Pinned pages and a stream of its own.", Tint::series(1)},
    {"waiting for a launch", "Fewer kernels: compile, capture a graph, a larger batch.", Meaning::launch_bound},
    {"waiting after a sync", "Read the loss less often, log on another thread.", Meaning::idle},
    {"idle, cause unknown", "Record it: a trace tells who was waited for.", Tint::series(4)},
    {"only a collective runs", "Overlap it, more micro-batches, a faster network.", Meaning::communication},
    {"optimizer kernels", "Fused AdamW, more tokens a step, sharded states.", Meaning::optimizer},
    {"kernels without products", "Fuse norms, gates and residuals: they move bytes and multiply nothing.",
     Meaning::memory_bound},
    {"products without flops", "Record shapes, and run without a CUDA graph while you do.", Tint::series(5)},
    {"products below the peak", "Larger and better-shaped matrices; clocks under load.", Tint()},
    {"multiplied, not needed", "Fused attention that skips masked tiles.", Tint::series(2)},
    {"multiplied twice", "Keep more activations, if memory allows.", Meaning::backward},
}};

std::string percent_text(double share) { return format_text(100 * share, "%"); }

/// Losses from the right edge to the left: what runs least comes last.
constexpr std::array<UtilizationLoss, 9> loss_columns{
    UtilizationLoss::uncounted,     UtilizationLoss::other_kernels, UtilizationLoss::optimizer,
    UtilizationLoss::communication, UtilizationLoss::launches,      UtilizationLoss::sync,
    UtilizationLoss::copies,        UtilizationLoss::data,          UtilizationLoss::idle};

PartFill fill_of(UtilizationLoss loss) {
  switch (loss) {
    case UtilizationLoss::below_peak:
    case UtilizationLoss::idle:
    case UtilizationLoss::uncounted:
      return PartFill::hatched;
    case UtilizationLoss::extra:
    case UtilizationLoss::recompute:
      return PartFill::pale;
    default:
      return PartFill::solid;
  }
}

void add_parts(const Inputs& in, const models::Utilization& u, Picture& p) {
  const auto loss = [&](UtilizationLoss l) { return u.loss[static_cast<std::size_t>(l)]; };
  p.products = u.product_s / u.wall_s;
  p.busy = u.busy();
  double y = 0;
  const auto layer = [&](std::string name, double share, Tint tint, PartFill fill, std::string_view info) {
    if (share <= 0 || p.products <= 0) return;
    const double top = y + share / p.products;
    p.parts.push_back({std::move(name), 0, p.products, y, top, tint, fill, percent_text(share), std::string(info)});
    y = top;
  };
  layer("needed", u.needed_share(), Meaning::compute_bound, PartFill::solid, "products that the model asks for");
  for (const UtilizationLoss l : {UtilizationLoss::recompute, UtilizationLoss::extra, UtilizationLoss::below_peak}) {
    const LossLook& look = loss_look(l);
    const bool rate = in.job == Job::rate && l == UtilizationLoss::below_peak;
    layer(std::string(rate ? not_at_the_peak : look.name), loss(l), look.tint, fill_of(l),
          rate ? "a rate does not tell what runs" : look.cure);
  }
  double x = p.products;
  for (const UtilizationLoss l : loss_columns) {
    if (loss(l) <= 0) continue;
    const LossLook& look = loss_look(l);
    p.parts.push_back({std::string(look.name), x, x + loss(l), 0, 1, look.tint, fill_of(l), percent_text(loss(l)),
                       std::string(look.cure)});
    x += loss(l);
  }
}

/// From the whole second down to what is needed: each loss is taken away where it belongs.
void add_ledger(const Inputs& in, const Outputs& out, Picture& p) {
  const models::Utilization& u = out.second;
  const auto total = [&](std::string_view words, double percent) {
    p.ledger.push_back({std::string(words), format_text(percent, "%"), true, false, Tint(), PartFill::solid});
  };
  const auto take = [&](UtilizationLoss l, std::string_view other = {}) {
    const double share = u.loss[static_cast<std::size_t>(l)];
    if (share < 5e-4) return;
    const LossLook& look = loss_look(l);
    p.ledger.push_back({std::string(other.empty() ? look.name : other), "\xE2\x88\x92" + percent_text(share), false,
                        false, look.tint, fill_of(l)});
  };
  total("one second at the peak", 100);
  for (const UtilizationLoss l : {UtilizationLoss::idle, UtilizationLoss::data, UtilizationLoss::copies,
                                  UtilizationLoss::sync, UtilizationLoss::launches})
    take(l);
  total("busy", out.busy);
  for (const UtilizationLoss l : {UtilizationLoss::communication, UtilizationLoss::optimizer,
                                  UtilizationLoss::other_kernels, UtilizationLoss::uncounted})
    take(l);
  take(UtilizationLoss::below_peak, in.job == Job::rate ? not_at_the_peak : "");
  if (std::isnan(out.mfu)) {
    p.ledger.push_back({"multiplied", "not known", true, false, Tint(), PartFill::solid});
    return;
  }
  total("multiplied", out.issued);
  take(UtilizationLoss::extra);
  take(UtilizationLoss::recompute);
  total("needed", out.needed);
  p.ledger.push_back({"MFU as reported", format_text(out.mfu, "%"), true, true, Tint(), PartFill::solid});
}

void add_meters(const Outputs& out, Picture& p) {
  const auto add = [&](std::string_view name, double percent, Tint tint) {
    if (!std::isnan(percent)) p.meters.push_back({std::string(name), format_text(percent, "%"), 0.01 * percent, tint});
  };
  add("busy", out.busy, Tint());
  add("HFU", out.hfu, Meaning::backward);
  add("MFU", out.mfu, Meaning::compute_bound);
  add("MBU", out.mbu, Meaning::memory_bound);
}

/// What the convention says where that is another figure than what is needed.
std::string reported_sentence(const Inputs& in, const Outputs& out) {
  if (in.job == Job::recording || std::abs(out.mfu - out.needed) <= 0.05) return {};
  std::string said = " Reported as MFU: " + figure(out.mfu, "%");
  if (out.never_run > 0.05) said += ", " + figure(out.never_run, "") + " points of it never run";
  return said + ".";
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (in.job == Job::decoding)
    return "Decoding keeps the GPU " + figure(out.busy, "%") + " busy and needs " + figure(out.needed, "%") +
           " of its peak" +
           (out.mbu >= out.needed ? ": the meter that fits is MBU, " : "; with so many sequences MBU says less, ") +
           figure(out.mbu, "%") + (out.mbu > 100 ? ", which counts weights that were not read." : ".") +
           reported_sentence(in, out);
  if (in.job == Job::rate)
    return "At this rate the GPU multiplies " + figure(out.issued, "%") + " of what its peak allows, and " +
           figure(out.needed, "%") + " is needed, while nvidia-smi reads " + figure(out.busy, "%") + "." +
           reported_sentence(in, out);
  if (in.job == Job::recording && std::isnan(out.mfu))
    return "The GPU is " + figure(out.busy, "%") + " busy; without shapes in the recording nobody can say with what.";
  std::string said = "The GPU is " + figure(out.busy, "%") + " busy, multiplies " + figure(out.issued, "%") +
                     " of what its peak allows, and " + figure(out.needed, "%") +
                     " is needed; the largest loss: " + out.largest + ", " + figure(out.largest_share, "%") + ".";
  const double uncounted = out.loss[static_cast<std::size_t>(UtilizationLoss::uncounted)];
  if (uncounted > 0.05)
    said += " For " + figure(uncounted, "%") + " products run whose flops nobody wrote: MFU is more.";
  return said + reported_sentence(in, out);
}

}  // namespace

const LossLook& loss_look(UtilizationLoss loss) { return looks[static_cast<std::size_t>(loss)]; }

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  // Until the job has its first result there is no second.
  if (!out.reason.empty() || !(out.second.wall_s > 0)) return p;
  add_parts(in, out.second, p);
  add_ledger(in, out, p);
  p.reported = std::isnan(out.mfu) ? -1 : 0.01 * out.mfu;
  p.busy_words = "busy " + format_text(out.busy, "%") + " of the time";
  const bool known = !(out.loss[static_cast<std::size_t>(UtilizationLoss::uncounted)] > 0.05);
  p.products_words = in.job == Job::rate ? "what runs when is not known"
                                         : (known ? "a matrix product runs " : "a product of known flops runs ") +
                                               format_text(100 * p.products, "%");
  if (std::abs(out.mfu - out.needed) > 1) p.reported_words = "reported: " + format_text(out.mfu, "%");
  add_meters(out, p);
  p.answer = answer_of(in, out);
  return p;
}

}  // namespace chapters::profiling::utilization
