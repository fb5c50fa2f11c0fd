#include <algorithm>
#include <cmath>

#include "chapters/distributed/topology/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/theme.h"

/// Many machines: the first one whole, the others folded into columns, and every pipe as thick as it is fast.
namespace chapters::distributed::topology {
namespace {

using parallel::Topology, parallel::TopologyNodeKind;
using widgets::Align, widgets::Font, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::Type;

constexpr float least_chip_row = 15;  // design pixels
constexpr std::size_t most_rows = 16;

Rect box_at(float x, float y, float half_width, float half_height) {
  return {{x - half_width, y - half_height}, {x + half_width, y + half_height}};
}

float title_px() { return widgets::theme().type(Type::small) + widgets::theme().px(8); }

/// The scale at which the thickest pipe still leaves a gap to the next row.
float pipe_scale(const FoldedPicture& folded, float boxes, float row) {
  double most = 0;
  for (const PipeMark& pipe : folded.chips) most = std::max(most, pipe.bytes_per_s);
  for (const RailMark& port : folded.ports) most = std::max(most, static_cast<double>(boxes) * port.pipe.bytes_per_s);
  for (const RailMark& rail : folded.rails) most = std::max(most, rail.pipe.bytes_per_s);
  return most > 0 ? 0.74f * row / static_cast<float>(most) : 0;
}

/// One horizontal pipe. What is busy is communication's hue, and the slowest glows.
void paint_pipe(const Painter& p, const PipeMark& mark, float from, float to, float y, float width) {
  const auto& t = widgets::theme();
  const float wide = std::max(width, t.px(1.5f));
  const bool open = widgets::veiled();
  const ImU32 hue = t.of(Meaning::communication);
  p.line({from, y}, {to, y}, widgets::with_alpha(t.muted, 0.4f), wide);
  if (open) return;
  if (mark.slowest)
    for (const float more : {12.0f, 7.0f, 3.0f})
      p.line({from, y}, {to, y}, widgets::with_alpha(hue, 0.16f), wide + t.px(more));
  if (mark.busy > 0.004f)
    p.line({from, y}, {to, y}, widgets::with_alpha(hue, mark.slowest ? 1.0f : 0.25f + 0.5f * mark.busy), wide);
  if (mark.dashed) p.dashed_line({from, y}, {to, y}, t.text, t.px(1.5f), t.px(4));
}

/// A rate on its pipe; the slowest one is large, with `more` under it where the rows are far enough apart.
void say_rate(const Painter& p, const PipeMark& mark, std::string_view more, float from, float to, float y, float width,
              float row) {
  const auto& t = widgets::theme();
  const bool slowest = mark.slowest && !widgets::veiled(), large = slowest && row >= 1.6f * t.type(Type::body);
  const Type type = large ? Type::body : Type::small;
  const Font font = slowest ? Font::bold : Font::mono;
  const ImVec2 size = widgets::text_size(mark.figure, type, font);
  if (size.x + t.px(8) > to - from || size.y > row) return;
  const float x = (from + to) / 2, top = y - size.y / 2;
  p.rect({x - size.x / 2 - t.px(4), top - t.px(1)}, {x + size.x / 2 + t.px(4), top + size.y + t.px(1)}, t.panel,
         t.px(3));
  p.text({x, top}, mark.figure, slowest ? t.text : t.muted, type, font, Align::center);
  const float below = std::max(width, size.y) / 2 + t.px(3), small = t.type(Type::small);
  if (!slowest || more.empty() || below + small + t.px(3) > row - width / 2) return;
  if (widgets::text_size(more, Type::small).x <= to - from)
    p.text({x, y + below}, more, t.text, Type::small, Font::sans, Align::center);
}

void paint_frames(const Painter& p, const Picture& picture, const BoxLayout& l) {
  const auto& t = widgets::theme();
  const Rect& whole = l.frames.front();
  p.rect(whole.min, whole.max, widgets::with_alpha(t.card, 0.45f), t.px(8));
  p.frame(whole.min, whole.max, t.line, t.px(1), t.px(8));
  const float name =
      p.text({whole.min.x + t.px(8), whole.min.y + t.px(4)}, "machine A", t.text, Type::small, Font::bold);
  const Rect& chip = l.nodes[picture.run->graph.chips.front()];
  widgets::fit_text(p, {chip.max.x, whole.min.y + t.px(4)}, picture.run->graph.name,
                    chip.max.x - whole.min.x - name - t.px(28), t.muted, Type::small, Font::sans, Align::right);
  for (std::size_t i = 0; i < l.columns.size(); ++i) {
    const Rect& r = l.columns[i];
    p.rect(r.min, r.max, widgets::with_alpha(t.card, 0.45f), t.px(6));
    p.frame(r.min, r.max, t.line, t.px(1), t.px(6));
    widgets::Line name_of;
    const auto left = static_cast<std::int64_t>(picture.run->graph.boxes) - 1 - static_cast<std::int64_t>(i);
    if (i + 1 == l.columns.size() && left > 1) {
      name_of.add("\xE2\x80\xA6 +").add_integer(left);
      if (widgets::text_size(name_of.view(), Type::small).x > r.width() - t.px(2)) {
        name_of = {};
        name_of.add("+").add_integer(left);
      }
    } else {
      const char letter = static_cast<char>('B' + i);
      name_of.add({&letter, 1});
    }
    const bool many = i + 1 == l.columns.size() && left > 1;
    widgets::fit_text(p, {middle_of(r).x, r.min.y + t.px(4)}, name_of.view(), r.width() - t.px(2), t.text, Type::small,
                      many ? Font::sans : Font::bold, Align::center);
  }
  for (const Rect* bar : {&l.fabric, &l.spine}) {
    if (!drawn(*bar)) continue;
    p.rect(bar->min, bar->max, t.card, t.px(5));
    p.frame(bar->min, bar->max, t.muted, t.px(1), t.px(5));
    const std::string_view name_of = bar == &l.fabric ? std::string_view(picture.folded.fabric) : "spine";
    const ImVec2 middle = middle_of(*bar);
    for (const std::string_view words : {name_of, name_of.substr(0, 3)}) {
      if (widgets::text_size(words, Type::small).x + t.px(4) > bar->width()) continue;
      p.text({middle.x, middle.y - t.type(Type::small) / 2}, words, t.muted, Type::small, Font::sans, Align::center);
      break;
    }
  }
}

/// The rate of each kind of pipe, on the slowest one where one is.
void say_rates(const Painter& p, const Picture& picture, const BoxLayout& l, float row, float scale) {
  const auto& t = widgets::theme();
  const FoldedPicture& folded = picture.folded;
  const auto& graph = picture.run->graph;
  const auto boxes = static_cast<float>(graph.boxes);
  const auto width_of = [&](double bytes_per_s) { return static_cast<float>(bytes_per_s) * scale; };
  const auto slowest = [](const auto& marks, const auto& of) {
    for (std::size_t i = 0; i < marks.size(); ++i)
      if (of(marks[i]).slowest) return i;
    return std::size_t{0};
  };
  const auto of_rail = [](const RailMark& r) -> const PipeMark& { return r.pipe; };
  const std::size_t c = slowest(folded.chips, [](const PipeMark& m) -> const PipeMark& { return m; });
  const std::size_t n = slowest(folded.ports, of_rail), r = slowest(folded.rails, of_rail);
  const Rect &chip = l.nodes[graph.chips[c]], &nic = l.nodes[folded.ports[n].node],
             &rail = l.nodes[folded.rails[r].node];
  say_rate(p, folded.chips[c], {}, l.fabric.max.x, chip.min.x, middle_of(chip).y, width_of(folded.chips[c].bytes_per_s),
           row);
  const Rect& last = l.nodes[folded.rails[n % folded.rails.size()].node];
  say_rate(p, folded.ports[n].pipe, "each port", l.columns.empty() ? nic.max.x : l.columns.back().max.x - t.px(8),
           last.min.x, middle_of(nic).y, width_of(static_cast<double>(boxes) * folded.ports[n].pipe.bytes_per_s), row);
  say_rate(p, folded.rails[r].pipe, folded.rails[r].words, rail.max.x, l.spine.min.x, middle_of(rail).y,
           width_of(folded.rails[r].pipe.bytes_per_s), row);
  widgets::drew("slowest link");
}

}  // namespace

float least_folded_height(const Topology& graph) {
  return static_cast<float>(graph.chips_a_box) * widgets::theme().px(least_chip_row) + title_px();
}

bool layout_folded(const Topology& graph, Rect area, BoxLayout& out) {
  const auto& t = widgets::theme();
  const auto rows = static_cast<float>(graph.chips_a_box);
  if (graph.boxes < 2 || graph.chips_a_box > static_cast<std::int32_t>(most_rows) ||
      area.height() < least_folded_height(graph) || area.width() < t.px(430))
    return false;
  const float title = title_px(), width = area.width(), row = (area.height() - title - t.px(4)) / rows;
  const float top = area.min.y + title, chip_half = std::min(t.px(28), width * 0.04f);
  const Rect whole{area.min, {area.min.x + 0.37f * width, area.max.y}};
  out.folded = true;
  out.frames = {whole};
  out.fabric = {{whole.min.x + t.px(8), top},
                {whole.min.x + t.px(8) + std::min(t.px(62), width * 0.07f), area.max.y - t.px(8)}};
  out.spine = {{area.max.x - std::min(t.px(58), width * 0.07f), area.min.y}, area.max};
  const float rail_half = std::min(t.px(32), width * 0.04f), up = std::max(t.px(84), 0.13f * width);
  const float rail_x = out.spine.min.x - up - rail_half, nic_half = std::min(t.px(25), width * 0.033f);
  const float chip_x = whole.min.x + 0.6f * whole.width(), nic_x = whole.max.x - nic_half - t.px(8);
  const float from = whole.max.x + t.px(26), to = rail_x - rail_half - t.px(30);
  const auto others = static_cast<std::size_t>(graph.boxes - 1);
  const std::size_t shown = std::clamp<std::size_t>(static_cast<std::size_t>((to - from) / t.px(38)), 1, others);
  const float pitch = std::min((to - from) / static_cast<float>(shown), t.px(72));
  out.columns.clear();
  for (std::size_t i = 0; i < shown; ++i) {
    const float x = from + pitch * static_cast<float>(i);
    out.columns.push_back({{x, area.min.y}, {x + pitch - t.px(10), area.max.y}});
  }
  const float half = std::min(0.34f * row, t.px(19));
  const auto rails = static_cast<float>(graph.count(TopologyNodeKind::leaf));
  const auto ports = static_cast<float>(std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const auto& n) {
    return n.kind == TopologyNodeKind::nic && n.box == 0;
  }));
  std::vector<float> seen(static_cast<std::size_t>(graph.boxes), 0.0f);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto& node = graph.nodes[n];
    if (node.kind == TopologyNodeKind::chip) {
      const auto box = static_cast<std::size_t>(node.box);
      const float y = top + row * (seen[box]++ + 0.5f);
      // Of the machines that have no column of their own the last column stands for all.
      if (box == 0)
        out.nodes[n] = box_at(chip_x, y, chip_half, half);
      else if (box <= out.columns.size())
        out.nodes[n] = box_at(middle_of(out.columns[box - 1]).x, y, out.columns[box - 1].width() * 0.38f, half * 0.8f);
    } else if (node.kind == TopologyNodeKind::nic && node.box == 0) {
      out.nodes[n] =
          box_at(nic_x, top + row * rows * (static_cast<float>(node.place) + 0.5f) / ports, nic_half, half * 0.75f);
    } else if (node.kind == TopologyNodeKind::leaf) {
      const float each = row * rows / rails;
      out.nodes[n] = box_at(rail_x, top + each * (static_cast<float>(node.place) + 0.5f), rail_half,
                            rails > 1 ? half * 0.85f : 0.46f * each);
    }
  }
  return true;
}

void paint_folded(const Painter& p, const Picture& picture, const BoxLayout& l) {
  const auto& t = widgets::theme();
  const FoldedPicture& folded = picture.folded;
  const auto& graph = picture.run->graph;
  paint_frames(p, picture, l);
  const auto boxes = static_cast<float>(graph.boxes);
  const float row =
      (l.fabric.max.y - l.fabric.min.y) / static_cast<float>(std::max<std::size_t>(folded.chips.size(), 1));
  // Names of the columns whose boxes are too low for words.
  if (const Rect& first = l.nodes[folded.ports.empty() ? 0 : folded.ports.front().node];
      drawn(first) && first.height() <= t.type(Type::small))
    p.text({middle_of(first).x, l.fabric.min.y - title_px() + t.px(4)}, "ports", t.muted, Type::small, Font::sans,
           Align::center);
  if (!folded.rails.empty() && l.nodes[folded.rails.front().node].height() <= t.type(Type::small))
    p.text({middle_of(l.nodes[folded.rails.front().node]).x, l.fabric.min.y - title_px() + t.px(4)}, "rails", t.muted,
           Type::small, Font::sans, Align::center);
  const float scale = pipe_scale(folded, boxes, row);
  const auto width_of = [&](double bytes_per_s) { return static_cast<float>(bytes_per_s) * scale; };
  for (std::size_t i = 0; i < folded.chips.size(); ++i) {
    const Rect& chip = l.nodes[graph.chips[i]];
    paint_pipe(p, folded.chips[i], l.fabric.max.x, chip.min.x, middle_of(chip).y,
               width_of(folded.chips[i].bytes_per_s));
  }
  for (std::size_t i = 0; i < folded.ports.size(); ++i) {
    const RailMark& port = folded.ports[i];
    const Rect &nic = l.nodes[port.node], &chip = l.nodes[graph.chips[i * folded.chips.size() / folded.ports.size()]];
    const float y = middle_of(nic).y, one = width_of(port.pipe.bytes_per_s);
    paint_pipe(p, port.pipe, chip.max.x, nic.min.x, y, one);
    // Behind every machine the port of one more comes along.
    float from = nic.max.x;
    for (std::size_t k = 0; k < l.columns.size(); ++k) {
      paint_pipe(p, port.pipe, from, l.columns[k].min.x, y, one * static_cast<float>(k + 1));
      from = l.columns[k].max.x;
    }
    const Rect& rail = l.nodes[folded.rails[i % folded.rails.size()].node];
    paint_pipe(p, port.pipe, from, rail.min.x, y, folded.rails.size() > 1 ? one * boxes : one);
  }
  for (const RailMark& rail : folded.rails) {
    const Rect& leaf = l.nodes[rail.node];
    paint_pipe(p, rail.pipe, leaf.max.x, l.spine.min.x, middle_of(leaf).y, width_of(rail.pipe.bytes_per_s));
  }
  widgets::drew("pipes");
  if (!folded.chips.empty() && !folded.ports.empty() && !folded.rails.empty()) say_rates(p, picture, l, row, scale);
}

}  // namespace chapters::distributed::topology
