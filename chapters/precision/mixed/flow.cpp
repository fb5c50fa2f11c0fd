#include <algorithm>
#include <array>

#include "chapters/precision/mixed/lab.h"
#include "models/numerics/float_format.h"
#include "widgets/number/number.h"

namespace chapters::precision::mixed {
namespace {

/// What a block of the row gathers: operations of the layer that the model has most of, whose names begin with one of
/// these words.
struct Gathered {
  std::string_view title;
  std::array<std::string_view, 9> names{};
};
constexpr std::array<Gathered, 11> gathered{
    {{"Norm", {"residual and attention norm"}},
     {"Q, K, V",
      {"query projection", "key projection", "value projection", "query down", "query latent norm", "query up",
       "latent down", "latent norm", "key and value up"}},
     {"RoPE", {"rope"}},
     {"Attention", {"fused attention"}},
     {"Output", {"output projection"}},
     {"Norm", {"residual and feed-forward norm"}},
     {"Router", {"router", "dispatch"}},
     {"Gate, up",
      {"gate projection", "up projection", "expert gate projection", "expert up projection", "shared gate projection",
       "shared up projection"}},
     {"Activation", {"activation", "expert activation", "shared activation"}},
     {"Down", {"down projection", "expert down projection", "shared down projection"}},
     {"Combine", {"combine"}}}};

bool belongs(const models::MixedOperation& op, const Gathered& g) {
  return std::any_of(g.names.begin(), g.names.end(),
                     [&](std::string_view name) { return !name.empty() && op.name.starts_with(name); });
}

const models::FloatFormat& float_format_of(models::NumberFormat format) {
  static constexpr std::array<std::string_view, 6> ids{"fp32", "tf32", "bf16", "fp16", "e4m3fn", "e5m2"};
  return *models::find_float_format(ids[static_cast<std::size_t>(format)]);
}

/// Adds an operation's time to a block, and takes its formats where it is the block's first.
void gather(const models::MixedOperation& op, FlowBlock& block) {
  if (block.time_s == 0) {
    block.computes = op.forward;
    block.writes = op.result;
    block.back = op.has_backward ? op.backward : op.forward;
    block.product = op.part == models::StepPart::products;
    block.casts = op.part == models::StepPart::casts;
    block.why = op.why;
  }
  block.time_s += static_cast<double>(op.count) * op.time_s;
}

/// The bits of a number that the cast before a block drops, and words for the block.
void describe_block(FlowBlock& block) {
  const models::FloatFormat &from = float_format_of(block.comes), &to = float_format_of(block.computes);
  block.exponent_lost = std::max(0, from.exponent_bits - to.exponent_bits);
  block.mantissa_lost = std::max(0, from.mantissa_bits - to.mantissa_bits);
  block.time = widgets::format_text(block.time_s, "s", 2);
  block.formats_text = std::string(models::number_label(block.computes));
  if (block.back != block.computes) block.formats_text += ", back " + std::string(models::number_label(block.back));
  if (block.exponent_lost + block.mantissa_lost == 0) return;
  block.lost_text = "lost: ";
  if (block.exponent_lost > 0) block.lost_text += std::to_string(block.exponent_lost) + " exponent bits (range)";
  if (block.exponent_lost > 0 && block.mantissa_lost > 0) block.lost_text += ", ";
  if (block.mantissa_lost > 0) block.lost_text += std::to_string(block.mantissa_lost) + " mantissa bits (precision)";
}

}  // namespace

int bits_of(models::NumberFormat format) { return float_format_of(format).bits; }

std::vector<FlowBlock> flow_of(const models::MixedStep& step) {
  std::int64_t most = 0;
  for (const models::MixedOperation& op : step.operations) most = std::max(most, op.count);
  std::vector<FlowBlock> layer(gathered.size());
  FlowBlock others{.title = "Other layers"}, ends{.title = "Embedding, loss"}, head{.title = "Head"},
      casts{.title = "Casts"}, optimizer{.title = "AdamW"};
  for (const models::MixedOperation& op : step.operations) {
    const auto found =
        std::find_if(gathered.begin(), gathered.end(), [&](const Gathered& g) { return belongs(op, g); });
    const bool in_layer = found != gathered.end();
    gather(op, op.part == models::StepPart::casts       ? casts
               : op.part == models::StepPart::optimizer ? optimizer
               : in_layer && op.count == most           ? layer[static_cast<std::size_t>(found - gathered.begin())]
               : in_layer                               ? others
               : op.part == models::StepPart::products  ? head
                                                        : ends);
  }
  std::vector<FlowBlock> blocks;
  for (std::size_t i = 0; i < layer.size(); ++i) {
    if (layer[i].time_s == 0) continue;
    layer[i].title = gathered[i].title;
    // What comes in is what the operation before has written; the residual stream comes in first.
    layer[i].comes = blocks.empty() ? layer[i].writes : blocks.back().writes;
    blocks.push_back(std::move(layer[i]));
  }
  for (FlowBlock* rest : {&others, &head, &ends, &casts, &optimizer}) {
    if (rest->time_s == 0) continue;
    rest->comes = rest->computes;
    blocks.push_back(std::move(*rest));
  }
  double from_s = 0;
  for (FlowBlock& block : blocks) {
    block.from_s = from_s;
    from_s += block.time_s;
    describe_block(block);
  }
  return blocks;
}

}  // namespace chapters::precision::mixed
