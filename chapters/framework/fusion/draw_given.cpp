#include "chapters/framework/fusion/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"

namespace chapters::framework::fusion {

void draw_given_boxes(const Picture& picture, const BoxesLayout& l) {
  const widgets::Painter p = widgets::Painter::window();
  const auto& t = widgets::theme();
  const widgets::GivenMarks given;
  p.frame(l.chip.min, l.chip.max, t.line, 1, t.px(8));
  for (std::size_t i = 0; i < picture.names.size(); ++i) {
    const widgets::Rect& r = l.boxes[i];
    p.rect(r.min, r.max, t.card, t.px(5));
    p.frame(r.min, r.max, t.line, 1, t.px(5));
    widgets::fit_text(p, {(r.min.x + r.max.x) / 2, (r.min.y + r.max.y - t.type(widgets::Type::small)) / 2},
                      picture.names[i], r.width() - t.px(6), t.text, widgets::Type::small, widgets::Font::bold,
                      widgets::Align::center);
  }
  p.rect(l.band.min, l.band.max, t.card, t.px(5));
  const float inset = t.px(10), middle = (l.band.min.y + l.band.max.y - t.type(widgets::Type::small)) / 2;
  p.text({l.band.min.x + inset, middle}, "main memory: what a box reads, and where it writes", t.text,
         widgets::Type::small);
  p.text({l.chip.min.x + inset, l.chip.min.y + t.px(6)}, "on the chip", t.text, widgets::Type::small);
}

}  // namespace chapters::framework::fusion
