#include <algorithm>
#include <cmath>

#include "chapters/inference/state_space/hero_parts.h"
#include "chapters/inference/state_space/lab.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"

/// The hero: a stream of pairs from left to right, the cache that grows under it and the state that does not, and what
/// a question for the needle gets after every token.
namespace chapters::inference::state_space {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Type;

struct StreamPlace {
  float left = 0, right = 0, column = 0, small = 0;  ///< where tokens lie; `small`: a line of small type
  float words = 0, verdict = 0;                      ///< widths of what stands left and right of them
  float stream_y = 0, stream_h = 0, base = 0, cache_h = 0, state_h = 0;
  float attention_y = 0, state_y = 0, lane_h = 0, found_y = 0, found_h = 0;
  bool keys = false;  ///< a cell has room for its key too; all cells alike, and keys have two digits at most
  float x(std::size_t token) const { return left + static_cast<float>(token) * column; }
};

StreamPlace place_of(std::size_t count, std::size_t rows, ImVec2 corner, ImVec2 size) {
  const auto& t = widgets::theme();
  StreamPlace s;
  s.small = t.type(Type::small);
  s.words = size.x > t.px(560) ? t.px(118) : t.px(84);
  s.verdict = size.x > t.px(560) ? t.px(124) : t.px(92);
  s.left = corner.x + s.words;
  s.right = std::max(s.left + t.px(40), corner.x + size.x - s.verdict);
  s.column = (s.right - s.left) / static_cast<float>(std::max<std::size_t>(1, count));
  const float gap = t.px(10);
  s.stream_h = std::clamp(0.085f * size.y, 1.35f * s.small, t.px(40));
  s.keys = s.stream_h > 2.1f * s.small && widgets::text_size("00", Type::small, Font::mono).x <= s.column - t.px(2);
  const bool bars = size.y > t.px(300);
  s.found_h = bars ? std::max(t.px(28), 0.11f * size.y) : 0;
  const float rest = std::max(t.px(60), size.y - s.stream_h - s.found_h - (bars ? 4 : 3) * gap - s.small);
  s.lane_h = 0.25f * rest;
  const float kept = rest - 2 * s.lane_h;
  const auto tokens = static_cast<float>(count), width = static_cast<float>(rows);
  const float state = width * static_cast<float>(value_count),
              cache = tokens * (width + static_cast<float>(value_count));
  s.state_h = kept * state / (state + cache);
  s.cache_h = kept - s.state_h;
  s.stream_y = corner.y + s.small;
  s.base = s.stream_y + s.stream_h + gap + s.cache_h;
  s.attention_y = s.base + s.state_h + gap;
  s.state_y = s.attention_y + s.lane_h + gap;
  s.found_y = s.state_y + s.lane_h + gap;
  return s;
}

/// The names of the lanes, left of them.
void paint_names(const Painter& p, const StreamPlace& s, float x) {
  const auto& t = widgets::theme();
  const bool narrow = s.words < t.px(100);
  const float room = s.words - t.px(10);
  paint_words(p, room, x, s.stream_y, s.stream_h, narrow ? "Stream" : "Pairs stream by",
              s.keys ? "key, value" : "values", t.text);
  paint_words(p, room, x, s.base - s.cache_h, s.cache_h, narrow ? "Attention" : "Attention keeps",
              narrow ? "keeps all" : "every pair", t.text);
  paint_words(p, room, x, s.base, s.state_h, narrow ? "State" : "The state keeps", "a sum of them", t.text);
  paint_words(p, room, x, s.attention_y, s.lane_h, narrow ? "Attention" : "Attention says",
              narrow ? "says" : "the needle is", t.text);
  paint_words(p, room, x, s.state_y, s.lane_h, narrow ? "State" : "The state says", narrow ? "says" : "the needle is",
              t.text);
}

void paint_cells(const Painter& p, const Picture& picture, const StreamPlace& s) {
  const auto& t = widgets::theme();
  const float room = s.column - t.px(2);
  for (std::size_t i = 0; i < picture.cells.size(); ++i) {
    const TokenCell& c = picture.cells[i];
    const ImVec2 min{s.x(i) + t.px(0.5f), s.stream_y}, max{s.x(i + 1) - t.px(0.5f), s.stream_y + s.stream_h};
    p.rect(min, max, c.filler ? widgets::with_alpha(t.line, 0.35f) : c.needle ? t.text : t.card, t.px(2));
    if (c.filler) continue;
    const ImU32 ink = c.needle ? t.background : c.stale ? t.muted : t.text;
    const float middle = (min.x + max.x) / 2;
    if (s.keys) {
      p.text({middle, min.y + t.px(1)}, c.key, ink, Type::small, Font::mono, Align::center);
      p.text({middle, max.y - s.small - t.px(2)}, c.value, ink, Type::small, Font::bold, Align::center);
    } else if (widgets::text_size(c.value, Type::small, Font::bold).x <= room) {
      p.text({middle, (min.y + max.y - s.small) / 2}, c.value, ink, Type::small, Font::bold, Align::center);
    }
    if (c.stale) p.line({min.x, max.y - t.px(1)}, {max.x, min.y + t.px(1)}, t.muted, t.px(1));
  }
}

/// A step for each token; what the needle's question weighs each entry with shines in it.
void paint_cache(const Painter& p, const Picture& picture, const StreamPlace& s) {
  const auto& t = widgets::theme();
  const std::size_t tokens = picture.cells.size();
  const float high = s.cache_h / static_cast<float>(tokens);
  const ImU32 hue = t.of(Meaning::kv_cache);
  if (widgets::output_lit("cache_kept")) widgets::paint_light(p, {s.left, s.base - s.cache_h}, {s.right, s.base});
  const Run& run = *picture.run;
  for (std::size_t e = 0; e < tokens; ++e) {
    const float top = s.base - static_cast<float>(e + 1) * high;
    p.rect({s.x(e), top}, {s.right, top + high}, widgets::with_alpha(hue, e % 2 == 0 ? 0.16f : 0.22f));
    if (high > t.px(3)) p.line({s.x(e), top}, {s.right, top}, widgets::with_alpha(t.background, 0.8f), t.px(0.7f));
    for (std::size_t i = std::max(e, static_cast<std::size_t>(run.needle_token)); i < tokens; ++i) {
      const float weight = run.weights[i * tokens + e];
      if (weight < 0.04f) continue;
      const bool needle = picture.cells[e].needle;
      p.rect({s.x(i), top}, {s.x(i + 1), top + high},
             widgets::with_alpha(needle ? t.good : t.bad, 0.15f + 0.8f * weight));
    }
    p.line({s.x(e), top}, {s.x(e + 1), top}, hue, t.px(1.5f));
    p.line({s.x(e), top}, {s.x(e), top + high}, hue, t.px(1.5f));
  }
}

/// The rows of the state after every token: each write changes all of them.
void paint_state(const Painter& p, const Picture& picture, const StreamPlace& s) {
  const auto& t = widgets::theme();
  const std::size_t tokens = picture.cells.size();
  const Run& run = *picture.run;
  const std::size_t width = run.state_rows.size() / std::max<std::size_t>(1, tokens);
  const float high = s.state_h / static_cast<float>(width);
  if (widgets::output_lit("state_kept")) widgets::paint_light(p, {s.left, s.base}, {s.right, s.base + s.state_h});
  p.rect({s.left, s.base}, {s.right, s.base + s.state_h}, widgets::with_alpha(t.accent, 0.08f));
  for (std::size_t i = 0; i < tokens; ++i)
    for (std::size_t r = 0; r < width; ++r) {
      const float share = run.state_rows[i * width + r] / picture.row_peak;
      const float top = s.base + static_cast<float>(r) * high;
      p.rect({s.x(i), top}, {s.x(i + 1) - t.px(0.5f), top + high - (high > t.px(3) ? t.px(0.5f) : 0)},
             widgets::with_alpha(t.accent, 0.05f + 0.85f * share * share));
    }
  p.line({s.left, s.base}, {s.right, s.base}, t.background, t.px(2));
  p.line({s.left, s.base + s.state_h}, {s.right, s.base + s.state_h}, t.accent, t.px(2));
}

/// What comes back after each token: sixteen values from top to bottom, the right one in green, and under them whether
/// it is the largest.
void paint_lane(const Painter& p, const Picture& picture, const StreamPlace& s, float y, const std::vector<float>& says,
                const std::vector<std::uint8_t>& wrong) {
  const auto& t = widgets::theme();
  const Run& run = *picture.run;
  const float strip = std::max(t.px(3), 0.09f * s.lane_h), high = (s.lane_h - strip - t.px(2)) / value_count;
  const auto needle = static_cast<std::size_t>(run.needle_token);
  p.rect({s.left, y}, {s.right, y + s.lane_h - strip - t.px(2)}, t.card);
  const float right_y = y + static_cast<float>(run.needle_value) * high;
  p.rect({s.x(needle), right_y}, {s.right, right_y + high}, widgets::with_alpha(t.good, 0.14f));
  for (std::size_t i = needle; i < picture.cells.size(); ++i) {
    for (std::size_t v = 0; v < value_count; ++v) {
      const float share = says[i * value_count + v];
      if (share < 0.03f) continue;
      const bool right = static_cast<std::int32_t>(v) == run.needle_value;
      p.rect({s.x(i), y + static_cast<float>(v) * high}, {s.x(i + 1), y + static_cast<float>(v + 1) * high},
             widgets::with_alpha(right ? t.good : t.bad, 0.12f + 0.88f * share));
    }
    const ImVec2 min{s.x(i), y + s.lane_h - strip}, max{s.x(i + 1) - t.px(0.5f), y + s.lane_h};
    p.rect(min, max, wrong[i] != 0 ? t.bad : t.good);
    if (wrong[i] != 0 && s.column > t.px(5)) p.line({min.x, max.y}, {max.x, min.y}, t.background, t.px(1.5f));
  }
}

/// Where the state answers wrong for the first time.
void paint_lost(const Painter& p, const Picture& picture, const StreamPlace& s) {
  if (picture.lost_words.empty()) return;
  const auto& t = widgets::theme();
  const float x = s.x(picture.lost_token), wide = widgets::text_size(picture.lost_words, Type::small, Font::bold).x;
  p.dashed_line({x, s.state_y}, {x, s.state_y + s.lane_h}, t.text, t.px(1.5f), t.px(4));
  const float from = std::clamp(x - wide - t.px(8), s.left + t.px(4), std::max(s.left + t.px(4), s.right - wide));
  // Where the needle's own row does not run.
  const float share = picture.run->needle_value > 5 ? 0.06f : 0.62f;
  const float y = s.state_y + std::max(0.0f, share * (s.lane_h - s.small));
  if (s.lane_h < 2.4f * s.small) return;
  p.plate({from, y}, picture.lost_words, t.card, Type::small, Font::bold);
  p.text({from, y}, picture.lost_words, t.text, Type::small, Font::bold);
}

void paint_verdict(const Painter& p, const StreamPlace& s, float y, const Verdict& v, std::string_view output) {
  const auto& t = widgets::theme();
  const float x = s.right + t.px(10), room = s.verdict - t.px(10), line = s.small + t.px(2);
  const float title = t.type(Type::title), all = title + line;
  if (widgets::output_lit(output)) widgets::paint_light(p, {x - t.px(4), y}, {x + room, y + s.lane_h});
  const float top = y + std::max(0.0f, (s.lane_h - all) / 2);
  const ImU32 ink = v.right ? t.good : t.bad;
  const float letter = p.text({x, top}, v.says, ink, Type::title, Font::bold);
  p.text_fit({x + letter + t.px(6), top + (title - s.small) / 2}, v.right ? "right" : "wrong", room - letter - t.px(6),
             ink, Type::small, Font::bold);
  if (s.lane_h > all) p.text_fit({x, top + title + t.px(2)}, v.share, room, t.text, Type::small, Font::mono);
}

void paint_found(const Painter& p, const Picture& picture, const StreamPlace& s) {
  const auto& t = widgets::theme();
  if (!(s.found_h > 0)) return;
  const float foot = s.found_y + s.found_h;
  p.line({s.left, s.found_y}, {s.right, s.found_y}, t.grid, t.px(1));
  p.line({s.left, foot}, {s.right, foot}, t.line, t.px(1));
  for (std::size_t i = 0; i < picture.cells.size(); ++i) {
    const TokenCell& c = picture.cells[i];
    if (c.found < 0) continue;
    const float inset = std::min(t.px(2), 0.15f * s.column);
    p.rect({s.x(i) + inset, foot - c.found * s.found_h}, {s.x(i + 1) - inset, foot},
           widgets::with_alpha(t.accent, c.needle ? 1.0f : 0.55f), t.px(1));
    const float level = foot - c.attention_found * s.found_h;
    p.line({s.x(i), level}, {s.x(i + 1), level}, t.of(Meaning::kv_cache), t.px(1.5f));
  }
  p.text({s.left - t.px(6), s.found_y - s.small / 2}, "100 %", t.muted, Type::small, Font::mono, Align::right);
  p.text({s.left - t.px(6), foot - s.small}, "0", t.muted, Type::small, Font::mono, Align::right);
}

/// A drag by so many pixels to a unit, from where it was taken.
void drag_count(const HandleState& h, bool began, float mouse, float pixels, std::int64_t most, std::int64_t& value,
                View& view) {
  if (began) {
    view.drag_from = static_cast<double>(mouse);
    view.drag_base = static_cast<double>(value);
  }
  if (h.held) {
    const double moved = (static_cast<double>(mouse) - view.drag_from) / static_cast<double>(pixels);
    value = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::lround(view.drag_base + moved)), 2, most);
  }
  if (h.steps != 0) value = std::clamp<std::int64_t>(value + h.steps, 2, most);
}

void drag_needle(Inputs& in, const Painter& p, const Picture& picture, const StreamPlace& s) {
  const auto& t = widgets::theme();
  const HandleState h = handle_at("drag the needle", {s.left, s.stream_y}, {s.right - s.left, s.stream_h + t.px(14)},
                                  ImGuiMouseCursor_ResizeEW);
  if (h.held && s.column > 0) {
    const float at = (ImGui::GetIO().MousePos.x - s.left) / s.column;
    const auto token = static_cast<std::size_t>(std::clamp(at, 0.0f, static_cast<float>(picture.cells.size()) - 1));
    std::int64_t pair = 0;
    for (std::size_t i = 0; i <= token; ++i) pair += picture.cells[i].filler ? 0 : 1;
    in.needle = std::clamp<std::int64_t>(pair, 1, in.pairs);
  }
  if (h.steps != 0) in.needle = std::clamp<std::int64_t>(in.needle + h.steps, 1, in.pairs);
  const float x = s.x(static_cast<std::size_t>(picture.run->needle_token)) + s.column / 2;
  paint_handle(p, {x, s.stream_y + s.stream_h + t.px(7)}, h.hot, true);
  // Its words stand above it, on the side that has room.
  const float wide = widgets::text_size(picture.needle_words, Type::small, Font::bold).x + t.px(60);
  const float from = std::clamp(x - wide / 2, s.left, std::max(s.left, s.right - wide));
  p.text_fit({from, s.stream_y - s.small - t.px(2)}, "needle: ", wide, t.text, Type::small, Font::bold);
  p.text_fit({from + widgets::text_size("needle: ", Type::small, Font::bold).x, s.stream_y - s.small - t.px(2)},
             picture.needle_words, wide, t.text, Type::small, Font::bold);
}

/// What a question gives: how many tokens, and the lanes with their names.
void draw_given(const Inputs& in, const Painter& p, ImVec2 corner, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::GivenMarks given;
  const auto tokens = static_cast<std::size_t>(in.pairs * (1 + in.fillers));
  const StreamPlace s = place_of(tokens, static_cast<std::size_t>(in.width), corner, size);
  for (std::size_t i = 0; i < tokens; ++i)
    p.rect({s.x(i) + t.px(0.5f), s.stream_y}, {s.x(i + 1) - t.px(0.5f), s.stream_y + s.stream_h}, t.card, t.px(2));
  p.frame({s.left, s.attention_y}, {s.right, s.attention_y + s.lane_h}, t.line);
  p.frame({s.left, s.state_y}, {s.right, s.state_y + s.lane_h}, t.line);
  p.line({s.left, s.base}, {s.right, s.base}, t.line);
  paint_names(p, s, corner.x + t.px(8));
}

}  // namespace

void draw_stream(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (widgets::veiled()) {
    draw_given(in, p, corner, size);
    ImGui::Dummy(size);
    return;
  }
  if (!picture.run || picture.cells.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const std::size_t tokens = picture.cells.size();
  const StreamPlace s = place_of(tokens, picture.run->state_rows.size() / tokens, corner, size);
  paint_names(p, s, corner.x);
  paint_cells(p, picture, s);
  paint_cache(p, picture, s);
  paint_state(p, picture, s);
  const float x = s.right + t.px(10), room = s.verdict - t.px(10);
  p.text_fit({x, s.base - s.cache_h}, picture.cache_words, room, t.text, Type::small, Font::mono);
  p.text_fit({x, s.base + (s.state_h - s.small) / 2}, picture.state_words, room, t.accent, Type::small, Font::mono);
  const Run& run = *picture.run;
  paint_lane(p, picture, s, s.attention_y, run.attention_says, picture.attention_wrong);
  paint_verdict(p, s, s.attention_y, picture.attention, "attention_needle");
  paint_lane(p, picture, s, s.state_y, run.state_says, picture.state_wrong);
  paint_verdict(p, s, s.state_y, picture.state, "needle_recall");
  paint_lost(p, picture, s);
  paint_found(p, picture, s);
  if (s.found_h > 0) {
    paint_words(p, s.words - t.px(10), corner.x, s.found_y, s.found_h, "Found at the end", "", t.text);
    p.text_fit({x, s.found_y}, "of all streams,", room, t.muted, Type::small);
    p.text_fit({x, s.found_y + s.small + t.px(2)}, "by place", room, t.muted, Type::small);
  }
  drag_needle(in, p, picture, s);
  const ImVec2 edge{s.right - t.px(24), s.base + s.state_h};
  const HandleState low = handle_at("drag the state", {edge.x - t.px(12), edge.y - t.px(9)}, {t.px(24), t.px(18)},
                                    ImGuiMouseCursor_ResizeNS);
  drag_count(low, ImGui::IsItemActivated(), ImGui::GetIO().MousePos.y, t.px(7), max_width, in.width, view);
  paint_handle(p, edge, low.hot, false);
  const ImVec2 end{s.right + t.px(15), s.stream_y + s.stream_h / 2};
  const HandleState more =
      handle_at("drag the pairs", {end.x - t.px(11), end.y - t.px(9)}, {t.px(26), t.px(18)}, ImGuiMouseCursor_ResizeEW);
  drag_count(more, ImGui::IsItemActivated(), ImGui::GetIO().MousePos.x, t.px(9), max_pairs, in.pairs, view);
  paint_handle(p, end, more.hot, true);
  const float side = end.x + t.px(18), left_over = s.verdict - t.px(33);
  const bool two = in.rewritten > 0 && s.stream_h > 2 * s.small;
  p.text_fit({side, end.y - (two ? s.small : s.small / 2)}, picture.stream_words, left_over, t.text, Type::small);
  if (two) p.text_fit({side, end.y + t.px(1)}, "struck: changed", left_over, t.muted, Type::small);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::inference::state_space
