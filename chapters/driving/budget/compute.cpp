#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "chapters/driving/budget/lab.h"
#include "chapters/mechanism/catalog.h"

namespace chapters::driving::budget {
namespace {

using models::realtime::PixelFlow, models::realtime::PixelPlan, models::realtime::PixelSetup;

constexpr double lidar_point_bytes = 16;

/// Names of cameras by group, in the order in which they are switched on.
constexpr std::array<std::array<const char*, max_group>, 3> camera_names{
    {{"front far", "front wide", "front left", "front right", "front 5", "front 6"},
     {"side left", "side right", "flank left", "flank right", "side 5", "side 6"},
     {"rear", "park left", "park right", "rear 4", "rear 5", "rear 6"}}};

std::array<std::int64_t, 3> counts_of(const Inputs& in) { return {in.front_cameras, in.side_cameras, in.rear_cameras}; }
std::array<double, 3> rates_of(const Inputs& in) { return {in.front_rate_hz, in.side_rate_hz, in.rear_rate_hz}; }

/// The rate of every camera before anything is skipped: at least the fastest that is set.
double built_hz(const Inputs& in) {
  const auto counts = counts_of(in);
  const auto rates = rates_of(in);
  double built = in.rate_hz;
  for (std::size_t g = 0; g < counts.size(); ++g)
    if (counts[g] > 0) built = std::max(built, rates[g]);
  return built;
}

/// The rail as it opens was measured on an Orin and says nothing of another chip.
bool rail_known(const Inputs& in) {
  const Inputs opened;
  return in.chip == opened.chip || in.gpu_work_w != opened.gpu_work_w;
}

PixelSetup setup_of(const Inputs& in, const models::Machine& machine, models::Format format) {
  return {
      .sensor = {.width = static_cast<double>(in.width),
                 .height = static_cast<double>(in.height),
                 .bits_per_pixel = static_cast<double>(in.bits_per_pixel),
                 .link_overhead = in.link_overhead / 100},
      .encoder = in.encoder,
      .input_width = in.input_width,
      .input_height = in.input_height,
      .heads = static_cast<double>(task_count),
      .head_flops = in.head_flops,
      .machine = machine,
      .element_bytes = models::format_bytes(format),
      .reach = in.reach / 100,
      .energies = {.camera_w = in.camera_w,
                   .link_j_per_bit = in.link_j_per_byte / 8,
                   .memory_j_per_byte = in.memory_j_per_byte,
                   .gpu_w = rail_known(in) ? in.gpu_work_w : std::numeric_limits<double>::quiet_NaN(),
                   .rest_w = in.chip_rest_w},
      .other_sensor_bytes_per_s = lidar_point_bytes * in.lidar_points * in.lidar_rate_hz + in.radar_bytes_per_s,
  };
}

double count_encoders(Shared shared) { return shared == Shared::none ? 3 : shared == Shared::all ? 1 : 2; }

/// Whole frames at the built rate, or what is set; so many encoders.
PixelPlan plan_of(const Inputs& in, bool skip, double encoders) {
  PixelPlan plan{.encoders = encoders};
  const auto counts = counts_of(in);
  const auto rates = rates_of(in);
  for (std::size_t g = 0; g < counts.size(); ++g)
    plan.groups[g] = {static_cast<double>(counts[g]), skip ? rates[g] : built_hz(in)};
  if (skip) {
    plan.kept = in.kept / 100;
    plan.encode_every = static_cast<double>(in.encode_every);
  }
  return plan;
}

bool skips(const Inputs& in) {
  const auto counts = counts_of(in);
  const auto rates = rates_of(in);
  for (std::size_t g = 0; g < counts.size(); ++g)
    if (counts[g] > 0 && rates[g] != built_hz(in)) return true;
  return in.kept != 100 || in.encode_every != 1;
}

PlanRow row_of(std::string name, const PixelFlow& f) {
  return {
      .name = std::move(name),
      .flops_per_s = f.flops_per_s(),
      .camera_bytes_per_s = f.camera_bytes_per_s,
      .power_w = f.power_w(),
      .busy = 100 * f.busy,
      .cameras_w = f.cameras_w,
      .moving_w = f.moving_w,
      .gpu_w = f.gpu_w,
      .rest_w = f.rest_w,
      .convert = 100 * f.convert_s * f.frames_per_s,
      .encode = 100 * f.encode_s * f.frames_per_s,
      .heads = 100 * f.heads_s * f.frames_per_s,
  };
}

double saved(double before, double now) { return before > 0 ? 100 * (1 - now / before) : 0; }

void fill_plans(const Inputs& in, const PixelSetup& setup, const PixelFlow& now, Outputs& out) {
  const PixelFlow built = models::realtime::pixel_flow(setup, plan_of(in, false, 3)),
                  shared = models::realtime::pixel_flow(setup, plan_of(in, false, 1)),
                  skipped = models::realtime::pixel_flow(setup, plan_of(in, true, 3)),
                  both = models::realtime::pixel_flow(setup, plan_of(in, true, 1));
  out.plans = {row_of("as built", built), row_of("one encoder", shared)};
  if (out.skipped) {
    out.plans.push_back(row_of("skipped", skipped));
    out.plans.push_back(row_of("both", both));
  }
  if (in.shared != Shared::none && in.shared != Shared::all) out.plans.push_back(row_of("as set", now));
  out.before_power_w = built.power_w();
  out.share_power_w = shared.power_w();
  out.skip_power_w = skipped.power_w();
  out.both_power_w = both.power_w();
  out.before_flops_per_s = built.flops_per_s();
  out.share_flops_per_s = shared.flops_per_s();
  out.skip_flops_per_s = skipped.flops_per_s();
  out.both_flops_per_s = both.flops_per_s();
  out.before_camera_bytes_per_s = built.camera_bytes_per_s;
  out.before_busy = 100 * built.busy;
  out.before_read_pixels_per_s = built.encoder_pixels_per_s;
  out.sharing_saved = saved(built.flops_per_s(), shared.flops_per_s());
  out.skipping_saved = saved(built.flops_per_s(), skipped.flops_per_s());
  out.sharing_sensors = saved(built.cameras_w, shared.cameras_w);
  out.skipping_sensors = saved(built.cameras_w, skipped.cameras_w);
  out.sharing_flops_no_heads = saved(built.encoder_flops_per_s, shared.flops_per_s());
}

void fill_sensors(const Inputs& in, const PixelSetup& setup, Outputs& out) {
  out.cameras = in.front_cameras + in.side_cameras + in.rear_cameras;
  out.before_rate_hz = built_hz(in);
  out.camera_stream_bytes_per_s = models::realtime::camera_bits_per_s(setup.sensor, out.before_rate_hz) / 8;
  out.link_stream_bytes_per_s = out.camera_stream_bytes_per_s * (1 + setup.sensor.link_overhead);
  out.link_load = 100 * out.link_stream_bytes_per_s / in.link_bytes_per_s;
  out.link_fits = out.link_load <= 100;
  out.lidar_bytes_per_s = lidar_point_bytes * in.lidar_points * in.lidar_rate_hz;
  const auto counts = counts_of(in);
  const auto rates = rates_of(in);
  auto kept = setup.sensor;
  kept.height = static_cast<double>(models::realtime::kept_rows(kept.height, in.kept / 100));
  for (std::size_t g = 0; g < counts.size(); ++g)
    for (std::int64_t i = 0; i < counts[g]; ++i)
      out.streams.push_back({camera_names[g][static_cast<std::size_t>(i)], rates[g], out.camera_stream_bytes_per_s,
                             models::realtime::camera_bits_per_s(kept, rates[g]) / 8});
  for (const StreamRow& row : out.streams)
    out.set_link_load =
        std::max(out.set_link_load, 100 * row.bytes_per_s * (1 + setup.sensor.link_overhead) / in.link_bytes_per_s);
  out.keeps_up = out.busy <= 100 && out.set_link_load <= 100;
}

/// The encoder by stages, for the images of a frame.
void fill_encoder(const Inputs& in, const PixelSetup& setup, const PixelFlow& now, Outputs& out) {
  const std::int64_t rows = models::realtime::kept_rows(static_cast<double>(in.input_height), in.kept / 100);
  const auto layers = models::realtime::encoder_layers(in.encoder, in.input_width, rows);
  const double images = now.images_per_s / now.frames_per_s;
  const auto whole = models::realtime::encoder_time(layers, setup.machine, setup.element_bytes, images);
  out.image_flops = whole.flops / images;
  out.image_bytes = whole.bytes / images;
  out.intensity = whole.flops / whole.bytes;
  out.ridge = models::ridge_flops_per_byte(setup.machine);
  out.roof_s = whole.time_s;
  out.memory_bound = 100 * whole.memory_bound_s / whole.time_s;
  const auto names = models::realtime::encoder_stages(in.encoder);
  for (std::size_t s = 0; s < names.size(); ++s) {
    std::vector<models::realtime::EncoderLayer> part;
    std::copy_if(layers.begin(), layers.end(), std::back_inserter(part),
                 [&](const models::realtime::EncoderLayer& layer) { return layer.stage == s; });
    const auto t = models::realtime::encoder_time(part, setup.machine, setup.element_bytes, images);
    out.stages.push_back(
        {std::string(names[s]), t.flops, t.bytes, t.flops / t.bytes, t.time_s, 2 * t.memory_bound_s > t.time_s});
  }
}

/// The images as set in each encoder.
void fill_kinds(const Inputs& in, const PixelSetup& setup, const PixelFlow& now, Outputs& out) {
  using models::realtime::EncoderKind;
  constexpr std::array<std::pair<EncoderKind, const char*>, models::realtime::encoder_kind_count> kinds{
      {{EncoderKind::efficientnet_b4, "EfficientNet-B4"},
       {EncoderKind::resnet50, "ResNet-50"},
       {EncoderKind::vit_b16, "ViT-B/16"}}};
  const std::int64_t rows = models::realtime::kept_rows(static_cast<double>(in.input_height), in.kept / 100);
  const double images = now.images_per_s / now.frames_per_s;
  for (const auto& [kind, name] : kinds) {
    const auto t = models::realtime::encoder_time(models::realtime::encoder_layers(kind, in.input_width, rows),
                                                  setup.machine, setup.element_bytes, images);
    out.kinds.push_back(
        {name, t.flops / images, t.bytes / images, t.flops / t.bytes, 100 * t.memory_bound_s / t.time_s, t.time_s});
  }
}

/// The same plan on chips that are built into cars, each in the format that is set or in its own 8-bit one.
void fill_chips(const Inputs& in, const PixelPlan& plan, Outputs& out) {
  for (const char* id : {"jetson_agx_orin_64", "drive_thor", "jetson_t5000_thor"}) {
    const auto chip = find_chip(id);
    if (!chip) continue;
    for (const models::Format format : {in.format, models::Format::int8, models::Format::fp8}) {
      const auto machine = models::machine_of(**chip, format);
      if (!machine) continue;
      const PixelFlow f = models::realtime::pixel_flow(setup_of(in, *machine, format), plan);
      out.chips.push_back({(*chip)->short_name, format, machine->peak_flops_per_s, machine->bandwidth_bytes_per_s,
                           models::ridge_flops_per_byte(*machine), f.frame_s(), 100 * f.busy});
      break;
    }
  }
}

}  // namespace

std::array<std::size_t, task_count> encoders_of(Shared shared) {
  switch (shared) {
    case Shared::none:
      return {0, 1, 2};
    case Shared::detection_segmentation:
      return {0, 0, 2};
    case Shared::detection_depth:
      return {0, 1, 0};
    case Shared::segmentation_depth:
      return {0, 1, 1};
    case Shared::all:
      return {0, 0, 0};
  }
  return {0, 1, 2};
}

Shared shared_of(const std::array<std::size_t, task_count>& e) {
  if (e[0] == e[1] && e[1] == e[2]) return Shared::all;
  if (e[0] == e[1]) return Shared::detection_segmentation;
  if (e[0] == e[2]) return Shared::detection_depth;
  return e[1] == e[2] ? Shared::segmentation_depth : Shared::none;
}

Outputs compute(const Inputs& in) {
  Outputs out;
  const auto chip = find_chip(in.chip);
  if (!chip) {
    out.reason = chip.error;
    return out;
  }
  const auto machine = models::machine_of(**chip, in.format);
  if (!machine) {
    out.reason = machine.error;
    return out;
  }
  if (in.front_cameras + in.side_cameras + in.rear_cameras == 0) {
    out.reason = "There is no camera: switch on at least one.";
    return out;
  }
  const PixelSetup setup = setup_of(in, *machine, in.format);
  const double encoders = count_encoders(in.shared);
  const PixelPlan plan = plan_of(in, true, encoders);
  const PixelFlow now = models::realtime::pixel_flow(setup, plan);
  out.power_w = now.power_w();
  out.flops_per_s = now.flops_per_s();
  out.camera_bytes_per_s = now.camera_bytes_per_s;
  out.busy = 100 * now.busy;
  out.skipped = skips(in);
  out.watts_known = rail_known(in);
  out.cameras_w = now.cameras_w;
  out.moving_w = now.moving_w;
  out.gpu_w = now.gpu_w;
  out.rest_w = now.rest_w;
  out.peak_flops_per_s = machine->peak_flops_per_s;
  out.bandwidth_bytes_per_s = machine->bandwidth_bytes_per_s;
  out.camera_pixels_per_s = now.pixels_per_s;
  out.read_pixels_per_s = now.encoder_pixels_per_s;
  out.each_flops_per_s = now.encoder_flops_per_s / encoders;
  out.each_busy = 100 * now.encode_s / encoders * now.frames_per_s;
  out.memory_bytes_per_s = now.memory_bytes_per_s;
  out.memory_share = 100 * now.memory_bytes_per_s / machine->bandwidth_bytes_per_s;
  out.convert_s = now.convert_s;
  out.encode_s = now.encode_s;
  out.heads_s = now.heads_s;
  out.frame_s = now.frame_s();
  out.deadline_s = 1 / now.frames_per_s;
  out.encoders = static_cast<std::int64_t>(encoders);
  fill_plans(in, setup, now, out);
  fill_sensors(in, setup, out);
  fill_encoder(in, setup, now, out);
  fill_chips(in, plan, out);
  fill_kinds(in, setup, now, out);
  return out;
}

}  // namespace chapters::driving::budget
