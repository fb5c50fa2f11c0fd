#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/compression/shared/quant_choices.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/weights_source.h"
#include "models/compression/quantization_sample.h"
#include "widgets/charts/heat_map.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// A weight matrix, made up or read, in few levels: what it takes and what it loses.
namespace chapters::compression::quantizer {

struct Inputs {
  FileInput file;
  std::string tensor;
  std::int64_t rows = 64, columns = 128, seed = 1;
  double outlier_share = 0.2, outlier_size = 12, row_spread = 0.5;  ///< share in %
  models::QuantFormat format = models::QuantFormat::int4;
  bool symmetric = true;
  models::QuantGrain grain = models::QuantGrain::channel;
  std::int64_t group = 64;
  models::QuantRange range = models::QuantRange::min_max;
  double percentile = 99.9;
  std::int64_t scale_bits = 16;
  std::int64_t row = -1, column = 0;  ///< row -1: the one that loses most
  bool operator==(const Inputs&) const = default;
};

struct FormatRow {
  std::string format, grain;
  double bits = 0, sqnr_db = 0;
};
struct TensorRow {
  std::string name, type, shape;
};

struct Outputs {
  std::string reason;
  models::QuantError error;                      ///< what the weights lose
  double relative_error = 0, product_error = 0;  ///< percent
  double bits_per_weight = 0, overhead_bits = 0, size_bytes = 0, smaller = 1;
  double clipped = 0, gradient_passed = 100;  ///< percent
  std::int64_t scales = 0;
  models::QuantGrid shown_grid;  ///< the chosen row's or group's
  double shown_lowest = 0, shown_highest = 0;
  std::int64_t shown_row = 0;
  std::int64_t shown_levels = 0,
               levels_used = 0;  ///< in the chosen row or group: those there are, and those its weights become
  double shown_error = 0;        ///< the chosen row's, over its own size; percent
  double shown_largest = 0;      ///< the largest absolute weight under the shown scale
  std::int64_t weight_count = 0, largest_row = 0;
  double largest_row_share = 0;  ///< percent of the squared error
  std::int64_t scale_row = 0;    ///< the row of the largest weight: with one scale for all it sets that
  std::int64_t hurt_row = 0;     ///< the row that loses most of its own size, and how much in percent
  double hurt_row_error = 0;
  std::string weights, note;
  std::vector<FormatRow> formats;  ///< every format at every grain, grain by grain
  std::vector<TensorRow> tensors;
};

struct Run {
  models::Matrix original;
  models::QuantizedMatrix quantized;  ///< `original` in the chosen format
  /// By row, in percent: its part of the squared error of all rows, and its error over its own size.
  std::vector<double> shares, own_errors;
};

/// A level and how many weights of the shown row or group land on it.
struct Shelf {
  double at = 0;
  std::int64_t weights = 0;
};
/// A weight that is drawn, and the shelf that it falls to.
struct Fall {
  double weight = 0;
  std::size_t shelf = 0, column = 0;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer, row_tag;
  models::Matrix error;  ///< |w - q|; with one scale for all over the root mean square of its row
  std::string error_title;
  std::size_t row = 0;  ///< the one that is shown
  std::vector<Shelf> shelves;
  std::vector<Fall> falls;
  double largest = 0;      ///< the weight of the shown row that lies farthest out
  double reach = 1;        ///< the largest |weight| or |level| of the shown row or group
  bool stretched = false;  ///< a made-up outlier sets the shelves apart: it can be dragged
  std::string shelf_title, shelf_words, given_words, empty_words, error_words, largest_words;
  /// By row, in percent of what `rows_title` says; the row that pays, and with one scale the row that sets it.
  std::vector<double> rows;
  std::string rows_title, pays_words, sets_words;
  std::int64_t pays = 0, sets = -1;
  /// The quantizer as a function beside no rounding, and its true slope beside the one that training sees.
  std::array<widgets::Curve, 2> steps, slopes;
  std::array<widgets::Curve, quant_grain_count> formats;  ///< SQNR over bits, of the formats at each grain
};

struct View {
  widgets::HeatMapView errors;
  double reach = 1;  ///< the reach of the shelves' axis, which stands still while the outlier is dragged
  double grabbed_weight = 0, grabbed_size = 0;  ///< the outlier and its factor when a drag began
  std::vector<int> heights;                     ///< scratch of the stacks of weights
  widgets::PlotLink link;
  widgets::PlotView steps, gradient, formats;
  DescribedTable<TensorRow> tensors;
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

/// The shown row as weights that fall on shelves.
void draw_shelves(Inputs& inputs, const Picture& picture, View& view, ImVec2 size);
/// What each row pays, a bar a row; a press chooses one.
void draw_rows(Inputs& inputs, const Picture& picture, ImVec2 size);

void describe(Fields& fields, TensorRow& row);

/// The quantizer that these Inputs ask for.
models::QuantSpec quant_spec(const Inputs& inputs);
/// The row that pays: of all rows' squared error, or, where one scale serves all of them, of its own size.
std::int64_t paying_row(const Inputs& inputs, const Outputs& out);
/// The row that is looked at, and the group in it (0 where rows have no groups), of a [rows, cols] matrix whose row
/// `worst` pays.
struct ShownGroup {
  std::size_t row = 0, group = 0;
};
ShownGroup shown_group(const Inputs& inputs, const models::Matrix& weights, std::int64_t worst);

}  // namespace chapters::compression::quantizer
