#include <algorithm>
#include <cmath>

#include "chapters/roofline/transformer_layer/draw.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"
#include "widgets/stage/stage.h"

namespace chapters::roofline::transformer_layer {
namespace {

using widgets::Font, widgets::Line, widgets::Painter, widgets::Rect, widgets::theme, widgets::Theme, widgets::Type,
    widgets::with_alpha;

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

/// A stretch of time in which one operation runs: what it computes stands above the axis, what it moves hangs below,
/// each as tall as its part of the chip's rate. So an area is work, and the side that reaches its rim is the limit.
struct WorkBox {
  float x0 = 0, x1 = 0;
  float arithmetic = 0, memory = 0;  ///< heights of the rims, 0 to 1
};

struct WorkPlan {
  float top = 0, axis = 0, bottom = 0;
};

void side(const Painter& p, Rect r, ImU32 hue, bool limit) {
  if (r.height() < 0.5f) return;
  p.rect(r.min, {std::max(r.max.x, r.min.x + 1), r.max.y}, with_alpha(hue, limit ? 1.0f : 0.5f));
}

/// Name and time in the part that limits; true where they had room.
bool name_box(const Painter& p, const OperationRow& row, Rect r, ImU32 fill) {
  const Theme& t = theme();
  const std::string_view name = row.timed.operation.name, brief = name.substr(0, name.find(" projection"));
  const auto time = widgets::format(row.timed.placement.time_s, "s");
  const float small = t.type(Type::small), room = r.width() - t.px(6);
  if (widgets::text_size(brief, Type::small).x > room || r.height() < small + t.px(2)) return false;
  const ImU32 ink = widgets::text_on(fill, t);
  const bool timed = widgets::text_size(time, Type::small, Font::mono).x <= room && r.height() > 2 * small + t.px(6);
  const float x = (r.min.x + r.max.x) / 2, y = (r.min.y + r.max.y) / 2 - (timed ? small + t.px(1) : small / 2);
  p.text({x, y}, brief, ink, Type::small, Font::bold, widgets::Align::center);
  if (timed) p.text({x, y + small + t.px(2)}, time.view(), ink, Type::small, Font::mono, widgets::Align::center);
  return true;
}

/// One operation at its place in time. Returns whether its name stands in it.
bool work_box(const Painter& p, const Outputs& out, const Picture& pic, View& view, std::size_t index,
              const WorkBox& box, const WorkPlan& plan) {
  const Theme& t = theme();
  const OperationRow& row = out.operations[index];
  ImGui::SetCursorScreenPos({box.x0, plan.top});
  ImGui::PushID(static_cast<int>(index));
  Line label;
  label.add(row.timed.operation.name).add("##flow");
  if (widgets::press_area(label.c_str(), {box.x1 - box.x0, plan.bottom - plan.top})) select(view, index);
  ImGui::PopID();
  if (ImGui::IsItemHovered()) show_tip(row, pic.operations[index]);
  const models::Regime regime = row.timed.placement.regime;
  const ImU32 compute = t.of(widgets::Meaning::compute_bound), memory = t.of(widgets::Meaning::memory_bound);
  const Rect up{{box.x0, plan.axis - box.arithmetic * (plan.axis - plan.top)}, {box.x1, plan.axis}},
      down{{box.x0, plan.axis}, {box.x1, plan.axis + box.memory * (plan.bottom - plan.axis)}};
  if (regime == models::Regime::launch)
    widgets::hatch(p, {{box.x0, plan.top}, {box.x1, plan.bottom}}, with_alpha(t.of(meaning_of(regime)), 0.55f),
                   t.px(6));
  side(p, up, compute, regime == models::Regime::compute);
  side(p, down, memory, regime == models::Regime::memory);
  if (box.x1 - box.x0 > t.px(3)) p.line({box.x1, plan.top}, {box.x1, plan.bottom}, t.card, 1);
  const bool selected = is_selected(view, index) || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible);
  if (selected)
    p.frame({box.x0 - 1, plan.top}, {std::max(box.x1, box.x0 + t.px(2)) + 1, plan.bottom}, t.text, t.px(2), t.px(2));
  return name_box(p, row, regime == models::Regime::memory ? down : up,
                  regime == models::Regime::memory    ? memory
                  : regime == models::Regime::compute ? compute
                                                      : t.card);
}

/// The rims: what the chip computes and moves at most.
void draw_rims(const Painter& p, const Outputs& out, const WorkPlan& plan, float left, float x0, float x1) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  const ImU32 compute = t.of(widgets::Meaning::compute_bound), memory = t.of(widgets::Meaning::memory_bound);
  p.rect({x0, plan.top}, {x1, plan.axis}, with_alpha(compute, 0.07f));
  p.rect({x0, plan.axis}, {x1, plan.bottom}, with_alpha(memory, 0.07f));
  p.line({x0, plan.top}, {x1, plan.top}, compute, t.px(1.5f));
  p.line({x0, plan.bottom}, {x1, plan.bottom}, memory, t.px(1.5f));
  const auto rim = [&](float y, double value, std::string_view unit, ImU32 ink) {
    const auto parts = widgets::format_parts(value, unit);
    p.text({x0 - t.px(6), y}, parts.number.view(), ink, Type::small, Font::mono, widgets::Align::right);
    p.text_fit({x0 - t.px(6), y + small + t.px(1)}, parts.unit.view(), x0 - left - t.px(6), t.muted, Type::small,
               Font::sans, widgets::Align::right);
  };
  rim(plan.top, out.peak_flops_per_s, "FLOP/s", compute);
  rim(plan.bottom - 2 * small - t.px(2), out.bandwidth_bytes_per_s, "B/s", memory);
}

/// A block from `x0` to `x1`; its name keeps within `right`, and is left out where it would be much wider than the
/// block.
void bracket(const Painter& p, float x0, float x1, float right, float y, std::string_view name, double percent) {
  const Theme& t = theme();
  p.line({x0, y}, {x1, y}, t.muted);
  p.line({x0, y - t.px(4)}, {x0, y}, t.muted);
  p.line({x1, y - t.px(4)}, {x1, y}, t.muted);
  const auto share = widgets::format(percent, "%");
  Line text;
  text.add(name).add(" block ").add(share);
  for (const std::string_view words : {text.view(), share.view()}) {
    const float width = widgets::text_size(words, Type::small).x;
    if (width > x1 - x0 + t.px(24)) continue;
    p.text({std::min(std::max(x0, (x0 + x1 - width) / 2), right - width), y + t.px(3)}, words, t.text, Type::small);
    return;
  }
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

namespace {

/// Operations one after the other, as wide as their part of the layer's time, and the two blocks under them.
void draw_boxes(const Painter& p, const Outputs& out, const Picture& pic, View& view, const LayerFlow& flow,
                const WorkPlan& plan, float x0, float x1) {
  const Theme& t = theme();
  double at_s = 0, attention_s = 0, unnamed_s = 0;
  int unnamed = 0;
  for (std::size_t i = flow.first; i < flow.end; ++i) {
    const models::Placement& placed = out.operations[i].timed.placement;
    const auto x = [&](double s) { return x0 + (x1 - x0) * static_cast<float>(s / flow.time_s); };
    const WorkBox box{x(at_s), x(at_s + placed.time_s), static_cast<float>(placed.compute_s / placed.time_s),
                      static_cast<float>(placed.memory_s / placed.time_s)};
    if (!work_box(p, out, pic, view, i, box, plan)) {
      unnamed_s += placed.time_s;
      ++unnamed;
    }
    at_s += placed.time_s;
    if (i < flow.attention_end) attention_s = at_s;
  }
  p.line({x0, plan.axis}, {x1, plan.axis}, t.text, t.px(1.5f));
  const float split = x0 + (x1 - x0) * static_cast<float>(attention_s / flow.time_s), y = plan.bottom + t.px(8);
  const double attention = 100 * attention_s / flow.time_s;
  if (attention > 0) bracket(p, x0, split - t.px(1), x1, y, "attention", attention);
  if (attention < 100) bracket(p, split + t.px(1), x1, x1, y, "feed-forward", 100 - attention);
  widgets::drew("operations");
  widgets::drew("blocks");
  if (unnamed == 0) return;
  Line words;
  words.add_integer(unnamed).add(unnamed == 1 ? " small operation, " : " small operations, ");
  words.add(widgets::format(100 * unnamed_s / flow.time_s, "%", 2)).add(" together: point at them");
  const float width = widgets::text_size(words.view(), Type::small).x;
  // The bracket's name stands in the middle of what is left of the layer.
  const float name_end = (split + x1 + widgets::text_size("feed-forward block 00.0 %", Type::small).x) / 2;
  if (x1 - width > name_end + t.px(14)) p.text({x1 - width, y + t.px(3)}, words.view(), t.muted, Type::small);
}

}  // namespace

/// The layer over its time: arithmetic above the axis, memory below, an area being work.
void draw_flow(const Outputs& out, const Picture& pic, View& view, bool with_launch, float width, float height) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pad = t.px(12), small = t.type(Type::small);
  const float x0 = at.x + t.px(70), x1 = at.x + width - pad;
  const float top = at.y + t.px(20) + small, bottom = at.y + height - t.px(28) - 2 * small;
  const WorkPlan plan{top, (top + bottom) / 2, bottom};
  const widgets::GivenMarks given;  // does nothing while no question is open
  const Painter p = Painter::window();
  p.rect(at, {at.x + width, at.y + height}, t.card, t.px(6));
  if (widgets::veiled()) {
    p.text_fit({at.x + pad, at.y + t.px(9)}, pic.subject, width - 2 * pad, t.text, Type::small);
    draw_rims(p, out, plan, at.x, x0, x1);
    p.line({x0, plan.axis}, {x1, plan.axis}, t.text, t.px(1.5f));
    return;
  }
  if (pic.layers.empty()) return;
  draw_rims(p, out, plan, at.x, x0, x1);
  const std::size_t shown = drawn_layer(pic, view);
  const LayerFlow& flow = pic.layers[shown];
  const float key = regime_key(p, {at.x + width - pad, at.y + t.px(7)}, with_launch);
  const float tabs = layer_tabs(p, pic, view, shown, {at.x + pad, at.y + t.px(7)});
  Line story;
  story.add(widgets::format(flow.time_s, "s")).add("; width is time, height the rate reached, area work");
  if (key - tabs > t.px(60))
    p.text_fit({tabs, at.y + t.px(7)}, story.view(), key - tabs - t.px(8), t.muted, Type::small);
  draw_boxes(p, out, pic, view, flow, plan, x0, x1);
  const bool any = view.selected >= 0 && view.selected < static_cast<std::int64_t>(out.operations.size());
  const std::string_view detail = any ? std::string_view(pic.operations[static_cast<std::size_t>(view.selected)].detail)
                                      : std::string_view("Press an operation to read its shape.");
  float room = width - 2 * pad;
  if (!pic.capacity.empty()) {
    const float wide = widgets::text_size(pic.capacity, Type::small).x + t.px(16), from = at.x + width - pad - wide;
    const float y = at.y + height - small - t.px(8);
    p.frame({from, y}, {from + wide, y + small + t.px(5)}, t.warning, t.px(1), t.px(8));
    p.text({from + t.px(8), y + t.px(2)}, pic.capacity, t.warning, Type::small);
    room -= wide + t.px(10);
  }
  p.text_fit({at.x + pad, at.y + height - small - t.px(6)}, detail, room, any ? t.text : t.muted, Type::small);
}

}  // namespace chapters::roofline::transformer_layer
