#include <algorithm>
#include <array>

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

struct ChipOfCapability {
  std::string_view capability, chip;
};
/// A GPU of the catalog for each capability that it has one of.
constexpr std::array chips_of_capability{ChipOfCapability{"7.0", "v100_sxm2"}, ChipOfCapability{"8.0", "a100_80_sxm"},
                                         ChipOfCapability{"8.6", "rtx3090"},   ChipOfCapability{"8.9", "rtx4090"},
                                         ChipOfCapability{"9.0", "h100_sxm"},  ChipOfCapability{"10.0", "b200_sxm"},
                                         ChipOfCapability{"12.0", "rtx5090"}};

/// Its tile at every gate, on a GPU with such an SM.
Link to_tile(const Inputs& in) {
  const auto* const known =
      std::find_if(chips_of_capability.begin(), chips_of_capability.end(),
                   [&](const ChipOfCapability& c) { return c.capability == in.compute_capability; });
  if (known == chips_of_capability.end())
    return Link::fail("That lab has no GPU of compute capability " + in.compute_capability + " to choose.");
  LinkWriter w("kernels/gemm-tiling");
  w.choice("chip", known->chip);
  w.choice("unit", in.kind == PipelineKind::warp_specialized && in.compute_capability == "9.0" ? "wgmma" : "mma");
  w.exactly("block_m", static_cast<double>(in.block_m));
  w.exactly("block_n", static_cast<double>(in.block_n));
  w.exactly("block_k", static_cast<double>(in.block_k));
  w.exactly("stages", static_cast<double>(in.stages));
  w.exactly("element_bytes", static_cast<double>(in.element_bytes));
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Outputs& out) {
  return {{"open the SM", "The block on an SM", to_occupancy(in, out)},
          {"open the tile", "Its tile at every gate", to_tile(in)}};
}

}  // namespace chapters::kernels::async_pipeline
