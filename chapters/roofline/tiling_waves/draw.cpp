#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/roofline/tiling_waves/lab.h"
#include "widgets/base/columns.h"
#include "widgets/base/heading.h"
#include "widgets/plot/plot.h"

namespace chapters::roofline::tiling_waves {
namespace {

using models::Schedule;
using widgets::heading;
using widgets::Meaning;
using widgets::Tint;

struct Room {
  float width = 0, height = 0;
};

Tint tint_of_wave(std::int64_t wave) { return Tint::series(static_cast<std::uint64_t>(wave + 1)); }

/// Where the cursor stands, as the number (from 1) of the wave that runs then.
std::int64_t wave_at(const Outputs& out, double time) {
  return std::min(out.waves, static_cast<std::int64_t>(time * static_cast<double>(out.waves)) + 1);
}

void draw_saw(Inputs& in, const Outputs& out, View& view, Room room) {
  const auto& t = widgets::theme();
  widgets::Plot plot("efficiency over N", view.saw,
                     {.x = {.lo = 0, .hi = static_cast<double>(std::max(in.sweep_to, in.n)), .label = "columns N"},
                      .y =
                          {
                              .lo = 0,
                              .hi = out.saw_top,
                              .label = "share of the peak",
                              .unit = "%",
                          },
                      .size = {room.width, room.height}});
  plot.line("aligned N", out.saw_n, out.saw_aligned,
            {.colour = t.series_at(0), .label = false, .info = "2 M N K / (peak x time), rows of 16 bytes or more"});
  plot.line("odd N, since cuBLAS 11", out.saw_n, out.saw_preferred,
            {
                .colour = t.series_at(1),
                .width = 1.5f,
                .label = false,
                .info = "Tensor Cores at the rate set for 2-byte alignment",
            });
  plot.line("odd N, before cuBLAS 11", out.saw_n, out.saw_required,
            {
                .colour = t.series_at(5),
                .width = 1.5f,
                .label = false,
                .info = "no Tensor Cores: vector units alone",
            });
  if (out.free_to_n > in.n && out.free_to_n <= in.sweep_to) {
    widgets::Line free;
    free.add("free up to ").add(widgets::format(static_cast<double>(out.free_to_n), "", 12));
    plot.vertical_mark(static_cast<double>(out.free_to_n), free.view());
  }
  const double at = static_cast<double>(in.n);
  plot.scatter("this matmul", {&at, 1}, {&out.efficiency, 1},
               {
                   .colour = t.accent,
                   .marker = widgets::Marker::diamond,
                   .radius = 6,
                   .legend = false,
                   .info = "as set, alignment in",
               });
  widgets::Line label;
  label.add("N = ").add(widgets::format(at, "", 12)).add(", ").add(widgets::format(out.efficiency, "%"));
  double n = at;
  if (plot.drag_x("drag N", n, {.label = label.view(), .lo = 1, .hi = static_cast<double>(in.sweep_to)}))
    in.n = std::clamp<std::int64_t>(std::llround(n), 1, in.sweep_to);
}

widgets::Tile tile_of(const void* context, std::size_t row, std::size_t col) {
  const auto& out = *static_cast<const Outputs*>(context);
  const auto work =
      models::tile_work(out.setting, out.result, static_cast<std::int64_t>(row), static_cast<std::int64_t>(col));
  widgets::Tile tile{
      .group = work.wave + 1, .fill_x = static_cast<float>(work.used_n), .fill_y = static_cast<float>(work.used_m)};
  if (out.setting.schedule == Schedule::stream_k)
    tile.group = work.first_block + 1, tile.number = static_cast<double>(work.blocks);
  return tile;
}

void draw_grid(const Outputs& out, View& view, Room room) {
  const bool stream = out.setting.schedule == Schedule::stream_k;
  static constexpr std::array<std::string_view, 8> names{"wave 1", "wave 2", "wave 3", "wave 4",
                                                         "wave 5", "wave 6", "wave 7", "wave 8"};
  std::array<widgets::LegendEntry, names.size()> legend;
  for (std::size_t i = 0; i < names.size(); ++i) legend[i] = {names[i], tint_of_wave(static_cast<std::int64_t>(i))};
  const widgets::TileGridData data{
      .rows = static_cast<std::size_t>(out.tiles_m),
      .cols = static_cast<std::size_t>(out.tiles_n),
      .tile = tile_of,
      .context = &out,
  };
  widgets::draw_tile_grid(
      "tiles of C", data, view.grid,
      {
          .row_title = "M",
          .col_title = "N",
          .group_title = stream ? "thread block" : "wave",
          .size = {room.width, room.height},
          .aspect = out.tile_aspect,
          .up_to_group = stream ? INT64_MAX : wave_at(out, view.time),
          .legend = {legend.data(), stream || out.waves > 8 ? 0u : static_cast<std::size_t>(out.waves)},
      });
}

void draw_gantt(const Outputs& out, View& view, Room room) {
  const auto& t = widgets::theme();
  const double end_s = out.spans.empty() ? 0 : out.spans.back().end_s;
  const double slots = static_cast<double>(out.slots);
  const bool named = out.setting.schedule != Schedule::stream_k && out.spans.size() <= 10;
  widgets::Line axis;
  axis.add("slots, ").add(widgets::format(slots, "", 12)).add(" in all");
  widgets::Plot plot("slots over time", view.gantt,
                     {
                         .x =
                             {
                                 .lo = 0,
                                 .hi = 1.04 * end_s,
                                 .label = "time",
                                 .unit = "s",
                             },
                         .y = {.lo = 0, .hi = slots * 1.12, .label = axis.view()},
                         .size = {room.width, room.height},
                         .legend = false,
                     });
  for (const models::WaveSpan& span : out.spans) {
    const std::array<double, 2> xs{span.start_s, span.end_s},
        busy{static_cast<double>(span.busy_slots), static_cast<double>(span.busy_slots)}, all{slots, slots};
    widgets::Line name;
    name.add("wave ").add_integer(span.first_wave + 1);
    if (span.waves > 1) name.add(" to ").add_integer(span.first_wave + span.waves);
    plot.area(name.view(), xs, busy,
              {
                  .colour = widgets::colour(span.waves > 1 ? Tint::series(6) : tint_of_wave(span.first_wave), t),
                  .alpha = 1,
                  .legend = false,
                  .info = "thread blocks at work",
              });
    if (named) {
      widgets::Line number;
      number.add_integer(span.first_wave + 1);
      plot.text((xs[0] + xs[1]) / 2, busy[0] / 2, number.view(),
                {.colour = widgets::text_on(widgets::colour(tint_of_wave(span.first_wave), t), t)});
    }
    if (span.busy_slots < out.slots)
      plot.area("idle", xs, all, busy,
                {
                    .colour = t.of(Meaning::idle),
                    .alpha = 0.7f,
                    .legend = false,
                    .info = "slots without work",
                });
    if (named && 2 * span.busy_slots < out.slots)
      plot.text((xs[0] + xs[1]) / 2, (slots + busy[0]) / 2, "idle", {.colour = t.text});
  }
  plot.horizontal_mark(slots, {});
  double at = view.time * end_s;
  if (plot.drag_x("drag time", at, {.label = "", .lo = 0, .hi = end_s}) && end_s > 0)
    view.time = std::clamp(at / end_s, 0.0, 1.0);
}

void draw_near(const Inputs& in, const Outputs& out, View& view, Room room) {
  const auto& t = widgets::theme();
  const double n = static_cast<double>(in.n);
  widgets::Plot plot("around N", view.near,
                     {.x = {.lo = n - 13, .hi = n + 13, .label = "columns N"},
                      .y =
                          {
                              .lo = 0,
                              .hi = out.near_top,
                              .label = "share of the peak",
                              .unit = "%",
                          },
                      .size = {room.width, room.height}});
  plot.bars("since cuBLAS 11", out.near_n, out.near_now,
            {
                .colour = t.series_at(1),
                .width = 0.4f,
                .offset = -0.5f,
                .info = "16-byte alignment preferred",
            });
  plot.bars("before cuBLAS 11", out.near_n, out.near_then,
            {
                .colour = t.series_at(5),
                .width = 0.4f,
                .offset = 0.5f,
                .info = "16-byte alignment required for Tensor Cores",
            });
  widgets::Line here;
  here.add("N = ").add(widgets::format(n, "", 12));
  plot.vertical_mark(n, here.view(), {.colour = t.accent});
  if (out.padded_n != in.n && out.padded_n - in.n <= 12) {
    widgets::Line padded;
    padded.add("padded ").add(widgets::format(static_cast<double>(out.padded_n), "", 12));
    plot.vertical_mark(static_cast<double>(out.padded_n), padded.view());
  }
}

void draw_losses(const Outputs& out, View& view, Room room) {
  std::array<widgets::WaterfallStep, 6> steps;
  std::size_t n = 0;
  const auto step = [&](std::string_view label, double factor, Tint tint, std::string_view info, bool always = false) {
    if (always || factor < 1 - 1e-9) steps[n++] = {label, factor, tint, info};
  };
  step("edge tiles", out.losses.edge, Tint::series(2), "M N / what the tiles compute", true);
  step("depth edge", out.losses.depth, Tint::series(2), "K / what the steps cover");
  step("idle slots", out.losses.idle, Meaning::idle, "busy slots / slots x waves", true);
  step("alignment", out.losses.alignment, Tint::series(1), "share of the Tensor Core rate at this alignment", true);
  step("memory", out.losses.memory, Meaning::memory_bound, "arithmetic waits for operands");
  step("partial sums", out.losses.reduction, Tint::series(3), "written, read again and added");
  widgets::draw_waterfall("from the peak", out.peak_flops_per_s, {steps.data(), n}, view.losses,
                          {
                              .rule = widgets::WaterfallRule::multiply,
                              .start_label = "peak",
                              .end_label = "left",
                              .unit = "FLOP/s",
                              .end_tint = Meaning::compute_bound,
                              .size = {room.width, room.height},
                              .row_px = 30,
                          });
}

void draw_schedules(const Outputs& out, View& view, Room room) {
  std::array<std::array<widgets::BarSegment, 2>, 4> segments;
  std::array<widgets::StackedBar, 4> bars;
  const std::size_t n = std::min(out.schedules.size(), bars.size());
  for (std::size_t i = 0; i < n; ++i) {
    const ScheduleRow& row = out.schedules[i];
    const bool arithmetic = row.compute_s >= row.memory_s;
    segments[i][0] = {
        .label = arithmetic ? "arithmetic" : "operands",
        .value = std::max(row.compute_s, row.memory_s),
        .tint = arithmetic ? Meaning::compute_bound : Meaning::memory_bound,
        .info = arithmetic ? "waves x a tile's flops / rate of a slot" : "bytes / what the busy SMs can pull",
    };
    segments[i][1] = {
        .label = "partial sums",
        .value = row.reduction_s,
        .tint = Tint::series(3),
        .info = "written and read once more, in FP32",
    };
    bars[i] = {.label = out.schedule_labels[i], .segments = {segments[i].data(), row.reduction_s > 0 ? 2u : 1u}};
  }
  widgets::draw_stacked_bars("schedules", {bars.data(), n}, view.schedules,
                             {.unit = "s", .size = {room.width, room.height}, .bar_px = 22});
}

}  // namespace

void draw(Inputs& in, const Outputs& out, View& view) {
  if (!out.reason.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, low = t.px(230);
  heading(out.summary, {}, width);
  draw_saw(in, out, view, {width, t.px(250)});
  ImGui::Dummy({width, t.px(6)});
  const auto grid = [&](float w) {
    heading(out.tile_title, {}, w);
    draw_grid(out, view, {w, low});
  };
  const auto gantt = [&](float w) {
    heading(out.wave_story, {}, w);
    draw_gantt(out, view, {w, low});
  };
  widgets::draw_columns(widgets::two_columns(width, {.left_share = 0.4f}), grid, gantt);
  ImGui::Dummy({width, t.px(6)});
  const auto near = [&](float w) {
    heading(out.padding_story, out.padding_table, w);
    draw_near(in, out, view, {w, low});
  };
  const auto losses = [&](float w) {
    heading("What is left of the peak, loss by loss", "each step keeps a share of what came before", w);
    draw_losses(out, view, {w, low});
  };
  widgets::draw_columns(widgets::two_columns(width), near, losses);
  ImGui::Dummy({width, t.px(6)});
  heading(out.schedule_story, {}, width);
  draw_schedules(out, view, {width, t.px(150)});
}

}  // namespace chapters::roofline::tiling_waves
