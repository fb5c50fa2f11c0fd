#include <algorithm>
#include <array>

#include "chapters/training/data_loader/draw_parts.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::training::data_loader {
namespace {

using widgets::Meaning, widgets::Rect, widgets::Type;

constexpr std::array<widgets::Tint, 3> level_tints{widgets::Tint::series(0), widgets::Tint::series(2),
                                                   widgets::Tint(Meaning::data_loading)};

std::string_view gpu_name(const void*, std::uint32_t id) {
  return id == 2 ? "loads a batch" : id == 1 ? "waits" : "step";
}
std::string_view loader_tint(const void*, widgets::Tint) { return {}; }

/// The GPU's steps and its waits, in one strip.
void draw_gpu_strip(const Picture& picture, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect at = widgets::reserve(size, {16, 16});
  const auto p = widgets::Painter::window();
  const float line = t.type(Type::small);
  widgets::Line words;
  words.add("the GPU over ").add(widgets::format(picture.range_s, "s", 2).view()).add(": steps, and waits hatched");
  widgets::fit_text(p, at.min, words.view(), at.width(), t.muted, Type::small);
  if (widgets::veiled()) return;
  const float y0 = at.min.y + line + t.px(4), scale = at.width() / static_cast<float>(picture.range_s * 1e9);
  for (const widgets::TimelineSpan& s : picture.gpu) {
    const float x0 = at.min.x + scale * static_cast<float>(s.start_ns),
                x1 = at.min.x + scale * static_cast<float>(s.end_ns());
    if (s.name == 1)
      widgets::hatch(p, {{x0, y0}, {x1, at.max.y}}, t.of(Meaning::data_loading), t.px(6));
    else
      p.rect({x0, y0}, {std::max(x0 + 1, x1 - t.px(1)), at.max.y}, t.of(Meaning::forward), t.px(2));
  }
}

/// What a worker does on average: asking is a part of its own.
void draw_worker_time(const Picture& picture, View& view, ImVec2 size) {
  const widgets::StackedBar bar[] = {
      {.label = picture.process.empty() ? "a worker" : "the process", .segments = picture.worker_time}};
  widgets::draw_stacked_bars("time", bar, view.bars, {.unit = "%", .axis_label = "of its time", .size = size});
}

/// The river, and under it where there is room the GPU's strip and a worker's time.
void draw_hero(const Picture& picture, View& view, ImVec2 size) {
  if (picture.stations.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(12), strip = t.type(Type::small) + t.px(26), bar = t.px(96);
  float room = size.y;
  const bool shows_strip = room > t.px(190) + strip;
  if (shows_strip) room -= strip + gap;
  const bool shows_time = room > t.px(250) + bar && !widgets::veiled();
  if (shows_time) room -= bar + gap;
  draw_river(picture, {size.x, room});
  float y = at.y + room + gap;
  if (shows_time) {
    ImGui::SetCursorScreenPos({at.x, y});
    draw_worker_time(picture, view, {size.x, bar});
    y += bar + gap;
  }
  if (!shows_strip) return;
  ImGui::SetCursorScreenPos({at.x, y});
  draw_gpu_strip(picture, {size.x, strip});
}

/// Where batches and workers are, moment by moment.
void draw_over_time(const Picture& picture, View& view, ImVec2 size) {
  if (picture.gpu.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  view.lanes.clear();
  const bool alone = !picture.process.empty(), all = !alone && size.y >= t.px(210);
  if (alone) view.lanes.push_back({.label = "the process", .spans = picture.process});
  for (std::size_t i = all ? 0 : 2; i < 3 && !alone; ++i) {
    view.counters[i] = {.label = i < 2 ? "workers" : "batches",
                        .points = picture.curves[i],
                        .tint = level_tints[i],
                        .area = true,
                        .capacity = picture.levels[i].room};
    view.lanes.push_back({.label = picture.levels[i].name, .counters = std::span(&view.counters[i], 1)});
  }
  view.lanes.push_back({.label = "GPU", .spans = picture.gpu});
  widgets::TimelineData data;
  data.lanes = view.lanes;
  data.name = gpu_name;
  data.tint_name = loader_tint;
  const float strips = all ? 3 : 1, row = alone ? std::clamp((size.y - t.px(60)) / 2 / t.scale, 16.0f, 60.0f)
                                          : all ? 26.0f
                                                : 20.0f;
  const float strip = (size.y - t.px(48) - t.px(row)) / strips / t.scale - 10;
  widgets::draw_timeline(
      "levels", data, view.timeline,
      {.height = size.y, .row_px = row, .counter_px = std::clamp(strip, 18.0f, 140.0f), .label_px = 104});
}

void draw_against_workers(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("against workers", view.plot,
                     {.x = {.kind = widgets::AxisKind::log2, .lo = 1, .hi = 64, .label = "workers"},
                      .y = {.lo = 0, .label = "samples/s"},
                      .size = size});
  if (picture.simulated.x.empty()) return;
  plot.curve(picture.allowed);
  plot.curve(picture.simulated);
  constexpr std::array<std::string_view, 3> names{"storage", "cores", "GPU"};
  for (std::size_t i = 0; i < 3; ++i)
    if (picture.marks[i] > 0 && picture.marks[i] < 4 * out.ceilings[4])
      plot.horizontal_mark(picture.marks[i], names[i]);
  if (in.workers > 0) {
    const double x = static_cast<double>(in.workers), y = out.samples_per_s;
    plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .legend = false});
  }
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  // A cursor that nobody moved shows what the lab asks about.
  if (view.timeline.cursor_s < 0) view.timeline.cursor_s = picture.opening_s;
  stage.panel(
      "river",
      {.title = "From storage to the GPU", .least = {560, 260}, .answers = true, .marks = "river, GPU's dry share"},
      [&](ImVec2 size) { draw_hero(picture, view, size); });
  stage.panel("levels", {.title = "Over time", .least = {480, 200}},
              [&](ImVec2 size) { draw_over_time(picture, view, size); });
  stage.panel("workers", {.title = "Against the workers", .least = {380, 220}},
              [&](ImVec2 size) { draw_against_workers(in, out, picture, view, size); });
}

}  // namespace chapters::training::data_loader
