#include <algorithm>
#include <cmath>

#include "chapters/described/mark_legend.h"
#include "chapters/kernels/bank_conflicts/draw_parts.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// Three tiles over their 32 banks, and what hangs under each: a wavefront is a row.
namespace chapters::kernels::bank_conflicts {
namespace {

using models::gpu::SharedWord, widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

constexpr int banks = models::gpu::shared_banks;
constexpr std::array<MarkEntry, 5> bank_legend{{{"shade: column of the matrix", LegendMark::shades},
                                                {"wanted by the warp", LegendMark::wanted},
                                                {"padding", LegendMark::padding},
                                                {"hanging: a row is a wavefront", LegendMark::row},
                                                {"r: bits of the row number; lit: in the XOR", LegendMark::button}}};

void paint_shades(const Painter& p, const Picture& pic, const Placement& placement, const ColumnLayout& l) {
  const auto& t = widgets::theme();
  const float gap = l.cell_w >= 6 ? 1.0f : 0.0f, vertical = l.cell_h >= 5 ? 1.0f : 0.0f;
  const auto columns = static_cast<std::size_t>(pic.run->tile.columns);
  for (std::size_t i = 0; i < placement.lines.size(); ++i) {
    const MemoryLine& line = placement.lines[i];
    for (int bank = 0; bank < banks; ++bank) {
      const int column = line.columns[static_cast<std::size_t>(bank)];
      if (column == -2) continue;
      const Rect r = l.cell(static_cast<int>(i), bank);
      if (column == -1) {
        p.rect(r.min, {r.max.x - gap, r.max.y - vertical}, t.background);
        p.line({r.min.x, r.max.y - vertical}, {r.max.x - gap, r.min.y}, t.muted);
        continue;
      }
      const ImU32 shade = t.ramp_at(static_cast<std::size_t>(column), columns);
      p.rect(r.min, {r.max.x - gap, r.max.y - vertical}, widgets::with_alpha(shade, 0.42f));
    }
    if (!line.follows)
      p.dashed_line({l.grid.min.x, l.row_y(static_cast<int>(i))}, {l.grid.max.x, l.row_y(static_cast<int>(i))}, t.text,
                    1, 3);
  }
}

/// Phases take turns in strength; under the pointer the others are pale.
ImU32 accent_of(const SharedWord& w, std::uint32_t lit) {
  const ImU32 accent = widgets::theme().accent;
  if (lit != 0) return (w.lanes & lit) != 0 ? accent : widgets::with_alpha(accent, 0.35f);
  return w.phase % 2 == 0 ? accent : widgets::with_alpha(accent, 0.68f);
}

/// The words that the warp wants, in the tile.
void paint_wanted(const Painter& p, const Placement& placement, const ColumnLayout& l, std::uint32_t lit) {
  const auto& t = widgets::theme();
  const float gap = l.cell_w >= 6 ? 1.0f : 0.0f, vertical = l.cell_h >= 5 ? 1.0f : 0.0f;
  for (int i = 0; i < placement.access.word_count; ++i) {
    const SharedWord& w = placement.access.words[static_cast<std::size_t>(i)];
    const Rect r = l.cell(placement.line_of_word[static_cast<std::size_t>(i)], w.bank);
    p.rect(r.min, {r.max.x - gap, r.max.y - vertical}, accent_of(w, lit));
    if (l.cell_h >= 7 && (lit == 0 || (w.lanes & lit) != 0))
      p.frame(r.min, {r.max.x - gap, r.max.y - vertical}, t.text);
  }
}

/// Rows before a phase begins.
int rows_before(const Placement& placement, int phase) {
  int rows = 0;
  for (int i = 0; i < phase; ++i) rows += placement.access.phase_wavefronts[static_cast<std::size_t>(i)];
  return rows;
}

void paint_hanging(const Painter& p, const Placement& placement, const ColumnLayout& l, std::uint32_t lit) {
  const auto& t = widgets::theme();
  const float gap = l.cell_w >= 6 ? 1.0f : 0.0f, vertical = l.cell_h >= 5 ? 1.0f : 0.0f;
  const int rows = placement.access.wavefronts;
  for (int row = 0; row < rows; ++row) {
    const Rect first = l.hanging(row, 0), last = l.hanging(row, banks - 1);
    p.rect(first.min, {last.max.x - gap, last.max.y - vertical}, t.card);
  }
  for (int i = 0; i < placement.access.word_count; ++i) {
    const SharedWord& w = placement.access.words[static_cast<std::size_t>(i)];
    const Rect r = l.hanging(rows_before(placement, w.phase) + w.wavefront, w.bank);
    p.rect(r.min, {r.max.x - gap, r.max.y - vertical}, accent_of(w, lit));
  }
  for (int phase = 1; phase < placement.access.phases; ++phase) {
    const float y = l.hanging(rows_before(placement, phase), 0).min.y - (vertical + 1) / 2;
    p.line({l.grid.min.x, y}, {l.grid.max.x, y}, t.text);
  }
  float clear = -1e6f;
  for (int row = 0; row < rows; ++row) {
    if (row != 0 && row + 1 != rows && (row + 1) % 8 != 0) continue;
    const float y = (l.hanging(row, 0).min.y + l.hanging(row, 0).max.y - t.type(Type::small)) / 2;
    if (y < clear) continue;
    clear = y + t.type(Type::small);
    widgets::Line number;
    number.add_integer(row + 1);
    p.text({l.grid.min.x - t.px(5), y}, number.view(), t.muted, Type::small, Font::mono, Align::right);
  }
}

void paint_axes(const Painter& p, const Placement* placement, const ColumnLayout& l) {
  const auto& t = widgets::theme();
  for (const int bank : {0, 8, 16, 24, 31}) {
    widgets::Line number;
    number.add_integer(bank);
    p.text({l.grid.min.x + (static_cast<float>(bank) + 0.5f) * l.cell_w, l.axis_y}, number.view(), t.muted, Type::small,
           Font::mono, Align::center);
  }
  // What is counted, where it touches no number.
  const float wide = widgets::text_size("bank", Type::small).x;
  if (wide + t.px(18) < 8 * l.cell_w)
    p.text({l.grid.min.x + 4.5f * l.cell_w, l.axis_y}, "bank", t.muted, Type::small, Font::sans, Align::center);
  if (!placement) return;
  widgets::fit_text(p, {l.grid.min.x - t.px(3), l.grid.min.y - t.type(Type::small) - t.px(5)}, "line", l.gutter,
                    t.muted, Type::small, Font::sans, Align::right);
  float clear = -1e6f;
  for (std::size_t i = 0; i < placement->lines.size(); ++i) {
    const MemoryLine& line = placement->lines[i];
    const float y = l.row_y(static_cast<int>(i)) + (l.cell_h - t.type(Type::small)) / 2;
    if (y < clear || (line.line % 8 != 0 && line.follows && i != 0)) continue;
    widgets::Line number;
    number.add_integer(line.line);
    if (widgets::text_size(number.view(), Type::small, Font::mono).x > l.gutter) continue;  // far beyond the tile
    clear = y + t.type(Type::small) + 1;
    p.text({l.grid.min.x - t.px(5), y}, number.view(), t.muted, Type::small, Font::mono, Align::right);
  }
}

void paint_words(const Painter& p, const PlacementWords& words, const ColumnLayout& l) {
  const auto& t = widgets::theme();
  const float formula = widgets::text_size(words.formula, Type::small, Font::mono).x;
  const float title = std::min(widgets::text_size(words.title, Type::body, Font::bold).x, l.width);
  widgets::fit_text(p, {l.left, l.title_y}, words.title, l.width, t.text, Type::body, Font::bold);
  if (title + formula + t.px(14) < l.width)
    p.text({l.left + l.width, l.title_y + t.px(2)}, words.formula, t.muted, Type::small, Font::mono, Align::right);
  widgets::fit_text(p, {l.left, l.cost_y}, words.cost, l.width, t.muted, Type::small);
}

void paint_count(const Painter& p, const PlacementWords& words, bool possible, const ColumnLayout& l) {
  const auto& t = widgets::theme();
  float x = l.grid.min.x;
  if (possible) {
    x += p.text({x, l.count_y}, words.count, t.text, Type::title, Font::bold);
    widgets::fit_text(p, {x, l.count_y + t.type(Type::title) - t.type(Type::body)}, words.unit, l.grid.max.x - x,
                      t.text, Type::body);
  } else {
    p.text({x, l.count_y + t.px(3)}, "not possible", t.bad, Type::body, Font::bold);
  }
}

/// What paint_room asks for under the wavefronts and their story.
float room_below() { return 2 * widgets::theme().type(Type::small) + widgets::theme().px(76); }

/// How much the tile takes, padding hatched, and whether rows can be loaded 16 bytes at a time: where what hangs leaves
/// room for it.
void paint_room(const Painter& p, const PlacementWords& words, const ColumnLayout& l, float y) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), bar = t.px(12), width = l.grid.width();
  if (y + 2 * small + bar + t.px(40) > l.bottom) return;
  p.text({l.grid.min.x, y}, "bytes of the tile", t.muted, Type::small);
  p.text({l.grid.max.x, y}, words.bytes, t.text, Type::small, Font::mono, Align::right);
  y += small + t.px(6);
  const float end = l.grid.min.x + width * words.share, used = l.grid.min.x + width * words.share * words.used;
  p.rect({l.grid.min.x, y}, {used, y + bar}, widgets::with_alpha(t.ramp_at(1, 2), 0.42f), t.px(2));
  if (end - used > 0.5f) {
    p.rect({used, y}, {end, y + bar}, t.background);
    widgets::hatch(p, {{used, y}, {end, y + bar}}, t.text, t.px(4));
  }
  y += bar + t.px(10);
  const ImU32 verdict = words.vectors ? t.good : t.bad;
  const ImVec2 c{l.grid.min.x + t.px(6), y + small / 2 + t.px(1)};
  const float r = t.px(4);
  if (words.vectors) {
    const ImVec2 tick[] = {{c.x - r, c.y}, {c.x - r * 0.2f, c.y + r * 0.8f}, {c.x + r, c.y - r}};
    p.polyline(tick, verdict, t.px(2));
  } else {
    p.line({c.x - r, c.y - r}, {c.x + r, c.y + r}, verdict, t.px(2));
    p.line({c.x - r, c.y + r}, {c.x + r, c.y - r}, verdict, t.px(2));
  }
  widgets::wrapped_text(p, {l.grid.min.x + t.px(18), y}, words.aligned, width - t.px(18), t.text, {.max_lines = 2});
}

/// What the pointer is on: lanes to light, and words that say it.
void point_at(const Placement& placement, const ColumnLayout& l, View& view) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const int bank = std::clamp(static_cast<int>((mouse.x - l.grid.min.x) / l.cell_w), 0, banks - 1);
  const auto light = [&](std::uint32_t lanes) {
    view.lanes = lanes;
    view.lanes_frame = ImGui::GetFrameCount();
  };
  widgets::Line name, value, lanes;
  const auto add_lanes = [&](std::uint32_t mask) {
    int shown = 0;
    for (int lane = 0; lane < 32; ++lane) {
      if ((mask >> static_cast<unsigned>(lane) & 1U) == 0) continue;
      if (shown == 8) {
        lanes.add(" and others");
        break;
      }
      lanes.add(shown == 0 ? "lane " : ", ").add_integer(lane);
      ++shown;
    }
  };
  if (mouse.y < l.grid.max.y) {
    const auto row = static_cast<std::size_t>((mouse.y - l.grid.min.y) / l.cell_h);
    if (row >= placement.lines.size()) return;
    const MemoryLine& line = placement.lines[row];
    for (int i = 0; i < placement.access.word_count; ++i) {
      const SharedWord& w = placement.access.words[static_cast<std::size_t>(i)];
      if (w.bank != bank || placement.line_of_word[static_cast<std::size_t>(i)] != static_cast<int>(row)) continue;
      light(w.lanes);
      add_lanes(w.lanes);
    }
    name.add("line ").add_integer(line.line).add(", bank ").add_integer(bank);
    const int column = line.columns[static_cast<std::size_t>(bank)];
    if (column == -1)
      value.add("padding");
    else if (column == -2)
      value.add("outside of the tile");
    else
      value.add("row ").add_integer(line.rows[static_cast<std::size_t>(bank)]).add(", column ").add_integer(column);
    widgets::tip(name.view(), value.view(), lanes.view());
    return;
  }
  const int row = static_cast<int>((mouse.y - l.hang_y) / l.cell_h);
  if (mouse.y < l.hang_y || row >= placement.access.wavefronts) return;
  for (int i = 0; i < placement.access.word_count; ++i) {
    const SharedWord& w = placement.access.words[static_cast<std::size_t>(i)];
    if (w.bank != bank || rows_before(placement, w.phase) + w.wavefront != row) continue;
    light(w.lanes);
    add_lanes(w.lanes);
    name.add("bank ").add_integer(bank).add(", word ").add_integer(w.word);
    value.add("phase ").add_integer(w.phase + 1).add(", its wavefront ").add_integer(w.wavefront + 1);
    widgets::tip(name.view(), value.view(), lanes.view());
    return;
  }
}

void record_lanes(widgets::Record& record, const Picture& pic) {
  widgets::DataTable table{"lanes", {"lane", "row", "column", "as written", "padded", "swizzled"}, {}};
  for (const LaneRow& row : pic.lanes)
    table.rows.push_back({row.lane, row.row, row.column, row.places[0], row.places[1], row.places[2]});
  record.tables.push_back(std::move(table));
}

/// Frames, bank numbers and names: what a question gives.
void draw_given_banks(const Picture& pic, const BanksLayout& layout) {
  const widgets::GivenMarks given;
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  static constexpr std::string_view names[] = {"as written", "padded", "XOR swizzle"};
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const ColumnLayout& l = layout.columns[i];
    widgets::fit_text(p, {l.left, l.title_y}, names[i], l.width, t.text, Type::body, Font::bold);
    p.frame(l.grid.min, l.grid.max, t.line);
    paint_axes(p, nullptr, l);
  }
  const ColumnLayout& first = layout.columns[0];
  widgets::fit_text(p, {first.grid.min.x, first.count_y + t.px(2)}, pic.given,
                    layout.columns[2].grid.max.x - first.grid.min.x, t.text, Type::small);
}

}  // namespace

Rect ColumnLayout::cell(int row, int bank) const {
  const float x = grid.min.x + static_cast<float>(bank) * cell_w, y = row_y(row);
  return {{x, y}, {x + cell_w, y + cell_h}};
}

Rect ColumnLayout::hanging(int row, int bank) const {
  const float x = grid.min.x + static_cast<float>(bank) * cell_w, y = hang_y + static_cast<float>(row) * cell_h;
  return {{x, y}, {x + cell_w, y + cell_h}};
}

BanksLayout layout_banks(int lines, int wavefronts, ImVec2 at, ImVec2 size) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), between = t.px(22), gutter = t.px(24);
  const float width = std::floor((size.x - 2 * between) / 3);
  const float title = t.type(Type::body) * 1.35f, cost = small * 1.4f, control = t.px(28), axis = small + t.px(6),
              count = t.type(Type::title) + t.px(8), story = 2 * small * 1.35f + t.px(4);
  const auto grid_rows = static_cast<float>(lines), hang_rows = static_cast<float>(wavefronts);
  const float cell_w = std::max(1.0f, (width - gutter) / banks);
  const float fixed = title + cost + control + axis + count + t.px(6);
  float room = size.y - fixed - story;
  bool told = true;
  if (room / (grid_rows + hang_rows) < t.px(4)) {
    room += story;
    told = false;
  }
  // Cells of a few rows grow beyond that where what the tile takes still has its place below them.
  const float rows = grid_rows + hang_rows, roomy = (room - room_below()) / rows;
  const float cell_h = std::max(std::clamp(room / rows, 1.0f, cell_w * 1.8f), std::min(roomy, cell_w * 4.0f));
  BanksLayout out;
  out.told = told;
  for (std::size_t i = 0; i < out.columns.size(); ++i) {
    ColumnLayout& l = out.columns[i];
    l.left = at.x + static_cast<float>(i) * (width + between);
    l.width = width;
    l.gutter = gutter;
    l.cell_w = cell_w;
    l.cell_h = cell_h;
    l.title_y = at.y;
    l.cost_y = l.title_y + title;
    l.control = {{l.left + gutter, l.cost_y + cost}, {l.left + width, l.cost_y + cost + control}};
    l.grid = {{l.left + gutter, l.control.max.y}, {l.left + width, l.control.max.y + grid_rows * cell_h}};
    l.axis_y = l.grid.max.y + t.px(2);
    l.count_y = l.grid.max.y + axis;
    l.hang_y = l.count_y + count;
    l.bottom = at.y + size.y;
  }
  return out;
}

void draw_banks(Inputs& in, const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  ImVec2 at = ImGui::GetCursorScreenPos();
  if (pic.counted && !widgets::veiled()) {
    const float taken = published_line("ways counted by a profiler: ", pic.published, size, t.px(420));
    at.y += taken;
    size.y -= taken;
  }
  if (widgets::veiled()) {  // of any tile, since how deep words hang is asked; the veil has an edge
    const float inset = t.px(12);
    return draw_given_banks(
        pic, layout_banks(32, 32, {at.x + inset, at.y + inset}, {size.x - 2 * inset, size.y - 2 * inset}));
  }
  if (pic.words[0].title.empty() || !pic.run) return;  // an infeasible state without one before it
  // The legend goes first where tiles and wavefronts would be squeezed.
  const float rows = static_cast<float>(pic.grid_rows + pic.hang_rows), least = t.px(124) + t.px(2) * rows;
  const bool told = size.y - 2 * widgets::legend_row_px() > least;
  const float legend = told ? draw_mark_legend(bank_legend, at, size.x, view.legend) + t.px(4) : 0;
  const BanksLayout layout =
      layout_banks(pic.grid_rows, pic.hang_rows, {at.x, at.y + legend}, {size.x, size.y - legend});
  const Painter p = Painter::window();
  const std::uint32_t lit = view.lit();
  static constexpr const char* labels[] = {"banks as written", "banks padded", "banks swizzled"};
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const ColumnLayout& l = layout.columns[i];
    const Placement& placement = pic.run->placements[i];
    ImGui::SetCursorScreenPos(l.grid.min);
    widgets::press_area(labels[i], {l.grid.width(), std::max(1.0f, l.bottom - l.grid.min.y)}, ImGuiButtonFlags_None);
    const bool hovered = ImGui::IsItemHovered();
    paint_words(p, pic.words[i], l);
    paint_shades(p, pic, placement, l);
    paint_axes(p, &placement, l);
    if (placement.possible) {
      paint_wanted(p, placement, l, lit);
      paint_hanging(p, placement, l, lit);
    }
    paint_count(p, pic.words[i], placement.possible, l);
    float under = l.hang_y + static_cast<float>(placement.access.wavefronts) * l.cell_h + t.px(5);
    const int room = static_cast<int>((l.bottom - under) / (t.type(Type::small) * 1.4f));
    if ((layout.told || !placement.possible) && room > 0)
      under += widgets::wrapped_text(p, {l.grid.min.x, under}, pic.words[i].story, l.grid.width(), t.muted,
                                     {.max_lines = std::min(room, placement.possible ? 2 : 5)});
    paint_room(p, pic.words[i], l, under + t.px(14));
    if (hovered) point_at(placement, l, view);
  }
  draw_handles(in, out, pic, layout);
  widgets::drew("tiles");
  widgets::drew("wavefronts");
  if (widgets::Record* record = p.record()) record_lanes(*record, pic);
}

}  // namespace chapters::kernels::bank_conflicts
