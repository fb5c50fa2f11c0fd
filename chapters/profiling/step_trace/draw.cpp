#include <algorithm>
#include <array>

#include "chapters/profiling/step_trace/lab.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::profiling::step_trace {
namespace {

using widgets::Type;

struct StepNaming {
  const Picture* picture = nullptr;
  const std::vector<widgets::TimelineLane>* lanes = nullptr;
  float px_per_ns = 0, letter_px = 1;
};

/// The longest of a span's names that has room.
std::string_view step_name(const void* context, std::uint32_t id) {
  const StepNaming& naming = *static_cast<const StepNaming*>(context);
  if (id >= naming.picture->names.size()) return {};
  const SpanName& name = naming.picture->names[id];
  const float room = static_cast<float>(name.duration_ns) * naming.px_per_ns - widgets::theme().px(10);
  for (const std::string& said : name.said)
    if (!said.empty() && static_cast<float>(said.size()) * naming.letter_px <= room) return said;
  return {};
}

std::string_view step_info(const void* context, std::uint32_t lane, std::uint32_t span) {
  const StepNaming& n = *static_cast<const StepNaming*>(context);
  if (lane >= n.lanes->size() || span >= (*n.lanes)[lane].spans.size()) return {};
  const std::uint32_t id = widgets::TimelineSpan((*n.lanes)[lane].spans[span]).name;
  return id < n.picture->names.size() ? std::string_view(n.picture->names[id].info) : std::string_view{};
}

std::string_view step_tint(const void*, widgets::Tint tint) {
  if (tint == widgets::Tint::series(0)) return "copy";
  if (tint == widgets::Tint::series(5)) return "sync and log";
  if (tint == widgets::Tint::series(2)) return "memory in use";
  if (tint == widgets::Tint()) return "launching";
  return {};
}

bool has_room(const Lane& lane, int spare) { return lane.spare <= spare; }

std::size_t rows_in(const std::vector<Lane>& lanes, int spare) {
  std::size_t rows = 0;
  for (const Lane& lane : lanes) {
    if (!has_room(lane, spare)) continue;
    std::size_t deepest = 0;
    for (const widgets::TimelineSpan& s : lane.spans) deepest = std::max<std::size_t>(deepest, s.depth);
    rows += lane.spans.empty() ? 2 : deepest + 1;
  }
  return rows;
}

void add_step_lanes(const std::vector<Lane>& from, int spare, View& view) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    const Lane& lane = from[i];
    if (!has_room(lane, spare)) continue;
    widgets::TimelineLane drawn{.label = lane.label, .spans = lane.spans, .indent = i > 0 ? 1u : 0u};
    if (!lane.memory.empty()) drawn.counters = view.counters;
    view.lanes.push_back(drawn);
  }
}

/// The timeline's rows as high as there is room for; workers and memory go first where they would be hard to read.
void draw_steps(const Picture& picture, View& view, ImVec2 size) {
  if (picture.after.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  constexpr float least_row = 15, most_row = 40;
  const bool legend = size.y >= t.px(300);
  const float head = legend ? t.px(70) : t.px(30);
  const auto row_that_fits = [&](int spare) {
    const auto rows = static_cast<float>(rows_in(picture.before, spare) + rows_in(picture.after, spare));
    const auto lanes = static_cast<float>(picture.before.size() + picture.after.size());
    return ((size.y - head - lanes * t.px(7)) / std::max(1.0f, rows) - t.px(2)) / t.scale;
  };
  int spare = 3;
  while (spare > 0 && row_that_fits(spare) < least_row) --spare;
  const float row = std::clamp(row_that_fits(spare), least_row, most_row);
  view.lanes.clear();
  view.counters.clear();
  for (const Lane& lane : picture.after)
    if (!lane.memory.empty())
      view.counters.push_back(
          {.label = "in use", .unit = "B", .points = lane.memory, .tint = widgets::Tint::series(2), .area = true});
  add_step_lanes(picture.before, spare, view);
  add_step_lanes(picture.after, spare, view);
  const StepNaming naming{&picture, &view.lanes, (view.timeline.x_pixel(1) - view.timeline.x_pixel(0)) * 1e-9f,
                          widgets::text_size("0", Type::small, widgets::Font::mono).x};
  widgets::TimelineData data;
  data.lanes = view.lanes;
  data.context = &naming;
  data.name = step_name;
  data.info = step_info;
  data.tint_name = step_tint;
  widgets::draw_timeline("steps", data, view.timeline,
                         {.height = size.y, .row_px = row, .counter_px = 2 * row, .label_px = 84, .legend = legend});
}

void draw_causes(const Picture& picture, View& view, ImVec2 size) {
  view.drawn.clear();
  for (const Bar& bar : picture.bars) view.drawn.push_back({.label = bar.label, .segments = bar.segments});
  widgets::draw_stacked_bars("causes", view.drawn, view.bars,
                             {.unit = "s", .axis_label = "one step", .size = size, .bar_px = 34});
}

void draw_fixes(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 6> columns{{{.title = "change", .number = false},
                                                                {.title = "in this order", .value_unit = "s"},
                                                                {.title = "alone", .value_unit = "s"},
                                                                {.title = "step", .value_unit = "s", .bar = true},
                                                                {.title = "then the largest", .number = false},
                                                                {.title = "share", .unit = "%", .priority = 1}}};
  widgets::TableSource source{.context = &out, .rows = out.fixes.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const FixRow& r = static_cast<const Outputs*>(context)->fixes[row];
    const auto number = [&](double value, std::string_view unit) {
      cell.value = value;
      cell.number = widgets::format(value, unit);
    };
    switch (column) {
      case 0:
        cell.text = r.name;
        break;
      case 1:
        number(r.in_order_s, "s");
        break;
      case 2:
        number(r.alone_s, "s");
        break;
      case 3:
        number(r.step_s, "s");
        break;
      case 4:
        cell.text = r.then;
        break;
      default:
        number(r.then_share, "");
    }
  };
  source.hover = [](const void*, std::size_t, std::size_t column) -> std::string_view {
    return column == 1   ? "what it takes off the step with the changes above it"
           : column == 2 ? "what it takes off the step as found"
           : column == 3 ? "the step with this change and those above it"
                         : "";
  };
  widgets::draw_table("what each change takes", columns, source, view.fixes, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs&, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("steps", {.title = "Before and after", .least = {560, 400}, .answers = true},
              [&](ImVec2 size) { draw_steps(picture, view, size); });
  stage.panel("causes", {.title = "One step by cause", .least = {400, 190}, .ideal = {0, 300}},
              [&](ImVec2 size) { draw_causes(picture, view, size); });
  stage.panel("fixes", {.title = "What each change takes", .least = {520, 130}, .scrolls = true},
              [&](ImVec2 size) { draw_fixes(out, picture, view, size); });
}

}  // namespace chapters::profiling::step_trace
