#include "models/compression/small_network_compress.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace models {
namespace {

/// Sets the `count` smallest weights of the whole network to zero; equal ones in their order.
void prune_smallest(SmallNetwork& network, std::size_t count) {
  std::vector<float*> all;
  all.reserve(network.weight_count());
  for (DenseLayer& l : network.layers)
    for (std::size_t i = 0; i < l.inputs; ++i)
      for (std::size_t o = 0; o < l.outputs; ++o) all.push_back(&l.at(i, o));
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  count = std::min(count, order.size());
  const auto smaller = [&](std::uint32_t a, std::uint32_t b) {
    const float x = std::abs(*all[a]), y = std::abs(*all[b]);
    return x < y || (x == y && a < b);
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), smaller);
  for (std::size_t k = 0; k < count; ++k) *all[order[k]] = 0;
}

void prune_two_of_four(DenseLayer& l) {
  for (std::size_t first = 0; first + 4 <= l.inputs; first += 4)
    for (std::size_t o = 0; o < l.outputs; ++o) {
      std::array<std::size_t, 4> at{first, first + 1, first + 2, first + 3};
      std::stable_sort(at.begin(), at.end(),
                       [&](std::size_t a, std::size_t b) { return std::abs(l.at(a, o)) > std::abs(l.at(b, o)); });
      l.at(at[2], o) = l.at(at[3], o) = 0;
    }
}

/// Keeps these outputs of `l` and these inputs of `next`.
void keep_units(DenseLayer& l, DenseLayer& next, const std::vector<std::size_t>& kept) {
  DenseLayer a(l.inputs, kept.size()), b(kept.size(), next.outputs);
  b.biases = next.biases;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    a.biases[k] = l.biases[kept[k]];
    for (std::size_t i = 0; i < l.inputs; ++i) a.at(i, k) = l.at(i, kept[k]);
    for (std::size_t o = 0; o < next.outputs; ++o) b.at(k, o) = next.at(kept[k], o);
  }
  l = std::move(a);
  next = std::move(b);
}

void prune_units(DenseLayer& l, DenseLayer& next, double share) {
  const std::size_t units = l.outputs,
                    gone = std::min(units - 1, static_cast<std::size_t>(share * static_cast<double>(units) + 1e-9));
  std::vector<double> worth(units);
  for (std::size_t u = 0; u < units; ++u) {
    double in2 = 0, out2 = 0;
    for (std::size_t i = 0; i < l.inputs; ++i) in2 += static_cast<double>(l.at(i, u)) * static_cast<double>(l.at(i, u));
    for (std::size_t o = 0; o < next.outputs; ++o)
      out2 += static_cast<double>(next.at(u, o)) * static_cast<double>(next.at(u, o));
    worth[u] = in2 * out2;
  }
  std::vector<std::size_t> order(units);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return worth[a] > worth[b]; });
  order.resize(units - gone);
  std::sort(order.begin(), order.end());
  keep_units(l, next, order);
}

double up_to_bytes(double bits) { return std::ceil(bits / 8); }

}  // namespace

SmallNetwork prune(const SmallNetwork& network, Pruning how, double share) {
  SmallNetwork out = network;
  if (how == Pruning::magnitude)
    prune_smallest(out, static_cast<std::size_t>(share * static_cast<double>(out.weight_count()) + 1e-9));
  if (how == Pruning::two_four)
    for (DenseLayer& l : out.layers) prune_two_of_four(l);
  if (how == Pruning::neurons)
    for (std::size_t l = 0; l + 1 < out.layers.size(); ++l) prune_units(out.layers[l], out.layers[l + 1], share);
  return out;
}

PackedSize packed_size(const SmallNetwork& network, Pruning how, const WeightGrid& grid, int activation_bits) {
  PackedSize out;
  const int bits = grid.bits > 0 ? grid.bits : 32;
  for (const DenseLayer& l : network.layers) {
    const double n = static_cast<double>(l.inputs * l.outputs);
    double zeros = 0;
    for (std::size_t i = 0; i < l.inputs; ++i)
      for (std::size_t o = 0; o < l.outputs; ++o) zeros += l.at(i, o) == 0.0f;
    double values = up_to_bytes(n * bits), indices = 0;
    if (how == Pruning::two_four) {
      const double grouped = static_cast<double>(l.inputs / 4 * 4 * l.outputs);
      values = up_to_bytes((n - grouped / 2) * bits);
      indices = up_to_bytes(grouped / 2 * 2);
    } else if (how == Pruning::magnitude && up_to_bytes((n - zeros) * bits) + up_to_bytes(n) < values) {
      values = up_to_bytes((n - zeros) * bits);
      indices = up_to_bytes(n);
    }
    out.values_bytes += values;
    out.indices_bytes += indices;
    if (grid.bits > 0) out.scales_bytes += 4 * (grid.per_channel ? static_cast<double>(l.outputs) : 1);
    if (activation_bits > 0) out.scales_bytes += 4;
    out.biases_bytes += 4 * static_cast<double>(l.outputs);
  }
  return out;
}

Compressed compress(const SmallNetwork& start, const DigitSet& training, const DigitSet& held_out, const Plan& plan,
                    std::vector<std::uint8_t>* guesses) {
  Compressed out;
  SmallNetwork network = prune(start, plan.pruning, plan.share);
  out.kept = 1 - static_cast<double>(network.zero_weights()) / static_cast<double>(network.weight_count());
  if (plan.activation_bits > 0) out.activations = {plan.activation_bits, activation_peaks(network, training)};
  if (plan.fine_tune) {
    constexpr std::size_t tuned_on = 1000;
    DigitSet part;
    const std::size_t n = std::min(tuned_on, training.size());
    part.pixels.assign(training.pixels.begin(),
                       training.pixels.begin() + static_cast<std::ptrdiff_t>(n * digit_pixels));
    part.labels.assign(training.labels.begin(), training.labels.begin() + static_cast<std::ptrdiff_t>(n));
    Training how{
        .epochs = 2,
        .rate = 0.01,
        .seed = plan.seed,
        .keep_zeros = plan.pruning == Pruning::magnitude || plan.pruning == Pruning::two_four,
    };
    how.weights = plan.weights;
    how.activations = out.activations;
    network = train(std::move(network), part, how).network;
    if (plan.activation_bits > 0) out.activations.largest = activation_peaks(network, training);
  }
  out.size = packed_size(network, plan.pruning, plan.weights, plan.activation_bits);
  out.network = quantize_weights(network, plan.weights);
  out.accuracy = accuracy(out.network, held_out, out.activations, guesses);
  return out;
}

}  // namespace models
