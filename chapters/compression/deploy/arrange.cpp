#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "chapters/compression/deploy/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::deploy {
namespace {

using widgets::figure, widgets::format_text;

std::string times(double factor) { return format_text(factor, widgets::times_unit, 2); }

std::string chips_text(double chips) { return format_text(chips, "") + (chips == 1 ? " chip" : " chips"); }

/// "W4A16 with a 16-bit cache".
std::string setting_text(const models::Recipe& recipe, const models::KvRecipe& kv) {
  return std::string(recipe.label) + " with " +
         (kv.label.starts_with('F') || kv.label.starts_with('I') ? "an " : "a ") + std::string(kv.label);
}

/// What was published of a recipe's loss, and whether it may be more than is allowed.
std::string loss_clause(const models::Recipe& recipe, double may_lose) {
  if (recipe.id == "bf16") return "nothing is lost";
  if (recipe.published_loss_high == 0) return "published loss: none found";
  const std::string loss = "published loss " + figure(published_loss(recipe));
  if (recipe.published_loss_low > may_lose) return loss + ", more than allowed";
  if (recipe.published_loss_high > may_lose) return loss + ", which can be more than allowed";
  return loss;
}

/// What the learner has set: does it fit, and how fast is it?
std::string yours_text(const Inputs& in, const Outputs& out) {
  const std::string yours = "Your " + setting_text(out.recipe, *models::find_kv_recipe(in.kv));
  const std::string bytes = figure(out.total_bytes, "B"), room = figure(out.estimate.memory_bytes, "B");
  const bool plain = in.recipe == "bf16" && in.kv == "bf16";
  const std::string speed = std::abs(out.speed.decode_speedup - 1) < 0.05
                                ? std::string("decode is as fast as in BF16")
                                : "decode is up to " + figure(times(out.speed.decode_speedup)) + " as fast as in BF16";
  if (!out.estimate.fits)
    return yours + " does not fit: " + bytes + " need " + figure(chips_text(out.estimate.chips_needed)) +
           ", here is room for " + room + ".";
  return yours + " fits, " + bytes + " of " + room + (plain ? "." : ", and " + speed + ".");
}

/// What the tree recommends, next to what is set.
std::string tree_text(const Inputs& in, const Outputs& out, const models::Decision& decision) {
  const models::Recipe* recipe = models::find_recipe(decision.recipe);
  if (std::isnan(out.recommended_bytes) || !recipe)
    return "The tree recommends " + std::string(out.recommended) + ", which this chip cannot run.";
  const std::string loss = loss_clause(*recipe, in.may_lose);
  if (decision.recipe == in.recipe && decision.kv == in.kv && out.recommended_fits)
    return "The tree recommends the same; " + loss + ".";
  return "The tree recommends " + std::string(out.recommended) + ": " + figure(out.recommended_bytes, "B") +
         (out.recommended_fits ? ", decode up to " + figure(times(out.recommended_speedup)) + " BF16's"
                               : " on " + figure(chips_text(out.recommended_chips))) +
         "; " + loss + ".";
}

std::string missing_units(const models::Recipe& recipe) {
  return "no " + std::string(models::format_label(recipe.product)) + " units";
}

/// What a recipe of the tree takes on these chips.
std::string leaf_note(const models::DecisionNode& node, const std::optional<models::DeploymentEstimate>& e) {
  if (!e) return missing_units(*models::find_recipe(node.recipe));
  return format_text(e->weights_bytes + e->cache_bytes, "B") + ", " + chips_text(e->chips_needed);
}

/// A question or recipe in the few letters of a small window's box; empty where it is as short already.
std::string_view brief_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> brief{{{"Any loss allowed?", "Any loss?"},
                                                                                {"Memory-bound?", "Memory?"},
                                                                                {"Cache > weights?", "Cache?"},
                                                                                {"4-bit loss allowed?", "4-bit loss?"},
                                                                                {"BF16 on more chips", "BF16, more"},
                                                                                {"W8A16, FP8 cache", "W8A16, 8-bit KV"},
                                                                                {"FP8, FP8 cache", "FP8, 8-bit KV"},
                                                                                {"INT8 usable?", "INT8?"}}};
  const auto at = std::find_if(brief.begin(), brief.end(), [&](const auto& b) { return b.first == text; });
  return at == brief.end() ? std::string_view() : at->second;
}

/// Lists the boxes below node `at` and returns the row that its box stands in.
class TreeList {
 public:
  TreeList(const Inputs& in, const Run& run, Picture& picture) : in_(in), run_(run), picture_(picture) {}

  void make() {
    add(0, -1, 0, false, true);
    picture_.rows = static_cast<std::size_t>(next_row_);
    for (TreeBox& box : picture_.tree) picture_.columns = std::max(picture_.columns, box.column + 2);
    for (TreeBox& box : picture_.tree)
      if (box.leaf) box.column = picture_.columns - 1;
    // What was set may stand at two ends: where the walk came to one, that is it.
    const auto says_yours = [](const TreeBox& box) { return box.yours && box.reached; };
    if (std::any_of(picture_.tree.begin(), picture_.tree.end(), says_yours))
      for (TreeBox& box : picture_.tree) box.yours = says_yours(box);
  }

 private:
  /// `walked`: the walk through the tree comes to this box.
  double add(int at, std::ptrdiff_t parent, std::size_t column, bool yes, bool walked) {
    const models::DecisionNode& node = run_.tree[static_cast<std::size_t>(at)];
    const auto index = static_cast<std::ptrdiff_t>(picture_.tree.size());
    picture_.tree.push_back({.text = node.text,
                             .brief = brief_of(node.text),
                             .column = column,
                             .parent = parent,
                             .reached = walked,
                             .yes = yes});
    double row = 0;
    std::string note;
    if (node.yes < 0) {
      row = next_row_++;
      note = leaf_note(node, run_.leaves[static_cast<std::size_t>(at)]);
      picture_.tree.back().leaf = true;
      picture_.tree.back().column = 0;
      picture_.tree.back().yours = node.recipe == in_.recipe && node.kv == in_.kv;
    } else {
      const auto step = std::find_if(run_.decision.steps.begin(), run_.decision.steps.end(),
                                     [&](const models::DecisionStep& s) { return walked && s.node == at; });
      const bool asked = step != run_.decision.steps.end();
      if (asked) note = because_words(*step);
      const double above = add(node.yes, index, column + 1, true, asked && step->yes),
                   below = add(node.no, index, column + 1, false, asked && !step->yes);
      row = (above + below) / 2;
    }
    TreeBox& box = picture_.tree[static_cast<std::size_t>(index)];
    box.row = row;
    box.note = std::move(note);
    return row;
  }

  const Inputs& in_;
  const Run& run_;
  Picture& picture_;
  double next_row_ = 0;
};

/// What the learner has set, where the tree says something else.
void write_yours(const Inputs& in, const Outputs& out, const models::Decision& decision, Picture& p) {
  if (decision.recipe == in.recipe && decision.kv == in.kv) return;
  p.yours = "yours: " + std::string(out.recipe.label) + ", " + std::string(models::find_kv_recipe(in.kv)->label);
  p.yours_takes = format_text(out.total_bytes, "B") + ", " + chips_text(out.estimate.chips_needed) + "; decode " +
                  times(out.speed.decode_speedup) + " BF16's";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = yours_text(in, out) + "\n" + tree_text(in, out, run.decision);
  write_yours(in, out, run.decision, p);
  if (!run.leaves.empty()) TreeList(in, run, p).make();
  for (const models::Recipe& r : models::deployment_recipes()) p.recipe_ids.push_back(r.id);
  for (const models::KvRecipe& r : models::kv_recipes()) p.cache_ids.push_back(r.id);
  for (std::size_t i = 0; i < out.recipes.size(); ++i) {
    const RecipeRow& row = out.recipes[i];
    p.why_not.push_back(row.possible ? std::string()
                                     : missing_units(models::deployment_recipes()[i]) + " on this chip");
    const double cache = row.possible ? row.estimate.cache_bytes : out.estimate.cache_bytes;
    p.memory_names.push_back(row.recipe + ", " + format_text(row.estimate.weights_bytes + cache, "B"));
  }
  return p;
}

}  // namespace chapters::compression::deploy
