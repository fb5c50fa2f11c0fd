#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/debugging/pyramid/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/tint.h"
#include "widgets/number/number.h"

namespace chapters::debugging::pyramid {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Theme, widgets::Tint, widgets::Type;

constexpr std::array<widgets::LegendEntry, models::debugging::layer_count> layer_legend{
    {{"hardware", Tint()}, {"system", Tint::series(3)}, {"data", Tint::series(1)}, {"code", Tint::series(0)}}};

Tint tint_of(Layer layer) { return layer_legend[static_cast<std::size_t>(layer)].tint; }

/// One order: its title, its checks on the clock and its bars.
struct ShapePlan {
  float title = 0, chips = 0, chip = 0, top = 0, bottom = 0;  ///< y of each; chip is a height
};
/// Two orders above each other on one clock, and a column of figures at the right where there is room.
struct ShapesPlan {
  Rect area{};
  float left = 0, right = 0, axis = 0, column = 0;  ///< column: x of the figures; 0: none
  double longest = 1;
  std::array<ShapePlan, 2> shapes{};
  float x(double minutes) const { return left + static_cast<float>(minutes / longest) * (right - left); }
  double minutes(float at) const { return static_cast<double>((at - left) / std::max(1.0f, right - left)) * longest; }
};

ShapesPlan plan_shapes(const Picture& picture, ImVec2 at, ImVec2 size) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  ShapesPlan plan{.area = {at, {at.x + size.x, at.y + size.y}}, .longest = picture.longest * 1.02};
  plan.left = at.x + t.px(2);
  plan.right = at.x + size.x - t.px(8);
  const float figures = std::max(t.px(236), 17 * small);
  if (size.x >= 3.6f * figures) {
    plan.column = plan.right - figures;
    plan.right = plan.column - t.px(24);
  }
  plan.axis = at.y + size.y - small - t.px(6);
  const float top = at.y + widgets::legend_row_px() + (size.y > t.px(430) ? small + t.px(6) : t.px(2));
  const float half = (plan.axis - top) / 2;
  for (std::size_t i = 0; i < 2; ++i) {
    ShapePlan& s = plan.shapes[i];
    s.title = top + half * static_cast<float>(i) + t.px(2);
    s.chip = small + t.px(8);
    s.chips = s.title + small + t.px(5);
    s.top = s.chips + s.chip + small + t.px(9);
    s.bottom = std::max(s.top + 4, top + half * static_cast<float>(i + 1) - t.px(6));
  }
  return plan;
}

void paint_chip(const Painter& p, const Chip& chip, Rect box, bool yours, bool held) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), round = t.px(4), pad = t.px(4);
  if (!chip.skipped) p.rect(box.min, box.max, held ? widgets::with_alpha(t.accent, 0.25f) : t.card, round);
  const ImU32 edge = held ? t.accent : yours ? widgets::with_alpha(t.accent, 0.65f) : t.line;
  if (chip.points) {
    const ImVec2 corners[] = {box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}};
    for (std::size_t i = 0; i < 4; ++i)
      p.dashed_line(corners[i], corners[(i + 1) % 4], held || yours ? t.accent : t.muted, t.px(1.5f), t.px(3));
  } else {
    p.frame(box.min, box.max, edge, t.px(1), round);
  }
  const float room = box.width() - 2 * pad, wide = widgets::text_size(chip.words, Type::small).x;
  const float y = box.min.y + (box.height() - small) / 2;
  const ImU32 ink = chip.skipped ? t.muted : t.text;
  if (wide <= room)
    p.text({(box.min.x + box.max.x - wide) / 2, y}, chip.words, ink, Type::small);
  else if (room >= 3.5f * small)
    widgets::fit_text(p, {box.min.x + pad, y}, chip.name, room, ink, Type::small);
  else if (widgets::text_size(chip.minutes, Type::small).x <= box.width())
    p.text({(box.min.x + box.max.x) / 2, y}, chip.minutes, ink, Type::small, Font::sans, Align::center);
}

/// Where a check stands: on the clock, or in a row after the last where nothing is left for it.
Rect chip_box(const ShapesPlan& plan, const ShapePlan& s, const Chip& chip, float& after) {
  const Theme& t = widgets::theme();
  if (!chip.skipped) {
    const float x0 = plan.x(chip.start), x1 = std::max(x0 + 2, plan.x(chip.end) - t.px(1.5f));
    return {{x0, s.chips}, {x1, s.chips + s.chip}};
  }
  const float x0 = after, wide = widgets::text_size(chip.words, Type::small).x + t.px(10);
  after += wide + t.px(4);
  return {{x0, s.chips}, {x0 + wide, s.chips + s.chip}};
}

float chips_end(const ShapesPlan& plan, const Shape& shape) {
  double end = 0;
  for (const Chip& c : shape.chips)
    if (!c.skipped) end = std::max(end, c.end);
  return plan.x(end) + widgets::theme().px(10);
}

void paint_bars(const Painter& p, const ShapesPlan& plan, const ShapePlan& s, const Shape& shape) {
  const Theme& t = widgets::theme();
  const float high = s.bottom - s.top;
  double below = 0;
  for (const Bar& b : shape.bars) {
    const float y0 = s.top + static_cast<float>(below) * high;
    below += b.share;
    const float y1 = s.top + static_cast<float>(below) * high, x1 = plan.x(b.minutes);
    const ImU32 fill = widgets::colour(tint_of(b.layer), t);
    p.rect({plan.left, y0}, {x1, std::max(y0 + 1, y1 - t.px(1))}, fill);
    const Rect box{{plan.left, y0}, {x1, y1}};
    if (ImGui::IsMouseHoveringRect(box.min, box.max) && ImGui::IsWindowHovered()) widgets::tip(b.label, b.found);
  }
}

/// On a plate where the outline of the best order or the line of the mean runs through.
void paint_words(const Painter& p, ImVec2 at, std::string_view words, ImU32 plate, ImU32 ink) {
  p.plate(at, words, plate, Type::small);
  p.text(at, words, ink, Type::small);
}

/// What the bars are, over all lines.
void paint_labels(const Painter& p, const ShapesPlan& plan, const ShapePlan& s, const Shape& shape) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), high = s.bottom - s.top;
  double below = 0;
  for (const Bar& b : shape.bars) {
    const float y0 = s.top + static_cast<float>(below) * high;
    below += b.share;
    const float y1 = s.top + static_cast<float>(below) * high, x1 = plan.x(b.minutes);
    if (y1 - y0 < 0.8f * small) continue;
    const ImU32 fill = widgets::colour(tint_of(b.layer), t);
    const float wide = widgets::text_size(b.label, Type::small).x, y = (y0 + y1 - small) / 2 - t.px(1);
    if (wide + t.px(12) <= x1 - plan.left) {
      paint_words(p, {plan.left + t.px(6), y}, b.label, fill, widgets::text_on(fill, t));
      const float found = widgets::text_size(b.found, Type::small).x;
      if (b.share >= 0.2 && wide + found + t.px(40) < x1 - plan.left)
        paint_words(p, {x1 - found - t.px(6), y}, b.found, fill, widgets::text_on(fill, t));
    } else {
      // After the bar, or after the line of the mean where that would run through the words.
      const float mean = plan.x(shape.mean), beside = x1 + t.px(5);
      const bool crossed = beside < mean + t.px(4) && beside + wide + t.px(4) > mean;
      const float x = crossed ? mean + t.px(6) : beside;
      if (x + wide < plan.right) paint_words(p, {x, y}, b.label, t.background, t.text);
    }
  }
}

void paint_mean(const Painter& p, const ShapesPlan& plan, const ShapePlan& s, const Shape& shape, bool lit) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), x = plan.x(shape.mean);
  const float wide = widgets::text_size(shape.mean_words, Type::small, Font::mono).x + t.px(10);
  p.line({x, s.chips + s.chip}, {x, s.bottom}, t.text, t.px(2));
  const float from = std::clamp(x - wide / 2, plan.left, plan.right - wide), y = s.chips + s.chip + t.px(2);
  if (lit) widgets::paint_light(p, {from, y}, {from + wide, y + small + t.px(5)});
  p.rect({from, y}, {from + wide, y + small + t.px(5)}, t.text, t.px(3));
  p.text({from + t.px(5), y + t.px(2)}, shape.mean_words, t.panel, Type::small, Font::mono);
}

/// The best order's outline over yours.
void paint_ghost(const Painter& p, const ShapesPlan& plan, const ShapePlan& s, const std::vector<Bar>& bars) {
  const Theme& t = widgets::theme();
  const float high = s.bottom - s.top;
  double below = 0;
  float last = plan.left;
  for (const Bar& b : bars) {
    const float y0 = s.top + static_cast<float>(below) * high, x = plan.x(b.minutes);
    below += b.share;
    const float y1 = s.top + static_cast<float>(below) * high;
    p.dashed_line({last, y0}, {x, y0}, t.text, t.px(1.5f), t.px(4));
    p.dashed_line({x, y0}, {x, y1}, t.text, t.px(1.5f), t.px(4));
    last = x;
  }
}

void paint_clock(const Painter& p, const ShapesPlan& plan) {
  const Theme& t = widgets::theme();
  const double raw = plan.longest / static_cast<double>(std::max(2.0f, (plan.right - plan.left) / t.px(90)));
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10) * power;
  for (double v = 0; v <= plan.longest; v += step) {
    const float x = plan.x(v);
    p.line({x, plan.axis}, {x, plan.axis + t.px(3)}, t.muted, t.px(1));
    const widgets::NumberText words = widgets::format(v, v == 0 ? "min" : "", 3);
    p.text({x, plan.axis + t.px(4)}, words, t.muted, Type::small, Font::mono, v == 0 ? Align::left : Align::center);
  }
}

void paint_rows(const Painter& p, const std::vector<Row>& rows, std::string_view head, float x, float right, float& y,
                float bottom, std::size_t yours) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), line = small + t.px(6);
  if (y + 2 * line > bottom) return;
  widgets::fit_text(p, {x, y}, head, right - x, t.text, Type::small, Font::bold);
  y += line + t.px(2);
  double most = 0;
  for (const Row& r : rows) most = std::max(most, r.value);
  const float names = 0.52f * (right - x), numbers = 3.2f * small;
  for (std::size_t i = 0; i < rows.size() && y + small <= bottom; ++i) {
    const Row& r = rows[i];
    const float from = x + names, room = right - numbers - from;
    const float to = from + std::max(1.0f, static_cast<float>(most > 0 ? r.value / most : 0) * room);
    const bool mine = i == yours;
    widgets::fit_text(p, {from - t.px(6), y}, r.name, names - t.px(6), r.marked || mine ? t.text : t.muted, Type::small,
                      Font::sans, Align::right);
    p.rect({from, y + t.px(2)}, {to, y + small - t.px(1)}, mine ? t.accent : widgets::with_alpha(t.muted, 0.6f));
    p.text({to + t.px(5), y}, r.words, t.text, Type::small, Font::mono);
    y += line;
  }
  y += line / 2;
}

void paint_column(const Painter& p, const ShapesPlan& plan, const Picture& picture) {
  if (!(plan.column > 0)) return;
  const Theme& t = widgets::theme();
  const float right = plan.area.max.x - t.px(8), small = t.type(Type::small);
  float y = plan.shapes[0].title;
  widgets::fit_text(p, {plan.column, y}, "thickness how likely, length until found:", right - plan.column, t.muted,
                    Type::small);
  y += small + t.px(3);
  widgets::fit_text(p, {plan.column, y}, "the area is the mean", right - plan.column, t.muted, Type::small);
  if (!picture.points_words.empty()) {
    y += small + t.px(3);
    widgets::fit_text(p, {plan.column, y}, picture.points_words, right - plan.column, t.muted, Type::small);
  }
  y += 2 * small;
  paint_rows(p, picture.rules, "mean minutes by order", plan.column, right, y, plan.axis, picture.rules.size() - 1);
  paint_rows(p, picture.rates, "% convicted per minute, run first", plan.column, right, y, plan.axis,
             picture.rates.size());
}

/// The checks that are dragged to their places; arrow keys move one too.
void take_chips(Inputs& in, const ShapesPlan& plan, const Picture& picture, View& view) {
  const ShapePlan& s = plan.shapes[1];
  const Shape& shape = picture.yours;
  float after = chips_end(plan, shape);
  for (std::size_t i = 0; i < shape.chips.size(); ++i) {
    const Chip& chip = shape.chips[i];
    const Rect box = chip_box(plan, s, chip, after);
    if (box.max.x > plan.right + 1) continue;
    ImGui::PushID(chip.id.c_str());
    ImGui::SetCursorScreenPos(box.min);
    widgets::press_area("check", {box.width(), box.height()},
                        ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_EnableNav);
    if (ImGui::IsItemActivated()) view.held = chip.id;
    if (ImGui::IsItemActive() && view.held == chip.id && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) {
      const double at = plan.minutes(ImGui::GetIO().MousePos.x);
      // Before the first of the others whose middle lies to the right of the pointer.
      std::size_t to = shape.chips.size();
      for (std::size_t k = shape.chips.size(); k-- > 0;) {
        const Chip& other = shape.chips[k];
        if (k != i && !other.skipped && (other.start + other.end) / 2 > at) to = k;
      }
      move_check(in, shape.chips, chip.id, to);
    }
    const int steps = widgets::play_keys().steps;
    if (steps > 0 && i + 1 < shape.chips.size()) move_check(in, shape.chips, chip.id, i + 2);
    if (steps < 0 && i > 0) move_check(in, shape.chips, chip.id, i - 1);
    if (ImGui::IsItemDeactivated() && view.held == chip.id) view.held.clear();
    if (view.held.empty() && ImGui::IsItemHovered()) widgets::tip(chip.words, "min", chip.tip);
    if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
      Painter::window().frame(box.min, box.max, widgets::theme().accent, widgets::theme().px(2),
                              widgets::theme().px(4));
    ImGui::PopID();
  }
}

void paint_shape(const Painter& p, const ShapesPlan& plan, const Picture& picture, const View& view, bool yours) {
  const Theme& t = widgets::theme();
  const Shape& shape = yours ? picture.yours : picture.against;
  const ShapePlan& s = plan.shapes[yours ? 1 : 0];
  const float wide = p.text({plan.left, s.title}, shape.title, t.text, Type::small, Font::bold);
  if (yours) {
    const float x = plan.left + wide + t.px(10);
    const float drag = p.text({x, s.title}, "drag a check to its place", t.accent, Type::small);
    widgets::fit_text(p, {x + drag + t.px(12), s.title}, picture.ghost_words, plan.right - x - drag - t.px(12), t.muted,
                      Type::small);
  }
  float after = chips_end(plan, shape);
  for (const Chip& chip : shape.chips) {
    const Rect box = chip_box(plan, s, chip, after);
    if (box.max.x > plan.right + 1) continue;
    paint_chip(p, chip, box, yours, yours && !view.held.empty() && view.held == chip.id);
  }
  paint_bars(p, plan, s, shape);
  if (yours) paint_ghost(p, plan, s, picture.ghost);
  paint_mean(p, plan, s, shape, widgets::output_lit(yours ? "mean_minutes" : "against_minutes"));
  paint_labels(p, plan, s, shape);
  widgets::drew(yours ? "yours" : "compared");
}

void paint_guess(const Painter& p, const ShapesPlan& plan) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->unit != "min" || !(guess->value > 0)) return;
  widgets::drew("guess");
  const Theme& t = widgets::theme();
  const float raw = plan.x(guess->value), x = std::clamp(raw, plan.left, plan.right);
  p.dashed_line({x, plan.shapes[1].top}, {x, plan.shapes[1].bottom}, t.accent, t.px(2), t.px(5));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), raw > x);
  widgets::paint_guess_words(
      p, {std::min(x + t.px(4), plan.right - t.px(110)), plan.shapes[1].bottom - t.type(Type::small) - t.px(6)},
      words.view());
}

/// What a question gives: what is wrong, the causes as thick as they are likely, and the checks as long as they take.
void paint_given(const Painter& p, const ShapesPlan& plan, const Picture& picture) {
  const widgets::GivenMarks given;
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), top = plan.area.min.y + t.px(4);
  const float left = plan.area.min.x + t.px(12), right = plan.area.max.x - t.px(12);
  widgets::fit_text(p, {left, top}, picture.symptom, right - left, t.text, Type::small);
  const float y0 = top + 2 * small, high = plan.axis - t.px(24) - y0, middle = (left + right) / 2;
  double below = 0;
  for (const Cause& c : picture.causes) {
    const float y = y0 + static_cast<float>(below) * high, thick = static_cast<float>(c.share) * high;
    below += c.share;
    p.rect({left, y}, {left + t.px(14), y + thick - t.px(1)}, widgets::colour(tint_of(c.layer), t));
    if (thick >= 0.8f * small)
      widgets::fit_text(p, {left + t.px(20), y + (thick - small) / 2}, c.name, middle - left - t.px(28), t.text,
                        Type::small);
  }
  const float line =
      std::min(small + t.px(12), high / static_cast<float>(std::max<std::size_t>(1, picture.checks.size())));
  for (std::size_t i = 0; i < picture.checks.size() && line >= small; ++i) {
    const Cost& c = picture.checks[i];
    const float y = y0 + line * static_cast<float>(i),
                x1 = middle + static_cast<float>(c.share) * (right - middle) * 0.5f;
    p.frame({middle, y}, {x1, y + line - t.px(3)}, t.muted, t.px(1), t.px(3));
    widgets::fit_text(p, {x1 + t.px(6), y + (line - t.px(3) - small) / 2}, c.name, right - x1 - t.px(6), t.text,
                      Type::small);
  }
}

void record_shapes(const Painter& p, const Picture& picture) {
  if (!p.record()) return;
  for (const Shape* shape : {&picture.against, &picture.yours}) {
    widgets::DataTable table{shape->title, {"cause", "likelihood", "minutes"}, {}};
    for (const Bar& b : shape->bars)
      table.rows.push_back({b.label, widgets::exact(b.share), widgets::exact(b.minutes)});
    p.record()->tables.push_back(std::move(table));
  }
}

}  // namespace

void move_check(Inputs& in, const std::vector<Chip>& now, std::string_view held, std::size_t to) {
  std::vector<std::string> order;
  for (std::size_t i = 0; i <= now.size(); ++i) {
    if (i == to) order.emplace_back(held);
    if (i < now.size() && now[i].id != held) order.push_back(now[i].id);
  }
  if (to > now.size()) order.emplace_back(held);
  in.order = std::move(order);
}

void draw_shapes(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  if (picture.yours.bars.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const Theme& t = widgets::theme();
  const ShapesPlan plan = plan_shapes(picture, at, size);
  if (widgets::veiled()) {
    widgets::drew("yours");
    widgets::drew("compared");
    paint_given(p, plan, picture);
    ImGui::Dummy(size);
    return;
  }
  const float legend =
      widgets::layout_legend(layer_legend, size.x, widgets::legend_row_px(), widgets::measure_text, view.legend);
  widgets::paint_legend(p, at, size.x, layer_legend, view.legend);
  if (size.y > t.px(430))
    widgets::fit_text(p, {at.x, at.y + std::min(legend, widgets::legend_row_px()) + t.px(2)}, picture.source, size.x,
                      t.muted, Type::small);
  paint_shape(p, plan, picture, view, false);
  paint_shape(p, plan, picture, view, true);
  paint_clock(p, plan);
  paint_column(p, plan, picture);
  paint_guess(p, plan);
  if (plan.right - plan.left > t.px(60)) take_chips(in, plan, picture, view);
  record_shapes(p, picture);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::debugging::pyramid
