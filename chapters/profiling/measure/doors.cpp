#include <algorithm>

#include "chapters/mechanism/link_writer.h"
#include "chapters/profiling/measure/lab.h"

/// Labs where times are measured, and where many of them wait for the slowest.
namespace chapters::profiling::measure {
namespace {

constexpr auto measure_doors = std::to_array<DoorTo>({
    {"open the kernels", "Kernels to time here", "kernels/lab"},
    {"open the stragglers", "Noise of many GPUs", "debugging/stragglers"},
});

models::Result<std::string> measure_link(const Inputs& in, const Outputs& out, std::string_view lab) {
  LinkWriter w(lab);
  if (lab == "debugging/stragglers") {
    w.choice("source", "fleet");
    w.number("spread", in.source == Source::drawn ? in.noise : out.a_spread);
  }
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(measure_doors, [&](std::string_view lab) { return measure_link(in, out, lab); });
}

}  // namespace chapters::profiling::measure
