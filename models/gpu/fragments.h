#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// Which lane and register of a warp (or warpgroup) holds which element of an operand of the tensor cores. PTX ISA,
/// "Matrix fragments" of mma.sync, wgmma and ldmatrix; CUTLASS, include/cute/atom/mma_traits_*.hpp.
namespace models::gpu {

/// How threads and values go to elements. g = lane / 4, q = lane % 4, e = elements of a 32-bit register.
enum class FragmentMap {
  a,                  ///< rows g and g + 8 change before k: k = 4e x block + e q + i
  b,                  ///< entries are [k, n]: k = 4e x register + e q + i, n = g
  c,                  ///< rows g and g + 8, columns 2q and 2q + 1; blocks of 8 columns behind
  quad_pair_rows,     ///< sm_70, A by rows: thread t of a quad-pair holds row t
  quad_pair_columns,  ///< sm_70, A by columns
  tensor_memory_32,   ///< tcgen05.ld 32x32b: lane = thread
  tensor_memory_16,   ///< tcgen05.ld 16x64b
  matrices,           ///< ldmatrix: register r is of matrix r; row = lane / 4, columns 2 (lane % 4) + i
  matrices_transposed
};

struct Fragment {
  std::string_view instruction, operand;
  FragmentMap map = FragmentMap::a;
  int rows = 0, cols = 0;  ///< sizes of the operand; for ldmatrix those of one 8 x 8 matrix
  int element_bits = 0;
  int threads = 32;
  int values = 0;  ///< a thread
  int matrices = 1;

  int elements_per_register() const { return element_bits < 32 ? 32 / element_bits : 1; }
  /// 32-bit registers a thread.
  int registers() const { return values * element_bits / 32; }
};
struct FragmentElement {
  int row = 0, col = 0;  ///< k and n for B
  int matrix = 0;
  bool operator==(const FragmentElement&) const = default;
};
/// Every fragment that is known here.
std::span<const Fragment> fragments();
/// Null where there is none of that name.
const Fragment* find_fragment(std::string_view instruction, std::string_view operand);
FragmentElement fragment_element(const Fragment& fragment, int thread, int value);
/// First 32-bit register of a value.
int fragment_register(const Fragment& fragment, int value);

/// What ldmatrix (.x1, .x2, .x4 of 8 x 8 matrices of 16 bits) gives each lane: the byte address of each of its 2 x
/// matrices elements, lane by lane. Lane l gives the address of row l % 8 of matrix l / 8; further lanes are ignored.
/// Fails where matrices is not 1, 2 or 4, an address is missing, negative or no multiple of 16.
Result<std::vector<std::int64_t>> ldmatrix(std::span<const std::int64_t> row_addresses, int matrices, bool transposed);

}  // namespace models::gpu
