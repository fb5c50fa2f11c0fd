#include <algorithm>
#include <array>

#include "chapters/framework/launch/lab.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::framework::launch {
namespace {

using widgets::Type;

std::string_view launch_tint(const void*, widgets::Tint tint) {
  if (tint == widgets::Tint::series(0)) return "norm, residual";
  if (tint == widgets::Tint::series(2)) return "attention";
  if (tint == widgets::Tint(widgets::Meaning::forward)) return "products and the rest";
  if (tint == widgets::Tint(widgets::Meaning::launch_bound)) return "idle: not launched yet";
  if (tint == widgets::Tint()) return "launches, and those that wait in the queue";
  return {};
}

/// A line through a device's lane where each layer ends; the first of them reaches beyond the lane.
void mark_layers(const Conveyors& c, const View& view, std::size_t lane) {
  if (lane >= view.timeline.drawn_lanes()) return;
  const auto& t = widgets::theme();
  const widgets::Painter p = widgets::Painter::window();
  const widgets::Rect all = view.timeline.lanes_rect(), at = view.timeline.lane_rect(lane);
  if (at.min.y < all.min.y || at.max.y > all.max.y) return;
  for (std::size_t i = 0; i < c.layer_ends_ns.size(); ++i) {
    const float x = view.timeline.x_pixel(static_cast<double>(c.layer_ends_ns[i]) * 1e-9),
                beyond = t.px(i == 0 ? 5 : 0);
    if (x < all.min.x || x > all.max.x) continue;
    p.line({x, at.min.y - beyond}, {x, at.max.y + beyond}, t.text, t.px(i == 0 ? 2.5f : 1.5f));
  }
}

void draw_conveyors(const Picture& picture, View& view, ImVec2 size) {
  if (picture.modes[0].device.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  view.lanes.clear();
  const bool two = picture.modes[0].label != picture.modes[1].label;
  // A low panel keeps what answers: the first mode, the faster GPU under it, and of the other mode its device.
  const bool whole = size.y >= t.px(430), words = size.y >= t.px(330), legend = size.y >= t.px(380);
  std::size_t strips = 0;
  for (std::size_t i = 0; i < (two ? 2 : 1); ++i) {
    const Conveyors& c = picture.modes[i];
    const bool queue = i == 0 || whole;
    if (words && i == 0 && !c.groups.empty()) view.lanes.push_back({.label = "launches for", .spans = c.groups});
    if (queue) {
      view.counters[i] = {.label = "waiting", .points = c.queue, .tint = widgets::Tint(), .area = true};
      view.lanes.push_back({.label = c.lane, .sublabel = c.host_words, .spans = c.host});
      view.lanes.push_back(
          {.label = "queue", .sublabel = c.queue_words, .counters = std::span(&view.counters[i], 1), .indent = 1});
      ++strips;
    }
    view.device_lanes[i] = view.lanes.size();
    view.lanes.push_back({.label = queue ? std::string_view("GPU") : std::string_view(c.lane),
                          .sublabel = c.dry.empty() && !c.dry_words.empty() ? c.dry_words : c.device_words,
                          .spans = c.device,
                          .indent = queue ? 1U : 0U});
    if (words && !c.dry.empty())
      view.lanes.push_back(
          {.label = "in the gaps", .sublabel = c.dry_words, .spans = c.dry, .indent = queue ? 1U : 0U});
    if (i > 0 || picture.twice.device.empty()) continue;
    view.device_lanes[2] = view.lanes.size();
    view.lanes.push_back({.label = picture.twice.lane,
                          .sublabel = picture.twice.device_words,
                          .spans = picture.twice.device,
                          .indent = 1});
  }
  const widgets::SpanNames names = widgets::span_names(picture.names, view.lanes, view.timeline, t.px(10));
  widgets::TimelineData data;
  data.lanes = view.lanes;
  widgets::say_names(names, data);
  data.tint_name = launch_tint;
  // A lane is at least as high as its two lines of words; the queues share what the lanes leave.
  const float room = (size.y - t.px(legend ? 84 : 36)) / t.scale;
  const float lines = (t.type(Type::body) + t.type(Type::small)) / t.scale + 3;
  const auto rows = static_cast<float>(view.lanes.size() - strips), pools = static_cast<float>(strips);
  const float row = std::clamp(room * 0.62f / (rows + pools) - 8, 16.0f, 52.0f);
  const float taken = rows * (std::max(row + 2, lines) + 6);
  widgets::draw_timeline("conveyors", data, view.timeline,
                         {.height = size.y,
                          .row_px = row,
                          .counter_px = std::clamp((room - taken) / pools - 14, 18.0f, 200.0f),
                          .label_px = 150,
                          .legend = legend});
  for (std::size_t i = 0; i < 3; ++i)
    if (i != 1 || two) mark_layers(i < 2 ? picture.modes[i] : picture.twice, view, view.device_lanes[i]);
}

void draw_batches(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  widgets::Plot plot("against batch", view.plot,
                     {.x = {.kind = widgets::AxisKind::log2, .lo = 1, .hi = 512, .label = "batch"},
                      .y = {.kind = widgets::AxisKind::log10, .label = "one step", .unit = "s"},
                      .size = size});
  if (picture.batches.empty()) return;
  plot.line(picture.modes[0].label, picture.batches, picture.step_now,
            {.colour = t.accent, .label = false, .info = "simulated, launch by launch", .version = picture.version});
  if (!one_mode(in))
    plot.line(
        picture.modes[1].label, picture.batches, picture.step_beside,
        {.colour = t.series_at(2), .label = false, .info = "simulated, launch by launch", .version = picture.version});
  plot.line("on a GPU twice as fast", picture.batches, picture.step_twice,
            {.colour = t.accent,
             .dashed = true,
             .label = false,
             .info = "every kernel half as long, the same launches",
             .version = picture.version});
  if (out.free_batch >= 1 && out.free_batch <= 512)
    plot.vertical_mark(out.free_batch, "launches covered from here", {.dashed = true});
  plot.line(
      "launches alone", picture.batches, picture.host_floor,
      {.colour = t.muted, .dashed = true, .label = false, .info = "launches x a launch", .version = picture.version});
  const auto x = static_cast<double>(in.batch), y = out.now.step_s;
  if (in.batch <= 512)
    plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .legend = false});
}

void draw_operations(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 6> columns{{{.title = "operation", .number = false},
                                                                {.title = "kernels"},
                                                                {.title = "times", .priority = 1},
                                                                {.title = "a kernel", .value_unit = "s"},
                                                                {.title = "to launch", .value_unit = "s", .bar = true},
                                                                {.title = "to run", .value_unit = "s", .bar = true}}};
  widgets::TableSource source{.context = &out, .rows = out.operations.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const OperationRow& r = static_cast<const Outputs*>(context)->operations[row];
    if (column == 0)
      cell.text = r.name;
    else if (column < 3)
      widgets::put_number(cell, static_cast<double>(column == 1 ? r.kernels : r.count), "");
    else
      widgets::put_number(cell, column == 3 ? r.kernel_s : column == 4 ? r.launches_s : r.kernels_s, "s");
  };
  widgets::draw_table("operations", columns, source, view.operations, size);
}

void draw_recorded(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  static constexpr std::array<widgets::TableColumn, 6> columns{{{.title = "recording", .number = false},
                                                                {.title = "a call", .value_unit = "s"},
                                                                {.title = "to the next", .value_unit = "s"},
                                                                {.title = "on its way", .value_unit = "s"},
                                                                {.title = "between", .value_unit = "s", .priority = 1},
                                                                {.title = "ahead"}}};
  widgets::TableSource source{.context = &out, .rows = out.recorded.size(), .version = picture.version};
  source.cell = [](const void* context, std::size_t row, std::size_t column, widgets::TableCell& cell) {
    const RecordedRow& r = static_cast<const Outputs*>(context)->recorded[row];
    if (column == 0)
      cell.text = r.name;
    else if (column == 5)
      widgets::put_number(cell, static_cast<double>(r.lead), "");
    else
      widgets::put_number(cell,
                          column == 1   ? r.call_s
                          : column == 2 ? r.interval_s
                          : column == 3 ? r.latency_s
                                        : r.between_s,
                          "s");
  };
  widgets::draw_table("recorded", columns, source, view.recorded, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("conveyors", {.title = "The first layer", .least = {780, 450}, .ideal = {0, 560}, .answers = true},
              [&](ImVec2 size) {
                const float above = published_line("measured: ", picture.published, size, widgets::theme().px(430));
                draw_conveyors(picture, view, {size.x, size.y - above});
              });
  stage.panel("batch", {.title = "Against the batch", .least = {380, 210}},
              [&](ImVec2 size) { draw_batches(in, out, picture, view, size); });
  stage.panel("operations", {.title = "Operations", .least = {430, 150}, .scrolls = true},
              [&](ImVec2 size) { draw_operations(out, picture, view, size); });
  stage.panel("recorded", {.title = "Recorded launches, medians", .least = {430, 130}, .scrolls = true},
              [&](ImVec2 size) { draw_recorded(out, picture, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::framework::launch
