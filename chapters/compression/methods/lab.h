#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chapters/compression/shared/weights_source.h"
#include "chapters/mechanism/lab.h"
#include "models/compression/method_study.h"
#include "widgets/charts/heat_map.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// Between methods.cpp (described), methods_compute.cpp and methods_draw.cpp.
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
  std::string method;
  double weight_bits = 0, activation_bits = 16, error = 0, held_out = 0, against_rounding = 1;
};

struct Outputs {
  std::string reason;
  double rtn_error = 0, gptq_error = 0, awq_error = 0, both_error = 0,
         smooth_error = 0;  ///< %, on the calibration tokens
  double rtn_held_out = 0, gptq_held_out = 0, awq_held_out = 0, both_held_out = 0, smooth_held_out = 0;
  double gptq_ratio = 1, gptq_ratio_held_out = 1, awq_ratio = 1, smooth_ratio = 1;
  double weight_bits = 0, pair_bits = 0;
  double awq_alpha = 0, smooth_best_alpha = 0;
  double input_spread = 1, smoothed_spread = 1;
  std::int64_t first_column = 0;
  std::string best, weights, note;
  std::vector<MethodRow> rows;

  std::shared_ptr<const models::MethodStudy> study;
  std::vector<double> columns, gptq_curve, rtn_curve, awq_x, awq_y, smooth_x, smooth_y, bars_x, bars_calibration,
      bars_held_out;  ///< errors in %
  double change_reach = 0;
  std::vector<double> change;  ///< |weights then - weights at first|, [step, row, column]
  std::string verdict, story, smooth_story, awq_story;
  std::uint64_t version = 0;
};

struct View {
  double time = 24;  ///< columns rounded so far
  widgets::HeatMapView change;
  widgets::PlotView bars, history, awq, smooth;
  widgets::TableView table;
};

Outputs compute(const Inputs& inputs, Progress& progress);
void draw(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, MethodRow& row);
void describe(Fields& fields, View& view);

}  // namespace chapters::compression::methods
