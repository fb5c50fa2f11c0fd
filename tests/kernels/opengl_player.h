#pragma once
#include <cstdint>
#include <string>

#include "kernels/opengl/api.h"

/// The driver of this machine, on which a test plays a GPU: another name, a clock of its own, and what goes wrong. One
/// at a time; a software renderer computes the results.
namespace opengl_player {

struct Play {
  std::string renderer = "Some GPU";
  double dispatch_s = 1e-3;     ///< what a dispatch takes by the clock
  double second_per_group = 0;  ///< and for each of its groups
  bool clock_stands = false;    ///< timestamps are 0
  int counter_bits = 64;
  std::int64_t memory_bytes = 1 << 30;  ///< a buffer above it is out of memory
  std::int64_t max_block_bytes = 1 << 27, max_groups = 65535;
  std::int64_t lost_after = -1;  ///< dispatches until the device is reset; -1: never
  bool computes = true;          ///< false: a dispatch takes its time and computes nothing
  // What a test reads.
  std::int64_t dispatches = 0, widest = 0, buffers = 0, queries = 0, programs = 0;
};

/// The play in force. Made new by machine().
Play& play();
/// The driver with the play's answers; `none` where this machine has no driver with compute shaders.
kernels::opengl::Machine machine();

}  // namespace opengl_player
