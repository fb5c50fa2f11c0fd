#include <algorithm>

#include "models/base/integer_math.h"
#include "models/inference/attention_patterns.h"

namespace models::inference {
namespace {

/// Tiles that hold the keys lo..last, both included.
TileSpan tiles_of(std::int64_t lo, std::int64_t last, std::int64_t side) { return {lo / side, last / side + 1}; }

/// Sorts and joins spans that touch.
void join(std::vector<TileSpan>& spans) {
  std::sort(spans.begin(), spans.end(), [](const TileSpan& a, const TileSpan& b) { return a.lo < b.lo; });
  std::size_t kept = 0;
  for (const TileSpan& s : spans) {
    if (s.hi <= s.lo) continue;
    if (kept > 0 && s.lo <= spans[kept - 1].hi)
      spans[kept - 1].hi = std::max(spans[kept - 1].hi, s.hi);
    else
      spans[kept++] = s;
  }
  spans.resize(kept);
}

/// Does a tile of queries first..last and keys from `key` on hold an entry of a dilated mask? It does where some
/// multiple of the dilation lies between the least and the largest distance of its tokens.
bool dilated_tile(const PatternShape& s, std::int64_t first, std::int64_t last, std::int64_t key, std::int64_t side) {
  const std::int64_t least = std::max<std::int64_t>(0, first - (key + side - 1));
  const std::int64_t most = std::min(last - key, (s.window - 1) * s.dilation);
  return most >= least && most / s.dilation * s.dilation >= least;
}

void block_tiles(const AttentionMask& m, std::int64_t first, std::int64_t last, std::int64_t side,
                 std::vector<TileSpan>& spans) {
  const PatternShape& s = m.shape();
  for (std::int64_t b = first / s.window; b <= last / s.window; ++b) {
    const std::int64_t near = std::max<std::int64_t>(0, b - s.blocks_back) * s.window;
    spans.push_back(tiles_of(near, std::min(last, (b + 1) * s.window - 1), side));
    if (const std::int64_t front = std::min(near, s.blocks_first * s.window); front > 0)
      spans.push_back(tiles_of(0, front - 1, side));
    for (const std::int64_t k : m.random_blocks(b))
      spans.push_back(tiles_of(k * s.window, (k + 1) * s.window - 1, side));
  }
}

/// Without distances: tiles of a dilated mask by how many tiles lie between queries and keys, for square tiles that are
/// all full but the last row of tiles.
double dilated_tiles(const AttentionMask& m, std::int64_t side) {
  const PatternShape& s = m.shape();
  const std::int64_t rows = ceil_div(s.sequence, side);
  double all = 0;
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i + 1 < rows; ++i) {
    seen += dilated_tile(s, i * side, (i + 1) * side - 1, 0, side) ? 1 : 0;
    all += as_double(seen);
  }
  for (std::int64_t j = 0; j < rows; ++j)
    all += dilated_tile(s, (rows - 1) * side, s.sequence - 1, j * side, side) ? 1 : 0;
  return all;
}

}  // namespace

void AttentionMask::tile_row(std::int64_t row, std::int64_t side, std::vector<TileSpan>& spans) const {
  const PatternShape& s = shape_;
  spans.clear();
  const std::int64_t first = row * side, last = std::min(first + side, s.sequence) - 1;
  const TileSpan near = tiles_of(std::max<std::int64_t>(0, first - s.window + 1), last, side);
  switch (s.pattern) {
    case AttentionPattern::causal:
      spans.push_back(tiles_of(0, last, side));
      break;
    case AttentionPattern::window:
      spans.push_back(near);
      break;
    case AttentionPattern::sinks:
      spans.push_back(near);
      if (s.sinks > 0) spans.push_back(tiles_of(0, std::min(s.sinks - 1, last), side));
      break;
    case AttentionPattern::global: {
      spans.push_back(near);
      const std::int64_t newest = last / s.global_every * s.global_every;
      if (newest >= first || s.global_every <= side)
        spans.push_back(tiles_of(0, newest >= first ? newest : last, side));
      else
        for (std::int64_t k = 0; k < near.lo * side; k += s.global_every) spans.push_back(tiles_of(k, k, side));
      break;
    }
    case AttentionPattern::dilated:
      for (std::int64_t j = 0; j <= last / side; ++j)
        if (dilated_tile(s, first, last, j * side, side)) spans.push_back({j, j + 1});
      break;
    case AttentionPattern::block:
      block_tiles(*this, first, last, side, spans);
      break;
    case AttentionPattern::document:
      spans.push_back(tiles_of(*std::prev(std::upper_bound(starts_.begin(), starts_.end(), first)), last, side));
      break;
  }
  join(spans);
}

double AttentionMask::tiles(std::int64_t side) const {
  const PatternShape& s = shape_;
  if (s.pattern == AttentionPattern::dilated) return dilated_tiles(*this, side);
  double all = 0;
  std::vector<TileSpan> spans;
  for (std::int64_t i = 0, rows = ceil_div(s.sequence, side); i < rows; ++i) {
    const std::int64_t first = i * side, last = std::min(first + side, s.sequence) - 1;
    if (s.pattern == AttentionPattern::global && s.global_every > side &&
        last / s.global_every * s.global_every < first) {
      // Before the window a tile has one global token or none.
      const TileSpan near = tiles_of(std::max<std::int64_t>(0, first - s.window + 1), last, side);
      all += as_double(near.hi - near.lo + ceil_div(near.lo * side, s.global_every));
      continue;
    }
    tile_row(i, side, spans);
    for (const TileSpan& t : spans) all += as_double(t.hi - t.lo);
  }
  return all;
}

}  // namespace models::inference
