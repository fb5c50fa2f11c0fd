#include "chapters/fleet/sharing/lab.h"
#include "chapters/mechanism/link_writer.h"

/// Labs that show one side: what an idle hour costs, queues of requests, and copies from the host.
namespace chapters::fleet::sharing {
namespace {

constexpr auto sharing_doors = std::to_array<DoorTo>({
    {"open the cost", "What empty hours cost", "fleet/cost"},
    {"open the queue", "The same load, one size", "serving/batching"},
    {"open the run", "A run that needs many", "fleet/train-time"},
});

models::Result<std::string> link_to(const Inputs& in, const Outputs& out, std::string_view lab) {
  LinkWriter w(lab);
  if (lab == "fleet/cost") {
    w.number("filled", out.used);
  } else if (lab == "serving/batching") {
    w.choice("policy", "single");
    w.choice("service", "exponential");
    w.number("servers", out.places);
    // In run times instead of seconds: rates of a fleet are below what that lab's axis begins with.
    w.number("arrival_rate", in.load / 100 * out.places);
    w.number("service_time_s", 1);
  } else {
    w.number("gpus", out.places);
  }
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(sharing_doors, [&](std::string_view lab) { return link_to(in, out, lab); });
}

}  // namespace chapters::fleet::sharing
