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
  if (lab == "kernels/lab" && in.source == Source::machine) {
    w.choice("device", "cpu");
    w.choice("cpu_ladder", in.ladder);
    w.number("rung", static_cast<double>(in.rung_b));
    w.choice("size", in.size == WorkSize::smallest ? "smallest" : in.size == WorkSize::small ? "small" : "usual");
    w.toggle("cold", in.cold_caches);
  }
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
