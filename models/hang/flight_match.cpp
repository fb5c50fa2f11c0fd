#include "models/hang/flight_match.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace models::hang {
namespace {

template <std::size_t n>
bool is_one_of(std::string_view what, const std::array<std::string_view, n>& list) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

constexpr std::array<std::string_view, 27> known_collectives{"broadcast",
                                                             "_broadcast_oop",
                                                             "reduce",
                                                             "_reduce_oop",
                                                             "all_gather",
                                                             "all_gather_single",
                                                             "all_gather_v",
                                                             "all_reduce",
                                                             "_all_gather_base",
                                                             "all_gather_into_tensor_coalesced",
                                                             "reduce_scatter",
                                                             "reduce_scatter_single",
                                                             "reduce_scatter_v",
                                                             "reduce_scatter_tensor_coalesced",
                                                             "_reduce_scatter_base",
                                                             "gather",
                                                             "scatter",
                                                             "all_to_all",
                                                             "all_to_all_single",
                                                             "all_to_all_v_single",
                                                             "all_reduce_barrier",
                                                             "barrier",
                                                             "split",
                                                             "new_window",
                                                             "allreduce_coalesced",
                                                             "ALLGATHER_coalesced",
                                                             "REDUCE_SCATTER_coalesced"};
/// Whose output has the input of each rank. The list has no "_all_gather_base", as the analyzer's has none.
constexpr std::array<std::string_view, 3> gathering{"all_gather", "all_gather_base",
                                                    "all_gather_into_tensor_coalesced"};
constexpr std::array<std::string_view, 3> scattering{"reduce_scatter", "_reduce_scatter_base",
                                                     "reduce_scatter_tensor_coalesced"};
constexpr std::array<std::string_view, 2> exchanging{"all_to_all", "all_to_all_single"};

std::int64_t product(const std::vector<std::int64_t>& dims) {
  std::int64_t out = 1;
  // Sizes come from a file: they wrap around instead of overflowing.
  for (const std::int64_t d : dims)
    out = static_cast<std::int64_t>(static_cast<std::uint64_t>(out) * static_cast<std::uint64_t>(d));
  return out;
}
std::int64_t first_numel(const Sizes& sizes) { return sizes.empty() ? 0 : product(sizes.front()); }
/// The first tensor has dimensions.
bool has_shape(const Sizes& sizes) { return !sizes.empty() && !sizes.front().empty(); }

bool same_set(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto holds = [](const std::vector<std::string>& all, const std::vector<std::string>& some) {
    for (const std::string& s : some)
      if (std::find(all.begin(), all.end(), s) == all.end()) return false;
    return true;
  };
  return holds(a, b) && holds(b, a);
}

bool dtypes_differ(const FlightCall& a, const FlightCall& b) {
  const std::string_view type = a.operation;
  const bool scatter = type == "scatter", gather = type == "gather", broadcast = type == "broadcast";
  if (!scatter && !gather && !broadcast && !same_set(a.input_dtypes, a.output_dtypes) && has_shape(a.input_sizes) &&
      has_shape(a.output_sizes))
    return true;
  if (!scatter && !broadcast && !same_set(a.input_dtypes, b.input_dtypes) && has_shape(a.input_sizes) &&
      has_shape(b.input_sizes))
    return true;
  return !gather && !same_set(a.output_dtypes, b.output_dtypes) && has_shape(a.output_sizes) &&
         has_shape(b.output_sizes);
}

CallMatch match_peers(const FlightCall& a, const FlightCall& b) {
  const bool sends = a.operation == "send";
  if (b.operation != (sends ? "recv" : "send")) return CallMatch::size_mismatch;
  const PeerPair x = peers_of(a), y = peers_of(b);
  const bool any = x.source < 0 || y.source < 0;
  if (!x.known || !y.known || x.destination != y.destination || (!any && x.source != y.source))
    return CallMatch::size_mismatch;
  const bool fits = sends ? a.input_sizes == b.output_sizes : a.output_sizes == b.input_sizes;
  return fits ? CallMatch::matched : CallMatch::size_mismatch;
}

bool sizes_differ(const FlightCall& a, const FlightCall& b, std::int64_t ranks) {
  const std::string_view type = a.operation;
  const bool exchanges = is_one_of(type, exchanging);
  const auto times = [ranks](std::int64_t n) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(ranks));
  };
  if (!exchanges && type != "scatter" && a.input_sizes != b.input_sizes) return true;
  if (!exchanges && type != "gather" && a.output_sizes != b.output_sizes) return true;
  if ((type == "all_reduce" || type == "allreduce_coalesced") && a.input_sizes != b.output_sizes) return true;
  if (is_one_of(type, gathering) && first_numel(b.output_sizes) != times(first_numel(a.input_sizes))) return true;
  return is_one_of(type, scattering) && first_numel(b.input_sizes) != times(first_numel(a.output_sizes));
}

}  // namespace

std::int64_t numel(const Sizes& sizes) {
  std::uint64_t out = 0;
  for (const auto& dims : sizes) out += static_cast<std::uint64_t>(product(dims));
  return static_cast<std::int64_t>(out);
}

PeerPair peers_of(const FlightCall& call) {
  PeerPair out;
  const bool sends = call.operation == "send";
  const std::string_view text = call.peers, arrow = sends ? "->" : "<-";
  const std::size_t at = text.find(arrow);
  if (at == std::string_view::npos) return out;
  const auto number = [](std::string_view s, std::int64_t& to) {
    if (s == "?") return true;
    const auto [end, fault] = std::from_chars(s.data(), s.data() + s.size(), to);
    return fault == std::errc() && end == s.data() + s.size() && to >= 0;
  };
  std::int64_t left = -1, right = -1;
  out.known = number(text.substr(0, at), left) && number(text.substr(at + 2), right);
  out.source = sends ? left : right;
  out.destination = sends ? right : left;
  return out;
}

CallMatch match_calls(const FlightCall& a, CallState a_state, const FlightCall& b, CallState b_state,
                      std::int64_t ranks) {
  const std::string_view type = a.operation;
  if (type == "send" || type == "recv") return match_peers(a, b);
  if (!is_one_of(type, known_collectives)) return type == b.operation ? CallMatch::matched : CallMatch::size_mismatch;
  if (type != b.operation) return CallMatch::type_mismatch;
  if (sizes_differ(a, b, ranks)) return CallMatch::size_mismatch;
  if (dtypes_differ(a, b)) return CallMatch::dtype_mismatch;
  if (a_state != b_state) return CallMatch::state_mismatch;
  return is_one_of(type, exchanging) ? CallMatch::undecided : CallMatch::matched;
}

}  // namespace models::hang
