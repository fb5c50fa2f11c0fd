#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/field.h"
#include "models/machine/hierarchy.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// The memory and the links of a chip, level by level: how much each holds, how fast and how far it is.
namespace chapters::roofline::hierarchy {

inline constexpr std::string_view question = "How far away is the data, and what does it cost to fetch it?";

/// Index 0 of the choice is the next level nearer than the chosen one; the rest are `models::LevelKind` in order.
enum class Against : std::uint8_t { nearer, registers, shared, l2, memory, link, pcie, network, storage };

struct Inputs {
  std::string chip = "h100_sxm";
  double bytes = 16777216;  ///< 2,048 tokens of 4,096 BF16 values
  models::AccessPattern pattern = models::AccessPattern::stream;
  double in_flight_bytes = 262144;
  double access_bytes = 32;
  models::LevelKind level = models::LevelKind::memory;
  Against against = Against::nearer;
  std::string network = "infiniband_ndr";
  std::int64_t chips = 1000;
  double memory_j_per_bit = 5.5e-12;
  double streaming_percent = 100;
  double fused_percent = 50;
  bool operator==(const Inputs&) const = default;
};

/// One level; a figure that nobody states is NaN.
struct LevelRow {
  models::Level facts;
  models::Move move;  ///< what moving the bytes set takes
  std::string level;  ///< its id
  std::string human_latency, human_time;
  double capacity_bytes = 0, bandwidth_bytes_per_s = 0, measured_bandwidth_bytes_per_s = 0, latency_s = 0;
  double energy_j_per_byte = 0;
  double time_s = 0, energy_j = 0;  ///< NaN where they cannot be computed
};

struct Outputs {
  LevelRow chosen;
  double achieved_bandwidth_bytes_per_s = 0, needed_in_flight_bytes = 0;
  std::string limit, fits, compared_with;
  double accesses = 1;                 ///< that wait one for the other: those of a chase, else 1
  double streamed_s = 0;               ///< the same bytes with enough in flight
  double limited_s = 0, chased_s = 0;  ///< with the bytes in flight that are set; one access after the other
  double streamed_ratio = 1;
  std::string human_streamed, human_limited, human_chased;
  double bandwidth_ratio = 0, latency_ratio = 0, energy_ratio = 0, mean_bandwidth_step = 0;
  models::TrafficPowerResult power;
  double memory_tdp_percent = 0;
  std::vector<LevelRow> levels;
  std::string reason;
};

/// Where each figure of a level comes from.
struct LevelSources {
  std::string capacity, bandwidth, measured, latency, energy;
};

/// A time in words on the axis of the shaft.
struct DepthTick {
  std::string_view label;
  double seconds = 0;
};

/// One way of asking for the bytes.
struct Way {
  std::string_view name;
  std::string human, real;
  double time_s = 0, trips = 1;  ///< trips: waits one after the other
  bool chosen = false;           ///< it is the access pattern that is set
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::string chip_name, comparison, filling, power_title, power_note, power_scale;
  std::string fill_label, own_label, ways_title;
  std::vector<DepthTick> human_ticks;
  std::array<Way, 3> ways;             ///< in the order of models::AccessPattern
  double lo_s = 1e-10, hi_s = 1;       ///< ends of the shaft
  std::vector<widgets::Curve> curves;  ///< time against bytes, level by level: while it holds them, and beyond
  std::vector<LevelSources> sources;   ///< in the order of Outputs::levels
  std::size_t selected = 0;            ///< index in levels; levels.size() when the chip lacks the chosen level
  double cluster_tdp_w = 0;            ///< 0 where the chip states none
};

struct View {
  widgets::PlotView plot;
};

/// What the level is called among the choices, "Main memory".
std::string_view level_name(models::LevelKind kind);
/// Position of the level among the rows, or their number when the chip does not have it or it cannot be timed.
std::size_t find_row(const std::vector<LevelRow>& rows, models::LevelKind kind);

Outputs compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& outputs);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& outputs, const Picture& picture, View& view);

}  // namespace chapters::roofline::hierarchy
