#pragma once
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/precision/shared/formats.h"
#include "models/compression/safetensors.h"
#include "models/numerics/number_line.h"
#include "widgets/base/painter.h"

/// The values of formats on a line, and which numbers of a tensor fall off its edges.
namespace chapters::precision::number_line {

inline constexpr double max_scale = 0x1p24;  ///< the largest loss scale

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

/// A format and what becomes of the numbers in it.
struct Row {
  std::string name;
  models::FormatLimits limits;
  double values = 0, per_octave = 0;
  double underflow = 0, subnormal = 0, normal = 0, overflow = 0;  ///< shares of the numbers in %
};

/// The numbers of a tensor of a file, in ascending order, as many as were looked at.
struct TensorSample {
  models::TensorEntry entry;
  std::vector<float> sorted;
};

struct Outputs {
  std::string reason;
  models::FormatLimits limits;
  double values = 0, per_octave = 0, octaves_covered = 0;
  double subnormals = 0, below_one = 0;
  double underflow = 0, subnormal = 0, normal = 0, overflow = 0;  ///< shares of the numbers in %
  double underflow_unscaled = 0;                                  ///< the same without the loss scale
  std::vector<Row> rows;
};

/// The numbers that are laid over the formats.
struct Run {
  models::Tensor tensor;                       ///< a distribution, or `sample`
  std::shared_ptr<const TensorSample> sample;  ///< null unless a file was chosen
};

/// A row as it is written.
struct RowPicture {
  const models::FloatFormat* format = nullptr;
  std::string note;                           ///< "5 exponent, 10 mantissa"
  std::string underflow_text, overflow_text;  ///< "underflow 4.01 %"
  std::string fate_text;                      ///< the largest trouble: "4.01 % lost"
  std::string below_text, above_text;         ///< where its magnitudes end: "to 2^-149", "to 2^127"
  double least_log2 = 0, most_log2 = 0;       ///< the same as exponents
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  const models::FloatFormat* format = nullptr;
  std::vector<const models::FloatFormat*> formats;  ///< those of the rows
  std::vector<RowPicture> rows;                     ///< one a row of the Outputs
  std::string spread_text;                          ///< what the numbers are
  std::string bell_text;                            ///< how their curve is coloured, and that it can be dragged
  std::string answer;
  models::LineStretch whole;  ///< the stretch that is shown at first
};

/// The stretch of an axis that something was laid out for, and how many pixels it had.
struct LaidOut {
  double lo = 0, hi = 0;
  models::LineAxis axis{};
  float width = 0;
  bool operator==(const LaidOut&) const = default;
};

inline constexpr int subnormal_level = 16;

/// One row as it was last laid out: redone only when its stretch, width or format changes.
struct RowCache {
  LaidOut laid_out;
  const models::FloatFormat* format = nullptr;
  double total = 0;
  std::vector<double> counts;
  std::vector<std::uint8_t> levels;  ///< one a column: brightness, and `subnormal_level` more where subnormal
  std::vector<models::LineValue> values;
  std::vector<std::uint8_t> subnormal;                   ///< one a value: not 0 where it is subnormal
  std::vector<std::string> labels, short_labels, codes;  ///< in full, and as far as eleven digits go
  std::string count_text;
};

struct View {
  double from = 0, to = 0;                         ///< the stretch shown; all of it while from >= to
  models::LineAxis axis = models::LineAxis::log2;  ///< which axis they belong to
  bool drawn = false;
  std::vector<RowCache> rows;
  LaidOut curve_laid_out;
  std::uint64_t curve_version = 0;       ///< Picture that `curve` belongs to
  std::vector<double> curve;             ///< share of the numbers in each column
  std::vector<Fate> curve_fate;          ///< what the chosen format makes of those in each column
  double curve_highest = 0;              ///< the largest of them; 0: there is no curve
  std::vector<ImVec2> curve_edge;        ///< room for its outline
  bool bell_held = false;                ///< the curve is being dragged,
  double bell_scale = 1, bell_from = 0;  ///< from this loss scale and place on the axis
};

/// Where the line lies on screen.
struct Frame {
  float left = 0, right = 0;
  models::LineAxis axis{};
  models::LineStretch stretch;
  float x(double coordinate) const {
    return left + (right - left) * static_cast<float>((coordinate - stretch.lo) / (stretch.hi - stretch.lo));
  }
  LaidOut laid_out() const { return {stretch.lo, stretch.hi, axis, right - left}; }
  double coordinate(float x_px) const {
    return stretch.lo + (stretch.hi - stretch.lo) * static_cast<double>((x_px - left) / (right - left));
  }
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, Progress& progress);
/// Reads the tensor that the inputs name from their file, or says why it cannot be shown. A cancelled read fails.
models::Result<std::shared_ptr<const TensorSample>> load_sample(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

// What a stretch of the axis shows, sampled from the formats at its columns of pixels; done anew where the stretch or
// the format changes.
void refresh_row(RowCache& cache, const models::FloatFormat& format, const Frame& frame);
/// The numbers of the picture's run in each column, and what becomes of them.
void refresh_curve(const Outputs& out, const Picture& picture, View& view, const Frame& frame);
/// The stretch itself, or one about its middle that doubles can tell apart.
models::LineStretch at_least_min_span(models::LineAxis axis, models::LineStretch stretch);
/// Two values of the format on each side of x.
models::LineStretch single_values_at(const models::FloatFormat& format, models::LineAxis axis, double x);
/// The value of a format that is nearest to a place of the axis: its format with its code, itself in full, and the step
/// there.
struct ValueWords {
  std::string code, value, step;
};
ValueWords words_at(const models::FloatFormat& format, models::LineAxis axis, double coordinate);

/// A drag of the curve, which stands between `top` and `bottom`, on a logarithmic axis moves the numbers: the loss
/// scale follows. True while it is held. Call after the item that it acts on.
bool drag_bell(Inputs& inputs, View& view, const Frame& frame, float top, float bottom);
/// Wheel, drag and keys over the whole picture, as in a plot; call after the item that they act on.
void take_input(View& view, const Frame& frame);
/// Places worth going to with one press.
void draw_buttons(const Outputs& out, const Picture& picture, View& view, const Frame& frame, float width);
/// What the colours mean, in a row.
void paint_legend(const widgets::Painter& p, ImVec2 at, float right);
void paint_row(const widgets::Painter& p, const Row& row, const RowPicture& picture, const RowCache& cache,
               const Frame& frame, float top, float height);
/// `fates`: in the colours of what becomes of the numbers.
void paint_curve(const widgets::Painter& p, View& view, const Frame& frame, float top, float height, bool fates);
/// The outline of the numbers as they are, which stands log2 of the loss scale further left; on a logarithmic axis.
void paint_unscaled(const widgets::Painter& p, double scale, View& view, const Frame& frame, float top, float height);
/// What becomes of the numbers in one format: a bar of shares in the middle of a row, and the largest trouble in words
/// where the row is high enough. The chosen format's has a mark at a share that was guessed.
void paint_fate(const widgets::Painter& p, const Row& row, std::string_view text, bool chosen, float left, float right,
                float top, float height);
/// Grid lines down to `bottom` and labels under it. Ordinal axes are labelled by share.
void paint_ticks(const widgets::Painter& p, const Frame& frame, float top, float bottom);

}  // namespace chapters::precision::number_line
