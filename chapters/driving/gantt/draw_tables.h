#pragma once
#include "chapters/driving/gantt/lab.h"

/// Tables under the schedule of driving/gantt, `width` px wide, at the cursor.
namespace chapters::driving::gantt {

/// The tasks of the first frame, and their room off the critical path.
void draw_tasks(const Outputs& out, const Picture& picture, View& view, float width);
/// What each resource has to do at the camera's rate.
void draw_resources(const Outputs& out, const Picture& picture, View& view, float width);
/// When each frame shown arrives and ends.
void draw_frames(const Outputs& out, const Picture& picture, View& view, float width);

}  // namespace chapters::driving::gantt
