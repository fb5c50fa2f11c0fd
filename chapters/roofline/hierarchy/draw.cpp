#include <algorithm>
#include <array>

#include "chapters/roofline/hierarchy/draw_ladder.h"
#include "widgets/base/parts.h"
#include "widgets/plot/plot.h"

namespace chapters::roofline::hierarchy {
namespace {

using widgets::Align;
using widgets::Font;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

void draw_plot(Inputs& in, const Outputs& out, View& view, ImVec2 at, ImVec2 size) {
  const auto& t = theme();
  ImGui::SetCursorScreenPos(at);
  widgets::Plot plot("time against bytes", view.plot,
                     {
                         .x =
                             {
                                 .kind = widgets::AxisKind::log10,
                                 .lo = 1,
                                 .hi = 1e12,
                                 .label = "bytes moved",
                                 .unit = "B",
                             },
                         .y = {.kind = widgets::AxisKind::log10, .label = "time", .unit = "s"},
                         .size = size,
                         .legend = false,
                     });
  const auto curve = [&](const LevelRow& row, bool selected) {
    if (row.curve_s.empty()) return;
    const std::span<const double> xs(out.curve_bytes), ys(row.curve_s);
    const std::size_t n = row.curve_within;
    const widgets::LineOptions solid{
        .colour = level_colour(row),
        .width = selected ? 3.5f : 1.8f,
        .legend = false,
        .info = "latency + bytes / bandwidth",
    };
    plot.line(row.name, xs.first(n), ys.first(n), solid);
    const std::size_t from = n > 0 ? n - 1 : 0;
    if (n < ys.size())
      plot.line(row.name, xs.subspan(from), ys.subspan(from),
                {
                    .colour = level_colour(row),
                    .width = selected ? 2.5f : 1.2f,
                    .dashed = true,
                    .label = false,
                    .legend = false,
                    .info = "more bytes than the level holds: they pass through in pieces",
                });
    const std::array<double, 1> x{in.bytes}, y{row.time_s};
    plot.scatter(row.name, x, y,
                 {
                     .colour = level_colour(row),
                     .radius = selected ? 5.5f : 3.5f,
                     .legend = false,
                     .info = row.human_time,
                 });
  };
  if (out.selected < out.levels.size())
    curve(out.levels[out.selected], true);  // first: its name finds room before the others'
  for (std::size_t i = 0; i < out.levels.size(); ++i)
    if (i != out.selected) curve(out.levels[i], false);
  if (out.reason.empty() && in.pattern == models::AccessPattern::stream)
    plot.vertical_mark(out.needed_in_flight_bytes, "latency x bandwidth",
                       {.colour = level_colour(out.levels[out.selected])});
  const auto label = widgets::format(in.bytes, "B");
  plot.drag_x("bytes moved", in.bytes,
              {
                  .colour = t.accent,
                  .label = label,
                  .lo = 1,
                  .hi = 1e12,
              });
}

/// One figure of the chosen level: what, how much, how it is known, and under it the source where there is room.
float fact_line(ImVec2 at, float width, std::string_view what, const models::Sourced& figure, std::string_view unit,
                bool sources) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const float value_x = at.x + t.px(150), basis_x = at.x + t.px(160);
  p.text(at, what, t.muted, Type::small);
  if (!figure.value) {
    p.text({value_x, at.y}, "not stated", t.muted, Type::small, Font::sans, Align::right);
    return t.px(16);
  }
  p.text({value_x, at.y}, widgets::format(*figure.value, unit), t.text, Type::small, Font::mono, Align::right);
  p.text_fit({basis_x, at.y}, models::basis_id(figure.basis), width - (basis_x - at.x), t.accent, Type::small);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, t.px(16)});
  if (ImGui::IsItemHovered()) widgets::tip(what, models::basis_id(figure.basis), figure.source);
  if (!sources) return t.px(16);
  p.text_fit({at.x + t.px(10), at.y + t.px(15)}, figure.source, width - t.px(10), t.muted, Type::small);
  return t.px(31);
}

void draw_facts(const Outputs& out, ImVec2 at, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  if (out.selected >= out.levels.size()) return;
  const LevelRow& row = out.levels[out.selected];
  const float title = p.text_fit(at, row.name, size.x * 0.6f, t.text, Type::body, Font::bold);
  p.text_fit({at.x + title + t.px(8), at.y + t.px(2)}, out.chip_name, size.x - title - t.px(8), t.muted, Type::small);
  const models::Level& level = row.facts;
  const bool twice =
      level.measured_bandwidth_bytes_per_s.value && level.bandwidth_bytes_per_s.basis != models::Basis::measured;
  const bool sources = size.y >= t.px(22 + (twice ? 5 : 4) * 31 + 36);
  float y = at.y + t.px(22);
  const auto add = [&](std::string_view what, const models::Sourced& figure, std::string_view unit) {
    y += fact_line({at.x, y}, size.x, what, figure, unit, sources);
  };
  add("capacity", level.capacity_bytes, "B");
  add("bandwidth", level.bandwidth_bytes_per_s, "B/s");
  if (twice && (sources || size.y >= t.px(22 + 5 * 16))) add("", level.measured_bandwidth_bytes_per_s, "B/s");
  add("latency", level.latency_s, "s");
  add("energy", level.energy_j_per_byte, "J/B");
  for (const std::string_view line : {std::string_view(out.comparison), std::string_view(out.filling)}) {
    if (line.empty() || y + t.px(18) > at.y + size.y) continue;
    p.text_fit({at.x, y + t.px(3)}, line, size.x, t.text, Type::small);
    y += t.px(17);
  }
}

/// Watts of memory traffic before and after fusion, on an axis that ends at the TDP of all chips.
void draw_power(const Outputs& out, ImVec2 at, float width, bool scale) {
  const auto& t = theme();
  const Painter p = Painter::window();
  p.text_fit(at, out.power_title, width, t.text, Type::body, Font::bold);
  const double full_w =
      out.cluster_tdp_w > 0 ? std::max(out.cluster_tdp_w, out.cluster_w) : out.cluster_w * 1.5;  // room for the figures
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
  const ImU32 memory = t.of(widgets::Meaning::memory_bound),
              on_chip = t.series_at(static_cast<std::size_t>(models::LevelKind::shared));
  const float first = at.y + t.px(26), second = first + t.px(22);
  row(first, "as it is");
  bar(first, 0, out.cluster_w, memory, false);
  row(second, "fused");
  bar(second, 0, out.still_memory_w, memory, false);
  bar(second, out.still_memory_w, out.still_memory_w + out.moved_on_chip_w, on_chip, false);
  bar(second, out.still_memory_w + out.moved_on_chip_w, out.cluster_w, t.good, true);
  const auto value = [&](float y, double w) {
    const auto s = widgets::format(w, "W");
    const float text = widgets::text_size(s, Type::small, Font::mono).x, after = x_of(out.cluster_w) + t.px(6);
    if (after + text <= at.x + width) p.text({after, y - t.px(1)}, s, t.text, Type::small, Font::mono);
  };
  value(first, out.cluster_w);
  value(second, out.still_memory_w + out.moved_on_chip_w);
  p.text_fit({at.x, second + t.px(20)}, out.power_note, width, t.good, Type::small);
  if (scale && out.cluster_tdp_w > 0)
    p.text_fit({at.x, second + t.px(36)}, out.power_scale, width, t.muted, Type::small);
}

}  // namespace

void draw(Inputs& in, const Outputs& out, View& view) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (out.levels.empty()) return;
  const float width = std::max(room.x, t.px(620)), height = std::max(room.y, t.px(396));
  const auto rows = static_cast<float>(out.levels.size());
  const float ladder = t.px(36) + rows * std::clamp((height * 0.54f - t.px(36)) / rows, t.px(22), t.px(38));
  // Beside the question where there is room, else beside the title above it.
  const bool beside = widgets::text_size(question).x + basis_legend_width() + t.px(24) <= width;
  basis_legend(at.x + width, at.y - t.px(beside ? 24 : 48));
  draw_ladder(in, out, at, {width, ladder});
  const float top = at.y + ladder + t.px(12), below = height - ladder - t.px(12);
  const float side = std::clamp(width * 0.36f, t.px(250), t.px(400)), plot = width - side - t.px(20);
  const bool roomy = below >= t.px(210);
  const float power = t.px(roomy ? 100 : 82);
  const ImVec2 facts{at.x + plot + t.px(20), top};
  draw_facts(out, facts, {side, below - power - t.px(4)});
  draw_power(out, {facts.x, at.y + height - power}, side, roomy);
  draw_plot(in, out, view, {at.x, top}, {plot, below});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({width, height});
}

}  // namespace chapters::roofline::hierarchy
