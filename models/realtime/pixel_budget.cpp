#include "models/realtime/pixel_budget.h"

#include <algorithm>
#include <cmath>

namespace models::realtime {

double camera_bits_per_s(const Sensor& sensor, double rate_hz) {
  return sensor.width * sensor.height * sensor.bits_per_pixel * rate_hz;
}

std::int64_t kept_rows(double rows, double kept) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::round(rows * kept)));
}

PixelFlow pixel_flow(const PixelSetup& setup, const PixelPlan& plan) {
  PixelFlow flow;
  Sensor sensor = setup.sensor;
  sensor.height = static_cast<double>(kept_rows(sensor.height, plan.kept));
  const std::int64_t rows = kept_rows(static_cast<double>(setup.input_height), plan.kept);
  double cameras = 0, sent_per_s = 0;
  for (const CameraGroup& group : plan.groups) {
    if (!(group.cameras > 0)) continue;
    cameras += group.cameras;
    sent_per_s += group.cameras * group.rate_hz;
    flow.frames_per_s = std::max(flow.frames_per_s, group.rate_hz);
  }
  const double bits_per_s = camera_bits_per_s(sensor, sent_per_s);
  flow.pixels_per_s = sensor.width * sensor.height * sent_per_s;
  flow.camera_bytes_per_s = bits_per_s / 8;
  flow.link_bits_per_s = bits_per_s * (1 + sensor.link_overhead);
  flow.images_per_s = sent_per_s / plan.encode_every;
  const double input_pixels = static_cast<double>(setup.input_width * rows);
  flow.encoder_pixels_per_s = input_pixels * flow.images_per_s;
  flow.head_flops_per_s = setup.heads * setup.head_flops * flow.frames_per_s;

  // Conversion reads what is encoded of what the cameras wrote, and writes three numbers a pixel for all encoders.
  const double converted_bytes_per_s =
      (bits_per_s / 8) / plan.encode_every + 3 * setup.element_bytes * flow.encoder_pixels_per_s;
  const auto layers = encoder_layers(setup.encoder, setup.input_width, rows);
  const double images = flow.images_per_s / flow.frames_per_s;
  const EncoderTime one = encoder_time(layers, setup.machine, setup.element_bytes, images);
  flow.encoder_flops_per_s = plan.encoders * one.flops * flow.frames_per_s;
  flow.convert_s = converted_bytes_per_s / flow.frames_per_s / setup.machine.bandwidth_bytes_per_s / setup.reach;
  flow.encode_s = plan.encoders * one.time_s / setup.reach;
  flow.heads_s = setup.heads * setup.head_flops / setup.machine.peak_flops_per_s / setup.reach;
  flow.busy = flow.frame_s() * flow.frames_per_s;
  // A GPU that is asked for more than all of its time loses frames: what is read and written for those falls away.
  const double done = std::min(1.0, 1 / flow.busy);
  flow.memory_bytes_per_s = flow.camera_bytes_per_s + setup.other_sensor_bytes_per_s +
                            done * (converted_bytes_per_s + plan.encoders * one.bytes * flow.frames_per_s);

  flow.cameras_w = cameras * setup.energies.camera_w + flow.link_bits_per_s * setup.energies.link_j_per_bit;
  flow.moving_w = flow.memory_bytes_per_s * setup.energies.memory_j_per_byte;
  flow.gpu_w = std::min(1.0, flow.busy) * setup.energies.gpu_w;
  flow.rest_w = setup.energies.rest_w;
  return flow;
}

}  // namespace models::realtime
