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

constexpr std::size_t class_count = models::digit_classes;

/// Two classes of which the teacher gives most to the wrong one.
struct Alike {
  std::size_t drawn = 0, said = 1;
  double percent = 0;
};

/// What the teacher says of each class at T, the mean over the held-out digits, beside what labels say.
Alike compare_answers(const Inputs& in, const Outputs& out, Picture& p) {
  const models::DigitSet& digits = out.study->held_out;
  const std::vector<float> logits = models::logits_of(out.study->networks[0], digits);
  std::array<double, class_count> count{};
  p.labels.assign(class_count * class_count, 0);
  p.soft.assign(class_count * class_count, 0);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    std::array<double, class_count> row{};
    for (std::size_t c = 0; c < class_count; ++c) row[c] = static_cast<double>(logits[i * class_count + c]);
    const std::vector<double> said = models::softened(row, in.temperature);
    const std::size_t drawn = digits.labels[i];
    ++count[drawn];
    for (std::size_t c = 0; c < class_count; ++c) p.soft[drawn * class_count + c] += 100 * said[c];
  }
  Alike most;
  for (std::size_t r = 0; r < class_count; ++r)
    for (std::size_t c = 0; c < class_count; ++c) {
      double& mean = p.soft[r * class_count + c];
      mean /= std::max(1.0, count[r]);
      p.labels[r * class_count + c] = r == c ? 100 : 0;
      if (r != c && mean > most.percent) most = {r, c, mean};
    }
  return most;
}

/// "an" before an eight, "a" before any other digit.
std::string_view article(std::size_t digit) { return digit == 8 ? "an " : "a "; }

std::string answer_of(const Inputs& in, const Outputs& out, const Alike& alike) {
  const std::string likeness = "How alike digits are: at T = `" + format_text(in.temperature, "") + "` " +
                               std::string(article(alike.drawn)) + "`" + std::to_string(alike.drawn) + "` is `" +
                               format_text(alike.percent, "%") + "` " + std::string(article(alike.said)) + "`" +
                               std::to_string(alike.said) + "`. ";
  const std::string labels = "`" + format_text(out.labels_accuracy, "%") + "`",
                    distilled = "`" + format_text(out.distilled_accuracy, "%") + "`";
  if (in.train == Train::none) return likeness + "The student has not learned yet: it reads " + distilled + ".";
  if (in.alpha >= 1) return "Nothing here: `alpha = 1` leaves the teacher out, and both students read " + labels + ".";
  return likeness + "Its student reads " + distilled + ", from labels alone " + labels + ".";
}

void write_lines(const Inputs& in, const Outputs& out, const Alike& alike, Picture& p) {
  const std::string t = format_text(in.temperature, "");
  p.answer = answer_of(in, out, alike);
  p.soft_title = "the teacher says at T = " + t + ", in %";
  p.alike_line = "outlined: " + std::string(article(alike.drawn)) + std::to_string(alike.drawn) + " is " +
                 format_text(alike.percent, "%") + " " + std::string(article(alike.said)) + std::to_string(alike.said);
  p.alike_drawn = alike.drawn;
  p.alike_said = alike.said;
  p.bar_names = {"teacher, T = 1", "teacher, T = " + t, "student, T = " + t};
  p.says_lines = {"drawn as " + std::string(article(static_cast<std::size_t>(out.label))) + std::to_string(out.label),
                  "teacher says " + std::to_string(out.teacher_says),
                  "student says " + std::to_string(out.student_says)};
  p.teacher_line = "teacher, " + format_text(models::study_training, "") + " digits";
  p.teacher_info = std::to_string(models::study_widths[0]) + " units, float32";
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
  write_lines(in, out, compare_answers(in, out, p), p);
  return p;
}

}  // namespace chapters::compression::distillation
