#include "chapters/fleet/sharing/lab.h"
#include "chapters/mechanism/link_writer.h"

/// Labs that show one side: what an idle hour costs, queues of requests, and copies from the host.
namespace chapters::fleet::sharing {
namespace {

constexpr auto sharing_doors = std::to_array<DoorTo>({
    {"open the cost", "What empty hours cost", "fleet/cost"},
    {"open the queue", "Queues of one size", "serving/batching"},
    {"open the run", "A run that needs many", "fleet/train-time"},
});

models::Result<std::string> link_to(const Outputs& out, std::string_view lab) {
  LinkWriter w(lab);
  if (lab == "fleet/cost") {
    w.number("filled", out.used);
  } else if (lab == "serving/batching") {
    w.choice("policy", "single");
    w.choice("service", "exponential");
    w.number("servers", out.places);
    w.number("arrival_rate", out.arrivals_per_hour / 3600);
    w.number("service_time_s", out.mean_run_s);
  } else {
    w.number("gpus", out.places);
  }
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs&, const Outputs& out) {
  return lab_doors(sharing_doors, [&](std::string_view lab) { return link_to(out, lab); });
}

}  // namespace chapters::fleet::sharing
