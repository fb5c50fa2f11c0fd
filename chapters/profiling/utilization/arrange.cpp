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
    {"optimizer kernels", "Fused AdamW, more tokens per step, sharded states.", Meaning::optimizer},
    {"kernels without a matmul", "Fuse norms, gates and residuals: they move bytes and multiply nothing.",
     Meaning::memory_bound},
    {"matmuls without FLOPs", "Record shapes, and run without a CUDA graph while you do.", Tint::series(5)},
    {"matmuls below the peak", "Larger and better-shaped matrices; clocks under load.", Tint()},
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
  layer("needed", u.needed_share(), Meaning::compute_bound, PartFill::solid, "matmuls that the model asks for");
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

/// Decoding is drawn against the memory where that is what it fills: time to the right, share of the bandwidth upwards.
bool drawn_in_bytes(const Inputs& in, const Outputs& out) {
  return in.job == Job::decoding && out.mbu >= out.needed && out.mbu <= out.busy;
}

/// The second and its subtraction against the bandwidth: what is read, what the busy time leaves, and the waits.
void add_bytes(const Outputs& out, Picture& p) {
  constexpr std::array<UtilizationLoss, 5> waits{UtilizationLoss::launches, UtilizationLoss::sync,
                                                 UtilizationLoss::copies, UtilizationLoss::data, UtilizationLoss::idle};
  const double read = 0.01 * out.mbu;
  p.of_bytes = true;
  p.busy = p.products = out.second.busy();
  p.reported = -1;
  const double top = p.busy > 0 ? std::min(1.0, read / p.busy) : 0;
  p.parts.push_back({"weights and cache, read", 0, p.busy, 0, top, Meaning::memory_bound, PartFill::solid,
                     percent_text(read), "bytes that a step must read"});
  p.parts.push_back({"slower than the bandwidth", 0, p.busy, top, 1, Tint(), PartFill::hatched,
                     percent_text(p.busy - read), "kernels run and memory is not at its rate"});
  double x = p.busy;
  p.ledger.push_back({"one second of the bandwidth", format_text(100, "%"), true, false, Tint(), PartFill::solid});
  for (const UtilizationLoss l : waits) {
    const double share = out.second.loss[static_cast<std::size_t>(l)];
    if (share <= 0) continue;
    const LossLook& look = loss_look(l);
    p.parts.push_back({std::string(look.name), x, x + share, 0, 1, look.tint, fill_of(l), percent_text(share),
                       std::string(look.cure)});
    x += share;
    if (share >= 5e-4)
      p.ledger.push_back(
          {std::string(look.name), "\xE2\x88\x92" + percent_text(share), false, false, look.tint, fill_of(l)});
  }
  p.ledger.push_back({"busy", format_text(out.busy, "%"), true, false, Tint(), PartFill::solid});
  p.ledger.push_back({"slower than the bandwidth", "\xE2\x88\x92" + percent_text(p.busy - read), false, false, Tint(),
                      PartFill::hatched});
  p.ledger.push_back({"MBU", format_text(out.mbu, "%"), true, true, Tint(), PartFill::solid});
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
  const auto add = [&](std::string_view name, std::string_view output, double percent, Tint tint) {
    if (!std::isnan(percent))
      p.meters.push_back({std::string(name), format_text(percent, "%"), 0.01 * percent, tint, output});
  };
  add("busy", "busy", out.busy, Tint());
  add("HFU", "hfu", out.hfu, Meaning::backward);
  add("MFU", "mfu", out.mfu, Meaning::compute_bound);
  add("MBU", "mbu", out.mbu, Meaning::memory_bound);
}

/// What the convention says where that is another figure than what is needed; empty where it is the same.
std::string reported_sentence(const Inputs& in, const Outputs& out) {
  if (in.job == Job::recording || std::abs(out.mfu - out.needed) <= 0.05) return {};
  std::string said = "Reported as MFU: " + figure(out.mfu, "%") + " of peak";
  if (out.never_run > 0.05) said += "; " + figure(out.never_run, "%") + " counted but never run";
  return said + ".";
}

std::string decoding_answer(const Inputs& in, const Outputs& out) {
  std::string said;
  if (out.mbu > 100)
    said = "Decoding needs " + figure(out.needed, "%") + " of the peak FLOPs; MBU reads " + figure(out.mbu, "%") +
           " because it counts weights that were not read.";
  else if (out.mbu >= out.needed)
    said = "Decoding is limited by memory: it reads " + figure(out.mbu, "%") +
           " of what the bandwidth allows and needs " + figure(out.needed, "%") + " of the peak FLOPs.";
  else
    said = "Decoding so many sequences is limited by FLOPs: it needs " + figure(out.needed, "%") +
           " of their peak and reads " + figure(out.mbu, "%") + " of the bandwidth.";
  const std::string reported = reported_sentence(in, out);
  return said + "\nThe GPU is busy " + figure(out.busy, "%") + " of the time, a figure that shows neither." +
         (reported.empty() ? "" : " " + reported);
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (in.job == Job::decoding) return decoding_answer(in, out);
  std::string why = reported_sentence(in, out);
  if (in.job == Job::rate)
    return "At this rate the GPU multiplies at " + figure(out.issued, "%") + " of its peak and the model needs " +
           figure(out.needed, "%") + "; nvidia-smi would read " + figure(out.busy, "%") + " busy." +
           (why.empty() ? "" : "\n" + why);
  if (in.job == Job::recording && std::isnan(out.mfu))
    return "The GPU is busy " + figure(out.busy, "%") +
           " of the time; the recording has no shapes, so what it multiplied is not known.";
  const bool looks_busy = out.busy >= 60 && out.busy > 1.2 * out.issued;
  const std::string said = "The GPU is busy " + figure(out.busy, "%") + " of the time" +
                           (looks_busy ? ", but multiplies at " : ", multiplies at ") + figure(out.issued, "%") +
                           " of its peak, and the model needs " + (looks_busy ? "only " : "") +
                           figure(out.needed, "%") + ".";
  const double uncounted = out.loss[static_cast<std::size_t>(UtilizationLoss::uncounted)];
  if (uncounted > 0.05)
    why = "For " + figure(uncounted, "%") + " of the time matmuls run whose FLOPs nobody wrote down: MFU is more.";
  else if (why.empty() || out.never_run <= 0.05)
    why = "The largest loss: " + out.largest + ", " + figure(out.largest_share, "%") + "." +
          (why.empty() ? "" : " " + why);
  return said + "\n" + why;
}

}  // namespace

const LossLook& loss_look(UtilizationLoss loss) { return looks[static_cast<std::size_t>(loss)]; }

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  // Until the job has its first result there is no second.
  if (!out.reason.empty() || !(out.second.wall_s > 0)) return p;
  add_meters(out, p);
  p.answer = answer_of(in, out);
  p.busy_words = "busy " + format_text(out.busy, "%") + " of the time";
  if (drawn_in_bytes(in, out)) {
    add_bytes(out, p);
    return p;
  }
  add_parts(in, out.second, p);
  add_ledger(in, out, p);
  p.reported = std::isnan(out.mfu) ? -1 : 0.01 * out.mfu;
  const bool known = !(out.loss[static_cast<std::size_t>(UtilizationLoss::uncounted)] > 0.05);
  p.products_words = in.job == Job::rate ? "what runs when is not known"
                                         : (known ? "a matmul runs " : "a matmul of known FLOPs runs ") +
                                               format_text(100 * p.products, "%");
  if (std::abs(out.mfu - out.needed) > 1) p.reported_words = "reported: " + format_text(out.mfu, "%");
  return p;
}

}  // namespace chapters::profiling::utilization
