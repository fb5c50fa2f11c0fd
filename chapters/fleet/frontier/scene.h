#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "chapters/fleet/frontier/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"

/// Where things stand in the picture of the fronts, and the parts of it that are taken by hand.
namespace chapters::fleet::frontier {

struct Scene {
  widgets::Rect area;
  ImVec2 corner{}, size{};
  widgets::AxisSpec x, y;                                ///< as they are drawn
  float x_from = 0, x_part = 1, y_from = 0, y_part = 1;  ///< from the picture's places to those that are drawn

  float wide() const { return area.max.x - area.min.x; }
  float tall() const { return area.max.y - area.min.y; }
  ImVec2 at(Spot spot) const {
    return {area.min.x + (x_from + spot.u * x_part) * wide(), area.max.y - (y_from + spot.v * y_part) * tall()};
  }
  /// The ruler's direction to the right, one pixel long.
  ImVec2 along(double fall) const;
};

/// Places that are taken, so that no words stand on others.
class Labels {
 public:
  void take(widgets::Rect place);
  /// The first of the places where words of this size are free and inside; null: there is none. It is then taken.
  const ImVec2* place(std::span<const ImVec2> places, ImVec2 words, const widgets::Rect& inside);

 private:
  std::array<widgets::Rect, 200> taken_{};
  std::size_t count_ = 0;
};

Scene make_scene(const Picture& picture, const View& view, ImVec2 corner, ImVec2 size);
void paint_axes(const widgets::Painter& p, const Picture& picture, const Scene& s);
void paint_walls(const widgets::Painter& p, const Picture& picture, const Scene& s);
void paint_ruler(const widgets::Painter& p, const Picture& picture, const Scene& s, const View& view, Labels& labels);
void turn_ruler(Inputs& in, const widgets::Painter& p, const Picture& picture, const Scene& s, View& view,
                Labels& labels);
void drag_walls(Inputs& in, const widgets::Painter& p, const Picture& picture, const Scene& s, View& view,
                Labels& labels);
void choose_axes(Inputs& in, const widgets::Painter& p, const Picture& picture, const Scene& s);

}  // namespace chapters::fleet::frontier
