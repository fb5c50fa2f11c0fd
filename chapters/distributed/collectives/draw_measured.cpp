#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/collectives/measured.h"
#include "chapters/distributed/shared/panel_parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"
#include "widgets/table/row_table.h"

namespace chapters::distributed::collectives {

widgets::AxisSpec bytes_axis(const std::vector<double>& bytes) {
  return {.kind = widgets::AxisKind::log10, .lo = bytes.front(), .hi = bytes.back(), .label = "bytes", .unit = "B"};
}

widgets::AxisSpec log_time_axis(double least_s, double most_s) {
  return {.kind = widgets::AxisKind::log10, .lo = least_s, .hi = most_s, .label = "time", .unit = "s"};
}

namespace {

void draw_times(const MeasuredPicture& p, MeasuredView& view, ImVec2 size, bool x_axis) {
  const auto& t = widgets::theme();
  widgets::Plot plot("measured times", view.times,
                     {.x = bytes_axis(p.measured.x),
                      .y = log_time_axis(p.least_s * 0.6, p.most_s * 1.6),
                      .size = size,
                      .link = &view.link,
                      .x_axis = x_axis});
  for (std::size_t i = 0; i < p.choices.size(); ++i)
    if (p.choices.size() > 1) plot.vertical_mark(p.choices[i].bytes, p.choices[i].said, {.colour = t.accent});
  for (const widgets::Curve* model : {&p.line, &p.lines, &p.predicted})
    if (!model->x.empty()) plot.curve(*model);
  plot.curve(p.measured);
  if (!p.spikes.x.empty()) plot.curve(p.spikes);
  for (const MeasuredMark& c : p.crossings)
    plot.scatter(
        "", std::span(&c.bytes, 1), std::span(&c.time_s, 1),
        {.colour = t.warning, .marker = widgets::Marker::diamond, .radius = 7, .legend = false, .info = c.info});
  // One box is enough: the first that the second column does not call noise.
  const auto named =
      std::find_if(p.crossings.begin(), p.crossings.end(), [](const MeasuredMark& c) { return !c.cause.empty(); });
  if (named != p.crossings.end() && size.y >= t.px(230))
    plot.callout(named->bytes, named->time_s, named->said, named->cause, {.colour = t.warning});
}

void draw_errors(const MeasuredPicture& p, MeasuredView& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("measured errors", view.errors,
                     {.x = bytes_axis(p.measured.x),
                      .y = {.label = "model over measured, less 1", .unit = "%"},
                      .size = size,
                      .legend = false,
                      .link = &view.link});
  plot.horizontal_mark(0, "measured", {.colour = t.text, .dashed = false});
  for (const widgets::Curve* model : {&p.line_off, &p.lines_off, &p.predicted_off})
    if (!model->x.empty()) plot.curve(*model);
}

/// The row over the plots of a log: what can be pasted, and what came of it.
float draw_paste(MeasuredInputs& in, MeasuredView& view, float width) {
  if (in.run != "log") return 0;
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 button = widgets::button_size("Paste a log");
  if (widgets::button("Paste a log", in.log.empty())) {
    const char* text = ImGui::GetClipboardText();
    auto pasted = log_of_paste(text ? text : "");
    view.paste_says = pasted.error;
    if (pasted) {
      in.log = std::move(*pasted);
      in.log_file = {};
    }
  }
  widgets::wrapped_text(widgets::Painter::window(), {at.x + button.x + t.px(12), at.y + t.px(6)}, view.paste_says,
                        std::max(t.px(40), width - button.x - t.px(12)), t.muted, {.max_lines = 1});
  return button.y + t.px(8);
}

void draw_run(MeasuredInputs& in, const MeasuredPicture& p, MeasuredView& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float top = draw_paste(in, view, size.x);
  if (p.measured.x.size() < 2) {
    if (!p.notes.empty())
      widgets::wrapped_text(widgets::Painter::window(), {at.x, at.y + top}, p.notes.front(), size.x, t.text);
  } else {
    const float title = t.px(20);
    const widgets::Painter painter = widgets::Painter::window();
    const float name = painter.text_fit({at.x, at.y + top}, p.title, size.x, t.text, widgets::Type::small);
    if (const float rest = size.x - name - t.px(12); rest > t.px(300))
      painter.text_fit({at.x + name + t.px(12), at.y + top}, p.figures, rest, t.muted, widgets::Type::small);
    const float left = size.y - top - title;
    const float errors = left >= t.px(300) ? left * 0.4f : 0;
    ImGui::SetCursorScreenPos({at.x, at.y + top + title});
    draw_times(p, view, {size.x, left - errors}, errors == 0);
    if (errors > 0) {
      ImGui::SetCursorScreenPos({at.x, at.y + size.y - errors});
      draw_errors(p, view, {size.x, errors});
    }
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

void draw_figures(const MeasuredPicture& p, MeasuredView& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 4> columns{{{.title = "part", .number = false},
                                                                {.title = "measured"},
                                                                {.title = "from the hardware"},
                                                                {.title = "off", .value_unit = "%"}}};
  const auto& t = widgets::theme();
  const widgets::TableSource source = widgets::table_of(p.parts, [](const PartLine& r, const widgets::RowCells& cells) {
    using Figure = widgets::CellFigure;
    cells(r.name, Figure{r.measured, r.unit}, Figure{r.predicted, r.unit}, Figure{r.off, "%"});
    if (cells.column > 0 && std::isnan(cells.cell.value)) cells.cell.text = "none";
  });
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float table = std::min(size.y, t.px(122));
  widgets::draw_table("parts", columns, source, view.parts, {size.x, table});
  const widgets::Painter painter = widgets::Painter::window();
  const ImVec2 corner = ImGui::GetWindowPos();
  painter.clip(corner, {corner.x + size.x, corner.y + size.y});
  float y = at.y + table + t.px(6);
  for (const std::string& note : p.notes)
    y += widgets::wrapped_text(painter, {at.x, y}, note, size.x - t.px(14), t.text) + t.px(5);
  if (!p.source.empty()) y += widgets::wrapped_text(painter, {at.x, y}, p.source, size.x - t.px(14), t.muted);
  painter.unclip();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({size.x - t.px(14), y - at.y});
}

}  // namespace

void draw_measured(widgets::Stage& stage, MeasuredInputs& in, const MeasuredPicture& picture, MeasuredView& view) {
  stage.panel("measured", {.title = "Measured", .least = {820, 300}, .scrolls = true}, [&](ImVec2 all) {
    draw_parts(
        all, 380, [&](ImVec2 size) { draw_run(in, picture, view, size); },
        [&](ImVec2 right) {
          const float weighed = picture.candidates.empty() ? 0 : 0.44f * right.y;
          const ImVec2 at = ImGui::GetCursorScreenPos(), figures{right.x, right.y - weighed};
          if (ImGui::BeginChild("figures of the run", figures, ImGuiChildFlags_NavFlattened))
            draw_figures(picture, view, figures);
          ImGui::EndChild();
          if (weighed <= 0) return;
          ImGui::SetCursorScreenPos({at.x, at.y + figures.y});
          draw_weighed(picture, view, {right.x, weighed});
        });
  });
}

}  // namespace chapters::distributed::collectives
