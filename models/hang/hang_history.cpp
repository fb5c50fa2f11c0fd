#include <algorithm>
#include <map>

#include "models/hang/flight_match.h"
#include "models/hang/hang_parts.h"

namespace models::hang {
namespace {

constexpr std::size_t longest_period = 4096;

/// The records of one number in one group.
struct GroupRound {
  std::int64_t sequence = 0;
  std::vector<std::int32_t> dumps, entries;
};

class GroupReader {
 public:
  GroupReader(const FlightJob& job, std::int32_t group) : job_(job), group_(group) {
    for (const std::int64_t rank : job.groups[index_of(group)].members)
      if (const std::int64_t d = job.dump_of(rank); d >= 0) dumps_.push_back(static_cast<std::int32_t>(d));
    cursor_.assign(dumps_.size(), 0);
    for (const std::int32_t d : dumps_) {
      const GroupCalls& calls = calls_of(d);
      // A ring that holds none of the group says nothing about where it begins.
      if (calls.first_known != INT64_MAX) first_ = std::max(first_, calls.first_known);
    }
  }
  const std::vector<std::int32_t>& dumps() const { return dumps_; }
  const GroupCalls& calls_of(std::int32_t dump) const { return job_.by_group[index_of(dump)][index_of(group_)]; }

  /// The next number that any member has, from the first that all still have on; false at the end.
  bool next(GroupRound& round) {
    std::int64_t lowest = INT64_MAX;
    for (std::size_t i = 0; i < dumps_.size(); ++i) {
      const auto& entries = calls_of(dumps_[i]).entries;
      while (cursor_[i] < entries.size() && entries[cursor_[i]].first < first_) ++cursor_[i];
      if (cursor_[i] < entries.size()) lowest = std::min(lowest, entries[cursor_[i]].first);
    }
    if (lowest == INT64_MAX) return false;
    round.sequence = lowest;
    round.dumps.clear();
    round.entries.clear();
    for (std::size_t i = 0; i < dumps_.size(); ++i) {
      const auto& entries = calls_of(dumps_[i]).entries;
      if (cursor_[i] >= entries.size() || entries[cursor_[i]].first != lowest) continue;
      round.dumps.push_back(dumps_[i]);
      round.entries.push_back(entries[cursor_[i]++].second);
    }
    return true;
  }

 private:
  const FlightJob& job_;
  std::int32_t group_;
  std::vector<std::int32_t> dumps_;
  std::vector<std::size_t> cursor_;
  std::int64_t first_ = INT64_MIN;
};

const FlightEntry& entry_of(const FlightJob& job, std::int32_t dump, std::int32_t entry) {
  return job.dumps[index_of(dump)].entries[index_of(entry)];
}

/// How often each call stands in a round.
std::map<std::int32_t, std::size_t> count_calls(const FlightJob& job, const GroupRound& round) {
  std::map<std::int32_t, std::size_t> out;
  for (std::size_t i = 0; i < round.dumps.size(); ++i) ++out[entry_of(job, round.dumps[i], round.entries[i]).call];
  return out;
}

std::int32_t most_frequent(const std::map<std::int32_t, std::size_t>& counts) {
  std::int32_t best = -1;
  std::size_t most = 0;
  for (const auto& [call, n] : counts)
    if (n > most) {
      most = n;
      best = call;
    }
  return best;
}

bool fits(const FlightJob& job, std::int32_t a, std::int32_t b, std::size_t members) {
  const CallMatch m = match_calls(job.calls[index_of(a)], CallState::scheduled, job.calls[index_of(b)],
                                  CallState::scheduled, static_cast<std::int64_t>(members));
  return m == CallMatch::matched || m == CallMatch::undecided;
}

/// Looks at one group from its beginning to the first difference.
class DifferenceFinder {
 public:
  DifferenceFinder(const FlightJob& job, std::int32_t group) : job_(job), group_(group), reader_(job, group) {}

  std::optional<Difference> find() {
    members_ = job_.groups[index_of(group_)].members.size();
    GroupRound round;
    while (reader_.next(round)) {
      const auto counts = count_calls(job_, round);
      const std::int32_t usual = most_frequent(counts);
      if (history_.calls.empty()) history_.first = round.sequence;
      if (counts.size() > 1) {
        auto found = is_all_to_all(job_.calls[index_of(usual)]) ? exchange(round, usual) : other(round, counts, usual);
        if (found) return found;
      }
      history_.calls.push_back(usual);
    }
    return std::nullopt;
  }

 private:
  Difference begin(const GroupRound& round) const {
    Difference out;
    out.group = group_;
    out.sequence = round.sequence;
    out.record = entry_of(job_, round.dumps.front(), round.entries.front()).record;
    for (std::size_t i = 1; i < round.dumps.size(); ++i)
      out.record = std::min(out.record, entry_of(job_, round.dumps[i], round.entries[i]).record);
    return out;
  }

  /// Which of the calls is the right one: what most made, or, where as many made another, what history or groups of
  /// the same kind say. -1: nobody knows.
  std::int32_t right_call(const GroupRound& round, const std::map<std::int32_t, std::size_t>& counts,
                          std::int32_t usual) {
    std::size_t as_many = 0;
    for (const auto& [call, n] : counts) as_many += n == counts.at(usual);
    if (as_many == 1) return usual;
    const std::int32_t next = history_.expected(round.sequence);
    if (const auto at = counts.find(next); at != counts.end() && at->second == counts.at(usual)) return next;
    const std::int32_t elsewhere = call_of_siblings(round.sequence);
    if (const auto at = counts.find(elsewhere); at != counts.end() && at->second == counts.at(usual)) return elsewhere;
    return -1;
  }

  /// What most members of other groups of the same description made at this number.
  std::int32_t call_of_siblings(std::int64_t sequence) const {
    constexpr std::size_t max_asked = 256;
    std::map<std::int32_t, std::size_t> counts;
    for (std::size_t g = 0, asked = 0; g < job_.groups.size() && asked < max_asked; ++g) {
      if (static_cast<std::int32_t>(g) == group_ ||
          job_.groups[g].description != job_.groups[index_of(group_)].description ||
          job_.groups[g].members.size() != members_)
        continue;
      ++asked;
      for (const std::int64_t rank : job_.groups[g].members) {
        const std::int64_t d = job_.dump_of(rank);
        const std::int32_t e = d < 0 ? -1 : job_.by_group[index_of(d)][g].at(sequence);
        if (e >= 0) ++counts[entry_of(job_, static_cast<std::int32_t>(d), e).call];
      }
    }
    return most_frequent(counts);
  }

  std::optional<Difference> other(const GroupRound& round, const std::map<std::int32_t, std::size_t>& counts,
                                  std::int32_t usual) {
    const std::int32_t right = right_call(round, counts, usual);
    if (!fits(job_, usual, usual, members_)) return std::nullopt;  // not a call whose rules are known
    Difference out = begin(round);
    for (std::size_t i = 0; i < round.dumps.size(); ++i) {
      const FlightEntry& e = entry_of(job_, round.dumps[i], round.entries[i]);
      const bool differs = right >= 0 ? e.call != right && !fits(job_, right, e.call, members_)
                                      : e.call != usual && !fits(job_, usual, e.call, members_);
      if (!differs) continue;
      out.culprits.push_back(job_.dumps[index_of(round.dumps[i])].rank);
      if (out.found_call < 0) {
        out.found_call = e.call;
        culprit_dump_ = round.dumps[i];
      }
    }
    if (out.culprits.empty()) return std::nullopt;
    out.expected_call = right >= 0 ? right : usual;
    out.fault = word(out.sequence, out.expected_call, out.found_call);
    if (right < 0) {
      out.decidable = false;
      out.culprits.clear();
    }
    return out;
  }

  /// Ranks may give and take different amounts: together they must give what they take.
  std::optional<Difference> exchange(const GroupRound& round, std::int32_t usual) {
    if (round.dumps.size() < members_) return std::nullopt;
    std::uint64_t given = 0, taken = 0;
    Difference out = begin(round);
    for (std::size_t i = 0; i < round.dumps.size(); ++i) {
      const FlightCall& call = job_.call(entry_of(job_, round.dumps[i], round.entries[i]));
      if (!is_all_to_all(call)) return other(round, count_calls(job_, round), usual);
      given += static_cast<std::uint64_t>(numel(call.input_sizes));
      taken += static_cast<std::uint64_t>(numel(call.output_sizes));
    }
    // Before version 2.4 the sizes of an all-to-all are not complete.
    const bool complete = std::all_of(round.dumps.begin(), round.dumps.end(), [&](std::int32_t d) {
      return job_.dumps[index_of(d)].version >= FlightVersion{2, 4};
    });
    if (given == taken || !complete) return std::nullopt;
    out.fault = HangFault::split_sizes;
    out.expected_call = usual;
    for (std::size_t i = 0; i < round.dumps.size(); ++i)
      if (leaves_own_way(round.dumps[i], round.sequence, entry_of(job_, round.dumps[i], round.entries[i]).call)) {
        out.culprits.push_back(job_.dumps[index_of(round.dumps[i])].rank);
        out.found_call = entry_of(job_, round.dumps[i], round.entries[i]).call;
      }
    const auto counts = count_calls(job_, round);
    if (out.culprits.empty() && 2 * counts.at(usual) > round.dumps.size())
      for (std::size_t i = 0; i < round.dumps.size(); ++i)
        if (const std::int32_t call = entry_of(job_, round.dumps[i], round.entries[i]).call; call != usual) {
          out.culprits.push_back(job_.dumps[index_of(round.dumps[i])].rank);
          out.found_call = call;
        }
    out.decidable = !out.culprits.empty();
    return out;
  }

  /// Does a rank make another call here than one, or several, steps before, having made the same one always until then?
  bool leaves_own_way(std::int32_t dump, std::int64_t sequence, std::int32_t call) const {
    const GroupCalls& calls = reader_.calls_of(dump);
    const std::int32_t here = calls.at(sequence);
    std::size_t same = 0;
    std::int32_t before = -1;
    for (const auto& [number, entry] : calls.entries) {
      if (entry == here) break;
      const FlightEntry& e = entry_of(job_, dump, entry);
      if (job_.call(e).operation != job_.calls[index_of(call)].operation) continue;
      if (before >= 0 && e.call != before) return false;
      before = e.call;
      ++same;
    }
    return same > 0 && before != call;
  }

  /// What kind of fault it is, by what the rank called instead and by what it called afterwards.
  HangFault word(std::int64_t sequence, std::int32_t expected, std::int32_t found) const {
    const FlightCall &right = job_.calls[index_of(expected)], &made = job_.calls[index_of(found)];
    const bool same_type = right.operation == made.operation;
    if (same_type && right.input_sizes == made.input_sizes && right.output_sizes == made.output_sizes)
      return HangFault::dtype;
    if (const auto later = word_of_later(sequence, expected, found, same_type)) return *later;
    const std::size_t period = std::max<std::size_t>(1, history_.period() ? history_.period() : history_.calls.size());
    const auto offset = index_of(std::max<std::int64_t>(0, sequence - history_.first));
    const std::size_t at = offset % period;
    bool sooner = false, later = false;
    for (std::size_t i = 0; i < std::min(period, history_.calls.size()); ++i) {
      if (history_.calls[i] != found) continue;
      sooner |= i < at;
      later |= i > at;
    }
    const bool next = at + 1 < std::min(period, history_.calls.size()) && history_.calls[at + 1] == found;
    if (same_type) return later ? HangFault::order : sooner ? HangFault::extra_collective : HangFault::shape;
    if (next) return HangFault::skipped_collective;
    if (later) return HangFault::order;
    if (sooner) return HangFault::extra_collective;
    return at == 0 && !history_.calls.empty() ? HangFault::uneven_inputs : HangFault::extra_collective;
  }

  /// The same by the records behind the first that differs, where a rank enqueued calls ahead.
  std::optional<HangFault> word_of_later(std::int64_t sequence, std::int32_t expected, std::int32_t found,
                                         bool same_type) const {
    const auto made = [&](std::int64_t number) {
      const std::int32_t e = reader_.calls_of(culprit_dump_).at(number);
      return e < 0 ? -1 : entry_of(job_, culprit_dump_, e).call;
    };
    const auto usual = [&](std::int64_t number) { return number == sequence ? expected : usual_at(number); };
    std::size_t seen = 0, skipped = usual(sequence + 1) == found, extra = 0, same = 0, known = 0;
    bool swapped = false;
    for (std::int64_t number = sequence + 1; made(number) >= 0; ++number) {
      ++seen;
      if (usual(number + 1) >= 0) {
        ++known;
        skipped += made(number) == usual(number + 1);
      }
      extra += made(number) == usual(number - 1);
      same += made(number) == usual(number);
      swapped |= made(number) == expected && usual(number) == found;
    }
    if (seen == 0) return std::nullopt;
    if (swapped && same + 1 >= seen) return HangFault::order;
    if (same == seen) return same_type ? HangFault::shape : HangFault::extra_collective;
    if (known > 0 && skipped == known + 1) return HangFault::skipped_collective;
    if (extra == seen) return HangFault::extra_collective;
    return std::nullopt;
  }

  /// What most of the other members made at this number, or would by their history.
  std::int32_t usual_at(std::int64_t number) const {
    std::map<std::int32_t, std::size_t> counts;
    for (const std::int32_t d : reader_.dumps())
      if (d != culprit_dump_)
        if (const std::int32_t e = reader_.calls_of(d).at(number); e >= 0) ++counts[entry_of(job_, d, e).call];
    return counts.empty() ? history_.expected(number) : most_frequent(counts);
  }

  const FlightJob& job_;
  std::int32_t group_;
  GroupReader reader_;
  std::size_t members_ = 0;
  GroupHistory history_;
  std::int32_t culprit_dump_ = -1;
};

}  // namespace

std::size_t GroupHistory::period() const {
  const std::size_t n = calls.size();
  for (std::size_t p = 1; p <= std::min(n / 2, longest_period); ++p) {
    // The last two rounds have to agree: a job may begin with calls that never come again.
    const std::size_t checked = std::min(n - p, 2 * p);
    bool repeats = true;
    for (std::size_t i = n - checked; i < n && repeats; ++i) repeats = calls[i] == calls[i - p];
    if (repeats) return p;
  }
  // Or a second round has begun.
  for (std::size_t p = n / 2 + 1; p < std::min(n, longest_period); ++p)
    if (std::equal(calls.begin() + static_cast<std::ptrdiff_t>(p), calls.end(), calls.begin())) return p;
  return 0;
}

std::int32_t GroupHistory::expected(std::int64_t sequence) const {
  const std::size_t n = calls.size();
  if (n == 0 || sequence < first) return -1;
  const std::size_t p = period(), round = p ? p : n;
  auto at = index_of(sequence - first);
  while (at >= n) {
    if (at - n >= longest_period) return -1;
    at -= round;
  }
  return calls[at];
}

std::optional<Difference> find_difference(const FlightJob& job) {
  std::optional<Difference> first;
  for (std::size_t g = 0; g < job.groups.size(); ++g) {
    auto found = DifferenceFinder(job, static_cast<std::int32_t>(g)).find();
    if (!found) continue;
    const bool better = !first || (found->decidable && !first->decidable) ||
                        (found->decidable == first->decidable && found->record < first->record);
    if (better) first = std::move(found);
  }
  return first;
}

}  // namespace models::hang
