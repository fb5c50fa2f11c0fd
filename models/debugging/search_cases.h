#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/debugging/search_order.h"

/// Cases in which one looks for a cause: fixed ones, and one dealt for each seed.
namespace models::debugging {

/// What checks there are in any case; a case says how long they take in it and what they see.
struct CheckName {
  std::string_view id, name, what;  ///< what: what it looks at, a whole sentence
};
std::vector<CheckName> check_names();

/// Where a case's likelihoods come from. Minutes and what a check sees are always the case's own.
enum class Prior : std::uint8_t { own, llama3, h200_talk };

struct FixedCase {
  std::string_view id, name, symptom;
  Prior prior = Prior::own;
  SearchCase search;
};
/// In the order in which they are offered; made once.
const std::vector<FixedCase>& fixed_cases();

/// A case dealt: likelihoods and minutes of a fixed one, shifted, and one cause that is there.
struct DealtCase {
  std::string_view name, symptom;  ///< the fixed case that it was made from
  Prior prior = Prior::own;
  SearchCase search;
  double cause_draw = 0;            ///< in [0, 1): which cause it is, by the likelihoods
  std::vector<double> check_draws;  ///< for each check, in [0, 1): it convicts if it sees more than that
  std::vector<double> alarm_draws;  ///< for each check, in [0, 1): a false alarm if below its probability
};
DealtCase deal_case(std::int64_t seed);
/// The cause that a draw in [0, 1) means under the case's likelihoods.
std::size_t cause_of_draw(const SearchCase& c, double draw);

}  // namespace models::debugging
