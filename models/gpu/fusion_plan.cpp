#include "models/gpu/fusion_plan.h"

#include <algorithm>

namespace models::gpu {
namespace {

const FusionOp& op_at(const FusionChain& c, int i) { return c.operations[static_cast<std::size_t>(i)]; }
bool is_product(const FusionChain& c, int i) { return op_at(c, i).kind == FusionOpKind::product; }
bool is_bias(const FusionChain& c, int i) { return op_at(c, i).name == "+ bias"; }

void add_cut(std::vector<OpRun>& runs, OpRun run, int break_after) {
  if (break_after > run.first && break_after <= run.last) {
    runs.push_back({run.first, break_after - 1});
    runs.push_back({break_after, run.last});
  } else {
    runs.push_back(run);
  }
}

}  // namespace

Result<FusionPlan> price_plan(const FusionChain& chain, const std::vector<OpRun>& runs, int breaks,
                              const FusionMachine& m) {
  FusionPlan out;
  for (const OpRun& run : runs) {
    auto k = fuse_run(chain, run.first, run.last, m);
    if (!k) return Result<FusionPlan>::fail(k.error);
    out.bytes += k->bytes();
    out.l2_bytes += k->l2_bytes;
    out.trips += k->trips;
    out.device_s += k->time_s + m.start_s;
    out.kernels.push_back(std::move(*k));
  }
  out.host_s = static_cast<double>(runs.size()) * m.host_s + breaks * m.break_s;
  out.time_s = std::max(out.device_s, out.host_s);
  return Result<FusionPlan>::ok(std::move(out));
}

std::vector<OpRun> lasso(const FusionChain& chain, int first, int last, int break_after) {
  std::vector<OpRun> runs;
  for (int i = 0; i < chain.count(); ++i) {
    if (i == first) {
      add_cut(runs, {first, last}, break_after);
      i = last;
    } else {
      runs.push_back({i, i});
    }
  }
  return runs;
}

std::vector<OpRun> compiled_runs(const FusionChain& chain, int first, int last, int break_after, bool epilogues) {
  std::vector<OpRun> runs;
  const int n = last + 1;
  const auto broken = [&](int i) { return i == break_after; };  // between i - 1 and i
  for (int i = first; i < n;) {
    int end = i + 1;
    const bool flash = i + 2 < n && is_product(chain, i) && op_at(chain, i + 1).kind == FusionOpKind::softmax &&
                       is_product(chain, i + 2) && !broken(i + 1) && !broken(i + 2);
    if (flash) {
      end = i + 3;
    } else if (is_product(chain, i)) {
      while (end < n && !broken(end) && op_at(chain, end).kind == FusionOpKind::elementwise &&
             (epilogues || (end == i + 1 && is_bias(chain, end))))
        ++end;
    } else {
      while (end < n && !broken(end) && !is_product(chain, end)) ++end;
    }
    runs.push_back({i, end - 1});
    i = end;
  }
  return runs;
}

std::string_view kernel_kind(const FusionChain& chain, const OpRun& run) {
  int products = 0;
  bool row = false, softmax = false;
  for (int i = run.first; i <= run.last; ++i) {
    products += is_product(chain, i);
    softmax = softmax || op_at(chain, i).kind == FusionOpKind::softmax;
    row = row || softmax || op_at(chain, i).kind == FusionOpKind::row_norm;
  }
  if (products > 1) return softmax ? "attention" : "two products";
  if (products == 1) {
    const bool plain = run.first == run.last || (run.last == run.first + 1 && is_bias(chain, run.last));
    return plain ? "library product" : "product with epilogue";
  }
  return row ? "reduction" : "pointwise";
}

BufferPlan plan_buffers(const FusionChain& chain, const std::vector<OpRun>& runs, bool backward) {
  BufferPlan out;
  const auto kernel_of = [&](int op) {
    for (std::size_t r = 0; r < runs.size(); ++r)
      if (op >= runs[r].first && op <= runs[r].last) return static_cast<int>(r);
    return -1;
  };
  std::vector<double> alive(runs.size());
  for (int t = 0; t < static_cast<int>(chain.tensors.size()); ++t) {
    const FusionTensor& x = chain.tensors[static_cast<std::size_t>(t)];
    if (x.producer < 0 || x.result || (backward && x.saved)) continue;
    const int from = kernel_of(x.producer);
    int until = from;
    for (int i = 0; i < chain.count(); ++i) {
      const auto& in = op_at(chain, i).inputs;
      if (std::find(in.begin(), in.end(), t) != in.end()) until = std::max(until, kernel_of(i));
    }
    if (until == from) continue;
    ++out.buffers;
    out.sum_bytes += x.bytes;
    for (int r = from; r <= until; ++r) alive[static_cast<std::size_t>(r)] += x.bytes;
  }
  for (const double bytes : alive) out.peak_bytes = std::max(out.peak_bytes, bytes);
  return out;
}

}  // namespace models::gpu
