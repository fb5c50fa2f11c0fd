#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/memo.h"
#include "chapters/mechanism/published_panel.h"
#include "models/rare/rare_clock.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// Workers that send less or send seldom: nine trainings of one network, raced over bytes and over the clock.
namespace chapters::distributed::rare_gradients {

using models::rare::RareLayers, models::rare::RareMethod, models::rare::rare_method_count;

enum class RareLink : std::uint8_t { network, line };
inline constexpr std::size_t rare_link_count = 2;

/// Defaults: a billion parameters on four workers behind 25 GbE, DiLoCo with a sync every twelve steps.
struct Inputs {
  RareMethod method = RareMethod::diloco;
  double target = 1.2;
  RareLink link = RareLink::network;
  std::string network = "ethernet_25", chip = "h100_sxm";
  double line_bytes_per_s = 125e6, message_s = 1e-5;
  std::int64_t workers = 4;
  double kept = 2;  ///< percent
  std::int64_t rank = 2, period = 12, stale_by = 2;
  double outer_rate = 0.7, outer_momentum = 0.9;
  bool error_feedback = true;
  double parameters = 1e9, step_s = 0.5, spread = 10, code_slowdown = 1;
  RareLayers layers = RareLayers::trained;
  double rate = 0.03, skew = 0;
  std::int64_t seed = 1;
  bool operator==(const Inputs&) const = default;
};

/// A method of the race, or none.
enum class Runner : std::uint8_t { all_reduce, bits8, bits4, sign, top_k, power_sgd, local_sgd, diloco, stale, none };
inline constexpr std::size_t runner_count = 10;
static_assert(runner_count == rare_method_count + 1);

struct RunnerRow {
  std::string method;
  std::int64_t place = 0;
  double time_s = std::nan(""), bytes = std::nan(""), steps = std::nan("");
  double loss = 0, sync_bytes = 0, sync_s = 0, code_s = 0;
  double step_compute_s = 0, step_code_s = 0, step_wait_s = 0;  ///< one step on average over the run
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Runner first = Runner::none, least = Runner::none, second = Runner::none;
  bool least_is_first = false;
  double first_s = none, first_bytes = none, least_bytes = none, least_s = none, least_place = none;
  double all_reduce_s = none, all_reduce_bytes = none;
  double time_s = none, bytes = none, steps = none, place = none;
  double faster = none, fewer_bytes = none;  ///< than the all-reduce
  double end_loss = 0, end_bytes = 0, end_s = 0;
  double sync_bytes = 0, sync_s = 0, code_s = 0, ratio = 1, silence_s = 0, talk_share = 0, wait_share = 0;
  std::int64_t syncs = 0, reached = 0;
  double kept_share = 100, apart_share = 0;
  std::vector<RunnerRow> runners;
  std::string reason;
};

/// One training with its clock.
struct RunnerRun {
  std::shared_ptr<const models::rare::RareRun> run;
  models::rare::RareClock clock;
  models::rare::RareGoal goal;
};
struct Run {
  std::array<RunnerRun, rare_method_count> runners;
  std::array<std::size_t, rare_method_count> order{};  ///< methods by place
};

/// One method's line under the plots.
struct Lane {
  std::size_t method = 0;
  std::string name{}, bytes_words{}, time_words{};
  double bytes = 0, time_s = 0;
  bool reached = false, yours = false;
  std::vector<float> talks{};  ///< from, until, from, until, ... in seconds, up to `time_s`
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::vector<widgets::Curve> by_bytes, by_time;  ///< by method; yours is the last to be drawn
  std::vector<std::size_t> draw_order;
  std::vector<Lane> lanes;
  double bytes_lo = 1, bytes_hi = 10, time_hi = 1, loss_lo = 0.4, loss_hi = 2.5;
  std::string handle_words, silence_words;
  double period_s = 0;  ///< one step of yours, on average: what a sync is dragged along
  double first_talk_s = 0;
  PublishedMarks published;
  LabDoors doors;
};

struct View {
  Requests requests;
  widgets::PlotView bytes, time;
  widgets::StackedBarView steps;
  DescribedTable<RunnerRow> runners;
  double grabbed = 0;  ///< value of the input that is dragged, when it was taken
  float grabbed_px = 0;
  bool holding = false;
};

/// A training takes milliseconds and depends on little of what is set: each is kept for all copies of the lab, and so
/// are the digits of a seed.
struct Trainings {
  Memo<std::uint64_t, models::rare::RareDigits, 8> digits;
  Memo<models::rare::RareSetup, models::rare::RareRun, 64> runs;
};

/// Hues of what a method saves on; none is near the green of what is sent.
inline constexpr widgets::Tint less_tint = widgets::Tint::series(0), seldom_tint = widgets::Tint::series(1),
                               late_tint = widgets::Tint::series(3);
std::string_view runner_name(std::size_t method);
models::rare::RareSetup setup_of(const Inputs& in, RareMethod method);
/// Bytes per second of a worker's port, in one direction.
models::Result<double> link_rate(const Inputs& in);
Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Trainings& trainings);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
LabDoors doors_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_race(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, RunnerRow& row);

}  // namespace chapters::distributed::rare_gradients
