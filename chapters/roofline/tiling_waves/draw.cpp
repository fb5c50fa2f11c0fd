#include <algorithm>
#include <array>

#include "chapters/roofline/tiling_waves/draw.h"
#include "widgets/base/wrapped_text.h"

namespace chapters::roofline::tiling_waves {
namespace {

using widgets::Meaning;
using widgets::Tint;

void draw_losses(const Outputs& out, const Picture& pic, View& view, Room room) {
  const models::TilingLosses& losses = pic.run->losses;
  std::array<widgets::WaterfallStep, 6> steps;
  std::size_t n = 0;
  const auto step = [&](std::string_view label, double factor, Tint tint, std::string_view info, bool always = false) {
    if (always || factor < 1 - 1e-9) steps[n++] = {label, factor, tint, info};
  };
  step("edge tiles", losses.edge, Tint::series(2), "M N / what the tiles compute", true);
  step("depth edge", losses.depth, Tint::series(2), "K / what the steps cover");
  step("idle slots", losses.idle, Meaning::idle, "busy slots / slots x waves", true);
  step("alignment", losses.alignment, Tint::series(1),
       "share of the Tensor Core rate at this alignment, at the rates set for rows of 2 bytes and of 4 or 8", true);
  step("memory", losses.memory, Meaning::memory_bound, "arithmetic waits for operands");
  step("partial sums", losses.reduction, Tint::series(3), "written, read once more and added");
  const float row_px =
      (room.height / widgets::theme().scale - 24) / static_cast<float>(n + 2);  // the rows fill what there is
  widgets::draw_waterfall("from the peak", out.setting.peak_flops_per_s, {steps.data(), n}, view.losses,
                          {
                              .rule = widgets::WaterfallRule::multiply,
                              .start_label = pic.peak_label,
                              .end_label = "left",
                              .unit = "FLOP/s",
                              .end_tint = Meaning::compute_bound,
                              .size = {room.width, room.height},
                              .row_px = std::clamp(row_px, 16.0f, 110.0f),
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

/// A line of words over a picture, which is left the rest.
Room under(std::string_view words, Room room) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float taken =
      widgets::wrapped_text(widgets::Painter::window(), at, words, room.width, t.muted, {.max_lines = 2}) + t.px(4);
  ImGui::SetCursorScreenPos({at.x, at.y + taken});
  return {room.width, std::max(t.px(40), room.height - taken)};
}

/// Two pictures next to each other from `across_px` design pixels of width on, else one above the other.
template <class First, class Second>
void draw_two(Room room, float across_px, const First& first, const Second& second) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(16);
  const bool across = room.width >= t.px(across_px);
  const Room a = across ? Room{0.56f * (room.width - gap), room.height} : Room{room.width, 0.56f * (room.height - gap)};
  first(a);
  ImGui::SetCursorScreenPos(across ? ImVec2{at.x + a.width + gap, at.y} : ImVec2{at.x, at.y + a.height + gap});
  second(across ? Room{room.width - a.width - gap, room.height} : Room{room.width, room.height - a.height - gap});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  stage.panel("waves",
              {.title = "C and its waves", .least = {560, 270}, .answers = true, .marks = "tiles, chip, lanes"},
              [&](ImVec2 size) {
                draw_hero(out, pic, view, {size.x, size.y});
              });
  stage.panel("losses", {.title = "What is left of the peak", .least = {440, 210}, .ideal = {0, 270}},
              [&](ImVec2 size) {
                draw_losses(out, pic, view, {size.x, size.y});
              });
  stage.panel("slots", {.title = "Slots and schedules", .least = {400, 330}, .ideal = {0, 400}}, [&](ImVec2 size) {
    draw_two(
        {size.x, size.y}, 900, [&](Room room) { draw_slots(out, pic, view, under(pic.wave_story, room)); },
        [&](Room room) { draw_schedules(out, view, under(pic.schedule_story, room)); });
  });
  stage.panel("saw", {.title = "Over N, and padded", .least = {700, 240}, .ideal = {0, 360}}, [&](ImVec2 size) {
    draw_two(
        {size.x, size.y}, 700, [&](Room room) { draw_saw(in, out, pic, view, room); },
        [&](Room room) {
          room = under(pic.padding_story, room);
          if (!pic.padding_table.empty()) room = under(pic.padding_table, room);
          draw_near(in, out, pic, view, room);
        });
  });
}

}  // namespace chapters::roofline::tiling_waves
