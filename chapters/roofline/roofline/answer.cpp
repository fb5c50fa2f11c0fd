#include "chapters/roofline/roofline/answer.h"

#include <algorithm>
#include <cmath>

#include "chapters/roofline/shared/marked_number.h"

namespace chapters::roofline::roofline {
namespace {

using models::Regime;
using widgets::format_text;

/// A rate below this share of another is worth a word.
constexpr double visible = 0.985;

/// "2.4", and "2" where it is that to within the last digit.
std::string factor(double ratio) {
  if (ratio >= 1e6) return "over 1,000,000";
  const double whole = std::round(ratio);
  return std::abs(ratio - whole) < 0.005 * ratio ? format_text(whole, "", 4) : format_text(ratio, "", 2);
}
std::string times(double ratio) { return "`" + factor(ratio) + "`\xC3\x97"; }

std::string memory_answer(const Inputs& in, const Outputs& out) {
  const models::Placement& p = out.placement;
  const double peak = out.machine.peak_flops_per_s, ratio = peak / p.attainable_flops_per_s;
  std::string s = "Memory stops it: " + marked_number(p.intensity, "FLOP/B") + " allow " +
                  marked_number(p.attainable_flops_per_s, "FLOP/s") + ". ";
  if (out.near_ridge) return s + "It is almost at the ridge of " + marked_number(out.ridge, "FLOP/B") + ".";
  if (in.operation == "attention_unfused" && out.fusion.speedup > 1.05)
    return s + "One fused kernel would be " + times(out.fusion.speedup) + " as fast.";
  if (in.operation == "decode" && out.decode_limit < out.ridge)
    return s + "A larger batch raises it, but the caches hold it below " + marked_number(out.decode_limit, "FLOP/B") +
           ".";
  return s + "More FLOP per byte raise that, up to " + times(ratio) + " at the ridge.";
}

std::string compute_answer(const Outputs& out) {
  const double peak = out.machine.peak_flops_per_s;
  std::string s = "Arithmetic stops it at " + marked_number(peak, "FLOP/s") + ". Fewer FLOP help";
  if (!out.next_format.empty())
    return s + ", or " + out.next_format + ", whose ceiling is " + times(out.next_peak_flops_per_s / peak) +
           " as high.";
  return s + ", or a chip with a higher ceiling: this one has no faster format.";
}

std::string launch_answer(const Outputs& out) {
  const models::Placement& p = out.placement;
  const bool one = out.work.kernels == 1;
  const double rest = std::max(p.compute_s, p.memory_s);
  return "Launches stop it: " +
         (one ? std::string("its kernel takes ") : marked_number(out.work.kernels, "") + " kernels take ") +
         marked_number(p.launch_s, "s") + " to start, the work only " + marked_number(rest, "s") +
         (one ? ". More work a launch would help." : ". Fewer launches would help.");
}

std::string own_label(const Inputs& in, const Run& run) {
  if (in.operation == "custom") return "yours, drag me";
  if (in.operation == "gemm")
    return "GEMM " + std::to_string(in.m) + " x " + std::to_string(in.n) + " x " + std::to_string(in.k);
  for (const auto& named : run.works)
    if (models::roofline_op_id(named.op) == in.operation) return named.label;
  return {};
}

void say_gains(const Outputs& out, Picture& pic) {
  const models::Placement& p = out.placement;
  const double achieved = p.achieved_flops_per_s, roof = p.attainable_flops_per_s, peak = out.machine.peak_flops_per_s;
  const auto add = [&](double from, double to, double until, std::string words) {
    pic.gains.push_back({from, to, until, factor(to / from) + "\xC3\x97", std::move(words)});
  };
  if (!(achieved > 0)) return;
  if (achieved < visible * roof) add(achieved, roof, p.intensity, "without waiting for launches");
  if (p.regime == Regime::launch) return;  // nothing else moves it
  if (roof < visible * peak) return add(roof, peak, out.ridge, "with more FLOP per byte");
  if (out.next_format.empty()) return;
  const double next = out.next_peak_flops_per_s, meets = next / out.machine.bandwidth_bytes_per_s;
  add(peak, next, meets, "higher in " + out.next_format);
  pic.next_format = {out.next_format + " " + format_text(next, "FLOP/s"),
                     "the chip's dense peak in " + out.next_format,
                     {out.ridge, meets, 1e30},
                     {peak, next, next}};
}

}  // namespace

void say_answer(const Inputs& in, const Outputs& out, const Run& run, Picture& pic) {
  const models::Placement& p = out.placement;
  if (!(p.time_s > 0)) return;
  pic.answer = p.regime == Regime::memory    ? memory_answer(in, out)
               : p.regime == Regime::compute ? compute_answer(out)
                                             : launch_answer(out);
  pic.own_label = own_label(in, run);
  pic.x_tag = format_text(p.intensity, "");
  pic.ridge_tag = "ridge " + format_text(out.ridge, "");
  pic.callout = format_text(p.time_s, "s") + ", " + format_text(out.share_of_peak_percent, "%", 2) + " of peak";
  const bool bytes_rule = p.memory_s > p.compute_s;
  pic.callout_words = p.regime == Regime::launch
                          ? "its work takes " + format_text(std::max(p.compute_s, p.memory_s), "s")
                      : bytes_rule ? "its FLOP take " + format_text(p.compute_s, "s")
                                   : "its bytes take " + format_text(p.memory_s, "s");
  say_gains(out, pic);
}

}  // namespace chapters::roofline::roofline
