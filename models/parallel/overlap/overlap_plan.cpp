#include "models/parallel/overlap/overlap_plan.h"

#include <algorithm>
#include <cmath>
#include <string>
#include "models/base/integer_math.h"
#include "models/parallel/collectives/collective_formulas.h"

namespace models::parallel {
namespace {

std::int32_t place_of_last(const OverlapPlan& plan) { return static_cast<std::int32_t>(plan.tasks.size()) - 1; }

std::int32_t add_task(OverlapPlan& plan, OverlapKind kind, std::size_t item, double work_s, std::int32_t need,
                      std::int32_t need_too = -1, double bytes = 0) {
  plan.tasks.push_back({kind, static_cast<std::int32_t>(item), work_s, bytes, {need, need_too}});
  return place_of_last(plan);
}

std::int64_t replicas_of(const OverlapSetup& s) { return s.method == OverlapMethod::fsdp ? s.gpus / s.shards : s.gpus; }

void add_ddp(const OverlapWork& work, const OverlapSetup& s, OverlapPlan& plan) {
  for (std::int64_t m = 1; m <= s.micro_batches; ++m) {
    for (std::size_t u = 0; u < work.units.size(); ++u)
      add_task(plan, OverlapKind::forward, u, work.units[u].forward_s, -1);
    if (m == s.micro_batches) break;
    for (std::size_t u = work.units.size(); u-- > 0;)
      add_task(plan, OverlapKind::backward, u, work.units[u].backward_s, -1);
  }
  if (s.gpus > 1) plan.buckets = gradient_buckets(work.tensors, s.gradient_bytes, s.first_bucket_bytes, s.bucket_bytes);
  std::vector<OverlapTask> late;
  const auto reduce = [&](std::size_t b) {
    const double bytes = plan.buckets[b].bytes;
    const OverlapTask task{OverlapKind::all_reduce,
                           static_cast<std::int32_t>(b),
                           reduce_time_s(s, bytes),
                           bytes,
                           {place_of_last(plan), -1}};
    plan.sent_bytes += bytes * bus_factor(Primitive::all_reduce, s.gpus);
    (s.beside_backward ? plan.tasks : late).push_back(task);
  };
  std::size_t b = 0;
  for (std::size_t u = work.units.size(); u-- > 0;) {
    const double whole_s = work.units[u].backward_s;
    double done = 0;
    for (; b < plan.buckets.size(); ++b) {
      const GradientTensor& completes = work.tensors[plan.buckets[b].last - 1];
      if (static_cast<std::size_t>(completes.unit) != u) break;
      if (completes.after_share > done || done == 0)
        add_task(plan, OverlapKind::backward, u, (completes.after_share - done) * whole_s, -1);
      done = completes.after_share;
      reduce(b);
    }
    if (done < 1) add_task(plan, OverlapKind::backward, u, (1 - done) * whole_s, -1);
  }
  const std::int32_t end = place_of_last(plan);
  for (OverlapTask& task : late) {
    task.needs[0] = end;
    plan.tasks.push_back(task);
  }
  add_task(plan, OverlapKind::update, 0, work.optimizer_s, place_of_last(plan));
}

/// FSDP's step while it is written down.
struct ShardedStep {
  const OverlapWork& work;
  const OverlapSetup& s;
  OverlapPlan& plan;
  std::vector<std::int32_t> passes{};    ///< the forward tasks, then the backward ones
  std::vector<std::int32_t> gathered{};  ///< the last all-gather of each unit; -1: none

  bool splits() const { return s.shards > 1; }
  /// A gather of `unit` for the pass at `position` of the step.
  void gather(std::size_t unit, std::size_t position, std::int64_t ahead) {
    const double bytes = work.units[unit].elements * s.weight_bytes;
    if (!splits() || bytes <= 0) return;
    const std::int64_t need = static_cast<std::int64_t>(position) - 1 - ahead;
    gathered[unit] = add_task(plan, OverlapKind::all_gather, unit, gather_time_s(s, bytes),
                              need >= 0 ? passes[static_cast<std::size_t>(need)] : -1, -1, bytes);
    plan.sent_bytes += bytes * bus_factor(Primitive::all_gather, s.shards);
  }
  /// Returns the reduce-scatter's place, or -1.
  std::int32_t reduce(std::size_t unit) {
    const double bytes = work.units[unit].elements * s.gradient_bytes;
    if (bytes <= 0) return -1;
    std::int32_t scattered = -1;
    if (splits()) {
      scattered =
          add_task(plan, OverlapKind::reduce_scatter, unit, gather_time_s(s, bytes), place_of_last(plan), -1, bytes);
      plan.sent_bytes += bytes * bus_factor(Primitive::reduce_scatter, s.shards);
    }
    if (replicas_of(s) > 1) {
      const double part = bytes / as_double(s.shards);
      add_task(plan, OverlapKind::all_reduce, unit, reduce_time_s(s, part), place_of_last(plan), -1, part);
      plan.sent_bytes += part * bus_factor(Primitive::all_reduce, replicas_of(s));
    }
    return scattered;
  }
};

/// Whether a unit's weights stay gathered from its forward to its backward.
bool stays_gathered(const OverlapWork& work, const OverlapSetup& s, std::size_t unit) {
  return !s.reshard_after_forward || unit + 1 == work.units.size() || (work.tied && unit == 0);
}

/// One micro-batch: a forward and a backward of all units.
void add_sharded_passes(ShardedStep& step) {
  const OverlapWork& work = step.work;
  const OverlapSetup& s = step.s;
  const std::size_t n = work.units.size(), before = step.passes.size();
  const auto forward_ahead = static_cast<std::size_t>(s.forward_ahead);
  const auto backward_ahead = static_cast<std::size_t>(s.backward_ahead);
  step.gathered.assign(n, -1);
  for (std::size_t u = 0, next = 0; u < n; ++u) {
    for (; next < n && next <= u + forward_ahead; ++next) step.gather(next, before + next, s.forward_ahead);
    step.passes.push_back(add_task(step.plan, OverlapKind::forward, u, work.units[u].forward_s, step.gathered[u]));
  }
  std::vector<std::int32_t> scattered(n + 2, -1);
  std::size_t next = n;  // units from here on are gathered for the backward, or stay so
  for (std::size_t u = n; u-- > 0;) {
    for (; next > 0 && next - 1 + backward_ahead >= u; --next) {
      const std::size_t unit = next - 1;
      if (!stays_gathered(work, s, unit)) step.gather(unit, before + n + (n - 1 - unit), s.backward_ahead);
    }
    step.passes.push_back(
        add_task(step.plan, OverlapKind::backward, u, work.units[u].backward_s, step.gathered[u], scattered[u + 2]));
    scattered[u] = step.reduce(u);
  }
}

void add_fsdp(const OverlapWork& work, const OverlapSetup& s, OverlapPlan& plan) {
  ShardedStep step{work, s, plan};
  for (std::int64_t m = 0; m < s.micro_batches; ++m) add_sharded_passes(step);
  add_task(plan, OverlapKind::update, 0, work.optimizer_s, place_of_last(plan));
}

/// The pass that a gathered unit's weights are freed behind: the next one of the unit, or where they stay the backward.
std::size_t last_use(const OverlapWork& work, const OverlapSetup& s, const OverlapPlan& plan, std::size_t gather) {
  const std::int32_t unit = plan.tasks[gather].item;
  const bool stays = stays_gathered(work, s, static_cast<std::size_t>(unit));
  for (std::size_t i = gather + 1; i < plan.tasks.size(); ++i) {
    const OverlapTask& task = plan.tasks[i];
    if (task.item != unit || is_network(task.kind) || task.kind == OverlapKind::update) continue;
    if (task.kind == OverlapKind::backward || !stays) return i;
  }
  return gather;
}

}  // namespace

Status check(const OverlapSetup& s) {
  for (const double positive : {s.gradient_bytes, s.weight_bytes, s.first_bucket_bytes, s.bucket_bytes,
                                s.links.inside_bytes_per_s, s.links.between_bytes_per_s})
    if (!(positive > 0)) return Status::fail("Make every bandwidth, bucket and number of bytes larger than 0.");
  for (const double least0 : {s.links.inside_hop_s, s.links.between_hop_s, s.links.base_s, s.slowdown})
    if (!(least0 >= 0 && least0 < 1e9)) return Status::fail("No latency and no slowdown may be below 0.");
  if (s.gpus < 1 || s.gpus_per_node < 1 || s.shards < 1 || s.forward_ahead < 0 || s.backward_ahead < 0 ||
      s.micro_batches < 1)
    return Status::fail(
        "GPUs, GPUs per node, shards and micro-batches are at least 1, units gathered ahead at least 0.");
  if (s.method == OverlapMethod::fsdp && s.gpus % s.shards != 0)
    return Status::fail("The states are split over " + std::to_string(s.shards) +
                        " GPUs: choose a whole multiple of that, or split over fewer.");
  return Status::ok();
}

double gather_time_s(const OverlapSetup& s, double bytes) {
  return ring_gather_time({s.shards, s.gpus_per_node}, s.links, bytes).total_s();
}

double reduce_time_s(const OverlapSetup& s, double bytes) {
  const std::int64_t apart = s.method == OverlapMethod::fsdp ? s.shards : 1;
  const AllReduceGroup group{replicas_of(s), std::max<std::int64_t>(1, s.gpus_per_node / apart)};
  return all_reduce_time(s.algorithm, group, s.links, bytes).total_s();
}

OverlapPlan overlap_plan(const OverlapWork& work, const OverlapSetup& setup) {
  OverlapPlan plan;
  if (setup.method == OverlapMethod::ddp)
    add_ddp(work, setup, plan);
  else
    add_fsdp(work, setup, plan);
  return plan;
}

std::vector<HeldWeights> held_weights(const OverlapWork& work, const OverlapSetup& s, const OverlapPlan& plan,
                                      const OverlapRun& run) {
  std::vector<HeldWeights> changes;
  if (s.method == OverlapMethod::ddp || s.shards < 2) return changes;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const OverlapTask& task = plan.tasks[i];
    const auto unit = static_cast<std::size_t>(task.item);
    if (task.kind == OverlapKind::all_gather) {
      changes.push_back({run.start_s[i], task.bytes});
      changes.push_back({run.end_s[last_use(work, s, plan, i)], -task.bytes});
    }
    if (task.kind == OverlapKind::backward)
      changes.push_back({run.start_s[i], work.units[unit].elements * s.gradient_bytes});
    if (task.kind == OverlapKind::reduce_scatter) changes.push_back({run.end_s[i], -task.bytes});
  }
  // What is freed at a moment is free for what is taken then.
  std::sort(changes.begin(), changes.end(), [](const HeldWeights& a, const HeldWeights& b) {
    return a.time_s != b.time_s ? a.time_s < b.time_s : a.bytes < b.bytes;
  });
  double held = 0;
  for (HeldWeights& change : changes) {
    held += change.bytes;
    change.bytes = std::max(0.0, held);
  }
  return changes;
}

double critical_tokens(const OverlapWork& work, const OverlapSetup& s, double reached_flops_per_s) {
  constexpr double large = 1e12;  // bytes of a collective whose latency does not count
  const double speed = reached_flops_per_s / work.active_share;
  const double backward_flops = work.runs_again ? 6 : 4;
  const auto rate = [&](auto time_s) { return (time_s(s, 2 * large) - time_s(s, large)) / large; };
  if (s.method == OverlapMethod::ddp) return rate(reduce_time_s) * s.gradient_bytes * speed / backward_flops;
  const double gather = rate(gather_time_s);
  const double replicas = replicas_of(s) > 1 ? rate(reduce_time_s) / as_double(s.shards) : 0;
  const double weight_s = gather * s.weight_bytes, gradient_s = (gather + replicas) * s.gradient_bytes;
  return std::max(weight_s * speed / 2,
                  ((s.reshard_after_forward ? weight_s : 0) + gradient_s) * speed / backward_flops);
}

}  // namespace models::parallel
