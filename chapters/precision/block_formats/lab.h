#pragma once
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/precision/shared/formats.h"
#include "models/numerics/block_format.h"
#include "widgets/plot/plot_view.h"

/// Between block_formats.cpp (described), block_formats_compute.cpp and block_formats_draw.cpp.
namespace chapters::precision::block_formats {

struct Inputs {
  std::string scheme = "mxfp4";
  std::vector<double> values;  ///< not empty: these, and no tensor is made up
  std::string block = "own";   ///< elements that share a scale: "own", "8" ... "256"
  models::MxRule rule = models::MxRule::floor;
  models::Rounding rounding = models::Rounding::nearest_even;
  std::int64_t elements = 256, seed = 1, outliers = 3;
  double outlier_size = 24;
  bool operator==(const Inputs&) const = default;
};

struct SchemeRow {
  std::string id, name;
  double bits = 0, rms = 0, relative = 0, largest_error = 0, saturated = 0, lost = 0;
};
struct SizeRow {
  std::int64_t block = 0;
  double bits = 0, rms = 0;
};

struct Outputs {
  std::string reason;
  std::vector<double> scales, codes, values;
  double bits_per_element = 0, bits_with_tensor_scale = 0, tensor_scale = 1, blocks = 0, block_size = 0,
         compression = 0;
  double rms_error = 0, mean_error = 0, largest_error = 0, relative_error = 0, snr_db = 0;
  double saturated = 0, lost = 0, lost_share = 0;
  std::vector<SchemeRow> schemes;
  std::vector<SizeRow> sizes;

  // For the picture
  std::vector<double> exact;                ///< what went in
  std::vector<std::vector<double>> levels;  ///< of each block: every value its codes can have
  std::vector<std::string> scale_texts;
  std::vector<double> size_bits, size_rms, scheme_bits, scheme_rms;
  std::string note, sizes_text,
      sizes_note;          ///< "8, 16, ... 256", "this scheme with blocks of 8 to 256, and the others"
  std::size_t chosen = 0;  ///< index of the scheme among all
  std::uint64_t version = 0;
};

struct View {
  widgets::PlotView plot;
  std::int64_t first = 0;  ///< first element shown
  std::int64_t shown = 0;  ///< how many; 0: all, up to 256
};

Outputs compute(const Inputs& inputs);
void draw(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, SchemeRow& row);
void describe(Fields& fields, SizeRow& row);
void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, View& view);

}  // namespace chapters::precision::block_formats
