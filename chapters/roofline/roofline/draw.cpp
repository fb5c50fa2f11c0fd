#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/roofline/roofline/draw_notes.h"
#include "widgets/base/guess.h"
#include "widgets/number/number.h"

namespace chapters::roofline::roofline {
namespace {

using widgets::AxisKind, widgets::Marker, widgets::Meaning, widgets::Plot, widgets::theme, widgets::with_alpha;
using Line = Picture::Line;
using Dot = Picture::Dot;

struct LineStyle {
  ImU32 colour = 0;
  float width = 1.2f;
  bool dashed = false;
};
/// Names are written beside lines by the notes, where there is room; here they are for the hover.
void draw_line(Plot& plot, const Line& line, const LineStyle& style) {
  if (!line.xs.empty())
    plot.line(line.label, line.xs, line.ys,
              {
                  .colour = style.colour,
                  .width = style.width,
                  .dashed = style.dashed,
                  .label = false,
                  .legend = false,
                  .info = line.info,
              });
}

/// The plot's own grid has nine lines a decade, which is graph paper: this covers it, and the notes draw the decades.
/// Over it, the ground under each part of the roof has the colour of what rules there.
void draw_ground(Plot& plot, const Picture& pic) {
  const auto& t = theme();
  constexpr std::array<double, 2> all{1e-60, 1e60}, top{1e120, 1e120}, bottom{1e-120, 1e-120};
  static const std::vector<double> floor(1024, 1e-120);
  plot.area({}, all, top, bottom, {.colour = t.background, .alpha = 1, .legend = false, .outline = false});
  const auto under = [&](const Line& roof, Meaning meaning, std::string_view name) {
    if (!roof.xs.empty())
      plot.area(name, roof.xs, roof.ys, std::span(floor).first(std::min(roof.xs.size(), floor.size())),
                {.colour = t.of(meaning), .alpha = 0.10f, .legend = false, .outline = false, .info = roof.info});
  };
  under(pic.ground, Meaning::memory_bound, "memory-bound");
  under(pic.flat, Meaning::compute_bound, "compute-bound");
}

/// Bounds of the model are hollow.
void draw_bound(Plot& plot, const Picture& pic, const Dot& dot) {
  const auto& t = theme();
  const std::array<double, 1> x{dot.x}, y{dot.y};
  const RegimeStyle& style = style_of(dot.regime);
  plot.scatter(dot.label, x, y,
               {
                   .colour = t.of(style.meaning),
                   .marker = style.marker,
                   .radius = 5,
                   .legend = false,
                   .info = "what the model allows; a click makes it yours",
               });
  const bool in_view = dot.x >= pic.x_lo && dot.x <= pic.x_hi && dot.y >= pic.y_lo && dot.y <= pic.y_hi;
  if (in_view)
    plot.scatter({}, x, y, {.colour = t.background, .marker = style.marker, .radius = 2.8f, .legend = false});
}

/// Measurements are filled, and what the kernel lost to its roof is drawn.
void draw_measured(Plot& plot, const Dot& dot, float radius) {
  const auto& t = theme();
  const std::array<double, 1> x{dot.x}, y{dot.y}, lo{std::min(dot.y, dot.roof)}, hi{std::max(dot.y, dot.roof)};
  plot.error_bars(x, lo, hi, with_alpha(t.muted, 0.7f));
  plot.scatter(dot.name, x, y,
               {.colour = t.text, .marker = Marker::diamond, .radius = radius, .legend = false, .info = dot.info});
}

/// A click on a dot or on a tick of the walk, not the end of a drag, makes it the learner's own.
void choose_clicked(const Plot& plot, const Picture& pic, Inputs& in) {
  const ImGuiIO& io = ImGui::GetIO();
  const float still = io.MouseDragThreshold;
  if (!ImGui::IsMouseReleased(0) || io.MouseDragMaxDistanceSqr[0] > still * still || !ImGui::IsWindowHovered() ||
      !plot.frame().area.contains(io.MousePos))
    return;
  const float reach = theme().px(10);
  float best = reach * reach;
  const auto offer = [&](const Dot& dot, ImVec2 at) {
    const float dx = at.x - io.MousePos.x, dy = at.y - io.MousePos.y;
    if (dot.operation.empty() || !(dx * dx + dy * dy <= best)) return;
    best = dx * dx + dy * dy;
    in.operation = dot.operation;
    if (dot.batch > 0) in.batch = dot.batch;
  };
  for (const Dot& dot : pic.dots) offer(dot, pixel_of(plot.frame(), dot.x, dot.y));
  for (const Dot& dot : pic.published) {
    const ImVec2 at = pixel_of(plot.frame(), dot.x, dot.y);
    const float dx = at.x - io.MousePos.x, dy = at.y - io.MousePos.y;
    if (!(dx * dx + dy * dy <= best)) continue;
    best = dx * dx + dy * dy;
    in.operation = "custom";
    in.flops = dot.work.flops;
    in.bytes = dot.work.bytes;
    in.kernels = 1;
  }
  for (const Dot& dot : pic.steps) {
    const WalkTick tick = tick_of(plot.frame(), dot);
    offer(dot, tick.from);
    offer(dot, tick.to);
  }
}

/// Makes the work one's own: the FLOP of `out` over the bytes that give `intensity` (FLOP/B).
void set_intensity(Inputs& in, const Outputs& out, double intensity) {
  in.operation = "custom";
  in.flops = std::clamp(out.work.flops, 1.0, 1e21);
  in.kernels = static_cast<std::int64_t>(std::clamp(out.work.kernels, 1.0, 1e5));
  in.bytes = std::clamp(out.work.flops / intensity, 1.0, 1e18);
}

void draw_lines(Plot& plot, const Picture& pic) {
  const auto& t = theme();
  if (!pic.walk.xs.empty()) draw_line(plot, pic.walk, {with_alpha(t.text, 0.22f), 9});
  for (const Line& line : pic.roofs) draw_line(plot, line, {with_alpha(t.muted, 0.75f), 1.3f});
  for (const Line& line : pic.ceilings) draw_line(plot, line, {t.muted, 1.2f, true});
  for (const Line& line : pic.measured_ceilings) draw_line(plot, line, {t.text, 1.2f, true});
  draw_line(plot, pic.next_format, {with_alpha(t.of(Meaning::compute_bound), 0.8f), 1.2f, true});
  draw_line(plot, pic.launch, {t.of(Meaning::launch_bound), 1.5f, true});
  draw_line(plot, pic.slope, {t.of(Meaning::memory_bound), 3});
  draw_line(plot, pic.flat, {t.of(Meaning::compute_bound), 3});
}

/// What a question gives: the chip's two ceilings, the slope only where it is far from the flat roof, on ranges that
/// say nothing of where they meet.
void draw_given_roofs(const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = theme();
  const widgets::GivenMarks given;
  const double peak = out.machine.peak_flops_per_s, bandwidth = out.machine.bandwidth_bytes_per_s;
  constexpr double lo = 0.1, hi = 1e5, slope_end = 10;
  Plot plot("roofline, given", view.given,
            {.x = {.kind = AxisKind::log10, .lo = lo, .hi = hi, .label = "arithmetic intensity (FLOP/B)"},
             .y = {.kind = AxisKind::log10, .lo = peak * 3e-6, .hi = peak * 5, .label = "attainable", .unit = "FLOP/s"},
             .size = {size.x, size.y - t.px(36)},  // under it the veil has a word of its own
             .legend = false,
             .interactive = false,
             .ghost = false});
  const std::array<double, 2> slope_x{lo, slope_end}, slope_y{lo * bandwidth, slope_end * bandwidth}, flat_x{lo, hi},
      flat_y{peak, peak};
  plot.line(pic.slope.label.empty() ? std::string_view("memory") : std::string_view(pic.slope.label), slope_x, slope_y,
            {.colour = t.of(Meaning::memory_bound), .width = 3});
  plot.line(pic.flat.label, flat_x, flat_y, {.colour = t.of(Meaning::compute_bound), .width = 3});
}

/// What the learner said of an intensity stands on its axis.
void mark_guess(Plot& plot, const Picture& pic) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  constexpr std::array<std::string_view, 4> intensities{"ridge", "intensity", "decode_intensity", "decode_limit"};
  if (!guess || std::find(intensities.begin(), intensities.end(), guess->output) == intensities.end()) return;
  const double at = std::clamp(guess->value, pic.x_lo * 1.1, pic.x_hi / 1.1);
  const auto words = widgets::guess_words(widgets::format(guess->value, guess->unit).view(), at != guess->value);
  plot.vertical_mark(at, words.view(), {.colour = theme().accent});
}

void draw_roofline(Inputs& in, const Outputs& out, const Picture& pic, View& view, ImVec2 size) {
  const auto& t = theme();
  if (widgets::veiled() && out.machine.peak_flops_per_s > 0) {
    draw_given_roofs(out, pic, view, size);
    return;
  }
  Plot plot("roofline", view.plot,
            {.x = {.kind = AxisKind::log10, .lo = pic.x_lo, .hi = pic.x_hi, .label = "arithmetic intensity (FLOP/B)"},
             .y = {.kind = AxisKind::log10, .lo = pic.y_lo, .hi = pic.y_hi, .label = "attainable", .unit = "FLOP/s"},
             .size = size,
             .legend = false});
  draw_lines(plot, pic);
  draw_ground(plot, pic);
  for (const Dot& dot : pic.dots) draw_bound(plot, pic, dot);
  for (const Dot& dot : pic.published) draw_measured(plot, dot, 3.5f);
  for (const Dot& dot : pic.measured) draw_measured(plot, dot, 5);
  plot.vertical_mark(out.ridge, {}, {.colour = t.muted, .output = "ridge"});
  if (pic.kv_wall > 0 && !pic.walk.xs.empty()) plot.vertical_mark(pic.kv_wall, {}, {.colour = t.muted});
  for (const Picture::Arrow* arrow : {&pic.fusion, &pic.quantization})
    if (arrow->shown) plot.arrow(arrow->x0, arrow->y0, arrow->x1, arrow->y1, {}, {.colour = t.muted});

  bool dragged = false;
  double x = out.placement.intensity;
  double y = out.placement.achieved_flops_per_s;
  if (x > 0 && y > 0) {
    const std::array<double, 1> xs{x}, ys{y};
    plot.scatter(pic.own_label, xs, ys,
                 {.colour = t.accent, .radius = 8, .legend = false, .info = pic.callout, .version = pic.version});
    // The dot rides the roof: to the right is the same work with fewer bytes.
    dragged = plot.drag_point("drag operation", x, y,
                              {.colour = t.accent, .lo = 1e-3, .hi = 1e6, .y_lo = y, .y_hi = y, .output = "time_s"});
    plot.tag_x(out.placement.intensity, pic.x_tag, {.output = "intensity"});
    // In the multiple of the axis, so that the number alone is enough.
    const bool one_unit = view.plot.y_hi < view.plot.y_lo * 3e6;
    const widgets::UnitScale scale =
        widgets::unit_scale(std::sqrt(view.plot.y_lo) * std::sqrt(view.plot.y_hi), "FLOP/s");
    const double rate = out.placement.achieved_flops_per_s;
    plot.tag_y(rate, one_unit ? widgets::format_in(scale, rate) : widgets::format(rate, "FLOP/s"),
               {.output = "achieved_flops_per_s"});
  }
  mark_guess(plot, pic);
  if (ridge_tag_fits(view.plot, out, pic)) plot.tag_x(out.ridge, pic.ridge_tag, {.colour = t.card, .output = "ridge"});
  plot.end();
  widgets::drew("roof");
  if (x > 0 && y > 0) widgets::drew("yours");
  draw_notes(out, pic, view.plot);
  if (dragged)
    set_intensity(in, out, x);
  else
    choose_clicked(plot, pic, in);
}

constexpr DescribedColumn operation_columns[] = {
    {.key = "name"},
    {.key = "time_s", .bar = true, .priority = 1},
    {.key = "intensity", .priority = 2},
    {.key = "achieved_flops_per_s", .priority = 3},
    {.key = "flops", .priority = 5},
    {.key = "bytes", .priority = 4},
    {.key = "regime", .title = "bound by", .priority = 6},
    {.key = "compute_s", .title = "arithmetic", .priority = 7},
    {.key = "memory_s", .title = "memory", .priority = 8},
};

widgets::RowMark operation_mark(const OperationRow& row) {
  const RegimeStyle& style = style_of(row.placement.regime);
  return {style.marker, theme().of(style.meaning)};
}

/// A click on a row makes the operation the learner's own.
void draw_operations(Inputs& in, const Outputs& out, View& view, ImVec2 size) {
  const auto result = view.operations.draw("operations of the model", out.operations, operation_columns, size,
                                           {.mark = operation_mark});
  const std::int64_t chosen = view.operations.view.selected;
  if (!result.selection_changed || chosen < 0) return;
  const auto& row = out.operations[static_cast<std::size_t>(chosen)];
  in.operation = models::roofline_op_id(row.named.op);
}

}  // namespace

const RegimeStyle& style_of(models::Regime regime) {
  static constexpr std::array<RegimeStyle, 3> styles{{{"memory-bound", Meaning::memory_bound, Marker::circle},
                                                      {"compute-bound", Meaning::compute_bound, Marker::square},
                                                      {"launch-bound", Meaning::launch_bound, Marker::triangle}}};
  return styles[std::min(static_cast<std::size_t>(regime), styles.size() - 1)];
}

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  stage.panel("roofline", {.title = "Roofline", .least = {860, 420}, .answers = true, .marks = "roof, yours"},
              [&](ImVec2 size) { draw_roofline(in, out, pic, view, size); });
  if (!out.operations.empty())
    stage.panel("operations", {.title = "Every operation", .least = {460, 220}, .ideal = {900, 420}, .scrolls = true},
                [&](ImVec2 size) { draw_operations(in, out, view, size); });
}

}  // namespace chapters::roofline::roofline
