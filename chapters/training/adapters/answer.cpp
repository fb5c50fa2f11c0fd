#include <string>
#include <utility>

#include "chapters/training/adapters/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::adapters {

using widgets::figure;

namespace {

/// What the FLOPs do, in words that hold where a few are added.
std::string flops_words(double saved) {
  if (saved >= 0.5) return figure(saved, "%") + " of the FLOPs go";
  if (saved > -0.5) return "the FLOPs stay as they are";
  return "there are more FLOPs";
}

std::string words_of(Method method) {
  return method == Method::bottleneck ? "adapter layers" : std::string(method_name(method));
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string served = out.served_fit
                                 ? "LoRA adapters served together slow decode by " + figure(out.slowdown, "%", 2) + "."
                                 : "weights, cache and adapters to serve do not fit one chip.";
  const std::string fitted = "On the small network rank " + figure(std::to_string(in.fit_rank)) + " is good for " +
                             figure(out.won_share, "%", 2) + " of the fall in loss; " + served;
  if (in.method == Method::full)
    return "All weights are trained: gradients and states take " + figure(out.full_states_bytes, "B") + " of " +
           figure(out.memory_bytes, "B") + (out.fits ? "." : ", which do not fit.") + "\n" + fitted;
  const std::string memory = "Training with " + words_of(in.method) + " needs " + figure(out.memory_bytes, "B") +
                             " instead of " + figure(out.full_memory_bytes, "B");
  return memory + (out.fits ? "" : ", still too much") + "; " + flops_words(out.flops_saved) + ".\n" + fitted;
}

}  // namespace chapters::training::adapters
