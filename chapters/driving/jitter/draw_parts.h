#pragma once
#include <imgui.h>

#include "chapters/driving/jitter/lab.h"

/// Parts of the picture of driving/jitter. Sizes are in px; each part begins at the cursor.
namespace chapters::driving::jitter {

/// The histogram of response times up to P99.9, with the percentiles and the deadline.
void draw_histogram(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The share of answered frames that take longer than each time.
void draw_tail(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The whole run, best to worst of each stretch of frames, with the cursor that the learner drags.
void draw_whole(const Outputs& out, const Picture& picture, View& view, ImVec2 size);
/// The frames from the cursor on: a line through the answers, and a mark of its own shape on every miss.
void draw_window(const Outputs& out, View& view, ImVec2 size);
/// The road under the frames that draw_window showed: a stretch of it for each frame, hatched where the car drove
/// without a fresh result in time.
void draw_road(const Outputs& out, const View& view, float width);

}  // namespace chapters::driving::jitter
