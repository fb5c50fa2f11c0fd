// A CSV of measurements: what is accepted can be put on a roofline.
#include <cmath>

#include "kernels/kernel.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = kernels::parse_measurements(std::string(fuzz::text_of(data, size)));
  if (!read) {
    fuzz::require_sentence(read.error);
    return 0;
  }
  for (const auto& m : *read)
    fuzz::require(
        std::isfinite(m.intensity()) && m.intensity() > 0 && std::isfinite(m.flops_per_s()) && m.flops_per_s() > 0,
        "a measurement that has no place", m.name);
  return 0;
}
