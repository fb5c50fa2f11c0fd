#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "models/hang/flight_match.h"
#include "models/hang/hang_parts.h"

namespace models::hang {
namespace {

/// By dump and entry of a message: its answer, or the rank that has not answered; `rank` is -1 for what is no message.
class Answers {
 public:
  struct Answer {
    std::int64_t rank = -1;
    std::int32_t dump = -1, entry = -1;  ///< -1: there is none
  };
  explicit Answers(const FlightJob& job) : answers_(job.dumps.size()) {
    for (std::size_t d = 0; d < job.dumps.size(); ++d) answers_[d].resize(job.dumps[d].entries.size());
    if (job.wrapped) return;
    for (const Messages::Pair& pair : find_messages(job).pairs) {
      set(pair.sends, pair.receives, pair.destination);
      set(pair.receives, pair.sends, pair.source);
    }
  }
  const Answer& of(std::size_t dump, std::size_t entry) const { return answers_[dump][entry]; }
  bool lacking(std::size_t dump, std::size_t entry) const {
    return of(dump, entry).rank >= 0 && of(dump, entry).dump < 0;
  }

 private:
  void set(const std::vector<Messages::Side>& sides, const std::vector<Messages::Side>& others, std::int64_t rank) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      Answer& to = answers_[index_of(sides[i].dump)][index_of(sides[i].entry)];
      to.rank = rank;
      if (i < others.size()) {
        to.dump = others[i].dump;
        to.entry = others[i].entry;
      }
    }
  }
  std::vector<std::vector<Answer>> answers_;
};

/// Members of the call's group that lack the call. Those without a dump count among them where that is asked.
void find_absent(const FlightJob& job, const FlightEntry& e, bool without_dump, std::vector<std::int64_t>& out) {
  out.clear();
  for (const std::int64_t rank : job.group(e).members) {
    const std::int64_t d = job.dump_of(rank);
    if (d < 0) {
      if (without_dump) out.push_back(rank);
      continue;
    }
    const GroupCalls& calls = job.by_group[index_of(d)][index_of(e.group)];
    if (calls.first_known <= e.sequence && calls.at(e.sequence) < 0) out.push_back(rank);
  }
}

/// A send may end before it is received, so that only records that say so are open.
bool is_message(const FlightJob& job, const FlightEntry& e) {
  return e.p2p && (job.call(e).operation == "send" || job.call(e).operation == "recv");
}

class WaitFinder {
 public:
  explicit WaitFinder(const FlightJob& job) : job_(job), answers_(job) {
    for (const FlightDump& dump : job.dumps)
      any_open_ |=
          std::any_of(dump.entries.begin(), dump.entries.end(), [&](const FlightEntry& e) { return job.open(e); });
  }

  std::vector<RankWait> find() {
    std::vector<RankWait> out(job_.dumps.size());
    for (std::size_t d = 0; d < out.size(); ++d) out[d].entry = first_waiting(d);
    for (std::size_t d = 0; d < out.size(); ++d)
      if (out[d].entry >= 0) out[d].waits_for = whom(d, out);
    return out;
  }

 private:
  /// The record in which a rank waits: the first that is open, or, where no record says so, the first that not all
  /// members have made.
  std::int32_t first_waiting(std::size_t d) {
    const std::vector<FlightEntry>& entries = job_.dumps[d].entries;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const FlightEntry& e = entries[i];
      if (any_open_) {
        if (job_.open(e)) return static_cast<std::int32_t>(i);
        continue;
      }
      if (is_message(job_, e)) {
        if (answers_.lacking(d, i)) return static_cast<std::int32_t>(i);
        continue;
      }
      if (lacks_members(e)) return static_cast<std::int32_t>(i);
    }
    return -1;
  }

  bool lacks_members(const FlightEntry& e) {
    const auto [known, fresh] = lacks_.emplace(CallKey{e.group, e.sequence}, 0);
    if (fresh) {
      find_absent(job_, e, false, absent_);
      known->second = !absent_.empty();
    }
    return known->second;
  }

  std::vector<std::int64_t> whom(std::size_t d, const std::vector<RankWait>& waits) {
    const auto i = index_of(waits[d].entry);
    const FlightEntry& e = job_.dumps[d].entries[i];
    const std::int64_t own = job_.dumps[d].rank;
    std::vector<std::int64_t> out;
    if (is_message(job_, e)) {
      const Answers::Answer& a = answers_.of(d, i);
      // An answer that is recorded and lies behind what its rank waits in has not been given.
      const bool behind = a.dump >= 0 && waits[index_of(a.dump)].entry >= 0 && a.entry > waits[index_of(a.dump)].entry;
      if (a.rank >= 0 && (a.dump < 0 || behind)) out.push_back(a.rank);
      return out;
    }
    find_absent(job_, e, true, absent_);
    for (const std::int64_t rank : absent_)
      if (rank != own) out.push_back(rank);
    if (!out.empty()) return out;
    // All have made it: it waits for those who are still in an earlier call.
    for (const std::int64_t rank : job_.group(e).members) {
      const std::int64_t other = job_.dump_of(rank);
      if (other < 0 || rank == own || waits[index_of(other)].entry < 0) continue;
      const std::int32_t theirs = job_.by_group[index_of(other)][index_of(e.group)].at(e.sequence);
      if (theirs > waits[index_of(other)].entry) out.push_back(rank);
    }
    return out;
  }

  const FlightJob& job_;
  Answers answers_;
  bool any_open_ = false;
  std::map<CallKey, std::size_t> lacks_;  // 1 where they do
  std::vector<std::int64_t> absent_;
};

std::int64_t median_of(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A difference of two times, which a file may set to anything.
std::int64_t apart(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// Hands `use` every collective that all members of a group made, by member its dump and record.
template <class Use>
void each_whole_call(const FlightJob& job, const Use& use) {
  std::vector<Messages::Side> sides;
  for (std::size_t g = 0; g < job.groups.size(); ++g) {
    const std::vector<std::int64_t>& members = job.groups[g].members;
    const std::int64_t first = members.empty() ? -1 : job.dump_of(members.front());
    if (members.size() < 2 || first < 0) continue;
    for (const auto& [sequence, entry] : job.by_group[index_of(first)][g].entries) {
      sides.clear();
      for (const std::int64_t rank : members) {
        const std::int64_t d = job.dump_of(rank);
        const std::int32_t e = d < 0 ? -1 : job.by_group[index_of(d)][g].at(sequence);
        if (e < 0) break;
        sides.push_back({static_cast<std::int32_t>(d), e});
      }
      if (sides.size() == members.size()) use(sides);
    }
  }
}

/// The same for messages that were answered.
template <class Use>
void each_answered(const FlightJob& job, const Use& use) {
  if (job.wrapped) return;
  for (const Messages::Pair& pair : find_messages(job).pairs)
    for (std::size_t i = 0; i < std::min(pair.sends.size(), pair.receives.size()); ++i) {
      const std::array<Messages::Side, 2> both{pair.sends[i], pair.receives[i]};
      use(both);
    }
}

std::int64_t created(const FlightJob& job, const Messages::Side& side) {
  return job.dumps[index_of(side.dump)].entries[index_of(side.entry)].created_ns;
}

/// By dump and record: how long its rank had to wait there for who came last, by clocks set alike.
std::vector<std::vector<std::int64_t>> waited_ns(const FlightJob& job, const std::vector<std::int64_t>& offsets) {
  std::vector<std::vector<std::int64_t>> out(job.dumps.size());
  for (std::size_t d = 0; d < out.size(); ++d) out[d].assign(job.dumps[d].entries.size(), 0);
  const auto meet = [&](std::span<const Messages::Side> sides) {
    std::int64_t latest = INT64_MIN;
    for (const auto& s : sides) latest = std::max(latest, apart(created(job, s), offsets[index_of(s.dump)]));
    for (const auto& s : sides)
      out[index_of(s.dump)][index_of(s.entry)] = apart(latest, apart(created(job, s), offsets[index_of(s.dump)]));
  };
  each_whole_call(job, meet);
  each_answered(job, meet);
  return out;
}

}  // namespace

std::vector<RankWait> find_waits(const FlightJob& job) { return WaitFinder(job).find(); }

std::vector<std::int64_t> clock_offsets_ns(const FlightJob& job) {
  constexpr std::int64_t same_clock_ns = 50'000'000;
  std::vector<std::vector<std::int64_t>> apart_ns(job.dumps.size());
  std::vector<std::int64_t> times;
  each_whole_call(job, [&](const std::vector<Messages::Side>& sides) {
    times.clear();
    for (const auto& s : sides) times.push_back(created(job, s));
    const std::int64_t middle = median_of(times);
    for (const auto& s : sides) apart_ns[index_of(s.dump)].push_back(apart(created(job, s), middle));
  });
  std::vector<std::int64_t> out(job.dumps.size(), 0);
  for (std::size_t d = 0; d < out.size(); ++d)
    if (apart_ns[d].size() >= 3)
      if (const std::int64_t off = median_of(apart_ns[d]); off < -same_clock_ns || off > same_clock_ns) out[d] = off;
  return out;
}

Lateness find_lateness(const FlightJob& job, const std::vector<std::int64_t>& offsets) {
  // Below this a call is not late: ranks of a healthy job part by some milliseconds.
  constexpr std::int64_t late_ns = 50'000'000;
  const auto waited = waited_ns(job, offsets);
  std::vector<std::int64_t> last(job.dumps.size(), 0), own;
  Lateness out;
  const auto judge = [&](std::span<const Messages::Side> sides) {
    own.clear();
    const auto begins = std::count_if(sides.begin(), sides.end(), [](const auto& s) { return s.entry == 0; });
    if (begins != 0 && begins != static_cast<std::ptrdiff_t>(sides.size())) return;  // a time and a span of time
    for (const auto& s : sides) {
      const std::size_t d = index_of(s.dump), e = index_of(s.entry);
      // Clocks that are not one say nothing about who is late.
      if (const std::int64_t off = apart(offsets[d], offsets[index_of(sides[0].dump)]); off < -late_ns || off > late_ns)
        return;
      // A rank's own time: since it made its last call, without what it had to wait there.
      own.push_back(e == 0 ? apart(created(job, s), offsets[d])
                           : apart(created(job, s), job.dumps[d].entries[e - 1].created_ns) -
                                 std::max<std::int64_t>(0, waited[d][e - 1]));
    }
    const auto latest = std::max_element(own.begin(), own.end());
    const std::size_t who = index_of(latest - own.begin());
    const std::int64_t most = *latest;
    *latest = INT64_MIN;
    const std::int64_t lead = apart(most, *std::max_element(own.begin(), own.end()));
    if (lead < late_ns) return;
    ++out.late_calls;
    ++last[index_of(sides[who].dump)];
    out.largest_ns = std::max(out.largest_ns, lead);
  };
  each_whole_call(job, judge);
  each_answered(job, judge);
  const auto most = std::max_element(last.begin(), last.end());
  if (most == last.end() || *most < 3 || 3 * *most < 2 * out.late_calls) return out;
  out.times_last = *most;
  out.rank = job.dumps[index_of(most - last.begin())].rank;
  return out;
}

}  // namespace models::hang
