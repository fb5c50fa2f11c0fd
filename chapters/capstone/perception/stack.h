#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/realtime/jitter.h"
#include "models/realtime/task_graph_stack.h"

/// The car's stack at a moment of the game, what a card changes of it, and what the models of the frame budget and of
/// jitter make of it.
namespace chapters::capstone::perception {

/// Moves, in the order in which they lie on the table and in which they act on the stack.
enum class Move : std::uint8_t {
  engine_backbone,    ///< the encoder as a compiled engine
  engine_heads,       ///< both heads
  engine_prediction,  ///< the forecast
  int8,               ///< compiled networks in 8-bit integers
  camera,             ///< the camera's code takes its tuned time
  planning,           ///< so does the planner's
  fusion,             ///< heads reuse features of the frame before
  alternate,          ///< the forecast runs for every second frame
  dla,                ///< detection moves to a DLA
  pools,              ///< buffers are allocated once: no allocation in the loop and no collector
  pinned,             ///< copies from pinned memory, with bandwidth reserved
  clocks,             ///< locked clocks and a real-time class
  skip,               ///< a frame that comes while the stack is busy is dropped
  pipelining,         ///< a frame starts before the one before has ended
  parallel_heads,
  shared_backbone
};
inline constexpr std::size_t move_count = 16;

/// What is assumed, and what is drawn.
struct Settings {
  double rate_hz = 30;
  double spread = 0.02;         ///< standard deviation of an undisturbed frame over its mean
  std::int64_t frames = 20000;  ///< really simulated for each round
  std::int64_t seed = 7;
  double int8_speedup = 1.5;            ///< a compiled network's
  double fusion_saving = 0.35;          ///< share of a head's time
  double fusion_redone = 0.03;          ///< share of the frames in which nothing of the frame before is of use
  double dla_slowdown = 3.2;            ///< a DLA's time over the GPU's, for the same network
  double pinned_contention_s = 0.4e-3;  ///< mean of what contention adds where memory is pinned
  bool operator==(const Settings&) const = default;
};

struct Stack {
  std::vector<models::StackTask> tasks;  ///< `duration_s` is what a task takes now
  std::vector<models::JitterSource> sources;
  std::array<std::int64_t, models::stack_resource_count> units{4, 1, 2, 1};  ///< by StackResource
  bool shared_backbone = true, parallel_heads = true, pipelining = true;
  bool fusion = false, alternate = false, skip = false, int8 = false, clocks = false;
  std::vector<bool> compiled;  ///< by task; empty: none
  bool operator==(const Stack&) const = default;
};

/// Seven tasks, 42 ms: the driving chapter's example with parallel heads and a tracker of 2 ms.
std::vector<models::StackTask> car_tasks();
/// What disturbs it on an ordinary day: the driving chapter's five sources, without heat.
std::vector<models::JitterSource> car_sources();
/// Turns throttling on or off; where it is on and no source is it, the example's is added.
void set_throttling(std::vector<models::JitterSource>& sources, bool on);

/// Plays a move. Returns why it bounces, one sentence, and then leaves the stack as it was; or nothing.
std::string apply(const Settings& settings, Move move, Stack& stack);

/// A stretch of the critical path of a frame.
struct Piece {
  std::size_t task = 0;  ///< its place in the graph
  double seconds = 0;
};

/// What the models make of a stack.
struct Outcome {
  std::string bounce{};  ///< not empty: it cannot run, and this sentence says why; nothing else holds
  double latency_s = 0;  ///< an undisturbed frame while others are on their way
  double beat_s = 0;     ///< from frame to frame where there is always a next one; the mean where frames differ
  double mean_s = 0, p50_s = 0, p99_s = 0, p999_s = 0, worst_s = 0;
  std::int64_t late = 0;    ///< frames without a fresh plan in time
  std::int64_t unseen = 0;  ///< frames that were never looked at; they are late
  std::vector<Piece> path{};
  std::array<double, models::stack_resource_count> asked{};  ///< work of a frame over the period, by StackResource
};

/// Shares of all frames by the time from the shutter to a plan, in bins of `bin_s`; the last holds what is beyond.
struct Tail {
  double bin_s = 0.5e-3;
  std::vector<float> share;
};
inline constexpr std::size_t tail_bins = 200;

/// A frame as it was scheduled.
struct Frame {
  models::TaskGraph graph;
  models::GraphSchedule schedule;
  std::vector<std::size_t> chain;  ///< segments of the schedule that its end waited for
  std::vector<std::int64_t> float_ns;
};

/// Schedules a frame and simulates every one of them. What a frame that is dropped saw is acted on with the next plan
/// that is made: it counts the periods until then. So P99 is within the period exactly where 99 frames of 100 have a
/// fresh plan in time. `tail` and `frame` are filled where they are asked for.
Outcome simulate(const Settings& settings, const Stack& stack, Tail* tail = nullptr, Frame* frame = nullptr);
/// What `simulate` runs the frames with: what disturbs them, and what a forecast every second frame and features that
/// are made anew add.
models::JitterInputs disturbances_of(const Settings& settings, const Stack& stack);
/// The same without the frames: times of a frame that nothing disturbs.
Outcome schedule_only(const Settings& settings, const Stack& stack, Frame* frame = nullptr);

}  // namespace chapters::capstone::perception
