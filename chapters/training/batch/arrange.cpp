#include <algorithm>
#include <functional>

#include "chapters/training/batch/lab.h"
#include "widgets/number/number.h"

namespace chapters::training::batch {
namespace {

/// The pieces' gradients come to that of the whole batch, apart from rounding.
bool same_gradient(const Inputs& in) {
  const bool even = !in.uneven && in.batch % in.micro_batches == 0;
  return in.rule == models::AccumulationRule::by_count || (in.rule == models::AccumulationRule::mean_of_means && even);
}

std::string answer_of(const Inputs& in, const Outputs& out, const Run& run) {
  const std::string pieces =
      std::to_string(in.micro_batches) + (in.micro_batches == 1 ? " piece ends " : " pieces end ");
  std::string first =
      pieces + widgets::figure(out.weights_apart, "%", 2) + " from the batch of " + std::to_string(in.batch);
  if (run.pieces.diverged && !run.whole.diverged)
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
  // What the fit says holds for plain SGD at the rate that was best for each batch, whatever rate this run has.
  return first + "; with a critical batch of " + widgets::figure(out.critical_batch, "", 2) + " a batch of " +
         std::to_string(in.batch) + ", at its best rate, takes " + widgets::figure(out.steps_over, "", 2) +
         "\xC3\x97 the fewest steps and " + widgets::figure(out.examples_over, "", 2) + "\xC3\x97 the fewest examples.";
}

/// The loss of both trainings by step; one that diverged ends before the other.
void arrange_losses(const Inputs& in, const Run& run, Picture& p) {
  widgets::Curve whole{.label = "batch of " + std::to_string(in.batch),
                       .info = "one pass",
                       .tint = widgets::Tint::series(0),
                       .width = 6,
                       .named = false};
  widgets::Curve pieces{
      .label = std::to_string(in.micro_batches) + (in.micro_batches == 1 ? " piece" : " pieces, accumulated"),
      .info = "one pass for each piece",
      .tint = widgets::Tint::strong(),
      .width = 1.6f,
      .dashed = true,
      .named = false};
  const std::size_t n = std::max(run.whole.loss.size(), run.pieces.loss.size());
  const auto fill = [&](const std::vector<double>& losses, widgets::Curve& curve) {
    for (std::size_t i = 0; i < n; ++i) {
      const double loss = i < losses.size() ? losses[i] : std::nan("");
      curve.add(static_cast<double>(i + 1), loss);
      if (std::isfinite(loss)) p.most_loss = std::max(p.most_loss, std::min(loss, 6.0));
    }
  };
  fill(run.whole.loss, whole);
  fill(run.pieces.loss, pieces);
  p.losses = {std::move(whole), std::move(pieces)};
}

}  // namespace

std::int64_t Picture::batch_of(double steps) const {
  const auto at = std::lower_bound(least_steps_of_batch.begin(), least_steps_of_batch.end(), steps, std::greater<>());
  return first_batch + (at - least_steps_of_batch.begin());
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out, run);
  arrange_losses(in, run, p);
  p.tried = {.kind = widgets::Curve::Kind::dots,
             .label = "trained, by batch",
             .info = "the best of the rates tried",
             .tint = widgets::Tint::series(1)};
  for (const CostRow& c : out.costs) {
    p.tried.add(c.steps, c.examples);
    p.tried.labels.push_back(std::to_string(c.batch));
  }
  p.fit = {.label = "fit", .info = "(steps / fewest - 1)(examples / fewest - 1) = 1", .named = false};
  if (out.critical_batch > 0)
    for (double batch = 0.5; batch < 1500; batch *= 1.15)
      p.fit.add(out.steps_min * steps_over(out.critical_batch, batch),
                out.examples_min * examples_over(out.critical_batch, batch));
  constexpr std::int64_t least = 4, most = 256;  // the range of the input
  p.first_batch = std::max(least, in.micro_batches);
  for (std::int64_t batch = p.first_batch; batch < most; ++batch)
    p.least_steps_of_batch.push_back(out.steps_min * steps_over(out.critical_batch, static_cast<double>(batch) + 0.5));
  return p;
}

}  // namespace chapters::training::batch
