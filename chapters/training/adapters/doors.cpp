#include <array>

#include "chapters/mechanism/link_writer.h"
#include "chapters/training/adapters/lab.h"
#include "models/base/integer_math.h"

/// Labs that show one side: the states that go, the 4-bit weights, decode on its roofline.
namespace chapters::training::adapters {
namespace {

using models::as_double;

constexpr auto adapter_doors = std::to_array<DoorTo>({
    {"open the memory", "Every owner of a full step", "framework/training-memory"},
    {"open the optimizer", "The update that goes", "training/optimizer"},
    {"open decode", "Decode on its roofline", "inference/phases"},
});

models::Result<std::string> adapter_link(const Inputs& in, std::string_view lab) {
  LinkWriter w(lab);
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  if (lab == "framework/training-memory") {
    w.exactly("batch", as_double(in.batch));
    w.exactly("sequence", as_double(in.sequence));
    w.choice("split", "one_gpu");
    w.choice("recompute", in.recompute ? "full" : "none");
  } else if (lab == "training/optimizer") {
    w.choice("code", "fused");
    w.exactly("shards", as_double(in.gpus));
    w.number("tokens", as_double(in.batch) * as_double(in.sequence));
  } else {
    w.exactly("batch", as_double(in.served));
    w.exactly("context", as_double(in.context));
  }
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in) {
  return lab_doors(adapter_doors, [&](std::string_view lab) { return adapter_link(in, lab); });
}

}  // namespace chapters::training::adapters
