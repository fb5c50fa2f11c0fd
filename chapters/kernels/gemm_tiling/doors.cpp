#include <bit>
#include <cmath>

#include "chapters/kernels/gemm_tiling/lab.h"
#include "chapters/mechanism/link_writer.h"

namespace chapters::kernels::gemm_tiling {
namespace {

using Link = models::Result<std::string>;

Link to_occupancy(const Outputs& out, const Cut& cut) {
  LinkWriter w("kernels/occupancy");
  const auto& budget = out.study.budget;
  w.choice("compute_capability", models::gpu::capability_text(out.rates.sm->capability));
  w.exactly("block_threads", static_cast<double>(budget.threads));
  w.exactly("registers_per_thread", static_cast<double>(budget.registers));
  w.exactly("static_shared_bytes", 0);
  w.exactly("dynamic_shared_bytes", budget.shared_bytes);
  const bool fma = cut.tile.unit == models::gpu::GemmUnit::fma;
  w.choice("operands", fma ? "shared" : "tensor");
  if (fma) w.number("tile_rows", static_cast<double>(cut.tile.thread_m));
  if (fma) w.number("tile_columns", static_cast<double>(cut.tile.thread_n));
  return w.link();
}

/// One step of a block: its bytes over what L2 gives an SM, its multiply-adds over what the SM does a cycle.
Link to_pipeline(const Outputs& out, const Cut& cut) {
  const auto& rates = out.rates;
  LinkWriter w("kernels/async-pipeline");
  w.choice("kind", cut.tile.unit == models::gpu::GemmUnit::wgmma ? "warp_specialized" : "multistage");
  w.choice("times", "tile");
  w.exactly("flops_per_clock", std::round(rates.flops_per_s / rates.sm_clocks_per_s));
  w.exactly("l2_bytes_per_clock", rates.l2_bytes_per_s / rates.sm_clocks_per_s);
  w.exactly("stages", static_cast<double>(cut.tile.stages));
  w.exactly("block_m", static_cast<double>(cut.tile.block_m));
  w.exactly("block_n", static_cast<double>(cut.tile.block_n));
  w.exactly("block_k", static_cast<double>(cut.tile.block_k));
  w.exactly("element_bytes", cut.shape.element_bytes);
  w.choice("compute_capability", models::gpu::capability_text(rates.sm->capability));
  w.exactly("block_threads", static_cast<double>(out.study.budget.threads));
  w.exactly("registers_per_thread", static_cast<double>(out.study.budget.registers));
  return w.link();
}

/// A block's part of A in shared memory, rows after each other, with the XOR of 128-byte rows.
Link to_layout(const Cut& cut) {
  const auto bytes = static_cast<std::int64_t>(cut.shape.element_bytes);
  if (static_cast<double>(bytes) != cut.shape.element_bytes || (bytes != 2 && bytes != 4))
    return Link::fail("That lab has elements of 2, 4, 8 and 16 bytes.");
  const std::int64_t row = cut.tile.block_k * bytes;
  if (!std::has_single_bit(static_cast<std::uint64_t>(row)) || row < 32)
    return Link::fail("Rows of " + std::to_string(row) + " bytes have no XOR of 16-byte units.");
  // Units of 16 bytes; as many bits as a row of up to 128 bytes has units.
  const int flip_bits = std::countr_zero(static_cast<std::uint64_t>(std::min<std::int64_t>(row, 128) / 16));
  const int unit_elements = std::countr_zero(static_cast<std::uint64_t>(16 / bytes));
  LinkWriter w("kernels/layouts");
  w.choice("operation", "swizzled_layout");
  w.words("a", "(" + std::to_string(cut.tile.block_m) + "," + std::to_string(cut.tile.block_k) + "):(" +
                   std::to_string(cut.tile.block_k) + ",1)");
  w.exactly("swizzle_bits", flip_bits);
  w.exactly("swizzle_base", unit_elements);
  w.exactly("swizzle_shift", 3);
  w.choice("cell_bytes", std::to_string(bytes));
  return w.link();
}

}  // namespace

LabDoors doors_of(const Outputs& out, const Cut& cut) {
  return {{"open the SM", "The block on an SM", to_occupancy(out, cut)},
          {"open the stages", "Its stages on a clock", to_pipeline(out, cut)},
          {"open the layout", "A's tile in shared memory", to_layout(cut)}};
}

}  // namespace chapters::kernels::gemm_tiling
