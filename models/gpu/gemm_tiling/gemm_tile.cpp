#include "models/gpu/gemm_tiling/gemm_tile.h"

#include <algorithm>
#include <cmath>

#include "models/base/integer_math.h"

namespace models::gpu {
namespace {

std::int64_t round_to(std::int64_t n, std::int64_t unit) { return ceil_div(n, unit) * unit; }

}  // namespace

GemmTraffic gemm_traffic(const GemmShape& s, const GemmTile& t, const GemmEpilogue& e) {
  const double m = as_double(s.m), n = as_double(s.n), k = as_double(s.k), b = s.element_bytes;
  GemmTraffic out;
  out.blocks = ceil_div(s.m, t.block_m) * ceil_div(s.n, t.block_n);
  out.flops = 2 * m * n * k;
  const double result = m * n * s.output_bytes, extra = (e.reads_c ? result : 0) + (e.bias ? n * s.output_bytes : 0);
  out.hbm_bytes = (m * k + k * n) * b + result + (e.fused ? extra : 0);
  if (!e.fused && e.any()) out.pass_bytes = 2 * result + extra;
  const double blocks = as_double(out.blocks), block_m = as_double(t.block_m), block_n = as_double(t.block_n);
  out.l2_bytes = blocks * (block_m + block_n) * k * b;
  out.l2_read_bytes = blocks * (block_m / as_double(t.cluster_n) + block_n / as_double(t.cluster_m)) * k * b;
  const double products = m * n * k;
  out.shared_read_bytes = products * (1 / as_double(t.warp_m) + 1 / as_double(t.warp_n)) * b;
  if (t.unit == GemmUnit::fma)
    out.register_bytes = products * (1 / as_double(t.thread_m) + 1 / as_double(t.thread_n)) * b;
  return out;
}

GemmInstruction gemm_instruction(GemmUnit unit, double element_bytes, int capability) {
  if (unit == GemmUnit::fma) return {};
  constexpr double depth_bytes = 32;
  const auto k = std::max<std::int64_t>(1, std::llround(depth_bytes / element_bytes));
  if (unit == GemmUnit::mma) return {16, 8, k};
  return {capability >= 100 && capability < 120 ? 128 : 64, 8, k};
}

std::int64_t gemm_warps(const GemmTile& t) { return ceil_div(t.block_m, t.warp_m) * ceil_div(t.block_n, t.warp_n); }

double gemm_padding(const GemmShape& s, const GemmTile& t, int capability) {
  const GemmInstruction i = gemm_instruction(t.unit, s.element_bytes, capability);
  const double rows = as_double(ceil_div(s.m, t.block_m) * ceil_div(t.block_m, t.warp_m) * round_to(t.warp_m, i.m)),
               columns = as_double(ceil_div(s.n, t.block_n) * ceil_div(t.block_n, t.warp_n) * round_to(t.warp_n, i.n)),
               depth = as_double(ceil_div(s.k, t.block_k) * round_to(t.block_k, i.k));
  return rows / as_double(s.m) * (columns / as_double(s.n)) * (depth / as_double(s.k));
}

double gemm_wave_bytes(const GemmShape& s, const GemmTile& t, std::int64_t slots) {
  const std::int64_t down = ceil_div(s.m, t.block_m), tiles = down * ceil_div(s.n, t.block_n);
  constexpr std::int64_t counted = 512;  // waves that are walked; more repeat what these do
  const std::int64_t waves = ceil_div(tiles, slots), walked = std::min(waves, counted);
  double rows = 0, columns = 0;
  for (std::int64_t wave = 0; wave < walked; ++wave) {
    const std::int64_t first = wave * slots, last = std::min(tiles, first + slots) - 1;
    rows += as_double(std::min(down, last - first + 1));
    columns += as_double(last / down - first / down + 1);
  }
  const double scale = as_double(waves) / as_double(walked), depth = as_double(s.k) * s.element_bytes;
  return scale * (rows * as_double(t.block_m) + columns * as_double(t.block_n)) * depth +
         as_double(s.m) * as_double(s.n) * s.output_bytes;
}

}  // namespace models::gpu
