#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "chapters/distributed/topology/lab.h"
#include "widgets/base/marks.h"

namespace chapters::distributed::topology {
namespace {

using parallel::TopologyLinkKind, parallel::TopologyNodeKind, widgets::Painter, widgets::Rect;

/// The line that a link is drawn as.
struct Wire {
  std::array<ImVec2, 12> points;
  std::size_t count = 0;
};

Wire wire_of(const Picture& picture, const BoxLayout& l, std::size_t link) {
  Wire w;
  const auto& graph = picture.run->graph;
  const auto& which = graph.links[link];
  const Rect &a = l.nodes[which.a], &b = l.nodes[which.b];
  if (!drawn(a) || !drawn(b)) return w;
  const ImVec2 from = middle_of(a), to = middle_of(b);
  if (which.kind == TopologyLinkKind::network && !l.plates.empty()) return w;
  if (which.kind == TopologyLinkKind::spine) {  // straight down to the bar
    w.points[0] = {from.x, a.max.y};
    w.points[1] = {from.x, b.min.y};
    w.count = 2;
    return w;
  }
  const bool chips =
      graph.nodes[which.a].kind == TopologyNodeKind::chip && graph.nodes[which.b].kind == TopologyNodeKind::chip;
  if (which.kind == TopologyLinkKind::network && l.elbows) {
    w.points[0] = {from.x, a.max.y};
    w.points[1] = {from.x, to.y};
    w.points[2] = {from.x < to.x ? b.min.x : b.max.x, to.y};
    w.count = 3;
    return w;
  }
  if (chips && l.arcs) {
    // Below the chips, deeper the farther they are apart.
    const float deep = std::min(std::abs(to.x - from.x) * 0.28f, a.height() * 1.1f) + a.height() * 0.2f;
    for (std::size_t i = 0; i < w.points.size(); ++i) {
      const float u = static_cast<float>(i) / static_cast<float>(w.points.size() - 1);
      w.points[i] = {from.x + (to.x - from.x) * u, a.max.y + deep * 4 * u * (1 - u)};
    }
    w.count = w.points.size();
    return w;
  }
  w.points[0] = from;
  w.points[1] = to;
  w.count = 2;
  if (chips || std::abs(from.y - to.y) < std::min(a.height(), b.height())) return w;
  w.points[0].y = to.y < from.y ? a.min.y : a.max.y;
  w.points[1].y = to.y < from.y ? b.max.y : b.min.y;
  if (b.width() > 6 * a.width()) w.points[1].x = from.x;  // straight to a bar
  return w;
}

/// A link of a torus that closes a line would cross it: it is drawn as a stub at either end.
bool closes_line(const Picture& picture, const BoxLayout& l, std::size_t link) {
  if (picture.run->graph.shape != parallel::TopologyShape::torus) return false;
  const auto& which = picture.run->graph.links[link];
  const std::int32_t a = picture.chip_of_node[which.a], b = picture.chip_of_node[which.b];
  const std::int32_t apart = std::abs(a - b), side = picture.run->graph.torus[0];
  return l.nodes.size() > 0 && apart != 1 && apart != side && apart != side * side;
}

void stroke(const Painter& p, const Wire& w, ImU32 colour, float width, bool dashed) {
  const std::span<const ImVec2> points(w.points.data(), w.count);
  if (dashed)
    p.dashed_polyline(points, colour, width, widgets::theme().px(5));
  else
    p.polyline(points, colour, width);
}

void paint_link(const Painter& p, const Picture& picture, const BoxLayout& l, std::size_t i, int pass,
                std::int32_t lit_group) {
  const auto& t = widgets::theme();
  const LinkMark& mark = picture.links[i];
  const auto& link = picture.run->graph.links[i];
  Wire w = wire_of(picture, l, i);
  if (w.count == 0) return;
  if (closes_line(picture, l, i)) {
    const ImVec2 from = w.points[0], to = w.points[1];
    const float whole = std::hypot(to.x - from.x, to.y - from.y);
    const float stub = std::min(t.px(20), whole * 0.1f) / whole;
    Wire first = w, second = w;
    first.points[1] = {from.x - (to.x - from.x) * stub, from.y - (to.y - from.y) * stub};
    second.points[0] = to;
    second.points[1] = {to.x + (to.x - from.x) * stub, to.y + (to.y - from.y) * stub};
    const ImU32 colour = pass == 0 ? widgets::with_alpha(t.muted, 0.5f) : t.of(widgets::Meaning::communication);
    if (pass == 0 || mark.busy > 0) {
      stroke(p, first, colour, t.px(pass == 0 ? 1.0f : 2.0f), false);
      stroke(p, second, colour, t.px(pass == 0 ? 1.0f : 2.0f), false);
    }
    return;
  }
  const float width = std::clamp(static_cast<float>(link.reached_bytes_per_s) * l.px_per_bytes_per_s, t.px(1), t.px(9));
  if (pass == 0) {
    stroke(p, w, widgets::with_alpha(t.muted, 0.38f), width, false);
  } else if (pass == 1 && mark.busy > 0.004f) {
    const auto of_lit = [&](std::uint32_t n) {
      const std::int32_t chip = picture.chip_of_node[n];
      return chip < 0 || picture.chips[static_cast<std::size_t>(chip)].group == lit_group;
    };
    const bool strong = of_lit(link.a) && of_lit(link.b);
    const ImU32 colour = widgets::with_alpha(t.of(widgets::Meaning::communication),
                                             (strong ? 0.45f : 0.15f) + (strong ? 0.55f : 0.2f) * mark.busy);
    stroke(p, w, colour, std::max(width, t.px(1.5f)), false);
  } else if (pass == 2 && mark.dashed()) {
    stroke(p, w, widgets::with_alpha(t.text, 0.85f), t.px(1.5f), true);
  } else if (pass == 3 && mark.slowest && picture.slowest_links <= 16 && link.kind != TopologyLinkKind::nvlink) {
    const ImVec2 one = w.points[w.count == 3 ? 1 : (w.count - 1) / 2], next = w.points[w.count == 3 ? 2 : w.count / 2];
    const ImVec2 at{(one.x + next.x) / 2, (one.y + next.y) / 2};
    p.circle(at, t.px(4), t.background);
    p.ring(at, t.px(4), t.bad, t.px(2));
  }
}

}  // namespace

void paint_links(const Painter& p, const Picture& picture, const BoxLayout& l, std::int32_t lit_group) {
  const int passes = widgets::veiled() ? 1 : 4;  // what a link is, then what is busy
  for (int pass = 0; pass < passes; ++pass)
    for (std::size_t i = 0; i < picture.links.size(); ++i) paint_link(p, picture, l, i, pass, lit_group);
}

}  // namespace chapters::distributed::topology
