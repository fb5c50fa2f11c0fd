#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "chapters/precision/block_formats/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::precision::block_formats {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// The strip of elements: which are shown, and where heights lie. Heights go by asinh, so that an outlier leaves the
/// others visible.
struct Strip {
  std::size_t first = 0, end = 0;
  float left = 0, right = 0, middle = 0, half = 0;
  double largest = 1;  ///< magnitude shown
  float x(double element) const {
    return left + (right - left) *
                      static_cast<float>((element - static_cast<double>(first)) / static_cast<double>(end - first));
  }
  float y(double value) const {
    return middle -
           half * static_cast<float>(std::clamp(std::asinh(value / unit) / std::asinh(largest / unit), -1.0, 1.0));
  }
  double unit = 1;
};

void paint_heights(const Painter& p, const Strip& s) {
  const auto& t = widgets::theme();
  float clear = 1e6f;
  const double decade = std::pow(10, std::floor(std::log10(s.largest)));
  for (double d = decade; d >= s.unit * 0.09; d /= 10)
    for (const double m : {5.0, 2.0, 1.0}) {
      const double v = m * d;
      if (v > s.largest || std::abs(s.y(v) - clear) < t.px(17) || s.middle - s.y(v) < t.px(17)) continue;
      clear = s.y(v);
      for (const double w : {v, -v}) {
        p.line({s.left, s.y(w)}, {s.right, s.y(w)}, t.grid);
        p.text({s.left - t.px(7), s.y(w) - t.px(8)}, widgets::format(w, "", 2), t.muted, Type::small, Font::mono,
               Align::right);
      }
    }
  p.line({s.left, s.middle}, {s.right, s.middle}, t.line);
  p.text({s.left - t.px(7), s.middle - t.px(8)}, "0", t.muted, Type::small, Font::mono, Align::right);
}

void paint_blocks(const Painter& p, const Outputs& out, const Picture& picture, const Strip& s, float top,
                  float bottom) {
  const auto& t = widgets::theme();
  const auto size = static_cast<std::size_t>(out.block_size);
  float clear_from = s.left;
  for (std::size_t b = s.first / size; b * size < s.end; ++b) {
    const float x0 = s.x(static_cast<double>(std::max(b * size, s.first))),
                x1 = s.x(static_cast<double>(std::min((b + 1) * size, s.end)));
    if (b % 2 == 0) p.rect({x0, top}, {x1, bottom}, widgets::with_alpha(t.card, 0.75f));
    p.line({x0, top - t.px(18)}, {x0, bottom}, t.line);
    if (widgets::veiled()) continue;
    for (const double v : picture.levels[b])
      if (std::abs(v) <= s.largest * 1.001)
        p.line({x0 + t.px(1), s.y(v)}, {x1 - t.px(1), s.y(v)}, widgets::with_alpha(t.accent, 0.30f));
    const std::string& text = picture.scale_texts[b];
    if (x0 + t.px(4) >= clear_from && widgets::text_size(text, Type::small, Font::mono).x + t.px(8) <= x1 - x0) {
      p.text({x0 + t.px(4), top - t.px(19)}, text, t.muted, Type::small, Font::mono);
      clear_from = x1;
      const std::string& lost = picture.lost_texts[b];
      const float used = widgets::text_size(text, Type::small, Font::mono).x + t.px(20);
      if (!lost.empty() && used + widgets::text_size(lost, Type::small).x + t.px(4) <= x1 - x0)
        p.text({x1 - t.px(4), top - t.px(19)}, lost, t.bad, Type::small, Font::sans, Align::right);
    }
  }
}

void paint_elements(const Painter& p, const Outputs& out, const Picture& picture, const Strip& s) {
  const auto& t = widgets::theme();
  const float step = (s.right - s.left) / static_cast<float>(s.end - s.first),
              radius = std::clamp(step * 0.36f, t.px(1.6f), t.px(6));
  for (std::size_t i = s.first; i < s.end; ++i) {
    const float x = s.x(static_cast<double>(i) + 0.5), from = s.y(picture.run->exact[i]),
                to = s.y(out.stored.values[i]);
    const bool lost = picture.lost[i] != 0;
    if (std::abs(from - to) > 0.5f && !widgets::veiled())
      p.line({x, from}, {x, to}, widgets::with_alpha(lost ? t.bad : t.warning, 0.75f), t.px(1.2f));
    p.ring({x, from}, radius, t.muted, t.px(1.3f));
    if (widgets::veiled()) continue;
    if (lost) {  // A cross says that the value is gone.
      p.line({x - radius, to - radius}, {x + radius, to + radius}, t.bad, t.px(1.4f));
      p.line({x - radius, to + radius}, {x + radius, to - radius}, t.bad, t.px(1.4f));
    } else {
      p.circle({x, to}, radius, t.accent);
    }
    if (i != picture.largest) continue;
    const float wide = widgets::text_size(picture.largest_text, Type::small, Font::mono).x, side = radius + t.px(6);
    const ImVec2 at{x + side + wide <= s.right ? x + side : x - side - wide, from - t.type(Type::small) / 2 - t.px(1)};
    p.rect({at.x - t.px(2), at.y}, {at.x + wide + t.px(2), at.y + t.type(Type::small) + t.px(2)},
           widgets::with_alpha(t.background, 0.85f), t.px(2));
    p.text(at, picture.largest_text, t.text, Type::small, Font::mono);
  }
}

void element_tip(const Outputs& out, const Picture& picture, const Strip& s) {
  const ImVec2 mouse = ImGui::GetMousePos();
  if (mouse.x < s.left || mouse.x >= s.right) return;
  const auto i = std::min(s.end - 1, s.first + static_cast<std::size_t>((mouse.x - s.left) / (s.right - s.left) *
                                                                        static_cast<float>(s.end - s.first)));
  const auto block = i / static_cast<std::size_t>(out.block_size);
  widgets::Line name, value, info;
  name.add("element ")
      .add_integer(static_cast<std::int64_t>(i))
      .add(" of block ")
      .add_integer(static_cast<std::int64_t>(block));
  value.add(widgets::format(picture.run->exact[i], "", 5))
      .add(" is stored as ")
      .add(widgets::format(out.stored.values[i], "", 5));
  info.add("code ")
      .add_integer(static_cast<std::int64_t>(out.codes[i]))
      .add(", scale ")
      .add(picture.scale_texts[block]);
  widgets::tip(name.view(), value.view(), info.view());
}

}  // namespace

namespace {

/// Which elements are shown: those asked for, or as many whole blocks as leave each its room.
void choose_stretch(const Outputs& out, const Picture& picture, const View& view, float width, Strip& s) {
  const std::size_t n = picture.run->exact.size(), block = static_cast<std::size_t>(out.block_size);
  std::size_t shown = view.shown > 0 ? static_cast<std::size_t>(view.shown) : 0;
  if (shown == 0) {
    const auto room = static_cast<std::size_t>(std::max(8.0f, width / widgets::theme().px(8.5f)));
    shown = std::max(room / block * block, std::min(room, block));
  }
  shown = std::min(shown, n);
  std::size_t first = static_cast<std::size_t>(std::max<std::int64_t>(view.first, 0));
  if (view.shown <= 0 && view.first <= 0)
    first = shown < 2 * block ? picture.largest_block * block : picture.first_shown;
  // Where its block is longer than the picture, the largest element still stands in it, with what follows it.
  if (view.shown <= 0 && view.first <= 0 && picture.largest >= first + shown)
    first = picture.largest + 1 + shown / 8 - shown;
  s.first = std::min(first, n - shown);
  s.end = s.first + shown;
}

/// Buttons to the elements before and after, and where the picture stands. Returns the height in px.
float draw_pages(const Picture& picture, View& view, const Strip& s, ImVec2 at) {
  const auto& t = widgets::theme();
  const std::size_t n = picture.run->exact.size(), shown = s.end - s.first;
  ImGui::SetCursorScreenPos(at);
  const auto go = [&](std::size_t first) {
    view.first = static_cast<std::int64_t>(first);
    view.shown = static_cast<std::int64_t>(shown);
  };
  if (widgets::button("earlier")) go(s.first - std::min(s.first, shown));
  ImGui::SameLine(0, t.px(6));
  if (widgets::button("later")) go(std::min(s.first + shown, n - shown));
  ImGui::SameLine(0, t.px(12));
  widgets::Line where;
  where.add("elements ")
      .add_integer(static_cast<std::int64_t>(s.first))
      .add(" to ")
      .add_integer(static_cast<std::int64_t>(s.end) - 1)
      .add(" of ")
      .add_integer(static_cast<std::int64_t>(n));
  Painter::window().text({ImGui::GetCursorScreenPos().x, at.y + t.px(7)}, where.view(), t.muted, Type::small);
  return t.px(36);
}

void paint_key(const Painter& p, const Picture& picture, ImVec2 at, float right) {
  const auto& t = widgets::theme();
  const auto key = [&](const auto& mark, std::string_view text) {
    const float wide = t.px(15) + widgets::text_size(text, Type::small).x;
    if (at.x + wide > right) return;
    mark(ImVec2{at.x + t.px(5), at.y + t.px(8)});
    p.text({at.x + t.px(15), at.y}, text, t.muted, Type::small);
    at.x += wide + t.px(18);
  };
  key([&](ImVec2 c) { p.ring(c, t.px(3.5f), t.muted, t.px(1.3f)); }, "exact");
  key([&](ImVec2 c) { p.circle(c, t.px(3.5f), t.accent); }, "stored");
  key(
      [&](ImVec2 c) {
        p.line({c.x - t.px(4), c.y - t.px(4)}, {c.x + t.px(4), c.y + t.px(4)}, t.bad, t.px(1.8f));
        p.line({c.x - t.px(4), c.y + t.px(4)}, {c.x + t.px(4), c.y - t.px(4)}, t.bad, t.px(1.8f));
      },
      "became 0");
  if (!picture.levels.empty() && !picture.levels[0].empty())
    key(
        [&](ImVec2 c) {
          p.line({c.x - t.px(5), c.y}, {c.x + t.px(5), c.y}, t.accent, t.px(1));
        },
        "what the block can store");
  key([](ImVec2) {}, "heights: linear near 0, logarithmic beyond");
}

}  // namespace

void draw_strip(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::GivenMarks given;  // the numbers and their blocks; what is stored is drawn by nobody while veiled
  const Painter p = Painter::window();
  ImVec2 corner = ImGui::GetCursorScreenPos();
  if (widgets::veiled()) {
    corner.x += veil_inset().x;
    size.x -= 2 * veil_inset().x;
  }
  Strip s{0, 0, corner.x + t.px(54), corner.x + size.x, 0, 0, 1, 1};
  choose_stretch(out, picture, view, s.right - s.left, s);
  float y = corner.y;
  if (s.end - s.first < picture.run->exact.size() && size.y >= t.px(230) && !widgets::veiled())
    y += draw_pages(picture, view, s, corner);
  const bool key = size.y >= t.px(170);
  const float end = corner.y + size.y - (key ? t.type(Type::small) + t.px(8) : 0.0f);
  ImGui::SetCursorScreenPos({corner.x, y});
  const widgets::Rect area = widgets::canvas("elements and their blocks", {size.x, std::max(1.0f, end - y)}, {1, 1});
  const bool hovered = ImGui::IsItemHovered();
  if (ImGui::IsItemClicked()) {
    const float share = (ImGui::GetMousePos().x - s.left) / (s.right - s.left);
    const auto at = static_cast<double>(s.first) +
                    static_cast<double>(std::clamp(share, 0.0f, 0.9999f)) * static_cast<double>(s.end - s.first);
    view.block = static_cast<std::int64_t>(at / out.block_size);
  }
  double magnitudes = 0;
  s.largest = 0;
  for (std::size_t i = s.first; i < s.end; ++i) {
    s.largest = std::max(
        {s.largest, std::abs(picture.run->exact[i]), widgets::veiled() ? 0.0 : std::abs(out.stored.values[i])});
    magnitudes += std::abs(picture.run->exact[i]);
  }
  if (!(s.largest > 0)) s.largest = 1;
  s.unit = std::max(magnitudes / static_cast<double>(s.end - s.first) * 0.5, s.largest * 1e-6);
  const float top = area.min.y + t.px(22), bottom = area.max.y - t.px(2);
  s.middle = (top + bottom) / 2;
  s.half = std::max(1.0f, (bottom - top) / 2 - t.px(8));
  paint_blocks(p, out, picture, s, top, bottom);
  paint_heights(p, s);
  paint_elements(p, out, picture, s);
  p.text({area.min.x, area.min.y + t.px(3)}, "scale", t.muted, Type::small);
  if (hovered && !widgets::veiled()) element_tip(out, picture, s);
  widgets::drew("numbers and blocks");
  if (key && !widgets::veiled()) paint_key(p, picture, {s.left, end + t.px(6)}, corner.x + size.x);
}

}  // namespace chapters::precision::block_formats
