#include "models/hang/stock_analyzer.h"

#include <algorithm>
#include <map>
#include <utility>

namespace models::hang {
namespace {

std::size_t spot(std::int64_t i) { return static_cast<std::size_t>(i); }

class StockAnalyzer {
 public:
  explicit StockAnalyzer(const FlightJob& job) : job_(job), queues_(job.dumps.size()) {
    // The ring of each rank is cut to what all still have, by record.
    std::int64_t first = 0;
    for (const FlightDump& d : job.dumps)
      if (!d.entries.empty()) first = std::max(first, d.entries.front().record);
    for (std::size_t d = 0; d < queues_.size(); ++d)
      for (std::size_t i = 0; i < job.dumps[d].entries.size(); ++i)
        if (job.dumps[d].entries[i].record >= first) queues_[d][key(job.dumps[d].entries[i])].push_back(i);
    first_ = first;
  }

  StockVerdict judge() {
    for (std::size_t d = 0; d < job_.dumps.size(); ++d) {
      const auto& entries = job_.dumps[d].entries;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].record < first_) continue;
        auto& queue = queues_[d][key(entries[i])];
        if (std::find(queue.begin(), queue.end(), i) == queue.end()) continue;  // matched already
        if (one(d, i)) return out_;
      }
    }
    return out_;
  }

 private:
  using Key = std::pair<std::int32_t, std::int64_t>;
  static Key key(const FlightEntry& e) { return {e.group, e.sequence}; }

  /// Looks for a call on the other members; true where something is to be said.
  bool one(std::size_t first, std::size_t at) {
    const FlightEntry& e = job_.dumps[first].entries[at];
    const JobGroup& group = job_.group(e);
    if (e.p2p && group.members.size() > 2) return say(StockVerdict::Kind::not_followed, e);
    std::vector<std::pair<std::size_t, std::size_t>> found{{first, at}};
    std::vector<std::int64_t> missing, differing;
    CallMatch worst = CallMatch::matched;
    bool no_dump = false, undecided = false;
    for (const std::int64_t rank : group.members) {
      const std::int64_t d = job_.dump_of(rank);
      if (d == static_cast<std::int64_t>(first)) continue;
      if (d < 0) {
        no_dump = true;
        continue;
      }
      const auto queue = queues_[spot(d)].find(key(e));
      if (queue == queues_[spot(d)].end() || queue->second.empty()) {
        missing.push_back(rank);
        continue;
      }
      const std::size_t other = queue->second.front();
      const FlightEntry& theirs = job_.dumps[spot(d)].entries[other];
      const CallMatch match = match_calls(job_.call(e), e.state, job_.call(theirs), theirs.state,
                                          static_cast<std::int64_t>(group.members.size()));
      found.emplace_back(spot(d), other);
      undecided |= match == CallMatch::undecided;
      if (match == CallMatch::matched || match == CallMatch::undecided) continue;
      differing.push_back(rank);
      if (worst == CallMatch::matched) worst = match;
    }
    if (!missing.empty() && !no_dump) return say(StockVerdict::Kind::missing, e, std::move(missing));
    if (!differing.empty()) {
      out_.match = worst;
      return say(StockVerdict::Kind::mismatch, e, std::move(differing));
    }
    if (no_dump) return say(StockVerdict::Kind::cannot_decide, e);
    if (undecided && unequal(found)) {
      out_.match = CallMatch::size_mismatch;
      return say(StockVerdict::Kind::unequal_sums, e, {job_.dumps[first].rank});
    }
    for (const auto& [d, i] : found) {
      auto& queue = queues_[d][key(e)];
      queue.erase(std::find(queue.begin(), queue.end(), i));
    }
    ++out_.matched;
    return false;
  }

  bool unequal(const std::vector<std::pair<std::size_t, std::size_t>>& found) const {
    std::uint64_t given = 0, taken = 0;
    for (const auto& [d, i] : found) {
      if (job_.dumps[d].version < FlightVersion{2, 4}) return false;
      const FlightCall& call = job_.call(job_.dumps[d].entries[i]);
      given += static_cast<std::uint64_t>(numel(call.input_sizes));
      taken += static_cast<std::uint64_t>(numel(call.output_sizes));
    }
    return given != taken;
  }

  bool say(StockVerdict::Kind kind, const FlightEntry& e, std::vector<std::int64_t> ranks = {}) {
    out_.kind = kind;
    out_.group = e.group;
    out_.sequence = e.sequence;
    out_.ranks = std::move(ranks);
    return true;
  }

  const FlightJob& job_;
  std::vector<std::map<Key, std::vector<std::size_t>>> queues_;  ///< by dump: calls that are not matched yet
  std::int64_t first_ = 0;
  StockVerdict out_;
};

}  // namespace

StockVerdict stock_verdict(const FlightJob& job) { return StockAnalyzer(job).judge(); }

}  // namespace models::hang
