#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/lab_interface.h"
#include "chapters/mechanism/memo.h"
#include "chapters/mechanism/published_panel.h"
#include "models/serving/arrivals/arrival_samples.h"
#include "models/serving/fleet/capacity_judge.h"
#include "models/serving/fleet/capacity_tables.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot.h"

/// How many chips a service needs: for its memory, its work, its limits; and what a million tokens cost on them.
namespace chapters::serving::capacity {

enum class Traffic : std::uint8_t { lengths, conversations, code, client, file };
enum class PlanFor : std::uint8_t { mean, minute };
enum class ReplicaSize : std::uint8_t { best, own };
enum class Reached : std::uint8_t { published, own };

/// Defaults: forty requests a second for Llama 3 70B on H100 in FP8, a token every 40 ms.
struct Inputs {
  double arrival_rate = 40, prompt_tokens = 1000, output_tokens = 1000;
  double ttft_limit_s = 1, tpot_limit_s = 0.04;
  Traffic traffic = Traffic::lengths;
  double length_variation = 0.8;
  std::string client = "deepseek-r1-5";
  FileInput trace;
  double window_s = 0, speed = 1;
  PlanFor plan_for = PlanFor::mean;
  std::int64_t seed = 3;
  std::string model = "llama-3-70b", chip = "h100_sxm";
  models::Format format = models::Format::fp8;
  models::KvFormat kv_format = models::KvFormat::fp8;
  ReplicaSize replica_size = ReplicaSize::best;
  std::int64_t tensor_parallel = 2;
  double price_per_hour = 0;
  std::vector<std::string> against{"a100_40_bf16", "h100_bf16", "b200_fp4"};
  double busy_percent = 80, memory_percent = 95;
  Reached reached = Reached::published;
  double roof_percent = 60;
  std::int64_t chunk_tokens = 1024, slots = 4096;
  bool trial = true;
  bool operator==(const Inputs&) const = default;
};

inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// A kind of chip with its fleet for the same requests.
struct PlanRow {
  std::string name, chip_name, format_name;  ///< name: chip and format together
  models::Format format = models::Format::bf16;
  std::int64_t replica_chips = 1, replicas = 0, chips = 0;
  double memory_wall = no_number, rate_wall = no_number, latency_wall = no_number;  ///< in chips, not rounded
  models::CapacityWall binds{};
  double price_per_hour = no_number, price_low = no_number, price_high = no_number;
  std::string price_date;
  double dollars_per_hour = no_number, dollars_per_million_tokens = no_number, dollars_low = no_number,
         dollars_high = no_number;
  bool yours = false;
  std::string why;  ///< not empty: there is no such fleet, and why
};

/// A size of replica of yours.
struct SizeRow {
  std::int64_t replica_chips = 1;
  double saturated_tokens_per_s = no_number, saturated_per_chip = no_number;
  double sequences_fit = no_number, chips = no_number, dollars_per_million_tokens = no_number;
  bool fits = false, yours = false;
  std::string why;
};

struct Outputs {
  std::string reason;
  models::CapacityWall binds{};
  std::int64_t chips_for_memory = 0, chips_for_rate = 0, chips = 0;
  std::string late;  ///< not empty: no number of chips keeps the limits, and why
  double chips_for_latency = 0, chips_for_ttft = 0, chips_for_tpot = 0;
  PlanRow now;
  double price_per_hour_used = no_number, dollars_per_million_all = no_number;
  std::string price_source, price_band_source;
  std::string cheapest_name, best_name;
  double cheapest_price = no_number, cheapest_dollars = no_number, best_dollars = no_number;
  double planned_rate_per_s = 0, planned_prompt = 0, planned_output = 0, output_tokens_per_s = 0,
         input_tokens_per_s = 0, tokens_per_s_per_chip = 0;
  double users = 0, sequences = 0, sequences_fit = 0, gap_s = 0, ttft_p99_s = 0, tpot_p99_s = 0, busy = 0;
  double saturated_tokens_per_s = 0, saturated_per_chip = 0, kv_bytes_per_user = 0;
  double reached_percent = 0, reached_error_percent = no_number;
  std::string reached_from;
  models::TrialVerdict engine;
  double engine_ttft_p99_s = no_number, engine_tpot_p99_s = no_number, engine_kept_percent = no_number;
  double ttft_off_percent = no_number, tpot_off_percent = no_number;
  models::ArrivalFigures arrivals;
  double busiest_minute_per_s = no_number;
  std::int64_t rows_left_out = 0;
  std::string losses;
  std::vector<PlanRow> plans;
  std::vector<SizeRow> sizes;
};

struct Run {
  std::vector<models::RequestArrival> arrivals;
  std::int64_t window_us = 0;
  /// Chips for each wall by requests a second, for yours.
  std::vector<double> rates, memory, work, latency;
};

/// What one chip of a kind takes for a model: kept with the lab, for it takes the longest.
struct CostKey {
  std::string model, chip;
  double parameters = 0, layers = 0, peak = 0, bandwidth = 0;
  models::Format format{};
  models::KvFormat kv{};
  bool operator==(const CostKey&) const = default;
};
struct DayKey {
  std::size_t client = 0;
  std::int64_t seed = 0;
  bool operator==(const DayKey&) const = default;
};
struct Kept {
  Memo<CostKey, models::ServingCost, 24> costs;
  Memo<DayKey, std::vector<models::RequestArrival>, 2> days;
};

/// A wall of the hero.
struct WallBar {
  double chips = 0;
  bool endless = false;  ///< no number of chips is enough
  std::string words;
};
struct PlanPicture {
  std::string name, format, under, fleet, price, tokens, hour_info, million_info;
  WallBar walls[3];
  double chips = 0, price_per_hour = 0, dollars = 0, low = 0, high = 0, dollars_low = 0, dollars_high = 0;
  widgets::Tint tint;
  bool yours = false;
  std::string why;
  std::size_t binds = 0;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<PlanPicture> plans;
  double most_chips = 1;
  double price_lo = 1, price_hi = 1, dollars_lo = 1, dollars_hi = 1;
  bool priced = false, lengths = false;
  bool first_token_tight = false;
  std::string memory_name, latency_name, work_name, hint, price_words;
  std::vector<widgets::Curve> fleet;  ///< chips for each wall by load
  double fleet_lo = 1, fleet_hi = 10;
  std::vector<widgets::Curve> cliff;  ///< tokens a second and chip by size of replica
  std::vector<widgets::Curve> skyline;
  double skyline_s = 1, skyline_most = 1;
  std::string skyline_words;
  LabDoors doors;  ///< those of fleet_doors, in their order; empty: no fleet
  PublishedMarks published;
};

struct View {
  Requests requests;
  widgets::PlotView fleet, cliff, skyline;
  DescribedTable<PlanRow> plans;
  std::vector<widgets::PlacedLegend> legend;
};

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Kept& kept);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
/// Labs that show a side of the fleet.
std::span<const DoorTo> fleet_doors();
/// To these labs with the fleet, one of its replicas or its requests in them.
LabDoors doors_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// Walls of each kind of chip, and the two prices beside them.
void draw_hero(Inputs& in, const Picture& picture, View& view, ImVec2 size);
/// The slope between the price of an hour and that of a million tokens, in `size` px from `at`.
void draw_slope(const Picture& picture, ImVec2 at, ImVec2 size);

/// Whom the requests come from, and how long they are.
struct Demand {
  std::vector<models::RequestArrival> arrivals;
  std::int64_t window_us = 0, rows_left_out = 0;
  std::string first_fault;
  models::CapacityDemand asks;  ///< at the rate that is planned for
  double mean_rate_per_s = 0;   ///< requests that are answered, over the window
  bool recorded = false;
};
models::Result<Demand> demand_of(const Inputs& in, Kept& kept);

/// A kind of chip that can stand beside yours.
struct Rival {
  std::string_view id, chip;
  models::Format format;
  models::KvFormat kv;
};
std::vector<Rival> rivals_of(const Inputs& in);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, PlanRow& row);
void describe(Fields& f, SizeRow& row);

}  // namespace chapters::serving::capacity
