#include <algorithm>
#include <cmath>

#include "chapters/framework/allocator/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::framework::allocator {
namespace {

using widgets::Font, widgets::Painter, widgets::Type;

/// What is asked for, each request as long as it is large, over a ruler in powers of two; returns where it ends.
float paint_requests(const Painter& p, const std::vector<double>& asked, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small), bar = t.px(18), pitch = bar + t.px(8), label = t.px(120);
  const double most = 2 * *std::max_element(asked.begin(), asked.end());
  const auto x_of = [&](double bytes) {
    return at.x + label + static_cast<float>(bytes / most) * (width - label - t.px(60));
  };
  float y = at.y;
  for (const double bytes : asked) {
    widgets::Line words;
    words.add(widgets::format(bytes, "B", 3, widgets::Prefix::binary));
    p.text({at.x, y + (bar - line) / 2}, words.view(), t.text, Type::small, Font::mono);
    p.rect({x_of(0), y}, {x_of(bytes), y + bar}, t.card);
    p.frame({x_of(0), y}, {x_of(bytes), y + bar}, t.text, t.px(1.5f));
    y += pitch;
  }
  const double step = std::exp2(std::ceil(std::log2(most / 12)));
  for (double bytes = 0; bytes <= most * (1 + 1e-9); bytes += step) {
    const float x = x_of(bytes);
    p.line({x, y}, {x, y + t.px(5)}, t.muted, t.px(1));
    p.text({x, y + t.px(8)}, widgets::format(bytes, "B", 3, widgets::Prefix::binary).view(), t.muted, Type::small,
           Font::mono, widgets::Align::center);
  }
  return y + t.px(12) + line;
}

}  // namespace

void draw_given_memory(const Inputs& in, const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const widgets::GivenMarks given;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small), inset = t.px(14), left = at.x + inset, width = size.x - 2 * inset;
  float y = at.y + inset;
  if (!picture.asked.empty()) {
    p.text({left, y}, picture.asked.size() == 1 ? "asked for" : "asked for, one after the other", t.text, Type::small,
           Font::bold);
    y = paint_requests(p, picture.asked, {left, y + line + t.px(8)}, width) + t.px(22);
  }
  widgets::Line words;
  words.add("the device: ").add(widgets::format(in.capacity_bytes * in.fraction, "B", 3, widgets::Prefix::binary));
  p.text({left, y}, words.view(), t.text, Type::small, Font::bold);
  y += line + t.px(8);
  const float row = t.px(24), pitch = row + t.px(5), end = at.y + size.y - t.px(44);
  for (int i = 0; i < (picture.asked.empty() ? 8 : 2) && y + row <= end; ++i, y += pitch) {
    p.rect({left, y}, {left + width, y + row}, t.card);
    p.frame({left, y}, {left + width, y + row}, t.line, 1);
  }
}

}  // namespace chapters::framework::allocator
