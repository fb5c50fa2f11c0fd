#include <algorithm>
#include <cmath>

#include "chapters/gallery/widgets/rooms.h"
#include "widgets/base/parts.h"
#include "widgets/plot/axis.h"

namespace chapters::gallery::widgets {

using ::widgets::AxisKind;
using ::widgets::Font;
using ::widgets::Meaning;
using ::widgets::Painter;
using ::widgets::Plot;
using ::widgets::theme;
using ::widgets::Type;

void heading(std::string_view name, std::string_view options) {
  const auto& t = theme();
  const Painter p = Painter::window();
  ImGui::Dummy({0, t.px(10)});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float used = p.text(at, name, t.text, Type::body, Font::bold);
  p.text_fit({at.x + used + t.px(12), at.y + t.px(2)}, options, width - used - t.px(12), t.muted, Type::small);
  p.line({at.x, at.y + t.px(22)}, {at.x + width, at.y + t.px(22)}, t.line);
  ImGui::Dummy({width, t.px(28)});
}

void draw_theme(Views& views) {
  heading("theme", "Meaning, series_at, heat; every colour has a letter, a shape or text beside it");
  const auto& t = theme();
  const Painter p = Painter::window();
  constexpr std::string_view names[] = {"forward",      "backward", "weight gradient", "optimizer",     "communication",
                                        "data loading", "KV cache", "memory-bound",    "compute-bound", "launch-bound",
                                        "idle"};
  std::array<::widgets::LegendEntry, std::size(names)> entries;
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {names[i], static_cast<Meaning>(i)};
  const float width = ImGui::GetContentRegionAvail().x;
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
  ImGui::Dummy({width, legend + t.px(28)});
}

void draw_axes() {
  heading("axis", "AxisKind: linear, log10, log2, time, linear_bytes; one unit for the whole axis");
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
  const float width = ImGui::GetContentRegionAvail().x, left = t.px(64), right = t.px(70), height = t.px(34);
  ::widgets::AxisTicks ticks;
  for (const Row& row : rows) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
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
    ImGui::Dummy({width, height});
  }
}

void draw_plots(const Sample& s, Views& v) {
  const auto& t = theme();
  const float half = std::floor((ImGui::GetContentRegionAvail().x - t.px(16)) / 2);
  heading("plot",
          "line, steps, area, scatter, error bars, marks, arrow, text, handles that drag; legend toggles, wheel zooms, "
          "drag pans");
  {
    Plot plot("all kinds", v.kinds,
              {
                  .x = {.kind = AxisKind::log10, .label = "intensity", .unit = "FLOP/B"},
                  .y = {.kind = AxisKind::log10, .label = "rate", .unit = "FLOP/s"},
                  .size = {0, t.px(320)},
                  .title = "Every mark on logarithmic axes",
              });
    plot.area("band", s.few_x, s.high, s.low, {.info = "area between two curves"});
    plot.line("line", s.few_x, s.curve, {.info = "min(peak, bandwidth x intensity), with noise"});
    plot.steps("steps", s.few_x, s.low, {.dashed = true});
    plot.error_bars(s.few_x, s.low, s.high);
    plot.scatter("dots", s.few_x, s.curve, {.marker = ::widgets::Marker::square, .radius = 4});
    plot.vertical_mark(300, "ridge 300");
    plot.horizontal_mark(9e12, "ceiling");
    plot.arrow(2, 4e11, 20, 2e12, "fuse");
    plot.text(4, 4e12, "a label in place");
    plot.drag_point("drag the point", v.handle_x, v.handle_y, {.label = "drag me", .lo = 1, .hi = 1e4});
    plot.drag_x("drag the mark", v.mark_x, {.lo = 1, .hi = 1e4});
  }
  constexpr std::string_view days[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  constexpr double places[] = {0, 1, 2, 3, 4, 5, 6, 7};
  constexpr std::string_view layers[] = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"};
  const std::span<const std::string_view> names(layers, s.layers.size() / 8);
  {
    Plot plot("bars", v.bars,
              {
                  .x = {.categories = days},
                  .y = {.label = "share", .unit = "%"},
                  .size = {half, t.px(220)},
                  .title = "Bars",
              });
    plot.bars("bars", places, s.bars);
  }
  ImGui::SameLine(0, t.px(16));
  {
    Plot plot("stacked", v.stacked,
              {
                  .x = {.categories = days},
                  .y = {.label = "memory", .unit = "B"},
                  .size = {half, t.px(220)},
                  .title = "Stacked bars",
              });
    plot.stacked(names, places, s.layers, {.bars = true});
  }
  {
    Plot plot("areas", v.areas,
              {
                  .x = {.label = "step"},
                  .y = {.label = "time", .unit = "s"},
                  .size = {half, t.px(220)},
                  .title = "Stacked areas",
              });
    plot.stacked(names, places, s.layers);
  }
  ImGui::SameLine(0, t.px(16));
  {
    Plot plot("long line", v.long_line,
              {
                  .x = {.label = "sample"},
                  .y = {.label = "value"},
                  .size = {half, t.px(220)},
                  .title = "A long line, reduced to what pixels show",
              });
    plot.line("signal", s.x, s.wave,
              {.width = 1.2f, .label = false, .info = "minimum and maximum of every pixel column"});
  }
}

}  // namespace chapters::gallery::widgets
