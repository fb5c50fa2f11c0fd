#include "chapters/driving/budget/lab.h"
#include "chapters/mechanism/choices_in_order.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::driving::budget {
namespace {

using models::realtime::EncoderKind;

const Choices encoder_choices = choices_in_order<EncoderKind::vit_b16>(
    {{"efficientnet_b4", "EfficientNet-B4", "Few FLOPs and many bytes: thin convolutions channel by channel."},
     {"resnet50", "ResNet-50", "Plain convolutions."},
     {"vit_b16", "ViT-B/16", "Patches of 16 × 16 pixels, each seen from each other."}});
const Choices shared_choices = choices_in_order<Shared::all>(
    {{"none", "none: one per task", "Detection, segmentation and depth each run an encoder of their own."},
     {"detection_segmentation", "detection + segmentation", "Depth has its own."},
     {"detection_depth", "detection + depth", "Segmentation has its own."},
     {"segmentation_depth", "segmentation + depth", "Detection has its own."},
     {"all", "one for all", "Three heads read the features of one encoder."}});

constexpr Range rates{1, 60};
constexpr std::string_view gpu_at_work = "min(1, share of its time) x power at work";
constexpr std::string_view no_rail = "This chip's GPU rail was not measured: set \"GPU at work\".";
constexpr std::string_view torchvision = "layer tables of the papers, held to torchvision's multiply-adds";

void describe_eyes(Fields& f, Inputs& in) {
  f.group("The cameras");
  f.real("front_rate_hz", in.front_rate_hz, {"Front", "Hz"}, "Frames per second of the front cameras.",
         {.range = rates});
  f.real("side_rate_hz", in.side_rate_hz, {"Sides", "Hz"}, "Frames per second of the side cameras.",
         {.range = rates, .headline = true});
  f.real("rear_rate_hz", in.rear_rate_hz, {"Rear", "Hz"}, "Frames per second of the rear cameras.", {.range = rates});
  f.real("kept", in.kept, {"Kept", "%"}, "Rows of each frame that the sensor reads out: the region of interest.",
         {.range = {10, 100}, .headline = true});
  f.real("rate_hz", in.rate_hz, {"As built", "Hz"},
         "Rate of every camera before anything is skipped; at least the fastest that is set.", {.range = rates});
  const Details count{.range = {0, static_cast<double>(max_group), Scale::step}};
  f.integer("front_cameras", in.front_cameras, "Front cameras", "Far, wide, left and right.", count);
  f.integer("side_cameras", in.side_cameras, "Side cameras", "Along both flanks.", count);
  f.integer("rear_cameras", in.rear_cameras, "Rear cameras", "Behind, and for parking.", count);
  f.group("A camera and its link");
  f.integer("width", in.width, "Width, pixels", "Pixels of a row.", {.range = {64, 8192, Scale::log}});
  f.integer("height", in.height, "Height, pixels", "Rows of a frame.", {.range = {64, 8192, Scale::log}});
  f.integer("bits_per_pixel", in.bits_per_pixel, "Bits per pixel", "12 for RAW12, 16 for YUV 4:2:2, 24 for RGB or HDR.",
            {.range = {8, 32, Scale::step}});
  f.real("link_overhead", in.link_overhead, {"Blanking and coding", "%"},
         "On top of the pixels; 10 to 20 % are usual, which is assumed here.", {.range = {0, 50}});
  f.real("link_bytes_per_s", in.link_bytes_per_s, {"Link", "B/s"},
         "What one camera's wire carries; 6 Gbit/s are 750 MB/s.", {.range = {1e8, 1e10, Scale::log}});
  f.real("lidar_points", in.lidar_points, "Lidar points per turn", "16 bytes each.", {.range = {1e3, 5e6, Scale::log}});
  f.real("lidar_rate_hz", in.lidar_rate_hz, {"Lidar", "Hz"}, "Turns per second.", {.range = {1, 60}});
  f.real("radar_bytes_per_s", in.radar_bytes_per_s, {"Radars", "B/s"}, "All together, as lists of targets; assumed.",
         {.range = {1e3, 1e9, Scale::log}});
}

void describe_work(Fields& f, Inputs& in) {
  f.group("Encoders and heads");
  f.choice("encoder", in.encoder, encoder_choices, "Encoder", "What turns an image into features.");
  f.choice("shared", in.shared, shared_choices, "Shared by", "Which tasks read the features of one encoder.",
           {.headline = true});
  f.integer("input_width", in.input_width, "Input width, pixels", "An image is resized to this first.",
            {.range = {32, 2048, Scale::log}});
  f.integer("input_height", in.input_height, "Input height, pixels", "For a whole frame; kept rows take a share.",
            {.range = {32, 2048, Scale::log}});
  f.integer("encode_every", in.encode_every, "Encode every", "One frame in so many; the features serve in between.",
            {.range = {1, 8, Scale::step}});
  f.real("head_flops", in.head_flops, {"A head", "FLOP"}, "For one frame of all cameras; there are three.",
         {.range = {1e6, 1e13, Scale::log}, .typical = {1e8, 1e12}});
  f.group("The chip");
  shared::chip(f, "chip", in.chip, {.help = "Its peak and its bandwidth are the roofs."});
  shared::format(f, "format", in.format, {.label = "Format", .help = "What weights and features are in."});
  f.real(
      "reach", in.reach, {"Reached", "%"},
      "Share of the roofs; assumed. In INT8 at least 29 % was measured on Orin (BEVDet's image stage): 50 may be high.",
      {.range = {5, 100}});
  f.group("Energy");
  f.real("gpu_work_w", in.gpu_work_w, {"GPU at work", "W"},
         "Above rest; 40.4 W is an AGX Orin 32GB's GPU rail under stress. With another chip it counts once it is set "
         "anew.",
         {.range = {0.1, 1000, Scale::log}});
  f.real("camera_w", in.camera_w, {"A camera", "W"}, "Whatever it sends; assumed.", {.range = {0, 10}});
  f.real("link_j_per_byte", in.link_j_per_byte, {"Readout and link", "J/B"},
         "Sensor, serializer and wire, per byte sent; assumed.", {.range = {1e-11, 1e-7, Scale::log}});
  f.real("memory_j_per_byte", in.memory_j_per_byte, {"DRAM", "J/B"}, "Per byte moved, 5 pJ per bit; assumed.",
         {.range = {1e-12, 1e-9, Scale::log}});
  f.real("chip_rest_w", in.chip_rest_w, {"Chip at rest", "W"}, "CPU, fabric and leakage; assumed.",
         {.range = {0, 100}});
}

}  // namespace

void describe(Fields& f, PlanRow& r) {
  f.text("name", r.name, "Plan");
  f.real("power_w", r.power_w, {"Power", "W"}, {.absent = no_rail, .formula = "cameras + moving + GPU + rest"});
  f.real("flops_per_s", r.flops_per_s, {"Arithmetic", "FLOP/s"}, {.formula = "encoders + heads"});
  f.real("camera_bytes_per_s", r.camera_bytes_per_s, {"Cameras send", "B/s"}, {.formula = "pixels x bits / 8"});
  f.real("busy", r.busy, {"GPU", "%"}, {.formula = "time of a frame x rate"});
  f.real("cameras_w", r.cameras_w, {"Cameras and links", "W"}, "Cameras that are on, and bytes on their wires.");
  f.real("moving_w", r.moving_w, {"Moving bytes", "W"}, {.formula = "DRAM bytes x energy of a byte"});
  f.real("gpu_w", r.gpu_w, {"GPU at work", "W"}, {.absent = no_rail, .formula = gpu_at_work});
  f.real("rest_w", r.rest_w, {"Chip at rest", "W"}, "Whatever runs.");
  f.real("convert", r.convert, {"Convert", "%"}, "Resizing the images, as a share of the GPU's time.");
  f.real("encode", r.encode, {"Encode", "%"}, "All encoders, one after the other.");
  f.real("heads", r.heads, {"Heads", "%"}, "Three of them.");
}

void describe(Fields& f, StageRow& r) {
  f.text("name", r.name, "Stage");
  f.real("flops", r.flops, {"Arithmetic", "FLOP"}, "For the images of a frame.");
  f.real("bytes", r.bytes, {"Moved", "B"}, "Each layer reads its input and writes its output.");
  f.real("intensity", r.intensity, {"Intensity", "FLOP/B"}, {.formula = "FLOP / bytes"});
  f.real("time_s", r.time_s, {"At the roofs", "s"},
         {.formula = "sum over layers of max(FLOP / peak, bytes / bandwidth)"});
  f.toggle("waits_for_memory", r.waits_for_memory, "Waits for memory");
}

void describe(Fields& f, ChipRow& r) {
  f.text("name", r.name, "Chip");
  f.choice("format", r.format, shared::all_formats(), "Format");
  f.real("peak_flops_per_s", r.peak_flops_per_s, {"Peak", "FLOP/s"}, "Dense.");
  f.real("bandwidth_bytes_per_s", r.bandwidth_bytes_per_s, {"Bandwidth", "B/s"}, "As specified.");
  f.real("ridge", r.ridge, {"Ridge", "FLOP/B"}, {.formula = "peak / bandwidth"});
  f.real("frame_s", r.frame_s, {"A frame", "s"}, "Your plan at the same share of the roofs.");
  f.real("busy", r.busy, {"Asked for", "%"}, {.formula = "time of a frame x rate"});
}

void describe(Fields& f, EncoderRow& r) {
  f.text("name", r.name, "Encoder");
  f.real("image_flops", r.image_flops, {"An image", "FLOP"}, {.formula = "2 x multiply-adds", .source = torchvision});
  f.real("image_bytes", r.image_bytes, {"Moved", "B"}, "With its share of the weights.");
  f.real("intensity", r.intensity, {"Intensity", "FLOP/B"}, {.formula = "FLOP / bytes"});
  f.real("memory_bound", r.memory_bound, {"Waits for memory", "%"}, "Share of its time at the roofs.");
  f.real("frame_s", r.frame_s, {"A frame", "s"}, "One such encoder, at the roofs.");
}

void describe(Fields& f, StreamRow& r) {
  f.text("name", r.name, "Camera");
  f.real("rate_hz", r.rate_hz, {"Rate", "Hz"}, "Now.");
  f.real("bytes_per_s", r.bytes_per_s, {"Sends", "B/s"}, {.formula = "width x kept rows x bits x rate / 8"});
  f.real("before_bytes_per_s", r.before_bytes_per_s, {"Sent as built", "B/s"}, {.formula = "the same, whole frames"});
}

void describe(Fields& f, Inputs& in) {
  describe_eyes(f, in);
  describe_work(f, in);
}

void describe(Fields& f, Outputs& o) {
  f.group("As set");
  f.real("power_w", o.power_w, {"Power", "W"},
         {.headline = true,
          .against = {"as built", "before_power_w"},
          .absent = no_rail,
          .formula = "cameras + moving + GPU + rest"});
  f.real("flops_per_s", o.flops_per_s, {"Arithmetic", "FLOP/s"}, "Encoders and heads; a multiply-add counts two.",
         {.headline = true,
          .against = {"as built", "before_flops_per_s"},
          .formula = "encoders x images/s x FLOP + heads x frames/s x FLOP",
          .source = torchvision});
  f.real("camera_bytes_per_s", o.camera_bytes_per_s, {"Cameras send", "B/s"},
         {.headline = true,
          .against = {"as built", "before_camera_bytes_per_s"},
          .formula = "sum over cameras of pixels x bits x rate / 8"});
  f.real("busy", o.busy, {"GPU asked for", "%"}, "Above 100 % frames pile up and are lost; watts are those of 100 %.",
         {.headline = true, .against = {"as built", "before_busy"}, .formula = "time of a frame x rate"});
  f.toggle("keeps_up", o.keeps_up, "Keeps up", "The GPU has the time, and each link carries its camera as set.");
  f.toggle("skipped", o.skipped, "Something is skipped");
  f.group("Sharing against skipping");
  f.real("sharing_saved", o.sharing_saved, {"Sharing saves", "%"},
         "A share of the arithmetic: one encoder, nothing skipped.", {.formula = "1 - shared / as built"});
  f.real("skipping_saved", o.skipping_saved, {"Skipping saves", "%"},
         "A share of the arithmetic: as set, nothing shared.", {.formula = "1 - skipped / as built"});
  f.real("sharing_sensors", o.sharing_sensors, {"Sharing, at the cameras", "%"},
         "A share of the watts of cameras and links.", {.formula = "1 - shared / as built"});
  f.real("skipping_sensors", o.skipping_sensors, {"Skipping, at the cameras", "%"},
         "A share of the watts of cameras and links.", {.formula = "1 - skipped / as built"});
  f.real("sharing_flops_no_heads", o.sharing_flops_no_heads, {"Heads on one side", "%"},
         "Sharing as the study counts it: three encoders without heads against one with them.",
         {.formula = "1 - (encoder + heads) / (3 encoders)"});
  f.real("before_power_w", o.before_power_w, {"Power as built", "W"}, "Every camera whole at its rate, three encoders.",
         {.absent = no_rail});
  f.real("share_power_w", o.share_power_w, {"Power, one encoder", "W"}, "Nothing skipped.", {.absent = no_rail});
  f.real("skip_power_w", o.skip_power_w, {"Power, skipped", "W"}, "As set, but nothing shared.", {.absent = no_rail});
  f.real("both_power_w", o.both_power_w, {"Power, both", "W"}, "As set, and one encoder.", {.absent = no_rail});
  f.real("before_flops_per_s", o.before_flops_per_s, {"Arithmetic as built", "FLOP/s"}, "Three encoders and heads.");
  f.real("share_flops_per_s", o.share_flops_per_s, {"Arithmetic, one encoder", "FLOP/s"}, "Nothing skipped.");
  f.real("skip_flops_per_s", o.skip_flops_per_s, {"Arithmetic, skipped", "FLOP/s"}, "As set, but nothing shared.");
  f.real("both_flops_per_s", o.both_flops_per_s, {"Arithmetic, both", "FLOP/s"}, "As set, and one encoder.");
  f.real("before_camera_bytes_per_s", o.before_camera_bytes_per_s, {"Cameras sent as built", "B/s"},
         {.formula = "cameras x pixels x bits x rate / 8"});
  f.real("before_busy", o.before_busy, {"GPU as built", "%"}, {.formula = "time of a frame x rate"});
  f.group("Watts");
  f.real("cameras_w", o.cameras_w, {"Cameras and links", "W"}, {.formula = "cameras x rest + link bytes x energy"});
  f.real("moving_w", o.moving_w, {"Moving bytes", "W"}, {.formula = "DRAM bytes x energy of a byte"});
  f.real("gpu_w", o.gpu_w, {"GPU at work", "W"}, {.absent = no_rail, .formula = gpu_at_work});
  f.real("rest_w", o.rest_w, {"Chip at rest", "W"}, "As it is set.");
  f.group("Sensors and links");
  f.integer("cameras", o.cameras, "Cameras", {.formula = "front + sides + rear"});
  f.real("before_rate_hz", o.before_rate_hz, {"Rate as built", "Hz"}, {.formula = "max(as built, rates that are set)"});
  f.real("camera_stream_bytes_per_s", o.camera_stream_bytes_per_s, {"A camera as built", "B/s"}, "Pixels alone.",
         {.formula = "width x height x bits x rate / 8"});
  f.real("link_stream_bytes_per_s", o.link_stream_bytes_per_s, {"... on its wire", "B/s"},
         {.formula = "pixels x (1 + blanking and coding)"});
  f.real("link_load", o.link_load, {"Link load as built", "%"}, {.formula = "on its wire / link"});
  f.toggle("link_fits", o.link_fits, "A whole camera fits its link");
  f.toggle("watts_known", o.watts_known, "Watts are known", "A chip other than Orin has none until its rail is set.");
  f.real("set_link_load", o.set_link_load, {"Fullest link as set", "%"}, {.formula = "on its wire / link"});
  f.real("lidar_bytes_per_s", o.lidar_bytes_per_s, {"Lidar", "B/s"}, {.formula = "points x 16 x turns/s"});
  f.real(
      "memory_bytes_per_s", o.memory_bytes_per_s, {"Through the DRAM", "B/s"},
      "Sensors in, conversion, and what every layer of the encoders reads and writes, for frames that are not lost.");
  f.real("memory_share", o.memory_share, {"... of its bandwidth", "%"}, {.formula = "moved / bandwidth"});
  f.real("camera_pixels_per_s", o.camera_pixels_per_s, "Pixels sent per second",
         {.formula = "sum over cameras of width x kept rows x rate"});
  f.real("read_pixels_per_s", o.read_pixels_per_s, "Pixels read per second", "By each encoder, after the resize.",
         {.formula = "images/s x input width x kept rows"});
  f.real("before_read_pixels_per_s", o.before_read_pixels_per_s, "... as built", "Whole frames, all of them.");
  f.group("An image in an encoder");
  f.real("image_flops", o.image_flops, {"Arithmetic", "FLOP"}, "For the rows that are kept.",
         {.formula = "2 x sum over layers of multiply-adds", .source = torchvision});
  f.real("image_bytes", o.image_bytes, {"Moved", "B"}, "With its share of the weights.",
         {.formula = "sum over layers of input + output + weights"});
  f.real("intensity", o.intensity, {"Intensity", "FLOP/B"}, {.formula = "FLOP / bytes"});
  f.real("ridge", o.ridge, {"Ridge of the chip", "FLOP/B"}, {.formula = "peak / bandwidth"});
  f.real("memory_bound", o.memory_bound, {"Waits for memory", "%"}, "Share of an encoder's time at the roofs.",
         {.formula = "time in layers under the ridge / time"});
  f.real("peak_flops_per_s", o.peak_flops_per_s, {"Peak of the chip", "FLOP/s"}, "Dense, in the format.");
  f.real("bandwidth_bytes_per_s", o.bandwidth_bytes_per_s, {"Bandwidth of the chip", "B/s"}, "As specified.");
  f.group("A frame on the GPU");
  f.real("each_flops_per_s", o.each_flops_per_s, {"An encoder", "FLOP/s"}, {.formula = "images/s x FLOP of an image"});
  f.real("each_busy", o.each_busy, {"... of the GPU", "%"}, {.formula = "its time of a frame x rate"});
  f.integer("encoders", o.encoders, "Encoders", "How many run.");
  f.real("roof_s", o.roof_s, {"One encoder at the roofs", "s"}, "All images of a frame.",
         {.formula = "sum over layers of max(FLOP / peak, bytes / bandwidth)"});
  f.real("convert_s", o.convert_s, {"Convert", "s"}, {.formula = "image bytes in and out / bandwidth / reached"});
  f.real("encode_s", o.encode_s, {"Encode", "s"}, {.formula = "encoders x roofs / reached"});
  f.real("heads_s", o.heads_s, {"Heads", "s"}, {.formula = "3 x FLOP / peak / reached"});
  f.real("frame_s", o.frame_s, {"A frame", "s"}, {.formula = "convert + encode + heads"});
  f.real("deadline_s", o.deadline_s, {"Until the next", "s"}, {.formula = "1 / fastest rate"});
  f.group("Tables");
  f.table("plans", o.plans, "Plans");
  f.table("streams", o.streams, "Streams");
  f.table("stages", o.stages, "Stages of the encoder");
  f.table("chips", o.chips, "Embedded chips");
  f.table("kinds", o.kinds, "Encoders", "On images of the same size.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"driving/budget",
       "The pixel budget",
       "Eleven cameras, one small chip: what saves more, sharing the encoder or skipping pixels?",
       {.published_keys = "encoder chip format"}},
      compute, arrange, draw);
}

}  // namespace chapters::driving::budget
