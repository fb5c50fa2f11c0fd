#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "chapters/distributed/tensor_parallel/lab.h"
#include "models/base/integer_math.h"
#include "models/memory/saved_tensors.h"
#include "widgets/number/number.h"

namespace chapters::distributed::tensor_parallel {
namespace {

using namespace models::parallel;
using models::as_double;
using widgets::format_text;

constexpr double largest_share = 20;

/// The model, its most frequent kind of layer, and what the ranks are.
struct Setting : OnCluster {
  std::vector<models::LayerKind> kinds;
  std::size_t kind = 0;
  models::Workload workload;
  bool dropout = false;
  models::parallel::TensorSplit split;
};

std::string product_text(const models::ProductShape& s) {
  if (!(s.k > 0)) return {};
  std::string text = "[" + format_text(s.m, "") + " × " + format_text(s.k, "") + "] × [" + format_text(s.k, "") +
                     " × " + format_text(s.n, "") + "]";
  if (s.batch != 1) text = format_text(s.batch, "") + " of " + text;
  return text;
}

std::string_view place_words(TensorPlace place) {
  return place == TensorPlace::before ? "before" : place == TensorPlace::between ? "between" : "after";
}

}  // namespace

std::string_view collective_words(Primitive primitive) {
  return primitive == Primitive::all_reduce   ? "all-reduce"
         : primitive == Primitive::all_gather ? "all-gather"
                                              : "reduce-scatter";
}

namespace {

models::Result<Setting> read_setting(const Inputs& in) {
  using Out = models::Result<Setting>;
  const auto cluster = find_cluster(in.model, in.chip, in.network);
  if (!cluster) return Out::fail(cluster.error);
  Setting s{*cluster};
  s.kinds = models::layer_kinds(s.model->architecture);
  for (std::size_t i = 0; i < s.kinds.size(); ++i)
    if (s.kinds[i].count > s.kinds[s.kind].count) s.kind = i;
  s.workload = {.phase = in.phase,
                .batch = in.batch,
                .sequence = in.sequence,
                .context = in.context,
                .fused_attention = in.fused_attention,
                .fused_elementwise = in.fused_attention};
  s.dropout = in.dropout && in.phase == models::Phase::train;
  const auto machine = models::machine_of(*s.chip, models::Format::bf16);
  if (!machine) return Out::fail(machine.error);
  const auto& link = s.chip->interconnect.bytes_per_s_per_direction;
  if (!link || !(*link > 0))
    return Out::fail("Nobody states how fast " + s.chip->short_name + " reaches its neighbour; choose another chip.");
  s.split = {.cut = in.cut,
             .ranks = in.ranks,
             .ranks_per_node = in.ranks_per_node,
             .sequence_parallel = in.sequence_parallel && in.cut == TensorCut::column_row,
             .overlap = in.overlap};
  s.split.machine = {machine->peak_flops_per_s * in.flops_reached / 100,
                     machine->bandwidth_bytes_per_s * in.memory_reached / 100, 0};
  s.split.sm_count = s.chip->compute_units.value_or(0);
  s.split.links.inside_bytes_per_s = *link * in.link_reached / 100;
  s.split.links.between_bytes_per_s = s.network->bytes_per_s_per_direction * in.network_reached / 100;
  s.split.links.base_s = in.call_s;
  s.split.links.inside_hop_s = in.inside_hop_s;
  s.split.links.between_hop_s = in.between_hop_s;
  s.split.dropout = s.dropout;
  return Out::ok(std::move(s));
}

/// Sizes of the shown block.
BlockSizes sizes_of(const Inputs& in, const Setting& s) {
  return block_sizes(s.model->architecture, in.block, s.kinds[s.kind].form.experts, s.workload);
}

/// Activations that a layer keeps for the backward pass, on one of `ranks`.
double kept_activations(const Setting& s, std::int64_t ranks, bool sequence_parallel) {
  models::memory::TrainingPlan plan{.batch = s.workload.batch, .sequence = s.workload.sequence};
  plan.tensor = ranks;
  plan.sequence_parallel = sequence_parallel;
  plan.fused_attention = s.workload.fused_attention;
  plan.dropout = s.dropout;
  const models::Workload w = models::memory::workload_of(plan);
  const auto operations = models::layer_operations(s.model->architecture, s.kinds[s.kind], w);
  return models::memory::layer_memory(s.model->architecture, operations, plan).kept(models::Recompute::none);
}

/// The gather and the first products of the shown block, cut along the ring; no spans where nothing can be cut.
RingRun ring_of(const Inputs& in, const Setting& s) {
  if (in.ranks < 2 || std::fmod(models::new_tokens(s.workload), as_double(in.ranks)) != 0) return {};
  double product_s = 0, block_s = 0;
  const models::Architecture rank = rank_architecture(s.model->architecture, in.ranks);
  TensorBlock block = TensorBlock::attention;
  for (const models::LayerOperation& op : models::layer_operations(rank, s.kinds[s.kind], s.workload)) {
    if (op.group == models::OperationGroup::feed_forward || op.group == models::OperationGroup::experts)
      block = TensorBlock::feed_forward;
    const bool last = op.name.ends_with("output projection") || op.name.ends_with("down projection");
    if (block != in.block || last || !(op.shape.k > 0) || op.shape.batch != 1 || op.shape.k != as_double(rank.hidden))
      continue;
    const double bytes = s.workload.activation_bytes;
    product_s += tensor_product_s(op.shape.m, op.shape.n, op.shape.k, bytes, s.split);
    block_s +=
        tensor_product_s(std::max(1.0, op.shape.m / as_double(in.ranks)), op.shape.n, op.shape.k, bytes, s.split);
  }
  const BlockSizes sizes = sizes_of(in, s);
  const double gather_s =
      tensor_collective_s(Primitive::all_gather, sizes.rows * sizes.hidden * s.split.sent_bytes, s.split);
  return run_ring_overlap(RingKind::gather, in.ranks, product_s, block_s, gather_s / as_double(in.ranks - 1));
}

/// The small block that is computed, on as many ranks as are drawn.
models::Result<TensorRun> small_run(const Inputs& in, const Setting& s, TensorCut cut) {
  const models::Architecture& a = s.model->architecture;
  TensorRunSetup setup{.cut = cut, .block = in.block, .ranks = in.ranks > 6 ? 4 : in.ranks, .seed = in.seed};
  const std::int64_t copies = a.has_latent() ? 1 : std::max<std::int64_t>(1, in.ranks / a.kv_heads);
  if (setup.ranks % std::min(copies, setup.ranks) == 0) setup.kv_copies = std::min(copies, setup.ranks);
  return run_tensor_cut(setup);
}

/// What each of the four cuts of the shown block sends.
void compare_cuts(const Inputs& in, const Setting& s, Outputs& out) {
  for (std::size_t i = 0; i < tensor_cut_count; ++i) {
    const auto cut = static_cast<TensorCut>(i);
    CutRow row{.cut = std::string(tensor_cut_name(cut)), .between = "nothing", .behind = "nothing"};
    const bool split_tokens = s.split.sequence_parallel && cut == TensorCut::column_row;
    for (const TensorCollective& c :
         block_collectives(cut, sizes_of(in, s), in.ranks, split_tokens, in.phase == models::Phase::train)) {
      const double bytes = sent_elements(c, in.ranks) * s.split.sent_bytes;
      (c.backward ? row.backward_bytes : row.forward_bytes) += bytes;
      if (c.backward) continue;
      row.forward_s += tensor_collective_s(c.primitive, c.elements * s.split.sent_bytes, s.split);
      if (c.place == TensorPlace::between) row.between = collective_words(c.primitive);
      if (c.place == TensorPlace::behind) row.behind = collective_words(c.primitive);
    }
    out.cuts.push_back(std::move(row));
  }
  out.block_bytes = out.cuts[static_cast<std::size_t>(in.cut)].forward_bytes;
  out.columns_rows_bytes = out.cuts[static_cast<std::size_t>(TensorCut::column_row)].forward_bytes;
}

void list_rows(const TensorLayer& layer, Outputs& out) {
  for (const TensorOperation& op : layer.operations)
    out.operations.push_back({op.whole.name, std::string(tensor_part_name(op.part)), product_text(op.whole.shape),
                              product_text(op.shape), op.forward_s, op.backward_s});
  for (const TimedCollective& c : layer.collectives)
    out.collectives.push_back({std::string(tensor_block_name(c.block)),
                               std::string(collective_words(c.collective.primitive)),
                               c.collective.regather   ? "backward, once more"
                               : c.collective.backward ? "backward"
                                                       : "forward",
                               std::string(place_words(c.collective.place)), c.sent_bytes, c.time_s, c.exposed_s});
}

/// A layer on other counts of ranks, each worked out once.
class LayersByRanks {
 public:
  struct Passes {
    TensorPass forward, backward;
    double exposed_s() const { return forward.exposed_s + backward.exposed_s; }
    double total_s() const { return forward.total_s() + backward.total_s(); }
    double exposed_share() const { return 100 * exposed_s() / total_s(); }
  };

  explicit LayersByRanks(const Setting& setting) : setting_(setting) {}
  void keep(std::int64_t ranks, const TensorLayer& layer) { kept_[ranks] = Passes{layer.forward, layer.backward}; }
  /// Nothing where the model cannot be cut so.
  const std::optional<Passes>& on(std::int64_t ranks) {
    const auto [at, fresh] = kept_.try_emplace(ranks);
    if (!fresh) return at->second;
    Setting other = setting_;
    other.split.ranks = ranks;
    if (ranks == 1) {
      other.split.sequence_parallel = false;
      other.split.overlap = TensorOverlap::none;
    }
    if (const auto layer = layer_of(other, other.kinds[other.kind]); layer)
      at->second = Passes{layer->forward, layer->backward};
    return at->second;
  }
  static models::Result<TensorLayer> layer_of(const Setting& s, const models::LayerKind& kind) {
    return tensor_layer(s.model->architecture, kind, s.workload, s.split);
  }

 private:
  const Setting& setting_;
  std::map<std::int64_t, std::optional<Passes>> kept_;
};

/// The most ranks, of those that the model can be cut over, that leave at most a fifth of the layer exposed.
std::int64_t largest_group(const std::vector<std::int64_t>& possible, LayersByRanks& layers) {
  for (auto ranks = possible.rbegin(); ranks != possible.rend(); ++ranks)
    if (*ranks > 1)
      if (const auto& layer = layers.on(*ranks); layer && layer->exposed_share() <= largest_share) return *ranks;
  return 1;
}

/// A layer's time and activations on powers of two and on yours.
std::vector<RankPoint> points_by_ranks(const Inputs& in, const Setting& s, const std::vector<std::int64_t>& possible,
                                       LayersByRanks& layers) {
  std::vector<RankPoint> points;
  for (const std::int64_t t : possible) {
    if ((t & (t - 1)) != 0 && t != in.ranks) continue;
    const auto& layer = layers.on(t);
    if (!layer) continue;
    RankPoint point{.ranks = t,
                    .products_s = layer->forward.products_s + layer->backward.products_s,
                    .other_s = layer->forward.other_s + layer->backward.other_s,
                    .exposed_s = layer->exposed_s()};
    if (in.phase == models::Phase::train) {
      point.activation_bytes = kept_activations(s, t, false);
      point.activation_split_bytes = kept_activations(s, t, true);
    }
    points.push_back(point);
  }
  return points;
}

/// What a layer takes, alone and against one rank and against ranks in nodes of their own.
void judge_layer(const Inputs& in, const Setting& s, const TensorLayer& layer, LayersByRanks& layers, Outputs& out) {
  out.forward = layer.forward;
  out.backward = layer.backward;
  out.kv_copies = layer.kv_copies;
  out.layer_s = layer.total_s();
  out.forward_s = layer.forward.total_s();
  out.backward_s = layer.backward.total_s();
  out.forward_own_s = layer.forward.own_s();
  out.backward_own_s = layer.backward.own_s();
  out.exposed_share = 100 * layer.exposed_s() / layer.total_s();
  for (const TimedCollective& c : layer.collectives)
    if (c.block == in.block || s.model->architecture.parallel_attention)
      if (!c.collective.backward && c.collective.place == TensorPlace::behind) out.one_collective_s = c.time_s;
  if (const auto& alone = layers.on(1); alone) {
    out.speedup = alone->total_s() / out.layer_s;
    out.efficiency = 100 * out.speedup / as_double(in.ranks);
  }
  if (in.ranks < 2) return;
  Setting across = s;
  across.split.ranks_per_node = 1;
  if (const auto far = LayersByRanks::layer_of(across, s.kinds[s.kind]); far)
    out.across_share = 100 * far->exposed_s() / far->total_s();
}

/// Sums over all layers, and what a rank holds.
void sum_layers(const Inputs& in, const Setting& s, const TensorLayer& layer, Outputs& out) {
  for (std::size_t i = 0; i < s.kinds.size(); ++i) {
    const models::LayerKind& kind = s.kinds[i];
    const auto each = i == s.kind ? models::Result<TensorLayer>::ok(layer) : LayersByRanks::layer_of(s, kind);
    if (!each) continue;
    out.model_s += as_double(kind.count) * each->total_s();
    out.model_collectives += kind.count * (each->forward.collectives + each->backward.collectives);
    out.model_exposed_s += as_double(kind.count) * each->exposed_s();
    out.weight_bytes += as_double(kind.count) * each->rank_parameters * s.workload.weight_bytes;
  }
  out.kv_bytes_per_token =
      models::kv_bytes_per_token(rank_architecture(s.model->architecture, in.ranks), s.workload.kv_bytes);
  if (in.phase != models::Phase::train) return;
  out.activation_bytes = kept_activations(s, in.ranks, s.split.sequence_parallel);
  out.activation_whole_bytes = kept_activations(s, 1, false);
}

}  // namespace

Computed compute(const Inputs& in, const Progress& progress) {
  const auto setting = read_setting(in);
  if (!setting) return infeasible<Computed>(setting.error);
  const Setting& s = *setting;
  auto layer = LayersByRanks::layer_of(s, s.kinds[s.kind]);
  auto small = layer ? small_run(in, s, in.cut) : models::Result<TensorRun>::fail(layer.error);
  if (!small) return infeasible<Computed>(small.error);
  Computed done;
  Outputs& out = done.facts;
  LayersByRanks layers(s);
  if (in.ranks > 1) layers.keep(in.ranks, *layer);
  judge_layer(in, s, *layer, layers, out);
  sum_layers(in, s, *layer, out);
  const BlockSizes sizes = sizes_of(in, s);
  out.buffer_bytes = sizes.rows * sizes.hidden * s.split.sent_bytes;
  out.sum_error = small->error;
  out.gradient_error = small->gradient_error;
  out.without_between = 100 * small->error_without_between;
  RingRun ring = ring_of(in, s);
  if (!ring.spans.empty()) {
    out.ring_s = ring.total_s;
    out.ring_closed_form_s = ring.closed_form_s;
    out.ring_whole_s = ring.whole_s;
  }
  const std::vector<std::int64_t> possible = possible_ranks(s.model->architecture, most_tensor_ranks);
  out.largest = largest_group(possible, layers);
  compare_cuts(in, s, out);
  list_rows(*layer, out);
  if (progress.facts_alone) return done;
  done.run = std::make_shared<const Run>(Run{.layer = std::move(*layer),
                                             .small = std::move(*small),
                                             .ring = std::move(ring),
                                             .sizes = sizes,
                                             .split_tokens = s.split.sequence_parallel,
                                             .gated = s.model->architecture.gated,
                                             .joined = s.model->architecture.parallel_attention,
                                             .by_ranks = points_by_ranks(in, s, possible, layers)});
  return done;
}

}  // namespace chapters::distributed::tensor_parallel
