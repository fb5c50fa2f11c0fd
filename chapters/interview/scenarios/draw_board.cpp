#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/interview/scenarios/draw_parts.h"
#include "chapters/interview/shared/word_link.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"

namespace chapters::interview::scenarios {
namespace {

using widgets::Font, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

constexpr std::array<std::string_view, board_columns> heads{"Symptom", "Cause", "Evidence", "Fix"};
constexpr std::array<std::string_view, board_columns> subheads{"what was seen", "one is left over",
                                                               "what would prove it", "and measure again"};

/// Where the cards of a board stand.
struct BoardPlan {
  Rect area, side;  ///< the columns; clock and explanation (empty: no room)
  float head = 0, gap = 0;
  std::array<float, board_columns> left{}, width{};
  std::array<std::size_t, board_columns> rows{};

  Rect card(std::size_t column, std::size_t row) const {
    const float pitch = (area.max.y - area.min.y - head) / static_cast<float>(rows[column]);
    const float high = std::min(pitch - theme().px(6), theme().px(column == 0 ? 86 : 58));
    const float top = area.min.y + head + pitch * static_cast<float>(row) + (pitch - high) / 2;
    return {{left[column], top}, {left[column] + width[column], top + std::max(high, 2.0f)}};
  }
};

BoardPlan plan_board(const ScenarioBoard& board, ImVec2 at, ImVec2 size) {
  const auto& t = theme();
  BoardPlan plan;
  plan.area = {at, {at.x + size.x, at.y + size.y}};
  if (size.x > t.px(1000)) {
    plan.area.max.x -= t.px(250);
    plan.side = {{plan.area.max.x + t.px(18), at.y}, {at.x + size.x, at.y + size.y}};
  } else if (size.y > t.px(430)) {
    plan.area.max.y -= t.px(132);
    plan.side = {{at.x, plan.area.max.y + t.px(10)}, {at.x + size.x, at.y + size.y}};
  }
  plan.head = t.type(Type::body) + t.px(8);
  const float wide = plan.area.width();
  plan.gap = std::clamp(0.055f * wide, t.px(14), t.px(64));
  constexpr std::array<float, board_columns> shares{0.30f, 0.22f, 0.26f, 0.22f};
  float x = plan.area.min.x;
  for (std::size_t c = 0; c < board_columns; ++c) {
    plan.left[c] = x;
    plan.width[c] = shares[c] * (wide - 3 * plan.gap);
    x += plan.width[c] + plan.gap;
    plan.rows[c] = board.order[c].size();
  }
  return plan;
}

ImVec2 out_of(const Rect& r) { return {r.max.x, (r.min.y + r.max.y) / 2}; }
ImVec2 into(const Rect& r) { return {r.min.x, (r.min.y + r.max.y) / 2}; }

void paint_thread(const Painter& p, ImVec2 a, ImVec2 b, ImU32 colour, float width, bool dashed) {
  constexpr std::size_t n = 24;
  std::array<ImVec2, n + 1> points;
  const float bend = std::max(theme().px(12), (b.x - a.x) * 0.5f);
  for (std::size_t i = 0; i <= n; ++i) {
    const float u = static_cast<float>(i) / n, v = 1 - u;
    const float k0 = v * v * v, k1 = 3 * v * v * u, k2 = 3 * v * u * u, k3 = u * u * u;
    points[i] = {k0 * a.x + k1 * (a.x + bend) + k2 * (b.x - bend) + k3 * b.x,
                 k0 * a.y + k1 * a.y + k2 * b.y + k3 * b.y};
  }
  if (dashed)
    p.dashed_polyline(points, colour, width, theme().px(5));
  else
    p.polyline(points, colour, width);
}

const std::string& words_of(const SymptomCase& c, std::size_t column) {
  return column == 0 ? c.seen : column == 1 ? c.cause : column == 2 ? c.evidence : c.fix;
}

/// 0: no thread; 1: right; -1: wrong.
int state_of(const BoardPlay& play, std::size_t column, std::size_t row) {
  for (const Thread& t : play.threads)
    if ((t.column == column && t.from == row) || (t.column + 1 == column && t.to == row)) return t.right ? 1 : -1;
  return 0;
}

void paint_symptom(const Painter& p, const Rect& box, const SymptomCase& c, std::string_view second) {
  const auto& t = theme();
  const float small = t.type(Type::small), pad = t.px(9);
  const bool two = box.height() > t.type(Type::body) + small + t.px(10);
  // What the other instrument reads takes two lines where one is too short.
  const bool wraps = box.height() > t.type(Type::body) + 2.4f * small + t.px(12) &&
                     widgets::text_size(second, Type::small).x > box.width() - 2 * pad;
  const float low = two ? (wraps ? 2.2f : 1.0f) * small + t.px(7) : t.px(3), upper = box.max.y - low - box.min.y;
  const int lines = upper > 2.5f * t.type(Type::body) ? 2 : 1;
  // A name that does not fit is set smaller; where that is not enough, it takes the instrument's place.
  float glyph_wide = box.width() > t.px(150) ? std::min(0.36f * box.width(), t.px(96)) : 0;
  const auto room = [&] { return box.width() - glyph_wide - 2 * pad - (glyph_wide > 0 ? t.px(6) : 0); };
  const auto fits = [&](Type type) {
    return widgets::text_size(c.seen, type, Font::bold).x < room() * (lines == 2 ? 1.5f : 1.0f);
  };
  Type type = Type::body;
  if (!fits(type)) type = Type::small;
  if (!fits(type)) glyph_wide = 0;
  if (glyph_wide > 0)
    paint_glyph(p, c.glyph, {{box.max.x - glyph_wide - pad, box.min.y + t.px(6)}, {box.max.x - pad, box.max.y - low}});
  widgets::WrapOptions options{.type = type, .font = Font::bold, .line_px = 1.25f * t.type(type), .max_lines = lines};
  options.paint = false;
  const float high = widgets::wrapped_text(p, {}, c.seen, room(), t.text, options);
  options.paint = true;
  const float y = box.min.y + std::max(t.px(2), (upper - high) / 2 + t.px(2));
  widgets::wrapped_text(p, {box.min.x + pad, y}, c.seen, room(), t.text, options);
  if (two && wraps)
    widgets::wrapped_text(p, {box.min.x + pad, box.max.y - 2.2f * small - t.px(6)}, second, box.width() - 2 * pad,
                          t.muted, {.line_px = 1.15f * small, .max_lines = 2});
  else if (two)
    widgets::fit_text(p, {box.min.x + pad, box.max.y - small - t.px(6)}, second, box.width() - 2 * pad, t.muted,
                      Type::small);
}

void paint_card(const Painter& p, const Rect& box, std::string_view words) {
  const auto& t = theme();
  const float pad = t.px(8), room = box.width() - 2 * pad, line = 1.25f * t.type(Type::small);
  const int lines = std::max(1, static_cast<int>((box.height() - t.px(4)) / line));
  const widgets::WrapOptions options{.line_px = line, .max_lines = lines};
  widgets::WrapOptions measure = options;
  measure.paint = false;
  const float high = widgets::wrapped_text(p, {}, words, room, t.text, measure);
  widgets::wrapped_text(p, {box.min.x + pad, box.min.y + std::max(t.px(2), (box.height() - high) / 2)}, words, room,
                        t.text, options);
}

struct Hand {
  Inputs& in;
  const Outputs& out;
  const Picture& picture;
  View& view;
  const BoardPlan& plan;

  void drop(std::size_t column, std::size_t row) {
    if (view.held_column + 1 == static_cast<int>(column))
      take_move(in, out, picture, view,
                {.kind = static_cast<MoveKind>(view.held_column), .from = view.held_row, .to = row});
    view.held_column = -1;
    view.dragging = false;
  }
  /// The card under the pointer in the column that the held thread leads to.
  void drop_at(ImVec2 mouse) {
    const auto column = static_cast<std::size_t>(view.held_column + 1);
    for (std::size_t row = 0; row < plan.rows[column]; ++row)
      if (plan.card(column, row).contains(mouse)) {
        drop(column, row);
        return;
      }
    view.held_column = -1;
    view.dragging = false;
  }
  void press(std::size_t column, std::size_t row) {
    if (out.ended) return;
    const Rect box = plan.card(column, row);
    ImGui::PushID(static_cast<int>(column * 16 + row));
    ImGui::SetCursorScreenPos(box.min);
    const SymptomCase& card = picture.run->board.case_at(static_cast<BoardColumn>(column), row);
    const bool source = column + 1 < board_columns;
    // The ring on its edge is grabbed too.
    const float ring = source ? theme().px(8) : 0;
    const bool pressed = widgets::press_area(words_of(card, column).c_str(), {box.width() + ring, box.height()});
    if (ImGui::IsItemActive() && source && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4) && !view.dragging) {
      view.dragging = true;
      view.held_column = static_cast<int>(column);
      view.held_row = row;
      start_clock(view, ImGui::GetTime());
    }
    if (ImGui::IsItemDeactivated() && view.dragging && view.held_column == static_cast<int>(column))
      drop_at(ImGui::GetIO().MousePos);
    else if (pressed && view.held_column >= 0 && view.held_column + 1 == static_cast<int>(column))
      drop(column, row);
    else if (pressed && source) {
      const bool same = view.held_column == static_cast<int>(column) && view.held_row == row;
      view.held_column = same ? -1 : static_cast<int>(column);
      view.held_row = row;
      start_clock(view, ImGui::GetTime());
    }
    if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
      Painter::window().frame(box.min, box.max, theme().accent, theme().px(2), theme().px(6));
    if (view.held_column < 0 && ImGui::IsItemHovered()) {
      if (column == 0)
        widgets::tip(card.seen, {}, card.here);
      else
        widgets::tip(words_of(card, column), {}, {});
    }
    ImGui::PopID();
  }
};

void paint_cards(const Painter& p, const BoardPlan& plan, const Picture& picture, const View& view) {
  const auto& t = theme();
  const Run& run = *picture.run;
  for (std::size_t column = 0; column < board_columns; ++column) {
    const float head = p.text({plan.left[column], plan.area.min.y}, heads[column], t.text, Type::body, Font::bold);
    widgets::fit_text(p, {plan.left[column] + head + t.px(8), plan.area.min.y + t.px(2)}, subheads[column],
                      plan.width[column] - head - t.px(8), t.muted, Type::small);
    for (std::size_t row = 0; row < plan.rows[column]; ++row) {
      const Rect box = plan.card(column, row);
      const int state = state_of(run.play, column, row);
      const bool held = view.held_column == static_cast<int>(column) && view.held_row == row;
      const bool open = view.held_column >= 0 && view.held_column + 1 == static_cast<int>(column);
      p.rect(box.min, box.max, t.card, t.px(6));
      p.frame(box.min, box.max,
              held        ? t.accent
              : state > 0 ? t.good
              : state < 0 ? t.bad
              : open      ? t.muted
                          : t.line,
              held || state != 0 ? t.px(1.6f) : 1, t.px(6));
      const SymptomCase& c = run.board.case_at(static_cast<BoardColumn>(column), row);
      if (column == 0)
        paint_symptom(p, box, c, picture.seconds_line[run.board.order[0][row]]);
      else
        paint_card(p, box, words_of(c, column));
      const bool source = column + 1 < board_columns;
      if (source && state == 0) p.ring(out_of(box), t.px(4), held ? t.accent : t.muted, t.px(1.5f));
    }
  }
}

void paint_threads(const Painter& p, const BoardPlan& plan, const Picture& picture, const View& view) {
  const auto& t = theme();
  const Run& run = *picture.run;
  for (const Thread& s : picture.solution)
    paint_thread(p, out_of(plan.card(s.column, s.from)), into(plan.card(s.column + 1, s.to)),
                 widgets::with_alpha(t.muted, 0.6f), t.px(1.5f), true);
  for (const Thread& s : run.play.threads) {
    const ImVec2 a = out_of(plan.card(s.column, s.from)), b = into(plan.card(s.column + 1, s.to));
    paint_thread(p, a, b, s.right ? t.good : t.bad, t.px(2), !s.right);
    p.circle(a, t.px(4), s.right ? t.good : t.bad);
  }
  if (view.held_column < 0) return;
  const ImVec2 from = out_of(plan.card(static_cast<std::size_t>(view.held_column), view.held_row));
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  p.circle(from, t.px(4), t.accent);
  if (!view.dragging) return;
  paint_thread(p, from, mouse, t.accent, t.px(2.5f), false);
  p.circle(mouse, t.px(9), widgets::with_alpha(t.accent, 0.35f));
  p.circle(mouse, t.px(6), t.accent);
  p.ring(mouse, t.px(6), IM_COL32_WHITE, t.px(1.5f));
}

/// The wrong thread explained, what was seen above what that cause would show; returns where it ends.
void paint_why(const Painter& p, Rect box, const WhyWrong& why) {
  const auto& t = theme();
  const float pad = t.px(10);
  p.rect(box.min, box.max, t.card, t.px(6));
  p.frame(box.min, box.max, t.bad, t.px(1.5f), t.px(6));
  const float title = widgets::wrapped_text(p, {box.min.x + pad, box.min.y + pad}, why.title, box.width() - 2 * pad,
                                            t.text, {.font = Font::bold, .max_lines = 2});
  const float top = box.min.y + pad + title + t.px(8);
  float words_x = box.min.x + pad, words_y = top, words_w = box.width() - 2 * pad;
  const bool wide = box.width() > t.px(520);
  if (why.would) {
    const float glyph_w = wide ? t.px(180) : box.width() - 2 * pad;
    const float caption = t.type(Type::small) + t.px(2);
    const float glyph_h = wide ? box.max.y - pad - top - caption : t.px(46);
    for (int i = 0; i < 2; ++i) {
      const float x = box.min.x + pad + (wide ? static_cast<float>(i) * (glyph_w + t.px(14)) : 0);
      const float y = top + (wide ? 0 : static_cast<float>(i) * (glyph_h + caption + t.px(6)));
      if (y + caption + glyph_h > box.max.y) return;
      // Twins show the same: the other instrument parts them.
      const bool twins = why.here->tell == why.would->tell;
      const std::string_view caption_words = twins    ? std::string_view((i == 0 ? why.here : why.would)->reads)
                                             : i == 0 ? "seen here"
                                                      : "what that would show";
      widgets::fit_text(p, {x, y}, caption_words, glyph_w, twins ? t.text : t.muted, Type::small);
      paint_glyph(p, (i == 0 ? why.here : why.would)->glyph, {{x, y + caption}, {x + glyph_w, y + caption + glyph_h}},
                  i == 1);
    }
    if (wide) {
      words_x += 2 * (glyph_w + t.px(14));
      words_w -= 2 * (glyph_w + t.px(14));
    } else {
      words_y += 2 * (glyph_h + caption + t.px(6));
    }
  }
  const float line = 1.4f * t.type(Type::small);
  const int lines = static_cast<int>((box.max.y - pad / 2 - words_y) / line);
  if (lines > 0) widgets::wrapped_text(p, {words_x, words_y}, why.says, words_w, t.text, {.max_lines = lines});
}

/// Before the first wrong thread: what the hand does.
void paint_hint(const Painter& p, Rect box, const Outputs& out, const Picture& picture) {
  const auto& t = theme();
  static constexpr std::string_view begin =
      "Drag from a symptom to what causes it. Go on from the cause to what would prove it, and from there to what "
      "mends "
      "it. The clock starts with the first thread; a wrong one stays until you draw it anew.";
  static constexpr std::string_view over = "Dashed lines show what belongs together. Another seed deals another board.";
  float y = box.min.y + t.px(4);
  for (const std::string& note : picture.notes) {
    if (y + t.type(Type::small) > box.max.y) return;
    widgets::fit_text(p, {box.min.x, y}, note, box.width(), t.text, Type::small);
    y += 1.5f * t.type(Type::small);
  }
  const int lines = static_cast<int>((box.max.y - y) / (1.4f * t.type(Type::small)));
  if (lines > 0)
    widgets::wrapped_text(p, {box.min.x, y + t.px(4)}, out.ended ? over : begin, box.width(), t.muted,
                          {.max_lines = lines});
}

void draw_side(const Painter& p, Inputs& in, const Outputs& out, const Picture& picture, View& view, Rect side,
               double elapsed) {
  const auto& t = theme();
  if (side.width() < t.px(160) || side.height() < t.px(80)) return;
  const bool tall = side.height() > side.width();
  const float radius = tall ? std::min(t.px(76), side.width() * 0.36f) : side.height() / 2 - t.px(12);
  const ImVec2 centre = tall ? ImVec2{(side.min.x + side.max.x) / 2, side.min.y + radius + t.px(16)}
                             : ImVec2{side.min.x + radius + t.px(8), (side.min.y + side.max.y) / 2};
  paint_ring(p, centre, radius, out, picture.run->play, elapsed);
  Rect rest = tall ? Rect{{side.min.x, centre.y + radius + t.px(20)}, side.max}
                   : Rect{{centre.x + radius + t.px(22), side.min.y}, side.max};
  const float button = widgets::button_size("Give up").y;
  ImGui::SetCursorScreenPos({rest.min.x, rest.max.y - button});
  if (out.ended) {
    if (widgets::button("Next board", true)) {
      ++in.seed;
      if (in.deal == Deal::today) in.deal = Deal::mixed;
    }
  } else if (widgets::button("Give up")) {
    take_move(in, out, picture, view, {.kind = MoveKind::give_up});
  }
  if (!picture.link.empty() && rest.width() > t.px(220) &&
      word_link(p, "open lab", "open it in its lab", {rest.min.x + t.px(110), rest.max.y - button + t.px(6)}))
    view.requests.open_link = picture.link;
  rest.max.y -= button + t.px(8);
  if (!picture.why.says.empty() && !out.ended)
    paint_why(p, rest, picture.why);
  else
    paint_hint(p, rest, out, picture);
}

}  // namespace

void draw_board(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const double now = ImGui::GetTime();
  const BoardPlan plan = plan_board(picture.run->board, at, size);
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    paint_cards(p, plan, picture, view);
    widgets::drew("case");
    ImGui::Dummy(size);
    return;
  }
  paint_cards(p, plan, picture, view);
  paint_threads(p, plan, picture, view);
  widgets::drew("case");
  Hand hand{in, out, picture, view, plan};
  for (std::size_t column = 0; column < board_columns; ++column)
    for (std::size_t row = 0; row < plan.rows[column]; ++row) hand.press(column, row);
  draw_side(p, in, out, picture, view, plan.side, elapsed_s(out, view, now));
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::interview::scenarios
