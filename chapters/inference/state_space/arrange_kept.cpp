#include <algorithm>
#include <cmath>

#include "chapters/inference/state_space/lab.h"
#include "chapters/mechanism/short_name.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

/// The words of the picture of costs, and the answers of both pictures.
namespace chapters::inference::state_space {

using widgets::figure, widgets::format_text, widgets::Meaning, widgets::Tint;

namespace {

constexpr std::size_t name_letters = 26;

std::string counted(double layers, const char* with, bool first) {
  if (!(layers > 0)) return {};
  const std::string words = format_text(layers, "");
  return (first ? words + (layers == 1 ? " layer " : " layers ") : ", " + words + " ") + with;
}

std::string layers_of(const ModelCost& m) {
  std::string words = short_name(m.name, name_letters) + ": ";
  bool first = true;
  for (const auto& [layers, with] :
       {std::pair{m.state_layers, "with a state"}, std::pair{m.attention_layers, "with attention"},
        std::pair{m.windowed_layers, "with attention to a window"}}) {
    words += counted(layers, with, first);
    first = first && !(layers > 0);
  }
  return words;
}

CostSide side_of(const ModelCost& m) {
  const double cache = m.cache_bytes.empty() ? 0 : m.cache_bytes.back();
  return {.layers = layers_of(m),
          .kept = format_text(m.fixed_bytes + cache, "B", 3),
          .step = format_text(m.step.total_s(), "s", 3),
          .name = short_name(m.name, name_letters)};
}

/// What the trained state finds, as a line of its own.
std::string found_line(const Outputs& out) {
  return "Trained here in one layer, the state finds " + figure(out.recall, "%") + " of the pairs and the needle in " +
         figure(out.needle_recall, "%") + " of streams; attention " + figure(out.attention_recall, "%") + " and " +
         figure(out.attention_needle, "%") + ".";
}

std::string short_found_line(const Outputs& out) {
  return "A state trained here in one layer finds " + figure(out.recall, "%") + " of its pairs; attention finds " +
         figure(out.attention_recall, "%") + ".";
}

std::string cost_line(Shown shown, const Outputs& out) {
  const std::string name = short_name(out.model_name, name_letters);
  if (!out.fits)
    return name + " does not fit: " + figure(out.memory_bytes, "B") + " against the " + figure(out.offered_bytes, "B") +
           " of the chips; its step would take " + figure(out.step_s, "s") + ".";
  if (!out.reference_fits)
    return "A step of " + name + " takes " + figure(out.step_s, "s") +
           "; the attention model does not fit: " + figure(out.reference_memory_bytes, "B") + " against " +
           figure(out.offered_bytes, "B") + ".";
  if (shown == Shown::cost)
    return name + " keeps " + figure(out.sequence_bytes, "B") + " of a sequence, the attention model " +
           figure(out.reference_bytes, "B") + "; their steps take " + figure(out.step_s, "s") + " and " +
           figure(out.reference_step_s, "s") + ".";
  return "A step of " + name + " takes " + figure(out.step_s, "s") + ", with " + figure(out.sequence_bytes, "B") +
         " a sequence; the attention model's takes " + figure(out.reference_step_s, "s") + ".";
}

}  // namespace

void arrange_kept(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  p.own = side_of(run.own);
  p.reference = side_of(run.reference);
  p.context_words = "context of " + format_text(models::as_double(in.context), "", 7) + " tokens";
  const double share = out.equal_tokens / std::max(1.0, models::as_double(in.context));
  if (std::isfinite(share) && share > 0 && share <= 1) {
    p.equal_share = share;
    p.equal_words = "keeps more from " + format_text(out.equal_tokens, "", 3) + " tokens on";
  }
  const StepParts &a = run.own.step, &b = run.reference.step;
  p.moved = {{.label = "weights", .tint = Meaning::memory_bound}};
  if (a.states_s + b.states_s > 0) p.moved.push_back({.label = "states, read and written", .tint = Tint::yours()});
  if (a.cache_s + b.cache_s > 0) p.moved.push_back({.label = "keys and values", .tint = Meaning::kv_cache});
  if (a.arithmetic_s + b.arithmetic_s > 0)
    p.moved.push_back({.label = "arithmetic beyond that", .tint = Meaning::compute_bound});
}

std::string answer_of(Shown shown, const Outputs& out) {
  if (shown == Shown::cost) return cost_line(shown, out) + "\n" + short_found_line(out);
  return found_line(out) + "\n" + cost_line(shown, out);
}

}  // namespace chapters::inference::state_space
