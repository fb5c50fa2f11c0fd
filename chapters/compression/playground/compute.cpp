#include <algorithm>

#include "chapters/compression/playground/lab.h"
#include "chapters/mechanism/catalog.h"
#include "widgets/number/number.h"

namespace chapters::compression::playground {
namespace {

using widgets::format_text;

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

void take_sweep(Outputs& out, const models::NetworkStudy& study, double goal) {
  for (const auto& p : study.sweep) {
    const auto kind = static_cast<std::size_t>(p.plan.pruning);
    out.sweep_bytes[kind].push_back(p.bytes);
    out.sweep_accuracy[kind].push_back(100 * p.accuracy);
    if (100 * p.accuracy > goal && (out.goal_bytes <= 0 || p.bytes < out.goal_bytes)) {
      out.goal_bytes = p.bytes;
      out.goal_accuracy = 100 * p.accuracy;
    }
  }
  if (out.goal_bytes > 0) out.goal_compression = study.original_bytes / out.goal_bytes;
  for (const std::size_t i : study.front) {
    const auto& p = study.sweep[i];
    out.front.push_back({p.bytes, 100 * p.accuracy, static_cast<std::int64_t>(models::study_widths[p.width]),
                         p.plan.weights.bits, pruning_words(p.plan)});
    out.front_bytes.push_back(p.bytes);
    out.front_accuracy.push_back(100 * p.accuracy);
  }
  out.on_front = std::none_of(study.sweep.begin(), study.sweep.end(), [&](const auto& p) {
    return p.bytes <= out.size_bytes && 100 * p.accuracy >= out.accuracy;
  });
}

void take_size(Outputs& out, const models::PackedSize& size) {
  out.size_bytes = size.total_bytes();
  out.values_bytes = size.values_bytes;
  out.indices_bytes = size.indices_bytes;
  out.scales_bytes = size.scales_bytes;
  out.biases_bytes = size.biases_bytes;
  using widgets::Tint;
  out.before = {{{
      .label = "float32",
      .value = out.original_bytes,
      .tint = Tint{},
      .info = "four bytes a weight and a bias",
  }}};
  out.after = {{{
                    .label = "values",
                    .value = out.values_bytes,
                    .tint = Tint::series(0),
                    .info = "weights kept, packed",
                },
                {
                    .label = "indices",
                    .value = out.indices_bytes,
                    .tint = Tint::series(1),
                    .info = "where they belong",
                },
                {
                    .label = "scales",
                    .value = out.scales_bytes,
                    .tint = Tint::series(2),
                    .info = "float32, per channel or layer, and of activations",
                },
                {
                    .label = "biases",
                    .value = out.biases_bytes,
                    .tint = Tint::series(3),
                    .info = "float32",
                }}};
}

void tell(Outputs& out, const Inputs& in) {
  out.verdict = format_text(out.size_bytes, "B") + ", " + format_text(out.compression, "") + " times smaller: reads " +
                format_text(out.accuracy, "%") + ", goal of " + format_text(in.goal, "%") +
                (out.goal_met ? " met" : " missed");
  out.story =
      "Float32: " + format_text(out.original_bytes, "B") + " and " + format_text(out.original_accuracy, "%") + ". ";
  out.story += out.goal_bytes > 0 ? "Smallest of the sweep above the goal: " + format_text(out.goal_bytes, "B") +
                                        " at " + format_text(out.goal_accuracy, "%") + "."
                                  : "Nothing in the sweep is above the goal.";
  if (out.goal_met && (out.goal_bytes <= 0 || out.size_bytes < out.goal_bytes)) out.story += " Yours is smaller.";
  out.digits_line = "the first forty held out; red: misread, and as what";
  out.weights_line = std::to_string(out.hidden) + " units; blue above zero, orange below, empty: zero";
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress, Studies& studies) {
  Outputs out;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!chip) {
    out.reason = "There is no chip called '" + in.chip + "'.";
    return out;
  }
  const auto go_on = [&](double share) {
    progress.fraction = share;
    return !progress.cancelled.load();
  };
  out.study = studies.get({in.seed, in.difficulty}, [&](const StudyKey& key) {
    return models::make_study(static_cast<std::uint64_t>(key.seed), style_of(key.difficulty),
                              models::study_widths.size(), true, go_on);
  });
  if (!out.study) {
    out.reason = "The training was stopped before its end.";
    return out;
  }
  const models::NetworkStudy& study = *out.study;
  const models::Plan plan = plan_of(in);
  const auto which = static_cast<std::size_t>(in.student);
  models::Compressed c = models::compress(study.networks[which], study.training, study.held_out, plan, &out.guesses);
  out.accuracy = 100 * c.accuracy;
  out.original_accuracy = 100 * study.accuracies[0];
  out.accuracy_lost = out.original_accuracy - out.accuracy;
  out.student_accuracy = 100 * study.accuracies[which];
  out.training_accuracy = 100 * study.teacher_training_accuracy;
  out.wrong = std::lround((1 - c.accuracy) * static_cast<double>(study.held_out.size()));
  out.original_bytes = study.original_bytes;
  take_size(out, c.size);
  out.compression = out.original_bytes / out.size_bytes;
  out.kept = 100 * c.kept;
  out.hidden = static_cast<std::int64_t>(c.network.layers.front().outputs);
  out.weights = static_cast<std::int64_t>(c.network.weight_count());
  out.multiply_adds = static_cast<std::int64_t>(c.network.multiply_adds());
  out.bits_per_weight = 8 * out.size_bytes / static_cast<double>(out.weights);
  out.goal_met = out.accuracy > in.goal;
  const auto speed = models::compression_speed(study.networks[0], c, plan, *chip);
  out.speed_memory = speed.memory_bound;
  out.speed_compute = speed.compute_bound;
  out.first_loss = study.losses[0].front();
  out.last_loss = study.losses[0].back();
  take_sweep(out, study, in.goal);
  tell(out, in);
  for (const float w : c.network.layers.front().weights) out.largest_weight = std::max(out.largest_weight, std::abs(w));
  widgets::Fingerprint mark;
  mark.add(out.accuracy), mark.add(out.size_bytes), mark.add(static_cast<std::uint64_t>(in.seed)),
      mark.add(static_cast<std::uint64_t>(in.difficulty));
  out.version = mark.value | 1;
  out.network = std::move(c.network);
  return out;
}

}  // namespace chapters::compression::playground
