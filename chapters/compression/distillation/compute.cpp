#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "chapters/compression/distillation/students.h"

namespace chapters::compression::distillation {
namespace {

chapters::Computed<Outputs, Run> stopped() { return {.facts = {.reason = "The training was stopped before its end."}}; }

std::int64_t largest_of(const std::vector<double>& v) { return std::max_element(v.begin(), v.end()) - v.begin(); }

constexpr std::size_t curve_digits = 20;  ///< over which the gradient curves are averaged
GradientCurves trace_gradients(const Inputs& in, const models::NetworkStudy& study) {
  const models::SmallNetwork start = untrained_student(in, in.student);
  std::vector<std::vector<double>> teacher, student;
  for (std::size_t i = 0; i < curve_digits; ++i) {
    teacher.push_back(logits_of(study.networks[0], study.held_out.picture(i)));
    student.push_back(logits_of(start, study.held_out.picture(i)));
  }
  GradientCurves curves;
  for (int k = 0; k <= 12; ++k) {
    const double t = std::pow(20.0, k / 12.0);
    double with = 0, without = 0, hard = 0;
    for (std::size_t i = 0; i < curve_digits; ++i) {
      const auto terms = models::distillation_terms(teacher[i], student[i], study.held_out.labels[i], t, in.alpha);
      with += models::norm(terms.soft_gradient);
      without += models::norm(terms.soft_gradient_plain);
      hard += models::norm(terms.hard_gradient);
    }
    constexpr auto n = static_cast<double>(curve_digits);
    curves.temperatures.push_back(t);
    curves.with_square.push_back(with / n);
    curves.without_square.push_back(without / n);
    curves.hard.push_back(hard / n);
  }
  return curves;
}

/// What the teacher says of each class at T, the mean over the held-out digits, and which two it finds most alike: it
/// gives most to the wrong one.
void compare_answers(const Inputs& in, const Lesson& lesson, Run& run, Outputs& out) {
  const models::DigitSet& digits = lesson.study->held_out;
  std::array<double, class_count> count{};
  run.soft.assign(class_count * class_count, 0);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    std::array<double, class_count> row{};
    for (std::size_t c = 0; c < class_count; ++c)
      row[c] = static_cast<double>(lesson.held_out_logits[i * class_count + c]);
    const std::vector<double> said = models::softened(row, in.temperature);
    const std::size_t drawn = digits.labels[i];
    ++count[drawn];
    for (std::size_t c = 0; c < class_count; ++c) run.soft[drawn * class_count + c] += 100 * said[c];
  }
  for (std::size_t r = 0; r < class_count; ++r)
    for (std::size_t c = 0; c < class_count; ++c) {
      double& mean = run.soft[r * class_count + c];
      mean /= std::max(1.0, count[r]);
      if (r == c || !(mean > out.alike_percent)) continue;
      out.alike_drawn = static_cast<std::int64_t>(r);
      out.alike_said = static_cast<std::int64_t>(c);
      out.alike_percent = mean;
    }
}

/// What teacher and student say of the example, and what the loss makes of it.
void examine_example(const Inputs& in, const models::SmallNetwork& student, Run& run, Outputs& out) {
  const models::NetworkStudy& study = *run.study;
  const auto index = static_cast<std::size_t>(in.example - 1);
  const auto digit = study.held_out.picture(index);
  const std::vector<double> t = logits_of(study.networks[0], digit), s = logits_of(student, digit);
  out.terms = models::distillation_terms(t, s, study.held_out.labels[index], in.temperature, in.alpha);
  run.teacher = models::softened(t, 1);
  out.label = study.held_out.labels[index];
  out.teacher_says = largest_of(t);
  out.student_says = largest_of(s);
  out.teacher_top = 100 * *std::max_element(run.teacher.begin(), run.teacher.end());
  out.teacher_top_soft = 100 * *std::max_element(out.terms.teacher.begin(), out.terms.teacher.end());
  out.entropy = models::entropy_bits(run.teacher);
  out.entropy_soft = models::entropy_bits(out.terms.teacher);
  out.hard_gradient = models::norm(out.terms.hard_gradient);
  out.soft_gradient = models::norm(out.terms.soft_gradient);
  out.soft_gradient_plain = models::norm(out.terms.soft_gradient_plain);
  out.gradient_ratio = in.temperature * in.temperature;
  out.hot_gradient = models::norm(models::hot_gradient(t, s, in.alpha));
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Memory& memory) {
  const auto lesson = lesson_of(in.seed, progress, memory);
  if (!lesson) return stopped();
  auto run = std::make_shared<Run>();
  run->study = lesson->study;
  const models::NetworkStudy& study = *run->study;
  Outputs out;
  const models::DigitSet digits = first_digits(study.training, digit_count(in));
  const models::Distillation teacher{
      .teacher_logits = {lesson->teacher_logits.data(), digit_count(in) * models::digit_classes},
      .temperature = in.temperature,
      .alpha = in.alpha};
  out.teacher_accuracy = 100 * study.accuracies[0];
  out.steps = static_cast<std::int64_t>(pass_count(in));
  models::SmallNetwork student = untrained_student(in, in.student);
  double begin = 0.3;
  for (const Width w : {Width::four, Width::eight, Width::sixteen}) {
    const models::SmallNetwork start = untrained_student(in, w);
    const double bytes = models::packed_size(start, models::Pruning::none, {}, 0).total_bytes();
    if (w == in.student) {
      out.student_bytes = bytes;
      out.times_smaller = study.original_bytes / bytes;
    }
    if (in.train == Train::none || (in.train == Train::chosen && w != in.student)) continue;
    const auto labels =
        memory.labels.get({in.seed, in.digits, in.views, w}, [&](const LabelsKey&) -> std::shared_ptr<const double> {
          const auto alone = train_student(in, w, digits, {}, progress, begin, 0.1);
          return alone ? std::make_shared<const double>(models::accuracy(*alone, study.held_out)) : nullptr;
        });
    auto distilled = train_student(in, w, digits, teacher, progress, begin + 0.1, 0.1);
    if (!labels || !distilled) return stopped();
    begin += 0.2;
    StudentRow row{
        .hidden = static_cast<std::int64_t>(hidden_units(w)),
        .weights = static_cast<std::int64_t>(start.weight_count()),
        .bytes = bytes,
        .labels_accuracy = 100 * *labels,
        .distilled_accuracy = 100 * models::accuracy(*distilled, study.held_out),
    };
    row.gain = row.distilled_accuracy - row.labels_accuracy;
    if (w == in.student) {
      out.labels_accuracy = row.labels_accuracy;
      out.distilled_accuracy = row.distilled_accuracy;
      out.gain = row.gain;
      student = std::move(*distilled);
    }
    out.students.push_back(row);
  }
  if (in.train == Train::none) {
    out.distilled_accuracy = 100 * models::accuracy(student, study.held_out);
    out.labels_accuracy = out.gain = std::numeric_limits<double>::quiet_NaN();
  }
  examine_example(in, student, *run, out);
  compare_answers(in, *lesson, *run, out);
  if (!progress.facts_alone) run->gradients = trace_gradients(in, study);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::compression::distillation
