#pragma once
#include <array>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "chapters/described/adapter_inputs.h"
#include "chapters/described/planned_step.h"
#include "chapters/described/training_memory.h"
#include "chapters/mechanism/aside.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/memo.h"
#include "models/parallel/planner/planner_path.h"
#include "models/parallel/planner/planner_schedule.h"
#include "models/parallel/planner/planner_search.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot.h"

/// Every plan of a training job, ranked: what fits, what is fastest, and why the second lost.
namespace chapters::distributed::planner {

using Order = PassOrder;

struct Inputs : PlannedStep {
  double port_bytes_per_s = 0, hop_s = 14e-6;  ///< The port of one GPU; 0: that of the named network.
  std::int64_t gpus_per_node = 0;              ///< 0: the chip's usual box
  bool in_switch = false;                      ///< sums inside a node's switches, where they can
  bool in_network = false;                     ///< sums in InfiniBand's switches between nodes
  Segments segments = Segments::software;
  KeptWidth gradients = KeptWidth::software, moments = KeptWidth::software;
  ContextBy context_by = ContextBy::best;
  double keep_free_bytes = models::parallel::kept_free_bytes;
  std::int64_t adapter_rank = 0;  ///< 0: all weights are trained
  models::memory::AdapterTargets adapter_targets = models::memory::AdapterTargets::attention;
  FrozenIn frozen = FrozenIn::bf16;
  std::int64_t max_tensor = 72, max_pipeline = 128, max_zero = 3;
  bool context_plans = true, recompute_plans = true;
  // What the plan to price has besides.
  std::int64_t shard_group = 0, expert_tensor = 0;
  bool offload = false;  ///< the optimizer on the host
  bool host_activations = false;
  GivenUp given_up = GivenUp::attention;
  Order order = Order::one_f_one_b;
  bool ends_take_slots = true;
  bool operator==(const Inputs&) const = default;
};

struct PlanRow {
  std::string plan, details;
  double step_s = 0, memory_bytes = 0, mfu = 0, later = 0;
};
/// What the runner-up needs more of one cause than the best plan; negative where it needs less.
struct LostRow {
  std::string cause;
  double seconds = 0;
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  models::parallel::PricedPlan yours;
  models::memory::HeldBytes held;  ///< memory of your plan on its fullest stage
  std::string plan_problem;        ///< not empty: your plan cannot run, and this sentence says why
  double mfu = none, tokens_per_s = none, plan_rank = none;
  bool fits = false;
  bool chip_compared = true;  ///< Published runs of this chip are among those that the planner is held against
  std::int64_t plans_total = 0, plans_fit = 0;
  double wall_bytes = none, least_memory_bytes = none;  ///< memory that there is; that the leanest plan needs
  double behind_best = none, best_step_time_s = none, best_mfu = none, best_memory_bytes = none, near_best = none;
  std::string best_plan, runner_up;
  double runner_up_later = none;  ///< % of the best step
  double runner_up_lost_s = none, beyond_step_s = none, beyond_memory_bytes = none;
  std::vector<LostRow> lost;   ///< why the runner-up lost, the largest difference first
  std::vector<PlanRow> plans;  ///< the fastest that fit
};

/// One operation of a stage in the small staircase, as shares of the step's work.
struct StairBlock {
  std::uint8_t lane = 0;
  bool backward = false;
  float from = 0, to = 0;
};
/// All that a card says of one plan.
struct PlanCard {
  models::parallel::PlanPoint point;
  models::parallel::PricedPlan price;
  models::memory::HeldBytes held;
  std::string name, details;
  std::vector<StairBlock> blocks;
  int lanes = 0;
  std::int64_t micro_batches_shown = 0;  ///< in the staircase
  LabDoors doors;                        ///< those of plan_doors, in their order; empty until add_doors has made them
};
/// A published plan of the same job, priced.
struct PublishedPlan {
  std::string name;
  double memory_bytes = 0, step_s = 0;
};

/// What a search depends on: the inputs without the plan to price, and the catalog.
struct SearchKey {
  Inputs inputs;
  const Catalog* of = nullptr;
  bool operator==(const SearchKey&) const = default;
};
struct Searches {
  Memo<SearchKey, models::parallel::PlannerSearch, 6> found;
  std::mutex lent;  ///< who has it may use the orders; a search that meets another runs its own
  models::parallel::PlannerSchedules orders;
};

/// One tread of the way from your plan to the fastest.
struct WayStep {
  PlanCard card;
  std::string changed;  ///< what is different from the tread before; empty of your own plan
  double gain_s = 0;
};

struct Run {
  models::parallel::PlannerJob job;
  std::shared_ptr<const models::parallel::PlannerSearch> search;
  // Cards of plans that there are have a name.
  PlanCard best, second, yours, leanest;         ///< leanest: the one that needs least memory, where none fits
  std::vector<models::parallel::LostTime> lost;  ///< where the second loses time against the best
  std::vector<PublishedPlan> published;
  std::vector<WayStep> way;  ///< your plan, then single changes to the fastest; empty where there is no such way
};
using Computed = chapters::Computed<Outputs, Run>;

/// One dot; many plans may share it.
struct PlanDot {
  double memory_bytes = 0, step_s = 0;
  std::size_t point = 0;
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::shared_ptr<const Run> run;
  std::vector<PlanDot> dots;                  ///< all plans, those that fit first; at most one a cell of a fine grid
  widgets::Curve fitting, beyond, published;  ///< plans that fit, that do not, and published ones
  widgets::Curve wall;                        ///< what lies beyond the memory that there is
  std::vector<widgets::Curve> frontiers;      ///< Pareto frontiers: plans that fit, then faster ones that do not fit
  std::size_t dots_fitting = 0;
  double most_bytes = 1, least_s = 1, most_s = 1;
  std::string lost_text, lost_why;
  std::vector<std::string> unknown;  ///< what stands behind the figures, and what does not (unknown_lines)
  std::size_t error_line = 2;        ///< The one of them that says how far such step times are off.
};

/// A plan under the pointer: which picture's, and where it stands in the search.
struct HoveredPlan {
  std::uint64_t version = 0;
  std::size_t point = static_cast<std::size_t>(-1);
  bool operator==(const HoveredPlan&) const = default;
};

struct View {
  widgets::PlotView plans, given_plans;
  DescribedTable<PlanRow> table;
  Requests requests;
  Aside<HoveredPlan, PlanCard> hover;
  HoveredPlan hovered, shown;  ///< under the pointer; whose card `card` is
  PlanCard card;               ///< the last one that was answered
  std::uint64_t own = 0;       ///< The picture whose card is that of your plan, since its tread was pressed; 0: none.
};

models::Result<models::parallel::PlannerJob> job_of(const Inputs& in);
models::parallel::PlanPoint point_of(const Inputs& in);
/// The search of the inputs' job, kept for those that came before; null where `progress` was cancelled.
std::shared_ptr<const models::parallel::PlannerSearch> searched(const Inputs& in, Progress& progress,
                                                                Searches& searches);
/// Name, price and memory of a plan; without a name where it cannot run.
PlanCard price_card(const models::parallel::PlannerJob& job, const models::parallel::PlanPoint& point);
/// The pipeline's schedule, simulated with equal stages and folded to at most eight; a long one has fewer
/// micro-batches.
void add_staircase(PlanCard& card);
/// Both.
PlanCard card_of(const models::parallel::PlannerJob& job, const models::parallel::PlanPoint& point);
/// Labs that show one side of a plan, in the order of their doors.
inline constexpr std::size_t plan_door_count = 11;
std::span<const DoorTo, plan_door_count> plan_doors();
/// A link to that lab with the plan in it. Fails with a sentence where the lab cannot hold the plan.
models::Result<std::string> link_to(const Inputs& in, const PlanCard& card, std::string_view lab);
void add_doors(const Inputs& in, PlanCard& card);
/// A runner-up closer than this to the fastest, in %, is no slower as far as the model can tell: its own steps are
/// within some per cent of published ones.
inline constexpr double tie_percent = 1;
std::string answer_of(const Outputs& out, const Run& run);
/// What this does not know in this state: at most `unknown_most` lines, each a sentence.
inline constexpr std::size_t unknown_most = 6;
std::vector<std::string> unknown_lines(const Inputs& in, const models::parallel::PlannerJob& job);
std::string_view software_label(models::parallel::StackId id);  ///< "Megatron Core", as the choice has it
/// Puts a point into the inputs.
void choose(Inputs& in, const models::parallel::PlanPoint& point);

Computed compute(const Inputs& in, Progress& progress, Searches& searches);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_card(const PlanCard& card, std::string_view heading, ImU32 colour, double wall_bytes, ImVec2 size);
/// Your plan beside the fastest, and the single changes between them: a press makes a tread's plan yours, and one on
/// yours shows its card.
void draw_way(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// What this does not know, and the height that all its lines take.
void draw_unknown(const Picture& picture, ImVec2 size);
float unknown_height(const Picture& picture);
void draw_lost(const Outputs& out, const Picture& picture, ImVec2 size);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, PlanRow& row);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::distributed::planner
