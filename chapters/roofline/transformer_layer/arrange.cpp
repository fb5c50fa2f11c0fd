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

/// One kind of work among all of the step.
struct BlockShares {
  double time_s = 0, flops = 0, bytes = 0;
};

/// The kind of work that takes most of the time, its parts of all three, and the walls.
std::string answer_of(const Outputs& out) {
  constexpr std::string_view names[block_count] = {"The projections take", "Attention takes", "The feed-forward takes",
                                                   "Norms and adds take", "Embedding and output take"};
  std::array<BlockShares, block_count> blocks{};
  BlockShares all;
  std::array<double, 4> walls{};
  for (const OperationRow& row : out.operations) {
    const auto n = static_cast<double>(row.timed.operation.count);
    const double time_s = n * row.timed.placement.time_s;
    for (BlockShares* b : {&blocks[static_cast<std::size_t>(block_of(row.timed.operation.group))], &all}) {
      b->time_s += time_s;
      b->flops += n * row.timed.cost.flops;
      b->bytes += n * row.bytes;
    }
    walls[static_cast<std::size_t>(row.timed.placement.regime)] += time_s;
  }
  const auto first =
      std::max_element(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
  const auto share = [](double part, double whole) {
    const double percent = whole > 0 ? 100 * part / whole : 0;
    if (percent >= 99.5 && part < whole * (1 - 1e-12)) return std::string("over `99 %`");
    return "`" + format_text(percent, "%", 2) + "`";
  };
  constexpr std::string_view wall_names[] = {"memory", "arithmetic", "launching", "the link"};
  const auto wall = std::max_element(walls.begin(), walls.end());
  return std::string(names[first - blocks.begin()]) + " " + share(first->time_s, all.time_s) + " of `" +
         format_text(all.time_s, "s", 3) + "`, " + share(first->flops, all.flops) + " of the flops, " +
         share(first->bytes, all.bytes) + " of the bytes; " + std::string(wall_names[wall - walls.begin()]) +
         " is the wall for " + share(*wall, all.time_s) + ".";
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
  pic.convention = s.workload.phase == models::Phase::decode ? "Decode: causal and full counts agree here."
                   : s.workload.attention == models::AttentionFlops::full
                       ? "Attention is counted in full: the whole square of the sequence."
                   : s.workload.fused_attention
                       ? "Attention is counted causal: half the square of the sequence."
                       : "Attention is counted causal; unfused, its kernels compute the whole square.";
  if (!s.architecture.left_out.empty()) pic.subject += ". " + s.architecture.left_out;
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
  for (OperationPicture& op : pic.operations) op.weight = pic.longest_s > 0 ? op.time_s / pic.longest_s : 0;
  pic.answer = answer_of(out);
  arrange_variants(in, out, pic);
  arrange_parameters(out, pic);
  return pic;
}

}  // namespace chapters::roofline::transformer_layer
