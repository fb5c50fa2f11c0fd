#include <algorithm>
#include <cmath>

#include "chapters/compression/playground/lab.h"
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

void draw_pareto(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("accuracy by size", view.pareto,
                     {.x = {.kind = AxisKind::log10, .lo = 100, .hi = 12000, .label = "size", .unit = "B"},
                      .y = {.lo = 0, .hi = 102, .label = "accuracy on held-out digits", .unit = "%"},
                      .size = size});
  plot.curves(picture.sweep);
  plot.curves(picture.recipes);
  plot.curve(picture.recipe);
  plot.curve(picture.recipe_bits);
  plot.curve(picture.front);
  const std::array<double, 1> x0{out.original_bytes}, y0{out.original_accuracy}, x{out.size_bytes}, y{out.accuracy};
  static constexpr std::array<std::string_view, 1> float32{"float32"};
  plot.scatter("float32", x0, y0,
               {.colour = t.text,
                .marker = Marker::circle,
                .radius = 5,
                .labels = float32,
                .legend = false,
                .info = "the teacher as it was trained",
                .given = true});
  own_dot(plot, x, y);
  widgets::drew("your network");
  plot.callout(out.size_bytes, out.accuracy, picture.yours_figure, "yours", {.colour = t.accent, .output = "accuracy"});
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
  stage.panel("digits", {.title = "What it reads", .least = {320, 190}, .ideal = {0, 300}},
              [&](ImVec2 size) { draw_digits(picture, view, size); });
  stage.panel("weights", {.title = "First layer", .least = {320, 190}, .ideal = {0, 300}},
              [&](ImVec2 size) { draw_weights(picture, size); });
}

}  // namespace chapters::compression::playground
