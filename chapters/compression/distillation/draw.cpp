#include <algorithm>
#include <cmath>

#include "chapters/compression/distillation/lab.h"
#include "widgets/plot/plot.h"

namespace chapters::compression::distillation {
namespace {

using widgets::AxisKind, widgets::Marker, widgets::Painter;

constexpr std::array<std::string_view, 10> class_names{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

/// The digit as ink, with what it is and what it is taken for under it.
void draw_example(const Outputs& out, const Picture& picture, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  ImGui::SetCursorScreenPos(at);
  const widgets::Rect area = widgets::canvas("example digit", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered();
  const float line = t.type(widgets::Type::small) * 1.4f;
  const float words = std::min(line * 3, area.height() / 2);
  const float cell =
      std::floor(std::min(area.width(), area.height() - words - t.px(6)) / static_cast<float>(models::digit_side));
  const Painter p = Painter::window();
  paint_digit(p, picture.digit, area.min, cell);
  float y = area.min.y + cell * static_cast<float>(models::digit_side) + t.px(6);
  for (const std::string& says : picture.says_lines) {
    if (y + line > area.max.y + 1) break;
    widgets::fit_text(p, {area.min.x, y}, says, area.width(), t.muted, widgets::Type::small);
    y += line;
  }
  if (hovered) {
    widgets::Line what;
    what.add("drawn as ")
        .add_integer(out.label)
        .add("; teacher says ")
        .add_integer(out.teacher_says)
        .add(", student ")
        .add_integer(out.student_says);
    widgets::tip("Held-out digit", what.view(), "drawn by the program from the seed");
  }
}

void draw_targets(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  static constexpr std::array<double, 10> classes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  widgets::Plot plot("answers", view.targets,
                     {
                         .x = {.lo = -0.6, .hi = 9.6, .label = "class", .categories = class_names},
                         .y = {.lo = 0, .hi = 1.1 * picture.most_likely, .label = "probability", .unit = "%"},
                         .size = size,
                         .crosshair = false,
                     });
  // The teacher has the hue of its matrix; what the student says has one of its own.
  const std::array<ImU32, 3> hues{t.muted, t.series_at(0), t.series_at(4)};
  static constexpr std::array<std::string_view, 3> infos{"softmax(t)", "softmax(t / T)", "softmax(s / T)"};
  // Where T is 1 the teacher's two answers are one, and it is drawn once.
  for (std::size_t k = picture.bar_names[0] == picture.bar_names[1] ? 1 : 0; k < picture.bars.size(); ++k)
    plot.bars(picture.bar_names[k], classes, picture.bars[k],
              {.colour = hues[k], .width = 0.26f, .offset = static_cast<float>(k) - 1.0f, .info = infos[k]});
}

void draw_gradients(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  widgets::Plot plot("gradient by temperature", view.gradients,
                     {.x = {.kind = AxisKind::log10, .lo = 0.9, .hi = 24, .label = "temperature T"},
                      .y = {.kind = AxisKind::log10, .lo = 1e-3, .hi = 10, .label = "length of the gradient"},
                      .size = size});
  plot.curves(picture.pulls);
  plot.drag_x("drag temperature", in.temperature, {.lo = 1, .hi = 20});
}

void draw_sizes(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("accuracy by size", view.sizes,
                     {.x = {.kind = AxisKind::log2, .lo = 3.4, .hi = 38, .label = "hidden units"},
                      .y = {.lo = 0, .hi = 102, .label = "accuracy", .unit = "%"},
                      .size = size});
  plot.curves(picture.students);
  const std::array<double, 1> width{static_cast<double>(models::study_widths[0])}, accuracy{out.teacher_accuracy};
  plot.scatter(picture.teacher_line, width, accuracy,
               {.colour = t.text,
                .marker = Marker::diamond,
                .radius = 6,
                .info = picture.teacher_info,
                .output = "teacher_accuracy",
                .given = true});
}

void draw_students(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "hidden", .title = "hidden units"},
                                                           {.key = "weights", .title = "weights", .priority = 2},
                                                           {.key = "bytes", .title = "float32", .priority = 1},
                                                           {.key = "labels_accuracy", .title = "from labels"},
                                                           {.key = "distilled_accuracy", .title = "distilled"},
                                                           {.key = "gain", .title = "gain"}}};
  view.students.draw("students", out.students, columns, size);
}

/// Accuracy over the students' size, and under it the table of those that were trained.
void draw_learned(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const float table = t.px(132), gap = t.px(10);
  const bool room = !out.students.empty() && size.y >= t.px(220) + table + gap;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  draw_sizes(out, picture, view, {size.x, size.y - (room ? table + gap : 0)});
  if (!room) return;
  ImGui::SetCursorScreenPos({at.x, at.y + size.y - table});
  draw_students(out, view, {size.x, table});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!picture.run->study) return;  // the first job has not ended
  stage.panel("confusion",
              {.title = "What labels do not say",
               .least = {560, 300},
               .ideal = {0, 440},
               .answers = true,
               .marks = "the teacher's answers"},
              [&](ImVec2 size) { draw_confusion(picture, size); });
  stage.panel("digit", {.title = "One digit", .least = {480, 220}, .ideal = {0, 320}}, [&](ImVec2 size) {
    const auto& t = widgets::theme();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float side = std::min(t.px(128), size.x * 0.25f), gap = t.px(20);
    draw_example(out, picture, at, {side, std::min(size.y, side + t.px(64))});
    ImGui::SetCursorScreenPos({at.x + side + gap, at.y});
    draw_targets(picture, view, {size.x - side - gap, size.y});
  });
  stage.panel("learned", {.title = "What they learn", .least = {380, 220}, .ideal = {0, 420}},
              [&](ImVec2 size) { draw_learned(out, picture, view, size); });
  stage.panel("pull", {.title = "How hard each part pulls", .least = {380, 220}, .ideal = {0, 340}},
              [&](ImVec2 size) { draw_gradients(in, picture, view, size); });
}

}  // namespace chapters::compression::distillation
