#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/capstone/shared/board_paint.h"
#include "widgets/base/marks.h"
#include "widgets/base/motion.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"

namespace chapters::capstone {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Type;

constexpr float flight_s = 0.7f;
constexpr float way_share = 0.45f;  ///< part of the flight until the card lies on the board

float ease_out(float x) { return 1 - (1 - x) * (1 - x) * (1 - x); }

Type hand_type(const BoardView& view) { return view.small_hand ? Type::small : Type::body; }

/// Calls `place(card, offset, width)` for each card that is shown; returns the height of all rows.
template <class Place>
float flow_hand(const Board& board, const BoardView& view, float width, const Place& place) {
  const auto& t = widgets::theme();
  const float gap = t.px(view.small_hand ? 4 : 6), line = t.type(hand_type(view)) + t.px(view.small_hand ? 12 : 18);
  float x = 0, y = 0;
  for (const BoardCard& card : board.hand) {
    if (view.short_hand && card.there) continue;
    const float words = widgets::text_size(card.name, hand_type(view)).x + t.px(view.small_hand ? 12 : 22);
    const float wide = std::min(width, words);
    if (x > 0 && x + wide > width) {
      x = 0;
      y += line;
    }
    place(card, ImVec2{x, y}, wide);
    x += wide + gap;
  }
  return y + line;
}

}  // namespace

BoardFlight step_flight(const Board& board, BoardView& view) {
  widgets::Motion& motion = widgets::motion();
  if (board.rounds.size() != view.seen) {
    view.flight = motion.on && board.rounds.size() == view.seen + 1 && view.seen > 0 ? 0.0f : 1.0f;
    view.seen = board.rounds.size();
  }
  if (view.flight < 1) {
    view.flight = motion.on ? std::min(1.0f, view.flight + motion.seconds / flight_s) : 1.0f;
    if (view.flight < 1) motion.moving = true;
  }
  return {.way = std::min(1.0f, view.flight / way_share),
          .growth = ease_out(std::clamp((view.flight - way_share) / (1 - way_share), 0.0f, 1.0f)),
          .bounces = board.rounds.back().bounced};
}

ShownRounds shown_rounds(const Board& board, std::size_t room) {
  const std::size_t all = board.rounds.size();
  ShownRounds shown{.count = std::min(all, room)};
  for (std::size_t i = 0; i < shown.count; ++i) shown.rounds[i] = all - shown.count + i;
  if (shown.count >= 3) shown.rounds[0] = 0;
  shown.hidden = all - shown.count;
  shown.gap_at = shown.count >= 3 ? 1 : 0;
  return shown;
}

void paint_hidden(const Painter& p, const Board& board, const ShownRounds& shown, ImVec2 at, float width,
                  int max_lines) {
  if (shown.hidden == 0) return;
  widgets::Line words;
  words.add(std::to_string(shown.hidden)).add(" ").add(board.round_word).add(shown.hidden == 1 ? " more" : "s more");
  const auto& t = widgets::theme();
  const float high =
      widgets::wrapped_text(p, at, words.view(), width, t.muted, {.max_lines = max_lines, .paint = false});
  p.rect(at, {at.x + width - t.px(6), at.y + high}, t.background);
  widgets::wrapped_text(p, at, words.view(), width, t.muted, {.max_lines = max_lines});
}

bool is_fresh(const Board& board, const BoardView& view) {
  return board.rounds.size() == 1 && !board.hand.empty() && !picked_card(board, view);
}

double piece_of(const BoardRound& round, std::size_t cause) {
  for (const BoardPiece& p : round.pieces)
    if (p.cause == cause) return p.value;
  return 0;
}

double grown(const Board& board, std::size_t round, std::size_t cause, double share) {
  const double now = piece_of(board.rounds[round], cause);
  if (share >= 1 || round == 0) return now;
  const double before = piece_of(board.rounds[round - 1], cause);
  return before + share * (now - before);
}

const BoardCard* picked_card(const Board& board, const BoardView& view) {
  for (const BoardCard& card : board.hand)
    if (card.id == view.picked && !card.there) return &card;
  return nullptr;
}

float plan_hand(const Board& board, BoardView& view, ImVec2 size) {
  const auto measure = [&](bool small, bool few) {
    view.small_hand = small;
    view.short_hand = few;
    return flow_hand(board, view, size.x, [](const BoardCard&, ImVec2, float) {});
  };
  const float most = 0.4f * size.y;
  float height = measure(false, false);
  if (height > most) height = measure(true, false);
  if (height > most) height = measure(true, true);
  return std::min(height, std::max(most, widgets::theme().px(24)));
}

float board_legend(const Board& board, BoardView& view, ImVec2 at, float width, bool paint) {
  const auto& t = widgets::theme();
  std::array<widgets::LegendEntry, max_causes> legend;
  const std::size_t causes = std::min(board.causes.size(), max_causes);
  for (std::size_t i = 0; i < causes; ++i) legend[i] = {board.causes[i].name, board.causes[i].tint};
  const auto entries = std::span<const widgets::LegendEntry>(legend).first(causes);
  const float claim = board.claimed_by.empty() ? 0 : widgets::text_size(board.claimed_by, Type::small).x + t.px(26);
  const float room = std::max(t.px(60), width - claim);
  const float high =
      widgets::layout_legend(entries, room, widgets::legend_row_px(), widgets::measure_text, view.legend);
  if (!paint) return high;
  const Painter p = Painter::window();
  widgets::paint_legend(p, at, room, entries, view.legend);
  if (claim > 0 && width > t.px(420)) {
    const float small = t.type(Type::small), y = at.y + (widgets::legend_row_px() - small) / 2;
    paint_claim(p, {at.x + width - claim + t.px(12), y + small / 2}, t.px(4));
    p.text({at.x + width - claim + t.px(22), y}, board.claimed_by, t.muted, Type::small);
  }
  return high;
}

void draw_hand(const Board& board, BoardView& view, ImVec2 at, ImVec2 room, BoardMove& move) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const Type type = hand_type(view);
  const float high = t.type(type) + t.px(view.small_hand ? 8 : 12), pad = t.px(view.small_hand ? 3 : 5);
  flow_hand(board, view, room.x, [&](const BoardCard& card, ImVec2 offset, float wide) {
    if (offset.y + high > room.y + 1) return;  // its rows were measured to fit: a pixel is rounding
    const bool picked = card.id == view.picked && !card.there;
    const ImVec2 corner{at.x + offset.x, at.y + offset.y - (picked ? t.px(3) : 0)},
        end{corner.x + wide, corner.y + high};
    ImGui::SetCursorScreenPos(corner);
    const bool pressed = widgets::press_area(card.id.c_str(), {wide, high}) && !card.there;
    const bool hot = !card.there && (ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible));
    if (ImGui::IsItemHovered()) widgets::tip(card.name, card.there ? "on the board" : "", card.note);
    if (pressed) {
      if (picked) move.play = card.id;
      view.picked = card.id;
      view.say = board.rounds.back().total;
      view.dragged = false;
      view.from = corner;
      view.card = {wide, high};
    }
    p.rect(corner, end, picked ? widgets::with_alpha(t.accent, 0.22f) : card.there ? t.background : t.card, t.px(6));
    p.frame(corner, end, picked || hot ? t.accent : t.line, t.px(picked ? 1.5f : 1.0f), t.px(6));
    widgets::fit_text(p, {corner.x + wide / 2, corner.y + pad}, card.name, wide - t.px(6),
                      card.there ? t.muted : t.text, type, Font::sans, Align::center);
    if (card.there) p.line({corner.x + t.px(8), end.y - t.px(4)}, {end.x - t.px(8), end.y - t.px(4)}, t.muted, t.px(1));
  });
}

void paint_flying_card(const Painter& p, const Board& board, const BoardView& view, const BoardFlight& flight,
                       ImVec2 to) {
  if (!(view.flight < 1) || view.card.x <= 0) return;
  if (!flight.bounces && !flight.flying()) return;
  const auto& t = widgets::theme();
  // One that bounces has come back when a taken one's slab has grown.
  const float share = flight.bounces && !flight.flying() ? 1 - flight.growth : ease_out(flight.way);
  const ImVec2 at{view.from.x + share * (to.x - view.from.x),
                  view.from.y + share * (to.y - view.from.y) - t.px(40) * share * (1 - share) * 4};
  const ImVec2 end{at.x + view.card.x, at.y + view.card.y};
  p.rect(at, end, t.card, t.px(6));
  p.frame(at, end, flight.bounces && !flight.flying() ? t.bad : t.accent, t.px(1.5f), t.px(6));
  widgets::fit_text(p, {(at.x + end.x) / 2, at.y + t.px(5)}, board.rounds.back().name, view.card.x - t.px(8), t.text,
                    Type::body, Font::sans, Align::center);
}

void paint_met(const Painter& p, ImVec2 centre, float size, bool met) {
  const auto& t = widgets::theme();
  const float h = size / 2;
  if (met) {
    const std::array<ImVec2, 3> check{
        {{centre.x - h, centre.y}, {centre.x - 0.3f * h, centre.y + 0.7f * h}, {centre.x + h, centre.y - 0.8f * h}}};
    p.polyline(check, t.good, t.px(2));
    return;
  }
  p.line({centre.x - 0.8f * h, centre.y - 0.8f * h}, {centre.x + 0.8f * h, centre.y + 0.8f * h}, t.bad, t.px(2));
  p.line({centre.x - 0.8f * h, centre.y + 0.8f * h}, {centre.x + 0.8f * h, centre.y - 0.8f * h}, t.bad, t.px(2));
}

void paint_claim(const Painter& p, ImVec2 at, float radius) {
  const auto& t = widgets::theme();
  const std::array<ImVec2, 4> corners{
      {{at.x, at.y - radius}, {at.x + radius, at.y}, {at.x, at.y + radius}, {at.x - radius, at.y}}};
  p.polygon(corners, t.background);
  p.polyline(corners, t.text, t.px(1.5f), true);
}

void paint_round_number(const Painter& p, const BoardRound& round, ImVec2 centre, bool now) {
  const auto& t = widgets::theme();
  const float radius = t.px(10), small = t.type(Type::small);
  p.circle(centre, radius, t.background);
  p.ring(centre, radius, now ? t.accent : t.muted, t.px(1));
  p.text({centre.x, centre.y - small / 2 - t.px(1)}, round.number, now ? t.accent : t.text, Type::small, Font::mono,
         Align::center);
}

void drag_say(const Board& board, BoardView& view, const BoardHandle& handle, BoardMove& move) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const double most = board.targets[board.main].most;
  const float reach = t.px(14);
  ImGui::SetCursorScreenPos({handle.at.x - reach, handle.at.y - reach});
  widgets::press_area("your line", {2 * reach, 2 * reach});
  const bool held = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool over = held || ImGui::IsItemHovered() || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  const bool let_go = ImGui::IsItemDeactivated();
  double say = view.say;
  if (held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 2)) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const double px = static_cast<double>(handle.vertical ? mouse.y : mouse.x);
    say = (px - handle.from_px) / (handle.to_px - handle.from_px) * most;
    view.dragged = true;
  }
  const widgets::PlayKeys keys = ImGui::IsItemFocused() ? widgets::play_keys() : widgets::PlayKeys{};
  say += 0.01 * most * keys.steps;
  view.say = std::clamp(say, 0.001 * most, most);
  if ((let_go && view.dragged) || keys.play) {
    move.play = view.picked;
    move.said = view.say;
    view.dragged = false;
  }
  if (over) ImGui::SetMouseCursor(handle.vertical ? ImGuiMouseCursor_ResizeNS : ImGuiMouseCursor_ResizeEW);
  const ImVec2 at = handle.at;
  p.circle(at, t.px(over ? 12.0f : 10.0f), widgets::with_alpha(t.accent, 0.25f));
  p.circle(at, t.px(6.5f), t.accent);
  p.ring(at, t.px(6.5f), t.text, t.px(1.5f));
  const float away = t.px(14), wing = t.px(4);
  for (const float side : {-1.0f, 1.0f}) {
    const ImVec2 tip =
        handle.vertical ? ImVec2{at.x, at.y + side * (away + wing)} : ImVec2{at.x + side * (away + wing), at.y};
    const ImVec2 a =
        handle.vertical ? ImVec2{at.x - wing, at.y + side * away} : ImVec2{at.x + side * away, at.y - wing};
    const ImVec2 b =
        handle.vertical ? ImVec2{at.x + wing, at.y + side * away} : ImVec2{at.x + side * away, at.y + wing};
    p.line(a, tip, t.accent, t.px(1.5f));
    p.line(tip, b, t.accent, t.px(1.5f));
  }
}

BoardMove draw_board(const Board& board, BoardView& view, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  BoardMove move;
  if (!board.rounds.empty()) {
    if (!view.picked.empty() && !picked_card(board, view)) view.picked.clear();
    move = board.rows ? draw_rows(board, view, at, size) : draw_columns(board, view, at, size);
    if (!move.play.empty()) {
      // The text that is moved out of the view is that of the hand, which lives as long as the board.
      for (const BoardCard& card : board.hand)
        if (card.id == move.play) move.play = card.id;
      view.picked.clear();
    }
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
  return move;
}

}  // namespace chapters::capstone
