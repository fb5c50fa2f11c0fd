#include <algorithm>

#include "chapters/gallery/widgets/rooms.h"
#include "widgets/base/arrow.h"

namespace chapters::gallery::widgets {
namespace {

using ::widgets::Meaning;
using ::widgets::theme;
using ::widgets::Tint;

constexpr std::string_view segment_names[] = {"weights", "gradients", "optimizer", "activations",
                                              "logits",  "buffers",   "workspace", "free"};

float half_width() { return std::floor((ImGui::GetContentRegionAvail().x - theme().px(16)) / 2); }

}  // namespace

void draw_timelines(const Sample& s, Views& v) {
  heading("timeline",
          "lanes, spans by meaning, links, a counter strip, a cursor; wheel zooms, drag pans, F fits, Space plays");
  const ::widgets::TimelineCounter memory{"memory", "B", s.memory, Meaning::kv_cache, true, true};
  const ::widgets::TimelineLane lanes[] = {{"host", "launches", s.host, {}},
                                           {"device", "kernels", s.device, {&memory, 1}},
                                           {"link", "NVLink", s.wire, {}, 1}};
  ::widgets::TimelineData data;
  data.lanes = lanes;
  data.links = s.links;
  data.name = [](const void*, std::uint32_t id) -> std::string_view {
    constexpr std::string_view names[] = {"launch", "matmul", "norm", "attention", "all-reduce"};
    return names[std::min<std::size_t>(id, 4)];
  };
  ::widgets::draw_timeline("timeline", data, v.timeline, {});
}

void draw_bars(const Sample& s, Views& v) {
  const auto& t = theme();
  heading("stacked_bar", "across or upright, a limit, a measurement with its residual, hatching for what is optional");
  v.before.clear();
  v.after.clear();
  v.steps.clear();
  v.factors.clear();
  for (std::size_t i = 0; i < s.before.size(); ++i) {
    const auto tint = Tint::series(i);
    v.before.push_back({
        .label = segment_names[i],
        .value = s.before[i],
        .tint = tint,
        .info = "made up",
    });
    v.after.push_back({
        .label = segment_names[i],
        .value = s.after[i],
        .tint = tint,
        .info = "made up",
        .hatched = i + 1 == s.before.size(),
    });
    v.steps.push_back({.label = segment_names[i], .value = s.steps[i], .tint = tint});
    v.factors.push_back({.label = segment_names[i], .value = s.after[i] / s.before[i], .tint = tint});
  }
  const ::widgets::StackedBar bars[] = {{
                                            .label = "before",
                                            .segments = v.before,
                                            .measured = s.before[0] * 3,
                                            .measured_source = "made up",
                                        },
                                        {.label = "after", .segments = v.after}};
  const float half = half_width();
  ::widgets::draw_stacked_bars("across", bars, v.across,
                               {
                                   .unit = "s",
                                   .axis_label = "time a step",
                                   .size = {half, t.px(220)},
                                   .limit = s.before[0] * 4,
                                   .limit_label = "budget",
                               });
  ImGui::SameLine(0, t.px(16));
  ::widgets::draw_stacked_bars("upright", bars, v.up, {.unit = "s", .size = {half, t.px(220)}, .vertical = true});
  heading("waterfall", "steps that add, and factors that multiply; a measurement at the end");
  double start = 0;
  for (const double x : s.before) start += x;
  const float rows = (static_cast<float>(s.steps.size()) + 2) * t.px(26) + t.px(40);
  ::widgets::draw_waterfall("added", start, v.steps, v.added,
                            {
                                .unit = "s",
                                .size = {half, rows},
                                .measured = start * 0.5,
                                .measured_source = "made up",
                            });
  ImGui::SameLine(0, t.px(16));
  ::widgets::draw_waterfall("multiplied", 1e15, v.factors, v.multiplied,
                            {
                                .rule = ::widgets::WaterfallRule::multiply,
                                .start_label = "peak",
                                .end_label = "reached",
                                .unit = "FLOP/s",
                                .size = {half, rows},
                            });
}

void draw_grids(const Sample& s, const SampleSize& size, Views& v) {
  const auto& t = theme();
  const float half = half_width();
  heading("heat_map", "linear or logarithmic ramp, numbers where they fit, what has no value has no colour");
  const ::widgets::HeatData data{
      .values = s.cells, .rows = static_cast<std::size_t>(size.rows), .cols = static_cast<std::size_t>(size.cols)};
  ::widgets::draw_heat_map("heat", data, v.heat,
                           {
                               .row_title = "rank",
                               .col_title = "rank",
                               .value_title = "rate",
                               .unit = "B/s",
                               .size = {half, t.px(280)},
                           });
  ImGui::SameLine(0, t.px(16));
  ::widgets::draw_heat_map("log heat", data, v.log_heat,
                           {
                               .row_title = "rank",
                               .col_title = "rank",
                               .value_title = "rate",
                               .unit = "B/s",
                               .size = {half, t.px(280)},
                               .log = true,
                               .rows_up = true,
                               .numbers = false,
                           });
  heading("tile_grid", "groups by colour and number, tiles that are partly filled, hatched where they are empty");
  ::widgets::TileGridData tiles;
  tiles.rows = static_cast<std::size_t>(size.rows);
  tiles.cols = static_cast<std::size_t>(size.cols);
  tiles.context = &size;
  tiles.tile = [](const void* context, std::size_t row, std::size_t col) {
    const auto& sz = *static_cast<const SampleSize*>(context);
    const auto i = static_cast<std::int64_t>(row) * sz.cols + static_cast<std::int64_t>(col);
    return ::widgets::Tile{.group = i / 32,
                           .fill_x = static_cast<std::int64_t>(col) + 1 == sz.cols ? 0.75f : 1.0f,
                           .fill_y = static_cast<std::int64_t>(row) + 1 == sz.rows ? 0.7f : 1.0f};
  };
  ::widgets::draw_tile_grid("tiles", tiles, v.tiles,
                            {
                                .row_title = "M",
                                .col_title = "N",
                                .group_title = "wave",
                                .size = {0, t.px(280)},
                            });
}

void draw_flows(const Sample& s, Views& v) {
  const auto& t = theme();
  heading("flow_graph",
          "layers from the left or from the top, shares that fill the boxes, arrows by weight; boxes are items");
  v.nodes.clear();
  for (std::size_t i = 0; i < s.shares.size(); ++i)
    v.nodes.push_back({
        .label = node_name(i),
        .sublabel = i == 0 ? "source" : "",
        .share = s.shares[i],
        .tint = Tint::series(i),
        .info = "made up",
    });
  const float half = half_width(), height = std::max(t.px(200), ImGui::GetContentRegionAvail().y - t.px(4));
  ::widgets::draw_flow_graph("to the right", v.nodes, s.edges, v.right, {.size = {half, height}});
  ImGui::SameLine(0, t.px(16));
  ::widgets::draw_flow_graph("down", v.nodes, s.edges, v.down, {.size = {half, height}, .down = true});
}

void draw_arrows() {
  heading("draw_arrow", "the head is wider than its stroke, from a hairline to a thick one; dashed; along a curve");
  const auto& t = theme();
  const ::widgets::Painter p = ::widgets::Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, step = width / 8, y = at.y + t.px(16);
  constexpr float strokes[] = {1, 1.5f, 3, 6, 10};
  for (std::size_t i = 0; i < std::size(strokes); ++i) {
    const float x = at.x + step * static_cast<float>(i);
    const ImVec2 path[] = {{x, y}, {x + step * 0.8f, y}};
    ::widgets::draw_arrow(p, path, t.text, t.px(strokes[i]));
  }
  const ImVec2 dashed[] = {{at.x + step * 5, y}, {at.x + step * 5.8f, y}};
  ::widgets::draw_arrow(p, dashed, t.muted, t.px(2), true);
  std::array<ImVec2, 25> curve;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const float u = static_cast<float>(i) / static_cast<float>(curve.size() - 1);
    curve[i] = {at.x + step * (6 + 0.8f * u), y + t.px(10) * std::sin(6.2f * u)};
  }
  ::widgets::draw_arrow(p, curve, t.accent, t.px(2.5f));
  const ImVec2 tiny[] = {{at.x + step * 7, y}, {at.x + step * 7 + t.px(6), y}};
  ::widgets::draw_arrow(p, tiny, t.text, t.px(3));
  ImGui::Dummy({width, t.px(34)});
}

}  // namespace chapters::gallery::widgets
