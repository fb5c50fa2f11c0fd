#pragma once
#include <array>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "models/numerics/loss_scaler.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/plot_view.h"

/// Between loss_scaling.cpp (described), loss_scaling_compute.cpp and loss_scaling_draw.cpp.
namespace chapters::precision::loss_scaling {

struct Inputs {
  models::ScalerPolicy policy = models::ScalerPolicy::dynamic;
  double init_scale = 65536, growth = 2, backoff = 0.5;
  std::int64_t growth_interval = 2000, steps = 20000;
  double median = 0x1p-22, spread_binades = 4, drift_binades = -8, gradients = 1e8;
  double spike_rate = 0.02, spike_binades = 6, bad_rate = 0;  ///< rates in %
  std::int64_t seed = 1;
  bool operator==(const Inputs&) const = default;
};

enum class Health { healthy, investigate, collapsed, unscaled, searching };  ///< as models::ScalerHealth

constexpr std::size_t bell_points = 241;

/// What the lower pictures show of one step: magnitudes, and the shares in % that become zero, subnormal, normal and
/// infinite.
struct StepPicture {
  double median = 1, scaled_median = 1;
  std::array<std::array<double, 4>, 3> shares{};  ///< FP16 under the scale, FP16 as they are, BF16 as they are
};

struct Outputs {
  std::string reason;
  std::int64_t skips = 0, overflow_skips = 0, bad_skips = 0, early_skips = 0, longest_skip_run = 0, growths = 0;
  double skip_rate = 0, late_skip_rate = 0, balance_rate = 0, times_balance = 0, scale_drift = 0;  ///< rates in %
  double final_scale = 1, lowest_scale = 1, highest_scale = 1;
  double zero_scaled = 0, zero_unscaled = 0, zero_bf16 = 0, worst_zero_scaled = 0, norm_lost = 0;  ///< %
  double headroom_binades = 0;
  Health health = Health::healthy;

  // For the picture alone.
  std::vector<StepPicture> pictures;  ///< one a sample
  std::vector<double> step, upper, lower,
      largest;                            ///< one a sample: scaled magnitudes; largest over the sample's stretch
  std::vector<double> scale_step, scale;  ///< where the scale changes
  std::vector<double> skip_step, skip_magnitude, bad_step, bad_magnitude;
  double steps = 1, range_lo = 1, range_hi = 2;  ///< ends of the axes
  std::array<double, bell_points> bell_multiple{},
      bell_density{};  ///< of a magnitude that is this multiple of the median; 1 at the median
  double zero_below = 0, smallest_normal = 0, infinite_from = 0;  ///< magnitudes in FP16
  std::string infinite_label;                                     ///< "65,520: inf"
  std::string verdict, story;
  std::uint64_t version = 0;
};

struct View {
  double time = 15000;  ///< the step looked at
  widgets::PlotView range, scale, bell;
  widgets::StackedBarView shares;
  std::array<double, bell_points> x{};  ///< room for the bell at the cursor
};

Outputs compute(const Inputs& inputs);
void draw(Inputs& inputs, const Outputs& out, View& view);

void describe(Fields& fields, Inputs& inputs);
void describe(Fields& fields, Outputs& outputs);
void describe(Fields& fields, View& view);

}  // namespace chapters::precision::loss_scaling
