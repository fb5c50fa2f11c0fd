#include <algorithm>
#include <bit>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/transformer_layer/lab.h"
#include "models/transformer/flops.h"
#include "widgets/number/number.h"

namespace chapters::roofline::transformer_layer {
namespace {

using models::Architecture;
using models::Format;
using models::OperationGroup;
using widgets::format_text;

double wide(std::int64_t n) { return static_cast<double>(n); }

Block block_of(OperationGroup group) {
  switch (group) {
    case OperationGroup::projection:
      return Block::projections;
    case OperationGroup::attention:
      return Block::attention;
    case OperationGroup::feed_forward:
    case OperationGroup::experts:
      return Block::feed_forward;
    case OperationGroup::norm:
    case OperationGroup::residual:
      return Block::elementwise;
    case OperationGroup::embedding:
    case OperationGroup::output:
      return Block::ends;
  }
  return Block::ends;
}

/// What the inputs stand for.
struct Setting {
  std::string reason, name;
  Architecture architecture;
  const models::Chip* chip = nullptr;
  Format math = Format::bf16;
  models::Machine machine;
  models::Workload workload;
};

Setting read(const Inputs& in) {
  Setting s;
  const auto refuse = [&](std::string why) {
    s.reason = std::move(why);
    return s;
  };
  if (!in.config.text.empty()) {
    const std::string file = in.config.path.substr(in.config.path.find_last_of('/') + 1);
    auto parsed = models::parse_config(in.config.text, file.empty() ? "config.json" : file);
    if (!parsed) return refuse(parsed.error);
    s.architecture = std::move(*parsed);
    s.name = file + " (" + s.architecture.model_type + ")";
  } else if (const auto* model = catalog().model(in.model)) {
    s.architecture = model->architecture;
    s.name = model->name;
  } else {
    return refuse("There is no model \"" + in.model + "\" among the loaded ones; choose another.");
  }
  s.chip = catalog().chip(in.chip);
  if (!s.chip) return refuse("There is no chip \"" + in.chip + "\" among the loaded ones; choose another.");
  const auto weights = models::format_from_id(in.format), activations = models::format_from_id(in.activation_format),
             kv = models::format_from_id(in.kv_format);
  if (!weights || !activations || !kv) return refuse("One of the formats is unknown; choose another.");
  s.math = models::product_format(*weights, *activations);
  const auto machine = models::machine_of(*s.chip, s.math, in.launch_s);
  if (!machine) return refuse(machine.error + ".");
  s.machine = *machine;
  models::Workload& w = s.workload;
  w.phase = in.phase;
  w.batch = in.batch;
  w.sequence = in.sequence;
  w.context = in.context;
  w.attention = in.attention_flops;
  w.weight_bytes = models::format_bytes(*weights);
  w.activation_bytes = models::format_bytes(*activations);
  w.kv_bytes = models::format_bytes(*kv);
  w.fused_attention = in.fused_attention;
  w.fused_elementwise = in.fused_elementwise;
  if (in.phase == models::Phase::train) w.recompute = in.recompute;
  return s;
}

std::string shape_text(const models::ProductShape& p) {
  if (!(p.m > 0 && p.n > 0 && p.k > 0)) return {};
  std::string text = "[" + format_text(p.m, "") + " × " + format_text(p.k, "") + "] × [" + format_text(p.k, "") +
                     " × " + format_text(p.n, "") + "]";
  if (p.batch != 1) text = format_text(p.batch, "") + " of " + text;
  return text;
}

OperationRow row_of(const models::TimedOperation& timed) {
  const auto& op = timed.operation;
  const auto& p = timed.placement;
  OperationRow row{
      .name = op.name,
      .group = std::string(models::group_name(op.group)),
      .kind = op.layer,
      .shape = shape_text(op.shape),
  };
  row.count = op.count;
  row.parameters = op.parameters;
  row.flops = timed.cost.flops;
  row.bytes = timed.cost.bytes();
  row.intensity = p.intensity;
  row.compute_s = p.compute_s;
  row.memory_s = p.memory_s;
  row.launch_s = p.launch_s;
  row.time_s = p.time_s;
  row.share = timed.share;
  const double n = wide(op.count);
  row.all_compute_s = n * p.compute_s;
  row.all_memory_s = n * p.memory_s;
  row.all_launch_s = n * p.launch_s;
  row.all_s = n * p.time_s;
  row.regime = p.regime;
  row.detail = row.name + (op.count > 1 ? ", " + format_text(wide(op.count), "") + " times" : "") +
               (row.shape.empty() ? "" : ": " + row.shape) + ". Arithmetic needs " + format_text(p.compute_s, "s") +
               ", memory " + format_text(p.memory_s, "s") +
               (p.launch_s > 0 ? ", launching " + format_text(p.launch_s, "s") : "") + "; " +
               format_text(p.intensity, "FLOP/B") + " against a ridge of " + format_text(p.ridge, "FLOP/B") + ".";
  return row;
}

Variant variant_of(std::string label, const models::StepTime& step) {
  Variant v{std::move(label), {}};
  for (const auto& timed : step.operations)
    v.time_s[static_cast<std::size_t>(block_of(timed.operation.group))] +=
        wide(timed.operation.count) * timed.placement.time_s;
  return v;
}

/// Neighbours of equal rows and depth multiply the same input: one stage, as they could be one wider product.
bool same_input(const models::LayerOperation& a, const models::LayerOperation& b) {
  return a.shape.k > 0 && a.group == b.group && a.group != OperationGroup::attention && a.shape.m == b.shape.m &&
         a.shape.k == b.shape.k && a.shape.batch == b.shape.batch;
}

/// Which part of its layer each operation belongs to; what lies outside the layers is "other".
void name_sections(Outputs& out) {
  for (OperationRow& row : out.operations) row.section = "other";
  for (const LayerFlow& flow : out.layers)
    for (std::size_t s = 0; s < flow.stages.size(); ++s)
      for (std::size_t i = flow.stages[s].first; i < flow.stages[s].end; ++i)
        out.operations[i].section = s < flow.attention_end ? "attention" : "feed-forward";
}

std::vector<LayerFlow> flows_of(const std::vector<models::TimedOperation>& ops) {
  std::vector<LayerFlow> flows;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto& op = ops[i].operation;
    if (op.layer == "embedding" || op.layer == "output") continue;
    const bool fresh = ops[i - 1].operation.layer != op.layer;
    if (fresh) flows.push_back({.name = op.layer + " × " + format_text(wide(op.count), "")});
    LayerFlow& flow = flows.back();
    if (fresh || !same_input(ops[i - 1].operation, op)) flow.stages.push_back({i, i, 0});
    flow.stages.back().end = i + 1;
    flow.stages.back().share += ops[i].placement.time_s;
    flow.time_s += ops[i].placement.time_s;
    const Block block = block_of(op.group);
    if (block == Block::projections || block == Block::attention) flow.attention_end = flow.stages.size();
  }
  for (LayerFlow& flow : flows)
    for (auto& stage : flow.stages) stage.share /= flow.time_s;
  return flows;
}

void count_parameters(const Architecture& a, Outputs& out) {
  const auto count = models::count_parameters(a);
  const auto& l = count.layers;
  out.parameters_total = count.total;
  out.parameters_active = count.active;
  out.parameters_attention = l.attention;
  out.parameters_feed_forward = l.dense_ffn + l.routed_experts + l.shared_experts + l.router + l.router_bias;
  out.parameters_embedding = count.embedding + count.positions + count.head;
  out.parameters_norms = l.norms + count.outer_norms;
  out.stored = {out.parameters_embedding, out.parameters_attention, out.parameters_feed_forward, out.parameters_norms};
  out.active = out.stored;
  out.active[2] -= count.total - count.active;
}

/// A training step of one sequence without recomputation, against the closed forms.
void compare_training(const Setting& s, Outputs& out) {
  models::Workload w = s.workload;
  w.phase = models::Phase::train;
  w.batch = 1;
  w.recompute = models::Recompute::none;
  out.training_flops_per_token =
      models::total_operations(models::model_operations(s.architecture, w), w).flops_per_token;
  const double matrices = wide(models::count_parameters(s.architecture).active_without_input_embedding);
  out.six_nd_ratio = out.training_flops_per_token / models::flops_6nd(matrices, 1);
  out.megatron_ratio =
      out.training_flops_per_token / models::megatron_flops_per_token(s.architecture, wide(w.sequence));
}

std::string workload_text(const models::Workload& w) {
  const std::string sequences = format_text(wide(w.batch), "", 12) + (w.batch == 1 ? " sequence" : " sequences");
  if (w.phase == models::Phase::decode)
    return "decode of one token for " + sequences + " with " + format_text(wide(w.context), "tokens", 12) +
           " of context";
  return (w.phase == models::Phase::train ? "training step of " : "prefill of ") + sequences + " of " +
         format_text(wide(w.sequence), "tokens", 12);
}

void describe_setting(const Setting& s, Outputs& out) {
  out.subject = s.name + " on one " + s.chip->short_name + ": " + workload_text(s.workload) + ", products at " +
                format_text(s.machine.peak_flops_per_s, "FLOP/s") + " (" + std::string(models::format_label(s.math)) +
                ")";
  out.convention = s.workload.phase == models::Phase::decode
                       ? "A decoded token attends to all of its context: causal and full counts agree here."
                   : s.workload.attention == models::AttentionFlops::causal
                       ? "Attention is counted causal: half the square of the sequence."
                       : "Attention is counted in full: the whole square of the sequence.";
  const auto resident = models::resident_bytes(s.architecture, s.workload);
  out.weights_bytes = resident.weights;
  out.kv_total_bytes = resident.cache;
  out.chip_share = 100 * resident.total() / s.chip->memory_bytes;
  if (out.chip_share > 100)
    out.capacity = format_text(resident.total(), "B") + " of weights" + (resident.cache > 0 ? " and cache" : "") +
                   " in " + format_text(s.chip->memory_bytes, "B") +
                   " of memory: times are those of one chip that could hold them.";
}

std::uint64_t version_of(const std::vector<OperationRow>& rows) {
  std::uint64_t v = 1469598103934665603ull;
  for (const OperationRow& row : rows)
    for (const double x :
         {row.flops, row.bytes, row.time_s, row.share, wide(row.count), static_cast<double>(row.name.size())})
      v = (v ^ std::bit_cast<std::uint64_t>(x)) * 1099511628211ull;
  return v;
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  const Setting s = read(in);
  const auto refuse = [](std::string why) {
    Outputs none;
    none.reason = std::move(why);
    return none;
  };
  if (!s.reason.empty()) return refuse(s.reason);
  const auto step = models::time_step(s.architecture, s.workload, s.machine);
  models::Workload other = s.workload;
  other.fused_attention = other.fused_elementwise = true;
  const auto fused = models::time_step(s.architecture, other, s.machine);
  other.fused_attention = other.fused_elementwise = false;
  const auto unfused = models::time_step(s.architecture, other, s.machine);
  for (const auto* result : {&step, &fused, &unfused})
    if (!*result) return refuse(result->error);

  out.time_s = step->time_s;
  out.tokens_per_s = models::new_tokens(s.workload) / step->time_s;
  out.flops_total = step->totals.product_flops;
  out.flops_per_token = step->totals.flops_per_token;
  out.bytes_total = step->totals.bytes;
  out.intensity = step->totals.intensity();
  out.ridge = models::ridge_flops_per_byte(s.machine);
  out.memory_bound_share = 100 * step->memory_s / step->time_s;
  out.mfu = 100 * step->model_product_flops / (step->time_s * s.machine.peak_flops_per_s);
  out.hfu = 100 * step->totals.product_flops / (step->time_s * s.machine.peak_flops_per_s);
  out.mbu = 100 * step->totals.bytes / (step->time_s * s.machine.bandwidth_bytes_per_s);
  out.fused_time_s = fused->time_s;
  out.fused_bytes = fused->totals.bytes;
  out.unfused_time_s = unfused->time_s;
  out.unfused_bytes = unfused->totals.bytes;
  out.kv_bytes_per_token = models::kv_bytes_per_token(s.architecture, s.workload.kv_bytes);
  count_parameters(s.architecture, out);
  compare_training(s, out);
  describe_setting(s, out);

  for (const auto& timed : step->operations) {
    out.operations.push_back(row_of(timed));
    out.longest_s = std::max(out.longest_s, out.operations.back().all_s);
  }
  out.layers = flows_of(step->operations);
  const auto time_of = [&](const LayerFlow& flow) {
    return flow.time_s * wide(out.operations[flow.stages.front().first].count);
  };
  const auto longest =
      std::max_element(out.layers.begin(), out.layers.end(),
                       [&](const LayerFlow& a, const LayerFlow& b) { return time_of(a) < time_of(b); });
  out.longest_layer = static_cast<std::size_t>(longest - out.layers.begin());
  name_sections(out);
  const bool all = s.workload.fused_attention && s.workload.fused_elementwise,
             none = !s.workload.fused_attention && !s.workload.fused_elementwise;
  out.variants.push_back(variant_of(all ? "as set: all fused" : "all fused", *fused));
  if (!all && !none) out.variants.push_back(variant_of("as set", *step));
  out.variants.push_back(variant_of(none ? "as set: nothing fused" : "nothing fused", *unfused));
  out.version = version_of(out.operations);
  return out;
}

}  // namespace chapters::roofline::transformer_layer
