#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/published_panel.h"
#include "models/realtime/pixel_budget.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// A car's pixels from cameras through encoders to watts: what sharing an encoder saves, and what skipping does.
namespace chapters::driving::budget {

/// Which of the three tasks (detection, segmentation, depth) read one encoder's features.
enum class Shared : std::uint8_t { none, detection_segmentation, detection_depth, segmentation_depth, all };
inline constexpr std::size_t task_count = 3;

/// Defaults: eleven cameras of 3 MP (1920 x 1536, 16 bits per pixel) on AGX Orin, and the study's encoder and heads;
/// side and rear cameras at 10 Hz and 55 % of each frame. What a camera, a byte and a chip at rest take in
/// watts is assumed, and so is that half of the roofs is reached.
struct Inputs {
  std::int64_t front_cameras = 4, side_cameras = 4, rear_cameras = 3;
  double rate_hz = 30;  ///< as built
  double front_rate_hz = 30, side_rate_hz = 10, rear_rate_hz = 10;
  double kept = 55;  ///< % of a frame's rows
  std::int64_t width = 1920, height = 1536, bits_per_pixel = 16;
  double link_overhead = 15;  ///< %
  double link_bytes_per_s = 0.75e9;
  double lidar_points = 300e3, lidar_rate_hz = 10, radar_bytes_per_s = 2e6;
  models::realtime::EncoderKind encoder = models::realtime::EncoderKind::efficientnet_b4;
  std::int64_t input_width = 380, input_height = 380, encode_every = 1;
  Shared shared = Shared::none;
  double head_flops = 1.5e9;
  std::string chip = "jetson_agx_orin_64";
  models::Format format = models::Format::int8;
  double reach = 50;  ///< %
  double camera_w = 0.6, link_j_per_byte = 2.4e-9, memory_j_per_byte = 40e-12, gpu_work_w = 40.4, chip_rest_w = 9;
  bool operator==(const Inputs&) const = default;
};

/// One way to run the same cameras.
struct PlanRow {
  std::string name;
  double flops_per_s = 0, camera_bytes_per_s = 0, power_w = 0, busy = 0;  ///< busy in %
  double cameras_w = 0, moving_w = 0, gpu_w = 0, rest_w = 0;
  double convert = 0, encode = 0, heads = 0;  ///< shares of the GPU's time in %
};
/// A stage of the encoder, for the images of a frame as set, at the chip's roofs.
struct StageRow {
  std::string name;
  double flops = 0, bytes = 0, intensity = 0, time_s = 0;
  bool waits_for_memory = false;
};
/// Another chip with the same work.
struct ChipRow {
  std::string name;
  models::Format format{};
  double peak_flops_per_s = 0, bandwidth_bytes_per_s = 0, ridge = 0, frame_s = 0, busy = 0;
};
/// Another encoder on the images as set, at the chip's roofs.
struct EncoderRow {
  std::string name;
  double image_flops = 0, image_bytes = 0, intensity = 0, memory_bound = 0, frame_s = 0;  ///< memory_bound in %
};
/// One camera's stream.
struct StreamRow {
  std::string name;
  double rate_hz = 0, before_bytes_per_s = 0, bytes_per_s = 0;
};

struct Outputs {
  std::string reason;
  double power_w = 0, before_power_w = 0, share_power_w = 0, skip_power_w = 0, both_power_w = 0;
  double flops_per_s = 0, before_flops_per_s = 0, share_flops_per_s = 0, skip_flops_per_s = 0, both_flops_per_s = 0;
  double camera_bytes_per_s = 0, before_camera_bytes_per_s = 0;
  double busy = 0, before_busy = 0;                  ///< % of the GPU's time
  double sharing_saved = 0, skipping_saved = 0;      ///< % of the arithmetic
  double sharing_sensors = 0, skipping_sensors = 0;  ///< % of the watts of cameras and links
  double sharing_flops_no_heads = 0;                 ///< %, with heads counted on the shared side alone
  double cameras_w = 0, moving_w = 0, gpu_w = 0, rest_w = 0;
  double before_rate_hz = 0;  ///< as built: at least the fastest rate that is set
  double camera_stream_bytes_per_s = 0, link_stream_bytes_per_s = 0;
  double link_load = 0, set_link_load = 0;  ///< % of a link: as built, and of the fullest as set
  double lidar_bytes_per_s = 0, memory_bytes_per_s = 0, memory_share = 0;
  double camera_pixels_per_s = 0, read_pixels_per_s = 0, before_read_pixels_per_s = 0;  ///< read: by each encoder
  double each_flops_per_s = 0, each_busy = 0;                                           ///< one encoder's; busy in %
  double peak_flops_per_s = 0, bandwidth_bytes_per_s = 0;
  double image_flops = 0, image_bytes = 0, intensity = 0, ridge = 0, roof_s = 0, memory_bound = 0;
  double frame_s = 0, deadline_s = 0, convert_s = 0, encode_s = 0, heads_s = 0;
  std::int64_t cameras = 0, encoders = 0;
  bool keeps_up = false, link_fits = false, skipped = false;
  bool watts_known = false;    ///< a chip other than Orin has none until its rail is set
  std::vector<PlanRow> plans;  ///< as built, shared, skipped, both, and yours where it is none of these
  std::vector<StreamRow> streams;
  std::vector<StageRow> stages;
  std::vector<ChipRow> chips;
  std::vector<EncoderRow> kinds;
};

/// A camera's stream in the picture: widths in shares of the widest flow of all streams together.
struct Stream {
  std::string_view name;
  std::string rate, hover;
  std::size_t group = 0;
  double before = 0, now = 0;
};
/// An encoder that runs, for these tasks.
struct Box {
  std::array<bool, task_count> tasks{};
  std::string flops, more;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<Stream> streams;
  double widest = 1;                     ///< all streams, before or now, whichever is more: what shares are of
  double before = 0, now = 0;            ///< all streams
  double read_before = 1, read_now = 1;  ///< what each encoder reads, of the wider of the two
  std::vector<Box> boxes;
  std::string memory, kept, scale_note, others;
  std::size_t yours = 0;                ///< which plan is as set
  std::vector<std::string> plan_names;  ///< names for the bars; the one that is as set says so
  widgets::Curve roof, dots;
  std::vector<widgets::Curve> roofs;  ///< those of other chips
  PublishedMarks published;
  LabDoors doors;
};

void describe(Fields& f, ChipRow& r);
void describe(Fields& f, EncoderRow& r);

struct View {
  widgets::StackedBarView watts, times;
  widgets::PlotView roofline;
  DescribedTable<ChipRow> chips;
  DescribedTable<EncoderRow> kinds;
  Requests requests;
};

inline constexpr std::int64_t max_group = 6;

/// The encoder that each task reads: the number of the first task that reads it.
std::array<std::size_t, task_count> encoders_of(Shared shared);
/// The choice in which tasks read these encoders.
Shared shared_of(const std::array<std::size_t, task_count>& encoders);

Outputs compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out);
LabDoors doors_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_river(Inputs& in, const Picture& picture, View& view, ImVec2 size);

}  // namespace chapters::driving::budget
