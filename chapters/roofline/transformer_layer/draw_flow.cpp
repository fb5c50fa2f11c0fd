#include <algorithm>
#include <cmath>

#include "chapters/roofline/transformer_layer/draw.h"
#include "widgets/base/press_area.h"

namespace chapters::roofline::transformer_layer {
namespace {

using widgets::Font, widgets::Line, widgets::Painter, widgets::Rect, widgets::theme, widgets::Theme, widgets::Type;

/// Marks and names from the right end leftwards; returns where the leftmost begins.
float regime_key(const Painter& p, ImVec2 right_top, bool with_launch) {
  const Theme& t = theme();
  float x = right_top.x;
  for (const models::Regime regime : {models::Regime::launch, models::Regime::compute, models::Regime::memory}) {
    if (regime == models::Regime::launch && !with_launch) continue;
    x -= widgets::text_size(name_of(regime), Type::small).x;
    p.text({x, right_top.y}, name_of(regime), t.muted, Type::small);
    x -= t.px(10);
    widgets::paint_row_mark(p, {shape_of(regime), t.of(meaning_of(regime))},
                            {x, right_top.y + t.type(Type::small) * 0.55f}, t.px(4.5f));
    x -= t.px(18);
  }
  return x;
}

/// The colour of a wall, the stronger the more time stands behind it, and such that text on it can be read.
ImU32 weighted(ImU32 colour, double weight) {
  const Theme& t = theme();
  constexpr double readable = 4.6;
  ImU32 out = colour;
  for (double part = 0.35 + 0.65 * weight; part < 1; part += 0.05) {
    out = IM_COL32_A_MASK;
    for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT}) {
      const double from = (t.card >> shift) & 255, to = (colour >> shift) & 255;
      out |= static_cast<ImU32>(std::lround(from + (to - from) * part)) << shift;
    }
    if (widgets::contrast(widgets::text_on(out, t), out) >= readable) return out;
  }
  return colour;
}

/// One operation of the layer's flow.
void flow_box(const Painter& p, const Outputs& out, const Picture& pic, View& view, std::size_t index, Rect r) {
  const Theme& t = theme();
  const OperationRow& row = out.operations[index];
  ImGui::SetCursorScreenPos(r.min);
  ImGui::PushID(static_cast<int>(index));
  Line label;
  label.add(row.timed.operation.name).add("##flow");
  if (widgets::press_area(label.c_str(), {r.width(), r.height()})) select(view, index);
  ImGui::PopID();
  if (ImGui::IsItemHovered()) show_tip(row, pic.operations[index]);
  const ImU32 fill = weighted(t.of(meaning_of(row.timed.placement.regime)), pic.operations[index].weight),
              ink = widgets::text_on(fill, t);
  p.rect(r.min, r.max, fill, t.px(3));
  const float small = t.type(Type::small), y = (r.min.y + r.max.y - small) / 2;
  float left = r.min.x + t.px(5);
  const bool slim = r.width() < t.px(16);
  if (r.height() >= t.px(9))
    widgets::paint_row_mark(p, {shape_of(row.timed.placement.regime), ink},
                            {slim ? (r.min.x + r.max.x) / 2 : left + t.px(3), (r.min.y + r.max.y) / 2},
                            t.px(slim ? 2.4f : 3.0f));
  left += t.px(12);
  // The whole name, or what is left without "projection", or none: the hover has it.
  const std::string_view name = row.timed.operation.name, brief = name.substr(0, name.find(" projection"));
  const float room = r.max.x - left - t.px(4);
  const std::string_view shown = widgets::text_size(name, Type::small).x <= room    ? name
                                 : widgets::text_size(brief, Type::small).x <= room ? brief
                                                                                    : std::string_view{};
  const float line = small + t.px(3);
  const bool shaped =
      !row.shape.empty() && r.height() >= 2 * line + t.px(6) && widgets::text_size(row.shape, Type::small).x <= room;
  if (!shown.empty() && r.height() >= small) p.text({left, shaped ? y - line / 2 : y}, shown, ink, Type::small);
  if (!shown.empty() && shaped) p.text({left, y + line / 2}, row.shape, ink, Type::small);
  if (is_selected(view, index) || ImGui::IsItemFocused())
    p.frame({r.min.x - 1, r.min.y - 1}, {r.max.x + 1, r.max.y + 1}, t.text, t.px(2), t.px(3));
}

/// Operations that read the same input stand above each other, as tall as their part of the stage's time.
void flow_stage(const Painter& p, const Outputs& out, const Picture& pic, View& view, const LayerFlow::Stage& stage,
                Rect r) {
  const float gap = theme().px(2), least = theme().px(9), n = static_cast<float>(stage.end - stage.first);
  double sum = 0;
  for (std::size_t i = stage.first; i < stage.end; ++i) sum += out.operations[i].timed.placement.time_s;
  const float room = r.height() - (n - 1) * gap - n * least;
  float y = r.min.y;
  for (std::size_t i = stage.first; i < stage.end; ++i) {
    const float height = least + room * static_cast<float>(out.operations[i].timed.placement.time_s / sum);
    flow_box(p, out, pic, view, i, {{r.min.x, y}, {r.max.x, y + height}});
    y += height + gap;
  }
}

void bracket(const Painter& p, float x0, float x1, float y, std::string_view name, double share) {
  const Theme& t = theme();
  p.line({x0, y}, {x1, y}, t.muted);
  p.line({x0, y - t.px(4)}, {x0, y}, t.muted);
  p.line({x1, y - t.px(4)}, {x1, y}, t.muted);
  Line text;
  text.add(name).add(" ").add(widgets::format(100 * share, "%"));
  const float width = widgets::text_size(text.view(), Type::small).x;
  const float x = std::max(x0, (x0 + x1 - width) / 2);
  p.text({x, y + t.px(3)}, text.view(), t.muted, Type::small);
}

/// Names of the kinds of layers; pressing one draws it. Returns where the names end.
float layer_tabs(const Painter& p, const Picture& pic, View& view, std::size_t shown, ImVec2 at) {
  const Theme& t = theme();
  for (std::size_t i = 0; i < pic.layers.size(); ++i) {
    const std::string& name = pic.layers[i].name;
    const float width = widgets::text_size(name, Type::small, Font::bold).x;
    ImGui::SetCursorScreenPos(at);
    if (widgets::press_area(name.c_str(), {width, t.type(Type::small) + t.px(4)}))
      view.layer = static_cast<std::int64_t>(i);
    const bool lit = i == shown || ImGui::IsItemHovered() || ImGui::IsItemFocused();
    p.text(at, name, lit ? t.text : t.muted, Type::small, Font::bold);
    if (i == shown && pic.layers.size() > 1)
      p.rect({at.x, at.y + t.type(Type::small) + t.px(3)}, {at.x + width, at.y + t.type(Type::small) + t.px(5)},
             t.accent);
    at.x += width + t.px(18);
  }
  return at.x;
}

}  // namespace

/// The layer as a flow from left to right, every stage as wide as its share of the time.
void draw_flow(const Outputs& out, const Picture& pic, View& view, bool with_launch, float width, float height) {
  const Theme& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pad = t.px(12), small = t.type(Type::small);
  p.rect(at, {at.x + width, at.y + height}, t.card, t.px(6));
  if (pic.layers.empty()) return;
  const std::size_t shown = drawn_layer(pic, view);
  const LayerFlow& flow = pic.layers[shown];
  const float key = regime_key(p, {at.x + width - pad, at.y + t.px(9)}, with_launch);
  const float tabs = layer_tabs(p, pic, view, shown, {at.x + pad, at.y + t.px(9)});
  if (key - tabs > t.px(60))
    p.text_fit({tabs, at.y + t.px(9)}, "width: share of the layer's time", key - tabs, t.muted, Type::small);

  const float gap = t.px(4), least = t.px(9), n = static_cast<float>(flow.stages.size());
  const float top = at.y + t.px(16) + small, bottom = at.y + height - t.px(25) - 2 * small;
  const float room = width - 2 * pad - (n - 1) * gap - n * least;
  p.line({at.x + t.px(3), (top + bottom) / 2}, {at.x + width - t.px(3), (top + bottom) / 2}, t.line, t.px(3));
  float x = at.x + pad, from = x;
  double part = 0;
  for (std::size_t i = 0; i < flow.stages.size(); ++i) {
    const float w = least + room * static_cast<float>(flow.stages[i].share);
    flow_stage(p, out, pic, view, flow.stages[i], {{x, top}, {x + w, bottom}});
    part += flow.stages[i].share;
    x += w + gap;
    const bool last = i + 1 == flow.stages.size();
    if (i + 1 != flow.attention_end && !last) continue;
    bracket(p, from, x - gap, bottom + t.px(7), last ? "feed-forward" : "attention", part);
    from = x;
    part = 0;
  }
  const bool any = view.selected >= 0 && view.selected < static_cast<std::int64_t>(out.operations.size());
  const std::string_view detail = any ? std::string_view(pic.operations[static_cast<std::size_t>(view.selected)].detail)
                                      : std::string_view("Press an operation to read its shape.");
  p.text_fit({at.x + pad, at.y + height - small - t.px(5)}, detail, width - 2 * pad, any ? t.text : t.muted,
             Type::small);
}

}  // namespace chapters::roofline::transformer_layer
