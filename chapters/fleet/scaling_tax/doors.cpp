#include "chapters/described/training_memory.h"
#include "chapters/described/training_software.h"
#include "chapters/fleet/scaling_tax/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "models/base/integer_math.h"

/// Labs that show one riser: the plan, the run's failures, and who is slow.
namespace chapters::fleet::scaling_tax {
namespace {

using models::as_double;

constexpr auto tax_doors = std::to_array<DoorTo>({
    {"open the plan", "The plan among all others", "distributed/planner"},
    {"open the failures", "Failures over the clock", "fleet/train-time"},
    {"open the slow node", "Find the slow node", "debugging/stragglers"},
});

void write_plan(LinkWriter& w, const Inputs& in) {
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.choice("network", in.network);
  w.choice("format", in.format);
  w.choice("software", training_software_choices()[static_cast<std::size_t>(in.software)].id);
  w.choice("recompute", recomputed_part_choices()[static_cast<std::size_t>(in.recompute)].id);
  w.toggle("sequence_parallel", in.sequence_parallel);
  const auto exactly = [&](std::string_view key, std::int64_t n) { w.exactly(key, as_double(n)); };
  exactly("gpus", in.gpus);
  exactly("global_batch", in.global_batch);
  exactly("sequence", in.sequence);
  exactly("tensor_parallel", in.tensor_parallel);
  exactly("pipeline_parallel", in.pipeline_parallel);
  exactly("virtual_pipeline", in.virtual_pipeline);
  exactly("context_parallel", in.context_parallel);
  exactly("expert_parallel", in.expert_parallel);
  exactly("zero_stage", in.zero_stage);
  exactly("micro_batch", in.micro_batch);
}

models::Result<std::string> link_to(const Inputs& in, const Outputs& out, std::string_view lab) {
  LinkWriter w(lab);
  if (lab == "distributed/planner") {
    write_plan(w, in);
  } else if (lab == "fleet/train-time") {
    w.choice("model", in.model);
    w.choice("chip", in.chip);
    w.exactly("gpus", as_double(in.gpus));
    w.exactly("mfu", out.fleet_mfu);
    w.exactly("mtbf_s", out.mtbf_s);
    w.exactly("save_s", in.save_s);
    w.exactly("restart_s", in.restart_s);
    w.exactly("price_per_hour", in.price_per_hour);
    w.exactly("interval_s", 0);
  } else {
    w.choice("source", "fleet");
    w.choice("fault", "bad_node");
    w.exactly("slower", in.slow_node);
    w.number("ranks", as_double(in.gpus));
    w.number("spread", in.spread);
    w.number("step_s", out.step_s);
    w.exactly("price_per_hour", in.price_per_hour);
  }
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return lab_doors(tax_doors, [&](std::string_view lab) { return link_to(in, out, lab); });
}

}  // namespace chapters::fleet::scaling_tax
