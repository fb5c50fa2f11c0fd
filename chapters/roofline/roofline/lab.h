#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "models/machine/hardware.h"
#include "models/machine/roofline.h"
#include "models/transformer/roofline_ops.h"
#include "widgets/plot/plot.h"
#include "widgets/stage/stage.h"

/// The roofline of a chip, the operations of a language model under it, and what would move them.
namespace chapters::roofline::roofline {

struct Inputs {
  std::string chip = "h100_sxm";
  models::Format format = models::Format::bf16;
  std::string operation = "custom";
  double flops = 137438953472;  ///< a 4096^3 product
  double bytes = 100663296;     ///< its three matrices, once each, 2 B an element
  std::int64_t kernels = 1;
  std::int64_t m = 4096, n = 4096, k = 4096;
  std::vector<std::string> chips;
  std::vector<std::string> show = {"operations", "walk", "measured"};
  std::string model = "llama-3-70b";
  std::int64_t batch = 1, sequence = 4096, context = 4096;
  bool kv_reads = true;
  std::string weight_bits = "4";
  double launch_s = 4e-6;
  models::LaunchCost launch_cost = models::LaunchCost::hidden;
  FileInput measured;
  bool operator==(const Inputs&) const = default;
};

/// The roof of one chip, and the chosen work under it.
struct RoofRow {
  std::string chip, format;
  models::Machine machine;
  double ridge = 0;             ///< FLOP/B
  models::Placement placement;  ///< where the chosen work stands as one kernel; zeros when there is no such work
};
struct CeilingRow {
  models::Ceiling ceiling;
  std::string basis, source;
  double ridge = 0;          ///< FLOP/B at which the ceiling meets the roof
  bool of_bandwidth = true;  ///< false: the ceiling bounds arithmetic
};
struct OperationRow {
  models::NamedWork named;
  models::Placement placement;
  std::string regime;
};
struct WalkRow {
  double batch = 0;
  models::Placement placement;
  double tokens_per_s = 0;
  std::string regime;
};
struct MeasuredRow {
  std::string name;
  double intensity = 0, flops_per_s = 0, share_of_roof_percent = 0;
};
/// Attention as three kernels beside the same attention as one; NaN where the model has no such pair.
struct AttentionFusion {
  models::Placement unfused, fused;
  double speedup = std::numeric_limits<double>::quiet_NaN(), bytes_ratio = speedup;
};

struct Outputs {
  models::Machine machine;                                ///< what the chosen chip does in the chosen format
  double ridge = 0, square_side = 0, depth_at_ridge = 0;  ///< depth_at_ridge: NaN where m and n are too small
  models::Work work{0, 0, 0};                             ///< what the chosen operation is
  models::Placement placement;
  double share_of_peak_percent = 0;
  bool near_ridge = false;  ///< memory stops the work, and more FLOP per byte would hardly make it faster
  std::string next_format;  ///< the format with the next higher ceiling on the chip; empty: there is none
  double next_peak_flops_per_s = std::numeric_limits<double>::quiet_NaN();
  double measured_peak_flops_per_s =
      std::numeric_limits<double>::quiet_NaN();  ///< the highest of the measured ceilings shown
  models::Placement decode, quantized;           ///< one decode step, and the same step with narrower weights
  double decode_limit = 0, decode_tokens_per_s = 0, quantized_speedup = 0;
  double critical_batch = std::numeric_limits<double>::quiet_NaN();  ///< sequences; NaN: decode never gets there
  std::string decode_verdict;
  AttentionFusion fusion;
  std::vector<RoofRow> roofs;  ///< the chosen chip first, where it has the format
  std::vector<CeilingRow> ceilings;
  std::vector<OperationRow> operations;  ///< while they are shown
  std::vector<WalkRow> walk;             ///< while it is shown
  std::vector<MeasuredRow> measured_points;
  std::string reason;
};

struct Run {
  std::vector<models::NamedWork> works;  ///< all operations of the model
  models::Ceiling memory;                ///< main memory's own ceiling, which is the slope; 0 B/s where none is stated
};
using Computed = chapters::Computed<Outputs, Run>;

/// Points and texts of the picture, made once instead of once a frame.
struct Picture {
  struct Line {
    std::string label, info;
    std::vector<double> xs, ys;
    std::string brief = {};  ///< where the label has no room; empty: it is brief
  };
  /// A kernel under the roof. `operation` is what a click chooses (empty: nothing), at `batch` (0: as it is).
  struct Dot {
    double x = 0, y = 0;
    models::Regime regime = models::Regime::memory;
    std::string label, operation;
    std::int64_t batch = 0;
    double roof = 0;             ///< FLOP/s that its intensity allows
    std::string name, info;      ///< what a measurement is, and where it comes from; `label` stands beside it
    models::Work work{0, 0, 0};  ///< what a published measurement did: a click makes it the learner's own
  };
  struct Arrow {
    bool shown = false;
    double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    std::string label;
  };
  /// What could be gained, as a dimension line between two rates; `until` is how far its upper level is drawn, FLOP/B.
  struct Gain {
    double from = 0, to = 0, until = 0;  ///< FLOP/s
    std::string factor, words;
  };
  std::uint64_t version = 0;
  std::string answer;
  double x_lo = 0.1, x_hi = 1e4, y_lo = 1e10, y_hi = 1e16;
  std::vector<Line> roofs;  ///< those of the other chips
  Line slope, flat, walk;   ///< the chip's own: where memory and where arithmetic rules; the decode walk
  Line ground;              ///< under the slope, eight points a decade, since its bottom is cut level
  Line next_format;         ///< the ceiling of a faster format; empty where it is not what would move the work
  std::vector<Line> ceilings, measured_ceilings;
  Line launch;                           ///< empty unless it lies within the picture
  std::vector<Dot> dots, steps;          ///< bounds of the model: operations, and the decode walk's batches
  std::vector<Dot> measured, published;  ///< from the learner's file, and from the catalog
  Arrow fusion, quantization;
  std::vector<Gain> gains;
  double kv_wall = 0;  ///< FLOP/B that decode never passes; 0 when out of the picture
  std::string wall_label, ridge_tag, x_tag, own_label, callout, callout_words;
};

struct View {
  widgets::PlotView plot, given;
  DescribedTable<OperationRow> operations;
};

void describe(Fields& fields, OperationRow& row);

/// Whether the learner chose to see `what`, an id of the input "show".
bool shows(const Inputs& in, const char* what);

Computed compute(const Inputs& in);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::roofline::roofline
