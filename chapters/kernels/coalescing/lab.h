#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/published_panel.h"
#include "models/gpu/access/warp_access.h"
#include "widgets/base/parts.h"
#include "widgets/stage/stage.h"
#include "widgets/table/table.h"

/// One load of a warp: which sectors of memory its 32 lanes touch, and how much of them they want.
namespace chapters::kernels::coalescing {

enum class Access : std::uint8_t { strided, expression, addresses };
enum class ElementSize : std::uint8_t { load, b1, b2, b4, b8, b12, b16, b20, b24, b32, b36, b48, b64, b128 };
enum class LoadWidth : std::uint8_t { b1, b2, b4, b8, b16 };

/// Defaults: every second float.
struct Inputs {
  Access access = Access::strided;
  std::int64_t stride = 2, offset = 0;
  std::string expression = "a[blockIdx.x * blockDim.x + threadIdx.x * 2 + 1]";
  std::string addresses =
      "0, 16, 32, 48, 64, 80, 96, 112, 512, 528, 544, 560, 576, 592, 608, 624, 1024, 1040, 1056, 1072, 1088, 1104, "
      "1120, 1136, 1536, 1552, 1568, 1584, 1600, 1616, 1632, 1648";
  LoadWidth width_bytes = LoadWidth::b4;
  ElementSize element_bytes = ElementSize::load;
  std::int64_t block_width = 256, block_height = 1;
  std::int64_t block_index = 0, warp_index = 0;
  std::string chip = "h100_sxm";
  double wanted_bytes = 1e9;
  bool operator==(const Inputs&) const = default;
};

inline constexpr std::array<std::int64_t, 14> element_sizes{0, 1, 2, 4, 8, 12, 16, 20, 24, 32, 36, 48, 64, 128};
/// Bytes that a lane loads, and bytes from one element of the array to the next.
std::int64_t width_of(const Inputs& in);
std::int64_t element_of(const Inputs& in);

struct Outputs {
  std::string reason;
  models::gpu::BlockAccess block;
  std::int64_t sectors = 0, lines = 0, active = 0, ideal_sectors = 0;
  std::int64_t warps = 0;  ///< in the block
  double efficiency = std::nan(""), efficiency_percent = std::nan("");
  double fetched_bytes = 0, useful_bytes = 0, requested_bytes = 0;
  double block_useful_bytes = 0;
  double first_byte = std::nan(""), span_bytes = std::nan("");
  std::int64_t block_ideal_sectors = 0;
  double block_efficiency_percent = std::nan("");
  double bandwidth_bytes_per_s = 0;
  double useful_bytes_per_s = std::nan(""), time_s = std::nan(""), ideal_time_s = std::nan("");
};

/// A bar of the strip: what another access of the same width would fetch.
struct OtherBar {
  std::int64_t value = 0;    ///< the stride or the offset
  std::string_view label{};  ///< a known access has this instead
  std::string_view expression{};
  int sectors = 0;
  double useful_sectors = 0;  ///< distinct bytes over 32
  bool faults = false;        ///< misaligned
};
/// A row of the table of accesses.
struct OtherRow {
  std::string name, expression;
  double sectors = 0, lines = 0, efficiency_percent = 0;
  double block_sectors = 0, block_ideal = 0;  ///< 256 threads
};
struct LaneRow {
  double lane = 0, index = 0, byte = 0, sector = 0, line = 0;  ///< NaN where the lane is off
};
/// A warp of the block: its sectors as places among all distinct ones of the block.
struct WarpRow {
  int sectors = 0;
  int shared = 0;  ///< those that a warp before it has fetched
  std::array<std::int16_t, models::gpu::warp_lanes> ranks{};
  std::array<bool, models::gpu::warp_lanes> again{};
};
struct Run {
  models::gpu::GlobalAccess access;
  models::gpu::LaneAddresses addresses{};
  std::string expression;         ///< as it is read, in one line
  std::vector<OtherBar> strides;  ///< none where there is no stride
  std::vector<OtherBar> offsets;
  std::vector<OtherRow> others;
  std::vector<LaneRow> lanes;
  std::vector<WarpRow> warps;
};
using Computed = chapters::Computed<Outputs, Run>;

struct LaneMark {
  bool off = false;
  std::int64_t address = 0;
  int box = -1;  ///< in Picture::boxes
};
/// A sector that is drawn.
struct BoxMark {
  std::int64_t sector = 0;
  bool fetched = false;
  bool gap_before = false;  ///< sectors between are left out
  std::uint32_t cells = 0;  ///< which of its 32 bytes are wanted
};
struct LineMark {
  std::int64_t line = 0;
  int first = 0, last = 0;         ///< boxes
  std::string words, name, brief;  ///< the longest that has room is written
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  LabDoors doors;
  std::string answer;
  std::string expression;  ///< "x[ 2 · i + 0 ]"
  std::string expression_hint;
  std::array<LaneMark, models::gpu::warp_lanes> lanes{};
  std::vector<BoxMark> boxes;
  std::vector<std::string> box_numbers, box_names;  ///< "7", "sector 7"
  std::vector<LineMark> lines;
  std::int64_t width_bytes = 4, element_bytes = 4;
  bool folded = false;  ///< sectors between are left out, so that the fan has no scale
  bool stretches = false;
  std::string strides_title, offsets_title, strides_axis, offsets_axis;
  std::string block_words, warps_words;
  int yours = 0;  ///< sectors
  std::int64_t stride = -1, offset = 0;
  int distinct = 0;  ///< sectors of the block
  std::int64_t warp = 0;
  PublishedMarks published;
};

/// Where the fan stands, in pixels.
struct FanLayout {
  widgets::Rect head{}, lanes{}, fan{}, memory{}, names{}, lines{};
  float px_per_byte = 1, dot = 4;
  std::array<ImVec2, models::gpu::warp_lanes> dots{}, landings{};
  std::vector<widgets::Rect> boxes;
};
/// Pure: the lanes above, the sectors under them.
void layout_fan(const Picture& picture, widgets::Rect area, float scale, FanLayout& out);

struct View {
  Requests requests;
  FanLayout fan;
  double held_from = 0;  ///< the stride or offset at which a drag began
  float held_x = 0;
  widgets::TableView others, lanes;
};

Computed compute(const Inputs& in, Progress& progress);
LabDoors doors_of(const Inputs& in, const Run& run);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

std::string answer_of(const Inputs& in, const Outputs& out);
/// The fan, and under it what other strides and offsets would fetch.
void draw_fan(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// Bars from 0 to 32 sectors; a press sets the stride or the offset.
void draw_bars(Inputs& in, const Picture& picture, ImVec2 size);
/// The warps of the block and the sectors that they share; a press chooses the warp.
void draw_block(Inputs& in, const Picture& picture, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::kernels::coalescing
