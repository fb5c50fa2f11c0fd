#include "chapters/capstone/train/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "chapters/mechanism/registry.h"
#include "models/base/integer_math.h"
#include "models/transformer/transformer.h"

namespace chapters::capstone::train {
namespace {

using models::as_double;

}  // namespace

models::Result<std::string> planner_link(const Inputs& in, const Run& run) {
  if (in.size == Size::b100)
    return models::Result<std::string>::fail("The planner's lab has no model of 100 billion parameters.");
  const models::parallel::PlanPoint& p = run.plan;
  LinkWriter w("distributed/planner");
  w.choice("model", in.size == Size::b405 ? "llama-3.1-405b" : "llama-3-70b");
  w.choice("chip", in.chip);
  w.exactly("gpus", as_double(run.job.cluster.gpus));
  w.exactly("global_batch", as_double(run.job.global_batch));
  w.exactly("sequence", as_double(in.sequence));
  w.choice("format", run.job.format == models::Format::fp8 ? "fp8" : "bf16");
  w.exactly("port_bytes_per_s", in.port_bytes_per_s);
  w.number("keep_free_bytes", models::parallel::kept_free_bytes);
  w.exactly("tensor_parallel", p.tensor);
  w.exactly("pipeline_parallel", p.pipeline);
  w.exactly("virtual_pipeline", p.virtual_pipeline);
  w.exactly("context_parallel", p.context);
  w.exactly("zero_stage", p.zero_stage);
  w.exactly("shard_group", p.shard_group);
  w.exactly("micro_batch", p.micro_batch);
  w.toggle("sequence_parallel", p.sequence_parallel);
  w.toggle("ends_take_slots", p.ends_take_slots);
  const auto recompute = static_cast<models::Recompute>(p.recompute);
  w.choice("recompute", recompute == models::Recompute::none        ? "none"
                        : recompute == models::Recompute::selective ? "selective"
                                                                    : "full");
  if (recompute == models::Recompute::selective) w.choice("given_up", "small");
  return w.link();
}

models::Result<std::string> train_time_link(const Inputs& in, const Run& run, const Outcome& outcome) {
  LinkWriter w("fleet/train-time");
  w.exactly("parameters", as_double(models::count_parameters(run.job.architecture).active));
  w.exactly("tokens", in.tokens);
  w.choice("chip", in.chip);
  w.exactly("gpus", as_double(run.job.cluster.gpus));
  w.number("mfu", 100 * outcome.mfu);
  w.exactly("mtbf_s", run.reliability.mtbf_s);
  w.exactly("interval_s", run.interval_s);
  w.exactly("save_s", run.reliability.save_s);
  w.exactly("restart_s", run.reliability.restart_s);
  w.number("price_per_hour", in.price_per_hour);
  return w.link();
}

const ItemLab& item_lab(Item item) {
  static const auto all = [] {
    constexpr std::array<std::string_view, item_count> ids{
        "training/data-loader", "debugging/divergence", "fleet/train-time",      "debugging/pyramid",
        "debugging/stragglers", "precision/mixed",      "profiling/utilization", "role/scaling"};
    std::array<ItemLab, item_count> labs;
    for (std::size_t i = 0; i < item_count; ++i)
      if (const LabPtr lab = make_lab_by_id(ids[i]))
        labs[i] = {.name = std::string(lab->info().title), .link = LinkWriter(ids[i]).text()};
    return labs;
  }();
  return all[static_cast<std::size_t>(item)];
}

}  // namespace chapters::capstone::train
