#include "models/trace/products.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

namespace models::trace {
namespace {

using Sizes = std::vector<double>;

/// "[[2, 3], [], 4]" as its inner lists; a number outside of one is a list of none.
std::vector<Sizes> sizes_of(std::string_view written) {
  std::vector<Sizes> out;
  int depth = 0;
  const std::string text(written);
  const char* at = text.c_str();
  while (*at != '\0') {
    if (*at == '[') {
      if (++depth == 2) out.emplace_back();
      ++at;
    } else if (*at == ']') {
      --depth;
      ++at;
    } else if ((*at >= '0' && *at <= '9') || *at == '-') {
      char* end = nullptr;
      const double value = std::strtod(at, &end);
      if (depth == 2 && !out.empty()) out.back().push_back(value);
      if (depth == 1) out.emplace_back();
      at = end;
    } else {
      ++at;
    }
  }
  return out;
}

/// ["", "[1, 1]", "True"] as its texts.
std::vector<std::string> texts_of(std::string_view written) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while ((at = written.find('"', at)) != std::string_view::npos) {
    const std::size_t end = written.find('"', at + 1);
    if (end == std::string_view::npos) break;
    out.emplace_back(written.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return out;
}

Sizes numbers_of(const std::vector<std::string>& texts, std::size_t index) {
  if (index >= texts.size()) return {};
  const std::vector<Sizes> lists = sizes_of("[" + texts[index] + "]");
  return lists.empty() ? Sizes{} : lists[0];
}

enum class Form : std::uint8_t {
  product,
  transposed,
  attention,
  attention_backward,
  convolution,
  convolution_backward
};
struct KnownProduct {
  std::string_view name;
  Form form;
  std::size_t first;   ///< which input is the left matrix, or attention's queries
  std::size_t causal;  ///< which input says whether attention is causal
};
constexpr std::array<KnownProduct, 17> known_products{{
    {"aten::mm", Form::product, 0, 0},
    {"aten::addmm", Form::product, 1, 0},
    {"aten::addmm_", Form::product, 1, 0},
    {"aten::_addmm_activation", Form::product, 1, 0},
    {"aten::bmm", Form::product, 0, 0},
    {"aten::baddbmm", Form::product, 1, 0},
    {"aten::baddbmm_", Form::product, 1, 0},
    {"aten::_scaled_mm", Form::product, 0, 0},
    {"aten::_int_mm", Form::product, 0, 0},
    {"aiter::gemm_a16w16", Form::transposed, 0, 0},
    {"aten::_scaled_dot_product_flash_attention", Form::attention, 0, 4},
    {"aten::_scaled_dot_product_efficient_attention", Form::attention, 0, 6},
    {"aten::_scaled_dot_product_cudnn_attention", Form::attention, 0, 6},
    {"aten::_scaled_dot_product_flash_attention_backward", Form::attention_backward, 1, 11},
    {"aten::_scaled_dot_product_efficient_attention_backward", Form::attention_backward, 1, 11},
    {"aten::_scaled_dot_product_cudnn_attention_backward", Form::attention_backward, 1, 14},
    {"aten::convolution", Form::convolution, 0, 0},
}};
constexpr KnownProduct known_backward{"aten::convolution_backward", Form::convolution_backward, 0, 0};

const KnownProduct* known_product(std::string_view name) {
  if (name == known_backward.name) return &known_backward;
  for (const KnownProduct& k : known_products)
    if (k.name == name) return &k;
  return nullptr;
}

double all_sizes(const Sizes& sizes, std::size_t from = 0) {
  double all = 1;
  for (std::size_t i = from; i < sizes.size(); ++i) all *= sizes[i];
  return all;
}

std::optional<ProductFlops> matrix_product(const Sizes& a, const Sizes& b, bool transposed) {
  if (a.size() < 2 || a.size() != b.size() || a.size() > 3) return std::nullopt;
  const double n = b[transposed ? b.size() - 2 : b.size() - 1];
  const double flops = 2 * all_sizes(a) * n;
  return ProductFlops{flops, flops};
}

std::optional<ProductFlops> attention_product(const std::vector<Sizes>& dims, const KnownProduct& k,
                                              const std::vector<std::string>& concrete) {
  if (dims.size() < k.first + 3) return std::nullopt;
  const Sizes &q = dims[k.first], &key = dims[k.first + 1], &value = dims[k.first + 2];
  if (q.size() != 4 || key.size() != 4 || value.size() != 4) return std::nullopt;
  double pairs = q[0] * q[1] * q[2] * key[2];
  // The mask keeps the lower triangle: as in every published count, half of the square.
  if (k.causal < concrete.size() && concrete[k.causal] == "True" && q[2] == key[2]) pairs /= 2;
  const double scores = 2 * pairs * q[3], values = 2 * pairs * value[3];
  if (k.form == Form::attention) return ProductFlops{scores + values, scores + values};
  // Gradients of values and of scores, of queries and of keys; before them the scores once more.
  return ProductFlops{2 * values + 3 * scores, 2 * values + 2 * scores};
}

std::optional<ProductFlops> convolved(const std::vector<Sizes>& dims, const std::vector<std::string>& concrete) {
  if (dims.size() < 2 || concrete.size() < 7 || concrete[6] != "False") return std::nullopt;
  const Sizes &in = dims[0], &weight = dims[1];
  const Sizes stride = numbers_of(concrete, 3), padding = numbers_of(concrete, 4), dilation = numbers_of(concrete, 5);
  if (in.size() < 3 || in.size() != weight.size() || stride.empty() || padding.empty() || dilation.empty())
    return std::nullopt;
  double out = in[0] * weight[0];
  for (std::size_t i = 2; i < in.size(); ++i) {
    const auto of = [&](const Sizes& list) { return list[std::min(i - 2, list.size() - 1)]; };
    if (!(of(stride) > 0)) return std::nullopt;
    out *= static_cast<double>(
               static_cast<std::int64_t>((in[i] + 2 * of(padding) - of(dilation) * (weight[i] - 1) - 1) / of(stride))) +
           1;
  }
  const double flops = 2 * out * all_sizes(weight, 1);
  return ProductFlops{flops, flops};
}

std::optional<ProductFlops> convolved_back(const std::vector<Sizes>& dims, const std::vector<std::string>& concrete) {
  if (dims.size() < 3 || concrete.size() < 11 || concrete[7] != "False" || dims[0].size() < 3) return std::nullopt;
  const std::string& mask = concrete[10];
  double gradients = 0;
  // [input, weight, bias]: the bias is a sum and no product.
  for (std::size_t at = 0, i = 0; i < 2 && at < mask.size(); ++i) {
    gradients += mask.compare(at + 1, 4, "True") == 0 ? 1 : 0;
    at = mask.find(' ', at + 1);
    if (at == std::string::npos) break;
  }
  const double flops = 2 * all_sizes(dims[0]) * all_sizes(dims[2], 1) * gradients;
  return ProductFlops{flops, flops};
}

/// A counted call on a thread of the host, none inside another.
struct ProductCall {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t event = none;
  bool recomputed = false;
};

/// Names of spans that the search asks for, by index into Trace::strings.
struct NameRoles {
  std::vector<const KnownProduct*> product;
  std::vector<bool> node, checkpoint, forward, kernel;
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
      product.push_back(known_product(name));
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

struct Stay {
  std::int64_t from_ns = 0, to_ns = 0;
};
/// Union of the stays, clipped.
std::int64_t covered_ns(std::vector<Stay> stays, std::int64_t from_ns, std::int64_t to_ns) {
  std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) { return a.from_ns < b.from_ns; });
  std::int64_t sum = 0, reached_ns = from_ns;
  for (const Stay& s : stays) {
    const std::int64_t begin = std::max(s.from_ns, reached_ns), end = std::min(s.to_ns, to_ns);
    if (end > begin) sum += end - begin;
    reached_ns = std::max(reached_ns, end);
  }
  return sum;
}

/// Of a call: when its first kernel starts, and their time together.
struct ProductRun {
  std::int64_t first_ns = INT64_MAX, total_ns = 0;
};

}  // namespace

std::optional<ProductFlops> product_flops(std::string_view name, std::string_view dims, std::string_view concrete) {
  const KnownProduct* k = known_product(name);
  if (!k) return std::nullopt;
  const std::vector<Sizes> sizes = sizes_of(dims);
  const std::vector<std::string> texts = texts_of(concrete);
  switch (k->form) {
    case Form::product:
    case Form::transposed:
      if (sizes.size() < k->first + 2) return std::nullopt;
      return matrix_product(sizes[k->first], sizes[k->first + 1], k->form == Form::transposed);
    case Form::attention:
    case Form::attention_backward:
      return attention_product(sizes, *k, texts);
    case Form::convolution:
      return convolved(sizes, texts);
    case Form::convolution_backward:
      return convolved_back(sizes, texts);
  }
  return std::nullopt;
}

ProductWork measure_products(const Trace& trace, int device, std::int64_t from_ns, std::int64_t to_ns) {
  ProductWork out;
  const NameRoles roles(trace);
  std::vector<std::vector<ProductCall>> calls(trace.tracks.size());
  for (std::size_t t = 0; t < trace.tracks.size(); ++t)
    if (trace.tracks[t].kind == TrackKind::thread) calls[t] = calls_of(trace, trace.tracks[t], roles);
  // Kernels go to the call that launched them.
  std::map<std::pair<std::uint32_t, std::size_t>, ProductRun> ran;
  struct Piece {
    std::int64_t from_ns, to_ns;
    std::pair<std::uint32_t, std::size_t> call;
  };
  std::vector<Piece> pieces;
  std::vector<Stay> others;  // that multiply outside of any call
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::stream || track.device != device) continue;
    for (std::uint32_t i = track.first; i < track.first + track.count; ++i) {
      const Event& e = trace.events[i];
      if (e.kind != EventKind::span || e.cls != EventClass::computation) continue;
      const std::size_t call = e.link == none ? no_call : call_of(calls, trace.events[e.link]);
      if (call == no_call) {
        if (roles.kernel[e.name]) others.push_back({e.start_ns, e.end_ns()});
        continue;
      }
      const std::pair<std::uint32_t, std::size_t> key{trace.events[e.link].track, call};
      ProductRun& r = ran[key];
      r.first_ns = std::min(r.first_ns, e.start_ns);
      r.total_ns += e.duration_ns;
      pieces.push_back({e.start_ns, e.end_ns(), key});
    }
  }
  std::map<std::string_view, ProductRow> rows;
  std::map<std::pair<std::uint32_t, std::size_t>, bool> counted;
  for (const auto& [key, r] : ran) {
    const ProductCall& call = calls[key.first][key.second];
    const Event& e = trace.events[call.event];
    const auto flops =
        product_flops(trace.name(e), argument(trace, e, "Input Dims"), argument(trace, e, "Concrete Inputs"));
    counted[key] = flops.has_value();
    if (r.first_ns < from_ns || r.first_ns >= to_ns) continue;
    if (!flops) {
      ++out.unknown_calls;
      continue;
    }
    ++out.calls;
    out.issued_flops += flops->issued;
    if (call.recomputed) {
      ++out.recomputed_calls;
      out.recomputed_flops += flops->issued;
    } else {
      out.needed_flops += flops->needed;
    }
    ProductRow& row = rows[trace.name(e)];
    ++row.calls;
    row.flops += flops->issued;
    row.kernel_ns += r.total_ns;
  }
  std::vector<Stay> multiplies;
  for (const Piece& p : pieces) (counted[p.call] ? multiplies : others).push_back({p.from_ns, p.to_ns});
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
