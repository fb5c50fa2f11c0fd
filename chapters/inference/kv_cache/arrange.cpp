#include <algorithm>
#include <cmath>

#include "chapters/inference/kv_cache/lab.h"
#include "chapters/mechanism/short_name.h"
#include "models/compression/deployment.h"
#include "widgets/number/number.h"

namespace chapters::inference::kv_cache {
namespace {

using widgets::figure, widgets::format_text;

std::string users_text(double n) { return format_text(n, "") + (n == 1 ? " user" : " users"); }

/// "`32,768` tokens"
std::string tokens_text(std::int64_t n) { return figure(static_cast<double>(n), "") + (n == 1 ? " token" : " tokens"); }

/// "One H100 SXM holds", "A group of `8` H200 holds"
std::string chips_hold(const Inputs& in) {
  const auto chip = find_chip(in.chip);
  const std::string name = chip ? short_name((*chip)->short_name, 14) : std::string("chip");
  if (in.chips == 1) return "One " + name + " holds ";
  return "A group of " + figure(static_cast<double>(in.chips), "") + " " + name + " holds ";
}

std::string model_name(const Inputs& in) {
  const auto model = find_model(in.model);
  return model ? short_name((*model)->name, 26) : std::string("the model");
}

/// Who fits, and who would with another design.
std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string hold = chips_hold(in), tokens = tokens_text(in.context), model = model_name(in);
  if (!(out.fit.room_bytes > 0))
    return hold + "no user next to " + model + ": its weights take " + figure(out.fit.weights_bytes, "B") + " of " +
           figure(out.fit.offered_bytes, "B") + ".";
  if (!(out.fit.sequences > 0))
    return hold + "no user of " + tokens + " next to " + model + ": one takes " + figure(out.fit.held_bytes, "B") +
           " of " + figure(out.fit.room_bytes, "B") + ".";
  const std::string says = hold + figure(out.fit.sequences, "") +
                           (out.fit.sequences == 1 ? " user of " : " users of ") + tokens + " next to " + model;
  const DesignRow& yours = out.designs.front();
  if (yours.sharing != "MHA" && out.all_heads_bytes > 0 && out.all_heads_sequences < out.fit.sequences)
    return says + "; without shared heads " + figure(out.all_heads_sequences, "") + ".";
  if (out.most_sequences > out.fit.sequences)
    return says + "; with " + out.most_name + " " + figure(out.most_sequences, "") + ".";
  return says + ".";
}

/// How the cache differs from the model's own in 16 bits, where one thing does: " with an FP8 cache".
std::string design_text(const Inputs& in) {
  const models::KvRecipe* format = models::find_kv_recipe(in.kv_format);
  const bool narrow = format && format->id != "bf16";
  const int changes = (narrow ? 1 : 0) + (in.windowed ? 1 : 0) + (in.layers_share > 1 ? 1 : 0);
  if (changes > 1) return " as it is set";
  if (narrow) return " with an " + std::string(format->label);
  if (in.windowed) return " with its window";
  return in.layers_share > 1 ? " with layers that share" : "";
}

/// What the memory goes to, or what would help.
std::string reason_of(const Inputs& in, const Outputs& out) {
  if (!(out.fit.room_bytes > 0)) return "More chips, a narrower format or a smaller model would leave room for caches.";
  if (!(out.fit.sequences > 0))
    return "The longest context of a single user is " + figure(out.fit.longest_tokens, "") + " tokens.";
  if (out.fit.copies > 1)
    return "The chips hold every cache " + figure(format_text(out.fit.copies, "")) + " times, " +
           figure(out.fit.held_bytes, "B") + " a user: " +
           (out.designs.front().kv_heads > 0 ? "there are fewer KV heads than chips."
                                             : "a latent cannot be split by head.");
  return "Weights take " + figure(out.fit.weights_bytes, "B") + ", each user " + figure(out.fit.sequence_bytes, "B") +
         design_text(in) + "; full memory gives " + figure(out.fit.tokens_per_s, "") + " tokens a second at most.";
}

Vessel vessel_of(const DesignRow& row, const Outputs& out) {
  Vessel v;
  v.heads = row.name;
  v.sharing = row.sharing;
  v.token = format_text(row.fit.token_bytes, "B", 4) + " per token";
  v.users = row.fit.room_bytes > 0 ? users_text(row.fit.sequences) : "no room";
  v.pace = row.fit.sequences > 0 ? "at most " + format_text(row.fit.tokens_per_s, "tokens/s") : std::string();
  v.each = format_text(row.fit.held_bytes, "B") + " each";
  v.over_short = format_text(row.fit.held_bytes - row.fit.left_bytes, "B") + " over";
  v.over = "one more: " + v.over_short;
  v.query_heads = out.query_heads;
  v.kept = row.kv_heads;
  v.kept_share = out.all_heads_bytes > 0 ? row.fit.sequence_bytes / out.all_heads_bytes : 1;
  v.weights = row.fit.weights_bytes;
  v.workspace = row.fit.workspace_bytes;
  v.sequence = row.fit.held_bytes;
  v.sequences = row.fit.sequences;
  v.yours = row.yours;
  return v;
}

void arrange_contexts(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  for (std::size_t i = 0; i < out.designs.size(); ++i) {
    const DesignRow& row = out.designs[i];
    widgets::Curve curve{.label = row.name,
                         .info = "room / one user, rounded down",
                         .output = row.yours ? "sequences" : "",
                         .tint = row.yours ? widgets::Tint::yours() : widgets::Tint::series(i - 1),
                         .width = row.yours ? 3.0f : 1.5f};
    for (std::size_t k = 0; k < run.contexts.size(); ++k)
      if (run.sequences[i][k] >= 1) curve.add(run.contexts[k], run.sequences[i][k]);
    if (curve.x.size() > 1) p.against_context.push_back(std::move(curve));
  }
  if (!(out.fit.sequences >= 1)) return;
  widgets::Curve now{.kind = widgets::Curve::Kind::dots,
                     .label = "now",
                     .output = "sequences",
                     .tint = widgets::Tint::yours(),
                     .legend = false};
  now.add(static_cast<double>(in.context), out.fit.sequences);
  p.against_context.push_back(std::move(now));
}

/// A bar for each tier from which a user can be brought back, and one for computing the tokens again.
void arrange_parking(const Outputs& out, Picture& p) {
  for (const TierRow& row : out.tiers)
    if (std::isfinite(row.tier.fetch_s)) {
      p.parked_names.push_back(row.name);
      p.parked_s.push_back(row.tier.fetch_s);
    }
  p.parked_names.push_back("compute again");
  p.parked_s.push_back(out.fit.recompute_s);
  if (p.parked_s.size() == 1) {
    p.parking = "Nobody states how this chip is linked to its host.";
    return;
  }
  const auto worth = static_cast<std::size_t>(out.farthest_worth);
  p.parking = users_text(out.parked_sequences) + " can wait in all tiers. Computing one again takes " +
              format_text(out.fit.recompute_s, "s") + " at least" +
              (worth == out.tiers.size() ? ": bringing back is sooner from everywhere."
               : worth == 0              ? ": sooner than any way back."
                                         : ": only some ways back are sooner.");
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || out.designs.empty()) return p;
  p.answer = verdict_of(in, out) + "\n" + reason_of(in, out);
  constexpr std::size_t max_vessels = 5;
  for (const DesignRow& row : out.designs)
    if (p.vessels.size() < max_vessels) p.vessels.push_back(vessel_of(row, out));
  p.rim = out.fit.offered_bytes;
  p.rim_words = format_text(out.fit.offered_bytes, "B");
  arrange_contexts(in, out, run, p);
  arrange_parking(out, p);
  return p;
}

}  // namespace chapters::inference::kv_cache
