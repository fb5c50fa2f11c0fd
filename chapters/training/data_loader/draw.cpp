#include <algorithm>
#include <array>

#include "chapters/training/data_loader/lab.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::training::data_loader {
namespace {

using widgets::Align, widgets::Font, widgets::Meaning, widgets::Rect, widgets::Type;

constexpr std::array<widgets::Tint, 3> tank_tints{widgets::Tint::series(0), widgets::Tint::series(2),
                                                  widgets::Tint(Meaning::data_loading)};

std::int64_t level_at(const Tank& tank, double time_s) {
  std::int64_t count = 0;
  for (const models::LoaderLevel& l : tank.levels) {
    if (static_cast<double>(l.time_ns) * 1e-9 > time_s) break;
    count = l.count;
  }
  return count;
}

/// Does the GPU wait for a batch at this time?
bool starves_at(const Picture& picture, double time_s) {
  const double at_ns = time_s * 1e9;
  for (const widgets::TimelineSpan& s : picture.gpu)
    if (static_cast<double>(s.start_ns) <= at_ns + 1000 && at_ns < static_cast<double>(s.end_ns())) return s.name == 1;
  return false;
}

/// What of a tank is in the colour of the narrowest part.
enum class Outline : std::uint8_t { none, words, tank };

/// A vessel with its level, its name above and what it lets through below.
void draw_tank(const widgets::Painter& p, Rect at, std::string_view name, std::string_view flow,
               std::string_view inside, std::string_view under, double share, ImU32 fill, Outline outline,
               bool hatched) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small) + t.px(4), middle = (at.min.x + at.max.x) / 2;
  widgets::fit_text(p, {middle, at.min.y}, name, at.width(), t.text, Type::small, Font::sans, Align::center);
  const Rect body{{at.min.x, at.min.y + line}, {at.max.x, at.max.y - line}};
  p.rect(body.min, body.max, t.card, t.px(4));
  const float top = body.max.y - body.height() * static_cast<float>(std::clamp(share, 0.0, 1.0));
  if (body.max.y - top > t.px(1)) p.rect({body.min.x, top}, body.max, widgets::with_alpha(fill, 0.85f), t.px(3));
  if (hatched) widgets::hatch(p, body, t.of(Meaning::data_loading), t.px(7));
  const bool narrowest = outline == Outline::tank;
  p.frame(body.min, body.max, narrowest ? t.accent : t.line, t.px(narrowest ? 2.5f : 1.0f), t.px(4));
  const float y = (body.min.y + body.max.y) / 2 - t.type(Type::title) / 2;
  const ImVec2 number = widgets::text_size(inside, Type::title, Font::mono);
  const ImVec2 words = widgets::text_size(under, Type::small);
  if (body.height() >= number.y + words.y + t.px(10) && body.width() >= std::max(number.x, words.x) + t.px(12)) {
    const float half = std::max(number.x, words.x) / 2 + t.px(6);
    p.rect({middle - half, y - words.y / 2 - t.px(3)}, {middle + half, y + number.y + words.y / 2 + t.px(3)},
           widgets::with_alpha(t.panel, 0.9f), t.px(4));
    p.text({middle, y - words.y / 2}, inside, t.text, Type::title, Font::mono, Align::center);
    if (!under.empty())
      p.text({middle, y + number.y - words.y / 2}, under, t.muted, Type::small, Font::sans, Align::center);
  }
  // Without room the words before the figure go; the colour still says which part is the narrowest.
  const std::size_t brief = flow.find(": ");
  if (brief != std::string_view::npos && widgets::text_size(flow, Type::small).x > at.width())
    flow.remove_prefix(brief + 2);
  widgets::fit_text(p, {middle, at.max.y - t.type(Type::small)}, flow, at.width(),
                    outline != Outline::none ? t.accent : t.muted, Type::small, Font::sans, Align::center);
}

void draw_tanks(const Picture& picture, View& view, Rect area) {
  const auto& t = widgets::theme();
  const auto p = widgets::Painter::window();
  const float gap = t.px(26), width = (area.width() - 3 * gap) / 4, middle = (area.min.y + area.max.y) / 2;
  const double now_s = view.timeline.cursor_s;
  for (std::size_t i = 0; i < 4; ++i) {
    const float x = area.min.x + static_cast<float>(i) * (width + gap);
    const Rect at{{x, area.min.y}, {x + width, area.max.y}};
    if (i < 3) {
      const Tank& tank = picture.tanks[i];
      const std::int64_t level = level_at(tank, now_s);
      const widgets::NumberText count = widgets::format(static_cast<double>(level), "");
      const bool fixed = !tank.inside.empty();
      draw_tank(p, at, tank.name, tank.flow, fixed ? std::string_view(tank.inside) : count.view(), tank.room_words,
                fixed ? tank.share : static_cast<double>(level) / tank.room, widgets::colour(tank_tints[i], t),
                tank.narrowest                        ? Outline::tank
                : i == 2 && picture.workers_narrowest ? Outline::words
                                                      : Outline::none,
                false);
      const float from = x + width + t.px(5), to = x + width + gap - t.px(5);
      // Too few workers are no tank: what is narrow is their way from the storage to the queue.
      const bool narrow = i < 2 && picture.workers_narrowest;
      const ImU32 colour = narrow ? t.accent : t.muted;
      const float thick = t.px(narrow ? 4.0f : 2.0f);
      p.line({from, middle}, {to, middle}, colour, thick);
      const std::array<ImVec2, 3> head{
          ImVec2{to - t.px(5), middle - t.px(4)}, {to, middle}, {to - t.px(5), middle + t.px(4)}};
      p.polyline(head, colour, thick);
    } else {
      const bool starves = starves_at(picture, now_s);
      draw_tank(p, at, "the GPU", picture.gpu_flow, starves ? "starves" : "works", "", starves ? 0 : 1,
                t.of(Meaning::forward), picture.gpu_narrowest ? Outline::tank : Outline::none, starves);
    }
  }
}

std::string_view gpu_name(const void*, std::uint32_t id) {
  return id == 2 ? "loads a batch" : id == 1 ? "starves" : "step";
}
std::string_view loader_tint(const void*, widgets::Tint) { return {}; }

void draw_row(const Picture& picture, View& view, ImVec2 size) {
  if (picture.gpu.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float tanks = std::clamp(size.y * 0.42f, t.px(96), t.px(230)), gap = t.px(12), room = size.y - tanks - gap;
  draw_tanks(picture, view, {at, {at.x + size.x, at.y + tanks}});
  ImGui::SetCursorScreenPos({at.x, at.y + tanks + gap});
  static constexpr std::array<std::string_view, 3> labels{"at the storage", "at a core", "in the queue"};
  view.lanes.clear();
  const bool alone = !picture.process.empty(), all = !alone && room >= t.px(210);
  if (alone) view.lanes.push_back({.label = "the process", .spans = picture.process});
  for (std::size_t i = all ? 0 : 2; i < 3 && !alone; ++i) {
    view.counters[i] = {.label = i < 2 ? "workers" : "batches",
                        .points = picture.curves[i],
                        .tint = tank_tints[i],
                        .area = true,
                        .capacity = picture.tanks[i].room};
    view.lanes.push_back({.label = labels[i], .counters = std::span(&view.counters[i], 1)});
  }
  view.lanes.push_back({.label = "GPU", .spans = picture.gpu});
  widgets::TimelineData data;
  data.lanes = view.lanes;
  data.name = gpu_name;
  data.tint_name = loader_tint;
  const float strips = all ? 3 : 1, row = alone ? std::clamp((room - t.px(60)) / 2 / t.scale, 16.0f, 60.0f)
                                          : all ? 26.0f
                                                : 20.0f;
  const float strip = (room - t.px(48) - t.px(row)) / strips / t.scale - 10;
  widgets::draw_timeline(
      "levels", data, view.timeline,
      {.height = room, .row_px = row, .counter_px = std::clamp(strip, 18.0f, 140.0f), .label_px = 104});
}

void draw_against_workers(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("against workers", view.plot,
                     {.x = {.kind = widgets::AxisKind::log2, .lo = 1, .hi = 64, .label = "workers"},
                      .y = {.lo = 0, .label = "samples a second"},
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
  stage.panel("tanks", {.title = "From storage to the GPU", .least = {560, 260}, .answers = true},
              [&](ImVec2 size) { draw_row(picture, view, size); });
  stage.panel("workers", {.title = "Against the workers", .least = {380, 220}},
              [&](ImVec2 size) { draw_against_workers(in, out, picture, view, size); });
  stage.panel("time", {.title = "A worker's time", .least = {380, 110}, .ideal = {0, 180}}, [&](ImVec2 size) {
    const widgets::StackedBar bar[] = {
        {.label = picture.process.empty() ? "a worker" : "the process", .segments = picture.worker_time}};
    widgets::draw_stacked_bars("time", bar, view.bars, {.unit = "%", .axis_label = "of its time", .size = size});
  });
}

}  // namespace chapters::training::data_loader
