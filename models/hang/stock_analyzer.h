#pragma once
#include <cstdint>
#include <vector>

#include "models/hang/flight_job.h"
#include "models/hang/flight_match.h"

namespace models::hang {

/// What the analyzer that comes with PyTorch says first of these dumps: the rules of its source worked out here, not a
/// run of it. Source: torch/distributed/flight_recorder/components/builder.py and utils.py, torch 2.15.0.
struct StockVerdict {
  enum class Kind : std::uint8_t {
    nothing,        ///< everything matches
    missing,        ///< "Not all ranks joining collective"
    mismatch,       ///< every rank that differs from the first is called a culprit
    unequal_sums,   ///< an all-to-all; the first rank is named for want of better
    cannot_decide,  ///< a rank left no dump
    not_followed    ///< messages in a group of more than two ranks are not worked out here
  };
  Kind kind = Kind::nothing;
  std::int32_t group = -1;
  std::int64_t sequence = 0;
  std::vector<std::int64_t> ranks;  ///< that it names, rising
  CallMatch match = CallMatch::matched;
  std::int64_t matched = 0;  ///< collectives that matched before
};
inline constexpr int stock_verdict_count = 6;

StockVerdict stock_verdict(const FlightJob& job);

}  // namespace models::hang
