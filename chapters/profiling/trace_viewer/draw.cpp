#include "chapters/profiling/trace_viewer/draw.h"

#include <cmath>

namespace chapters::profiling::trace_viewer {
namespace {

/// What the View knows of an earlier recording does not hold for another, and a step chosen is gone to.
void follow(const Picture& pic, View& view) {
  if (view.shown == pic.run->lanes) return;
  widgets::TimelineView& v = view.timeline;
  v.selected = {};
  v.range_start_s = v.range_end_s = std::nan("");
  view.match = view.gap = -1;
  view.natural_scale = 0;
  const bool first = !view.shown;
  const bool moved = view.asked.start_s != pic.window.start_s || view.asked.duration_s != pic.window.duration_s;
  if (moved && (!first || view.duration_s == 0)) {
    view.start_s = pic.window.start_s;
    view.duration_s = pic.window.duration_s;
  }
  view.asked = pic.window;
  view.shown = pic.run->lanes;
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& pic, View& view) {
  // Which panels there are depends on what is found: before anything was read there are none, so that none moves.
  if (!pic.run->lanes) return;
  follow(pic, view);  // also where another panel stands in front of the timeline
  stage.panel("timeline",
              {.title = "Timeline", .least = {620, 400}, .answers = true, .marks = "device, idle, next lane"},
              [&](ImVec2 size) { draw_timeline_panel(in, pic, view, size); });
  const auto cause = [&] {
    const float bars = static_cast<float>(pic.bars.size());
    if (!pic.bars.empty())
      stage.panel("cause",
                  {.title = "Where the time went", .least = {400, 190}, .ideal = {0, 330 + 40 * bars}, .scrolls = true},
                  [&](ImVec2 size) { draw_causes(out, pic, view, size); });
  };
  const auto ranks = [&] {
    const float rows = static_cast<float>(pic.ranks.rows);
    if (pic.ranks.rows * pic.ranks.cols > 1)
      stage.panel("ranks",
                  {.title = pic.ranks.waits ? "Who waits for whom" : "Ranks and steps",
                   .least = {340, 170},
                   .ideal = {0, 110 + 26 * rows}},
                  [&](ImVec2 size) { draw_ranks(in, pic, view, size); });
  };
  // Where several ranks meet, who waits for whom comes first.
  if (pic.ranks.waits) ranks();
  cause();
  if (!pic.ranks.waits) ranks();
  if (!out.span_rows.empty())
    stage.panel("spans", {.title = "Top spans", .least = {420, 190}, .scrolls = true},
                [&](ImVec2 size) { draw_spans(out, pic, view, size); });
  if (pic.bars.empty())
    stage.panel("findings", {.title = pic.findings_title, .least = {420, 190}, .scrolls = true},
                [&](ImVec2 size) { draw_findings(out, pic, size.x); });
  if (!out.kernels.empty() || !out.host_rows.empty())
    stage.panel("kernels",
                {.title = out.kernels.empty()     ? "The host meanwhile"
                          : out.host_rows.empty() ? "Kernels"
                                                  : "Kernels and host",
                 .least = {560, 190},
                 .scrolls = true},
                [&](ImVec2 size) { draw_kernels_and_host(out, pic, view, size); });
}

}  // namespace chapters::profiling::trace_viewer
