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

int kernel_at(const gpu::FusionPlan& plan, int op) {
  for (std::size_t k = 0; k < plan.kernels.size(); ++k)
    if (op >= plan.kernels[k].first && op <= plan.kernels[k].last) return static_cast<int>(k);
  return -1;
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

void add_tensors(const Asked& a, const Outputs& out, const Inputs& in, Picture& p) {
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
    const int maker = t.producer >= 0 ? kernel_at(out.plan, t.producer) : -1;
    bool outside = t.producer < 0 || t.result || (in.backward && t.saved);
    for (int i = 0; i < c.count(); ++i) outside = outside || (read_by(c, id, i) && kernel_at(out.plan, i) != maker);
    mark.ghost = !outside;
    if (mark.ghost) mark.size = "none";
    if (t.producer >= 0) p.pipes.push_back({id, t.producer, false, mark.ghost});
    int last_kernel = -1;
    for (int i = 0; i < c.count(); ++i) {
      if (!read_by(c, id, i)) continue;
      const int k = kernel_at(out.plan, i);
      const bool within = maker >= 0 && k == maker;
      if (k == last_kernel && !mark.ghost) continue;
      last_kernel = k;
      if (within && !mark.ghost) continue;  // it is written for others, and read from registers here
      const int first = out.plan.kernels[static_cast<std::size_t>(k)].first;
      p.pipes.push_back({id, i, true, mark.ghost, !mark.ghost && gpu::read_from_l2(c, id, first, a.machine)});
    }
    p.tensors.push_back(std::move(mark));
  }
}

void add_kernels(const Asked& a, const Outputs& out, Picture& p) {
  for (const gpu::FusedKernel& k : out.plan.kernels) {
    KernelMark m{.first = k.first,
                 .last = k.last,
                 .figure = k.spilled > 0 ? std::to_string(k.needed()) + " of " + std::to_string(most_registers)
                                         : std::to_string(k.registers),
                 .registers = static_cast<double>(k.registers),
                 .spilled = static_cast<double>(k.spilled)};
    m.lasso = k.first >= a.first && k.last <= a.last && a.first < a.last;
    if (k.last > k.first) {
      double apart_s = 0;
      for (int i = k.first; i <= k.last; ++i)
        apart_s += out.alone.kernels[static_cast<std::size_t>(i)].time_s + a.machine.start_s;
      m.brief = format_text(k.time_s + a.machine.start_s, "s");
      m.head = "one kernel: " + format_text(k.time_s + a.machine.start_s, "s") + ", " + format_text(apart_s, "s") +
               " as " + count_word(k.last - k.first + 1);
    }
    p.kernels.push_back(std::move(m));
  }
  for (int i = 0; i < a.chain.count(); ++i) {
    const auto& k = out.plan.kernels[static_cast<std::size_t>(kernel_at(out.plan, i))];
    p.names.push_back(out.boxes[static_cast<std::size_t>(i)].name);
    p.briefs.push_back(brief_of(p.names.back()));
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

void add_curves(const Inputs& in, const Asked& a, Picture& p) {
  for (int last = a.first; last < a.chain.count(); ++last) {
    const auto plan = plan_with(in, a, a.first, last);
    if (!plan) continue;
    p.ends.push_back(last + 1);
    p.end_s.push_back(plan->time_s);
    p.end_memory_s.push_back(plan->bytes / a.machine.bandwidth_bytes_per_s);
  }
  for (double s = 256; s <= 131072; s *= 2) {
    const auto chain =
        gpu::make_chain(gpu::ChainKind::attention, {.tokens = s, .heads = static_cast<double>(in.heads)});
    double unfused = 0;
    for (int i = 0; i < chain.count(); ++i) {
      const gpu::RunTraffic t = gpu::run_traffic(chain, i, i, {});
      unfused += t.read_bytes + t.write_bytes;
    }
    const gpu::RunTraffic t = gpu::run_traffic(chain, 0, chain.count() - 1, {});
    p.lengths.push_back(s);
    p.unfused.push_back(unfused);
    p.fused.push_back(t.read_bytes + t.write_bytes);
    if (p.lengths.back() == marked_length) p.ratio_words = format_text(unfused / p.fused.back(), "", 2) + " times";
  }
}

void add_roofline(const Asked& a, const Outputs& out, Picture& p) {
  p.peak = a.machine.matrix_flops_per_s;
  p.bandwidth = a.machine.bandwidth_bytes_per_s;
  p.ridge = p.peak / p.bandwidth;
  for (std::size_t side = 0; side < 2; ++side)
    for (const gpu::FusedKernel& k : (side == 0 ? out.alone : out.plan).kernels) {
      const double work = k.flops + k.instructions;
      p.dot_intensity[side].push_back(work / k.bytes());
      p.dot_flops[side].push_back(work / k.time_s);
    }
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  const auto asked = asked_of(in);
  if (!out.reason.empty() || !asked) return p;
  const Asked& a = *asked;
  p.first = a.first;
  p.last = a.last;
  p.break_after = a.break_after;
  add_kernels(a, out, p);
  add_tensors(a, out, in, p);
  add_cells(a, out, p);
  if (out.saved_bytes > 0) p.saved = "\xE2\x88\x92" + format_text(out.saved_bytes, "B") + " of traffic";
  p.why = measured_words(in, out) + why_of(in, a, out);
  p.answer = answer_of(in, a, out);
  add_curves(in, a, p);
  add_roofline(a, out, p);
  p.assumed = assumed_rows(in, a);
  return p;
}

}  // namespace chapters::framework::fusion
