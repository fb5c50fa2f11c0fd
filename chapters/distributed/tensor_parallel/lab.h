#pragma once
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "chapters/distributed/tensor_parallel/cut_layout.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_panel.h"
#include "models/parallel/tensor/tensor_layer.h"
#include "models/parallel/tensor/tensor_overlap.h"
#include "models/parallel/tensor/tensor_run.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/plot.h"
#include "widgets/table/table.h"
#include "widgets/timeline/timeline.h"

/// One layer on several ranks: how its matrices are cut, what every rank computes, and what has to be sent.
namespace chapters::distributed::tensor_parallel {

struct Inputs {
  std::string model = "llama-3-70b", chip = "h100_sxm", network = "infiniband_ndr";
  models::parallel::TensorCut cut = models::parallel::TensorCut::column_row;
  models::parallel::TensorBlock block = models::parallel::TensorBlock::feed_forward;
  std::int64_t ranks = 8, ranks_per_node = 8;
  bool sequence_parallel = false;
  models::parallel::TensorOverlap overlap = models::parallel::TensorOverlap::none;
  models::Phase phase = models::Phase::train;
  std::int64_t batch = 1, sequence = 8192, context = 8192;
  bool fused_attention = true, dropout = false;
  double flops_reached = 70, memory_reached = 85, link_reached = 80, network_reached = 94, call_s = 6.6e-6,
         inside_hop_s = 0.6e-6, between_hop_s = 2.7e-6;
  std::int64_t seed = 1;
  bool operator==(const Inputs&) const = default;
};

struct CutRow {
  std::string cut, between, behind;
  double forward_bytes = 0, backward_bytes = 0, forward_s = 0;  ///< sent by a rank in the shown block, and its time
};
struct RankOperationRow {
  std::string operation, part, whole, shape;
  double forward_s = 0, backward_s = 0;
};
struct CollectiveRow {
  std::string block, collective, pass, where;
  double sent_bytes = 0, time_s = 0, exposed_s = 0;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  models::parallel::TensorPass forward, backward;  ///< passes through a layer of the kind that most layers are
  double kv_copies = 1;
  double forward_s = 0, backward_s = 0;          ///< time of a layer
  double forward_own_s = 0, backward_own_s = 0;  ///< time of a layer without its collectives
  double layer_s = 0, exposed_share = 0, speedup = 1, efficiency = 100;
  double buffer_bytes = 0, one_collective_s = 0;   ///< the collective behind a block
  double block_bytes = 0, columns_rows_bytes = 0;  ///< sent forward by a rank in the shown block, by your cut and that
  double across_share = none;                      ///< exposed, if each rank sat in a node of its own; %
  std::int64_t model_collectives = 0;
  double model_s = 0, model_exposed_s = 0;                        ///< all layers
  double activation_bytes = none, activation_whole_bytes = none;  ///< what a layer keeps on a rank; on a single one
  double weight_bytes = 0, kv_bytes_per_token = 0;                ///< what a rank holds of all layers
  double sum_error = 0, gradient_error = 0, without_between = none;
  double ring_s = none, ring_closed_form_s = none, ring_whole_s = none;  ///< gather and first products of the block
  std::int64_t largest = 1;  ///< ranks of which at most a fifth of the layer's time is exposed
  std::vector<CutRow> cuts;
  std::vector<RankOperationRow> operations;
  std::vector<CollectiveRow> collectives;
};

/// What a layer takes and keeps on so many ranks. NaN: nothing is kept.
struct RankPoint {
  std::int64_t ranks = 1;
  double products_s = 0, other_s = 0, exposed_s = 0;
  double activation_bytes = Outputs::none, activation_split_bytes = Outputs::none;  ///< split: by tokens too
};
struct Run {
  models::parallel::TensorLayer layer;
  models::parallel::TensorRun small;   ///< the small block, really computed
  models::parallel::RingRun ring;      ///< gather and first products of the block; no spans where nothing can be cut
  models::parallel::BlockSizes sizes;  ///< sizes of the shown block
  bool split_tokens = false, gated = false;
  bool joined = false;  ///< attention and feed-forward read the same input, and are summed together
  std::vector<RankPoint> by_ranks;
};
using Computed = chapters::Computed<Outputs, Run>;

struct CutBar {
  std::string name, words;
  double forward_bytes = 0, backward_bytes = 0;
};
struct RingLane {
  std::string label;
  std::vector<widgets::TimelineSpan> spans;
};

struct RingName {
  std::string text;
  std::int64_t duration_ns = 0;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  CutScene scene;
  std::string check;  ///< what the computed numbers say
  std::array<CutBar, models::parallel::tensor_cut_count> bars;
  double most_bytes = 0;
  // Against ranks:
  std::vector<double> rank_places, layers;  ///< 0, 1, ...; values of a stack, layer by layer
  std::vector<std::string> rank_names;
  std::vector<double> activation, activation_split;
  std::int64_t yours = -1;
  double node_place = std::numeric_limits<double>::quiet_NaN();
  std::array<RingLane, 4> ring;  ///< in one piece: products, link; cut along the ring: products, link
  std::vector<RingName> ring_names;
  double ring_end_s = 0;
  std::string ring_words;
  PublishedMarks published;
};

struct View {
  CutPlaces places;
  widgets::PlotView against, activation;
  widgets::TimelineView ring;
  DescribedTable<RankOperationRow> operations;
  DescribedTable<CollectiveRow> collectives;
  std::vector<std::string_view> rank_names;
  std::vector<widgets::TimelineLane> lanes;
};

std::string_view collective_words(models::parallel::Primitive primitive);  ///< "all-reduce"

Computed compute(const Inputs& in, const Progress& progress);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_cut(Inputs& in, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, RankOperationRow& row);
void describe(Fields& f, CollectiveRow& row);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::distributed::tensor_parallel
