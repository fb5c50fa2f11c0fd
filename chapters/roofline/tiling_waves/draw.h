#pragma once
#include "chapters/roofline/tiling_waves/lab.h"

/// The parts of the picture; each draws at the cursor in a box of this size.
namespace chapters::roofline::tiling_waves {

struct Room {
  float width = 0, height = 0;
};

/// C and its waves, the chip in one of them, and the matmul on a clock with what was measured.
void draw_hero(const Outputs& out, const Picture& pic, View& view, Room room);
/// The share of the peak over N, with a marker that can be dragged.
void draw_saw(Inputs& in, const Outputs& out, const Picture& pic, View& view, Room room);
/// The share of the peak just around N, under both alignment rules.
void draw_near(const Inputs& in, const Outputs& out, const Picture& pic, View& view, Room room);
/// The tiles of C, coloured by wave or by thread block; those that the time cursor has not reached are pale.
void draw_tiles(const Outputs& out, const Picture& pic, View& view, Room room);
/// Which slots work in which wave, with the time cursor; many waves are drawn with a break in the axis.
void draw_slots(const Outputs& out, const Picture& pic, View& view, Room room);

/// Waves and blocks have an order, so they have a ramp; a last wave that leaves slots idle stands out of it.
widgets::Tint tint_of_wave(const Outputs& out, std::int64_t wave);
/// The wave, from 0, that runs at the time cursor.
std::int64_t wave_at(const Outputs& out, double time);

}  // namespace chapters::roofline::tiling_waves
