#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/hang/flight_dump.h"

/// The dumps of a job's ranks beside each other.
namespace models::hang {

struct JobGroup {
  std::string name, description;
  std::vector<std::int64_t> members;  ///< ranks of the job, rising
  bool inferred = false;              ///< no dump lists them: the ranks that recorded one of its calls
};

/// A rank's collectives of one group: which record has which number.
struct GroupCalls {
  std::int64_t first_known = 0;  ///< records with smaller numbers may have been dropped by the ring
  std::vector<std::pair<std::int64_t, std::int32_t>> entries;  ///< number and place in the dump, by number
  /// The record with this number; -1: there is none.
  std::int32_t at(std::int64_t sequence) const;
};

struct FlightJob {
  std::vector<FlightDump> dumps;  ///< by rank; their groups and calls are those below
  std::vector<JobGroup> groups;
  std::vector<FlightCall> calls;
  std::vector<std::vector<GroupCalls>> by_group;  ///< by dump, by group
  std::vector<std::int64_t> missing;              ///< ranks that are listed and left no dump
  std::int64_t world = 0;                         ///< ranks that are listed or left a dump
  bool has_states = false;                        ///< a record says started or completed, as those of a GPU do
  bool wrapped = false;                           ///< a ring has dropped its oldest records
  std::vector<std::string> notes;

  /// The place of a rank's dump; -1: it left none.
  std::int64_t dump_of(std::int64_t rank) const;
  const FlightCall& call(const FlightEntry& e) const { return calls[static_cast<std::size_t>(e.call)]; }
  const JobGroup& group(const FlightEntry& e) const { return groups[static_cast<std::size_t>(e.group)]; }
  /// Is it not over, as far as the record says?
  bool open(const FlightEntry& e) const { return has_states ? e.state != CallState::completed : !e.retired; }
};

inline constexpr std::size_t max_job_ranks = 16'384;
inline constexpr std::size_t max_job_entries = 4'000'000;

/// Fails where there is no dump, where two of one rank differ, or where there is too much.
Result<FlightJob> make_flight_job(std::vector<FlightDump> dumps);

}  // namespace models::hang
