#include "chapters/fleet/cost/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "models/base/integer_math.h"

/// Labs that show what the hour of this one consists of.
namespace chapters::fleet::cost {
namespace {

using models::as_double;

constexpr auto cost_serving_doors = std::to_array<DoorTo>({
    {"open the capacity", "The fleet for such users", "serving/capacity"},
    {"open the step", "What bounds a step", "inference/phases"},
});
constexpr auto cost_training_doors = std::to_array<DoorTo>({
    {"open the clock", "The same run on the clock", "fleet/train-time"},
});

models::Result<std::string> cost_link(const Inputs& in, std::string_view lab) {
  LinkWriter w(lab);
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  if (lab == "fleet/train-time") {
    w.exactly("gpus", as_double(in.chips));
    w.exactly("tokens", in.run_tokens);
    w.exactly("price_per_hour", in.price_per_hour / as_double(in.chips));
    w.exactly("pue", in.pue);
    return w.link();
  }
  w.choice("format", models::format_id(in.format));
  if (lab == "serving/capacity") {
    w.choice("replica_size", "own");
    w.exactly("tensor_parallel", as_double(in.chips));
    w.number("price_per_hour", in.price_per_hour / as_double(in.chips));
    return w.link();
  }
  w.exactly("batch", as_double(in.users));
  w.exactly("context", as_double(in.context));
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in) {
  const auto link = [&](std::string_view lab) { return cost_link(in, lab); };
  return in.work == WorkKind::train ? lab_doors(cost_training_doors, link) : lab_doors(cost_serving_doors, link);
}

}  // namespace chapters::fleet::cost
