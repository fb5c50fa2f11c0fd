#pragma once
#include <imgui.h>

#include "chapters/profiling/trace_viewer/lab.h"

/// The parts of the picture; each draws at the cursor in `size` px.
namespace chapters::profiling::trace_viewer {

/// Shows a span of time with some room around it, and selects what is there.
void show(View& view, const Place& place);

/// The diagnosis as cards, the whole recording as a strip, and the tracks.
void draw_timeline_panel(const Inputs& in, const Picture& pic, View& view, ImVec2 size);
/// As many cards as have room, the worst first; a press shows where.
void draw_cards(const Picture& pic, View& view, ImVec2 size);
/// Every finding in whole sentences, and what of the files was not read.
void draw_findings(const Outputs& out, const Picture& pic, float width);
void draw_breakdown(const Picture& pic, View& view, ImVec2 size);
void draw_ranks(Inputs& in, const Picture& pic, View& view, ImVec2 size);
/// Where the time went as bars, and under them what was found.
void draw_causes(const Outputs& out, const Picture& pic, View& view, ImVec2 size);
void draw_host(const Outputs& out, const Picture& pic, View& view, ImVec2 size);
void draw_spans(const Outputs& out, const Picture& pic, View& view, ImVec2 size);
void draw_kernels(const Outputs& out, const Picture& pic, View& view, ImVec2 size);
/// The kernels, and under them what the host did while the device waited for it, where either is known.
void draw_kernels_and_host(const Outputs& out, const Picture& pic, View& view, ImVec2 size);

}  // namespace chapters::profiling::trace_viewer
