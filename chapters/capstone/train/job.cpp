#include "chapters/capstone/train/job.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/fleet/checkpoint_interval.h"
#include "models/memory/state_bytes.h"
#include "widgets/number/number.h"

namespace chapters::capstone::train {
namespace {

using namespace models::parallel;
using models::as_double;

// In the order of Move.
constexpr std::array<Card, move_count> all_cards{{
    {"pipeline_4", "4 stages", "and ZeRO-1", "pipeline"},
    {"pipeline_8", "8 stages", "and ZeRO-1", "pipeline"},
    {"pipeline_16", "16 stages", "and ZeRO-1", "pipeline"},
    {"interleave", "Chunks", "small pieces per stage"},
    {"tensor_4", "Tensor 4", "in place of 8", "tensor"},
    {"tensor_2", "Tensor 2", "in place of 8", "tensor"},
    {"context_2", "Context 2", "sequences are split"},
    {"zero_1", "ZeRO-1", "weights lie whole"},
    {"selective", "Recompute the cheap", "norms, activations", "recompute"},
    {"keep_all", "Recompute nothing", "everything is kept", "recompute"},
    {"micro_2", "Micro-batch 2", "two sequences"},
    {"moments_8", "8-bit moments", "the optimizer's"},
    {"fp8", "FP8 products", "inside the layers"},
    {"save_often", "Save every 10 min", "a checkpoint", "save"},
    {"save_best", "Save at the best", "the exact optimum", "save"},
    {"save_beside", "Save while training", "stops for the copy"},
    {"spares", "Hot spares", "short restarts"},
    {"watch", "Take slow nodes out", "a detector finds them"},
}};

bool has(CardSet set, Move move) { return set.has(static_cast<std::size_t>(move)); }

/// As many chunks a stage as layers can be dealt to evenly, at most eight; 1: there are none.
void set_chunks(const models::Architecture& a, PlanPoint& plan) {
  for (std::int32_t v = 8; v >= 2; --v) {
    const std::int64_t pieces = plan.pipeline * v;
    if (a.layers % pieces != 0 && (a.layers + 2) % pieces != 0) continue;
    plan.virtual_pipeline = v;
    plan.ends_take_slots = a.layers % pieces != 0;
    return;
  }
}

PlanPoint point_of(const Job& job, CardSet set) {
  PlanPoint p;
  p.tensor = has(set, Move::tensor_4) ? 4 : has(set, Move::tensor_2) ? 2 : 8;
  p.pipeline = has(set, Move::pipeline_4) ? 4 : has(set, Move::pipeline_8) ? 8 : has(set, Move::pipeline_16) ? 16 : 1;
  p.context = has(set, Move::context_2) ? 2 : 1;
  p.zero_stage = p.pipeline > 1 || has(set, Move::zero_1) ? 1 : 3;
  p.micro_batch = has(set, Move::micro_2) ? 2 : 1;
  p.sequence_parallel = p.tensor > 1;
  const auto recompute = has(set, Move::keep_all)    ? models::Recompute::none
                         : has(set, Move::selective) ? models::Recompute::selective
                                                     : models::Recompute::full;
  p.recompute = static_cast<std::uint8_t>(recompute);
  if (recompute == models::Recompute::selective) p.modules = small_modules(job.architecture);
  const std::int64_t replica = std::int64_t{p.tensor} * p.pipeline * p.context;
  p.data = static_cast<std::int32_t>(std::max<std::int64_t>(1, job.gpus / replica));
  // As found, weights are gathered over 64 replicas and not over all: the others hold copies.
  if (p.zero_stage == 3 && p.data > 64 && p.data % 64 == 0) p.shard_group = 64;
  if (has(set, Move::interleave)) set_chunks(job.architecture, p);
  return p;
}

std::string bounce_of(const Job& job, CardSet set, const PlanPoint& p) {
  if (has(set, Move::interleave) && p.pipeline == 1)
    return "There is one stage alone: cut the layers into stages first.";
  if (has(set, Move::interleave) && p.virtual_pipeline == 1)
    return "The layers cannot be dealt evenly to chunks of so many stages.";
  if (has(set, Move::zero_1) && p.pipeline > 1) return "A pipeline has ZeRO-1 already: there is nothing to win.";
  const auto count = [](std::int64_t n) { return widgets::format_text(as_double(n), ""); };
  const std::int64_t replica = std::int64_t{p.tensor} * p.pipeline * p.context;
  if (job.gpus % replica != 0)
    return "A replica takes " + count(replica) + " GPUs, and there are " + count(job.gpus) +
           ": raise \"GPUs\" or share it out among fewer.";
  // GPUs, replicas and sequences are powers of two: they divide where there are enough.
  if (const std::int64_t at_once = std::int64_t{p.data} * p.micro_batch; at_once > job.global_batch)
    return "The GPUs are " + count(p.data) + " replicas, which take " + count(at_once) +
           " sequences at a time, and a step has " + count(job.global_batch) +
           ": raise \"Sequences per step\" or lower \"GPUs\".";
  return "";
}

}  // namespace

std::span<const Card> RunGame::cards() const { return all_cards; }

Run RunGame::run_of(CardSet set) const {
  Run run;
  if (searched_ > 0 && std::popcount(set.bits) > searched_) {
    run.bounce = "Longer games are not searched.";
    return run;
  }
  const models::Format format = has(set, Move::fp8) ? models::Format::fp8 : models::Format::bf16;
  if (has(set, Move::fp8) && !job_.chip.peak_flops_per_s(format)) {
    run.bounce = job_.chip.name + " multiplies no 8-bit floats.";
    return run;
  }
  auto cluster = planner_cluster(
      job_.chip, {.gpus = job_.gpus, .network_bytes_per_s = job_.network_bytes_per_s, .network_latency_s = 14e-6},
      format);
  if (!cluster) {
    run.bounce = cluster.error;
    return run;
  }
  run.job.architecture = job_.architecture;
  run.job.cluster = *cluster;
  run.job.cluster.memory_bytes -= kept_free_bytes;
  run.job.stack = planner_stack(StackId::megatron_core);
  run.job.stack.spread = has(set, Move::watch) ? job_.spread : job_.spread_slow;
  if (has(set, Move::moments_8))
    run.job.stack.state_bytes = models::memory::bytes_per_parameter(job_.architecture, run.job.stack.recipe,
                                                                    models::memory::OptimizerKind::adamw_8bit);
  run.job.format = format;
  run.job.global_batch = job_.global_batch;
  run.job.sequence = job_.sequence;
  run.plan = point_of(job_, set);
  run.bounce = bounce_of(job_, set, run.plan);
  run.reliability = {.save_s = has(set, Move::save_beside) ? job_.save_beside_s : job_.save_s,
                     .restart_s = has(set, Move::spares) ? job_.restart_spares_s : job_.restart_s,
                     .mtbf_s = job_.gpu_hours_per_failure * 3600 / as_double(job_.gpus)};
  run.interval_s = has(set, Move::save_often)  ? 600
                   : has(set, Move::save_best) ? models::fleet::exact_interval_s(run.reliability)
                                               : job_.interval_s;
  return run;
}

Outcome RunGame::outcome_of(const Run& run) const {
  Outcome out{.bounce = run.bounce};
  if (!out.bounce.empty()) return out;
  const auto price = price_plan(run.job, plan_of(run.job, run.plan));
  if (!price) {
    out.bounce = price.error;
    return out;
  }
  out.price = *price;
  out.memory_bytes = price->memory_bytes;
  out.room_bytes = run.job.cluster.memory_bytes;
  if (!price->fits) {
    out.bounce = "It takes " + widgets::format_text(out.memory_bytes, "B") + ", and a GPU has room for " +
                 widgets::format_text(out.room_bytes, "B") + ".";
    return out;
  }
  out.step_s = price->step_s;
  out.steps = job_.tokens / (as_double(job_.global_batch) * as_double(job_.sequence));
  out.mfu = planner_mfu(run.job, price->step_s);
  out.efficiency = models::fleet::checkpoint_efficiency(run.reliability, run.interval_s);
  if (!(out.efficiency > 1e-3)) {
    out.bounce = "Failures come faster than it saves: it would never end.";
    return out;
  }
  const double compute_s = out.steps * out.step_s;
  out.wall_s = compute_s / out.efficiency;
  const auto part = [&](PlanCause cause) { return price->parts[cause] * out.steps; };
  const auto cause = [&](Cause which) -> double& { return out.cause_s[static_cast<std::size_t>(which)]; };
  const double work = part(PlanCause::products) + part(PlanCause::attention) + part(PlanCause::elements);
  cause(Cause::arithmetic) = std::min(work, out.mfu * compute_s);
  cause(Cause::kernels) = work - cause(Cause::arithmetic);
  cause(Cause::recompute) = part(PlanCause::recompute);
  cause(Cause::tensor) = part(PlanCause::tensor) + part(PlanCause::context) + part(PlanCause::expert);
  cause(Cause::gradients) = part(PlanCause::data);
  cause(Cause::bubble) = part(PlanCause::bubble);
  cause(Cause::update) = part(PlanCause::optimizer) + part(PlanCause::pipeline);
  cause(Cause::slowest) = part(PlanCause::other);
  cause(Cause::failures) = out.wall_s - compute_s;
  return out;
}

Figures RunGame::play(CardSet set) const {
  const Outcome o = outcome(set);
  Figures f;
  f.bounce = o.bounce;
  f.held_bytes = o.memory_bytes;
  f.room_bytes = o.room_bytes;
  if (!f.bounce.empty()) return f;
  f.values[0] = f.said_of = o.wall_s;
  std::copy(o.cause_s.begin(), o.cause_s.end(), f.slab.begin());
  f.bottleneck = static_cast<std::size_t>(std::max_element(o.cause_s.begin(), o.cause_s.end()) - o.cause_s.begin());
  return f;
}

models::Architecture hundred_billion(models::Architecture seventy_billion) {
  seventy_billion.layers = 112;
  return seventy_billion;
}

}  // namespace chapters::capstone::train
