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

std::vector<LayerFlow> arrange_layers(const std::vector<models::TimedOperation>& ops) {
  std::vector<LayerFlow> flows;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const auto& op = ops[i].operation;
    if (op.layer == "embedding" || op.layer == "output") continue;
    if (ops[i - 1].operation.layer != op.layer)
      flows.push_back(
          {.name = op.layer + " × " + format_text(static_cast<double>(op.count), ""), .first = i, .end = i});
    flows.back().end = i + 1;
    flows.back().time_s += ops[i].placement.time_s;
  }
  for (LayerFlow& flow : flows) flow.attention_end = feed_forward_begin(ops, flow.first, flow.end);
  return flows;
}

/// The kind of layer that takes the most time of the step.
std::size_t longest_of(const std::vector<LayerFlow>& layers, const Outputs& out) {
  const auto time_of = [&](const LayerFlow& flow) {
    return flow.time_s * static_cast<double>(out.operations[flow.first].timed.operation.count);
  };
  const auto longest = std::max_element(
      layers.begin(), layers.end(), [&](const LayerFlow& a, const LayerFlow& b) { return time_of(a) < time_of(b); });
  return static_cast<std::size_t>(longest - layers.begin());
}

/// Why the limit is what it is, or what would help.
std::string why_of(const Inputs& in, const Outputs& out, bool launching, bool memory) {
  if (launching)
    return "Launches of " + widgets::figure(in.launch_s, "s") + " outlast most kernels, so only " +
           widgets::figure(out.mbu, "%") + " of the bandwidth is used.";
  if (out.fused_time_s < 0.95 * out.time_s)
    return "With everything fused the step would take " + widgets::figure(out.fused_time_s, "s") + " instead of " +
           widgets::figure(out.time_s, "s") + ".";
  if (in.phase == models::Phase::train && in.recompute != models::Recompute::none)
    return "With what is recomputed the chip works at " + widgets::figure(out.hfu, "%") +
           " of its peak (HFU); without it at " + widgets::figure(out.mfu, "%") + " (MFU).";
  return "The step does " + widgets::figure(out.intensity, "FLOP/B") +
         (memory ? "; arithmetic would take over from " : "; memory would be the limit below ") +
         widgets::figure(out.ridge, "FLOP/B") + ".";
}

/// The longer block of the layer, and the wall that most of the step's time meets.
std::string answer_of(const Inputs& in, const Outputs& out) {
  constexpr std::string_view phases[] = {"In training ", "In prefill ", "In decode "};
  constexpr std::string_view wall_names[] = {"memory", "arithmetic", "launching"};
  const std::array<double, 3> walls{out.memory_bound_share, out.compute_bound_share, out.launch_bound_share};
  const auto wall = static_cast<std::size_t>(std::max_element(walls.begin(), walls.end()) - walls.begin());
  const bool attention = out.attention_block_share > out.feed_forward_block_share;
  return std::string(phases[static_cast<std::size_t>(in.phase)]) + "the " + (attention ? "attention" : "feed-forward") +
         " block takes " + widgets::figure(attention ? out.attention_block_share : out.feed_forward_block_share, "%") +
         " of " + (out.layer_kind.starts_with("expert") ? "an expert layer's " : "a layer's ") +
         widgets::figure(out.layer_s, "s") + "; " + std::string(wall_names[wall]) + " limits " +
         widgets::figure(walls[wall], "%") + " of the step.\n" + why_of(in, out, wall == 2, wall == 0);
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
  pic.subject = s.model_name + " on one " + s.chip_name + ": " + workload_text(s.workload) + ", matmuls at " +
                format_text(out.peak_flops_per_s, "FLOP/s") + " (" +
                std::string(models::format_label(s.product_format)) + ")";
  pic.convention = s.workload.phase == models::Phase::decode ? "Decode: causal and full counts agree here."
                   : s.workload.attention == models::AttentionFlops::full
                       ? "Attention is counted in full: the whole square of the sequence."
                   : s.workload.fused_attention
                       ? "Attention is counted causal: half the square of the sequence."
                       : "Attention is counted causal; unfused, its kernels compute the whole square.";
  if (!s.left_out.empty()) pic.subject += ". " + s.left_out;
  if (out.chip_share > 100)
    pic.capacity = "needs " + format_text(out.resident.total(), "B") + ", the chip has " +
                   format_text(s.chip_memory_bytes, "B") + ": drawn as if it fitted";
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
  pic.answer = answer_of(in, out);
  arrange_variants(in, run, pic);
  arrange_parameters(out, pic);
  return pic;
}

}  // namespace chapters::roofline::transformer_layer
