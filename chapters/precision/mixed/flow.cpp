#include <algorithm>
#include <array>

#include "chapters/precision/mixed/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::mixed {
namespace {

/// What a box of the flow gathers: operations of one layer whose names begin with one of these words.
struct Gathered {
  std::string_view title;
  std::array<std::string_view, 6> names{};
  bool second_half = false;
};
constexpr std::array<Gathered, 10> gathered{
    {{"Norm", {"residual and attention norm"}},
     {"Q, K, V", {"query projection", "key projection", "value projection", "query down", "query up", "latent down"}},
     {"RoPE", {"rope"}},
     {"Attention", {"fused attention"}},
     {"Output", {"output projection"}},
     {"Norm", {"residual and feed-forward norm"}, true},
     {"Router", {"router"}, true},
     {"Gate, up", {"gate projection", "up projection", "expert gate projection", "expert up projection"}, true},
     {"Activation", {"activation", "expert activation"}, true},
     {"Down", {"down projection", "expert down projection"}, true}}};

bool belongs(const models::MixedOperation& op, const Gathered& g) {
  return std::any_of(g.names.begin(), g.names.end(),
                     [&](std::string_view name) { return !name.empty() && op.name.starts_with(name); });
}

}  // namespace

std::vector<FlowStage> flow_of(const Outputs& out) {
  std::int64_t most = 0;
  for (const OperationRow& row : out.operations) most = std::max(most, row.figures.count);
  std::vector<FlowStage> stages;
  for (const Gathered& g : gathered) {
    FlowStage stage{.title = std::string(g.title), .second_half = g.second_half};
    double share = 0;
    for (const OperationRow& row : out.operations) {
      const models::MixedOperation& op = row.figures;
      if (op.count != most || !belongs(op, g)) continue;
      if (!stage.any) {
        stage.computes = op.forward;
        stage.writes = op.result;
        stage.back = op.backward;
        stage.product = op.part == models::StepPart::products;
        stage.why = op.why;
      }
      stage.any = true;
      share += row.share;
    }
    if (!stage.any) continue;
    stage.back_text = "back: " + std::string(models::number_label(stage.back));
    stage.share_text = widgets::format_text(share, "%", 2);
    // What comes in is what the operation before has written; the residual stream comes in first.
    stage.comes = stages.empty() ? stage.writes : stages.back().writes;
    stage.comes_bytes = models::number_bytes(stage.comes);
    stage.computes_bytes = models::number_bytes(stage.computes);
    stage.loses_bits = stage.computes_bytes < stage.comes_bytes || stage.computes == models::NumberFormat::tf32;
    stage.rounds = !stage.product && models::number_bytes(stage.writes) < stage.computes_bytes;
    stages.push_back(std::move(stage));
  }
  return stages;
}

}  // namespace chapters::precision::mixed
