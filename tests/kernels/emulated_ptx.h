#pragma once
#include <bit>
#include <cmath>
#include <cstring>

#include "models/gpu/fragments.h"
#include "tests/kernels/emulated_warps.h"

/// The instructions of the kernels, each under the name that it has in the rungs' files, and what the CUDA language
/// adds.
// An array that a kernel declares in its body is one of C, whatever namespace the kernel stands in.
#define dynamic_shared emulated_dynamic_shared
extern "C" {
alignas(1024) thread_local unsigned char dynamic_shared[228 * 1024];
}

/// The instructions of the kernels, each under the name that it has in the rungs' files, and what the CUDA language
/// adds.
namespace {

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

/// Shared memory's addresses begin with the dynamic part.
inline std::size_t __cvta_generic_to_shared(const void* address) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(address) -
                                    reinterpret_cast<std::uintptr_t>(dynamic_shared));
}
[[maybe_unused]] inline std::size_t __cvta_generic_to_global(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
float float_of(std::uint16_t bf16) { return std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16); }

void __syncthreads() {
  this_lane().waiting = Waiting::block;
  this_lane().stack.leave();
}
void __syncwarp() { meet({"__syncwarp"}); }
float __shfl_xor_sync(unsigned, float value, int mask) {
  const Meeting& meeting = meet({"__shfl_xor_sync", {std::bit_cast<std::uint32_t>(value)}});
  return std::bit_cast<float>(meeting.lanes[(emulated.running ^ static_cast<std::size_t>(mask)) % 32].words[0]);
}
float __shfl_sync(unsigned, float value, int lane) {
  const Meeting& meeting = meet({"__shfl_sync", {std::bit_cast<std::uint32_t>(value)}});
  return std::bit_cast<float>(meeting.lanes[static_cast<std::size_t>(lane) % 32].words[0]);
}

unsigned pack_bf16(float low, float high) {
  const auto half = [](float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return value == value ? (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16 : 0x7fffu;
  };
  return half(low) | half(high) << 16;
}

/// The element of every value of every lane, as the map says.
template <std::size_t values>
struct FragmentTable {
  std::array<std::array<models::gpu::FragmentElement, values>, 32> of{};
  FragmentTable(std::string_view instruction, std::string_view operand) {
    const models::gpu::Fragment* fragment = models::gpu::find_fragment(instruction, operand);
    for (int lane = 0; lane < 32; ++lane)
      for (int value = 0; value < static_cast<int>(values); ++value)
        of[static_cast<std::size_t>(lane)][static_cast<std::size_t>(value)] =
            models::gpu::fragment_element(*fragment, lane, value);
  }
};
const FragmentTable<8>& map_a() {
  static const FragmentTable<8> table("mma.sync.m16n8k16.f16/bf16", "A");
  return table;
}
const FragmentTable<4>& map_b() {
  static const FragmentTable<4> table("mma.sync.m16n8k16.f16/bf16", "B");
  return table;
}
const FragmentTable<4>& map_c() {
  static const FragmentTable<4> table("mma.sync.m16n8k16.f16/bf16", "C/D");
  return table;
}

std::uint16_t half_of(const Brought& lane, std::size_t first_word, std::size_t value) {
  return static_cast<std::uint16_t>(lane.words[first_word + value / 2] >> (16 * (value % 2)));
}

/// The product of a warp's fragments, once for all of its lanes.
void resolve_product(Meeting& meeting) {
  if (meeting.resolved) return;
  meeting.resolved = true;
  std::array<std::array<float, 16>, 16> a{};
  std::array<std::array<float, 8>, 16> b{};
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t v = 0; v < 8; ++v) {
      const auto at = map_a().of[lane][v];
      a[static_cast<std::size_t>(at.row)][static_cast<std::size_t>(at.col)] =
          float_of(half_of(meeting.lanes[lane], 0, v));
    }
    for (std::size_t v = 0; v < 4; ++v) {
      const auto at = map_b().of[lane][v];
      b[static_cast<std::size_t>(at.row)][static_cast<std::size_t>(at.col)] =
          float_of(half_of(meeting.lanes[lane], 4, v));
    }
  }
  for (std::size_t row = 0; row < 16; ++row) {
    meeting.product[row] = {};
    for (std::size_t k = 0; k < 16; ++k)
      for (std::size_t column = 0; column < 8; ++column) meeting.product[row][column] += a[row][k] * b[k][column];
  }
}

void mma_m16n8k16(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  Meeting& meeting = meet({"mma.sync", {a[0], a[1], a[2], a[3], b0, b1}});
  resolve_product(meeting);
  for (std::size_t v = 0; v < 4; ++v) {
    const auto at = map_c().of[emulated.running % 32][v];
    sum[v] += meeting.product[static_cast<std::size_t>(at.row)][static_cast<std::size_t>(at.col)];
  }
}

/// Nothing is promised about a fragment of WMMA; here A and the sums lie as those of mma.sync, and B as two of them.
void load_a_16x16(unsigned (&part)[4], const unsigned short* from, unsigned row_elements) {
  meet({"wmma.load.a"});
  for (std::size_t v = 0; v < 8; v += 2) {
    const auto at = map_a().of[emulated.running % 32][v];
    std::memcpy(&part[v / 2], from + static_cast<std::size_t>(at.row) * row_elements + at.col, 4);
  }
}
void load_b_16x16(unsigned (&part)[4], const unsigned short* from, unsigned column_elements) {
  meet({"wmma.load.b"});
  for (std::size_t v = 0; v < 8; v += 2) {
    const auto at = map_b().of[emulated.running % 32][v % 4];
    const std::size_t column = static_cast<std::size_t>(at.col) + 8 * (v / 4);
    std::memcpy(&part[v / 2], from + column * column_elements + at.row, 4);
  }
}
void wmma_16x16x16(float (&sum)[8], const unsigned (&a)[4], const unsigned (&b)[4]) {
  float left[4] = {sum[0], sum[1], sum[2], sum[3]}, right[4] = {sum[4], sum[5], sum[6], sum[7]};
  mma_m16n8k16(left, a, b[0], b[1]);
  mma_m16n8k16(right, a, b[2], b[3]);
  for (std::size_t v = 0; v < 4; ++v) {
    sum[v] = left[v];
    sum[v + 4] = right[v];
  }
}
void store_16x16(float* shared, const float (&sum)[8], unsigned row_elements) {
  meet({"wmma.store.d"});
  for (std::size_t v = 0; v < 8; ++v) {
    const auto at = map_c().of[emulated.running % 32][v % 4];
    shared[static_cast<std::size_t>(at.row) * row_elements + static_cast<std::size_t>(at.col) + 8 * (v / 4)] = sum[v];
  }
}

void load_matrices(std::string_view name, const FragmentTable<8>& map, unsigned (&part)[4], const void* shared_row) {
  if (reinterpret_cast<std::uintptr_t>(shared_row) % 16 != 0)
    note_fault("An address of ldmatrix is no multiple of 16.");
  Brought brought{name};
  brought.address = shared_row;
  const Meeting& meeting = meet(brought);
  std::array<std::uint16_t, 8> got{};
  for (std::size_t v = 0; v < 8; ++v) {
    const auto at = map.of[emulated.running % 32][v];
    const auto* row =
        static_cast<const std::byte*>(meeting.lanes[static_cast<std::size_t>(8 * at.matrix + at.row)].address);
    std::memcpy(&got[v], row + 2 * at.col, 2);
  }
  std::memcpy(part, got.data(), sizeof part);
}
void ldmatrix_x4(unsigned (&part)[4], const void* shared_row) {
  static const FragmentTable<8> map("ldmatrix.m8n8.x4.b16", "destination");
  load_matrices("ldmatrix", map, part, shared_row);
}
void ldmatrix_x4_turned(unsigned (&part)[4], const void* shared_row) {
  static const FragmentTable<8> map("ldmatrix.m8n8.x4.trans.b16", "destination");
  load_matrices("ldmatrix.trans", map, part, shared_row);
}

/// What is on its way is NaN where it is to arrive, until the wait that lets it.
void copy_async_16(void* shared, const void* global, bool valid) {
  if (reinterpret_cast<std::uintptr_t>(shared) % 16 != 0 || reinterpret_cast<std::uintptr_t>(global) % 16 != 0)
    note_fault("An address of cp.async is no multiple of 16.");
  std::memset(shared, 0xff, 16);
  this_lane().open_copies.push_back({shared, valid ? global : nullptr});
}
void copy_async_commit() {
  this_lane().copies.push_back(std::move(this_lane().open_copies));
  this_lane().open_copies.clear();
}
void arrive(const std::vector<Copy>& group) {
  for (const Copy& copy : group) {
    if (copy.from)
      std::memcpy(copy.to, copy.from, 16);
    else
      std::memset(copy.to, 0, 16);
    this_lane().unfenced = true;
  }
}
void wait_for_copies(std::size_t but) {
  auto& groups = this_lane().copies;
  while (groups.size() > but) {
    arrive(groups.front());
    groups.erase(groups.begin());
  }
}
void copy_async_wait_1() { wait_for_copies(1); }
void copy_async_wait_all() {
  copy_async_commit();
  wait_for_copies(0);
}

void fence_async_proxy() { this_lane().unfenced = false; }
void wgmma_fence() {}

/// Where byte `offset` of row `row` lies, by a descriptor of rows of 128 bytes in the 128-byte swizzle.
const std::byte* by_descriptor(std::uint64_t descriptor, std::size_t row, std::size_t offset) {
  const std::size_t start = (descriptor & 0x3fff) << 4, group_stride = (descriptor >> 32 & 0x3fff) << 4;
  const std::size_t address = start + row / 8 * group_stride + row % 8 * 128 + offset;
  const std::size_t swizzled = descriptor >> 62 == 1 ? address ^ ((address >> 7 & 7) << 4) : address;
  return reinterpret_cast<const std::byte*>(dynamic_shared) + swizzled % sizeof dynamic_shared;
}
std::array<float, 16> row_by_descriptor(std::uint64_t descriptor, std::size_t row) {
  std::array<float, 16> out{};
  for (std::size_t k = 0; k < 16; ++k) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, by_descriptor(descriptor, row, 2 * k), 2);
    out[k] = float_of(bits);
  }
  return out;
}
/// The lane's own 64 of 64 x 128 sums, when they are waited for: what was overwritten meanwhile is lost.
void finish(const Product& product) {
  static const models::gpu::Fragment& map = *models::gpu::find_fragment("wgmma.m64n192", "D accumulator");
  const int thread = static_cast<int>(emulated.running % 128);
  std::array<std::array<float, 16>, 2> a{}, b{};
  for (int v = 0; v < 64; ++v) {  // values 0 and 1 of each four are of one row, 2 and 3 of the one 8 below
    const auto at = models::gpu::fragment_element(map, thread, v);
    const auto row = static_cast<std::size_t>(v / 2 % 2), column = static_cast<std::size_t>(v % 2);
    if (v == 0 || v == 2) a[row] = row_by_descriptor(product.a, static_cast<std::size_t>(at.row));
    if (row == 0) b[column] = row_by_descriptor(product.b, static_cast<std::size_t>(at.col));
    float added = 0;
    for (std::size_t k = 0; k < 16; ++k) added += a[row][k] * b[column][k];
    product.sum[v] += added;
  }
}
void wgmma_m64n128k16(float (&sum)[64], unsigned long long a, unsigned long long b) {
  if (emulated.unfenced) note_fault("A wgmma reads copies that no fence of the async proxy has shown to it.");
  this_lane().open_products.push_back({sum, a, b});
}
void wgmma_commit() {
  this_lane().products.push_back(std::move(this_lane().open_products));
  this_lane().open_products.clear();
}
void wait_for_products(std::size_t but) {
  auto& groups = this_lane().products;
  while (groups.size() > but) {
    for (const Product& product : groups.front()) finish(product);
    groups.erase(groups.begin());
  }
}
void wgmma_wait_1() { wait_for_products(1); }
void wgmma_wait_0() { wait_for_products(0); }

}  // namespace
