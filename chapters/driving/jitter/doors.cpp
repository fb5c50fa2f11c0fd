#include "chapters/driving/jitter/lab.h"
#include "chapters/mechanism/link_writer.h"

namespace chapters::driving::jitter {
namespace {

constexpr auto tail_doors = std::to_array<DoorTo>({
    {"open the schedule", "One frame's schedule", "driving/gantt"},
    {"open the pixels", "The pixels that feed it", "driving/budget"},
});

}  // namespace

LabDoors doors_of(const Inputs& in, const Outputs&) {
  return lab_doors(tail_doors, [&](std::string_view lab) {
    LinkWriter w(lab);
    w.number("rate_hz", in.rate_hz);
    if (lab == "driving/budget") w.number("front_rate_hz", in.rate_hz);
    return w.link();
  });
}

}  // namespace chapters::driving::jitter
