#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chapters/described/planned_step.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/published_panel.h"
#include "models/fleet/canary.h"
#include "models/fleet/scaling_tax.h"
#include "models/parallel/planner/planner_search.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// The way down from the chip's peak to a month of the fleet: each cause a riser, and which of them is worth lifting.
namespace chapters::fleet::scaling_tax {

using models::fleet::TaxCause;

/// Risers that a hand lifts; several causes may share one.
enum class Lift : std::uint8_t { kernel, layers, tensor, pipeline, copies, lockstep, failures, none };
inline constexpr std::size_t lift_count = 7;
Lift lift_of(TaxCause cause);

/// Defaults: Llama 3 405B on 8,192 GPUs as its authors print the plan; spread of the GPUs, saves and restarts are
/// assumed.
struct Inputs : PlannedStep {
  Inputs()
      : PlannedStep{.model = "llama-3.1-405b",
                    .gpus = 8192,
                    .global_batch = 2048,
                    .pipeline_parallel = 16,
                    .virtual_pipeline = 8} {}
  double slow_node = 10, spread = 0.4;  ///< %
  bool published = true;                ///< end at the published run, where there is one like this
  double goodput = 0;                   ///< %; 0: what failures leave at the best interval between saves
  double gpu_hours_per_failure = 50'700, save_s = 15, restart_s = 300;
  double price_per_hour = 2;
  std::array<double, lift_count> lifted{};  ///< %
  models::fleet::Release release = models::fleet::Release::rare_pauses;
  models::fleet::Rule rule = models::fleet::Rule::several;
  double threshold = 2, run_spread = 1;  ///< spreads; %
  std::int64_t looks = 12;
  double look_s = 600;
  bool operator==(const Inputs&) const = default;
};

/// One riser. Points are percentage points of MFU.
struct RiserRow {
  std::string cause;
  std::int64_t gpus = 1;
  double points = 0, mfu = 0, work_gpus = 0, dollars_per_month = 0;
};

/// The release on some of the GPUs; shares in percent.
struct CanaryRow {
  std::int64_t gpus = 0;
  double past_mfu = 0, mfu = 0, shortfall = 0, found = 0;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  double kernel_mfu = 0, gpu_mfu = 0, node_mfu = 0, model_mfu = 0, fleet_mfu = 0, effective_mfu = 0;  ///< %
  double tax_points = 0, tax_percent = 0;
  double published_mfu = none, unexplained_points = none;
  std::string published_name;
  double slow_points = 0, slow_percent = 0, failure_points = 0, point_gpus = 0;
  std::string largest;
  double largest_points = 0, largest_gpus = 0;
  double won_mfu = 0, won_gpus = 0, won_dollars_per_month = 0;  ///< by what is lifted
  double goodput_used = 0, thirty_days_take = 0, mtbf_s = 0;
  std::int64_t nodes = 1, data_parallel = 1, used_gpus = 1, batch_used = 1;
  std::string plan_problem, plan_used;  ///< not empty: the plan that is set cannot run, and this one is shown
  double step_s = 0, tokens_per_s = 0, lost_gpus = 0, lost_dollars_per_month = 0, memory_bytes = 0;
  bool fits = true;
  std::vector<RiserRow> risers;
  // The canary.
  double canary_gpus = none, canary_shortfall = none, canary_wait_s = none, canary_gpu_hours = none;
  double full_shortfall = 0, full_dollars_per_day = 0, first_found = 0, false_alarm = 0;
  std::vector<CanaryRow> rungs;
};

/// What one slow node costs over how slow it is, both in percent and points.
struct SlowPoint {
  double slower = 0, points = 0, mfu = 0;
};

struct Run {
  models::fleet::TaxStairs stairs;
  std::vector<TaxCause> causes;  ///< One for each row of `risers`.
  std::vector<SlowPoint> slow;
};
using Computed = chapters::Computed<Outputs, Run>;

/// A tread of the stairs with its riser as it is painted; MFU in percent.
struct Tread {
  TaxCause cause = TaxCause::kernel;
  std::string name{}, gpus{}, why{}, points{}, mfu{}, work{}, dollars{};
  double before = 100, after = 100, untouched = 100;
  double found_share = 0;   ///< what the cause costs, over the ideal step
  double before_share = 1;  ///< the step above it, over the ideal step
  widgets::Tint tint{};
  std::string output{};
  Lift lift = Lift::none;
};

/// A staircase of one run beside the others; MFU in percent.
struct OtherStairs {
  struct Step {
    std::string name, text;
    double mfu = 0;
    bool at_least = false;  ///< the source gives a bound
  };
  std::string name, note;
  std::vector<Step> steps{};
  bool yours = false;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::shared_ptr<const Run> run;
  PublishedMarks published;
  LabDoors doors;
  std::vector<Tread> treads;
  std::size_t pointed = 0;  ///< the riser whose handle says that it can be lifted
  std::string lift_words, memory_words, plan_words;
  bool lifted = false;
  std::string canary_words, canary_note;
  std::vector<widgets::Curve> canary, slow;
  std::vector<OtherStairs> others;
  double canary_lo = 0, canary_hi = 100, gpus_lo = 1, gpus_hi = 2, found_at = 0;
  double slow_hi = 1;
  std::string slow_label;
};

struct View {
  widgets::PlotView canary, slow;
  Requests requests;
};

inline constexpr double max_slower = 50;  ///< %
/// How much of a riser is lifted, in percent, where its tread is dragged to this MFU; how slow the node is.
double lift_at(const Tread& tread, double mfu);
double slower_at(const Run& run, double mfu);
/// Hours of a month, a twelfth of a year.
inline constexpr double month_hours = 730;

Computed compute(const Inputs& in, Progress& progress);
/// What a riser is called in tables and sentences.
std::string_view cause_words(TaxCause cause);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
LabDoors doors_of(const Inputs& in, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_stairs(Inputs& in, const Picture& picture, ImVec2 size);
void draw_others(const Picture& picture, ImVec2 size);
/// Published staircases and yours.
void arrange_published(const Outputs& out, Picture& p);

void describe(Fields& f, RiserRow& row);
void describe(Fields& f, CanaryRow& row);
void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::fleet::scaling_tax
