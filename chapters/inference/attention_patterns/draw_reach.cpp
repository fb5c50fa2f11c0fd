#include <algorithm>
#include <cmath>
#include <iterator>

#include "chapters/inference/attention_patterns/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/lit_figure.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace chapters::inference::attention_patterns {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// Height of the state that enters the `through`-th layer from the top; 0: what leaves the last one.
float layer_y(const Rect& cone, const Picture& picture, double through) {
  const double from_below = static_cast<double>(picture.layers) - through;
  return cone.max.y - cone.height() * static_cast<float>(from_below / static_cast<double>(picture.axis_layers));
}
float back_x(const Rect& cone, double share) { return cone.max.x - cone.width() * static_cast<float>(share); }

void paint_layer_axis(const Painter& p, const Rect& cone, std::int64_t axis_layers) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small);
  p.text({cone.min.x - t.px(7), cone.min.y - small - t.px(8)}, "layer", t.muted, Type::small, Font::sans, Align::right);
  const int parts = cone.height() > t.px(120) ? 4 : 2;
  for (int i = 0; i <= parts; ++i) {
    const std::int64_t layer = axis_layers * i / parts;
    const float y = cone.max.y - cone.height() * static_cast<float>(i) / static_cast<float>(parts);
    const widgets::NumberText words = widgets::format(static_cast<double>(layer), "");
    p.text({cone.min.x - t.px(7), y - small / 2 - (i == 0 ? small / 2 : 0)}, i == 0 ? "input" : words.view(), t.muted,
           Type::small, i == 0 ? Font::sans : Font::mono, Align::right);
    if (i > 0 && i < parts) p.line({cone.min.x, y}, {cone.max.x, y}, widgets::with_alpha(t.grid, 0.6f));
  }
}

/// Tokens back, below the bracket.
void paint_token_axis(const Painter& p, const ReachPlaces& l, std::int64_t sequence) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), y = l.axis.max.y - small - t.px(3);
  widgets::Line first;
  first.add(widgets::format(static_cast<double>(sequence), "").view()).add(" back");
  const float wide = p.text({l.axis.min.x, y}, first.view(), t.muted, Type::small, Font::mono);
  const float last = widgets::text_size("this token", Type::small, Font::bold).x;
  p.text({l.axis.max.x, y}, "this token", t.text, Type::small, Font::bold, Align::right);
  for (const double share : {0.75, 0.5, 0.25}) {
    const double tokens = std::round(share * static_cast<double>(sequence));
    const widgets::NumberText words = widgets::format(tokens, "");
    const float x = back_x(l.cone, share), half = widgets::text_size(words.view(), Type::small, Font::mono).x / 2;
    if (x - half < l.axis.min.x + wide + t.px(10) || x + half > l.axis.max.x - last - t.px(10)) continue;
    p.text({x, y}, words.view(), t.muted, Type::small, Font::mono, Align::center);
  }
}

void paint_bracket(const Painter& p, const ReachPlaces& l, const Picture& picture) {
  const auto& t = widgets::theme();
  const float y = l.axis.min.y + t.px(7), x = back_x(l.cone, picture.near_share), small = t.type(Type::small);
  if (widgets::output_lit("near_tokens")) widgets::paint_light(p, {x, y - t.px(5)}, {l.cone.max.x, y + t.px(5)});
  p.line({x, y}, {l.cone.max.x, y}, t.text, t.px(1.5f));
  p.line({x, y - t.px(5)}, {x, y + t.px(5)}, t.text, t.px(1.5f));
  p.line({l.cone.max.x, y - t.px(5)}, {l.cone.max.x, y + t.px(5)}, t.text, t.px(1.5f));
  const float wide = widgets::text_size(picture.near_words, Type::small, Font::bold).x;
  // Beside the bracket where there is room, else above its middle on a plate.
  if (x - wide - t.px(10) > l.axis.min.x) {
    p.text({x - t.px(8), y - small / 2 - t.px(1)}, picture.near_words, t.text, Type::small, Font::bold, Align::right);
    return;
  }
  const float middle = std::max(l.cone.min.x + wide / 2, (x + l.cone.max.x) / 2);
  p.rect({middle - wide / 2 - t.px(5), y - small / 2 - t.px(2)}, {middle + wide / 2 + t.px(5), y + small / 2 + t.px(3)},
         t.panel);
  p.text({middle, y - small / 2 - t.px(1)}, picture.near_words, t.text, Type::small, Font::bold, Align::center);
}

void paint_edge(const Painter& p, const Rect& cone, const Picture& picture) {
  const auto& t = widgets::theme();
  if (picture.edge.size() < 2) return;
  for (std::size_t l = 1; l < picture.edge.size(); ++l) {
    const ImVec2 from{back_x(cone, static_cast<double>(picture.edge[l - 1])),
                      layer_y(cone, picture, static_cast<double>(l - 1))};
    const ImVec2 to{back_x(cone, static_cast<double>(picture.edge[l])), layer_y(cone, picture, static_cast<double>(l))};
    p.dashed_line(from, to, t.text, t.px(1.5f), t.px(4));
  }
}

void paint_cone(const Painter& p, const ReachPlaces& l, const Picture& picture) {
  const auto& t = widgets::theme();
  const Rect rows{{l.cone.min.x, layer_y(l.cone, picture, 0)}, l.cone.max};
  if (widgets::output_lit("reach_tokens")) widgets::paint_light(p, rows.min, rows.max);
  paint_shades(p, rows, picture.cone, picture.cone_columns, picture.cone_rows);
  paint_edge(p, l.cone, picture);
  p.frame(l.cone.min, l.cone.max, t.line);
  paint_bracket(p, l, picture);
  if (l.words.height() <= 0) return;
  const float x = l.cone.min.x, y = l.words.min.y;
  const float wide = p.text({x, y}, picture.edge_words, t.text, Type::small);
  widgets::fit_text(p, {x + wide + t.px(10), y}, picture.model_words, l.words.max.x - x - wide - t.px(10), t.muted,
                    Type::small);
}

void paint_handle(const Painter& p, ImVec2 at, bool hot) {
  const auto& t = widgets::theme();
  p.circle(at, t.px(hot ? 9 : 7.5f), widgets::with_alpha(t.accent, 0.3f));
  p.circle(at, t.px(5.5f), t.accent);
  p.ring(at, t.px(5.5f), t.on_colour, t.px(1.5f));
}

bool handle(const char* label, ImVec2 at, const char* name, std::string_view value, const char* says, int cursor) {
  const auto& t = widgets::theme();
  ImGui::SetCursorScreenPos({at.x - t.px(10), at.y - t.px(10)});
  widgets::press_area(label, {t.px(20), t.px(20)});
  const bool hot = ImGui::IsItemHovered() || ImGui::IsItemActive();
  if (hot) {
    ImGui::SetMouseCursor(cursor);
    widgets::tip(name, value, says);
  }
  paint_handle(Painter::window(), at, hot);
  return ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 1);
}

/// Widths that a hand can mean: whole steps of a sixteenth of their power of two.
std::int64_t round_window(double tokens) {
  const double step = std::max(1.0, std::exp2(std::floor(std::log2(std::max(1.0, tokens))) - 5));
  return static_cast<std::int64_t>(std::clamp(std::round(tokens / step) * step, 1.0, 1048576.0));
}

/// The layer in whose row the edge is taken: the middle one, or the last before the edge meets the wall.
std::size_t edge_layer(const Picture& picture) {
  std::size_t l = std::max<std::size_t>(1, (picture.edge.size() - 1) / 2);
  while (l > 1 && picture.edge[l] > 0.97f) --l;
  return l;
}

void take_edge(Inputs& in, const Rect& cone, const Picture& picture) {
  if (!picture.edge_dragged || picture.edge.size() < 2) return;
  const std::size_t l = edge_layer(picture);
  const ImVec2 at{back_x(cone, static_cast<double>(picture.edge[l])), layer_y(cone, picture, static_cast<double>(l))};
  if (!handle("drag the window's edge", {std::max(at.x, cone.min.x), at.y}, "The window's edge",
              widgets::format(static_cast<double>(in.window), "tokens").view(),
              "Drag to the left and every layer sees further.", ImGuiMouseCursor_ResizeEW))
    return;
  // The height under the pointer says through how many layers its distance comes.
  const double share = static_cast<double>((cone.max.x - ImGui::GetMousePos().x) / std::max(1.0f, cone.width()));
  const double tokens = std::clamp(share, 0.0, 1.0) * static_cast<double>(in.sequence);
  in.window = round_window((tokens - 1) / static_cast<double>(l) + 1);
}

void take_top(Inputs& in, const Rect& cone, const Picture& picture) {
  if (in.pattern == Pattern::model) return;
  const ImVec2 at{cone.max.x, layer_y(cone, picture, 0)};
  if (!handle("drag the top layer", at, "The top layer",
              widgets::format(static_cast<double>(in.layers), "layers").view(),
              "Drag down and fewer layers are stacked.", ImGuiMouseCursor_ResizeNS))
    return;
  const double share = static_cast<double>((cone.max.y - ImGui::GetMousePos().y) / std::max(1.0f, cone.height()));
  const double layers = std::round(share * static_cast<double>(picture.axis_layers));
  in.layers = static_cast<std::int64_t>(std::clamp(share > 1.02 ? layers + 1 : layers, 1.0, 128.0));
}

/// A guess of tokens stands across the cone, as far back as it says.
void paint_guess(const Painter& p, const Rect& cone, std::int64_t sequence) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || (guess->output != "reach_tokens" && guess->output != "near_tokens")) return;
  widgets::drew("guess");
  const auto& t = widgets::theme();
  const double share = guess->value / static_cast<double>(sequence);
  const float x = back_x(cone, std::clamp(share, 0.0, 1.0));
  p.line({x, cone.min.y}, {x, cone.max.y}, t.accent, t.px(2));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, guess->unit), share > 1);
  const float wide = widgets::text_size(words.view(), Type::small).x + t.px(12);
  widgets::paint_guess_words(p, {std::clamp(x - wide / 2, cone.min.x, cone.max.x - wide), cone.min.y + t.px(6)},
                             words.view());
}

/// Where the pointer is: tokens back and layers down, in words.
void hover_cone(const Rect& cone, const Picture& picture, const Inputs& in) {
  ImGui::SetCursorScreenPos(cone.min);
  ImGui::Dummy({std::max(1.0f, cone.width()), std::max(1.0f, cone.height())});
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 at = ImGui::GetMousePos();
  const double tokens = static_cast<double>((cone.max.x - at.x) / cone.width()) * static_cast<double>(in.sequence);
  const double layer =
      static_cast<double>((cone.max.y - at.y) / cone.height() * static_cast<float>(picture.axis_layers));
  const auto through = static_cast<std::size_t>(
      std::clamp(static_cast<double>(picture.layers) - std::floor(layer), 0.0, static_cast<double>(picture.layers)));
  if (through >= picture.edge.size()) return;
  widgets::Line name;
  name.add("what enters layer ")
      .add_integer(std::max<std::int64_t>(1, picture.layers - static_cast<std::int64_t>(through) + 1));
  const widgets::NumberText back = widgets::format(std::round(tokens), "tokens");
  widgets::Line value;
  value.add(back.view()).add(" back");
  const bool in_edge = tokens < static_cast<double>(picture.edge[through]) * static_cast<double>(in.sequence);
  widgets::tip(name.view(), value.view(), in_edge ? "It can arrive at this token." : "Outside of the edge.");
}

}  // namespace

void draw_cards(Inputs& in, const Picture& picture, const ReachPlaces& l, bool given) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), line = small + t.px(3);
  if (l.heading.height() > 0)
    widgets::fit_text(p, l.heading.min, "Pick a mask: rows ask, columns are seen", l.heading.width(), t.text,
                      Type::small, Font::bold);
  for (std::size_t i = 0; i < std::min(l.shown, picture.cards.size()); ++i) {
    const Card& c = picture.cards[i];
    const Rect& r = l.cards[i];
    const Rect mask{{r.min.x, r.min.y + line}, {r.min.x + l.thumb, r.min.y + line + l.thumb}};
    widgets::fit_text(p, r.min, c.name, r.width(), c.yours ? t.accent : t.text, Type::small, Font::bold);
    p.rect(mask.min, mask.max, t.panel);
    paint_shades(p, mask, c.shades, c.cells, c.cells);
    p.frame(mask.min, mask.max, c.yours ? t.accent : t.line, t.px(c.yours ? 2 : 1));
    if (given) continue;
    float y = mask.max.y + t.px(4);
    const std::string* const words[] = {&c.work, &c.kept, &c.depth};
    for (int k = 0; k < l.lines; ++k, y += line)
      widgets::fit_text(p, {r.min.x, y}, *words[k], r.width(), k == 0 ? t.text : t.muted, Type::small);
    ImGui::SetCursorScreenPos(r.min);
    ImGui::PushID(static_cast<int>(i));
    if (widgets::press_area("mask", {r.width(), r.height()})) in.pattern = static_cast<Pattern>(i);
    if (ImGui::IsItemHovered()) {
      p.frame(mask.min, mask.max, t.accent, t.px(1.5f));
      widgets::tip(pattern_choices()[i].label, c.work, pattern_choices()[i].help);
    }
    ImGui::PopID();
  }
}

void draw_reach(Inputs& in, const Outputs&, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (picture.cards.empty()) {
    ImGui::Dummy(size);
    return;
  }
  view.places = layout_reach({at, {at.x + size.x, at.y + size.y}}, t.scale, t.type(Type::small), picture.cards.size());
  const ReachPlaces& l = view.places;
  const Painter p = Painter::window();
  widgets::drew("cone");
  widgets::drew("cards");
  p.rect(l.cone.min, l.cone.max, widgets::with_alpha(t.background, 0.5f));
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    p.frame(l.cone.min, l.cone.max, t.line);
    paint_layer_axis(p, l.cone, picture.axis_layers);
    paint_token_axis(p, l, in.sequence);
    draw_cards(in, picture, l, true);
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(size);
    return;
  }
  paint_layer_axis(p, l.cone, picture.axis_layers);
  paint_token_axis(p, l, in.sequence);
  paint_cone(p, l, picture);
  paint_guess(p, l.cone, in.sequence);
  hover_cone(l.cone, picture, in);
  take_edge(in, l.cone, picture);
  take_top(in, l.cone, picture);
  draw_cards(in, picture, l, false);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::inference::attention_patterns
