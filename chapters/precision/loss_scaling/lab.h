#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/precision/shared/formats.h"
#include "models/numerics/loss_scaler.h"
#include "widgets/base/figure_meaning.h"
#include "widgets/charts/event_rug.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// Training in FP16 under a loss scaler: how often it skips a step, and what becomes of the gradients.
namespace chapters::precision::loss_scaling {

struct Inputs {
  models::ScalerPolicy policy = models::ScalerPolicy::dynamic;
  double init_scale = 65536, growth = 2, backoff = 0.5;
  std::int64_t growth_interval = 2000, steps = 50000;
  double median = 0x1p-22, spread_binades = 4, drift_binades = -8, gradients = 1e8;
  double spike_rate = 0.02, spike_binades = 6, bad_rate = 0;  ///< rates in %
  std::int64_t seed = 1;
  bool operator==(const Inputs&) const = default;
};

struct Outputs {
  std::string reason;
  models::ScalerFigures figures;
  std::int64_t skips = 0, late_skips = 0, late_steps = 0;  ///< late: after the first growth interval
  /// Rates in %. NaN: the run is not longer than the first interval, or no scaler balances anything.
  double skip_rate = 0, late_skip_rate = 0, balance_rate = 0, times_balance = 0, scale_drift = 0;
  double fifty_over_normal = 0;
  double normal_every = 0, late_every = 0;  ///< steps from one skip to the next, at these two rates; whole
  double final_scale = 1, lowest_scale = 1, highest_scale = 1;
  double zero_scaled = 0, zero_unscaled = 0, zero_bf16 = 0, worst_zero_scaled = 0, norm_lost = 0;  ///< %
  double headroom_binades = 0;
  models::ScalerHealth health = models::ScalerHealth::healthy;
};

struct Run {
  models::ScalerHistory history;
};

constexpr std::size_t bell_points = 241;

/// What the lower pictures show of one step.
struct StepPicture {
  double median = 1, scaled_median = 1;  ///< magnitudes
  /// Shares in % that become zero, subnormal, normal and infinite, in FP16 under the scale, in FP16 as they are and in
  /// BF16 as they are.
  std::array<std::array<double, 4>, 3> shares{};
  /// Parts of the bell under the scale: points ends[k] to ends[k + 1] become zero, subnormal, normal and infinite in
  /// FP16.
  std::array<std::size_t, 5> ends{};
  double lo = 0, hi = 1;  ///< magnitudes between which both bells lie, and the limits of FP16
};

struct Picture {
  std::shared_ptr<const Run> run;
  bool unguarded = false;  ///< no scaler: steps that overflow are not skipped but applied
  std::uint64_t version = 0;
  std::vector<StepPicture> steps_shown;  ///< one a sample
  // One point a sample: scaled magnitudes of the middle 95 %, and the largest over the sample's stretch of steps.
  widgets::Curve middle, largest;
  widgets::Curve scale;                          ///< where it changes
  std::vector<double> skips;                     ///< the steps that were skipped, in order
  widgets::Curve skipped;                        ///< how many until a step
  double rates_from = 0, rates_on = 0;           ///< step from which rates count, and how many were skipped by then
  widgets::Curve normal;                         ///< how many at the normal rate from there on
  widgets::Curve fifty;                          ///< how many at one in fifty; empty where that is no question
  double skipped_hi = 1;                         ///< end of that axis
  widgets::Curve overflows;                      ///< empty where there are too many to stand apart
  double steps = 1, range_lo = 1, range_hi = 2;  ///< ends of the axes
  /// Density of a magnitude that is this multiple of the median; it is 1 at the median.
  std::array<double, bell_points> bell_multiple{}, bell_density{};
  double zero_below = 0, smallest_normal = 0, infinite_from = 0;  ///< magnitudes in FP16
  std::string infinite_label;                                     ///< "65,520: inf"
  std::string answer;
  std::vector<widgets::FigureMeaning> meanings;  ///< what the answer's figures mean
};

struct View {
  double time = 15000;  ///< the step looked at
  widgets::PlotView skips, range, scale, bell;
  widgets::PlotView given_skips, given_scale, given_range;  ///< what a question gives
  widgets::PlotLink run;                                    ///< the pictures over the steps share x, gutter and cursor
  widgets::EventRugView rug;
  widgets::StackedBarView shares;
  std::array<double, bell_points> x{};  ///< room for the bell at the cursor
};

chapters::Computed<Outputs, Run> compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);
/// What a question gives of a run: its steps, one skip in fifty, and the first scale.
void draw_run_given(const Inputs& inputs, View& view, ImVec2 size);
/// What a question gives where nothing adapts: the middle of the gradients under the scale that was set.
void draw_range_given(const Picture& picture, View& view, ImVec2 size);
/// What the step at the cursor was: "step 15,000: trained", "skipped: the largest overflows".
widgets::Line step_words(const models::ScalerHistory& history, bool unguarded, double step);
/// The gradients of one step, each stretch of the bell in the colour of what FP16 makes of it.
void draw_bell(const Picture& picture, const StepPicture& step, View& view, ImVec2 size);
/// What becomes of them, in shares; under the scale too where there is one.
void draw_shares(const StepPicture& step, bool scaled, View& view, ImVec2 size);

}  // namespace chapters::precision::loss_scaling
