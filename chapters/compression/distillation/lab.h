#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/compression/shared/network.h"
#include "chapters/mechanism/described_table.h"
#include "models/compression/distillation.h"
#include "widgets/plot/curve.h"
#include "widgets/plot/plot_view.h"

/// A small network that learns from labels and from a large network's softened answers.
namespace chapters::compression::distillation {

/// Hidden units of the student: models::study_widths without the teacher's.
enum class Width : std::uint8_t { sixteen, eight, four };
static_assert(models::study_widths.size() == static_cast<std::size_t>(Width::four) + 2);
/// Digits that the student learns from.
enum class Digits : std::uint8_t { d50, d100, d200, d400, d800 };
inline constexpr std::array<std::size_t, 5> digit_counts{50, 100, 200, 400, 800};
static_assert(digit_counts.size() == static_cast<std::size_t>(Digits::d800) + 1);
/// Digits each student looks at, the same ones again and again.
enum class Views : std::uint8_t { v250, v1000, v4000, v12000 };
inline constexpr std::array<std::size_t, 4> view_counts{250, 1000, 4000, 12000};
static_assert(view_counts.size() == static_cast<std::size_t>(Views::v12000) + 1);
enum class Train : std::uint8_t { none, chosen, all };

inline constexpr std::size_t class_count = models::digit_classes;

struct Inputs {
  double temperature = 4, alpha = 0.1;
  std::int64_t example = 6;
  Width student = Width::eight;
  Digits digits = Digits::d100;
  Views views = Views::v12000;
  Train train = Train::all;
  std::int64_t seed = 1;
  bool operator==(const Inputs&) const = default;
};

struct StudentRow {
  std::int64_t hidden = 0, weights = 0;
  double bytes = 0, labels_accuracy = 0, distilled_accuracy = 0, gain = 0;
};

struct Outputs {
  std::string reason;
  models::DistillationTerms terms;               ///< the loss on the example, with the student as it was trained
  double teacher_top = 0, teacher_top_soft = 0;  ///< %
  double entropy = 0, entropy_soft = 0;          ///< bits
  double hard_gradient = 0, soft_gradient = 0, soft_gradient_plain = 0, hot_gradient = 0, gradient_ratio = 0;
  double teacher_accuracy = 0, labels_accuracy = 0, distilled_accuracy = 0, gain = 0;  ///< %
  double student_bytes = 0, times_smaller = 1;
  std::int64_t label = 0, teacher_says = 0, student_says = 0, steps = 0;
  std::int64_t alike_drawn = 0, alike_said = 1;  ///< the two classes that the teacher finds most alike at T
  double alike_percent = 0;                      ///< what it gives the wrong one of them, in the mean
  std::vector<StudentRow> students;
};

/// Mean length of each part of the gradient by temperature, for the student before its first step.
struct GradientCurves {
  std::vector<double> temperatures, with_square, without_square, hard;
};

struct Run {
  std::shared_ptr<const models::NetworkStudy> study;
  std::vector<double> teacher;  ///< its probabilities of the example at T = 1
  std::vector<double> soft;     ///< [class drawn, class said]: the teacher's mean answer at T, %
  GradientCurves gradients;
};

struct Picture {
  std::uint64_t version = 0;
  std::shared_ptr<const Run> run;
  std::string answer;
  std::vector<double> labels, unknown;  ///< [class drawn, class said]: what labels say, %; nothing anywhere
  std::string soft_title, alike_line;   ///< over the teacher's half; the two classes that it finds most alike
  std::size_t alike_drawn = 0, alike_said = 1;
  std::array<std::string, 2> taught;  ///< what the student that labels taught reads, and the teacher's; empty: neither
  std::array<double, 2> taught_part{};      ///< the same as parts of 1
  std::vector<float> digit;                 ///< pixels of the example
  std::array<std::vector<double>, 3> bars;  ///< %, by class: teacher at 1, teacher at T, student at T
  double most_likely = 1;                   ///< the tallest bar
  std::vector<widgets::Curve> pulls;        ///< the parts of the gradient over the temperature
  /// Accuracy over hidden units of the students that were trained: lines, and a dot a student.
  std::array<widgets::Curve, 4> students;
  std::array<std::string, 3> bar_names, says_lines;
  std::string teacher_line, teacher_info;
};

struct View {
  widgets::PlotView targets, gradients, sizes;
  DescribedTable<StudentRow> students;
};

void describe(Fields& f, StudentRow& r);
struct Memory;
chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Memory& memory);
Picture arrange(const Inputs& in, const Outputs& out, const Run& run);
void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view);
/// What labels say of each class beside what the teacher says at T; in a narrow place the teacher alone.
void draw_confusion(const Picture& picture, ImVec2 size);

}  // namespace chapters::compression::distillation
