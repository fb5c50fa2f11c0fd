// Matmul over packed blocks, the scheme of Goto and van de Geijn (2008): a block of B in the second or third
// cache, a block of A in the second, a panel of B in the first, and the results of a tile in registers.
#include "kernels/cpu/sgemm_packed.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/cpu/memory.h"
#include "kernels/cpu/team.h"

namespace kernels::cpu {
namespace {

#ifndef BK
#define BK 256
#endif
#ifndef BI
#define BI 96
#endif
// A panel of B of 16 columns and two of A of 6 rows fit into a first cache of 32 KiB together at a depth of 256; on one
// of 48 KiB it beat 384 by 2 to 3 % of the peak for both tiles.
constexpr std::int64_t block_k = 256, widest_panel = 32, row_grain = 12;

/// Rows of a block of A: five eighths of the second cache. Each block reads all of B, so larger ones are better.
std::int64_t block_rows() {
  static const std::int64_t rows =
      std::clamp<std::int64_t>(cache_bytes(2) * 5 / 8 / (block_k * 4) / row_grain, 8, 40) * row_grain;
  return rows;
}

/// The part of c that one thread computes.
struct Part {
  Piece rows, columns;
};

}  // namespace

std::int64_t sgemm_work_floats(std::int64_t n, int threads) {
  return threads * (block_rows() * block_k + block_k * ((n + widest_panel - 1) / widest_panel * widest_panel));
}

#if RIDGELINE_X86
namespace {

/// Asks for floats that will be read soon: blocks are short pieces of long rows, which the hardware prefetcher notices
/// too late.
inline void fetch(const float* at, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 16) _mm_prefetch(reinterpret_cast<const char*>(at + i), _MM_HINT_T0);
}

/// Asks for lines that will be read after some more, into the second cache.
inline void fetch_far(const float* at, std::int64_t lines) {
  for (std::int64_t i = 0; i < lines; ++i) _mm_prefetch(reinterpret_cast<const char*>(at + 16 * i), _MM_HINT_T1);
}

/// Rows [0, rows) and columns [0, depth) of `a` as panels of `tile_rows`, column after column; missing rows are zeros.
template <int tile_rows>
void pack_a(std::int64_t n, const float* a, std::int64_t rows, std::int64_t depth, float* out) {
  constexpr std::int64_t ahead = 6;  // rows
  for (std::int64_t r = 0; r < std::min(ahead, rows); ++r) fetch(a + r * n, depth);
  for (std::int64_t i = 0; i < rows; i += tile_rows, out += tile_rows * depth)
    for (std::int64_t r = 0; r < tile_rows;) {
      const float* row = a + (i + r) * n;
      const bool four = r + 4 <= tile_rows && i + r + 4 <= rows;
      for (std::int64_t next = ahead; next < ahead + (four ? 4 : 1) && i + r + next < rows; ++next)
        fetch(row + next * n, depth);
      std::int64_t k = 0;
      for (; four && k + 4 <= depth; k += 4) {
        __m128 v0 = _mm_loadu_ps(row + k), v1 = _mm_loadu_ps(row + n + k), v2 = _mm_loadu_ps(row + 2 * n + k),
               v3 = _mm_loadu_ps(row + 3 * n + k);
        _MM_TRANSPOSE4_PS(v0, v1, v2, v3);
        float* column = out + k * tile_rows + r;
        _mm_storeu_ps(column, v0);
        _mm_storeu_ps(column + tile_rows, v1);
        _mm_storeu_ps(column + 2 * tile_rows, v2);
        _mm_storeu_ps(column + 3 * tile_rows, v3);
      }
      for (const std::int64_t end = r + (four ? 4 : 1); r < end; ++r, row += n)
        for (std::int64_t rest = k; rest < depth; ++rest) out[rest * tile_rows + r] = i + r < rows ? row[rest] : 0;
    }
}

/// Rows [0, depth) and columns [0, columns) of `b` as panels of `tile_columns`, row after row; missing columns are
/// zeros.
template <int tile_columns>
void pack_b(std::int64_t n, const float* b, std::int64_t columns, std::int64_t depth, float* packed) {
  for (std::int64_t k = 0; k < depth; ++k, b += n, packed += tile_columns) {
    if (k + 1 < depth) fetch(b + n, columns);
    float* out = packed;
    std::int64_t j = 0;
    for (; j + tile_columns <= columns; j += tile_columns, out += tile_columns * depth)
      std::memcpy(out, b + j, tile_columns * sizeof(float));
    if (j < columns) std::fill(std::copy(b + j, b + columns, out), out + tile_columns, 0.0f);
  }
}

/// c (rows x columns of a tile that reaches over an edge) = or += the tile.
void store_edge(const float* tile, std::int64_t tile_columns, std::int64_t n, float* c, std::int64_t rows,
                std::int64_t columns, bool first) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < columns; ++j)
      c[r * n + j] = tile[r * tile_columns + j] + (first ? 0.0f : c[r * n + j]);
}

// rung: packed
/// 6 x 16 results of a panel of A (6 values for each k) and a panel of B (16 values for each k), written or added to c.
AVX2 void tile_6x16(std::int64_t depth, const float* a, const float* b, float* c, std::int64_t stride, bool first) {
  __m256 sum[6][2];
  UNROLLED
  for (int r = 0; r < 6; ++r) {
    sum[r][0] = sum[r][1] = _mm256_setzero_ps();
    _mm_prefetch(reinterpret_cast<const char*>(c + r * stride), _MM_HINT_T0);  // needed at the end
  }
  UNROLLED_BY_4  // worth 1 to 2 % of the peak
      for (std::int64_t k = 0; k < depth; ++k, a += 6, b += 16) {
    const __m256 b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8);
    UNROLLED
    for (int r = 0; r < 6; ++r) {
      const __m256 value = _mm256_broadcast_ss(a + r);
      sum[r][0] = _mm256_fmadd_ps(value, b0, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(value, b1, sum[r][1]);
    }
  }
  if (!first) {
    // All loads before all stores: where rows lie a multiple of 4 KiB apart, a load waits for a store before it whose
    // address has the same last 12 bits.
    UNROLLED
    for (int r = 0; r < 6; ++r) {
      sum[r][0] = _mm256_add_ps(sum[r][0], _mm256_loadu_ps(c + r * stride));
      sum[r][1] = _mm256_add_ps(sum[r][1], _mm256_loadu_ps(c + r * stride + 8));
    }
  }
  UNROLLED
  for (int r = 0; r < 6; ++r) {
    _mm256_storeu_ps(c + r * stride, sum[r][0]);
    _mm256_storeu_ps(c + r * stride + 8, sum[r][1]);
  }
}

/// Rows and columns `part` of c = a b.
template <int tile_rows, int tile_columns, class Tile>
void over_packed_blocks(std::int64_t n, const float* a, const float* b, float* c, float* work, const Part& part,
                        Tile tile) {
  const std::int64_t block_i = block_rows();
  float* packed_a = work;                      // some 300 x 256: in the second cache
  float* packed_b = work + block_i * block_k;  // 256 x n; one panel of it in the first cache
  const std::int64_t columns = part.columns.to - part.columns.from;
  for (std::int64_t k0 = 0; k0 < n; k0 += block_k) {
    const std::int64_t depth = std::min(block_k, n - k0);
    pack_b<tile_columns>(n, b + k0 * n + part.columns.from, columns, depth, packed_b);
    for (std::int64_t i0 = part.rows.from; i0 < part.rows.to; i0 += block_i) {
      const std::int64_t rows = std::min(block_i, part.rows.to - i0);
      pack_a<tile_rows>(n, a + i0 * n + k0, rows, depth, packed_a);
      const std::int64_t lines = (tile_columns * depth * tile_rows + 16 * rows - 1) / (16 * rows);  // of B, for a tile
      for (std::int64_t j = 0; j < columns; j += tile_columns)
        for (std::int64_t i = 0; i < rows; i += tile_rows) {
          // The tiles of this panel of B fetch the next one, a little each.
          fetch_far(packed_b + (j + tile_columns) * depth + i / tile_rows * lines * 16, lines);
          const float *panel_a = packed_a + i * depth, *panel_b = packed_b + j * depth;
          float* out = c + (i0 + i) * n + part.columns.from + j;
          if (i + tile_rows <= rows && j + tile_columns <= columns) {
            tile(depth, panel_a, panel_b, out, n, k0 == 0);
          } else {
            alignas(64) float edge[tile_rows * tile_columns];
            tile(depth, panel_a, panel_b, edge, tile_columns, true);
            store_edge(edge, tile_columns, n, out, std::min<std::int64_t>(tile_rows, rows - i),
                       std::min<std::int64_t>(tile_columns, columns - j), k0 == 0);
          }
        }
    }
  }
}
// end rung

// rung: avx512
/// 12 x 32 results of a panel of A and a panel of B: 24 of the 32 registers. The blocks around it are those of the rung
/// before.
AVX512 void tile_12x32(std::int64_t depth, const float* a, const float* b, float* c, std::int64_t stride, bool first) {
  __m512 sum[12][2];
  UNROLLED
  for (int r = 0; r < 12; ++r) sum[r][0] = sum[r][1] = _mm512_setzero_ps();
  UNROLLED_BY_4
  for (std::int64_t k = 0; k < depth; ++k, a += 12, b += 32) {
    if (k < 12) {  // one row of c at a time: all at once would keep the panels out of the few fill buffers
      _mm_prefetch(reinterpret_cast<const char*>(c + k * stride), _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(c + k * stride + 16), _MM_HINT_T0);
    }
    const __m512 b0 = _mm512_loadu_ps(b), b1 = _mm512_loadu_ps(b + 16);
    UNROLLED
    for (int r = 0; r < 12; ++r) {
      const __m512 value = _mm512_set1_ps(a[r]);
      sum[r][0] = _mm512_fmadd_ps(value, b0, sum[r][0]);
      sum[r][1] = _mm512_fmadd_ps(value, b1, sum[r][1]);
    }
  }
  if (!first) {
    UNROLLED
    for (int r = 0; r < 12; ++r) {
      sum[r][0] = _mm512_add_ps(sum[r][0], _mm512_loadu_ps(c + r * stride));
      sum[r][1] = _mm512_add_ps(sum[r][1], _mm512_loadu_ps(c + r * stride + 16));
    }
  }
  UNROLLED
  for (int r = 0; r < 12; ++r) {
    _mm512_storeu_ps(c + r * stride, sum[r][0]);
    _mm512_storeu_ps(c + r * stride + 16, sum[r][1]);
  }
}
// end rung

/// Cuts c into a grid of `threads` parts: the one whose largest part has the fewest tiles, and of those the squarest,
/// since each part packs its own rows of a and columns of b.
template <int tile_rows, int tile_columns, class Tile>
void over_parts(std::int64_t n, const float* a, const float* b, float* c, float* work, int threads, Tile tile) {
  const auto largest = [n](int parts, int tile_size) {
    const std::int64_t tiles = (n + tile_size - 1) / tile_size;
    return (tiles + parts - 1) / parts;
  };
  int down = 1;  // parts over the rows
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max(), packed = fewest;
  for (int d = 1; d <= threads; ++d) {
    if (threads % d != 0) continue;
    const std::int64_t rows = largest(d, tile_rows), columns = largest(threads / d, tile_columns);
    const std::int64_t to_pack = rows * tile_rows + columns * tile_columns;
    if (rows * columns < fewest || (rows * columns == fewest && to_pack < packed)) {
      down = d;
      fewest = rows * columns;
      packed = to_pack;
    }
  }
  on_threads(threads, [&](int i) {
    const int across = threads / down;
    const Part part{piece_of(n, i / across, down, tile_rows), piece_of(n, i % across, across, tile_columns)};
    over_packed_blocks<tile_rows, tile_columns>(n, a, b, c, work + i * sgemm_work_floats(n, 1), part, tile);
  });
}

}  // namespace

void sgemm_packed(std::int64_t n, const float* a, const float* b, float* c, float* work, int threads) {
  over_parts<6, 16>(n, a, b, c, work, threads, tile_6x16);
}
void sgemm_avx512(std::int64_t n, const float* a, const float* b, float* c, float* work, int threads) {
  over_parts<12, 32>(n, a, b, c, work, threads, tile_12x32);
}
#endif

}  // namespace kernels::cpu
