#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/framework/memory_timeline/lab.h"
#include "widgets/base/guess.h"
#include "widgets/number/number.h"
#include "widgets/plot/callout.h"
#include "widgets/plot/plot.h"

/// The memory of the step as a mountain over time, the stack at its cursor, and the loss alone.
namespace chapters::framework::memory_timeline {
namespace {

using models::memory::memory_owner_count, models::memory::MemoryOwner, models::memory::StepPhase, widgets::Type;

widgets::Meaning meaning_of(StepPhase phase) {
  switch (phase) {
    case StepPhase::forward:
    case StepPhase::loss:
      return widgets::Meaning::forward;
    case StepPhase::backward:
    case StepPhase::again:
      return widgets::Meaning::backward;
    case StepPhase::optimizer:
      return widgets::Meaning::optimizer;
  }
  return widgets::Meaning::idle;
}

/// The point of the timeline that holds at a time.
const models::memory::MemoryPoint& point_at(const models::memory::StepTimeline& t, double time_s) {
  const auto after =
      std::upper_bound(t.points.begin(), t.points.end(), time_s, [](double s, const auto& p) { return s < p.time_s; });
  return after == t.points.begin() ? t.points.front() : *(after - 1);
}

/// Names and colours of the owners that a curve shows.
struct OwnerStack {
  std::array<std::string_view, memory_owner_count> names{};
  std::array<ImU32, memory_owner_count> colours{};
  std::size_t count = 0;
};
/// On one GPU nothing is communicated: what is called buffers are outputs that the program keeps.
std::string_view name_of(MemoryOwner owner, const Picture& picture) {
  return owner == MemoryOwner::buffers && picture.kept_outputs ? "kept outputs" : owner_look(owner).name;
}

OwnerStack stack_of(const Curve& curve, const Picture& picture) {
  OwnerStack s;
  for (const MemoryOwner owner : curve.shown) {
    const OwnerLook& look = owner_look(owner);
    s.names[s.count] = name_of(owner, picture);
    s.colours[s.count++] = widgets::vessel_colour(look.tint, look.pale, widgets::theme());
  }
  return s;
}
void draw_stack(widgets::Plot& plot, const Curve& curve, const Picture& picture) {
  const OwnerStack s = stack_of(curve, picture);
  plot.stacked(std::span(s.names).first(s.count), curve.time_s, curve.owners,
               {.colours = std::span(s.colours).first(s.count)});
}

/// Which phase runs, above the plot and on its axis; names may reach to `right`.
void draw_phases(const Picture& picture, const widgets::PlotFrame& frame, float top, float height, float right) {
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  for (const models::memory::StepSpan& span : picture.run->phases) {
    const auto x0 = std::max(static_cast<float>(frame.x.pixel(span.begin_s)), frame.area.min.x),
               x1 = std::min(static_cast<float>(frame.x.pixel(span.end_s)), frame.area.max.x);
    if (x1 - x0 < 1) continue;
    const bool loss = span.phase == StepPhase::loss;
    const ImU32 fill = widgets::vessel_colour(meaning_of(span.phase), loss, t);
    p.rect({x0, top}, {x1 - 1, top + height}, fill, t.px(3));
    // The name where it fits whole; of the last one also right of it, where no other phase follows.
    const std::string_view name = models::memory::phase_name(span.phase);
    const float wide = widgets::text_size(name, Type::small, widgets::Font::bold).x,
                middle = top + (height - t.type(Type::small)) / 2;
    if (wide <= x1 - x0 - t.px(6))
      p.text({(x0 + x1) / 2, middle}, name, widgets::text_on(fill, t), Type::small, widgets::Font::bold,
             widgets::Align::center);
    else if (&span == &picture.run->phases.back() && x1 + t.px(6) + wide <= right)
      p.text({x1 + t.px(6), middle}, name, t.muted, Type::small, widgets::Font::bold);
  }
}

/// The loss under a lens, over the states that never change: operation by operation, from a little under the layers'
/// activations up. Returns the plate, empty where it has no room.
widgets::Box draw_lens(const Picture& picture, const widgets::PlotFrame& frame, double states) {
  const auto& t = widgets::theme();
  const Curve& c = picture.loss;
  const float small = t.type(Type::small), ground = frame.area.max.y;
  const float room = ground - static_cast<float>(frame.y.pixel(states));
  if (c.time_s.size() < 4 || room < t.px(96) || frame.area.width() < t.px(430)) return {};
  const widgets::Rect plate{{frame.area.min.x + t.px(24), ground - room + t.px(10)},
                            {frame.area.min.x + std::min(t.px(330), frame.area.width() * 0.46f), ground - t.px(10)}};
  const widgets::Painter p = widgets::Painter::window();
  p.rect(plate.min, plate.max, t.panel, t.px(4));
  p.frame(plate.min, plate.max, t.line, t.px(1), t.px(4));
  const float head = small + t.px(8), middle = plate.min.y + t.px(5);
  p.text({plate.min.x + t.px(8), middle}, picture.lens_left, t.text, Type::small, widgets::Font::bold);
  widgets::fit_text(p, {plate.max.x - t.px(8), middle}, picture.lens_right, plate.width() * 0.5f, t.text, Type::small,
                    widgets::Font::mono, widgets::Align::right);
  const double least = *std::min_element(c.total.begin(), c.total.end());
  const double most = *std::max_element(c.total.begin(), c.total.end()), from = least - 0.15 * (most - least);
  const widgets::Rect at{{plate.min.x + t.px(8), plate.min.y + head + t.px(2)},
                         {plate.max.x - t.px(8), plate.max.y - t.px(8)}};
  const double begin = c.time_s.front(), span = std::max(c.time_s.back() - begin, 1e-12);
  const auto x_of = [&](double s) { return at.min.x + at.width() * static_cast<float>((s - begin) / span); };
  const auto y_of = [&](double bytes) {
    return at.max.y - at.height() * static_cast<float>((bytes - from) / std::max(most - from, 1.0));
  };
  const std::size_t n = c.time_s.size();
  for (std::size_t i = 0; i + 1 < n; i += 2) {
    double base = 0;
    for (std::size_t k = 0; k < c.shown.size(); ++k) {
      const double top = base + c.owners[k * n + i];
      if (top > from) {
        const OwnerLook& look = owner_look(c.shown[k]);
        const ImVec2 upper{x_of(c.time_s[i]), y_of(top)}, lower{x_of(c.time_s[i + 1]), y_of(std::max(base, from))};
        if (lower.x - upper.x > 0.2f) p.rect(upper, lower, widgets::vessel_colour(look.tint, look.pale, t));
      }
      base = top;
    }
  }
  return {plate.min, plate.max};
}

/// The curves as the plot can show them, `top` bytes high: made anew when they or the plot's size have changed.
void sample_curves(const Picture& picture, double top, ImVec2 size, View& view) {
  const auto& t = widgets::theme();
  const widgets::Box& area = view.plot.scratch.frame.area;
  const bool known = area.width() > 1 && area.height() > 1;
  const auto columns =
      static_cast<std::size_t>(std::clamp(known ? area.width() : size.x - t.px(80), 60.0f, 4000.0f) * 0.5f);
  const double tolerance = 0.5 * top / static_cast<double>(std::max(known ? area.height() : size.y - t.px(80), 60.0f));
  if (view.sampled_of == picture.version && view.columns == columns && view.tolerance_bytes == tolerance &&
      !view.sampled.time_s.empty())
    return;
  sample_curve(picture.run->timeline, columns, tolerance, view.sampled);
  view.before = {};
  if (!picture.before_label.empty()) {
    Curve before;
    sample_curve(picture.run->all_kept, columns, tolerance, before);
    view.before = {.label = picture.before_label,
                   .width = 1.5f,
                   .dashed = true,
                   .named = false,
                   .x = std::move(before.time_s),
                   .y = std::move(before.total)};
  }
  view.sampled_of = picture.version;
  view.columns = columns;
  view.tolerance_bytes = tolerance;
}

/// What the learner took for the peak, as a level.
void draw_guess(const widgets::ShownGuess& guess, const widgets::PlotFrame& frame) {
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const auto level = static_cast<float>(frame.y.pixel(guess.value));
  const float y = std::clamp(level, frame.area.min.y, frame.area.max.y);
  p.dashed_line({frame.area.min.x, y}, {frame.area.max.x, y}, t.accent, t.px(1.5f), t.px(4));
  const widgets::Line words =
      widgets::guess_words(widgets::format(guess.value, guess.unit).view(), level < frame.area.min.y);
  widgets::paint_guess_words(p, {frame.area.min.x + t.px(10), y + t.px(4)}, words.view());
}

/// The moment of the cursor: the peak's where none was chosen.
double cursor_s(const Outputs& out, const Picture& picture, const View& view) {
  return view.time_s < 0 ? out.peak_s : std::min(view.time_s, picture.curve.time_s.back());
}

/// Words at the nameplate's level where its name would lie on the mountain, or at the top where it is far above.
void draw_nameplate(const Outputs& out, const widgets::PlotFrame& frame, widgets::Line nameplate, bool within) {
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const widgets::Box& area = frame.area;
  if (!within) {
    nameplate.add(", above this plot");
    widgets::fit_text(p, {area.min.x + t.px(8), area.min.y + t.px(4)}, nameplate.view(), area.width() - t.px(16),
                      t.muted, Type::small);
    return;
  }
  const float wide = widgets::text_size(nameplate.view(), Type::small).x, small = t.type(Type::small);
  const float level = static_cast<float>(frame.y.pixel(out.chip_bytes));
  const ImVec2 words{area.max.x - wide - t.px(8), std::max(level - small - t.px(6), area.min.y + t.px(3))};
  p.rect({words.x - t.px(4), words.y - t.px(1)}, {words.x + wide + t.px(4), words.y + small + t.px(2)}, t.panel,
         t.px(3));
  p.text(words, nameplate.view(), t.bad, Type::small);
}

/// The lens, and the peak's words after it and the cursor's handle, so that none covers another.
void draw_lens_and_peak(const Outputs& out, const Picture& picture, View& view) {
  const auto& t = widgets::theme();
  double states = 0;
  for (const MemoryOwner owner : {MemoryOwner::weights, MemoryOwner::master, MemoryOwner::optimizer})
    states += picture.run->timeline.points.front().held[owner];
  const widgets::PlotFrame& frame = view.plot.scratch.frame;
  widgets::Occupancy& room = view.plot.scratch.room;
  if (picture.lens)
    if (const widgets::Box lens = draw_lens(picture, frame, states); lens.width() > 0) room.block(lens);
  const float handle_x = static_cast<float>(frame.x.pixel(cursor_s(out, picture, view))),
              handle_y = (frame.area.min.y + frame.area.max.y) / 2;
  room.block({{handle_x - t.px(8), handle_y - t.px(18)}, {handle_x + t.px(8), handle_y + t.px(18)}});
  const ImVec2 peak{static_cast<float>(frame.x.pixel(out.peak_s)), static_cast<float>(frame.y.pixel(out.peak_bytes))};
  if (frame.area.height() >= t.px(110) && frame.area.contains(peak))
    widgets::draw_callout(widgets::Painter::window(), room, peak, frame.area, picture.peak_bold, picture.peak_words,
                          t.accent);
}

}  // namespace

void draw_mountain(const Outputs& out, const Picture& picture, View& view, ImVec2 size, float right) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float strip = t.type(Type::small) + t.px(8);
  ImGui::SetCursorScreenPos({at.x, at.y + strip});
  const double end = picture.curve.time_s.back();
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  const bool guessed = guess && guess->output == "peak_bytes";
  const double highest = std::max({out.peak_bytes, picture.before_label.empty() ? 0.0 : out.before_peak_bytes,
                                   guessed ? std::min(guess->value, 2 * out.peak_bytes) : 0.0, 1.0});
  // A nameplate far above all that is held would press the mountain flat: words say where it is.
  const bool within = out.chip_bytes <= 2 * highest;
  const double top = 1.12 * std::max(within ? out.chip_bytes : 0.0, highest);
  sample_curves(picture, top, {size.x, size.y - strip}, view);
  const bool buried = out.peak_bytes > 1.3 * out.chip_bytes;  // its name would lie on the mountain
  widgets::Line nameplate;
  nameplate.add("nameplate: ").add(widgets::format(out.chip_bytes, "B"));
  {
    widgets::Plot plot(
        "mountain", view.plot,
        {.x = {.kind = widgets::AxisKind::time, .lo = 0, .hi = end, .label = "time in the step", .unit = "s"},
         .y = {.lo = 0, .hi = top, .label = "memory", .unit = "B"},
         .size = {size.x, size.y - strip},
         .legend = size.y >= t.px(220)});  // in less the phases and the figures of the answer must do
    draw_stack(plot, view.sampled, picture);
    if (!view.before.x.empty()) plot.curve(view.before);
    if (within)
      plot.horizontal_mark(out.chip_bytes, buried ? std::string_view() : nameplate.view(),
                           {.colour = out.fits ? t.text : t.bad, .dashed = false});
    double time_s = cursor_s(out, picture, view);
    if (plot.drag_x("drag cursor", time_s, {.colour = t.text, .lo = 0, .hi = end})) view.time_s = time_s;
  }
  const widgets::PlotFrame& placed = view.plot.scratch.frame;
  draw_phases(picture, placed, at.y + t.px(2), strip - t.px(5), right);
  if (guessed) draw_guess(*guess, placed);
  if (buried || !within) draw_nameplate(out, placed, nameplate, within);
  draw_lens_and_peak(out, picture, view);
}

void draw_cursor_stack(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const double time_s = cursor_s(out, picture, view);
  const models::memory::MemoryPoint& point = point_at(picture.run->timeline, time_s);
  view.layers.clear();
  for (const MemoryOwner owner : stack_order) {
    const OwnerLook& look = owner_look(owner);
    view.layers.push_back({.label = name_of(owner, picture),
                           .value = std::max(0.0, point.held[owner]),
                           .tint = look.tint,
                           .pale = look.pale,
                           .info = look.info});
  }
  view.runs = widgets::Line();
  view.runs.add("runs: ").add(picture.run->timeline.operations[point.operation]);
  widgets::Line label;
  label.add("at ").add(widgets::format(time_s, "s"));
  const widgets::Vessel vessel[] = {
      {.label = label.view(), .note = view.runs.view(), .layers = view.layers, .rim = out.chip_bytes}};
  // On the scale of the mountain, so that rim and line are one; on its own where the rim is beyond the plot.
  const widgets::PlotFrame& frame = view.plot.scratch.frame;
  const double ground = frame.y.pixel(0), rim = frame.y.pixel(out.chip_bytes), unit = ground - rim;
  const bool within = unit > 1 && rim >= static_cast<double>(at.y + t.px(44));
  widgets::draw_vessels(
      "at the cursor", vessel, view.vessel,
      {.unit = "B", .size = size, .scale = within ? out.chip_bytes / unit : 0, .ground = static_cast<float>(ground)});
}

void draw_loss(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.loss.time_s.empty()) return;
  const double from = picture.loss.time_s.front(), until = picture.loss.time_s.back();
  widgets::Plot plot(
      "loss", view.loss,
      {.x = {.kind = widgets::AxisKind::time, .lo = from, .hi = until, .label = "time in the step", .unit = "s"},
       .y = {.lo = 0, .hi = 1.1 * std::max(out.chip_bytes, out.loss_peak_bytes), .label = "memory", .unit = "B"},
       .size = size});
  draw_stack(plot, picture.loss, picture);
  plot.horizontal_mark(out.chip_bytes, "nameplate");
  if (out.peak_phase == "loss" && out.peak_s >= from && out.peak_s <= until)
    plot.callout(out.peak_s, out.peak_bytes, picture.peak_bold, picture.peak_words);
}

}  // namespace chapters::framework::memory_timeline
