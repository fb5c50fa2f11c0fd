#include "widgets/table/table.h"

namespace widgets {

void paint_row_mark(const Painter& painter, RowMark mark, ImVec2 c, float r) {
  switch (mark.shape) {
    case Marker::none:
      break;
    case Marker::circle:
      painter.circle(c, r, mark.colour);
      break;
    case Marker::square:
      painter.rect({c.x - r, c.y - r}, {c.x + r, c.y + r}, mark.colour);
      break;
    case Marker::triangle: {
      const ImVec2 p[] = {{c.x, c.y - r}, {c.x + r, c.y + r}, {c.x - r, c.y + r}};
      painter.polygon(p, mark.colour);
      break;
    }
    case Marker::diamond: {
      const ImVec2 p[] = {
          {c.x, c.y - 1.25f * r}, {c.x + 1.25f * r, c.y}, {c.x, c.y + 1.25f * r}, {c.x - 1.25f * r, c.y}};
      painter.polygon(p, mark.colour);
      break;
    }
  }
}

}  // namespace widgets
