#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/compression/methods/lab.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"
#include "widgets/table/row_table.h"

namespace chapters::compression::methods {
namespace {

void draw_table(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 6> columns{{{.title = "method", .number = false},
                                                                {.title = "bits a weight", .priority = 2},
                                                                {.title = "an activation", .priority = 3},
                                                                {.title = "calibration", .unit = "%", .priority = 1},
                                                                {.title = "held out", .unit = "%"},
                                                                {.title = "of rounding", .unit = "%"}}};
  widgets::TableSource source = widgets::table_of(out.rows, [](const MethodRow& r, const widgets::RowCells& cells) {
    using Figure = widgets::CellFigure;
    cells(r.method, Figure{r.weight_bits}, Figure{r.activation_bits}, Figure{r.error}, Figure{r.held_out},
          Figure{100 * r.against_rounding});
    if (cells.column == 1) widgets::put_number(cells.cell, r.weight_bits, "", 4);  // 4.125, not 4.13
  });
  source.hover = [](const void* context, std::size_t row, std::size_t column) -> std::string_view {
    const auto& rows = *static_cast<const std::vector<MethodRow>*>(context);
    return column == 0 ? std::string_view(rows[row].source) : std::string_view();
  };
  widgets::draw_table("methods side by side", columns, source, view.table, size);
}

void draw_bars(const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<std::string_view, models::method_count> names{"rounding", "GPTQ", "AWQ", "both rounded",
                                                                            "SmoothQuant"};
  const auto& t = widgets::theme();
  widgets::Plot plot(
      "output error", view.bars,
      {.x = {.lo = -0.6, .hi = 4.6, .categories = names},
       .y = {.lo = 0, .hi = picture.most_left * 1.16, .label = "error left, of rounding at the same bits", .unit = "%"},
       .size = size,
       .crosshair = false});
  plot.bars("calibration tokens", picture.place, picture.calibration_left,
            {.colour = t.series_at(0), .width = 0.36f, .offset = -0.5f, .info = "what the methods are fitted to"});
  plot.bars("held-out tokens", picture.place, picture.held_out_left,
            {.colour = t.series_at(1), .width = 0.36f, .offset = 0.5f, .info = "other tokens of the same kind"});
  if (!picture.published_left.x.empty()) plot.curve(picture.published_left);
  plot.horizontal_mark(100, {});
  plot.vertical_mark(2.5, {}, {.colour = t.line, .dashed = false});
  for (std::size_t i = 0; i < picture.place.size(); ++i)
    plot.text(picture.place[i] + 0.18, picture.held_out_left[i], picture.change_words[i], {.colour = t.text});
}

std::size_t step_of(const models::MethodHistory& history, const View& view) {
  return std::min(static_cast<std::size_t>(std::max(0.0, std::round(view.time))), history.cols);
}

void draw_change(const Picture& picture, View& view, ImVec2 size) {
  const models::MethodHistory& h = picture.run->study.history;
  const std::size_t cells = h.rows * h.cols, step = step_of(h, view);
  widgets::draw_heat_map("weights moved",
                         {.values = std::span(picture.change).subspan(step * cells, cells),
                          .rows = h.rows,
                          .cols = h.cols,
                          .revision = (picture.version << 16) + step},
                         view.change,
                         {.col_title = "input",
                          .value_title = "moved",
                          .size = size,
                          .numbers = false,
                          .lo = 0,
                          .hi = picture.largest_change > 0 ? picture.largest_change : 1});
  if (step == 0) return;
  // The column that was rounded last, where the plot's cursor stands.
  const auto& t = widgets::theme();
  const auto& map = view.change.layout;
  if (map.rows == 0 || map.cols == 0) return;
  const std::size_t column = map.shown_col(h.order[step - 1], h.cols);
  const widgets::Rect top = map.cell(0, column), bottom = map.cell(map.rows - 1, column);
  const widgets::Painter p = widgets::Painter::window();
  p.frame({top.min.x - t.px(1), top.min.y - t.px(1)}, {bottom.max.x + t.px(1), bottom.max.y + t.px(1)}, t.accent,
          t.px(2));
}

/// One step of GPTQ: the column that is rounded, how far its weights move to their levels, and the columns that take
/// its error up.
void draw_step(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const models::MethodHistory& h = picture.run->study.history;
  const std::size_t step = std::max<std::size_t>(step_of(h, view), 1) - 1, rounded = h.order[step];
  const auto moved = std::span(picture.moved).subspan(step * h.cols, h.cols);
  const std::array<double, 1> at{static_cast<double>(rounded)}, by{moved[rounded]};
  widgets::Plot plot("one step", view.step,
                     {.x = {.lo = -1, .hi = static_cast<double>(h.cols), .label = "input"},
                      .y = {.lo = 0,
                            .hi = 1.25 * *std::max_element(moved.begin(), moved.end()) + 1e-12,
                            .label = "mean move of its weights in this step"},
                      .size = size});
  plot.bars("columns left, which take its error up", picture.input, moved,
            {.colour = t.series_at(2), .width = 0.8f, .info = "by the inverse of H: inputs that go together"});
  plot.bars("rounded in this step", at, by, {.colour = t.series_at(1), .width = 0.8f, .info = "to its nearest levels"});
  for (const std::size_t column : picture.absorbing[step])
    if (column != rounded && moved[column] > 0)
      plot.arrow(at[0], by[0], static_cast<double>(column), moved[column], {}, {.colour = t.text, .dashed = false});
}

void draw_history(const Picture& picture, View& view, ImVec2 size) {
  const double columns = static_cast<double>(picture.run->study.history.cols);
  widgets::Plot plot("error column by column", view.history,
                     {.x = {.lo = 0, .hi = columns, .label = "columns rounded"},
                      .y = {.lo = 0, .label = "output error", .unit = "%"},
                      .size = size});
  plot.curve(picture.rtn_error);
  plot.curve(picture.gptq_error);
  double at = std::min(view.time, columns);
  if (plot.drag_x("drag column", at, {.lo = 0, .hi = columns})) view.time = std::round(std::clamp(at, 0.0, columns));
}

/// How far weights have moved, and the error so far, on one cursor; beside each other where there is room.
void draw_columns(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (size.x >= t.px(620)) {
    const float half = std::floor((size.x - t.px(20)) / 2);
    draw_change(picture, view, {half, size.y});
    ImGui::SetCursorScreenPos({at.x + size.x - half, at.y});
    draw_history(picture, view, {half, size.y});
    return;
  }
  const float above = std::floor(size.y * 0.46f);
  draw_change(picture, view, {size.x, above});
  ImGui::SetCursorScreenPos({at.x, at.y + above + t.px(8)});
  draw_history(picture, view, {size.x, size.y - above - t.px(8)});
}

void draw_search(const char* id, widgets::PlotView& plot_view, std::span<const widgets::Curve> curves, double chosen,
                 std::string_view best, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot(id, plot_view,
                     {
                         .x = {.lo = -0.03, .hi = 1.03, .label = "alpha"},
                         .y = {.lo = 0, .label = "output error", .unit = "%"},
                         .size = size,
                         .legend = false,
                     });
  plot.curves(curves);
  plot.vertical_mark(chosen, best, {.colour = t.accent});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (picture.place.empty()) return;  // the first job has not ended
  stage.panel("left", {.title = "What is left of rounding's error", .least = {440, 280}, .answers = true},
              [&](ImVec2 size) {
                const auto& t = widgets::theme();
                const ImVec2 at = ImGui::GetCursorScreenPos();
                const float line = t.type(widgets::Type::small) + t.px(6);
                const float foot = out.note.empty() ? line : 2 * line;
                if (size.y < t.px(90)) return;  // no bar could be told from another
                widgets::light_meanings(picture.meanings);
                draw_bars(picture, view, {size.x, size.y - foot});
                widgets::fit_text(widgets::Painter::window(), {at.x, at.y + size.y - foot + t.px(4)},
                                  picture.rounding_words, size.x, t.muted, widgets::Type::small);
                if (!out.note.empty())
                  widgets::fit_text(widgets::Painter::window(), {at.x, at.y + size.y - line + t.px(4)}, out.note,
                                    size.x, t.warning, widgets::Type::small);
              });
  stage.panel("columns", {.title = "GPTQ, column by column", .least = {320, 330}, .ideal = {0, 440}},
              [&](ImVec2 size) { draw_columns(picture, view, size); });
  stage.panel("step", {.title = "One step of GPTQ", .least = {320, 210}, .ideal = {0, 300}},
              [&](ImVec2 size) { draw_step(picture, view, size); });
  stage.panel("awq", {.title = "AWQ tries scales", .least = {300, 200}, .ideal = {0, 300}}, [&](ImVec2 size) {
    draw_search("AWQ search", view.awq, picture.awq, out.figures.awq_alpha, picture.awq_story, size);
  });
  stage.panel("smooth", {.title = "SmoothQuant shares the range", .least = {300, 200}, .ideal = {0, 300}},
              [&](ImVec2 size) { draw_search("smoothing", view.smooth, picture.smooth, in.smoothing, "yours", size); });
  stage.panel("methods", {.title = "Side by side", .least = {420, 160}, .ideal = {0, 180}, .scrolls = true},
              [&](ImVec2 size) { draw_table(out, view, size); });
}

}  // namespace chapters::compression::methods
