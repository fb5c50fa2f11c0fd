#include <algorithm>
#include <cmath>

#include "chapters/fleet/sharing/lab.h"
#include "models/base/integer_math.h"
#include "models/serving/arrivals/queueing.h"

namespace chapters::fleet::sharing {

using namespace models::fleet;
using models::as_double;

namespace {

constexpr double per_cent = 100;
constexpr std::array<double, 7> drawn_loads{20, 40, 60, 70, 80, 90, 100};
/// Jobs of a round for each point of the curves, at most.
constexpr std::int64_t curve_jobs = 600;
/// A mean wait in theory that is shorter is none.
constexpr double no_wait_s = 1e-9;

/// A rule that the same jobs are run under.
struct Rule {
  std::string_view words;
  QueueOrder order;
  ShelfPacking packing;
  bool migrate;
  bool reserve;  ///< a quarter of the shelves for whole-shelf jobs
};
constexpr std::array<Rule, 6> compared_rules{{
    {"in line", QueueOrder::fifo, ShelfPacking::best_fit, false, false},
    {"in line, worst fit", QueueOrder::fifo, ShelfPacking::worst_fit, false, false},
    {"in line, jobs moved", QueueOrder::fifo, ShelfPacking::best_fit, true, false},
    {"backfill", QueueOrder::backfill, ShelfPacking::best_fit, false, false},
    {"whoever fits", QueueOrder::any_fit, ShelfPacking::best_fit, false, false},
    {"whoever fits, some reserved", QueueOrder::any_fit, ShelfPacking::best_fit, false, true},
}};

/// Waits of a run: all, the smallest size, and those that need whole shelves.
struct Waits {
  double all = 0, smallest = Outputs::none, whole = Outputs::none, waited = 0;
};

Waits waits_of(const QueueSetup& setup, const QueueRun& run) {
  double all = 0, small = 0, whole = 0;
  std::int64_t waited = 0, smalls = 0, wholes = 0;
  for (std::size_t i = run.first; i < run.jobs.size(); ++i) {
    const QueuedJob& j = run.jobs[i];
    all += j.wait_s();
    waited += j.wait_s() > 0 ? 1 : 0;
    if (j.kind == 0) {
      small += j.wait_s();
      ++smalls;
    }
    if (setup.mix.kinds[j.kind].shape.large()) {
      whole += j.wait_s();
      ++wholes;
    }
  }
  const double count = static_cast<double>(run.jobs.size() - run.first);
  Waits out{.all = all / count, .waited = per_cent * as_double(waited) / count};
  if (smalls > 0) out.smallest = small / as_double(smalls);
  if (wholes > 0) out.whole = whole / as_double(wholes);
  return out;
}

/// How much work stands in line at a moment: places x run time.
double work_in_line(const QueueSetup& setup, const QueueRun& run, double at_s) {
  double work = 0;
  for (const QueuedJob& j : run.jobs)
    if (j.arrival_s <= at_s && at_s < j.start_s) work += j.run_s * setup.mix.kinds[j.kind].shape.total();
  return work;
}

/// Jobs on both sockets, of those that one socket would hold.
double crossing_of(const QueueSetup& setup, const QueueRun& run) {
  double crossing = 0, all = 0;
  for (std::size_t i = run.first; i < run.jobs.size(); ++i) {
    const ShelfShape& shape = setup.mix.kinds[run.jobs[i].kind].shape;
    if (!shape.at.empty() || shape.places < 2 || 2 * shape.places > shelf_places) continue;
    all += 1;
    crossing += run.jobs[i].crosses ? 1 : 0;
  }
  return all > 0 ? per_cent * crossing / all : Outputs::none;
}

void fill_sizes(const QueueSetup& setup, const QueueRun& run, Outputs& out) {
  const auto& kinds = setup.mix.kinds;
  std::vector<double> work(kinds.size(), 0), wait(kinds.size(), 0), waited(kinds.size(), 0), jobs(kinds.size(), 0);
  double all = 0;
  for (std::size_t i = run.first; i < run.jobs.size(); ++i) {
    const QueuedJob& j = run.jobs[i];
    const double w = j.run_s * kinds[j.kind].shape.total();
    work[j.kind] += w;
    all += w;
    wait[j.kind] += j.wait_s();
    waited[j.kind] += j.wait_s() > 0 ? 1 : 0;
    jobs[j.kind] += 1;
  }
  const double count = static_cast<double>(run.jobs.size() - run.first);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    if (!(jobs[k] > 0)) continue;
    out.sizes.push_back({.size = shape_words(kinds[k]),
                         .jobs = static_cast<std::int64_t>(jobs[k]),
                         .jobs_share = per_cent * jobs[k] / count,
                         .time_share = per_cent * work[k] / all,
                         .mean_wait_s = wait[k] / jobs[k],
                         .waited = per_cent * waited[k] / jobs[k]});
  }
}

void fill_queue(const QueueSetup& setup, const QueueRun& run, Outputs& out) {
  out.used = per_cent * run.shares.used;
  out.idle = per_cent * run.shares.idle;
  out.held_back = per_cent * run.shares.held_back;
  out.stranded = per_cent * run.shares.stranded;
  out.in_pieces = per_cent * run.shares.in_pieces;
  const Waits waits = waits_of(setup, run);
  out.mean_wait_s = waits.all;
  out.small_wait_s = waits.smallest;
  out.large_wait_s = waits.whole;
  out.waited = waits.waited;
  out.mean_queue = run.mean_queue;
  out.moves = run.moves;
  out.spread_jobs = run.spread;
  out.places = as_double(setup.shelves * shelf_places);
  for (const JobKind& kind : setup.mix.kinds) out.mean_places += kind.share * kind.shape.total();
  out.mean_run_s = setup.mix.durations.mean();
  double run_s = 0;
  for (std::size_t i = run.first; i < run.jobs.size(); ++i) run_s += run.jobs[i].run_s;
  out.wait_over_run = out.mean_wait_s * static_cast<double>(run.jobs.size() - run.first) / run_s;
  out.growth = per_cent * std::max(0.0, work_in_line(setup, run, run.to_s) - work_in_line(setup, run, run.from_s)) /
               (out.places * (run.to_s - run.from_s));
  out.crossing = crossing_of(setup, run);
  const double rate = setup.load * out.places / mean_work(setup.mix);
  out.arrivals_per_hour = 3600 * rate;
  out.left_out = per_cent * setup.mix.left_out;
  // The same work as jobs of one place each: more of them, as long.
  if (const auto wait = models::mmc_wait_s(setup.shelves * shelf_places, rate * out.mean_places, out.mean_run_s))
    out.pooled_wait_s = *wait < no_wait_s ? 0 : *wait;
  fill_sizes(setup, run, out);
}

/// False where it was cancelled.
bool fill_rules(const QueueSetup& setup, Outputs& out, Progress& progress) {
  for (const Rule& rule : compared_rules) {
    QueueSetup s = setup;
    s.order = rule.order;
    s.packing = rule.packing;
    s.migrate = rule.migrate;
    s.reserved = rule.reserve ? setup.shelves / 4 : 0;
    const QueueRun run = run_sharing_queue(s, &progress.cancelled);
    if (run.cancelled) return false;
    const Waits waits = waits_of(s, run);
    out.rules.push_back({.rule = std::string(rule.words),
                         .used = per_cent * run.shares.used,
                         .stranded = per_cent * run.shares.stranded,
                         .held_back = per_cent * run.shares.held_back,
                         .mean_wait_s = waits.all,
                         .paused_s = as_double(run.moves) * s.move_s / static_cast<double>(run.jobs.size()),
                         .small_wait_s = waits.smallest,
                         .large_wait_s = waits.whole});
    if (out.best_rule.empty() || waits.all < out.best_wait_s) {
      out.best_rule = rule.words;
      out.best_wait_s = waits.all;
      out.best_paused_s = out.rules.back().paused_s;
    }
    progress.fraction = 0.1 + 0.4 * static_cast<double>(out.rules.size()) / compared_rules.size();
  }
  return true;
}

double shown_at(const Inputs& in, const QueueRun& run) {
  return in.moment > 0 ? run.from_s + (run.to_s - run.from_s) * in.moment / per_cent : run.worst_s;
}

void fill_moment(const QueueSetup& setup, double at_s, Run& run, Outputs& out) {
  const FleetMoment& moment = run.moment;
  out.moment_at_s = at_s - run.queue.from_s;
  for (std::size_t s = 0; s < moment.taken.size(); ++s) {
    const double free = free_places(moment.taken[s]);
    out.moment_free += free;
    out.moment_used += shelf_places - free;
    out.empty_shelves += moment.taken[s] == 0 ? 1 : 0;
    if (!moment.waiting.empty()) (moment.wanted[s] == 0 ? out.moment_stranded : out.moment_held_back) += free;
  }
  out.moment_waiting = static_cast<double>(moment.waiting.size());
  if (moment.waiting.empty()) return;
  const std::uint32_t first = moment.waiting.front();
  const double starts_s = run.queue.jobs[first].start_s;
  out.first_places = setup.mix.kinds[run.queue.jobs[first].kind].shape.total();
  out.first_starts_s = starts_s - at_s;
  for (const Stay& stay : run.queue.stays)
    if (stay.job == first && stay.from_s == starts_s) run.ahead.push_back(stay);
  for (const Stay& stay : moment.stays)
    if (stay.to_s == starts_s) run.holds_up = stay.job;
}

/// The window in short: places used and jobs that wait, at even distances.
std::vector<StripPoint> strip_of(const QueueRun& run) {
  std::vector<StripPoint> strip(strip_points);
  // Differences at the points, then their running sums.
  std::vector<double> used(strip_points + 1, 0), waiting(strip_points + 1, 0);
  const double step = (run.to_s - run.from_s) / static_cast<double>(strip_points - 1);
  const auto first_at = [&](double at_s) {
    const double at = std::ceil((at_s - run.from_s) / step);
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(strip_points)));
  };
  for (const Stay& s : run.stays) {
    const double n = std::popcount(s.places);
    used[first_at(s.from_s)] += n;
    used[first_at(s.to_s)] -= n;
  }
  for (const QueuedJob& j : run.jobs) {
    waiting[first_at(j.arrival_s)] += 1;
    waiting[first_at(j.start_s)] -= 1;
  }
  double u = 0, w = 0;
  for (std::size_t i = 0; i < strip_points; ++i) {
    u += used[i];
    w += waiting[i];
    strip[i] = {u, w};
  }
  return strip;
}

bool fill_loads(const QueueSetup& setup, Run& run, Progress& progress) {
  QueueSetup s = setup;
  s.jobs = std::min(setup.jobs, curve_jobs);
  for (const double load : drawn_loads) {
    LoadPoint point{.load = load};
    s.load = point.load / per_cent;
    for (std::size_t order = 0; order < queue_order_count; ++order) {
      s.order = static_cast<QueueOrder>(order);
      const QueueRun queue = run_sharing_queue(s, &progress.cancelled);
      if (queue.cancelled) return false;
      point.used[order] = per_cent * queue.shares.used;
      point.mean_wait_s[order] = waits_of(s, queue).all;
    }
    run.loads.push_back(point);
    progress.fraction = 0.5 + 0.5 * static_cast<double>(run.loads.size()) / drawn_loads.size();
  }
  return true;
}

std::string fault_of(const Inputs& in, const QueueSetup& setup) {
  const auto& kinds = setup.mix.kinds;
  const bool small = std::any_of(kinds.begin(), kinds.end(), [](const JobKind& k) { return !k.shape.large(); });
  if (small && in.reserved >= in.shelves)
    return "All shelves are kept for whole-shelf jobs, and smaller ones could never start: reserve fewer.";
  if (in.way == SharingWay::mig && (in.profile == 5 || in.profile == 6))
    return "There is no instance of " + std::to_string(in.profile) + " compute slices: choose 1, 2, 3, 4 or 7.";
  if (!(std::max(in.compute_s, in.bytes_s) + in.host_s > 0) || !(std::max(in.noisy_compute_s, in.noisy_bytes_s) > 0))
    return "A step takes no time at all: give arithmetic, bytes or host time to your job, and work to its neighbour.";
  return {};
}

}  // namespace

QueueSetup setup_of(const Inputs& in) {
  const bool whole_gpus = in.mix != Mix::slices;
  return {.shelves = in.shelves,
          .mix = job_mix(in.mix, std::max<std::int64_t>(1, in.shelves * shelf_places / 2)),
          .load = in.load / per_cent,
          .jobs = in.jobs,
          .seed = in.seed,
          .order = in.order,
          .packing = in.packing,
          .migrate = in.migrate,
          .move_s = in.move_s,
          .reserved = std::min(in.reserved, in.shelves),
          .one_shelf = in.one_shelf || !whole_gpus,
          .spread_cost = in.spread_cost / per_cent,
          .half = in.half,
          .cross_cost = in.cross_cost / per_cent,
          .twice = true};
}

std::string shape_words(const JobKind& kind) {
  if (!kind.profile.empty()) return std::string(kind.profile);
  const int gpus = kind.shape.total();
  return gpus == 1 ? "1 GPU" : std::to_string(gpus) + " GPUs";
}

Computed compute(const Inputs& in, Progress& progress) {
  const QueueSetup setup = setup_of(in);
  if (std::string fault = fault_of(in, setup); !fault.empty()) return infeasible<Computed>(std::move(fault));
  const std::string cancelled = "The simulation was stopped.";
  Computed done;
  auto run = std::make_shared<Run>();
  run->queue = run_sharing_queue(setup, &progress.cancelled);
  if (run->queue.cancelled) return infeasible<Computed>(cancelled);
  progress.fraction = 0.1;
  Outputs& out = done.facts;
  fill_queue(setup, run->queue, out);
  if (!fill_rules(setup, out, progress)) return infeasible<Computed>(cancelled);
  const double at_s = shown_at(in, run->queue);
  run->moment = fleet_moment(setup, run->queue, at_s);
  fill_moment(setup, at_s, *run, out);
  fill_one_gpu(in, out);
  if (progress.facts_alone) return done;
  run->strip = strip_of(run->queue);
  run->strip_at = (at_s - run->queue.from_s) / (run->queue.to_s - run->queue.from_s);
  if (in.focus == Focus::gpu) {
    fill_timeline(in, out, *run);
    fill_crowd(in, out, *run);
  } else if (!fill_loads(setup, *run, progress)) {
    return infeasible<Computed>(cancelled);
  }
  run->setup = setup;
  done.run = std::move(run);
  return done;
}

}  // namespace chapters::fleet::sharing
