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
  if (picture.over_batch.empty()) return;
  plot.curves(picture.over_batch);
  if (out.free_batch >= 1 && out.free_batch <= 512)
    plot.vertical_mark(out.free_batch, "launches covered from here", {.dashed = true});
  const auto x = static_cast<double>(in.batch), y = out.now.step_s;
  if (in.batch <= 512)
    plot.scatter("yours", std::span(&x, 1), std::span(&y, 1), {.colour = t.accent, .radius = 6, .legend = false});
}

void draw_operations(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "name", .title = "operation"},
                                                           {.key = "kernels", .title = "kernels"},
                                                           {.key = "count", .title = "times", .priority = 1},
                                                           {.key = "kernel_s", .title = "a kernel"},
                                                           {.key = "launches_s", .title = "to launch", .bar = true},
                                                           {.key = "kernels_s", .title = "to run", .bar = true}}};
  view.operations.draw("operations", out.operations, columns, size);
}

void draw_recorded(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 6> columns{{{.key = "name", .title = "recording"},
                                                           {.key = "call_s", .title = "a call"},
                                                           {.key = "interval_s", .title = "to the next"},
                                                           {.key = "latency_s", .title = "on its way"},
                                                           {.key = "between_s", .title = "between", .priority = 1},
                                                           {.key = "lead", .title = "ahead"}}};
  view.recorded.draw("recorded", out.recorded, columns, size);
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
              [&](ImVec2 size) { draw_operations(out, view, size); });
  stage.panel("recorded", {.title = "Recorded launches, medians", .least = {430, 130}, .scrolls = true},
              [&](ImVec2 size) { draw_recorded(out, view, size); });
  published_panel(stage, "Measured", picture.published);
}

}  // namespace chapters::framework::launch
