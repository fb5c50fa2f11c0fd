#include "models/parallel/planner/planner_times.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "models/base/integer_math.h"
#include "models/memory/frozen_layers.h"
#include "models/memory/saved_tensors.h"
#include "models/parallel/collectives/collective_tuner.h"
#include "models/parallel/planner/planner_adapters.h"
#include "models/parallel/planner/planner_traffic.h"
#include "models/training/adapters.h"
#include "models/training/slowest_rank.h"

namespace models::parallel {
namespace {

using memory::TrainingPlan;

/// Rows of less than 16 bytes' alignment: the share of the rate that is left (models/machine/tiling.h).
constexpr double misaligned_rate = 0.36;
constexpr double aligned_elements = 8;

/// Times the operations of one pass of one layer.
class LayerClock {
 public:
  LayerClock(const PlannerJob& job, const TrainingPlan& plan)
      : job_(job), p_(plan), c_(job.cluster), k_(job.cluster.curve), s_(job.stack) {
    w_ = memory::workload_of(plan);
    t_ = as_double(plan.tensor);
    stream_share_ = plan.sequence_parallel ? 1 / t_ : 1;
    fast_ = job.format == Format::fp8 || job.format == Format::fp4;
  }

  void add(const LayerOperation& op, PassTimes& forward, PassTimes& backward) {
    if (!(op.shape.k > 0) || op.group == OperationGroup::attention) read_by_pairs_ = 0;
    if (op.name == "fused attention") {
      attention(op, forward, backward);
    } else if (op.shape.k > 0 && op.group == OperationGroup::attention) {
      const double groups = op.shape.batch / t_, cp = as_double(p_.context);
      const double one = product_s(op.shape.m, op.shape.n * (op.name == "scores" ? cp : 1),
                                   op.shape.k * (op.name == "values" ? cp : 1), groups, false, 1) /
                         head_rate();
      forward.attention_s += one;
      backward.attention_s += 2 * one;
    } else if (op.shape.k > 0) {
      product(op, forward, backward);
    } else {
      double share = op.group == OperationGroup::norm || op.group == OperationGroup::residual ? stream_share_ : 1 / t_;
      if (op.name == "dispatch" || op.name == "combine") share = stream_share_;
      if (op.name == "softmax") share *= as_double(p_.context);
      PassTimes& f = forward;
      double more = 1;
      if (op.name == "softmax") {
        // With dropout the square is read and written once more, and a mask of a byte is written.
        more = s_.dropout ? 2.25 : 1;
        f.attention_s += traffic_s(op.forward.bytes() * share * more, 1);
        backward.attention_s += traffic_s(op.backward.bytes() * share * more, 1);
        return;
      }
      f.elements_s += traffic_s(op.forward.bytes() * share * s_.element_passes, 1);
      backward.elements_s += traffic_s(op.backward.bytes() * share * s_.element_passes, 1);
    }
  }

  /// A product of 16-bit or fast operands; `groups` alike.
  double product_s(double m, double n, double k, double groups, bool fast, double factor) const {
    const double half = k_.product_half;
    const auto side = [&](double d) { return d / (d + half); };
    const double rows = m / (m + k_.row_half);
    double rate = (fast ? c_.fast_peak_flops_per_s * k_.fast_share : c_.peak_flops_per_s * k_.product_share) *
                  s_.product_factor * factor * rows * side(n) * side(k);
    const auto odd = [](double d) {
      return static_cast<std::int64_t>(d) % static_cast<std::int64_t>(aligned_elements) != 0;
    };
    if ((odd(n) && n > 512) || (odd(k) && k > 512)) rate *= misaligned_rate;
    const double width = fast ? (job_.format == Format::fp4 ? 0.5 : 1) : w_.activation_bytes;
    const double bytes = groups * ((m * k + k * n) * width + m * n * w_.activation_bytes);
    return std::max(2 * groups * m * n * k / rate, bytes / (c_.memory_bandwidth_bytes_per_s * k_.memory_share)) +
           start_s();
  }
  double traffic_s(double bytes, double kernels) const {
    return bytes / (c_.memory_bandwidth_bytes_per_s * k_.memory_share) + kernels * start_s();
  }
  double stream_bytes() const { return new_tokens(w_) * as_double(job_.architecture.hidden) * w_.activation_bytes; }
  double stream_share() const { return stream_share_; }
  const Workload& workload() const { return w_; }
  bool fast() const { return fast_; }

 private:
  double head_rate() const {
    return job_.architecture.head_dim % static_cast<std::int64_t>(aligned_elements) == 0 ? 1 : k_.misaligned_head_rate;
  }
  double start_s() const { return k_.kernel_s * s_.kernel_factor; }

  void product(const LayerOperation& op, PassTimes& forward, PassTimes& backward) {
    const MixtureOfExperts& moe = job_.architecture.moe;
    const bool router = op.name == "router", experts = op.group == OperationGroup::experts && !router;
    double m = op.shape.m, n = op.shape.n, k = op.shape.k, groups = 1;
    if (experts) {
      groups = std::max(1.0, as_double(moe.routed) / as_double(p_.expert));
      m = new_tokens(w_) * as_double(moe.per_token) / groups;
    } else {
      m *= op.shape.batch;
    }
    const double cut = experts && p_.expert_tensor > 0 ? as_double(p_.expert_tensor) : t_;
    // Experts that fewer GPUs share than the layers get fewer tokens each.
    m *= cut / t_;
    const memory::MatrixCut how = memory::matrix_cut(op);
    if (how == memory::MatrixCut::rows)
      k /= cut;
    else if (how == memory::MatrixCut::whole)
      m *= stream_share_;
    else
      n /= cut;
    const bool fast = fast_ && !router;
    const double one =
        product_s(m, n, k, groups, fast, experts ? (fast ? s_.expert_fast_factor : s_.expert_factor) : 1);
    forward.products_s += one;
    backward.products_s += (p_.frozen ? 1 : 2) * one;
    if (p_.frozen && p_.adapter_rank > 0 && memory::gets_pair(op, p_.adapter_targets))
      pair({.cut = how,
            .ranks = static_cast<std::int64_t>(cut),
            .sequence_parallel = p_.sequence_parallel,
            .experts = experts,
            .rows = m * groups,
            .inputs = op.shape.k,
            .outputs = op.shape.n,
            .rank = p_.adapter_rank,
            .element_bytes = w_.activation_bytes},
           groups, forward, backward);
    // The weight gradient is added to the sum of the micro-batches before: inside the product the sum is read and
    // written in FP32 in place of a 16-bit write; otherwise the 16-bit result is read again as well.
    const double sum = s_.recipe == memory::StateRecipe::zero ? 2 : 4;
    if (!p_.frozen)
      backward.elements_s += traffic_s(groups * n * k * (s_.fused_gradients ? 2 * sum - 2 : 2 + 2 * sum), 0);
    if (!fast) return;
    // Operands are read in 16 bits and written in the narrow format, straight and, for weight gradients, transposed.
    const double cast_bytes = p_.frozen ? 3 : 4;
    forward.elements_s += traffic_s(groups * m * k * cast_bytes, 1);
    backward.elements_s += traffic_s(groups * m * n * cast_bytes, 1);
  }

  /// The low-rank pair beside a frozen product, all of whose products have the rank as one side, and what it sends.
  void pair(const SharedPair& shared, double groups, PassTimes& forward, PassTimes& backward) {
    const double rank = shared.rank, ranks = as_double(shared.ranks), rows = shared.rows;
    const bool by_columns = shared.cut == memory::MatrixCut::columns, by_rows = shared.cut == memory::MatrixCut::rows;
    const double k = shared.inputs / (by_rows ? ranks : 1), n = shared.outputs / (by_rows || by_columns ? ranks : 1);
    // What is gathered of a result is added to the layer's own, whole or this rank's tokens of it.
    const double added = by_rows && !shared.sequence_parallel ? rows * shared.outputs : rows * n;
    const adapters::PairCost cost = adapters::pair_cost(rows, k, n, rank, groups, w_.activation_bytes, false,
                                                        {.middle = by_columns ? rank / ranks : rank, .added = added});
    const double rate = c_.peak_flops_per_s * k_.product_share * s_.product_factor * rank / (rank + k_.product_half);
    const auto pass_s = [&](const OpCost& pass, double kernels) {
      return std::max(pass.flops / rate, traffic_s(pass.bytes(), 0)) + kernels * start_s();
    };
    forward.products_s += pass_s(cost.forward, cost.forward_kernels);
    backward.products_s += pass_s(cost.backward, cost.backward_kernels);
    backward.pair_weights_s += pass_s(cost.weights, cost.weights_kernels);
    if (shared.ranks < 2) return;
    const PairTraffic sent = pair_traffic(c_, shared, read_by_pairs_);
    forward.tensor_s += sent.forward_s;
    backward.tensor_s += sent.backward_s;
    if (by_columns) read_by_pairs_ += middle_bytes(shared);
  }

  void attention(const LayerOperation& op, PassTimes& forward, PassTimes& backward) {
    const double cp = as_double(p_.context), keys = as_double(p_.sequence);
    const double width = std::min(1.0, 0.5 + op.shape.k / 256);  // narrow heads leave the matrix units short of work
    const auto rate = [&](double share, double half) {
      return c_.peak_flops_per_s * share * s_.attention_factor * (s_.flash2 ? k_.flash2_factor : 1) * width * keys /
             (keys + half);
    };
    forward.attention_s +=
        op.product_flops * cp / t_ / rate(k_.attention_share, k_.attention_half) + k_.kernel_s * s_.kernel_factor;
    backward.attention_s += (op.backward_product_flops + op.backward_extra_product_flops) * cp / t_ /
                                rate(k_.attention_backward_share, k_.attention_backward_half) +
                            k_.kernel_s * s_.kernel_factor;
  }

  const PlannerJob& job_;
  const TrainingPlan& p_;
  const PlannerCluster& c_;
  const PlannerCurve& k_;
  const PlannerStack& s_;
  Workload w_;
  double t_ = 1, stream_share_ = 1;
  double read_by_pairs_ = 0;  ///< bytes of the middles of pairs that read the same input as the product at work
  bool fast_ = false;
};

/// Multi-token prediction: each depth is one more layer, as the last one is, and the output matrix and the loss again.
void add_prediction_layers(const Architecture& a, double logits_s, double loss_s, MicroBatchTimes& out) {
  if (a.mtp_layers == 0) return;
  const LayerForm last = layer_form(a, a.layers - 1);
  const std::vector<LayerKind> kinds = layer_kinds(a);
  std::size_t kind = 0;
  while (kind + 1 < kinds.size() && !(kinds[kind].form == last)) ++kind;
  const double depth = as_double(a.mtp_layers);
  PassTimes both = out.kinds[kind].forward;
  both += out.kinds[kind].backward;
  out.head += both * depth;
  out.head.products_s += 3 * logits_s * depth;
  out.head.elements_s += 2 * loss_s * depth;
  out.head_forward_s += (out.kinds[kind].forward.total_s() + logits_s + loss_s) * depth;
}

/// A layer's passes wait for the host to launch their kernels.
void wait_for_host(double pass_s, PlannerKindTimes& times) {
  times.forward.elements_s += std::max(0.0, pass_s - times.forward.total_s());
  times.backward.elements_s += std::max(0.0, 2 * pass_s - times.backward.total_s());
}

}  // namespace

PassTimes& PassTimes::operator+=(const PassTimes& o) {
  products_s += o.products_s;
  attention_s += o.attention_s;
  elements_s += o.elements_s;
  tensor_s += o.tensor_s;
  context_s += o.context_s;
  expert_s += o.expert_s;
  pair_weights_s += o.pair_weights_s;
  return *this;
}
PassTimes operator*(PassTimes t, double x) {
  return {t.products_s * x, t.attention_s * x, t.elements_s * x,    t.tensor_s * x,
          t.context_s * x,  t.expert_s * x,    t.pair_weights_s * x};
}

AllReduceLinks planner_links(const PlannerCluster& c) {
  const double inside = c.is_torus() ? c.torus_link_bytes_per_s : c.link_inside_bytes_per_s;
  return {
      .inside_bytes_per_s = inside * c.curve.inside_share,
      .between_bytes_per_s = c.link_between_bytes_per_s * c.curve.between_share,
      .inside_hop_s = c.is_torus() ? c.torus_hop_s : c.curve.inside_hop_s,
      .between_hop_s = c.curve.between_hop_s,
      .base_s = c.is_torus() ? 0 : 10e-6,
  };
}

namespace {

/// The block of a torus that a group fills.
struct TorusBlock {
  std::array<std::int64_t, 3> ranks{1, 1, 1};  ///< along each dimension
  std::array<std::int64_t, 3> apart{1, 1, 1};  ///< chips from one to the next
  std::array<bool, 3> closed{};                ///< its ring closes: the block has the whole line
};

TorusBlock block_of(const PlannerCluster& c, const AllReduceGroup& group) {
  TorusBlock out;
  std::int64_t stride = std::max<std::int64_t>(1, c.gpus_per_node / std::max<std::int64_t>(1, group.ranks_per_node)),
               left = std::min(group.ranks, group.ranks_per_node);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t side = std::max<std::int64_t>(1, c.torus[d]);
    if (stride >= side) {
      stride = std::max<std::int64_t>(1, stride / side);
      continue;
    }
    const std::int64_t room = d == 2 ? left : ceil_div(side, stride);
    out.ranks[d] = std::min(left, room);
    out.apart[d] = stride;
    out.closed[d] = side > 2 && out.ranks[d] * stride >= side;
    left = ceil_div(left, out.ranks[d]);
    stride = 1;
  }
  return out;
}

}  // namespace

AllReduceLinks planner_links(const PlannerCluster& c, const AllReduceGroup& group) {
  AllReduceLinks out = planner_links(c);
  if (!c.is_torus() || group.ranks < 2) return out;
  const TorusBlock block = block_of(c, group);
  double links = 0, steps = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    if (block.ranks[d] < 2) continue;
    links += (block.closed[d] ? 2 : 1) / as_double(block.apart[d]);
    steps += as_double((block.ranks[d] - 1) * block.apart[d]);
  }
  if (!(links > 0)) return out;
  out.inside_bytes_per_s *= links;
  out.inside_hop_s *= steps / as_double(std::max<std::int64_t>(1, std::min(group.ranks, group.ranks_per_node) - 1));
  return out;
}

double planner_exchange_rate(const PlannerCluster& c, const AllReduceGroup& group) {
  const double one = planner_links(c).inside_bytes_per_s;
  if (!c.is_torus()) return one;
  const TorusBlock block = block_of(c, group);
  double slowest = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    if (block.ranks[d] < 2) continue;
    // Half of the ranks send half of theirs across the middle, over one link each way, or two where the ring closes.
    const double n = as_double(block.ranks[d]);
    slowest = std::max(slowest, as_double(block.apart[d]) * n * n / 4 / (n - 1) / (block.closed[d] ? 2 : 1));
  }
  return slowest > 0 ? one / slowest : one;
}

double planner_sum_s(const PlannerCluster& c, const AllReduceGroup& group, const AllReduceLinks& links, double share,
                     double bytes) {
  double rings_s = all_reduce_time(AllReduceAlgorithm::fastest, group, links, bytes).total_s();
  if (c.adding_network && group.nodes() > 1 && group.ranks > 1)
    rings_s = std::min(rings_s, in_network_sum_s(*c.adding_network, group, share, bytes));
  if (!(c.switch_bytes_per_s > 0) || group.nodes() > 1 || group.ranks < 2) return rings_s;
  const double sent = in_switch_all_reduce_bytes(as_double(group.ranks), bytes);
  return std::min(rings_s, c.switch_latency_s + sent / (share * c.switch_bytes_per_s));
}

AllReduceGroup planner_group(const PlannerCluster& c, std::int64_t ranks, std::int64_t stride) {
  return {.ranks = ranks,
          .ranks_per_node = std::max<std::int64_t>(1, c.gpus_per_node / std::max<std::int64_t>(1, stride))};
}

PassTimes PlannerKindTimes::selective(const TrainingPlan& plan) const {
  if (plan.every_second_product) return second_products;
  PassTimes out;
  for (const Again& some : again)
    if ((some.modules & plan.modules) != 0) out += some.times;
  return out;
}

MicroBatchTimes micro_batch_times(const PlannerJob& job, const TrainingPlan& p) {
  LayerClock clock(job, p);
  const Architecture& a = job.architecture;
  const Workload& w = clock.workload();
  MicroBatchTimes out;
  for (const LayerKind& kind : layer_kinds(a)) {
    PlannerKindTimes times;
    for (const LayerOperation& op : layer_operations(a, kind, w)) {
      PassTimes forward;
      clock.add(op, forward, times.backward);
      times.forward += forward;
      if (memory::runs_with_second_products(op)) times.second_products += forward;
      const std::uint8_t modules = memory::modules_of(a, op, p.fused_attention);
      if (modules == 0) continue;
      const auto same = std::find_if(times.again.begin(), times.again.end(),
                                     [&](const PlannerKindTimes::Again& x) { return x.modules == modules; });
      if (same != times.again.end())
        same->times += forward;
      else
        times.again.push_back({modules, forward});
    }
    times.forward.elements_s += job.stack.layer_s;
    times.backward.elements_s += 2 * job.stack.layer_s;
    add_layer_traffic(job, p, kind, times, out);
    if (kind.form.experts) wait_for_host(job.stack.expert_layer_host_s, times);
    // Experts that run again exchange their tokens again.
    for (PlannerKindTimes::Again& some : times.again)
      if (some.modules == memory::bit(memory::RecomputeModule::experts)) some.times.expert_s = times.forward.expert_s;
    out.kinds.push_back(times);
  }
  const double t = as_double(p.tensor), tokens = new_tokens(w);
  // Software pads the output matrix to a multiple of 128 rows on each GPU (Megatron-LM, make-vocab-size-divisible-by).
  const double h = as_double(a.hidden);
  const auto v = as_double(ceil_div(a.vocab, 128 * p.tensor) * 128 * p.tensor);
  const double logits = clock.product_s(tokens, v / t, h, 1, false, 1);
  // The loss reads and writes logits several times: operation_times.cpp of models/memory counts 14 + 14 bytes.
  const double loss = clock.traffic_s(tokens * v / t * 14 * std::min(2.0, job.stack.element_passes), 4);
  out.head.products_s = (p.frozen ? 2 : 3) * logits;
  out.head.elements_s = 2 * loss;
  out.head_forward_s = logits + loss;
  const double gather = clock.traffic_s(2 * clock.stream_bytes(), 1);
  out.embedding.elements_s = (p.frozen ? 1 : 2) * gather;
  out.embedding_forward_s = gather;
  add_prediction_layers(a, logits, loss, out);
  if (p.tensor > 1) {
    out.embedding.tensor_s = tensor_sum_s(job.cluster, p, clock.stream_bytes());
    out.head.tensor_s += out.embedding.tensor_s;
  }
  out.slowest_share = expected_slowest({SlownessKind::normal, job.stack.spread}, job.cluster.gpus);
  out.boundary_bytes = clock.stream_bytes() / t;
  return out;
}

}  // namespace models::parallel
