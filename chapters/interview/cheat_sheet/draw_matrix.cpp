#include <algorithm>
#include <cmath>

#include "chapters/interview/cheat_sheet/draw_parts.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

/// Techniques by what they move: a triangle as large as the factor's logarithm, its point where the quantity goes.
namespace chapters::interview::cheat_sheet {
namespace {

using models::sheet::moved_count, models::sheet::serving_count;
using widgets::Align, widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

constexpr float min_row = 15, max_row = 24, head_height = 20;

struct MatrixPlace {
  ImVec2 corner{};
  float name = 0, column = 0, row = 0, head = 0, width = 0;
  std::size_t from = 0, to = 0;
  std::array<std::uint8_t, moved_count> columns{};  ///< those that some row moves
  std::size_t column_count = 0;

  float column_x(std::size_t c) const { return corner.x + name + column * static_cast<float>(c); }
  float bottom() const { return corner.y + head + row * static_cast<float>(to - from); }
};

bool column_moves(const Picture& picture, std::size_t column, std::size_t from, std::size_t to) {
  for (std::size_t r = from; r < to; ++r)
    if (picture.rows[r].cells[column].sign != 0) return true;
  return false;
}

MatrixPlace place_matrix(const Picture& picture, const View& view, ImVec2 size) {
  const auto& t = theme();
  MatrixPlace m;
  m.corner = ImGui::GetCursorScreenPos();
  m.width = size.x;
  const ShownRows shown = shown_rows(picture, view, size.y);
  m.from = shown.from;
  m.to = shown.to;
  for (std::size_t c = 0; c < moved_count; ++c)
    if (column_moves(picture, c, m.from, m.to)) m.columns[m.column_count++] = static_cast<std::uint8_t>(c);
  const auto count = static_cast<float>(std::max<std::size_t>(1, m.column_count));
  m.name = std::clamp(0.22f * size.x, t.px(104), t.px(170));
  m.column = std::min(t.px(84), (size.x - m.name) / count);
  m.head = t.px(head_height);
  const auto rows = static_cast<float>(std::max<std::size_t>(1, m.to - m.from));
  m.row = std::clamp((size.y - m.head) / rows, t.px(8), t.px(max_row));
  return m;
}

void paint_cell(const Painter& p, const Cell& cell, ImVec2 centre, float column, float row) {
  const auto& t = theme();
  if (cell.sign == 0) {
    p.circle(centre, t.px(1), t.line);
    return;
  }
  const ImU32 tone = cell.sign > 0 ? t.good : t.bad;
  const float half = std::min(0.36f * row, t.px(3.0f + 3.5f * cell.weight));
  const ImVec2 words = widgets::text_size(cell.text, Type::small, Font::mono);
  const float whole = 2 * half + t.px(3) + words.x;
  // Where a column is too narrow for both, the figure stands alone: its colour and the sign say the way.
  const bool both = whole <= column - t.px(2);
  float x = centre.x - (both ? whole : words.x) / 2;
  if (both) {
    const float mid = x + half, up = centre.y - 0.8f * half, down = centre.y + 0.8f * half;
    const ImVec2 rising[] = {{mid, up}, {mid + half, down}, {mid - half, down}};
    const ImVec2 falling[] = {{mid, down}, {mid - half, up}, {mid + half, up}};
    p.polygon(cell.less ? std::span<const ImVec2>(falling) : std::span<const ImVec2>(rising), tone);
    x += 2 * half + t.px(3);
  }
  if (words.x <= column) p.text({x, centre.y - words.y / 2}, cell.text, tone, Type::small, Font::mono);
}

/// Does the search find the column? Its words are compared in lower case.
bool is_found(const Search& search, const ColumnWords& words) {
  char small[96] = {};
  std::size_t n = 0;
  for (const std::string_view part : {words.head, words.full})
    for (const char letter : part)
      if (n < sizeof small) small[n++] = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
  return search.finds({small, n});
}

void draw_column(const Painter& p, const MatrixPlace& m, std::size_t c, bool lit) {
  const auto& t = theme();
  const ColumnWords& words = column_words()[m.columns[c]];
  const ImVec2 at{m.column_x(c), m.corner.y};
  if (lit) p.rect(at, {at.x + m.column, m.bottom()}, widgets::with_alpha(t.accent, 0.10f), t.px(3));
  widgets::fit_text(p, {at.x + m.column / 2, at.y}, words.head, m.column - t.px(2), lit ? t.text : t.muted, Type::small,
                    Font::sans, Align::center);
  p.line({at.x, m.corner.y + m.head}, {at.x, m.bottom()}, t.grid);
  ImGui::SetCursorScreenPos(at);
  widgets::press_area("a column", {m.column, m.head}, ImGuiButtonFlags_None);
  if (ImGui::IsItemHovered()) widgets::tip(words.head, words.full);
}

/// A technique with what it moves; was it pressed?
bool draw_technique(const Painter& p, const MatrixPlace& m, std::size_t r, const MatrixRow& row, bool found,
                    bool searched) {
  const auto& t = theme();
  const float y = m.corner.y + m.head + m.row * static_cast<float>(r - m.from);
  ImGui::SetCursorScreenPos({m.corner.x, y});
  const bool pressed =
      widgets::press_area("a technique", {m.name + m.column * static_cast<float>(m.column_count), m.row});
  const bool hovered = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  const ImVec2 end{m.column_x(m.column_count), y + m.row};
  if (hovered || found) p.rect({m.corner.x, y}, end, hovered ? t.card : widgets::with_alpha(t.accent, 0.12f), t.px(3));
  if (r == serving_count && r > m.from) p.line({m.corner.x, y}, {end.x, y}, t.line);
  const float text_y = y + (m.row - t.type(Type::small)) / 2 - t.px(1);
  const ImU32 ink = !row.known || (searched && !found) ? t.muted : t.text;
  widgets::fit_text(p, {m.corner.x + t.px(4), text_y}, technique_words()[r].name, m.name - t.px(8), ink, Type::small,
                    found ? Font::bold : Font::sans);
  for (std::size_t c = 0; c < m.column_count; ++c)
    paint_cell(p, row.cells[m.columns[c]], {m.column_x(c) + m.column / 2, y + m.row / 2}, m.column, m.row);
  if (ImGui::IsItemHovered()) widgets::tip(row.tip_name, row.tip_value, row.tip_info);
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  return pressed;
}

void keep_matrix(const Outputs& out, widgets::Record& record) {
  widgets::DataTable table{"what moves what", {"technique"}, {}};
  for (const ColumnWords& c : column_words()) table.columns.emplace_back(c.head);
  for (std::size_t r = 0; r < out.techniques.size(); ++r) {
    auto& cells = table.rows.emplace_back(1, out.techniques[r].technique);
    for (const double f : out.techniques[r].factor) cells.push_back(widgets::exact(f));
  }
  record.tables.push_back(std::move(table));
}

}  // namespace

ShownRows shown_rows(const Picture& picture, const View& view, float height) {
  const auto& t = theme();
  const std::size_t all = picture.rows.size();
  const float room = std::max(0.0f, (height - t.px(head_height)) / t.px(min_row));
  const std::size_t fits = std::clamp<std::size_t>(static_cast<std::size_t>(room), 1, std::max<std::size_t>(1, all));
  ShownRows shown;
  shown.pages = (all + fits - 1) / fits;
  if (shown.pages == 0) return shown;
  // All pages are about as long.
  const std::size_t rows = (all + shown.pages - 1) / shown.pages;
  shown.page = std::min(static_cast<std::size_t>(std::max<std::int64_t>(0, view.page)), shown.pages - 1);
  shown.from = std::min(shown.page * rows, all);
  shown.to = std::min(shown.from + rows, all);
  return shown;
}

void draw_matrix(const Inputs& in, const Outputs& out, const Picture& picture, View& view, const Search& search,
                 ImVec2 size) {
  const Painter p = Painter::window();
  const MatrixPlace m = place_matrix(picture, view, size);
  std::array<bool, moved_count> lit{};
  for (std::size_t c = 0; c < m.column_count; ++c) {
    lit[c] = is_found(search, column_words()[m.columns[c]]);
    ImGui::PushID(static_cast<int>(c));
    draw_column(p, m, c, lit[c]);
    ImGui::PopID();
  }
  for (std::size_t r = m.from; r < m.to; ++r) {
    const MatrixRow& row = picture.rows[r];
    bool found = search.finds(row.words);
    for (std::size_t c = 0; c < m.column_count; ++c) found = found || (lit[c] && row.cells[m.columns[c]].sign != 0);
    ImGui::PushID(static_cast<int>(r));
    if (draw_technique(p, m, r, row, found, search.length > 0))
      view.requests.open_link = link_to(in, out, technique_words()[r].lab);
    ImGui::PopID();
  }
  if (widgets::Record* record = p.record()) keep_matrix(out, *record);
  widgets::drew("matrix");
}

}  // namespace chapters::interview::cheat_sheet
