// A dump of the flight recorder, JSON or pickle: what is accepted can be put into a job and diagnosed, and the JSON
// that is written of it reads back.
#include "models/hang/flight_dump.h"

#include "models/hang/hang_diagnosis.h"
#include "models/hang/stock_analyzer.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::hang;
  auto dump = read_flight_dump(fuzz::text_of(data, size));
  if (!fuzz::accepted(dump)) return 0;
  for (const FlightEntry& e : dump->entries) {
    fuzz::require(e.group >= 0 && static_cast<std::size_t>(e.group) < dump->groups.size(), "a record without a group");
    fuzz::require(e.call >= 0 && static_cast<std::size_t>(e.call) < dump->calls.size(), "a record without a call");
  }
  const auto again = read_flight_dump(flight_dump_json(*dump));
  fuzz::require(static_cast<bool>(again) && again->entries.size() == dump->entries.size(), "it does not read back");
  std::vector<FlightDump> both{*dump, std::move(*dump)};
  both[1].rank = 1;
  const auto job = make_flight_job(std::move(both));
  if (!fuzz::accepted(job)) return 0;
  const HangDiagnosis d = diagnose_hang(*job);
  fuzz::require(d.decidable || d.culprits.empty(), "an accusation that is not decided");
  stock_verdict(*job);
  return 0;
}
