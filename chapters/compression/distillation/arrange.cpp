#include <algorithm>
#include <utility>

#include "chapters/compression/distillation/students.h"
#include "widgets/number/number.h"

namespace chapters::compression::distillation {
namespace {

using widgets::figure, widgets::format_text;

/// The example's pixels, and the probabilities that teacher and student give each class, in percent.
void show_example(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const auto pixels = run.study->held_out.picture(static_cast<std::size_t>(in.example - 1));
  p.digit.assign(pixels.begin(), pixels.end());
  p.bars = {run.teacher, out.terms.teacher, out.terms.student};
  for (auto& bar : p.bars)
    for (double& v : bar) {
      v *= 100;
      p.most_likely = std::max(p.most_likely, v);
    }
}

/// The parts of the gradient over the temperature.
std::vector<widgets::Curve> pulls_of(const GradientCurves& g) {
  using widgets::Tint;
  const auto curve = [&](std::string label, std::string info, Tint tint, const std::vector<double>& lengths) {
    return widgets::Curve{.label = std::move(label),
                          .info = std::move(info),
                          .tint = tint,
                          .named = false,
                          .x = g.temperatures,
                          .y = lengths};
  };
  std::vector<widgets::Curve> pulls{
      curve("by teacher, with T\xC2\xB2", "(1 - alpha) T |p_s - p_t|", Tint::series(0), g.with_square),
      curve("by teacher, without T\xC2\xB2", "(1 - alpha) |p_s - p_t| / T", Tint::series(3), g.without_square),
      curve("by label", "alpha |softmax(s) - label|", Tint::series(1), g.hard)};
  pulls[1].dashed = true;
  return pulls;
}

/// "an" before an eight, "a" before any other digit.
std::string_view article(std::int64_t digit) { return digit == 8 ? "an " : "a "; }

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string drawn = std::string(article(out.alike_drawn)) + figure(std::to_string(out.alike_drawn)),
                    said = std::string(article(out.alike_said)) + figure(std::to_string(out.alike_said));
  const std::string likeness =
      "\nThe teacher says that " + drawn + " looks " + figure(out.alike_percent, "%") + " like " + said + "; ";
  const std::string labels = figure(out.labels_accuracy, "%"), distilled = figure(out.distilled_accuracy, "%");
  if (in.train == Train::none)
    return "The student has not learned yet: it reads " + distilled + " of new digits right." + likeness +
           "it has yet to hear that.";
  if (in.alpha >= 1)
    return "With alpha = `1` the teacher is left out: both students read " + labels + " of new digits right." +
           likeness + "neither student hears that.";
  return "The teacher's student reads " + distilled + " of new digits right, one taught by labels alone " + labels +
         "." + likeness + "a label cannot say that.";
}

void write_lines(const Inputs& in, const Outputs& out, Picture& p) {
  const std::string t = format_text(in.temperature, "");
  p.answer = answer_of(in, out);
  p.soft_title = "the teacher says at T = " + t + ", in %";
  p.alike_line = "outlined: " + std::string(article(out.alike_drawn)) + std::to_string(out.alike_drawn) + " looks " +
                 format_text(out.alike_percent, "%") + " like " + std::string(article(out.alike_said)) +
                 std::to_string(out.alike_said);
  p.alike_drawn = static_cast<std::size_t>(out.alike_drawn);
  p.alike_said = static_cast<std::size_t>(out.alike_said);
  if (in.train != Train::none) {
    p.taught = {"taught by labels alone, a student reads " + format_text(out.labels_accuracy, "%"),
                "taught by the teacher too, it reads " + format_text(out.distilled_accuracy, "%")};
    p.taught_part = {out.labels_accuracy / 100, out.distilled_accuracy / 100};
  }
  p.bar_names = {"teacher, T = 1", "teacher, T = " + t, "student, T = " + t};
  p.says_lines = {"drawn as " + std::string(article(out.label)) + std::to_string(out.label),
                  "teacher says " + std::to_string(out.teacher_says),
                  "student says " + std::to_string(out.student_says)};
  p.teacher_line = "teacher, " + format_text(models::study_training, "") + " digits";
  p.teacher_info = std::to_string(models::study_widths[0]) + " units, float32";
}

void arrange_students(const Outputs& out, Picture& p) {
  if (out.students.empty()) return;  // a legend would name what is not drawn
  widgets::Curve distilled{.label = "distilled", .tint = widgets::Tint::series(0), .named = false, .legend = false};
  widgets::Curve from_labels{
      .label = "from labels", .tint = widgets::Tint::series(1), .dashed = true, .named = false, .legend = false};
  for (const StudentRow& row : out.students) {
    distilled.add(static_cast<double>(row.hidden), row.distilled_accuracy);
    from_labels.add(static_cast<double>(row.hidden), row.labels_accuracy);
  }
  widgets::Curve distilled_dots{.kind = widgets::Curve::Kind::dots,
                                .label = distilled.label,
                                .info = "trained now with this temperature and alpha",
                                .output = "distilled_accuracy",
                                .tint = distilled.tint,
                                .radius = 6,
                                .x = distilled.x,
                                .y = distilled.y};
  widgets::Curve labels_dots{.kind = widgets::Curve::Kind::dots,
                             .label = from_labels.label,
                             .info = "the same start, digits and order, alpha = 1",
                             .output = "labels_accuracy",
                             .tint = from_labels.tint,
                             .marker = widgets::Marker::square,
                             .x = from_labels.x,
                             .y = from_labels.y};
  p.students = {std::move(distilled), std::move(distilled_dots), std::move(from_labels), std::move(labels_dots)};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || !run.study) return p;
  show_example(in, out, run, p);
  arrange_students(out, p);
  p.labels.assign(class_count * class_count, 0);
  p.unknown.assign(class_count * class_count, 0);
  for (std::size_t c = 0; c < class_count; ++c) p.labels[c * class_count + c] = 100;
  p.pulls = pulls_of(run.gradients);
  write_lines(in, out, p);
  return p;
}

}  // namespace chapters::compression::distillation
