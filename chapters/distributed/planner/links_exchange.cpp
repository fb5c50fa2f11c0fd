#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "chapters/distributed/planner/links.h"
#include "models/base/integer_math.h"
#include "models/parallel/planner/planner_traffic.h"

/// The labs of what GPUs send each other, with a plan in them.
namespace chapters::distributed::planner {

using models::AllReduceAlgorithm, models::AllReduceGroup, models::AllReduceLinks, models::as_double;
using models::memory::TrainingPlan;
using namespace models::parallel;

namespace {

using Link = models::Result<std::string>;

constexpr double whole = 100;

/// A named network, and the share of its rate that the planner's port between nodes reaches.
struct ReachedPort {
  std::string network;
  double percent = 0;
};
/// The job's own network where its rate is enough, else the slowest that has it; nothing where a share would be less
/// than `least_percent`.
std::optional<ReachedPort> reached_port(const Inputs& in, double bytes_per_s, double least_percent) {
  const auto share = [&](const models::Network& n) { return whole * bytes_per_s / n.bytes_per_s_per_direction; };
  const auto fits = [&](const models::Network& n) {
    return n.kind != "pcie" && share(n) <= whole && share(n) >= least_percent;
  };
  const models::Network* best = catalog().network(in.network);
  if (best == nullptr || share(*best) > whole || share(*best) < least_percent) {
    best = nullptr;
    for (const models::Network& n : catalog().networks)
      if (fits(n) && (best == nullptr || n.bytes_per_s_per_direction < best->bytes_per_s_per_direction)) best = &n;
  }
  if (best == nullptr) return std::nullopt;
  return ReachedPort{best->id, share(*best)};
}
constexpr const char* no_network = "No named network carries what this plan's port does.";

/// The largest share of a rate that a lab's input takes.
double percent(double share) { return std::min(whole, whole * share); }

void write_job(LinkWriter& w, const Inputs& in, const PlannerDoor& door) {
  w.choice("model", in.model);
  w.choice("chip", in.chip);
  w.exactly("batch", as_double(door.plan.batch));
  w.exactly("sequence", as_double(door.plan.sequence));
}

/// Both kinds of link, of whose rates the planner reaches a share.
bool write_links(LinkWriter& w, const Inputs& in, const AllReduceLinks& links, double inside_share,
                 std::string_view inside, std::string_view between) {
  const auto port = reached_port(in, links.between_bytes_per_s, 1);
  if (!port) return false;
  w.choice("network", port->network);
  w.exactly(between, port->percent);
  w.exactly(inside, whole * inside_share);
  w.exactly("inside_hop_s", links.inside_hop_s);
  w.exactly("between_hop_s", links.between_hop_s);
  return true;
}

/// Why the lab of two streams cannot show the plan; nothing where it can.
std::string not_in_overlap(const PlannerDoor& door) {
  const TrainingPlan& p = door.plan;
  if (p.data == 1) return "This plan has one replica: there are no gradients to exchange.";
  if (p.tensor * p.pipeline * p.context > 1)
    return "The lab of overlap has whole layers and sequences on every GPU, and this plan cuts them.";
  if (door.job.architecture.moe.routed > 0)
    return "The lab of overlap gathers a layer in one piece, and the planner its experts apart.";
  if (p.zero_stage == 1 || p.zero_stage == 2)
    return "The lab of overlap runs DDP and FSDP; this plan splits states between these two, by ZeRO-" +
           std::to_string(p.zero_stage) + ".";
  if (p.recompute == models::Recompute::selective)
    return "The lab of overlap recomputes whole layers or none, and this plan parts of them.";
  if (door.job.format != models::Format::bf16) return "The lab of overlap computes in BF16, and this plan does not.";
  if (!p.fused_attention) return "The lab of overlap times fused attention, and this software has none.";
  return {};
}

Link write_overlap(LinkWriter& w, const Inputs& in, const PlannerDoor& door) {
  if (std::string why = not_in_overlap(door); !why.empty()) return Link::fail(std::move(why));
  const TrainingPlan& p = door.plan;
  const PlannerStack& stack = door.job.stack;
  const DataCall call = data_call(door.job, p, *door.work.slowest);
  const bool splits = p.zero_stage == 3;
  w.choice("method", splits ? "fsdp" : "ddp");
  write_job(w, in, door);
  w.exactly("gpus", as_double(p.data));
  w.exactly("micro_batches", as_double(p.micro_batches));
  w.choice("gradient_format", stack.gradient_bytes > 2 ? "fp32" : "bf16");
  w.toggle("layers_again", p.recompute == models::Recompute::full);
  w.choice("algorithm", "fastest");
  w.exactly("gpus_per_node", as_double(door.job.cluster.gpus_per_node));
  w.exactly("slowdown", 0);
  w.number("roof_share", door.job.cluster.curve.product_share * stack.product_factor);
  if (!write_links(w, in, call.links, door.job.cluster.curve.inside_share * stack.data_link, "inside_share",
                   "between_share"))
    return Link::fail(no_network);
  w.exactly("call_s", call.links.base_s);
  if (splits) {
    const bool groups = p.shard_group > 0 && p.shard_group < p.data;
    w.toggle("hybrid", groups);
    if (groups) w.exactly("shards", as_double(p.shard_group));
    w.toggle("reshard_after_forward", p.reshard);
  } else {
    w.number("bucket_bytes", call.bytes);
    w.number("first_bucket_bytes", call.bytes);
  }
  return w.link();
}

Link write_tensor(LinkWriter& w, const Inputs& in, const PlannerDoor& door) {
  const TrainingPlan& p = door.plan;
  if (p.tensor == 1) return Link::fail("No two GPUs share a layer in this plan.");
  if (door.job.format != models::Format::bf16)
    return Link::fail("The lab of tensor parallelism computes in BF16, and this plan does not.");
  if (p.sequence % p.context != 0) return Link::fail("The sequence does not divide over this plan's context ranks.");
  const AllReduceLinks links = planner_links(door.job.cluster);
  const PlannerCurve& curve = door.job.cluster.curve;
  write_job(w, in, door);
  w.exactly("sequence", as_double(p.sequence / p.context));
  w.choice("cut", "column_row");
  w.choice("overlap", "none");
  w.choice("phase", "train");
  w.exactly("tensor_parallel", as_double(p.tensor));
  w.exactly("ranks_per_node", as_double(door.job.cluster.gpus_per_node));
  w.toggle("sequence_parallel", p.sequence_parallel);
  w.toggle("fused_attention", p.fused_attention);
  w.toggle("dropout", p.dropout);
  w.number("flops_reached", percent(curve.product_share * door.job.stack.product_factor));
  w.number("memory_reached", percent(curve.memory_share));
  // A gather and a scatter stand in for one all-reduce, whose start the planner counts once.
  w.exactly("call_s", p.sequence_parallel ? links.base_s / 2 : links.base_s);
  if (!write_links(w, in, links, curve.inside_share, "link_reached", "network_reached")) return Link::fail(no_network);
  return w.link();
}

/// The kind of layer with attention that the planner's context method was chosen on: the first.
Link write_context(LinkWriter& w, const Inputs& in, const PlannerDoor& door) {
  const TrainingPlan& p = door.plan;
  const models::Architecture& a = door.job.architecture;
  if (p.context == 1)
    return Link::fail("Every sequence of this plan is on one GPU, or on those that share its layers.");
  if (a.has_latent())
    return Link::fail("The lab of context parallelism has keys and values, and this model keeps latents.");
  const auto chip = find_chip(in.chip);
  const auto peak = chip ? (*chip)->peak_flops_per_s(models::Format::bf16) : std::nullopt;
  if (!peak) return Link::fail("The lab of context parallelism computes in BF16, and this chip does not.");
  const ContextSetup setup = planner_context(door.job, p, door.times.kinds.front().forward.attention_s, false);
  write_job(w, in, door);
  w.exactly("context_parallel", as_double(p.context));
  w.choice("order", "zig_zag");
  w.choice("method",
           context_by_choices()[1 + static_cast<std::size_t>(door.price.context_method)].id);  // 0: the fastest
  w.choice("pass", "forward");
  w.exactly("tensor_parallel", as_double(p.tensor));
  const bool inside = planner_group(door.job.cluster, p.context, p.tensor).nodes() == 1;
  w.choice("link", inside ? "chip" : "network");
  if (inside) {
    w.exactly("link_reached", whole * door.job.cluster.curve.inside_share);
  } else {
    const auto port = reached_port(in, setup.link_bytes_per_s, 1);
    if (!port) return Link::fail(no_network);
    w.choice("network", port->network);
    w.exactly("network_reached", port->percent);
  }
  w.exactly("flops_reached", whole * setup.flops_per_s / *peak);
  w.exactly("message_s", setup.message_s);
  w.exactly("data_parallel", as_double(p.data));
  w.exactly("pipeline", as_double(p.pipeline));
  w.exactly("zero_stage", as_double(p.zero_stage));
  w.choice("recompute", recompute_key(p));
  w.choice("loss", loss_key(p));
  return w.link();
}

/// Nodes that a token's experts may lie in; 0: any. Nothing where the model's groups are no whole nodes.
std::optional<std::int64_t> node_limit(const models::MixtureOfExperts& moe, std::int64_t nodes) {
  if (moe.groups < 2 || moe.groups_per_token >= moe.groups || nodes == 1) return 0;
  if (nodes * moe.groups_per_token % moe.groups != 0) return std::nullopt;
  const std::int64_t limit = nodes * moe.groups_per_token / moe.groups;
  return limit >= 1 ? std::optional(limit) : std::nullopt;
}

Link write_experts(LinkWriter& w, const Inputs& in, const PlannerDoor& door) {
  const TrainingPlan& p = door.plan;
  const models::Architecture& a = door.job.architecture;
  const PlannerStack& stack = door.job.stack;
  const PlannerCurve& curve = door.job.cluster.curve;
  if (a.moe.routed == 0) return Link::fail("This model has no experts.");
  if (p.expert == 1) return Link::fail("Every GPU has all experts of its layers in this plan.");
  if (door.job.format == models::Format::fp4)
    return Link::fail("The lab of experts computes in 16 or 8 bits, and this plan in 4.");
  const std::int64_t stride = p.sequence_parallel ? 1 : p.tensor,
                     parts = p.context * (p.sequence_parallel ? p.tensor : 1);
  if (p.sequence % parts != 0) return Link::fail("The sequence does not divide over this plan's ranks.");
  const AllReduceGroup group = planner_group(door.job.cluster, p.expert, stride);
  const std::int64_t here = std::min(group.ranks, group.ranks_per_node);
  if (p.expert % here != 0) return Link::fail("This plan's experts leave a node half full.");
  const auto limit = node_limit(a.moe, p.expert / here);
  if (!limit) return Link::fail("The model's groups of experts are no whole nodes in this plan.");
  const auto port = reached_port(in, planner_links(door.job.cluster).between_bytes_per_s, 10);
  if (!port) return Link::fail(no_network);
  const bool fast = door.job.format == models::Format::fp8;
  w.choice("rule", "dealt");
  w.exactly("experts", as_double(a.moe.routed));
  w.exactly("top_k", as_double(a.moe.per_token));
  w.exactly("capacity_factor", 0);
  w.exactly("node_limit", as_double(*limit));
  w.exactly("ranks", as_double(p.expert));
  w.exactly("ranks_per_node", as_double(here));
  w.choice("placement", "contiguous");
  w.choice("exchange", stack.expert_once_per_node ? "once_per_node" : "direct");
  w.exactly("batch", as_double(p.batch));
  w.exactly("sequence", as_double(p.sequence / parts));
  w.choice("chip", in.chip);
  w.choice("network", port->network);
  w.exactly("between_share", port->percent);
  w.exactly("inside_share", whole * curve.inside_share);
  w.exactly("base_s", curve.exchange_s);
  w.number("matmul_share",
           percent(fast ? curve.fast_share * stack.expert_fast_factor : curve.product_share * stack.expert_factor));
  w.choice("format", fast ? "fp8" : "bf16");
  w.choice("dispatch_format", fast && stack.expert_fast_dispatch ? "fp8" : "bf16");
  w.exactly("hidden", as_double(a.hidden));
  w.exactly("expert_width", as_double(a.moe.ffn));
  std::int64_t layers = 0;
  for (const models::LayerKind& kind : models::layer_kinds(a)) layers += kind.form.experts ? kind.count : 0;
  w.exactly("layers", as_double(layers));
  return w.link();
}

/// The collective that keeps the step waiting longest: a sum over the GPUs that share a layer, or one of the data
/// parallel ones.
Link write_collective(LinkWriter& w, const PlannerDoor& door) {
  const TrainingPlan& p = door.plan;
  const bool tensor = p.tensor > 1, data = p.data * p.context > 1;
  if (!tensor && !data) return Link::fail("No collective of layers or gradients runs in this plan.");
  const StepParts& s = door.price.parts;
  DataCall call;
  if (tensor && (!data || s[PlanCause::tensor] >= s[PlanCause::data])) {
    const models::Workload load = models::memory::workload_of(p);
    call.sums = true;
    call.group = planner_group(door.job.cluster, p.tensor, 1);
    call.links = planner_links(door.job.cluster, call.group);
    call.bytes = models::new_tokens(load) * as_double(door.job.architecture.hidden) * load.activation_bytes;
    call.time = all_reduce_time(AllReduceAlgorithm::fastest, call.group, call.links, call.bytes);
  } else {
    call = data_call(door.job, p, *door.work.slowest);
  }
  if (call.group.ranks < 2) return Link::fail("The gradients of this plan are summed over copies of shards alone.");
  if (call.sums && call.time.algorithm != AllReduceAlgorithm::ring)
    return Link::fail("Its sum is fastest " +
                      std::string(call.time.algorithm == AllReduceAlgorithm::tree ? "through trees" : "node by node") +
                      ", which the lab of collectives times from other figures.");
  // Latency and rate of one step, so that all of them take what the planner counts, the start of a call among it.
  const double steps = (call.sums ? 2 : 1) * as_double(call.group.ranks - 1);
  const double share = steps / as_double(call.group.ranks);
  w.choice("primitive", call.sums ? "all_reduce" : call.gathers ? "all_gather" : "reduce_scatter");
  w.choice("algorithm", "ring");
  w.choice("beside", call.sums ? "tree" : "halving_doubling");
  w.exactly("ranks", as_double(call.group.ranks));
  w.exactly("bytes", call.bytes);
  w.exactly("latency_s", call.time.latency_s / steps);
  w.exactly("bandwidth_bytes_per_s", share * call.bytes / call.time.transfer_s);
  return w.link();
}

/// The machine of a chip in the lab of topology, and how many chips it has; nothing where that lab has none.
struct NamedMachine {
  std::string_view chip, machine;
  std::int64_t chips = 8;
};
constexpr std::array<NamedMachine, 6> machines{{{"h100_sxm", "hgx_h100"},
                                                {"h200_sxm", "hgx_h200"},
                                                {"b200_sxm", "hgx_b200"},
                                                {"gb200_gpu", "nvl72_gb200", 72},
                                                {"gb300_gpu", "nvl72_gb300", 72},
                                                {"mi300x", "mi300x"}}};

Link write_topology(LinkWriter& w, const Inputs& in, const PlannerDoor& door) {
  const TrainingPlan& p = door.plan;
  const PlannerCluster& c = door.job.cluster;
  if (c.gpus == 1) return Link::fail("This plan has one GPU, which sends nothing.");
  const auto* named = std::find_if(machines.begin(), machines.end(), [&](const auto& m) { return m.chip == in.chip; });
  if (named == machines.end()) return Link::fail("The lab of topology has no machine of this chip.");
  if (c.gpus_per_node != named->chips)
    return Link::fail("The lab of topology has machines of " + std::to_string(named->chips) + " such GPUs, and here " +
                      std::to_string(c.gpus_per_node) + " make a node.");
  if (in.port_bytes_per_s > 0) return Link::fail("The lab of topology knows ports by the name of their network alone.");
  const models::Network* network = catalog().network(in.network);
  if (network == nullptr || network->kind == "pcie")
    return Link::fail("The lab of topology joins machines by InfiniBand or Ethernet.");
  if (p.expert > 1 && p.data % p.expert != 0)
    return Link::fail("The lab of topology spreads experts over replicas, and this plan over other GPUs too.");
  constexpr std::int64_t most_boxes = 20;
  w.choice("machine", named->machine);
  w.exactly("boxes", as_double(std::min(most_boxes, models::ceil_div(c.gpus, c.gpus_per_node))));
  if (named->chips == 72) w.exactly("rack_chips", as_double(std::min<std::int64_t>(c.gpus, 72)));
  w.choice("network", in.network);
  w.choice("order", "tp-cp-dp-pp");
  w.choice("traffic", "step");
  w.choice("model", in.model);
  w.exactly("tensor", as_double(p.tensor));
  w.exactly("context", as_double(p.context));
  w.exactly("pipeline", as_double(p.pipeline));
  w.exactly("data", as_double(p.data));
  w.exactly("expert", as_double(p.expert));
  w.exactly("batch", as_double(p.batch));
  w.exactly("sequence", as_double(p.sequence));
  w.exactly("micro_batches", as_double(p.micro_batches));
  return w.link();
}

}  // namespace

PlannerDoor::PlannerDoor(const PlannerJob& j, const PricedPlan& priced)
    : job(j),
      price(priced),
      plan(priced.plan),
      times(micro_batch_times(j, priced.plan)),
      stages(planner_stages(j.architecture, priced.plan)) {
  PlannerSchedules schedules;
  work = step_work(job, plan, times, stages, schedules);
}

Link write_exchange(LinkWriter& w, const Inputs& in, const PlannerDoor& door, std::string_view lab) {
  const bool sums = lab == "distributed/overlap" || lab == "distributed/tensor-parallel" ||
                    lab == "distributed/collectives" || lab == "distributed/topology";
  if (door.job.cluster.is_torus() && lab != "distributed/collectives")
    return Link::fail("That lab joins chips by boxes and ports, and here they stand in a torus.");
  if ((in.in_switch || in.in_network) && sums)
    return Link::fail("That lab opens with rings and trees, and this plan sums in the switches.");
  if (lab == "distributed/overlap") return write_overlap(w, in, door);
  if (lab == "distributed/tensor-parallel") return write_tensor(w, in, door);
  if (lab == "distributed/context") return write_context(w, in, door);
  if (lab == "distributed/moe") return write_experts(w, in, door);
  if (lab == "distributed/collectives") return write_collective(w, door);
  if (lab == "distributed/topology") return write_topology(w, in, door);
  return Link::fail("There is no lab " + std::string(lab) + " that shows one side of a plan.");
}

}  // namespace chapters::distributed::planner
