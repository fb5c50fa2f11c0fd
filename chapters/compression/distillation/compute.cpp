#include <algorithm>
#include <limits>

#include "chapters/compression/distillation/students.h"

namespace chapters::compression::distillation {
namespace {

Outputs stopped() {
  Outputs out;
  out.reason = "The training was stopped before its end.";
  return out;
}

std::int64_t largest_of(const std::vector<double>& v) { return std::max_element(v.begin(), v.end()) - v.begin(); }

/// What teacher and student say of the example, and what the loss makes of it.
void examine_example(const Inputs& in, const models::SmallNetwork& student, Outputs& out) {
  const models::NetworkStudy& study = *out.study;
  const auto index = static_cast<std::size_t>(in.example - 1);
  const auto digit = study.held_out.picture(index);
  const std::vector<double> t = logits_of(study.networks[0], digit), s = logits_of(student, digit);
  out.terms = models::distillation_terms(t, s, study.held_out.labels[index], in.temperature, in.alpha);
  const std::vector<double> sharp = models::softened(t, 1);
  out.label = study.held_out.labels[index];
  out.teacher_says = largest_of(t);
  out.student_says = largest_of(s);
  out.teacher_top = 100 * *std::max_element(sharp.begin(), sharp.end());
  out.teacher_top_soft = 100 * *std::max_element(out.terms.teacher.begin(), out.terms.teacher.end());
  out.entropy = models::entropy_bits(sharp);
  out.entropy_soft = models::entropy_bits(out.terms.teacher);
  out.hard_gradient = models::norm(out.terms.hard_gradient);
  out.soft_gradient = models::norm(out.terms.soft_gradient);
  out.soft_gradient_plain = models::norm(out.terms.soft_gradient_plain);
  out.gradient_ratio = in.temperature * in.temperature;
  out.hot_gradient = models::norm(models::hot_gradient(t, s, in.alpha));
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress, Memory& memory) {
  const auto lesson = lesson_of(in.seed, progress, memory);
  if (!lesson) return stopped();
  Outputs out;
  out.study = lesson->study;
  const models::NetworkStudy& study = *out.study;
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
  examine_example(in, student, out);
  return out;
}

}  // namespace chapters::compression::distillation
