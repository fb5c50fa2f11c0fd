#include "chapters/described/warp_link.h"
#include "chapters/kernels/bank_conflicts/lab.h"
#include "chapters/mechanism/link_writer.h"

namespace chapters::kernels::bank_conflicts {
namespace {

using Link = models::Result<std::string>;

/// The same lanes over a matrix of this width in global memory.
Link to_sectors(const Run& run) {
  if (!run.placements[0].possible) return Link::fail("This access faults as it is written.");
  return link_of_addresses("kernels/coalescing", run.placements[0].addresses, run.width_bytes);
}

/// The tile by rows with its XOR, as CuTe writes both, in elements.
Link to_layout(const Run& run) {
  const auto& tile = run.tile;
  if (tile.element_bytes < 2) return Link::fail("That lab has elements of 2, 4, 8 and 16 bytes.");
  const auto cute = models::gpu::cute_swizzle(tile, run.swizzle);
  if (!cute) return Link::fail("This XOR is no Swizzle of CuTe's.");
  LinkWriter w("kernels/layouts");
  w.choice("operation", "swizzled_layout");
  w.words("a", "(" + std::to_string(tile.rows) + "," + std::to_string(tile.columns) + "):(" +
                   std::to_string(tile.columns) + ",1)");
  int base = cute->base;
  for (std::int64_t bytes = tile.element_bytes; bytes > 1; bytes /= 2) --base;
  if (base < 0) return Link::fail("This XOR moves parts of an element.");
  w.exactly("swizzle_bits", cute->bits);
  w.exactly("swizzle_base", base);
  w.exactly("swizzle_shift", cute->shift);
  w.choice("cell_bytes", std::to_string(tile.element_bytes));
  return w.link();
}

}  // namespace

LabDoors doors_of(const Run& run) {
  return {{"open the sectors", "The same lanes in global memory", to_sectors(run)},
          {"open the layout", "The tile as a layout", to_layout(run)}};
}

}  // namespace chapters::kernels::bank_conflicts
