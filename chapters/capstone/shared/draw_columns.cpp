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

/// Rounds side by side, in pixels: heads, slabs on one axis, a lane for each other target, and the hand.
struct ColumnPlan {
  ImVec2 at{}, size{}, cards{};  ///< cards: room of the hand, at the lower end
  float axis = 0, wide = 1, head = 0, slab_top = 0, ground = 0, lane = 0, hand = 0;
  ShownRounds shown;
  float gap = 0;  ///< for the words on those that are hidden
  double most = 1;
  bool tight = false;  ///< little height: no legend, no words but names and figures
  float x(std::size_t column) const {
    return at.x + axis + static_cast<float>(column) * wide + (column >= shown.gap_at ? gap : 0);
  }
  float y(double value) const {
    return ground - static_cast<float>(std::clamp(value / most, 0.0, 1.0)) * (ground - slab_top);
  }
  float lane_bottom(std::size_t lane_index) const { return ground + hand + static_cast<float>(lane_index + 1) * lane; }
};

constexpr std::size_t lanes_of(const Board& board) { return board.targets.size() - 1; }

ColumnPlan plan_columns(const Board& board, BoardView& view, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), body = t.type(Type::body);
  ColumnPlan plan{.at = at, .size = size};
  plan.axis = size.x < t.px(520) ? t.px(52) : t.px(74);
  plan.tight = size.y < t.px(300);
  const float legend_px = plan.tight ? 0 : board_legend(board, view, at, size.x, false);
  const float hand = plan_hand(board, view, size);
  plan.cards = {size.x, hand};
  const float bottom = at.y + size.y - hand - t.px(6);
  plan.head = at.y + legend_px + t.px(4);
  plan.slab_top = plan.head + body + (plan.tight ? t.px(14) : 2 * small + t.px(22));
  const float left = bottom - plan.slab_top;
  plan.lane = left > t.px(190) ? std::clamp(0.2f * left, small + t.px(16), t.px(70)) : 0;
  plan.hand = small + t.px(8);  // the words of slab and vessel under the ground
  plan.ground =
      std::max(plan.slab_top + t.px(12), bottom - plan.hand - static_cast<float>(lanes_of(board)) * plan.lane);
  plan.most = widgets::veiled() ? board.targets[board.main].given_most : board.targets[board.main].most;
  const float room = size.x - plan.axis;
  const auto columns = static_cast<std::size_t>(std::clamp(room / t.px(126), 2.0f, 25.0f));
  plan.shown = shown_rounds(board, columns - 1);
  plan.gap = plan.shown.hidden > 0 ? t.px(50) : 0;
  plan.wide = std::min((room - plan.gap) / static_cast<float>(plan.shown.count + 1), t.px(330));
  return plan;
}

float slab_left(const ColumnPlan& plan, std::size_t column) { return plan.x(column) + widgets::theme().px(12); }
float slab_right(const ColumnPlan& plan, std::size_t column) { return plan.x(column) + 0.6f * plan.wide; }

void paint_slab(const Painter& p, const Board& board, const ColumnPlan& plan, std::size_t column, double share) {
  const auto& t = widgets::theme();
  const std::size_t index = plan.shown.rounds[column];
  const BoardRound& r = board.rounds[index];
  const float x0 = slab_left(plan, column), x1 = slab_right(plan, column), small = t.type(Type::small);
  double from = 0;
  for (std::size_t cause = 0; cause < board.causes.size(); ++cause) {
    const double value = grown(board, index, cause, share);
    if (!(value > 0)) continue;
    const float top = plan.y(from + value), bottom = plan.y(from);
    from += value;
    if (bottom - top < 0.5f) continue;
    const ImU32 fill = widgets::with_alpha(widgets::colour(board.causes[cause].tint, t), r.bounced ? 0.3f : 1.0f);
    p.rect({x0, top + (bottom - top > 3 ? 1.0f : 0.0f)}, {x1, bottom}, fill, t.px(2));
    if (board.causes[cause].hatched)
      widgets::hatch(p, {{x0, top}, {x1, bottom}}, widgets::with_alpha(t.background, 0.5f), t.px(6));
    if (share < 1 || r.bounced || bottom - top < small + t.px(4)) continue;
    const ImU32 ink = widgets::text_on(fill, t);
    const float middle = (x0 + x1) / 2, room = x1 - x0 - t.px(6);
    const auto piece = std::find_if(r.pieces.begin(), r.pieces.end(), [&](const auto& q) { return q.cause == cause; });
    const bool two =
        bottom - top > 2 * small + t.px(8) && widgets::text_size(board.causes[cause].name, Type::small).x <= room;
    const float y = (top + bottom) / 2 - (two ? small + t.px(1) : small / 2 + t.px(1));
    widgets::fit_text(p, {middle, y}, two ? board.causes[cause].name : std::string_view(piece->words), room, ink,
                      Type::small, two ? Font::sans : Font::mono, Align::center);
    if (two)
      widgets::fit_text(p, {middle, y + small + t.px(2)}, piece->words, room, ink, Type::small, Font::mono,
                        Align::center);
  }
}

void paint_ghost(const Painter& p, const ColumnPlan& plan, std::size_t column, double before) {
  if (!(before > 0)) return;
  const auto& t = widgets::theme();
  const float x0 = slab_left(plan, column) - t.px(3), x1 = slab_right(plan, column) + t.px(3), top = plan.y(before);
  const std::array<ImVec2, 4> outline{{{x0, plan.ground}, {x0, top}, {x1, top}, {x1, plan.ground}}};
  p.dashed_polyline(outline, t.muted, t.px(1));
}

void paint_vessel(const Painter& p, const Board& board, const ColumnPlan& plan, std::size_t column,
                  const BoardRound* round) {
  const auto& t = widgets::theme();
  if (plan.wide < t.px(120)) return;
  const float x1 = plan.x(column) + plan.wide - t.px(14),
              x0 = std::max(x1 - t.px(34), slab_right(plan, column) + t.px(14)),
              top = plan.ground - 0.42f * (plan.ground - plan.slab_top), lip = t.px(4);
  const std::array<ImVec2, 6> rim{
      {{x0 - lip, top}, {x0, top}, {x0, plan.ground}, {x1, plan.ground}, {x1, top}, {x1 + lip, top}}};
  if (round) {
    const auto held = static_cast<float>(std::clamp(round->held, 0.0, 1.0));
    p.rect({x0, plan.ground - held * (plan.ground - top)}, {x1, plan.ground}, t.muted);
    if (round->tried > 1) {  // it would stand above the rim
      const float over = top - std::min(0.3f, static_cast<float>(round->tried) - 1) * (plan.ground - top);
      const widgets::Rect area{{x0 + t.px(2), over}, {x1 - t.px(2), plan.ground - held * (plan.ground - top)}};
      widgets::hatch(p, area, t.bad, t.px(5));
      p.frame(area.min, area.max, t.bad, t.px(1));
    }
  }
  p.polyline(rim, t.text, t.px(1.5f));
  const float small = t.type(Type::small);
  if (round)
    widgets::fit_text(p, {(x0 + x1) / 2, plan.ground + t.px(4)}, round->held_words, 0.42f * plan.wide,
                      round->tried > 1 ? t.bad : t.text, Type::small, Font::mono, Align::center);
  if (plan.tight || (round && round->tried > 1)) return;
  const ImVec2 words{(x0 + x1) / 2, top - small - t.px(4)};
  p.plate({words.x - widgets::text_size(board.room_words, Type::small, Font::mono).x / 2, words.y}, board.room_words,
          t.background, Type::small, Font::mono);
  widgets::fit_text(p, words, board.room_words, 0.4f * plan.wide, t.muted, Type::small, Font::mono, Align::center);
}

void paint_lanes(const Painter& p, const Board& board, const ColumnPlan& plan, std::size_t column,
                 const BoardRound* round) {
  if (!(plan.lane > 0)) return;
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), x0 = slab_left(plan, column),
              x1 = std::min(slab_right(plan, column), x0 + 0.26f * plan.wide);
  std::size_t lane = 0;
  for (std::size_t i = 0; i < board.targets.size(); ++i) {
    if (i == board.main) continue;
    const float bottom = plan.lane_bottom(lane++), high = plan.lane - t.px(10);
    if (round) {
      const auto share = [&](double v) {
        return static_cast<float>(std::clamp(v / board.targets[i].most, 0.0, 1.0)) * high;
      };
      p.rect({x0, bottom - std::max(share(round->values[i]), 1.0f)}, {x1, bottom},
             widgets::with_alpha(round->met[i] ? t.good : t.bad, round->bounced ? 0.25f : 0.6f), t.px(2));
      if (round->values[i] > board.targets[i].most)  // cut
        for (const float down : {t.px(4), t.px(8)})
          p.line({x0 - t.px(2), bottom - high + down + t.px(3)}, {x1 + t.px(2), bottom - high + down - t.px(3)},
                 t.background, t.px(1.5f));
      if (std::isfinite(round->claimed[i])) paint_claim(p, {x1 + t.px(8), bottom - share(round->claimed[i])}, t.px(4));
      const float right = plan.x(column) + plan.wide - t.px(26);
      const float room = right - x1 - t.px(12), wide = widgets::text_size(round->words[i], Type::small, Font::mono).x;
      const ImVec2 at{right, bottom - small - t.px(2)};
      if (wide <= room) p.plate({right - wide, at.y}, round->words[i], t.background, Type::small, Font::mono);
      widgets::fit_text(p, at, round->words[i], room, t.text, Type::small, Font::mono, Align::right);
      paint_met(p, {right + t.px(11), bottom - small / 2 - t.px(1)}, t.px(9), round->met[i]);
    }
  }
}

/// The targets' lines through all rounds, with their names at the left.
void paint_lines(const Painter& p, const Board& board, const ColumnPlan& plan) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), x0 = plan.at.x + plan.axis, x1 = plan.x(plan.shown.count) + plan.wide;
  const float room = plan.axis - t.px(8);
  std::size_t lane = 0;
  for (std::size_t i = 0; i < board.targets.size(); ++i) {
    const BoardTarget& target = board.targets[i];
    float y = plan.y(target.line), name_y = plan.slab_top - small - t.px(8);
    if (i != board.main) {
      if (!(plan.lane > 0)) continue;
      const float bottom = plan.lane_bottom(lane++), high = plan.lane - t.px(10);
      const double most = widgets::veiled() ? target.given_most : target.most;
      y = bottom - static_cast<float>(std::clamp(target.line / most, 0.0, 1.0)) * high;
      name_y = std::min(bottom - small, y + small / 2 + t.px(3));
      if (name_y < y + small / 2) name_y = y - 1.6f * small;
    }
    p.line({x0, y}, {x1, y}, t.warning, t.px(1.5f));
    widgets::fit_text(p, {x0 - t.px(6), y - small / 2 - t.px(1)}, target.line_words, room, t.warning, Type::small,
                      Font::mono, Align::right);
    widgets::fit_text(p, {x0 - t.px(6), name_y}, target.axis_words, room, t.muted, Type::small, Font::sans,
                      Align::right);
  }
}

void paint_ticks(const Painter& p, const Board& board, const ColumnPlan& plan) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), x0 = plan.at.x + plan.axis, x1 = plan.x(plan.shown.count) + plan.wide;
  const float apart = (plan.ground - plan.slab_top) / static_cast<float>(std::max<std::size_t>(1, board.ticks.size()));
  for (const auto& [value, words] : board.ticks) {
    if (apart < small + t.px(3) && value > 0) continue;
    const float y = plan.y(value);
    p.line({x0, y}, {x1, y}, t.grid, t.px(1));
    widgets::fit_text(p, {x0 - t.px(6), y - small / 2 - t.px(1)}, words, plan.axis - t.px(8), t.muted, Type::small,
                      Font::mono, Align::right);
  }
}

/// The round's name, which opens its lab, and what it won.
void draw_head(const Board& board, const ColumnPlan& plan, std::size_t column, BoardMove& move) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const std::size_t index = plan.shown.rounds[column];
  const BoardRound& r = board.rounds[index];
  const float x = plan.x(column) + t.px(6), small = t.type(Type::small), body = t.type(Type::body);
  const bool now = index + 1 == board.rounds.size();
  widgets::Line label;
  label.add("round ").add(r.number);
  ImGui::SetCursorScreenPos({x, plan.head});
  const bool pressed = widgets::press_area(label.c_str(), {plan.wide - t.px(12), plan.slab_top - plan.head - t.px(6)});
  const bool hot = ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  if (ImGui::IsItemHovered()) widgets::tip(r.name, board.opens, r.note);
  if (pressed && !board.opens.empty()) move.open = static_cast<std::ptrdiff_t>(index);
  const ImVec2 disc{x + t.px(12), plan.head + body / 2 + t.px(4)};
  paint_round_number(p, r, disc, now);
  const float left = disc.x + t.px(16), room = plan.x(column) + plan.wide - t.px(8) - left;
  const ImU32 ink = hot ? t.accent : t.text;
  const float name_room = room - (plan.tight ? t.px(14) : 0);
  if (widgets::text_size(r.name, Type::body, Font::bold).x <= name_room)
    p.text({left, plan.head + t.px(3)}, r.name, ink, Type::body, Font::bold);
  else if (plan.tight)
    widgets::fit_text(p, {left, plan.head + t.px(5)}, r.name, name_room, ink, Type::small);
  else
    widgets::wrapped_text(p, {left, plan.head + t.px(1)}, r.name, room, ink,
                          {.font = Font::bold, .line_px = small + t.px(3), .max_lines = 2});
  if (plan.tight) {
    paint_met(p, {plan.x(column) + plan.wide - t.px(14), disc.y}, t.px(9), r.all_met);
    return;
  }
  const float under = plan.head + body + small + t.px(9);
  paint_met(p, {plan.x(column) + plan.wide - t.px(16), under + small / 2}, t.px(10), r.all_met);
  const bool start = index == 0;
  widgets::fit_text(p, {x + t.px(2), under},
                    start       ? std::string_view(r.note)
                    : r.bounced ? std::string_view("bounced")
                                : std::string_view(r.change),
                    plan.wide - t.px(34),
                    r.bounced ? t.bad
                    : start   ? t.muted
                              : t.text,
                    Type::small, start || r.bounced ? Font::sans : Font::mono);
}

void draw_column(const Board& board, const ColumnPlan& plan, std::size_t column, const BoardFlight& flight,
                 BoardMove& move) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const std::size_t index = plan.shown.rounds[column];
  const BoardRound& r = board.rounds[index];
  const bool now = index + 1 == board.rounds.size();
  const float small = t.type(Type::small), x0 = slab_left(plan, column), x1 = slab_right(plan, column);
  const ImVec2 corner{plan.x(column) + t.px(3), plan.head - t.px(4)},
      end{plan.x(column) + plan.wide - t.px(3), plan.lane_bottom(lanes_of(board)) - plan.lane + t.px(4)};
  p.frame(corner, end, now ? t.accent : t.line, t.px(1), t.px(6));
  draw_head(board, plan, column, move);
  paint_ghost(p, plan, column, r.before);
  const auto growth = now ? static_cast<double>(flight.growth) : 1.0;
  paint_slab(p, board, plan, column, growth);
  const double total = r.before + growth * (r.total - r.before);
  const float top = plan.y(r.before > 0 ? total : r.total);
  const float highest = plan.tight ? plan.slab_top - t.px(4) : plan.slab_top - t.type(Type::body) - t.px(4);
  const float words_y = std::max(top - t.type(Type::body) - t.px(6), highest);
  if (growth >= 1 && !r.bounced) {
    p.plate({(x0 + x1) / 2 - widgets::text_size(r.total_words, Type::body, Font::mono).x / 2, words_y}, r.total_words,
            t.background, Type::body, Font::mono);
    p.text({(x0 + x1) / 2, words_y}, r.total_words, t.text, Type::body, Font::mono, Align::center);
  }
  if (r.said > 0) {
    const float y = plan.y(r.said);
    p.dashed_line({x0 - t.px(6), y}, {x1 + t.px(18), y}, t.accent, t.px(1.5f));
    const ImVec2 words{x0 - t.px(2), y - small - t.px(4)};
    p.plate(words, r.said_words, t.background, Type::small);
    p.text(words, r.said_words, t.accent, Type::small);
  }
  paint_vessel(p, board, plan, column, &r);
  if (std::isfinite(r.claimed[board.main])) paint_claim(p, {x1 + t.px(8), plan.y(r.claimed[board.main])}, t.px(5));
  widgets::fit_text(p, {(x0 + x1) / 2, plan.ground + t.px(4)}, board.slab_words, x1 - x0, t.muted, Type::small,
                    Font::sans, Align::center);
  if (r.bounced && !plan.tight) {
    const ImVec2 at{x0, plan.slab_top + t.px(4)};
    const float wide = plan.x(column) + plan.wide - t.px(12) - x0;
    const float high = widgets::wrapped_text(p, at, r.bounce, wide, t.bad, {.max_lines = 6, .paint = false});
    p.rect({at.x - t.px(2), at.y - t.px(2)}, {at.x + wide, at.y + high}, t.background, t.px(4));
    widgets::wrapped_text(p, at, r.bounce, wide, t.bad, {.max_lines = 6});
  }
  paint_lanes(p, board, plan, column, &r);
}

/// The column of the next round: the picked card, its hatched slab as it is now, and the line that is dragged.
void draw_next(const Board& board, BoardView& view, const ColumnPlan& plan, BoardMove& move) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const std::size_t column = plan.shown.count;
  const BoardRound& last = board.rounds.back();
  const float small = t.type(Type::small), body = t.type(Type::body), x = plan.x(column);
  const ImVec2 corner{x + t.px(3), plan.head - t.px(4)},
      end{x + plan.wide - t.px(3), plan.lane_bottom(lanes_of(board)) - plan.lane + t.px(4)};
  const std::array<ImVec2, 5> outline{{corner, {end.x, corner.y}, end, {corner.x, end.y}, corner}};
  p.dashed_polyline(outline, t.accent, t.px(1.5f));
  const BoardCard* card = picked_card(board, view);
  const float left = x + t.px(10), room = plan.wide - t.px(20);
  const std::string_view title = card ? std::string_view(card->name) : "Your move";
  const bool fits = widgets::text_size(title, Type::body, Font::bold).x <= room;
  widgets::fit_text(p, {left, plan.head + t.px(3)}, title, room, t.accent, fits ? Type::body : Type::small,
                    fits ? Font::bold : Font::sans);
  const bool fresh = is_fresh(board, view) && !plan.tight;
  const std::string_view how = card         ? "drag your line and let go: it plays"
                               : fresh      ? first_move_words
                               : board.over ? "all targets are met; a card may still be played"
                                            : "take a card of the hand below";
  widgets::wrapped_text(p, {left, plan.head + body + t.px(7)}, how, room, fresh ? t.text : t.muted,
                        {.max_lines = fresh ? 3 : 2});
  const float x0 = slab_left(plan, column), x1 = slab_right(plan, column), top = plan.y(last.total);
  const std::array<ImVec2, 4> ghost{{{x0, plan.ground}, {x0, top}, {x1, top}, {x1, plan.ground}}};
  widgets::hatch(p, {{x0, top}, {x1, plan.ground}}, widgets::with_alpha(t.muted, 0.4f), t.px(6));
  p.dashed_polyline(ghost, t.muted, t.px(1));
  paint_vessel(p, board, plan, column, nullptr);
  if (card) {
    const float y = plan.y(view.say);
    p.line({x + t.px(6), y}, {x + plan.wide - t.px(6), y}, t.accent, t.px(1.5f));
    widgets::Line words;
    words.add("I say ").add(widgets::format(view.say, board.unit));
    const float label_y = y - small - t.px(6) > plan.slab_top ? y - small - t.px(6) : y + t.px(6);
    p.plate({x0, label_y}, words.view(), t.background, Type::small);
    p.text({x0, label_y}, words.view(), t.accent, Type::small);
    drag_say(board, view,
             {.at = {x + plan.wide - t.px(34), y},
              .from_px = static_cast<double>(plan.ground),
              .to_px = static_cast<double>(plan.slab_top)},
             move);
  }
  if (!card && !fresh && plan.ground - plan.slab_top > 6 * small) {
    const ImVec2 score{left, plan.slab_top + t.px(6)};
    const float high = widgets::wrapped_text(p, score, board.score, room, t.text, {.max_lines = 4, .paint = false}),
                wide = std::min(room, widgets::text_size(board.score, Type::small).x);
    if (top < score.y + high)  // the slab as it is now would cross the words
      p.rect({score.x - t.px(3), score.y - t.px(2)}, {score.x + wide + t.px(3), score.y + high}, t.background, t.px(3));
    widgets::wrapped_text(p, score, board.score, room, t.text, {.max_lines = 4});
  }
  if (board.rounds.size() < 2) return;
  const ImVec2 button = widgets::button_size("Take back");
  if (end.y - plan.ground < button.y + t.px(10)) return;
  ImGui::SetCursorScreenPos({left, end.y - button.y - t.px(6)});
  if (widgets::button("Take back")) move.back = true;
}

/// What a question gives of a round: that it was played.
void paint_given(const Painter& p, const Board& board, const ColumnPlan& plan, std::size_t column) {
  const auto& t = widgets::theme();
  const BoardRound& r = board.rounds[plan.shown.rounds[column]];
  const float x = plan.x(column) + t.px(6);
  p.frame({plan.x(column) + t.px(3), plan.head - t.px(4)},
          {plan.x(column) + plan.wide - t.px(3), plan.lane_bottom(lanes_of(board)) - plan.lane + t.px(4)}, t.line,
          t.px(1), t.px(6));
  paint_round_number(p, r, {x + t.px(12), plan.head + t.type(Type::body) / 2 + t.px(4)}, false);
  widgets::wrapped_text(p, {x + t.px(28), plan.head + t.px(1)}, r.name, plan.wide - t.px(36), t.text,
                        {.font = Font::bold, .max_lines = 2});
}

}  // namespace

BoardMove draw_columns(const Board& board, BoardView& view, ImVec2 at, ImVec2 size) {
  const Painter p = Painter::window();
  BoardMove move;
  const ColumnPlan plan = plan_columns(board, view, at, size);
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    for (std::size_t column = 0; column < plan.shown.count; ++column) paint_given(p, board, plan, column);
    paint_lines(p, board, plan);
    return move;
  }
  const BoardFlight flight = step_flight(board, view);
  if (!plan.tight) board_legend(board, view, at, size.x, true);
  paint_ticks(p, board, plan);
  paint_lines(p, board, plan);
  paint_hidden(p, board, plan.shown, {plan.x(plan.shown.gap_at) - plan.gap + widgets::theme().px(3), plan.slab_top},
               plan.gap, 3);
  for (std::size_t column = 0; column < plan.shown.count; ++column) draw_column(board, plan, column, flight, move);
  draw_next(board, view, plan, move);
  const float under = widgets::theme().px(view.small_hand ? 3 : 6);
  draw_hand(board, view, {at.x, at.y + size.y - plan.cards.y + under}, {plan.cards.x, plan.cards.y - under}, move);
  paint_flying_card(p, board, view, flight, {plan.x(plan.shown.count - 1) + widgets::theme().px(6), plan.head});
  return move;
}

}  // namespace chapters::capstone
