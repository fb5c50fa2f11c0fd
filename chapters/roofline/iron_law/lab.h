#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "chapters/mechanism/field.h"
#include "models/machine/iron_law_effects.h"
#include "widgets/prose/formula.h"
#include "widgets/stage/stage.h"

/// T = bytes / bandwidth + operations / (rate x efficiency) + latency, and what each technique does to it.
namespace chapters::roofline::iron_law {

/// Defaults: one decode step of one eighth of Llama 3 70B in 16 bits at batch 1: 69.5e9 x 2 B / 8 of weights (the input
/// embedding is looked up, not read), 4,096 tokens of cache at 327,680 B / 8, and 2 operations a weight; 80 layers of
/// 10 kernels at the 3.3 us a launch that CUDA.jl measured.
struct Inputs {
  std::string chip = "h100_sxm";
  models::Format format = models::Format::bf16;
  double bytes = 17.54e9, weight_share = 0.99, flops = 17.38e9;
  double efficiency = 0.6;
  double overhead_s = 2.64e-3;
  models::Combine combine = models::Combine::added;
  std::vector<std::string> techniques{"weights_8bit", "cuda_graphs"};
  double strength = 1;
  bool operator==(const Inputs&) const = default;
};

/// One technique on the work as it was before any.
struct TechniqueRow {
  std::string technique, moves;
  models::TechniqueEffect alone;
  double speedup_now = 1;  ///< what it adds to the others that are on, whether it is on itself or not
  bool on = false;
};

/// One of the chosen techniques on what the ones before it left.
struct StepRow {
  std::string technique;
  models::TechniqueEffect effect;
  double saved_s = 0;  ///< below 0 where the time got longer
};

struct Outputs {
  models::IronLaw law;  ///< after the chosen techniques
  models::IronTime before, now;
  double speedup = 1;
  std::string moved, caution;
  std::array<double, models::iron_part_count> bounds{1, 1, 1};  ///< speedup were a part free, by IronPart
  double bandwidth_use = 0, compute_use = 0;                    ///< %
  std::vector<TechniqueRow> rows;
  std::vector<StepRow> steps;  ///< the chosen techniques in their order
  std::string reason;
};

/// The parts of the time in seconds, by IronPart.
using Parts = std::array<double, models::iron_part_count>;

/// One row of the waterfall: what is left of each part, what the technique took off or added, and what runs hidden.
struct WaterfallRow {
  std::string label, text, info;
  Parts seen{}, taken{};  ///< s; `taken` adds up to what the whole lost
  double added_s = 0;     ///< what the whole gained instead
  double total_s = 0;
  double hidden_s = 0;  ///< seconds of the part that runs under a longer one
  models::IronPart hidden = models::IronPart::memory;
  bool strong = false;  ///< first and last
};
/// What a press of a technique would make of the time.
struct Press {
  double time_s = 0;
  std::string text;
  std::array<bool, models::iron_term_count> helps{};  ///< by IronTerm: what the technique does to it shortens the time
};

struct Picture {
  std::uint64_t version = 0;
  std::string answer;
  std::string given;  ///< the work in words, by the inputs alone
  std::vector<WaterfallRow> rows;
  std::array<std::string, models::iron_part_count> parts;  ///< "memory 5.32 ms to 2.69 ms"
  double longest_s = 0;
  std::vector<std::size_t> order;  ///< rows of Outputs::rows: what helps most alone comes first
  std::vector<Press> presses;      ///< one for each of Outputs::rows
};

struct View {
  widgets::FormulaView formula;
  std::int64_t hovered = -1;  ///< row of Outputs::rows under the pointer; -1: none
};

Outputs compute(const Inputs& inputs);
Picture arrange(const Inputs& inputs, const Outputs& out);
void draw(widgets::Stage& stage, Inputs& inputs, const Outputs& out, const Picture& picture, View& view);

}  // namespace chapters::roofline::iron_law
