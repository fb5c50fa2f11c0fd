#include "chapters/fleet/train_time/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "models/base/integer_math.h"

/// Labs that show the same run: how it is split over its GPUs, and what each of its tokens costs.
namespace chapters::fleet::train_time {
namespace {

using models::as_double;

constexpr auto run_time_doors = std::to_array<DoorTo>({
    {"open the plan", "How to split the run", "distributed/planner"},
    {"open the coin", "What its tokens cost", "fleet/cost"},
});

models::Result<std::string> run_time_link(const Inputs& in, const Outputs& out, std::string_view lab) {
  LinkWriter w(lab);
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  if (lab == "distributed/planner") {
    w.exactly("gpus", as_double(in.gpus));
    return w.link();
  }
  w.choice("work", "train");
  w.exactly("chips", as_double(in.gpus));
  w.exactly("price_per_hour", in.price_per_hour * as_double(in.gpus));
  w.exactly("run_tokens", in.tokens);
  w.exactly("output_tokens_per_s", in.tokens / out.wall_s);
  w.exactly("filled", 100 * out.compute_s / out.wall_s);
  w.exactly("pue", in.pue);
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(run_time_doors, [&](std::string_view lab) { return run_time_link(in, out, lab); });
}

}  // namespace chapters::fleet::train_time
