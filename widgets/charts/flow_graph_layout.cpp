#include <algorithm>
#include <cmath>

#include "widgets/charts/flow_graph.h"

namespace widgets {
namespace {

bool overlap(const Rect& a, const Rect& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

/// An S from a to b that leaves and arrives along the flow.
void add_curve(std::vector<ImVec2>& out, ImVec2 a, ImVec2 b, bool down) {
  const bool straight = std::abs(down ? a.x - b.x : a.y - b.y) < 0.75f;
  const int steps = straight ? 1 : 14;
  for (int i = out.empty() ? 0 : 1; i <= steps; ++i) {
    const float u = static_cast<float>(i) / static_cast<float>(steps), e = u * u * (3 - 2 * u);
    out.push_back(down ? ImVec2{a.x + (b.x - a.x) * e, a.y + (b.y - a.y) * u}
                       : ImVec2{a.x + (b.x - a.x) * u, a.y + (b.y - a.y) * e});
  }
}

/// Labels on arrows that have room for them, where neither a box nor another label is in the way.
void place_arrow_labels(std::span<const FlowEdge> edges, bool down, Rect area, Measure measure, FlowGraphLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (edges[e].label.empty() || out.curves[e].size() < 2) continue;
    const float w = measure(edges[e].label, Type::small) + t.px(8), h = small + t.px(2);
    // A label shorter than its arrow by a good part, or the arrow is gone.
    const ImVec2 from = out.curves[e].front(), to = out.curves[e].back();
    if (std::hypot(to.x - from.x, to.y - from.y) < (down ? h : w) + t.px(20)) continue;
    // From the middle outwards.
    const std::vector<ImVec2>& curve = out.curves[e];
    for (const float u : {0.5f, 0.4f, 0.6f, 0.3f, 0.7f}) {
      const float at = u * static_cast<float>(curve.size() - 1);
      const auto i = std::min(static_cast<std::size_t>(at), curve.size() - 2);
      const float part = at - static_cast<float>(i);
      const ImVec2 p{curve[i].x + (curve[i + 1].x - curve[i].x) * part,
                     curve[i].y + (curve[i + 1].y - curve[i].y) * part};
      const Rect rect{{p.x - w / 2, p.y - h / 2}, {p.x + w / 2, p.y + h / 2}};
      const bool inside =
          rect.min.x >= area.min.x && rect.max.x <= area.max.x && rect.min.y >= area.min.y && rect.max.y <= area.max.y;
      const bool clear =
          std::none_of(out.boxes.begin(), out.boxes.end(), [&](const Rect& b) { return overlap(b, rect); }) &&
          std::none_of(out.labels.begin(), out.labels.end(), [&](const auto& l) { return overlap(l.rect, rect); });
      if (!inside || !clear) continue;
      out.labels.push_back({e, rect});
      break;
    }
  }
}

/// What the words of boxes and arrows ask for.
struct FlowWords {
  bool sublabels = false, labels = false;
  float widest = 0, label_px = 0;
};
FlowWords measure_flow(std::span<const FlowNode> nodes, std::span<const FlowEdge> edges, Measure measure) {
  FlowWords out;
  for (const FlowNode& n : nodes) {
    out.widest = std::max({out.widest, measure(n.label, Type::body), measure(n.sublabel, Type::small)});
    out.sublabels = out.sublabels || !n.sublabel.empty();
  }
  for (const FlowEdge& e : edges) {
    out.labels = out.labels || !e.label.empty();
    out.label_px = std::max(out.label_px, measure(e.label, Type::small));
  }
  return out;
}

/// Arrow `e` along its route, from box to box. `centre`: where a place of the order lies.
template <class Centre>
void trace_arrow(const FlowOrder& order, std::size_t e, const Centre& centre, float box_along, bool down,
                 std::vector<ImVec2>& curve) {
  const auto& route = order.routes[e];
  for (std::size_t i = 1; i < route.size(); ++i) {
    ImVec2 a = centre(order.places[route[i - 1]]), b = centre(order.places[route[i]]);
    float& from = down ? a.y : a.x;
    float& to = down ? b.y : b.x;
    from += box_along / 2;  // a bend keeps straight as long as the boxes of its layer
    to -= box_along / 2;
    if (!curve.empty()) curve.push_back(a);
    add_curve(curve, a, b, down);
  }
  if (order.backward[e]) std::reverse(curve.begin(), curve.end());
}

}  // namespace

void layout_flow_graph(std::span<const FlowNode> nodes, std::span<const FlowEdge> edges, const FlowOrder& order,
                       const FlowGraphOptions& o, Rect area, Measure measure, FlowGraphLayout& out) {
  const Theme& t = theme();
  out.boxes.assign(nodes.size(), {});
  out.curves.assign(edges.size(), {});
  out.labels.clear();
  out.problem = order.problem;
  if (nodes.empty()) out.problem.add("Nothing to show: the graph has no boxes.");
  if (order.layers.empty() || order.places.size() < nodes.size()) return;

  const float small = t.type(Type::small);
  const auto [sublabels, labels, widest, label_px] = measure_flow(nodes, edges, measure);
  if (out.problem.length > 0) area.max.y -= small + t.px(4);
  double low = 0, high = 0;
  for (const FlowOrder::Place& p : order.places) {
    low = std::min(low, p.across);
    high = std::max(high, p.across);
  }
  const float layers = static_cast<float>(order.layers.size());
  const float length = std::max(1.0f, o.down ? area.height() : area.width()),
              breadth = std::max(1.0f, o.down ? area.width() : area.height());
  const auto across_slots = static_cast<float>(high - low) + 1.0f;

  // Boxes as large as their text asks, smaller where there is no room; text is then shortened. Gaps give way first.
  float box_w = widest + t.px(20), box_h = t.type(Type::body) + t.px(14) + (sublabels ? small + t.px(2) : 0.0f);
  const float slot_along = length / layers, slot_across = breadth / across_slots;
  const float gap_along = o.down ? t.px(26) : t.px(26) + (labels ? std::min(label_px, t.px(70)) : 0.0f);
  const auto limit = [](float wanted, float slot, float gap) {
    return std::max(1.0f, std::min(wanted, std::max(slot - gap, slot * 0.76f)));
  };
  box_w = limit(box_w, o.down ? slot_across : slot_along, o.down ? t.px(14) : gap_along);
  box_h = limit(box_h, o.down ? slot_along : slot_across, o.down ? gap_along : t.px(10));
  const float box_along = o.down ? box_h : box_w, box_across = o.down ? box_w : box_h;
  const float step_along =
      layers > 1 ? std::min((length - box_along) / (layers - 1), box_along + std::max(t.px(90), label_px + t.px(40)))
                 : 0.0f;
  const float step_across =
      across_slots > 1 ? std::min((breadth - box_across) / (across_slots - 1), box_across + t.px(34)) : 0.0f;
  // The whole in the middle of the area.
  const float first_along = (length - box_along - step_along * (layers - 1)) / 2,
              first_across = (breadth - box_across - step_across * (across_slots - 1)) / 2;
  const auto centre = [&](const FlowOrder::Place& p) {
    const float a = first_along + box_along / 2 + step_along * static_cast<float>(p.layer);
    const float b = first_across + box_across / 2 + step_across * static_cast<float>(p.across - low);
    return o.down ? ImVec2{area.min.x + b, area.min.y + a} : ImVec2{area.min.x + a, area.min.y + b};
  };
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const ImVec2 c = centre(order.places[n]);
    out.boxes[n] = {{std::round(c.x - box_w / 2), std::round(c.y - box_h / 2)},
                    {std::round(c.x + box_w / 2), std::round(c.y + box_h / 2)}};
  }
  for (std::size_t e = 0; e < edges.size(); ++e) trace_arrow(order, e, centre, box_along, o.down, out.curves[e]);
  place_arrow_labels(edges, o.down, area, measure, out);
}

}  // namespace widgets
