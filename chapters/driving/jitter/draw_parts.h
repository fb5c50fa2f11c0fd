#pragma once
#include <imgui.h>

#include "chapters/driving/jitter/lab.h"

/// Bodies of the panels of driving/jitter. Each takes `size` px at the cursor and no more.
namespace chapters::driving::jitter {

/// The road about the longest blind stretch, to scale, and under it the frames on the same metres.
void draw_road_and_frames(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// What a question gives: a road of 60 m with a car on it, to scale, and when a frame is due.
void draw_given_road(const Inputs& in, View& view, ImVec2 size);
/// How the response of an overloaded stack grows from frame to frame.
void draw_overload(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// Misses per minute by cause over the whole run, with the cursor that the learner drags.
void draw_causes(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The frames from the cursor on: a line through the answers, and a mark of its own shape on every miss,
/// with the cause next to the late ones.
void draw_window(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// How often each response time comes, with the percentiles and the deadline.
void draw_histogram(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The share of answered frames that take longer than each time.
void draw_tail(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// What P99 would be without each source.
void draw_sources(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The figures of each source.
void draw_effects(const Outputs& out, View& view, ImVec2 size);

}  // namespace chapters::driving::jitter
