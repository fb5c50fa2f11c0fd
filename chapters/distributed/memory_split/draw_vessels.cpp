#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/memory_split/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/motion.h"
#include "widgets/base/press_area.h"
#include "widgets/charts/vessel.h"
#include "widgets/number/number.h"

namespace chapters::distributed::memory_split {
namespace {

using widgets::Font, widgets::Painter, widgets::Rect, widgets::Theme, widgets::Type;

constexpr std::size_t most_cells = 8;

ImU32 layer_colour(std::size_t layer, const Theme& t) {
  const LayerLook& look = layer_look(layer);
  return widgets::vessel_colour(look.tint, look.pale, t);
}

/// Whether a piece is so high that its value has the middle, and which part lies here stands below.
bool has_value_above(const Rect& piece) { return piece.height() >= 5.2f * widgets::theme().type(Type::small); }

/// Which part of the owner's bytes lies here: one filled cell of as many as there are parts, or words. `high`: below
/// the value.
void paint_part(const Painter& p, const Rect& r, const models::parallel::OwnerPart& part, bool high, ImU32 fill) {
  const Theme& t = widgets::theme();
  if (part.parts <= 1 || r.height() < t.px(11)) return;
  const ImU32 ink = widgets::text_on(fill, t);
  if (part.parts > static_cast<std::int64_t>(most_cells)) {
    const float small = t.type(Type::small);
    if (r.height() < small + t.px(2)) return;
    widgets::Line words;
    words.add("1 of ").add_integer(part.parts);
    const float y = high ? r.max.y - small - t.px(4) : (r.min.y + r.max.y - small) / 2;
    p.text({r.max.x - t.px(6), y}, words.view(), ink, Type::small, Font::mono, widgets::Align::right);
    return;
  }
  const float room = (r.width() - t.px(9)) / static_cast<float>(part.parts);
  const float step = std::min(t.px(13), room), w = step - t.px(3), h = t.px(7);
  if (w < t.px(3)) return;
  const float y = high ? r.max.y - h - t.px(5) : (r.min.y + r.max.y - h) / 2;
  float x = r.max.x - t.px(6) - step * static_cast<float>(part.parts) + t.px(3);
  for (std::int64_t i = 0; i < part.parts; ++i, x += step)
    if (i == part.index)
      p.rect({x, y}, {x + w, y + h}, ink, t.px(1));
    else
      p.frame({x, y}, {x + w, y + h}, widgets::with_alpha(ink, 0.7f), t.px(1), t.px(1));
}

/// The parts of a layer that others keep, on their way out: `gone` pixels of its height, cut where the parts end.
void paint_leaving(const Painter& p, const Rect& r, float gone, const models::parallel::OwnerPart& part, double dealt) {
  const Theme& t = widgets::theme();
  const auto parts = static_cast<float>(std::min<std::int64_t>(part.parts, most_cells));
  if (parts < 2 || gone < t.px(1)) return;
  // A GPU's own part stands among the others, from the ground up.
  const float own_at = static_cast<float>(part.index) / static_cast<float>(part.parts);
  const float own_bottom = r.max.y - gone * own_at, own_top = own_bottom - (r.height() - gone);
  const ImU32 veil = widgets::with_alpha(t.background, static_cast<float>(0.25 + 0.6 * dealt));
  p.rect({r.min.x, own_bottom}, r.max, veil);
  p.rect(r.min, {r.max.x, own_top}, veil);
  for (float i = 1; i < parts; ++i) {
    const float y = r.max.y - r.height() * i / parts;
    p.line({r.min.x, y}, {r.max.x, y}, t.background, t.px(1.5f));
  }
  p.frame({r.min.x, own_top}, {r.max.x, own_bottom}, t.text, t.px(1.5f));
}

void paint_piece(const Painter& p, const SplitPiece& piece, const models::parallel::OwnerPart& part) {
  const Theme& t = widgets::theme();
  const LayerLook& look = layer_look(piece.layer);
  const ImU32 fill = layer_colour(piece.layer, t);
  Rect r = piece.rect;
  if (r.height() > t.px(3)) r.max.y -= t.px(1);
  p.rect(r.min, r.max,
         piece.over     ? widgets::with_alpha(fill, 0.42f)
         : look.passing ? widgets::with_alpha(fill, 0.5f)
                        : fill);
  if (piece.over) widgets::hatch(p, r, widgets::with_alpha(t.background, 0.55f), t.px(6));
  if (piece.over) p.frame(r.min, r.max, fill, t.px(1));
  if (look.passing)
    for (const float y : {r.min.y, r.max.y}) p.dashed_line({r.min.x, y}, {r.max.x, y}, t.text, t.px(1.2f), t.px(4));
  if (!piece.over) paint_part(p, r, part, has_value_above(piece.rect), look.passing ? t.panel : fill);
}

/// `words`: how much more it is, which holds for the plan with all its axes.
void paint_ghost(const Painter& p, const SplitLayout& l, std::string_view words) {
  const Theme& t = widgets::theme();
  if (l.ghost.empty()) return;
  for (const Rect& v : l.vessels) {
    for (const GhostPiece& g : l.ghost) {
      p.rect({v.min.x, g.top}, {v.max.x, g.bottom}, widgets::with_alpha(layer_colour(g.layer, t), 0.16f));
      p.dashed_line({v.min.x, g.top}, {v.max.x, g.top}, t.muted, t.px(1), t.px(4));
    }
    p.dashed_line({v.min.x, l.ghost_from}, {v.min.x, l.ghost_top}, t.muted, t.px(1), t.px(4));
    p.dashed_line({v.max.x, l.ghost_from}, {v.max.x, l.ghost_top}, t.muted, t.px(1), t.px(4));
  }
  // On the first vessel's largest piece: how much more it is.
  const auto most = std::max_element(l.ghost.begin(), l.ghost.end(),
                                     [](const auto& a, const auto& b) { return a.bottom - a.top < b.bottom - b.top; });
  const float title = t.type(Type::title), small = t.type(Type::small);
  if (words.empty() || most->bottom - most->top < title + small + t.px(10)) return;
  for (std::size_t i = 0; i < l.vessels.size(); ++i) {
    const Rect& v = l.vessels[i];
    const float x = (v.min.x + v.max.x) / 2, y = (most->top + most->bottom) / 2 - (title + small) / 2;
    if (widgets::text_size(words, Type::title, Font::mono).x > v.width() - t.px(8)) return;
    p.text({x, y}, words, i == 0 ? t.text : t.muted, Type::title, Font::mono, widgets::Align::center);
    widgets::fit_text(p, {x, y + title + t.px(2)}, "with plain DDP", v.width() - t.px(8), t.muted, Type::small,
                      Font::sans, widgets::Align::center);
  }
}

/// Walls and, at their top, the lip of the rim; `broken`: the rim is off the scale, and the walls are broken.
void paint_walls(const Painter& p, const Rect& v, bool broken) {
  const Theme& t = widgets::theme();
  if (broken)
    for (const float x : {v.min.x, v.max.x})
      for (const float y : {v.min.y + t.px(16), v.min.y + t.px(21)})
        p.line({x - t.px(6), y + t.px(3)}, {x + t.px(6), y - t.px(3)}, t.text, t.px(1.5f));
  const float w = t.px(2.5f), lip = t.px(9);
  p.line({v.min.x - w / 2, v.min.y}, {v.min.x - w / 2, v.max.y + w}, t.text, w);
  p.line({v.max.x + w / 2, v.min.y}, {v.max.x + w / 2, v.max.y + w}, t.text, w);
  p.line({v.min.x - w, v.max.y + w / 2}, {v.max.x + w, v.max.y + w / 2}, t.text, w);
  p.line({v.min.x - w / 2, v.min.y}, {v.min.x - lip, v.min.y - lip * 0.4f}, t.text, w);
  p.line({v.max.x + w / 2, v.min.y}, {v.max.x + lip, v.min.y - lip * 0.4f}, t.text, w);
}

void paint_labels(const Painter& p, const SplitLayout& l, float left, float names) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), x = l.vessels.front().min.x;
  for (const SplitLabel& label : l.labels) {
    const float y = label.y - small / 2;
    const LayerLook& look = layer_look(label.layer);
    const ImU32 ink = label.ghost ? t.muted : t.text;
    const widgets::NumberText value = widgets::format(label.value, "B");
    const float wide = widgets::text_size(value, Type::small, Font::mono).x;
    p.text({x - t.px(22), y}, value, ink, Type::small, Font::mono, widgets::Align::right);
    widgets::fit_text(p, {x - t.px(30) - wide, y}, look.name, std::min(names, x - t.px(30) - wide - left), ink,
                      Type::small, Font::sans, widgets::Align::right);
    if (!label.ghost) p.line({x - t.px(18), label.y}, {x - t.px(3), label.at}, t.muted, t.px(1));
  }
}

void paint_axis(const Painter& p, const SplitLayout& l, const Picture& picture, float right) {
  const Theme& t = widgets::theme();
  const float x = l.vessels.back().max.x + t.px(12), small = t.type(Type::small);
  for (const SplitTick& tick : l.ticks) {
    p.line({x - t.px(4), tick.y}, {x, tick.y}, t.muted, t.px(1));
    p.text({x + t.px(5), tick.y - small / 2}, widgets::format(tick.value, tick.value > 0 ? "B" : ""), t.muted,
           Type::small, Font::mono);
  }
  const auto mark = [&](float y, std::string_view value, std::string_view words) {
    p.line({x - t.px(4), y}, {x + t.px(2), y}, t.text, t.px(1.5f));
    p.text({x + t.px(5), y - small / 2}, value, t.text, Type::small, Font::mono);
    const float wide = widgets::text_size(value, Type::small, Font::mono).x;
    if (widgets::text_size(words, Type::small).x > right - x - t.px(11) - wide)
      words = words.substr(0, words.find(','));
    widgets::fit_text(p, {x + t.px(11) + wide, y - small / 2}, words, right - x - t.px(11) - wide, t.muted,
                      Type::small);
  };
  mark(l.rim, picture.rim_words, l.rim_cut ? "rim, off the scale" : "rim");
  const bool apart = std::abs(l.ghost_top - l.rim) >= 1.2f * small;
  if (!l.ghost.empty() && apart) mark(l.ghost_top, picture.ghost_total, l.ghost_cut ? "DDP, higher" : "DDP");
}

/// Whether the cells that say which part lies here have room, and where: right of the value or, in a high piece, below.
bool has_cells(const Rect& r, const models::parallel::OwnerPart& part) {
  return part.parts > 1 && r.height() >= widgets::theme().px(11);
}

using VesselParts = std::vector<std::array<models::parallel::OwnerPart, split_layer_count>>;

void paint_values(const Painter& p, const SplitLayout& l, const VesselParts& parts) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  for (const SplitPiece& piece : l.pieces) {
    if (piece.rect.height() < small + t.px(5)) continue;
    const widgets::NumberText value = widgets::format(piece.value, "B");
    const LayerLook& look = layer_look(piece.layer);
    const ImU32 fill = layer_colour(piece.layer, t);
    const float wide = widgets::text_size(value, Type::small, Font::mono).x;
    const bool cells = !piece.over && has_cells(piece.rect, parts[piece.vessel][piece.layer]);
    const bool roomy = cells ? has_value_above(piece.rect) : piece.rect.height() >= 2.6f * small;
    const float other = cells && !roomy ? t.px(120) : t.px(16);
    if (wide + other > piece.rect.width()) continue;
    const float x = roomy ? (piece.rect.min.x + piece.rect.max.x) / 2 : piece.rect.min.x + t.px(8) + wide / 2;
    const float y = (piece.rect.min.y + piece.rect.max.y) / 2 - (roomy ? small + t.px(2) : small / 2);
    const ImU32 ink = look.passing || piece.over ? t.text : widgets::text_on(fill, t);
    if (piece.over)
      p.rect({x - wide / 2 - t.px(4), y - t.px(2)}, {x + wide / 2 + t.px(4), y + small + t.px(3)}, t.panel, t.px(2));
    p.text({x, y}, value, ink, Type::small, Font::mono, widgets::Align::center);
    if (roomy && !piece.over && widgets::text_size(look.name, Type::small).x < piece.rect.width() - t.px(12))
      p.text({x, y + small + t.px(3)}, look.name, ink, Type::small, Font::sans, widgets::Align::center);
  }
}

/// Arrows between neighbours where shards travel to be whole.
void paint_travel(const Painter& p, const SplitLayout& l) {
  const Theme& t = widgets::theme();
  const ImU32 colour = t.of(widgets::Meaning::communication);
  for (std::size_t i = 0; i + 1 < l.vessels.size(); ++i) {
    const auto at = std::find_if(l.pieces.begin(), l.pieces.end(), [&](const SplitPiece& piece) {
      return piece.vessel == i && layer_look(piece.layer).passing;
    });
    if (at == l.pieces.end()) continue;
    const float y = (at->rect.min.y + at->rect.max.y) / 2, x0 = l.vessels[i].max.x + t.px(6),
                x1 = l.vessels[i + 1].min.x - t.px(6);
    if (x1 - x0 < t.px(10)) continue;
    const float head = t.px(3);
    for (const float side : {-1.0f, 1.0f}) {
      const float yy = y + side * t.px(3), tip = side < 0 ? x1 : x0, back = side < 0 ? x1 - head : x0 + head;
      p.line({x0, yy}, {x1, yy}, colour, t.px(1.3f));
      p.line({tip, yy}, {back, yy - head}, colour, t.px(1.3f));
      p.line({tip, yy}, {back, yy + head}, colour, t.px(1.3f));
    }
  }
}

/// A picture of other inputs deals its last axis out, and a cursor of the old one is given up.
void deal(const Picture& picture, View& view) {
  widgets::Motion& motion = widgets::motion();
  if (view.seen != picture.version) {
    if (view.seen != 0) {
      view.step = view.moment = -1;
      view.playing = false;
      view.dealing = motion.on && !motion.held;
      view.dealt = view.dealing ? 0 : 1;
    }
    view.seen = picture.version;
  }
  if (!view.dealing) return;
  constexpr double deal_s = 0.7;
  view.dealt = std::min(1.0, view.dealt + static_cast<double>(motion.seconds) / deal_s);
  view.dealing = view.dealt < 1;
  motion.moving = true;
}

/// What the vessels hold: the axes that are applied, the last of them as far as it has cut; or a moment of the step.
void choose_stacks(const Picture& picture, View& view, std::size_t step) {
  view.shown = picture.stacks[step];
  const std::vector<SplitStack>& before = picture.stacks[step > 0 ? step - 1 : 0];
  for (std::size_t i = 0; i < view.shown.size() && view.dealt < 1; ++i)
    for (std::size_t k = 0; k < split_layer_count; ++k)
      view.shown[i][k] += (1 - view.dealt) * (before[i][k] - view.shown[i][k]);
  const bool at_moment = view.moment >= 0 && view.moment < static_cast<std::int64_t>(picture.moment_stacks.size());
  if (!at_moment || step + 1 < picture.stacks.size() || view.dealt < 1) return;
  for (std::size_t i = 0; i < view.shown.size(); ++i)
    if (picture.vessels[i].fullest) view.shown[i] = picture.moment_stacks[static_cast<std::size_t>(view.moment)];
}

void paint_pieces(const Painter& p, const Picture& picture, const View& view, std::size_t step) {
  for (const SplitPiece& piece : view.layout.pieces) {
    const models::parallel::OwnerPart& part = picture.parts[step][piece.vessel][piece.layer];
    const double now = view.shown[piece.vessel][piece.layer], after = picture.stacks[step][piece.vessel][piece.layer];
    const bool leaves = view.dealt < 1 && now > after && !layer_look(piece.layer).passing;
    paint_piece(p, piece, leaves ? models::parallel::OwnerPart() : part);
    if (leaves)
      paint_leaving(p, piece.rect, piece.rect.height() * static_cast<float>((now - after) / now), part, view.dealt);
  }
}

/// Under each vessel: its GPU, where that stands, and what it holds.
void paint_feet(const Painter& p, const Picture& picture, const View& view) {
  const Theme& t = widgets::theme();
  const float body = t.type(Type::body);
  for (std::size_t i = 0; i < view.layout.vessels.size(); ++i) {
    const Rect& v = view.layout.vessels[i];
    const VesselWords& words = picture.vessels[i];
    const float y = view.layout.ground + t.px(7);
    const widgets::NumberText sum = widgets::format(total_of(view.shown[i]), "B");
    const float name = widgets::text_size(words.label, Type::body, Font::bold).x,
                total = widgets::text_size(sum, Type::body, Font::mono).x;
    const bool beside = name + total + t.px(8) <= v.width();
    const float below = y + body + t.px(3);
    p.text({v.min.x, y}, words.label, t.text, Type::body, Font::bold);
    p.text({v.max.x, beside ? y : below}, sum, t.text, Type::body, Font::mono, widgets::Align::right);
    const float sub_room = v.width() - (beside ? 0 : total + t.px(4));
    if (widgets::text_size(words.sub, Type::small).x <= sub_room)
      p.text({v.min.x, below}, words.sub, t.muted, Type::small);
  }
}

void hover_pieces(const View& view) {
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetMousePos();
  for (const SplitPiece& piece : view.layout.pieces)
    if (piece.rect.contains(mouse))
      widgets::tip(layer_look(piece.layer).name, widgets::format(view.shown[piece.vessel][piece.layer], "B"),
                   layer_look(piece.layer).info);
}

/// While a question is open: every GPU as an empty vessel up to its rim, which the chip gives.
void draw_empty_vessels(const Painter& p, const Picture& picture, ImVec2 at, ImVec2 size) {
  const widgets::GivenMarks given;
  const Theme& t = widgets::theme();
  const auto count = static_cast<float>(picture.vessels.size());
  const float body = t.type(Type::body), left = t.px(24), right = t.px(110);
  const float pitch = (size.x - left - right) / std::max(count, 1.0f), width = std::min(0.7f * pitch, t.px(300));
  const float ground = at.y + size.y - 2 * body - t.px(16), rim = at.y + 0.3f * size.y;
  for (std::size_t i = 0; i < picture.vessels.size(); ++i) {
    const float x = at.x + left + pitch * (static_cast<float>(i) + 0.5f);
    const Rect v{{x - width / 2, rim}, {x + width / 2, ground}};
    paint_walls(p, v, false);
    p.text({x, ground + t.px(7)}, picture.vessels[i].label, t.text, Type::body, Font::bold, widgets::Align::center);
  }
  const float x = at.x + size.x - right + t.px(10);
  p.text({x, rim - t.type(Type::small) / 2}, picture.rim_words, t.text, Type::small, Font::mono);
  p.dashed_line({at.x + left, rim}, {x - t.px(4), rim}, t.muted, t.px(1), t.px(4));
}

}  // namespace

void draw_vessels(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.stacks.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (widgets::veiled()) {
    draw_empty_vessels(p, picture, at, size);
    ImGui::Dummy(size);
    return;
  }
  widgets::drew("vessels");
  widgets::drew("rim");
  const float small = t.type(Type::small), body = t.type(Type::body);
  float top = at.y;
  if (size.x >= t.px(420) && size.y >= t.px(240)) {
    top += draw_switches(in, at, size.x) + t.px(7);
    draw_steps(out, picture, view, {at.x, top}, size.x);
    top += body + t.px(14);
  }
  const float strip = size.y >= t.px(430) ? t.px(146) : 0;
  deal(picture, view);
  const std::size_t last = picture.stacks.size() - 1;
  const std::size_t step = view.step >= 0 ? std::min(last, static_cast<std::size_t>(view.step)) : last;
  choose_stacks(picture, view, step);
  const float foot = 2 * body + t.px(16);
  const bool wide = size.x >= t.px(560), dealt = !(view.dealt < 1);
  const float left = wide ? t.px(170) : t.px(12), right = wide ? t.px(150) : t.px(70);
  SplitRoom room{
      .line = small + t.px(3), .gap = t.px(46), .least_label = t.px(1.5f), .widest = t.px(420), .cut_at_rim = dealt};
  room.area = {{at.x + left, top + t.px(8)}, {at.x + size.x - right, at.y + size.y - strip - foot}};
  layout_split(view.shown, picture.ghost, out.chip_bytes, room, view.layout);
  const SplitLayout& l = view.layout;
  paint_ghost(p, l, step == last && dealt ? std::string_view(picture.ghost_words) : std::string_view());
  paint_pieces(p, picture, view, step);
  if (dealt) paint_values(p, l, picture.parts[step]);
  for (const Rect& v : l.vessels) paint_walls(p, v, l.rim_cut);
  paint_travel(p, l);
  if (wide) paint_labels(p, l, at.x, t.px(120));
  paint_axis(p, l, picture, at.x + size.x);
  paint_feet(p, picture, view);
  ImGui::SetCursorScreenPos({at.x, top});
  widgets::press_area("vessels", {size.x, std::max(1.0f, at.y + size.y - strip - top)});
  hover_pieces(view);
  if (strip > 0) {
    ImGui::SetCursorScreenPos({at.x, at.y + size.y - strip});
    draw_units(picture, view, {size.x, strip});
  }
}

}  // namespace chapters::distributed::memory_split
