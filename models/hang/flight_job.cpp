#include "models/hang/flight_job.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace models::hang {
namespace {

std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Equal for equal calls alone: each text stands behind its length.
std::string key_of(const FlightCall& c) {
  std::string key;
  const auto add = [&key](const std::string& text) {
    key.append(std::to_string(text.size())).append(":").append(text);
  };
  const auto add_sizes = [&key](const Sizes& sizes) {
    for (const auto& dims : sizes) {
      for (const std::int64_t d : dims) key.append(std::to_string(d)).append(",");
      key += '|';
    }
    key += ';';
  };
  add(c.library);
  add(c.operation);
  add(c.peers);
  add_sizes(c.input_sizes);
  add_sizes(c.output_sizes);
  for (const std::string& t : c.input_dtypes) add(t);
  key += ';';
  for (const std::string& t : c.output_dtypes) add(t);
  return key;
}
std::string key_of(const FlightGroup& g) { return std::to_string(g.name.size()) + ":" + g.name + g.description; }

/// Both are in order, and each number stands once in each.
void add_ranks(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& more) {
  std::vector<std::int64_t> both;
  both.reserve(to.size() + more.size());
  for (std::size_t i = 0, j = 0; i < to.size() || j < more.size();) {
    const bool first = j == more.size() || (i < to.size() && to[i] <= more[j]);
    if (first && j < more.size() && to[i] == more[j]) ++j;
    both.push_back(first ? to[i++] : more[j++]);
  }
  to = std::move(both);
}

/// One dump a rank; a second that says the same is left out.
Status drop_repeated(std::vector<FlightDump>& dumps, std::vector<std::string>& notes) {
  std::vector<std::pair<std::int64_t, std::int32_t>> order;  // rank and place
  for (const FlightDump& d : dumps) order.emplace_back(d.rank, static_cast<std::int32_t>(order.size()));
  std::sort(order.begin(), order.end());
  std::vector<FlightDump> kept;
  kept.reserve(dumps.size());
  std::size_t dropped = 0;
  for (const auto& [rank, at] : order) {
    FlightDump& d = dumps[place(at)];
    if (kept.empty() || kept.back().rank != d.rank) {
      kept.push_back(std::move(d));
      continue;
    }
    if (kept.back().entries != d.entries || kept.back().calls != d.calls)
      return Status::fail("Two dumps of rank " + std::to_string(d.rank) +
                          " differ: give one of each rank, all of one moment.");
    ++dropped;
  }
  dumps = std::move(kept);
  if (dropped > 0)
    notes.push_back("Dumps that a second file of the same rank repeats: " + std::to_string(dropped) + ".");
  return Status::ok();
}

/// Gives records the job's groups and calls instead of the dump's.
class JobTables {
 public:
  explicit JobTables(FlightJob& job) : job_(job) {}

  void take(FlightDump& dump) {
    std::vector<std::int32_t> groups, calls;
    for (const FlightGroup& g : dump.groups) {
      const auto [at, fresh] = groups_.emplace(key_of(g), static_cast<std::int32_t>(job_.groups.size()));
      if (fresh) job_.groups.push_back({g.name, g.description, {}, false});
      std::vector<std::int64_t> listed = g.ranks;
      std::sort(listed.begin(), listed.end());
      listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
      add_ranks(job_.groups[place(at->second)].members, listed);
      groups.push_back(at->second);
    }
    for (FlightCall& c : dump.calls) {
      const auto [at, fresh] = calls_.emplace(key_of(c), static_cast<std::int32_t>(job_.calls.size()));
      if (fresh) job_.calls.push_back(std::move(c));
      calls.push_back(at->second);
    }
    for (FlightEntry& e : dump.entries) {
      e.group = groups[place(e.group)];
      e.call = calls[place(e.call)];
      job_.has_states |= e.state != CallState::scheduled;
    }
    dump.groups.clear();
    dump.calls.clear();
  }

 private:
  FlightJob& job_;
  std::unordered_map<std::string, std::int32_t> groups_, calls_;
};

bool is_default(const JobGroup& g) { return g.description.find("default") != std::string::npos; }

void index_groups(FlightJob& job) {
  job.by_group.assign(job.dumps.size(), std::vector<GroupCalls>(job.groups.size()));
  for (std::size_t d = 0; d < job.dumps.size(); ++d) {
    const FlightDump& dump = job.dumps[d];
    const bool wrapped = !dump.entries.empty() && dump.entries.front().record > 0;
    job.wrapped |= wrapped;
    for (std::size_t i = 0; i < dump.entries.size(); ++i) {
      const FlightEntry& e = dump.entries[i];
      if (!e.p2p) job.by_group[d][place(e.group)].entries.emplace_back(e.sequence, static_cast<std::int32_t>(i));
    }
    for (GroupCalls& calls : job.by_group[d]) {
      auto& entries = calls.entries;
      std::sort(entries.begin(), entries.end());
      // Calls of a coalesced group have one number: the first stands for them.
      entries.erase(
          std::unique(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
          entries.end());
      if (wrapped) calls.first_known = entries.empty() ? INT64_MAX : entries.front().first;
    }
  }
}

/// Members that no dump lists: all ranks for the default group, else those that recorded a call of it.
void infer_members(FlightJob& job, const std::vector<std::int64_t>& all) {
  std::vector<std::vector<std::int64_t>> seen(job.groups.size());
  for (const FlightDump& dump : job.dumps)
    for (const FlightEntry& e : dump.entries)
      if (auto& ranks = seen[place(e.group)]; ranks.empty() || ranks.back() != dump.rank) ranks.push_back(dump.rank);
  for (std::size_t g = 0; g < job.groups.size(); ++g) {
    JobGroup& group = job.groups[g];
    if (!group.members.empty()) {
      add_ranks(group.members, seen[g]);
      continue;
    }
    group.inferred = true;
    group.members = is_default(group) ? all : seen[g];
  }
}

}  // namespace

std::int32_t GroupCalls::at(std::int64_t sequence) const {
  const auto found = std::lower_bound(entries.begin(), entries.end(), sequence,
                                      [](const auto& entry, std::int64_t wanted) { return entry.first < wanted; });
  return found != entries.end() && found->first == sequence ? found->second : -1;
}

std::int64_t FlightJob::dump_of(std::int64_t rank) const {
  const auto found = std::lower_bound(dumps.begin(), dumps.end(), rank,
                                      [](const FlightDump& d, std::int64_t wanted) { return d.rank < wanted; });
  return found != dumps.end() && found->rank == rank ? found - dumps.begin() : -1;
}

Result<FlightJob> make_flight_job(std::vector<FlightDump> dumps) {
  using Made = Result<FlightJob>;
  FlightJob job;
  if (dumps.empty()) return Made::fail("No dump is given: choose those of all ranks.");
  if (dumps.size() > max_job_ranks) return Made::fail("There are more than 16,384 dumps: give those of one job.");
  if (const Status one = drop_repeated(dumps, job.notes); !one) return Made::fail(one.error);
  std::size_t entries = 0;
  std::vector<std::int64_t> all;
  for (const FlightDump& d : dumps) {
    entries += d.entries.size();
    all.push_back(d.rank);
  }
  if (entries == 0) return Made::fail("No dump holds a record of a call: dump with the recorder's buffer switched on.");
  if (entries > max_job_entries) return Made::fail("The dumps have more than 4,000,000 records together.");
  for (const FlightDump& d : dumps) add_ranks(all, d.listed_ranks);
  if (all.size() > max_job_ranks) return Made::fail("The dumps list more than 16,384 ranks.");
  JobTables tables(job);
  for (FlightDump& d : dumps) tables.take(d);
  job.dumps = std::move(dumps);
  if (job.dumps.size() * std::max<std::size_t>(1, job.groups.size()) > 16'000'000)
    return Made::fail("The dumps name too many groups: give those of one job.");
  infer_members(job, all);
  for (const JobGroup& g : job.groups) add_ranks(all, g.members);
  job.world = static_cast<std::int64_t>(all.size());
  for (const std::int64_t rank : all)
    if (job.dump_of(rank) < 0) job.missing.push_back(rank);
  index_groups(job);
  if (std::any_of(job.groups.begin(), job.groups.end(), [](const JobGroup& g) { return g.inferred; }))
    job.notes.push_back("No dump lists the members of each group: they are taken from who recorded its calls.");
  if (job.wrapped) job.notes.push_back("A ring has dropped its oldest records: only what all ranks still have counts.");
  return Made::ok(std::move(job));
}

}  // namespace models::hang
