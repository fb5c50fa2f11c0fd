#pragma once
#include <cstdint>
#include <span>

#include "models/hang/flight_dump.h"

/// Whether two records can be one collective. The tests and their order are those of the analyzer that comes with
/// PyTorch. Source: torch/distributed/flight_recorder/components/types.py, torch 2.15.0; a received message from any
/// source ("?") matches every sender.
namespace models::hang {

enum class CallMatch : std::uint8_t {
  matched,
  type_mismatch,
  size_mismatch,
  dtype_mismatch,
  state_mismatch,
  undecided  ///< an all-to-all, whose sizes tell only when all ranks are added up
};
inline constexpr int call_match_count = 6;

/// Is `a` on one rank the same collective as `b` on another, in a group of so many ranks? The first test that fails
/// answers, and the order of a and b matters.
CallMatch match_calls(const FlightCall& a, CallState a_state, const FlightCall& b, CallState b_state,
                      std::int64_t ranks);

struct PeerPair {
  std::int64_t source = -1, destination = -1;  ///< ranks of the group; -1 is any
  bool known = false;                          ///< `peers` could be read
};
/// "0->1" of a send, "1<-0" and "1<-?" of a receive.
PeerPair peers_of(const FlightCall& call);

inline bool is_all_to_all(const FlightCall& call) { return call.operation.starts_with("all_to_all"); }
/// Elements of all tensors.
std::int64_t numel(const Sizes& sizes);

}  // namespace models::hang
