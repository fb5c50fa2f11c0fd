#include <algorithm>

#include "chapters/roofline/transformer_layer/draw.h"
#include "widgets/base/press_area.h"
#include "widgets/table/table_layout.h"

namespace chapters::roofline::transformer_layer {
namespace {

using widgets::Align, widgets::Font, widgets::Line, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme,
    widgets::Theme, widgets::Type, widgets::with_alpha;

constexpr DescribedColumn wide[] = {
    {"name", "operation"},
    {.key = "flops", .title = "flops", .priority = 3},
    {.key = "bytes", .title = "bytes", .priority = 2},
    {.key = "intensity", .title = "intensity", .priority = 1},
    {"all_s", "time, all"},
    {.key = "share", .title = "share", .bar = true},
};
/// Flops are left to the hover: intensity times bytes. "expert gate projection" and "expert up projection" would be cut
/// to the same letters.
constexpr DescribedColumn narrow[] = {
    {"short_name", "operation"},
    {.key = "bytes", .title = "bytes", .priority = 2},
    {.key = "intensity", .title = "intensity", .priority = 1},
    {"all_s", "time, all"},
    {.key = "share", .title = "share", .bar = true},
};

/// Memory and arithmetic of each visible row side by side, on the axis of the whole step; the longer one is the row's
/// time.
void draw_pairs(const Outputs& out, const Picture& pic, View& view, Rect area, float body_height) {
  const Theme& t = theme();
  const Painter p = Painter::window();
  const widgets::TableLayout& l = view.table.view.layout;
  const float small = t.type(Type::small);
  const bool tight = area.width() < t.px(200);
  const widgets::AxisMap map(widgets::AxisKind::linear, {0, pic.longest_s}, static_cast<double>(area.min.x),
                             static_cast<double>(area.max.x));
  widgets::AxisTicks ticks;
  widgets::layout_ticks({.unit = "s"}, {0, pic.longest_s}, map,
                        {[](std::string_view s) { return widgets::measure_text(s, Type::small); }, small}, ticks);
  const float body = area.min.y + l.header_height;
  p.rect(area.min, {area.max.x, body}, t.card, t.px(4));
  for (const widgets::Tick& tick : ticks.major()) {
    const auto x = static_cast<float>(tick.pixel), half = widgets::text_size(tick.label, Type::small, Font::mono).x / 2;
    p.line({x, body}, {x, body + body_height}, t.grid);
    if (x - half < area.min.x || x + half > area.max.x - t.px(tight ? 30 : 70)) continue;
    p.text({x, area.min.y + (l.header_height - small) / 2}, tick.label, t.muted, Type::small, Font::mono,
           Align::center);
  }
  Line unit;
  unit.add(ticks.unit).add(tight ? "" : " per step");
  p.text({area.max.x - t.px(4), area.min.y + (l.header_height - small) / 2}, unit.view(), t.muted, Type::small,
         Font::sans, Align::right);
  double scroll = view.table.view.scroll_rows;
  const widgets::RowWindow window = widgets::visible_rows(view.rows.size(), l.row_height, body_height, scroll);
  p.clip({area.min.x, body}, {area.max.x + t.px(8), body + body_height});
  for (std::size_t position = window.first; position < window.end; ++position) {
    const std::size_t place = widgets::row_at(view.table.view, position), index = view.rows[place].index;
    const OperationRow& row = out.operations[index];
    const OperationPicture& all = pic.operations[index];
    const float y = body + window.offset + static_cast<float>(position - window.first) * l.row_height;
    const bool launched = all.launch_s > 0;
    const float thick = std::max(2.0f, l.row_height * (launched ? 0.2f : 0.26f)), middle = y + l.row_height / 2;
    const float top = std::max(y, body), bottom = std::min(y + l.row_height, body + body_height);
    if (bottom - top >= 1) {
      ImGui::SetCursorScreenPos({area.min.x, top});
      ImGui::PushID(static_cast<int>(index));
      Line item;
      item.add(row.timed.operation.name).add("##bars");
      if (widgets::press_area(item.c_str(), {area.width(), bottom - top}, ImGuiButtonFlags_None)) select(view, index);
      ImGui::PopID();
      if (ImGui::IsItemHovered()) show_tip(row, all);
    }
    if (is_selected(view, index)) p.rect({area.min.x, y}, {area.max.x, y + l.row_height}, with_alpha(t.accent, 0.16f));
    const auto end_of = [&](double time_s) { return static_cast<float>(map.pixel(time_s)); };
    const auto bar = [&](float from_y, double time_s, models::Regime regime) {
      const bool decides = row.timed.placement.regime == regime;
      p.rect({area.min.x, from_y}, {std::max(end_of(time_s), area.min.x + 1), from_y + thick},
             with_alpha(t.of(meaning_of(regime)), decides ? 1.0f : 0.4f), t.px(1.5f));
    };
    const float first = middle - (launched ? 1.5f : 1.0f) * thick - 0.5f;
    bar(first, all.memory_s, models::Regime::memory);
    bar(first + thick + 1, all.compute_s, models::Regime::compute);
    if (launched) bar(first + 2 * (thick + 1), all.launch_s, models::Regime::launch);
  }
  p.unclip();
}

}  // namespace

void draw_operations(const Outputs& out, const Picture& pic, View& view, float width, float height) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool little = width < t.px(720);
  widgets::TableView& shown = view.table.view;
  const auto chosen = std::find_if(view.rows.begin(), view.rows.end(),
                                   [&](const ShownOperation& o) { return is_selected(view, o.index); });
  shown.selected = chosen == view.rows.end() ? -1 : chosen - view.rows.begin();
  const float table = std::min(std::max(width * 0.62f, std::min(t.px(450), width - t.px(180))), t.px(600));
  // The rows change with the layer drawn too, and the columns with the width.
  const widgets::PaintsVersion paints(2 * view.rows_version + (little ? 1 : 0));
  const std::span<const DescribedColumn> columns = little ? std::span<const DescribedColumn>(narrow) : wide;
  const DescribedTable<ShownOperation>::Options options{
      .mark =
          [](const ShownOperation& o) {
            const models::Regime regime = o.row.timed.placement.regime;
            return widgets::RowMark{shape_of(regime), theme().of(meaning_of(regime))};
          },
      .hover = [](const ShownOperation& o, std::string_view) { return std::string_view(o.detail); }};
  if (view.table.draw("operations", view.rows, columns, {table, height}, options).selection_changed)
    view.selected =
        shown.selected < 0 ? -1 : static_cast<std::int64_t>(view.rows[static_cast<std::size_t>(shown.selected)].index);
  const float left = at.x + table + t.px(14);
  draw_pairs(out, pic, view, {{left, at.y}, {at.x + width - t.px(8), at.y + height}},
             height - view.table.view.layout.header_height);
}

}  // namespace chapters::roofline::transformer_layer
