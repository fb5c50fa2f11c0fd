#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "models/gpu/layout/layout_operation.h"

/// What an operation of the algebra did: to which tile, copy or new element each place of memory belongs.
namespace models::gpu {

enum class PartKind : std::uint8_t {
  none,     ///< the operation makes no parts of A
  tile,     ///< a divide: tiles of A
  copy,     ///< a product: copies of A
  chosen,   ///< a composition or a slice: what the result reaches, one part
  room,     ///< a complement: A moved to each place that it leaves out
  element,  ///< elements that became larger or smaller
};
inline constexpr int part_kind_count = 6;

struct LayoutParts {
  PartKind kind = PartKind::none;
  std::int64_t count = 0;                                    ///< how many parts there are, as far as they were listed
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;  ///< place and part, by place; the first one of a place
  std::int64_t per_part_a = 0, per_part_r = 0;               ///< element: places that are one part; 0: looked up

  /// The part that a place of A, or of the result, belongs to; -1: none.
  std::int64_t in_a(std::int64_t place) const;
  std::int64_t in_result(std::int64_t place) const;
};
/// By zipped_divide for all divides and by logical_product for all products, over their first 4,096 elements. None
/// where the operation is refused, has no parts, or those two do not hold.
LayoutParts layout_parts(const LayoutQuestion& question, const LayoutAnswer& answer);

}  // namespace models::gpu
