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

// A panel of B of 24 columns, one of A of 4 rows and the rows of C that a tile asks for fill a first cache of 32 KiB at
// a depth of 256.
constexpr std::int64_t block_k = 256, row_grain = 12, widest_vector = 16;

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

/// c = (`first`) or += a panel of A times a panel of B, `depth` steps of k; rows of c lie `stride` floats apart.
using TileKernel = void(std::int64_t depth, const float* a, const float* b, float* c, std::int64_t stride, bool first);

}  // namespace

std::int64_t sgemm_work_floats(std::int64_t n, int threads) {
  const std::int64_t columns = (n + widest_vector - 1) / widest_vector * widest_vector;
  return threads * (block_rows() * block_k + block_k * columns);
}

#if RIDGELINE_X86
namespace {

/// Asks for the line of a float that is read or written soon: blocks are short pieces of long rows, which the hardware
/// prefetcher notices too late.
inline void fetch(const float* at) { _mm_prefetch(reinterpret_cast<const char*>(at), _MM_HINT_T0); }

/// Asks for lines that will be read after some more, into the second cache.
inline void fetch_far(const float* at, std::int64_t lines) {
  for (std::int64_t i = 0; i < lines; ++i) _mm_prefetch(reinterpret_cast<const char*>(at + 16 * i), _MM_HINT_T1);
}

/// Columns [k, k + 4) of four rows of `a`, which become four rows of the panel.
template <int tile_rows>
inline void turn_4x4(std::int64_t n, const float* a, float* out) {
  __m128 v0 = _mm_loadu_ps(a), v1 = _mm_loadu_ps(a + n), v2 = _mm_loadu_ps(a + 2 * n), v3 = _mm_loadu_ps(a + 3 * n);
  _MM_TRANSPOSE4_PS(v0, v1, v2, v3);
  _mm_storeu_ps(out, v0);
  _mm_storeu_ps(out + tile_rows, v1);
  _mm_storeu_ps(out + 2 * tile_rows, v2);
  _mm_storeu_ps(out + 3 * tile_rows, v3);
}

/// Rows [0, rows) and columns [0, depth) of `a` as panels of `tile_rows`, column after column; missing rows are zeros.
/// A line of the next four rows is asked for with each line of these: all at once would be more than the first cache
/// has ways where rows lie a multiple of 4 KiB apart.
template <int tile_rows>
void pack_a(std::int64_t n, const float* a, std::int64_t rows, std::int64_t depth, float* packed) {
  const std::int64_t padded = (rows + tile_rows - 1) / tile_rows * tile_rows;
  for (std::int64_t i = 0; i < padded; i += 4) {
    const float* row = a + i * n;
    float* out = packed + i / tile_rows * tile_rows * depth + i % tile_rows;
    std::int64_t k = 0;
    if (i + 4 <= rows) {
      const float* next = i + 8 <= rows ? row + 4 * n : row;
      for (; k + 16 <= depth; k += 16) {
        for (std::int64_t r = 0; r < 4; ++r) fetch(next + r * n + k);
        for (std::int64_t step = k; step < k + 16; step += 4)
          turn_4x4<tile_rows>(n, row + step, out + step * tile_rows);
      }
      for (; k + 4 <= depth; k += 4) turn_4x4<tile_rows>(n, row + k, out + k * tile_rows);
    }
    for (; k < depth; ++k)
      for (std::int64_t r = 0; r < 4; ++r) out[k * tile_rows + r] = i + r < rows ? row[r * n + k] : 0;
  }
}

/// Rows [0, depth) and columns [0, columns) of `b` as panels of `tile_columns`, row after row; the last panel has as
/// many columns as are left, up to a whole number of vectors, and zeros for what is missing. Four rows at a time, so
/// that a panel's page is asked for once for four lines or more; each fetches its piece of the next four.
template <int tile_columns, int lanes>
void pack_b(std::int64_t n, const float* b, std::int64_t columns, std::int64_t depth, float* packed) {
  const std::int64_t whole = columns / tile_columns * tile_columns, left = columns - whole,
                     width = (left + lanes - 1) / lanes * lanes;
  for (std::int64_t k = 0; k < depth; k += 4) {
    const std::int64_t rows = std::min<std::int64_t>(4, depth - k);
    const std::int64_t next = k + 8 <= depth ? 4 * n : 0;
    for (std::int64_t j = 0; j < whole; j += tile_columns)
      for (std::int64_t r = 0; r < rows; ++r) {
        const float* row = b + (k + r) * n + j;
        for (int line = 0; line < tile_columns; line += 16) fetch(row + next + line);
        std::memcpy(packed + j * depth + (k + r) * tile_columns, row, tile_columns * sizeof(float));
      }
    for (std::int64_t r = 0; left > 0 && r < rows; ++r) {
      const float* row = b + (k + r) * n + whole;
      float* out = packed + whole * depth + (k + r) * width;
      std::fill(std::copy(row, row + left, out), out + width, 0.0f);
    }
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
/// 4 rows by `vectors` of 8 columns: results of a panel of A (4 values for each k) and a panel of B, written or added
/// to c. With three vectors 12 of the 16 registers hold results, three a row piece of b, one a value of a: 12
/// multiply-adds for 7 loads. 6 x 16 has as many results for 8 loads, and asks for lines of six rows of c, which fight
/// for one place in the first cache where rows lie a multiple of 4 KiB apart.
template <int vectors>
AVX2 void tile_4(std::int64_t depth, const float* a, const float* b, float* c, std::int64_t stride, bool first) {
  __m256 sum[4][vectors];
  UNROLLED
  for (int r = 0; r < 4; ++r) {
    UNROLLED
    for (int v = 0; v < vectors; ++v) {
      sum[r][v] = _mm256_setzero_ps();
      fetch(c + r * stride + 8 * v);  // needed at the end
    }
    fetch(c + r * stride + 8 * vectors - 1);
  }
  // Unrolling is worth 1 to 2 % of the peak.
  UNROLLED_BY_4
  for (std::int64_t k = 0; k < depth; ++k, a += 4, b += 8 * vectors) {
    fetch(a + 128);  // from the second cache
    __m256 row[vectors];
    UNROLLED
    for (int v = 0; v < vectors; ++v) row[v] = _mm256_loadu_ps(b + 8 * v);
    UNROLLED
    for (int r = 0; r < 4; ++r) {
      const __m256 value = _mm256_broadcast_ss(a + r);
      UNROLLED
      for (int v = 0; v < vectors; ++v) sum[r][v] = _mm256_fmadd_ps(value, row[v], sum[r][v]);
    }
  }
  if (!first) {
    // All loads before all stores: where rows lie a multiple of 4 KiB apart, a load waits for a store before it whose
    // address has the same last 12 bits.
    UNROLLED
    for (int i = 0; i < 4 * vectors; ++i)
      sum[i / vectors][i % vectors] =
          _mm256_add_ps(sum[i / vectors][i % vectors], _mm256_loadu_ps(c + i / vectors * stride + i % vectors * 8));
  }
  UNROLLED
  for (int i = 0; i < 4 * vectors; ++i)
    _mm256_storeu_ps(c + i / vectors * stride + i % vectors * 8, sum[i / vectors][i % vectors]);
}

/// A tile of 4 x 24, and what is left of it at the right edge.
struct Avx2Tile {
  static constexpr int rows = 4, lanes = 8, columns = 24;
  static constexpr TileKernel* of[] = {tile_4<1>, tile_4<2>, tile_4<3>};  // by vectors in a row
};

/// Rows and columns `part` of c = a b.
template <class Tile>
void over_packed_blocks(std::int64_t n, const float* a, const float* b, float* c, float* work, const Part& part) {
  const std::int64_t block_i = block_rows();
  float* packed_a = work;                      // some 300 x 256: in the second cache
  float* packed_b = work + block_i * block_k;  // 256 x n; one panel of it in the first cache
  const std::int64_t columns = part.columns.to - part.columns.from;
  for (std::int64_t k0 = 0; k0 < n; k0 += block_k) {
    const std::int64_t depth = std::min(block_k, n - k0);
    pack_b<Tile::columns, Tile::lanes>(n, b + k0 * n + part.columns.from, columns, depth, packed_b);
    for (std::int64_t i0 = part.rows.from; i0 < part.rows.to; i0 += block_i) {
      const std::int64_t rows = std::min(block_i, part.rows.to - i0);
      pack_a<Tile::rows>(n, a + i0 * n + k0, rows, depth, packed_a);
      const std::int64_t lines = (Tile::columns * depth * Tile::rows - 1) / (16 * rows) + 1;  // of B, for a tile
      for (std::int64_t j = 0; j < columns; j += Tile::columns) {
        const std::int64_t wide = std::min<std::int64_t>(Tile::columns, columns - j),
                           vectors = (wide + Tile::lanes - 1) / Tile::lanes;
        TileKernel* const tile = Tile::of[vectors - 1];
        for (std::int64_t i = 0; i < rows; i += Tile::rows) {
          // The tiles of this panel of B fetch the next one, a little each.
          fetch_far(packed_b + (j + Tile::columns) * depth + i / Tile::rows * lines * 16, lines);
          const float *panel_a = packed_a + i * depth, *panel_b = packed_b + j * depth;
          float* out = c + (i0 + i) * n + part.columns.from + j;
          const std::int64_t high = std::min<std::int64_t>(Tile::rows, rows - i), whole = vectors * Tile::lanes;
          if (high == Tile::rows && wide == whole) {
            tile(depth, panel_a, panel_b, out, n, k0 == 0);
          } else {
            alignas(64) float edge[Tile::rows * Tile::columns];
            tile(depth, panel_a, panel_b, edge, whole, true);
            store_edge(edge, whole, n, out, high, wide, k0 == 0);
          }
        }
      }
    }
  }
}
// end rung

// rung: avx512
/// 12 rows by `vectors` of 16 columns. With two 24 of the 32 registers hold results. The blocks around it are those of
/// the rung before.
template <int vectors>
AVX512 void tile_12(std::int64_t depth, const float* a, const float* b, float* c, std::int64_t stride, bool first) {
  __m512 sum[12][vectors];
  UNROLLED
  for (int i = 0; i < 12 * vectors; ++i) sum[i / vectors][i % vectors] = _mm512_setzero_ps();
  UNROLLED_BY_4
  for (std::int64_t k = 0; k < depth; ++k, a += 12, b += 16 * vectors) {
    if (k < 12) {  // one row of c at a time: all at once would keep the panels out of the few fill buffers
      UNROLLED
      for (int v = 0; v < vectors; ++v) fetch(c + k * stride + 16 * v);
      fetch(c + k * stride + 16 * vectors - 1);
    }
    __m512 row[vectors];
    UNROLLED
    for (int v = 0; v < vectors; ++v) row[v] = _mm512_loadu_ps(b + 16 * v);
    UNROLLED
    for (int r = 0; r < 12; ++r) {
      const __m512 value = _mm512_set1_ps(a[r]);
      UNROLLED
      for (int v = 0; v < vectors; ++v) sum[r][v] = _mm512_fmadd_ps(value, row[v], sum[r][v]);
    }
  }
  if (!first) {
    UNROLLED
    for (int i = 0; i < 12 * vectors; ++i)
      sum[i / vectors][i % vectors] =
          _mm512_add_ps(sum[i / vectors][i % vectors], _mm512_loadu_ps(c + i / vectors * stride + i % vectors * 16));
  }
  UNROLLED
  for (int i = 0; i < 12 * vectors; ++i)
    _mm512_storeu_ps(c + i / vectors * stride + i % vectors * 16, sum[i / vectors][i % vectors]);
}

struct Avx512Tile {
  static constexpr int rows = 12, lanes = 16, columns = 32;
  static constexpr TileKernel* of[] = {tile_12<1>, tile_12<2>};
};
// end rung

/// Cuts c into a grid of `threads` parts: the one whose largest part has the fewest tiles, and of those the squarest,
/// since each part packs its own rows of a and columns of b.
template <class Tile>
void over_parts(std::int64_t n, const float* a, const float* b, float* c, float* work, int threads) {
  const auto largest = [n](int parts, int tile_size) {
    const std::int64_t tiles = (n + tile_size - 1) / tile_size;
    return (tiles + parts - 1) / parts;
  };
  int down = 1;  // parts over the rows
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max(), packed = fewest;
  for (int d = 1; d <= threads; ++d) {
    if (threads % d != 0) continue;
    const std::int64_t rows = largest(d, Tile::rows), columns = largest(threads / d, Tile::columns);
    const std::int64_t to_pack = rows * Tile::rows + columns * Tile::columns;
    if (rows * columns < fewest || (rows * columns == fewest && to_pack < packed)) {
      down = d;
      fewest = rows * columns;
      packed = to_pack;
    }
  }
  on_threads(threads, [&](int i) {
    const int across = threads / down;
    const Part part{piece_of(n, i / across, down, Tile::rows), piece_of(n, i % across, across, Tile::columns)};
    over_packed_blocks<Tile>(n, a, b, c, work + i * sgemm_work_floats(n, 1), part);
  });
}

}  // namespace

void sgemm_packed(std::int64_t n, const float* a, const float* b, float* c, float* work, int threads) {
  over_parts<Avx2Tile>(n, a, b, c, work, threads);
}
void sgemm_avx512(std::int64_t n, const float* a, const float* b, float* c, float* work, int threads) {
  over_parts<Avx512Tile>(n, a, b, c, work, threads);
}
#endif

}  // namespace kernels::cpu
