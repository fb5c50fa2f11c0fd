#include <algorithm>
#include <cmath>

#include "chapters/precision/mixed/lab.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/painter.h"
#include "widgets/base/theme.h"

namespace chapters::precision::mixed {
namespace {

using models::NumberFormat, widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

ImU32 colour_of_format(NumberFormat format) { return mark_of(format).colour; }
/// Pixels of a pipe by the bytes of the numbers that it carries.
float pipe_px(double number_bytes) { return widgets::theme().px(4.0f * static_cast<float>(number_bytes)); }

/// What comes into an operation: a pipe from left to right that ends in an arrow head; its colour and width are those
/// of what flows in it.
void paint_pipe(const Painter& p, float x0, float x1, float y, const FlowStage& into) {
  const auto& t = widgets::theme();
  const ImU32 colour = colour_of_format(into.comes);
  const float half = pipe_px(into.comes_bytes) / 2, head = std::min(t.px(9), (x1 - x0) / 2);
  p.rect({x0, y - half}, {x1 - head, y + half}, widgets::with_alpha(colour, 0.75f));
  const ImVec2 tip[] = {{x1, y}, {x1 - head, y - half - t.px(4)}, {x1 - head, y + half + t.px(4)}};
  p.polygon(tip, widgets::with_alpha(colour, 0.9f));
}

/// The mark of a cast: a ring in the colour of what it makes, with its words over the pipe.
void paint_cast(const Painter& p, float x, float y, const FlowStage& into, float room) {
  const auto& t = widgets::theme();
  const ImU32 ring = colour_of_format(into.computes);
  p.circle({x, y}, t.px(7), t.background);
  p.circle({x, y}, t.px(4), ring);
  p.ring({x, y}, t.px(7), ring, t.px(2));
  const std::string_view words = into.loses_bits ? "bits lost" : "cast";
  if (widgets::text_size(words, Type::small).x <= room)
    p.text({x, y - t.px(16) - t.type(Type::small)}, words, into.loses_bits ? t.bad : t.muted, Type::small, Font::sans,
           Align::center);
}

/// Weights of a product come in from below, cast where they are kept in another format.
void paint_weights(const Painter& p, const FlowStage& s, NumberFormat kept, Rect box, float bottom) {
  const auto& t = widgets::theme();
  const float x = (box.min.x + box.max.x) / 2, half = pipe_px(s.computes_bytes) / 2;
  if (bottom - box.max.y < t.px(20)) return;
  p.rect({x - half, box.max.y + t.px(7)}, {x + half, bottom}, widgets::with_alpha(colour_of_format(s.computes), 0.75f));
  const ImVec2 tip[] = {
      {x, box.max.y + t.px(1)}, {x - half - t.px(4), box.max.y + t.px(8)}, {x + half + t.px(4), box.max.y + t.px(8)}};
  p.polygon(tip, widgets::with_alpha(colour_of_format(s.computes), 0.9f));
  if (kept != s.computes) {
    const ImU32 ring = colour_of_format(s.computes);
    const float y = bottom - t.px(2);
    p.circle({x, y}, t.px(7), t.background);
    p.circle({x, y}, t.px(4), ring);
    p.ring({x, y}, t.px(7), ring, t.px(2));
  }
}

/// `lit`: the figure that the pointer rests on counts this operation.
void paint_stage(const Painter& p, const FlowStage& s, Rect box, Type type, bool lit) {
  const auto& t = widgets::theme();
  if (lit) widgets::paint_light(p, box.min, box.max);
  const ImU32 colour = colour_of_format(s.computes);
  p.rect(box.min, box.max, t.card, t.px(6));
  p.rect(box.min, {box.min.x + t.px(5), box.max.y}, colour, t.px(2));
  p.frame(box.min, box.max, colour, t.px(1.5f), t.px(6));
  const float x = box.min.x + t.px(12), room = box.width() - t.px(18), line = t.type(type) + t.px(3);
  const int lines = std::clamp(static_cast<int>((box.height() - t.px(8)) / line), 1, 4);
  float y = box.min.y + (box.height() - line * static_cast<float>(lines)) / 2 + t.px(1);
  widgets::fit_text(p, {x, y}, s.title, room, t.text, type);
  y += line;
  if (lines >= 2) widgets::fit_text(p, {x, y}, models::number_label(s.computes), room, colour, type);
  y += line;
  if (lines >= 3) widgets::fit_text(p, {x, y}, s.share_text, room, t.muted, type, Font::mono);
  y += line;
  if (lines >= 4 && widgets::text_size(s.back_text, type).x <= room) p.text({x, y}, s.back_text, t.muted, type);
}

/// Pixels between the boxes of a row that has `slot` px for each.
float gap_px(float slot) {
  const auto& t = widgets::theme();
  return std::clamp(slot * 0.36f, t.px(18), t.px(78));
}

/// One half of the layer in a row of boxes.
void paint_row(const Painter& p, const Picture& picture, std::size_t first, std::size_t end, Rect area, Type type) {
  const auto& t = widgets::theme();
  const std::size_t n = end - first;
  if (n == 0) return;
  const float slot = area.width() / static_cast<float>(n), gap = gap_px(slot);
  const float up = t.px(20), below = std::min(area.height() * 0.3f, t.px(42));
  const Rect line{{area.min.x, area.min.y + up}, {area.max.x, area.max.y - below}};
  const float middle = (line.min.y + line.max.y) / 2, half = std::min(line.height() / 2, t.px(62));
  const auto box_of = [&](std::size_t i) {
    const float left = area.min.x + gap * 0.6f + slot * static_cast<float>(i - first);
    return Rect{{left, middle - half}, {left + slot - gap, middle + half}};
  };
  for (std::size_t i = first; i < end; ++i) {
    const FlowStage& s = picture.flow[i];
    const Rect box = box_of(i);
    const float from = i > first ? box_of(i - 1).max.x : area.min.x;
    if (i == first) paint_pipe(p, from, box.min.x, middle, s);
    if (s.product) paint_weights(p, s, picture.kept_weights, box, std::min(area.max.y - t.px(9), box.max.y + t.px(30)));
    paint_stage(p, s, box, type,
                s.product && s.computes == picture.product && widgets::output_lit("recipe_flops_share"));
    if (i > first) paint_pipe(p, from, box.min.x, middle, s);
    // What an operation computes longer than it writes is rounded where it leaves.
    if (s.rounds) p.circle({box.max.x, middle}, t.px(4), colour_of_format(s.writes));
    if (s.comes != s.computes) paint_cast(p, (from + box.min.x) / 2, middle, s, gap - t.px(4));
  }
}

}  // namespace

void draw_flow(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(8);
  // The legend: formats, then what the marks mean.
  float x = corner.x, y = corner.y;
  for (const NumberFormat format : picture.formats) {
    const std::string_view name = models::number_label(format);
    const float wide = t.px(20) + widgets::text_size(name, Type::small).x;
    if (x + wide > corner.x + size.x) break;
    p.rect({x, y + t.px(2)}, {x + t.px(12), y + t.px(13)}, colour_of_format(format), t.px(2));
    p.text({x + t.px(18), y}, name, t.text, Type::small);
    x += wide + t.px(14);
  }
  const std::string_view marks = "pipes: as wide as a number's bytes; rings: casts";
  if (x + widgets::text_size(marks, Type::small).x <= corner.x + size.x) p.text({x, y}, marks, t.muted, Type::small);
  y += line;
  const auto half = static_cast<std::size_t>(
      std::find_if(picture.flow.begin(), picture.flow.end(), [](const FlowStage& s) { return s.second_half; }) -
      picture.flow.begin());
  const bool words = size.y >= t.px(240);
  const float end = corner.y + size.y - (words ? line : 0.0f), rows = end - y;
  // One size of type for both rows, as the one with more boxes allows.
  const float slot = size.x / static_cast<float>(std::max({half, picture.flow.size() - half, std::size_t{1}}));
  const Type type = slot - gap_px(slot) >= t.px(104) && rows / 2 >= t.px(170) ? Type::body : Type::small;
  paint_row(p, picture, 0, half, {{corner.x, y}, {corner.x + size.x, y + rows / 2}}, type);
  paint_row(p, picture, half, picture.flow.size(), {{corner.x, y + rows / 2}, {corner.x + size.x, end}}, type);
  if (words) widgets::fit_text(p, {corner.x, end + t.px(4)}, picture.weights_text, size.x, t.muted, Type::small);
}

}  // namespace chapters::precision::mixed
