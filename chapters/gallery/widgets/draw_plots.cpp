#include <algorithm>
#include <cmath>

#include "chapters/gallery/widgets/rooms.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/plot/axis.h"

namespace chapters::gallery::widgets {

using ::widgets::AxisKind, ::widgets::Font, ::widgets::Meaning, ::widgets::Painter, ::widgets::Plot, ::widgets::theme,
    ::widgets::Type;

ImVec2 shows(std::string_view options, ImVec2 size) {
  const auto& t = theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = std::floor(::widgets::wrapped_text(Painter::window(), at, options, size.x, t.muted) + t.px(6));
  ImGui::Dummy({size.x, height + 1});
  ImGui::SetCursorScreenPos({at.x, at.y + height});
  return {size.x, std::max(size.y - height, 1.0f)};
}

void draw_theme(::widgets::Stage& stage, Views& views) {
  stage.panel("theme", {.title = "theme", .least = {380, 130}, .ideal = {0, 150}}, [&](ImVec2 whole) {
    const float width =
        shows("Meaning, series_at, heat; every colour has a letter, a shape or text next to it", whole).x;
    const auto& t = theme();
    const Painter p = Painter::window();
    constexpr std::string_view names[] = {
        "forward",  "backward",     "weight gradient", "optimizer",    "communication", "data loading",
        "KV cache", "memory-bound", "compute-bound",   "launch-bound", "idle"};
    std::array<::widgets::LegendEntry, std::size(names)> entries;
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {names[i], static_cast<Meaning>(i)};
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float legend =
        ::widgets::layout_legend(entries, width, ::widgets::legend_row_px(), ::widgets::measure_text, views.placed);
    ::widgets::paint_legend(p, at, width, entries, views.placed);
    const float y = at.y + legend + t.px(6), step = std::floor(std::min(t.px(34), width / 32));
    for (std::size_t i = 0; i < t.series.size(); ++i) {
      const float x = at.x + step * static_cast<float>(i);
      p.rect({x, y}, {x + step - t.px(3), y + t.px(16)}, t.series_at(i), t.px(2));
    }
    const float ramp = at.x + step * 9;
    for (int i = 0; i < 64; ++i) {
      const float x = ramp + step * 0.25f * static_cast<float>(i);
      p.rect({x, y}, {x + step * 0.25f + 1, y + t.px(16)}, ::widgets::heat(t, i / 63.0));
    }
  });
}

void draw_axes(::widgets::Stage& stage) {
  stage.panel("axis", {.title = "axis", .least = {420, 200}, .ideal = {0, 210}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("AxisKind: linear, log10, log2, time, linear_bytes; one unit for the whole axis", whole);
    const auto& t = theme();
    const Painter p = Painter::window();
    struct Row {
      std::string_view name;
      AxisKind kind;
      ::widgets::Range range;
      std::string_view unit;
    };
    const Row rows[] = {{"linear", AxisKind::linear, {0, 3.4e12}, "B/s"},
                        {"log10", AxisKind::log10, {1e-2, 1e4}, "FLOP/B"},
                        {"log2", AxisKind::log2, {1, 65536}, "tokens"},
                        {"time", AxisKind::time, {0, 5400}, "s"},
                        {"linear_bytes", AxisKind::linear_bytes, {0, 96.0 * 1073741824.0}, "B"}};
    const float width = size.x, left = t.px(84), right = t.px(70),
                height = size.y / static_cast<float>(std::size(rows));
    if (height < t.px(30)) return;
    const ImVec2 from = ImGui::GetCursorScreenPos();
    ::widgets::AxisTicks ticks;
    for (std::size_t i = 0; i < std::size(rows); ++i) {
      const Row& row = rows[i];
      const ImVec2 at{from.x, from.y + height * static_cast<float>(i)};
      const ::widgets::AxisSpec spec{.kind = row.kind, .unit = row.unit};
      const ::widgets::AxisMap map(row.kind, row.range, static_cast<double>(at.x + left),
                                   static_cast<double>(at.x + width - right));
      ::widgets::layout_ticks(
          spec, row.range, map,
          {[](std::string_view s) { return ::widgets::measure_text(s, Type::small); }, t.type(Type::small)}, ticks);
      p.text({at.x, at.y - t.px(2)}, row.name, t.muted, Type::small);
      p.line({at.x + left, at.y + t.px(6)}, {at.x + width - right, at.y + t.px(6)}, t.line);
      for (const double x : ticks.minor())
        p.line({static_cast<float>(x), at.y + t.px(6)}, {static_cast<float>(x), at.y + t.px(9)}, t.line);
      for (const auto& tick : ticks.major()) {
        const auto x = static_cast<float>(tick.pixel);
        p.line({x, at.y + t.px(6)}, {x, at.y + t.px(12)}, t.muted);
        p.text({x, at.y + t.px(14)}, tick.label, t.text, Type::small, Font::mono, ::widgets::Align::center);
      }
      p.text({at.x + width - right + t.px(10), at.y - t.px(2)}, ticks.unit, t.muted, Type::small);
    }
  });
}

void draw_plots(::widgets::Stage& stage, const Sample& s, Views& v) {
  stage.panel("kinds", {.title = "plot", .least = {520, 260}, .answers = true}, [&](ImVec2 whole) {
    const ImVec2 size = shows(
        "line, steps, area, scatter, error bars, marks, arrow, text, handles that drag; legend toggles, wheel zooms, "
        "drag pans",
        whole);
    Plot plot("all kinds", v.kinds,
              {
                  .x = {.kind = AxisKind::log10, .label = "intensity", .unit = "FLOP/B"},
                  .y = {.kind = AxisKind::log10, .label = "rate", .unit = "FLOP/s"},
                  .size = size,
                  .title = "Every mark on logarithmic axes",
              });
    plot.area("band", s.few_x, s.high, s.low, {.info = "area between two curves"});
    plot.line("line", s.few_x, s.curve, {.label = false, .info = "min(peak, bandwidth x intensity), with noise"});
    plot.steps("steps", s.few_x, s.low, {.dashed = true, .label = false});
    plot.error_bars(s.few_x, s.low, s.high);
    plot.scatter("dots", s.few_x, s.curve, {.marker = ::widgets::Marker::square, .radius = 4});
    plot.vertical_mark(300, "ridge 300");
    plot.horizontal_mark(9e12, "ceiling");
    plot.arrow(2, 4e11, 20, 2e12, "fuse");
    plot.text(4, 4e12, "a label in place");
    plot.drag_point("drag the point", v.handle_x, v.handle_y, {.label = "drag me", .lo = 1, .hi = 1e4});
    plot.drag_x("drag the mark", v.mark_x, {.lo = 1, .hi = 1e4});
  });
  static constexpr std::string_view days[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  static constexpr double places[] = {0, 1, 2, 3, 4, 5, 6, 7};
  static constexpr std::string_view layers[] = {"first", "second", "third",   "fourth",
                                                "fifth", "sixth",  "seventh", "eighth"};
  stage.panel("bars", {.title = "bars", .least = {360, 200}}, [&](ImVec2 size) {
    Plot plot("bars", v.bars, {.x = {.categories = days}, .y = {.label = "share", .unit = "%"}, .size = size});
    plot.bars("bars", places, s.bars);
  });
  stage.panel("stacked", {.title = "stacked bars", .least = {360, 200}}, [&](ImVec2 size) {
    Plot plot("stacked", v.stacked, {.x = {.categories = days}, .y = {.label = "memory", .unit = "B"}, .size = size});
    plot.stacked({layers, s.layers.size() / 8}, places, s.layers, {.bars = true});
  });
  stage.panel("areas", {.title = "stacked areas", .least = {360, 200}}, [&](ImVec2 size) {
    Plot plot("areas", v.areas, {.x = {.label = "step"}, .y = {.label = "time", .unit = "s"}, .size = size});
    plot.stacked({layers, s.layers.size() / 8}, places, s.layers);
  });
  stage.panel("long line", {.title = "a long line, reduced to what pixels show", .least = {360, 200}},
              [&](ImVec2 size) {
                Plot plot("long line", v.long_line, {.x = {.label = "sample"}, .y = {.label = "value"}, .size = size});
                plot.line("signal", s.x, s.wave,
                          {.width = 1.2f, .label = false, .info = "minimum and maximum of every pixel column"});
              });
}

}  // namespace chapters::gallery::widgets
