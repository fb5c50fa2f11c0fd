#include "chapters/roofline/hierarchy/draw_facts.h"

#include <algorithm>

#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"

namespace chapters::roofline::hierarchy {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

/// One figure of the chosen level: what, how much, how it is known, and under it where it comes from. Returns its
/// height.
float fact_line(ImVec2 at, float width, std::string_view what, const models::Sourced& figure, std::string_view from,
                std::string_view unit) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const float line = t.type(Type::small), value_x = at.x + t.px(160);
  p.text(at, what, t.muted, Type::small);
  if (!figure.value) {
    p.text({value_x, at.y}, "not stated", t.muted, Type::small, Font::sans, Align::right);
    return line + t.px(8);
  }
  p.text({value_x, at.y}, widgets::format(*figure.value, unit), t.text, Type::small, Font::mono, Align::right);
  p.text({value_x + t.px(12), at.y}, models::basis_id(figure.basis), t.accent, Type::small);
  const float source = widgets::wrapped_text(p, {at.x, at.y + line + t.px(3)}, from, width - t.px(14), t.muted);
  return line + source + t.px(11);
}

}  // namespace

void draw_facts(const Outputs& out, const Picture& pic, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  if (pic.selected >= out.levels.size() || pic.selected >= pic.sources.size()) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const models::Level& level = out.levels[pic.selected].facts;
  const LevelSources& sources = pic.sources[pic.selected];
  const ImVec2 corner{ImGui::GetWindowPos()};
  p.clip(corner, {corner.x + size.x, corner.y + size.y});
  float y = at.y;
  const float title = p.text({at.x, y}, level.label, t.text, Type::body, Font::bold);
  p.text_fit({at.x + title + t.px(8), y + t.px(2)}, pic.chip_name, size.x - title - t.px(22), t.muted, Type::small);
  y += t.px(26);
  std::string_view said;  // a source that several figures share is cited once
  const auto add = [&](std::string_view what, const models::Sourced& figure, std::string_view from,
                       std::string_view unit) {
    y += fact_line({at.x, y}, size.x, what, figure, from == said ? std::string_view("the same source") : from, unit);
    if (figure.value) said = from;
  };
  add("capacity", level.capacity_bytes, sources.capacity, "B");
  add("bandwidth", level.bandwidth_bytes_per_s, sources.bandwidth, "B/s");
  if (level.measured_bandwidth_bytes_per_s.value && level.bandwidth_bytes_per_s.basis != models::Basis::measured)
    add("measured", level.measured_bandwidth_bytes_per_s, sources.measured, "B/s");
  add("latency", level.latency_s, sources.latency, "s");
  add("energy", level.energy_j_per_byte, sources.energy, "J/B");
  for (const std::string_view words : {std::string_view(pic.comparison), std::string_view(pic.filling)})
    if (!words.empty()) y += widgets::wrapped_text(p, {at.x, y}, words, size.x - t.px(14), t.text) + t.px(4);
  p.unclip();
  ImGui::Dummy({size.x - t.px(14), y - at.y});
}

void draw_power(const Outputs& out, const Picture& pic, ImVec2 size) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = size.x;
  ImGui::Dummy(size);
  const Painter p = Painter::window();
  p.text_fit(at, pic.power_title, width, t.muted, Type::small);
  const double full_w = pic.cluster_tdp_w > 0 ? std::max(pic.cluster_tdp_w, out.power.cluster_w)
                                              : out.power.cluster_w * 1.5;  // room for the figures
  const float name = t.px(76);
  const auto x_of = [&](double w) {
    return at.x + name + (width - name) * static_cast<float>(full_w > 0 ? w / full_w : 0);
  };
  const auto bar = [&](float y, double from, double to, ImU32 colour, bool hatched) {
    const ImVec2 a{x_of(from), y}, b{x_of(to), y + t.px(14)};
    if (!(b.x > a.x)) return;
    if (hatched) {
      p.frame(a, b, colour, t.px(1));
      widgets::hatch(p, {a, b}, colour, t.px(6));
    } else {
      p.rect(a, b, colour);
    }
  };
  const auto row = [&](float y, std::string_view label) {
    p.text({at.x, y - t.px(1)}, label, t.muted, Type::small);
    p.rect({at.x + name, y}, {at.x + width, y + t.px(14)}, t.card);
    p.frame({at.x + name, y}, {at.x + width, y + t.px(14)}, t.line);
  };
  const ImU32 memory = t.of(widgets::Meaning::memory_bound), on_chip = t.accent;
  const float first = at.y + t.px(26), second = first + t.px(22);
  row(first, "as it is");
  bar(first, 0, out.power.cluster_w, memory, false);
  row(second, "fused");
  bar(second, 0, out.power.still_memory_w, memory, false);
  bar(second, out.power.still_memory_w, out.power.still_memory_w + out.power.moved_on_chip_w, on_chip, false);
  bar(second, out.power.still_memory_w + out.power.moved_on_chip_w, out.power.cluster_w, t.good, true);
  const auto value = [&](float y, double w) {
    const auto s = widgets::format(w, "W");
    const float text = widgets::text_size(s, Type::small, Font::mono).x, after = x_of(out.power.cluster_w) + t.px(6);
    if (after + text <= at.x + width) p.text({after, y - t.px(1)}, s, t.text, Type::small, Font::mono);
  };
  value(first, out.power.cluster_w);
  value(second, out.power.still_memory_w + out.power.moved_on_chip_w);
  float note = second + t.px(24);
  note += widgets::wrapped_text(p, {at.x, note}, pic.power_note, width, t.good);
  if (!pic.power_scale.empty()) widgets::wrapped_text(p, {at.x, note}, pic.power_scale, width, t.muted);
}

}  // namespace chapters::roofline::hierarchy
