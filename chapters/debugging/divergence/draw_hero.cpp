#include <algorithm>

#include "chapters/debugging/divergence/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/plot/plot.h"

namespace chapters::debugging::divergence {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// The map of layers by steps in screen pixels: layer 0 at the bottom. Its steps are those that the losses show.
struct CellMap {
  Rect area;
  double lo = 0, hi = 1, steps = 1;
  float row = 1;
  int rows = models::debugging::twin_layers;
  float x(double step) const { return area.min.x + static_cast<float>((step - lo) / (hi - lo)) * area.width(); }
  float middle(double step) const { return x(step + 0.5); }
  float y(int layer) const { return area.max.y - row * static_cast<float>(layer + 1); }
  bool shows(double step) const { return middle(step) >= area.min.x && middle(step) <= area.max.x; }
  double step_at(float px) const {
    return std::clamp(std::floor(lo + static_cast<double>((px - area.min.x) / area.width()) * (hi - lo)), 0.0,
                      steps - 1);
  }
  int layer_at(float py) const { return std::clamp(static_cast<int>((area.max.y - py) / row), 0, rows - 1); }
};

ImU32 colour_of_shade(int shade, const widgets::Theme& t) {
  return shade == 0 ? t.bad : widgets::heat(t, 0.12 + 0.88 * static_cast<double>(shade) / shades);
}

/// Width for the names of the rows: that of the longest, so far as the map stays wide.
float name_px(const widgets::Theme& t, const Picture& picture, float width) {
  float wide = t.px(54);
  for (const std::string& name : picture.row_names) wide = std::max(wide, widgets::text_size(name, Type::small).x);
  return std::min(wide, std::max(t.px(54), 0.2f * width));
}

/// Names of the layers, or of what is logged, and their empty rows: what a question gives.
void paint_rows(const Painter& p, const CellMap& map, const Picture& picture, int marked, float names) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small);
  const bool named = map.row >= line;
  for (int l = 0; l < map.rows; ++l) {
    const float top = map.y(l);
    p.rect({map.area.min.x, top}, {map.area.max.x, top + map.row - 1}, t.card);
    if (!picture.row_names.empty()) {
      const std::string& name = picture.row_names[static_cast<std::size_t>(l)];
      const float wide = std::min(widgets::text_size(name, Type::small).x, names);
      widgets::fit_text(p, {map.area.min.x - t.px(18) - wide, top + (map.row - line) / 2}, name, names,
                        l == marked ? t.text : t.muted, Type::small);
      continue;
    }
    if (!named && l % 2 == 1) continue;
    widgets::Line words;
    if (l == 0 || l + 1 == map.rows || l == marked) words.add("layer ");
    words.add_integer(l);
    p.text({map.area.min.x - t.px(18), top + (map.row - line) / 2}, words.view(), l == marked ? t.text : t.muted,
           Type::small, l == marked ? Font::bold : Font::sans, Align::right);
  }
}

/// In the map's place, of what the map would be made.
void paint_missing(const Painter& p, Rect area, const Picture& picture) {
  const auto& t = widgets::theme();
  const float wide = std::min(widgets::text_size(picture.missing_words, Type::body).x, area.width() - t.px(24));
  const ImVec2 at{(area.min.x + area.max.x - wide) / 2, (area.min.y + area.max.y - t.type(Type::body)) / 2};
  p.plate(at, picture.missing_words, t.background, Type::body);
  widgets::fit_text(p, at, picture.missing_words, wide + 1, t.text, Type::body);
}

/// The ramp with its ends, and what equal looks like; without them where nothing is compared.
void paint_key(const Painter& p, Rect area, const Picture& picture) {
  const auto& t = widgets::theme();
  if (!picture.missing_words.empty()) {
    widgets::fit_text(p, area.min, picture.shown_words, area.width(), t.muted, Type::small);
    return;
  }
  const float line = t.type(Type::small), box = t.px(10), wide = t.px(84);
  const float y = area.min.y, mid = y + (line - box) / 2;
  float x = area.max.x;
  p.text({x, y}, "100 %", t.muted, Type::small, Font::sans, Align::right);
  x -= widgets::text_size("100 %", Type::small).x + t.px(5) + wide;
  for (int s = 0; s < shades; ++s) {
    const float each = wide / static_cast<float>(shades);
    p.rect({x + each * static_cast<float>(s), mid}, {x + each * static_cast<float>(s + 1) + 0.5f, mid + box},
           colour_of_shade(s + 1, t));
  }
  x -= t.px(5);
  p.text({x, y}, "1e-6 %", t.muted, Type::small, Font::sans, Align::right);
  x -= widgets::text_size("1e-6 %", Type::small).x + t.px(16);
  const std::string_view equal = picture.row_names.empty() ? "equal bits" : "equal numbers";
  p.text({x, y}, equal, t.muted, Type::small, Font::sans, Align::right);
  x -= widgets::text_size(equal, Type::small).x + t.px(5) + box;
  p.rect({x, mid}, {x + box, mid + box}, t.card);
  p.frame({x, mid}, {x + box, mid + box}, t.line);
  if (picture.gaps) {
    x -= t.px(12);
    p.text({x, y}, "not in both", t.muted, Type::small, Font::sans, Align::right);
    x -= widgets::text_size("not in both", Type::small).x + t.px(5) + box;
    widgets::hatch(p, {{x, mid}, {x + box, mid + box}}, t.line, t.px(4));
    p.frame({x, mid}, {x + box, mid + box}, t.line);
  }
  widgets::fit_text(p, {area.min.x, y}, picture.shown_words, x - area.min.x - t.px(12), t.muted, Type::small);
}

void paint_stretches(const Painter& p, const CellMap& map, const Picture& picture) {
  const auto& t = widgets::theme();
  p.clip(map.area.min, map.area.max);
  for (const CellStretch& s : picture.stretches) {
    const float top = map.y(s.layer);
    const Rect cell{{map.x(s.from), top}, {map.x(s.to), top + map.row - 1}};
    p.rect(cell.min, cell.max, s.shade < 0 ? t.background : colour_of_shade(s.shade, t));
    if (s.shade < 0) widgets::hatch(p, cell, t.line, t.px(4));
  }
  if (picture.ended_at >= 0) {
    const Rect rest{{std::max(map.x(picture.ended_at), map.area.min.x), map.area.min.y}, map.area.max};
    if (rest.width() > 0) {
      p.rect(rest.min, rest.max, t.background);
      widgets::hatch(p, rest, t.line, t.px(9));
    }
  }
  p.unclip();
}

/// A box with a line to the first cell that differs; on the side with more room.
void paint_ring(const Painter& p, const CellMap& map, const Picture& picture) {
  if (picture.ring_layer < 0 || !map.shows(picture.ring_step)) return;
  const auto& t = widgets::theme();
  const ImVec2 at{map.middle(picture.ring_step), map.y(picture.ring_layer) + map.row / 2};
  const float radius = std::clamp(map.row * 0.55f, t.px(7), t.px(13));
  const float line = t.type(Type::small), air = t.px(7);
  const float wide = std::max(widgets::text_size(picture.ring_bold, Type::small, Font::bold).x,
                              widgets::text_size(picture.ring_words, Type::small).x) +
                     2 * air;
  const float high = 2 * line + 2 * air + t.px(2);
  const bool left = at.x - map.area.min.x > wide + radius + t.px(14);
  const bool fits = left || map.area.max.x - at.x > wide + radius + t.px(14);
  if (fits && map.area.height() > high) {
    const float x = left ? at.x - radius - t.px(12) - wide : at.x + radius + t.px(12);
    const float y = std::clamp(at.y + map.row, map.area.min.y, map.area.max.y - high);
    p.line({left ? x + wide : x, y + high / 2}, at, t.text, t.px(1.2f));
    p.rect({x, y}, {x + wide, y + high}, t.panel, t.px(4));
    p.frame({x, y}, {x + wide, y + high}, t.text, t.px(1.2f), t.px(4));
    p.text({x + air, y + air}, picture.ring_bold, t.text, Type::small, Font::bold);
    p.text({x + air, y + air + line + t.px(2)}, picture.ring_words, t.muted, Type::small);
  }
  p.ring(at, radius + t.px(1.5f), t.background, t.px(5));
  p.ring(at, radius, t.text, t.px(2.2f));
}

/// Each comparison as a row: what was left, and where two hashes were compared.
void paint_probes(const Painter& p, const CellMap& map, Rect area, const Picture& picture) {
  const auto& t = widgets::theme();
  const std::size_t n = picture.probes.size();
  if (n == 0) return;
  const float line = t.type(Type::small), each = std::min(t.px(9), area.height() / static_cast<float>(n));
  if (each < t.px(3)) return;
  p.text({map.area.min.x - t.px(18), area.min.y}, "hashes", t.muted, Type::small, Font::sans, Align::right);
  p.clip({map.area.min.x, area.min.y}, {map.area.max.x, area.max.y});
  for (std::size_t k = 0; k < n; ++k) {
    const ProbeMark& m = picture.probes[k];
    const float y = area.min.y + each * (static_cast<float>(k) + 0.5f), half = std::max(each * 0.28f, t.px(1));
    p.rect({map.x(m.lo), y - half}, {std::max(map.x(m.hi + 1), map.x(m.lo) + t.px(2)), y + half}, t.line, half);
    const ImVec2 at{map.middle(m.at), y};
    const float radius = std::max(each * 0.36f, t.px(2));
    p.circle(at, radius, m.equal ? t.text : t.bad);
  }
  p.unclip();
  const float wide = widgets::text_size(picture.probe_words, Type::small).x;
  const ProbeMark& last = picture.probes.back();
  const float y = area.min.y + each * static_cast<float>(n) - line;
  const float right = map.x(last.hi + 1) + t.px(16), left = map.x(last.lo) - t.px(16) - wide;
  const auto write = [&](ImVec2 at) {
    p.plate(at, picture.probe_words, t.background, Type::small);
    p.text(at, picture.probe_words, t.text, Type::small);
  };
  if (n >= 3 && right + wide < map.area.max.x)
    write({right, y});
  else if (n >= 3 && left > map.area.min.x)
    write({left, y});
  else if (n < 3)
    write({map.area.min.x, area.min.y + each * static_cast<float>(n) + t.px(2)});
}

/// The cursor through the map and, in another stretch, through the losses; and what it reads.
void paint_cursor(const Painter& p, const CellMap& map, float hashes_end, const widgets::Box& losses,
                  const Picture& picture, double cursor) {
  const auto& t = widgets::theme();
  const auto step = static_cast<std::size_t>(std::clamp(cursor, 0.0, map.steps - 1));
  if (!map.shows(static_cast<double>(step))) return;
  const float x = map.middle(static_cast<double>(step)), knob = map.area.min.y - t.px(10);
  p.line({x, knob}, {x, hashes_end}, t.text, t.px(1.2f));
  if (losses.height() > 0)
    p.line({x, losses.min.y + t.px(24)}, {x, losses.max.y}, widgets::with_alpha(t.text, 0.7f), t.px(1.2f));
  p.circle({x, knob}, t.px(5.5f), t.background);
  p.circle({x, knob}, t.px(4), t.text);
  if (step >= picture.cursor_words.size()) return;
  const std::string& words = picture.cursor_words[step];
  const float wide = widgets::text_size(words, Type::small).x, y = knob - t.type(Type::small) / 2;
  const bool right = x + t.px(12) + wide < map.area.max.x;
  if (right || x - t.px(12) - wide > map.area.min.x)
    p.text({right ? x + t.px(12) : x - t.px(12) - wide, y}, words, t.text, Type::small);
  if (picture.loudest[step] < 0) return;
  const float top = map.y(picture.loudest[step]);
  p.frame({x - t.px(5), top - 1}, {x + t.px(5), top + map.row}, t.background, t.px(4));
  p.frame({x - t.px(5), top - 1}, {x + t.px(5), top + map.row}, t.text, t.px(1.5f));
}

/// A hand on the map: on the ring it moves the fault, elsewhere the cursor.
void take_hand(Inputs& in, const CellMap& map, const Picture& picture, View& view) {
  const auto& t = widgets::theme();
  ImGui::SetCursorScreenPos({map.area.min.x, map.area.min.y - t.px(18)});
  widgets::press_area("map of layers by steps", {map.area.width(), map.area.height() + t.px(18)});
  if (!ImGui::IsItemActive()) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos, from = ImGui::GetIO().MouseClickedPos[0];
  if (ImGui::IsItemActivated()) {
    view.holds_fault = false;
    if (picture.ring_layer >= 0) {
      const float dx = from.x - map.middle(picture.ring_step), dy = from.y - (map.y(picture.ring_layer) + map.row / 2);
      view.holds_fault = dx * dx + dy * dy < t.px(18) * t.px(18);
    }
  }
  if (!ImGui::IsMouseDown(0)) return;
  if (!view.holds_fault) {
    view.cursor = map.step_at(mouse.x);
    return;
  }
  in.step = std::max<std::int64_t>(1, static_cast<std::int64_t>(map.step_at(mouse.x)));
  in.layer = map.layer_at(mouse.y);
}

void draw_losses(Inputs& in, const Picture& picture, View& view, ImVec2 size, float names) {
  const auto& t = widgets::theme();
  view.link.need_gutter(names + t.px(18));
  widgets::Plot plot("losses", view.plot,
                     {.x = {.lo = picture.from_step, .hi = picture.last_step + 1, .label = "step"},
                      .y = {.lo = picture.least_loss, .hi = picture.most_loss, .label = picture.loss_label},
                      .size = size,
                      .legend = size.y > t.px(150),
                      .link = &view.link,
                      .ghost = false});
  plot.curves(picture.losses);
  widgets::drew("losses");
  if (picture.ring_step >= 0) plot.tag_x(picture.ring_step, {}, {.colour = t.text, .output = "first_step"});
  if (!picture.parts_words.empty()) {
    plot.vertical_mark(picture.parts_step, picture.parts_words, {.colour = t.bad, .output = "loss_parts_step"});
    plot.tag_x(picture.parts_step, {}, {.colour = t.bad, .output = "loss_parts_step"});
  }
  if (picture.ended_at >= 0 && picture.parts_words.empty())
    plot.vertical_mark(picture.ended_at, picture.ended_words, {.colour = t.bad});
  if (!picture.silence_words.empty() && size.y > t.px(130))
    plot.text(picture.silence_at, 0.9 * picture.most_loss, picture.silence_words, {.colour = t.text});
  double step = static_cast<double>(in.step);
  if (in.fault != PlantedFault::none && picture.row_names.empty() &&
      plot.drag_x("step of the fault", step, {.lo = 1, .hi = 255}))
    in.step = static_cast<std::int64_t>(std::round(std::clamp(step, 1.0, 255.0)));
}

/// How the height is dealt out: words and knob at the head, cells, hashes, losses.
struct HeroHeights {
  float line = 0, head = 0, cells = 0, hashes = 0, losses = 0;
};

HeroHeights heights_of(const Picture& picture, float high) {
  const auto& t = widgets::theme();
  HeroHeights h;
  h.line = t.type(Type::small);
  h.head = h.line + t.px(26);
  const std::size_t probes = picture.probes.size();
  const float wanted = t.px(9) * static_cast<float>(probes) + (probes < 3 ? h.line + t.px(4) : 0.0f);
  h.hashes = high > t.px(330) ? std::min(wanted, high * 0.17f) + t.px(8) : 0.0f;
  h.losses = std::max(t.px(120), (high - h.head - h.hashes) * 0.42f);
  h.cells = high - h.head - h.hashes - h.losses - t.px(4);
  return h;
}

/// The map over the plot of losses: both have the same steps under each other, unless the plot is veiled.
CellMap map_over_losses(const Picture& picture, const View& view, Rect area) {
  const auto& t = widgets::theme();
  const widgets::Box& plot = view.plot.scratch.frame.area;
  const bool veiled = widgets::veiled();
  if (!veiled && plot.width() > t.px(20)) {
    area.min.x = plot.min.x;
    area.max.x = plot.max.x;
  }
  const int rows =
      picture.row_names.empty() ? models::debugging::twin_layers : static_cast<int>(picture.row_names.size());
  CellMap map{.area = area,
              .lo = picture.from_step,
              .hi = picture.last_step + 1,
              .steps = picture.last_step + 1,
              .row = area.height() / static_cast<float>(rows),
              .rows = rows};
  if (!veiled && view.plot.x_lo < view.plot.x_hi) {
    map.lo = view.plot.x_lo;
    map.hi = view.plot.x_hi;
  }
  return map;
}

void keep_cells(const Picture& picture, widgets::Record& record) {
  widgets::DataTable table{
      "cells", {picture.row_names.empty() ? "layer" : "quantity", "from step", "to step", "shade"}, {}};
  for (const CellStretch& s : picture.stretches)
    table.rows.push_back(
        {std::to_string(s.layer), std::to_string(s.from), std::to_string(s.to - 1), std::to_string(s.shade)});
  record.tables.push_back(std::move(table));
}

}  // namespace

void draw_hero(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const HeroHeights h = heights_of(picture, size.y);
  if (picture.version == 0 || h.cells < t.px(60)) {
    ImGui::Dummy(size);
    return;
  }
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({corner.x, corner.y + size.y - h.losses});
  const bool veiled = widgets::veiled();
  const float names = name_px(t, picture, size.x), top = corner.y + h.head;
  draw_losses(in, picture, view, {size.x, h.losses}, names);
  const CellMap map = map_over_losses(
      picture, view, {{corner.x + names + t.px(20), top}, {corner.x + size.x - t.px(10), top + h.cells}});
  const Painter p = Painter::window();
  {
    const widgets::GivenMarks given;
    paint_rows(p, map, picture, veiled ? -1 : picture.ring_layer, names);
  }
  widgets::drew("cells");
  if (veiled) return;
  const Rect& area = map.area;
  paint_key(p, {{area.min.x, corner.y}, {area.max.x, corner.y + h.line}}, picture);
  paint_stretches(p, map, picture);
  if (!picture.missing_words.empty()) paint_missing(p, area, picture);
  if (picture.row_names.empty())
    paint_cursor(p, map, area.max.y + std::max(0.0f, h.hashes - t.px(4)), view.plot.scratch.frame.area, picture,
                 view.cursor);
  if (h.hashes > 0)
    paint_probes(p, map, {{area.min.x, area.max.y + t.px(5)}, {area.max.x, area.max.y + h.hashes - t.px(3)}}, picture);
  paint_ring(p, map, picture);
  if (picture.row_names.empty()) take_hand(in, map, picture, view);
  if (widgets::Record* record = p.record()) keep_cells(picture, *record);
}

}  // namespace chapters::debugging::divergence
