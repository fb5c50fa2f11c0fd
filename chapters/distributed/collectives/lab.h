#pragma once
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chapters/distributed/collectives/measured.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/parallel/collectives/collective_formulas.h"
#include "models/parallel/collectives/collective_run.h"
#include "widgets/pictures/chunk_board.h"
#include "widgets/pictures/rank_circle.h"
#include "widgets/plot/plot.h"

/// The collectives chunk by chunk: who sends what to whom in each step, and what it costs against size and ranks.
namespace chapters::distributed::collectives {

using models::parallel::CollectiveAlgorithm;
using models::parallel::Primitive;

struct Inputs {
  Primitive primitive = Primitive::all_reduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring, beside = CollectiveAlgorithm::tree;
  std::int64_t ranks = 8;
  double bytes = 64e6;
  double latency_s = 5e-6, bandwidth_bytes_per_s = 50e9;
  bool adding_counts = false;
  double reduce_bytes_per_s = 500e9;
  std::int64_t node_ranks = 4;
  double inside_latency_s = 1e-6, inside_bandwidth_bytes_per_s = 450e9;
  bool nccl_start = false;
  std::int64_t pieces = 1;
  MeasuredInputs measured;
  bool operator==(const Inputs&) const = default;
};

/// One algorithm at the inputs' size and ranks.
struct AlgorithmRow {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  std::int64_t steps = 0;
  double sent_bytes = 0, time_s = 0, busbw_bytes_per_s = 0;
};
struct TransferRow {
  std::int64_t step = 0, src = 0, dst = 0, chunk = 0;
  std::string action;
};

constexpr double not_there = std::numeric_limits<double>::quiet_NaN();

struct Outputs {
  std::string reason;
  models::parallel::AlphaBetaTime time;
  double time_s = 0;
  std::int64_t steps = 0, schedule_steps = 0;
  double bytes_sent_per_rank = 0, algbw_bytes_per_s = 0, busbw_bytes_per_s = 0;
  double link_percent = 0, latency_percent = 0;
  double step_by_step_s = not_there;
  std::string checked;       ///< "64 of 64"
  double wrong = not_there;  ///< results that are not the right numbers
  CollectiveAlgorithm fastest = CollectiveAlgorithm::ring;
  double fastest_s = 0;
  double beside_s = not_there, beside_steps = not_there, beside_sent_bytes = not_there, times_faster = not_there;
  /// Bytes that one follows the other with, over those of the other algorithm, and the other's over these.
  double serial_times = not_there, beside_serial_times = not_there;
  bool crosses_nodes = false;  ///< a hierarchical algorithm, of which only the bytes between nodes are counted there
  double crossing_bytes = not_there;
  double inside_s = not_there, between_s = not_there, pipelined_s = not_there, flat_ring_s = not_there,
         flat_rails_s = not_there, one_port_s = not_there;
  std::vector<AlgorithmRow> algorithms;
  std::vector<TransferRow> transfers;
  MeasuredOutputs measured;
};

/// A schedule that was executed on numbers, with all its states where they are drawn.
struct ExecutedSchedule {
  models::parallel::CollectiveSchedule schedule;
  models::parallel::CollectiveRun run;
  std::vector<double> state_s;  ///< when each state is reached, one step after the other; empty where none is drawn
};
struct Run {
  std::optional<ExecutedSchedule> own, beside;  ///< none beyond the ranks that are written out
  MeasuredRun measured;
};

struct CrossingMark {
  double bytes = 0, time_s = 0;
  std::string size, said;
  bool beside = false;  ///< it is a crossing of the two chosen algorithms
};

/// A schedule as the board shows it; without ranks where it is not written out.
struct BoardPicture {
  std::string title, subtitle;
  std::vector<std::uint64_t> origins, asked;
  std::vector<widgets::ChunkMessage> messages;
  std::vector<std::string> rank_names, chunk_names, node_names;
  std::span<const double> numbers;  ///< those of the executed schedule, which the Picture's Run keeps
  std::int64_t number_width = 1, ranks = 0, chunks = 0, steps = 0, places = 1, group = 0;
  bool hub = false, sums = true, travels = false;
  std::vector<std::string> step_says;  ///< what step i + 1 does
  std::vector<double> state_s;         ///< when each state is reached, one step after the other
  std::string before, after;           ///< under the film, left and right
  std::string turn_says;               ///< at the step where adding ends
  std::string places_say, verdict;
  std::int64_t turn = -1;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  BoardPicture own, beside;
  std::string no_chunks;  ///< why there is no board, and what was done instead
  // The curves.
  std::vector<double> bytes, ranks;
  std::vector<widgets::Curve> cost, bus, by_ranks;  ///< one an algorithm: time and bus bandwidth; time against ranks
  std::vector<CrossingMark> crossings;
  double least_s = 1e-6, most_s = 1;
  MeasuredPicture measured;
  std::shared_ptr<const Run> run;
};

struct View {
  widgets::ChunkBoardView board, beside_board, pair_board;
  widgets::PlotView cost, bus, by_ranks;
  widgets::RankCircleView circle;
  double clock_s = -1;  ///< where both boards stand on one clock; below 0: where the drawn one starts
  bool clock_playing = false;
  DescribedTable<AlgorithmRow> algorithms;
  MeasuredView measured;
};

/// A ring with one root: a chain.
bool is_chain(const Inputs& in, CollectiveAlgorithm algorithm);
/// "Ring", "Double binary tree"; a ring with one root is "Chain".
std::string_view algorithm_name(const Inputs& in, CollectiveAlgorithm algorithm);
/// In a sentence: "the ring", "halving and doubling"; a ring with one root is "the chain".
std::string_view algorithm_said(const Inputs& in, CollectiveAlgorithm algorithm);
/// Up to so many ranks every state of a schedule is kept for the picture.
inline constexpr std::int64_t max_film_ranks = 32;
/// The schedule of one of the two algorithms, executed; nothing where there is none or it is not written out. `drawn`:
/// with all its states, up to `max_film_ranks`.
std::optional<ExecutedSchedule> execute_schedule(const Inputs& in, CollectiveAlgorithm algorithm, bool drawn);
/// Its chunks; without ranks where its states are not kept.
BoardPicture arrange_board(const Inputs& in, const std::optional<ExecutedSchedule>& executed);
/// The board's data, which refers to the picture.
widgets::ChunkBoardData board_of(const BoardPicture& picture);
/// The step of a board at a time since the start, and back; with the share of the step that is in flight.
double step_at(const BoardPicture& board, double time_s);
double time_of_step(const BoardPicture& board, double step);
/// Both algorithms on one clock, one above the other.
void draw_pair(const Picture& picture, View& view, ImVec2 size);
models::parallel::CollectiveSpec spec_of(const Inputs& in, CollectiveAlgorithm algorithm);
models::parallel::AlphaBetaLinks links_of(const Inputs& in);
/// Algorithms that there are for these inputs: those that need neither nodes nor a switch that adds, and the two
/// chosen ones.
std::vector<CollectiveAlgorithm> algorithms_for(const Inputs& in);

std::string answer_of(const Inputs& in, const Outputs& out);

/// `facts_alone`: without the states of schedules, and without the schedule of the other algorithm.
Computed<Outputs, Run> compute(const Inputs& in, bool facts_alone = false);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void describe(Fields& f, AlgorithmRow& row);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::distributed::collectives
