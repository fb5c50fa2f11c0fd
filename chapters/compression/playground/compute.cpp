#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "chapters/compression/playground/lab.h"
#include "chapters/mechanism/catalog.h"
#include "widgets/number/number.h"

namespace chapters::compression::playground {
namespace {

models::Plan plan_of(const Inputs& in) {
  models::Plan plan{
      .share = in.sparsity / 100,
      .weights = {.bits = static_cast<int>(in.weight_bits), .per_channel = in.per_channel},
      .activation_bits = static_cast<int>(in.activation_bits),
      .fine_tune = in.fine_tune,
      .seed = static_cast<std::uint64_t>(in.seed),
  };
  plan.pruning = static_cast<models::Pruning>(1 + static_cast<int>(in.pruning));
  if (in.pruning != Zeros::two_four && !(in.sparsity > 0)) plan.pruning = models::Pruning::none;
  return plan;
}

std::string pruning_words(const models::Plan& plan) {
  if (plan.pruning == models::Pruning::none) return "none";
  if (plan.pruning == models::Pruning::two_four) return "2 of 4";
  return widgets::format_percent(plan.share) +
         (plan.pruning == models::Pruning::neurons ? " of the units" : " of the weights");
}

double sum_of_squares(const models::SmallNetwork& network) {
  double sum = 0;
  for (const auto& layer : network.layers)
    for (const auto w : layer.weights) sum += static_cast<double>(w) * static_cast<double>(w);
  return sum;
}

/// The smallest network of the sweep above the goal, if there is one.
void find_goal(const models::NetworkStudy& study, double goal, Outputs& out) {
  for (const auto& p : study.sweep) {
    if (!(100 * p.accuracy > goal) || (out.goal_bytes > 0 && p.bytes >= out.goal_bytes)) continue;
    out.goal_bytes = p.bytes;
    out.goal_accuracy = 100 * p.accuracy;
  }
  if (out.goal_bytes > 0)
    out.goal_compression = study.original_bytes / out.goal_bytes;
  else
    out.goal_bytes = out.goal_accuracy = out.goal_compression = std::nan("");
}

void list_front(const models::NetworkStudy& study, Outputs& out) {
  for (const std::size_t i : study.front) {
    const auto& p = study.sweep[i];
    out.front.push_back({p.bytes, 100 * p.accuracy, static_cast<std::int64_t>(models::study_widths[p.width]),
                         p.plan.weights.bits, pruning_words(p.plan)});
  }
  out.on_front = std::none_of(study.sweep.begin(), study.sweep.end(), [&](const auto& p) {
    return p.bytes <= out.size_bytes && 100 * p.accuracy >= out.accuracy;
  });
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Studies& studies) {
  const auto chip = find_chip(in.chip);
  if (!chip) return {.facts = {.reason = chip.error}};
  auto run = std::make_shared<Run>();
  run->study = studies.get({in.seed, in.difficulty}, [&](const StudyKey& key) {
    return models::make_study(static_cast<std::uint64_t>(key.seed), style_of(key.difficulty),
                              models::study_widths.size(), true, [&](double share) {
                                progress.fraction = share;
                                return !progress.cancelled.load();
                              });
  });
  if (!run->study) return {.facts = {.reason = "The training was stopped before its end."}};
  const models::NetworkStudy& study = *run->study;
  Outputs out;
  const models::Plan plan = plan_of(in);
  const auto which = static_cast<std::size_t>(in.student);
  run->compressed = models::compress(study.networks[which], study.training, study.held_out, plan, &run->guesses);
  const models::Compressed& c = run->compressed;
  out.size = c.size;
  out.accuracy = 100 * c.accuracy;
  out.original_accuracy = 100 * study.accuracies[0];
  out.accuracy_lost = out.original_accuracy - out.accuracy;
  out.student_accuracy = 100 * study.accuracies[which];
  out.training_accuracy = 100 * study.teacher_training_accuracy;
  out.wrong = std::lround((1 - c.accuracy) * static_cast<double>(study.held_out.size()));
  out.original_bytes = study.original_bytes;
  out.size_bytes = c.size.total_bytes();
  out.compression = out.original_bytes / out.size_bytes;
  out.kept = 100 * c.kept;
  const double all = sum_of_squares(study.networks[which]);
  if (all > 0)
    out.squares_kept = 100 * sum_of_squares(models::prune(study.networks[which], plan.pruning, plan.share)) / all;
  out.hidden = static_cast<std::int64_t>(c.network.layers.front().outputs);
  out.weights = static_cast<std::int64_t>(c.network.weight_count());
  out.multiply_adds = static_cast<std::int64_t>(c.network.multiply_adds());
  out.bits_per_weight = 8 * out.size_bytes / static_cast<double>(out.weights);
  out.goal_met = out.accuracy > in.goal;
  out.speed = models::compression_speed(study.networks[0], c, plan, **chip);
  out.first_loss = study.losses[0].front();
  out.last_loss = study.losses[0].back();
  find_goal(study, in.goal, out);
  list_front(study, out);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::compression::playground
