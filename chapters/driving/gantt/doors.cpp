#include "chapters/driving/gantt/lab.h"
#include "chapters/mechanism/link_writer.h"

namespace chapters::driving::gantt {
namespace {

constexpr auto frame_doors = std::to_array<DoorTo>({
    {"open the tail", "This frame a hundred thousand times", "driving/jitter"},
    {"open the pixels", "The pixels that feed it", "driving/budget"},
});

}  // namespace

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(frame_doors, [&](std::string_view lab) {
    LinkWriter w(lab);
    w.number("rate_hz", in.rate_hz);
    if (lab == "driving/jitter") {
      w.exactly("base_s", out.latency_s);
    } else {
      for (const char* rate : {"front_rate_hz", "side_rate_hz", "rear_rate_hz"}) w.number(rate, in.rate_hz);
      w.number("kept", 100);
      w.choice("shared", in.changes.shared_backbone ? "all" : "none");
    }
    return w.link();
  });
}

}  // namespace chapters::driving::gantt
