#include <algorithm>
#include <cmath>

#include "chapters/kernels/occupancy/lab.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/controls/button.h"
#include "widgets/plot/plot.h"

namespace chapters::kernels::occupancy {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Plot, widgets::Rect, widgets::Type;

/// A small square of the tile's sums, as large as its side asks for.
void paint_tile(const Painter& p, ImVec2 middle, int side, float px, ImU32 ink) {
  const float cell = px / static_cast<float>(side), from_x = middle.x - px / 2, from_y = middle.y - px / 2;
  const float gap = cell > 3 ? 1.0f : 0.0f;
  for (int row = 0; row < side; ++row)
    for (int column = 0; column < side; ++column) {
      const ImVec2 at{from_x + static_cast<float>(column) * cell, from_y + static_cast<float>(row) * cell};
      p.rect(at, {at.x + cell - gap, at.y + cell - gap}, ink);
    }
}

/// Under the plot: each tile that was compiled, where it stands on the axis; `told` in two lines.
void paint_tiles(const Picture& picture, const widgets::PlotFrame& frame, float top, float right, bool told) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), icon = told ? t.px(22) : small;
  for (std::size_t i = 0; i < picture.tile_names.size(); ++i) {
    const auto& tile = picture.run->tiles[i];
    const float x = static_cast<float>(frame.x.pixel(tile.adds_per_value));
    const float name = widgets::text_size(picture.tile_names[i], Type::small, Font::bold).x;
    const float words = told ? std::max(name, widgets::text_size(picture.tile_words[i], Type::small).x) : name;
    const float left = std::min(x - icon / 2, right - icon - t.px(8) - words);
    paint_tile(p, {left + icon / 2, top + icon / 2 + (told ? t.px(4) : 0)}, tile.compiled.side,
               icon * (0.4f + 0.15f * static_cast<float>(i)), tile.compiled.spill_store_bytes > 0 ? t.bad : t.muted);
    p.text({left + icon + t.px(8), top}, picture.tile_names[i], t.text, Type::small, Font::bold);
    if (told) p.text({left + icon + t.px(8), top + small + t.px(2)}, picture.tile_words[i], t.muted, Type::small);
  }
}

widgets::PlotOptions cross_options(ImVec2 size, bool legend) {
  return {
      .x = {.kind = widgets::AxisKind::log10, .lo = 0.4, .hi = 11, .label = "multiply-adds per value read", .unit = ""},
      .y = {.lo = 0, .hi = 109, .label = "of the warp slots, of the FMA pipes", .unit = "%"},
      .size = size,
      .legend = legend,
      .ghost = false};
}

/// Occupancy falls and the feed rate rises with the tile; the thread's own tile stands where it is.
void draw_cross(Inputs& in, const Outputs& out, const Picture& picture, View& view, Rect area) {
  const auto& t = widgets::theme();
  // Where it is low the plot itself comes first: names stand at its lines, and tiles in one row.
  const bool roomy = area.height() > t.px(215), tiles = area.height() > t.px(120);
  const float row = (roomy ? 2 : 1) * t.type(Type::small) + t.px(10);
  if (!picture.cross_words.empty()) {
    Painter::window().text_fit(area.min, picture.cross_words, area.width(), t.muted, Type::small);
    area.min.y += t.type(Type::small) + t.px(6);
  }
  ImGui::SetCursorScreenPos(area.min);
  const ImVec2 size{area.width(), area.height() - (tiles ? row : 0)};
  Plot plot("crossing", view.cross, cross_options(size, roomy));
  plot.curve(picture.spilling);
  plot.curves(picture.cross);
  plot.curves(picture.points);
  if (roomy) {
    plot.text(7.6, 58, picture.wall_words, {.colour = t.bad});
  } else {
    plot.text(0.42, 62, picture.cross[0].label, {.colour = widgets::colour(picture.cross[0].tint, t)});
    plot.text(0.42, 30, picture.cross[1].label, {.colour = widgets::colour(picture.cross[1].tint, t)});
  }
  plot.scatter("occupancy of your kernel", {&out.adds_per_value, 1}, {&out.occupancy, 1},
               {.colour = t.accent,
                .marker = widgets::Marker::square,
                .radius = 6,
                .legend = false,
                .info = "as set",
                .output = "occupancy"});
  double at = out.adds_per_value, feed = out.feed;
  if (!std::isnan(at) &&
      plot.drag_point("drag the tile", at, feed,
                      {.label = "your tile", .lo = 0.5, .hi = 8, .y_lo = 0, .y_hi = 100, .output = "feed"})) {
    const std::int64_t side = std::clamp<std::int64_t>(std::llround(2 * at), 1, 16);
    in.tile_rows = side;
    in.tile_columns = side;
  }
  plot.end();
  if (tiles) paint_tiles(picture, plot.frame(), area.max.y - row + t.px(4), area.max.x, roomy);
}

/// The row of a text's kernels over the vessels: paste, choose, and what is said of the chosen one. Returns its height.
float draw_text_row(Inputs& in, const Picture& picture, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  ImGui::SetCursorScreenPos(at);
  constexpr const char* paste = "Paste compiler output";
  const ImVec2 size = widgets::button_size(paste);
  if (widgets::button(paste, in.ptxas.empty())) {
    const char* text = ImGui::GetClipboardText();
    in.ptxas = std::string(text ? text : "").substr(0, 60'000);
    in.ptxas_kernel = 1;
  }
  const Painter p = Painter::window();
  const float small = t.type(Type::small), y = at.y + (size.y - small) / 2;
  float x = at.x + size.x + t.px(14);
  const auto chosen = static_cast<std::size_t>(std::max<std::int64_t>(0, in.ptxas_kernel - 1));
  for (std::size_t i = 0; i < picture.kernel_chips.size() && picture.kernel_chips.size() > 1; ++i) {
    const std::string& name = picture.kernel_chips[i];
    const float w = widgets::text_size(name, Type::small).x + t.px(14);
    if (x + w > at.x + width) break;
    ImGui::SetCursorScreenPos({x, at.y});
    ImGui::PushID(static_cast<int>(i));
    const bool on = i == std::min(chosen, picture.kernel_chips.size() - 1);
    if (widgets::press_area("kernel", {w, size.y})) in.ptxas_kernel = static_cast<std::int64_t>(i) + 1;
    const bool lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    ImGui::PopID();
    if (on || lit) p.frame({x, at.y}, {x + w, at.y + size.y}, on ? t.accent : t.line, t.px(1.5f), t.px(5));
    p.text({x + t.px(7), y}, name, on ? t.text : t.muted, Type::small);
    x += w + t.px(4);
  }
  p.text_fit({at.x, at.y + size.y + t.px(5)}, picture.kernel_words, width, t.text, Type::small);
  return size.y + small + t.px(12);
}

void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  float top = at.y;
  if (in.source == Source::ptxas && !widgets::veiled()) top += draw_text_row(in, picture, at, size.x);
  if (!picture.run || !picture.run->sm) {
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(size);
    return;
  }
  const float left = at.y + size.y - top, gap = t.px(16);
  const bool crossing = left > t.px(220);  // a plot that is lower says nothing
  const bool low = left < t.px(420);
  const float vessels = crossing ? std::floor((low ? 0.44f : 0.51f) * (left - gap)) : left;
  const Rect upper{{at.x, top}, {at.x + size.x, top + vessels}};
  const Rect lower{{at.x, upper.max.y + gap}, {at.x + size.x, at.y + size.y}};
  if (widgets::veiled()) {
    const widgets::GivenMarks given;
    draw_vessels(in, out, picture, {at, {at.x + size.x, at.y + size.y - t.px(26)}});
  } else {
    draw_vessels(in, out, picture, upper);
    widgets::drew("vessels");
    if (crossing) {
      draw_cross(in, out, picture, view, lower);
      widgets::drew("crossing");
    }
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

/// The three curves beside each other, and under them what one less gives.
void draw_three(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(18), line = 2.8f * t.type(Type::small) + t.px(14);
  const ImVec2 each{(size.x - 2 * gap) / 3, size.y - line};
  const auto place = [&](std::size_t i) {
    ImGui::SetCursorScreenPos({at.x + static_cast<float>(i) * (each.x + gap), at.y});
  };
  const auto axis = [](double hi, std::string_view label, std::string_view unit, bool binary) {
    return widgets::AxisSpec{.kind = binary ? widgets::AxisKind::linear_bytes : widgets::AxisKind::linear,
                             .lo = 0,
                             .hi = hi,
                             .label = label,
                             .unit = unit,
                             .binary = binary};
  };
  const auto one = [&](const char* id, const char* handle, widgets::PlotView& plot_view, const widgets::AxisSpec& x,
                       std::size_t i, double value, double lo, auto set) {
    place(i);
    Plot plot(id, plot_view,
              {.x = x, .y = {.lo = 0, .hi = 105, .label = "occupancy", .unit = "%"}, .size = each, .legend = false});
    plot.curve(picture.three[i]);
    plot.scatter("as set", {&value, 1}, {&out.occupancy, 1},
                 {.colour = t.accent, .radius = 6, .legend = false, .output = "occupancy"});
    double moved = value;
    if (plot.drag_x(handle, moved, {.lo = lo, .hi = x.hi})) {
      take_in_hand(in, out);
      set(static_cast<std::int64_t>(std::llround(moved)));
    }
  };
  one("registers", "registers axis", view.registers, axis(260, "registers per thread", "", false), 0,
      static_cast<double>(out.registers), 1,
      [&](std::int64_t n) { in.registers_per_thread = std::clamp<std::int64_t>(n, 1, 255); });
  one("threads", "threads axis", view.threads, axis(1056, "threads per block", "", false), 1,
      static_cast<double>(in.block_threads), 1,
      [&](std::int64_t n) { in.block_threads = 32 * std::clamp<std::int64_t>((n + 16) / 32, 1, 32); });
  one("shared memory", "shared memory axis", view.shared, axis(picture.shared_top, "shared memory", "B", true), 2,
      static_cast<double>(out.static_bytes + in.dynamic_shared_bytes), 0, [&](std::int64_t n) {
        const std::int64_t bytes = std::clamp<std::int64_t>(n / 256 * 256, 0, 233472);
        in.static_shared_bytes = std::min(in.static_shared_bytes, bytes);
        in.dynamic_shared_bytes = bytes - in.static_shared_bytes;
      });
  widgets::wrapped_text(Painter::window(), {at.x, at.y + size.y - line + t.px(10)}, picture.less_words, size.x, t.text,
                        {.type = Type::small, .max_lines = 2});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

void paint_gates(const Outputs& out, const Picture& picture, Rect area) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float small = t.type(Type::small), bar = t.px(12);
  const float row =
      std::min(t.px(58), area.height() / static_cast<float>(std::max<std::size_t>(1, picture.gates.size())));
  const bool why = row > 2 * small + bar + t.px(10);
  float y = area.min.y;
  for (const GateBar& gate : picture.gates) {
    const bool least = gate.least && !std::isnan(out.rate);
    const ImU32 ink = least ? t.warning : t.text;
    const float figure = widgets::text_size(gate.value, Type::small, Font::mono).x + t.px(8);
    p.text_fit({area.min.x, y}, gate.name, area.width() - figure, ink, Type::small, least ? Font::bold : Font::sans);
    p.text({area.max.x, y}, gate.value, ink, Type::small, Font::mono, Align::right);
    const float at = y + small + t.px(3);
    const float end = area.min.x + area.width() * static_cast<float>(std::clamp(gate.percent, 0.0, 100.0) / 100);
    p.rect({area.min.x, at}, {area.max.x, at + bar}, t.card, t.px(2));
    p.rect({area.min.x, at}, {end, at + bar}, least ? t.warning : t.muted, t.px(2));
    if (why) p.text_fit({area.min.x, at + bar + t.px(3)}, gate.why, area.width(), t.muted, Type::small);
    y += row;
  }
}

/// What each gate allows, and how many warps the latencies ask for at each tile.
void draw_feed(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = t.type(Type::small) + t.px(8), gap = t.px(24), left = std::floor(0.44f * (size.x - gap));
  const Painter p = Painter::window();
  if (picture.gates.empty()) {
    widgets::wrapped_text(p, at, picture.gates_words, std::min(size.x, t.px(640)), t.text, {.type = Type::small});
    return ImGui::Dummy(size);
  }
  p.text_fit(at, picture.gates_words, left, t.muted, Type::small);
  paint_gates(out, picture, {{at.x, at.y + line}, {at.x + left, at.y + size.y}});
  p.text_fit({at.x + left + gap, at.y}, picture.latency_words, size.x - left - gap, t.text, Type::small);
  ImGui::SetCursorScreenPos({at.x + left + gap, at.y + line});
  {
    Plot plot("latencies", view.latency,
              {.x = {.lo = 0, .label = "warps on an SM", .unit = ""},
               .y = {.lo = 0, .hi = 105, .label = "latencies covered, by tile", .unit = "%"},
               .size = {size.x - left - gap, size.y - line},
               .legend = false,
               .end_labels = true});
    plot.curves(picture.latency);
    const double warps = static_cast<double>(out.warps);
    plot.scatter("your kernel", {&warps, 1}, {&picture.latency_covered, 1},
                 {.colour = t.accent, .radius = 6, .legend = false, .output = "load_latency"});
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace

void take_in_hand(Inputs& in, const Outputs& out) {
  if (in.source == Source::hand) return;
  in.source = Source::hand;
  in.registers_per_thread = out.registers;
  in.static_shared_bytes = std::min<std::int64_t>(out.static_bytes, 49152);
  in.barriers = std::clamp<std::int64_t>(out.barriers_used, 1, 16);
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("sm", {.title = "The SM", .least = {560, 430}, .answers = true, .marks = "vessels, crossing"},
              [&](ImVec2 size) {
                draw_over_doors(picture.doors, size, view.requests,
                                [&](ImVec2 rest) { draw_hero(in, out, picture, view, rest); });
              });
  stage.panel("feed", {.title = "What feeds the pipes", .least = {520, 230}, .ideal = {0, 300}},
              [&](ImVec2 size) { draw_feed(out, picture, view, size); });
  stage.panel("three", {.title = "Against registers, threads, shared memory", .least = {520, 230}, .ideal = {0, 290}},
              [&](ImVec2 size) { draw_three(in, out, picture, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::kernels::occupancy
