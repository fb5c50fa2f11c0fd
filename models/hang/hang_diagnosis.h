#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/hang/flight_job.h"

/// Which rank holds a job up, worked out from the dumps alone: a record that differs from the others', a rank without
/// a dump, who waits for whom, and, where nothing waits, who is late again and again.
namespace models::hang {

enum class HangFault : std::uint8_t {
  none,
  straggler,
  skipped_collective,
  extra_collective,
  shape,
  dtype,
  order,
  split_sizes,
  uneven_inputs,
  not_arrived,
  died,
  group_order,
  p2p_order,
  undecided
};
inline constexpr int hang_fault_count = 14;

/// What a rank does at the end of its records.
struct RankWait {
  std::int32_t entry = -1;              ///< the call in which it waits, in its dump; -1: it waits in none
  std::vector<std::int64_t> waits_for;  ///< ranks that have not made their part of this call
};

/// A rank's part in who is late: where all dumps have one clock, or clocks that run alike.
struct Lateness {
  std::int64_t rank = -1;
  std::int64_t times_last = 0;  ///< calls to which it came last by much
  std::int64_t late_calls = 0;  ///< calls to which anyone came last by much
  std::int64_t largest_ns = 0;
};

struct HangDiagnosis {
  bool hangs = false;     ///< a call is open
  bool decidable = true;  ///< the records say who, or that it is nobody
  HangFault fault = HangFault::none;
  std::vector<std::int64_t> culprits;  ///< ranks, rising
  /// The first call at which the ranks part, in a group; -1: none, and 0 for a point-to-point call.
  std::int32_t group = -1;
  std::int64_t sequence = -1;
  std::int32_t expected_call = -1;  ///< what most made there; -1: not known
  std::int32_t found_call = -1;     ///< what the culprit made there
  std::vector<RankWait> waits;      ///< by dump
  Lateness late;
  /// Waits that were followed, from the rank that rings first: ranks, the last one waits for nobody or stood before.
  std::vector<std::int64_t> chain;
  std::int64_t rings_first = -1;            ///< rank whose watchdog rings first, by clocks set alike; -1: none does
  std::int64_t ring_spread_ns = 0;          ///< until the last one rings
  std::vector<std::int64_t> ring_order;     ///< ranks that ring, in their order
  std::vector<std::int64_t> ring_after_ns;  ///< for each of them, after the first
};

HangDiagnosis diagnose_hang(const FlightJob& job);

/// By dump, how far its clock is ahead of the others': the median, over the calls that it shares, of when it entered
/// them less when their middle member did. Zero where there are fewer than three such calls, or it is under 50 ms.
std::vector<std::int64_t> clock_offsets_ns(const FlightJob& job);

/// "skipped_collective": the name of a fault as files say it.
std::string_view fault_id(HangFault fault);

}  // namespace models::hang
