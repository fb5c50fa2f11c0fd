#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "chapters/capstone/perception/game.h"
#include "chapters/capstone/shared/board.h"
#include "chapters/capstone/shared/game_fields.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/memo.h"

/// The car's frame from 42 to 33 ms, move by move, counted at 99 frames of 100.
namespace chapters::capstone::perception {

struct Inputs {
  std::string rounds = "engine_backbone, skip, engine_prediction, pools";
  std::vector<double> said{0.038, 0.0415, 0.0365, 0.0335};  ///< before each round: where 99 in 100 would end
  double rate_hz = 30, speed_m_per_s = 30;
  bool hot = false;  ///< the chip throttles now and then
  bool start_pipelining = true, start_parallel = true, start_shared = true;
  double spread = 2, int8_speedup = 1.5, fusion_saving = 35, fusion_redone = 3, dla_slowdown = 3.2;  ///< shares in %
  double pinned_contention_s = 0.4e-3;
  std::int64_t cpu = 4, gpu = 1, dla = 2, isp = 1;
  std::int64_t frames = 20000, seed = 7;
  std::vector<models::StackTask> tasks = car_tasks();
  std::vector<models::JitterSource> sources = car_sources();
  bool operator==(const Inputs&) const = default;
};

/// One round, or a step of the study's way.
struct RoundRow {
  std::string move;
  double latency_s = 0, p50_s = 0, p99_s = 0, won_s = 0, late = 0;  ///< late in %
  double said_s = 0;                                                ///< NaN: nothing was said
  std::string bounced;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  double p99_s = 0, p50_s = 0, mean_s = 0, p999_s = 0, worst_s = 0, latency_s = 0, beat_s = 0;
  double late = 0, unseen = 0;  ///< %
  double tail_ratio = 1, deadline_s = 0, slack_s = 0, late_by_s = 0;
  bool arrives = false;
  Score score;
  double mean_won_s = 0, start_p99_s = 0, start_latency_s = 0;
  double travelled_m = 0, start_travelled_m = 0;
  std::array<double, models::stack_resource_count> asked{};  ///< %
  double study_latency_s = 0, study_p99_s = 0, study_late = 0;
  double dla_head_s = 0, int8_networks_s = 0, fusion_saved_s = 0, anew_per_minute = 0, pinned_adds_s = 0;
  std::vector<RoundRow> board, study;
};

/// What the rounds gave, with their frames.
struct Run {
  Played played;
  std::shared_ptr<const CarGame> game;
  Stack now;
  Frame frame;
  Tail tail, before;               ///< this round, and the one before it
  std::vector<std::string> links;  ///< what each round opens
};

/// A task in its lane.
struct LaneSpan {
  std::size_t lane = 0;
  double from_s = 0, to_s = 0, slack_s = 0;
  std::string name, short_name;
  Stage stage = Stage::code;
  bool critical = false;
};
struct Lanes {
  std::vector<std::string> names;
  std::vector<LaneSpan> spans;
  std::vector<std::size_t> thread;  ///< spans of the critical path, by time
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::shared_ptr<const Run> run;
  Board board;
  Lanes lanes;
  double axis_s = 1;  ///< right end of the axis
  std::vector<double> ticks_s;
  std::vector<std::string> tick_words;
  double deadline_s = 0, p99_s = 0, p50_s = 0;
  std::string deadline_words, p99_words, tail_words, road_now, road_start, road_due;
  std::vector<float> bins, bins_before;  ///< over the largest
  double bin_s = 1;
  double now_m = 0, start_m = 0, due_m = 0, axis_m = 1;
  LabDoors doors;
  std::vector<std::string> links;
};

struct View {
  Requests requests;
  BoardView board;
  DescribedTable<RoundRow> rounds, study;
};

struct SearchKey {
  Settings settings;
  Stack start;
  int cards = 0;  ///< games of at most so many are looked at
  bool operator==(const SearchKey&) const = default;
};
using Searches = Memo<SearchKey, Par>;

void describe(Fields& f, RoundRow& r);
Settings settings_of(const Inputs& in);
Stack start_of(const Inputs& in);
std::string frame_link(const Inputs& in, const Stack& stack);
models::Result<std::string> jitter_link(const Inputs& in, const Stack& stack);
Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Searches& searches);
std::string answer_of(const Outputs& out, const Run& run);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// Lanes, frames and road of the round that is on.
void draw_round(const Picture& picture, ImVec2 size);

}  // namespace chapters::capstone::perception
