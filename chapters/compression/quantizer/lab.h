#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/compression/shared/weights_source.h"
#include "chapters/mechanism/lab.h"
#include "models/compression/quantization_sample.h"
#include "widgets/charts/heat_map.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// Between quantizer.cpp (described), quantizer_compute.cpp and quantizer_draw.cpp.
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
  std::int64_t row = 3, column = 0;
  bool operator==(const Inputs&) const = default;
};

struct FormatRow {
  std::string format, grain;
  double bits = 0, sqnr_db = 0;
};
struct TensorRow {
  std::string name, type, shape;
};

/// What only the picture needs.
struct Picture {
  models::Matrix error;                       ///< |w - q|
  std::vector<double> bin_centre, bin_count;  ///< weights of the shown row
  std::vector<double> level_x, level_y;       ///< a stroke for each level, parted by NaN
  std::vector<double> in, out, identity, gradient,
      true_gradient;  ///< the quantizer as a function, and its two derivatives
  double lowest = 0, highest = 0, top = 1;
  std::array<std::vector<double>, 3> bits, sqnr;  ///< formats at each grain
  std::array<std::vector<std::string>, 3> names;
};

struct Outputs {
  std::string reason;
  double sqnr_db = 0, mean_error = 0, rms_error = 0, largest_error = 0, relative_error = 0, product_error = 0;
  double bits_per_weight = 0, overhead_bits = 0, size_bytes = 0, smaller = 1;
  double clipped = 0, gradient_passed = 100;
  std::int64_t scales = 0;
  double shown_step = 0, shown_lowest = 0, shown_highest = 0;
  std::int64_t weight_count = 0, largest_row = 0;
  std::string weights, note;
  std::vector<FormatRow> formats;
  std::vector<TensorRow> tensors;

  std::shared_ptr<const Picture> picture;
  std::string verdict, story, shown;
  std::uint64_t version = 0;
};

struct View {
  widgets::HeatMapView errors;
  widgets::PlotView histogram, steps, gradient, formats;
  widgets::TableView tensors;
};

Outputs compute(const Inputs& inputs, Progress& progress);
void draw(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, FormatRow& row);
void describe(Fields& fields, TensorRow& row);

}  // namespace chapters::compression::quantizer
