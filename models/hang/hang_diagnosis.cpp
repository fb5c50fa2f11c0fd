#include "models/hang/hang_diagnosis.h"

#include <algorithm>
#include <array>
#include <limits>

#include "models/hang/flight_match.h"
#include "models/hang/hang_parts.h"

namespace models::hang {
namespace {

/// Ranks that form a knot: each can be reached from each by waits, and no wait leads out of it. Found by Tarjan's
/// algorithm without recursion, since waits come from files.
class Knots {
 public:
  Knots(const FlightJob& job, const std::vector<RankWait>& waits) : job_(job), waits_(waits) {
    const std::size_t n = job.dumps.size();
    order_.assign(n, -1);
    low_.assign(n, 0);
    part_.assign(n, -1);
    for (std::size_t d = 0; d < n; ++d)
      if (order_[d] < 0) visit(d);
    leaves_.assign(index_of(parts_), false);
    size_.assign(index_of(parts_), 0);
    for (std::size_t d = 0; d < n; ++d) {
      ++size_[index_of(part_[d])];
      for (const std::int64_t to : waits[d].waits_for)
        if (const std::int64_t t = job.dump_of(to); t >= 0 && part_[index_of(t)] != part_[d])
          leaves_[index_of(part_[d])] = true;
    }
  }

  /// Dumps in knots of two or more.
  std::vector<std::size_t> tied() const {
    std::vector<std::size_t> out;
    for (std::size_t d = 0; d < part_.size(); ++d)
      if (size_[index_of(part_[d])] > 1 && !leaves_[index_of(part_[d])]) out.push_back(d);
    return out;
  }

 private:
  struct Step {
    std::size_t dump, next;
  };
  void visit(std::size_t root) {
    std::vector<Step> steps{{root, 0}};
    begin(root);
    while (!steps.empty()) {
      Step& s = steps.back();
      const std::size_t d = s.dump;
      const auto& to = waits_[d].waits_for;
      if (s.next < to.size()) {
        const std::int64_t t = job_.dump_of(to[s.next++]);
        if (t < 0) continue;
        if (order_[index_of(t)] < 0) {
          begin(index_of(t));
          steps.push_back({index_of(t), 0});
        } else if (part_[index_of(t)] < 0) {
          low_[d] = std::min(low_[d], order_[index_of(t)]);
        }
        continue;
      }
      if (low_[d] == order_[d]) close(d);
      steps.pop_back();
      if (!steps.empty()) low_[steps.back().dump] = std::min(low_[steps.back().dump], low_[d]);
    }
  }
  void begin(std::size_t d) {
    order_[d] = low_[d] = count_++;
    stack_.push_back(d);
  }
  void close(std::size_t d) {
    std::size_t top = 0;
    do {
      top = stack_.back();
      stack_.pop_back();
      part_[top] = parts_;
    } while (top != d);
    ++parts_;
  }

  const FlightJob& job_;
  const std::vector<RankWait>& waits_;
  std::vector<std::int64_t> order_, low_, part_, size_;
  std::vector<bool> leaves_;
  std::vector<std::size_t> stack_;
  std::int64_t count_ = 0, parts_ = 0;
};

const FlightEntry& waiting_entry(const FlightJob& job, const HangDiagnosis& d, std::size_t dump) {
  return job.dumps[dump].entries[index_of(d.waits[dump].entry)];
}

/// Ranks to which waits lead and that wait for nobody themselves.
std::vector<std::int64_t> idle_ends(const FlightJob& job, const std::vector<RankWait>& waits) {
  std::vector<std::int64_t> out;
  for (const RankWait& w : waits)
    for (const std::int64_t rank : w.waits_for)
      if (const std::int64_t d = job.dump_of(rank); d >= 0 && waits[index_of(d)].entry < 0) out.push_back(rank);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void mark_place(const FlightJob& job, HangDiagnosis& out, std::size_t dump) {
  const FlightEntry& e = waiting_entry(job, out, dump);
  out.group = e.group;
  out.sequence = e.p2p ? 0 : e.sequence;
  out.expected_call = e.call;
}

/// What a rank calls in the knot and what it called there in its own rounds before.
struct OwnWay {
  bool leaves = false;
  HangFault fault = HangFault::group_order;
  std::int32_t expected_call = -1;
};
OwnWay own_way(const FlightJob& job, const HangDiagnosis& out, std::size_t dump) {
  const auto& entries = job.dumps[dump].entries;
  const FlightEntry& here = waiting_entry(job, out, dump);
  // Calls of several groups in one list: a call is told apart by its group too.
  const auto code = [&](const FlightEntry& e) {
    return static_cast<std::int32_t>(index_of(e.call) * job.groups.size() + index_of(e.group));
  };
  GroupHistory history;
  for (const FlightEntry& e : entries) {
    if (e.record >= here.record) break;
    history.calls.push_back(code(e));
  }
  const auto n = static_cast<std::int64_t>(history.calls.size());
  const std::int32_t expected = history.expected(1 + n), made = code(here);
  OwnWay way;
  if (expected < 0 || expected == made) return way;
  way.leaves = true;
  way.expected_call = static_cast<std::int32_t>(index_of(expected) / job.groups.size());
  if (made == history.expected(2 + n))
    way.fault = HangFault::skipped_collective;
  else if (made == history.calls.back())
    way.fault = HangFault::extra_collective;
  else if (std::find(history.calls.begin(), history.calls.end(), made) == history.calls.end())
    way.fault = HangFault::uneven_inputs;
  return way;
}

/// A knot of waits. Where a minority goes another way than in its own rounds before, it is to blame; else over several
/// groups an order of groups that differs, over messages alone their order, and otherwise the records do not say.
void judge_knot(const FlightJob& job, const std::vector<std::size_t>& tied, HangDiagnosis& out) {
  bool groups = false, messages = true;
  const std::int32_t group = waiting_entry(job, out, tied.front()).group;
  for (const std::size_t d : tied) {
    groups |= waiting_entry(job, out, d).group != group;
    messages &= waiting_entry(job, out, d).p2p;
  }
  mark_place(job, out, tied.front());
  if (!groups && !messages) {
    out.fault = HangFault::undecided;
    out.decidable = false;
    return;
  }
  out.fault = messages ? HangFault::p2p_order : HangFault::group_order;
  std::vector<std::size_t> leaving;
  for (const std::size_t d : tied) {
    out.culprits.push_back(job.dumps[d].rank);
    if (own_way(job, out, d).leaves) leaving.push_back(d);
  }
  const bool few = 2 * leaving.size() < tied.size() || (leaving.size() == 1 && tied.size() == 2);
  if (leaving.empty() || !few) return;
  const OwnWay way = own_way(job, out, leaving.front());
  mark_place(job, out, leaving.front());
  out.found_call = waiting_entry(job, out, leaving.front()).call;
  out.expected_call = way.expected_call;
  if (!messages) out.fault = way.fault;
  out.culprits.clear();
  for (const std::size_t d : leaving) out.culprits.push_back(job.dumps[d].rank);
}

void take(HangDiagnosis& out, Difference difference) {
  out.fault = difference.fault;
  out.culprits = std::move(difference.culprits);
  out.decidable = difference.decidable;
  out.group = difference.group;
  out.sequence = difference.sequence;
  out.expected_call = difference.expected_call;
  out.found_call = difference.found_call;
  if (!out.decidable) out.fault = HangFault::undecided;
}

/// Where nothing differs: a rank without a dump, who waits for whom, or who is late.
void judge_waits(const FlightJob& job, const std::vector<std::int64_t>& offsets, HangDiagnosis& out) {
  const auto first = std::find_if(out.waits.begin(), out.waits.end(), [](const RankWait& w) { return w.entry >= 0; });
  if (first == out.waits.end()) {
    out.late = find_lateness(job, offsets);
    if (out.late.rank >= 0) {
      out.fault = HangFault::straggler;
      out.culprits = {out.late.rank};
    }
    return;
  }
  mark_place(job, out, index_of(first - out.waits.begin()));
  if (job.missing.size() > job.dumps.size()) {  // dumps that nobody collected, rather than so many dead
    out.fault = HangFault::undecided;
    out.decidable = false;
    return;
  }
  if (!job.missing.empty()) {
    out.fault = HangFault::died;
    out.culprits = job.missing;
    return;
  }
  std::vector<std::int64_t> ends = idle_ends(job, out.waits);
  if (!ends.empty()) {
    out.fault = HangFault::not_arrived;
    for (std::size_t d = 0; d < out.waits.size(); ++d) {
      const auto& whom = out.waits[d].waits_for;
      if (std::find(whom.begin(), whom.end(), ends.front()) == whom.end()) continue;
      mark_place(job, out, d);
      break;
    }
    out.culprits = std::move(ends);
    return;
  }
  const std::vector<std::size_t> tied = Knots(job, out.waits).tied();
  if (!tied.empty()) return judge_knot(job, tied, out);
  out.fault = HangFault::undecided;
  out.decidable = false;
}

/// When watchdogs ring: each rank's call that is open, by its own clock set as the others' are.
void find_rings(const FlightJob& job, const std::vector<std::int64_t>& offsets, HangDiagnosis& out) {
  std::vector<std::pair<std::int64_t, std::int64_t>> rings;
  for (std::size_t d = 0; d < out.waits.size(); ++d)
    if (out.waits[d].entry >= 0) {
      const FlightEntry& e = waiting_entry(job, out, d);
      const auto ns = static_cast<std::uint64_t>(e.created_ns) - static_cast<std::uint64_t>(offsets[d]) +
                      static_cast<std::uint64_t>(e.timeout_ms) * 1'000'000u;
      rings.emplace_back(static_cast<std::int64_t>(ns), job.dumps[d].rank);
    }
  std::sort(rings.begin(), rings.end());
  for (const auto& [ns, rank] : rings) {
    out.ring_order.push_back(rank);
    out.ring_after_ns.push_back(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) - static_cast<std::uint64_t>(rings.front().first)));
  }
  if (rings.empty()) return;
  out.rings_first = rings.front().second;
  out.ring_spread_ns = out.ring_after_ns.back();
}

/// From the rank that rings first along its waits, the lowest rank of several.
void follow_chain(const FlightJob& job, HangDiagnosis& out) {
  std::int64_t rank = out.rings_first;
  while (rank >= 0) {
    const bool been = std::find(out.chain.begin(), out.chain.end(), rank) != out.chain.end();
    out.chain.push_back(rank);
    if (been) return;
    const std::int64_t d = job.dump_of(rank);
    if (d < 0 || out.waits[index_of(d)].waits_for.empty()) return;
    rank = out.waits[index_of(d)].waits_for.front();
  }
}

}  // namespace

std::string_view fault_id(HangFault fault) {
  constexpr std::array<std::string_view, hang_fault_count> ids{
      "none",  "straggler",   "skipped_collective", "extra_collective", "shape",
      "dtype", "order",       "split_sizes",        "uneven_inputs",    "not_arrived",
      "died",  "group_order", "p2p_order",          "undecided"};
  return ids[static_cast<std::size_t>(fault)];
}

HangDiagnosis diagnose_hang(const FlightJob& job) {
  HangDiagnosis out;
  out.waits = find_waits(job);
  out.hangs = std::any_of(out.waits.begin(), out.waits.end(), [](const RankWait& w) { return w.entry >= 0; });
  const std::vector<std::int64_t> offsets = clock_offsets_ns(job);
  find_rings(job, offsets, out);
  follow_chain(job, out);
  auto difference = find_difference(job);
  if (!difference || !difference->decidable)
    if (auto message = find_message_difference(job); message && (!difference || message->decidable))
      difference = std::move(message);
  if (difference) {
    out.hangs = true;
    take(out, std::move(*difference));
  } else {
    judge_waits(job, offsets, out);
  }
  return out;
}

}  // namespace models::hang
