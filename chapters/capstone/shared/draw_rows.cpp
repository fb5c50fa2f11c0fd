#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/capstone/shared/board_paint.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::capstone {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

/// Rounds below each other, in pixels: names at the left, slabs on one axis, vessels at the right, the hand below.
struct RowPlan {
  ImVec2 at{}, size{}, cards{};  ///< cards: room of the hand, at the lower end
  float names = 0, left = 0, right = 0, top = 0, row = 1;
  ShownRounds shown;
  float gap = 0;  ///< for the words on those that are hidden
  double most = 1;
  float x(double value) const { return left + static_cast<float>(std::clamp(value / most, 0.0, 1.0)) * (right - left); }
  float y(std::size_t i) const { return top + static_cast<float>(i) * row + (i >= shown.gap_at ? gap : 0); }
};

RowPlan plan_rows(const Board& board, BoardView& view, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), body = t.type(Type::body);
  RowPlan plan{.at = at, .size = size};
  const float legend_px = board_legend(board, view, at, size.x, false);
  plan.cards = {size.x, plan_hand(board, view, size)};
  const BoardAxis axis = rows_axis(board, size.x);
  plan.names = axis.left - t.px(8);
  plan.left = at.x + axis.left;
  plan.right = at.x + axis.right;
  plan.top = at.y + legend_px + small + t.px(14);
  const float bottom = at.y + size.y - plan.cards.y - t.px(8), least = body + small + t.px(22);
  const auto rows = static_cast<std::size_t>(std::clamp((bottom - plan.top) / least, 2.0f, 25.0f));
  plan.shown = shown_rounds(board, rows - 1);
  plan.gap = plan.shown.hidden > 0 ? small + t.px(8) : 0;
  plan.row = std::min((bottom - plan.top - plan.gap) / static_cast<float>(plan.shown.count + 1), t.px(104));
  plan.most = widgets::veiled() ? board.targets[board.main].given_most : board.targets[board.main].most;
  return plan;
}

float bar_high(const RowPlan& plan) {
  const auto& t = widgets::theme();
  return std::max(t.px(10), plan.row - t.type(Type::small) - t.px(16));
}

/// Room for a note under a round's name.
bool has_second_line(const RowPlan& plan) {
  const auto& t = widgets::theme();
  return plan.row >= t.type(Type::body) + t.type(Type::small) + t.px(14);
}

void paint_bar(const Painter& p, const Board& board, const RowPlan& plan, std::size_t i, double share) {
  const auto& t = widgets::theme();
  const std::size_t index = plan.shown.rounds[i];
  const BoardRound& r = board.rounds[index];
  const float y0 = plan.y(i) + t.px(4), y1 = y0 + bar_high(plan), small = t.type(Type::small);
  double from = 0;
  for (std::size_t cause = 0; cause < board.causes.size(); ++cause) {
    const double value = grown(board, index, cause, share);
    if (!(value > 0)) continue;
    const float x0 = plan.x(from), x1 = plan.x(from + value);
    from += value;
    if (x1 - x0 < 0.5f) continue;
    const ImU32 fill = widgets::with_alpha(widgets::colour(board.causes[cause].tint, t), r.bounced ? 0.3f : 1.0f);
    p.rect({x0, y0}, {x1 - (x1 - x0 > 3 ? 1.0f : 0.0f), y1}, fill, t.px(2));
    if (board.causes[cause].hatched)
      widgets::hatch(p, {{x0, y0}, {x1, y1}}, widgets::with_alpha(t.background, 0.5f), t.px(6));
    if (share < 1 || r.bounced || y1 - y0 < small + t.px(2)) continue;
    const auto piece = std::find_if(r.pieces.begin(), r.pieces.end(), [&](const auto& q) { return q.cause == cause; });
    const ImU32 ink = widgets::text_on(fill, t);
    const float room = x1 - x0 - t.px(6);
    const bool two =
        y1 - y0 > 2 * small + t.px(6) && widgets::text_size(board.causes[cause].name, Type::small).x <= room;
    const float y = (y0 + y1) / 2 - (two ? small + t.px(1) : small / 2 + t.px(1));
    if (board.causes[cause].hatched) {
      const float wide =
          std::min(room, std::max(two ? widgets::text_size(board.causes[cause].name, Type::small).x : 0.0f,
                                  widgets::text_size(piece->words, Type::small, Font::mono).x));
      p.rect({(x0 + x1 - wide) / 2 - t.px(2), y - t.px(1)},
             {(x0 + x1 + wide) / 2 + t.px(2), y + (two ? 2 : 1) * (small + t.px(2)) + t.px(1)}, fill, t.px(2));
    }
    widgets::fit_text(p, {(x0 + x1) / 2, y}, two ? board.causes[cause].name : std::string_view(piece->words), room, ink,
                      Type::small, two ? Font::sans : Font::mono, Align::center);
    if (two)
      widgets::fit_text(p, {(x0 + x1) / 2, y + small + t.px(2)}, piece->words, room, ink, Type::small, Font::mono,
                        Align::center);
  }
}

void paint_row_vessel(const Painter& p, const Board& board, const RowPlan& plan, std::size_t i,
                      const BoardRound* round) {
  const auto& t = widgets::theme();
  if (plan.right > plan.at.x + plan.size.x - t.px(100)) return;
  const float x0 = plan.right + t.px(22), x1 = plan.at.x + plan.size.x - t.px(10), y0 = plan.y(i) + t.px(4),
              y1 = y0 + bar_high(plan), lip = t.px(4);
  if (round) {
    const auto held = static_cast<float>(std::clamp(round->held, 0.0, 1.0));
    p.rect({x0, y0}, {x0 + held * (x1 - x0), y1}, t.muted);
    if (round->tried > 1) {  // it would stand beyond the rim
      const widgets::Rect area{{x0 + held * (x1 - x0), y0 + t.px(2)}, {x1 + t.px(8), y1 - t.px(2)}};
      widgets::hatch(p, area, t.bad, t.px(5));
      p.frame(area.min, area.max, t.bad, t.px(1));
    }
  }
  const std::array<ImVec2, 6> rim{{{x1, y0 - lip}, {x1, y0}, {x0, y0}, {x0, y1}, {x1, y1}, {x1, y1 + lip}}};
  p.polyline(rim, t.text, t.px(1.5f));
  widgets::fit_text(p, {x0, y1 + t.px(4)}, round ? std::string_view(round->held_words) : board.room_words, x1 - x0,
                    !round             ? t.muted
                    : round->tried > 1 ? t.bad
                                       : t.text,
                    Type::small, Font::mono);
}

/// The round's name at the left, which opens its lab.
void draw_row_name(const Board& board, const RowPlan& plan, std::size_t i, BoardMove& move) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const std::size_t index = plan.shown.rounds[i];
  const BoardRound& r = board.rounds[index];
  const float body = t.type(Type::body), y = plan.y(i) + t.px(4);
  widgets::Line label;
  label.add("round ").add(r.number);
  ImGui::SetCursorScreenPos({plan.at.x, y});
  const bool pressed = widgets::press_area(label.c_str(), {plan.names, body + t.type(Type::small) + t.px(8)});
  const bool hot = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  if (ImGui::IsItemHovered()) widgets::tip(r.name, board.opens, r.note);
  if (pressed && !board.opens.empty()) move.open = static_cast<std::ptrdiff_t>(index);
  paint_round_number(p, r, {plan.at.x + t.px(12), y + body / 2 + t.px(2)}, index + 1 == board.rounds.size());
  const float left = plan.at.x + t.px(30), room = plan.names - t.px(32);
  const ImU32 ink = hot ? t.accent : t.text;
  // A heading is never cut: a name that is too long stands smaller, in two lines.
  if (widgets::text_size(r.name, Type::body, Font::bold).x > room) {
    widgets::wrapped_text(p, {left, y}, r.name, room, ink, {.max_lines = has_second_line(plan) ? 2 : 1});
    return;
  }
  p.text({left, y}, r.name, ink, Type::body, Font::bold);
  if (has_second_line(plan)) widgets::fit_text(p, {left, y + body + t.px(4)}, r.note, room, t.muted, Type::small);
}

/// The figure under the bar, the other targets' figures with their checks, and what was won or why it bounced.
void paint_row_words(const Painter& p, const Board& board, const RowPlan& plan, std::size_t i) {
  const auto& t = widgets::theme();
  const BoardRound& r = board.rounds[plan.shown.rounds[i]];
  const float y = plan.y(i) + t.px(4) + bar_high(plan) + t.px(3);
  float x = plan.left;
  if (r.bounced) {
    p.plate({x, y}, r.bounce, t.background, Type::small);
    widgets::fit_text(p, {x, y}, r.bounce, plan.right - x, t.bad, Type::small);
    return;
  }
  p.plate({x, y}, r.total_words, t.background, Type::small, Font::mono);
  x += p.text({x, y}, r.total_words, t.text, Type::small, Font::mono) + t.px(10);
  for (std::size_t k = 0; k < board.targets.size(); ++k) {
    if (!(board.targets[k].line > 0)) continue;
    paint_met(p, {x + t.px(4), y + t.type(Type::small) / 2}, t.px(8), r.met[k]);
    x += t.px(14);
    if (k == board.main || x > plan.right - t.px(60)) continue;
    x += p.text_fit({x, y}, board.targets[k].name, plan.right - x, t.muted, Type::small) + t.px(4);
    x += p.text_fit({x, y}, r.words[k], std::max(1.0f, plan.right - x), t.text, Type::small, Font::mono) + t.px(10);
  }
  if (r.change.empty()) return;
  p.plate({x, y}, r.change, t.background, Type::small);
  widgets::fit_text(p, {x, y}, r.change, plan.right - x, t.text, Type::small);
}

void draw_row(const Board& board, const RowPlan& plan, std::size_t i, const BoardFlight& flight, BoardMove& move) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const std::size_t index = plan.shown.rounds[i];
  const BoardRound& r = board.rounds[index];
  const bool now = index + 1 == board.rounds.size();
  if (now)
    p.frame({plan.at.x, plan.y(i) - t.px(2)}, {plan.at.x + plan.size.x, plan.y(i) + plan.row - t.px(4)}, t.accent,
            t.px(1), t.px(6));
  draw_row_name(board, plan, i, move);
  const float y0 = plan.y(i) + t.px(4), y1 = y0 + bar_high(plan);
  if (r.before > 0) {
    const std::array<ImVec2, 4> ghost{{{plan.left, y0 - t.px(2)},
                                       {plan.x(r.before), y0 - t.px(2)},
                                       {plan.x(r.before), y1 + t.px(2)},
                                       {plan.left, y1 + t.px(2)}}};
    p.dashed_polyline(ghost, t.muted, t.px(1));
  }
  paint_bar(p, board, plan, i, now ? static_cast<double>(flight.growth) : 1.0);
  if (r.said > 0)  // two marks at the slab's rims: a line through it would cross its words
    for (const float rim : {y0, y1})
      p.line({plan.x(r.said), rim - t.px(5)}, {plan.x(r.said), rim + t.px(5)}, t.accent, t.px(2.5f));
  if (std::isfinite(r.claimed[board.main])) paint_claim(p, {plan.x(r.claimed[board.main]), y1}, t.px(5));
  paint_row_vessel(p, board, plan, i, &r);
  paint_row_words(p, board, plan, i);
}

void draw_next_row(const Board& board, BoardView& view, const RowPlan& plan, BoardMove& move) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const std::size_t i = plan.shown.count;
  const float body = t.type(Type::body), small = t.type(Type::small), y = plan.y(i), y0 = y + t.px(4),
              y1 = y0 + bar_high(plan);
  const ImVec2 corner{plan.at.x, y - t.px(2)}, end{plan.at.x + plan.size.x, y + plan.row - t.px(4)};
  const std::array<ImVec2, 5> outline{{corner, {end.x, corner.y}, end, {corner.x, end.y}, corner}};
  p.dashed_polyline(outline, t.accent, t.px(1.5f));
  const BoardCard* card = picked_card(board, view);
  const float left = plan.at.x + t.px(10), room = plan.names - t.px(14);
  widgets::fit_text(p, {left, y0}, card ? std::string_view(card->name) : "Your move", room, t.accent, Type::body,
                    Font::bold);
  const std::string_view how = card ? "drag, let go: it plays" : board.hand.empty() ? "that was all" : "take a card";
  if (has_second_line(plan)) widgets::fit_text(p, {left, y0 + body + t.px(4)}, how, room, t.muted, Type::small);
  const float now = plan.x(board.rounds.back().total);
  const std::array<ImVec2, 4> ghost{{{plan.left, y0}, {now, y0}, {now, y1}, {plan.left, y1}}};
  widgets::hatch(p, {{plan.left, y0}, {now, y1}}, widgets::with_alpha(t.muted, 0.4f), t.px(6));
  p.dashed_polyline(ghost, t.muted, t.px(1));
  if (is_fresh(board, view)) {
    const float wide = plan.right - plan.left - t.px(24);
    const float high = widgets::wrapped_text(p, {}, first_move_words, wide, t.text, {.max_lines = 2, .paint = false});
    const ImVec2 at{plan.left + t.px(12), std::max(y0, (y0 + y1 - high) / 2)};
    p.rect({at.x - t.px(4), at.y - t.px(2)}, {at.x + wide + t.px(4), at.y + high}, t.background, t.px(4));
    widgets::wrapped_text(p, at, first_move_words, wide, t.text, {.max_lines = 2});
  }
  if (card) {
    const float x = plan.x(view.say);
    p.line({x, y0 - t.px(4)}, {x, y1 + t.px(4)}, t.accent, t.px(1.5f));
    widgets::Line words;
    words.add("I say ").add(widgets::format(view.say, board.unit));
    const float wide = widgets::text_size(words.view(), Type::small).x;
    const ImVec2 at{x + t.px(20) + wide < plan.right ? x + t.px(20) : x - t.px(20) - wide, (y0 + y1 - small) / 2};
    p.plate(at, words.view(), t.background, Type::small);
    p.text(at, words.view(), t.accent, Type::small);
    drag_say(board, view,
             {.at = {x, (y0 + y1) / 2},
              .vertical = false,
              .from_px = static_cast<double>(plan.left),
              .to_px = static_cast<double>(plan.right)},
             move);
  }
  if (board.rounds.size() < 2) return;
  const ImVec2 button = widgets::button_size("Take back");
  // Next to the axis, or on it where nothing stands there.
  const float beside = plan.at.x + plan.size.x - button.x - t.px(16);
  if (beside < plan.right && (card || beside < now)) return;
  ImGui::SetCursorScreenPos({plan.at.x + plan.size.x - button.x - t.px(8), y0});
  if (widgets::button("Take back")) move.back = true;
}

/// The axis with its grid, and the main target's line through all rows; slabs and their words stand on both.
void paint_row_grid(const Painter& p, const Board& board, const RowPlan& plan, bool ticks) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), y = plan.top - small - t.px(8),
              bottom = plan.y(plan.shown.count + 1) - t.px(4);
  const BoardTarget& main = board.targets[board.main];
  const float x = plan.x(main.line), half = widgets::text_size(main.line_words, Type::small, Font::mono).x / 2;
  if (ticks)
    for (const auto& [value, words] : board.ticks) {
      p.line({plan.x(value), plan.top - t.px(4)}, {plan.x(value), bottom}, t.grid, t.px(1));
      const float wide = widgets::text_size(words, Type::small, Font::mono).x / 2 + half + t.px(8);
      if (main.line > 0 && std::abs(plan.x(value) - x) < wide) continue;  // the line's own figure stands there
      p.text({plan.x(value), y}, words, t.muted, Type::small, Font::mono, Align::center);
    }
  if (!(main.line > 0)) return;
  p.line({x, plan.top - t.px(4)}, {x, bottom}, t.warning, t.px(1.5f));
  p.rect({x - half - t.px(5), y - t.px(2)}, {x + half + t.px(5), y + small + t.px(3)}, t.warning, t.px(3));
  p.text({x, y}, main.line_words, widgets::text_on(t.warning, t), Type::small, Font::mono, Align::center);
}

}  // namespace

BoardAxis rows_axis(const Board& board, float width) {
  const auto& t = widgets::theme();
  const bool vessels = !board.room_words.empty() && width > t.px(560);
  return {std::clamp(0.2f * width, t.px(96), t.px(200)) + t.px(8), width - (vessels ? t.px(130) : t.px(12))};
}

BoardMove draw_rows(const Board& board, BoardView& view, ImVec2 at, ImVec2 size) {
  const Painter p = Painter::window();
  BoardMove move;
  RowPlan plan = plan_rows(board, view, at, size);
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    plan.most = 2 * board.targets[board.main].line;  // the axis' own end comes from what is asked
    paint_row_grid(p, board, plan, false);
    return move;
  }
  const BoardFlight flight = step_flight(board, view);
  board_legend(board, view, at, size.x, true);
  paint_row_grid(p, board, plan, true);
  const float inset = widgets::theme().px(10);
  paint_hidden(p, board, plan.shown, {at.x + inset, plan.y(plan.shown.gap_at) - plan.gap + widgets::theme().px(2)},
               plan.names - inset, 1);
  for (std::size_t i = 0; i < plan.shown.count; ++i) draw_row(board, plan, i, flight, move);
  draw_next_row(board, view, plan, move);
  draw_hand(board, view, {at.x, at.y + size.y - plan.cards.y + widgets::theme().px(view.small_hand ? 3 : 6)},
            plan.cards, move);
  paint_flying_card(p, board, view, flight, {at.x, plan.y(plan.shown.count - 1)});
  return move;
}

}  // namespace chapters::capstone
