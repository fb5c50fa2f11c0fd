#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/weights_source.h"
#include "chapters/precision/shared/formats.h"
#include "models/numerics/block_format.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// A tensor in narrow elements that share a scale, and what that costs it.
namespace chapters::precision::block_formats {

struct Inputs {
  std::string scheme = "mxfp4";
  FileInput file;  ///< chosen: numbers of its tensor, and neither `values` nor the made-up tensor counts
  std::string tensor;
  std::vector<double> values;  ///< not empty: these, and no tensor is made up
  std::string block = "own";   ///< elements that share a scale: "own", "8" ... "256"
  models::ScaleRule rule = models::ScaleRule::floor;
  models::Rounding rounding = models::Rounding::nearest_even;
  std::int64_t elements = 256, seed = 1, outliers = 3;
  double outlier_size = 24;
  bool operator==(const Inputs&) const = default;
};

struct SchemeRow {
  std::string id, name;
  double bits = 0;
  models::QuantizationError error;
  double relative = 0;  ///< RMS error in % of the tensor's RMS
  double saturated = 0, lost = 0;
};
struct SizeRow {
  std::int64_t block = 0;
  double bits = 0, rms = 0;
};

struct Outputs {
  std::string reason;
  std::string numbers;  ///< what they are
  models::Blocks stored;
  models::QuantizationError error;
  std::vector<double> codes;
  double bits_per_element = 0, bits_with_tensor_scale = 0, blocks = 0, block_size = 0, compression = 0;
  double relative_error = 0;  ///< %
  double saturated = 0, lost = 0, lost_share = 0;
  double largest_scale = 0;  ///< the largest of any block, the tensor's scale counted in
  double scale_gain_db = 0;  ///< what searching each block's scale gains over floor
  double largest = 0;        ///< the number of the largest magnitude
  /// How many share its scale, how many of them are not 0, and how many became 0.
  std::int64_t beside = 0, beside_not_zero = 0, beside_lost = 0;
  /// Their RMS error, and how many times that of the block whose largest magnitude is the smallest; NaN where there is
  /// none, or no other block, or one without an error.
  double beside_rms = 0, times_calm = 0;
  std::vector<SchemeRow> schemes;
  std::vector<SizeRow> sizes;
};

struct Run {
  std::vector<double> exact;  ///< the numbers that are stored
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  const models::FloatFormat* element = nullptr;       ///< the scheme's element format
  std::vector<std::uint8_t> lost;                     ///< one an element: not 0 where it became 0
  std::vector<std::vector<double>> levels;            ///< one a block: every value its codes can have
  std::vector<std::string> scale_texts, scale_codes;  ///< one a block: "2^-3", and its scale's bits
  std::vector<std::string> lost_texts;                ///< one a block: "22 became 0"; empty where none did
  std::string largest_text;                           ///< "-24"
  std::string answer;
  std::size_t largest_block = 0;  ///< the block with the largest magnitude
  std::size_t largest = 0;        ///< that element
  std::size_t first_shown = 0;    ///< where the picture of a long tensor begins at first
  std::string scale_name;         ///< format of the scale: "E8M0"
  // Error over bits: of the scheme with other block sizes as a line and as dots, and of each scheme with its own.
  widgets::Curve sizes, size_dots, schemes;
  double error_lo = 1e-6, error_hi = 1e-5;  ///< range of the errors drawn
  std::string note, sizes_note;             ///< `sizes_note`: "this scheme with blocks of 8 to 256, and the others"
  std::size_t chosen = 0;                   ///< index of the scheme among all
};

struct View {
  widgets::PlotView plot;
  DescribedTable<SchemeRow> schemes;
  std::int64_t first = 0;   ///< first element shown
  std::int64_t shown = 0;   ///< how many; 0: as many as stand apart, from where the largest one's block is in sight
  std::int64_t block = -1;  ///< whose bits are shown; -1: the block with the largest magnitude
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs, Progress& progress);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// The elements, exact and stored, over their blocks.
void draw_strip(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// One block as it is stored: its scale bit by bit, and its codes.
void draw_block_bits(const Outputs& out, const Picture& picture, View& view, ImVec2 size);

void describe(Fields& f, SchemeRow& row);

double rms_of(std::span<const double> values);
/// Which of the values from `first` up to `end` has the largest magnitude; the first of several.
std::size_t largest_of(std::span<const double> values, std::size_t first, std::size_t end);
/// An error in percent of the tensor's RMS; 0 where that is 0.
double percent_of_rms(double error, double rms);

}  // namespace chapters::precision::block_formats
