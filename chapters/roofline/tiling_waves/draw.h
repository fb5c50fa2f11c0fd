#pragma once
#include "chapters/roofline/tiling_waves/lab.h"

/// The parts of the picture; each draws at the cursor in a box of this size.
namespace chapters::roofline::tiling_waves {

struct Room {
  float width = 0, height = 0;
};

/// The share of the peak over N, with a marker that can be dragged.
void draw_saw(Inputs& in, const Outputs& out, const Picture& pic, View& view, Room room);
/// The share of the peak just around N, under both alignment rules.
void draw_near(const Inputs& in, const Outputs& out, const Picture& pic, View& view, Room room);
/// The tiles of C, coloured by wave or by thread block.
void draw_grid(const Outputs& out, const Picture& pic, View& view, Room room);
/// Slots at work over time, with the time cursor.
void draw_gantt(const Outputs& out, const Picture& pic, View& view, Room room);

}  // namespace chapters::roofline::tiling_waves
