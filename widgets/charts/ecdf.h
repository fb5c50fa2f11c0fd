#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "widgets/charts/rows.h"

namespace widgets {

struct EcdfSeries {
  std::string_view label;
  std::span<const double> values;  ///< in any order; what is not finite (or not positive on a log axis) is left out
  Tint tint{};
};

struct EcdfOptions {
  std::string_view unit{}, axis_label{};
  AxisKind axis = AxisKind::linear;
  ImVec2 size{0, 0};                                        ///< pixels; 0: what is left, 260 design pixels high
  double limit = std::numeric_limits<double>::quiet_NaN();  ///< a value not to exceed, such as an SLO; NaN: none
  std::string_view limit_label = "limit";
  /// Confidence of the band around each curve by the Dvoretzky-Kiefer-Wolfowitz inequality, 0 to 1; NaN: no band.
  double confidence = std::numeric_limits<double>::quiet_NaN();
  std::string_view nothing = "Nothing to show: there are no values.";  ///< said where no series has any
  std::uint64_t revision = 0;  ///< raise it when more than 65,536 values change in place
};

/// One curve, from its sorted values.
struct EcdfCurve {
  std::vector<double> sorted;
  std::vector<ImVec2> line, upper, lower;  ///< pixels; steps, at most a few points a column of pixels
  double beyond = 0;                       ///< share of the values above the limit, 0 to 1; NaN: no limit or no values
  double p50 = 0, p99 = 0;                 ///< NaN without values
  ImVec2 p50_px{}, p99_px{};
};
/// A figure beside its mark; only those that are clear of each other are kept.
struct EcdfLabel {
  std::size_t series = 0;
  Rect rect{};
  NumberText text;
};
struct EcdfLayout {
  Rect plot{};
  Range range{0, 1};
  AxisMap x_map, y_map;
  std::vector<EcdfCurve> curves;
  std::vector<EcdfLabel> labels;
  std::vector<Line> words;  ///< name and share beyond the limit
  std::vector<LegendEntry> legend;
  std::vector<PlacedLegend> placed_legend;
  float legend_height = 0, limit_px = 0;
  bool has_limit = false, limit_named = false;  ///< named: its words have room above the plot
  std::size_t legend_left_out = 0;
  int axis_lines = 0;  ///< as row_axis_lines says
  Line problem;
};

/// The least value that at least a share `q` (0 to 1) of the sorted values do not exceed; NaN of none.
double quantile_of_sorted(std::span<const double> sorted, double q);
/// Half the height of the band around an ECDF of `n` values that holds the whole true distribution with this
/// confidence: sqrt(ln(2 / (1 - confidence)) / (2 n)) (Massart 1990, https://doi.org/10.1214/aop/1176990746), at
/// most 1.
double dkw_half_width(std::size_t n, double confidence);

/// Curves, quantiles, limit and labels in `area`.
void layout_ecdf(std::span<const EcdfSeries> series, const EcdfOptions& options, Rect area, Measure measure,
                 EcdfLayout& out);

struct EcdfView {
  EcdfLayout layout;
  std::uint64_t layout_of = 0;
};
/// Shares of the values up to each value, p50 and p99 marked, and what lies beyond a limit said.
void draw_ecdf(const char* label, std::span<const EcdfSeries> series, EcdfView& view, const EcdfOptions& options = {});

}  // namespace widgets
