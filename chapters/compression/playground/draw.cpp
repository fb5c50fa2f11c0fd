#include <algorithm>
#include <cmath>

#include "chapters/compression/playground/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/plot/plot.h"

namespace chapters::compression::playground {
namespace {

using widgets::AxisKind, widgets::Font, widgets::Marker, widgets::Painter, widgets::Type;

/// The learner's own: filled, with a white ring and a halo, larger than all others.
void own_dot(widgets::Plot& plot, std::span<const double> x, std::span<const double> y) {
  const auto& t = widgets::theme();
  const auto disc = [&](std::string_view name, ImU32 colour, float radius, std::string_view info) {
    plot.scatter(name, x, y, {.colour = colour, .radius = radius, .legend = false, .info = info});
  };
  disc({}, widgets::with_alpha(t.accent, 0.28f), 16, {});
  disc({}, t.accent, 10.5f, {});
  disc({}, IM_COL32_WHITE, 9.3f, {});
  disc("yours", t.accent, 7, "what the controls say");
}

widgets::PlotOptions pareto_options(ImVec2 size) {
  return {.x = {.kind = AxisKind::log10, .lo = 100, .hi = 12000, .label = "size", .unit = "B"},
          .y = {.lo = 0, .hi = 102, .label = "accuracy", .unit = "%"},
          .size = size};
}

constexpr std::array<std::string_view, 1> float32{"float32"};

/// The network before it is compressed, and what guessing reads: what is known before an answer.
void draw_given(const Outputs& out, View& view, ImVec2 size) {
  const widgets::GivenMarks given;
  const float words = widgets::theme().px(44);  // of the veil, under the plot
  widgets::Plot plot("accuracy by size", view.pareto, pareto_options({size.x, size.y - words}));
  const std::array<double, 1> x{out.original_bytes}, y{out.original_accuracy};
  plot.scatter("float32", x, y, {.colour = widgets::theme().text, .labels = float32, .legend = false});
  plot.horizontal_mark(10, "guessing");
}

void draw_pareto(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (widgets::veiled()) return draw_given(out, view, size);
  widgets::Plot plot("accuracy by size", view.pareto, pareto_options(size));
  plot.curves(picture.sweep);
  plot.curves(picture.recipes);
  plot.curve(picture.recipe);
  plot.curve(picture.recipe_bits);
  plot.curve(picture.front);
  const std::array<double, 1> x0{out.original_bytes}, y0{out.original_accuracy}, x{out.size_bytes}, y{out.accuracy};
  plot.scatter("float32", x0, y0,
               {.colour = t.text,
                .marker = Marker::circle,
                .radius = 5,
                .labels = float32,
                .legend = false,
                .info = "the teacher as it was trained",
                .given = true});
  const std::array<double, 1> best_x{out.goal_bytes}, best_y{out.goal_accuracy};
  const std::array<std::string_view, 1> best_words{picture.smallest_figure};
  if (out.goal_bytes > 0)
    plot.scatter("smallest above the goal", best_x, best_y,
                 {.colour = t.good,
                  .marker = Marker::diamond,
                  .radius = 7,
                  .labels = best_words,
                  .info = "of the sweep",
                  .output = "goal_bytes"});
  own_dot(plot, x, y);
  widgets::drew("your network");
  // A guessed size is a line through where the box would stand.
  if (const widgets::ShownGuess* const guess = widgets::shown_guess(); !guess || guess->output != "size_bytes")
    plot.callout(out.size_bytes, out.accuracy, picture.yours_figure, "yours",
                 {.colour = t.accent, .output = "accuracy"});
  plot.drag_y("drag goal", in.goal, {.colour = t.good, .label = "goal", .lo = 50, .hi = 95});
}

void save_table(const std::vector<models::SweepPoint>& points) {
  const Painter p = Painter::window();
  if (!p.record()) return;
  widgets::DataTable sweep{"sweep", {"hidden", "pruning", "share", "weight_bits", "size_B", "accuracy_%"}, {}};
  static constexpr std::array<const char*, pruning_count> names{"none", "magnitude", "two_four", "neurons"};
  for (const auto& s : points)
    sweep.rows.push_back({std::to_string(models::study_widths[s.width]),
                          names[static_cast<std::size_t>(s.plan.pruning)], widgets::exact(s.plan.share),
                          std::to_string(s.plan.weights.bits), widgets::exact(s.bytes),
                          widgets::exact(100 * s.accuracy)});
  p.record()->tables.push_back(std::move(sweep));
}

/// Digits as they are read, and the weights of the first layer that reads them: next to each other where there is room.
void draw_inside(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(20);
  const bool wide = size.x >= t.px(600);
  const ImVec2 each =
      wide ? ImVec2{std::floor((size.x - gap) / 2), size.y} : ImVec2{size.x, std::floor((size.y - gap) / 2)};
  draw_digits(picture, view, each);
  ImGui::SetCursorScreenPos(wide ? ImVec2{at.x + size.x - each.x, at.y} : ImVec2{at.x, at.y + size.y - each.y});
  draw_weights(picture, each);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!picture.run->study) return;  // the first job has not ended
  stage.panel("pareto", {.title = "Accuracy by size", .least = {500, 320}, .answers = true, .marks = "your network"},
              [&](ImVec2 size) {
                draw_pareto(in, out, picture, view, size);
                save_table(picture.run->study->sweep);
              });
  stage.panel("pen", {.title = "Draw a digit", .least = {320, 236}, .ideal = {0, 320}},
              [&](ImVec2 size) { draw_pen(picture, view, size); });
  stage.panel("bytes", {.title = "Where the bytes go", .least = {320, 130}, .ideal = {0, 150}},
              [&](ImVec2 size) { draw_bytes(out, picture, size); });
  stage.panel("inside", {.title = "What it reads, and its first layer", .least = {320, 300}, .ideal = {0, 420}},
              [&](ImVec2 size) { draw_inside(picture, view, size); });
}

}  // namespace chapters::compression::playground
