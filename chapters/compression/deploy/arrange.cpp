#include <algorithm>
#include <array>
#include <utility>

#include "chapters/compression/deploy/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::deploy {
namespace {

using widgets::format_text;

std::string times(double factor) { return format_text(factor, "", 2) + "\xC3\x97"; }

std::string ticked(const std::string& figure) { return "`" + figure + "`"; }

std::string chips_text(double chips) { return format_text(chips, "") + (chips == 1 ? " chip" : " chips"); }

/// What was published of the recipe's loss, as the end of a sentence, and whether it may be more than is allowed.
std::string loss_clause(const models::Recipe& recipe, double may_lose) {
  if (recipe.published_loss_high == 0) return "published tests found no loss";
  const std::string loss = "published loss " + ticked(published_loss(recipe)), allowed = format_text(may_lose, "%");
  if (recipe.published_loss_low > may_lose) return loss + ", above " + ticked(allowed);
  if (recipe.published_loss_high > may_lose) return loss + ", which can pass " + ticked(allowed);
  return loss;
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string name = ticked(out.recommended);
  const auto& e = out.recommended_estimate;
  const models::Recipe* recipe = models::find_recipe(out.decision.recipe);
  if (!e || !recipe) return name + " is what the tree says, and this chip cannot run it.";
  const std::string bytes = ticked(format_text(e->weights_bytes + e->cache_bytes, "B"));
  const std::string room = ticked(format_text(e->memory_bytes, "B"));
  if (recipe->id == "bf16")
    return "Nothing may be lost: `BF16`. Its " + bytes +
           (e->fits ? " fit in " + room + "."
                    : " need " + ticked(chips_text(e->chips_needed)) + "; here is room for " + room + ".");
  const std::string speed = "decode is " + ticked(times(out.recommended_speedup)) + " as fast as BF16";
  if (!e->fits)
    return name + ": " + bytes + " need " + ticked(chips_text(e->chips_needed)) +
           "; if it fitted here, decode would be " + ticked(times(out.recommended_speedup)) + " as fast as BF16.";
  return name + ": " + bytes + " fit in " + room + ", " + speed + "; " + loss_clause(*recipe, in.may_lose) + ".";
}

std::string missing_units(const models::Recipe& recipe) {
  return "no " + std::string(models::format_label(recipe.product)) + " units";
}

/// What a recipe of the tree takes on these chips.
std::string leaf_note(const models::DecisionNode& node, const models::Architecture& a, const models::Deployment& d) {
  const auto e = models::estimate_deployment(a, *models::find_recipe(node.recipe), *models::find_kv_recipe(node.kv), d);
  if (!e) return missing_units(*models::find_recipe(node.recipe));
  return format_text(e->weights_bytes + e->cache_bytes, "B") + ", " + chips_text(e->chips_needed);
}

/// A question or recipe in the few letters of a small window's box; empty where it is as short already.
std::string_view brief_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> brief{{{"Any loss allowed?", "Any loss?"},
                                                                                {"Memory-bound?", "Memory?"},
                                                                                {"Cache > weights?", "Cache?"},
                                                                                {"1 % loss allowed?", "1 % loss?"},
                                                                                {"BF16 on more chips", "BF16, more"},
                                                                                {"W8A16, FP8 cache", "W8A16, 8-bit KV"},
                                                                                {"FP8, FP8 cache", "FP8, 8-bit KV"}}};
  const auto at = std::find_if(brief.begin(), brief.end(), [&](const auto& b) { return b.first == text; });
  return at == brief.end() ? std::string_view() : at->second;
}

/// Lists the boxes below node `at` and returns the row that its box stands in.
class TreeList {
 public:
  TreeList(const Inputs& in, const Outputs& out, Picture& picture) : in_(in), out_(out), picture_(picture) {
    if (const auto* model = catalog().model(in.model)) architecture_ = &model->architecture;
    deployment_.chip = catalog().chip(in.chip);
    deployment_.chips = static_cast<double>(in.chips);
    deployment_.batch = static_cast<double>(in.batch);
    deployment_.context = static_cast<double>(in.context);
    deployment_.prompt = static_cast<double>(in.prompt);
    deployment_.roof_share = in.roof_share;
  }

  void make() {
    if (!architecture_ || !deployment_.chip) return;
    add(0, -1, 0, false, true);
    picture_.rows = static_cast<std::size_t>(next_row_);
    for (TreeBox& box : picture_.tree) picture_.columns = std::max(picture_.columns, box.column + 2);
    for (TreeBox& box : picture_.tree)
      if (box.leaf) box.column = picture_.columns - 1;
  }

 private:
  /// `walked`: the walk through the tree comes to this box.
  double add(int at, std::ptrdiff_t parent, std::size_t column, bool yes, bool walked) {
    const models::DecisionNode& node = models::decision_nodes()[static_cast<std::size_t>(at)];
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
      note = leaf_note(node, *architecture_, deployment_);
      picture_.tree.back().leaf = true;
      picture_.tree.back().column = 0;
      picture_.tree.back().yours = !picture_.yours.empty() && node.recipe == in_.recipe && node.kv == in_.kv;
    } else {
      const auto step = std::find_if(out_.decision.steps.begin(), out_.decision.steps.end(),
                                     [&](const models::DecisionStep& s) { return walked && s.node == at; });
      const bool asked = step != out_.decision.steps.end();
      if (asked) note = step->because;
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
  const Outputs& out_;
  Picture& picture_;
  const models::Architecture* architecture_ = nullptr;
  models::Deployment deployment_;
  double next_row_ = 0;
};

/// What the learner has set, where the tree says something else.
void write_yours(const Inputs& in, const Outputs& out, Picture& p) {
  if (out.decision.recipe == in.recipe && out.decision.kv == in.kv) return;
  p.yours = "yours: " + std::string(out.recipe.label) + ", " + std::string(models::find_kv_recipe(in.kv)->label);
  p.yours_takes = format_text(out.total_bytes, "B") + ", " + chips_text(out.estimate.chips_needed) + "; decode " +
                  times(out.speed.decode_speedup) + " BF16's";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  write_yours(in, out, p);
  TreeList(in, out, p).make();
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
