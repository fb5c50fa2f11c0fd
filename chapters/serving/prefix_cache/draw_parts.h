#pragma once
#include "chapters/serving/prefix_cache/lab.h"
#include "widgets/base/parts.h"

/// What both kinds of the hero share: columns of requests, and the words at their left.
namespace chapters::serving::prefix_cache {

/// Where columns stand, in screen pixels.
struct ColumnPlace {
  widgets::Rect area;
  std::size_t columns = 1;
  float pitch() const { return area.width() / static_cast<float>(columns); }
  float centre(std::size_t i) const { return area.min.x + pitch() * (static_cast<float>(i) + 0.5f); }
  float half() const { return pitch() > 5 ? 0.4f * pitch() : 0.5f * pitch(); }
  /// The column at this x, one of those there are.
  std::size_t at(float x) const;
};

/// Found, recomputed and first computed blocks of each column, from its base up; columns from `after` on are pale.
void paint_columns(const widgets::Painter& p, const ColumnPlace& place, const Picture& picture, std::size_t after);
/// The outlines of the same: how long the prompts are.
void paint_column_outlines(const widgets::Painter& p, const ColumnPlace& place, const Picture& picture);
/// What the colours are, in one line; returns its height.
float paint_key(const widgets::Painter& p, ImVec2 at, float width, std::string_view hint);
/// A title, a figure and a line of words under each other, in `room` px.
void paint_side_words(const widgets::Painter& p, ImVec2 at, float room, std::string_view title, std::string_view figure,
                      std::string_view words);
/// Says what is under the pointer.
void show_column_tip(const Picture& picture, std::size_t column);
/// Width of the words at the left; 0 where there is no room for them.
float side_width(float width);

}  // namespace chapters::serving::prefix_cache
