#include "chapters/driving/budget/lab.h"
#include "chapters/mechanism/link_writer.h"

namespace chapters::driving::budget {
namespace {

constexpr auto doors = std::to_array<DoorTo>({
    {"open the frame", "The frame's schedule", "driving/gantt"},
    {"open the tail", "Its tail", "driving/jitter"},
    {"open the roofline", "An encoder under the roof", "roofline/roofline"},
});

}  // namespace

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(doors, [&](std::string_view lab) {
    LinkWriter w(lab);
    if (lab == "roofline/roofline") {
      w.choice("chip", in.chip);
      w.choice("format", models::format_id(in.format));
      w.choice("operation", "custom");
      w.number("flops", out.image_flops);
      w.number("bytes", out.image_bytes);
      return w.link();
    }
    w.number("rate_hz", 1 / out.deadline_s);
    if (lab == "driving/jitter") {
      w.number("base_s", out.frame_s);
    } else {
      w.toggle("shared_backbone", in.shared == Shared::all);
      w.toggle("int8", in.format == models::Format::int8);
    }
    return w.link();
  });
}

}  // namespace chapters::driving::budget
