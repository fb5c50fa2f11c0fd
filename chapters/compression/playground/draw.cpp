#include <algorithm>
#include <cmath>

#include "chapters/compression/playground/lab.h"
#include "widgets/base/heading.h"
#include "widgets/plot/plot.h"

namespace chapters::compression::playground {
namespace {

using widgets::AxisKind;
using widgets::Font;
using widgets::Marker;
using widgets::Painter;
using widgets::Type;

constexpr std::size_t shown_digits = 40;

void draw_pareto(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("accuracy by size", view.pareto,
                     {.x =
                          {
                              .kind = AxisKind::log10,
                              .lo = 100,
                              .hi = 12000,
                              .label = "size",
                              .unit = "B",
                          },
                      .y =
                          {
                              .lo = 0,
                              .hi = 102,
                              .label = "accuracy on held-out digits",
                              .unit = "%",
                          },
                      .size = size});
  struct Kind {
    std::string_view name;
    Marker marker;
    std::size_t series;
  };
  static constexpr std::array<Kind, pruning_count> kinds{{{"rounded only", Marker::circle, 0},
                                                          {"and smallest weights pruned", Marker::square, 1},
                                                          {"and 2 of 4", Marker::triangle, 2},
                                                          {"and units removed", Marker::diamond, 3}}};
  for (std::size_t k = 0; k < kinds.size(); ++k)
    plot.scatter(kinds[k].name, picture.sweep[k].bytes, picture.sweep[k].accuracy,
                 {
                     .colour = widgets::with_alpha(t.series_at(kinds[k].series), 0.75f),
                     .marker = kinds[k].marker,
                     .radius = 3.5f,
                     .info = "teacher and students, 2 to 16 bits, not tuned again",
                     .version = picture.version,
                 });
  plot.steps("best so far", picture.front.bytes, picture.front.accuracy,
             {
                 .colour = t.muted,
                 .width = 1.5f,
                 .label = false,
                 .info = "nothing in the sweep is smaller and as accurate",
                 .version = picture.version,
             });
  const std::array<double, 1> x0{out.original_bytes}, y0{out.original_accuracy}, x{out.size_bytes}, y{out.accuracy};
  static constexpr std::array<std::string_view, 1> float32{"float32"}, yours{"yours"};
  plot.scatter("float32", x0, y0,
               {
                   .colour = t.text,
                   .marker = Marker::circle,
                   .radius = 5,
                   .labels = float32,
                   .legend = false,
                   .info = "the teacher as it was trained",
               });
  plot.scatter("yours", x, y,
               {
                   .colour = t.accent,
                   .marker = Marker::diamond,
                   .radius = 8,
                   .labels = yours,
                   .legend = false,
                   .info = "what the controls say",
               });
  plot.drag_y("drag goal", in.goal,
              {
                  .colour = t.good,
                  .label = "goal",
                  .lo = 50,
                  .hi = 95,
              });
}

/// Rows and columns of squares that fill `width` x `height` best, and the side of one.
struct Grid {
  std::size_t columns = 1;
  float step = 1;
};
Grid grid_for(std::size_t count, float width, float height, float extra) {
  Grid best;
  for (std::size_t columns = 1; columns <= count; ++columns) {
    const std::size_t rows = (count + columns - 1) / columns;
    const float step = std::min(width / static_cast<float>(columns), height / static_cast<float>(rows) - extra);
    if (columns == 1 || step > best.step) best = {columns, step};
  }
  return best;
}

void draw_digits(const Outputs& out, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::Rect area = widgets::canvas("digits", size, {t.px(80), t.px(60)});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const auto& digits = out.study->held_out;
  const std::size_t n = std::min({shown_digits, digits.size(), out.guesses.size()});
  const Grid grid = grid_for(n, area.width(), area.height(), 0);
  const float gap = t.px(5),
              cell = std::floor(std::max(1.0f, (grid.step - gap) / static_cast<float>(models::digit_side))),
              side = cell * static_cast<float>(models::digit_side);
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t i = 0; i < n; ++i) {
    const ImVec2 at{std::floor(area.min.x + grid.step * static_cast<float>(i % grid.columns)),
                    std::floor(area.min.y + grid.step * static_cast<float>(i / grid.columns))};
    const bool right = out.guesses[i] == digits.labels[i];
    paint_digit(p, digits.picture(i), at, cell);
    if (!right) {
      p.frame({at.x - 1, at.y - 1}, {at.x + side + 1, at.y + side + 1}, t.bad, t.px(2));
      const char guess[2] = {static_cast<char>('0' + out.guesses[i]), 0};
      const ImVec2 text = widgets::text_size(guess, Type::small, Font::bold);
      p.rect({at.x + side - text.x - t.px(5), at.y}, {at.x + side, at.y + text.y + t.px(1)}, t.bad);
      p.text({at.x + side - text.x - t.px(2.5f), at.y}, guess, widgets::text_on(t.bad, t), Type::small, Font::bold);
    }
    if (hovered && mouse.x >= at.x && mouse.x < at.x + side && mouse.y >= at.y && mouse.y < at.y + side) {
      widgets::Line what;
      what.add("drawn as ").add_integer(digits.labels[i]).add(", read as ").add_integer(out.guesses[i]);
      widgets::tip("Held-out digit", what.view(), "drawn by the program from the seed; no network was trained on it");
    }
  }
}

void draw_weights(const Outputs& out, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::Rect area = widgets::canvas("weights", size, {t.px(80), t.px(60)});
  const bool hovered = ImGui::IsItemHovered();
  const Painter p = Painter::window();
  const models::DenseLayer& layer = out.compressed.network.layers.front();
  const Grid grid = grid_for(layer.outputs, area.width(), area.height(), 0);
  const float step = std::min(grid.step, t.px(110)), gap = t.px(5);
  const float cell = std::floor(std::max(1.0f, (step - gap) / static_cast<float>(models::digit_side))),
              side = cell * static_cast<float>(models::digit_side);
  const ImVec2 mouse = ImGui::GetMousePos();
  for (std::size_t u = 0; u < layer.outputs; ++u) {
    const ImVec2 at{std::floor(area.min.x + step * static_cast<float>(u % grid.columns)),
                    std::floor(area.min.y + step * static_cast<float>(u / grid.columns))};
    p.rect(at, {at.x + side, at.y + side}, t.card);
    p.frame({at.x - 1, at.y - 1}, {at.x + side + 1, at.y + side + 1}, t.grid);
    for (std::size_t i = 0; i < layer.inputs; ++i) {
      const float w = layer.at(i, u);
      if (w == 0.0f) continue;
      const float x = at.x + cell * static_cast<float>(i % models::digit_side),
                  y = at.y + cell * static_cast<float>(i / models::digit_side);
      p.rect({x, y}, {x + cell, y + cell}, weight_colour(w, picture.largest_weight));
      if (hovered && mouse.x >= x && mouse.x < x + cell && mouse.y >= y && mouse.y < y + cell) {
        widgets::Line what;
        what.add(widgets::format(static_cast<double>(w), ""))
            .add(", unit ")
            .add_integer(static_cast<std::int64_t>(u) + 1);
        widgets::tip("Weight", what.view(), "of the first layer, as it computes: pruned and rounded");
      }
    }
  }
}

void save_table(const Outputs& out) {
  const Painter p = Painter::window();
  if (!p.record()) return;
  widgets::DataTable sweep{"sweep", {"hidden", "pruning", "share", "weight_bits", "size_B", "accuracy_%"}, {}};
  static constexpr std::array<const char*, pruning_count> names{"none", "magnitude", "two_four", "neurons"};
  for (const auto& s : out.study->sweep)
    sweep.rows.push_back({std::to_string(models::study_widths[s.width]),
                          names[static_cast<std::size_t>(s.plan.pruning)], widgets::exact(s.plan.share),
                          std::to_string(s.plan.weights.bits), widgets::exact(s.bytes),
                          widgets::exact(100 * s.accuracy)});
  p.record()->tables.push_back(std::move(sweep));
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || !out.study) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, height = ImGui::GetContentRegionAvail().y, gap = t.px(24);
  widgets::heading(picture.verdict, picture.story, width);
  const bool beside = width >= t.px(620);
  const float half = beside ? std::floor((width - gap) / 2) : width, bytes = beside ? t.px(210) : width;
  const float top = std::clamp(height - t.px(335), t.px(265), t.px(480)),
              tiles = std::clamp(height - top - t.px(100), t.px(190), t.px(320));
  draw_pareto(in, out, picture, view, {beside ? width - bytes - gap : width, top});
  if (beside) ImGui::SameLine(0, gap);
  const std::array<widgets::StackedBar, 2> both{
      {{.label = "float32", .segments = picture.before}, {.label = "now", .segments = picture.after}}};
  widgets::draw_stacked_bars("sizes", both, view.sizes,
                             {
                                 .unit = "B",
                                 .axis_label = "size",
                                 .size = {bytes, top},
                                 .vertical = true,
                                 .bar_px = 48,
                             });
  ImGui::Dummy({width, t.px(4)});
  ImGui::BeginGroup();
  widgets::heading("What it reads", picture.digits_line, half);
  draw_digits(out, {half, tiles});
  ImGui::EndGroup();
  if (beside) ImGui::SameLine(0, gap);
  ImGui::BeginGroup();
  widgets::heading("First layer", picture.weights_line, half);
  draw_weights(out, picture, {half, tiles});
  ImGui::EndGroup();
  save_table(out);
}

}  // namespace chapters::compression::playground
