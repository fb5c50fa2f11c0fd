#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/described_table.h"
#include "chapters/mechanism/field.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/lab_doors.h"
#include "chapters/mechanism/published_panel.h"
#include "models/fleet/gpu_neighbours.h"
#include "models/fleet/gpu_timeline.h"
#include "models/fleet/sharing_queue.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"
#include "widgets/stage/stage.h"

/// A fleet as shelves and jobs as blocks on them: what stands empty while somebody waits, and what jobs on one GPU take
/// from each other.
namespace chapters::fleet::sharing {

/// What the answer and the first picture are about.
enum class Focus : std::uint8_t { fleet, gpu };

/// Defaults: jobs like those of Kalos on 128 GPUs; the steps of the tenants are examples.
struct Inputs {
  Focus focus = Focus::fleet;
  models::fleet::Mix mix = models::fleet::Mix::kalos;
  std::int64_t shelves = 16;
  double load = 80;  ///< %
  models::fleet::QueueOrder order = models::fleet::QueueOrder::fifo;
  models::fleet::ShelfPacking packing = models::fleet::ShelfPacking::best_fit;
  bool migrate = false;
  double move_s = 300;
  std::int64_t reserved = 0;
  bool one_shelf = true;
  double spread_cost = 20;  ///< %
  models::fleet::HalfRule half = models::fleet::HalfRule::any;
  double cross_cost = 0;  ///< %
  double moment = 0;      ///< % of the window; 0: the moment with most empty places while somebody waits
  std::int64_t jobs = 600, seed = 21;
  // One GPU.
  models::fleet::SharingWay way = models::fleet::SharingWay::mps;
  std::int64_t tenants = 4;
  double compute_s = 2e-3, bytes_s = 3e-3, host_s = 9e-3;
  double noisy_compute_s = 2e-3, noisy_bytes_s = 1.2e-2, noisy_host_s = 1e-3;
  double sm_limit = 100;  ///< %
  double slice_s = 2e-3, switch_s = 2e-4;
  std::int64_t profile = 2;  ///< the compute slices of the instance: 1, 2, 3, 4 or 7
  double host_bytes = 0;
  bool remote = false;
  double link_bytes_per_s = 55e9, cross_bytes_per_s = 60e9;
  std::int64_t sharers = 4;
  bool operator==(const Inputs&) const = default;
};

/// Jobs of one size.
struct SizeRow {
  std::string size;
  std::int64_t jobs = 0;
  double jobs_share = 0, time_share = 0;  ///< %
  double mean_wait_s = 0, waited = 0;     ///< the latter in %
};
/// The same jobs under another rule.
struct RuleRow {
  std::string rule;
  double used = 0, stranded = 0, held_back = 0;  ///< %
  double mean_wait_s = 0, paused_s = 0;
  double small_wait_s = std::numeric_limits<double>::quiet_NaN(),
         large_wait_s = std::numeric_limits<double>::quiet_NaN();
};
/// A job on the GPU.
struct TenantRow {
  std::string tenant;
  double alone_s = 0, step_s = 0, host_s = 0, slowdown = 1;
  double sms_alone = 0, bandwidth_alone = 0;  ///< %
};

struct Outputs {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::string reason;
  double used = 0, idle = 0, held_back = 0, stranded = 0, in_pieces = 0;  ///< %
  double growth = 0;                                                      ///< %
  double mean_wait_s = 0, small_wait_s = none, large_wait_s = none, waited = 0, mean_queue = 0, wait_over_run = 0;
  double pooled_wait_s = none;
  double places = 0, mean_places = 0, mean_run_s = 0, arrivals_per_hour = 0, left_out = 0;
  std::int64_t moves = 0, spread_jobs = 0;
  double crossing = none;  ///< %
  double moment_used = 0, moment_free = 0, moment_held_back = 0, moment_stranded = 0, moment_waiting = 0,
         moment_at_s = 0;
  double first_places = none, first_starts_s = none, empty_shelves = 0;
  double best_wait_s = 0, best_paused_s = 0;
  std::string best_rule;
  std::vector<SizeRow> sizes;
  std::vector<RuleRow> rules;
  // One GPU.
  double slowdown = 1, step_s = 0, alone_s = 0, noisy_slowdown = 1, throughput = 0, host_rate = 0, instances = none,
         memory_slices = none;
  std::int64_t placed = 1, unplaced = 0;
  models::fleet::SharedRoof roof = models::fleet::SharedRoof::compute;
  std::vector<TenantRow> tenants;
};

/// What a load gives under each order, all else as set.
struct LoadPoint {
  double load = 0;
  std::array<double, models::fleet::queue_order_count> used{}, mean_wait_s{};
};
/// How many places are used and how many jobs wait at a moment of the window.
struct StripPoint {
  double used = 0, waiting = 0;
};
/// So many jobs on one GPU, shared in each way; instances are the widest of which so many fit.
struct CrowdPoint {
  std::array<double, models::fleet::sharing_way_count> slowdown{}, done{};
};
struct Run {
  static constexpr std::uint32_t nobody = 0xFFFF'FFFF;
  models::fleet::QueueSetup setup;
  models::fleet::QueueRun queue;
  models::fleet::FleetMoment moment;
  std::vector<models::fleet::Stay> ahead;  ///< where the first in line will lie
  std::uint32_t holds_up = nobody;         ///< the job whose end it waits for, of those that lie at the moment
  std::vector<LoadPoint> loads;
  std::vector<StripPoint> strip;
  models::fleet::Timeline timeline;  ///< the jobs on one GPU, paces against the whole of it
  std::vector<CrowdPoint> crowd;     ///< 1 job, 2 jobs and so on
  double timeline_from_s = 0;        ///< what is before it only mixes their phases
  double strip_at = 0;               ///< where the moment lies in the window, 0 to 1
};
using Computed = chapters::Computed<Outputs, Run>;

/// A job's part on a shelf, or a job in the queue.
struct Block {
  std::uint32_t shelf = 0, job = 0;
  std::uint8_t from = 0, count = 1, hue = 0;
  bool holds_up = false;
  std::string label;
};
enum class FreeMark : std::uint8_t { idle, held_back, stranded };
struct FreePlace {
  std::uint32_t shelf = 0;
  std::uint8_t place = 0;
  FreeMark mark = FreeMark::idle;
};
/// A step as shares of the longest one: the host's part, then what the GPU takes alone, then what is added.
struct TenantBar {
  float host = 0, alone = 0, added = 0;
};
/// A stretch of a job on the GPU: from and to as shares of the time that is drawn.
struct LanePiece {
  std::uint8_t lane = 0;
  models::fleet::GpuState state = models::fleet::GpuState::host;
  float pace = 0, from = 0, to = 0;
};
struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::shared_ptr<const Run> run;
  LabDoors doors;
  PublishedMarks published;
  std::vector<Block> blocks, queue, ahead;
  std::vector<FreePlace> free;
  std::vector<std::string> shelf_names;
  std::uint32_t shelves = 0, reserved = 0, hues = 1;
  std::string shelves_title, queue_title, more_waiting, moment_words, free_words, first_words;
  bool holes = false;
  std::vector<float> strip_used, strip_waiting;  ///< 0 to 1
  double strip_at = 0;
  std::vector<widgets::Curve> waits, uses, slowdowns, done;
  double slowdown = 1, done_now = 1, slowdown_hi = 2, done_hi = 2;  ///< where the handles are, and the axes' ends
  double wait_s = 0, wait_hi_s = 1;  ///< what the handle shows: no wait where it is too short to be drawn
  std::string wait_label, use_label;
  std::vector<std::string> tenant_words;
  std::vector<TenantBar> tenants;
  std::vector<LanePiece> lanes;
  std::string lanes_title, unplaced_words;
  bool cut = false;  ///< into instances
};

struct View {
  Requests requests;
  widgets::PlotView waits, uses, slowdowns, done;
  DescribedTable<SizeRow> sizes;
  DescribedTable<RuleRow> rules;
};

/// On one GPU: an instance for each of more there is not.
inline constexpr std::int64_t max_jobs = models::fleet::mig_compute_slices;
static_assert(max_jobs <= static_cast<std::int64_t>(models::fleet::max_tenants));

/// More shelves than these are not drawn.
inline constexpr std::size_t max_drawn_shelves = 64, max_drawn_queue = 24, strip_points = 160;

Computed compute(const Inputs& in, Progress& progress);
models::fleet::QueueSetup setup_of(const Inputs& in);
std::string shape_words(const models::fleet::JobKind& kind);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
std::string answer_of(const Inputs& in, const Outputs& out);
LabDoors doors_of(const Inputs& in, const Outputs& out);
void fill_one_gpu(const Inputs& in, Outputs& out);
/// A while of the jobs on the GPU, and what more or fewer of them take from each other.
void fill_timeline(const Inputs& in, const Outputs& out, Run& run);
void fill_crowd(const Inputs& in, const Outputs& out, Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
void draw_shelves(Inputs& in, const Picture& picture, ImVec2 size);
void draw_gpu(Inputs& in, const Picture& picture, ImVec2 size);

void describe(Fields& f, SizeRow& row);
void describe(Fields& f, RuleRow& row);
void describe(Fields& f, TenantRow& row);
void describe(Fields& f, Inputs& in);
void describe(Fields& f, Outputs& out);

}  // namespace chapters::fleet::sharing
