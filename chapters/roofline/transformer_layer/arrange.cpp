#include <algorithm>

#include "chapters/roofline/transformer_layer/setting.h"
#include "widgets/number/number.h"

namespace chapters::roofline::transformer_layer {
namespace {

using models::OperationGroup;
using widgets::format_text;

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

OperationPicture arrange_operation(const OperationRow& row) {
  const models::LayerOperation& op = row.timed.operation;
  const models::Placement& p = row.timed.placement;
  const auto n = static_cast<double>(op.count);
  return {.compute_s = n * p.compute_s,
          .memory_s = n * p.memory_s,
          .launch_s = n * p.launch_s,
          .time_s = n * p.time_s,
          .section = "other",
          .detail = op.name + (op.count > 1 ? ", " + format_text(n, "") + " times" : "") +
                    (row.shape.empty() ? "" : ": " + row.shape) + ". Arithmetic needs " +
                    format_text(p.compute_s, "s") + ", memory " + format_text(p.memory_s, "s") +
                    (p.launch_s > 0 ? ", launching " + format_text(p.launch_s, "s") : "") + "; " +
                    format_text(p.intensity, "FLOP/B") + " against a ridge of " + format_text(p.ridge, "FLOP/B") + "."};
}

Variant variant_of(std::string label, const models::StepTime& step) {
  Variant v{std::move(label), {}};
  for (const auto& timed : step.operations)
    v.time_s[static_cast<std::size_t>(block_of(timed.operation.group))] +=
        static_cast<double>(timed.operation.count) * timed.placement.time_s;
  return v;
}

/// Neighbours of equal rows and depth multiply the same input: one stage, as they could be one wider product.
bool same_input(const models::LayerOperation& a, const models::LayerOperation& b) {
  return a.shape.k > 0 && a.group == b.group && a.group != OperationGroup::attention && a.shape.m == b.shape.m &&
         a.shape.k == b.shape.k && a.shape.batch == b.shape.batch;
}

std::vector<LayerFlow> arrange_layers(const std::vector<models::TimedOperation>& ops) {
  std::vector<LayerFlow> flows;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto& op = ops[i].operation;
    if (op.layer == "embedding" || op.layer == "output") continue;
    const bool fresh = ops[i - 1].operation.layer != op.layer;
    if (fresh) flows.push_back({.name = op.layer + " × " + format_text(static_cast<double>(op.count), "")});
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

/// The kind of layer that takes the most time of the step.
std::size_t longest_of(const std::vector<LayerFlow>& layers, const Outputs& out) {
  const auto time_of = [&](const LayerFlow& flow) {
    return flow.time_s * static_cast<double>(out.operations[flow.stages.front().first].timed.operation.count);
  };
  const auto longest = std::max_element(
      layers.begin(), layers.end(), [&](const LayerFlow& a, const LayerFlow& b) { return time_of(a) < time_of(b); });
  return static_cast<std::size_t>(longest - layers.begin());
}

/// Which part of its layer each operation belongs to; what lies outside the layers stays "other".
void name_sections(Picture& pic) {
  for (const LayerFlow& flow : pic.layers)
    for (std::size_t s = 0; s < flow.stages.size(); ++s)
      for (std::size_t i = flow.stages[s].first; i < flow.stages[s].end; ++i)
        pic.operations[i].section = s < flow.attention_end ? "attention" : "feed-forward";
}

void arrange_variants(const Inputs& in, const Outputs& out, Picture& pic) {
  const bool all = in.fused_attention && in.fused_elementwise;
  const bool none = !in.fused_attention && !in.fused_elementwise;
  pic.variants.push_back(variant_of(all ? "as set: all fused" : "all fused", out.fused));
  if (!all && !none) pic.variants.push_back(variant_of("as set", out.step));
  pic.variants.push_back(variant_of(none ? "as set: nothing fused" : "nothing fused", out.unfused));
}

void arrange_parameters(const Outputs& out, Picture& pic) {
  pic.stored = {out.parameters_embedding, out.parameters.layers.attention, out.parameters_feed_forward,
                out.parameters_norms};
  pic.active = pic.stored;
  pic.active[2] -= out.parameters.total - out.parameters.active;
}

std::string workload_text(const models::Workload& w) {
  const std::string sequences =
      format_text(static_cast<double>(w.batch), "", 12) + (w.batch == 1 ? " sequence" : " sequences");
  if (w.phase == models::Phase::decode)
    return "decode of one token for " + sequences + " with " +
           format_text(static_cast<double>(w.context), "tokens", 12) + " of context";
  return (w.phase == models::Phase::train ? "training step of " : "prefill of ") + sequences + " of " +
         format_text(static_cast<double>(w.sequence), "tokens", 12);
}

void write_headlines(const Setting& s, const Outputs& out, Picture& pic) {
  pic.subject = s.name + " on one " + s.chip->short_name + ": " + workload_text(s.workload) + ", products at " +
                format_text(s.machine.peak_flops_per_s, "FLOP/s") + " (" +
                std::string(models::format_label(s.product_format)) + ")";
  pic.convention = s.workload.phase == models::Phase::decode
                       ? "A decoded token attends to all of its context: causal and full counts agree here."
                   : s.workload.attention == models::AttentionFlops::causal
                       ? "Attention is counted causal: half the square of the sequence."
                       : "Attention is counted in full: the whole square of the sequence.";
  if (out.chip_share > 100)
    pic.capacity = format_text(out.resident.total(), "B") + " of weights" +
                   (out.resident.cache > 0 ? " and cache" : "") + " in " + format_text(s.chip->memory_bytes, "B") +
                   " of memory: times are those of one chip that could hold them.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture pic;
  const auto setting = read_setting(in);
  if (!out.reason.empty() || !setting) return pic;
  write_headlines(*setting, out, pic);
  for (const OperationRow& row : out.operations) {
    pic.operations.push_back(arrange_operation(row));
    pic.longest_s = std::max(pic.longest_s, pic.operations.back().time_s);
  }
  pic.layers = arrange_layers(out.step.operations);
  pic.longest_layer = longest_of(pic.layers, out);
  name_sections(pic);
  arrange_variants(in, out, pic);
  arrange_parameters(out, pic);
  return pic;
}

}  // namespace chapters::roofline::transformer_layer
