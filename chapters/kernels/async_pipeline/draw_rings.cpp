#include <algorithm>
#include <array>

#include "chapters/kernels/async_pipeline/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/tint.h"
#include "widgets/number/number.h"
#include "widgets/plot/axis.h"

/// The hero: rings of buffers on one clock, and under them the cycles of a tile by the number of buffers.
namespace chapters::kernels::async_pipeline {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Theme, widgets::Tint,
    widgets::Type;

constexpr Tint copying = Meaning::memory_bound, computing = Meaning::compute_bound;
/// The last one is shown where blocks share the SM.
constexpr std::array<widgets::LegendEntry, 6> doing_legend{{{"on its way: latency"},
                                                            {"bytes arrive"},
                                                            {"full, waits"},
                                                            {"computes"},
                                                            {"nothing is computed"},
                                                            {"another block computes"}}};
constexpr std::array<Doing, 6> doing_order{Doing::on_its_way, Doing::arrives, Doing::waits,
                                           Doing::computes,   Doing::idles,   Doing::others};

/// Where the rings stand: one above the other on one clock.
struct RingsPlan {
  float left = 0, right = 0, words = 0, edge = 0;  ///< x: the clock's ends, words after it, the end of all
  float axis = 0, top = 0, bottom = 0;
  float row = 0, consumer = 0, copies = 0, gap = 0;  ///< heights
  double end = 1;
  float x(double cycles) const { return left + static_cast<float>(cycles / end) * (right - left); }
  float height_of(std::size_t buffers) const { return copies + static_cast<float>(buffers) * row + consumer; }
};

RingsPlan plan_rings(const Picture& picture, ImVec2 at, ImVec2 size) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  RingsPlan plan{.end = picture.clock_end};
  plan.left = at.x + std::max(t.px(86), 7.2f * small);
  plan.right = at.x + size.x - t.px(10);
  // Words that have no room between a ring's end and the clock's stand after it.
  float outside = 0;
  for (const RingPicture& r : picture.rings) {
    const float wide = r.end_words.empty() ? 0 : widgets::text_size(r.end_words, Type::small, Font::bold).x;
    if (wide + t.px(18) >= plan.right - plan.x(r.end)) outside = std::max(outside, wide);
  }
  if (outside > 0 && size.x > t.px(620)) plan.right -= outside + t.px(12);
  plan.words = plan.right + t.px(8);
  plan.edge = at.x + size.x;
  plan.axis = at.y;
  plan.top = at.y + small + t.px(8);
  plan.bottom = at.y + size.y;
  std::size_t rows = 0;
  for (const RingPicture& r : picture.rings) rows += r.buffers.size();
  const auto rings = static_cast<float>(std::max<std::size_t>(1, picture.rings.size()));
  plan.gap = t.px(size.y > t.px(260) ? 18 : 9);
  const float room = plan.bottom - plan.top - rings * plan.gap;
  // A consumer's lane is as thick as one and a half buffers, the channel's as half a one.
  const float unit = room / (static_cast<float>(std::max<std::size_t>(1, rows)) + 2.0f * rings);
  plan.row = std::clamp(unit, t.px(2), t.px(24));
  plan.consumer = std::clamp(1.5f * plan.row, std::min(small + t.px(3), 0.5f * room / rings), t.px(34));
  plan.copies = 0.55f * plan.row;
  const float taken = rings * (plan.consumer + plan.copies) + static_cast<float>(rows) * plan.row;
  if (taken > room && rows > 0)
    plan.row = std::max(1.0f, (room - rings * (plan.consumer + plan.copies)) / static_cast<float>(rows));
  return plan;
}

void paint_clock(const Painter& p, const RingsPlan& plan) {
  const Theme& t = widgets::theme();
  const widgets::AxisSpec axis{.kind = widgets::AxisKind::linear};
  const widgets::Range range{0, plan.end};
  const widgets::AxisMap map(axis.kind, range, static_cast<double>(plan.left), static_cast<double>(plan.right));
  static constexpr auto width = [](std::string_view s) {
    return widgets::text_size(s, Type::small, Font::mono).x + widgets::theme().px(30);
  };
  widgets::AxisTicks ticks;
  widgets::layout_ticks(axis, range, map, {.width_px = width, .line_px = t.type(Type::small)}, ticks);
  for (const widgets::Tick& tick : ticks.major()) {
    const auto x = static_cast<float>(tick.pixel);
    p.line({x, plan.top - t.px(4)}, {x, plan.bottom}, t.grid, t.px(1));
    const float half = widgets::text_size(tick.label.view(), Type::small, Font::mono).x / 2;
    if (x + half <= plan.right + t.px(12))
      p.text({x, plan.axis}, tick.label, t.muted, Type::small, Font::mono, Align::center);
  }
  p.text({plan.left - t.px(14), plan.axis}, "cycles", t.muted, Type::small, Font::sans, Align::right);
}

/// A word in the middle of a stretch where it has room.
void paint_word(const Painter& p, Rect box, std::string_view word, ImU32 ink, Font font = Font::mono) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  if (word.empty() || box.height() < 0.92f * small) return;
  if (widgets::text_size(word, Type::small, font).x + t.px(4) > box.width()) return;
  p.text({(box.min.x + box.max.x) / 2, (box.min.y + box.max.y - small) / 2 - t.px(1)}, word, ink, Type::small, font,
         Align::center);
}

void paint_dashed(const Painter& p, Rect box) {
  const Theme& t = widgets::theme();
  const ImVec2 corners[] = {box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}, box.min};
  p.dashed_polyline(corners, t.muted, t.px(1), t.px(3));
}

void paint_stretch(const Painter& p, Rect box, const Stretch& s, bool consumer) {
  const Theme& t = widgets::theme();
  const ImU32 copy = widgets::colour(copying, t), compute = widgets::colour(computing, t);
  const float round = box.width() > t.px(6) && box.height() > t.px(6) ? t.px(2) : 0;
  switch (s.doing) {
    case Doing::on_its_way:
      p.rect(box.min, box.max, widgets::with_alpha(copy, 0.10f), round);
      if (box.width() > t.px(4)) widgets::hatch(p, box, widgets::with_alpha(copy, 0.55f), t.px(6));
      return;
    case Doing::arrives:
      p.rect(box.min, box.max, copy, round);
      paint_word(p, box, s.words, widgets::text_on(copy, t));
      return;
    case Doing::waits:
      p.rect(box.min, box.max, widgets::with_alpha(t.muted, 0.75f), round);
      return;
    case Doing::computes:
      p.rect(box.min, box.max, consumer ? compute : widgets::with_alpha(compute, 0.55f), round);
      if (consumer) paint_word(p, box, s.words, widgets::text_on(compute, t));
      return;
    case Doing::idles:
      if (box.width() > t.px(3)) paint_dashed(p, box);
      paint_word(p, box, s.words, t.muted);
      return;
    case Doing::others:
      p.rect(box.min, box.max, widgets::with_alpha(compute, 0.28f), round);
      return;
    case Doing::copies:
      p.rect(box.min, box.max, widgets::with_alpha(copy, 0.8f));
      return;
  }
}

std::string_view words_of(Doing doing) {
  switch (doing) {
    case Doing::on_its_way:
      return "on its way";
    case Doing::arrives:
      return "its bytes arrive";
    case Doing::waits:
      return "full, waits to be computed";
    case Doing::computes:
      return "is computed";
    case Doing::idles:
      return "nothing is computed before it";
    case Doing::others:
      return "of another block is computed";
    case Doing::copies:
      return "has the load channel";
  }
  return {};
}

void tip_of(const Stretch& s, std::string_view lane) {
  widgets::Line name, value;
  name.add("tile ").add_integer(s.tile).add(", ").add(lane);
  value.add(words_of(s.doing)).add(", cycle ").add_integer(static_cast<std::int64_t>(s.from)).add(" to ");
  value.add_integer(static_cast<std::int64_t>(s.to));
  widgets::tip(name.view(), value.view());
}

/// Each entry has a piece of lane as its mark.
void paint_doings(const Painter& p, ImVec2 at, std::span<const widgets::PlacedLegend> placed) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), side = 0.85f * small;
  for (const widgets::PlacedLegend& l : placed) {
    const ImVec2 from{at.x + l.at.x, at.y + l.at.y + (widgets::legend_row_px() - side) / 2};
    const Stretch piece{.doing = doing_order[l.entry]};
    paint_stretch(p, {from, {from.x + side, from.y + side}}, piece, true);
    p.text({from.x + side + t.px(5), from.y + (side - small) / 2 - t.px(1)}, doing_legend[l.entry].label, t.muted,
           Type::small);
  }
}

void paint_lane(const Painter& p, const RingsPlan& plan, const Lane& lane, std::string_view name, float y, float high,
                bool consumer) {
  const Theme& t = widgets::theme();
  const float inset = high > t.px(8) ? t.px(1) : 0;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool here = ImGui::IsWindowHovered() && mouse.y >= y && mouse.y < y + high;
  for (const Stretch& s : lane.stretches) {
    const float x0 = plan.x(s.from), x1 = std::max(x0 + 1, plan.x(s.to) - (plan.x(s.to) - x0 > t.px(4) ? 1.0f : 0));
    const Rect box{{x0, y + inset}, {x1, y + high - inset}};
    paint_stretch(p, box, s, consumer);
    if (here && mouse.x >= x0 && mouse.x < x1) tip_of(s, name);
  }
}

void paint_end(const Painter& p, const RingsPlan& plan, const RingPicture& r, float top, float consumer) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), end = plan.x(r.end), bottom = consumer + plan.consumer;
  if (end < plan.right - 1) {
    p.rect({end + t.px(2), top}, {plan.right, bottom}, widgets::with_alpha(t.card, 0.7f));
    p.line({end + t.px(1), top}, {end + t.px(1), bottom}, t.text, t.px(1.5f));
  }
  const float words_end = consumer + (plan.consumer + small) / 2;
  if (r.end_words.empty() || words_end > plan.bottom) return;
  const float wide = widgets::text_size(r.end_words, Type::small, Font::bold).x;
  const float y = consumer + (plan.consumer - small) / 2 - t.px(1);
  const bool inside = wide + t.px(18) < plan.right - end;
  const float x = inside ? end + t.px(10) : plan.words;
  widgets::fit_text(p, {x, y}, r.end_words, inside ? wide + 1 : plan.edge - x, r.fits ? t.text : t.bad, Type::small,
                    Font::bold);
}

void paint_ring(const Painter& p, const RingsPlan& plan, const RingPicture& r, float y) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), names = plan.left - t.px(12), top = y;
  const float room = plan.left - t.px(12) - (plan.left - std::max(t.px(86), 7.2f * small));
  if (plan.copies >= 0.6f * small)
    widgets::fit_text(p, {names, y + (plan.copies - small) / 2 - t.px(1)}, "copies", room, t.muted, Type::small,
                      Font::sans, Align::right);
  paint_lane(p, plan, r.copies, "load channel", y, plan.copies, false);
  y += plan.copies;
  for (const Lane& lane : r.buffers) {
    if (plan.row >= 0.95f * small)
      widgets::fit_text(p, {names, y + (plan.row - small) / 2 - t.px(1)}, lane.label, room, t.muted, Type::small,
                        Font::sans, Align::right);
    p.rect({plan.left, y + plan.row - 1}, {plan.x(r.end), y + plan.row}, widgets::with_alpha(t.line, 0.5f));
    paint_lane(p, plan, lane, lane.label, y, plan.row, false);
    y += plan.row;
  }
  const ImU32 ink = r.fits ? r.yours ? t.accent : t.text : t.bad;
  widgets::fit_text(p, {names, y + (plan.consumer - small) / 2 - t.px(1)}, r.title, room, ink, Type::small, Font::bold,
                    Align::right);
  paint_lane(p, plan, r.consumer, "tensor cores", y, plan.consumer, true);
  paint_end(p, plan, r, top, y);
  if (!r.yours) return;
  p.frame({plan.left - std::max(t.px(86), 7.2f * small) + t.px(2), top - t.px(4)},
          {plan.right + t.px(4), y + plan.consumer + t.px(4)}, t.accent, t.px(1.5f), t.px(6));
}

/// What a question gives: the times, and lanes without anything in them.
void paint_given_rings(const Painter& p, const RingsPlan& plan, const Picture& picture, ImVec2 at, ImVec2 size) {
  const widgets::GivenMarks given;
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  widgets::fit_text(p, {at.x + t.px(12), at.y + t.px(6)}, picture.given, size.x - t.px(24), t.text, Type::small);
  // One tile's turn through a buffer, to scale.
  static constexpr std::array<Doing, 3> doings{Doing::on_its_way, Doing::arrives, Doing::computes};
  static constexpr std::array<std::string_view, 3> names{"latency", "copy", "compute"};
  const double turn = picture.given_turn[0] + picture.given_turn[1] + picture.given_turn[2];
  const float y = at.y + 3.2f * small, high = std::min(t.px(34), at.y + size.y - y - 2 * small);
  if (!(turn > 0) || high < t.px(8)) return;
  float x = plan.left;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const float wide = static_cast<float>(picture.given_turn[i] / turn) * 0.7f * (plan.right - plan.left);
    paint_stretch(p, {{x, y}, {x + wide, y + high}}, {.doing = doings[i]}, true);
    if (wide > 0) widgets::fit_text(p, {x, y + high + t.px(3)}, names[i], wide, t.muted, Type::small);
    x += wide + (wide > 0 ? t.px(1) : 0);
  }
  widgets::fit_text(p, {plan.left - t.px(12), y + (high - small) / 2 - t.px(1)}, "one tile", t.px(74), t.muted,
                    Type::small, Font::sans, Align::right);
}

void paint_ring_guess(const Painter& p, const RingsPlan& plan) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "total" || !(guess->value > 0)) return;
  widgets::drew("guess");
  const Theme& t = widgets::theme();
  const float raw = plan.x(guess->value), x = std::clamp(raw, plan.left, plan.right);
  p.dashed_line({x, plan.top}, {x, plan.bottom}, t.accent, t.px(2), t.px(5));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, "", 4), raw > x);
  widgets::paint_guess_words(p, {std::min(x + t.px(4), plan.right - t.px(110)), plan.top}, words.view());
}

void record_rings(const Painter& p, const Picture& picture) {
  if (!p.record()) return;
  for (const RingPicture& r : picture.rings) {
    widgets::DataTable table{r.title, {"lane", "tile", "what", "from", "to"}, {}};
    const auto add = [&](const Lane& lane, std::string_view name) {
      for (const Stretch& s : lane.stretches)
        table.rows.push_back({std::string(name), std::to_string(s.tile), std::string(words_of(s.doing)),
                              widgets::exact(s.from), widgets::exact(s.to)});
    };
    add(r.copies, "load channel");
    for (const Lane& lane : r.buffers) add(lane, lane.label);
    add(r.consumer, "tensor cores");
    p.record()->tables.push_back(std::move(table));
  }
}

}  // namespace

void draw_rings(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const Theme& t = widgets::theme();
  const float stairs = std::clamp(0.40f * size.y, std::min(t.px(120), 0.5f * size.y), t.px(330));
  const ImVec2 stairs_at{at.x, at.y + size.y - stairs};
  if (widgets::veiled()) {
    const ImVec2 rings{size.x, size.y - stairs - t.px(8)};
    paint_given_rings(p, plan_rings(picture, at, rings), picture, at, rings);
    widgets::drew("rings");
    draw_stairs(in, picture, stairs_at, {size.x, stairs});
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(size);
    return;
  }
  const std::span<const widgets::LegendEntry> entries(doing_legend.data(),
                                                      doing_legend.size() - (picture.sharing ? 0 : 1));
  const float legend =
      widgets::layout_legend(entries, size.x, widgets::legend_row_px(), widgets::measure_text, view.legend);
  paint_doings(p, at, view.legend);
  const float words = widgets::text_size(picture.clock_words, Type::small).x;
  if (!picture.clock_words.empty() && !view.legend.empty() &&
      view.legend.back().at.x + t.px(60) + widgets::text_size(entries.back().label, Type::small).x + words < size.x)
    p.text({at.x + size.x - t.px(10) - words, at.y + (widgets::legend_row_px() - t.type(Type::small)) / 2 - t.px(1)},
           picture.clock_words, t.muted, Type::small);
  const ImVec2 rings_at{at.x, at.y + legend + t.px(4)};
  const RingsPlan plan = plan_rings(picture, rings_at, {size.x, stairs_at.y - rings_at.y - t.px(8)});
  paint_clock(p, plan);
  float y = plan.top + t.px(4);
  for (const RingPicture& r : picture.rings) {
    paint_ring(p, plan, r, y);
    y += plan.height_of(r.buffers.size()) + plan.gap;
  }
  if (!picture.rings.empty()) widgets::drew("rings");
  paint_ring_guess(p, plan);
  record_rings(p, picture);
  draw_stairs(in, picture, stairs_at, {size.x, stairs});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::kernels::async_pipeline
