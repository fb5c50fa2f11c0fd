#include "models/parallel/tensor/tensor_layer.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/machine/tiling.h"
#include "models/parallel/tensor/tensor_overlap.h"

namespace models::parallel {
namespace {

std::string not_divisible(std::int64_t ranks, std::int64_t of, const char* what, const char* why) {
  return std::to_string(ranks) + " ranks cannot share " + std::to_string(of) + " " + what + " evenly" + why +
         "; choose a divisor of " + std::to_string(of) + ".";
}

/// Whether heads and columns divide over the ranks: head_problem without its sentences.
bool can_share(const Architecture& a, std::int64_t ranks) {
  return ranks >= 1 && ranks <= most_tensor_ranks && a.heads % ranks == 0 &&
         (a.has_latent() || a.kv_heads % ranks == 0 || ranks % a.kv_heads == 0) && (a.ffn <= 0 || a.ffn % ranks == 0) &&
         (a.moe.routed <= 0 || a.moe.ffn % ranks == 0);
}

std::string head_problem(const Architecture& a, std::int64_t ranks) {
  if (can_share(a, ranks)) return {};
  if (ranks < 1 || ranks > most_tensor_ranks)
    return "From 1 to " + std::to_string(most_tensor_ranks) + " ranks can share a layer.";
  if (a.heads % ranks != 0) return not_divisible(ranks, a.heads, "query heads", ", and a head cannot be cut");
  if (!a.has_latent() && a.kv_heads % ranks != 0 && ranks % a.kv_heads != 0)
    return std::to_string(a.kv_heads) + " key and value heads neither divide over " + std::to_string(ranks) +
           " ranks nor can be copied to them evenly; choose a divisor or a multiple of " + std::to_string(a.kv_heads) +
           ".";
  if (a.ffn > 0 && a.ffn % ranks != 0) return not_divisible(ranks, a.ffn, "columns of the feed-forward", "");
  if (a.moe.routed > 0 && a.moe.ffn % ranks != 0) return not_divisible(ranks, a.moe.ffn, "columns of an expert", "");
  return {};
}

std::int64_t whole_number(double x) { return static_cast<std::int64_t>(std::llround(x)); }

/// Times of a product in one piece and, where it is cut along a ring, of one of `ranks` blocks of its rows: forward,
/// and the gradients of its input and of its weights.
struct ProductTimes {
  std::array<double, 3> whole_s{}, block_s{};
};

enum Kernel : std::size_t { forward_kernel, input_kernel, weight_kernel };

double roofline_s(const Machine& machine, const OpCost& cost, double kernels) {
  if (!(cost.bytes() > 0)) return 0;
  return std::max({cost.flops / machine.peak_flops_per_s, cost.bytes() / machine.bandwidth_bytes_per_s,
                   machine.launch_s * kernels});
}

ProductTimes times_of_product(const ProductShape& s, double bytes, const TensorSplit& split, bool train) {
  const auto times = [&](double m) {
    std::array<double, 3> out{};
    out[forward_kernel] = tensor_product_s(m, s.n, s.k, bytes, split);
    if (!train) return out;
    out[input_kernel] = tensor_product_s(m, s.k, s.n, bytes, split);
    out[weight_kernel] = tensor_product_s(s.k, s.n, m, bytes, split);
    return out;
  };
  ProductTimes out{.whole_s = times(s.m)};
  if (split.overlap == TensorOverlap::ring) out.block_s = times(std::max(1.0, s.m / as_double(split.ranks)));
  return out;
}

/// What dropout adds to an operation, in either pass: a residual add moves the mask as well, unfused scores are read,
/// written and masked once more.
OpCost dropout_cost(const Architecture& a, const LayerOperation& op, const Workload& w) {
  if (op.group == OperationGroup::residual) return {0, 0, new_tokens(w) * as_double(a.hidden)};
  if (op.name != "softmax") return {};
  const double scores = (op.forward.bytes()) / (2 * w.activation_bytes);
  return {0, scores * w.activation_bytes, scores * (w.activation_bytes + 1)};
}

/// The shape of a whole product on a rank, and which way it is cut, from the shape that the usual cut leaves.
TensorPart part_of(const LayerOperation& whole, const LayerOperation& rank, const TensorSplit& split,
                   ProductShape& shape) {
  shape = rank.shape;
  if (split.ranks == 1) return TensorPart::whole;
  const double t = as_double(split.ranks);
  if (whole.shape.k > 0) {
    if (whole.shape.n != rank.shape.n) {
      if (!first_by_row(split.cut) || whole.shape.batch != 1) return TensorPart::by_column;
      shape = {whole.shape.batch, whole.shape.m, whole.shape.n, whole.shape.k / t};
      return TensorPart::by_row;
    }
    if (whole.shape.k != rank.shape.k) {
      if (second_by_row(split.cut)) return TensorPart::by_row;
      shape = {whole.shape.batch, whole.shape.m, whole.shape.n / t, whole.shape.k};
      return TensorPart::by_column;
    }
    return whole.shape.batch != rank.shape.batch || whole.shape.m != rank.shape.m ? TensorPart::by_head
                                                                                  : TensorPart::whole;
  }
  if (rank.forward == whole.forward)
    return split.sequence_parallel && (whole.group == OperationGroup::norm || whole.group == OperationGroup::residual)
               ? TensorPart::by_token
               : TensorPart::whole;
  return split.cut == TensorCut::row_column ? TensorPart::whole : TensorPart::by_head;
}

/// What the products of a block take, for the collectives that they hide.
struct BlockTimes {
  ProductTimes first, second;
  void add(bool to_first, const ProductTimes& t) {
    ProductTimes& sum = to_first ? first : second;
    for (std::size_t i = 0; i < 3; ++i) {
      sum.whole_s[i] += t.whole_s[i];
      sum.block_s[i] += t.block_s[i];
    }
  }
};

/// Which product a collective can run beside.
double exposed_of(const TimedCollective& c, const BlockTimes& block, const TensorSplit& split) {
  const TensorCollective& what = c.collective;
  const bool first = what.place == TensorPlace::before;
  if (split.overlap == TensorOverlap::none || what.place == TensorPlace::between) return c.time_s;
  if (split.overlap == TensorOverlap::weight_gradient) {
    if (!what.backward || !first) return c.time_s;
    return std::max(0.0, c.time_s - block.first.whole_s[what.regather ? input_kernel : weight_kernel]);
  }
  const ProductTimes& product = first ? block.first : block.second;
  const Kernel kernel = what.regather ? weight_kernel : what.backward ? input_kernel : forward_kernel;
  const bool gather = what.primitive == Primitive::all_gather;
  const double transfer_s = c.time_s / as_double(split.ranks - 1);
  return run_ring_overlap(gather ? RingKind::gather : RingKind::scatter, split.ranks, product.whole_s[kernel],
                          product.block_s[kernel], transfer_s)
      .exposed_s;
}

}  // namespace

std::string_view tensor_part_name(TensorPart part) {
  constexpr std::array<std::string_view, 5> names{"whole", "by column", "by row", "by head or column", "by token"};
  return names[static_cast<std::size_t>(part)];
}

std::string tensor_problem(const Architecture& a, const Workload& w, const TensorSplit& split) {
  if (std::string problem = workload_problem(w); !problem.empty()) return problem;
  if (std::string problem = head_problem(a, split.ranks); !problem.empty()) return problem;
  if (split.cut != TensorCut::column_row && (a.has_latent() || a.moe.routed > 0))
    return "Latent attention and experts are computed here under the usual cut alone; choose column, then row.";
  if (split.cut != TensorCut::column_row && a.hidden % split.ranks != 0)
    return not_divisible(split.ranks, a.hidden, "columns of the residual stream", "");
  if (split.sequence_parallel && split.cut != TensorCut::column_row)
    return "Sequence parallelism belongs to the cut by column, then row; choose that cut or switch it off.";
  if (split.sequence_parallel && std::fmod(new_tokens(w), as_double(split.ranks)) != 0)
    return "Sequence parallelism gives each rank as many tokens, and " + std::to_string(whole_number(new_tokens(w))) +
           " tokens do not divide over " + std::to_string(split.ranks) + " ranks; choose a multiple or switch it off.";
  if (split.overlap == TensorOverlap::ring && !split.sequence_parallel && split.ranks > 1)
    return "Products are cut along the ring where a gather or scatter touches them: switch sequence parallelism on, or "
           "choose another overlap.";
  return {};
}

std::vector<std::int64_t> possible_ranks(const Architecture& a, std::int64_t most) {
  std::vector<std::int64_t> out;
  for (std::int64_t t = 1; t <= std::min(most, most_tensor_ranks); ++t)
    if (can_share(a, t)) out.push_back(t);
  return out;
}

BlockSizes block_sizes(const Architecture& a, TensorBlock block, bool experts, const Workload& w) {
  const double gate = a.gated ? 2 : 1;
  BlockSizes s{.rows = new_tokens(w), .hidden = as_double(a.hidden)};
  if (block == TensorBlock::attention) {
    s.inner = a.has_latent() ? as_double(a.heads * a.latent.v_dim) : as_double(a.heads * a.head_dim);
    s.projected = s.inner + 2 * as_double(a.kv_heads * a.head_dim);
  } else {
    s.inner = as_double(experts ? a.moe.ffn * (a.moe.per_token + a.moe.shared) : a.ffn);
    s.projected = gate * s.inner;
  }
  return s;
}

Architecture rank_architecture(const Architecture& architecture, std::int64_t ranks) {
  Architecture a = architecture;
  a.heads /= ranks;
  a.kv_heads = a.has_latent() ? a.heads : std::max<std::int64_t>(1, a.kv_heads / ranks);
  a.ffn /= ranks;
  a.moe.ffn /= ranks;
  return a;
}

double tensor_product_s(double m, double n, double k, double element_bytes, const TensorSplit& split) {
  const OpCost cost = gemm(m, n, k, element_bytes, element_bytes, element_bytes);
  const double roof_s = roofline_s(split.machine, cost, 1);
  if (split.sm_count < 1) return roof_s;
  TilingInputs in{.m = std::max<std::int64_t>(1, whole_number(m)),
                  .n = std::max<std::int64_t>(1, whole_number(n)),
                  .k = std::max<std::int64_t>(1, whole_number(k)),
                  .sm_count = split.sm_count,
                  .element_bytes = element_bytes,
                  .peak_flops_per_s = split.machine.peak_flops_per_s,
                  .vector_flops_per_s = split.machine.peak_flops_per_s,
                  .bandwidth_bytes_per_s = split.machine.bandwidth_bytes_per_s,
                  .misaligned_rate = 1,
                  .partly_aligned_rate = 1};
  double best_s = 0;
  for (const Schedule schedule : {Schedule::data_parallel, Schedule::stream_k}) {
    in.schedule = schedule;
    const auto tiled = tile_matmul(in);
    if (!tiled) return roof_s;
    if (best_s == 0 || tiled->time_s < best_s) best_s = tiled->time_s;
  }
  return std::max(best_s, split.machine.launch_s);
}

double tensor_collective_s(Primitive primitive, double bytes, const TensorSplit& split) {
  if (split.ranks < 2) return 0;
  const AllReduceGroup group{split.ranks, split.ranks_per_node};
  if (primitive == Primitive::all_reduce)
    return all_reduce_time(AllReduceAlgorithm::fastest, group, split.links, bytes).total_s();
  const AllReduceTime ring = all_reduce_time(AllReduceAlgorithm::ring, group, split.links, bytes);
  return split.links.base_s + (ring.latency_s - split.links.base_s + ring.transfer_s) / 2;
}

namespace {

using TimesOfBlocks = std::array<BlockTimes, tensor_block_count>;

/// One operation on a rank, with the times of its passes; those of a product that is cut go into `block`.
TensorOperation operation_of(const Architecture& a, const LayerOperation& whole, const LayerOperation& part,
                             const Workload& w, const TensorSplit& split, BlockTimes& block) {
  const bool train = w.phase == Phase::train;
  TensorOperation op;
  op.whole = whole;
  op.part = part_of(whole, part, split, op.shape);
  if (op.shape.k > 0 && op.shape.batch == 1) {
    const ProductTimes t = times_of_product(op.shape, w.activation_bytes, split, train);
    op.forward_s = t.whole_s[forward_kernel];
    op.backward_s = t.whole_s[input_kernel] + t.whole_s[weight_kernel];
    const bool last = whole.name.ends_with("output projection") || whole.name.ends_with("down projection");
    block.add(!last, t);
    return op;
  }
  const LayerOperation& cost = op.part == TensorPart::whole ? whole : part;
  const OpCost masks = split.dropout ? dropout_cost(a, cost, w) : OpCost();
  const double rows = op.part == TensorPart::by_token ? 1 / as_double(split.ranks) : 1;
  op.forward_s = roofline_s(split.machine, (cost.forward + masks) * rows, 1);
  if (train) op.backward_s = roofline_s(split.machine, (cost.backward + masks) * rows, 1);
  return op;
}

Status add_operations(const Architecture& a, const LayerKind& kind, const Workload& w, const TensorSplit& split,
                      TensorLayer& out, TimesOfBlocks& blocks) {
  const std::vector<LayerOperation> whole = layer_operations(a, kind, w);
  const std::vector<LayerOperation> parts = layer_operations(rank_architecture(a, split.ranks), kind, w);
  if (whole.size() != parts.size()) return Status::fail("The operations of a rank are not those of the layer.");
  TensorBlock block = TensorBlock::attention;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole[i].group == OperationGroup::feed_forward || whole[i].group == OperationGroup::experts)
      block = TensorBlock::feed_forward;
    TensorOperation op = operation_of(a, whole[i], parts[i], w, split, blocks[static_cast<std::size_t>(block)]);
    op.block = block;
    const bool cut_weights = op.part == TensorPart::by_column || op.part == TensorPart::by_row;
    out.parameters += as_double(whole[i].parameters);
    out.rank_parameters += as_double(cut_weights ? parts[i].parameters : whole[i].parameters);
    (whole[i].shape.k > 0 ? out.forward.products_s : out.forward.other_s) += op.forward_s;
    (whole[i].shape.k > 0 ? out.backward.products_s : out.backward.other_s) += op.backward_s;
    out.operations.push_back(std::move(op));
  }
  return Status::ok();
}

/// The collectives of both blocks. Attention and feed-forward that read the same input are summed together, once.
void add_collectives(const Architecture& a, const LayerKind& kind, const Workload& w, const TensorSplit& split,
                     const TimesOfBlocks& blocks, TensorLayer& out) {
  for (const TensorBlock b : {TensorBlock::attention, TensorBlock::feed_forward}) {
    const bool joined = a.parallel_attention && b == TensorBlock::attention;
    for (const TensorCollective& c : block_collectives(split.cut, block_sizes(a, b, kind.form.experts, w), split.ranks,
                                                       split.sequence_parallel, w.phase == Phase::train)) {
      if (joined && c.place != TensorPlace::between) continue;
      TimedCollective timed{
          .collective = c, .block = b, .sent_bytes = sent_elements(c, split.ranks) * split.sent_bytes};
      timed.time_s = tensor_collective_s(c.primitive, c.elements * split.sent_bytes, split);
      timed.exposed_s = exposed_of(timed, blocks[static_cast<std::size_t>(b)], split);
      TensorPass& pass = c.backward ? out.backward : out.forward;
      pass.sent_bytes += timed.sent_bytes;
      pass.collectives_s += timed.time_s;
      pass.exposed_s += timed.exposed_s;
      ++pass.collectives;
      out.collectives.push_back(timed);
    }
  }
}

}  // namespace

Result<TensorLayer> tensor_layer(const Architecture& a, const LayerKind& kind, const Workload& w,
                                 const TensorSplit& split) {
  using Out = Result<TensorLayer>;
  if (std::string problem = tensor_problem(a, w, split); !problem.empty()) return Out::fail(problem);
  if (!(split.machine.peak_flops_per_s > 0) || !(split.machine.bandwidth_bytes_per_s > 0) ||
      !(split.links.inside_bytes_per_s > 0) || !(split.links.between_bytes_per_s > 0))
    return Out::fail("Rates of chip and links must be above 0.");
  TensorLayer out;
  if (!a.has_latent() && split.ranks > a.kv_heads) out.kv_copies = as_double(split.ranks / a.kv_heads);
  TimesOfBlocks blocks;
  if (const Status added = add_operations(a, kind, w, split, out, blocks); !added) return Out::fail(added.error);
  add_collectives(a, kind, w, split, blocks, out);
  return Out::ok(std::move(out));
}

}  // namespace models::parallel
