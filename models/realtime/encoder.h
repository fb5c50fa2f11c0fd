#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/machine/roofline.h"

/// Image encoders layer by layer: what a camera's picture costs at any size. Layer tables: He et al. 2016 (ResNet-50,
/// the stride in the 3x3 convolution), Tan and Le 2019 (EfficientNet, table 1 and its rounding of widths and depths),
/// Dosovitskiy et al. 2021 (ViT-B/16). Without the layer that names classes, which a car's encoder does not have.
namespace models::realtime {

enum class EncoderKind : std::uint8_t { efficientnet_b4, resnet50, vit_b16 };
inline constexpr std::size_t encoder_kind_count = 3;

/// One convolution or matrix product of one image. Normalization, activation and addition are taken as fused into it.
struct EncoderLayer {
  std::uint8_t stage = 0;  ///< index in encoder_stages()
  double macs = 0;         ///< multiply-adds
  double read = 0;         ///< numbers of its input
  double written = 0;      ///< numbers of its output
  double weights = 0;      ///< numbers, read once for all images of a batch
};

/// Names of an encoder's stages, in the order of the layers.
std::vector<std::string_view> encoder_stages(EncoderKind kind);
/// Layers of one image of `width` x `height` pixels, both at least 1. A convolution of stride 2 rounds its size up.
std::vector<EncoderLayer> encoder_layers(EncoderKind kind, std::int64_t width, std::int64_t height);

struct EncoderSums {
  double macs = 0, weights = 0, written = 0, read = 0;
};
EncoderSums sum_of(const std::vector<EncoderLayer>& layers);

/// What a batch of images takes at the roofs of a chip: every layer its FLOPs over the peak or its bytes over the
/// bandwidth, whichever is longer, one layer after the other. `images` need not be whole: it is a mean.
struct EncoderTime {
  double time_s = 0, flops = 0, bytes = 0;
  double memory_bound_s = 0;  ///< part of time_s in layers that wait for the memory
};
EncoderTime encoder_time(const std::vector<EncoderLayer>& layers, const Machine& machine, double element_bytes,
                         double images);

}  // namespace models::realtime
