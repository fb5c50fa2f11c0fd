#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/inference/optimize/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::inference::optimize {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Theme, widgets::Type;

constexpr float above_share = 0.36f;  ///< the part of a row's height above its axis

/// Names at the left, strips on one clock, figures at the right; in pixels.
struct StripPlan {
  Rect area{};
  float left = 0, right = 0, top = 0, row = 1, bottom = 0;
  std::array<float, 3> columns{};  ///< right ends: tokens a second, gains here, as the first; 0: no room
  double longest_s = 1;
  float x(double seconds) const { return left + static_cast<float>(seconds / longest_s) * (right - left); }
  float y(std::size_t i) const { return top + static_cast<float>(i) * row; }
  float axis(std::size_t i) const { return y(i) + up() + pad(); }
  float pad() const { return std::min(6.0f, row * 0.12f); }
  float up() const { return (row - 2 * pad()) * above_share; }
  float down() const { return (row - 2 * pad()) * (1 - above_share); }
};

StripPlan plan_strips(const Picture& picture, ImVec2 at, ImVec2 size) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  StripPlan plan{.area = {at, {at.x + size.x, at.y + size.y}}};
  const float names = std::clamp(size.x * 0.29f, t.px(84), t.px(190));
  const float column = std::clamp(size.x * 0.1f, t.px(50), t.px(74));
  const bool figures = size.x >= t.px(400);
  plan.left = at.x + names;
  plan.right = at.x + size.x - (figures ? 3 * column + t.px(6) : t.px(4));
  if (figures)
    for (std::size_t i = 0; i < plan.columns.size(); ++i)
      plan.columns[i] = plan.right + t.px(6) + column * static_cast<float>(i + 1);
  plan.top = at.y + widgets::legend_row_px() + 2 * small + t.px(6);
  const float under = 2 * (small + t.px(12));
  const auto rows = static_cast<float>(std::max<std::size_t>(1, picture.strips.size()));
  plan.row = std::clamp((at.y + size.y - under - plan.top) / rows, 1.0f, t.px(84));
  plan.bottom = plan.top + plan.row * rows;
  plan.longest_s = picture.longest_s;
  return plan;
}

/// What was measured, wherever it stands.
void diamond(const Painter& p, ImVec2 at, float radius, ImU32 fill) {
  const ImVec2 corners[] = {{at.x, at.y - radius}, {at.x + radius, at.y}, {at.x, at.y + radius}, {at.x - radius, at.y}};
  p.polygon(corners, fill);
}

/// A box over the axis or under it, its height a share of the roof and a hairline at least.
void strip_box(const Painter& p, const StripPlan& plan, std::size_t i, double from_s, double to_s, double share,
               bool above, ImU32 fill, double under = 0) {
  if (!(to_s > from_s) || !(share > 0)) return;
  const float full = above ? plan.up() : plan.down(), axis = plan.axis(i);
  const float begin = full * static_cast<float>(std::min(under, 1.0)),
              end = std::max(begin + 1, full * static_cast<float>(std::min(under + share, 1.0)));
  const float x0 = plan.x(from_s), x1 = std::max(plan.x(to_s), x0 + 1);
  if (above)
    p.rect({x0, axis - end}, {x1, axis - begin}, fill);
  else
    p.rect({x0, axis + begin}, {x1, axis + end}, fill);
}

void paint_areas(const Painter& p, const StripPlan& plan, std::size_t i, const Strip& s) {
  const Theme& t = widgets::theme();
  const float fade = s.fits ? 1.0f : 0.35f;
  const ImU32 arithmetic = widgets::with_alpha(t.of(widgets::Meaning::compute_bound), fade),
              bytes = widgets::with_alpha(t.of(widgets::Meaning::memory_bound), fade),
              cache = widgets::with_alpha(t.of(widgets::Meaning::kv_cache), fade),
              rest = widgets::with_alpha(t.of(widgets::Meaning::memory_bound), 0.45f * fade);
  strip_box(p, plan, i, 0, s.ttft_s, s.prefill_flops, true, arithmetic);
  strip_box(p, plan, i, 0, s.ttft_s, s.prefill_bytes, false, bytes);
  strip_box(p, plan, i, s.ttft_s, s.request_s, s.decode_flops, true, arithmetic);
  strip_box(p, plan, i, s.ttft_s, s.request_s, s.decode_weights, false, bytes);
  strip_box(p, plan, i, s.ttft_s, s.request_s, s.decode_caches, false, cache, s.decode_weights);
  strip_box(p, plan, i, s.ttft_s, s.request_s, s.decode_other, false, rest, s.decode_weights + s.decode_caches);
  if (plan.x(s.ttft_s) - plan.left > t.px(2))
    p.line({plan.x(s.ttft_s), plan.axis(i) - plan.up()}, {plan.x(s.ttft_s), plan.axis(i) + plan.down()}, t.panel,
           t.px(1.5f));
}

/// The roofs of a row, as long as its request: what is empty under them is what the device could still do.
void paint_strip_roofs(const Painter& p, const StripPlan& plan, std::size_t i, double until_s, double roof) {
  const Theme& t = widgets::theme();
  const float axis = plan.axis(i), up = axis - plan.up() * static_cast<float>(roof), down = axis + plan.down();
  const float end = plan.x(until_s);
  p.rect({plan.left, up}, {end, down}, widgets::with_alpha(t.muted, 0.10f));
  p.line({plan.left, up}, {end, up}, t.of(widgets::Meaning::compute_bound), t.px(1));
  p.line({plan.left, down}, {end, down}, t.of(widgets::Meaning::memory_bound), t.px(1));
  p.line({plan.left, axis}, {end, axis}, t.muted, t.px(1));
}

/// What a change took off, or what it added.
void paint_strip_bite(const Painter& p, const StripPlan& plan, std::size_t i, const Strip& s) {
  if (s.change < 0) return;
  const Theme& t = widgets::theme();
  const float top = plan.axis(i) - plan.up(), bottom = plan.axis(i) + plan.down();
  const float from = plan.x(std::min(s.request_s, s.before_s)), to = plan.x(std::max(s.request_s, s.before_s));
  if (to - from < 1) return;
  if (s.request_s <= s.before_s) {
    p.rect({from, top}, {to, bottom}, widgets::with_alpha(t.accent, 0.14f));
    widgets::hatch(p, {{from, top}, {to, bottom}}, widgets::with_alpha(t.accent, 0.5f), t.px(6));
    p.frame({from, top}, {to, bottom}, t.accent, t.px(1));
  } else {
    p.frame({from, top}, {to, bottom}, t.warning, t.px(2));
  }
}

/// In the room that bytes leave: that the device waits.
void paint_strip_waits(const Painter& p, const StripPlan& plan, std::size_t i, const Strip& s) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small);
  const auto filled = static_cast<float>(std::min(1.0, s.decode_weights + s.decode_caches + s.decode_other));
  const float top = plan.axis(i) + plan.down() * filled, bottom = plan.axis(i) + plan.down();
  const float from = plan.x(s.ttft_s) + t.px(6), to = plan.x(s.request_s) - t.px(6);
  if (s.waits.empty() || bottom - top < small + t.px(4) || widgets::text_size(s.waits, Type::small).x > to - from)
    return;
  p.text({from, (top + bottom - small) / 2}, s.waits, t.muted, Type::small);
}

void paint_strip_end(const Painter& p, const StripPlan& plan, std::size_t i, const Strip& s) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), x = plan.x(s.request_s), middle = plan.axis(i) - plan.up() + plan.row / 2;
  p.line({x, plan.axis(i) - plan.up()}, {x, plan.axis(i) + plan.down()}, t.text, t.px(2));
  if (std::isfinite(s.measured_s)) {
    const float mx = plan.x(s.measured_s), my = plan.axis(i) + plan.down();
    diamond(p, {mx, my}, t.px(5), t.text);
  }
  if (s.takes.empty() || plan.row < small + t.px(4)) return;
  const float wide = widgets::text_size(s.takes, Type::small, Font::mono).x;
  const bool after = x + wide + t.px(8) < plan.right;
  const float from = after ? x + t.px(5) : x - t.px(5) - wide, y = middle - small / 2 - plan.pad();
  if (from < plan.left) return;
  p.rect({from - t.px(3), y - t.px(1)}, {from + wide + t.px(3), y + small + t.px(2)}, t.panel, t.px(3));
  p.text({from, y}, s.takes, s.fits ? t.text : t.warning, Type::small, Font::mono);
}

void paint_strip_words(const Painter& p, const StripPlan& plan, std::size_t i, const Strip& s, bool held) {
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), top = plan.y(i), room = plan.left - plan.area.min.x - t.px(22);
  if (held) p.rect({plan.area.min.x, top}, {plan.area.max.x, top + plan.row}, widgets::with_alpha(t.accent, 0.12f));
  const bool two = plan.row >= 2 * small + t.px(6);
  const float y = top + (plan.row - (two ? 2 * small + t.px(2) : small)) / 2;
  if (plan.row < small) return;
  if (s.change >= 0)  // a grip
    for (const float dy : {-3.0f, 0.0f, 3.0f})
      p.line({plan.area.min.x + t.px(2), top + plan.row / 2 + t.px(dy)},
             {plan.area.min.x + t.px(9), top + plan.row / 2 + t.px(dy)}, t.muted, t.px(1));
  const float x = plan.area.min.x + t.px(14);
  widgets::fit_text(p, {x, y}, s.name, room, t.text, Type::small, s.change < 0 ? Font::bold : Font::sans);
  if (two)
    widgets::fit_text(p, {x, y + small + t.px(2)}, s.fits ? std::string_view(s.detail) : "does not fit", room,
                      s.fits ? t.muted : t.warning, Type::small);
}

void paint_strip_figures(const Painter& p, const StripPlan& plan, std::size_t i, const Strip& s) {
  if (!(plan.columns[0] > 0)) return;
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), middle = plan.y(i) + (plan.row - small) / 2;
  if (plan.row < small) return;
  const bool two = !s.measured.empty() && plan.row >= 2 * small + t.px(4);
  const float y = two ? plan.y(i) + (plan.row - 2 * small - t.px(2)) / 2 : middle;
  p.text({plan.columns[0], y}, s.rate, t.text, Type::small, Font::mono, Align::right);
  if (two) {
    const float under = y + small + t.px(2);
    p.text({plan.columns[0], under}, s.measured, t.muted, Type::small, Font::mono, Align::right);
    const float wide = widgets::text_size(s.measured, Type::small, Font::mono).x;
    diamond(p, {plan.columns[0] - wide - t.px(8), under + small / 2}, t.px(3.5f), t.text);
  }
  widgets::fit_text(p, {plan.columns[1], middle}, s.here, t.px(70), t.accent, Type::small, Font::mono, Align::right);
  widgets::fit_text(p, {plan.columns[2], middle}, s.first, t.px(70), t.muted, Type::small, Font::mono, Align::right);
}

void paint_strip_heads(const Painter& p, const StripPlan& plan) {
  if (!(plan.columns[0] > 0)) return;
  const Theme& t = widgets::theme();
  const float small = t.type(Type::small), y = plan.top - 2 * small - t.px(6);
  static constexpr std::array<std::array<std::string_view, 2>, 3> heads{
      {{"output", "tokens/s"}, {"gains", "here"}, {"as the", "first"}}};
  for (std::size_t i = 0; i < heads.size(); ++i)
    for (std::size_t k = 0; k < 2; ++k)
      p.text({plan.columns[i], y + static_cast<float>(k) * (small + t.px(1))}, heads[i][k], t.muted, Type::small,
             Font::sans, Align::right);
}

void paint_strip_clock(const Painter& p, const StripPlan& plan) {
  const Theme& t = widgets::theme();
  const widgets::UnitScale unit = widgets::unit_scale(plan.longest_s, "s");
  const double most = plan.longest_s / unit.factor,
               raw = most / static_cast<double>(std::max(2.0f, (plan.right - plan.left) / t.px(70)));
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10) * power;
  for (double v = 0; v <= most * 1.0001; v += step) {
    const float x = plan.x(v * unit.factor);
    p.line({x, plan.bottom}, {x, plan.bottom + t.px(4)}, t.muted, t.px(1));
    p.text({x, plan.bottom + t.px(5)}, widgets::format(v, "", 4), t.muted, Type::small, Font::mono, Align::center);
  }
  p.text({plan.left - t.px(10), plan.bottom + t.px(5)}, unit.unit, t.muted, Type::small, Font::sans, Align::right);
}

void paint_strip_key(const Painter& p, const StripPlan& plan, const Picture& picture, View& view) {
  constexpr std::array<widgets::LegendEntry, 3> legend{{{"arithmetic", widgets::Meaning::compute_bound},
                                                        {"weights", widgets::Meaning::memory_bound},
                                                        {"caches", widgets::Meaning::kv_cache}}};
  const Theme& t = widgets::theme();
  const float wide = plan.area.width();
  widgets::layout_legend(legend, wide, widgets::legend_row_px(), widgets::measure_text, view.legend);
  widgets::paint_legend(p, plan.area.min, wide, legend, view.legend);
  const float small = t.type(Type::small), y = plan.top - small - t.px(4);
  const float room = plan.right - plan.left;
  const bool whole = widgets::text_size(picture.roofs, Type::small).x <= room;
  widgets::fit_text(p, {plan.left, y}, whole ? std::string_view(picture.roofs) : "width is time, area is work", room,
                    t.muted, Type::small);
  if (!picture.measured) return;
  constexpr std::string_view words = "measured, gpt-fast";
  const float text = widgets::text_size(words, Type::small).x, x = plan.area.max.x - text;
  if (x - plan.area.min.x < t.px(280)) return;
  const float line = plan.area.min.y + (widgets::legend_row_px() - small) / 2;
  diamond(p, {x - t.px(9), line + small / 2}, t.px(4), t.text);
  p.text({x, line}, words, t.muted, Type::small);
}

/// The rows that are changes: a drag moves one to another place, a press takes it away, arrows move it.
void take_strips(Inputs& in, const StripPlan& plan, const Picture& picture, View& view) {
  const std::size_t rows = picture.strips.size();
  std::vector<RequestChange>& now = view.now;
  now.clear();
  for (std::size_t i = 1; i < rows; ++i) now.push_back(static_cast<RequestChange>(picture.strips[i].change));
  for (std::size_t i = 1; i < rows; ++i) {
    const Strip& s = picture.strips[i];
    ImGui::PushID(static_cast<int>(s.change));
    ImGui::SetCursorScreenPos({plan.area.min.x, plan.y(i)});
    widgets::press_area("change", {plan.right - plan.area.min.x, plan.row},
                        ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_EnableNav);
    if (ImGui::IsItemActivated()) {
      view.held = s.change;
      view.moved = false;
    }
    if (ImGui::IsItemActive() && view.held == s.change && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) {
      view.moved = true;
      const float over = (ImGui::GetIO().MousePos.y - plan.top) / std::max(1.0f, plan.row);
      const auto target = static_cast<std::size_t>(std::clamp(over, 1.0f, static_cast<float>(rows) - 0.5f));
      move_change(in, now, i - 1, target - 1);
    }
    const int steps = widgets::play_keys().steps;
    if (steps != 0) {
      const auto last = static_cast<std::int64_t>(rows) - 2, place = static_cast<std::int64_t>(i) - 1;
      move_change(in, now, i - 1, static_cast<std::size_t>(std::clamp<std::int64_t>(place + steps, 0, last)));
    }
    if (ImGui::IsItemDeactivated() && view.held == s.change) {
      if (!view.moved) in.made[static_cast<std::size_t>(s.change)] = Made::off;
      view.held = -1;
    }
    if (view.held < 0 && ImGui::IsItemHovered()) widgets::tip(s.name, s.takes, s.tip);
    const bool focused = ImGui::IsItemFocused() && ImGui::GetIO().NavVisible;
    if (focused)
      Painter::window().frame({plan.area.min.x, plan.y(i)}, {plan.right, plan.y(i) + plan.row}, widgets::theme().accent,
                              1);
    ImGui::PopID();
  }
}

/// What is not a row: pressed, it becomes one.
void take_offers(Inputs& in, const StripPlan& plan, const Picture& picture) {
  const Theme& t = widgets::theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), high = small + t.px(8), y = plan.area.max.y - high - t.px(1);
  float x = plan.area.min.x;
  if (y < plan.bottom + small) return;
  for (const Offer& o : picture.offers) {
    const float wide = widgets::text_size(o.words, Type::small).x + t.px(14);
    if (x + wide > plan.area.max.x) break;
    ImGui::PushID(static_cast<int>(o.change) + 100);
    ImGui::SetCursorScreenPos({x, y});
    if (widgets::press_area("offer", {wide, high})) in.made[static_cast<std::size_t>(o.change)] = Made::on;
    const bool hot = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
    if (ImGui::IsItemHovered())
      widgets::tip(change_name(static_cast<RequestChange>(o.change)), {},
                   o.found ? "It is there from the start; press it to make it one of the changes."
                           : "Press it to make it one of the changes.");
    if (o.found) p.rect({x, y}, {x + wide, y + high}, t.card, high / 2);
    p.frame({x, y}, {x + wide, y + high}, hot ? t.accent : t.line, t.px(1), high / 2);
    p.text({x + t.px(7), y + t.px(4)}, o.words, o.found ? t.text : t.muted, Type::small);
    ImGui::PopID();
    x += wide + t.px(8);
  }
}

void paint_strip_guess(const Painter& p, const StripPlan& plan, const Inputs& in, const Picture& picture) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || !(guess->value > 0)) return;
  const double tokens = static_cast<double>(in.batch) * static_cast<double>(in.answer);
  double seconds = 0;
  if (guess->output == "request_s") seconds = guess->value;
  if (guess->output == "tokens_per_s") seconds = tokens / guess->value;
  if (guess->output == "speedup") seconds = picture.strips.front().request_s / guess->value;
  if (!(seconds > 0)) return;
  widgets::drew("guess");
  const Theme& t = widgets::theme();
  const std::size_t i = picture.strips.size() - 1;
  const float raw = plan.x(seconds), x = std::clamp(raw, plan.left, plan.right);
  p.dashed_line({x, plan.y(i)}, {x, plan.y(i) + plan.row}, t.accent, t.px(2), t.px(5));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), raw > x);
  widgets::paint_guess_words(p, {std::min(x + t.px(4), plan.right - t.px(110)), plan.y(i) + t.px(2)}, words.view());
}

/// What a question gives: the changes in their order, on empty lanes.
void paint_strip_given(const Painter& p, const StripPlan& plan, const Picture& picture) {
  const widgets::GivenMarks given;
  const Theme& t = widgets::theme();
  for (std::size_t i = 0; i < picture.strips.size(); ++i) {
    p.line({plan.left, plan.axis(i)}, {plan.right, plan.axis(i)}, t.line, t.px(1));
    if (plan.row < t.type(Type::small)) continue;
    widgets::fit_text(p, {plan.area.min.x + t.px(14), plan.y(i) + (plan.row - t.type(Type::small)) / 2},
                      picture.strips[i].name, plan.left - plan.area.min.x - t.px(22), t.text, Type::small);
  }
}

void record_strips(const Painter& p, const Picture& picture) {
  if (!p.record()) return;
  widgets::DataTable table{"bites", {"change", "request s", "first token s"}, {}};
  for (const Strip& s : picture.strips)
    table.rows.push_back({s.name, widgets::exact(s.request_s), widgets::exact(s.ttft_s)});
  p.record()->tables.push_back(std::move(table));
}

}  // namespace

void draw_strips(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  if (picture.strips.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Painter p = Painter::window();
  const StripPlan plan = plan_strips(picture, at, size);
  widgets::drew("bites");
  if (widgets::veiled()) {
    paint_strip_given(p, plan, picture);
    ImGui::Dummy(size);
    return;
  }
  paint_strip_key(p, plan, picture, view);
  paint_strip_heads(p, plan);
  for (std::size_t i = 0; i < picture.strips.size(); ++i) {
    const Strip& s = picture.strips[i];
    paint_strip_words(p, plan, i, s, s.change >= 0 && view.held == s.change && view.moved);
    paint_strip_roofs(p, plan, i, s.request_s, s.roof);
    paint_areas(p, plan, i, s);
    paint_strip_waits(p, plan, i, s);
    paint_strip_bite(p, plan, i, s);
    paint_strip_end(p, plan, i, s);
    paint_strip_figures(p, plan, i, s);
  }
  paint_strip_clock(p, plan);
  paint_strip_guess(p, plan, in, picture);
  if (plan.right - plan.left > widgets::theme().px(40) && plan.row > 4) {
    take_strips(in, plan, picture, view);
    take_offers(in, plan, picture);
  }
  record_strips(p, picture);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::inference::optimize
