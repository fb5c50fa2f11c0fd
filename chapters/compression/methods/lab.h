#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/compression/shared/quant_choices.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/weights_source.h"
#include "models/compression/method_study.h"
#include "widgets/base/figure_meaning.h"
#include "widgets/charts/heat_map.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// Rounding to nearest, GPTQ and AWQ on the weights of one layer, and SmoothQuant on both operands, at other bits.
namespace chapters::compression::methods {

enum class Sign : std::uint8_t { minus, none, plus };
enum class Activations : std::uint8_t { int8, int4, fp8 };

struct Inputs {
  FileInput file;
  std::string tensor;
  std::int64_t inputs = 64, outputs = 32, tokens = 160, seed = 1;
  double correlation = 0.5;
  std::int64_t outlier_inputs = 3;
  double outlier_size = 8;
  models::QuantFormat format = models::QuantFormat::int4;
  bool symmetric = true;
  models::QuantGrain grain = models::QuantGrain::group;
  std::int64_t group = 32;
  bool search_range = false;
  double damping = 0.01;
  bool act_order = false;
  Sign sign = Sign::minus;
  Activations activations = Activations::int8;
  bool per_token = false;
  double smoothing = 0.5;
  bool operator==(const Inputs&) const = default;
};

struct MethodRow {
  std::string method, source;
  double weight_bits = 0, activation_bits = 16, error = 0, held_out = 0, against_rounding = 1;
};

/// Squared error of the layer's output, in percent of the output's square.
struct ErrorPercent {
  double calibration = 0, held_out = 0;
};

struct Outputs {
  std::string reason;
  std::array<ErrorPercent, models::method_count> errors{};  ///< in the order of models::Method
  double gptq_ratio = 1, gptq_ratio_held_out = 1, awq_ratio = 1, awq_ratio_held_out = 1, smooth_ratio = 1,
         smooth_ratio_held_out = 1;
  double gptq_taken = 0, awq_taken = 0, smooth_taken = 0;  ///< percent of rounding's error on held-out tokens
  models::MethodFigures figures;
  double mixed_error = 0, mixed_held_out = 0, mixed_int8_share = 100;  ///< %
  std::int64_t mixed_inputs = 0;
  double input_spread = 1, smoothed_spread = 1;
  std::int64_t first_column = 0;
  std::string best, weights, note;
  std::vector<MethodRow> rows;

  const ErrorPercent& error_of(models::Method m) const { return errors[static_cast<std::size_t>(m)]; }
};

struct Run {
  models::MethodStudy study;
};

/// Errors are in percent.
struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer, smooth_story, awq_story;
  std::vector<widgets::FigureMeaning> meanings;  ///< what the answer's figures mean
  /// By models::Method: the squared error of the output in percent of the output's square.
  std::vector<double> place, calibration, held_out;
  std::vector<std::string> change_words;  ///< by method, on held-out tokens: "-22 %"; of rounding its error, "0.680 %"
  std::array<double, 2> most_error{};     ///< for the methods that round weights alone, and for those that round both
  std::array<std::string, 2> group_titles;  ///< their bits, and what they round
  /// What is left of rounding's loss of perplexity in published models, in the same percent.
  widgets::Curve published_left;
  widgets::Curve rtn_error, gptq_error;       ///< over the columns rounded
  std::array<widgets::Curve, 2> awq, smooth;  ///< error over alpha, as a line and by what was tried
  std::vector<double> change;  ///< |weights then - weights at first|, [step, row, column]; step 0: nothing has moved
  double largest_change = 0;
  /// Mean |movement| of each column in each step, [step, column]: the column that is rounded, and those that take its
  /// error up.
  std::vector<double> moved;
};

struct View {
  double time = 24;  ///< columns rounded so far
  widgets::HeatMapView change;
  widgets::PlotView bars, pair_bars, published, history, awq, smooth;
  widgets::TableView table;
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// One step of GPTQ: the columns that are done, the one that is rounded, and those that take its error up.
void draw_push(const Picture& picture, View& view, ImVec2 size);
/// How many columns GPTQ has rounded at the cursor.
std::size_t step_of(const models::MethodHistory& history, const View& view);

}  // namespace chapters::compression::methods
