#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/framework/fusion/lab.h"
#include "widgets/number/number.h"

namespace chapters::framework::fusion {
namespace {

namespace gpu = models::gpu;
using widgets::figure, widgets::format_text;

std::string capital(std::string s) {
  if (!s.empty() && s[0] >= 'a' && s[0] <= 'z') s[0] = static_cast<char>(s[0] - 'a' + 'A');
  return s;
}

/// Why a kernel takes as long as it does.
std::string kernel_words(const Asked& a, const gpu::FusedKernel& k) {
  const auto number = [](double x) { return format_text(x, "", 4); };
  const std::string tile =
      number(static_cast<double>(k.tile_rows)) + " \xC3\x97 " + number(static_cast<double>(k.tile_columns));
  bool product = false, row = false;
  for (int i = k.first; i <= k.last; ++i) {
    const gpu::FusionOpKind kind = a.chain.operations[static_cast<std::size_t>(i)].kind;
    // A second product takes whole rows of its result, as a norm does.
    row = row || (product && kind != gpu::FusionOpKind::elementwise);
    product = product || kind == gpu::FusionOpKind::product;
  }
  if (row && k.bound != gpu::KernelBound::memory && k.bound != gpu::KernelBound::latency &&
      2 * k.blocks < a.machine.sms)
    return "a block must hold whole rows, and only " + number(static_cast<double>(k.blocks)) + " of " +
           number(static_cast<double>(a.machine.sms)) + " SMs can work.";
  if (k.bound == gpu::KernelBound::l2 && k.weight_reads > 1)
    return (row ? "a block must hold whole rows; " : "") + std::string("tiles of ") + tile + " need " +
           number(static_cast<double>(k.needed())) + (k.spilled > 0 ? " of " + std::to_string(max_registers) : "") +
           " registers and load the weights from L2 " + number(std::ceil(k.weight_reads)) + " times.";
  if (k.repeats > 1)
    return "the work before the matmul is repeated by each of " + number(k.repeats) + " blocks of columns.";
  if (k.bound == gpu::KernelBound::memory)
    return "it takes as long as moving its " + format_text(k.bytes(), "B") + "; with " +
           number(static_cast<double>(k.needed())) + " registers per thread " +
           format_text(100 * k.occupancy.share, "%") + " of the warps fit an SM.";
  if (k.bound == gpu::KernelBound::latency) return "it is over after two latencies of memory.";
  return "it waits for arithmetic, in tiles of " + tile + "; its " + format_text(k.bytes(), "B") + " move meanwhile.";
}

}  // namespace

std::string count_word(std::int64_t n) {
  static constexpr std::array<std::string_view, 9> words{"no",   "one", "two",   "three", "four",
                                                         "five", "six", "seven", "eight"};
  return std::string(words[static_cast<std::size_t>(std::clamp<std::int64_t>(n, 0, 8))]);
}

std::string prose_of(const std::string& name) {
  constexpr std::string_view times = "\xC2\xB7 ", plus = "+ ";
  if (name.starts_with(times)) return name.substr(times.size()) + "'s matmul";
  if (name.starts_with(plus) && name.size() > plus.size() + 1) return "the " + name.substr(plus.size());
  return name;
}

std::string why_of(const Outputs& out, const Run& run) {
  const Asked& a = run.asked;
  if (out.launches_s > out.device_s)
    return "The CPU sets the pace: its launches take " + format_text(out.launches_s, "s") + ", the kernels " +
           format_text(out.device_s, "s") + ".";
  if (a.break_after > a.first && a.break_after <= a.last)
    return "The graph break cuts the fused run in two: what lies between is written and read once more.";
  if (a.first < a.last && out.saved_s < 0) return "Why it is slower: " + kernel_words(a, out.lasso);
  const auto with_next = [&](const gpu::FusionPlan& plan, int first, int next) -> std::string {
    for (const gpu::FusedKernel& k : plan.kernels)
      if (k.first <= first && k.last >= next)
        return "Why " + prose_of(out.boxes[static_cast<std::size_t>(next)].name) + " would cost: " + kernel_words(a, k);
    return {};
  };
  const int next = a.last + 1;
  if (next < a.chain.count() && out.next_s > out.time_s * 1.02) return with_next(run.next, a.first, next);
  if (out.best_next_s > out.best_s * 1.02)
    return with_next(run.best_next, static_cast<int>(out.best_first) - 1, static_cast<int>(out.best_last));
  if (a.first == a.last) return "Drag over boxes, press a cell, or use the arrow keys (with Shift the other end).";
  if (out.unfused_launches_s > out.unfused_device_s)
    return "Why: none fused, the CPU's launches set the pace; in one " + kernel_words(a, out.lasso);
  return "Why: " + kernel_words(a, out.lasso);
}

namespace {

/// "the chain takes 286 µs instead of 312 µs"
std::string instead_words(const Outputs& out) {
  return "the chain takes " + figure(out.time_s, "s") + " instead of " + figure(out.unfused_s, "s");
}

/// "save 67 MB of traffic and 25 µs", or what they cost.
std::string saved_words(const Outputs& out) {
  const bool traffic = out.saved_bytes >= 0;
  std::string s = traffic ? "save " + figure(out.saved_bytes, "B") + " of traffic"
                          : "move " + figure(-out.saved_bytes, "B") + " more";
  if (out.saved_s >= 0) return s + (traffic ? " and " : " and save ") + figure(out.saved_s, "s");
  return s + (traffic ? ", yet cost " : " and cost ") + figure(-out.saved_s, "s") + " more";
}

std::string fused_verdict(const Inputs& in, const Asked& a, const Outputs& out) {
  const std::int64_t boxes = a.last - a.first + 1;
  if (in.rest == Rest::compiled)
    return "Compiled, the chain is " + figure(static_cast<double>(out.kernels), "") +
           (out.kernels == 1 ? " kernel that moves " : " kernels that move ") + figure(out.bytes, "B") + ": " +
           instead_words(out) + ".";
  if (boxes == 1)
    return "Nothing is fused: " + figure(static_cast<double>(out.kernels), "") +
           (out.kernels == 1 ? " kernel moves " : " kernels move ") + figure(out.bytes, "B") + " in " +
           figure(out.time_s, "s") + ".";
  if (a.break_after > a.first && a.break_after <= a.last)
    return "A graph break cuts the fused boxes in two; they " + saved_words(out) + ": " + instead_words(out) + ".";
  return capital(count_word(boxes)) + " boxes in one kernel " + saved_words(out) + ": " + instead_words(out) + ".";
}

/// The best run of boxes, and one box more than that.
std::string best_words(const Inputs& in, const Asked& a, const Outputs& out) {
  if (!std::isfinite(out.best_s)) return {};
  const bool here = out.best_first == a.first + 1 && out.best_last == a.last + 1;
  std::string s;
  if (!(out.best_s < out.unfused_s) && in.rest == Rest::alone) return "No run of boxes is faster than none fused.";
  if (here)
    s = "No other run of boxes is faster";
  else
    s = "The best is one kernel of boxes " + figure(static_cast<double>(out.best_first), "") + " to " +
        figure(static_cast<double>(out.best_last), "") + ", " + figure(out.best_s, "s");
  if (here && std::isfinite(out.best_next_s) && out.best_next_s > out.best_s * 1.01)
    s += "; with " + prose_of(out.boxes[static_cast<std::size_t>(out.best_last)].name) + " in it too, " +
         figure(out.best_next_s, "s");
  return s + ".";
}

}  // namespace

std::string answer_of(const Inputs& in, const Asked& a, const Outputs& out) {
  const std::string best = best_words(in, a, out);
  return fused_verdict(in, a, out) + (best.empty() ? "" : "\n" + best);
}

std::vector<AssumedRow> assumed_rows(const Inputs& in, const Asked& a) {
  const auto chip = find_chip(in.chip);
  const bool l2_measured = chip && (*chip)->measured.l2_bytes_per_s;
  const gpu::FusionMachine& m = a.machine;
  return {
      {"bandwidth reached", format_text(m.bandwidth_bytes_per_s, "B/s"),
       format_text(in.roof_share, "", 2) + " of the data sheet; 0.9 fits seven operations timed on an H100"},
      {"L2", format_text(m.l2_bytes_per_s, "B/s"),
       l2_measured ? "measured on this chip" : "35 B per clock and SM, as measured on an A100 and an H100 PCIe"},
      {"matrix units", format_text(m.matrix_flops_per_s, "FLOP/s"), "a share of the peak, inside of a tile"},
      {"registers, streaming", "14 + values + work", "within 18 % of 21 kernels that nvcc 13.0 compiled for sm_90"},
      {"registers, matmul", "40 + tile / 256 + work", "the tile in FP32 over 256 threads; 40 are an estimate"},
      {"spilled values", "3 trips", "stored once and loaded twice, through L2"},
      {"blocks per SM", "as launched", "the rule of cuda_occupancy.h, CUDA 13.0; 275 of its cases are tested"},
      {"norm after a matmul", "whole rows", "in a block, or in a cluster of them; real code may split it otherwise"},
      {"two matmuls", "whole rows in a block", "of the second's result; a cluster is used for a norm after one matmul"},
      {"dropout's mask", "written",
       "a byte per number, fused or not; code that draws it again from its seed writes none"},
      {"work before a matmul", "repeated", "by each block of columns"},
      {"weights", m.sm->capability >= 90 ? "a load for 2 blocks" : "a load per block",
       m.sm->capability >= 90 ? "multicast in clusters of two" : "clusters came with Hopper"},
      {"tiles", "24 tried", "8 to 256 rows, 32 to 256 columns; the fastest is taken"},
      {"overlap", "bytes, L2, arithmetic", "matrix and vector units where an SM holds two blocks"},
  };
}

std::string measured_words(const Inputs& in, const Outputs& out) {
  if (out.graphs > 1 || in.rest != Rest::alone || in.backward) return {};
  Inputs current = in;
  Outputs figures = out;
  Fields inputs, outputs;
  describe(inputs, current);
  describe(outputs, figures);
  for (const Published& row : catalog().published_of("framework/fusion")) {
    const bool same = std::all_of(row.inputs.begin(), row.inputs.end(), [&](const PublishedInput& i) {
      const Field* f = inputs.find(i.key);
      if (!f) return false;
      if (f->kind == Kind::choice) return f->choice_id() == i.text;
      if (f->kind == Kind::text) return f->text() == i.text;
      return f->number() == i.number;
    });
    const Field* model = outputs.find(row.output);
    if (same && model && row.role != ModelRole::beside)
      return "Measured on " + row.date + ": " + format_text(row.measured, "s") + ", model " +
             format_text(model->number(), "s") + ". ";
  }
  return {};
}

}  // namespace chapters::framework::fusion
