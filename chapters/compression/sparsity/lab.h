#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/compression/shared/network.h"
#include "models/compression/sparsity.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// Between sparsity.cpp (described), sparsity_compute.cpp (computed) and sparsity_draw.cpp (drawn).
namespace chapters::compression::sparsity {

/// Formats in which matrix units know 2:4; order of sparse_formats.
enum class Narrow : std::uint8_t { bf16, fp16, fp8, int8 };
inline constexpr std::array sparse_formats{models::Format::bf16, models::Format::fp16, models::Format::fp8,
                                           models::Format::int8};

struct Inputs {
  models::SparsePattern pattern = models::SparsePattern::two_four;
  double share = 50;  ///< %
  bool packed = false;
  std::string chip = "h100_sxm";
  Narrow format = Narrow::bf16;
  double tokens = 4096, inputs = 4096, outputs = 14336;
  bool heavy = false;
  double row_spread = 0.3;
  std::int64_t seed = 1;
  bool operator==(const Inputs&) const = default;
};

/// Example matrix and masks depend on these alone, and not on chip or layer.
struct ExampleKey {
  std::int64_t seed = 1;
  bool heavy = false;
  double row_spread = 0, share = 50;
  bool operator==(const ExampleKey&) const = default;
};
struct Example {
  std::vector<double> weights;
  double largest = 0;
  std::array<std::vector<std::uint8_t>, 3> masks;                    ///< by pattern
  std::array<double, 3> errors{};                                    ///< %
  std::vector<double> shares, unstructured_curve, structured_curve;  ///< %
};
using Examples = Memo<ExampleKey, Example>;

inline constexpr double two_four_share = 50;  ///< %: two of every four

struct PatternRow {
  std::string name, skips;
  double share = 0, error = 0, bytes = 0, ratio = 1, time_s = 0, speedup = 1;
  std::string regime;
};

struct Outputs {
  double error = 0, kept = 100, weight_bytes = 0, dense_weight_bytes = 0, memory_ratio = 1;
  double time_s = 0, dense_time_s = 0, speedup = 1, flops_skipped = 0, two_four_rate = 1;
  std::string regime, dense_regime;
  double error_unstructured = 0, error_two_four = 0, error_structured = 0;
  double speedup_unstructured = 1, speedup_two_four = 1, speedup_structured = 1;
  std::vector<PatternRow> patterns;
  std::string reason;

  // For the picture.
  std::shared_ptr<const Example> example;
  std::vector<double> tokens;
  std::array<std::vector<double>, 3> speed_curves;
  std::string verdict, story, mask_text;
  double pruned = 50;  ///< %, of the pattern that is set
  std::uint64_t version = 1;
};

inline constexpr std::size_t mask_rows = 32, mask_cols = 64;

struct View {
  widgets::PlotView errors, speeds;
  widgets::TableView patterns;
};

Outputs compute(const Inputs& in, Examples& examples);
void draw(Inputs& in, const Outputs& out, View& view);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, PatternRow& r);
void describe(Fields& f, Outputs& o);

}  // namespace chapters::compression::sparsity
