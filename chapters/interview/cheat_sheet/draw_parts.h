#pragma once
#include <imgui.h>

#include <string_view>

#include "chapters/interview/cheat_sheet/lab.h"
#include "widgets/base/painter.h"

/// The pieces of the page, each in the size that it is called with.
namespace chapters::interview::cheat_sheet {

/// What is looked for, in small letters; empty: nothing.
struct Search {
  char text[64] = {};
  std::size_t length = 0;
  std::string_view view() const { return {text, length}; }
  bool finds(std::string_view words) const { return length > 0 && words.find(view()) != std::string_view::npos; }
};
Search search_of(const View& view);

void draw_matrix(const Inputs& in, const Outputs& out, const Picture& picture, View& view, const Search& search,
                 ImVec2 size);
/// Rows of the matrix that have room in so many pixels, from the first of its page on.
struct ShownRows {
  std::size_t from = 0, to = 0, pages = 1, page = 0;
};
ShownRows shown_rows(const Picture& picture, const View& view, float height);
void draw_ladder(Inputs& in, const Picture& picture, View& view, const Search& search, ImVec2 size);
void draw_sums(Inputs& in, const Outputs& out, const Picture& picture, View& view, const Search& search, ImVec2 size);
void draw_chains(const Picture& picture, const Search& search, ImVec2 size);

/// A number in the hand at `at`: dashed below, dragged sideways, with arrow keys when focused. Returns its width.
float draw_dragged(const widgets::Painter& p, Inputs& in, View& view, Dragged d, std::string_view text, ImVec2 at,
                   const char* where);

}  // namespace chapters::interview::cheat_sheet
