#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "models/hang/hang_diagnosis.h"

/// The steps of a diagnosis, each a look at the dumps.
namespace models::hang {

/// Group, source, destination and number of a call; what does not matter is 0. One type for all, which is cheap to
/// compile.
using CallKey = std::array<std::int64_t, 4>;

inline std::size_t index_of(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Calls of a group in the order in which most of its members made them.
struct GroupHistory {
  std::int64_t first = 1;           ///< number of the first one
  std::vector<std::int32_t> calls;  ///< for each number what most called
  /// After how many calls it repeats, so far as it does; 0: no call has come again.
  std::size_t period() const;
  /// What comes at this number if it goes on as before; -1: nobody knows.
  std::int32_t expected(std::int64_t sequence) const;
};

/// A call that members of one group made differently.
struct Difference {
  std::int32_t group = -1;
  std::int64_t sequence = 0, record = 0;
  HangFault fault = HangFault::none;
  std::vector<std::int64_t> culprits;
  bool decidable = true;
  std::int32_t expected_call = -1, found_call = -1;
};

/// The earliest call whose records differ.
std::optional<Difference> find_difference(const FlightJob& job);
/// The earliest message whose sender and receiver say another size.
std::optional<Difference> find_message_difference(const FlightJob& job);

/// For each dump in which call its rank waits, and for whom.
std::vector<RankWait> find_waits(const FlightJob& job);

/// Who comes last by much again and again.
Lateness find_lateness(const FlightJob& job, const std::vector<std::int64_t>& offsets);

/// Number of point-to-point calls of one pair before this one, by dump and record; and who should answer them.
struct Messages {
  struct Side {
    std::int32_t dump = -1, entry = -1;
  };
  struct Pair {
    std::int32_t group = -1;
    std::int64_t source = 0, destination = 0;  ///< ranks of the job
    std::vector<Side> sends, receives;         ///< in their order
  };
  std::vector<Pair> pairs;
};
Messages find_messages(const FlightJob& job);

}  // namespace models::hang
