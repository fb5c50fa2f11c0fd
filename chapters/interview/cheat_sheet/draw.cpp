#include <algorithm>
#include <array>
#include <cstdio>

#include "chapters/interview/cheat_sheet/draw_parts.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"
#include "widgets/table/row_table.h"

namespace chapters::interview::cheat_sheet {
namespace {

using widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

/// A word that is pressed.
bool pressed_word(const Painter& p, const char* id, std::string_view words, ImVec2 at) {
  const auto& t = theme();
  const ImVec2 size = widgets::text_size(words, Type::small);
  ImGui::SetCursorScreenPos(at);
  const bool pressed = widgets::press_area(id, {size.x, size.y + t.px(4)});
  if (ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible))
    p.line({at.x, at.y + size.y}, {at.x + size.x, at.y + size.y}, t.accent);
  p.text(at, words, t.accent, Type::small);
  return pressed;
}

/// The box to search in, which rows are looked at, and Copy.
void draw_head(const Picture& picture, View& view, const ShownRows& rows, ImVec2 size) {
  const auto& t = theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  // A scenario may have brought another search.
  if (view.search != view.typed) std::snprintf(view.typed, sizeof view.typed, "%s", view.search.c_str());
  const float box = std::clamp(0.3f * size.x, t.px(120), t.px(260));
  ImGui::PushFont(widgets::font_of(Font::sans), t.type(Type::small));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      {t.px(8), std::max(1.0f, (size.y - t.px(4) - ImGui::GetFontSize()) / 2)});
  ImGui::SetNextItemWidth(box);
  if (ImGui::InputTextWithHint("##search the page", "search: cache, links", view.typed, sizeof view.typed))
    view.search = view.typed;
  ImGui::PopStyleVar();
  ImGui::PopFont();
  const Painter p = Painter::window();
  const char* copy = view.copied ? "Copied" : "Copy as Markdown";
  const ImVec2 words = widgets::text_size(copy, Type::small);
  const float y = corner.y + (size.y - words.y) / 2 - t.px(2);
  float x = corner.x + box + t.px(12), right = corner.x + size.x;
  if (rows.pages > 1) {
    widgets::Line where;
    where.add("rows ").add_integer(static_cast<std::int64_t>(rows.from + 1)).add(" to ");
    where.add_integer(static_cast<std::int64_t>(rows.to)).add(" of ");
    where.add_integer(static_cast<std::int64_t>(picture.rows.size()));
    x += p.text({x, y}, where.view(), t.muted, Type::small) + t.px(8);
    if (pressed_word(p, "the next rows", "next", {x, y}))
      view.page = static_cast<std::int64_t>((rows.page + 1) % rows.pages);
    x += widgets::text_size("next", Type::small).x + t.px(16);
  }
  if (right - words.x > x) {
    right -= words.x;
    if (pressed_word(p, "copy the page as Markdown", copy, {right, y})) {
      ImGui::SetClipboardText(picture.markdown.c_str());
      view.copied = true;
    }
  }
  widgets::fit_text(p, {x, y}, picture.case_words, right - x - t.px(12), t.muted, Type::small);
  ImGui::SetCursorScreenPos({corner.x, corner.y + size.y});
}

void draw_page(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.version == 0 || widgets::veiled()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float head = t.px(30), gap = t.px(6);
  // The ladder keeps two tiers of words on each side of its axis while there is room.
  const float ladder = std::clamp(0.24f * size.y, t.px(56), t.px(130));
  const float matrix = size.y - head - ladder - 2 * gap;
  draw_head(picture, view, shown_rows(picture, view, matrix), {size.x, head});
  const Search search = search_of(view);
  ImGui::SetCursorScreenPos({corner.x, corner.y + head + gap});
  draw_matrix(in, out, picture, view, search, {size.x, matrix});
  ImGui::SetCursorScreenPos({corner.x, corner.y + size.y - ladder});
  draw_ladder(in, picture, view, search, {size.x, ladder});
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

constexpr std::array<widgets::TableColumn, 5> word_columns{{{.title = "Technique", .number = false},
                                                            {.title = "When", .number = false},
                                                            {.title = "Not when", .number = false, .priority = 1},
                                                            {.title = "Measure", .number = false, .priority = 2},
                                                            {.title = "Result", .number = false, .priority = 3}}};

void draw_words(const Picture& picture, View& view, ImVec2 size) {
  if (picture.words.empty()) return;
  widgets::draw_table("when and when not", word_columns,
                      widgets::table_of(picture.words,
                                        [](const TechniqueWords& w, const widgets::RowCells& cells) {
                                          cells(w.name, w.when, w.when_not, w.measure, w.quality);
                                        }),
                      view.words, size);
}

}  // namespace

Search search_of(const View& view) {
  Search search;
  for (const char c : view.search) {
    if (search.length + 1 >= sizeof search.text) break;
    search.text[search.length++] = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  return search;
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("page", {.title = "What moves what", .least = {460, 270}, .answers = true, .marks = "matrix, ladder"},
              [&](ImVec2 size) { draw_page(in, out, picture, view, size); });
  stage.panel("sums", {.title = "The sums", .least = {400, 250}, .scrolls = true},
              [&](ImVec2 size) { draw_sums(in, out, picture, view, search_of(view), size); });
  stage.panel("chains", {.title = "What to do first", .least = {420, 180}},
              [&](ImVec2 size) { draw_chains(picture, search_of(view), size); });
  stage.panel("words", {.title = "When, and when not", .least = {520, 160}, .scrolls = true},
              [&](ImVec2 size) { draw_words(picture, view, size); });
}

}  // namespace chapters::interview::cheat_sheet
