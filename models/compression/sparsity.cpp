#include "models/compression/sparsity.h"

#include "models/compression/small_network_data.h"
#include "models/gpu/occupancy.h"
#include "models/machine/op_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace models {
namespace {

/// The `count` items with the least worth; equal ones in their order.
std::vector<std::size_t> least(const std::vector<double>& worth, std::size_t count) {
  std::vector<std::size_t> order(worth.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return worth[a] < worth[b]; });
  order.resize(std::min(count, order.size()));
  return order;
}

std::size_t part(double share, std::size_t n) {
  return static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(n) + 1e-9);
}

}  // namespace

std::vector<double> sparse_example(std::uint64_t seed, std::size_t rows, std::size_t cols, bool heavy,
                                   double row_spread) {
  SeededRandom random(seed ^ 0x73706172u);
  random = SeededRandom(random.next());
  std::vector<double> out;
  out.reserve(rows * cols);
  for (std::size_t r = 0; r < rows; ++r) {
    const double scale = std::exp(row_spread * random.normal());
    for (std::size_t c = 0; c < cols; ++c) {
      const double sign = random.unit() < 0.5 ? -1 : 1;
      out.push_back(scale * (heavy ? -sign * std::log(1 - random.unit()) / std::sqrt(2.0) : random.normal()));
    }
  }
  return out;
}

std::vector<std::uint8_t> sparse_mask(std::span<const double> weights, std::size_t rows, std::size_t cols,
                                      SparsePattern pattern, double share, bool pairs) {
  std::vector<std::uint8_t> mask(weights.size(), 1);
  if (pattern == SparsePattern::two_four) {
    const std::size_t unit = pairs ? 2 : 1;
    const auto energy = [&](std::size_t first) {
      double sum = 0;
      for (const double w : weights.subspan(first, unit)) sum += w * w;
      return sum;
    };
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c + 4 * unit <= cols; c += 4 * unit) {
        std::array<std::size_t, 4> at{};
        for (std::size_t i = 0; i < at.size(); ++i) at[i] = r * cols + c + i * unit;
        std::stable_sort(at.begin(), at.end(), [&](std::size_t a, std::size_t b) { return energy(a) < energy(b); });
        for (const std::size_t first : {at[0], at[1]})
          std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(first), unit, std::uint8_t{0});
      }
    return mask;
  }
  std::vector<double> worth;
  if (pattern == SparsePattern::unstructured) {
    for (const double w : weights) worth.push_back(std::abs(w));
    for (const std::size_t i : least(worth, part(share, worth.size()))) mask[i] = 0;
    return mask;
  }
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (const double w : weights.subspan(r * cols, cols)) sum += w * w;
    worth.push_back(sum);
  }
  for (const std::size_t r : least(worth, part(share, rows)))
    std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(r * cols), cols, std::uint8_t{0});
  return mask;
}

double mask_error(std::span<const double> weights, std::span<const std::uint8_t> mask) {
  double all = 0, gone = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double e = weights[i] * weights[i];
    all += e;
    if (!mask[i]) gone += e;
  }
  return all > 0 ? std::sqrt(gone / all) : 0;
}

std::vector<double> error_curve(std::span<const double> weights, std::size_t rows, std::size_t cols,
                                SparsePattern pattern, std::span<const double> shares) {
  if (pattern == SparsePattern::two_four)
    return std::vector<double>(shares.size(), mask_error(weights, sparse_mask(weights, rows, cols, pattern, 0.5)));
  const std::size_t group = pattern == SparsePattern::structured ? cols : 1,
                    n = pattern == SparsePattern::structured ? rows : weights.size();
  std::vector<double> energy(n), below(n + 1), out;
  for (std::size_t k = 0; k < n; ++k)
    for (const double w : weights.subspan(k * group, group)) energy[k] += w * w;
  std::sort(energy.begin(), energy.end());
  std::partial_sum(energy.begin(), energy.end(), below.begin() + 1);
  for (const double share : shares) out.push_back(below[n] > 0 ? std::sqrt(below[part(share, n)] / below[n]) : 0);
  return out;
}

double sparse_bytes(double count, double bits, SparsePattern pattern, double share, bool packed, bool pairs) {
  const double dense = count * bits / 8;
  switch (pattern) {
    case SparsePattern::unstructured:
      return packed ? dense * (1 - share) + count / 8 : dense;
    case SparsePattern::two_four:
      return packed ? count / 2 * (bits + (pairs ? 1 : 2)) / 8 : dense;
    case SparsePattern::structured:
      return dense * (1 - share);
  }
  return dense;
}

bool in_pairs(Format format) { return format == Format::fp4; }

double two_four_rate(const Chip& chip, Format format) {
  const bool narrow =
      format == Format::fp16 || format == Format::bf16 || format == Format::fp8 || format == Format::int8;
  const bool nvidia = chip.vendor == "NVIDIA" && (gpu::capability_in(chip.architecture).value_or(0) >= 80 ||
                                                  chip.architecture.starts_with("Blackwell"));
  const bool amd =
      chip.vendor == "AMD" && (chip.architecture.starts_with("CDNA3") || chip.architecture.starts_with("CDNA4"));
  if (format == Format::fp4 && nvidia && chip.architecture.starts_with("Blackwell"))
    return gpu::capability_in(chip.architecture).value_or(0) == 103 ? 4.0 / 3 : 2;
  return narrow && (nvidia || amd) ? 2 : 1;
}

Result<SparseTime> sparse_time(const Chip& chip, const SparseLayer& layer) {
  const auto machine = machine_of(chip, layer.format);
  if (!machine) return Result<SparseTime>::fail(machine.error);
  const double e = format_bytes(layer.format), count = layer.inputs * layer.outputs;
  const OpCost dense = gemm(layer.tokens, layer.outputs, layer.inputs, e, e, e);
  SparseTime out;
  Machine fast = *machine;
  OpCost cost = dense;
  const double rate = two_four_rate(chip, layer.format);
  const bool packed = layer.pattern == SparsePattern::two_four ? rate > 1 : layer.packed;
  if (layer.pattern == SparsePattern::two_four) fast.peak_flops_per_s *= rate;
  if (layer.pattern == SparsePattern::structured)
    cost = gemm(layer.tokens, layer.outputs * (1 - layer.share), layer.inputs, e, e, e);
  out.dense_weight_bytes = count * e;
  out.weight_bytes = sparse_bytes(count, 8 * e, layer.pattern, layer.share, packed, in_pairs(layer.format));
  if (layer.pattern != SparsePattern::structured) cost.read_bytes += out.weight_bytes - out.dense_weight_bytes;
  out.flops_done = cost.flops / (layer.pattern == SparsePattern::two_four && rate > 1 ? 2 : 1);
  const auto before = place(*machine, {.flops = dense.flops, .bytes = dense.bytes(), .kernels = 0});
  const auto after = place(fast, {.flops = cost.flops, .bytes = cost.bytes(), .kernels = 0});
  if (!before || !after) return Result<SparseTime>::fail(before ? after.error : before.error);
  out.dense = *before;
  out.placement = *after;
  out.speedup = out.placement.time_s > 0 ? out.dense.time_s / out.placement.time_s : 1;
  return Result<SparseTime>::ok(std::move(out));
}

}  // namespace models
