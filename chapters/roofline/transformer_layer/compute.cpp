#include "chapters/roofline/transformer_layer/setting.h"
#include "models/transformer/flops.h"
#include "widgets/number/number.h"

namespace chapters::roofline::transformer_layer {
namespace {

using widgets::format_text;

/// The rows of all experts together are shared out among the experts' matrices; other batches repeat the whole product.
std::string shape_text(const models::LayerOperation& operation) {
  const models::ProductShape& p = operation.shape;
  if (!(p.m > 0 && p.n > 0 && p.k > 0)) return {};
  const std::string rows = "[" + format_text(p.m, "") + " × " + format_text(p.k, "") + "]",
                    weights = "[" + format_text(p.k, "") + " × " + format_text(p.n, "") + "]";
  if (p.batch == 1) return rows + " × " + weights;
  if (operation.group == models::OperationGroup::experts)
    return rows + " over " + format_text(p.batch, "") + " of " + weights;
  return format_text(p.batch, "") + " of " + rows + " × " + weights;
}

void count_parameters(const models::Architecture& architecture, Outputs& out) {
  out.parameters = models::count_parameters(architecture);
  const models::ParameterCount& count = out.parameters;
  const models::LayerParameters& l = count.layers;
  out.parameters_feed_forward = l.dense_ffn + l.routed_experts + l.shared_experts + l.router + l.router_bias;
  out.parameters_embedding = count.embedding + count.positions + count.head;
  out.parameters_norms = l.norms + count.outer_norms;
}

/// A training step of one sequence without recomputation, against the closed forms.
void compare_training(const Setting& s, Outputs& out) {
  models::Workload w = s.workload;
  w.phase = models::Phase::train;
  w.batch = 1;
  w.recompute = models::Recompute::none;
  out.training_flops_per_token =
      models::total_operations(models::model_operations(s.architecture, w), w).flops_per_token;
  const auto matrices = static_cast<double>(out.parameters.active_without_input_embedding);
  out.six_nd_ratio = out.training_flops_per_token / models::flops_6nd(matrices, 1);
  out.megatron_ratio =
      out.training_flops_per_token / models::megatron_flops_per_token(s.architecture, static_cast<double>(w.sequence));
}

/// Flops over bytes of the matmuls with weights inside the layers, and of attention's kernels.
void part_intensities(const models::StepTime& step, Outputs& out) {
  double flops[2] = {}, bytes[2] = {};
  for (const models::TimedOperation& timed : step.operations) {
    const Block block = block_of(timed.operation.group);
    const bool attention = block == Block::attention;
    if (!attention && (timed.operation.parameters == 0 || block == Block::ends || block == Block::elementwise))
      continue;
    const auto n = static_cast<double>(timed.operation.count);
    flops[attention] += n * timed.cost.flops;
    bytes[attention] += n * timed.cost.bytes();
  }
  out.weights_intensity = bytes[0] > 0 ? flops[0] / bytes[0] : 0;
  out.attention_intensity = bytes[1] > 0 ? flops[1] / bytes[1] : 0;
}

void rate_step(const Setting& s, const models::StepTime& step, Outputs& out) {
  const models::Machine& machine = s.machine;
  out.time_s = step.time_s;
  out.totals = step.totals;
  out.tokens_per_s = models::new_tokens(s.workload) / step.time_s;
  out.intensity = step.totals.intensity();
  part_intensities(step, out);
  out.peak_flops_per_s = machine.peak_flops_per_s;
  out.bandwidth_bytes_per_s = machine.bandwidth_bytes_per_s;
  out.ridge = models::ridge_flops_per_byte(machine);
  out.memory_bound_share = 100 * step.memory_s / step.time_s;
  out.compute_bound_share = 100 * step.compute_s / step.time_s;
  out.launch_bound_share = 100 * step.launch_s / step.time_s;
  double attention = 0;
  for (const auto& timed : step.operations)
    if (const models::LayerOperation& op = timed.operation; op.group == models::OperationGroup::attention)
      attention += static_cast<double>(op.count) * (op.product_flops * op.forward_passes + op.backward_product_flops);
  out.attention_flops_share = 100 * attention / step.totals.product_flops;
  out.mfu = 100 * step.model_product_flops / (step.time_s * machine.peak_flops_per_s);
  out.hfu = 100 * step.totals.hardware_product_flops / (step.time_s * machine.peak_flops_per_s);
  out.mbu = 100 * step.totals.bytes / (step.time_s * machine.bandwidth_bytes_per_s);
}

/// The layer that takes most of the step, cut into its two blocks.
void cut_layer(const models::StepTime& step, Outputs& out) {
  const auto& ops = step.operations;
  double most_s = 0;
  for (std::size_t first = 0; first < ops.size();) {
    std::size_t end = first;
    double layer_s = 0, attention_s = 0;
    while (end < ops.size() && ops[end].operation.layer == ops[first].operation.layer) ++end;
    const std::size_t cut = feed_forward_begin(ops, first, end);
    for (std::size_t i = first; i < end; ++i) {
      layer_s += ops[i].placement.time_s;
      if (i < cut) attention_s += ops[i].placement.time_s;
    }
    const models::LayerOperation& op = ops[first].operation;
    const double all_s = layer_s * static_cast<double>(op.count);
    if (op.layer != "embedding" && op.layer != "output" && all_s > most_s) {
      most_s = all_s;
      out.layer_s = layer_s;
      out.layer_kind = op.layer;
      out.attention_block_share = 100 * attention_s / layer_s;
      out.feed_forward_block_share = 100 * (layer_s - attention_s) / layer_s;
    }
    first = end;
  }
}

void add_blocks(const models::StepTime& step, Outputs& out) {
  constexpr std::string_view names[block_count] = {"projections", "attention kernels", "feed-forward kernels",
                                                   "norms and adds", "embedding, output"};
  for (const std::string_view name : names) out.blocks.push_back({std::string(name)});
  BlockRow all;
  for (const models::TimedOperation& timed : step.operations) {
    const auto n = static_cast<double>(timed.operation.count);
    for (BlockRow* row : {&out.blocks[static_cast<std::size_t>(block_of(timed.operation.group))], &all}) {
      row->time_s += n * timed.placement.time_s;
      row->flops_share += n * timed.cost.flops;
      row->bytes_share += n * timed.cost.bytes();
    }
  }
  const auto percent = [](double part, double whole) { return whole > 0 ? 100 * part / whole : 0; };
  for (BlockRow& row : out.blocks) {
    row.time_share = percent(row.time_s, all.time_s);
    row.flops_share = percent(row.flops_share, all.flops_share);
    row.bytes_share = percent(row.bytes_share, all.bytes_share);
  }
}

}  // namespace

std::size_t feed_forward_begin(const std::vector<models::TimedOperation>& operations, std::size_t first,
                               std::size_t end) {
  std::size_t begin = first;
  for (std::size_t i = first; i < end; ++i) {
    const Block block = block_of(operations[i].operation.group);
    if (block == Block::projections || block == Block::attention) begin = i + 1;
  }
  return begin;
}

Block block_of(models::OperationGroup group) {
  switch (group) {
    case models::OperationGroup::projection:
      return Block::projections;
    case models::OperationGroup::attention:
      return Block::attention;
    case models::OperationGroup::feed_forward:
    case models::OperationGroup::experts:
      return Block::feed_forward;
    case models::OperationGroup::norm:
    case models::OperationGroup::residual:
      return Block::elementwise;
    case models::OperationGroup::embedding:
    case models::OperationGroup::output:
      return Block::ends;
  }
  return Block::ends;
}

Computed compute(const Inputs& in) {
  const auto setting = read_setting(in);
  if (!setting) return {.facts = {.reason = setting.error}};
  const Setting& s = *setting;
  auto step = models::time_step(s.architecture, s.workload, s.machine);
  models::Workload other = s.workload;
  other.fused_attention = true;
  other.fused_elementwise = true;
  auto fused = models::time_step(s.architecture, other, s.machine);
  other.fused_attention = false;
  other.fused_elementwise = false;
  auto unfused = models::time_step(s.architecture, other, s.machine);
  for (const auto* result : {&step, &fused, &unfused})
    if (!*result) return {.facts = {.reason = result->error}};

  Outputs out;
  rate_step(s, *step, out);
  add_blocks(*step, out);
  cut_layer(*step, out);
  out.fused_time_s = fused->time_s;
  out.fused_bytes = fused->totals.bytes;
  out.unfused_time_s = unfused->time_s;
  out.unfused_bytes = unfused->totals.bytes;
  out.resident = models::resident_bytes(s.architecture, s.workload);
  out.chip_share = 100 * out.resident.total() / s.chip->memory_bytes;
  out.kv_bytes_per_token = models::kv_bytes_per_token(s.architecture, s.workload.kv_bytes);
  count_parameters(s.architecture, out);
  compare_training(s, out);
  for (const auto& timed : step->operations)
    out.operations.push_back({
        .timed = timed,
        .group = std::string(models::group_name(timed.operation.group)),
        .shape = shape_text(timed.operation),
        .bytes = timed.cost.bytes(),
        .all_s = static_cast<double>(timed.operation.count) * timed.placement.time_s,
        .share = 100 * timed.share,
    });
  return {std::move(out), std::make_shared<const Run>(Run{.model_name = s.name,
                                                          .chip_name = s.chip->short_name,
                                                          .left_out = s.architecture.left_out,
                                                          .workload = s.workload,
                                                          .product_format = s.product_format,
                                                          .chip_memory_bytes = s.chip->memory_bytes,
                                                          .step = std::move(*step),
                                                          .fused = std::move(*fused),
                                                          .unfused = std::move(*unfused)})};
}

}  // namespace chapters::roofline::transformer_layer
