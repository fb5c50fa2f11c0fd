#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// CuTe's layouts: a shape and a stride, nested alike, are a function from coordinates to an index. Their algebra as
/// C++ CuTe computes it (CUTLASS, include/cute/layout.hpp), also where that is no composition: operation.h verifies.
namespace models::gpu {

/// One mode is a layout: a leaf is `shape:stride`, a nested one has modes. `(4):(1)` and `4:1` are two profiles.
struct CuteLayout {
  std::int64_t shape = 1, stride = 0;  ///< where it is a leaf
  bool nested = false;
  std::vector<CuteLayout> modes{};

  static CuteLayout leaf(std::int64_t shape, std::int64_t stride);
  static CuteLayout of(std::vector<CuteLayout> modes);
  bool operator==(const CuteLayout&) const = default;

  int rank() const;
  const CuteLayout& mode(int i) const;
  std::int64_t size() const;
  std::int64_t cosize() const;  ///< greatest index + 1
  /// Leaves from left to right.
  std::vector<CuteLayout> flat() const;
  /// Coordinates run leftmost mode fastest; the last mode has no end, so that every i >= 0 has an index.
  std::int64_t operator()(std::int64_t i) const;
};

inline constexpr int max_layout_depth = 8, max_layout_leaves = 64;
/// Sizes, cosizes and strides beyond it are refused: below it a double holds every integer.
inline constexpr std::int64_t max_layout_number = std::int64_t{1} << 53;
std::int64_t saturating_mul(std::int64_t a, std::int64_t b);  ///< numbers >= 0
std::int64_t saturating_add(std::int64_t a, std::int64_t b);

/// `((4,2),(4,2)):((4,32),(1,16))`; without strides the leftmost mode is contiguous. An underscore may stand before a
/// number, as CuTe prints static ones.
Result<CuteLayout> parse_layout(std::string_view text);
/// A shape alone: strides are 0.
Result<CuteLayout> parse_shape(std::string_view text);
std::string text_of(const CuteLayout& layout);
std::string shape_text(const CuteLayout& layout);

/// A coordinate nested as a shape, or a whole number in place of a nested mode; `_` keeps a mode.
struct CuteCoordinate {
  std::int64_t at = 0;
  bool kept = false;  ///< `_`
  bool nested = false;
  std::vector<CuteCoordinate> modes{};
  bool operator==(const CuteCoordinate&) const = default;
};
Result<CuteCoordinate> parse_coordinate(std::string_view text);
std::string text_of(const CuteCoordinate& coordinate);
/// The coordinate of index `i` in a shape; past the end the last mode runs over.
CuteCoordinate coordinate_of(const CuteLayout& shape, std::int64_t i);
/// The index of a coordinate without `_`. Fails where its nesting does not fit the layout's.
Result<std::int64_t> index_at(const CuteLayout& layout, const CuteCoordinate& coordinate);

/// What divides, multiplies or is composed with the modes of a layout: a layout, or `[3:4,8:2]`, one a mode; `_` leaves
/// a mode as it is.
struct CuteTiler {
  bool list = false;
  bool kept = false;  ///< `_`
  CuteLayout layout;  ///< where it is no list
  std::vector<CuteTiler> parts{};
};
Result<CuteTiler> parse_tiler(std::string_view text);

/// Compares as published results must be: the stride of a mode of size 1 is meaningless and becomes 0.
CuteLayout canonical(CuteLayout layout);

// The algebra. A Result fails with the condition that C++ CuTe asserts, and its numbers.
CuteLayout coalesce(const CuteLayout& layout);
/// Mode by mode where `profile` is nested; modes beyond it are kept.
CuteLayout coalesce_by(const CuteLayout& layout, const CuteLayout& profile);
/// Without modes of stride 0 and size 1, coalesced.
CuteLayout filter(const CuteLayout& layout);
Result<CuteLayout> composition(const CuteLayout& a, const CuteLayout& b);
/// By a tiler, mode by mode; modes of `a` beyond the tiler are dropped.
Result<CuteLayout> composition(const CuteLayout& a, const CuteTiler& tiler);
/// `cotarget`: the extents of the space to fill, leftmost first; empty: the cosize.
Result<CuteLayout> complement(const CuteLayout& layout, std::vector<std::int64_t> cotarget = {});
Result<CuteLayout> logical_divide(const CuteLayout& a, const CuteTiler& tiler);
Result<CuteLayout> zipped_divide(const CuteLayout& a, const CuteTiler& tiler);
Result<CuteLayout> tiled_divide(const CuteLayout& a, const CuteTiler& tiler);
Result<CuteLayout> flat_divide(const CuteLayout& a, const CuteTiler& tiler);
Result<CuteLayout> logical_product(const CuteLayout& a, const CuteTiler& tiler);
Result<CuteLayout> zipped_product(const CuteLayout& a, const CuteTiler& tiler);
Result<CuteLayout> tiled_product(const CuteLayout& a, const CuteTiler& tiler);
Result<CuteLayout> flat_product(const CuteLayout& a, const CuteTiler& tiler);
Result<CuteLayout> blocked_product(const CuteLayout& a, const CuteLayout& b);
Result<CuteLayout> raked_product(const CuteLayout& a, const CuteLayout& b);
Result<CuteLayout> tile_to_shape(const CuteLayout& a, const CuteLayout& shape);
CuteLayout right_inverse(const CuteLayout& layout);
/// A quasi-inverse: A(R(A(i))) = A(i); a true left inverse where A is injective.
Result<CuteLayout> left_inverse(const CuteLayout& layout);
CuteLayout nullspace(const CuteLayout& layout);
Result<CuteLayout> max_common_layout(const CuteLayout& a, const CuteLayout& b);
/// The layout of elements n times as large, and n times as small. n > 0.
Result<CuteLayout> upcast(const CuteLayout& layout, std::int64_t n);
Result<CuteLayout> downcast(const CuteLayout& layout, std::int64_t n);
Result<CuteLayout> recast(const CuteLayout& layout, std::int64_t old_bits, std::int64_t new_bits);
struct CuteSlice {
  CuteLayout layout;  ///< the kept modes; 1:0 where none is
  bool any_kept = false;
  std::int64_t offset = 0;
};
Result<CuteSlice> slice(const CuteLayout& layout, const CuteCoordinate& coordinate);

}  // namespace models::gpu
