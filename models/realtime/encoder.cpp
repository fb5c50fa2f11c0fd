#include "models/realtime/encoder.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace models::realtime {
namespace {

/// Layers as they are laid one after the other; the picture shrinks on the way.
class LayerStack {
 public:
  LayerStack(std::int64_t width, std::int64_t height) : width_(width), height_(height) {}

  double pixels() const { return static_cast<double>(width_ * height_); }
  void next_stage() { ++stage_; }
  void stage(std::uint8_t index) { stage_ = index; }

  /// A convolution with same padding; `groups` divides both channel counts.
  void convolve(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t groups = 1) {
    const double read = pixels() * static_cast<double>(in);
    shrink(stride);
    const double weights = static_cast<double>(out * (in / groups) * kernel * kernel);
    add(pixels() * weights, read, pixels() * static_cast<double>(out), weights);
  }
  /// The same, but the picture that later layers read is left as it was: a shortcut.
  void convolve_aside(std::int64_t in, std::int64_t out, std::int64_t stride) {
    const LayerStack before = *this;
    convolve(in, out, 1, stride);
    width_ = before.width_;
    height_ = before.height_;
  }
  /// A matrix product over one vector, as in squeeze and excitation; its bias is a weight as well.
  void vector_product(std::int64_t in, std::int64_t out) {
    const auto i = static_cast<double>(in), o = static_cast<double>(out);
    add(i * o, i, o, i * o + o);
  }
  /// A product over every token, with a bias.
  void linear(double tokens, std::int64_t in, std::int64_t out) {
    const auto i = static_cast<double>(in), o = static_cast<double>(out);
    add(tokens * i * o, tokens * i, tokens * o, i * o + o);
  }
  void add(double macs, double read, double written, double weights) {
    layers.push_back({stage_, macs, read, written, weights});
  }
  void shrink(std::int64_t stride) {
    width_ = (width_ + stride - 1) / stride;
    height_ = (height_ + stride - 1) / stride;
  }

  std::vector<EncoderLayer> layers;

 private:
  std::int64_t width_, height_;
  std::uint8_t stage_ = 0;
};

std::vector<EncoderLayer> resnet50(std::int64_t width, std::int64_t height) {
  LayerStack s(width, height);
  s.convolve(3, 64, 7, 2);
  s.shrink(2);  // max pooling
  constexpr std::array blocks{3, 4, 6, 3};
  std::int64_t in = 64;
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    s.next_stage();
    const std::int64_t middle = std::int64_t{64} << stage, out = 4 * middle;
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::int64_t stride = block == 0 && stage > 0 ? 2 : 1;
      if (block == 0) s.convolve_aside(in, out, stride);
      s.convolve(in, middle, 1, 1);
      s.convolve(middle, middle, 3, stride);
      s.convolve(middle, out, 1, 1);
      in = out;
    }
  }
  return std::move(s.layers);
}

/// Width of a channel count scaled by 1.4: the nearest multiple of 8, never below 90 % of it.
std::int64_t scaled_width(std::int64_t channels) {
  const double wide = 1.4 * static_cast<double>(channels);
  auto rounded = static_cast<std::int64_t>(wide + 4) / 8 * 8;
  if (static_cast<double>(rounded) < 0.9 * wide) rounded += 8;
  return rounded;
}

std::vector<EncoderLayer> efficientnet_b4(std::int64_t width, std::int64_t height) {
  struct Stage {
    std::int64_t kernel, stride, expand, channels, blocks;
  };
  constexpr std::array<Stage, 7> stages{{{3, 1, 1, 16, 1},
                                         {3, 2, 6, 24, 2},
                                         {5, 2, 6, 40, 2},
                                         {3, 2, 6, 80, 3},
                                         {5, 1, 6, 112, 3},
                                         {5, 2, 6, 192, 4},
                                         {3, 1, 6, 320, 1}}};
  LayerStack s(width, height);
  std::int64_t in = scaled_width(32);
  s.convolve(3, in, 3, 2);
  for (const Stage& stage : stages) {
    s.next_stage();
    const std::int64_t out = scaled_width(stage.channels);
    const auto blocks = static_cast<std::int64_t>(std::ceil(1.8 * static_cast<double>(stage.blocks)));
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t wide = in * stage.expand;
      if (stage.expand > 1) s.convolve(in, wide, 1, 1);
      s.convolve(wide, wide, stage.kernel, block == 0 ? stage.stride : 1, wide);
      const std::int64_t squeezed = std::max<std::int64_t>(1, in / 4);
      s.vector_product(wide, squeezed);
      s.vector_product(squeezed, wide);
      s.convolve(wide, out, 1, 1);
      in = out;
    }
  }
  s.next_stage();
  s.convolve(in, scaled_width(1280), 1, 1);
  return std::move(s.layers);
}

std::vector<EncoderLayer> vit_b16(std::int64_t width, std::int64_t height) {
  constexpr std::int64_t wide = 768, heads = 12, blocks = 12;
  LayerStack s(width, height);
  const double read = 3 * s.pixels();
  s.shrink(16);
  const double patches = s.pixels(), tokens = patches + 1;  // and the token that stands for the whole image
  s.add(patches * 768 * wide, read, patches * wide, 768 * wide);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const auto d = static_cast<double>(wide);
    const double scores = static_cast<double>(heads) * tokens * tokens;
    s.stage(1);
    s.linear(tokens, wide, 3 * wide);
    s.add(tokens * tokens * d, 2 * tokens * d, scores, 0);
    s.add(tokens * tokens * d, scores + tokens * d, tokens * d, 0);
    s.linear(tokens, wide, wide);
    s.stage(2);
    s.linear(tokens, wide, 4 * wide);
    s.linear(tokens, 4 * wide, wide);
  }
  return std::move(s.layers);
}

}  // namespace

std::vector<std::string_view> encoder_stages(EncoderKind kind) {
  switch (kind) {
    case EncoderKind::efficientnet_b4:
      return {"stem", "1", "2", "3", "4", "5", "6", "7", "last"};
    case EncoderKind::resnet50:
      return {"stem", "1", "2", "3", "4"};
    case EncoderKind::vit_b16:
      return {"patches", "attention", "MLP"};
  }
  return {};
}

std::vector<EncoderLayer> encoder_layers(EncoderKind kind, std::int64_t width, std::int64_t height) {
  switch (kind) {
    case EncoderKind::efficientnet_b4:
      return efficientnet_b4(width, height);
    case EncoderKind::resnet50:
      return resnet50(width, height);
    case EncoderKind::vit_b16:
      return vit_b16(width, height);
  }
  return {};
}

EncoderSums sum_of(const std::vector<EncoderLayer>& layers) {
  EncoderSums sums;
  for (const EncoderLayer& layer : layers) {
    sums.macs += layer.macs;
    sums.weights += layer.weights;
    sums.written += layer.written;
    sums.read += layer.read;
  }
  return sums;
}

EncoderTime encoder_time(const std::vector<EncoderLayer>& layers, const Machine& machine, double element_bytes,
                         double images) {
  EncoderTime sum;
  for (const EncoderLayer& layer : layers) {
    const double flops = 2 * layer.macs * images;
    const double bytes = element_bytes * ((layer.read + layer.written) * images + layer.weights);
    const double compute_s = flops / machine.peak_flops_per_s, memory_s = bytes / machine.bandwidth_bytes_per_s;
    sum.flops += flops;
    sum.bytes += bytes;
    sum.time_s += std::max(compute_s, memory_s);
    if (memory_s > compute_s) sum.memory_bound_s += memory_s;
  }
  return sum;
}

}  // namespace models::realtime
