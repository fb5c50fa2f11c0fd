#include <algorithm>
#include <cmath>

#include "chapters/gallery/widgets/rooms.h"

namespace chapters::gallery::widgets {
namespace {

using ::widgets::AxisKind, ::widgets::theme, ::widgets::Tint;

void fill_rows(const EdgeSample& s, EdgeViews& v) {
  v.tornado_rows.clear();
  v.dot_rows.clear();
  v.interval_rows.clear();
  v.port_rows.clear();
  for (std::size_t i = 0; i < s.rows; ++i) {
    v.tornado_rows.push_back({
        .label = s.names[i],
        .alone = {s.falls[i], s.rises[i]},
        .on_top = {s.rest[i], 0},
        .info = "made up",
    });
    v.dot_rows.push_back({
        .label = s.names[i],
        .bound = s.bounds[i],
        .measured = i % 5 == 4 ? std::nan("") : s.measured[i],
        .tint = Tint::series(0),
        .info = "made up",
    });
    const bool asked = i % 6 != 5;
    v.interval_rows.push_back({
        .label = s.names[i],
        .low = asked ? s.low[i] : std::nan(""),
        .high = asked ? s.high[i] : std::nan(""),
        .value = asked ? s.mean[i] : std::nan(""),
        .goal = 75,
        .n = asked ? s.counts[i] : 0,
        .info = "made up",
    });
    v.port_rows.push_back({
        .label = s.names[i],
        .demand = s.demand[i],
        .supply = s.supply[i],
        .unit = "B/cycle",
        .info = "made up",
    });
  }
}

}  // namespace

void draw_comparisons(::widgets::Stage& stage, const EdgeSample& s, EdgeViews& v) {
  fill_rows(s, v);
  stage.panel("tornado", {.title = "tornado", .least = {380, 200}, .answers = true}, [&](ImVec2 whole) {
    const ImVec2 size = shows("which change moves one output most, alone and on top of the others", whole);

    ::widgets::draw_tornado("tornado", v.tornado_rows, v.tornado,
                            {.base = 18.4e-3, .unit = "s", .axis_label = "latency of a step", .size = size});
  });
  stage.panel("dot_plot", {.title = "dot_plot", .least = {380, 200}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("bound hollow, measured filled, what is lost drawn between", whole);

    ::widgets::draw_dot_plot("dots", v.dot_rows, v.dots,
                             {.unit = "FLOP/s", .axis_label = "rate", .axis = AxisKind::log10, .size = size});
  });
  stage.panel("interval_bar", {.title = "interval_bar", .least = {380, 200}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("estimate and interval against a goal", whole);

    ::widgets::draw_interval_bars("intervals", v.interval_rows, v.intervals,
                                  {.lo = 0, .hi = 100, .unit = "%", .axis_label = "share right", .size = size});
  });
  stage.panel("port_bars", {.title = "port_bars", .least = {380, 200}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("demand against supply, the tightest marked", whole);
    ::widgets::draw_port_bars("ports", v.port_rows, v.ports, {.size = size});
  });
}

void draw_distributions(::widgets::Stage& stage, const EdgeSample& s, EdgeViews& v) {
  fill_rows(s, v);
  v.series.clear();
  constexpr std::string_view policies[] = {"continuous", "static", "chunked prefill"};
  for (std::size_t i = 0; i < s.latencies.size(); ++i)
    v.series.push_back(
        {s.latencies.size() <= 3 ? policies[i] : std::string_view(s.names[i]), s.latencies[i], Tint::series(i)});
  stage.panel("ecdf", {.title = "ecdf", .least = {380, 200}, .answers = true}, [&](ImVec2 whole) {
    const ImVec2 size = shows("p50 and p99, a limit and the share beyond it, a 95 % band", whole);

    ::widgets::draw_ecdf("ecdf", v.series, v.ecdf,
                         {
                             .unit = "s",
                             .axis_label = "time to first token",
                             .size = size,
                             .limit = 0.2,
                             .limit_label = "SLO",
                             .confidence = s.latencies.size() <= 3 ? 0.95 : std::nan(""),
                             .revision = s.seed,
                         });
  });
  stage.panel("ecdf log10", {.title = "ecdf, log10", .least = {380, 200}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("the same on a logarithmic axis, without a limit", whole);

    ::widgets::draw_ecdf("log ecdf", v.series, v.log_ecdf,
                         {
                             .unit = "s",
                             .axis_label = "time to first token",
                             .axis = AxisKind::log10,
                             .size = size,
                             .revision = s.seed,
                         });
  });
  stage.panel("event_rug", {.title = "event_rug", .least = {380, 200}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("a tick an event while they can be told apart", whole);

    ::widgets::draw_event_rug("few", s.few_events, v.few,
                              {
                                  .lo = 0,
                                  .hi = 20'000,
                                  .label = "skipped steps",
                                  .axis_label = "step",
                                  .size = {size.x, std::min(size.y, theme().px(110))},
                              });
  });
  stage.panel("event_rug dense", {.title = "event_rug, dense", .least = {380, 200}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("bars a bin beyond one event a 3 px, the expected rate dashed", whole);

    ::widgets::draw_event_rug("many", s.many_events, v.many,
                              {
                                  .lo = 0,
                                  .hi = 20'000,
                                  .expected_per_unit = static_cast<double>(s.many_events.size()) / 20'000,
                                  .label = "skipped steps",
                                  .axis_label = "step",
                                  .size = {size.x, std::min(size.y, theme().px(160))},
                              });
  });
}

namespace {

void draw_matrices(::widgets::Stage& stage, const EdgeSample& s, EdgeViews& v) {
  stage.panel("matrix", {.title = "matrix", .least = {380, 200}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("cells by value, a click shows a group of 4 × 8, zeros have no colour", whole);

    const ::widgets::MatrixData data{
        .rows = s.matrix_rows,
        .cols = s.matrix_cols,
        .at =
            [](const void* context, std::size_t row, std::size_t col) {
              const auto& sample = *static_cast<const EdgeSample*>(context);
              return sample.weights[row * sample.matrix_cols + col];
            },
        .context = &s,
        .revision = s.seed + 1,
    };
    if (v.matrix.zoom_row < 0 && v.matrix.layout_of == 0 && s.state == DataState::ordinary) {
      v.matrix.zoom_row = 4;  // the first picture shows what a click does
      v.matrix.zoom_col = 8;
      v.matrix.cursor_row = 5;
      v.matrix.cursor_col = 10;
    }
    ::widgets::draw_matrix("matrix", data, v.matrix,
                           {.value_title = "weight",
                            .group_rows = 4,
                            .group_cols = 8,
                            .lo = -1,
                            .hi = 1,
                            .blank_zero = true,
                            .size = size});
  });
  stage.panel("matrix 1024 wide", {.title = "matrix, 1,024 wide", .least = {380, 200}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("a causal mask with a window: folded to what can be seen, its cursor linked", whole);

    const std::size_t side = s.state == DataState::empty ? 0 : s.state == DataState::one ? 1 : 1024;
    const ::widgets::MatrixData data{
        .rows = side,
        .cols = side,
        .at =
            [](const void*, std::size_t row, std::size_t col) {
              return col <= row && row - col < 300 ? 1.0 - static_cast<double>(row - col) / 600 : 0.0;
            },
        .context = nullptr,
        .revision = 1,
    };
    ::widgets::draw_matrix(
        "mask", data, v.wide,
        {.row_title = "query", .col_title = "key", .value_title = "mask", .blank_zero = true, .size = size});
  });
}

}  // namespace

void draw_mechanisms(::widgets::Stage& stage, const EdgeSample& s, EdgeViews& v) {
  v.bit_rows.clear();
  static constexpr ::widgets::BitField fields[] = {{"significand", 12, Tint::series(0)}};
  constexpr std::string_view labels[] = {"accumulator", "addend", "sum"}, signs[] = {"", "+", "="};
  for (std::size_t i = 0; i < s.bits.size(); ++i)
    v.bit_rows.push_back({
        .label = labels[i % 3],
        .bits = s.bits[i],
        .fields = fields,
        .shift = s.shifts[i],
        .value = i % 3 == 1 ? "\xC3\x97 2\xE2\x81\xBB\xE2\x81\xB7" : "",
        .operation = signs[i % 3],
        .info = "made up",
    });
  stage.panel("road", {.title = "road", .least = {380, 200}, .answers = true}, [&](ImVec2 whole) {
    const ImVec2 size = shows("to scale in metres, the longest blind stretch in the middle", whole);
    ::widgets::draw_road("road", s.stretches, v.road, {.size = size});
  });
  stage.panel("bit_rows", {.title = "bit_rows", .least = {380, 200}}, [&](ImVec2 whole) {
    const ImVec2 size = shows("bits of one weight under each other, what the register cannot hold falls off", whole);

    ::widgets::draw_bit_rows("adder", v.bit_rows, v.adder,
                             {.kept = s.bits.empty() || s.bits[0].size() < 12 ? 0 : 12, .extra = 3, .size = size});
  });
  draw_matrices(stage, s, v);
}

}  // namespace chapters::gallery::widgets
