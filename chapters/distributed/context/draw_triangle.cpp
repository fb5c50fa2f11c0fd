#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/context/lab.h"
#include "chapters/distributed/shared/guess_marks.h"
#include "chapters/distributed/shared/rank_hue.h"
#include "widgets/base/arrow.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::distributed::context {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

ImU32 rank_hue(std::int64_t rank) { return widgets::theme().series_at(rank_series(rank)); }

/// The step that is shown, and how far its keys have gone towards the next.
struct RingMoment {
  std::int64_t step = 0;
  double gone = 0;
};
RingMoment moment_of(const widgets::Playback& playback, std::int64_t ranks) {
  const double at = std::clamp(playback.time_s, 0.0, static_cast<double>(ranks));
  RingMoment m{static_cast<std::int64_t>(at), at - std::floor(at)};
  if (m.step >= ranks) m = {ranks - 1, 0};
  if (m.step == ranks - 1) m.gone = 0;  // nothing travels in the last step
  return m;
}

void paint_square(const Painter& p, const Inputs& in, const Picture& picture, const RingPlaces& l,
                  const RingMoment& now) {
  const auto& t = widgets::theme();
  const Square& square = picture.run->square;
  const std::int64_t n = square.ranks, tokens = square.tokens;
  const bool in_steps = picture.method_words.empty(),
             dealt = !in_steps && in.method == models::parallel::ContextMethod::all_to_all;
  const float inset = l.cell >= t.px(8) ? t.px(0.75f) : l.cell >= t.px(4) ? 0.5f : 0;
  p.rect(l.square.min, l.square.max, widgets::with_alpha(t.line, 0.25f));
  for (std::int64_t q = 0; q < tokens; ++q)
    for (std::int64_t k = 0; k < tokens; ++k) {
      const SquareCell cell = square_cell(square, now.step, q, k);
      if (cell.state == CellState::masked) continue;
      const ImVec2 at{l.square.min.x + static_cast<float>(k) * l.cell, l.square.min.y + static_cast<float>(q) * l.cell};
      if (dealt) {
        const float part = (l.cell - 2 * inset) / static_cast<float>(n);
        for (std::int64_t r = 0; r < n; ++r) {
          const float from = at.y + inset + part * static_cast<float>(r);
          p.rect({at.x + inset, from}, {at.x + l.cell - inset, from + part}, rank_hue(r));
        }
        continue;
      }
      if (!in_steps) {
        p.rect({at.x + inset, at.y + inset}, {at.x + l.cell - inset, at.y + l.cell - inset}, rank_hue(cell.rank));
        continue;
      }
      const float alpha = cell.state == CellState::now ? 1.0f : cell.state == CellState::done ? 0.5f : 0.13f;
      p.rect({at.x + inset, at.y + inset}, {at.x + l.cell - inset, at.y + l.cell - inset},
             widgets::with_alpha(rank_hue(cell.rank), alpha));
    }
  for (std::int64_t i = 0; i < tokens; ++i) {
    const std::int64_t rank = square.token_rank[static_cast<std::size_t>(i)];
    const float from = static_cast<float>(i) * l.cell, to = from + l.cell;
    p.rect({l.queries.min.x, l.square.min.y + from + inset}, {l.queries.max.x, l.square.min.y + to - inset},
           dealt ? t.muted : rank_hue(rank));
    const std::int64_t holder = square.holder(now.step, rank);
    p.rect({l.square.min.x + from + inset, l.keys.min.y}, {l.square.min.x + to - inset, l.keys.max.y},
           in_steps ? rank_hue(holder) : t.muted);
  }
}

void paint_ring(const Painter& p, const Picture& picture, const RingPlaces& l, const RingMoment& now) {
  const auto& t = widgets::theme();
  const std::int64_t n = picture.drawn_ranks;
  const bool in_steps = picture.method_words.empty();
  if (n > 1 && in_steps) p.ring(l.centre, l.radius, t.line, t.px(2));
  const float small = t.type(Type::small);
  // Keys lie inside of the ring while they are used, so that the nodes stay readable.
  const float inwards = std::max(0.3f, (l.radius - t.px(56)) / std::max(1.0f, l.radius));
  const float side = key_side(l, n, inwards, 1.1f * small, 1.7f * small);
  for (std::int64_t r = 0; r < n; ++r) {
    const Rect& node = l.nodes[static_cast<std::size_t>(r)];
    const ImU32 hue = rank_hue(r);
    p.rect(node.min, node.max, t.card, t.px(5));
    p.frame(node.min, node.max, hue, t.px(1.5f), t.px(5));
    p.text({(node.min.x + node.max.x) / 2, node.min.y + t.px(4)}, picture.rank_names[static_cast<std::size_t>(r)],
           t.text, Type::small, Font::bold, Align::center);
    // What it computes in this step, of the largest tile; the rest is waiting.
    const double work = in_steps ? picture.work[static_cast<std::size_t>(now.step)][static_cast<std::size_t>(r)]
                                 : picture.whole_work[static_cast<std::size_t>(r)];
    const Rect bar{{node.min.x + t.px(6), node.max.y - t.px(13)}, {node.max.x - t.px(6), node.max.y - t.px(6)}};
    const float filled = bar.min.x + bar.width() * static_cast<float>(work);
    p.rect(bar.min, {filled, bar.max.y}, hue);
    if (work < 0.999) widgets::hatch(p, {{filled, bar.min.y}, bar.max}, t.muted, t.px(4));
  }
  if (!in_steps) {
    const float line = 1.35f * small, room = 2 * l.radius - l.nodes.front().width() - t.px(8);
    if (n < 2 || widgets::text_size("every rank has", Type::small).x > room) return;
    float y = l.centre.y - line;
    for (const std::string_view words : {std::string_view("every rank has"), std::string_view(picture.held_words)}) {
      p.text({l.centre.x, y}, words, t.muted, Type::small, Font::sans, Align::center);
      y += line;
    }
    return;
  }
  // The way of the keys, between the first two ranks.
  if (n > 1 && l.radius > t.px(40)) {
    const double way = n == 2 ? 0.5 : 0.56;
    const ImVec2 from = key_place(l, n, 0, way - 0.08), to = key_place(l, n, 0, way);
    const ImVec2 path[] = {from, to};
    widgets::draw_arrow(p, path, t.muted, t.px(2));
  }
  // Who meets whom, where there is room left of the ring.
  const float list = l.centre.x - l.radius - t.px(48) - l.ring.min.x;
  const auto& meets = picture.meets[static_cast<std::size_t>(now.step)];
  const float line = 1.45f * small, list_h = static_cast<float>(n + 1) * line;
  if (list >= t.px(150) && list_h <= l.ring.height()) {
    float y = l.centre.y - list_h / 2;
    p.text({l.ring.min.x, y}, "meets in this step", t.muted, Type::small);
    for (std::int64_t r = 0; r < n; ++r) {
      y += line;
      p.text({l.ring.min.x, y}, picture.rank_names[static_cast<std::size_t>(r)], t.text, Type::small, Font::bold);
      p.text({l.ring.min.x + t.px(52), y}, meets[static_cast<std::size_t>(r)], t.text, Type::small, Font::mono);
    }
  }
  for (std::int64_t owner = 0; owner < n && side > 0; ++owner) {
    ImVec2 at = key_place(l, n, owner, static_cast<double>(now.step) + now.gone);
    at = {l.centre.x + (at.x - l.centre.x) * inwards, l.centre.y + (at.y - l.centre.y) * inwards};
    const ImU32 hue = rank_hue(owner);
    p.rect({at.x - side / 2, at.y - side / 2}, {at.x + side / 2, at.y + side / 2}, hue, t.px(4));
    if (side >= 1.5f * small)
      p.text({at.x, at.y - small * 0.6f}, picture.key_names[static_cast<std::size_t>(owner)], widgets::text_on(hue, t),
             Type::small, Font::bold, Align::center);
  }
}

/// While a question is open: which rank holds which queries of the triangle, and the names of the ranks.
void paint_given(const Painter& p, const Inputs& in, const Picture& picture, const RingPlaces& l) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const Square& square = picture.run->square;
  const float inset = l.cell >= t.px(8) ? t.px(0.75f) : 0;
  for (std::int64_t q = 0; q < square.tokens; ++q)
    for (std::int64_t k = 0; k < square.tokens; ++k) {
      if (in.causal && k > q) continue;
      const ImVec2 at{l.square.min.x + static_cast<float>(k) * l.cell, l.square.min.y + static_cast<float>(q) * l.cell};
      p.rect({at.x + inset, at.y + inset}, {at.x + l.cell - inset, at.y + l.cell - inset},
             widgets::with_alpha(rank_hue(square.token_rank[static_cast<std::size_t>(q)]), 0.35f));
    }
  if (!l.with_ring) return;
  if (picture.drawn_ranks > 1) p.ring(l.centre, l.radius, t.line, t.px(2));
  for (std::int64_t r = 0; r < picture.drawn_ranks; ++r) {
    const Rect& node = l.nodes[static_cast<std::size_t>(r)];
    p.rect(node.min, node.max, t.card, t.px(5));
    p.frame(node.min, node.max, rank_hue(r), t.px(1.5f), t.px(5));
    p.text({(node.min.x + node.max.x) / 2, node.min.y + t.px(4)}, picture.rank_names[static_cast<std::size_t>(r)],
           t.text, Type::small, Font::bold, Align::center);
  }
}

/// One order's ranks on the common axis. Returns the height that it took.
void paint_clock(const Painter& p, const Clock& clock, double end_s, Rect area, bool chosen) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), head = small * 1.5f;
  const float title = p.text(area.min, clock.title, chosen ? t.accent : t.text, Type::small, Font::bold);
  widgets::fit_text(p, {area.min.x + title + t.px(8), area.min.y}, clock.words, area.width() - title - t.px(8), t.muted,
                    Type::small);
  if (clock.ranks.empty() || !(end_s > 0)) return;
  const float names = widgets::text_size("rank 99", Type::small).x + t.px(6);
  const float left = area.min.x + names, width = area.max.x - left;
  const float each = (area.height() - head) / static_cast<float>(clock.ranks.size());
  const float bar = std::min(each - t.px(2), t.px(16));
  for (std::size_t row = 0; row < clock.ranks.size(); ++row) {
    const float y = area.min.y + head + static_cast<float>(row) * each;
    if (each >= small) p.text({area.min.x, y + (bar - small) / 2 - t.px(1)}, clock.names[row], t.muted, Type::small);
    float drawn = left;
    for (const ClockBar& b : clock.ranks[row]) {
      const auto x = [&](double s) { return left + width * static_cast<float>(s / end_s); };
      const float from = x(b.start_s), computed = x(b.computed_s), to = x(b.end_s);
      if (to - drawn < 1) continue;  // steps that are thinner than a pixel are drawn with the next
      const float gap = to - from > t.px(6) ? t.px(1) : 0;
      p.rect({from, y}, {std::max(from, computed - gap), y + bar}, t.of(Meaning::forward));
      const float slowest = x(b.slowest_s);
      const auto wait = [&](float start, float end, Meaning meaning) {
        if (end - start <= t.px(2)) return;
        p.rect({start, y}, {end, y + bar}, widgets::with_alpha(t.of(meaning), 0.25f));
        widgets::hatch(p, {{start, y}, {end, y + bar}}, widgets::with_alpha(t.of(meaning), 0.9f), t.px(5));
      };
      wait(computed, std::min(slowest, to - gap), Meaning::idle);
      wait(slowest, to - gap, Meaning::communication);
      drawn = to;
    }
  }
}

/// How many times as fast as contiguous order the learner said that the other is, in the clock of that.
void mark_guess(const Picture& picture, Rect clock, ImVec2 end) {
  const auto* faster = guess_about({"speedup"});
  if (faster && clock.max.x > clock.min.x && faster->value > 0 && picture.method_words.empty()) {
    const float left = clock.min.x + widgets::text_size("rank 99", Type::small).x + widgets::theme().px(6);
    const double share = picture.clocks[0].end_s / faster->value / picture.clock_end_s;
    mark_guess_down(*faster, {{left, clock.min.y}, clock.max}, left + (clock.max.x - left) * static_cast<float>(share));
    return;
  }
  if (const auto* guess = guess_about({"speedup", "busy_share", "hiding_tokens"})) say_guess(*guess, end);
}

/// Buttons of the steps. Returns the height of the row.
float draw_steps(const Picture& picture, View& view, float width) {
  const auto& t = widgets::theme();
  const auto n = static_cast<double>(picture.drawn_ranks);
  const ImVec2 play = widgets::button_size("Pause##ring");
  widgets::advance(view.playback, n, static_cast<double>(ImGui::GetIO().DeltaTime));
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  if (widgets::button(view.playback.playing ? "Pause##ring" : "Play##ring", false, play))
    widgets::start_or_stop(view.playback, n);
  const auto p = Painter::window();
  const RingMoment now = moment_of(view.playback, picture.drawn_ranks);
  float x = origin.x + play.x + t.px(12);
  const float small = t.type(Type::small), text_y = origin.y + (play.y - small) / 2;
  x += p.text({x, text_y}, "step", t.muted, Type::small) + t.px(8);
  for (std::int64_t i = 0; i < picture.drawn_ranks; ++i) {
    const float side = play.y;
    if (x + side > origin.x + width) break;
    ImGui::SetCursorScreenPos({x, origin.y});
    ImGui::PushID(static_cast<int>(i));
    if (widgets::press_area("step", {side, side})) view.playback = {.time_s = static_cast<double>(i), .speed = 1};
    const bool hovered = ImGui::IsItemHovered();
    ImGui::PopID();
    const bool chosen = now.step == i;
    p.rect({x, origin.y}, {x + side, origin.y + side},
           chosen    ? widgets::with_alpha(t.accent, 0.22f)
           : hovered ? widgets::with_alpha(t.accent, 0.1f)
                     : t.card,
           t.px(4));
    if (chosen) p.frame({x, origin.y}, {x + side, origin.y + side}, t.accent, t.px(1.5f), t.px(4));
    p.text({x + side / 2, text_y}, picture.step_names[static_cast<std::size_t>(i)], t.text, Type::small, Font::mono,
           Align::center);
    x += side + t.px(4);
  }
  x += t.px(10);
  const float room = origin.x + width - x;
  for (const std::string_view words :
       {std::string_view("over it: who holds the keys now. bright: computed in this step, half: before, pale: later"),
        std::string_view("bright: computed in this step, half: before, pale: later"), std::string_view("bright: now")})
    if (widgets::text_size(words, Type::small).x <= room) {
      p.text({x, text_y}, words, t.muted, Type::small);
      break;
    }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({width, play.y});
  return play.y;
}

void show_cell(const Inputs& in, const Picture& picture, const RingPlaces& l) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!l.square.contains(mouse)) return;
  const Square& square = picture.run->square;
  const std::int64_t tokens = square.tokens;
  const auto q =
      std::clamp<std::int64_t>(static_cast<std::int64_t>((mouse.y - l.square.min.y) / l.cell), 0, tokens - 1);
  const auto k =
      std::clamp<std::int64_t>(static_cast<std::int64_t>((mouse.x - l.square.min.x) / l.cell), 0, tokens - 1);
  widgets::Line name, value;
  name.add("query ").add_integer(q).add(", key ").add_integer(k);
  if (square.step_of(q, k) < 0) {
    widgets::tip(name.view(), "masked: the key comes later than the query");
    return;
  }
  const std::int64_t rank = square.token_rank[static_cast<std::size_t>(q)];
  if (!picture.method_words.empty()) {
    if (in.method == models::parallel::ContextMethod::all_to_all)
      value.add("every rank computes it, for its own heads");
    else
      value.add("rank ").add_integer(rank).add(" computes it, with all keys at hand");
    widgets::tip(name.view(), value.view());
    return;
  }
  value.add("rank ").add_integer(rank).add(" computes it in step ").add_integer(square.step_of(q, k));
  widgets::tip(name.view(), value.view(), "the keys began at the rank that holds that token");
}

}  // namespace

void draw_triangle(const Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  if (picture.work.empty() || size.x < 1 || size.y < 1) {
    ImGui::Dummy(size);
    return;
  }
  const auto p = Painter::window();
  const float small = t.type(Type::small), line = 1.35f * small, buttons = widgets::button_size("Play").y;
  const float row = buttons + t.px(6);
  const bool with_row = size.y >= t.px(200);
  if (with_row && picture.method_words.empty()) draw_steps(picture, view, size.x);
  if (with_row && !picture.method_words.empty())
    widgets::fit_text(p, {origin.x, origin.y + (buttons - small) / 2}, picture.method_words, size.x, t.muted,
                      Type::small);
  const float check = size.y >= t.px(260) ? line + t.px(2) : 0;
  const Rect area{{origin.x, origin.y + (with_row ? row : 0)}, {origin.x + size.x, origin.y + size.y - check}};
  ImGui::SetCursorScreenPos(area.min);
  ImGui::Dummy({area.width(), std::max(1.0f, area.height())});
  const bool over = ImGui::IsItemHovered();
  layout_ring(picture.drawn_ranks, area, t.scale, view.places);
  const RingMoment now = moment_of(view.playback, picture.drawn_ranks);
  const RingPlaces& l = view.places;
  if (widgets::veiled()) {
    paint_given(p, in, picture, l);
    ImGui::SetCursorScreenPos(origin);
    ImGui::Dummy(size);
    return;
  }
  widgets::drew("triangle");
  paint_square(p, in, picture, l, now);
  if (in.causal) {
    // The upper right half has nothing but room for words.
    float y = l.square.min.y + t.px(8);
    for (const std::string_view words : {std::string_view("masked"), std::string_view(picture.ranks_note)}) {
      const float width = widgets::text_size(words, Type::small).x;
      const float depth = y + small - l.square.min.y;  // the diagonal lies as far right as down
      if (width > l.square.width() - depth - t.px(16)) continue;
      p.text({l.square.max.x - t.px(8), y}, words, t.muted, Type::small, Font::sans, Align::right);
      y += line;
    }
  }
  if (l.with_ring) paint_ring(p, picture, l, now);
  Rect below{};
  if (l.with_clocks) {
    widgets::drew("clock");
    const float gap = t.px(8), each = (l.clocks.height() - gap) / 2;
    paint_clock(p, picture.clocks[0], picture.clock_end_s, {l.clocks.min, {l.clocks.max.x, l.clocks.min.y + each}},
                picture.clocks[0].chosen);
    below = {{l.clocks.min.x, l.clocks.min.y + each + gap}, l.clocks.max};
    paint_clock(p, picture.clocks[1], picture.clock_end_s, below, picture.clocks[1].chosen);
  }
  mark_guess(picture, below, {origin.x + size.x, origin.y + size.y - line});
  if (check > 0)
    widgets::fit_text(p, {origin.x, origin.y + size.y - line}, picture.check, size.x, t.muted, Type::small);
  if (over) show_cell(in, picture, l);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);
}

}  // namespace chapters::distributed::context
