#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "chapters/compression/methods/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"
#include "widgets/table/row_table.h"

namespace chapters::compression::methods {
namespace {

void draw_table(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 6> columns{{{.title = "method", .number = false},
                                                                {.title = "bits per weight", .priority = 2},
                                                                {.title = "per activation", .priority = 3},
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

/// The error that the learner guessed of rounding, as a level over the bars of the methods that round weights alone.
void mark_guess(widgets::Plot& plot, const Picture& picture, bool pair) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "rtn_error" || pair) return;
  const double top = 1.1 * picture.most_error[0];
  plot.horizontal_mark(std::min(guess->value, top),
                       widgets::guess_words(widgets::format(guess->value, "%").view(), guess->value > top).view(),
                       {.colour = widgets::theme().accent});
}

/// The errors of `count` methods from `first` on, which round to the same bits; an axis of their own.
void draw_group(const char* id, const Picture& picture, widgets::PlotView& plot_view, std::size_t first,
                std::size_t count, ImVec2 size) {
  static constexpr std::array<std::string_view, models::method_count> names{"rounding", "GPTQ", "AWQ", "both rounded",
                                                                            "SmoothQuant"};
  const auto& t = widgets::theme();
  const bool pair = first > 0;
  const std::span<const double> place = std::span(picture.place).first(count),
                                calibration = std::span(picture.calibration).subspan(first, count),
                                held_out = std::span(picture.held_out).subspan(first, count);
  widgets::Plot plot(
      id, plot_view,
      {.x = {.lo = -0.6, .hi = static_cast<double>(count) - 0.4, .categories = std::span(names).subspan(first, count)},
       .y = {.lo = 0,
             .hi = std::max(1e-9, picture.most_error[pair ? 1 : 0] * 1.16),
             .label = "error of the output",
             .unit = "%"},
       .size = size,
       .crosshair = false});
  plot.bars("calibration tokens", place, calibration,
            {.colour = t.series_at(0), .width = 0.36f, .offset = -0.5f, .info = "what the methods are fitted to"});
  plot.bars(
      "new tokens", place, held_out,
      {.colour = t.series_at(1), .width = 0.36f, .offset = 0.5f, .info = "held out: other tokens of the same kind"});
  plot.horizontal_mark(held_out.front(), {});
  mark_guess(plot, picture, pair);
  for (std::size_t i = 0; i < count; ++i)
    plot.text(place[i] + 0.18, held_out[i], picture.change_words[first + i], {.colour = t.text});
}

/// Two groups, each with its bits in its title, its own axis and its own rounding.
void draw_groups(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(20), left = std::floor((size.x - gap) * 0.52f), right = size.x - gap - left,
              head = t.type(widgets::Type::small) + t.px(6);
  widgets::fit_text(p, at, picture.group_titles[0], left, t.text, widgets::Type::small, widgets::Font::bold);
  widgets::fit_text(p, {at.x + left + gap, at.y}, picture.group_titles[1], right, t.text, widgets::Type::small,
                    widgets::Font::bold);
  ImGui::SetCursorScreenPos({at.x, at.y + head});
  draw_group("output error", picture, view.bars, 0, 3, {left, size.y - head});
  widgets::drew("GPTQ and AWQ");
  ImGui::SetCursorScreenPos({at.x + left + gap, at.y + head});
  draw_group("output error of both", picture, view.pair_bars, 3, 2, {right, size.y - head});
  widgets::drew("SmoothQuant");
}

/// The column that is rounded and where its error goes, over the two groups; in little room the groups alone.
void draw_hero(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (size.y < t.px(90)) return;  // no bar could be told from another
  const float line = t.type(widgets::Type::small) + t.px(6), foot = out.note.empty() ? 0 : line;
  const float push = size.y >= t.px(330) ? std::min(t.px(230), std::floor(size.y * 0.42f)) : 0;
  widgets::light_meanings(picture.meanings);
  if (push > 0) draw_push(picture, view, {size.x, push - t.px(10)});
  ImGui::SetCursorScreenPos({at.x, at.y + push});
  draw_groups(picture, view, {size.x, size.y - push - foot});
  if (foot > 0)
    widgets::fit_text(widgets::Painter::window(), {at.x, at.y + size.y - line + t.px(4)}, out.note, size.x, t.warning,
                      widgets::Type::small);
}

/// What published models lose in perplexity, on an axis of its own: it is another quantity of other models.
void draw_published(const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<std::string_view, 2> names{"GPTQ", "AWQ"};
  widgets::Plot plot("published", view.published,
                     {.x = {.lo = -0.6, .hi = 1.6, .categories = names},
                      .y = {.lo = 0, .label = "loss of perplexity left, of rounding's", .unit = "%"},
                      .size = size,
                      .crosshair = false});
  plot.curve(picture.published_left);
  plot.horizontal_mark(100, "rounding");
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

/// What AWQ and SmoothQuant tried, next to each other where there is room.
void draw_searches(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(20), head = t.type(widgets::Type::small) + t.px(6);
  const bool wide = size.x >= t.px(560);
  const ImVec2 each =
      wide ? ImVec2{std::floor((size.x - gap) / 2), size.y} : ImVec2{size.x, std::floor((size.y - gap) / 2)};
  const ImVec2 second = wide ? ImVec2{at.x + size.x - each.x, at.y} : ImVec2{at.x, at.y + size.y - each.y};
  const auto title = [&](ImVec2 from, std::string_view words) {
    widgets::fit_text(widgets::Painter::window(), from, words, each.x, t.text, widgets::Type::small,
                      widgets::Font::bold);
    ImGui::SetCursorScreenPos({from.x, from.y + head});
  };
  title(at, "AWQ: scales of the weights' inputs to the power alpha");
  draw_search("AWQ search", view.awq, picture.awq, out.figures.awq_alpha, picture.awq_story, {each.x, each.y - head});
  title(second, "SmoothQuant: alpha of the range moved into the weights");
  draw_search("smoothing", view.smooth, picture.smooth, in.smoothing, "yours", {each.x, each.y - head});
}

/// The table of all methods, and under it what was published of other models.
void draw_side_by_side(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float table = t.px(196), gap = t.px(12), head = t.type(widgets::Type::small) + t.px(6);
  const bool room = !picture.published_left.x.empty() && size.y >= table + gap + head + t.px(150);
  draw_table(out, view, {size.x, room ? table : size.y});
  if (!room) return;
  widgets::fit_text(widgets::Painter::window(), {at.x, at.y + table + gap},
                    "published for Llama 2 (AWQ paper, table 4): perplexity, another measure", size.x, t.text,
                    widgets::Type::small, widgets::Font::bold);
  ImGui::SetCursorScreenPos({at.x, at.y + table + gap + head});
  draw_published(picture, view, {size.x, size.y - table - gap - head});
}

}  // namespace

std::size_t step_of(const models::MethodHistory& history, const View& view) {
  return std::min(static_cast<std::size_t>(std::max(0.0, std::round(view.time))), history.cols);
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (picture.place.empty()) return;  // the first job has not ended
  stage.panel(
      "left",
      {.title = "What each takes back", .least = {640, 300}, .answers = true, .marks = "GPTQ and AWQ, SmoothQuant"},
      [&](ImVec2 size) { draw_hero(out, picture, view, size); });
  stage.panel("columns", {.title = "GPTQ, column by column", .least = {320, 330}, .ideal = {0, 440}},
              [&](ImVec2 size) { draw_columns(picture, view, size); });
  stage.panel("scales", {.title = "AWQ and SmoothQuant search", .least = {320, 240}, .ideal = {0, 300}},
              [&](ImVec2 size) { draw_searches(in, out, picture, view, size); });
  stage.panel("methods",
              {.title = "Side by side, and published", .least = {420, 180}, .ideal = {0, 400}, .scrolls = true},
              [&](ImVec2 size) { draw_side_by_side(out, picture, view, size); });
}

}  // namespace chapters::compression::methods
