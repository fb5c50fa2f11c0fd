#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/interview/scenarios/draw_parts.h"
#include "chapters/interview/shared/word_link.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

/// A branching case: causes are lanes as thick as they are likely, checks are stretches of time at whose end lanes
/// stop.
namespace chapters::interview::scenarios {
namespace {

using widgets::Font, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

constexpr std::size_t max_lanes = models::debugging::max_tree_causes;

struct TreePlan {
  Rect lanes;  ///< where time runs
  float names = 0, axis = 0, cards = 0, card = 0;
  std::array<Rect, max_lanes> row{};
  double longest = 1;
  float x(double minutes) const { return lanes.min.x + static_cast<float>(minutes / longest) * lanes.width(); }
};

TreePlan plan_tree(const Picture& picture, ImVec2 at, ImVec2 size) {
  const auto& t = theme();
  const float small = t.type(Type::small);
  TreePlan plan;
  plan.longest = picture.longest_min;
  plan.names = std::clamp(0.3f * size.x, t.px(130), t.px(270));
  const std::size_t per_row = size.x > t.px(700) ? 3 : 2;
  const std::size_t card_rows = (picture.check_cards.size() + per_row - 1) / per_row;
  plan.card = size.y > t.px(460) ? t.px(48) : t.px(34);
  plan.cards = at.y + size.y - static_cast<float>(card_rows) * (plan.card + t.px(6)) - t.px(2);
  plan.axis = plan.cards - t.px(40) - small;
  const float heading = 2.8f * small + t.px(10);
  plan.lanes = {{at.x + plan.names, at.y + heading + small + t.px(8)}, {at.x + size.x - t.px(8), plan.axis}};
  const auto n = static_cast<float>(picture.lanes.size());
  const float least = std::min(small + t.px(4), plan.lanes.height() / n), rest = plan.lanes.height() - least * n;
  float y = plan.lanes.min.y;
  for (std::size_t i = 0; i < picture.lanes.size() && i < max_lanes; ++i) {
    const float high = least + std::max(0.0f, rest) * static_cast<float>(picture.lanes[i].part);
    plan.row[i] = {{at.x, y}, {plan.lanes.max.x, y + high - t.px(4)}};
    y += high;
  }
  return plan;
}

bool still(std::uint32_t set, std::size_t i) { return (set >> i & 1U) != 0; }

/// Minutes at which a lane stops; the end of what was run where it does not.
double lane_end(const TreePlay& play, std::size_t lane) {
  for (const RanCheck& r : play.ran)
    if (!still(r.left, lane)) return r.to_min;
  return play.spent_min;
}

void paint_lanes(const Painter& p, const TreePlan& plan, const Picture& picture) {
  const auto& t = theme();
  const Run& run = *picture.run;
  const TreePlay& play = run.tree_play;
  const float small = t.type(Type::small);
  for (std::size_t i = 0; i < picture.lanes.size() && i < max_lanes; ++i) {
    const Rect& row = plan.row[i];
    const bool open = still(play.left, i), named = play.named == static_cast<int>(i);
    const bool at_work = run.ended && run.cause == i;
    const float middle = (row.min.y + row.max.y) / 2;
    const ImU32 ink = at_work ? t.good : named ? t.bad : open ? t.series_at(i) : t.muted;
    const widgets::WrapOptions two{.line_px = 1.2f * small, .max_lines = row.height() > 2.4f * small ? 2 : 1};
    widgets::WrapOptions measure = two;
    measure.paint = false;
    const float names = plan.names - t.px(56);
    const float name = widgets::wrapped_text(p, {}, picture.lanes[i].name, names, t.text, measure);
    widgets::wrapped_text(p, {row.min.x, middle - name / 2}, picture.lanes[i].name, names, open ? t.text : t.muted,
                          two);
    p.text({plan.lanes.min.x - t.px(10), middle - small / 2}, picture.lanes[i].share, t.muted, Type::small, Font::mono,
           widgets::Align::right);
    const float end = plan.x(lane_end(play, i));
    p.rect({plan.lanes.min.x, row.min.y}, {std::max(plan.lanes.min.x + t.px(3), end), row.max.y},
           widgets::with_alpha(ink, open ? 0.85f : 0.45f), t.px(3));
    if (open && !run.ended)  // what may still come
      p.rect({std::max(plan.lanes.min.x + t.px(3), end), row.min.y}, {plan.lanes.max.x, row.max.y},
             widgets::with_alpha(ink, 0.16f), t.px(3));
    if (!open) {
      const float r = std::min(t.px(5), 0.3f * row.height());
      p.line({end + t.px(3), middle - r}, {end + t.px(3) + 2 * r, middle + r}, t.bad, t.px(2));
      p.line({end + t.px(3), middle + r}, {end + t.px(3) + 2 * r, middle - r}, t.bad, t.px(2));
    }
  }
}

/// What each check showed, over the stretch of its minutes.
void paint_ran(const Painter& p, const TreePlan& plan, const Picture& picture) {
  const auto& t = theme();
  const float small = t.type(Type::small), top = plan.lanes.min.y - small - t.px(6);
  for (const RanCheck& r : picture.run->tree_play.ran) {
    const float x0 = plan.x(r.from_min), x1 = plan.x(r.to_min);
    p.line({x1, top}, {x1, plan.axis}, t.accent, t.px(1.5f));
    p.rect({x0 + 1, top}, {x1 - 1, top + t.px(3)}, t.accent);
    const CheckCard& card = picture.check_cards[r.check];
    widgets::fit_text(p, {x0 + t.px(3), top + t.px(4)}, card.name, x1 - x0 - t.px(6), t.muted, Type::small);
  }
}

/// What mends the cause that was at work, on its lane.
void paint_fix(const Painter& p, const TreePlan& plan, const Picture& picture) {
  const Run& run = *picture.run;
  if (!run.ended || run.cause >= max_lanes) return;
  const auto& t = theme();
  const Rect& row = plan.row[run.cause];
  const std::string& fix = run.branching->causes[run.cause].fix;
  const ImVec2 at{plan.lanes.min.x + t.px(10), (row.min.y + row.max.y - t.type(Type::small)) / 2};
  if (widgets::text_size(fix, Type::small).x > plan.lanes.width() - t.px(20)) return;
  p.plate(at, fix, t.panel, Type::small);
  p.text(at, fix, t.text, Type::small);
}

void paint_axis(const Painter& p, const TreePlan& plan) {
  const auto& t = theme();
  const double raw = plan.longest / std::max(2.0, static_cast<double>(plan.lanes.width() / t.px(80)));
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = (raw <= power ? 1 : raw <= 2 * power ? 2 : raw <= 5 * power ? 5 : 10) * power;
  p.line({plan.lanes.min.x, plan.axis}, {plan.lanes.max.x, plan.axis}, t.line);
  for (double v = 0; v <= plan.longest; v += step) {
    p.line({plan.x(v), plan.axis}, {plan.x(v), plan.axis + t.px(3)}, t.muted);
    p.text({plan.x(v), plan.axis + t.px(4)}, widgets::format(v, v == 0 ? "min" : "", 3), t.muted, Type::small,
           Font::mono, widgets::Align::center);
  }
}

/// The best plan's checks for the cause that was at work, under the axis.
void paint_ghost_path(const Painter& p, const TreePlan& plan, const Picture& picture) {
  if (picture.ghost.empty()) return;
  const auto& t = theme();
  const float small = t.type(Type::small), y = plan.axis + small + t.px(9);
  double at = 0;
  for (std::size_t i = 0; i < picture.ghost.size(); ++i) {
    const double minutes = picture.run->tree.checks[static_cast<std::size_t>(picture.run->path[i])].minutes;
    const float x0 = plan.x(at), x1 = plan.x(at + minutes);
    p.dashed_polyline(std::array{ImVec2{x0 + 1, y}, ImVec2{x1 - 1, y}, ImVec2{x1 - 1, y + small + t.px(6)},
                                 ImVec2{x0 + 1, y + small + t.px(6)}, ImVec2{x0 + 1, y}},
                      t.text, 1, t.px(4));
    widgets::fit_text(p, {x0 + t.px(4), y + t.px(3)}, picture.ghost[i], x1 - x0 - t.px(8), t.text, Type::small);
    at += minutes;
  }
  widgets::fit_text(p, {plan.lanes.min.x - t.px(10), y + t.px(3)}, "the best plan", plan.names - t.px(20), t.text,
                    Type::small, Font::sans, widgets::Align::right);
}

/// Where the checks are chosen.
void draw_cards(const Painter& p, const TreePlan& plan, Inputs& in, const Outputs& out, const Picture& picture,
                View& view, float left, float right) {
  const auto& t = theme();
  const float small = t.type(Type::small), gap = t.px(6);
  const std::size_t per_row = right - left > t.px(700) ? 3 : 2;
  const float wide = (right - left - gap * static_cast<float>(per_row - 1)) / static_cast<float>(per_row);
  double longest = 0;
  for (const auto& check : picture.run->tree.checks) longest = std::max(longest, check.minutes);
  for (std::size_t k = 0; k < picture.check_cards.size(); ++k) {
    const CheckCard& card = picture.check_cards[k];
    const ImVec2 at{left + static_cast<float>(k % per_row) * (wide + gap),
                    plan.cards + static_cast<float>(k / per_row) * (plan.card + gap)};
    const Rect box{at, {at.x + wide, at.y + plan.card}};
    const bool ran = !card.says.empty();
    p.rect(box.min, box.max, t.card, t.px(6));
    p.frame(box.min, box.max, ran ? t.accent : t.line, 1, t.px(6));
    // Its minutes as a bar along the lower edge, all on one scale.
    const float bar = static_cast<float>(picture.run->tree.checks[k].minutes / longest) * (wide - t.px(16));
    p.rect({box.min.x + t.px(8), box.max.y - t.px(5)}, {box.min.x + t.px(8) + bar, box.max.y - t.px(2)},
           ran ? t.accent : t.muted);
    const float number = widgets::text_size(card.minutes, Type::small, Font::mono).x;
    p.text({box.max.x - t.px(8), box.min.y + t.px(5)}, card.minutes, t.text, Type::small, Font::mono,
           widgets::Align::right);
    widgets::fit_text(p, {box.min.x + t.px(8), box.min.y + t.px(5)}, card.name, wide - number - t.px(26), t.text,
                      Type::small, Font::bold);
    if (plan.card > 2 * small + t.px(14))
      widgets::fit_text(p, {box.min.x + t.px(8), box.min.y + small + t.px(10)},
                        ran         ? std::string_view(card.says)
                        : out.ended ? "not run"
                                    : "press to run it",
                        wide - t.px(16), t.muted, Type::small);
    if (widgets::veiled() || out.ended || ran) {
      if (ran && ImGui::IsMouseHoveringRect(box.min, box.max) && ImGui::IsWindowHovered())
        widgets::tip(card.name, card.says);
      continue;
    }
    ImGui::PushID(static_cast<int>(k));
    ImGui::SetCursorScreenPos(box.min);
    if (widgets::press_area("run check", {wide, plan.card}))
      take_move(in, out, picture, view, {.kind = MoveKind::check, .from = k});
    if (ImGui::IsItemHovered() || ImGui::IsItemFocused()) {
      p.frame(box.min, box.max, t.accent, t.px(2), t.px(6));
      widgets::tip(card.name, card.minutes);
    }
    ImGui::PopID();
  }
}

/// A lane is pressed to name its cause.
void take_names(const Painter& p, const TreePlan& plan, Inputs& in, const Outputs& out, const Picture& picture,
                View& view) {
  if (out.ended) return;
  const auto& t = theme();
  for (std::size_t i = 0; i < picture.lanes.size() && i < max_lanes; ++i) {
    const Rect& row = plan.row[i];
    ImGui::PushID(static_cast<int>(i) + 100);
    ImGui::SetCursorScreenPos(row.min);
    if (widgets::press_area("name cause", {row.width(), std::max(2.0f, row.height())}))
      take_move(in, out, picture, view, {.kind = MoveKind::diagnose, .from = i});
    if (ImGui::IsItemHovered() || ImGui::IsItemFocused()) {
      p.frame(row.min, row.max, t.accent, t.px(1.5f), t.px(4));
      const float wide = widgets::text_size("name it", Type::small).x;
      p.plate({row.max.x - wide - t.px(8), (row.min.y + row.max.y - t.type(Type::small)) / 2}, "name it", t.panel,
              Type::small);
      p.text({row.max.x - t.px(8), (row.min.y + row.max.y - t.type(Type::small)) / 2}, "name it", t.accent, Type::small,
             Font::bold, widgets::Align::right);
    }
    ImGui::PopID();
  }
}

void mark_minutes_guess(const Painter& p, const TreePlan& plan) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->unit != "min" || !(guess->value > 0)) return;
  const auto& t = theme();
  const float raw = plan.x(guess->value), x = std::clamp(raw, plan.lanes.min.x, plan.lanes.max.x);
  p.dashed_line({x, plan.lanes.min.y}, {x, plan.axis}, t.accent, t.px(2), t.px(5));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), raw > x);
  widgets::paint_guess_words(p, {std::min(x + t.px(4), plan.lanes.max.x - t.px(110)), plan.lanes.min.y}, words.view());
}

}  // namespace

void draw_tree(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const TreePlan plan = plan_tree(picture, at, size);
  const float small = t.type(Type::small);
  {
    const widgets::GivenMarks given;
    const float end = at.x + size.x - t.px(120);
    widgets::wrapped_text(p, at, picture.heading, end - at.x, t.text, {.max_lines = 2});
    if (plan.lanes.height() > small) paint_lanes(p, plan, picture);
    draw_cards(p, plan, in, out, picture, view, at.x, at.x + size.x);
    widgets::drew("case");
  }
  if (widgets::veiled()) {
    ImGui::Dummy(size);
    return;
  }
  paint_ran(p, plan, picture);
  paint_fix(p, plan, picture);
  paint_axis(p, plan);
  paint_ghost_path(p, plan, picture);
  mark_minutes_guess(p, plan);
  take_names(p, plan, in, out, picture, view);
  ImGui::SetCursorScreenPos({at.x + size.x - widgets::button_size("Next case").x, at.y});
  if (out.ended && in.which == "dealt" && widgets::button("Next case", true)) ++in.seed;
  if (word_link(p, "open lab", "open its lab", {at.x, plan.axis + t.px(4)})) view.requests.open_link = picture.link;
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::interview::scenarios
