#include "models/parallel/planner/planner_times.h"

#include <algorithm>
#include <string_view>

#include "models/base/integer_math.h"
#include "models/memory/saved_tensors.h"

namespace models::parallel {
namespace {

using memory::TrainingPlan;

/// Rows of less than 16 bytes' alignment: the share of the rate that is left (models/machine/tiling.h).
constexpr double misaligned_rate = 0.36;
constexpr double aligned_elements = 8;

bool is_inner(std::string_view name) {
  return name.ends_with("output projection") || name.ends_with("down projection");
}

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
    double rate = (fast ? c_.fast_peak_flops_per_s * k_.fast_share : c_.peak_flops_per_s * k_.product_share) *
                  s_.product_factor * factor * side(m) * side(n) * side(k);
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
    const std::string_view name = op.name;
    const MixtureOfExperts& moe = job_.architecture.moe;
    const bool router = name == "router", experts = op.group == OperationGroup::experts && !router;
    double m = op.shape.m, n = op.shape.n, k = op.shape.k, groups = 1;
    if (experts) {
      groups = std::max(1.0, as_double(moe.routed) / as_double(p_.expert));
      m = new_tokens(w_) * as_double(moe.per_token) / groups;
    } else {
      m *= op.shape.batch;
    }
    if (is_inner(name))
      k /= t_;
    else if (router || name.ends_with("down"))
      m *= stream_share_;
    else
      n /= t_;
    const bool fast = fast_ && !router;
    const double one =
        product_s(m, n, k, groups, fast, experts ? (fast ? s_.expert_fast_factor : s_.expert_factor) : 1);
    forward.products_s += one;
    backward.products_s += 2 * one;
    // The weight gradient is added to the sum of the micro-batches before: inside the product the sum is read and
    // written in FP32 in place of a 16-bit write; otherwise the 16-bit result is read again as well.
    const double sum = s_.recipe == memory::StateRecipe::zero ? 2 : 4;
    backward.elements_s += traffic_s(groups * n * k * (s_.fused_gradients ? 2 * sum - 2 : 2 + 2 * sum), 0);
    if (!fast) return;
    // Operands are read in 16 bits and written in the narrow format, straight and transposed.
    forward.elements_s += traffic_s(groups * m * k * 4, 1);
    backward.elements_s += traffic_s(groups * m * n * 4, 1);
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
  bool fast_ = false;
};

/// One all-to-all of `bytes` that each rank sends, of which the part for other nodes passes the network.
double all_to_all_s(const PlannerCluster& c, std::int64_t ranks, std::int64_t stride, double bytes) {
  if (ranks < 2) return 0;
  const AllReduceGroup g = planner_group(c, ranks, stride);
  const AllReduceLinks l = planner_links(c);
  const double near = as_double(std::min(g.ranks_per_node, ranks)) / as_double(ranks);
  const double inside = bytes * std::max(0.0, near - 1 / as_double(ranks)), outside = bytes * (1 - near);
  return std::max(inside / l.inside_bytes_per_s, outside / l.between_bytes_per_s) +
         (g.nodes() > 1 ? l.between_hop_s : l.inside_hop_s) * 2;
}

/// What tensor, context and expert parallelism send in one layer.
void add_communication(const PlannerJob& job, const TrainingPlan& p, const LayerKind& kind, const LayerClock& clock,
                       PlannerKindTimes& out) {
  const PlannerCluster& c = job.cluster;
  const PlannerStack& s = job.stack;
  const Architecture& a = job.architecture;
  if (p.tensor > 1) {
    const double one = all_reduce_time(AllReduceAlgorithm::fastest, planner_group(c, p.tensor, 1), planner_links(c),
                                       clock.stream_bytes())
                           .total_s();
    // Two blocks a layer; those of an expert layer go by all-to-all unless it has shared experts.
    const double blocks = kind.form.experts && a.moe.shared == 0 ? 1 : a.parallel_attention ? 1 : 2;
    out.forward.tensor_s += blocks * one * s.tensor_exposed_forward;
    out.backward.tensor_s += blocks * one * s.tensor_exposed_backward;
  }
  if (p.context > 1) {
    const double cp = as_double(p.context);
    const double kv_width = a.has_latent()
                                ? as_double(a.heads * (a.latent.nope_dim + a.latent.rope_dim + a.latent.v_dim))
                                : 2 * as_double(a.kv_heads * a.head_dim);
    const double all = as_double(p.batch * p.sequence) * kv_width / as_double(p.tensor) *
                       clock.workload().activation_bytes * (cp - 1) / cp;
    const AllReduceLinks l = planner_links(c);
    const bool inside = p.tensor * p.context <= c.gpus_per_node;
    const double send = all / (inside ? l.inside_bytes_per_s : l.between_bytes_per_s);
    // The ring turns while attention works on what has arrived. Each turn starts kernels of its own and adds its
    // result, read and written in FP32, to what is there.
    const double heads_width = as_double(a.heads * (a.has_latent() ? a.latent.v_dim : a.head_dim));
    const double merge =
        (cp - 1) * clock.traffic_s(new_tokens(clock.workload()) * heads_width / as_double(p.tensor) * 8, 2);
    out.forward.context_s += std::max(0.0, send - out.forward.attention_s * (cp - 1) / cp) + merge;
    out.backward.context_s += std::max(0.0, 2 * send - out.backward.attention_s * (cp - 1) / cp) + merge;
  }
  if (kind.form.experts && p.expert > 1) {
    const double bytes = clock.stream_bytes() * clock.stream_share() * as_double(a.moe.per_token);
    const double one = all_to_all_s(c, p.expert, p.sequence_parallel ? 1 : p.tensor, bytes) * s.expert_exposed;
    out.forward.expert_s += 2 * one;
    out.backward.expert_s += 2 * one;
  }
}

}  // namespace

PassTimes& PassTimes::operator+=(const PassTimes& o) {
  products_s += o.products_s;
  attention_s += o.attention_s;
  elements_s += o.elements_s;
  tensor_s += o.tensor_s;
  context_s += o.context_s;
  expert_s += o.expert_s;
  return *this;
}
PassTimes operator*(PassTimes t, double x) {
  return {t.products_s * x, t.attention_s * x, t.elements_s * x, t.tensor_s * x, t.context_s * x, t.expert_s * x};
}

AllReduceLinks planner_links(const PlannerCluster& c) {
  return {
      .inside_bytes_per_s = c.link_inside_bytes_per_s * c.curve.inside_share,
      .between_bytes_per_s = c.link_between_bytes_per_s * c.curve.between_share,
      .inside_hop_s = c.curve.inside_hop_s,
      .between_hop_s = c.curve.between_hop_s,
      .base_s = 10e-6,
  };
}

AllReduceGroup planner_group(const PlannerCluster& c, std::int64_t ranks, std::int64_t stride) {
  return {.ranks = ranks,
          .ranks_per_node = std::max<std::int64_t>(1, c.gpus_per_node / std::max<std::int64_t>(1, stride))};
}

MicroBatchTimes micro_batch_times(const PlannerJob& job, const TrainingPlan& p) {
  LayerClock clock(job, p);
  const Architecture& a = job.architecture;
  const Workload& w = clock.workload();
  MicroBatchTimes out;
  for (const LayerKind& kind : layer_kinds(a)) {
    PlannerKindTimes times;
    for (const LayerOperation& op : layer_operations(a, kind, w)) clock.add(op, times.forward, times.backward);
    times.forward.elements_s += job.stack.layer_s;
    times.backward.elements_s += 2 * job.stack.layer_s;
    if (job.stack.selective_by_operation)
      times.selective = {.products_s = times.forward.products_s / 2, .elements_s = times.forward.elements_s};
    else
      times.selective.attention_s = times.forward.attention_s;
    add_communication(job, p, kind, clock, times);
    out.kinds.push_back(times);
  }
  const double t = as_double(p.tensor), tokens = new_tokens(w);
  // Software pads the output matrix to a multiple of 128 rows on each GPU (Megatron-LM, make-vocab-size-divisible-by).
  const double h = as_double(a.hidden);
  const auto v = as_double(ceil_div(a.vocab, 128 * p.tensor) * 128 * p.tensor);
  const double logits = clock.product_s(tokens, v / t, h, 1, false, 1);
  // The loss reads and writes logits several times: operation_times.cpp of models/memory counts 14 + 14 bytes.
  const double loss = clock.traffic_s(tokens * v / t * 14 * std::min(2.0, job.stack.element_passes), 4);
  out.head.products_s = 3 * logits;
  out.head.elements_s = 2 * loss;
  out.head_forward_s = logits + loss;
  const double gather = clock.traffic_s(2 * clock.stream_bytes(), 1);
  out.embedding.elements_s = 2 * gather;
  out.embedding_forward_s = gather;
  if (p.tensor > 1) {
    const double one = all_reduce_time(AllReduceAlgorithm::fastest, planner_group(job.cluster, p.tensor, 1),
                                       planner_links(job.cluster), clock.stream_bytes())
                           .total_s();
    out.head.tensor_s = one;
    out.embedding.tensor_s = one;
  }
  out.boundary_bytes = clock.stream_bytes() / t;
  return out;
}

}  // namespace models::parallel
