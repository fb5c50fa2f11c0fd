#include "chapters/roofline/hierarchy/draw_ladder.h"

#include <algorithm>
#include <array>

#include "widgets/base/parts.h"
#include "widgets/plot/axis.h"

namespace chapters::roofline::hierarchy {
namespace {

using models::Basis;
using widgets::Align;
using widgets::Font;
using widgets::Line;
using widgets::Painter;
using widgets::theme;
using widgets::Type;

/// One figure of a level as a bar on a log axis. Fixed ranges, so that chips can be compared by eye.
struct BarColumn {
  std::string_view title, unit;
  double lo, hi;
  std::array<double, 3> marks;  ///< named on the axis; 0: none
  const models::Sourced models::Level::*figure;
};
constexpr std::array<BarColumn, 3> bar_columns{
    {{"Capacity", "B", 1e6, 3e13, {1e6, 1e9, 1e12}, &models::Level::capacity_bytes},
     {"Bandwidth", "B/s", 1e9, 2e15, {1e9, 1e12, 1e15}, &models::Level::bandwidth_bytes_per_s},
     {"Latency", "s", 1e-10, 2e-4, {1e-9, 1e-6, 0}, &models::Level::latency_s}}};

/// Left edges of the columns: name, three bars, time, energy, human scale, and the right end.
struct Columns {
  float name = 0, bar[3]{}, bar_width = 0, time = 0, energy = 0, human = 0, right = 0;
};

Columns columns_in(float left, float width) {
  const auto& t = theme();
  const float name = t.px(122), time = t.px(72), energy = t.px(68), human = t.px(92), gap = t.px(14);
  Columns c;
  c.name = left;
  c.right = left + width;
  c.human = c.right - human;
  c.energy = c.human - energy;
  c.time = c.energy - time;
  c.bar_width = std::max(t.px(40), (c.time - left - name) / 3 - gap);
  for (int i = 0; i < 3; ++i) c.bar[i] = left + name + static_cast<float>(i) * (c.bar_width + gap);
  return c;
}

widgets::AxisMap map_of(const BarColumn& column, float left, float width) {
  return {
      widgets::AxisKind::log10, {column.lo, column.hi}, static_cast<double>(left), static_cast<double>(left + width)};
}

void draw_header(const Columns& c, const Inputs& in, ImVec2 at, float rows_bottom) {
  const auto& t = theme();
  const Painter p = Painter::window();
  for (std::size_t i = 0; i < bar_columns.size(); ++i) {
    const BarColumn& column = bar_columns[i];
    p.text({c.bar[i], at.y}, column.title, t.text, Type::small, Font::bold);
    const auto map = map_of(column, c.bar[i], c.bar_width);
    float free_from = c.bar[i] - t.px(6);
    for (const double mark : column.marks) {
      if (!(mark > 0)) continue;
      const auto x = static_cast<float>(map.pixel(mark));
      const auto label = widgets::format(mark, column.unit);
      const float half = widgets::text_size(label, Type::small).x / 2;
      p.line({x, at.y + t.px(34)}, {x, rows_bottom}, t.grid);
      const float centre = std::max(x, c.bar[i] + half);
      if (centre - half < free_from || centre + half > c.bar[i] + c.bar_width + t.px(8)) continue;
      p.text({centre, at.y + t.px(16)}, label, t.muted, Type::small, Font::sans, Align::center);
      free_from = centre + half + t.px(6);
    }
  }
  const auto right = [&](float x, std::string_view first, std::string_view second) {
    p.text({x, at.y}, first, t.text, Type::small, Font::bold, Align::right);
    p.text({x, at.y + t.px(16)}, second, t.muted, Type::small, Font::sans, Align::right);
  };
  const auto bytes = widgets::format(in.bytes, "B");
  right(c.energy - t.px(4), "Time", bytes);
  right(c.human - t.px(4), "Energy", bytes);
  right(c.right - t.px(6), "Latency", "if 1 clock = 1 s");
}

void draw_bar(const BarColumn& column, const LevelRow& row, float left, float width, float top, float height) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const models::Sourced& figure = row.facts.*column.figure;
  const float text_y = top + (height - t.type(Type::small) - t.px(8)) * 0.5f - t.px(1);
  if (!figure.value) {
    p.text({left, text_y}, "not stated", t.muted, Type::small);
    return;
  }
  const auto map = map_of(column, left, width);
  const float bar_top = text_y + t.type(Type::small) + t.px(3);
  const auto end = std::clamp(static_cast<float>(map.pixel(*figure.value)), left + t.px(2), left + width);
  p.text({left, text_y}, widgets::format(*figure.value, column.unit), t.text, Type::small, Font::mono);
  basis_bar({left, bar_top}, {end, bar_top + t.px(6)}, level_colour(row), figure.basis);
}

/// What is under the pointer in a row: the figure, how it is known, and its source.
void row_tip(const Columns& c, const LevelRow& row, float x) {
  Line name, value;
  name.add(row.facts.label);
  for (std::size_t i = 0; i < bar_columns.size(); ++i) {
    if (!(x >= c.bar[i] && x < c.bar[i] + c.bar_width)) continue;
    const models::Sourced& figure = row.facts.*bar_columns[i].figure;
    name.add(": ").add(bar_columns[i].title);
    if (!figure.value) return widgets::tip(name.view(), "not stated by anyone we know of");
    value.add(widgets::format(*figure.value, bar_columns[i].unit, 4)).add(", ").add(models::basis_id(figure.basis));
    const bool measured = i == 1 && row.measured_bandwidth_bytes_per_s > 0 && figure.basis != Basis::measured;
    if (measured) value.add("; measured ").add(widgets::format(row.measured_bandwidth_bytes_per_s, "B/s", 3));
    return widgets::tip(name.view(), value.view(), figure.source);
  }
  if (x >= c.human)
    return widgets::tip(name.view(), row.human_latency,
                        "Latency times the boost clock: a register access, one clock, takes one second.");
  if (x >= c.energy)
    return widgets::tip(name.view(), widgets::format(row.energy_j, "J", 4), row.facts.energy_j_per_byte.source);
  if (x >= c.time)
    return widgets::tip(name.view(), widgets::format(row.time_s, "s", 4),
                        row.move.fits ? "Latency and transfer, by the access pattern."
                                      : "The bytes exceed this level: they pass through it in pieces.");
}

void draw_row(const Columns& c, const Outputs& out, const Picture& pic, std::size_t index, Inputs& in, float top,
              float height) {
  const auto& t = theme();
  const LevelRow& row = out.levels[index];
  const Painter p = Painter::window();
  ImGui::SetCursorScreenPos({c.name, top});
  ImGui::PushID(static_cast<int>(index));
  if (ImGui::InvisibleButton(row.facts.label.c_str(), {c.right - c.name, height}, ImGuiButtonFlags_EnableNav))
    in.level = row.facts.kind;
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered(), selected = index == pic.selected,
             focused = ImGui::IsItemFocused() && ImGui::GetIO().NavVisible;
  if (selected || hovered)
    p.rect({c.name, top}, {c.right, top + height}, widgets::with_alpha(t.accent, selected ? 0.13f : 0.06f), t.px(4));
  if (selected) p.rect({c.name, top}, {c.name + t.px(3), top + height}, t.accent, t.px(1));
  if (focused) p.frame({c.name, top}, {c.right, top + height}, t.accent, t.px(1.5f), t.px(4));
  if (hovered && ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort)) row_tip(c, row, ImGui::GetIO().MousePos.x);
  const float middle = top + (height - t.type(Type::small)) * 0.5f - t.px(1);
  const float side = t.px(10);
  p.rect({c.name + t.px(9), middle + t.px(2)}, {c.name + t.px(9) + side, middle + t.px(2) + side}, level_colour(row),
         t.px(2));
  p.text_fit({c.name + t.px(26), middle}, row.facts.label, c.bar[0] - c.name - t.px(32), t.text, Type::small,
             selected ? Font::bold : Font::sans);
  for (std::size_t i = 0; i < bar_columns.size(); ++i)
    draw_bar(bar_columns[i], row, c.bar[i], c.bar_width, top, height);
  if (row.measured_bandwidth_bytes_per_s > 0 &&
      row.facts.bandwidth_bytes_per_s.basis != Basis::measured) {  // what was measured beside what is stated
    const auto x =
        static_cast<float>(map_of(bar_columns[1], c.bar[1], c.bar_width).pixel(row.measured_bandwidth_bytes_per_s));
    const float y = top + (height + t.type(Type::small) - t.px(8)) * 0.5f + t.px(5);
    p.ring({x, y}, t.px(4), t.text, t.px(1.5f));
  }
  const auto number = [&](float x, double value, std::string_view unit, bool dim) {
    if (value > 0)
      p.text({x, middle}, widgets::format(value, unit), dim ? t.muted : t.text, Type::small, Font::mono, Align::right);
    else
      p.text({x, middle}, "—", t.muted, Type::small, Font::mono, Align::right);
  };
  number(c.energy - t.px(4), row.time_s, "s", !row.move.fits);
  number(c.human - t.px(4), row.energy_j, "J", !row.move.fits);
  p.text({c.right - t.px(6), middle}, row.human_latency, t.accent, Type::small, Font::mono, Align::right);
}

void record_table(const Outputs& out) {
  widgets::Record* record = Painter::window().record();
  if (!record) return;
  widgets::DataTable table{
      "levels",
      {"level", "capacity (B)", "bandwidth (B/s)", "measured bandwidth (B/s)", "latency (s)", "energy (J/B)",
       "time (s)", "energy (J)", "latency if one clock is 1 s", "bandwidth source", "latency source"},
      {}};
  const auto cell = [](double v) { return v > 0 ? widgets::exact(v) : std::string(); };
  for (const LevelRow& r : out.levels)
    table.rows.push_back({r.facts.label, cell(r.capacity_bytes), cell(r.bandwidth_bytes_per_s),
                          cell(r.measured_bandwidth_bytes_per_s), cell(r.latency_s), cell(r.energy_j_per_byte),
                          cell(r.time_s), cell(r.energy_j), r.human_latency, r.facts.bandwidth_bytes_per_s.source,
                          r.facts.latency_s.source});
  record->tables.push_back(std::move(table));
}

}  // namespace

ImU32 level_colour(const LevelRow& row) { return theme().series_at(static_cast<std::size_t>(row.facts.kind)); }

void basis_bar(ImVec2 min, ImVec2 max, ImU32 colour, Basis basis) {
  const auto& t = theme();
  const Painter p = Painter::window();
  if (basis == Basis::assumed) {
    p.rect(min, max, widgets::with_alpha(colour, 0.15f), t.px(1));
    p.frame(min, max, colour, t.px(1), t.px(1));
  } else if (basis == Basis::computed) {
    p.rect(min, max, widgets::with_alpha(colour, 0.35f), t.px(1));
    widgets::hatch(p, {min, max}, colour, t.px(5));
  } else {
    p.rect(min, max, colour, t.px(1));
    if (basis == Basis::specified) p.rect({max.x - t.px(2), min.y - t.px(2)}, {max.x, max.y + t.px(2)}, t.text);
  }
}

constexpr std::array<Basis, 4> legend_order{Basis::assumed, Basis::computed, Basis::measured,
                                            Basis::specified};  // from the right

float basis_legend_width() {
  float width = 0;
  for (const Basis basis : legend_order)
    width += widgets::text_size(models::basis_id(basis), Type::small).x + theme().px(38);
  return width;
}

void basis_legend(float right, float y) {
  const auto& t = theme();
  const Painter p = Painter::window();
  float x = right;
  for (const Basis basis : legend_order) {
    const std::string_view name = models::basis_id(basis);
    x -= widgets::text_size(name, Type::small).x;
    p.text({x, y}, name, t.muted, Type::small);
    x -= t.px(24);
    basis_bar({x, y + t.px(5)}, {x + t.px(18), y + t.px(11)}, t.accent, basis);
    x -= t.px(14);
  }
}

void draw_ladder(Inputs& in, const Outputs& out, const Picture& pic, ImVec2 at, ImVec2 size) {
  const auto& t = theme();
  const Columns c = columns_in(at.x, size.x);
  const float header = t.px(36), row = (size.y - header) / static_cast<float>(out.levels.size());
  draw_header(c, in, at, at.y + size.y);
  for (std::size_t i = 0; i < out.levels.size(); ++i)
    draw_row(c, out, pic, i, in, at.y + header + static_cast<float>(i) * row, row);
  record_table(out);
}

}  // namespace chapters::roofline::hierarchy
