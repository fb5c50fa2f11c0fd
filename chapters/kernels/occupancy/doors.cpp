#include "chapters/kernels/occupancy/lab.h"
#include "chapters/mechanism/link_writer.h"

namespace chapters::kernels::occupancy {
namespace {

using Link = models::Result<std::string>;

/// The thread's tile as that of a block of as many threads, with one warp of 4 rows by 8 lanes.
Link to_tile(const Inputs& in, const Run& run) {
  if (in.operands == Operands::tensor) return Link::fail("On Tensor Cores no thread has a tile of its own.");
  if (run.block.threads % 32 != 0) return Link::fail("That lab cuts blocks into whole warps.");
  const std::int64_t warps = run.block.threads / 32, across = warps % 2 == 0 ? 2 : 1;
  LinkWriter w("kernels/gemm-tiling");
  w.choice("unit", "fma");
  w.exactly("thread_m", static_cast<double>(in.tile_rows));
  w.exactly("thread_n", static_cast<double>(in.tile_columns));
  w.exactly("warp_m", static_cast<double>(4 * in.tile_rows));
  w.exactly("warp_n", static_cast<double>(8 * in.tile_columns));
  w.exactly("block_m", static_cast<double>(4 * in.tile_rows * (warps / across)));
  w.exactly("block_n", static_cast<double>(8 * in.tile_columns * across));
  w.exactly("element_bytes", 4);
  return w.link();
}

Link to_pipeline(const Run& run) {
  LinkWriter w("kernels/async-pipeline");
  w.choice("compute_capability", models::gpu::capability_text(run.sm->capability));
  w.exactly("block_threads", static_cast<double>(run.block.threads));
  w.exactly("registers_per_thread", static_cast<double>(run.block.registers));
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Run& run) {
  return {{"open the tile", "Its tiles at every gate", to_tile(in, run)},
          {"open the ring", "A ring of buffers in this block", to_pipeline(run)}};
}

}  // namespace chapters::kernels::occupancy
