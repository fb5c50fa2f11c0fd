#include <algorithm>
#include <cmath>
#include <vector>

#include "chapters/distributed/topology/lab.h"
#include "widgets/base/theme.h"

namespace chapters::distributed::topology {
namespace {

using parallel::Topology, parallel::TopologyNodeKind, parallel::TopologyShape, widgets::Rect;

constexpr float least_row = 34;  // design pixels of a row of a machine

Rect around(ImVec2 centre, float half_width, float half_height) {
  return {{centre.x - half_width, centre.y - half_height}, {centre.x + half_width, centre.y + half_height}};
}

std::size_t count_in_box(const Topology& graph, TopologyNodeKind kind) {
  return static_cast<std::size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                                [&](const auto& n) { return n.kind == kind && n.box == 0; }));
}

/// One machine in rows: switches above the chips, PCIe switches, processors and adapters below. `mirrored` numbers from
/// the right, so that the same adapters of two machines face each other.
void layout_tiers(const Topology& graph, std::int32_t box, Rect area, bool mirrored, BoxLayout& out) {
  const auto& t = widgets::theme();
  constexpr std::array<TopologyNodeKind, 6> tiers{TopologyNodeKind::fabric_switch, TopologyNodeKind::chip,
                                                  TopologyNodeKind::pcie_switch,   TopologyNodeKind::cpu,
                                                  TopologyNodeKind::socket_bus,    TopologyNodeKind::nic};
  std::array<std::size_t, tiers.size()> counts{};
  std::size_t rows = 0;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    counts[i] = count_in_box(graph, tiers[i]);
    rows += counts[i] > 0 ? 1 : 0;
  }
  // Where adapters hang at PCIe switches, what joins these would cross the adapters' wires.
  if (counts[0] > 0 && counts[2] > 0)
    for (const std::size_t tier : {std::size_t{3}, std::size_t{4}})
      if (counts[tier] > 0) {
        counts[tier] = 0;
        --rows;
      }
  // In little height the rows furthest from the chips go first.
  for (const std::size_t tier : {std::size_t{4}, std::size_t{3}, std::size_t{5}, std::size_t{2}})
    if (static_cast<float>(rows) * t.px(least_row) > area.height() && counts[tier] > 0) {
      counts[tier] = 0;
      --rows;
    }
  if (rows == 0) return;
  std::array<std::size_t, tiers.size()> seen{};
  // Tall gaps only as tall as their links need.
  const float pitch = area.height() / static_cast<float>(rows);
  std::array<float, tiers.size()> y{};
  float at = area.min.y;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (counts[i] == 0) continue;
    y[i] = at + pitch / 2;
    at += pitch;
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    if (node.box != box) continue;
    const auto tier = static_cast<std::size_t>(std::find(tiers.begin(), tiers.end(), node.kind) - tiers.begin());
    if (tier >= tiers.size() || counts[tier] == 0) continue;
    const float columns = static_cast<float>(counts[tier]);
    float place = static_cast<float>(seen[tier]++) + 0.5f;
    if (mirrored) place = columns - place;
    const float step = area.width() / columns;
    const bool chip = node.kind == TopologyNodeKind::chip;
    // One switch for all chips is a bar over them.
    const bool bar = counts[tier] == 1 && !chip;
    const float half_width = bar ? area.width() * 0.47f : std::min(step * 0.42f, t.px(chip ? 26 : 40));
    out.nodes[n] =
        around({area.min.x + place * step, y[tier]}, half_width, std::min(pitch * 0.36f, t.px(chip ? 19 : 13)));
  }
}

/// One machine as a tree: processors above, then PCIe switches, then chips and adapters in the order of the branches.
void layout_tree(const Topology& graph, std::int32_t box, Rect area, BoxLayout& out) {
  const auto& t = widgets::theme();
  std::vector<std::vector<std::uint32_t>> below(graph.nodes.size());
  const auto rank_of = [&](std::uint32_t n) {
    switch (graph.nodes[n].kind) {
      case TopologyNodeKind::socket_bus:
        return 0;
      case TopologyNodeKind::cpu:
        return 1;
      case TopologyNodeKind::pcie_switch:
        return 2;
      default:
        return 3;
    }
  };
  for (const auto& link : graph.links) {
    if (graph.nodes[link.a].box != box || graph.nodes[link.b].box != box) continue;
    if (link.kind != parallel::TopologyLinkKind::pcie) continue;
    const bool a_above = rank_of(link.a) < rank_of(link.b);
    below[a_above ? link.a : link.b].push_back(a_above ? link.b : link.a);
  }
  for (auto& b : below)
    std::stable_sort(b.begin(), b.end(), [&](std::uint32_t x, std::uint32_t y) {
      return (graph.nodes[x].kind == TopologyNodeKind::nic) < (graph.nodes[y].kind == TopologyNodeKind::nic);
    });
  std::size_t leaves = 0;
  for (const auto& n : graph.nodes)
    if (n.box == box && (n.kind == TopologyNodeKind::chip || n.kind == TopologyNodeKind::nic)) ++leaves;
  if (leaves == 0) return;
  const bool switches = count_in_box(graph, TopologyNodeKind::pcie_switch) > 0;
  const bool bus = count_in_box(graph, TopologyNodeKind::socket_bus) > 0;
  const float rows = 2.0f + (switches ? 1 : 0) + (bus ? 1 : 0);
  const float pitch = area.height() / rows, step = area.width() / static_cast<float>(leaves);
  const float bus_y = area.min.y + pitch / 2, cpu_y = bus_y + (bus ? pitch : 0), switch_y = cpu_y + pitch,
              leaf_y = area.max.y - pitch / 2;
  float next = area.min.x + step / 2;
  const auto place_leaf = [&](std::uint32_t n) {
    const bool chip = graph.nodes[n].kind == TopologyNodeKind::chip;
    const ImVec2 at{next, leaf_y};
    out.nodes[n] =
        around(at, std::min(step * 0.44f, t.px(chip ? 26 : 24)), std::min(pitch * 0.34f, t.px(chip ? 19 : 12)));
    next += step;
    return at.x;
  };
  for (std::uint32_t c = 0; c < graph.nodes.size(); ++c) {
    if (graph.nodes[c].box != box || graph.nodes[c].kind != TopologyNodeKind::cpu) continue;
    float first = 0, last = 0;
    bool any = false;
    const auto widen = [&](float x) {
      first = any ? std::min(first, x) : x;
      last = any ? std::max(last, x) : x;
      any = true;
    };
    for (const std::uint32_t child : below[c]) {
      if (graph.nodes[child].kind != TopologyNodeKind::pcie_switch) {
        widen(place_leaf(child));
        continue;
      }
      float from = next, to = next;
      for (const std::uint32_t leaf : below[child]) to = place_leaf(leaf);
      out.nodes[child] =
          around({(from + to) / 2, switch_y}, std::min(t.px(46), std::max(t.px(14), (to - from) / 2 + step * 0.3f)),
                 std::min(pitch * 0.3f, t.px(12)));
      widen((from + to) / 2);
    }
    out.nodes[c] = around({(first + last) / 2, cpu_y}, std::min(t.px(46), step * 2), std::min(pitch * 0.3f, t.px(14)));
  }
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[n].box == box && graph.nodes[n].kind == TopologyNodeKind::socket_bus)
      out.nodes[n] = around({(area.min.x + area.max.x) / 2, bus_y}, t.px(80), std::min(pitch * 0.3f, t.px(12)));
  out.arcs = true;
}

/// One machine whose chips are all joined to each other: on a ring, their adapters in a row below.
void layout_mesh(const Topology& graph, std::int32_t box, Rect area, bool mirrored, bool adapters, BoxLayout& out) {
  const auto& t = widgets::theme();
  const auto chips = static_cast<float>(count_in_box(graph, TopologyNodeKind::chip));
  const float row = adapters ? std::min(t.px(30), area.height() * 0.15f) : 0;
  const ImVec2 centre{(area.min.x + area.max.x) / 2, area.min.y + (area.height() - row) / 2};
  const float box_half = std::min(t.px(20), area.height() * 0.06f);
  const float high = std::max(0.0f, (area.height() - row) / 2 - box_half - t.px(2));
  const float wide = std::min(area.width() / 2 - t.px(30), high * 1.7f);
  float nic = 0.5f;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    if (node.box != box) continue;
    if (node.kind == TopologyNodeKind::chip) {
      const float place = static_cast<float>(node.place) + 0.5f;
      const float angle = (mirrored ? -1.0f : 1.0f) * 6.2831853f * place / chips - 1.5707963f;
      out.nodes[n] = around({centre.x + wide * std::cos(angle), centre.y + high * std::sin(angle)},
                            std::min(t.px(26), area.width() * 0.06f), box_half);
    }
    if (node.kind != TopologyNodeKind::nic || !adapters) continue;
    const auto nics = static_cast<float>(count_in_box(graph, TopologyNodeKind::nic));
    const float x = area.min.x + area.width() * (mirrored ? nics - nic : nic) / nics;
    out.nodes[n] = around({x, area.max.y - row / 2}, std::min(t.px(24), area.width() / nics * 0.44f), row * 0.32f);
    nic += 1;
  }
}

/// A cube of chips, slanted so that every line of it is seen.
void layout_torus(const Topology& graph, Rect area, BoxLayout& out) {
  const auto& t = widgets::theme();
  const auto x_side = static_cast<float>(graph.torus[0]), y_side = static_cast<float>(graph.torus[1]),
             z_side = static_cast<float>(graph.torus[2]);
  const float slant = 0.34f;
  const float step_x = area.width() / (x_side + slant * (y_side - 1) + 0.2f);
  const float step_z = area.height() / (z_side + 0.08f);
  const float rise = step_z * 0.2f;
  for (std::size_t c = 0; c < graph.chips.size(); ++c) {
    const auto i = static_cast<std::int32_t>(c);
    const auto x = static_cast<float>(i % graph.torus[0]), y = static_cast<float>(i / graph.torus[0] % graph.torus[1]),
               z = static_cast<float>(i / (graph.torus[0] * graph.torus[1]));
    const ImVec2 at{area.min.x + step_x * (0.45f + x + slant * y), area.max.y - step_z * (0.2f + z) - rise * y};
    out.nodes[graph.chips[c]] = around(at, std::min(t.px(17), step_x * 0.14f), std::min(t.px(10), rise * 0.42f));
  }
}

/// The leaf switches in a row along the lower edge with the spine under them, where there is room; returns the height.
float layout_rails(const Topology& graph, Rect area, BoxLayout& out) {
  const auto& t = widgets::theme();
  const auto rails = static_cast<float>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                                      [](const auto& n) { return n.kind == TopologyNodeKind::leaf; }));
  const float row = t.type(widgets::Type::small) + t.px(8), gap = t.px(14), height = 2 * row + gap + t.px(8);
  if (rails == 0 || area.height() < 4 * height) return 0;
  const float step = area.width() / rails, top = area.max.y - 2 * row - gap;
  float place = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const bool spine = graph.nodes[n].kind == TopologyNodeKind::spine;
    if (spine) out.nodes[n] = {{area.min.x + t.px(5), top + row + gap}, {area.max.x - t.px(5), area.max.y}};
    if (graph.nodes[n].kind != TopologyNodeKind::leaf) continue;
    const float x = area.min.x + step * (place + 0.5f), half = std::min(step * 0.42f, t.px(60));
    out.nodes[n] = {{x - half, top}, {x + half, top + row}};
    place += 1;
  }
  return height;
}

/// Many machines: each a plate, the plane that its chips stand on, with the chips in rows and an adapter under each.
void layout_cards(const Topology& graph, Rect area, BoxLayout& out) {
  const auto& t = widgets::theme();
  area.max.y -= layout_rails(graph, area, out);
  const auto boxes = static_cast<float>(graph.boxes), chips = static_cast<float>(graph.chips_a_box);
  float columns = 1, best = 0, shape = chips > 16 ? 2.4f : 2.6f;
  for (float c = 1; c <= boxes; c += 1) {  // the columns that make cards largest at their best shape
    const float w = area.width() / c, h = area.height() / std::ceil(boxes / c);
    const float size = std::min(w, h * shape);
    if (size > best) {
      best = size;
      columns = c;
    }
  }
  const float rows = std::ceil(boxes / columns), gap = t.px(10);
  const float w = area.width() / columns, h = area.height() / rows;
  for (std::int32_t b = 0; b < graph.boxes; ++b) {
    const float at_x = std::fmod(static_cast<float>(b), columns), at_y = std::floor(static_cast<float>(b) / columns);
    out.plates[static_cast<std::size_t>(b)] = {
        {area.min.x + at_x * w + gap / 2, area.min.y + at_y * h + gap / 2},
        {area.min.x + (at_x + 1) * w - gap / 2, area.min.y + (at_y + 1) * h - gap / 2}};
  }
  std::vector<float> seen(2 * static_cast<std::size_t>(graph.boxes), 0.0f);
  const Rect& plate = out.plates.front();
  const float title = t.type(widgets::Type::small) + t.px(8);
  const float inner_w = plate.width() - t.px(12), inner_h = plate.height() - title - t.px(6);
  float per_row = chips;
  float largest = 0;
  for (float c = 1; c <= chips; c += 1) {
    const float side = std::min(inner_w / c, inner_h / std::ceil(chips / c) / 1.2f);
    if (side > largest * 1.001f) {
      largest = side;
      per_row = c;
    }
  }
  const float cell_w = inner_w / per_row, cell_h = inner_h / std::ceil(chips / per_row);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    const bool chip = node.kind == TopologyNodeKind::chip, nic = node.kind == TopologyNodeKind::nic;
    if ((!chip && !nic) || node.box < 0) continue;
    const Rect& at = out.plates[static_cast<std::size_t>(node.box)];
    float& count = seen[2 * static_cast<std::size_t>(node.box) + (nic ? 1 : 0)];
    const float column = std::fmod(count, per_row), row = std::floor(count / per_row);
    count += 1;
    if (row >= std::ceil(chips / per_row)) continue;
    const ImVec2 corner{at.min.x + t.px(6) + column * cell_w, at.min.y + title + row * cell_h};
    const float high = cell_h * 0.94f;
    if (chip)
      out.nodes[n] = {{corner.x + cell_w * 0.06f, corner.y}, {corner.x + cell_w * 0.94f, corner.y + high * 0.76f}};
    else
      out.nodes[n] = {{corner.x + cell_w * 0.3f, corner.y + high * 0.84f}, {corner.x + cell_w * 0.7f, corner.y + high}};
  }
}

}  // namespace

void layout_graph(const Topology& graph, Rect area, BoxLayout& out) {
  const auto& t = widgets::theme();
  out.nodes.assign(graph.nodes.size(), Rect{});
  out.frames.clear();
  out.plates.clear();
  out.columns.clear();
  out.folded = false;
  out.elbows = false;
  out.arcs = false;
  const bool adapters = graph.boxes > 1;
  if (graph.shape == TopologyShape::torus) {
    layout_torus(graph, area, out);
    return;
  }
  const float rails = static_cast<float>(adapters ? count_in_box(graph, TopologyNodeKind::nic) : 0);
  const float wire = rails > 0 ? std::min(t.px(11), area.height() * 0.22f / std::max(1.0f, rails)) : 0;
  const float foot = rails > 0 ? wire * (rails + 1) + t.px(4) : 0;
  const float title = t.type(widgets::Type::body) + t.px(8);
  // Adapters join the wires between two machines: where no row of them has room, machines are drawn as plates.
  const bool tiers = graph.shape != TopologyShape::mesh && graph.shape != TopologyShape::tree;
  const bool flat = rails > 0 && tiers && area.height() - foot - title - t.px(6) < 4 * t.px(least_row);
  if (graph.boxes > 2 || graph.chips_a_box > 16 || flat ||
      area.width() < t.px(420) * static_cast<float>(graph.boxes) / 2) {
    if (layout_folded(graph, area, out)) return;
    out.plates.resize(static_cast<std::size_t>(graph.boxes));
    layout_cards(graph, area, out);
    return;
  }
  const float gap = graph.boxes > 1 ? std::min(t.px(76), area.width() * 0.085f) : 0;
  const float each = (area.width() - gap) / static_cast<float>(graph.boxes);
  for (std::int32_t b = 0; b < graph.boxes; ++b) {
    const float left = area.min.x + static_cast<float>(b) * (each + gap);
    const Rect frame{{left, area.min.y}, {left + each, area.max.y - foot}};
    out.frames.push_back(frame);
    const Rect inside{{frame.min.x + t.px(8), frame.min.y + title}, {frame.max.x - t.px(8), frame.max.y - t.px(6)}};
    if (graph.shape == TopologyShape::mesh)
      layout_mesh(graph, b, inside, b == 1, adapters, out);
    else if (graph.shape == TopologyShape::tree)
      layout_tree(graph, b, inside, out);
    else
      layout_tiers(graph, b, inside, b == 1, out);
  }
  if (rails == 0) return;
  out.elbows = true;
  const float middle = (area.min.x + area.max.x) / 2;
  float place = 0;
  for (std::size_t n = graph.nodes.size(); n-- > 0;) {
    if (graph.nodes[n].kind != TopologyNodeKind::leaf) continue;
    place += 1;  // the last rail's adapters face each other and have the shortest wire
    out.nodes[n] = around({middle, area.max.y - foot + wire * place}, std::min(t.px(4), wire * 0.4f),
                          std::min(t.px(3.5f), wire * 0.36f));
  }
}

}  // namespace chapters::distributed::topology
