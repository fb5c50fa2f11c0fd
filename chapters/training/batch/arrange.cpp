#include <algorithm>

#include "chapters/training/batch/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::batch {
namespace {

using widgets::format_text;

std::string ticked(double value, std::string_view unit, int digits = 2) {
  return "`" + format_text(value, unit, digits) + "`";
}

/// The pieces' gradients come to that of the whole batch, apart from rounding.
bool same_gradient(const Inputs& in) {
  const bool even = !in.uneven && in.batch % in.micro_batches == 0;
  return in.rule == models::AccumulationRule::by_count || (in.rule == models::AccumulationRule::mean_of_means && even);
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string pieces =
      std::to_string(in.micro_batches) + (in.micro_batches == 1 ? " piece ends " : " pieces end ");
  std::string first = pieces + ticked(out.weights_apart, "%") + " from the batch of " + std::to_string(in.batch);
  if (out.pieces.diverged && !out.whole.diverged)
    first = std::to_string(in.micro_batches) + " pieces diverge where the batch of " + std::to_string(in.batch) +
            " does not";
  else if (out.diverged)
    first = "At this rate a batch of " + std::to_string(in.batch) + " diverges";
  else
    first += in.micro_batches == 1      ? ", since it is that batch"
             : out.weights_apart < 0.01 ? ", which is rounding"
             : same_gradient(in)        ? ": rounding that so high a rate makes grow"
                                        : ", which is another training";
  first[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(first[0])));
  return first + "; with a critical batch of " + ticked(out.critical_batch, "") + " it takes " +
         ticked(out.steps_over, "") + "\xC3\x97 the fewest steps and " + ticked(out.examples_over, "") +
         "\xC3\x97 the fewest examples.";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  p.whole_name = "batch of " + std::to_string(in.batch);
  p.pieces_name = std::to_string(in.micro_batches) + (in.micro_batches == 1 ? " piece" : " pieces, accumulated");
  const std::size_t n = std::max(out.whole.loss.size(), out.pieces.loss.size());
  for (std::size_t i = 0; i < n; ++i) {
    p.step.push_back(static_cast<double>(i + 1));
    p.whole.push_back(i < out.whole.loss.size() ? out.whole.loss[i] : std::nan(""));
    p.pieces.push_back(i < out.pieces.loss.size() ? out.pieces.loss[i] : std::nan(""));
  }
  for (const std::vector<double>* run : {&p.whole, &p.pieces})
    for (const double loss : *run)
      if (std::isfinite(loss)) p.most_loss = std::max(p.most_loss, std::min(loss, 6.0));
  for (const CostRow& c : out.costs) {
    p.tried_steps.push_back(c.steps);
    p.tried_examples.push_back(c.examples);
    p.tried_names.push_back(std::to_string(c.batch));
  }
  p.tried_labels.assign(p.tried_names.begin(), p.tried_names.end());
  if (out.critical_batch > 0)
    for (double batch = 0.5; batch < 1500; batch *= 1.15) {
      p.fit_steps.push_back(out.steps_min * (1 + out.critical_batch / batch));
      p.fit_examples.push_back(out.examples_min * (1 + batch / out.critical_batch));
    }
  return p;
}

}  // namespace chapters::training::batch
