#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/inference/state_space/hero_parts.h"
#include "chapters/inference/state_space/lab.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"

/// The large picture of costs: what two models keep of a sequence as it grows, on one scale, the attention model above
/// the line and the other below it, with their layers; under them a decode step of each, by what it moves.
namespace chapters::inference::state_space {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Type;

struct KeptPlace {
  float left = 0, right = 0, words = 0, small = 0, line = 0;
  float top = 0, base = 0, foot = 0, axis_y = 0;  ///< the two stairs lie between `top` and `foot`
  float strip_h = 0, legend_y = 0, bars_y = 0, bar_h = 0;
  float pixels_per_byte = 0;
  float x(std::size_t column) const {
    return left + (right - left) * static_cast<float>(column) / static_cast<float>(kept_columns);
  }
};

float name_px(std::string_view name) { return widgets::text_size(name, Type::small, Font::bold).x; }

double kept_of(const ModelCost& m) { return m.fixed_bytes + (m.cache_bytes.empty() ? 0 : m.cache_bytes.back()); }

/// `above` and `below`: bytes that the two keep at the end; both 0 where they are not to be seen. `names`: pixels of
/// the longer name.
KeptPlace kept_place(double above, double below, float names, float legend_h, ImVec2 corner, ImVec2 size) {
  const auto& t = widgets::theme();
  KeptPlace k;
  k.small = t.type(Type::small);
  k.line = k.small + t.px(3);
  const bool wide = size.x > t.px(560);
  k.words = std::min(std::max(wide ? t.px(118) : t.px(84), names + t.px(12)), 0.4f * size.x);
  k.left = corner.x + k.words;
  k.right = std::max(k.left + t.px(40), corner.x + size.x - (wide ? t.px(124) : t.px(92)));
  k.strip_h = std::clamp(0.025f * size.y, t.px(6), t.px(14));
  k.bar_h = std::clamp(0.07f * size.y, k.small + t.px(4), t.px(34));
  const float head = k.line + k.strip_h + t.px(6), bars = legend_h + t.px(4) + 2 * k.bar_h + t.px(4);
  k.top = corner.y + head;
  k.bars_y = corner.y + size.y - 2 * k.bar_h - t.px(4);
  k.legend_y = corner.y + size.y - bars;
  k.foot = k.legend_y - t.px(8) - k.line - head;
  // Each side has a line of its own whatever it keeps, so that its words never meet the other's.
  const float room = std::max(t.px(20), k.foot - k.top), own_lines = std::min(2 * k.line, 0.5f * room);
  const double all = above + below;
  k.pixels_per_byte = all > 0 ? (room - own_lines) / static_cast<float>(all) : 0;
  const float up = own_lines / 2 + (all > 0 ? static_cast<float>(above) * k.pixels_per_byte : (room - own_lines) / 2);
  k.base = k.top + up;
  k.axis_y = k.foot + head + t.px(2);
  return k;
}

/// One cell a layer, those with a state first.
void paint_layers(const Painter& p, const KeptPlace& k, const ModelCost& m, std::string_view words, float y) {
  const auto& t = widgets::theme();
  p.text_fit({k.left, y}, words, k.right - k.left, t.text, Type::small, Font::bold);
  const std::array<std::pair<double, ImU32>, 3> kinds{
      {{m.state_layers, t.accent},
       {m.attention_layers, t.of(Meaning::kv_cache)},
       {m.windowed_layers, widgets::with_alpha(t.of(Meaning::kv_cache), 0.5f)}}};
  const double all = m.state_layers + m.attention_layers + m.windowed_layers;
  if (!(all > 0)) return;
  const float cell = (k.right - k.left) / static_cast<float>(all), gap = cell > t.px(4) ? t.px(1) : 0.0f;
  float x = k.left;
  for (const auto& [layers, hue] : kinds)
    for (int i = 0; i < static_cast<int>(layers); ++i, x += cell)
      p.rect({x, y + k.line}, {x + cell - gap, y + k.line + k.strip_h}, hue);
}

/// What one model keeps, from the base up (`way` -1) or down (1): first its states, then keys and values.
void paint_kept(const Painter& p, const KeptPlace& k, const ModelCost& m, float way) {
  const auto& t = widgets::theme();
  const ImU32 hue = t.of(Meaning::kv_cache);
  const auto px = [&](double bytes) { return static_cast<float>(bytes) * k.pixels_per_byte; };
  const auto box = [&](float x0, float x1, float from, float to, ImU32 fill) {
    p.rect({x0, k.base + std::min(way * from, way * to)}, {x1, k.base + std::max(way * from, way * to)}, fill);
  };
  const float fixed = m.fixed_bytes > 0 ? std::max(t.px(2), px(m.fixed_bytes)) : 0.0f;
  if (fixed > 0) box(k.left, k.right, 0, fixed, widgets::with_alpha(t.accent, 0.75f));
  float before = fixed;
  for (std::size_t i = 0; i < m.cache_bytes.size(); ++i) {
    const float to = fixed + px(m.cache_bytes[i]);
    box(k.x(i), k.x(i + 1), fixed, to, widgets::with_alpha(hue, 0.3f));
    p.line({k.x(i), k.base + way * before}, {k.x(i), k.base + way * to}, hue, t.px(1.5f));
    if (to > fixed) p.line({k.x(i), k.base + way * to}, {k.x(i + 1), k.base + way * to}, hue, t.px(1.5f));
    before = to;
  }
}

/// From which context on the cache above is as large as what is kept below.
void paint_equal(const Painter& p, const KeptPlace& k, const Picture& picture) {
  if (!(picture.equal_share > 0)) return;
  const auto& t = widgets::theme();
  const float x = k.left + static_cast<float>(picture.equal_share) * (k.right - k.left);
  const float wide = widgets::text_size(picture.equal_words, Type::small, Font::bold).x;
  const bool turned = x + wide + t.px(8) > k.right;
  const ImVec2 at{turned ? x - wide - t.px(6) : x + t.px(6), k.top};
  if (at.x < k.left || k.base - k.top < k.line) return;
  p.dashed_line({x, k.top}, {x, k.base}, t.text, t.px(1.5f), t.px(4));
  if (widgets::output_lit("equal_tokens"))
    widgets::paint_light(p, {at.x - t.px(2), at.y}, {at.x + wide + t.px(2), at.y + k.line});
  p.plate(at, picture.equal_words, t.background, Type::small, Font::bold);
  p.text(at, picture.equal_words, t.text, Type::small, Font::bold);
}

/// A step of one model: a bar of what it moves, as long as that takes, and its time behind the lane.
void paint_step(const Painter& p, const KeptPlace& k, const StepParts& step, double longest, const CostSide& side,
                float corner_x, float y, std::string_view output, ImU32 ink) {
  const auto& t = widgets::theme();
  paint_words(p, k.words - t.px(10), corner_x, y, k.bar_h, side.name, "", t.text);
  const float scale = longest > 0 ? (k.right - k.left) / static_cast<float>(longest) : 0;
  const std::array<std::pair<double, ImU32>, 4> parts{{{step.weights_s, t.of(Meaning::memory_bound)},
                                                       {step.states_s, t.accent},
                                                       {step.cache_s, t.of(Meaning::kv_cache)},
                                                       {step.arithmetic_s, t.of(Meaning::compute_bound)}}};
  float x = k.left;
  for (const auto& [seconds, fill] : parts) {
    if (!(seconds > 0)) continue;
    const float next = x + std::max(t.px(1), static_cast<float>(seconds) * scale);
    p.rect({x, y}, {next, y + k.bar_h}, fill);
    x = next;
  }
  const float end = k.right + t.px(10);
  if (widgets::output_lit(output))
    widgets::paint_light(p, {end - t.px(4), y},
                         {end + widgets::text_size(side.step, Type::small, Font::mono).x, y + k.bar_h});
  p.text({end, y + (k.bar_h - k.small) / 2}, side.step, ink, Type::small, Font::mono);
}

void drag_length(Inputs& in, const Painter& p, const KeptPlace& k, View& view) {
  const auto& t = widgets::theme();
  const ImVec2 at{k.right, k.base};
  const HandleState h = handle_at("drag the context of both", {at.x - t.px(13), at.y - t.px(10)}, {t.px(26), t.px(20)},
                                  ImGuiMouseCursor_ResizeEW);
  constexpr double least = 256, most = 1'048'576;
  const auto set = [&](double tokens) {
    in.context = static_cast<std::int64_t>(std::llround(std::clamp(tokens, least, most)));
  };
  if (ImGui::IsItemActivated()) {
    view.drag_from = static_cast<double>(ImGui::GetIO().MousePos.x);
    view.drag_base = std::max(least, static_cast<double>(in.context));
  }
  // Eighty pixels double it: what is drawn is always the whole context.
  const double moved = static_cast<double>(ImGui::GetIO().MousePos.x) - view.drag_from;
  if (h.held && moved != 0) set(view.drag_base * std::exp2(moved / static_cast<double>(t.px(80))));
  if (h.steps != 0) set(std::max(least, static_cast<double>(in.context)) * std::exp2(h.steps));
  paint_handle(p, at, h.hot, true);
}

/// What a question gives: the line, and which of the two stands above it.
void give_kept(const Painter& p, ImVec2 corner, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::GivenMarks given;
  const float inset = t.px(10), plate = t.px(36);  // the veil has an edge, and says at its foot until when it stays
  const KeptPlace k =
      kept_place(0, 0, name_px("Attention's step"), widgets::legend_row_px(), {corner.x + inset, corner.y + inset},
                 {size.x - 2 * inset, size.y - 2 * inset - plate});
  const float x = corner.x + inset, room = k.words - t.px(10);
  p.line({k.left, k.base}, {k.right, k.base}, t.line, t.px(2));
  paint_words(p, room, x, k.top, k.base - k.top, "Attention", "keeps", t.text);
  paint_words(p, room, x, k.base, k.foot - k.base, "The other", "keeps", t.text);
  float y = k.bars_y;
  for (const char* name : {"Attention's step", "The other's step"}) {
    p.frame({k.left, y}, {k.right, y + k.bar_h}, t.line);
    paint_words(p, room, x, y, k.bar_h, name, "", t.text);
    y += k.bar_h + t.px(4);
  }
}

}  // namespace

void draw_kept(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (widgets::veiled()) {
    give_kept(p, corner, size);
    ImGui::Dummy(size);
    return;
  }
  if (!picture.run || picture.run->own.cache_bytes.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const ModelCost &own = picture.run->own, &other = picture.run->reference;
  const float legend = widgets::layout_legend(picture.moved, size.x - t.px(8), widgets::legend_row_px(),
                                              widgets::measure_text, view.moved);
  const KeptPlace k =
      kept_place(kept_of(other), kept_of(own), std::max(name_px(picture.own.name), name_px(picture.reference.name)),
                 legend, corner, size);
  const float room = k.words - t.px(10), x = k.right + t.px(18);
  paint_layers(p, k, other, picture.reference.layers, corner.y);
  paint_kept(p, k, other, -1);
  paint_kept(p, k, own, 1);
  p.line({k.left, k.base}, {k.right, k.base}, t.text, t.px(1.5f));
  paint_equal(p, k, picture);
  paint_layers(p, k, own, picture.own.layers, k.foot + t.px(6));
  paint_words(p, room, corner.x, k.top, k.base - k.top, picture.reference.name, "keeps", t.text);
  paint_words(p, room, corner.x, k.base, k.foot - k.base, picture.own.name, "keeps", t.text);
  const auto keeps = [&](float y, const std::string& words, std::string_view output, ImU32 ink) {
    const float wide = widgets::text_size(words, Type::small, Font::mono).x;
    if (widgets::output_lit(output)) widgets::paint_light(p, {x - t.px(4), y}, {x + wide + t.px(4), y + k.line});
    p.text({x, y}, words, ink, Type::small, Font::mono);
  };
  keeps(k.top, picture.reference.kept, "reference_bytes", t.text);
  keeps(k.foot - k.line, picture.own.kept, "sequence_bytes", t.accent);
  p.text({k.left, k.axis_y}, "0", t.muted, Type::small, Font::mono);
  p.text_fit({k.right, k.axis_y}, picture.context_words, k.right - k.left, t.muted, Type::small, Font::sans,
             Align::right);
  widgets::paint_legend(p, {corner.x, k.legend_y}, size.x, picture.moved, view.moved);
  const double longest = std::max(own.step.total_s(), other.step.total_s());
  paint_step(p, k, other.step, longest, picture.reference, corner.x, k.bars_y, "reference_step_s", t.text);
  paint_step(p, k, own.step, longest, picture.own, corner.x, k.bars_y + k.bar_h + t.px(4), "step_s", t.accent);
  drag_length(in, p, k, view);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::inference::state_space
