#include "models/hang/hang_simulation.h"

#include <algorithm>
#include <map>

#include "models/base/counter_random.h"
#include "models/hang/flight_match.h"
#include "models/hang/hang_parts.h"
#include "models/hang/hang_program.h"

namespace models::hang {
namespace {

constexpr double call_s = 0.8e-3;     ///< a collective once all are there
constexpr double compute_s = 1.5e-3;  ///< a rank's own work before a call, on average
constexpr double enqueue_s = 40e-6;   ///< a host that runs ahead, per call
constexpr std::int64_t machine_ranks = 8;
constexpr std::int64_t start_ns = 1'795'312'480'000'000'000;

/// Where a rank is.
struct HangRank {
  std::size_t recorded = 0, done = 0;  ///< calls that the host has made, and that have ended
  double device_s = 0;
  std::vector<double> created_s, ended_s;  ///< by call
  bool arrived = false;                    ///< at the call behind the last that has ended
};

/// One collective, or one message: who has come.
struct HangMeeting {
  std::vector<std::int32_t> ranks;
  double latest_s = 0;
};

class HangSimulator {
 public:
  explicit HangSimulator(const HangJob& job)
      : job_(job),
        programs_(make_programs(job)),
        stream_(random_stream(job.seed, 0x49)),
        ranks_(programs_.ranks.size()) {
    number();
    for (std::size_t r = 0; r < ranks_.size(); ++r) queue_.push_back(r);
    while (!queue_.empty()) {
      const std::size_t r = queue_.back();
      queue_.pop_back();
      advance(r);
    }
  }

  SimulatedHang result() {
    SimulatedHang out;
    out.culprits = programs_.culprits;
    out.step = programs_.step;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      out.hung |= ranks_[r].done < programs_.ranks[r].size();
      if (programs_.died && static_cast<std::int64_t>(r) == programs_.culprits.front()) continue;
      out.dumps.push_back(dump(r));
    }
    return out;
  }

 private:
  const ProgramCall& call(std::size_t r, std::size_t i) const { return programs_.ranks[r][i]; }

  /// Numbers each call in its group, or in its pair of a group.
  void number() {
    sequence_.resize(ranks_.size());
    std::map<CallKey, std::size_t> counts;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      counts.clear();
      for (const ProgramCall& c : programs_.ranks[r])
        sequence_[r].push_back(static_cast<std::int32_t>(++counts[{c.group, c.source, c.destination}]));
    }
  }
  HangMeeting& meeting(std::size_t r, std::size_t i) {
    const ProgramCall& c = call(r, i);
    return meetings_[{c.group, c.source, c.destination, sequence_[r][i]}];
  }

  /// The host records what it may, then the device comes to its next call.
  void advance(std::size_t r) {
    HangRank& rank = ranks_[r];
    const std::vector<ProgramCall>& program = programs_.ranks[r];
    while (rank.recorded < program.size() && may_record(r)) {
      const std::size_t i = rank.recorded;
      const double draw = unit_draw(stream_, i * ranks_.size() + r);
      const double before = i == 0 ? 0.01 * unit_draw(stream_, 1'000'003 + r) : rank.created_s[i - 1] + enqueue_s;
      const auto ahead = index_of(job_.ahead);
      const double waited = i > ahead ? rank.ended_s[i - 1 - ahead] : 0;
      // Without running ahead the rank's own work lies before the call, otherwise behind it on the device.
      const double own = job_.ahead == 0 ? compute_s * 2 * draw : 0.1 * enqueue_s * draw;
      rank.created_s.push_back(std::max(before, waited) + own + program[i].delay_s);
      ++rank.recorded;
    }
    if (rank.arrived || rank.done >= rank.recorded) return;
    rank.arrived = true;
    const std::size_t i = rank.done;
    const double at = std::max(rank.created_s[i], rank.device_s) +
                      (job_.ahead == 0 ? 0 : compute_s * unit_draw(stream_, 7'000'003 + i * ranks_.size() + r));
    HangMeeting& m = meeting(r, i);
    m.ranks.push_back(static_cast<std::int32_t>(r));
    m.latest_s = std::max(m.latest_s, at);
    if (ends(r, i, m)) end(m);
  }
  bool may_record(std::size_t r) const {
    const HangRank& rank = ranks_[r];
    const std::size_t i = rank.recorded;
    if (call(r, i).stop || i > rank.done + index_of(job_.ahead)) return false;
    // At the end of a step the host reads the loss.
    return i == rank.done || call(r, i).step == call(r, rank.done).step;
  }

  bool ends(std::size_t r, std::size_t i, const HangMeeting& m) const {
    const ProgramCall& c = call(r, i);
    const JobGroup& group = programs_.groups[index_of(c.group)];
    const std::size_t members = c.source >= 0 ? 2 : group.members.size();
    if (m.ranks.size() < members) return false;
    for (const std::int32_t other : m.ranks) {
      const ProgramCall& theirs = call(index_of(other), ranks_[index_of(other)].done);
      if (theirs.root != c.root) return false;
      if (c.source < 0 && theirs.call != c.call &&
          match_calls(programs_.calls[index_of(c.call)], CallState::started, programs_.calls[index_of(theirs.call)],
                      CallState::started, static_cast<std::int64_t>(members)) != CallMatch::matched)
        return false;
    }
    return true;
  }
  void end(const HangMeeting& m) {
    for (const std::int32_t other : m.ranks) {
      HangRank& rank = ranks_[index_of(other)];
      rank.device_s = m.latest_s + call_s;
      rank.ended_s.push_back(rank.device_s);
      ++rank.done;
      rank.arrived = false;
      queue_.push_back(index_of(other));
    }
  }

  /// How far the clock of the rank's machine is off.
  double clock_s(std::size_t r) const {
    if (job_.ranks() <= machine_ranks) return 0;
    return 4 * unit_draw(random_stream(job_.seed, 0x4A), r / index_of(machine_ranks)) - 2;
  }

  FlightDump dump(std::size_t r) const {
    FlightDump out;
    out.rank = static_cast<std::int64_t>(r);
    const HangRank& rank = ranks_[r];
    std::vector<std::int32_t> groups(programs_.groups.size(), -1), calls(programs_.calls.size(), -1);
    std::vector<std::int64_t> collectives(programs_.groups.size(), 0), messages(programs_.groups.size(), 0);
    const std::size_t kept = std::min(rank.recorded, index_of(std::max<std::int64_t>(1, job_.ring)));
    for (std::size_t i = 0; i < rank.recorded; ++i) {
      const ProgramCall& c = call(r, i);
      std::int32_t &group = groups[index_of(c.group)], &what = calls[index_of(c.call)];
      if (group < 0) {
        const JobGroup& g = programs_.groups[index_of(c.group)];
        group = static_cast<std::int32_t>(out.groups.size());
        out.groups.push_back({g.name, g.description, g.members});
        out.status.push_back({std::to_string(group), 0, 0, 0});
      }
      if (what < 0) {
        what = static_cast<std::int32_t>(out.calls.size());
        out.calls.push_back(programs_.calls[index_of(c.call)]);
      }
      const bool message = c.source >= 0;
      ++(message ? messages : collectives)[index_of(c.group)];
      FlightStatus& status = out.status[index_of(group)];
      if (!message) {
        status.enqueued = collectives[index_of(c.group)];
        if (i <= rank.done) status.started = status.enqueued;
        if (i < rank.done) status.completed = status.enqueued;
      }
      if (i + kept < rank.recorded) continue;
      out.entries.push_back({.record = static_cast<std::int64_t>(i),
                             .group = group,
                             .call = what,
                             .sequence = collectives[index_of(c.group)],
                             .p2p_sequence = messages[index_of(c.group)],
                             .created_ns = start_ns + static_cast<std::int64_t>((rank.created_s[i] + clock_s(r)) * 1e9),
                             .timeout_ms = static_cast<std::int64_t>(job_.timeout_s * 1e3),
                             .state = i < rank.done    ? CallState::completed
                                      : i == rank.done ? CallState::started
                                                       : CallState::scheduled,
                             .p2p = message,
                             .retired = i < rank.done});
    }
    for (std::int64_t i = 0; i < job_.ranks(); ++i) out.listed_ranks.push_back(i);
    return out;
  }

  const HangJob& job_;
  HangPrograms programs_;
  std::uint64_t stream_;
  std::vector<HangRank> ranks_;
  std::vector<std::vector<std::int32_t>> sequence_;
  std::map<CallKey, HangMeeting> meetings_;
  std::vector<std::size_t> queue_;
};

}  // namespace

SimulatedHang simulate_hang(const HangJob& job) { return HangSimulator(job).result(); }

}  // namespace models::hang
