#include "models/fleet/sharing_queue.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "models/base/counter_random.h"
#include "models/base/integer_math.h"
#include "models/fleet/sharing_floor.h"

namespace models::fleet {
namespace {

/// Uses of the seed.
enum class Luck : std::uint64_t { arrivals = 1, kinds, runs };
std::uint64_t luck_of(std::int64_t seed, Luck use) { return random_stream(seed, static_cast<std::uint64_t>(use)); }

/// Jobs behind the first that backfilling looks at, as Slurm's bf_max_job_test limits it.
constexpr std::size_t backfill_depth = 200;

std::vector<QueuedJob> draw_jobs(const QueueSetup& setup) {
  std::vector<QueuedJob> jobs(static_cast<std::size_t>(setup.jobs));
  const double rate = setup.load * as_double(setup.shelves * shelf_places) / mean_work(setup.mix);
  const std::uint64_t gaps = luck_of(setup.seed, Luck::arrivals), kinds = luck_of(setup.seed, Luck::kinds),
                      runs = luck_of(setup.seed, Luck::runs);
  double now = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    now -= std::log(open_draw(gaps, i)) / rate;
    double u = unit_draw(kinds, i);
    std::uint32_t kind = 0;
    while (kind + 1 < setup.mix.kinds.size() && u >= setup.mix.kinds[kind].share) u -= setup.mix.kinds[kind++].share;
    jobs[i] = {.kind = kind, .arrival_s = now, .run_s = setup.mix.durations.at(open_draw(runs, i))};
  }
  if (!setup.twice) return jobs;
  double work = 0;
  for (const QueuedJob& j : jobs) work += j.run_s * setup.mix.kinds[j.kind].shape.total();
  const double factor = setup.load * as_double(setup.shelves * shelf_places) * now / work;
  const std::size_t round = jobs.size();
  jobs.reserve(2 * round);
  for (std::size_t i = 0; i < round; ++i) {
    jobs[i].run_s *= factor;
    jobs.push_back(jobs[i]);
    jobs.back().arrival_s += now;
  }
  return jobs;
}

constexpr std::uint32_t nobody = 0xFFFF'FFFF;

class SharingQueue {
 public:
  SharingQueue(const QueueSetup& setup, std::vector<QueuedJob> jobs)
      : setup_(setup),
        floor_(setup),
        pieces_of_(jobs.size()),
        stays_of_(jobs.size()),
        waiting_kinds_(setup.mix.kinds.size(), 0) {
    run_.jobs = std::move(jobs);
    run_.first = run_.jobs.size() / (setup.twice ? 2 : 10);
    run_.from_s = run_.jobs[setup.twice ? run_.first - 1 : run_.first].arrival_s;
    run_.to_s = run_.jobs.back().arrival_s;
    run_.worst_s = (run_.from_s + run_.to_s) / 2;
  }

  QueueRun run(const std::atomic<bool>* cancelled) {
    std::size_t next = 0;
    while (next < run_.jobs.size() || !running_.empty()) {
      if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed)) {
        run_.cancelled = true;
        return std::move(run_);
      }
      const bool arrives =
          next < run_.jobs.size() && (running_.empty() || run_.jobs[next].arrival_s < running_.begin()->first);
      const double now = arrives ? run_.jobs[next].arrival_s : running_.begin()->first;
      pass_time(now);
      if (arrives) {
        waiting_.push_back(static_cast<std::uint32_t>(next));
        ++waiting_kinds_[run_.jobs[next].kind];
        ++next;
      } else {
        end(running_.begin()->second);
      }
      start_all(now);
    }
    finish_shares();
    return std::move(run_);
  }

 private:
  const ShelfShape& shape_of(std::uint32_t job) const { return floor_.shape(run_.jobs[job].kind); }

  /// Adds up what stood how until now.
  void pass_time(double now) {
    const double from = std::max(now_, run_.from_s), to = std::min(now, run_.to_s);
    now_ = now;
    if (!(to > from)) return;
    const double span = to - from, free = as_double(floor_.free_places_all());
    run_.shares.used += span * as_double(floor_.used_places());
    run_.mean_queue += span * static_cast<double>(waiting_.size());
    if (waiting_.empty()) {
      run_.shares.idle += span * free;
      return;
    }
    if (span * free > most_empty_) {
      most_empty_ = span * free;
      run_.worst_s = (from + to) / 2;
    }
    const double stranded = as_double(floor_.stranded_places(waiting_kinds_));
    run_.shares.stranded += span * stranded;
    run_.shares.held_back += span * (free - stranded);
    if (floor_.free_places_all() >= shape_of(waiting_.front()).total()) run_.shares.in_pieces += span;
  }

  void finish_shares() {
    const double span = run_.to_s - run_.from_s;
    const double all = span * as_double(setup_.shelves * shelf_places);
    for (double* share : {&run_.shares.used, &run_.shares.idle, &run_.shares.held_back, &run_.shares.stranded})
      *share /= all;
    run_.shares.in_pieces /= span;
    run_.mean_queue /= span;
  }

  bool spreads(std::uint32_t job, const std::vector<ShelfPiece>& pieces) const {
    return pieces.size() > 1 && shape_of(job).shelves == 1;
  }
  bool crosses(std::uint32_t job, const std::vector<ShelfPiece>& pieces) const {
    const ShelfShape& shape = shape_of(job);
    return pieces.size() == 1 && shape.at.empty() && 2 * shape.places <= shelf_places &&
           on_both_halves(pieces.front().places);
  }
  double run_there_s(std::uint32_t job, const std::vector<ShelfPiece>& pieces) const {
    const double longer = spreads(job, pieces) ? setup_.spread_cost : crosses(job, pieces) ? setup_.cross_cost : 0;
    return run_.jobs[job].run_s * (1 + longer);
  }

  void start(std::uint32_t job, const std::vector<ShelfPiece>& pieces, double now) {
    QueuedJob& j = run_.jobs[job];
    run_.spread += spreads(job, pieces) ? 1 : 0;
    j.crosses = crosses(job, pieces);
    j.start_s = now;
    j.end_s = now + run_there_s(job, pieces);
    packed_for_ = nobody;
    floor_.put(job, pieces);
    pieces_of_[job] = pieces;
    stays_of_[job] = run_.stays.size();
    for (const ShelfPiece& p : pieces) run_.stays.push_back({job, p.shelf, p.places, now, j.end_s});
    running_.emplace(j.end_s, job);
    --waiting_kinds_[j.kind];
  }

  void end(std::uint32_t job) {
    packed_for_ = nobody;
    floor_.take(job, pieces_of_[job]);
    running_.erase({run_.jobs[job].end_s, job});
    pieces_of_[job] = {};
  }

  /// Moves jobs together so that the first fits: each stands still for `move_s` and ends so much later.
  bool make_room(std::uint32_t first, double now) {
    if (!setup_.migrate || packed_for_ == first) return false;
    if (!floor_.plan_moves(run_.jobs[first].kind, moves_)) {
      packed_for_ = first;
      return false;
    }
    for (const RoomMove& m : moves_) {
      QueuedJob& j = run_.jobs[m.job];
      running_.erase({j.end_s, m.job});
      floor_.take(m.job, pieces_of_[m.job]);
      run_.stays[stays_of_[m.job]].to_s = now;
      j.end_s += setup_.move_s;
      pieces_of_[m.job] = {m.to};
      floor_.put(m.job, pieces_of_[m.job]);
      stays_of_[m.job] = run_.stays.size();
      run_.stays.push_back({m.job, m.to.shelf, m.to.places, now, j.end_s});
      running_.emplace(j.end_s, m.job);
      ++run_.moves;
    }
    return true;
  }

  /// Starts the waiting job at this place of the queue if it fits.
  bool start_at(std::size_t at, double now) {
    const std::uint32_t job = waiting_[at];
    if (!floor_.find(run_.jobs[job].kind, found_)) return false;
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
    start(job, found_, now);
    return true;
  }

  void start_all(double now) {
    while (!waiting_.empty()) {
      if (start_at(0, now)) continue;
      if (make_room(waiting_.front(), now)) continue;
      break;
    }
    if (waiting_.size() < 2 || setup_.order == QueueOrder::fifo) return;
    if (setup_.order == QueueOrder::any_fit)
      start_any(now);
    else
      start_behind(now);
  }

  /// Kinds that wait and have not been tried in vain.
  bool all_tried() const {
    for (std::size_t k = 0; k < tried_.size(); ++k)
      if (tried_[k] == 0 && waiting_kinds_[k] > 0) return false;
    return true;
  }

  void start_any(double now) {
    tried_.assign(waiting_kinds_.size(), 0);
    for (std::size_t i = 1; i < waiting_.size() && !all_tried();) {
      const std::uint32_t kind = run_.jobs[waiting_[i]].kind;
      if (tried_[kind] != 0 || !start_at(i, now)) {
        tried_[kind] = 1;
        ++i;
      }
    }
  }

  /// When the first job can start at the latest, if nobody else comes, and how the shelves stand then. What ends only
  /// makes more room, so the number of jobs that must end is found by halving.
  double start_of_first(std::vector<Places>& then) {
    ends_.assign(running_.begin(), running_.end());
    const std::size_t kind = run_.jobs[waiting_.front()].kind;
    const auto after = [&](std::size_t count) {
      then = floor_.taken();
      for (std::size_t i = 0; i < count; ++i)
        for (const ShelfPiece& p : pieces_of_[ends_[i].second])
          then[p.shelf] = static_cast<Places>(then[p.shelf] & ~p.places);
    };
    std::size_t lo = 1, hi = ends_.size();  // an empty fleet holds every job of its mix that may use it
    while (lo < hi) {
      const std::size_t middle = (lo + hi) / 2;
      after(middle);
      if (floor_.find_in(then, kind, shadow_))
        hi = middle;
      else
        lo = middle + 1;
    }
    after(hi);
    return hi > 0 ? ends_[hi - 1].first : now_;
  }

  void start_behind(double now) {
    tried_.assign(waiting_kinds_.size(), 0);
    const std::size_t first_kind = run_.jobs[waiting_.front()].kind;
    tried_[first_kind] = 1;
    bool known = false;
    double by = 0;
    std::size_t looked = 0;
    for (std::size_t i = 1; i < waiting_.size() && looked < backfill_depth && !all_tried(); ++looked) {
      const std::uint32_t job = waiting_[i];
      const QueuedJob& j = run_.jobs[job];
      if (tried_[j.kind] != 0 || !floor_.find(j.kind, found_)) {
        tried_[j.kind] = 1;
        ++i;
        continue;
      }
      if (!known) by = start_of_first(then_);
      known = true;
      if (now + run_there_s(job, found_) > by) {
        after_ = then_;
        bool room = true;
        for (const ShelfPiece& p : found_) {
          room = room && (after_[p.shelf] & p.places) == 0;
          after_[p.shelf] = static_cast<Places>(after_[p.shelf] | p.places);
        }
        if (!room || !floor_.find_in(after_, first_kind, shadow_)) {
          ++i;
          continue;
        }
        then_ = after_;
      }
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      start(job, found_, now);
    }
  }

  const QueueSetup& setup_;
  SharingFloor floor_;
  QueueRun run_;
  std::vector<std::vector<ShelfPiece>> pieces_of_;
  std::vector<std::size_t> stays_of_;
  std::vector<std::uint32_t> waiting_;        ///< jobs in the order of arrival
  std::vector<std::uint32_t> waiting_kinds_;  ///< how many of each kind wait
  std::set<std::pair<double, std::uint32_t>> running_;
  std::vector<ShelfPiece> found_, shadow_;
  std::vector<RoomMove> moves_;
  std::vector<Places> then_, after_;
  std::vector<std::pair<double, std::uint32_t>> ends_;
  std::vector<std::uint8_t> tried_;
  double now_ = 0, most_empty_ = 0;
  std::uint32_t packed_for_ = nobody;  ///< the first in line for whom no moves made room, as the shelves are now
};

}  // namespace

FleetMoment fleet_moment(const QueueSetup& setup, const QueueRun& run, double at_s) {
  FleetMoment out;
  SharingFloor floor(setup);
  for (const Stay& stay : run.stays) {
    if (!(stay.from_s <= at_s && at_s < stay.to_s)) continue;
    out.stays.push_back(stay);
    floor.put(stay.job, {{stay.shelf, stay.places}});
  }
  std::vector<std::uint32_t> kinds(setup.mix.kinds.size(), 0);
  for (std::size_t i = 0; i < run.jobs.size() && run.jobs[i].arrival_s <= at_s; ++i) {
    if (run.jobs[i].start_s <= at_s) continue;
    out.waiting.push_back(static_cast<std::uint32_t>(i));
    ++kinds[run.jobs[i].kind];
  }
  out.taken = floor.taken();
  const std::size_t whole = floor.empty_shelves();
  for (std::size_t s = 0; s < floor.shelves(); ++s) out.wanted.push_back(floor.wanted(s, kinds, whole) ? 1 : 0);
  return out;
}

double mean_work(const JobMix& mix) {
  double places = 0;
  for (const JobKind& kind : mix.kinds) places += kind.share * kind.shape.total();
  return places * mix.durations.mean();
}

QueueRun run_sharing_queue(const QueueSetup& setup, const std::atomic<bool>* cancelled) {
  return run_sharing_queue(setup, draw_jobs(setup), cancelled);
}

QueueRun run_sharing_queue(const QueueSetup& setup, std::vector<QueuedJob> jobs, const std::atomic<bool>* cancelled) {
  return SharingQueue(setup, std::move(jobs)).run(cancelled);
}

}  // namespace models::fleet
