#include "models/debugging/twin_network.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/base/counter_random.h"
#include "models/base/lanes.h"
#include "models/compression/small_network_data.h"

namespace models::debugging {
namespace {

constexpr int W = twin_width, B = twin_batch;
constexpr float leak = 0.25f;  ///< slope of the activation below zero: no unit is ever dead

/// Uses of a seed.
enum : std::uint64_t {
  use_weights = 100,
  use_batch = 200,
  use_dropout = 300,
  use_other_dropout = 400,
  use_order = 500
};

/// What the backward pass multiplies a gradient with: 0 where dropped, the slope elsewhere.
using Slopes = std::array<float, twin_entries>;

int per_rank(const StepFault& f) { return B / f.ranks; }

float with_bits(float value, std::uint32_t flipped) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ flipped);
}

/// Sixteen sums, kept in registers while terms are added to them in the order of the calls.
struct Sixteen {
  lanes::Four v0{}, v1{}, v2{}, v3{};
  void load(const float* from) {
    v0 = lanes::load(from);
    v1 = lanes::load(from + 4);
    v2 = lanes::load(from + 8);
    v3 = lanes::load(from + 12);
  }
  void add(float factor, const float* row) {
    const lanes::Four x = lanes::splat(factor);
    v0 += x * lanes::load(row);
    v1 += x * lanes::load(row + 4);
    v2 += x * lanes::load(row + 8);
    v3 += x * lanes::load(row + 12);
  }
  void add(const float* row) {
    v0 += lanes::load(row);
    v1 += lanes::load(row + 4);
    v2 += lanes::load(row + 8);
    v3 += lanes::load(row + 12);
  }
  void store(float* to) const {
    lanes::store(to, v0);
    lanes::store(to + 4, v1);
    lanes::store(to + 8, v2);
    lanes::store(to + 12, v3);
  }
};

/// Sixteen sums of products, each in the order of the inputs.
void multiply(const float* input, const TwinParameters& w, float* sums) {
  Sixteen sum;
  sum.load(w.data() + twin_entries);
  for (int i = 0; i < W; ++i) sum.add(input[i], w.data() + i * W);
  sum.store(sums);
}

/// One example through one layer: the residual stays, the rest goes through dropout and a leaky ReLU.
void pass_layer(int layer, const float* input, const float* sums, std::uint64_t dropped, float* output, float* slopes) {
  if (layer == twin_layers - 1) {
    for (int j = 0; j < W; ++j) {
      output[j] = sums[j];
      slopes[j] = 1;
    }
    return;
  }
  using namespace lanes;
  const Four none{}, one = splat(1.0f), slope_below = splat(leak);
  for (int j = 0; j < W; j += 4) {
    // One unit in sixteen is dropped: four bits decide over each.
    const auto kept_one = [&](int k) { return static_cast<float>(((dropped >> (4 * (j + k))) & 15u) != 0); };
    const Four kept{kept_one(0), kept_one(1), kept_one(2), kept_one(3)}, sum = load(sums + j);
    const Four slope = (sum > none ? one : slope_below) * kept;
    const Four passed = kept > none ? slope * sum : none;
    lanes::store(slopes + j, slope);
    lanes::store(output + j, layer > 0 ? load(input + j) + passed : passed);
  }
}

struct Batch {
  TwinActivations pixels{};
  std::array<std::uint8_t, twin_batch> labels{};
};

Batch batch_of(std::uint64_t seed, int step, int shift) {
  const TwinDigits& digits = twin_digits();
  const std::uint64_t stream = random_stream(static_cast<std::int64_t>(seed), use_batch);
  Batch batch;
  for (int b = 0; b < B; ++b) {
    const auto drawn = static_cast<std::uint64_t>((step + shift) * B + b);
    const std::size_t i = counter_hash(stream, drawn) % digits.labels.size();
    std::copy(digits.pixels[i].begin(), digits.pixels[i].end(), batch.pixels.begin() + b * W);
    batch.labels[static_cast<std::size_t>(b)] = digits.labels[i];
  }
  return batch;
}

void forward_layer(std::uint64_t seed, int step, int layer, const StepFault& f, const TwinState& state,
                   const TwinActivations& input, TwinActivations& output, Slopes& slopes) {
  const auto l = static_cast<std::uint64_t>(layer);
  const std::uint64_t use = (layer == f.other_dropout_layer ? use_other_dropout : use_dropout) + l;
  const std::uint64_t stream = random_stream(static_cast<std::int64_t>(seed), use);
  for (int b = 0; b < B; ++b) {
    const int rank = b / per_rank(f);
    const bool stale = layer == f.stale_layer && rank == f.stale_rank && f.stale_weights;
    std::array<float, twin_width> sums;
    multiply(input.data() + b * W, stale ? *f.stale_weights : state[l].weights, sums.data());
    if (layer == f.stuck.layer && rank == f.stuck.rank) {
      float& lane = sums[static_cast<std::size_t>(f.stuck.unit)];
      lane = std::bit_cast<float>(std::bit_cast<std::uint32_t>(lane) | (1u << f.stuck.bit));
    }
    pass_layer(layer, input.data() + b * W, sums.data(), counter_hash(stream, static_cast<std::uint64_t>(step * B + b)),
               output.data() + b * W, slopes.data() + b * W);
  }
  if (layer == f.flipped_activation_layer) {
    float& hit = output[static_cast<std::size_t>(f.flipped_entry)];
    hit = with_bits(hit, f.flipped_bits);
  }
}

/// Softmax and cross entropy: the gradient at the logits, not yet divided by the batch. Returns the mean loss.
double loss_and_slope(const Batch& batch, const TwinActivations& logits, TwinActivations& slope) {
  double loss = 0;
  slope = {};
  for (int b = 0; b < B; ++b) {
    const float* z = logits.data() + b * W;
    const float most = *std::max_element(z, z + twin_classes);
    std::array<double, twin_classes> e;
    double sum = 0;
    for (int c = 0; c < twin_classes; ++c) {
      e[static_cast<std::size_t>(c)] = exp_by_products(static_cast<double>(z[c] - most));
      sum += e[static_cast<std::size_t>(c)];
    }
    const int label = batch.labels[static_cast<std::size_t>(b)];
    loss += std::log(sum) + static_cast<double>(most - z[label]);
    for (int c = 0; c < twin_classes; ++c)
      slope[static_cast<std::size_t>(b * W + c)] =
          static_cast<float>(e[static_cast<std::size_t>(c)] / sum) - (c == label ? 1.0f : 0.0f);
  }
  return loss / B;
}

using Parts = std::array<TwinParameters, 8>;

/// Each rank's own sum over its examples, in their order.
void gradients_of_ranks(const StepFault& f, const TwinActivations& input, const TwinActivations& slope, Parts& parts) {
  const int own = per_rank(f);
  for (int r = 0; r < f.ranks; ++r) {
    TwinParameters& part = parts[static_cast<std::size_t>(r)];
    for (int i = 0; i < W; ++i) {
      Sixteen sum;
      for (int b = r * own; b < (r + 1) * own; ++b)
        sum.add(input[static_cast<std::size_t>(b * W + i)], slope.data() + b * W);
      sum.store(part.data() + i * W);
    }
    Sixteen bias;
    for (int b = r * own; b < (r + 1) * own; ++b) bias.add(slope.data() + b * W);
    bias.store(part.data() + twin_entries);
  }
}

void add(TwinParameters& to, const TwinParameters& more) {
  for (std::size_t k = 0; k < to.size(); k += lanes::width)
    lanes::store(&to[k], lanes::load(&to[k]) + lanes::load(&more[k]));
}

/// The all-reduce: the parts of the ranks in order, in pairs, or as they arrive; then the mean over the batch.
void reduce(std::uint64_t seed, int step, int layer, const StepFault& f, Parts& parts, TwinParameters& gradient) {
  if (layer == f.scaled_layer)
    for (float& x : parts[static_cast<std::size_t>(f.scaled_rank)]) x *= f.scaled_by;
  if (layer == f.other_order_layer) {
    for (int apart = 1; apart < f.ranks; apart *= 2)
      for (int r = 0; r + apart < f.ranks; r += 2 * apart)
        add(parts[static_cast<std::size_t>(r)], parts[static_cast<std::size_t>(r + apart)]);
    gradient = parts[0];
  } else {
    std::array<std::size_t, 8> order{0, 1, 2, 3, 4, 5, 6, 7};
    if (f.arrival_order) {
      const std::uint64_t stream =
          random_stream(static_cast<std::int64_t>(seed), use_order + static_cast<std::uint64_t>(layer));
      std::uint64_t drawn = counter_hash(stream, static_cast<std::uint64_t>(step));
      for (std::size_t k = static_cast<std::size_t>(f.ranks); k > 1; --k) {
        std::swap(order[k - 1], order[drawn % k]);
        drawn /= k;
      }
    }
    gradient = parts[order[0]];
    for (int r = 1; r < f.ranks; ++r) add(gradient, parts[order[static_cast<std::size_t>(r)]]);
  }
  for (std::size_t k = 0; k < gradient.size(); k += lanes::width)
    lanes::store(&gradient[k], lanes::load(&gradient[k]) * lanes::splat(1.0f / B));
}

/// The gradient at a layer's input: sums over the units in their order, with the weights that the rank computed with.
void slope_of_input(int layer, const StepFault& f, const TwinParameters& weights, const TwinActivations& slope,
                    TwinActivations& before) {
  std::array<float, twin_entries> turned;
  const auto turn = [&turned](const TwinParameters& w) {
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) turned[static_cast<std::size_t>(j * W + i)] = w[static_cast<std::size_t>(i * W + j)];
  };
  turn(weights);
  for (int b = 0; b < B; ++b) {
    const bool stale = layer == f.stale_layer && f.stale_weights && b / per_rank(f) == f.stale_rank;
    if (stale) turn(*f.stale_weights);
    Sixteen sum;
    for (int j = 0; j < W; ++j) sum.add(slope[static_cast<std::size_t>(b * W + j)], turned.data() + j * W);
    sum.store(before.data() + b * W);
    if (stale) turn(weights);
  }
}

/// Adam without its correction of the first steps, which would need powers.
void update(TwinLayer& layer, const TwinParameters& gradient, float rate) {
  using namespace lanes;
  float* const mean = layer.moments.data();
  float* const square = mean + gradient.size();
  for (std::size_t k = 0; k < gradient.size(); k += lanes::width) {
    const Four g = load(&gradient[k]);
    const Four m = splat(0.9f) * load(mean + k) + splat(0.1f) * g;
    const Four s = splat(0.99f) * load(square + k) + splat(0.01f) * g * g;
    lanes::store(mean + k, m);
    lanes::store(square + k, s);
    lanes::store(&layer.weights[k], load(&layer.weights[k]) - splat(rate) * m / (root(s) + splat(1e-8f)));
  }
}

TwinDigits draw_digits() {
  const DigitSet set =
      make_digits(1, DigitSplit::training, 512, {.shift = 0.3, .turn = 0.08, .noise = 0.06, .distractor = 0});
  TwinDigits digits;
  digits.labels = set.labels;
  digits.pixels.resize(set.size());
  for (std::size_t n = 0; n < set.size(); ++n) {
    const auto picture = set.picture(n);
    for (std::size_t i = 0; i < 16; ++i) {
      const std::size_t corner = (i / 4) * 2 * digit_side + (i % 4) * 2;
      const double ink = static_cast<double>(picture[corner]) + static_cast<double>(picture[corner + 1]) +
                         static_cast<double>(picture[corner + digit_side]) +
                         static_cast<double>(picture[corner + digit_side + 1]);
      // Steps of 1/128: what a library's cosine rounds in its last bit does not reach the network.
      digits.pixels[n][i] = static_cast<float>(std::round(ink * 64) / 128 - 0.5);
    }
  }
  return digits;
}

}  // namespace

const TwinDigits& twin_digits() {
  static const TwinDigits digits = draw_digits();
  return digits;
}

TwinState twin_start(std::uint64_t seed) {
  TwinState state;
  for (std::size_t l = 0; l < state.size(); ++l) {
    const bool residual = l > 0 && l + 1 < state.size();
    const double most = (residual ? 0.5 : 1.0) * std::sqrt(3.0 * 2.0 / W);
    const std::uint64_t stream = random_stream(static_cast<std::int64_t>(seed), use_weights + l);
    for (std::size_t k = 0; k < twin_entries; ++k)
      state[l].weights[k] = static_cast<float>(most * (2 * unit_draw(stream, k) - 1));
  }
  return state;
}

double exp_by_products(double x) {
  if (!(x > -700)) return x <= -700 ? 0.0 : x;
  const double halves = x * 1.4426950408889634;
  const double whole = std::floor(halves + 0.5);
  const double rest = (x - whole * 0.693147180369123816490) - whole * 1.90821492927058770002e-10;
  static constexpr std::array<double, 13> parts{1.0,     1.0 / 2, 1.0 / 3,  1.0 / 4,  1.0 / 5,  1.0 / 6, 1.0 / 7,
                                                1.0 / 8, 1.0 / 9, 1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13};
  double sum = 1;
  for (std::size_t n = parts.size(); n-- > 0;) sum = 1 + sum * rest * parts[n];
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(whole) + 1023) << 52);
}

void twin_step(std::uint64_t seed, int step, const StepFault& f, TwinState& state, TwinPass& pass) {
  const Batch batch = batch_of(seed, step, f.batch_shift);
  std::array<Slopes, twin_layers> slopes;
  for (int l = 0; l < twin_layers; ++l)
    forward_layer(seed, step, l, f, state, l > 0 ? pass.activations[static_cast<std::size_t>(l - 1)] : batch.pixels,
                  pass.activations[static_cast<std::size_t>(l)], slopes[static_cast<std::size_t>(l)]);
  TwinActivations at_output, at_sums, before;
  pass.loss = loss_and_slope(batch, pass.activations.back(), at_output);
  Parts parts;
  for (int l = twin_layers - 1; l >= 0; --l) {
    const auto layer = static_cast<std::size_t>(l);
    for (std::size_t k = 0; k < at_sums.size(); k += lanes::width)
      lanes::store(&at_sums[k], lanes::load(&at_output[k]) * lanes::load(&slopes[layer][k]));
    gradients_of_ranks(f, l > 0 ? pass.activations[layer - 1] : batch.pixels, at_sums, parts);
    reduce(seed, step, l, f, parts, pass.gradients[layer]);
    if (l == f.flipped_gradient_layer) {
      float& hit = pass.gradients[layer][static_cast<std::size_t>(f.flipped_entry)];
      hit = with_bits(hit, f.flipped_bits);
    }
    if (l == 0) break;
    slope_of_input(l, f, state[layer].weights, at_sums, before);
    if (l < twin_layers - 1)
      for (std::size_t k = 0; k < before.size(); ++k) before[k] += at_output[k];
    at_output = before;
  }
  const float rate = static_cast<float>(twin_rate) * f.rate_factor;
  for (std::size_t l = 0; l < state.size(); ++l) update(state[l], pass.gradients[l], rate);
}

}  // namespace models::debugging
