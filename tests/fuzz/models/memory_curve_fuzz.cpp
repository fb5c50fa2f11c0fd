// A recording of memory in one of three forms: the points of what is accepted go forward in time and stay below the
// peak.
#include <cmath>

#include "models/memory/recorded_curve.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::memory;
  const auto curve = read_memory_curve(models::trace::in_memory(std::string(fuzz::text_of(data, size))), "a file");
  if (!fuzz::accepted(curve)) return 0;
  fuzz::require(!curve->points.empty() && !curve->kind.empty(), "a curve without points or kind");
  double last_s = 0;
  for (const RecordedPoint& p : curve->points) {
    fuzz::require(p.time_s >= last_s && std::isfinite(p.time_s), "a point that goes back");
    fuzz::require(std::isfinite(p.bytes) && p.bytes <= curve->peak_bytes, "a point above the peak");
    last_s = p.time_s;
  }
  fuzz::require(curve->span_s >= 0 && curve->peak_s >= 0 && std::isfinite(curve->span_s), "a curve without a span");
  return 0;
}
