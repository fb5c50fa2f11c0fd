#pragma once
#include <array>

#include "models/gpu/access/swizzle.h"
#include "models/gpu/layout/cute_layout.h"

/// One operation of the algebra from text to text: computed as C++ CuTe does, then verified.
namespace models::gpu {

enum class LayoutOperation {
  eval,
  swizzled_layout,
  composition,
  composition_tiler,
  logical_divide,
  logical_divide_tiler,
  zipped_divide,
  tiled_divide,
  flat_divide,
  logical_product,
  zipped_product,
  tiled_product,
  flat_product,
  blocked_product,
  raked_product,
  tile_to_shape,
  complement,
  right_inverse,
  left_inverse,
  nullspace,
  max_common_layout,
  coalesce,
  coalesce_profile,
  filter,
  upcast,
  downcast,
  slice,
  idx2crd,
  swizzle
};
inline constexpr int layout_operation_count = 29;
/// In the order of the enumeration.
extern const std::array<std::string_view, layout_operation_count> layout_operation_names;
/// What an operation takes besides A, and whether it takes A.
struct LayoutNeeds {
  bool a = false, b = false, n = false, shape = false, coordinate = false, swizzle = false, index = false;
};
LayoutNeeds layout_needs(LayoutOperation operation);

struct LayoutQuestion {
  LayoutOperation operation = LayoutOperation::eval;
  std::string a{}, b{};      ///< B is a layout, or a tiler `[3:4,8:2]`
  std::string shape{};       ///< for tile_to_shape and idx2crd; the profile of coalesce_profile
  std::string coordinate{};  ///< for slice
  std::int64_t n = 0;        ///< for upcast and downcast; the cotarget of complement, 0: the cosize
  std::int64_t index = 0;    ///< for idx2crd
  Swizzle swizzle{};
};

enum class LayoutStatus { ok, refused, non_functional };

struct LayoutAnswer {
  LayoutStatus status = LayoutStatus::ok;
  std::string reason{};     ///< why it is refused, or where it is wrong
  std::string text{};       ///< the result; empty where it is refused
  bool has_layout = false;  ///< false for a coordinate, a bare swizzle and what is refused
  CuteLayout layout{};
  std::vector<std::int64_t>
      indices{};  ///< places of the result's first elements, swizzled where the operation swizzles
  std::int64_t size = 0, cosize = 0;
  std::int64_t offset = 0;             ///< for slice
  bool compared = false;               ///< with the definition of the operation, over its first elements
  std::int64_t wrong_at = -1;          ///< first index at which the result is not what the operation promises
  std::int64_t gives = 0, wanted = 0;  ///< there
  bool over_covers = false;            ///< the result of a divide has more elements than A
};
inline constexpr std::int64_t max_indices_listed = 1024;
inline constexpr std::int64_t max_indices_verified = 4096;

/// Fails where a text does not read; what CuTe refuses is an answer.
Result<LayoutAnswer> answer_layout(const LayoutQuestion& question);

/// `Layout<Shape<Shape<_4,_2>,_8>, Stride<...>>{}`, and with bits `composition(Swizzle<B,M,S>{}, ...)`: to paste.
std::string cpp_text(const CuteLayout& layout, const Swizzle& swizzle);

}  // namespace models::gpu
