#include "chapters/inference/state_space/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "models/base/integer_math.h"

/// Labs that show one side: the cache that grows, windows with sinks, the step on the roofline.
namespace chapters::inference::state_space {
namespace {

constexpr auto state_doors = std::to_array<DoorTo>({
    {"open the cache", "The cache of attention", "inference/kv-cache"},
    {"open the window", "A window with sinks", "inference/attention-patterns"},
    {"open the step", "The step's two phases", "inference/phases"},
});

models::Result<std::string> link_to(const Inputs& in, std::string_view lab) {
  LinkWriter w(lab);
  w.choice("model", in.reference);
  w.choice("chip", in.chip);
  w.choice("kv_format", in.kv_format);
  if (lab == "inference/attention-patterns") {
    w.choice("pattern", "sinks");
    w.exactly("sequence", models::as_double(in.context));
    return w.link();
  }
  w.choice("format", models::format_id(in.format));
  w.exactly("batch", models::as_double(in.batch));
  w.exactly("context", models::as_double(in.context));
  if (lab == "inference/phases") {
    w.exactly("tensor_parallel", models::as_double(in.chips));
    w.exactly("kv_bits", kv_bits(in));
  } else {
    w.exactly("chips", models::as_double(in.chips));
  }
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in) {
  return lab_doors(state_doors, [&](std::string_view lab) { return link_to(in, lab); });
}

}  // namespace chapters::inference::state_space
