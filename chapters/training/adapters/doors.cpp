#include <array>

#include "chapters/described/training_memory.h"
#include "chapters/mechanism/link_writer.h"
#include "chapters/training/adapters/lab.h"
#include "models/base/integer_math.h"

/// Labs that show one side: every owner of the memory, the update that goes, decode on its roofline.
namespace chapters::training::adapters {
namespace {

using models::as_double;

constexpr auto adapter_doors = std::to_array<DoorTo>({
    {"open the memory", "Every owner of the bytes", "framework/training-memory"},
    {"open the optimizer", "The update that goes", "training/optimizer"},
    {"open decode", "Decode on its roofline", "inference/phases"},
});

using Link = models::Result<std::string>;

/// What is trained here and what of it is kept, in the lab that counts every owner.
Link write_memory(LinkWriter& w, const Inputs& in) {
  if (in.method == Method::bottleneck)
    return Link::fail("That lab has pairs next to matrices, and adapter layers are others.");
  if (in.method == Method::qlora && !in.double_quantized)
    return Link::fail("In that lab the scales of 4-bit weights are quantized too.");
  constexpr std::array<std::array<std::string_view, 2>, models::adapters::states_count> kept{
      {{"mixed", "adamw"}, {"pure_bf16", "adamw"}, {"no_master", "adamw_8bit"}}};
  const auto& [recipe, optimizer] = kept[static_cast<std::size_t>(in.states)];
  w.choice("recipe", recipe);
  w.choice("optimizer", optimizer);
  w.exactly("batch", as_double(in.batch));
  w.exactly("sequence", as_double(in.sequence));
  w.exactly("micro_batches", as_double(in.micro_batches));
  w.choice("recompute", in.recompute ? "full" : "none");
  w.choice("loss", loss_choices()[static_cast<std::size_t>(in.loss)].id);
  w.choice("count", "operations");
  w.toggle("dropout", false);
  w.exactly("fixed_bytes", 0);
  w.exactly("data_parallel", as_double(in.gpus));
  w.exactly("zero_stage", in.gpus > 1 ? 3 : 0);
  if (in.method == Method::full) return w.link();
  w.exactly("adapter_rank", as_double(in.rank));
  w.choice("adapter_targets", adapter_target_choices()[static_cast<std::size_t>(in.targets)].id);
  w.choice("frozen", in.method == Method::qlora ? "nf4" : "bf16");
  return w.link();
}

Link adapter_link(const Inputs& in, std::string_view lab) {
  LinkWriter w(lab);
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  if (lab == "framework/training-memory") return write_memory(w, in);
  if (lab == "training/optimizer") {
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
