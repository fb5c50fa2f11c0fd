#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/compression/quantizer/lab.h"
#include "widgets/plot/plot.h"

namespace chapters::compression::quantizer {
namespace {

using widgets::Marker;

void draw_errors(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& e = picture.error;
  view.errors.row = -1;
  const auto event = widgets::draw_heat_map(
      "error of each weight", {.values = e.values, .rows = e.rows, .cols = e.cols, .revision = picture.version},
      view.errors, {.col_title = "input", .value_title = picture.error_title, .size = size, .numbers = false});
  if (event.clicked && event.row >= 0) {
    in.row = event.row;
    in.column = event.col;
  }
}

/// The row that is shown, on the map: outlined, with its name beside it.
void outline_row(const Picture& picture, const View& view) {
  const auto& t = widgets::theme();
  const auto& map = view.errors.layout;
  if (map.rows == 0 || map.cols == 0 || picture.error.rows == 0) return;
  const std::size_t row = map.shown_row(picture.row, picture.error.rows);
  const widgets::Rect first = map.cell(row, 0), last = map.cell(row, map.cols - 1);
  const widgets::Painter p = widgets::Painter::window();
  const float air = t.px(2);
  p.frame({first.min.x - air - 1, first.min.y - air - 1}, {last.max.x + air + 1, last.max.y + air + 1}, t.background,
          t.px(4), t.px(2));
  p.frame({first.min.x - air, first.min.y - air}, {last.max.x + air, last.max.y + air}, t.accent, t.px(2), t.px(2));
  const ImVec2 text = widgets::text_size(picture.row_tag, widgets::Type::small, widgets::Font::bold);
  const float high = text.y + t.px(4), above = first.min.y - air - t.px(2) - high;
  const float y = above >= map.grid.min.y ? above : last.max.y + air + t.px(2);
  const float x = first.min.x + t.px(4);
  if (y + high > map.grid.max.y || text.x + t.px(14) > map.grid.width()) return;
  p.rect({x, y}, {x + text.x + t.px(8), y + high}, t.accent, t.px(3));
  p.text({x + t.px(4), y + t.px(2)}, picture.row_tag, widgets::text_on(t.accent, t), widgets::Type::small,
         widgets::Font::bold);
}

/// The shown row on its shelves, and at its right what every row pays; in a narrow place the shelves alone.
void draw_hero(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (size.y < t.px(90)) return;  // no row could be told from another
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool rows = size.x >= t.px(470);
  const float gap = t.px(24), right = rows ? std::floor((size.x - gap) * 0.27f) : 0;
  draw_shelves(in, picture, view, {size.x - (rows ? right + gap : 0), size.y});
  if (!rows) return;
  ImGui::SetCursorScreenPos({at.x + size.x - right, at.y});
  draw_rows(in, picture, {right, size.y});
}

void draw_steps(const Picture& p, View& view, ImVec2 size) {
  const std::vector<double>& ends = p.steps[0].x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float below = std::floor(size.y * 0.38f);
  {
    widgets::Plot plot("weight in, weight out", view.steps,
                       {.x = {.lo = ends.front(), .hi = ends.back(), .label = "weight in"},
                        .y = {.lo = ends.front(), .hi = ends.back(), .label = "weight out"},
                        .size = {size.x, size.y - below},
                        .link = &view.link,
                        .x_axis = false});
    plot.curves(p.steps);
  }
  ImGui::SetCursorScreenPos({at.x, at.y + size.y - below});
  widgets::Plot plot("gradient", view.gradient,
                     {.x = {.lo = ends.front(), .hi = ends.back(), .label = "weight in"},
                      .y = {.lo = -0.15, .hi = 1.25, .label = "slope"},
                      .size = {size.x, below},
                      .link = &view.link});
  plot.curves(p.slopes);
}

void draw_formats(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("formats", view.formats,
                     {.x = {.label = "bits per weight"}, .y = {.label = "SQNR (dB)"}, .size = size});
  plot.curves(picture.formats);
  const std::array<double, 1> x{out.bits_per_weight}, y{out.error.sqnr_db};
  plot.scatter("chosen", x, y, {.colour = t.accent, .marker = Marker::diamond, .radius = 7, .output = "sqnr_db"});
}

void draw_tensors(Inputs& in, const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 3> columns{{{.key = "name", .title = "tensor", .code = true},
                                                           {.key = "type", .title = "type"},
                                                           {.key = "shape", .title = "shape"}}};
  const auto result = view.tensors.draw("tensors of the file", out.tensors, columns, size);
  const std::int64_t chosen = view.tensors.view.selected;
  if (result.selection_changed && chosen >= 0) in.tensor = out.tensors[static_cast<std::size_t>(chosen)].name;
}

/// The map of errors, and where a file was read, at its right, the file's tensors.
void draw_map(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool list = !out.tensors.empty();
  const float gap = t.px(20), right = list ? std::floor(0.4f * (size.x - gap)) : 0;
  draw_errors(in, picture, view, {size.x - (list ? right + gap : 0), size.y});
  outline_row(picture, view);
  if (!list) return;
  ImGui::SetCursorScreenPos({at.x + size.x - right, at.y});
  draw_tensors(in, out, view, {right, size.y});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (picture.error.rows == 0) return;  // the first job has not ended
  stage.panel("rows", {.title = "Who pays", .least = {640, 300}, .answers = true, .marks = "shelves"},
              [&](ImVec2 size) { draw_hero(in, picture, view, size); });
  stage.panel("formats", {.title = "Every format on these weights", .least = {380, 240}, .ideal = {0, 360}},
              [&](ImVec2 size) { draw_formats(out, picture, view, size); });
  stage.panel("steps", {.title = "As training sees it", .least = {340, 300}, .ideal = {0, 420}},
              [&](ImVec2 size) { draw_steps(picture, view, size); });
  const bool list = !out.tensors.empty();
  stage.panel("map",
              {.title = list ? "Error of each weight, the file's tensors" : "Error of each weight",
               .least = {list ? 480.0f : 300.0f, 240},
               .ideal = {0, 360},
               .scrolls = list},
              [&](ImVec2 size) { draw_map(in, out, picture, view, size); });
}

}  // namespace chapters::compression::quantizer
