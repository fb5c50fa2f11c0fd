#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// What one process wrote down of its collective calls: a dump of PyTorch's flight recorder, version 2.
/// Sources: torch/csrc/distributed/c10d/FlightRecorder.hpp and FlightRecorderDetail.hpp of torch 2.15.0, and dumps
/// recorded with it.
namespace models::hang {

using Sizes = std::vector<std::vector<std::int64_t>>;  ///< for each tensor its dimensions

/// What was called. Ranks that take part in one collective have to say the same here.
struct FlightCall {
  std::string library, operation;  ///< "nccl" and "all_reduce"
  std::string peers;               ///< what a point-to-point call names, "0->1" or "1<-0", in ranks of the group
  Sizes input_sizes, output_sizes;
  std::vector<std::string> input_dtypes, output_dtypes;
  bool operator==(const FlightCall&) const = default;
};

enum class CallState : std::uint8_t { scheduled, started, completed };

/// One record of the ring.
struct FlightEntry {
  std::int64_t record = 0;    ///< counts records of the process
  std::int32_t group = -1;    ///< place in FlightDump::groups, in FlightJob that of the job
  std::int32_t call = -1;     ///< place in FlightDump::calls, in FlightJob that of the job
  std::int64_t sequence = 0;  ///< counts collectives of the group; of a point-to-point call those before it
  std::int64_t p2p_sequence = 0;
  std::int64_t created_ns = 0;  ///< by the clock of the machine
  std::int64_t timeout_ms = 0;
  CallState state = CallState::scheduled;
  bool p2p = false;
  bool retired = false;  ///< no longer watched, which is not success
  bool operator==(const FlightEntry&) const = default;
};

/// A process group as a record names it: {"0", "default_pg"}.
struct FlightGroup {
  std::string name, description;
  std::vector<std::int64_t> ranks;  ///< as pg_config lists them; empty: it does not
  bool operator==(const FlightGroup&) const = default;
};

/// Counters of a group, by its number in the process. -1: none yet.
struct FlightStatus {
  std::string group;
  std::int64_t enqueued = -1, started = -1, completed = -1;
  bool operator==(const FlightStatus&) const = default;
};

struct FlightVersion {
  std::int64_t major = 0, minor = 0;
  auto operator<=>(const FlightVersion&) const = default;  ///< 2.10 is newer than 2.9
};

struct FlightDump {
  std::int64_t rank = 0;  ///< the dump does not say it: it is in the file's name
  FlightVersion version{2, 10};
  std::vector<FlightEntry> entries;  ///< by record
  std::vector<FlightGroup> groups;
  std::vector<FlightCall> calls;
  std::vector<FlightStatus> status;
  std::vector<std::int64_t> listed_ranks;  ///< all ranks that any group of pg_config lists
};

inline constexpr std::size_t max_dump_entries = 100'000;

/// "2.10" as two numbers; fails on anything else.
Result<FlightVersion> parse_flight_version(std::string_view text);

/// A dump as JSON or as a pickle of plain values, by what the bytes begin with. A pickle is read by its opcodes and
/// never run.
Result<FlightDump> read_flight_dump(std::string_view bytes);

/// The number at the end of a file's name, its suffixes aside: 3 of "nccl_trace_rank_3" and of "rank3.json"; -1: there
/// is none.
std::int64_t rank_of_file_name(std::string_view name);

/// The dump as JSON of version 2.10, one line, as PyTorch writes it.
std::string flight_dump_json(const FlightDump& dump);

}  // namespace models::hang
