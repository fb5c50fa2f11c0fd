#include "chapters/compression/deploy/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::deploy {
namespace {

using widgets::format_text;

/// What the chosen recipe takes and how fast it decodes.
std::string verdict_of(const Inputs& in, const Outputs& out) {
  const models::LanguageModel* model = catalog().model(in.model);
  const models::Chip* chip = catalog().chip(in.chip);
  if (!model || !chip) return {};
  const std::string where = (in.chips > 1 ? std::to_string(in.chips) + " x " : "") + chip->short_name;
  const std::string room = out.estimate.fits ? " of " + format_text(out.estimate.memory_bytes, "B")
                                             : ", needs " + format_text(out.estimate.chips_needed, "") + " chips";
  return model->name + " in " + std::string(out.recipe.label) + " on " + where + ": " +
         format_text(out.total_bytes, "B") + room + ", " + format_text(out.speed.decode_tokens_per_s, "") +
         " tokens a second, " + format_text(out.speed.decode_speedup, "", 2) + " times BF16";
}

/// What prefill gains, what is known to be lost, and what the tree says.
std::string story_of(const Outputs& out) {
  const std::string prefill = out.speed.prefill_speedup < 1.01
                                  ? "Prefill no faster"
                                  : "Prefill " + format_text(out.speed.prefill_speedup, "", 2) + " times as fast";
  return prefill + "; published loss " + published_loss(out.recipe) + ". The tree says " + out.recommended + ".";
}

std::string tree_story_of(const Outputs& out) {
  std::string story = "ends at " + out.recommended + "; outlined boxes were asked and carry the figure that decided";
  const auto& estimate = out.recommended_estimate;
  if (estimate && !estimate->fits) story += "; it needs " + format_text(estimate->chips_needed, "") + " of these chips";
  return story;
}

std::vector<TreeStop> walked_tree(const models::Decision& decision) {
  std::vector<TreeStop> tree(models::decision_nodes().size());
  for (const models::DecisionStep& s : decision.steps)
    tree[static_cast<std::size_t>(s.node)] = {true, s.yes, (s.yes ? "yes: " : "no: ") + s.because};
  tree[static_cast<std::size_t>(decision.leaf)] = {.reached = true, .note = "the tree says this"};
  return tree;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  if (!out.reason.empty()) return {};
  return {
      .verdict = verdict_of(in, out),
      .story = story_of(out),
      .tree_story = tree_story_of(out),
      .tree = walked_tree(out.decision),
  };
}

}  // namespace chapters::compression::deploy
