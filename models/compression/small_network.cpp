#include "models/compression/small_network.h"

#include "models/base/lanes.h"

#include <algorithm>
#include <cmath>

namespace models {
namespace {

/// out[0..stride) = biases + x W, sixteen outputs at a time so that the sums stay in registers.
void apply(const DenseLayer& layer, const float* x, float* out) {
  using namespace lanes;
  std::size_t o = 0;
  for (; o + 16 <= layer.stride; o += 16) {
    const float* w = layer.weights.data() + o;
    const float* b = layer.biases.data() + o;
    Four s0 = load(b), s1 = load(b + 4), s2 = load(b + 8), s3 = load(b + 12);
    for (std::size_t i = 0; i < layer.inputs; ++i, w += layer.stride) {
      const Four xi = splat(x[i]);
      s0 += xi * load(w);
      s1 += xi * load(w + 4);
      s2 += xi * load(w + 8);
      s3 += xi * load(w + 12);
    }
    store(out + o, s0);
    store(out + o + 4, s1);
    store(out + o + 8, s2);
    store(out + o + 12, s3);
  }
  for (; o < layer.stride; o += width) {
    const float* w = layer.weights.data() + o;
    Four s = load(layer.biases.data() + o);
    for (std::size_t i = 0; i < layer.inputs; ++i, w += layer.stride) s += splat(x[i]) * load(w);
    store(out + o, s);
  }
}

/// Rounds what enters layer `l` to the grid.
void round_inputs(std::size_t l, Pass& pass, const ActivationGrid& grid) {
  std::vector<float>& x = pass.inputs[l];
  std::vector<std::uint8_t>& cut = pass.cut[l];
  const float codes = static_cast<float>((1u << grid.bits) - 1u), top = grid.largest[l];
  const float step = top > 0 ? top / codes : 1.0f;
  for (std::size_t i = 0; i < x.size(); ++i) {
    cut[i] = x[i] > top ? 1 : 0;
    x[i] = std::min(lanes::round(x[i] / step), codes) * step;
  }
}

std::size_t best_of(const std::vector<float>& logits) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < digit_classes; ++k)
    if (logits[k] > logits[best]) best = k;
  return best;
}

}  // namespace

DenseLayer::DenseLayer(std::size_t in, std::size_t out)
    : inputs(in),
      outputs(out),
      stride((out + lanes::width - 1) / lanes::width * lanes::width),
      weights(in * stride),
      biases(stride) {}

std::size_t SmallNetwork::weight_count() const {
  std::size_t n = 0;
  for (const DenseLayer& l : layers) n += l.inputs * l.outputs;
  return n;
}

std::size_t SmallNetwork::bias_count() const {
  std::size_t n = 0;
  for (const DenseLayer& l : layers) n += l.outputs;
  return n;
}

std::size_t SmallNetwork::zero_weights() const {
  std::size_t n = 0;
  for (const DenseLayer& l : layers)
    for (std::size_t i = 0; i < l.inputs; ++i)
      for (std::size_t o = 0; o < l.outputs; ++o) n += l.at(i, o) == 0.0f;
  return n;
}

SmallNetwork make_network(std::span<const std::size_t> hidden, std::uint64_t seed) {
  SeededRandom random(seed ^ 0x6E657477u);
  random = SeededRandom(random.next());
  SmallNetwork out;
  std::size_t inputs = digit_pixels;
  for (std::size_t l = 0; l <= hidden.size(); ++l) {
    DenseLayer layer(inputs, l < hidden.size() ? hidden[l] : digit_classes);
    const double spread = std::sqrt(2.0 / static_cast<double>(inputs));
    for (std::size_t i = 0; i < layer.inputs; ++i)
      for (std::size_t o = 0; o < layer.outputs; ++o) layer.at(i, o) = static_cast<float>(spread * random.normal());
    if (l < hidden.size()) std::fill_n(layer.biases.begin(), layer.outputs, 0.1f);
    inputs = layer.outputs;
    out.layers.push_back(std::move(layer));
  }
  return out;
}

Pass::Pass(const SmallNetwork& network) {
  for (std::size_t l = 0; l < network.layers.size(); ++l) {
    // What a layer writes is as wide as its stride: the padding is zero and meets no weight.
    inputs.emplace_back(l == 0 ? network.layers[l].inputs : network.layers[l - 1].stride);
    cut.emplace_back(inputs.back().size());
  }
  logits.resize(network.layers.empty() ? 0 : network.layers.back().stride);
}

void forward(const SmallNetwork& network, std::span<const float> picture, Pass& pass, const ActivationGrid& grid) {
  std::copy(picture.begin(), picture.end(), pass.inputs[0].begin());
  const std::size_t last = network.layers.size() - 1;
  for (std::size_t l = 0; l <= last; ++l) {
    if (grid.bits > 0) round_inputs(l, pass, grid);
    if (l == last) {
      apply(network.layers[l], pass.inputs[l].data(), pass.logits.data());
      return;
    }
    std::vector<float>& next = pass.inputs[l + 1];
    const DenseLayer& layer = network.layers[l];
    apply(layer, pass.inputs[l].data(), next.data());
    for (float& v : next) v = v > 0 ? v : 0;
  }
}

double accuracy(const SmallNetwork& network, const DigitSet& digits, const ActivationGrid& grid,
                std::vector<std::uint8_t>* guesses) {
  Pass pass(network);
  std::size_t right = 0;
  if (guesses) guesses->resize(digits.size());
  for (std::size_t i = 0; i < digits.size(); ++i) {
    forward(network, digits.picture(i), pass, grid);
    const std::size_t guess = best_of(pass.logits);
    if (guesses) (*guesses)[i] = static_cast<std::uint8_t>(guess);
    right += guess == digits.labels[i];
  }
  return digits.size() > 0 ? static_cast<double>(right) / static_cast<double>(digits.size()) : 0;
}

std::vector<float> logits_of(const SmallNetwork& network, const DigitSet& digits) {
  Pass pass(network);
  std::vector<float> out(digits.size() * digit_classes);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    forward(network, digits.picture(i), pass);
    std::copy_n(pass.logits.begin(), digit_classes, out.begin() + static_cast<std::ptrdiff_t>(i * digit_classes));
  }
  return out;
}

double mean_loss(const SmallNetwork& network, const DigitSet& digits, Pass& pass) {
  double sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    forward(network, digits.picture(i), pass);
    const float largest = *std::max_element(pass.logits.begin(), pass.logits.begin() + digit_classes);
    double total = 0;
    for (std::size_t k = 0; k < digit_classes; ++k) total += std::exp(static_cast<double>(pass.logits[k] - largest));
    sum += std::log(total) - static_cast<double>(pass.logits[digits.labels[i]] - largest);
  }
  return digits.size() > 0 ? sum / static_cast<double>(digits.size()) : 0;
}

std::vector<float> activation_peaks(const SmallNetwork& network, const DigitSet& digits, std::size_t count) {
  Pass pass(network);
  std::vector<float> peaks(network.layers.size());
  for (std::size_t i = 0; i < std::min(count, digits.size()); ++i) {
    forward(network, digits.picture(i), pass);
    for (std::size_t l = 0; l < peaks.size(); ++l)
      peaks[l] = std::max(peaks[l], *std::max_element(pass.inputs[l].begin(), pass.inputs[l].end()));
  }
  return peaks;
}

}  // namespace models
