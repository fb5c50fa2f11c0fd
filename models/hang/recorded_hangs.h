#pragma once
#include <string_view>
#include <vector>

#include "models/hang/flight_dump.h"

namespace models::hang {

/// A run that was recorded on one machine with a fault planted, as one text.
struct RecordedHang {
  std::string_view id, text;
};
const std::vector<RecordedHang>& recorded_hangs();

/// The dumps of all its ranks that left one. Empty where there is no such run.
std::vector<FlightDump> recorded_dumps(std::string_view id);

}  // namespace models::hang
