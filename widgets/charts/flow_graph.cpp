#include "widgets/charts/flow_graph.h"

#include <algorithm>
#include <cmath>

#include "widgets/base/arrow.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

namespace widgets {
namespace {

std::uint64_t graph_fingerprint(std::span<const FlowNode> nodes, std::span<const FlowEdge> edges) {
  Fingerprint f;
  for (const FlowNode& n : nodes) {
    f.add(n.label);
    f.add(n.sublabel);
  }
  for (const FlowEdge& e : edges) {
    f.add(std::uint64_t{e.from} << 32 | e.to);
    f.add(e.label);
  }
  f.add(std::uint64_t{nodes.size()});
  return f.value;
}

double heaviest(std::span<const FlowEdge> edges) {
  double most = 0;
  for (const FlowEdge& e : edges)
    if (std::isfinite(e.weight)) most = std::max(most, e.weight);
  return most;
}

void paint_edge(const Painter& painter, const FlowEdge& edge, const std::vector<ImVec2>& curve, bool backward,
                bool strong, double most) {
  if (curve.size() < 2) return;
  const Theme& t = theme();
  const ImU32 ink = strong ? t.accent : with_alpha(t.muted, 0.75f);
  const bool weighted = std::isfinite(edge.weight) && edge.weight > 0 && most > 0;
  const float width =
      weighted ? t.px(1.2f) + t.px(7) * static_cast<float>(edge.weight / most) : t.px(strong ? 2.0f : 1.4f);
  draw_arrow(painter, curve, ink, width, backward);
}

void paint_box(const Painter& painter, const FlowNode& node, Rect box, bool selected, bool hovered) {
  const Theme& t = theme();
  const ImU32 tint = colour(node.tint, t);
  const float rounding = t.px(4), room = box.width() - t.px(12);
  painter.rect(box.min, box.max, t.card, rounding);
  if (std::isfinite(node.share)) {
    const float filled = box.width() * static_cast<float>(std::clamp(node.share, 0.0, 1.0));
    if (filled > 1) painter.rect(box.min, {box.min.x + filled, box.max.y}, with_alpha(tint, 0.35f), rounding);
  }
  painter.frame(box.min, box.max,
                selected  ? t.text
                : hovered ? t.accent
                          : tint,
                t.px(selected ? 2.0f : 1.2f), rounding);
  const bool two = !node.sublabel.empty() && box.height() >= t.type(Type::body) + t.type(Type::small) + t.px(4);
  const float x = (box.min.x + box.max.x) / 2,
              block = t.type(Type::body) + (two ? t.type(Type::small) + t.px(2) : 0.0f);
  const Type type = box.height() >= t.type(Type::body) + t.px(2) ? Type::body : Type::small;
  if (box.height() < t.type(Type::small)) return;
  const float y = (box.min.y + box.max.y - block) / 2;
  fit_text(painter, {x, y}, node.label, room, t.text, type, Font::sans, Align::center);
  if (two)
    fit_text(painter, {x, y + t.type(Type::body) + t.px(2)}, node.sublabel, room, t.muted, Type::small, Font::sans,
             Align::center);
}

void record_graph(Record& record, const char* label, std::span<const FlowNode> nodes, std::span<const FlowEdge> edges) {
  DataTable boxes{label, {"box", "detail", "share"}, {}};
  for (const FlowNode& n : nodes) boxes.rows.push_back({std::string(n.label), std::string(n.sublabel), exact(n.share)});
  DataTable arrows{std::string(label) + " arrows", {"from", "to", "label", "weight"}, {}};
  for (const FlowEdge& e : edges)
    if (e.from < nodes.size() && e.to < nodes.size())
      arrows.rows.push_back(
          {std::string(nodes[e.from].label), std::string(nodes[e.to].label), std::string(e.label), exact(e.weight)});
  record.tables.push_back(std::move(boxes));
  record.tables.push_back(std::move(arrows));
}

void tip_flow_box(const FlowNode& n) {
  Line value;
  value.add(n.sublabel);
  if (std::isfinite(n.share))
    value.add(value.length > 0 ? ", " : "").add(format(100 * n.share, "%")).add(" of the whole");
  tip(n.label, value.view(), n.info);
}

void paint_arrow_labels(const Painter& painter, std::span<const FlowEdge> edges, const FlowGraphLayout& l) {
  const Theme& t = theme();
  for (const FlowGraphLayout::Label& at : l.labels) {
    painter.rect(at.rect.min, at.rect.max, t.background, t.px(3));  // its own ground, so that no line crosses it
    painter.text({(at.rect.min.x + at.rect.max.x) / 2, at.rect.min.y + t.px(1)}, edges[at.edge].label, t.muted,
                 Type::small, Font::sans, Align::center);
  }
}

/// Every box as an item that a press selects, and a second one deselects. True where one was pressed.
bool press_flow_boxes(std::span<const FlowNode> nodes, FlowGraphView& view, std::int64_t& hovered) {
  const FlowGraphLayout& l = view.layout;
  bool changed = false;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    ImGui::PushID(static_cast<int>(n));
    ImGui::SetCursorScreenPos(l.boxes[n].min);
    Line name;  // an item's label is zero-terminated
    name.add(nodes[n].label.empty() ? "box" : nodes[n].label);
    if (press_area(name.c_str(), {l.boxes[n].width(), l.boxes[n].height()})) {
      const auto now = static_cast<std::int64_t>(n) == view.selected ? -1 : static_cast<std::int64_t>(n);
      changed = true;
      view.selected = now;
    }
    if (ImGui::IsItemHovered()) hovered = static_cast<std::int64_t>(n);
    ImGui::PopID();
  }
  return changed;
}

}  // namespace

bool draw_flow_graph(const char* label, std::span<const FlowNode> nodes, std::span<const FlowEdge> edges,
                     FlowGraphView& view, const FlowGraphOptions& o) {
  const Theme& t = theme();
  if (const std::uint64_t now = graph_fingerprint(nodes, edges); now != view.order_of) {
    view.order = order_flow(nodes, edges);
    view.order_of = now;
    view.layout_of = 0;
  }
  std::size_t most = 1;
  for (const auto& layer : view.order.layers) most = std::max(most, layer.size());
  const float steps = static_cast<float>(o.down ? std::max<std::size_t>(view.order.layers.size(), 1) : most);
  ImGui::PushID(label);
  ImGui::BeginGroup();
  const Rect area = reserve(
      {o.size.x, o.size.y > 0 ? o.size.y : std::min(t.px(640), steps * t.px(o.down ? 84.0f : 70.0f) + t.px(10))},
      {t.px(120), t.px(60)});
  Fingerprint placed;
  placed.add(view.order_of);
  for (const float x : {area.min.x, area.min.y, area.max.x, area.max.y, t.scale, o.down ? 1.0f : 0.0f})
    placed.add(static_cast<double>(x));
  if (placed.value != view.layout_of) {
    layout_flow_graph(nodes, edges, view.order, o, area, measure_text, view.layout);
    view.layout_of = placed.value;
  }
  const FlowGraphLayout& l = view.layout;
  const bool drawable = !view.order.layers.empty();
  std::int64_t hovered = -1;
  const bool changed = drawable && press_flow_boxes(nodes, view, hovered);
  ImGui::EndGroup();
  ImGui::PopID();

  const Painter painter = Painter::window();
  const double heavy = heaviest(edges);
  for (std::size_t e = 0; drawable && e < edges.size(); ++e) {
    const bool strong = view.selected >= 0 && (edges[e].from == view.selected || edges[e].to == view.selected);
    paint_edge(painter, edges[e], l.curves[e], view.order.backward[e], strong, heavy);
  }
  for (std::size_t n = 0; drawable && n < nodes.size(); ++n)
    paint_box(painter, nodes[n], l.boxes[n], static_cast<std::int64_t>(n) == view.selected,
              static_cast<std::int64_t>(n) == hovered);
  paint_arrow_labels(painter, edges, l);
  if (l.problem.length > 0)
    fit_text(painter, {area.min.x, drawable ? area.max.y - t.type(Type::small) : area.min.y}, l.problem.view(),
             area.width(), t.muted, Type::small);
  if (hovered >= 0) tip_flow_box(nodes[static_cast<std::size_t>(hovered)]);
  if (Record* record = painter.record()) record_graph(*record, label, nodes, edges);
  return changed;
}

}  // namespace widgets
