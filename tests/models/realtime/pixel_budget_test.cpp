#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/realtime/pixel_budget.h"
#include "tests/support/base/near.h"

using namespace models::realtime;

using support::near;

namespace {

constexpr models::Machine orin_int8{85e12, 204.8e9, 0}, orin_fp32{5.3e12, 204.8e9, 0};

EncoderSums sums(EncoderKind kind, std::int64_t width, std::int64_t height) {
  return sum_of(encoder_layers(kind, width, height));
}

PixelSetup eleven_cameras() {
  return {
      .sensor = {.width = 1920, .height = 1536, .bits_per_pixel = 16},
      .encoder = EncoderKind::efficientnet_b4,
      .input_width = 380,
      .input_height = 380,
      .head_flops = 1.5e9,
      .machine = orin_int8,
      .energies = {.camera_w = 0.6, .link_j_per_bit = 300e-12, .memory_j_per_byte = 40e-12, .gpu_w = 40, .rest_w = 9},
  };
}
PixelPlan all_at(double rate_hz) { return {.groups = {{{4, rate_hz}, {4, rate_hz}, {3, rate_hz}}}}; }

}  // namespace

// torchvision's tables of weights print 4.09, 4.39 and 17.56 "GFLOPS", which are multiply-adds with the classifier.
TEST_CASE("encoder: multiply-adds are those that torchvision publishes") {
  CHECK(near((sums(EncoderKind::resnet50, 224, 224).macs + 2048 * 1000) / 1e9, 4.09, 0.001));
  CHECK(near((sums(EncoderKind::efficientnet_b4, 380, 380).macs + 1792 * 1000) / 1e9, 4.39, 0.001));
  CHECK(near((sums(EncoderKind::vit_b16, 224, 224).macs + 768 * 1000) / 1e9, 17.56, 0.001));
}

// timm's benchmark prints activations, the numbers that convolutions and products write, in millions, and parameters;
// here those of normalization (at most 0.65 %) are left out.
TEST_CASE("encoder: written numbers and weights are those that timm publishes") {
  CHECK(near(sums(EncoderKind::resnet50, 288, 288).written / 1e6, 18.37, 0.001));
  CHECK(near(sums(EncoderKind::resnet50, 176, 176).written / 1e6, 6.92, 0.001));
  CHECK(near(sums(EncoderKind::efficientnet_b4, 384, 384).written / 1e6, 50.04, 0.001));
  CHECK(near(sums(EncoderKind::vit_b16, 224, 224).written / 1e6, 23.9, 0.001));
  CHECK(near((sums(EncoderKind::resnet50, 224, 224).weights + 2049 * 1000) / 1e6, 25.56, 0.0065));
  CHECK(near((sums(EncoderKind::efficientnet_b4, 380, 380).weights + 1793 * 1000) / 1e6, 19.34, 0.0065));
  CHECK(near((sums(EncoderKind::vit_b16, 224, 224).weights + 769 * 1000) / 1e6, 86.57, 0.0065));
}

// BEVDet on AGX Orin: six images of 704 x 256 through ResNet-50, its neck and its depth network took 38.09 ms in FP32
// and 10.34 ms in INT8. The encoder at the roofs is a floor of both: near in FP32, 3.4 times under it in INT8.
TEST_CASE("encoder: time at Orin's roofs lies below what was measured on it") {
  const auto layers = encoder_layers(EncoderKind::resnet50, 704, 256);
  const double fp32 = encoder_time(layers, orin_fp32, 4, 6).time_s, int8 = encoder_time(layers, orin_int8, 1, 6).time_s;
  CHECK(near(fp32, 33.33e-3, 0.01));
  CHECK(fp32 < 38.09e-3);
  CHECK(near(int8, 3.01e-3, 0.01));
  CHECK(int8 < 10.34e-3);
}

TEST_CASE("encoder: EfficientNet-B4 waits for Orin's memory, ViT-B/16 for its multipliers") {
  const auto share = [](EncoderKind kind) {
    const EncoderTime time = encoder_time(encoder_layers(kind, 380, 380), orin_int8, 1, 11);
    return time.memory_bound_s / time.time_s;
  };
  CHECK(share(EncoderKind::efficientnet_b4) > 0.95);
  CHECK(share(EncoderKind::vit_b16) < 0.4);
}

// Pixels times bits times frames: a 3 MP camera of 16 bits at 30 Hz, 5 MP of 12 at 60, 8 MP of 24 at 30.
TEST_CASE("pixel budget: data rates of cameras are exact") {
  CHECK(near(camera_bits_per_s({1920, 1536, 16, 0}, 30), 1.4155776e9, 1e-9));
  CHECK(near(camera_bits_per_s({2560, 1984, 12, 0}, 60), 3.6569088e9, 1e-9));
  CHECK(near(camera_bits_per_s({3848, 2168, 24, 0}, 30) / 6e9, 1.0011, 1e-4));
}

TEST_CASE("pixel budget: sharing saves arithmetic alone, skipping the sensors and links as well") {
  const PixelSetup setup = eleven_cameras();
  PixelPlan built = all_at(30), shared = built, skipped = built, seldom = built;
  shared.encoders = 1;
  skipped.groups[1].rate_hz = 10;
  skipped.groups[2].rate_hz = 10;
  skipped.kept = 0.55;
  seldom.encode_every = 3;
  const PixelFlow a = pixel_flow(setup, built), b = pixel_flow(setup, shared), c = pixel_flow(setup, skipped),
                  d = pixel_flow(setup, seldom);
  CHECK(near(1 - b.encoder_flops_per_s / a.encoder_flops_per_s, 2.0 / 3, 1e-9));
  CHECK(near(1 - c.flops_per_s() / a.flops_per_s(), 0.65, 0.03));
  CHECK(near(1 - b.flops_per_s() / a.flops_per_s(), 0.65, 0.03));
  CHECK(b.camera_bytes_per_s == a.camera_bytes_per_s);
  CHECK(b.link_bits_per_s == a.link_bits_per_s);
  CHECK(b.cameras_w == a.cameras_w);
  CHECK(near(c.camera_bytes_per_s / a.camera_bytes_per_s, (120 + 70) / 330.0 * 0.55, 1e-3));
  CHECK(c.cameras_w < a.cameras_w);
  CHECK(c.power_w() < b.power_w());
  // Encoding every third frame is skipping on the chip: nothing before the encoder notices.
  CHECK(d.link_bits_per_s == a.link_bits_per_s);
  CHECK(d.encoder_flops_per_s < 0.34 * a.encoder_flops_per_s);
}

TEST_CASE("pixel budget: the study's six cameras save 64 % of the FLOPs when its heads are left out of one side") {
  PixelSetup setup = eleven_cameras();
  PixelPlan plan{.groups = {{{6, 1}, {0, 1}, {0, 1}}}};
  const PixelFlow three = pixel_flow(setup, plan);
  plan.encoders = 1;
  const PixelFlow one = pixel_flow(setup, plan);
  CHECK(near(three.encoder_flops_per_s, 158.1e9, 0.001));  // the study: 8.5 x 6 x 3 = 153
  CHECK(near(1 - one.flops_per_s() / three.encoder_flops_per_s, 0.638, 0.002));
  CHECK(near(1 - one.flops_per_s() / three.flops_per_s(), 0.648, 0.002));
}

TEST_CASE("pixel budget: watts and shares are sums of their parts") {
  const PixelFlow f = pixel_flow(eleven_cameras(), all_at(30));
  CHECK(near(f.power_w(), f.cameras_w + f.moving_w + f.gpu_w + f.rest_w, 1e-12));
  CHECK(near(f.cameras_w, 11 * (0.6 + 1.4155776e9 * 300e-12), 1e-9));
  CHECK(near(f.busy, f.frame_s() * 30, 1e-12));
}

TEST_CASE("pixel budget: a GPU that is asked for twice its time takes its watts once, and moves half of the bytes") {
  PixelSetup setup = eleven_cameras();
  setup.reach = 0.5;
  const PixelFlow once = pixel_flow(setup, all_at(15));
  setup.reach = 0.5 * once.busy / 2;  // twice what it has
  const PixelFlow twice = pixel_flow(setup, all_at(15));
  CHECK(near(twice.busy, 2, 1e-9));
  CHECK(twice.gpu_w == 40);
  CHECK(near(once.gpu_w, 40 * once.busy, 1e-12));
  CHECK(near(twice.memory_bytes_per_s - twice.camera_bytes_per_s,
             (once.memory_bytes_per_s - once.camera_bytes_per_s) / 2, 1e-9));
}
