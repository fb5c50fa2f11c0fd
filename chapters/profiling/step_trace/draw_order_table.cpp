#include <algorithm>
#include <cmath>

#include "chapters/profiling/step_trace/lab.h"
#include "widgets/stage/sentence.h"

namespace chapters::profiling::step_trace {

using widgets::Align, widgets::Font, widgets::Type;

void draw_order_table(const Picture& picture, widgets::Rect area) {
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const float row = t.px(21), width = area.width(), half = (row - t.type(Type::small)) / 2;
  const float x_bar = area.min.x + 0.28f * width, x_order = area.min.x + 0.55f * width,
              x_alone = area.min.x + 0.66f * width, x_step = area.min.x + 0.77f * width,
              x_then = area.min.x + 0.80f * width;
  const float scale =
      picture.order.largest_s > 0 ? (x_order - t.px(74) - x_bar) / static_cast<float>(picture.order.largest_s) : 0;
  float y = area.min.y;
  p.text({area.min.x, y}, "What each change takes", t.text, Type::small, Font::bold);
  p.text({x_order, y}, "in this order", t.muted, Type::small, Font::sans, Align::right);
  p.text({x_alone, y}, "alone", t.muted, Type::small, Font::sans, Align::right);
  p.text({x_step, y}, "step", t.muted, Type::small, Font::sans, Align::right);
  widgets::fit_text(p, {x_then, y}, "then the largest is", area.max.x - x_then, t.muted, Type::small);
  y += t.px(22);
  for (std::size_t i = 0; i < picture.order.rows.size(); ++i, y += row) {
    const Order::Row& r = picture.order.rows[i];
    if (i % 2 == 0) p.rect({area.min.x, y}, {area.max.x, y + row}, widgets::with_alpha(t.card, 0.7f), t.px(3));
    const float text_y = y + half;
    p.text({area.min.x + t.px(6), text_y}, widgets::Line().add_integer(static_cast<std::int64_t>(i) + 1).view(),
           t.muted, Type::small, Font::mono);
    widgets::fit_text(p, {area.min.x + t.px(22), text_y}, r.name, x_bar - area.min.x - t.px(30), t.text, Type::small);
    const float length = scale * static_cast<float>(std::abs(r.in_order_s));
    p.rect({x_bar, y + t.px(4)}, {x_bar + std::max(length, t.px(1)), y + row - t.px(4)},
           r.in_order_s > 0 ? t.bad : t.accent, t.px(2));
    p.text({x_order, text_y}, r.in_order, t.text, Type::small, Font::mono, Align::right);
    const float alone = widgets::text_size(r.alone, Type::small, Font::mono).x;
    if (r.differs)
      p.frame({x_alone - alone - t.px(5), y + t.px(1)}, {x_alone + t.px(5), y + row - t.px(1)}, t.warning, t.px(1.5f),
              t.px(4));
    p.text({x_alone, text_y}, r.alone, r.differs ? t.text : t.muted, Type::small, Font::mono, Align::right);
    p.text({x_step, text_y}, r.step, t.text, Type::small, Font::mono, Align::right);
    const ImVec2 square{x_then, y + row / 2 - t.px(4)};
    p.rect(square, {square.x + t.px(8), square.y + t.px(8)}, widgets::colour(tint_of_part(r.largest), t), t.px(2));
    widgets::fit_text(p, {x_then + t.px(13), text_y}, r.then, area.max.x - x_then - t.px(16), t.text, Type::small);
  }
  if (!picture.order.says.empty())
    widgets::draw_sentence(p, {area.min.x, y + t.px(5)}, picture.order.says, width,
                           {Type::small, Font::sans, t.text, t.accent});
}

}  // namespace chapters::profiling::step_trace
