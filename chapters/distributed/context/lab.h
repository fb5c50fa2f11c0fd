#pragma once
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/distributed/context/ring_layout.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/memory/training_memory.h"
#include "models/parallel/context/context_ring.h"
#include "models/parallel/context/context_run.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/controls/playback.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot.h"
#include "widgets/table/table.h"

/// Attention over a sequence that several ranks share: whose keys are where, who computes which part of the triangle,
/// and who waits.
namespace chapters::distributed::context {

/// What lies between the ranks that share a sequence.
enum class RingLink : std::uint8_t { network, chip };
inline constexpr std::size_t ring_link_count = 2;
enum class AttentionPass : std::uint8_t { forward, backward };
inline constexpr std::size_t attention_pass_count = 2;

struct Inputs {
  std::string model = "llama-3.1-70b", chip = "h100_sxm", network = "infiniband_ndr";
  models::parallel::ContextOrder order = models::parallel::ContextOrder::zig_zag;
  models::parallel::ContextMethod method = models::parallel::ContextMethod::ring;
  std::int64_t ranks = 4, sequence = 131072, batch = 1, tensor = 8;
  bool causal = true;
  AttentionPass pass = AttentionPass::forward;
  RingLink link = RingLink::network;
  double flops_reached = 60, link_reached = 80, network_reached = 94, message_s = 1e-5;
  std::int64_t data = 8, pipeline = 1, zero_stage = 3;
  models::Recompute recompute = models::Recompute::full;
  models::memory::LossKind loss = models::memory::LossKind::chunked;
  std::int64_t seed = 1;
  bool operator==(const Inputs&) const = default;
};

struct TileRow {
  std::int64_t step = 0, rank = 0, keys_of = 0;
  double pairs = 0, compute_s = 0, waits_s = 0;
};
struct MethodRow {
  std::string method, why_not;
  models::parallel::ContextCost cost;
};
struct SoftmaxRow {
  std::int64_t step = 0;
  std::string keys_of;
  double largest = 0, sum = 0, result = 0;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  double attention_s = 0, speedup = 1, slowdown_closed_form = 1, busy_percent = 0;
  double beside_s = 0;  ///< a ring in contiguous order, or where that is chosen, in zig-zag
  double ring_s = 0;    ///< a ring in the chosen order
  double exposed_s = 0, sent_bytes = 0;
  double rank_tokens = 0, hiding_tokens = 0, tile_compute_s = 0, transfer_s = 0;
  double largest_pairs = 0, fair_pairs = 0;  ///< pairs of the (rank, step) with most, and of each if all had the same
  double ring_error = 0, all_to_all_error = 0, averaged_error = 0;
  double memory_bytes = none, one_rank_memory_bytes = none, chip_bytes = 0;
  std::int64_t sequence = 0;                   ///< padded to 2n equal pieces
  std::int64_t reach = 0, one_rank_reach = 0;  ///< tokens
  std::vector<MethodRow> methods;
  std::vector<TileRow> tiles;
  std::vector<SoftmaxRow> softmax;
};

/// A ring in one order, and what some of its ranks compute in each step.
struct OrderRing {
  models::parallel::ContextSetup setup;
  models::parallel::ContextRing ring;
  std::vector<std::int64_t> ranks;              ///< all, or some at even distances
  std::vector<std::vector<double>> computes_s;  ///< computing time by [rank][step]
};
/// The longest sequence that so many ranks hold.
struct ReachPoint {
  std::int64_t ranks = 1, tokens = 0;
};
struct Run {
  OrderRing chosen, beside;                      ///< beside: contiguous, or where that is chosen, zig-zag
  Square square;                                 ///< the small sequence, on as many ranks as are drawn
  std::vector<std::vector<double>> small_pairs;  ///< pairs by [step][rank] in the small sequence
  std::vector<std::vector<double>> pairs;        ///< the same of the whole sequence, over the ranks that are drawn
  std::vector<ReachPoint> reach;
};
using Computed = chapters::Computed<Outputs, Run>;

/// One rank's bars on the clock, in seconds.
struct ClockBar {
  double start_s = 0, computed_s = 0, slowest_s = 0, end_s = 0;  ///< slowest: when the last rank has computed
};
struct Clock {
  std::string title, words;
  std::vector<std::string> names;
  std::vector<std::vector<ClockBar>> ranks;
  double end_s = 0;
  bool chosen = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::shared_ptr<const Run> run;
  std::int64_t drawn_ranks = 1;
  std::string ranks_note;
  std::vector<std::string> step_names, key_names, rank_names;
  std::vector<std::vector<double>> work;        ///< pairs by [step][rank] as a share of the step's largest: 0 to 1
  std::vector<std::vector<std::string>> meets;  ///< keys and pairs by [step][rank]: "K3, 8 pairs"
  /// For a ring: contiguous, then an even order, one of them chosen. For another method: the ring in the chosen order,
  /// then that method.
  std::array<Clock, 2> clocks;
  /// What happens in place of the ring's steps, and what a rank has then; empty for a ring.
  std::string method_words, held_words;
  std::vector<double> whole_work;  ///< tiles by [rank] as a share of the most that a rank has: 0 to 1
  double clock_end_s = 0;
  std::string check;
  std::vector<widgets::Curve> hiding;  ///< a step's slowest tile and its transfer against the tokens of a rank
  std::vector<widgets::Curve> reach;   ///< the longest sequence against ranks
  double longest = 0;                  ///< the longest sequence among those of `reach` and yours, tokens
  PublishedMarks published;
};

struct View {
  RingPlaces places;
  widgets::Playback playback{.time_s = 1};
  widgets::PlotView hiding, reach;
  widgets::StackedBarView methods;
  DescribedTable<TileRow> tiles;
  DescribedTable<SoftmaxRow> softmax;
};

/// Everything that is looked up: the model on a chip with its link.
struct Setting : OnCluster {
  models::parallel::ContextSetup setup;
};
models::Result<Setting> read_setting(const Inputs& in);
/// The training plan whose memory is counted, with a sequence of `sequence` tokens over `ranks`.
models::memory::TrainingPlan plan_of(const Inputs& in, std::int64_t ranks, std::int64_t sequence);
/// The longest sequence of 2n pieces that fits into the chip's memory, up to 2^26 tokens; 0: none does.
std::int64_t longest_sequence(const Inputs& in, const Setting& setting, std::int64_t ranks);

Computed compute(const Inputs& in, const Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_triangle(const Inputs& in, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);
void describe(Fields& f, TileRow& row);
void describe(Fields& f, SoftmaxRow& row);

}  // namespace chapters::distributed::context
