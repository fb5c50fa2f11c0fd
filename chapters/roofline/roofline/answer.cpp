#include "chapters/roofline/roofline/answer.h"

#include <algorithm>
#include <cmath>

#include "chapters/mechanism/short_name.h"
#include "widgets/number/number.h"

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
/// What is placed, as the subject of a sentence.
std::string subject_of(const Inputs& in, const Run& run) {
  if (in.operation == "custom") return "your operation";
  if (in.operation == "gemm") return "the matmul";
  if (in.operation == "attention_unfused") return "unfused attention";
  if (in.operation == "attention_scores") return "the unfused scores";
  for (const auto& named : run.works)
    if (models::roofline_op_id(named.op) == in.operation) return (in.operation == "decode" ? "the " : "") + named.label;
  return "the operation";
}

/// What moves work that memory stops.
std::string memory_help(const Inputs& in, const Outputs& out) {
  if (out.near_ridge)
    return "It is almost at the ridge of " + widgets::figure(out.ridge, "FLOP/B") + ", where arithmetic takes over.";
  if (in.operation == "attention_unfused" && out.fusion.speedup > 1.05)
    return "One fused kernel would be " + widgets::figure(out.fusion.speedup, widgets::times_unit) + " as fast.";
  if (in.operation == "decode" && out.decode_limit < out.ridge)
    return "A larger batch raises that, but reading the caches holds it below " +
           widgets::figure(out.decode_limit, "FLOP/B") + ".";
  return "More FLOPs per byte raise that, up to the ridge at " + widgets::figure(out.ridge, "FLOP/B") + ".";
}

std::string compute_help(const Outputs& out) {
  if (!out.next_format.empty())
    return "Do less arithmetic, or use " + out.next_format + ": its ceiling is " +
           widgets::figure(out.next_peak_flops_per_s, "FLOP/s") + ".";
  return "Do less arithmetic, or take a chip with a higher ceiling: this one has no faster format.";
}

/// The other roofs drawn: the same work on the slowest and the fastest of them.
std::string other_chips(const Outputs& out) {
  const RoofRow *slowest = nullptr, *fastest = nullptr;
  for (const RoofRow& row : out.roofs) {
    if (&row == &out.roofs.front() || !(row.placement.time_s > 0)) continue;
    if (!slowest || row.placement.time_s > slowest->placement.time_s) slowest = &row;
    if (!fastest || row.placement.time_s < fastest->placement.time_s) fastest = &row;
  }
  if (!slowest) return {};
  const auto takes = [](const RoofRow& row) {
    return widgets::figure(row.placement.time_s, "s") + " on " + short_name(row.chip, 22) + " (" + row.format + ")";
  };
  const std::string here = "It takes " + widgets::figure(out.placement.time_s, "s") + " here and ";
  if (slowest == fastest) return here + takes(*slowest) + ".";
  return here + takes(*fastest) + ", but " + takes(*slowest) + ".";
}

/// Where the ridge lies when bytes come from other levels than main memory, of those drawn the nearest and the
/// farthest.
std::string other_levels(const Outputs& out) {
  const CeilingRow *near = nullptr, *far = nullptr;
  for (const CeilingRow& row : out.ceilings) {
    if (!row.of_bandwidth || row.ceiling.level == models::LevelKind::memory) continue;
    if (!near || row.ridge < near->ridge) near = &row;
    if (!far || row.ridge > far->ridge) far = &row;
  }
  if (!near) return {};
  const auto name = [](const CeilingRow& row) {
    return row.ceiling.label == "Shared memory" ? std::string("shared memory") : row.ceiling.label;
  };
  const auto from = [&](const CeilingRow& row) {
    return "with bytes from " + name(row) + " it lies at " + widgets::figure(row.ridge, "FLOP/B");
  };
  std::string words = "The ridge moves: " + from(*near);
  if (near != far) words += ", from " + name(*far) + " at " + widgets::figure(far->ridge, "FLOP/B");
  return words + ".";
}

/// What the drawn things say beside the verdict, if that is what was asked to be seen; else what would help.
std::string second_line(const Inputs& in, const Outputs& out, std::string help) {
  if (std::string chips = other_chips(out); !chips.empty()) return chips;
  if (std::string levels = other_levels(out); shows(in, "shared") || shows(in, "link") || shows(in, "pcie"))
    if (!levels.empty()) return levels;
  if (shows(in, "quantization") && in.operation == "decode" && out.quantized_speedup > 1.05)
    return in.weight_bits + "-bit weights make the step " +
           widgets::figure(out.quantized_speedup, widgets::times_unit) + " as fast: fewer bytes per token.";
  // What helps on a chip without a faster format is too long a sentence to stand after this one.
  if (shows(in, "measured") && !out.next_format.empty() && out.measured_peak_flops_per_s > 0 &&
      out.placement.regime == Regime::compute)
    return "Measured, matmuls on this chip reached " + widgets::figure(out.measured_peak_flops_per_s, "FLOP/s") +
           " of that. " + help;
  return help;
}

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  const models::Placement& p = out.placement;
  const std::string subject = subject_of(in, run);
  if (p.regime == Regime::memory)
    return "Memory stops " + subject + ": " + widgets::figure(p.intensity, "FLOP/B") + " allow " +
           widgets::figure(p.attainable_flops_per_s, "FLOP/s") + " of the peak of " +
           widgets::figure(out.machine.peak_flops_per_s, "FLOP/s") + ".\n" + second_line(in, out, memory_help(in, out));
  if (p.regime == Regime::compute)
    return "Arithmetic stops " + subject + ": its " + widgets::figure(p.intensity, "FLOP/B") + " reach the peak of " +
           widgets::figure(out.machine.peak_flops_per_s, "FLOP/s") + ".\n" + second_line(in, out, compute_help(out));
  const bool one = out.work.kernels == 1;
  const double rest = std::max(p.compute_s, p.memory_s);
  return "Launches stop " + subject + ": " +
         (one ? std::string("its kernel takes ") : "its " + widgets::figure(out.work.kernels, "") + " kernels take ") +
         widgets::figure(p.launch_s, "s") + " to start, the work only " + widgets::figure(rest, "s") + ".\n" +
         second_line(in, out,
                     one ? "More work per launch would help." : "Fewer launches would help: fusion, or a CUDA graph.");
}

std::string own_label(const Inputs& in, const Run& run) {
  if (in.operation == "custom") return "yours, drag me";
  if (in.operation == "gemm")
    return "GEMM " + std::to_string(in.m) + " × " + std::to_string(in.n) + " × " + std::to_string(in.k);
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
  if (roof < visible * peak) return add(roof, peak, out.ridge, "with more FLOPs per byte");
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
  pic.answer = answer_of(in, out, run);
  pic.own_label = own_label(in, run);
  pic.x_tag = format_text(p.intensity, "");
  pic.ridge_tag = "ridge " + format_text(out.ridge, "");
  pic.callout = format_text(p.time_s, "s") + ", " + format_text(out.share_of_peak_percent, "%", 2) + " of peak";
  const bool bytes_rule = p.memory_s > p.compute_s;
  pic.callout_words = p.regime == Regime::launch
                          ? "its work takes " + format_text(std::max(p.compute_s, p.memory_s), "s")
                      : bytes_rule ? "its FLOPs take " + format_text(p.compute_s, "s")
                                   : "its bytes take " + format_text(p.memory_s, "s");
  say_gains(out, pic);
}

}  // namespace chapters::roofline::roofline
