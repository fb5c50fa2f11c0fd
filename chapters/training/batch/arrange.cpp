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

using widgets::figure;

std::string count(std::int64_t n) { return figure(std::to_string(n)); }

/// Are the pieces the batch, and if not, why.
std::string verdict_of(const Inputs& in, const Outputs& out, const Run& run) {
  if (run.pair.whole.diverged)
    return "A batch of " + count(in.batch) + " diverges at a rate of " + figure(in.rate, "") + ", however it is cut.";
  if (in.micro_batches == 1)
    return "A batch of " + count(in.batch) + " in one piece is the batch itself: both trainings are the same.";
  const std::string pieces = count(in.micro_batches) + (in.uneven ? " uneven pieces" : " pieces"),
                    batch = "one batch of " + count(in.batch), apart = figure(out.weights_apart, "%", 2);
  if (run.pair.pieces.diverged)
    return pieces + (in.rule == models::AccumulationRule::summed ? " whose means are added up" : "") +
           " diverge where " + batch + " trains.";
  if (out.weights_apart < rounding_percent)
    return pieces + " train like " + batch + ", up to rounding: after " + count(in.steps) +
           " steps their weights are " + apart + " apart.";
  if (same_gradient(in))
    return pieces + " have the gradients of " + batch + ", but at a rate of " + figure(in.rate, "") +
           " rounding grows: the weights end " + apart + " apart.";
  if (in.rule == models::AccumulationRule::summed)
    return pieces + " whose means are added up train at " + figure(std::to_string(in.micro_batches) + "\xC3\x97") +
           " the rate: their weights end " + apart + " away from those of " + batch + ".";
  return pieces + " whose means count the same are another training: their weights end " + apart +
         " away from those of " + batch + ".";
}

/// Where the batch stands on the trade. It holds for plain SGD at the rate that was best for each batch.
std::string price_of(const Inputs& in, const Outputs& out) {
  if (!(out.critical_batch > 0)) return "The search found no critical batch here: the target was not reached.";
  const double ratio = static_cast<double>(in.batch) / out.critical_batch;
  return std::string("This batch is ") +
         (ratio > 1.25  ? "above"
          : ratio < 0.8 ? "below"
                        : "about") +
         " the critical one of " + figure(out.critical_batch, "", 2) + ": at its best rate it takes " +
         figure(out.steps_over, widgets::times_unit, 2) + " the fewest steps and " +
         figure(out.examples_over, widgets::times_unit, 2) + " the fewest examples.";
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
  const std::size_t n = std::max(run.pair.whole.loss.size(), run.pair.pieces.loss.size());
  const auto fill = [&](const std::vector<double>& losses, widgets::Curve& curve) {
    for (std::size_t i = 0; i < n; ++i) {
      const double loss = i < losses.size() ? losses[i] : std::nan("");
      curve.add(static_cast<double>(i + 1), loss);
      if (std::isfinite(loss)) p.most_loss = std::max(p.most_loss, std::min(loss, 6.0));
    }
  };
  fill(run.pair.whole.loss, whole);
  fill(run.pair.pieces.loss, pieces);
  p.losses = {std::move(whole), std::move(pieces)};
}

/// How far the weights of both are apart, step by step, over the band in which that is rounding.
void arrange_apart(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const auto last = static_cast<double>(in.steps);
  widgets::Curve band{.kind = widgets::Curve::Kind::area,
                      .label = "rounding",
                      .info = "FP32 rounds each sum; the order of the additions differs",
                      .tint = widgets::Meaning::idle,
                      .alpha = 0.5f,
                      .width = 1.5f,
                      .given = true,
                      .x = {0, last},
                      .y = {rounding_percent, rounding_percent},
                      .lower = {min_apart_percent, min_apart_percent}};
  widgets::Curve apart{.label = "distance of the weights",
                       .info = "|a - b| / |a| after each step",
                       .output = "weights_apart",
                       .tint = widgets::Tint::yours(),
                       .width = 2.5f,
                       .named = false};
  p.same = true;
  for (std::size_t i = 0; i < run.pair.apart.size(); ++i) {
    const double percent = 100 * run.pair.apart[i];
    p.same &= percent == 0;
    apart.add(static_cast<double>(i + 1), percent > 0 && std::isfinite(percent)
                                              ? std::clamp(percent, min_apart_percent, max_apart_percent)
                                              : std::nan(""));
  }
  p.apart = {std::move(band), std::move(apart)};
  p.apart_words = widgets::format_text(out.weights_apart, "%", 2);
}

/// This run at its own rate, on the line that its batch draws through the trade: how far it came.
void arrange_own(const Inputs& in, const Outputs& out, Picture& p) {
  const double batch = static_cast<double>(in.batch), steps = out.examples_read / batch;
  widgets::Curve path{.label = "this run",
                      .info = "batch x steps, at the rate that is set",
                      .tint = widgets::Tint::yours(),
                      .width = 4,
                      .named = false};
  for (const double part : {0.35, 1.0}) path.add(std::max(1.0, part * steps), batch * std::max(1.0, part * steps));
  widgets::Curve end{.kind = widgets::Curve::Kind::dots,
                     .label = "its end",
                     .output = "held_out_loss",
                     .tint = widgets::Tint::yours(),
                     .marker = widgets::Marker::diamond,
                     .legend = false};
  end.add(steps, out.examples_read);
  const bool reached = std::isfinite(out.target_step);
  end.labels.push_back(out.diverged ? std::string("diverged")
                       : reached    ? "there in " + widgets::format_text(out.target_step, "")
                                    : "loss " + widgets::format_text(out.held_out_loss, "", 2));
  p.own = {std::move(path), std::move(end)};
  p.examples_price = widgets::format_text(out.examples_over, widgets::times_unit, 2);
  p.price = "your batch: " + widgets::format_text(out.steps_over, "", 2) + "\xC3\x97 the steps, " + p.examples_price +
            " the examples";
}

}  // namespace

std::int64_t Picture::batch_of(double steps) const {
  const auto at = std::lower_bound(least_steps_of_batch.begin(), least_steps_of_batch.end(), steps, std::greater<>());
  return first_batch + (at - least_steps_of_batch.begin());
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = verdict_of(in, out, run) + "\n" + price_of(in, out);
  arrange_losses(in, run, p);
  arrange_apart(in, out, run, p);
  arrange_own(in, out, p);
  p.tried = {.kind = widgets::Curve::Kind::dots,
             .label = "loss " + widgets::format_text(out.target_nats, "", 2) + ", by batch",
             .info = "trained until that loss on held-out digits, at the best of the rates tried",
             .tint = widgets::Tint::series(1)};
  double least_read = p.own.front().y.front();
  for (const CostRow& c : out.costs) {
    p.tried.add(c.steps, c.examples);
    p.tried.labels.push_back(std::to_string(c.batch));
    least_read = std::min(least_read, c.examples);
  }
  p.least_examples = 0.55 * least_read;
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
