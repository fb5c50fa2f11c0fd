#include "chapters/roofline/hierarchy/draw_ladder.h"

#include <algorithm>
#include <array>

#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/plot/axis.h"

namespace chapters::roofline::hierarchy {
namespace {

using models::Basis, widgets::Align, widgets::Font, widgets::Line, widgets::Painter, widgets::theme, widgets::Type;

/// One figure of a level as a dot on a log axis. Fixed ranges, so that chips can be compared by eye.
struct DotColumn {
  std::string_view title, unit;
  double lo, hi;
  std::array<double, 3> marks;  ///< named on the axis; 0: none
  float width;                  ///< share of the room
  const models::Sourced models::Level::*figure;
  const std::string LevelSources::*source;
};
constexpr std::array<DotColumn, 3> dot_columns{
    {{"Capacity", "B", 1e6, 1e13, {1e6, 1e9, 1e12}, 0.9f, &models::Level::capacity_bytes, &LevelSources::capacity},
     {"Bandwidth",
      "B/s",
      1e9,
      2e15,
      {1e9, 1e12, 1e15},
      0.9f,
      &models::Level::bandwidth_bytes_per_s,
      &LevelSources::bandwidth},
     {"Latency", "s", 3e-10, 2e-4, {1e-9, 1e-6, 0}, 1.2f, &models::Level::latency_s, &LevelSources::latency}}};

/// Left edges and widths of the columns: name, dots, time, energy, human scale, and the right end. A column without
/// room has no width.
struct Columns {
  float name = 0, dots[3]{}, dots_width[3]{}, time = 0, energy = 0, human = 0, right = 0;
  bool has_time = true, has_energy = true;
};

/// Width in which a dot and its figure fit, design pixels.
constexpr float least_dots = 96;

Columns columns_in(float left, float width) {
  const auto& t = theme();
  const float gap = t.px(16), human = t.px(92), time = t.px(76), energy = t.px(70);
  Columns c;
  c.name = left;
  c.right = left + width;
  bool capacity = true;
  const auto room = [&] {
    return width - t.px(126) - human - (c.has_time ? time : 0) - (c.has_energy ? energy : 0) -
           gap * (capacity ? 3.0f : 2.0f);
  };
  const auto least = [&] { return t.px(least_dots) * (capacity ? 3.0f : 2.1f); };
  if (room() < least()) c.has_energy = false;
  if (room() < least()) c.has_time = false;
  if (room() < least()) capacity = false;
  c.human = c.right - human;
  c.energy = c.human - (c.has_energy ? energy : 0);
  c.time = c.energy - (c.has_time ? time : 0);
  float shares = 0, x = left + t.px(126);
  for (std::size_t i = 0; i < 3; ++i) shares += i == 0 && !capacity ? 0 : dot_columns[i].width;
  for (std::size_t i = 0; i < 3; ++i) {
    const bool shown = i > 0 || capacity;
    c.dots[i] = x;
    c.dots_width[i] = shown ? room() * dot_columns[i].width / shares : 0;
    x += shown ? c.dots_width[i] + gap : 0;
  }
  return c;
}

widgets::AxisMap map_of(const DotColumn& column, float left, float width) {
  const double inset = static_cast<double>(theme().px(7));
  return {widgets::AxisKind::log10,
          {column.lo, column.hi},
          static_cast<double>(left) + inset,
          static_cast<double>(left + width) - inset};
}

void draw_header(const Columns& c, const Inputs& in, ImVec2 at, float rows_bottom) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), second = at.y + small + t.px(3);
  for (std::size_t i = 0; i < dot_columns.size(); ++i) {
    const DotColumn& column = dot_columns[i];
    if (!(c.dots_width[i] > 0)) continue;
    p.text({c.dots[i], at.y}, column.title, t.text, Type::small, Font::bold);
    const auto map = map_of(column, c.dots[i], c.dots_width[i]);
    float free_from = c.dots[i] - t.px(6);
    for (const double mark : column.marks) {
      if (!(mark > 0)) continue;
      const float x = std::floor(static_cast<float>(map.pixel(mark))) + 0.5f;
      const auto label = widgets::format(mark, column.unit);
      const float half = widgets::text_size(label, Type::small).x / 2;
      p.line({x, second + small + t.px(3)}, {x, rows_bottom}, t.grid);
      const float centre = std::max(x, c.dots[i] + half);
      if (centre - half < free_from || centre + half > c.dots[i] + c.dots_width[i] + t.px(4)) continue;
      p.text({centre, second}, label, t.muted, Type::small, Font::sans, Align::center);
      free_from = centre + half + t.px(6);
    }
  }
  const auto right = [&](float x, std::string_view first, std::string_view under) {
    p.text({x, at.y}, first, t.text, Type::small, Font::bold, Align::right);
    p.text({x, second}, under, t.muted, Type::small, Font::sans, Align::right);
  };
  const auto bytes = widgets::format(in.bytes, "B");
  if (c.has_time) right(c.energy - t.px(4), "Time", bytes);
  if (c.has_energy) right(c.human - t.px(4), "Energy", bytes);
  right(c.right - t.px(6), "Latency", "if a clock is 1 s");
}

void draw_dot(const DotColumn& column, const LevelRow& row, float left, float width, float middle, ImU32 colour) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const models::Sourced& figure = row.facts.*column.figure;
  const float text_y = middle - t.type(Type::small) / 2;
  p.line({left, middle}, {left + width, middle}, t.grid);
  if (!figure.value) {
    p.text({left + t.px(4), text_y}, "not stated", t.muted, Type::small);
    return;
  }
  const auto map = map_of(column, left, width);
  const auto text = widgets::format(*figure.value, column.unit);
  const float size = widgets::text_size(text, Type::small, Font::mono).x, side = t.px(10);
  const float x = std::clamp(static_cast<float>(map.pixel(*figure.value)), left + t.px(6), left + width - t.px(6));
  // Where neither side has room the name leaves its column on the side where it leaves it less.
  const float after_over = x + side + size - (left + width), before_over = left - (x - side - size);
  const bool after = after_over <= 0 || after_over < before_over;
  const ImVec2 at{after ? x + side : x - side - size, text_y};
  p.rect({at.x - t.px(3), text_y}, {at.x + size + t.px(3), text_y + t.type(Type::small)}, t.background, t.px(2));
  p.text(at, text, t.text, Type::small, Font::mono);
  basis_dot(p, {x, middle}, colour, figure.basis);
}

/// What is under the pointer in a row: the figure, how it is known, and its source.
void row_tip(const Columns& c, const LevelRow& row, const LevelSources& from, float x) {
  Line name, value;
  name.add(row.facts.label);
  for (std::size_t i = 0; i < dot_columns.size(); ++i) {
    if (!(x >= c.dots[i] && x < c.dots[i] + c.dots_width[i])) continue;
    const models::Sourced& figure = row.facts.*dot_columns[i].figure;
    name.add(": ").add(dot_columns[i].title);
    if (!figure.value) return widgets::tip(name.view(), "not stated by anyone we know of");
    value.add(widgets::format(*figure.value, dot_columns[i].unit, 4)).add(", ").add(models::basis_id(figure.basis));
    const bool measured = i == 1 && row.measured_bandwidth_bytes_per_s > 0 && figure.basis != Basis::measured;
    if (measured) value.add("; measured ").add(widgets::format(row.measured_bandwidth_bytes_per_s, "B/s", 3));
    return widgets::tip(name.view(), value.view(), from.*dot_columns[i].source);
  }
  if (x >= c.human)
    return widgets::tip(name.view(), row.human_latency,
                        "Latency times the boost clock: a register access, one clock, takes one second.");
  if (x >= c.energy) return widgets::tip(name.view(), widgets::format(row.energy_j, "J", 4), from.energy);
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
  Line item;
  item.add(row.facts.label).add("##row");
  if (widgets::press_area(item.c_str(), {c.right - c.name, height})) in.level = row.facts.kind;
  ImGui::PopID();
  const bool hovered = ImGui::IsItemHovered(), selected = index == pic.selected,
             focused = ImGui::IsItemFocused() && ImGui::GetIO().NavVisible;
  const float middle = std::floor(top + height / 2), text_y = middle - t.type(Type::small) / 2;
  for (std::size_t i = 0; i < dot_columns.size(); ++i)
    if (c.dots_width[i] > 0)
      draw_dot(dot_columns[i], row, c.dots[i], c.dots_width[i], middle, selected ? t.accent : t.text);
  if (selected || hovered) {
    p.frame({c.name, top + 1}, {c.right, top + height - 1}, selected ? t.accent : t.line, t.px(selected ? 1.5f : 1.0f),
            t.px(5));
    if (selected) p.rect({c.name, top + 1}, {c.name + t.px(4), top + height - 1}, t.accent, t.px(2));
  }
  if (focused) p.frame({c.name, top}, {c.right, top + height}, t.accent, t.px(2.5f), t.px(5));
  if (hovered && ImGui::IsItemHovered(ImGuiHoveredFlags_DelayShort))
    row_tip(c, row, pic.sources[index], ImGui::GetIO().MousePos.x);
  p.text_fit({c.name + t.px(12), text_y}, row.facts.label, t.px(112), t.text, Type::small,
             selected ? Font::bold : Font::sans);
  if (row.measured_bandwidth_bytes_per_s > 0 &&
      row.facts.bandwidth_bytes_per_s.basis != Basis::measured) {  // what was measured beside what is stated
    const auto map = map_of(dot_columns[1], c.dots[1], c.dots_width[1]);
    basis_dot(p, {static_cast<float>(map.pixel(row.measured_bandwidth_bytes_per_s)), middle}, t.text, Basis::measured);
  }
  const auto number = [&](float x, double value, std::string_view unit) {
    if (value > 0)
      p.text({x, text_y}, widgets::format(value, unit), row.move.fits ? t.text : t.muted, Type::small, Font::mono,
             Align::right);
    else
      p.text({x, text_y}, "\xE2\x80\x94", t.muted, Type::small, Font::mono, Align::right);
  };
  if (c.has_time) number(c.energy - t.px(4), row.time_s, "s");
  if (c.has_energy) number(c.human - t.px(4), row.energy_j, "J");
  p.text({c.right - t.px(8), text_y}, row.human_latency, selected ? t.accent : t.text, Type::small,
         selected ? Font::bold : Font::sans, Align::right);
}

}  // namespace

void record_levels(const Outputs& out, const Picture& pic) {
  widgets::Record* record = Painter::window().record();
  if (!record) return;
  widgets::DataTable table{
      "levels",
      {"level", "capacity (B)", "bandwidth (B/s)", "measured bandwidth (B/s)", "latency (s)", "energy (J/B)",
       "time (s)", "energy (J)", "latency if one clock is 1 s", "bandwidth source", "latency source"},
      {}};
  const auto cell = [](double v) { return v > 0 ? widgets::exact(v) : std::string(); };
  for (std::size_t i = 0; i < out.levels.size(); ++i) {
    const LevelRow& r = out.levels[i];
    table.rows.push_back({r.facts.label, cell(r.capacity_bytes), cell(r.bandwidth_bytes_per_s),
                          cell(r.measured_bandwidth_bytes_per_s), cell(r.latency_s), cell(r.energy_j_per_byte),
                          cell(r.time_s), cell(r.energy_j), r.human_latency, pic.sources[i].bandwidth,
                          pic.sources[i].latency});
  }
  record->tables.push_back(std::move(table));
}

void basis_dot(const Painter& p, ImVec2 at, ImU32 colour, Basis basis) {
  const auto& t = theme();
  const float r = t.px(4.5f);
  if (basis == Basis::measured) {
    const float d = r * 1.25f;
    const ImVec2 points[] = {{at.x, at.y - d}, {at.x + d, at.y}, {at.x, at.y + d}, {at.x - d, at.y}};
    p.polygon(points, colour);
  } else if (basis == Basis::specified) {
    p.circle(at, r, colour);
  } else {
    p.circle(at, r, t.background);
    p.ring(at, r, colour, t.px(basis == Basis::computed ? 2.2f : 1.1f));
    if (basis == Basis::assumed) p.circle(at, t.px(1.2f), colour);
  }
}

/// Whether a figure is drawn that is known in this way.
static bool is_drawn(const Outputs& out, Basis basis) {
  return std::any_of(out.levels.begin(), out.levels.end(), [&](const LevelRow& row) {
    const auto known_so = [&](const DotColumn& column) {
      const models::Sourced& figure = row.facts.*column.figure;
      return figure.value && figure.basis == basis;
    };
    return (basis == Basis::measured && row.measured_bandwidth_bytes_per_s > 0) ||
           std::any_of(dot_columns.begin(), dot_columns.end(), known_so);
  });
}

/// The kinds of dot that are drawn with their names, from the left.
static void draw_basis_legend(const Outputs& out, ImVec2 at, float width) {
  const auto& t = theme();
  const Painter p = Painter::window();
  constexpr std::array<Basis, 4> order{Basis::specified, Basis::measured, Basis::computed, Basis::assumed};
  float x = at.x;
  for (const Basis basis : order) {
    if (!is_drawn(out, basis)) continue;
    const std::string_view name = models::basis_id(basis);
    const float size = widgets::text_size(name, Type::small).x;
    if (x + t.px(14) + size > at.x + width) return;
    basis_dot(p, {x + t.px(5), at.y + t.type(Type::small) / 2}, t.text, basis);
    p.text({x + t.px(14), at.y}, name, t.muted, Type::small);
    x += t.px(34) + size;
  }
}

void draw_ladder(Inputs& in, const Outputs& out, const Picture& pic, ImVec2 size) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (out.levels.empty() || pic.sources.size() != out.levels.size()) return;
  const Columns c = columns_in(at.x, size.x);
  const float small = t.type(Type::small), header = 2 * small + t.px(12), foot = small + t.px(8);
  const float row = std::clamp((size.y - header - foot) / static_cast<float>(out.levels.size()), 1.0f, t.px(52));
  const float bottom = at.y + header + row * static_cast<float>(out.levels.size());
  draw_header(c, in, at, bottom);
  for (std::size_t i = 0; i < out.levels.size(); ++i)
    draw_row(c, out, pic, i, in, at.y + header + static_cast<float>(i) * row, row);
  draw_basis_legend(out, {at.x + t.px(12), bottom + t.px(6)}, size.x - t.px(12));
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
  record_levels(out, pic);
}

}  // namespace chapters::roofline::hierarchy
