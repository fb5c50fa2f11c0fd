#pragma once
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/precision/shared/formats.h"
#include "models/numerics/number_line.h"
#include "widgets/base/painter.h"

/// Between number_line.cpp (described), number_line_compute.cpp, number_line_draw.cpp and number_line_rows.cpp.
namespace chapters::precision::number_line {

struct Inputs {
  std::string format = "fp16";
  std::vector<std::string> formats = {"fp32", "bf16", "fp16", "e5m2", "e4m3fn", "e2m1"};
  models::LineAxis axis = models::LineAxis::log2;
  models::ValueSpread spread = models::ValueSpread::gradients;
  double size = 0x1p-18;
  double octaves = 4;
  double scale = 1;
  FileInput file;      ///< safetensors: its numbers instead of the distribution
  std::string tensor;  ///< which of its tensors; empty: the largest of floats
  bool operator==(const Inputs&) const = default;
};

struct Row {
  std::string name, note, underflow_text, overflow_text, fate_text;
  double values = 0, largest = 0, smallest_normal = 0, smallest = 0, per_octave = 0;
  double underflow = 0, subnormal = 0, normal = 0, overflow = 0;
  const models::FloatFormat* format = nullptr;
  models::FormatLimits limits;
};

struct Outputs {
  std::string reason;
  double values = 0, codes = 0, largest = 0, smallest_normal = 0, smallest = 0, epsilon = 0, per_octave = 0,
         octaves_covered = 0;
  double subnormals = 0, below_one = 0;
  double underflow = 0, subnormal = 0, normal = 0, overflow = 0;
  std::vector<Row> rows;

  // For the picture
  const models::FloatFormat* format = nullptr;
  models::FormatLimits limits;
  std::vector<const models::FloatFormat*> formats;
  models::Tensor tensor;
  std::string spread_text;
  std::shared_ptr<const std::vector<float>> numbers;  ///< what `tensor` looks at, when it is a file's
};

/// One row as it was last laid out: redone only when its stretch, width or format changes.
struct RowCache {
  std::uint64_t key = 0;
  double total = 0;
  std::vector<double> counts;
  std::vector<std::uint8_t> levels;  ///< of each column: brightness, and 16 where its values are subnormal
  std::vector<models::LineValue> values;
  std::vector<std::string> labels, short_labels, codes;  ///< in full, and as far as eleven digits go
  std::string count_text;
};

struct View {
  double from = 0, to = 0;                         ///< the stretch shown; all of it while from >= to
  models::LineAxis axis = models::LineAxis::log2;  ///< which axis they belong to
  bool drawn = false;
  std::vector<RowCache> rows;
  std::uint64_t curve_key = 0;
  std::vector<double> curve;  ///< share of the numbers in each column
};

/// Where the line lies on screen.
struct Frame {
  float left = 0, right = 0;
  models::LineAxis axis{};
  models::LineStretch stretch;
  float x(double coordinate) const {
    return left + (right - left) * static_cast<float>((coordinate - stretch.lo) / (stretch.hi - stretch.lo));
  }
  double coordinate(float x_px) const {
    return stretch.lo + (stretch.hi - stretch.lo) * static_cast<double>((x_px - left) / (right - left));
  }
};

Outputs compute(const Inputs& inputs, Progress& progress);
/// Reads the tensor that the inputs name into `out`; returns "" or one sentence.
std::string load_numbers(const Inputs& inputs, Outputs& out, Progress& progress);
void draw(Inputs& inputs, const Outputs& out, View& view);

void refresh_row(RowCache& cache, const models::FloatFormat& format, const Frame& frame);
void paint_row(const widgets::Painter& p, const Row& row, const RowCache& cache, const Frame& frame, float top,
               float height);
void paint_curve(const widgets::Painter& p, const Outputs& out, View& view, const Frame& frame, float top,
                 float height);
/// What becomes of the numbers in one format: a bar of shares, and the largest trouble in words.
void paint_fate(const widgets::Painter& p, const Row& row, float left, float right, float top);
/// Grid lines down to `bottom` and labels under it. Ordinal axes are labelled by share.
void paint_ticks(const widgets::Painter& p, const Frame& frame, float top, float bottom);

void describe(Fields& fields, Row& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, View& view);

}  // namespace chapters::precision::number_line
