#include "models/trace/measure/products.h"
#include "models/trace/measure/intervals.h"

#include <algorithm>
#include <array>
#include <map>

namespace models::trace {
namespace {

/// A counted call on a thread of the host, none inside another.
struct ProductCall {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t event = none;
  bool recomputed = false;
};

/// Names of spans that the search asks for, by index into Trace::strings.
struct NameRoles {
  std::vector<bool> product, node, checkpoint, forward, kernel;
  explicit NameRoles(const Trace& trace) {
    // aten::matmul is none of them: TorchScript's gradients call it.
    constexpr std::array<std::string_view, 5> forward_calls{"aten::linear", "aten::conv1d", "aten::conv2d",
                                                            "aten::conv3d", "aten::scaled_dot_product_attention"};
    // Parts of kernels' names: cuBLAS, CUTLASS, cuDNN, FlashAttention, rocBLAS and Triton's products.
    constexpr std::array<std::string_view, 12> kernel_names{"gemm",  "nvjet",    "cutlass",  "xmma",
                                                            "flash", "fmha",     "Cijk_",    "attention",
                                                            "wgmma", "convolve", "winograd", "_mm_"};
    for (const std::string& s : trace.strings) {
      const std::string_view name(s);
      kernel.push_back(std::any_of(kernel_names.begin(), kernel_names.end(),
                                   [&](std::string_view part) { return name.find(part) != std::string_view::npos; }));
      product.push_back(is_product(name));
      node.push_back(name.starts_with("autograd::engine::evaluate_function"));
      checkpoint.push_back(node.back() && name.find("CheckpointFunctionBackward") != std::string_view::npos);
      forward.push_back(std::find(forward_calls.begin(), forward_calls.end(), name) != forward_calls.end());
    }
  }
};

/// The outermost products of a track, by start.
std::vector<ProductCall> calls_of(const Trace& trace, const Track& track, const NameRoles& roles) {
  struct Open {
    std::int64_t end_ns = 0;
    bool node = false, checkpoint = false, forward = false;
  };
  std::vector<Open> open;
  std::vector<ProductCall> out;
  for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
    const Event& e = trace.events[i];
    if (e.kind != EventKind::span) continue;
    while (!open.empty() && open.back().end_ns <= e.start_ns) open.pop_back();
    if (roles.product[e.name] && (out.empty() || out.back().end_ns <= e.start_ns)) {
      bool engine = false, again = false;
      for (const Open& o : open) {
        engine = engine || o.node;
        // A node inside of the recomputation is the backward pass again.
        if (o.node) again = o.checkpoint;
        if (engine && o.forward) again = true;
      }
      out.push_back({e.start_ns, e.end_ns(), i, again});
    }
    if (roles.node[e.name] || roles.forward[e.name])
      open.push_back({e.end_ns(), roles.node[e.name], roles.checkpoint[e.name], roles.forward[e.name]});
  }
  return out;
}

constexpr std::size_t no_call = SIZE_MAX;
/// The product inside of which a launching call was made, by its place in the track's list.
std::size_t call_of(const std::vector<std::vector<ProductCall>>& calls, const Event& launch) {
  const std::vector<ProductCall>& list = calls[launch.track];
  auto at = std::upper_bound(list.begin(), list.end(), launch.start_ns,
                             [](std::int64_t time, const ProductCall& c) { return time < c.start_ns; });
  if (at == list.begin() || (--at)->end_ns < launch.start_ns) return no_call;
  return static_cast<std::size_t>(at - list.begin());
}

using Stay = Intervals::Part;
/// Union of the stays, clipped.
std::int64_t covered_ns(std::vector<Stay> stays, std::int64_t from_ns, std::int64_t to_ns) {
  std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) { return a.start_ns < b.start_ns; });
  Intervals covered;
  for (const Stay& s : stays) covered.add(std::max(s.start_ns, from_ns), std::min(s.end_ns, to_ns));
  return covered.length();
}

/// When the first kernel of a call starts, and the time of all of them together.
struct ProductRun {
  std::int64_t first_ns = INT64_MAX, total_ns = 0;
};

using CallKey = std::pair<std::uint32_t, std::size_t>;  ///< track, and place among its calls

/// The kernels of a device by the call that launched them.
struct LaunchedProducts {
  struct Piece {
    Stay stay;
    CallKey call;
  };
  std::map<CallKey, ProductRun> ran;
  std::vector<Piece> pieces;
  std::vector<Stay> others;  ///< kernels that multiply outside of any call
};

LaunchedProducts launched_products(const Trace& trace, int device, const NameRoles& roles,
                                   const std::vector<std::vector<ProductCall>>& calls) {
  LaunchedProducts out;
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::stream || track.device != device) continue;
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
      const Event& e = trace.events[i];
      if (e.kind != EventKind::span || e.cls != EventClass::computation) continue;
      const std::size_t call = e.link == none ? no_call : call_of(calls, trace.events[e.link]);
      if (call == no_call) {
        if (roles.kernel[e.name]) out.others.push_back({e.start_ns, e.end_ns()});
        continue;
      }
      const CallKey key{trace.events[e.link].track, call};
      ProductRun& r = out.ran[key];
      r.first_ns = std::min(r.first_ns, e.start_ns);
      r.total_ns += e.duration_ns;
      out.pieces.push_back({{e.start_ns, e.end_ns()}, key});
    }
  }
  return out;
}

/// Counts a call whose flops are known.
void add_call(const ProductFlops& flops, const ProductRun& run, bool recomputed, ProductWork& work, ProductRow& row) {
  ++work.calls;
  work.issued_flops += flops.issued;
  if (recomputed) {
    ++work.recomputed_calls;
    work.recomputed_flops += flops.issued;
  } else {
    work.needed_flops += flops.needed;
  }
  ++row.calls;
  row.flops += flops.issued;
  row.kernel_ns += run.total_ns;
}

}  // namespace

ProductWork measure_products(const Trace& trace, int device, std::int64_t from_ns, std::int64_t to_ns) {
  ProductWork out;
  const NameRoles roles(trace);
  std::vector<std::vector<ProductCall>> calls(trace.tracks.size());
  for (std::size_t t = 0; t < trace.tracks.size(); ++t)
    if (trace.tracks[t].kind == TrackKind::thread) calls[t] = calls_of(trace, trace.tracks[t], roles);
  const LaunchedProducts launched = launched_products(trace, device, roles, calls);
  std::map<std::string_view, ProductRow> rows;
  std::map<CallKey, bool> counted;
  for (const auto& [key, r] : launched.ran) {
    const ProductCall& call = calls[key.first][key.second];
    const Event& e = trace.events[call.event];
    const auto flops =
        product_flops(trace.name(e), argument(trace, e, "Input Dims"), argument(trace, e, "Concrete Inputs"));
    counted[key] = flops.has_value();
    if (r.first_ns < from_ns || r.first_ns >= to_ns) continue;
    if (flops)
      add_call(*flops, r, call.recomputed, out, rows[trace.name(e)]);
    else
      ++out.unknown_calls;
  }
  std::vector<Stay> multiplies, others = launched.others;
  for (const auto& piece : launched.pieces) (counted[piece.call] ? multiplies : others).push_back(piece.stay);
  others.insert(others.end(), multiplies.begin(), multiplies.end());
  out.busy_ns = covered_ns(std::move(multiplies), from_ns, to_ns);
  out.uncounted_ns = covered_ns(std::move(others), from_ns, to_ns) - out.busy_ns;
  for (auto& [name, row] : rows) {
    row.name = std::string(name);
    out.rows.push_back(std::move(row));
  }
  std::stable_sort(out.rows.begin(), out.rows.end(),
                   [](const ProductRow& a, const ProductRow& b) { return a.flops > b.flops; });
  return out;
}

}  // namespace models::trace
