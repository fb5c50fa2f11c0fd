#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/hierarchy/human_duration.h"
#include "chapters/roofline/hierarchy/lab.h"

namespace chapters::roofline::hierarchy {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

models::Access access_of(const Inputs& in) { return {in.pattern, in.in_flight_bytes, in.access_bytes}; }

LevelRow row_of(const models::Level& level, const Inputs& in, double scale) {
  LevelRow row;
  row.facts = level;
  row.move = models::move_bytes(level, in.bytes, access_of(in));
  row.level = models::level_id(level.kind);
  row.capacity_bytes = level.capacity_bytes.value.value_or(unknown);
  row.bandwidth_bytes_per_s = level.bandwidth_bytes_per_s.value.value_or(unknown);
  row.measured_bandwidth_bytes_per_s = level.measured_bandwidth_bytes_per_s.value.value_or(unknown);
  row.latency_s = level.latency_s.value.value_or(unknown);
  row.energy_j_per_byte = level.energy_j_per_byte.value.value_or(unknown);
  row.time_s = row.move.time_s.value_or(unknown);
  row.energy_j = row.move.energy_j.value_or(unknown);
  row.human_latency = level.latency_s.value ? human_duration(row.latency_s * scale) : "—";
  row.human_time = row.move.time_s ? human_duration(row.time_s * scale) : "—";
  return row;
}

/// Why the level cannot be chosen for `input`, and which ones can.
std::string cannot_time(const models::Chip& chip, const Outputs& out, models::LevelKind kind, std::string_view input) {
  std::string s = (chip.short_name.empty() ? chip.name : chip.short_name) + " states too little about its " +
                  std::string(level_name(kind)) + " to time it: set " + std::string(input) + " to ";
  std::vector<std::string_view> ids;
  for (const LevelRow& row : out.levels)
    if (row.time_s > 0) ids.push_back(row.level);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) s += i + 1 == ids.size() ? " or " : ", ";
    s += ids[i];
  }
  return s + ".";
}

/// The level that the chosen one is compared with, as a place among the rows; their number when it cannot be timed.
std::size_t find_compared(const Inputs& in, const Outputs& out, std::size_t chosen) {
  if (in.against != Against::nearer)
    return find_row(out.levels, static_cast<models::LevelKind>(static_cast<int>(in.against) - 1));
  std::size_t nearer = chosen;
  for (std::size_t i = 0; i < chosen; ++i)
    if (out.levels[i].time_s > 0) nearer = i;
  return nearer;
}

void compare(const LevelRow& base, Outputs& out) {
  out.compared_with = base.facts.label;
  out.bandwidth_ratio = base.bandwidth_bytes_per_s / out.chosen.bandwidth_bytes_per_s;
  out.latency_ratio = out.chosen.latency_s / base.latency_s;
  out.energy_ratio = out.chosen.energy_j_per_byte / base.energy_j_per_byte;
}

void choose(const Inputs& in, const LevelRow& row, double scale, Outputs& out) {
  out.chosen = row;
  if (in.pattern == models::AccessPattern::chase) out.accesses = std::ceil(std::max(1.0, in.bytes / in.access_bytes));
  out.streamed_s = models::move_bytes(row.facts, in.bytes).time_s.value_or(unknown);
  out.streamed_ratio = row.time_s / out.streamed_s;
  using models::AccessPattern;
  const auto time_of = [&](AccessPattern pattern) {
    return models::move_bytes(row.facts, in.bytes, {pattern, in.in_flight_bytes, in.access_bytes})
        .time_s.value_or(unknown);
  };
  out.limited_s = time_of(AccessPattern::limited);
  out.chased_s = time_of(AccessPattern::chase);
  out.human_streamed = human_duration(out.streamed_s * scale);
  out.human_limited = human_duration(out.limited_s * scale);
  out.human_chased = human_duration(out.chased_s * scale);
  out.achieved_bandwidth_bytes_per_s = in.bytes / row.time_s;
  out.needed_in_flight_bytes = models::bytes_in_flight(row.facts).value_or(0);
  out.limit = row.move.latency_bound ? "latency" : "bandwidth";
  out.fits = !(row.capacity_bytes > 0) ? "no capacity stated" : row.move.fits ? "yes" : "no";
}

void add_power(const Inputs& in, const models::Chip& chip, const std::vector<models::Level>& levels, Outputs& out) {
  models::TrafficPower traffic;
  traffic.bandwidth_bytes_per_s = chip.memory_bandwidth_bytes_per_s * in.streaming_percent / 100;
  traffic.memory_j_per_byte = in.memory_j_per_bit * 8;
  if (const models::Level* shared = models::find_level(levels, models::LevelKind::shared))
    traffic.on_chip_j_per_byte = shared->energy_j_per_byte.value.value_or(traffic.on_chip_j_per_byte);
  traffic.chips = static_cast<double>(in.chips);
  traffic.share_kept_on_chip = in.fused_percent / 100;
  out.power = models::traffic_power(traffic);
  out.memory_tdp_percent = chip.tdp_w ? 100 * out.power.per_chip_w / *chip.tdp_w : unknown;
}

}  // namespace

std::size_t find_row(const std::vector<LevelRow>& rows, models::LevelKind kind) {
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](const LevelRow& r) { return r.facts.kind == kind && r.time_s > 0; });
  return static_cast<std::size_t>(at - rows.begin());
}

Outputs compute(const Inputs& in) {
  const auto chip = find_chip(in.chip);
  if (!chip) return {.reason = chip.error};
  Outputs out;
  models::HierarchyOptions options;
  options.memory_j_per_bit = in.memory_j_per_bit;
  if (const models::Network* network = catalog().network(in.network)) {
    options.network_label = network->name;
    options.network_bytes_per_s_per_direction = network->bytes_per_s_per_direction;
  }
  const std::vector<models::Level> levels = models::memory_levels(**chip, options);
  const double scale = models::human_scale(**chip);
  for (const models::Level& level : levels) out.levels.push_back(row_of(level, in, scale));
  add_power(in, **chip, levels, out);
  out.mean_bandwidth_step = models::mean_bandwidth_step(levels);

  const std::size_t chosen = find_row(out.levels, in.level);
  if (chosen == out.levels.size()) {
    out.reason = cannot_time(**chip, out, in.level, "level");
    return out;
  }
  choose(in, out.levels[chosen], scale, out);
  const std::size_t compared = find_compared(in, out, chosen);
  if (compared == out.levels.size()) {
    const auto kind = static_cast<models::LevelKind>(static_cast<int>(in.against) - 1);
    out.reason = cannot_time(**chip, out, kind, "against");
    return out;
  }
  compare(out.levels[compared], out);
  return out;
}

}  // namespace chapters::roofline::hierarchy
