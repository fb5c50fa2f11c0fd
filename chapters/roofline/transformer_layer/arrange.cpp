#include <algorithm>

#include "chapters/roofline/transformer_layer/lab.h"
#include "widgets/number/number.h"

namespace chapters::roofline::transformer_layer {
namespace {

using models::OperationGroup;
using widgets::format_text;

OperationPicture arrange_operation(const OperationRow& row) {
  const models::LayerOperation& op = row.timed.operation;
  const models::Placement& p = row.timed.placement;
  const auto n = static_cast<double>(op.count);
  return {.compute_s = n * p.compute_s,
          .memory_s = n * p.memory_s,
          .launch_s = n * p.launch_s,
          .time_s = n * p.time_s,
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

/// A share in %; not 100 where it is not all.
std::string share_text(double percent) {
  if (percent >= 99.5 && percent < 100 * (1 - 1e-12)) return "over `99 %`";
  return widgets::figure(percent, "%", 2);
}

/// The kind of work that takes most of the time, its parts of all three, and the walls.
std::string answer_of(const Outputs& out) {
  constexpr std::string_view names[block_count] = {"The projections take", "Attention takes", "The feed-forward takes",
                                                   "Norms and adds take", "Embedding and output take"};
  constexpr std::string_view wall_names[] = {"memory", "arithmetic", "launching"};
  const auto first = std::max_element(out.blocks.begin(), out.blocks.end(),
                                      [](const BlockRow& a, const BlockRow& b) { return a.time_s < b.time_s; });
  const std::array<double, 3> walls{out.memory_bound_share, out.compute_bound_share, out.launch_bound_share};
  const auto wall = std::max_element(walls.begin(), walls.end());
  return std::string(names[first - out.blocks.begin()]) + " " + share_text(first->time_share) + " of " +
         widgets::figure(out.time_s, "s") + ", " + share_text(first->flops_share) + " of the flops, " +
         share_text(first->bytes_share) + " of the bytes; " + std::string(wall_names[wall - walls.begin()]) +
         " is the wall for " + share_text(*wall) + ".";
}

void arrange_variants(const Inputs& in, const Run& run, Picture& pic) {
  const bool all = in.fused_attention && in.fused_elementwise;
  const bool none = !in.fused_attention && !in.fused_elementwise;
  pic.variants.push_back(variant_of(all ? "as set: all fused" : "all fused", run.fused));
  if (!all && !none) pic.variants.push_back(variant_of("as set", run.step));
  pic.variants.push_back(variant_of(none ? "as set: nothing fused" : "nothing fused", run.unfused));
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

void write_headlines(const Run& s, const Outputs& out, Picture& pic) {
  pic.subject = s.model_name + " on one " + s.chip_name + ": " + workload_text(s.workload) + ", products at " +
                format_text(s.peak_flops_per_s, "FLOP/s") + " (" + std::string(models::format_label(s.product_format)) +
                ")";
  pic.convention = s.workload.phase == models::Phase::decode ? "Decode: causal and full counts agree here."
                   : s.workload.attention == models::AttentionFlops::full
                       ? "Attention is counted in full: the whole square of the sequence."
                   : s.workload.fused_attention
                       ? "Attention is counted causal: half the square of the sequence."
                       : "Attention is counted causal; unfused, its kernels compute the whole square.";
  if (!s.left_out.empty()) pic.subject += ". " + s.left_out;
  if (out.chip_share > 100)
    pic.capacity = format_text(out.resident.total(), "B") + " of weights" +
                   (out.resident.cache > 0 ? " and cache" : "") + " in " + format_text(s.chip_memory_bytes, "B") +
                   " of memory: times are those of one chip that could hold them.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture pic;
  if (!out.reason.empty()) return pic;
  write_headlines(run, out, pic);
  for (const OperationRow& row : out.operations) {
    pic.operations.push_back(arrange_operation(row));
    pic.longest_s = std::max(pic.longest_s, pic.operations.back().time_s);
  }
  pic.layers = arrange_layers(run.step.operations);
  pic.longest_layer = longest_of(pic.layers, out);
  for (OperationPicture& op : pic.operations) op.weight = pic.longest_s > 0 ? op.time_s / pic.longest_s : 0;
  pic.answer = answer_of(out);
  arrange_variants(in, run, pic);
  arrange_parameters(out, pic);
  return pic;
}

}  // namespace chapters::roofline::transformer_layer
