#include "chapters/inference/attention_patterns/lab.h"
#include "chapters/mechanism/short_name.h"
#include "widgets/number/number.h"

namespace chapters::inference::attention_patterns {
namespace {

using widgets::figure;

std::string tokens_of(double n) { return figure(n, "") + (n == 1 ? " token" : " tokens"); }
std::string layers_of(double n) { return figure(n, "") + (n == 1 ? " layer" : " layers"); }

/// "of `131,072` tokens"
std::string of_all(const Inputs& in) { return "of " + tokens_of(static_cast<double>(in.sequence)); }

std::string model_name(const Inputs& in) {
  const auto model = find_model(in.model);
  return model ? short_name((*model)->name, 32) : std::string("the model");
}

bool sees_all(const Inputs& in, const Outputs& out) { return out.reach_tokens >= static_cast<double>(in.sequence); }

/// Where whole layers lie between the others, they bring everything.
std::string mixed_verdict(const Inputs& in, const Outputs& out, const std::string& subject) {
  return subject + " in " + figure(out.part_layers, "") + " of " + layers_of(out.stack_layers) +
         " hides nothing: whole layers still bring all " + tokens_of(static_cast<double>(in.sequence)) + ".";
}

std::string window_verdict(const Inputs& in, const Outputs& out) {
  const std::string s = "A window of " + figure(static_cast<double>(in.window), "") + " can reach " +
                        (sees_all(in, out) ? "all " : "") + tokens_of(out.reach_tokens) + " in " +
                        layers_of(out.stack_layers);
  if (!(out.near_tokens < out.reach_tokens)) return s + ".";
  return s + "; with even attention nearly all comes from the last " + figure(out.near_tokens, "") + ".";
}

std::string block_verdict(const Inputs& in, const Outputs& out) {
  const std::string subject = "Blocks of " + figure(static_cast<double>(in.window), "");
  if (in.blocks_back == 0 && in.blocks_first == 0 && in.blocks_random == 0)
    return subject + " stay apart: after " + layers_of(out.stack_layers) + " the last token has heard " +
           tokens_of(out.reach_tokens) + " " + of_all(in) + ".";
  return subject + " with others next to them reach " +
         (sees_all(in, out) ? "all " + tokens_of(out.reach_tokens) : tokens_of(out.reach_tokens) + " " + of_all(in)) +
         " in " + layers_of(out.stack_layers) + ".";
}

std::string global_verdict(const Inputs& in, const Outputs& out) {
  const std::string subject = "Global tokens every " + figure(static_cast<double>(in.global_every), "");
  if (sees_all(in, out))
    return subject + " let all " + tokens_of(out.reach_tokens) + " arrive for " + figure(out.work_share, "%") +
           " of the work; the cache still keeps " + figure(out.cache_tokens, "") + ".";
  return subject + " and a window bring " + tokens_of(out.reach_tokens) + " " + of_all(in) + " in " +
         layers_of(out.stack_layers) + ".";
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string all = tokens_of(static_cast<double>(in.sequence));
  const bool mixed = out.full_layers > 0 && out.full_layers < out.stack_layers;
  switch (in.pattern) {
    case Pattern::causal:
      return "Causal attention sees all " + all + " in one layer: no pair is skipped, and all are kept.";
    case Pattern::window:
      return mixed ? mixed_verdict(in, out, "A window of " + figure(static_cast<double>(in.window), ""))
                   : window_verdict(in, out);
    case Pattern::global:
      return mixed ? mixed_verdict(in, out, "A window with global tokens") : global_verdict(in, out);
    case Pattern::dilated:
      if (mixed) return mixed_verdict(in, out, "A dilated window");
      return "A dilated window, " + figure(static_cast<double>(in.dilation), "") + " apart, comes " +
             tokens_of(out.back_tokens) + " back in " + layers_of(out.stack_layers) + " and hears " +
             figure(out.reach_tokens, "") + " of them.";
    case Pattern::block:
      return mixed ? mixed_verdict(in, out, "A mask of blocks of " + figure(static_cast<double>(in.window), ""))
                   : block_verdict(in, out);
    case Pattern::sinks:
      if (mixed) return mixed_verdict(in, out, "A window with sinks");
      return "A window of " + figure(static_cast<double>(in.window), "") + " and " +
             figure(static_cast<double>(in.sinks), "") + (in.sinks == 1 ? " sink" : " sinks") + " keep " +
             figure(out.cache_tokens, "") + " tokens per layer, however long the text, and reach " +
             figure(out.reach_tokens, "") + ".";
    case Pattern::document:
      if (mixed) return mixed_verdict(in, out, "A document mask");
      return "A document mask leaves " + figure(out.work_share, "%") + " of the work; the last token hears the " +
             tokens_of(out.reach_tokens) + " of its document.";
    case Pattern::model:
      break;
  }
  const std::string cache = "The cache of " + model_name(in) + " takes " + figure(out.price.cache_bytes, "B");
  if (out.full_layers == out.stack_layers)
    return cache + ": each of " + layers_of(out.stack_layers) + " looks at all " + all + ".";
  return cache + " instead of " + figure(out.causal.cache_bytes, "B") + ": " + figure(out.part_layers, "") + " of " +
         layers_of(out.stack_layers) + (out.part_layers == 1 ? " has a window." : " have a window.");
}

/// What it saves, for the model's heads on the chip.
std::string price_of(const Inputs& in, const Outputs& out) {
  if (out.work_share > 99.95 || in.pattern == Pattern::model)
    return "Attention to the prompt takes at least " + figure(out.price.prefill_s, "s") +
           (out.work_share > 99.95 ? std::string() : " instead of " + figure(out.causal.prefill_s, "s")) +
           ", the other matmuls " + figure(out.price.linear_s, "s") + ".";
  return "Attention to the prompt takes at least " + figure(out.price.prefill_s, "s") + " instead of " +
         figure(out.causal.prefill_s, "s") + ", and " + figure(out.cache_share, "%") + " of the cache is left.";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) { return verdict_of(in, out) + "\n" + price_of(in, out); }

}  // namespace chapters::inference::attention_patterns
