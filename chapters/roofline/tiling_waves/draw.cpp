#include <algorithm>
#include <array>

#include "chapters/roofline/tiling_waves/draw.h"
#include "widgets/base/columns.h"
#include "widgets/base/heading.h"

namespace chapters::roofline::tiling_waves {
namespace {

using widgets::heading;
using widgets::Meaning;
using widgets::Tint;

void draw_losses(const Outputs& out, const Picture& pic, View& view, Room room) {
  std::array<widgets::WaterfallStep, 6> steps;
  std::size_t n = 0;
  const auto step = [&](std::string_view label, double factor, Tint tint, std::string_view info, bool always = false) {
    if (always || factor < 1 - 1e-9) steps[n++] = {label, factor, tint, info};
  };
  step("edge tiles", pic.losses.edge, Tint::series(2), "M N / what the tiles compute", true);
  step("depth edge", pic.losses.depth, Tint::series(2), "K / what the steps cover");
  step("idle slots", pic.losses.idle, Meaning::idle, "busy slots / slots x waves", true);
  step("alignment", pic.losses.alignment, Tint::series(1), "share of the Tensor Core rate at this alignment", true);
  step("memory", pic.losses.memory, Meaning::memory_bound, "arithmetic waits for operands");
  step("partial sums", pic.losses.reduction, Tint::series(3), "written, read again and added");
  widgets::draw_waterfall("from the peak", out.setting.peak_flops_per_s, {steps.data(), n}, view.losses,
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
    const bool arithmetic = row.scheduled.result.compute_s >= row.scheduled.result.memory_s;
    segments[i][0] = {
        .label = arithmetic ? "arithmetic" : "operands",
        .value = std::max(row.scheduled.result.compute_s, row.scheduled.result.memory_s),
        .tint = arithmetic ? Meaning::compute_bound : Meaning::memory_bound,
        .info = arithmetic ? "waves x a tile's flops / rate of a slot" : "bytes / what the busy SMs can pull",
    };
    segments[i][1] = {
        .label = "partial sums",
        .value = row.scheduled.result.reduction_s,
        .tint = Tint::series(3),
        .info = "written and read once more, in FP32",
    };
    bars[i] = {.label = row.name, .segments = {segments[i].data(), row.scheduled.result.reduction_s > 0 ? 2u : 1u}};
  }
  widgets::draw_stacked_bars("schedules", {bars.data(), n}, view.schedules,
                             {.unit = "s", .size = {room.width, room.height}, .bar_px = 22});
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  if (!out.reason.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x, low = t.px(230);
  heading(pic.summary, {}, width);
  draw_saw(in, out, pic, view, {width, t.px(250)});
  ImGui::Dummy({width, t.px(6)});
  const auto grid = [&](float w) {
    heading(pic.tile_title, {}, w);
    draw_grid(out, pic, view, {w, low});
  };
  const auto gantt = [&](float w) {
    heading(pic.wave_story, {}, w);
    draw_gantt(out, pic, view, {w, low});
  };
  widgets::draw_columns(widgets::two_columns(width, {.left_share = 0.4f}), grid, gantt);
  ImGui::Dummy({width, t.px(6)});
  const auto near = [&](float w) {
    heading(pic.padding_story, pic.padding_table, w);
    draw_near(in, out, pic, view, {w, low});
  };
  const auto losses = [&](float w) {
    heading("What is left of the peak, loss by loss", "each step keeps a share of what came before", w);
    draw_losses(out, pic, view, {w, low});
  };
  widgets::draw_columns(widgets::two_columns(width), near, losses);
  ImGui::Dummy({width, t.px(6)});
  heading(pic.schedule_story, {}, width);
  draw_schedules(out, view, {width, t.px(150)});
}

}  // namespace chapters::roofline::tiling_waves
