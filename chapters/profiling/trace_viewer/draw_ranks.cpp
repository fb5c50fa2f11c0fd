#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/profiling/trace_viewer/draw.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"

namespace chapters::profiling::trace_viewer {
namespace {

using widgets::Font, widgets::Painter, widgets::Type;

constexpr std::size_t max_ranks = 64;

/// Above the median towards the warning's colour, below it towards the accent, at the median the card's own.
ImU32 colour_of(double share) {
  const auto& t = widgets::theme();
  const ImU32 to = share < 0 ? t.accent : t.warning;
  const double part = std::min(1.0, std::abs(share));
  ImU32 out = IM_COL32_A_MASK;
  for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT}) {
    const double from = (t.card >> shift) & 255, end = (to >> shift) & 255;
    out |= static_cast<ImU32>(std::lround(from + (end - from) * part)) << shift;
  }
  return out;
}

void add_signed(widgets::Line& line, double percent, int digits) {
  line.add(percent > 0 ? "+" : "").add(widgets::format(percent, "%", digits));
}

/// What stands in a cell: the difference from the median, or the time waited or cost.
void add_cell(widgets::Line& line, const RankMap& map, double percent) {
  if (map.waits)
    line.add(widgets::format(std::abs(percent) / 100 * map.largest_s, "s", 3));
  else
    add_signed(line, std::round(10 * percent) / 10, 3);  // further digits are scatter
}

/// Waiting is pale, whoever made the others wait is not: who comes last is the first thing to be seen.
double shade_of(const RankMap& map, double percent) {
  const double share = percent / map.span;
  if (!map.waits) return share;
  constexpr double palest_last = 0.35, strongest_wait = 0.5;
  return share > 0 ? palest_last + (1 - palest_last) * share : strongest_wait * share;
}

void paint_cells(const Painter& painter, const RankMap& map, const widgets::HeatMapLayout& l) {
  const auto& t = widgets::theme();
  for (std::size_t r = 0; r < l.rows; ++r)
    for (std::size_t c = 0; c < l.cols; ++c) {
      const widgets::Rect cell = l.cell(r, c);
      const double percent = l.cells[r * l.cols + c];
      if (!std::isfinite(percent)) {
        widgets::hatch(painter, cell, t.line);
        continue;
      }
      const ImU32 fill = colour_of(shade_of(map, percent));
      painter.rect(cell.min, {cell.max.x - 1, cell.max.y - 1}, fill);
      widgets::Line text;
      add_cell(text, map, percent);
      const ImVec2 needs = widgets::text_size(text.view(), Type::small, Font::mono);
      if (needs.x + t.px(6) < cell.width() && needs.y + t.px(2) < cell.height())
        painter.text({(cell.min.x + cell.max.x) / 2, (cell.min.y + cell.max.y - t.type(Type::small)) / 2}, text.view(),
                     widgets::text_on(fill, t), Type::small, Font::mono, widgets::Align::center);
    }
}

/// What each rank costs the others in all: a bar and its figure at the right of its row.
void paint_totals(const Painter& painter, const RankMap& map, const widgets::HeatMapLayout& l, float right) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), left = l.grid.max.x + t.px(10);
  const double most = *std::max_element(map.totals_s.begin(), map.totals_s.end());
  float figures = 0;
  for (const double s : map.totals_s)
    figures = std::max(figures, widgets::text_size(widgets::format(s, "s", 3), Type::small, Font::mono).x);
  const float room = right - left - figures - t.px(6);
  const auto middle_of = [&](std::size_t r) {
    const widgets::Rect cell = l.cell(l.shown_row(r, map.rows), 0);
    return (cell.min.y + cell.max.y) / 2;
  };
  const std::size_t rows = std::min(map.rows, max_ranks);
  for (std::size_t r = 0; r < rows; ++r) {
    const bool culprit = static_cast<std::int64_t>(r) == map.culprit;
    const float middle = middle_of(r), half = std::min(l.cell(0, 0).height() / 2 - 1, t.px(7));
    const float length = most > 0 ? std::max(0.0f, room) * static_cast<float>(map.totals_s[r] / most) : 0;
    if (length > 0)
      painter.rect({left, middle - half}, {left + length, middle + half},
                   culprit ? t.warning : widgets::with_alpha(t.warning, 0.5f), t.px(2));
    // A figure gives way to the larger one of a row near it.
    const auto larger_near = [&](std::size_t other) {
      return other != r && std::abs(middle_of(other) - middle) < small &&
             (map.totals_s[other] > map.totals_s[r] || (map.totals_s[other] == map.totals_s[r] && other < r));
    };
    bool shown = map.totals_s[r] > 0;
    for (std::size_t other = 0; other < rows && shown; ++other) shown = !larger_near(other);
    if (shown)
      painter.text({left + length + t.px(6), middle - small / 2}, widgets::format(map.totals_s[r], "s", 3),
                   culprit ? t.text : t.muted, Type::small, Font::mono);
  }
}

void paint_names(const Painter& painter, const RankMap& map, const widgets::HeatMapLayout& l, widgets::Rect area) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), right = l.grid.min.x - t.px(6);
  const auto label_y = [&](std::size_t r) {
    const widgets::Rect cell = l.cell(l.shown_row(r, map.rows), 0);
    return (cell.min.y + cell.max.y - small) / 2;
  };
  const auto say = [&](float y, std::string_view name, bool culprit) {
    widgets::fit_text(painter, {right, y}, name, right - area.min.x, culprit ? t.text : t.muted, Type::small,
                      culprit ? Font::bold : Font::sans, widgets::Align::right);
  };
  // The culprit is named whatever else has room.
  const std::size_t rows = std::min(map.rows, max_ranks);
  const bool blamed = map.culprit >= 0 && map.culprit < static_cast<std::int64_t>(rows);
  const auto culprit = static_cast<std::size_t>(std::max<std::int64_t>(0, map.culprit));
  const float blamed_y = blamed ? label_y(culprit) : -1e9f;
  if (blamed) say(blamed_y, map.labels[culprit], true);
  for (std::size_t r = 0; r < rows; r += l.row_label_stride)
    if (std::abs(label_y(r) - blamed_y) >= small) say(label_y(r), map.labels[r], false);
  float free_from = l.grid.min.x - small;
  for (std::size_t c = 0; c < map.cols; c += l.col_label_stride) {
    const widgets::Rect cell = l.cell(0, l.shown_col(c, map.cols));
    widgets::Line name;
    if (map.waits)
      name.add(map.col_labels[c]);
    else
      name.add(c == 0 ? "step " : "").add_integer(static_cast<std::int64_t>(c) + 1);
    const float w = widgets::text_size(name.view(), Type::small).x, x = (cell.min.x + cell.max.x - w) / 2;
    if (x < free_from || x + w > area.max.x) continue;
    painter.text({x, l.grid.max.y + t.px(4)}, name.view(), t.muted, Type::small);
    free_from = x + w + t.px(6);
  }
}

/// The two colours of waiting, in words.
void paint_waits_key(const Painter& painter, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), box = t.px(11);
  float x = at.x;
  const auto entry = [&](ImU32 fill, std::string_view says) {
    if (x + box + t.px(5) + widgets::text_size(says, Type::small).x > at.x + width) return;
    painter.rect({x, at.y + (small - box) / 2 + t.px(1)}, {x + box, at.y + (small + box) / 2 + t.px(1)}, fill, t.px(2));
    painter.frame({x, at.y + (small - box) / 2 + t.px(1)}, {x + box, at.y + (small + box) / 2 + t.px(1)}, t.line, 1,
                  t.px(2));
    x += box + t.px(5);
    x += painter.text({x, at.y}, says, t.muted, Type::small) + t.px(16);
  };
  entry(colour_of(1), "arrives last: costs the others");
  entry(colour_of(-0.5), "waits");
  constexpr std::string_view columns = "columns: collectives in order";
  if (x + widgets::text_size(columns, Type::small).x <= at.x + width)
    painter.text({x, at.y}, columns, t.muted, Type::small);
}

/// The ramp with its ends, across under the words.
void paint_key(const Painter& painter, double span, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const float small = t.type(Type::small), ramp = t.px(96), y = at.y;
  widgets::Line low, high;
  add_signed(low, -span, 2);
  add_signed(high, span, 2);
  high.add(" of the others' median");
  float x = at.x + painter.text({at.x, y}, low.view(), t.muted, Type::small, Font::mono) + t.px(6);
  constexpr int parts = 24;
  for (int i = 0; i < parts; ++i)
    painter.rect({x + ramp * static_cast<float>(i) / parts, y + small * 0.15f},
                 {x + ramp * static_cast<float>(i + 1) / parts + 0.5f, y + small},
                 colour_of(2 * (i + 0.5) / parts - 1));
  painter.frame({x, y + small * 0.15f}, {x + ramp, y + small}, t.line);
  x += ramp + t.px(6);
  painter.text_fit({x, y}, high.view(), at.x + width - x, t.muted, Type::small);
}

void record_map(widgets::Record& record, const RankMap& map) {
  widgets::DataTable table{map.waits ? "waits" : "ranks", {"rank"}, {}};
  for (std::size_t c = 0; c < map.cols; ++c)
    table.columns.push_back(map.waits ? "collective " + map.col_labels[c] + " (s; waits below 0, costs above)"
                                      : "step " + std::to_string(c + 1) + " (s)");
  for (std::size_t r = 0; r < map.rows; ++r) {
    table.rows.push_back({map.labels[r]});
    for (std::size_t c = 0; c < map.cols; ++c)
      table.rows.back().push_back(widgets::exact(map.value_s[r * map.cols + c]));
  }
  record.tables.push_back(std::move(table));
}

/// What the colours stand for, in one line.
void paint_head(const Painter& painter, const RankMap& map, RankFigure what, ImVec2 at, float width) {
  static constexpr std::string_view figures[] = {"Computation", "Computation", "Communication", "Idle time",
                                                 "Step time"};
  if (map.waits) return paint_waits_key(painter, at, width);
  const auto& t = widgets::theme();
  const std::string_view figure = figures[static_cast<std::size_t>(what)];
  painter.text(at, figure, t.text, Type::small);
  const float key = widgets::text_size(figure, Type::small).x + t.px(14);
  paint_key(painter, map.span, {at.x + key, at.y}, width - key);
}

/// The map's cells in `area`; laid out anew where something of it has changed.
const widgets::HeatMapLayout& lay_out_cells(const Picture& pic, widgets::Rect area, View& view) {
  const RankMap& map = pic.ranks;
  widgets::Fingerprint now;
  for (const float v : {area.min.x, area.min.y, area.max.x, area.max.y, widgets::theme().scale})
    now.add(static_cast<double>(v));
  now.add(pic.version);
  if (view.heat.layout_of == now.value) return view.heat.layout;
  view.heat.layout_of = now.value;
  std::array<std::string_view, max_ranks> labels;
  const std::size_t rows = std::min(map.rows, labels.size());
  for (std::size_t i = 0; i < rows; ++i) labels[i] = map.labels[i];
  // The layout keeps room for a ramp at its right, which stands above here.
  const widgets::HeatData data{.values = {map.percent.data(), rows * map.cols},
                               .rows = rows,
                               .cols = map.cols,
                               .row_labels = {labels.data(), rows},
                               .first_col = 1,
                               .revision = pic.version};
  widgets::layout_heat_map(data, {.unit = "%", .lo = -map.span, .hi = map.span}, area, widgets::measure_text,
                           view.heat.layout);
  return view.heat.layout;
}

void tell_cell(const RankMap& map, std::size_t row, std::size_t col) {
  widgets::Line name, value;
  const double cell_s = map.value_s[row * map.cols + col];
  if (map.waits) {
    name.add(map.labels[row]).add(", collective ").add(map.col_labels[col]);
    if (!std::isfinite(cell_s))
      value.add("takes no part");
    else
      value.add(cell_s > 0 ? "arrives last and costs the others " : "waits ")
          .add(widgets::format(std::abs(cell_s), "s"));
  } else {
    name.add(map.labels[row]).add(", step ").add_integer(static_cast<std::int64_t>(col) + 1);
    value.add(widgets::format(cell_s, "s")).add(", ");
    add_signed(value, map.percent[row * map.cols + col], 3);
    value.add(" of the others' median");
  }
  widgets::tip(name.view(), value.view(), "press to look at this rank and step");
}

}  // namespace

void draw_ranks(Inputs& in, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Painter painter = Painter::window();
  const RankMap& map = pic.ranks;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float y = at.y + widgets::wrapped_text(painter, at, pic.rank_story, size.x, t.muted, {.max_lines = 2}) + t.px(4);
  if (map.rows == 0) return ImGui::Dummy(size);
  paint_head(painter, map, in.rank_figure, {at.x, y}, size.x);
  y += t.type(Type::small) + t.px(8);
  const float totals = map.waits && size.x > t.px(420) ? std::min(t.px(220), 0.24f * size.x) : 0;
  ImGui::SetCursorScreenPos({at.x, y});
  const widgets::Rect area =
      widgets::canvas("ranks", {size.x - totals, std::max(t.px(60), at.y + size.y - y)}, {t.px(140), t.px(60)});
  const bool clicked = ImGui::IsItemClicked(), hovered = ImGui::IsItemHovered();
  const widgets::HeatMapLayout& l = lay_out_cells(pic, area, view);
  if (l.cells.empty()) return;
  paint_cells(painter, map, l);
  paint_names(painter, map, l, area);
  if (totals > 0) paint_totals(painter, map, l, area.max.x + totals);
  if (widgets::Record* record = painter.record()) record_map(*record, map);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (!hovered || !l.grid.contains(mouse)) return;
  const auto index = [](float from, float to, float v, std::size_t n) {
    return std::min(n - 1, static_cast<std::size_t>((v - from) / (to - from) * static_cast<float>(n)));
  };
  const std::size_t row = index(l.grid.min.y, l.grid.max.y, mouse.y, std::min(map.rows, max_ranks)),
                    col = index(l.grid.min.x, l.grid.max.x, mouse.x, map.cols);
  tell_cell(map, row, col);
  if (!clicked) return;
  in.device = static_cast<std::int64_t>(row);  // rows are in the order in which devices are counted
  in.step = map.waits ? map.col_steps[col] : static_cast<std::int64_t>(col) + 1;
}

}  // namespace chapters::profiling::trace_viewer
