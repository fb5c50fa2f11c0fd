#include "chapters/profiling/step_trace/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/table/row_table.h"

namespace chapters::profiling::step_trace {

void draw_spans(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (!picture.run || widgets::veiled()) {
    ImGui::Dummy(size);
    return;
  }
  view.spans.ask(view.requests, picture.version,
                 [run = picture.run](std::uint64_t, Progress&) { return host_spans_of(*run); });
  const SpanTable* const found = view.spans.answer();
  const float line = t.type(widgets::Type::small) + t.px(6);
  widgets::fit_text(widgets::Painter::window(), at,
                    found ? std::string_view(found->words) : "The recording is run again without each of its spans.",
                    size.x, t.muted, widgets::Type::small);
  ImGui::SetCursorScreenPos({at.x, at.y + line});
  if (!found || found->rows.empty() || size.y < 2 * line) {
    ImGui::Dummy({size.x, std::max(1.0f, size.y - line)});
    return;
  }
  static constexpr widgets::TableColumn columns[] = {
      {.title = "on the main thread", .number = false},          {.title = "a step"},
      {.title = "all of them", .unit = "s", .priority = 1},      {.title = "longest", .unit = "s", .priority = 2},
      {.title = "the step would win", .unit = "s", .bar = true},
  };
  const widgets::TableSource source =
      widgets::table_of(found->rows, [](const SpanRow& r, const widgets::RowCells& cells) {
        cells(r.name, r.count, r.length_s, r.longest_s, r.won_s);
      });
  widgets::draw_table("what each span would win", columns, source, view.span_table, {size.x, size.y - line});
}

}  // namespace chapters::profiling::step_trace
