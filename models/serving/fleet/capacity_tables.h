#pragma once
#include <span>
#include <string_view>

#include "models/machine/hardware.h"

/// What a plan of a fleet takes from the world: how near engines were seen to come to the roofs, and what chips cost.
namespace models {

/// The share of its roofs (peak, bandwidth, link) at which a chip gives what saturated engines published: one number a
/// chip and format, which the median run of every second one sets; the others judge it.
struct ReachedShare {
  std::string_view chip;
  Format format = Format::bf16;
  double share = 0.55;
  int runs = 0;
  double median_error = 0, worst_error = 0;  ///< relative, of the runs that judge
};
std::span<const ReachedShare> reached_shares();
const ReachedShare* find_reached_share(std::string_view chip, Format format);
/// Taken where nobody's runs were fitted: near the middle of those that were.
inline constexpr double assumed_reached_share = 0.55;

/// What one chip costs for an hour, US dollars. Prices change by the month: each has the day on which it was read.
struct ChipPrice {
  std::string_view chip;
  double on_demand = 0;  ///< list price on `date`
  std::string_view date, source;
  double low = 0, high = 0;  ///< a survey of other clouds; 0: none
  std::string_view band_source;
};
std::span<const ChipPrice> chip_prices();
const ChipPrice* find_chip_price(std::string_view chip);

}  // namespace models
