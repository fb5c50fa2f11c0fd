#include "chapters/roofline/transformer_layer_picture.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "widgets/table_layout.h"

namespace chapters::roofline::layer {
namespace {

using widgets::Align;
using widgets::Font;
using widgets::Line;
using widgets::Meaning;
using widgets::Painter;
using widgets::Rect;
using widgets::RowShape;
using widgets::theme;
using widgets::Theme;
using widgets::Type;
using widgets::with_alpha;

Meaning meaning_of(models::Regime regime) {
  return regime == models::Regime::compute ? Meaning::compute_bound : regime == models::Regime::launch ? Meaning::launch_bound : Meaning::memory_bound;
}

RowShape shape_of(models::Regime regime) {
  return regime == models::Regime::compute ? RowShape::square : regime == models::Regime::launch ? RowShape::triangle : RowShape::circle;
}

std::string_view name_of(models::Regime regime) {
  return regime == models::Regime::compute ? "compute-bound" : regime == models::Regime::launch ? "launch-bound" : "memory-bound";
}

double count_of(const OperationRow& row) { return static_cast<double>(row.count); }

void select(View& view, std::size_t row) {
  const auto r = static_cast<std::int64_t>(row);
  view.table.selected = view.table.selected == r ? -1 : r;
}

bool is_selected(const View& view, std::size_t row) { return view.table.selected == static_cast<std::int64_t>(row); }

void tell(const OperationRow& row) {
  Line value;
  value.add(widgets::format(row.time_s, "s")).add(", ").add(widgets::format(100 * row.share, "%")).add(" of the step, ").add(name_of(row.regime));
  widgets::tip(row.name, value.view(), row.detail);
}

/// Marks and names from the right end leftwards; returns where the leftmost begins.
float regime_key(const Painter& p, ImVec2 right_top, bool with_launch) {
  const Theme& t = theme();
  float x = right_top.x;
  for (const models::Regime regime : {models::Regime::launch, models::Regime::compute, models::Regime::memory}) {
    if (regime == models::Regime::launch && !with_launch) continue;
    x -= widgets::text_size(name_of(regime), Type::small).x;
    p.text({x, right_top.y}, name_of(regime), t.muted, Type::small);
    x -= t.px(10);
    widgets::paint_row_mark(p, {shape_of(regime), t.of(meaning_of(regime))}, {x, right_top.y + t.type(Type::small) * 0.55f}, t.px(4.5f));
    x -= t.px(18);
  }
  return x;
}

/// One operation of the layer's flow.
void flow_box(const Painter& p, const Outputs& out, View& view, std::size_t index, Rect r) {
  const Theme& t = theme();
  const OperationRow& row = out.operations[index];
  ImGui::SetCursorScreenPos(r.min);
  ImGui::PushID(static_cast<int>(index));
  Line label;
  label.add(row.name).add("##flow");
  if (ImGui::InvisibleButton(label.c_str(), {std::max(1.0f, r.width()), std::max(1.0f, r.height())}, ImGuiButtonFlags_EnableNav)) select(view, index);
  ImGui::PopID();
  if (ImGui::IsItemHovered()) tell(row);
  const ImU32 fill = t.of(meaning_of(row.regime));
  p.rect(r.min, r.max, fill, t.px(3));
  const float small = t.type(Type::small), y = (r.min.y + r.max.y - small) / 2;
  float left = r.min.x + t.px(5);
  if (r.width() >= t.px(16) && r.height() >= t.px(12)) {
    widgets::paint_row_mark(p, {shape_of(row.regime), t.on_colour}, {left + t.px(3), (r.min.y + r.max.y) / 2}, t.px(3));
    left += t.px(12);
  }
  const ImU32 ink = widgets::contrast(t.on_colour, fill) >= 4.5 ? t.on_colour : t.text;
  // The whole name, or what is left without "projection", or none: the hover has it.
  const std::string_view name = row.name, brief = name.substr(0, name.find(" projection"));
  const float room = r.max.x - left - t.px(4);
  const std::string_view shown = widgets::text_size(name, Type::small).x <= room ? name : widgets::text_size(brief, Type::small).x <= room ? brief : std::string_view{};
  if (!shown.empty() && r.height() >= small) p.text({left, y}, shown, ink, Type::small);
  if (is_selected(view, index) || ImGui::IsItemFocused()) p.frame({r.min.x - 1, r.min.y - 1}, {r.max.x + 1, r.max.y + 1}, t.text, t.px(2), t.px(3));
}

/// Operations that read the same input stand above each other, as tall as their part of the stage's time.
void flow_stage(const Painter& p, const Outputs& out, View& view, const LayerFlow::Stage& stage, Rect r) {
  const float gap = theme().px(2), least = theme().px(9), n = static_cast<float>(stage.end - stage.first);
  double sum = 0;
  for (std::size_t i = stage.first; i < stage.end; ++i) sum += out.operations[i].time_s;
  const float room = r.height() - (n - 1) * gap - n * least;
  float y = r.min.y;
  for (std::size_t i = stage.first; i < stage.end; ++i) {
    const float height = least + room * static_cast<float>(out.operations[i].time_s / sum);
    flow_box(p, out, view, i, {{r.min.x, y}, {r.max.x, y + height}});
    y += height + gap;
  }
}

void bracket(const Painter& p, float x0, float x1, float y, std::string_view name, double share) {
  const Theme& t = theme();
  p.line({x0, y}, {x1, y}, t.muted);
  p.line({x0, y - t.px(4)}, {x0, y}, t.muted);
  p.line({x1, y - t.px(4)}, {x1, y}, t.muted);
  Line text;
  text.add(name).add(" ").add(widgets::format(100 * share, "%"));
  const float width = widgets::text_size(text.view(), Type::small).x;
  const float x = std::max(x0, (x0 + x1 - width) / 2);
  p.text({x, y + t.px(3)}, text.view(), t.muted, Type::small);
}

std::size_t drawn_layer(const Outputs& out, const View& view) {
  if (view.layer >= 0 && view.layer < static_cast<std::int64_t>(out.layers.size())) return static_cast<std::size_t>(view.layer);
  std::size_t longest = 0;
  double most = -1;
  for (std::size_t i = 0; i < out.layers.size(); ++i) {
    const LayerFlow& flow = out.layers[i];
    const double all = flow.time_s * count_of(out.operations[flow.stages.front().first]);
    if (all > most) {
      most = all;
      longest = i;
    }
  }
  return longest;
}

/// Names of the kinds of layers; pressing one draws it. Returns where the names end.
float layer_tabs(const Painter& p, const Outputs& out, View& view, std::size_t shown, ImVec2 at) {
  const Theme& t = theme();
  for (std::size_t i = 0; i < out.layers.size(); ++i) {
    const std::string& name = out.layers[i].name;
    const float width = widgets::text_size(name, Type::small, Font::bold).x;
    ImGui::SetCursorScreenPos(at);
    if (ImGui::InvisibleButton(name.c_str(), {width, t.type(Type::small) + t.px(4)}, ImGuiButtonFlags_EnableNav)) view.layer = static_cast<std::int64_t>(i);
    const bool lit = i == shown || ImGui::IsItemHovered() || ImGui::IsItemFocused();
    p.text(at, name, lit ? t.text : t.muted, Type::small, Font::bold);
    if (i == shown && out.layers.size() > 1) p.rect({at.x, at.y + t.type(Type::small) + t.px(3)}, {at.x + width, at.y + t.type(Type::small) + t.px(5)}, t.accent);
    at.x += width + t.px(18);
  }
  return at.x;
}

/// The layer as a flow from left to right, every stage as wide as its share of the time.
void draw_flow(const Outputs& out, View& view, bool with_launch, float width, float height) {
  const Theme& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float pad = t.px(12), small = t.type(Type::small);
  p.rect(at, {at.x + width, at.y + height}, t.card, t.px(6));
  if (out.layers.empty()) return;
  const std::size_t shown = drawn_layer(out, view);
  const LayerFlow& flow = out.layers[shown];
  const float key = regime_key(p, {at.x + width - pad, at.y + t.px(9)}, with_launch);
  const float tabs = layer_tabs(p, out, view, shown, {at.x + pad, at.y + t.px(9)});
  if (key - tabs > t.px(60)) p.text_fit({tabs, at.y + t.px(9)}, "width: share of the layer's time", key - tabs, t.muted, Type::small);

  const float gap = t.px(4), least = t.px(9), n = static_cast<float>(flow.stages.size());
  const float top = at.y + t.px(16) + small, bottom = at.y + height - t.px(25) - 2 * small;
  const float room = width - 2 * pad - (n - 1) * gap - n * least;
  p.line({at.x + t.px(3), (top + bottom) / 2}, {at.x + width - t.px(3), (top + bottom) / 2}, t.line, t.px(3));
  float x = at.x + pad, from = x;
  double part = 0;
  for (std::size_t i = 0; i < flow.stages.size(); ++i) {
    const float w = least + room * static_cast<float>(flow.stages[i].share);
    flow_stage(p, out, view, flow.stages[i], {{x, top}, {x + w, bottom}});
    part += flow.stages[i].share;
    x += w + gap;
    const bool last = i + 1 == flow.stages.size();
    if (i + 1 != flow.attention_end && !last) continue;
    bracket(p, from, x - gap, bottom + t.px(7), last ? "feed-forward" : "attention", part);
    from = x;
    part = 0;
  }
  const bool any = view.table.selected >= 0 && view.table.selected < static_cast<std::int64_t>(out.operations.size());
  const std::string_view detail = any ? std::string_view(out.operations[static_cast<std::size_t>(view.table.selected)].detail)
                                      : "Press an operation to read its shape. In the bars, full is the wall it meets, pale what the other resource would need.";
  p.text_fit({at.x + pad, at.y + height - small - t.px(5)}, detail, width - 2 * pad, any ? t.text : t.muted, Type::small);
}

enum Column : std::size_t { name_column, part_column, flops_column, bytes_column, intensity_column, time_column, share_column };
constexpr widgets::TableColumn columns[] = {{.title = "operation", .number = false}, {.title = "part", .number = false},
                                            {.title = "flops", .value_unit = "FLOP"}, {.title = "bytes", .value_unit = "B"},
                                            {.title = "FLOP/B"}, {.title = "time", .value_unit = "s"}, {.title = "of step", .unit = "%"}};

double value_of(const OperationRow& row, std::size_t column) {
  switch (column) {
    case flops_column: return row.flops;
    case bytes_column: return row.bytes;
    case intensity_column: return row.intensity;
    case time_column: return row.time_s;
    case share_column: return 100 * row.share;
    default: return 0;
  }
}

const OperationRow& row_at(void* context, std::size_t row) { return (*static_cast<const std::vector<OperationRow>*>(context))[row]; }

void cell(void* context, std::size_t index, std::size_t column, widgets::TableCell& out) {
  const OperationRow& row = row_at(context, index);
  constexpr std::string_view units[] = {"", "", "FLOP", "B", "", "s", ""};
  if (column == name_column) out.text = row.name;
  else if (column == part_column) out.text = row.kind;
  else {
    out.value = value_of(row, column);
    if (column == share_column) {
      out.number.length = static_cast<std::size_t>(std::snprintf(out.number.chars, sizeof out.number.chars, "%.1f", out.value));
    } else {
      out.number = widgets::format(out.value, units[column]);
      if (column == flops_column) out.number.length = std::min(out.number.length, out.number.view().find("FLOP"));  // "550 G": the title says of what
    }
  }
}

/// Memory and arithmetic of each visible row side by side, on the axis of the whole step; the longer one is the row's time.
void draw_pairs(const Outputs& out, View& view, Rect area, float body_height) {
  const Theme& t = theme();
  const Painter p = Painter::window();
  const widgets::TableLayout& l = view.table.layout;
  const float small = t.type(Type::small);
  const widgets::AxisMap map(widgets::AxisKind::linear, {0, out.longest_s}, static_cast<double>(area.min.x), static_cast<double>(area.max.x));
  widgets::AxisTicks ticks;
  widgets::layout_ticks({.unit = "s"}, {0, out.longest_s}, map, {[](std::string_view s) { return widgets::measure_text(s, Type::small); }, small}, ticks);
  const float body = area.min.y + l.header_height;
  p.rect(area.min, {area.max.x, body}, t.card, t.px(4));
  for (const widgets::Tick& tick : ticks.major()) {
    const auto x = static_cast<float>(tick.pixel), half = widgets::text_size(tick.label, Type::small, Font::mono).x / 2;
    p.line({x, body}, {x, body + body_height}, t.grid);
    if (x - half < area.min.x || x + half > area.max.x - t.px(70)) continue;
    p.text({x, area.min.y + (l.header_height - small) / 2}, tick.label, t.muted, Type::small, Font::mono, Align::center);
  }
  Line unit;
  unit.add(ticks.unit).add(" a step");
  p.text({area.max.x - t.px(4), area.min.y + (l.header_height - small) / 2}, unit.view(), t.muted, Type::small, Font::sans, Align::right);
  double scroll = view.table.scroll_rows;
  const widgets::RowWindow window = widgets::visible_rows(out.operations.size(), l.row_height, body_height, scroll);
  p.clip({area.min.x, body}, {area.max.x + t.px(8), body + body_height});
  for (std::size_t position = window.first; position < window.end; ++position) {
    const std::size_t index = widgets::row_at(view.table, position);
    const OperationRow& row = out.operations[index];
    const float y = body + window.offset + static_cast<float>(position - window.first) * l.row_height;
    const float thick = std::max(2.0f, l.row_height * 0.26f), middle = y + l.row_height / 2;
    const float top = std::max(y, body), bottom = std::min(y + l.row_height, body + body_height);
    if (bottom - top >= 1) {
      ImGui::SetCursorScreenPos({area.min.x, top});
      ImGui::PushID(static_cast<int>(index));
      Line label;
      label.add(row.name).add("##bars");
      if (ImGui::InvisibleButton(label.c_str(), {area.width(), bottom - top})) select(view, index);
      ImGui::PopID();
      if (ImGui::IsItemHovered()) tell(row);
    }
    if (is_selected(view, index)) p.rect({area.min.x, y}, {area.max.x, y + l.row_height}, with_alpha(t.accent, 0.16f));
    const double n = count_of(row);
    const auto end_of = [&](double time_s) { return static_cast<float>(map.pixel(n * time_s)); };
    const auto bar = [&](float from_y, double time_s, models::Regime regime) {
      const bool decides = row.regime == regime;
      p.rect({area.min.x, from_y}, {std::max(end_of(time_s), area.min.x + 1), from_y + thick}, with_alpha(t.of(meaning_of(regime)), decides ? 1.0f : 0.4f), t.px(1.5f));
    };
    bar(middle - thick - 0.5f, row.memory_s, models::Regime::memory);
    bar(middle + 0.5f, row.compute_s, models::Regime::compute);
    const bool first_of_section = view.table.rows_in_order.empty() && (index == 0 || out.operations[index - 1].section != row.section || out.operations[index - 1].kind != row.kind);
    if (first_of_section && end_of(row.time_s) + widgets::text_size(row.section, Type::small).x + t.px(16) < area.max.x)
      p.text({area.max.x - t.px(6), middle - small / 2}, row.section, t.muted, Type::small, Font::sans, Align::right);
    if (first_of_section && index > 0) p.line({area.min.x, y}, {area.max.x, y}, t.line);
    if (row.launch_s > 0) p.rect({end_of(row.launch_s) - 1, y + t.px(3)}, {end_of(row.launch_s) + 1, y + l.row_height - t.px(3)}, t.of(Meaning::launch_bound));
  }
  p.unclip();
}

void draw_operations(const Outputs& out, View& view, float width, float height) {
  const Theme& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool parts = width > t.px(980) && out.layers.size() > 1;
  widgets::TableColumn chosen[std::size(columns)];
  std::size_t n = 0;
  for (std::size_t i = 0; i < std::size(columns); ++i)
    if (i != part_column || parts) chosen[n++] = columns[i];
  struct Context {
    const std::vector<OperationRow>* rows;
    bool parts;
    std::size_t column(std::size_t i) const { return parts || i == 0 ? i : i + 1; }
  } context{&out.operations, parts};
  const widgets::TableSource source{
      .context = &context, .rows = out.operations.size(), .version = out.version + (parts ? 1 : 0),
      .cell = [](void* c, std::size_t row, std::size_t column, widgets::TableCell& to) {
        auto* x = static_cast<Context*>(c);
        cell(const_cast<std::vector<OperationRow>*>(x->rows), row, x->column(column), to);
      },
      .key = [](void* c, std::size_t row, std::size_t column) {
        auto* x = static_cast<Context*>(c);
        return value_of((*x->rows)[row], x->column(column));
      },
      .mark = [](void* c, std::size_t row) {
        const auto regime = (*static_cast<Context*>(c)->rows)[row].regime;
        return widgets::RowMark{shape_of(regime), theme().of(meaning_of(regime))};
      },
      .hover = [](void* c, std::size_t row, std::size_t) { return std::string_view((*static_cast<Context*>(c)->rows)[row].detail); }};
  const float table = std::min(width * 0.62f, t.px(parts ? 720 : 600));
  widgets::draw_table("operations", {chosen, n}, source, view.table, {table, height});
  const float left = at.x + table + t.px(14);
  draw_pairs(out, view, {{left, at.y}, {at.x + width - t.px(8), at.y + height}}, height - view.table.layout.header_height);
}

void draw_totals(const Outputs& out, View& view, float width, float height) {
  const Theme& t = theme();
  constexpr std::string_view blocks[block_count] = {"projections", "attention", "feed-forward", "norms and adds", "embedding, output"};
  constexpr widgets::Tint tints[block_count] = {widgets::Tint::series(0), widgets::Tint::series(3), widgets::Tint::series(6), widgets::Tint::series(7), widgets::Tint()};
  widgets::BarSegment times[3][block_count];
  widgets::StackedBar variants[3];
  const std::size_t n = std::min<std::size_t>(out.variants.size(), 3);
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t b = 0; b < block_count; ++b) times[v][b] = {.label = blocks[b], .value = out.variants[v].time_s[b], .tint = tints[b]};
    variants[v] = {.label = out.variants[v].label, .segments = times[v]};
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float left = width * 0.56f - t.px(12);
  widgets::draw_stacked_bars("time of the step", {variants, n}, view.time_bars, {.unit = "s", .size = {left, height}, .bar_px = 20});

  constexpr std::string_view parts[4] = {"embedding, output", "attention", "feed-forward", "norms"};
  constexpr widgets::Tint part_tints[4] = {widgets::Tint(), widgets::Tint::series(0), widgets::Tint::series(6), widgets::Tint::series(7)};
  widgets::BarSegment stored[4], active[4];
  for (std::size_t i = 0; i < 4; ++i) {
    stored[i] = {.label = parts[i], .value = static_cast<double>(out.stored[i]), .tint = part_tints[i]};
    active[i] = {.label = parts[i], .value = static_cast<double>(out.active[i]), .tint = part_tints[i]};
  }
  const bool sparse = out.parameters_active != out.parameters_total;
  const widgets::StackedBar counts[2] = {{.label = sparse ? "stored" : "parameters", .segments = stored}, {.label = "a token uses", .segments = active}};
  ImGui::SetCursorScreenPos({at.x + width * 0.56f + t.px(12), at.y});
  widgets::draw_stacked_bars("parameters", {counts, sparse ? 2u : 1u}, view.parameter_bars, {.unit = "parameters", .size = {width * 0.44f - t.px(12), height}, .bar_px = 20});
}

}  // namespace

void describe(Fields& f, View& view) {
  f.integer("selected", view.table.selected, {.label = "Selected operation", .help = "Row of the table, -1 for none.", .lo = -1, .hi = 1023});
  f.integer("layer", view.layer, {.label = "Kind of layer", .help = "Which kind of layer is drawn, -1 for the one that takes longest.", .lo = -1, .hi = 63});
}

void draw(Inputs& in, const Outputs& out, View& view) {
  if (!out.reason.empty() || out.operations.empty()) return;
  const Theme& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float line = t.type(Type::small) + t.px(5), width = room.x;
  p.text_fit(at, out.subject, width, t.text, Type::small);
  p.text_fit({at.x, at.y + line}, out.convention, width, t.muted, Type::small);
  if (!out.capacity.empty()) p.text_fit({at.x, at.y + 2 * line}, out.capacity, width, t.warning, Type::small);
  const float head = line * (out.capacity.empty() ? 2.0f : 3.0f) + t.px(4), flow = t.px(128), totals = t.px(132), gap = t.px(10);
  // As many whole rows as there is room for.
  widgets::TableLayout rows;
  widgets::arrange_columns({}, rows, 0, false);
  const float left = std::max(t.px(190), room.y - head - flow - totals - 2 * gap - t.px(4)) - rows.header_height;
  const float fit = std::min(std::floor(left / rows.row_height), static_cast<float>(out.operations.size()));
  const float table = rows.header_height + fit * rows.row_height + 1;
  ImGui::SetCursorScreenPos({at.x, at.y + head});
  draw_flow(out, view, in.launch_s > 0, width, flow);
  ImGui::SetCursorScreenPos({at.x, at.y + head + flow + gap});
  draw_operations(out, view, width, table);
  ImGui::SetCursorScreenPos({at.x, at.y + head + flow + table + 2 * gap});
  draw_totals(out, view, width, totals);
}

}  // namespace chapters::roofline::layer
