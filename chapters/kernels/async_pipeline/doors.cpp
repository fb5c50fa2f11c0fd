#include "chapters/kernels/async_pipeline/lab.h"
#include "chapters/mechanism/link_writer.h"

namespace chapters::kernels::async_pipeline {
namespace {

using Link = models::Result<std::string>;

/// The ring as the shared memory of a block.
Link to_occupancy(const Inputs& in, const Outputs& out) {
  LinkWriter w("kernels/occupancy");
  w.choice("compute_capability", in.compute_capability);
  w.exactly("block_threads", static_cast<double>(in.block_threads));
  w.exactly("registers_per_thread", static_cast<double>(in.registers_per_thread));
  w.exactly("static_shared_bytes", 0);
  w.exactly("dynamic_shared_bytes", out.shared_bytes);
  w.choice("operands", "tensor");
  return w.link();
}

/// Its tile at every gate.
Link to_tile(const Inputs& in) {
  LinkWriter w("kernels/gemm-tiling");
  w.choice("unit", in.kind == PipelineKind::warp_specialized && in.compute_capability == "9.0" ? "wgmma" : "mma");
  w.exactly("block_m", static_cast<double>(in.block_m));
  w.exactly("block_n", static_cast<double>(in.block_n));
  w.exactly("block_k", static_cast<double>(in.block_k));
  w.exactly("stages", static_cast<double>(in.stages));
  w.exactly("element_bytes", static_cast<double>(in.element_bytes));
  return w.link();
}

}  // namespace

KernelDoors doors_of(const Inputs& in, const Outputs& out) {
  return {{"open the SM", "The block on an SM", to_occupancy(in, out)},
          {"open the tile", "Its tile at every gate", to_tile(in)}};
}

}  // namespace chapters::kernels::async_pipeline
