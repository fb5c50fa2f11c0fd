#include "models/gpu/fragments.h"

#include <string>

namespace models::gpu {
namespace {

// Accumulators of one shape stand once for each instruction that has them. The accumulator of wmma is officially
// opaque: the map is the one observed from sm_75 on.
constexpr Fragment known_fragments[] = {
    {"mma.sync.m16n8k16.f16/bf16", "C/D", FragmentMap::c, 16, 8, 32, 32, 4},
    {"mma.sync.m16n8k8.tf32", "C/D", FragmentMap::c, 16, 8, 32, 32, 4},
    {"mma.sync.m16n8k4.tf32", "C/D", FragmentMap::c, 16, 8, 32, 32, 4},
    {"mma.sync.m16n8k16.s8/u8", "C/D", FragmentMap::c, 16, 8, 32, 32, 4},
    {"mma.sync.m16n8k32.s8/u8", "C/D", FragmentMap::c, 16, 8, 32, 32, 4},
    {"mma.sync.m16n8k32.e4m3/e5m2", "C/D", FragmentMap::c, 16, 8, 32, 32, 4},
    {"mma.sync.m16n8k32.s4/u4", "C/D", FragmentMap::c, 16, 8, 32, 32, 4},
    {"mma.sync.m16n8k64.s4/u4", "C/D", FragmentMap::c, 16, 8, 32, 32, 4},
    {"mma.sync.m16n8k16.f16 (f16 accumulate)", "C/D", FragmentMap::c, 16, 8, 16, 32, 4},
    {"mma.sync.m16n8k16.f16/bf16", "A", FragmentMap::a, 16, 16, 16, 32, 8},
    {"mma.sync.m16n8k16.f16/bf16", "B", FragmentMap::b, 16, 8, 16, 32, 4},
    {"mma.sync.m16n8k8.f16/bf16", "A", FragmentMap::a, 16, 8, 16, 32, 4},
    {"mma.sync.m16n8k8.f16/bf16", "B", FragmentMap::b, 8, 8, 16, 32, 2},
    {"mma.sync.m16n8k8.tf32", "A", FragmentMap::a, 16, 8, 32, 32, 4},
    {"mma.sync.m16n8k8.tf32", "B", FragmentMap::b, 8, 8, 32, 32, 2},
    {"mma.sync.m16n8k4.tf32", "A", FragmentMap::a, 16, 4, 32, 32, 2},
    {"mma.sync.m16n8k16.s8/u8", "A", FragmentMap::a, 16, 16, 8, 32, 8},
    {"mma.sync.m16n8k16.s8/u8", "B", FragmentMap::b, 16, 8, 8, 32, 4},
    {"mma.sync.m16n8k32.s8/u8", "B", FragmentMap::b, 32, 8, 8, 32, 8},
    {"mma.sync.m16n8k32.e4m3/e5m2", "A", FragmentMap::a, 16, 32, 8, 32, 16},
    {"mma.sync.m16n8k64.s4/u4", "A", FragmentMap::a, 16, 64, 4, 32, 32},
    {"mma.sync.m16n8k64.s4/u4", "B", FragmentMap::b, 64, 8, 4, 32, 16},
    {"mma.sync.m16n8k64.e2m1 block-scaled (sm_120)", "A", FragmentMap::a, 16, 64, 4, 32, 32},
    {"mma.sync.m8n8k4.f64", "B", FragmentMap::b, 4, 8, 64, 32, 1},
    {"mma.sync.m8n8k4.f64", "C/D", FragmentMap::c, 8, 8, 64, 32, 2},
    {"mma.sync.m16n8k8.f64", "A", FragmentMap::a, 16, 8, 64, 32, 4},
    {"mma.sync.m16n8k16.f64", "A", FragmentMap::a, 16, 16, 64, 32, 8},
    {"mma.sync.m8n8k16.s8/u8", "A", FragmentMap::a, 8, 16, 8, 32, 4},
    {"mma.sync.m8n8k4.f16 (sm_70)", "A row-major", FragmentMap::quad_pair_rows, 8, 4, 16, 8, 4},
    {"mma.sync.m8n8k4.f16 (sm_70)", "A col-major", FragmentMap::quad_pair_columns, 8, 4, 16, 8, 4},
    {"wgmma.m64n8", "D accumulator", FragmentMap::c, 64, 8, 32, 128, 4},
    {"wgmma.m64n32", "D accumulator", FragmentMap::c, 64, 32, 32, 128, 16},
    {"wgmma.m64n64", "D accumulator", FragmentMap::c, 64, 64, 32, 128, 32},
    {"wgmma.m64n96", "D accumulator", FragmentMap::c, 64, 96, 32, 128, 48},
    {"wgmma.m64n192", "D accumulator", FragmentMap::c, 64, 192, 32, 128, 96},
    {"wgmma.m64n256", "D accumulator", FragmentMap::c, 64, 256, 32, 128, 128},
    {"wgmma.m64k16 (16-bit)", "A from registers", FragmentMap::a, 64, 16, 16, 128, 8},
    {"wgmma.m64k8 (tf32)", "A from registers", FragmentMap::a, 64, 8, 32, 128, 4},
    {"wgmma.m64k32 (8-bit)", "A from registers", FragmentMap::a, 64, 32, 8, 128, 16},
    {"ldmatrix.m8n8.x1.b16", "destination", FragmentMap::matrices, 8, 8, 16, 32, 2},
    {"ldmatrix.m8n8.x2.b16", "destination", FragmentMap::matrices, 8, 8, 16, 32, 4, 2},
    {"ldmatrix.m8n8.x2.trans.b16", "destination", FragmentMap::matrices_transposed, 8, 8, 16, 32, 4, 2},
    {"ldmatrix.m8n8.x4.trans.b16", "destination", FragmentMap::matrices_transposed, 8, 8, 16, 32, 8, 4},
    {"ldmatrix.m8n8.x4.b16", "destination", FragmentMap::matrices, 8, 8, 16, 32, 8, 4},
    {"tcgen05.ld.32x32b.x1", "destination registers (one warp)", FragmentMap::tensor_memory_32, 32, 1, 32, 32, 1},
    {"tcgen05.ld.16x64b.x1", "destination registers (one warp)", FragmentMap::tensor_memory_16, 16, 2, 32, 32, 1},
    {"tcgen05.ld.16x256b.x1", "destination registers (one warp)", FragmentMap::c, 16, 8, 32, 32, 4},
    {"wmma.m16n16 (observed)", "accumulator", FragmentMap::c, 16, 16, 32, 32, 8},
};

}  // namespace

std::span<const Fragment> fragments() { return known_fragments; }

const Fragment* find_fragment(std::string_view instruction, std::string_view operand) {
  for (const auto& fragment : known_fragments) {
    if (fragment.instruction == instruction && fragment.operand == operand) return &fragment;
  }
  return nullptr;
}

FragmentElement fragment_element(const Fragment& f, int thread, int value) {
  const int lane = thread % 32, warp = thread / 32;
  const int g = lane / 4, q = lane % 4;
  const int packed = f.elements_per_register();
  const int in_register = value % packed, reg = value / packed;
  const bool tall = f.rows >= 16;  // two rows of a lane, 8 apart
  switch (f.map) {
    case FragmentMap::a:
      return {.row = 16 * warp + g + (tall ? 8 * (reg % 2) : 0),
              .col = 4 * packed * (tall ? reg / 2 : reg) + packed * q + in_register};
    case FragmentMap::b:
      return {.row = 4 * packed * reg + packed * q + in_register, .col = g};
    case FragmentMap::c: {
      const int pair = value / 2;
      return {.row = 16 * warp + g + (tall ? 8 * (pair % 2) : 0),
              .col = 8 * (tall ? pair / 2 : pair) + 2 * q + value % 2};
    }
    case FragmentMap::quad_pair_rows:
      return {.row = thread, .col = value};
    case FragmentMap::quad_pair_columns:
      return {.row = 4 * (thread / 4) + value, .col = thread % 4};
    case FragmentMap::tensor_memory_32:
      return {.row = lane, .col = value};
    case FragmentMap::tensor_memory_16:
      return {.row = g + 8 * (q % 2), .col = q / 2};
    case FragmentMap::matrices:
      return {.row = g, .col = 2 * q + value % 2, .matrix = value / 2};
    case FragmentMap::matrices_transposed:
      return {.row = 2 * q + value % 2, .col = g, .matrix = value / 2};
  }
  return {};
}

int fragment_register(const Fragment& f, int value) {
  return f.element_bits > 32 ? value * (f.element_bits / 32) : value / f.elements_per_register();
}

Result<std::vector<std::int64_t>> ldmatrix(std::span<const std::int64_t> row_addresses, int matrices, bool transposed) {
  using Made = Result<std::vector<std::int64_t>>;
  if (matrices != 1 && matrices != 2 && matrices != 4) {
    return Made::fail("ldmatrix loads 1, 2 or 4 matrices, not " + std::to_string(matrices) + ": choose one of them.");
  }
  const std::size_t rows = 8 * static_cast<std::size_t>(matrices);
  if (row_addresses.size() < rows) {
    return Made::fail("ldmatrix.x" + std::to_string(matrices) + " takes " + std::to_string(rows) +
                      " addresses of rows and got " + std::to_string(row_addresses.size()) + ": give one a lane.");
  }
  for (std::size_t lane = 0; lane < rows; ++lane) {
    if (row_addresses[lane] < 0 || row_addresses[lane] % 16 != 0) {
      return Made::fail("The address of lane " + std::to_string(lane) + ", " + std::to_string(row_addresses[lane]) +
                        ", is no multiple of 16 B: align the row.");
    }
  }
  const Fragment given{.instruction = {},
                       .operand = {},
                       .map = transposed ? FragmentMap::matrices_transposed : FragmentMap::matrices,
                       .rows = 8,
                       .cols = 8,
                       .element_bits = 16,
                       .values = 2 * matrices,
                       .matrices = matrices};
  std::vector<std::int64_t> out;
  for (int lane = 0; lane < 32; ++lane) {
    for (int value = 0; value < given.values; ++value) {
      const auto at = fragment_element(given, lane, value);
      out.push_back(row_addresses[static_cast<std::size_t>(8 * at.matrix + at.row)] + 2 * at.col);
    }
  }
  return Made::ok(std::move(out));
}

}  // namespace models::gpu
