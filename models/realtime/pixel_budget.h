#pragma once
#include <array>
#include <cstdint>

#include "models/realtime/encoder.h"

/// A car's cameras, link, memory, encoders and heads as one flow of pixels, in bytes, FLOPs, seconds and watts.
namespace models::realtime {

/// Cameras that are set alike.
struct CameraGroup {
  double cameras = 0;
  double rate_hz = 0;
};
inline constexpr std::size_t camera_group_count = 3;

struct Sensor {
  double width = 0, height = 0, bits_per_pixel = 0;
  double link_overhead = 0;  ///< blanking and line coding, as a share of the pixels' bits
};
/// Bits of pixels that one camera sends in a second.
double camera_bits_per_s(const Sensor& sensor, double rate_hz);

/// What is looked at, and by how many encoders.
struct PixelPlan {
  std::array<CameraGroup, camera_group_count> groups{};
  double kept = 1;          ///< share of each frame that the sensors read out, in whole rows
  double encoders = 3;      ///< each reads every frame that is encoded
  double encode_every = 1;  ///< one frame in so many is encoded; features are used again in between
};

/// Energies. Where none was measured they are assumptions, and whoever sets them says so.
struct PixelEnergies {
  double camera_w = 0;           ///< each camera that is on, whatever it sends
  double link_j_per_bit = 0;     ///< sensor readout, serializer, wire
  double memory_j_per_byte = 0;  ///< moved to or from the DRAM
  double gpu_w = 0;              ///< while the GPU works, above its rest; NaN: not known, and so are its watts
  double rest_w = 0;             ///< the chip with nothing to do
};

struct PixelSetup {
  Sensor sensor;
  EncoderKind encoder{};
  std::int64_t input_width = 0, input_height = 0;  ///< an encoder's, for a whole frame
  double heads = 3, head_flops = 0;                ///< FLOPs of one head for one frame of all cameras
  Machine machine;
  double element_bytes = 1;
  double reach = 1;  ///< share of the roofs that encoders, heads and conversion reach
  PixelEnergies energies;
  double other_sensor_bytes_per_s = 0;  ///< lidar and radar, which go to the memory and no further here
};

struct PixelFlow {
  double frames_per_s = 0;  ///< the fastest group's: how often a frame is due
  double pixels_per_s = 0, camera_bytes_per_s = 0, link_bits_per_s = 0;
  double images_per_s = 0;                          ///< that each encoder takes
  double encoder_pixels_per_s = 0;                  ///< that each encoder reads, after the resize
  double encoder_flops_per_s = 0;                   ///< all encoders together
  double head_flops_per_s = 0;                      ///< all heads together
  double memory_bytes_per_s = 0;                    ///< written to and read from the DRAM, for frames that are not lost
  double convert_s = 0, encode_s = 0, heads_s = 0;  ///< a frame of the fastest group on the GPU, in the mean
  double busy = 0;  ///< share of the GPU's time that is asked for; above 1 frames are lost
  double cameras_w = 0, moving_w = 0, gpu_w = 0, rest_w = 0;

  double flops_per_s() const { return encoder_flops_per_s + head_flops_per_s; }
  double power_w() const { return cameras_w + moving_w + gpu_w + rest_w; }
  double frame_s() const { return convert_s + encode_s + heads_s; }
};
/// The flow of a plan in the mean of a second. At least one camera must be on.
PixelFlow pixel_flow(const PixelSetup& setup, const PixelPlan& plan);

/// Rows of `rows` that a share keeps, at least one.
std::int64_t kept_rows(double rows, double kept);

}  // namespace models::realtime
