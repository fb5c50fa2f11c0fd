#include "widgets/charts/vessel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/base/guess.h"
#include "widgets/number/number.h"

namespace widgets {
namespace {

/// What a layer has more or less in the right vessel, on its ribbon, where that has room beside the words of thin
/// layers.
void paint_change(const Painter& p, const VesselLayout& l, std::size_t left, std::string_view unit,
                  std::span<const ImVec2, 4> ribbon) {
  const Theme& t = theme();
  const double before = static_cast<double>(ribbon[3].y - ribbon[0].y) * l.scale,
               after = static_cast<double>(ribbon[2].y - ribbon[1].y) * l.scale;
  if (std::abs(after - before) < 0.02 * std::max(l.vessels[left].total, l.vessels[left + 1].total)) return;
  const NumberText words = format(std::abs(after - before), unit);
  const float small = t.type(Type::small), sign = text_size("\xE2\x88\x92", Type::small, Font::mono).x;
  const float wide = sign + text_size(words, Type::small, Font::mono).x;
  const float room = ribbon[1].x - ribbon[0].x;
  const float clear = t.px(16);  // of the rim's lip
  if (wide + clear + t.px(4) > room) return;
  // At the thicker end.
  const float at = before > after ? (wide / 2 + clear) / room : 1 - (wide / 2 + clear) / room;
  const float top = ribbon[0].y + at * (ribbon[1].y - ribbon[0].y),
              bottom = ribbon[3].y + at * (ribbon[2].y - ribbon[3].y);
  const float middle = (top + bottom) / 2, x = ribbon[0].x + at * room;
  if (bottom - top < small + t.px(2)) return;
  for (const VesselPiece& piece : l.pieces)
    if (piece.vessel == left && piece.caption == VesselCaption::beside &&
        std::abs(piece.caption_y - middle) < 1.5f * small)
      return;
  const float y = middle - small / 2;
  p.text({x - wide / 2, y}, after < before ? "\xE2\x88\x92" : "+", t.text, Type::small, Font::mono);
  p.text({x - wide / 2 + sign, y}, words, t.text, Type::small, Font::mono);
}

/// The parts of one layer in two neighbouring vessels, joined; a layer that one of them has none of runs out in a
/// point. The vessels have the same layers in the same order.
void paint_ribbon(const Painter& p, const VesselLayout& l, std::span<const Vessel> vessels, std::size_t left,
                  std::string_view unit) {
  const Theme& t = theme();
  const auto span_of = [&](std::size_t vessel, std::string_view label, float& top, float& bottom) {
    bool any = false;
    for (const VesselPiece& piece : l.pieces) {
      if (piece.vessel != vessel || vessels[vessel].layers[piece.layer].label != label) continue;
      top = any ? std::min(top, piece.rect.min.y) : piece.rect.min.y;
      bottom = any ? std::max(bottom, piece.rect.max.y) : piece.rect.max.y;
      any = true;
    }
    return any;
  };
  const float x0 = l.vessels[left].body.max.x + t.px(2), x1 = l.vessels[left + 1].body.min.x - t.px(2);
  float start_y = l.ground, end_y = l.ground;  // where a layer would be that one of the two has none of
  for (const VesselLayer& layer : vessels[left].layers) {
    float top0 = start_y, bottom0 = start_y, top1 = end_y, bottom1 = end_y;
    const bool here = span_of(left, layer.label, top0, bottom0), there = span_of(left + 1, layer.label, top1, bottom1);
    if (!here && !there) continue;
    start_y = top0;
    end_y = top1;
    const std::array<ImVec2, 4> corners{ImVec2{x0, top0}, ImVec2{x1, top1}, ImVec2{x1, bottom1}, ImVec2{x0, bottom0}};
    // A corner that is there twice would be painted as a line.
    const std::array<ImVec2, 3> gone{corners[0], corners[1], corners[3]};
    const std::span<const ImVec2> all(corners);
    p.polygon(here && there ? all
              : here        ? std::span<const ImVec2>(gone)
                            : all.first(3),
              with_alpha(colour(layer.tint, t), 0.12f));
    paint_change(p, l, left, unit, corners);
  }
}

void paint_words(const Painter& p, const VesselPiece& piece, const VesselLayer& layer, std::string_view unit,
                 const PlacedVessel& vessel, float right) {
  const Theme& t = theme();
  const float small = t.type(Type::small), y = piece.caption_y - small / 2;
  const NumberText value = format(piece.value, unit);
  const ImU32 fill = vessel_colour(layer.tint, layer.pale, t);
  if (piece.caption == VesselCaption::beside) {
    const float x = vessel.body.max.x + t.px(14), middle = (piece.rect.min.y + piece.rect.max.y) / 2;
    p.line({piece.rect.max.x, middle}, {x - t.px(4), piece.caption_y}, t.muted);
    const float number = text_size(value, Type::small, Font::mono).x;
    const float name = text_size(layer.label, Type::small).x;
    if (x + name + t.px(6) + number <= right) {
      p.text({x, y}, layer.label, t.text, Type::small);
      p.text({x + name + t.px(6), y}, value, t.text, Type::small, Font::mono);
    } else {
      fit_text(p, {x, y}, layer.label, right - x, t.text, Type::small);
    }
    return;
  }
  const float pad = t.px(8), width = piece.rect.width() - 2 * pad;
  const float number = text_size(value, Type::small, Font::mono).x, name = text_size(layer.label, Type::small).x;
  const bool both = name + number + t.px(8) <= width;
  // Name and value on one line, else one over the other, else the name alone.
  const bool two = !both && number <= width && piece.rect.height() >= 2 * small + t.px(10);
  const float top = two ? piece.caption_y - small - t.px(2) : y, below = top + small + t.px(4);
  const ImU32 ink = text_on(fill, t);
  if (piece.over) {  // on a patch of its own colour, so that the hatching does not cross the words
    const float wide = std::min(width, both ? name + number + t.px(8) : two ? std::max(name, number) : name);
    const float x = (piece.rect.min.x + piece.rect.max.x - wide) / 2;
    p.rect({x - t.px(5), top - t.px(2)}, {x + wide + t.px(5), (two ? below : top) + small + t.px(3)}, fill, t.px(2));
    fit_text(p, {x, top}, layer.label, both ? name + 1 : wide, ink, Type::small);
    if (both) p.text({x + wide, y}, value, ink, Type::small, Font::mono, Align::right);
    if (two) p.text({x, below}, value, ink, Type::small, Font::mono);
    return;
  }
  fit_text(p, {piece.rect.min.x + pad, top}, layer.label, both ? name + 1 : width, ink, Type::small);
  if (both) p.text({piece.rect.max.x - pad, y}, value, ink, Type::small, Font::mono, Align::right);
  if (two) p.text({piece.rect.min.x + pad, below}, value, ink, Type::small, Font::mono);
}

void paint_wall(const Painter& p, const PlacedVessel& v, bool has_rim) {
  const Theme& t = theme();
  const float w = t.px(2.5f);
  p.line({v.body.min.x - w / 2, v.body.min.y}, {v.body.min.x - w / 2, v.body.max.y + w}, t.text, w);
  p.line({v.body.max.x + w / 2, v.body.min.y}, {v.body.max.x + w / 2, v.body.max.y + w}, t.text, w);
  p.line({v.body.min.x - w, v.body.max.y + w / 2}, {v.body.max.x + w, v.body.max.y + w / 2}, t.text, w);
  if (!has_rim) return;
  const float lip = t.px(9);
  p.line({v.body.min.x - w / 2, v.body.min.y}, {v.body.min.x - lip, v.body.min.y - lip * 0.5f}, t.text, w);
  p.line({v.body.max.x + w / 2, v.body.min.y}, {v.body.max.x + lip, v.body.min.y - lip * 0.5f}, t.text, w);
}

void paint_bracket(const Painter& p, const VesselLayout& l, const VesselBracket& b, float left) {
  const Theme& t = theme();
  const auto y_of = [&](double value) { return l.ground - static_cast<float>(value / l.scale); };
  const float x = l.vessels.front().body.min.x - t.px(14) - l.axis, y0 = y_of(b.to), y1 = y_of(b.from);
  if (y1 - y0 < t.px(4)) return;
  p.line({x, y0}, {x, y1}, t.muted, t.px(1.5f));
  p.line({x, y0}, {x + t.px(6), y0}, t.muted, t.px(1.5f));
  p.line({x, y1}, {x + t.px(6), y1}, t.muted, t.px(1.5f));
  const float body = t.type(Type::body), small = t.type(Type::small), middle = (y0 + y1) / 2;
  const float room = x - t.px(8) - left;
  fit_text(p, {x - t.px(8), middle - body}, b.bold, room, t.text, Type::body, Font::mono, Align::right);
  fit_text(p, {x - t.px(8), middle + t.px(3)}, b.words, room, t.muted, Type::small, Font::sans, Align::right);
  (void)small;
}

void paint_axis(const Painter& p, const VesselLayout& l, std::string_view unit) {
  const Theme& t = theme();
  const float x = l.vessels.front().body.min.x - t.px(5), small = t.type(Type::small);
  for (const VesselTick& tick : l.ticks) {
    const NumberText words = format(tick.value, tick.value > 0 ? unit : std::string_view());
    p.line({x, tick.y}, {x + t.px(4), tick.y}, t.muted, t.px(1));
    p.text({x - t.px(tick.rim ? 8 : 3), tick.y - small / 2}, words, tick.rim ? t.text : t.muted, Type::small,
           Font::mono, Align::right);
  }
}

void paint_head(const Painter& p, const Vessel& v, const PlacedVessel& placed, std::string_view unit) {
  const Theme& t = theme();
  const float x = (placed.body.min.x + placed.body.max.x) / 2, small = t.type(Type::small), title = t.type(Type::title);
  const bool noted = !v.note.empty();
  float y = placed.top - t.px(10) - title - (noted ? small + t.px(3) : 0.0f);
  // Nothing stands over an empty vessel: while a question is open it is one that is still to be filled.
  if (placed.total > 0) p.text({x, y}, format(placed.total, unit), t.text, Type::title, Font::mono, Align::center);
  y += title + t.px(3);
  if (noted) p.text({x, y}, v.note, t.muted, Type::small, Font::sans, Align::center);
}

/// Does a list of words between spaces hold this one?
bool has_word(std::string_view list, std::string_view word) {
  for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return true;
  }
  return false;
}

/// What the learner committed to, as a level of the first vessel; one that lies off the scale stands at its top.
void paint_guess(const Painter& p, const VesselLayout& l, const VesselOptions& options, float top) {
  const ShownGuess* const guess = shown_guess();
  if (!guess || !has_word(options.levels, guess->output) || !(guess->value > 0) || l.vessels.empty()) return;
  const Theme& t = theme();
  const float level = l.ground - static_cast<float>(guess->value / l.scale), y = std::max(level, top);
  const Rect& body = l.vessels.front().body;
  p.dashed_line({body.min.x - t.px(10), y}, {body.max.x + t.px(10), y}, t.accent, t.px(2), t.px(5));
  const Line words = guess_words(format(guess->value, options.unit), level < top);
  paint_guess_words(p, {body.max.x + t.px(14), y - t.type(Type::small) / 2}, words.view());
}

}  // namespace

ImU32 vessel_colour(Tint tint, bool pale, const Theme& t) {
  const ImU32 full = colour(tint, t);
  if (!pale) return full;
  ImVec4 c = ImGui::ColorConvertU32ToFloat4(full);
  constexpr float keep = 0.42f;
  c.x = 1 - keep * (1 - c.x);
  c.y = 1 - keep * (1 - c.y);
  c.z = 1 - keep * (1 - c.z);
  return ImGui::ColorConvertFloat4ToU32(c);
}

std::ptrdiff_t draw_vessels(const char* label, std::span<const Vessel> vessels, VesselView& view,
                            const VesselOptions& options) {
  const Theme& t = theme();
  const Rect area = canvas(label, options.size, {t.px(80), t.px(80)});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  layout_vessels(vessels, options, area, measure_text, view.layout);
  const VesselLayout& l = view.layout;
  const Painter p = Painter::window();
  if (options.ribbons)
    for (std::size_t i = 0; i + 1 < l.vessels.size(); ++i) paint_ribbon(p, l, vessels, i, options.unit);
  for (const VesselPiece& piece : l.pieces) {
    const VesselLayer& layer = vessels[piece.vessel].layers[piece.layer];
    const ImU32 fill = vessel_colour(layer.tint, layer.pale, t);
    const Rect r{piece.rect.min, {piece.rect.max.x, piece.rect.max.y - (piece.rect.height() > 3 ? 1.0f : 0.0f)}};
    p.rect(r.min, r.max, piece.over ? with_alpha(fill, 0.42f) : fill);
    if (piece.over) hatch(p, r, with_alpha(t.background, 0.55f), t.px(6));
    if (piece.over) p.frame(r.min, r.max, fill, t.px(1));
  }
  for (std::size_t i = 0; i < l.vessels.size(); ++i) {
    const bool has_rim = std::isfinite(vessels[i].rim);
    paint_wall(p, l.vessels[i], has_rim);
    paint_head(p, vessels[i], l.vessels[i], options.unit);
    const PlacedVessel& v = l.vessels[i];
    const float middle = (v.body.min.x + v.body.max.x) / 2;
    // One vessel alone has all the width that is as far on both sides of it.
    const float pitch = l.vessels.size() > 1 ? l.vessels[1].body.min.x - l.vessels[0].body.min.x - t.px(8)
                                             : 2 * std::min(middle - area.min.x, area.max.x - middle);
    fit_text(p, {middle, l.ground + t.px(8)}, vessels[i].label, pitch, t.text, Type::small, Font::sans, Align::center);
  }
  for (const VesselPiece& piece : l.pieces) {
    if (piece.caption == VesselCaption::none) continue;
    const PlacedVessel& v = l.vessels[piece.vessel];
    const float right =
        piece.vessel + 1 < l.vessels.size() ? l.vessels[piece.vessel + 1].body.min.x - t.px(12) : area.max.x;
    paint_words(p, piece, vessels[piece.vessel].layers[piece.layer], options.unit, v, right);
  }
  if (!l.vessels.empty())
    for (const VesselBracket& b : options.brackets) paint_bracket(p, l, b, area.min.x);
  if (!l.vessels.empty()) paint_axis(p, l, options.unit);
  paint_guess(p, l, options, area.min.y + t.px(10));
  std::ptrdiff_t pressed = -1;
  const ImVec2 mouse = ImGui::GetMousePos();
  if (hovered)
    for (const VesselPiece& piece : l.pieces)
      if (piece.rect.contains(mouse)) {
        const VesselLayer& layer = vessels[piece.vessel].layers[piece.layer];
        tip(layer.label, format(layer.value, options.unit), layer.info);
        if (clicked) pressed = static_cast<std::ptrdiff_t>(piece.vessel);
      }
  if (Record* record = p.record()) {
    DataTable table{label, {"vessel", "owner", "value"}, {}};
    for (const Vessel& v : vessels)
      for (const VesselLayer& layer : v.layers)
        table.rows.push_back({std::string(v.label), std::string(layer.label), exact(layer.value)});
    record->tables.push_back(std::move(table));
  }
  return pressed;
}

}  // namespace widgets
