#include <algorithm>
#include <cmath>

#include "chapters/kernels/bank_conflicts/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"
#include "widgets/table/row_table.h"

namespace chapters::kernels::bank_conflicts {
namespace {

using widgets::Font, widgets::Painter, widgets::Type;

void draw_accesses(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{{{.key = "name", .title = "wavefronts of"},
                                                           {.key = "ideal", .title = "at least", .priority = 1},
                                                           {.key = "plain", .title = "as written"},
                                                           {.key = "padded", .title = "padded"},
                                                           {.key = "swizzled", .title = "swizzled"}}};
  view.accesses.draw("accesses", out.accesses, columns, size);
}

void draw_lanes(const Picture& pic, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 6> columns{
      {{.title = "lane", .number = false},
       {.title = "row", .number = false},
       {.title = "column", .number = false},
       {.title = "as written: bank, phase.wavefront", .number = false},
       {.title = "padded", .number = false},
       {.title = "swizzled", .number = false}}};
  const widgets::TableSource source =
      widgets::table_of(pic.lanes, [](const LaneRow& r, const widgets::RowCells& cells) {
        cells(r.lane, r.row, r.column, r.places[0], r.places[1], r.places[2]);
      });
  widgets::draw_table("lanes", columns, source, view.lane_table, size);
}

/// Two tables, the second where there is room.
void draw_tables(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(24), left = std::floor((size.x - gap) * 0.48f);
  if (size.x < t.px(760)) return draw_accesses(out, view, size);
  draw_accesses(out, view, {left, size.y});
  ImGui::SetCursorScreenPos({at.x + left + gap, at.y});
  draw_lanes(pic, view, {size.x - left - gap, size.y});
}

}  // namespace

void draw_paddings(Inputs& in, const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  widgets::Plot plot("paddings", view.over_padding,
                     {.x = {.lo = -0.5, .hi = pic.track_end + 0.5, .label = "elements of padding per row"},
                      .y = {.kind = widgets::AxisKind::log2, .lo = 0.7, .hi = pic.plot_top, .label = "wavefronts"},
                      .size = size});
  if (pic.over_padding.x.empty()) return;
  plot.curve(pic.over_padding);
  plot.horizontal_mark(static_cast<double>(out.ideal), "at least");
  if (out.swizzled.wavefronts > 0 && out.swizzled.wavefronts != static_cast<double>(out.ideal))
    plot.horizontal_mark(out.swizzled.wavefronts, "swizzled, for no byte");
  double at = static_cast<double>(in.padding);
  if (plot.drag_x("drag padding", at, {.label = "", .lo = 0, .hi = pic.track_end})) in.padding = std::llround(at);
}

void draw_code(const Picture& pic, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (widgets::button("Copy the swizzle")) ImGui::SetClipboardText(pic.code.c_str());
  widgets::next_button("Copy the padded tile", at.x + size.x);
  if (widgets::button("Copy the padded tile")) ImGui::SetClipboardText(pic.padded_code.c_str());
  const float line = t.type(Type::small) * 1.4f, top = ImGui::GetItemRectMax().y + t.px(10);
  ImGui::SetCursorScreenPos({at.x, top});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, 0u);
  if (ImGui::BeginChild("code lines", {size.x, std::max(1.0f, at.y + size.y - top)}, ImGuiChildFlags_None,
                        ImGuiWindowFlags_HorizontalScrollbar)) {
    const Painter p = Painter::window();
    const ImVec2 from = ImGui::GetCursorScreenPos();
    float widest = 0;
    const float from_y = ImGui::GetWindowPos().y, to_y = from_y + ImGui::GetWindowHeight();
    for (std::size_t i = 0; i < pic.code_lines.size(); ++i) {
      const std::string& words = pic.code_lines[i];
      if (words.empty()) continue;
      widest = std::max(widest, widgets::text_size(words, Type::small, Font::mono).x);
      const float y = from.y + line * static_cast<float>(i);
      if (y < from_y || y + line > to_y) continue;
      p.text({from.x, y}, words, words.starts_with("//") ? t.muted : t.text, Type::small, Font::mono);
    }
    ImGui::Dummy({widest, line * static_cast<float>(pic.code_lines.size())});
  }
  ImGui::EndChild();
  ImGui::PopStyleColor();
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  stage.panel("banks",
              {.title = "Banks", .least = {600, 330}, .ideal = {0, 620}, .answers = true, .marks = "tiles, wavefronts"},
              [&](ImVec2 size) {
                draw_over_doors(pic.doors, size, view.requests,
                                [&](ImVec2 rest) { draw_banks(in, out, pic, view, rest); });
              });
  stage.panel("paddings", {.title = "Every padding", .least = {420, 200}},
              [&](ImVec2 size) { draw_paddings(in, out, pic, view, size); });
  stage.panel("accesses", {.title = "Every access, every lane", .least = {420, 200}, .scrolls = true},
              [&](ImVec2 size) { draw_tables(out, pic, view, size); });
  stage.panel("code", {.title = "As C++", .least = {420, 190}, .scrolls = true},
              [&](ImVec2 size) { draw_code(pic, size); });
}

}  // namespace chapters::kernels::bank_conflicts
