#pragma once
#include "chapters/driving/gantt/lab.h"

/// Tables next to the schedule of driving/gantt, in `size` px at the cursor.
namespace chapters::driving::gantt {

/// The tasks of the first frame, and their room off the critical path.
void draw_tasks(const Outputs& out, View& view, ImVec2 size);
/// When each frame shown arrives and ends, and next to it or under it what each resource has to do at the camera's
/// rate.
void draw_frames_and_resources(const Outputs& out, View& view, ImVec2 size);

}  // namespace chapters::driving::gantt
