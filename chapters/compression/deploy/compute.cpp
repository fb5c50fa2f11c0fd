#include "chapters/compression/deploy/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::deploy {
namespace {

using widgets::format_text;

std::string loss_of(const models::Recipe& r) {
  if (r.id == "bf16") return "baseline";
  if (r.published_loss_high == 0) return "none found";
  return r.published_loss_low == r.published_loss_high
             ? format_text(r.published_loss_low, "%", 2)
             : format_text(r.published_loss_low, "", 2) + " to " + format_text(r.published_loss_high, "%", 2);
}

RecipeRow row_of(const models::DeploymentEstimate& e, const models::DeploymentEstimate& base, const Inputs& in) {
  RecipeRow r;
  r.fits = e.fits;
  r.weights_bytes = e.weights_bytes;
  r.cache_bytes = e.cache_bytes;
  r.largest_batch = e.largest_batch;
  r.chips_needed = e.chips_needed;
  r.prefill_tokens_per_s = static_cast<double>(in.prompt) / e.prefill_s;
  r.prefill_speedup = base.prefill_s / e.prefill_s;
  r.decode_s = e.decode_s;
  r.decode_tokens_per_s = static_cast<double>(in.batch) / e.decode_s;
  r.decode_speedup = base.decode_s / e.decode_s;
  return r;
}

void add_row(const models::Result<models::DeploymentEstimate>& e, const models::DeploymentEstimate& base,
             const Inputs& in, std::string_view label, std::string loss, std::string_view source, double weights_bytes,
             Outputs& out, std::vector<RecipeRow>& rows) {
  RecipeRow r;
  if (e)
    r = row_of(*e, base, in);
  else
    r.possible = false, r.prefill_speedup = r.decode_speedup = 0, r.weights_bytes = weights_bytes;
  r.recipe = label;
  r.loss = std::move(loss);
  r.source = e ? std::string(source) : e.error;
  rows.push_back(std::move(r));
  out.times.push_back(e ? Outputs::Times{e->decode_weights_s, e->decode_cache_s, e->decode_other_s} : Outputs::Times{});
}

void walk(const models::Decision& d, Outputs& out) {
  out.recommended = models::decision_nodes()[static_cast<std::size_t>(d.leaf)].text;
  out.leaf = d.leaf;
  for (const models::DecisionStep& s : d.steps) {
    const auto i = static_cast<std::size_t>(s.node);
    out.asked[i] = true;
    out.answer[i] = s.yes;
    out.node_notes[i] = std::string(s.yes ? "yes: " : "no: ") + s.because;
    out.because += (out.because.empty() ? "" : " ") + std::string(models::decision_nodes()[i].text) + " " +
                   (s.yes ? "Yes" : "No") + " (" + s.because + ").";
  }
  out.tree_story = "ends at " + out.recommended + "; outlined boxes were asked and carry the figure that decided";
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  const models::Chip* chip = catalog().chip(in.chip);
  const models::LanguageModel* model = catalog().model(in.model);
  const models::Recipe* recipe = models::find_recipe(in.recipe);
  const models::KvRecipe* kv = models::find_kv_recipe(in.kv);
  if (!chip || !model || !recipe || !kv) {
    out.reason = "There is no such model, chip, recipe or cache: choose one of the lists.";
    return out;
  }
  const models::Architecture& a = model->architecture;
  const models::Deployment d{
      .chip = chip,
      .chips = static_cast<double>(in.chips),
      .batch = static_cast<double>(in.batch),
      .context = static_cast<double>(in.context),
      .prompt = static_cast<double>(in.prompt),
      .roof_share = in.roof_share,
  };
  const auto base =
      models::estimate_deployment(a, models::deployment_recipes().front(), models::kv_recipes().front(), d);
  const auto chosen = models::estimate_deployment(a, *recipe, *kv, d);
  const auto decision = models::decide_recipe(a, d, in.may_lose);
  for (const std::string* error : {&base.error, &chosen.error, &decision.error})
    if (!error->empty()) {
      out.reason = *error;
      return out;
    }
  const RecipeRow r = row_of(*chosen, *base, in);
  out.weights_bytes = r.weights_bytes;
  out.cache_bytes = r.cache_bytes;
  out.total_bytes = r.weights_bytes + r.cache_bytes;
  out.memory_bytes = chosen->memory_bytes;
  out.fits = r.fits;
  out.largest_batch = r.largest_batch;
  out.chips_needed = r.chips_needed;
  out.prefill_s = chosen->prefill_s;
  out.prefill_tokens_per_s = r.prefill_tokens_per_s;
  out.prefill_speedup = r.prefill_speedup;
  out.decode_s = r.decode_s;
  out.decode_tokens_per_s = r.decode_tokens_per_s;
  out.decode_speedup = r.decode_speedup;
  out.memory_bound = 100 * chosen->decode_memory_share;
  out.bits_per_parameter = 8 * r.weights_bytes / static_cast<double>(models::count_parameters(a).total);
  out.smaller = 16 / out.bits_per_parameter;
  out.loss_low = recipe->published_loss_low;
  out.loss_high = recipe->published_loss_high;
  out.loss_source = recipe->loss_source;
  for (const models::Recipe& each : models::deployment_recipes())
    add_row(models::estimate_deployment(a, each, *kv, d), *base, in, each.label, loss_of(each), each.loss_source,
            models::recipe_weight_bytes(a, each), out, out.recipes);
  for (const models::KvRecipe& each : models::kv_recipes())
    add_row(models::estimate_deployment(a, *recipe, each, d), *base, in, each.label,
            each.id == "bf16" ? "baseline" : "see source", each.loss_source, r.weights_bytes, out, out.caches);
  walk(*decision, out);
  if (const auto end = models::estimate_deployment(a, *models::find_recipe(decision->recipe),
                                                   *models::find_kv_recipe(decision->kv), d);
      end && !end->fits)
    out.tree_story += "; it needs " + format_text(end->chips_needed, "") + " of these chips";

  const std::string where = (in.chips > 1 ? std::to_string(in.chips) + " x " : "") + chip->short_name;
  out.verdict = model->name + " in " + std::string(recipe->label) + " on " + where + ": " +
                format_text(out.total_bytes, "B") +
                (out.fits ? " of " + format_text(out.memory_bytes, "B")
                          : ", needs " + format_text(out.chips_needed, "") + " chips") +
                ", " + format_text(out.decode_tokens_per_s, "") + " tokens a second, " +
                format_text(out.decode_speedup, "", 2) + " times BF16";
  out.story = (out.prefill_speedup < 1.01 ? std::string("Prefill no faster")
                                          : "Prefill " + format_text(out.prefill_speedup, "", 2) + " times as fast") +
              "; published loss " + loss_of(*recipe) + ". The tree says " + out.recommended + ".";
  widgets::Fingerprint mark;
  for (const auto* rows : {&out.recipes, &out.caches})
    for (const auto& each : *rows)
      mark.add(each.recipe), mark.add(each.weights_bytes), mark.add(each.cache_bytes), mark.add(each.decode_s),
          mark.add(each.prefill_tokens_per_s), mark.add(each.decode_speedup), mark.add(each.largest_batch);
  mark.add(out.memory_bytes);
  out.version = mark.value | 1;
  return out;
}

}  // namespace chapters::compression::deploy
