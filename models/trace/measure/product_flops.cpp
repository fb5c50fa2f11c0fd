#include "models/trace/measure/products.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

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
    out *= std::floor((in[i] + 2 * of(padding) - of(dilation) * (weight[i] - 1) - 1) / of(stride)) + 1;
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

std::optional<ProductFlops> flops_as_written(std::string_view name, std::string_view dims, std::string_view concrete) {
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

}  // namespace

bool is_product(std::string_view name) { return known_product(name) != nullptr; }

std::optional<ProductFlops> product_flops(std::string_view name, std::string_view dims, std::string_view concrete) {
  const auto flops = flops_as_written(name, dims, concrete);
  // A file may say anything: what no machine could run is not counted.
  constexpr double most = 1e30;
  if (!flops || !(flops->issued >= 0 && flops->issued <= most && flops->needed >= 0)) return std::nullopt;
  return flops;
}

}  // namespace models::trace
