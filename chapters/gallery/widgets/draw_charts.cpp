#include <algorithm>

#include "chapters/gallery/widgets/rooms.h"
#include "widgets/base/arrow.h"

namespace chapters::gallery::widgets {
namespace {

using ::widgets::Meaning, ::widgets::theme, ::widgets::Tint;

constexpr std::string_view segment_names[] = {"weights", "gradients", "optimizer", "activations",
                                              "logits",  "buffers",   "workspace", "free"};

}  // namespace

void draw_timelines(::widgets::Stage& stage, const Sample& s, Views& v) {
  stage.panel("timeline", {.title = "timeline", .least = {560, 300}, .answers = true}, [&](ImVec2 whole) {
    const ImVec2 size =
        shows("lanes, spans by meaning, links, a counter strip, a cursor; wheel zooms, drag pans, F fits, Space plays",
              whole);
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
    ::widgets::draw_timeline("timeline", data, v.timeline, {.height = size.y, .legend = true});
  });
}

void fill_stacks(const Sample& s, Views& v) {
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
}

void draw_bars(::widgets::Stage& stage, const Sample& s, Views& v) {
  const auto both = [&](const auto& chart) {
    fill_stacks(s, v);
    const ::widgets::StackedBar bars[] = {{
                                              .label = "before",
                                              .segments = v.before,
                                              .measured = s.before[0] * 3,
                                              .measured_source = "made up",
                                          },
                                          {.label = "after", .segments = v.after}};
    chart(bars);
  };
  stage.panel("across", {.title = "stacked_bar", .least = {420, 190}, .answers = true}, [&](ImVec2 whole) {
    const ImVec2 size = shows("a limit, a measurement with its residual, hatching for what is optional", whole);
    both([&](std::span<const ::widgets::StackedBar> bars) {
      ::widgets::draw_stacked_bars("across", bars, v.across,
                                   {
                                       .unit = "s",
                                       .axis_label = "time a step",
                                       .size = size,
                                       .limit = s.before[0] * 4,
                                       .limit_label = "budget",
                                   });
    });
  });
  stage.panel("upright", {.title = "stacked_bar, upright", .least = {320, 190}}, [&](ImVec2 size) {
    both([&](std::span<const ::widgets::StackedBar> bars) {
      ::widgets::draw_stacked_bars("upright", bars, v.up, {.unit = "s", .size = size, .vertical = true});
    });
  });
  // Its rows have one height: with more steps it needs more room.
  const float rows = (static_cast<float>(s.steps.size()) + 2) * 26 + 56;
  stage.panel("added", {.title = "waterfall of sums", .least = {380, rows}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("steps that add, a measurement at the end", whole);
    fill_stacks(s, v);
    double start = 0;
    for (const double x : s.before) start += x;
    ::widgets::draw_waterfall("added", start, v.steps, v.added,
                              {.unit = "s", .size = size, .measured = start * 0.5, .measured_source = "made up"});
  });
  stage.panel("multiplied", {.title = "waterfall of factors", .least = {380, rows}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("factors that multiply", whole);
    fill_stacks(s, v);
    ::widgets::draw_waterfall("multiplied", 1e15, v.factors, v.multiplied,
                              {
                                  .rule = ::widgets::WaterfallRule::multiply,
                                  .start_label = "peak",
                                  .end_label = "reached",
                                  .unit = "FLOP/s",
                                  .size = size,
                              });
  });
}

void draw_grids(::widgets::Stage& stage, const Sample& s, const SampleSize& cells, Views& v) {
  const ::widgets::HeatData data{
      .values = s.cells, .rows = static_cast<std::size_t>(cells.rows), .cols = static_cast<std::size_t>(cells.cols)};
  ::widgets::HeatMapOptions options{.row_title = "rank", .col_title = "rank", .value_title = "rate", .unit = "B/s"};
  stage.panel("heat", {.title = "heat_map", .least = {380, 230}, .answers = true}, [&](ImVec2 whole) {
    const ImVec2 size = shows("numbers where they fit, what has no value has no colour", whole);
    options.size = size;
    ::widgets::draw_heat_map("heat", data, v.heat, options);
  });
  stage.panel("log heat", {.title = "heat_map, log", .least = {380, 230}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("a logarithmic ramp, rows upwards", whole);
    ::widgets::HeatMapOptions log = options;
    log.size = size;
    log.log = log.rows_up = true;
    log.numbers = false;
    ::widgets::draw_heat_map("log heat", data, v.log_heat, log);
  });
  stage.panel("tiles", {.title = "tile_grid", .least = {380, 230}}, [&](ImVec2 whole) {
    const ImVec2 size =
        shows("groups by colour and number, tiles that are partly filled, hatched where they are empty", whole);
    ::widgets::TileGridData tiles;
    tiles.rows = static_cast<std::size_t>(cells.rows);
    tiles.cols = static_cast<std::size_t>(cells.cols);
    tiles.context = &cells;
    tiles.tile = [](const void* context, std::size_t row, std::size_t col) {
      const auto& sz = *static_cast<const SampleSize*>(context);
      const auto i = static_cast<std::int64_t>(row) * sz.cols + static_cast<std::int64_t>(col);
      return ::widgets::Tile{.group = i / 32,
                             .fill_x = static_cast<std::int64_t>(col) + 1 == sz.cols ? 0.75f : 1.0f,
                             .fill_y = static_cast<std::int64_t>(row) + 1 == sz.rows ? 0.7f : 1.0f};
    };
    ::widgets::draw_tile_grid("tiles", tiles, v.tiles,
                              {.row_title = "M", .col_title = "N", .group_title = "wave", .size = size});
  });
}

void fill_nodes(const Sample& s, Views& v) {
  v.nodes.clear();
  for (std::size_t i = 0; i < s.shares.size(); ++i)
    v.nodes.push_back({
        .label = node_name(i),
        .sublabel = i == 0 ? "source" : "",
        .share = s.shares[i],
        .tint = Tint::series(i),
        .info = "made up",
    });
}

void draw_flows(::widgets::Stage& stage, const Sample& s, Views& v) {
  stage.panel("to the right", {.title = "flow_graph", .least = {460, 260}, .answers = true}, [&](ImVec2 whole) {
    const ImVec2 size = shows("layers, shares that fill the boxes, arrows by weight; boxes are items", whole);
    fill_nodes(s, v);
    ::widgets::draw_flow_graph("to the right", v.nodes, s.edges, v.right, {.size = size});
  });
  stage.panel("down", {.title = "flow_graph, from the top", .least = {380, 260}}, [&](ImVec2 size) {
    fill_nodes(s, v);
    ::widgets::draw_flow_graph("down", v.nodes, s.edges, v.down, {.size = size, .down = true});
  });
}

void draw_arrows(::widgets::Stage& stage) {
  stage.panel("arrows", {.title = "draw_arrow", .least = {420, 64}, .ideal = {0, 70}}, [&](ImVec2 whole) {
    const float width =
        shows("the head is wider than its stroke, from a hairline to a thick one; dashed; along a curve", whole).x;
    const auto& t = theme();
    const ::widgets::Painter p = ::widgets::Painter::window();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float step = width / 8, y = at.y + t.px(16);
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
  });
}

}  // namespace chapters::gallery::widgets
