#include <algorithm>
#include <array>

#include "chapters/roofline/roofline/lab.h"

namespace chapters::roofline::roofline {
namespace {

using widgets::AxisKind;
using widgets::Marker;
using widgets::Meaning;
using widgets::Plot;
using widgets::theme;
using widgets::with_alpha;
using Line = Picture::Line;
using Dots = Picture::Dots;

struct RegimeStyle {
  const char* name;
  Meaning meaning;
  Marker marker;
};
constexpr std::array<RegimeStyle, 3> styles{{{"memory-bound", Meaning::memory_bound, Marker::circle},
                                             {"compute-bound", Meaning::compute_bound, Marker::square},
                                             {"launch-bound", Meaning::launch_bound, Marker::triangle}}};

static_assert(styles.size() == static_cast<std::size_t>(models::Regime::launch) + 1);

/// Hues that stand apart from the accent of the chosen chip.
constexpr std::array<std::size_t, 4> chip_colours{3, 1, 4, 5};

void draw_line(Plot& plot, const Line& line, ImU32 colour, float width, bool dashed, bool legend = false) {
  if (!line.xs.empty())
    plot.line(line.label, line.xs, line.ys,
              {
                  .colour = colour,
                  .width = width,
                  .dashed = dashed,
                  .legend = legend,
                  .info = line.info,
              });
}

/// So many dots have their names beside them; the others say them on hover.
constexpr std::size_t max_names = 64;

void draw_dots(Plot& plot, const char* name, const Dots& dots, ImU32 colour, Marker marker, float radius, bool legend) {
  std::array<std::string_view, max_names> names;
  const std::size_t n = std::min(dots.labels.size(), max_names);
  std::copy_n(dots.labels.begin(), n, names.begin());
  if (legend || !dots.xs.empty())
    plot.scatter(name, dots.xs, dots.ys,
                 {
                     .colour = colour,
                     .marker = marker,
                     .radius = radius,
                     .labels = {names.data(), n},
                     .legend = legend,
                 });
}

/// A click on a dot, not the end of a drag, puts the ring on it.
void choose_clicked(const Plot& plot, const Picture& pic, Inputs& in) {
  const ImGuiIO& io = ImGui::GetIO();
  const float still = io.MouseDragThreshold;
  if (!ImGui::IsMouseReleased(0) || io.MouseDragMaxDistanceSqr[0] > still * still || !ImGui::IsWindowHovered() ||
      !plot.frame().area.contains(io.MousePos))
    return;
  const float reach = theme().px(9);
  float best = reach * reach;
  for (const auto* sets : {&pic.dots, &pic.steps})
    for (const Dots& dots : *sets)
      for (std::size_t i = 0; i < dots.operations.size(); ++i) {
        const float dx = static_cast<float>(plot.frame().x.pixel(dots.xs[i])) - io.MousePos.x;
        const float dy = static_cast<float>(plot.frame().y.pixel(dots.ys[i])) - io.MousePos.y;
        if (dots.operations[i].empty() || !(dx * dx + dy * dy <= best)) continue;
        best = dx * dx + dy * dy;
        in.operation = dots.operations[i];
        if (dots.batches[i] > 0) in.batch = dots.batches[i];
      }
}

/// Makes the work one's own: the FLOP of `out` over the bytes that give `intensity` (FLOP/B).
void set_intensity(Inputs& in, const Outputs& out, double intensity) {
  in.operation = "custom";
  in.flops = std::clamp(out.work.flops, 1.0, 1e21);
  in.kernels = static_cast<std::int64_t>(std::clamp(out.work.kernels, 1.0, 1e5));
  in.bytes = std::clamp(out.work.flops / intensity, 1.0, 1e18);
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  const auto& t = theme();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  Plot plot("roofline", view.plot,
            {.x =
                 {
                     .kind = AxisKind::log10,
                     .lo = pic.x_lo,
                     .hi = pic.x_hi,
                     .label = "arithmetic intensity",
                     .unit = "FLOP/B",
                 },
             .y =
                 {
                     .kind = AxisKind::log10,
                     .lo = pic.y_lo,
                     .hi = pic.y_hi,
                     .label = "attainable",
                     .unit = "FLOP/s",
                 },
             .size = {room.x, std::max(room.y, t.px(200))}});
  if (!pic.walk.xs.empty())
    plot.line(pic.walk.label, pic.walk.xs, pic.walk.ys,
              {
                  .colour = with_alpha(t.warning, 0.45f),
                  .width = 9,
                  .label = false,
                  .info = pic.walk.info,
              });
  for (std::size_t i = 0; i < pic.roofs.size(); ++i)
    draw_line(plot, pic.roofs[i], t.series_at(chip_colours[i % chip_colours.size()]), 1.5f, false);
  draw_line(plot, pic.roof, t.accent, 3, false, true);
  for (const Line& line : pic.ceilings) draw_line(plot, line, with_alpha(t.accent, 0.75f), 1.2f, true);
  for (const Line& line : pic.measured_ceilings) draw_line(plot, line, t.text, 1.2f, true);
  draw_line(plot, pic.launch, t.of(Meaning::launch_bound), 1.5f, true);
  if (!pic.slope.xs.empty()) draw_line(plot, pic.slope, t.accent, 3, false);

  for (std::size_t i = 0; i < styles.size(); ++i) {
    draw_dots(plot, styles[i].name, pic.dots[i], t.of(styles[i].meaning), styles[i].marker, 5.5f, true);
    draw_dots(plot, styles[i].name, pic.steps[i], t.of(styles[i].meaning), styles[i].marker, 4, false);
  }
  if (!pic.measured.xs.empty()) draw_dots(plot, "measured", pic.measured, t.text, Marker::diamond, 5, true);
  if (out.ridge > 0) plot.vertical_mark(out.ridge, pic.ridge_label, {.colour = t.accent});
  if (pic.kv_wall > 0 && !pic.walk.xs.empty()) plot.vertical_mark(pic.kv_wall, pic.wall_label, {.colour = t.warning});
  for (const Picture::Arrow* arrow : {&pic.fusion, &pic.quantization})
    if (arrow->shown) plot.arrow(arrow->x0, arrow->y0, arrow->x1, arrow->y1, arrow->label, {.colour = t.text});

  bool dragged = false;
  double x = out.placement.intensity;
  double y = out.placement.achieved_flops_per_s;
  if (x > 0 && y > 0) {
    const RegimeStyle& style = styles[static_cast<std::size_t>(out.placement.regime)];
    // The dot rides the roof: to the right is the same work with fewer bytes.
    dragged = plot.drag_point("drag operation", x, y,
                              {
                                  .colour = t.of(style.meaning),
                                  .marker = style.marker,
                                  .label = pic.selected_label,
                                  .lo = 1e-3,
                                  .hi = 1e6,
                                  .y_lo = y,
                                  .y_hi = y,
                              });
  }
  plot.end();
  if (dragged) {
    set_intensity(in, out, x);
  } else {
    choose_clicked(plot, pic, in);
  }
}

}  // namespace chapters::roofline::roofline
