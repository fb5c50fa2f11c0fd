#include <algorithm>
#include <array>

#include "chapters/roofline/tiling_waves/draw.h"
#include "widgets/plot/plot.h"

namespace chapters::roofline::tiling_waves {
namespace {

using models::Schedule;
using widgets::Meaning;
using widgets::Tint;

Tint tint_of_wave(std::int64_t wave) { return Tint::series(static_cast<std::uint64_t>(wave + 1)); }

/// Where the cursor stands, as the number (from 1) of the wave that runs then.
std::int64_t wave_at(const Outputs& out, double time) {
  return std::min(out.result.waves, static_cast<std::int64_t>(time * static_cast<double>(out.result.waves)) + 1);
}

widgets::Tile tile_of(const void* context, std::size_t row, std::size_t col) {
  const auto& out = *static_cast<const Outputs*>(context);
  const auto work =
      models::tile_work(out.setting, out.result, static_cast<std::int64_t>(row), static_cast<std::int64_t>(col));
  widgets::Tile tile{
      .group = work.wave + 1, .fill_x = static_cast<float>(work.used_n), .fill_y = static_cast<float>(work.used_m)};
  if (out.setting.schedule == Schedule::stream_k) {
    tile.group = work.first_block + 1;
    tile.number = static_cast<double>(work.blocks);
  }
  return tile;
}

}  // namespace

void draw_grid(const Outputs& out, const Picture& pic, View& view, Room room) {
  const bool stream = out.setting.schedule == Schedule::stream_k;
  static constexpr std::array<std::string_view, 8> names{"wave 1", "wave 2", "wave 3", "wave 4",
                                                         "wave 5", "wave 6", "wave 7", "wave 8"};
  std::array<widgets::LegendEntry, names.size()> legend;
  for (std::size_t i = 0; i < names.size(); ++i) legend[i] = {names[i], tint_of_wave(static_cast<std::int64_t>(i))};
  const widgets::TileGridData data{
      .rows = static_cast<std::size_t>(out.result.tiles_m),
      .cols = static_cast<std::size_t>(out.result.tiles_n),
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
          .aspect = pic.tile_aspect,
          .up_to_group = stream ? INT64_MAX : wave_at(out, view.time),
          .legend = {legend.data(), stream || out.result.waves > 8 ? 0u : static_cast<std::size_t>(out.result.waves)},
      });
}

void draw_gantt(const Outputs& out, const Picture& pic, View& view, Room room) {
  const auto& t = widgets::theme();
  const double end_s = pic.spans.empty() ? 0 : pic.spans.back().end_s;
  const double slots = static_cast<double>(out.slots);
  const bool named = out.setting.schedule != Schedule::stream_k && pic.spans.size() <= 10;
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
  for (const models::WaveSpan& span : pic.spans) {
    const std::array<double, 2> xs{span.start_s, span.end_s},
        busy{static_cast<double>(span.busy_slots), static_cast<double>(span.busy_slots)}, all{slots, slots};
    widgets::Line name;
    name.add("wave ").add_integer(span.first_wave + 1);
    if (span.waves > 1) name.add(" to ").add_integer(span.first_wave + span.waves);
    plot.area(name.view(), xs, busy,
              {
                  .colour = widgets::colour(span.waves > 1 ? Tint() : tint_of_wave(span.first_wave), t),
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

}  // namespace chapters::roofline::tiling_waves
