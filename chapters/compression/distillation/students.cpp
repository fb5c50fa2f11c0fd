#include "chapters/compression/distillation/students.h"

#include <algorithm>

namespace chapters::compression::distillation {

std::size_t hidden_units(Width width) { return models::study_widths[1 + static_cast<std::size_t>(width)]; }
std::size_t digit_count(const Inputs& in) { return digit_counts[static_cast<std::size_t>(in.digits)]; }
std::size_t pass_count(const Inputs& in) {
  return std::max<std::size_t>(1, view_counts[static_cast<std::size_t>(in.views)] / digit_count(in));
}

models::DigitSet first_digits(const models::DigitSet& all, std::size_t n) {
  models::DigitSet out;
  out.pixels.assign(all.pixels.begin(), all.pixels.begin() + static_cast<std::ptrdiff_t>(n * models::digit_pixels));
  out.labels.assign(all.labels.begin(), all.labels.begin() + static_cast<std::ptrdiff_t>(n));
  return out;
}

models::SmallNetwork untrained_student(const Inputs& in, Width width) {
  const std::size_t units = hidden_units(width);
  return models::make_network({&units, 1}, static_cast<std::uint64_t>(in.seed) + 100);
}

std::vector<double> logits_of(const models::SmallNetwork& network, std::span<const float> picture) {
  models::Pass pass(network);
  models::forward(network, picture, pass);
  return {pass.logits.begin(), pass.logits.begin() + models::digit_classes};
}

std::optional<models::SmallNetwork> train_student(const Inputs& in, Width width, const models::DigitSet& digits,
                                                  const models::Distillation& teacher, Progress& progress, double begin,
                                                  double part) {
  models::Training how{.epochs = pass_count(in), .seed = static_cast<std::uint64_t>(in.seed) + 7, .teacher = teacher};
  how.go_on = [&](double share) {
    progress.fraction = begin + part * share;
    return !progress.cancelled.load();
  };
  models::Trained trained = models::train(untrained_student(in, width), digits, how);
  if (trained.stopped) return std::nullopt;
  return std::move(trained.network);
}

std::shared_ptr<const Lesson> lesson_of(std::int64_t seed, Progress& progress, Memory& memory) {
  return memory.lessons.get(seed, [&](std::int64_t key) -> std::shared_ptr<const Lesson> {
    auto fresh = std::make_shared<Lesson>();
    fresh->study = models::make_study(static_cast<std::uint64_t>(key), {}, 1, false, [&](double share) {
      progress.fraction = 0.3 * share;
      return !progress.cancelled.load();
    });
    if (!fresh->study) return nullptr;
    fresh->teacher_logits =
        models::logits_of(fresh->study->networks[0], first_digits(fresh->study->training, digit_counts.back()));
    fresh->held_out_logits = models::logits_of(fresh->study->networks[0], fresh->study->held_out);
    return fresh;
  });
}

}  // namespace chapters::compression::distillation
