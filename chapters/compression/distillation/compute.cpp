#include <algorithm>
#include <cmath>
#include <optional>

#include "chapters/compression/distillation/lab.h"
#include "widgets/number/number.h"

namespace chapters::compression::distillation {
namespace {

using models::digit_classes;
using widgets::format_text;

constexpr std::size_t curve_digits = 20;  ///< over which the gradient curves are averaged

std::size_t passes(const Inputs& in) {
  return std::max<std::size_t>(
      1, view_counts[static_cast<std::size_t>(in.views)] / digit_counts[static_cast<std::size_t>(in.digits)]);
}
std::size_t width_of(Width w) { return models::study_widths[1 + static_cast<std::size_t>(w)]; }

models::DigitSet first_of(const models::DigitSet& all, std::size_t n) {
  models::DigitSet out;
  out.pixels.assign(all.pixels.begin(), all.pixels.begin() + static_cast<std::ptrdiff_t>(n * models::digit_pixels));
  out.labels.assign(all.labels.begin(), all.labels.begin() + static_cast<std::ptrdiff_t>(n));
  return out;
}

models::SmallNetwork start_of(const Inputs& in, Width w) {
  const std::size_t width = width_of(w);
  return models::make_network({&width, 1}, static_cast<std::uint64_t>(in.seed) + 100);
}

/// Trains one student; nothing when it was stopped.
std::optional<models::SmallNetwork> teach(const Inputs& in, Width w, const models::DigitSet& digits,
                                          const models::Distillation& teacher, Progress& progress, double begin,
                                          double part) {
  models::Training how{.epochs = passes(in), .seed = static_cast<std::uint64_t>(in.seed) + 7, .teacher = teacher};
  how.go_on = [&](double share) {
    progress.fraction = begin + part * share;
    return !progress.cancelled.load();
  };
  models::Trained trained = models::train(start_of(in, w), digits, how);
  if (trained.stopped) return std::nullopt;
  return std::move(trained.network);
}

std::vector<double> logits_of(const models::SmallNetwork& network, std::span<const float> picture) {
  models::Pass pass(network);
  models::forward(network, picture, pass);
  return {pass.logits.begin(), pass.logits.begin() + digit_classes};
}

std::int64_t largest_of(const std::vector<double>& v) { return std::max_element(v.begin(), v.end()) - v.begin(); }

/// Mean length of each part of the gradient over some held-out digits, for the student before its first step.
void take_gradients(Outputs& out, const Inputs& in, const models::NetworkStudy& study) {
  const models::SmallNetwork start = start_of(in, in.student);
  std::vector<std::vector<double>> teacher, student;
  for (std::size_t i = 0; i < curve_digits; ++i) {
    teacher.push_back(logits_of(study.networks[0], study.held_out.picture(i)));
    student.push_back(logits_of(start, study.held_out.picture(i)));
  }
  for (int k = 0; k <= 12; ++k) {
    const double t = std::pow(20.0, k / 12.0);
    double with = 0, without = 0, hard = 0;
    for (std::size_t i = 0; i < curve_digits; ++i) {
      const auto terms = models::distillation_terms(teacher[i], student[i], study.held_out.labels[i], t, in.alpha);
      with += models::norm(terms.soft_gradient);
      without += models::norm(terms.soft_gradient_plain);
      hard += models::norm(terms.hard_gradient);
    }
    const double n = static_cast<double>(curve_digits);
    out.temperatures.push_back(t);
    out.with_square.push_back(with / n);
    out.without_square.push_back(without / n);
    out.hard_curve.push_back(hard / n);
  }
}

void take_example(Outputs& out, const Inputs& in, const models::NetworkStudy& study,
                  const models::SmallNetwork& student) {
  const auto index = static_cast<std::size_t>(in.example - 1);
  const auto picture = study.held_out.picture(index);
  const std::vector<double> t = logits_of(study.networks[0], picture), s = logits_of(student, picture);
  const auto terms = models::distillation_terms(t, s, study.held_out.labels[index], in.temperature, in.alpha);
  const std::vector<double> sharp = models::softened(t, 1);
  out.picture.assign(picture.begin(), picture.end());
  out.label = study.held_out.labels[index];
  out.teacher_says = largest_of(t);
  out.student_says = largest_of(s);
  out.teacher_top = 100 * *std::max_element(sharp.begin(), sharp.end());
  out.teacher_top_soft = 100 * *std::max_element(terms.teacher.begin(), terms.teacher.end());
  out.entropy = models::entropy_bits(sharp);
  out.entropy_soft = models::entropy_bits(terms.teacher);
  out.hard_loss = terms.hard_loss;
  out.kl_teacher_student = terms.kl_teacher_student;
  out.kl_student_teacher = terms.kl_student_teacher;
  out.soft_loss = terms.soft_loss;
  out.loss = terms.loss;
  out.hard_gradient = models::norm(terms.hard_gradient);
  out.soft_gradient = models::norm(terms.soft_gradient);
  out.soft_gradient_plain = models::norm(terms.soft_gradient_plain);
  out.gradient_ratio = in.temperature * in.temperature;
  out.hot_gradient = models::norm(models::hot_gradient(t, s, in.alpha));
  out.bars = {sharp, terms.teacher, terms.student};
  for (auto& bar : out.bars)
    for (double& v : bar) out.most_likely = std::max(out.most_likely, v *= 100);
}

void tell(Outputs& out, const Inputs& in) {
  const std::string t = format_text(in.temperature, "");
  out.bar_names = {"teacher, T = 1", "teacher, T = " + t, "student, T = " + t};
  if (in.train == Train::none)
    out.verdict = "A student of " + std::to_string(width_of(in.student)) + " units before its first step";
  else
    out.verdict = std::to_string(width_of(in.student)) + " units, " +
                  std::to_string(digit_counts[static_cast<std::size_t>(in.digits)]) +
                  " digits: " + format_text(out.labels_accuracy, "%") + " from labels, " +
                  format_text(out.distilled_accuracy, "%") + " distilled";
  out.story = "T = " + t + " softens the teacher's first choice from " + format_text(out.teacher_top, "%") + " to " +
              format_text(out.teacher_top_soft, "%") + ": " + format_text(out.entropy_soft, "") + " bits.";
  out.loss_line = "loss " + format_text(out.loss, "") + " = " + format_text(in.alpha, "") + " x " +
                  format_text(out.hard_loss, "") + " (label) + " + format_text(1 - in.alpha, "") + " x " +
                  format_text(out.soft_loss, "") + " (T² KL)";
  out.says_lines = {"a " + std::to_string(out.label), "teacher says " + std::to_string(out.teacher_says),
                    "student says " + std::to_string(out.student_says)};
  out.pull_line = "on the student before its first step, mean of " + std::to_string(curve_digits) + " digits";
  out.teacher_line = "teacher, " + format_text(models::study_training, "") + " digits";
  out.teacher_info = std::to_string(models::study_widths[0]) + " units, float32";
  out.students_line = "each sees " + std::to_string(digit_counts[static_cast<std::size_t>(in.digits)]) + " digits " +
                      std::to_string(out.steps) + " times; accuracy on " + format_text(models::study_held_out, "") +
                      " others";
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress, Memory& memory) {
  Outputs out;
  const auto lesson = memory.lessons.get(in.seed, [&](std::int64_t seed) -> std::shared_ptr<const Lesson> {
    auto fresh = std::make_shared<Lesson>();
    fresh->study = models::make_study(static_cast<std::uint64_t>(seed), {}, 1, false, [&](double share) {
      progress.fraction = 0.3 * share;
      return !progress.cancelled.load();
    });
    if (!fresh->study) return nullptr;
    fresh->teacher_logits =
        models::logits_of(fresh->study->networks[0], first_of(fresh->study->training, digit_counts.back()));
    return fresh;
  });
  const auto stopped = [] {
    Outputs none;
    none.reason = "The training was stopped before its end.";
    return none;
  };
  if (!lesson) return stopped();
  const models::NetworkStudy& study = *lesson->study;
  const std::size_t n = digit_counts[static_cast<std::size_t>(in.digits)];
  const models::DigitSet digits = first_of(study.training, n);
  const models::Distillation teacher{.teacher_logits = {lesson->teacher_logits.data(), n * digit_classes},
                                     .temperature = in.temperature,
                                     .alpha = in.alpha};
  out.teacher_accuracy = 100 * study.accuracies[0];
  out.steps = static_cast<std::int64_t>(passes(in));
  models::SmallNetwork student = start_of(in, in.student);
  double begin = 0.3;
  for (const Width w : {Width::four, Width::eight, Width::sixteen}) {
    const models::SmallNetwork start = start_of(in, w);
    const double bytes = models::packed_size(start, models::Pruning::none, {}, 0).total_bytes();
    if (w == in.student) {
      out.student_bytes = bytes;
      out.times_smaller = study.original_bytes / bytes;
    }
    if (in.train == Train::none || (in.train == Train::chosen && w != in.student)) continue;
    const auto labels =
        memory.labels.get({in.seed, in.digits, in.views, w}, [&](const LabelsKey&) -> std::shared_ptr<const double> {
          const auto alone = teach(in, w, digits, {}, progress, begin, 0.1);
          return alone ? std::make_shared<const double>(models::accuracy(*alone, study.held_out)) : nullptr;
        });
    auto distilled = teach(in, w, digits, teacher, progress, begin + 0.1, 0.1);
    if (!labels || !distilled) return stopped();
    begin += 0.2;
    StudentRow row{static_cast<std::int64_t>(width_of(w)),
                   static_cast<std::int64_t>(start.weight_count()),
                   bytes,
                   100 * *labels,
                   100 * models::accuracy(*distilled, study.held_out),
                   0};
    row.gain = row.distilled_accuracy - row.labels_accuracy;
    out.widths.push_back(static_cast<double>(row.hidden));
    out.labels_curve.push_back(row.labels_accuracy);
    out.distilled_curve.push_back(row.distilled_accuracy);
    if (w == in.student) {
      out.labels_accuracy = row.labels_accuracy;
      out.distilled_accuracy = row.distilled_accuracy;
      out.gain = row.gain;
      student = std::move(*distilled);
    }
    out.students.push_back(row);
  }
  if (in.train == Train::none) out.distilled_accuracy = 100 * models::accuracy(student, study.held_out);
  take_example(out, in, study, student);
  take_gradients(out, in, study);
  tell(out, in);
  widgets::Fingerprint mark;
  mark.add(out.loss), mark.add(out.hot_gradient), mark.add(out.with_square.back()), mark.add(out.distilled_accuracy);
  for (const auto& row : out.students) mark.add(row.distilled_accuracy), mark.add(row.labels_accuracy);
  out.version = mark.value | 1;
  return out;
}

}  // namespace chapters::compression::distillation
