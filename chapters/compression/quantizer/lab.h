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
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer, row_title, row_tag;
  models::Matrix error;  ///< |w - q|
  std::size_t row = 0;   ///< the one that is shown
  // The shown row by column; strokes are parted by NaN.
  widgets::Curve weight, rounded;  ///< its weights, and the values that they become
  widgets::Curve moves;            ///< a stroke from each weight to the value that it becomes
  widgets::Curve levels;           ///< a stroke over the columns for each level
  /// The quantizer as a function beside no rounding, and its true slope beside the one that training sees.
  std::array<widgets::Curve, 2> steps, slopes;
  std::array<widgets::Curve, quant_grain_count> formats;  ///< SQNR over bits, of the formats at each grain
};

struct View {
  widgets::HeatMapView errors;
  widgets::PlotLink link;
  widgets::PlotView row, steps, gradient, formats;
  DescribedTable<TensorRow> tensors;
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

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
