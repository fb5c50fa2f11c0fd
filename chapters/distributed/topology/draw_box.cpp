#include <algorithm>
#include <cmath>

#include "chapters/distributed/shared/guess_marks.h"
#include "chapters/distributed/topology/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::distributed::topology {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// The first of some wordings that a width holds whole; empty where none does.
std::string_view first_that_fits(std::initializer_list<std::string_view> wordings, float width, Type type) {
  for (const std::string_view words : wordings)
    if (widgets::text_size(words, type).x <= width) return words;
  return {};
}

/// A switch's or adapter's name; where it has no room, its capitals and its number: "NVS 0".
void paint_name(const Painter& p, const Rect& r, std::string_view name) {
  const auto& t = widgets::theme();
  widgets::Line brief;
  const std::size_t number = name.rfind(' ');
  for (const char c : name.substr(0, number))
    if (c >= 'A' && c <= 'Z') brief.add({&c, 1});
  if (number != std::string_view::npos) brief.add(name.substr(number));
  const std::string_view words = first_that_fits({name, brief.view()}, r.width() - t.px(4), Type::small);
  p.text({middle_of(r).x, middle_of(r).y - t.type(Type::small) / 2}, words, t.muted, Type::small, Font::sans,
         Align::center);
}

void paint_node(const Painter& p, const Picture& picture, const BoxLayout& l, std::size_t n, std::int32_t lit_group) {
  const auto& t = widgets::theme();
  const Rect& r = l.nodes[n];
  if (!drawn(r)) return;
  const auto& node = picture.run->graph.nodes[n];
  const float round = std::min(t.px(5), r.height() / 4);
  const std::int32_t chip = picture.chip_of_node[n];
  if (chip < 0) {
    const bool ports_lit = picture.nodes_busy[n] && !widgets::veiled();
    const ImU32 hue = t.of(widgets::Meaning::communication);
    const bool words = r.width() > t.px(20) && r.height() > t.type(Type::small);
    p.rect(r.min, r.max, ports_lit && !words ? hue : t.card, round);
    p.frame(r.min, r.max, ports_lit ? hue : t.muted, t.px(1), round);
    if (words) paint_name(p, r, node.name);
    return;
  }
  const ChipMark& mark = picture.chips[static_cast<std::size_t>(chip)];
  const bool lit = mark.group >= 0 && mark.group == lit_group;
  const ImU32 fill = lit ? t.accent : t.background;
  const ImU32 ink = lit ? widgets::text_on(fill, t) : t.text;
  p.rect(r.min, r.max, fill, round);
  if (!lit && mark.group >= 0) p.rect(r.min, r.max, widgets::with_alpha(t.accent, 0.16f), round);
  if (mark.group < 0) {
    const ImVec2 corners[] = {r.min, {r.max.x, r.min.y}, r.max, {r.min.x, r.max.y}, r.min};
    p.dashed_polyline(corners, t.muted, t.px(1), t.px(3));
  } else {
    p.frame(r.min, r.max, lit ? t.accent : t.muted, t.px(1), round);
  }
  const float small = t.type(Type::small), x = middle_of(r).x, y = middle_of(r).y;
  const bool both = !mark.rank.empty() && r.height() > 2 * small + t.px(4) &&
                    widgets::text_size(mark.rank, Type::small).x < r.width() - t.px(3);
  if (widgets::text_size(mark.name, Type::small, Font::bold).x > r.width() || r.height() < small * 0.8f) return;
  p.text({x, both ? y - small - t.px(1) : y - small / 2}, mark.name, ink, Type::small, Font::bold, Align::center);
  if (both) p.text({x, y + t.px(1)}, mark.rank, ink, Type::small, Font::sans, Align::center);
}

void paint_plates(const Painter& p, const Picture& picture, const BoxLayout& l) {
  const auto& t = widgets::theme();
  for (std::size_t b = 0; b < l.plates.size(); ++b) {
    const Rect& r = l.plates[b];
    float busy = 0;
    std::string_view rests, carries;  // none where the machine has no links between its chips but PCIe
    for (std::size_t i = 0; i < picture.links.size(); ++i) {
      const auto& link = picture.run->graph.links[i];
      const bool fabric =
          link.kind == parallel::TopologyLinkKind::nvlink || link.kind == parallel::TopologyLinkKind::xgmi;
      if (fabric && picture.run->graph.nodes[link.a].box == static_cast<std::int32_t>(b)) {
        busy = widgets::veiled() ? 0 : std::max(busy, picture.links[i].busy);
        rests = link.kind == parallel::TopologyLinkKind::nvlink ? "NVLink idle" : "xGMI idle";
        carries = link.kind == parallel::TopologyLinkKind::nvlink ? "NVLink in use" : "xGMI in use";
      }
    }
    p.rect(r.min, r.max,
           busy > 0.004f ? widgets::with_alpha(t.of(widgets::Meaning::communication), 0.10f + 0.16f * busy) : t.card,
           t.px(8));
    p.frame(r.min, r.max, busy > 0.99f ? t.of(widgets::Meaning::communication) : t.line, t.px(1), t.px(8));
    widgets::Line name;
    const char letter = static_cast<char>('A' + b);
    name.add("machine ").add({&letter, 1});
    const float name_px = widgets::text_size(name.view(), Type::small, Font::bold).x;
    if (name_px < r.width() - t.px(16))
      p.text({r.min.x + t.px(8), r.min.y + t.px(4)}, name.view(), t.text, Type::small, Font::bold);
    const std::string_view does = busy > 0.004f ? carries : rests;
    if (name_px + widgets::text_size(does, Type::small).x < r.width() - t.px(28))
      p.text({r.max.x - t.px(8), r.min.y + t.px(4)}, does, t.text, Type::small, Font::sans, Align::right);
  }
  constexpr std::array<std::string_view, 2> names{"machine A", "machine B"};
  for (std::size_t b = 0; b < l.frames.size() && b < names.size(); ++b) {
    const Rect& r = l.frames[b];
    p.rect(r.min, r.max, widgets::with_alpha(t.card, 0.45f), t.px(8));
    p.frame(r.min, r.max, t.line, t.px(1), t.px(8));
    if (l.frames.size() > 1)
      widgets::fit_text(p, {r.min.x + t.px(10), r.min.y + t.px(4)}, names[b], r.width() * 0.5f, t.text, Type::body,
                        Font::bold);
    const ImVec2 corner{r.max.x - t.px(10), r.min.y + t.px(4)};
    if (b == 1 && picture.run->graph.shape != parallel::TopologyShape::tree)
      p.text(corner, first_that_fits({"numbered from the right", "from the right"}, r.width() * 0.45f, Type::small),
             t.muted, Type::small, Font::sans, Align::right);
    else
      widgets::fit_text(p, corner, picture.run->graph.name, r.width() * 0.45f, t.muted, Type::small, Font::sans,
                        Align::right);
  }
}

/// Between two machines: what a link of each height carries.
void paint_rates(const Painter& p, const Picture& picture, const BoxLayout& l) {
  const auto& t = widgets::theme();
  if (l.frames.size() != 2 || picture.rates.empty()) return;
  const float x = (l.frames[0].max.x + l.frames[1].min.x) / 2, room = l.frames[1].min.x - l.frames[0].max.x;
  for (const RateMark& rate : picture.rates) {
    if (widgets::text_size(rate.figure, Type::small, Font::mono).x > room) return;
    const Rect &a = l.nodes[rate.a], &b = l.nodes[rate.b];
    if (!drawn(a) || !drawn(b)) continue;
    const float y = (middle_of(a).y + middle_of(b).y) / 2 - t.type(Type::small);
    p.text({x, y}, rate.figure, t.text, Type::small, Font::mono, Align::center);
    widgets::fit_text(p, {x, y + t.type(Type::small) + t.px(1)}, rate.name, room, t.muted, Type::small, Font::sans,
                      Align::center);
  }
}

/// Machines, links and chips; what they are stays while a question is open, without what is busy.
void paint_machines(const Painter& p, const Picture& picture, const BoxLayout& l, std::int32_t lit) {
  const widgets::GivenMarks given;
  if (l.folded) {
    paint_folded(p, picture, l);
  } else {
    paint_plates(p, picture, l);
    paint_links(p, picture, l, lit);
    paint_rates(p, picture, l);
    widgets::drew("pipes");
    widgets::drew("slowest link");
  }
  for (std::size_t n = 0; n < l.nodes.size(); ++n) paint_node(p, picture, l, n, lit);
}

/// The places of two axes in the order.
void exchange(Inputs& in, parallel::TopologyAxis a, parallel::TopologyAxis b) {
  auto order = axes_of(in.order);
  std::iter_swap(std::find(order.begin(), order.end(), a), std::find(order.begin(), order.end(), b));
  in.order = order_of(order);
}

/// The axes as names to drag, from the inner one to the outer one.
void paint_order(const Painter& p, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  const auto& t = widgets::theme();
  const BoxLayout& l = view.layout;
  if (l.axes.empty()) return;
  const float y = middle_of(l.order).y - t.type(Type::small) / 2;
  p.text({l.order.min.x, y}, "inner", t.muted, Type::small);
  for (std::size_t i = 0; i < l.axes.size(); ++i) {
    const Rect& r = l.axes[i];
    const auto axis = static_cast<std::size_t>(picture.ordered[i]);
    ImGui::SetCursorScreenPos(r.min);
    ImGui::PushID(static_cast<int>(axis));
    const bool pressed = widgets::press_area("axis", {r.width(), r.height()});
    const bool held = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
    ImGui::PopID();
    if (pressed && out.axes.size() > 1) in.axis = static_cast<LitAxis>(axis + 1);
    if (held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, t.px(4))) {
      const float x = ImGui::GetMousePos().x;
      if (i > 0 && x < middle_of(l.axes[i - 1]).x) exchange(in, picture.ordered[i - 1], picture.ordered[i]);
      if (i + 1 < l.axes.size() && x > middle_of(l.axes[i + 1]).x)
        exchange(in, picture.ordered[i], picture.ordered[i + 1]);
    }
    const bool lit = axis == picture.run->lit;
    p.rect(r.min, r.max, lit ? widgets::with_alpha(t.accent, 0.25f) : t.card, t.px(6));
    p.frame(r.min, r.max, lit || hovered ? t.accent : t.line, t.px(1), t.px(6));
    widgets::fit_text(p, {middle_of(r).x, y}, picture.axis_names[i], r.width() - t.px(8), t.text, Type::small,
                      lit ? Font::bold : Font::sans, Align::center);
  }
  float x = l.axes.back().max.x + t.px(8);
  for (const std::string_view words : {std::string_view("outer: drag to change"), std::string_view("outer")}) {
    if (x + widgets::text_size(words, Type::small).x > l.order.max.x) continue;
    x += p.text({x, y}, words, t.muted, Type::small) + t.px(16);
    break;
  }
  if (l.order.max.x - x > t.px(150))
    widgets::fit_text(p, {l.order.max.x, y}, picture.ghost_words, l.order.max.x - x, t.muted, Type::small, Font::sans,
                      Align::right);
}

void paint_bars(const Painter& p, Inputs& in, const Outputs& out, const Picture& picture, const BoxLayout& l) {
  const auto& t = widgets::theme();
  if (!drawn(l.bars) || picture.bars.empty()) return;
  const float small = t.type(Type::small), head = small + t.px(8);
  float x = l.bars.min.x;
  x += p.text({x, l.bars.min.y}, picture.bars_title, t.text, Type::small, Font::bold) + t.px(14);
  for (const AxisRow& axis : out.axes) {  // the key
    std::size_t which = 0;
    while (which + 1 < parallel::topology_axis_count &&
           parallel::topology_axis_name(static_cast<parallel::TopologyAxis>(which)) != axis.axis)
      ++which;
    if (x + t.px(90) > l.bars.max.x) break;
    p.rect({x, l.bars.min.y + t.px(2)}, {x + t.px(10), l.bars.min.y + t.px(12)}, t.series_at(which), t.px(2));
    x += t.px(14) + p.text({x + t.px(14), l.bars.min.y}, axis.axis, t.muted, Type::small) + t.px(12);
  }
  const float row = (l.bars.height() - head) / static_cast<float>(picture.bars.size());
  const float label = std::min(l.bars.width() * 0.3f, t.px(230)), words = t.px(120);
  const float from = l.bars.min.x + label, room = std::max(0.0f, l.bars.width() - label - words);
  for (std::size_t i = 0; i < picture.bars.size(); ++i) {
    const PlacementBar& bar = picture.bars[i];
    const float y = l.bars.min.y + head + static_cast<float>(i) * row;
    const float high = std::min(row - t.px(4), t.px(18));
    if (high <= 0) return;
    const float text_y = y + high / 2 - small / 2;
    ImGui::SetCursorScreenPos({l.bars.min.x, y});
    ImGui::PushID(static_cast<int>(i));
    const bool pressed = widgets::press_area("placement", {l.bars.width(), high});
    const bool hovered = ImGui::IsItemHovered();
    ImGui::PopID();
    if (pressed && !bar.yours) {
      in.order = bar.order;
      in.chip_order = bar.chips;
    }
    widgets::fit_text(p, {l.bars.min.x, text_y}, bar.name, label - t.px(30), bar.yours || hovered ? t.text : t.muted,
                      Type::small, bar.yours ? Font::bold : Font::sans);
    float at = from;
    for (std::size_t a = 0; a < bar.axis_s.size(); ++a) {
      const float wide = static_cast<float>(bar.axis_s[a] / picture.most_s) * room;
      if (wide <= 0) continue;
      p.rect({at, y}, {at + wide, y + high}, widgets::with_alpha(t.series_at(a), bar.yours ? 1.0f : 0.55f), t.px(2));
      at += wide;
    }
    if (bar.yours)
      p.frame({from - t.px(2), y - t.px(2)}, {at + t.px(2), y + high + t.px(2)}, t.accent, t.px(1.5f), t.px(4));
    at += t.px(8);
    at += p.text({at, text_y}, bar.words, t.text, Type::small, Font::mono) + t.px(10);
    if (!bar.ratio.empty()) at += p.text({at, text_y}, bar.ratio, t.text, Type::small, Font::bold) + t.px(8);
    if (bar.best && picture.bars.size() > 1 && at + t.px(60) < l.bars.max.x)
      p.text({at, text_y}, "best found", t.muted, Type::small);
  }
  if (const auto* guess = guess_about({"over_best"}))
    mark_guess_down(*guess, {{from, l.bars.min.y + head - t.px(4)}, {from + room, l.bars.max.y}},
                    from + static_cast<float>(guess->value * out.best_s / picture.most_s) * room);
}

/// Chips are dragged onto each other to exchange their ranks, and pressed to light their group.
void take_chips(Inputs& in, const Picture& picture, View& view) {
  const BoxLayout& l = view.layout;
  for (std::size_t c = 0; c < picture.chips.size(); ++c) {
    const Rect& r = l.nodes[picture.run->graph.chips[c]];
    if (!drawn(r)) continue;
    ImGui::SetCursorScreenPos(r.min);
    ImGui::PushID(static_cast<int>(c));
    const bool pressed = widgets::press_area("chip", {r.width(), r.height()});
    const bool held = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
    ImGui::PopID();
    if (pressed && picture.chips[c].group >= 0) view.group = picture.chips[c].group;
    if (held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, widgets::theme().px(6)))
      view.dragged_chip = static_cast<std::int32_t>(c);
    if (hovered && !held) {
      widgets::Line value;
      if (picture.chips[c].group >= 0)
        value.add("rank ").add_integer(picture.chips[c].position).add(", ").add(picture.chips[c].rank);
      else
        value.add("no rank");
      widgets::tip(picture.run->graph.nodes[picture.run->graph.chips[c]].name, value.view(),
                   "drag it onto another to exchange ranks");
    }
  }
  if (view.dragged_chip < 0 || ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  const auto from = static_cast<std::size_t>(view.dragged_chip);
  view.dragged_chip = -1;
  if (from >= picture.chips.size()) return;
  for (std::size_t c = 0; c < picture.chips.size(); ++c) {
    if (c == from || !l.nodes[picture.run->graph.chips[c]].contains(ImGui::GetMousePos())) continue;
    std::vector<std::size_t> order(picture.chips.size());
    for (std::size_t i = 0; i < picture.chips.size(); ++i)
      order[picture.chips[i].position] = i == c ? from : i == from ? c : i;
    in.chip_order.clear();
    for (const std::size_t chip : order) in.chip_order += (in.chip_order.empty() ? "" : ",") + std::to_string(chip);
    return;
  }
}

}  // namespace

void layout_box(const Picture& picture, const parallel::Topology& graph, Rect area, BoxLayout& out) {
  const auto& t = widgets::theme();
  const bool same = out.version == picture.version && out.scale == t.scale && out.area.min.x == area.min.x &&
                    out.area.min.y == area.min.y && out.area.max.x == area.max.x && out.area.max.y == area.max.y;
  if (same && out.nodes.size() == graph.nodes.size()) return;
  out.version = picture.version;
  out.area = area;
  out.scale = t.scale;
  const float small = t.type(Type::small), strip = small + t.px(14);
  const bool order = area.height() > t.px(190);
  out.order = {area.min, {area.max.x, area.min.y + (order ? strip : 0)}};
  out.axes.clear();
  if (order) {
    float x = out.order.min.x + widgets::text_size("inner", Type::small).x + t.px(8);
    for (std::size_t i = 0; i < picture.axis_names.size(); ++i) {
      const float w = widgets::text_size(picture.axis_names[i], Type::small, Font::bold).x + t.px(18);
      if (x + w > out.order.max.x) break;
      out.axes.push_back({{x, out.order.min.y + t.px(2)}, {x + w, out.order.max.y - t.px(4)}});
      x += w + t.px(6);
    }
  }
  const float rows = static_cast<float>(std::max<std::size_t>(picture.bars.size(), 1));
  float bars = area.height() > t.px(260) ? small + t.px(8) + rows * t.px(22) : 0;
  float caption = area.height() > t.px(120) ? small + t.px(8) : 0;
  // Before the machines lose their links the caption goes, then the bars of other placements.
  const bool pipes = graph.boxes > 1 && graph.chips_a_box <= 16 && graph.shape != parallel::TopologyShape::torus;
  const float links = pipes ? least_folded_height(graph) + t.px(10) : 0;
  const auto room = [&] { return area.height() - (order ? strip : 0) - bars - caption; };
  if (room() < links) caption = 0;
  if (room() < links) bars = 0;
  out.bars = {{area.min.x, area.max.y - bars}, bars > 0 ? area.max : ImVec2{area.min.x, area.max.y}};
  out.caption_y = caption > 0 ? area.max.y - bars - caption - (bars > 0 ? t.px(6) : 0) : 0;
  out.graph = {{area.min.x, out.order.max.y}, {area.max.x, caption > 0 ? out.caption_y - t.px(6) : area.max.y - bars}};
  out.px_per_bytes_per_s = t.px(1) / 25e9f;
  layout_graph(graph, out.graph, out);
}

void draw_box(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (in.machine == pasted && widgets::button("Paste a table")) {
    if (const char* text = ImGui::GetClipboardText()) {
      in.table = std::string(text).substr(0, 60'000);
      in.file = {};
      in.chip_order.clear();
    }
  }
  const float above = in.machine == pasted ? widgets::button_size("Paste a table").y + t.px(6) : 0;
  const Rect area{{at.x, at.y + std::min(above, size.y / 2)}, {at.x + size.x, at.y + size.y}};
  if (picture.chips.empty()) {
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(size);
    return;
  }
  layout_box(picture, picture.run->graph, area, view.layout);
  const BoxLayout& l = view.layout;
  const Painter p = Painter::window();
  std::int32_t groups = 0;
  for (const ChipMark& c : picture.chips) groups = std::max(groups, c.group + 1);
  const std::int32_t lit = view.group < groups ? view.group : 0;
  paint_machines(p, picture, l, lit);
  paint_order(p, in, out, picture, view);
  const std::string_view caption = picture.caption;
  if (l.caption_y > 0)
    p.text({area.min.x, l.caption_y},
           first_that_fits({picture.caption, caption.substr(0, caption.rfind(';'))}, area.width(), Type::small), t.text,
           Type::small);
  paint_bars(p, in, out, picture, l);
  const bool bars = drawn(l.bars) && !picture.bars.empty();
  const auto* guess = bars ? guess_about({"bound_bytes_per_s", "bus_bytes_per_s"})
                           : guess_about({"bound_bytes_per_s", "bus_bytes_per_s", "over_best"});
  if (guess) say_guess(*guess, {area.max.x, l.caption_y > 0 ? l.caption_y : area.max.y - 2 * t.type(Type::small)});
  take_chips(in, picture, view);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace chapters::distributed::topology
