#include "widgets/table/table.h"

#include <imgui_internal.h>  // SetKeyOwner, SetFocusID: the arrows belong to the table while it has the focus

#include <algorithm>
#include <cmath>

#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/shorten.h"
#include "widgets/prose/formula.h"
#include "widgets/table/table_layout.h"

namespace widgets {
namespace {

struct Frame {
  const char* id;
  std::span<const TableColumn> columns;
  const TableSource& source;
  TableView& view;
  TableResult& result;
  Painter painter;
  ImVec2 at, size;
  float body_top, body_height, inner_width;
  bool scrolls;
  const PlotReference::Rows* reference = nullptr;  ///< the cells of the scenario that was set aside
};

void refresh(Frame& f) {
  TableView& v = f.view;
  const float scale = theme().type(Type::body);
  const std::uint64_t reference = f.reference ? reference_in_sight()->serial : 0;
  if (v.layout_reference != reference || v.layouts == 0 || v.layout_version != f.source.version ||
      v.layout_rows != f.source.rows || v.layout_width != f.inner_width || v.scale != scale ||
      v.font != font_of(Font::sans) || v.layout.columns.size() != f.columns.size()) {
    v.layout = layout_table(f.columns, f.source, f.inner_width, f.reference);
    v.layout_reference = reference;
    v.layout_version = f.source.version;
    v.layout_rows = f.source.rows;
    v.layout_width = f.inner_width;
    v.scale = scale;
    v.font = font_of(Font::sans);
    ++v.layouts;
  }
  if (v.order_column != v.sort_column || v.order_made != v.order || v.order_version != f.source.version ||
      v.order_rows != f.source.rows) {
    sort_rows(f.columns, f.source, v.sort_column, v.order, v.rows_in_order);
    v.order_column = v.sort_column;
    v.order_made = v.order;
    v.order_version = f.source.version;
    v.order_rows = f.source.rows;
  }
  if (v.selected >= static_cast<std::int64_t>(f.source.rows)) v.selected = -1;
}

/// "+2" at the end of the head: so many columns have no room; the hover names them.
void note_hidden(const Frame& f) {
  const Theme& t = theme();
  const TableLayout& l = f.view.layout;
  Line count;
  count.add("+").add_integer(static_cast<std::int64_t>(l.hidden));
  const float right = f.at.x + std::min(l.width, f.inner_width) - 0.3f * t.type(Type::body);
  const ImVec2 at{right - width_of(count.view(), Type::small), f.at.y + (l.header_height - t.type(Type::small)) / 2};
  f.painter.text(at, count.view(), t.muted, Type::small);
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect({at.x, f.at.y}, {right, f.at.y + l.header_height}))
    return;
  Line titles;
  titles.add("No room for: ");
  bool any = false;
  for (std::size_t i = 0; i < f.columns.size(); ++i) {
    if (!l.columns[i].hidden) continue;
    titles.add(any ? ", " : "").add(f.columns[i].title);
    any = true;
  }
  tip(titles.view(), {});
}

void draw_header(Frame& f) {
  const Theme& t = theme();
  const TableLayout& l = f.view.layout;
  f.painter.rect(f.at, {f.at.x + std::min(l.width, f.inner_width), f.at.y + l.header_height}, t.card, t.px(4));
  for (std::size_t i = 0; i < f.columns.size(); ++i) {
    const TableColumn& column = f.columns[i];
    const ColumnLayout& c = l.columns[i];
    if (c.hidden) continue;
    const std::string_view head = head_unit(column, c);
    const bool number = !from_left(column, c);
    const float left = f.at.x + c.left, right = left + c.width,
                y = f.at.y + (l.header_height - t.type(Type::small)) / 2;
    char label[128];
    const std::size_t n = std::min(column.title.size(), sizeof label - 1);
    std::copy_n(column.title.data(), n, label);
    label[n] = '\0';
    ImGui::SetCursorScreenPos({left - l.pad, f.at.y});
    ImGui::PushID(static_cast<int>(i));
    const bool pressed = press_area(label[0] ? label : "column", {c.width + 2 * l.pad, l.header_height});
    ImGui::PopID();
    const bool sorted = f.view.sort_column == static_cast<int>(i) && f.view.order != SortOrder::none;
    const ImU32 colour = ImGui::IsItemHovered() || sorted ? t.text : t.muted;
    const float unit = head.empty() ? 0 : width_of(head, Type::small) + width_of(" ", Type::small);
    const float arrow = 0.9f * t.type(Type::small);
    const float title =
        std::min(width_of(column.title, Type::small), std::max(0.0f, c.width - unit - (number ? 0 : arrow)));
    const float x = number ? right - title - unit : left;
    f.painter.text_fit({x, y}, column.title, title + 0.5f, colour, Type::small);
    if (unit > 0 && c.width > unit)
      f.painter.text({x + title + width_of(" ", Type::small), y}, head, t.muted, Type::small);
    if (sorted) {
      const float s = 0.26f * t.type(Type::small), ax = number ? x - 0.5f * arrow : x + title + unit + 0.5f * arrow;
      const float ay = f.at.y + l.header_height / 2, d = f.view.order == SortOrder::ascending ? -s : s;
      const ImVec2 p[] = {{ax - s, ay - d * 0.8f}, {ax + s, ay - d * 0.8f}, {ax, ay + d}};
      f.painter.polygon(p, t.accent);
    }
    if (!pressed) continue;
    const bool same = f.view.sort_column == static_cast<int>(i);
    f.view.order = !same || f.view.order == SortOrder::none ? SortOrder::ascending
                   : f.view.order == SortOrder::ascending   ? SortOrder::descending
                                                            : SortOrder::none;
    f.view.sort_column = f.view.order == SortOrder::none ? -1 : static_cast<int>(i);
    f.result.sort_changed = true;
  }
  if (l.hidden > 0) note_hidden(f);
}

/// The value's share of a whole bar, along the foot of the cell: behind the number it would end inside a digit.
void paint_bar(const Frame& f, std::size_t i, double value, float left, float y) {
  const Theme& t = theme();
  const ColumnLayout& c = f.view.layout.columns[i];
  const double share = bar_share(f.columns[i], c, value);
  if (!(share > 0)) return;
  const float right = f.at.x + c.left + c.width, foot = y + t.type(Type::body) + t.px(3);
  const ImU32 fill = f.columns[i].tint == Tint{} ? t.accent : colour(f.columns[i].tint, t);
  f.painter.rect({left, foot - t.px(3)}, {left + std::max(1.0f, (right - left) * static_cast<float>(share)), foot},
                 with_alpha(fill, 0.75f), t.px(1));
}

/// Paints one cell; true when it did not fit, so that the hover shows it in full. Columns that prove too narrow for a
/// number grow.
bool draw_cell(Frame& f, std::size_t i, const TableCell& cell, float y, float mark, bool& grew) {
  const Theme& t = theme();
  ColumnLayout& c = f.view.layout.columns[i];
  const Font font = cell_font(f.columns[i]);
  const float left = f.at.x + c.left;
  if (from_left(f.columns[i], c)) {
    const float room = c.width - mark;
    const Font face = f.columns[i].number ? Font::sans : font;
    if (cell.shown().empty()) return false;
    const bool fits = width_of(cell.shown(), Type::body, face) <= room + 0.5f;
    if (fits)
      f.painter.text({left + mark, y}, cell.shown(), t.text, Type::body, face);
    else
      f.painter.text({left + mark, y}, shorten_middle(cell.shown(), room + 0.5f, Type::body, face).view(), t.text,
                     Type::body, face);
    return !fits;
  }
  const CellParts parts = split_cell(cell.shown());
  if (!parts.number) {  // a word or a dash stands where the numbers end
    const float word = width_of(parts.whole);
    f.painter.text({left + c.width - word, y}, parts.whole, t.muted);
    if (word <= c.width - mark + 0.5f) return false;
    c.word = std::max(c.word, word);
    grew = true;
    return true;
  }
  if (f.columns[i].bar) paint_bar(f, i, cell.value, left + mark, y);
  const float whole = width_of(parts.whole, Type::body, font), fraction = width_of(parts.fraction, Type::body, font);
  const float unit = parts.unit.empty() ? 0 : width_of(parts.unit, Type::small);
  if (whole > c.whole || fraction > c.fraction || unit > c.unit) {
    c.whole = std::max(c.whole, whole);
    c.fraction = std::max(c.fraction, fraction);
    c.unit = std::max(c.unit, unit);
    grew = true;
  }
  const float point = f.at.x + c.point;
  const bool fits = point - whole >= left + mark - 0.5f;
  f.painter.text({point - whole, y}, parts.whole, t.text, Type::body, font);
  f.painter.text({point, y}, parts.fraction, t.text, Type::body, font);
  const float drop = baseline_of(Type::body, font) - baseline_of(Type::small, Font::sans);
  f.painter.text({f.at.x + c.unit_left, y + drop}, parts.unit, t.muted, Type::small);
  return !fits;
}

void cell_tooltip(std::string_view s) {
  if (!s.empty()) ImGui::SetTooltip("%.*s", static_cast<int>(s.size()), s.data());
}

/// The row as an item that a press selects. True while the mouse is on it.
bool press_row(Frame& f, std::size_t row, const char* label, ImVec2 size, float top, ImGuiID body_id) {
  ImGui::SetCursorScreenPos({f.at.x, top});
  ImGui::PushID("rows");
  ImGui::PushID(static_cast<int>(row));
  if (press_area(label, size, ImGuiButtonFlags_None)) {
    f.view.selected = static_cast<std::int64_t>(row);
    f.result.selection_changed = true;
    ImGui::SetFocusID(body_id, ImGui::GetCurrentWindow());
  }
  ImGui::PopID();
  ImGui::PopID();
  return ImGui::IsItemHovered();
}

/// The ground of a row at `y` and the line under it.
void paint_row_ground(Frame& f, float y, float width, bool selected, bool hovered) {
  const Theme& t = theme();
  const TableLayout& l = f.view.layout;
  if (selected || hovered)
    f.painter.rect({f.at.x, y}, {f.at.x + width, y + l.row_height}, with_alpha(t.accent, selected ? 0.16f : 0.07f));
  if (selected) f.painter.rect({f.at.x, y}, {f.at.x + t.px(3), y + l.row_height}, t.accent);
  const float under = std::floor(y + l.row_height);  // a filled row of pixels stays crisp at any scroll
  f.painter.rect({f.at.x, under - 1}, {f.at.x + width, under}, t.grid);
}

void draw_rows(Frame& f, RowWindow window, ImGuiID body_id) {
  const Theme& t = theme();
  const TableLayout& l = f.view.layout;
  const float width = std::min(l.width, f.inner_width);
  const float text_y = (l.row_height - t.type(Type::body)) / 2;
  bool grew = false;
  f.painter.clip({f.at.x, f.body_top}, {f.at.x + f.inner_width, f.body_top + f.body_height});
  for (std::size_t position = window.first; position < window.end; ++position) {
    const std::size_t row = row_at(f.view, position);
    const float y = f.body_top + window.offset + static_cast<float>(position - window.first) * l.row_height;
    const float top = std::max(y, f.body_top), bottom = std::min(y + l.row_height, f.body_top + f.body_height);
    TableCell first;
    if (!f.columns.empty()) read_cell(f.columns[0], l.columns[0], f.source, row, 0, first);
    char label[128];
    const std::size_t n = std::min(first.shown().size(), sizeof label - 1);
    std::copy_n(first.shown().data(), n, label);
    label[n] = '\0';
    const bool hovered = bottom - top >= 1 && press_row(f, row, n ? label : "row", {width, bottom - top}, top, body_id);
    paint_row_ground(f, y, width, f.view.selected == static_cast<std::int64_t>(row), hovered);
    const float mark = f.source.mark ? 1.1f * t.type(Type::body) : 0;
    if (f.source.mark && !l.columns.empty())
      paint_row_mark(f.painter, f.source.mark(f.source.context, row),
                     {f.at.x + l.columns[0].left + 0.35f * t.type(Type::body), y + l.row_height / 2},
                     0.3f * t.type(Type::body));
    for (std::size_t i = 0; i < f.columns.size(); ++i) {
      if (l.columns[i].hidden) continue;
      TableCell cell;
      if (i == 0)
        cell = first;
      else
        read_cell(f.columns[i], l.columns[i], f.source, row, i, cell);
      const bool cut = draw_cell(f, i, cell, y + text_y, i == 0 ? mark : 0, grew);
      Line other;
      if (f.reference) other = reference_words(f.columns[i], l.columns[i], *f.reference, first.shown(), i, cell);
      const bool other_unsaid = other.length > 0 && !paint_reference(f.painter, f.columns[i], l.columns[i], cell,
                                                                     f.at.x, y + text_y, other.view());
      const float left = f.at.x + l.columns[i].left - l.pad, mouse = ImGui::GetIO().MousePos.x;
      if (!hovered || !(mouse >= left && mouse < left + l.columns[i].width + 2 * l.pad)) continue;
      f.result.hovered_row = static_cast<std::int64_t>(row);
      f.result.hovered_column = static_cast<int>(i);
      const std::string_view info = f.source.hover ? f.source.hover(f.source.context, row, i) : std::string_view{};
      if (other_unsaid)
        tip(cell.shown(), other.view(), info);
      else
        cell_tooltip(!info.empty() ? info : cut ? cell.shown() : std::string_view{});
    }
  }
  f.painter.unclip();
  if (grew) arrange_columns(f.columns, f.view.layout, f.inner_width, f.source.mark != nullptr);
}

void select(Frame& f, std::size_t position) {
  f.view.selected = static_cast<std::int64_t>(row_at(f.view, position));
  f.result.selection_changed = true;
  const double fit =
      std::max(1.0, std::floor(static_cast<double>(f.body_height) / static_cast<double>(f.view.layout.row_height)));
  const auto p = static_cast<double>(position);
  f.view.scroll_rows = std::clamp(f.view.scroll_rows, std::max(0.0, p - fit + 1), p);
}

void copy(Frame& f) {
  ImGui::SetClipboardText(table_as_tsv(f.columns, f.source, f.view).c_str());
  f.result.copied = true;
}

void handle_keys(Frame& f, ImGuiID body_id) {
  if (ImGui::GetFocusID() != body_id || !ImGui::IsWindowFocused()) return;
  if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_C)) copy(f);
  if (f.source.rows == 0) return;
  const std::size_t last = f.source.rows - 1;
  std::size_t now = 0;
  const bool any = f.view.selected >= 0;
  const auto page = static_cast<std::size_t>(std::max(1.0f, f.body_height / f.view.layout.row_height - 1));
  if (any) {
    now = static_cast<std::size_t>(f.view.selected);
    if (!f.view.rows_in_order.empty())
      now = static_cast<std::size_t>(
          std::find(f.view.rows_in_order.begin(), f.view.rows_in_order.end(), static_cast<std::uint32_t>(now)) -
          f.view.rows_in_order.begin());
  }
  struct Move {
    ImGuiKey key;
    std::size_t to;
  };
  const Move moves[] = {{ImGuiKey_DownArrow, any ? std::min(now + 1, last) : 0},
                        {ImGuiKey_UpArrow, any && now > 0 ? now - 1 : 0},
                        {ImGuiKey_PageDown, std::min(now + page, last)},
                        {ImGuiKey_PageUp, now > page ? now - page : 0},
                        {ImGuiKey_Home, 0},
                        {ImGuiKey_End, last}};
  for (const Move& move : moves) {
    if (any && move.to == now) continue;  // at the edge the key moves the focus on, as everywhere else
    ImGui::SetKeyOwner(move.key, body_id);
    if (ImGui::IsKeyPressed(move.key, ImGuiInputFlags_Repeat, body_id)) return select(f, move.to);
  }
}

void draw_scrollbar(Frame& f) {
  const Theme& t = theme();
  const float width = f.size.x - f.inner_width, x = f.at.x + f.inner_width,
              total = static_cast<float>(f.source.rows) * f.view.layout.row_height;
  const float grab = std::clamp(f.body_height * f.body_height / total, t.px(24), f.body_height),
              travel = f.body_height - grab;
  const double most = static_cast<double>(f.source.rows) -
                      static_cast<double>(f.body_height) / static_cast<double>(f.view.layout.row_height);
  ImGui::SetCursorScreenPos({x, f.body_top});
  press_area("##scroll", {width, f.body_height}, ImGuiButtonFlags_None);
  const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  if (active && travel > 0) {
    const float part = std::clamp((ImGui::GetIO().MousePos.y - f.body_top - grab / 2) / travel, 0.0f, 1.0f);
    f.view.scroll_rows = static_cast<double>(part) * most;
  }
  const float y = f.body_top + travel * static_cast<float>(most > 0 ? std::min(1.0, f.view.scroll_rows / most) : 0);
  f.painter.rect({x + width * 0.3f, y}, {x + width, y + grab}, active || hovered ? t.muted : t.line, t.px(4));
}

void draw_menu(Frame& f) {
  if (ImGui::IsMouseHoveringRect(f.at, {f.at.x + f.size.x, f.at.y + f.size.y}) &&
      ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) &&
      ImGui::IsMouseReleased(ImGuiMouseButton_Right))
    ImGui::OpenPopup("menu");
  if (!ImGui::BeginPopup("menu")) return;
  if (ImGui::MenuItem("Copy", "Ctrl+C")) copy(f);
  if (ImGui::MenuItem("Clear selection", nullptr, false, f.view.selected >= 0)) {
    f.view.selected = -1;
    f.result.selection_changed = true;
  }
  ImGui::EndPopup();
}

}  // namespace

TableResult draw_table(const char* id, std::span<const TableColumn> columns, const TableSource& source, TableView& view,
                       ImVec2 size) {
  const Theme& t = theme();
  TableResult result;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (size.x <= 0) size.x = std::max(1.0f, ImGui::GetContentRegionAvail().x);
  Frame f{id, columns, source, view, result, Painter::window(), at, size, 0, 0, size.x, false, reference_rows(id)};
  // The row height depends on the theme alone, so whether it scrolls is known before the columns are laid out.
  TableLayout heights;
  arrange_columns({}, heights, 0, false);
  const float all_rows = static_cast<float>(std::max<std::size_t>(source.rows, 1)) * heights.row_height;
  if (size.y <= 0) f.size.y = heights.header_height + all_rows;
  f.body_top = at.y + heights.header_height;
  f.body_height = std::max(1.0f, f.size.y - heights.header_height);
  f.scrolls = all_rows > f.body_height + 0.5f;
  if (f.scrolls) f.inner_width = std::max(1.0f, size.x - t.px(12));
  ImGui::PushID(id);
  refresh(f);
  leave_rows(id, columns, view.layout, source);
  f.painter.clip(at, {at.x + f.inner_width, f.body_top});
  draw_header(f);
  f.painter.unclip();
  refresh(f);  // a click on a header shows at once

  ImGui::SetCursorScreenPos({at.x, f.body_top});
  ImGui::SetNextItemAllowOverlap();
  press_area(id, {f.inner_width, f.body_height});
  const ImGuiID body_id = ImGui::GetItemID();
  handle_keys(f, body_id);
  if (f.scrolls && ImGui::IsWindowHovered() &&
      ImGui::IsMouseHoveringRect({at.x, f.body_top}, {at.x + f.size.x, f.body_top + f.body_height})) {
    ImGui::SetKeyOwner(ImGuiKey_MouseWheelY, body_id);
    view.scroll_rows -= 3.0 * static_cast<double>(ImGui::GetIO().MouseWheel);
  }
  draw_rows(f, visible_rows(source.rows, view.layout.row_height, f.body_height, view.scroll_rows), body_id);
  if (source.rows == 0)
    f.painter.text({at.x + view.layout.pad, f.body_top + 0.3f * t.type(Type::body)}, "no rows", t.muted);
  if (f.scrolls) draw_scrollbar(f);
  draw_menu(f);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(f.size);
  ImGui::PopID();
  result.size = f.size;
  if (Record* record = f.painter.record()) record->tables.push_back(table_data(id, columns, source, view));
  return result;
}

}  // namespace widgets
