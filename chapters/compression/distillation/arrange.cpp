#include <algorithm>
#include <cmath>

#include "chapters/compression/distillation/students.h"
#include "widgets/number/number.h"

namespace chapters::compression::distillation {
namespace {

using widgets::format_text;

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

/// The example's pixels, and the probabilities that teacher and student give each class, in percent.
void show_example(const Inputs& in, const Outputs& out, Picture& p) {
  const auto pixels = out.study->held_out.picture(static_cast<std::size_t>(in.example - 1));
  p.digit.assign(pixels.begin(), pixels.end());
  p.bars = {models::softened(logits_of(out.study->networks[0], pixels), 1), out.terms.teacher, out.terms.student};
  for (auto& bar : p.bars)
    for (double& v : bar) {
      v *= 100;
      p.most_likely = std::max(p.most_likely, v);
    }
}

std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string units = std::to_string(hidden_units(in.student));
  if (in.train == Train::none) return "A student of " + units + " units before its first step";
  return units + " units, " + std::to_string(digit_count(in)) + " digits: " + format_text(out.labels_accuracy, "%") +
         " from labels, " + format_text(out.distilled_accuracy, "%") + " distilled";
}

void write_lines(const Inputs& in, const Outputs& out, Picture& p) {
  const std::string t = format_text(in.temperature, "");
  p.verdict = verdict_of(in, out);
  p.story = "T = " + t + " softens the teacher's first choice from " + format_text(out.teacher_top, "%") + " to " +
            format_text(out.teacher_top_soft, "%") + ": " + format_text(out.entropy_soft, "") + " bits.";
  p.bar_names = {"teacher, T = 1", "teacher, T = " + t, "student, T = " + t};
  p.loss_line = "loss " + format_text(out.terms.loss, "") + " = " + format_text(in.alpha, "") + " x " +
                format_text(out.terms.hard_loss, "") + " (label) + " + format_text(1 - in.alpha, "") + " x " +
                format_text(out.terms.soft_loss, "") + " (T² KL)";
  p.says_lines = {"a " + std::to_string(out.label), "teacher says " + std::to_string(out.teacher_says),
                  "student says " + std::to_string(out.student_says)};
  p.pull_line = "on the student before its first step, mean of " + std::to_string(curve_digits) + " digits";
  p.teacher_line = "teacher, " + format_text(models::study_training, "") + " digits";
  p.teacher_info = std::to_string(models::study_widths[0]) + " units, float32";
  p.students_line = "each sees " + std::to_string(digit_count(in)) + " digits " + std::to_string(out.steps) +
                    " times; accuracy on " + format_text(models::study_held_out, "") + " others";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty() || !out.study) return p;
  show_example(in, out, p);
  p.gradients = trace_gradients(in, *out.study);
  for (const StudentRow& row : out.students) {
    p.widths.push_back(static_cast<double>(row.hidden));
    p.labels_accuracy.push_back(row.labels_accuracy);
    p.distilled_accuracy.push_back(row.distilled_accuracy);
  }
  write_lines(in, out, p);
  return p;
}

}  // namespace chapters::compression::distillation
