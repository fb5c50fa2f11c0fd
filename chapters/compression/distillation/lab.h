#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/compression/shared/network.h"
#include "models/compression/distillation.h"
#include "widgets/plot/plot_view.h"
#include "widgets/table/table.h"

/// Between distillation.cpp (described), distillation_compute.cpp (computed) and distillation_draw.cpp (drawn).
namespace chapters::compression::distillation {

/// Hidden units of the student: models::study_widths without the teacher's.
enum class Width : std::uint8_t { sixteen, eight, four };
/// Digits that the student learns from.
enum class Digits : std::uint8_t { d50, d100, d200, d400, d800 };
inline constexpr std::array<std::size_t, 5> digit_counts{50, 100, 200, 400, 800};
/// Digits each student looks at, the same ones again and again.
enum class Views : std::uint8_t { v250, v1000, v4000, v12000 };
inline constexpr std::array<std::size_t, 4> view_counts{250, 1000, 4000, 12000};
enum class Train : std::uint8_t { none, chosen, all };

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
  double teacher_top = 0, teacher_top_soft = 0, entropy = 0, entropy_soft = 0;
  double hard_loss = 0, kl_teacher_student = 0, kl_student_teacher = 0, soft_loss = 0, loss = 0;
  double hard_gradient = 0, soft_gradient = 0, soft_gradient_plain = 0, hot_gradient = 0, gradient_ratio = 0;
  double teacher_accuracy = 0, labels_accuracy = 0, distilled_accuracy = 0, gain = 0, student_bytes = 0,
         times_smaller = 1;
  std::int64_t label = 0, teacher_says = 0, student_says = 0, steps = 0;
  std::vector<StudentRow> students;
  std::string reason;

  // For the picture.
  std::vector<float> picture;
  std::array<std::vector<double>, 3> bars;  ///< %, by class: teacher at 1, teacher at T, student at T
  std::vector<double> temperatures, with_square, without_square, hard_curve;
  std::vector<double> widths, labels_curve, distilled_curve;
  std::array<std::string, 3> bar_names, says_lines;
  double most_likely = 1;
  std::string verdict, story, loss_line, students_line, pull_line, teacher_line, teacher_info;
  std::uint64_t version = 1;
};

struct View {
  widgets::PlotView targets, gradients, sizes;
  widgets::TableView students;
};

/// Accuracy of a student on labels alone depends on these; its teacher on the seed.
struct LabelsKey {
  std::int64_t seed = 1;
  Digits digits{};
  Views views{};
  Width width{};
  bool operator==(const LabelsKey&) const = default;
};
/// The teacher, what it says of the first 800 training digits, and the held-out ones.
struct Lesson {
  std::shared_ptr<const models::NetworkStudy> study;
  std::vector<float> teacher_logits;
};
struct Memory {
  Memo<std::int64_t, Lesson> lessons;
  Memo<LabelsKey, double, 256> labels;
};

Outputs compute(const Inputs& in, Progress& progress, Memory& memory);
void draw(Inputs& in, const Outputs& out, View& view);

void describe(Fields& f, Inputs& in);
void describe(Fields& f, StudentRow& r);
void describe(Fields& f, Outputs& o);

}  // namespace chapters::compression::distillation
