#include <algorithm>
#include <cmath>

#include "chapters/framework/fusion/lab.h"
#include "widgets/number/number.h"

namespace chapters::framework::fusion {
namespace {

namespace gpu = models::gpu;
using widgets::format_text;

/// A box's name where it has no room: "+ residual" is "+ res".
std::string brief_of(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> briefs{
      {{"+ residual", "+ res"},
       {"LayerNorm", "LN"},
       {"RMSNorm", "RMS"},
       {"dropout", "drop"},
       {"softmax", "max"},
       {"sigmoid", "sig"},
       {"\xC3\x97 0.0447", "\xC3\x97 c"},
       {"\xC3\x97 0.798", "\xC3\x97 c"}}};
  for (const auto& [whole, brief] : briefs)
    if (name == whole) return std::string(brief);
  return name;
}

bool read_by(const gpu::FusionChain& c, int tensor, int op) {
  const auto& in = c.operations[static_cast<std::size_t>(op)].inputs;
  return std::find(in.begin(), in.end(), tensor) != in.end();
}

/// Where a tensor would like to stand: what is made between its maker and the next box, what was there before under
/// its first reader, the chain's own input before it.
double wanted_centre(const gpu::FusionChain& c, int id) {
  const gpu::FusionTensor& t = c.tensors[static_cast<std::size_t>(id)];
  if (t.producer >= 0) {
    const bool side = c.operations[static_cast<std::size_t>(t.producer)].outputs.front() != id && t.row_columns == 0;
    return t.producer + (side ? 0.05 : 0.5);
  }
  for (int i = 0; i < c.count(); ++i)
    if (read_by(c, id, i)) {
      const bool left = c.operations[static_cast<std::size_t>(i)].inputs.front() == id;
      return i == 0 && left ? -0.5 : i;
    }
  return 0;
}

void add_tensors(const Run& run, const Outputs& out, const Inputs& in, Picture& p) {
  const Asked& a = run.asked;
  const gpu::FusionChain& c = a.chain;
  const bool giga = out.intermediate_bytes >= 1e9;
  p.band = a.memory + ", " + format_text(a.bandwidth_bytes_per_s, "B/s") + "; figures in " + (giga ? "GB" : "MB");
  // Beside the squares of attention the four thin tensors have no room for their names.
  if (in.chain == gpu::ChainKind::attention && c.tensors.front().bytes < 0.1 * out.intermediate_bytes)
    p.band += "; Q, K, V, O " + format_text(c.tensors.front().bytes / (giga ? 1e9 : 1e6), "", 3) + " each";
  for (int id = 0; id < static_cast<int>(c.tensors.size()); ++id) {
    const gpu::FusionTensor& t = c.tensors[static_cast<std::size_t>(id)];
    TensorMark mark{.name = std::string(t.name),
                    .size = format_text(t.bytes / (giga ? 1e9 : 1e6), "", 3),
                    .bytes = t.bytes,
                    .centre = wanted_centre(c, id)};
    const TensorFate& fate = run.tensors[static_cast<std::size_t>(id)];
    mark.ghost = fate.never;
    if (mark.ghost) mark.size = "0";
    if (t.producer >= 0) p.pipes.push_back({id, t.producer, false, mark.ghost});
    for (const TensorRead& read : fate.reads) p.pipes.push_back({id, read.box, true, mark.ghost, read.l2});
    p.tensors.push_back(std::move(mark));
  }
}

void add_kernels(const Run& run, const Outputs& out, Picture& p) {
  const Asked& a = run.asked;
  for (std::size_t i = 0; i < run.plan.kernels.size(); ++i) {
    const gpu::FusedKernel& k = run.plan.kernels[i];
    KernelMark m{.first = k.first,
                 .last = k.last,
                 .figure = k.spilled > 0 ? std::to_string(k.needed()) + " of " + std::to_string(max_registers)
                                         : std::to_string(k.registers),
                 .registers = static_cast<double>(k.registers),
                 .spilled = static_cast<double>(k.spilled)};
    m.lasso = k.first >= a.first && k.last <= a.last && a.first < a.last;
    if (k.last > k.first) {
      // Times of kernels alone, as under the boxes; the gaps between kernels are in the chain's time.
      double apart_s = 0;
      for (int box = k.first; box <= k.last; ++box) apart_s += out.boxes[static_cast<std::size_t>(box)].time_s;
      m.brief = format_text(k.time_s, "s");
      m.head = "one kernel: " + m.brief + ", " + format_text(apart_s, "s") + " as " + count_word(k.last - k.first + 1);
    }
    p.kernels.push_back(std::move(m));
  }
  for (const BoxRow& box : out.boxes) {
    const auto& k = run.plan.kernels[static_cast<std::size_t>(box.kernel - 1)];
    p.names.push_back(box.name);
    p.briefs.push_back(brief_of(box.name));
    p.bounds.push_back(k.bound);
    p.under.push_back(k.first == k.last ? format_text(k.time_s, "s") : "fused");
  }
}

void add_cells(const Asked& a, const Outputs& out, Picture& p) {
  const double none_s = out.unfused_s, most = std::max(1e-12, none_s - out.best_s);
  const double unit = none_s >= 1e-3 ? 1e-3 : 1e-6;
  p.runs_head = std::string("The whole chain with one run fused, in ") + (unit == 1e-3 ? "ms" : "\xC2\xB5s") +
                (a.break_after > 0 ? ", a run across the break in two" : "");
  for (const RunRow& r : out.runs) {
    RunCell cell{.first = static_cast<int>(r.first) - 1, .last = static_cast<int>(r.last) - 1};
    cell.none = !std::isfinite(r.time_s);
    if (!cell.none) {
      cell.words = format_text(r.time_s / unit, "", r.time_s / unit >= 1000 ? 4 : 3);
      cell.slower = r.time_s > none_s * (1 + 1e-9);
      cell.share = std::clamp((none_s - r.time_s) / most, 0.0, 1.0);
    } else {
      cell.words = "no SM";
    }
    cell.best = r.first == out.best_first && r.last == out.best_last;
    cell.chosen = cell.first == a.first && cell.last == a.last;
    p.cells.push_back(std::move(cell));
  }
  for (int i = 0; i + 1 < a.chain.count(); ++i) p.rows.push_back("from " + out.boxes[static_cast<std::size_t>(i)].name);
}

/// The chain as the lasso's last box moves on: with its first box alone, and every run from there.
void add_ends(const Inputs& in, const Asked& a, const Outputs& out, Picture& p) {
  widgets::Curve time{.label = "the chain",
                      .info = "one kernel from the first box to this",
                      .tint = widgets::Tint::yours(),
                      .named = false};
  widgets::Curve memory{.label = "its bytes alone",
                        .info = "traffic over the bandwidth reached",
                        .tint = widgets::Meaning::memory_bound,
                        .dashed = true,
                        .named = false};
  const auto add = [&](double box, double time_s, double bytes) {
    time.add(box, time_s);
    memory.add(box, bytes / a.machine.bandwidth_bytes_per_s);
  };
  const bool compiled = in.rest == Rest::compiled;
  add(a.first + 1, compiled ? out.compiled_s : out.unfused_s, compiled ? out.compiled_bytes : out.unfused_bytes);
  for (const RunRow& r : out.runs)
    if (r.first == a.first + 1 && std::isfinite(r.time_s)) add(static_cast<double>(r.last), r.time_s, r.bytes);
  p.ends = {std::move(time), std::move(memory)};
}

/// What attention moves over the sequence, in three kernels and in one.
void add_attention(const Inputs& in, Picture& p) {
  widgets::Curve unfused{.label = "three kernels",
                         .info = "(4 S^2 + 4 S d) x 2 B per head",
                         .tint = widgets::Meaning::memory_bound,
                         .named = false};
  widgets::Curve fused{
      .label = "one kernel", .info = "4 S d x 2 B per head", .tint = widgets::Tint::yours(), .named = false};
  for (double s = 256; s <= 131072; s *= 2) {
    const auto chain =
        gpu::make_chain(gpu::ChainKind::attention, {.tokens = s, .heads = static_cast<double>(in.heads)});
    double apart = 0;
    for (int i = 0; i < chain.count(); ++i) {
      const gpu::RunTraffic t = gpu::run_traffic(chain, i, i, {});
      apart += t.read_bytes + t.write_bytes;
    }
    const gpu::RunTraffic t = gpu::run_traffic(chain, 0, chain.count() - 1, {});
    unfused.add(s, apart);
    fused.add(s, t.read_bytes + t.write_bytes);
    if (s == marked_length) p.ratio_words = format_text(apart / fused.y.back(), "", 2) + " times";
  }
  p.attention = {std::move(unfused), std::move(fused)};
}

void add_roofline(const Run& run, Picture& p) {
  const Asked& a = run.asked;
  const double peak = a.machine.matrix_flops_per_s, bandwidth = a.machine.bandwidth_bytes_per_s;
  p.roof = {.label = "roof reached", .info = "shares of peak and bandwidth as set", .named = false};
  p.roof.add(0.1, 0.1 * bandwidth);
  p.roof.add(peak / bandwidth, peak);
  p.roof.add(1e4, peak);
  constexpr std::string_view counted = "instructions of vector units count as one each";
  p.dots[0] = {.kind = widgets::Curve::Kind::dots,
               .label = "none fused",
               .info = std::string(counted),
               .marker = widgets::Marker::diamond};
  p.dots[1] = {.kind = widgets::Curve::Kind::dots,
               .label = "yours",
               .info = std::string(counted),
               .tint = widgets::Tint::yours()};
  for (std::size_t side = 0; side < 2; ++side)
    for (const gpu::FusedKernel& k : (side == 0 ? run.alone : run.plan).kernels) {
      const double work = k.flops + k.instructions;
      p.dots[side].add(work / k.bytes(), work / k.time_s);
    }
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.plan.kernels.empty()) return p;
  const Asked& a = run.asked;
  p.first = a.first;
  p.last = a.last;
  p.break_after = a.break_after;
  add_kernels(run, out, p);
  add_tensors(run, out, in, p);
  add_cells(a, out, p);
  if (out.saved_bytes > 0) p.saved = "\xE2\x88\x92" + format_text(out.saved_bytes, "B") + " of traffic";
  p.why = measured_words(in, out) + why_of(out, run);
  p.answer = answer_of(in, a, out);
  add_ends(in, a, out, p);
  add_attention(in, p);
  add_roofline(run, p);
  p.assumed = assumed_rows(in, a);
  return p;
}

}  // namespace chapters::framework::fusion
