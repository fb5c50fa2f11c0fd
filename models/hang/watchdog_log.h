#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace models::hang {

/// What one line of a log says of NCCL's watchdog. -1 where it does not say it.
struct WatchdogLine {
  std::int64_t rank = -1;   ///< that printed the line
  std::int64_t stuck = -1;  ///< number of the call that does not end
  std::int64_t enqueued = -1, completed = -1;
  std::int64_t queued_behind = -1;   ///< calls enqueued after the one that is stuck
  std::int64_t timed_out_rank = -1;  ///< another rank, which timed out first
  std::int64_t timeout_ms = -1, ran_ms = -1;
  std::int64_t elements_in = -1, elements_out = -1;
  std::string operation;
};

/// The lines of a log that speak of the watchdog, as PyTorch writes them; others are passed over. At most 10,000.
std::vector<WatchdogLine> read_watchdog_log(std::string_view text);

}  // namespace models::hang
