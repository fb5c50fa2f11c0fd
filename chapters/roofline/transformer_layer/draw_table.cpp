#include <algorithm>
#include <cstdio>

#include "chapters/roofline/transformer_layer/draw.h"
#include "widgets/base/press_area.h"
#include "widgets/table/table_layout.h"

namespace chapters::roofline::transformer_layer {
namespace {

using widgets::Align, widgets::Font, widgets::Line, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme,
    widgets::Theme, widgets::Type, widgets::with_alpha;

enum Column : std::size_t {
  name_column,
  flops_column,
  bytes_column,
  intensity_column,
  time_column,
  share_column,
  column_count
};
constexpr widgets::TableColumn columns[column_count] = {{.title = "operation", .number = false},
                                                        {.title = "flops", .value_unit = "FLOP", .priority = 3},
                                                        {.title = "bytes", .value_unit = "B", .priority = 2},
                                                        {.title = "FLOP/B", .priority = 1},
                                                        {.title = "time, all", .value_unit = "s"},
                                                        {.title = "share", .unit = "%", .bar = true}};

double value_of(const OperationRow& row, std::size_t column) {
  switch (column) {
    case flops_column:
      return row.timed.cost.flops;
    case bytes_column:
      return row.bytes;
    case intensity_column:
      return row.timed.placement.intensity;
    case time_column:
      return static_cast<double>(row.timed.operation.count) * row.timed.placement.time_s;
    case share_column:
      return 100 * row.timed.share;
    default:
      return 0;
  }
}

void fill_cell(const OperationRow& row, std::size_t column, bool narrow, widgets::TableCell& out) {
  if (column == name_column) {
    // In a narrow table "expert gate projection" and "expert up projection" would be cut to the same letters.
    const std::string_view name = row.timed.operation.name;
    out.text = narrow ? name.substr(0, name.find(" projection")) : name;
    return;
  }
  out.value = value_of(row, column);
  if (column == share_column) {
    out.number.length =
        static_cast<std::size_t>(std::snprintf(out.number.chars, sizeof out.number.chars, "%.1f", out.value));
    return;
  }
  out.number = widgets::format(out.value, "");  // the table writes those with a unit in one multiple a column
}

/// Memory and arithmetic of each visible row side by side, on the axis of the whole step; the longer one is the row's
/// time.
void draw_pairs(const Outputs& out, const Picture& pic, View& view, Rect area, float body_height) {
  const Theme& t = theme();
  const Painter p = Painter::window();
  const widgets::TableLayout& l = view.table.layout;
  const float small = t.type(Type::small);
  const bool narrow = area.width() < t.px(200);
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
    if (x - half < area.min.x || x + half > area.max.x - t.px(narrow ? 30 : 70)) continue;
    p.text({x, area.min.y + (l.header_height - small) / 2}, tick.label, t.muted, Type::small, Font::mono,
           Align::center);
  }
  Line unit;
  unit.add(ticks.unit).add(narrow ? "" : " a step");
  p.text({area.max.x - t.px(4), area.min.y + (l.header_height - small) / 2}, unit.view(), t.muted, Type::small,
         Font::sans, Align::right);
  double scroll = view.table.scroll_rows;
  const widgets::RowWindow window = widgets::visible_rows(view.rows.size(), l.row_height, body_height, scroll);
  p.clip({area.min.x, body}, {area.max.x + t.px(8), body + body_height});
  for (std::size_t position = window.first; position < window.end; ++position) {
    const std::size_t place = widgets::row_at(view.table, position), index = view.rows[place];
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
  struct Context {
    const Outputs& out;
    const Picture& pic;
    const View& view;
    bool narrow;  ///< then flops are left to the hover: intensity times bytes
    const OperationRow& row(std::size_t i) const { return out.operations[view.rows[i]]; }
    std::string_view detail(std::size_t i) const { return pic.operations[view.rows[i]].detail; }
    std::size_t column(std::size_t i) const { return narrow && i >= flops_column ? i + 1 : i; }
    static const Context& of(const void* c) { return *static_cast<const Context*>(c); }
  } context{out, pic, view, width < t.px(720)};
  widgets::TableColumn chosen[column_count];
  const std::size_t n = column_count - (context.narrow ? 1 : 0);
  for (std::size_t i = 0; i < n; ++i) chosen[i] = columns[context.column(i)];
  const widgets::TableSource source{
      .context = &context,
      .rows = view.rows.size(),
      .version = 2 * view.rows_version + (context.narrow ? 1 : 0),
      .cell =
          [](const void* c, std::size_t row, std::size_t column, widgets::TableCell& to) {
            const Context& all = Context::of(c);
            fill_cell(all.row(row), all.column(column), all.narrow, to);
          },
      .key = [](const void* c, std::size_t row,
                std::size_t column) { return value_of(Context::of(c).row(row), Context::of(c).column(column)); },
      .mark =
          [](const void* c, std::size_t row) {
            const auto regime = Context::of(c).row(row).timed.placement.regime;
            return widgets::RowMark{shape_of(regime), theme().of(meaning_of(regime))};
          },
      .hover = [](const void* c, std::size_t row, std::size_t) { return Context::of(c).detail(row); },
  };
  const auto chosen_row = std::find(view.rows.begin(), view.rows.end(),
                                    static_cast<std::uint32_t>(std::max<std::int64_t>(view.selected, 0)));
  view.table.selected = view.selected < 0 || chosen_row == view.rows.end() ? -1 : chosen_row - view.rows.begin();
  const float table = std::min(std::max(width * 0.62f, std::min(t.px(450), width - t.px(180))), t.px(600));
  if (widgets::draw_table("operations", {chosen, n}, source, view.table, {table, height}).selection_changed)
    view.selected = view.table.selected < 0
                        ? -1
                        : static_cast<std::int64_t>(view.rows[static_cast<std::size_t>(view.table.selected)]);
  const float left = at.x + table + t.px(14);
  draw_pairs(out, pic, view, {{left, at.y}, {at.x + width - t.px(8), at.y + height}},
             height - view.table.layout.header_height);
}

}  // namespace chapters::roofline::transformer_layer
