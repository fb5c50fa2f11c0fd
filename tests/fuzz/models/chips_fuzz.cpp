// A file of chips or networks: every figure of a chip that is accepted lies in the range that figures() states.
#include "models/machine/hardware.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = fuzz::text_of(data, size);
  if (const auto chips = models::parse_chips(text, "chips.json"); fuzz::accepted(chips))
    for (const models::Chip& chip : *chips) {
      fuzz::require(!chip.id.empty(), "a chip without an id");
      for (const models::Figure& f : models::figures())
        if (const auto v = models::figure_value(chip, f.key))
          fuzz::require(*v >= f.minimum && *v <= f.maximum, "a figure out of its range", f.key);
    }
  if (const auto networks = models::parse_networks(text, "chips.json"); fuzz::accepted(networks))
    for (const models::Network& n : *networks)
      fuzz::require(n.bytes_per_s_per_direction > 0, "a network without speed", n.id);
  return 0;
}
