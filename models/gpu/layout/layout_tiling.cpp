#include <numeric>

#include "models/base/integer_math.h"
#include "models/gpu/layout/cute_layout.h"

// Divide, product, and elements of another size.
namespace models::gpu {
namespace {

using Tiled = Result<CuteLayout>;

std::vector<std::int64_t> extents(const CuteLayout& layout) {
  std::vector<std::int64_t> out;
  for (const auto& leaf : layout.flat()) out.push_back(leaf.shape);
  return out;
}

template <class By>
Tiled mode_by_mode(const CuteLayout& a, const CuteTiler& tiler, const char* name, By by) {
  if (static_cast<int>(tiler.parts.size()) > a.rank()) {
    return Tiled::fail("The tiler of " + std::string(name) + " has " + std::to_string(tiler.parts.size()) +
                       " entries, more than A has modes: drop some.");
  }
  std::vector<CuteLayout> modes;
  for (int i = 0; i < a.rank(); ++i) {
    if (i >= static_cast<int>(tiler.parts.size())) {
      modes.push_back(a.mode(i));
      continue;
    }
    auto done = by(a.mode(i), tiler.parts[static_cast<std::size_t>(i)]);
    if (!done) return done;
    modes.push_back(std::move(*done));
  }
  return Tiled::ok(CuteLayout::of(std::move(modes)));
}

/// The result has pairs as modes where the tiler has leaves: the first halves, then the second ones, and behind
/// them the modes that the tiler does not reach.
Tiled unzip(const CuteLayout& layout, const CuteTiler& tiler) {
  if (!tiler.list) {
    if (layout.rank() == 2) return Tiled::ok(layout);
    return Tiled::fail("A mode that a tiler keeps with _ is no pair of tile and rest: give a layout in its place.");
  }
  std::vector<CuteLayout> first, second;
  for (std::size_t i = 0; i < tiler.parts.size(); ++i) {
    const auto pair = unzip(layout.mode(static_cast<int>(i)), tiler.parts[i]);
    if (!pair) return pair;
    first.push_back(pair->mode(0));
    second.push_back(pair->mode(1));
  }
  for (int i = static_cast<int>(tiler.parts.size()); i < layout.rank(); ++i) second.push_back(layout.mode(i));
  return Tiled::ok(CuteLayout::of({CuteLayout::of(std::move(first)), CuteLayout::of(std::move(second))}));
}

/// ((tile), (rest)) with the modes of the rest, or of both, moved to the top.
CuteLayout raised(const CuteLayout& zipped, bool both) {
  std::vector<CuteLayout> modes;
  for (int half = 0; half < 2; ++half) {
    const auto& part = zipped.mode(half);
    if (half == 0 && !both) {
      modes.push_back(part);
      continue;
    }
    for (int i = 0; i < part.rank(); ++i) modes.push_back(part.mode(i));
  }
  return CuteLayout::of(std::move(modes));
}

Tiled divide_by_layout(const CuteLayout& a, const CuteLayout& tile) {
  auto rest = complement(tile, extents(coalesce(a)));
  if (!rest) return rest;
  return composition(a, CuteLayout::of({tile, std::move(*rest)}));
}

Tiled multiply_by_layout(const CuteLayout& a, const CuteLayout& tile) {
  const auto room = complement(a, {saturating_mul(a.size(), tile.cosize())});
  if (!room) return room;
  auto repeats = composition(*room, tile);
  if (!repeats) return repeats;
  return Tiled::ok(CuteLayout::of({a, std::move(*repeats)}));
}

CuteLayout padded(const CuteLayout& layout, int rank) {
  if (layout.rank() >= rank) return layout;
  auto modes = layout.nested ? layout.modes : std::vector<CuteLayout>{layout};
  while (static_cast<int>(modes.size()) < rank) modes.push_back(CuteLayout::leaf(1, 0));
  return CuteLayout::of(std::move(modes));
}

CuteLayout zip(const CuteLayout& a, const CuteLayout& b) {
  if (!a.nested) return CuteLayout::of({a, b});
  std::vector<CuteLayout> modes;
  for (int i = 0; i < a.rank(); ++i) modes.push_back(CuteLayout::of({a.mode(i), b.mode(i)}));
  return CuteLayout::of(std::move(modes));
}

Tiled rank_wise_product(const CuteLayout& a, const CuteLayout& b, bool raked) {
  const int rank = std::max(a.rank(), b.rank());
  const auto product = multiply_by_layout(padded(a, rank), padded(b, rank));
  if (!product) return product;
  return Tiled::ok(raked ? zip(product->mode(1), product->mode(0)) : zip(product->mode(0), product->mode(1)));
}

bool any_unit_stride(const CuteLayout& layout) {
  if (!layout.nested) return layout.stride == 1;
  for (const auto& mode : layout.modes) {
    if (any_unit_stride(mode)) return true;
  }
  return false;
}

/// Empty, or why a mode cannot be cast.
std::string cast_up(CuteLayout& layout, std::int64_t n) {
  for (auto& mode : layout.modes) {
    if (auto why = cast_up(mode, n); !why.empty()) return why;
  }
  if (layout.nested || layout.stride == 0) return {};
  if (layout.stride % n != 0 && n % layout.stride != 0) {
    return "Upcast by " + std::to_string(n) + " is refused: stride " + std::to_string(layout.stride) +
           " neither divides it nor is divided by it.";
  }
  layout.shape = ceil_div(layout.shape, ceil_div(n, layout.stride));
  layout.stride = ceil_div(layout.stride, n);
  return {};
}

void cast_down(CuteLayout& layout, std::int64_t n) {
  for (auto& mode : layout.modes) cast_down(mode, n);
  if (layout.nested) return;
  if (layout.stride == 1) layout.shape = saturating_mul(layout.shape, n);
  if (layout.stride != 1) layout.stride = saturating_mul(layout.stride, n);
}

}  // namespace

Result<CuteLayout> logical_divide(const CuteLayout& a, const CuteTiler& tiler) {
  if (tiler.kept) return Tiled::ok(a);
  if (!tiler.list) return divide_by_layout(a, tiler.layout);
  return mode_by_mode(a, tiler, "the divide",
                      [](const auto& mode, const auto& part) { return logical_divide(mode, part); });
}
Result<CuteLayout> zipped_divide(const CuteLayout& a, const CuteTiler& tiler) {
  const auto divided = logical_divide(a, tiler);
  return divided ? unzip(*divided, tiler) : divided;
}
Result<CuteLayout> tiled_divide(const CuteLayout& a, const CuteTiler& tiler) {
  const auto zipped = zipped_divide(a, tiler);
  return zipped ? Tiled::ok(raised(*zipped, false)) : zipped;
}
Result<CuteLayout> flat_divide(const CuteLayout& a, const CuteTiler& tiler) {
  const auto zipped = zipped_divide(a, tiler);
  return zipped ? Tiled::ok(raised(*zipped, true)) : zipped;
}

Result<CuteLayout> logical_product(const CuteLayout& a, const CuteTiler& tiler) {
  if (tiler.kept) return Tiled::ok(a);
  if (!tiler.list) return multiply_by_layout(a, tiler.layout);
  return mode_by_mode(a, tiler, "the product",
                      [](const auto& mode, const auto& part) { return logical_product(mode, part); });
}
Result<CuteLayout> zipped_product(const CuteLayout& a, const CuteTiler& tiler) {
  const auto product = logical_product(a, tiler);
  return product ? unzip(*product, tiler) : product;
}
Result<CuteLayout> tiled_product(const CuteLayout& a, const CuteTiler& tiler) {
  const auto zipped = zipped_product(a, tiler);
  return zipped ? Tiled::ok(raised(*zipped, false)) : zipped;
}
Result<CuteLayout> flat_product(const CuteLayout& a, const CuteTiler& tiler) {
  const auto zipped = zipped_product(a, tiler);
  return zipped ? Tiled::ok(raised(*zipped, true)) : zipped;
}
Result<CuteLayout> blocked_product(const CuteLayout& a, const CuteLayout& b) { return rank_wise_product(a, b, false); }
Result<CuteLayout> raked_product(const CuteLayout& a, const CuteLayout& b) { return rank_wise_product(a, b, true); }

Result<CuteLayout> tile_to_shape(const CuteLayout& a, const CuteLayout& shape) {
  if (a.rank() > shape.rank()) {
    return Tiled::fail("The block A has more modes than the shape: give the shape as many.");
  }
  const auto block = padded(a, shape.rank());
  std::vector<CuteLayout> repeats;
  std::int64_t stride = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    const std::int64_t extent = shape.mode(i).size(), tile = block.mode(i).size();
    if (extent % tile != 0) {
      return Tiled::fail("The block's " + std::to_string(tile) + " does not divide the shape's " +
                         std::to_string(extent) + " in mode " + std::to_string(i) + ": choose a multiple.");
    }
    repeats.push_back(CuteLayout::leaf(extent / tile, stride));
    stride = saturating_mul(stride, extent / tile);
  }
  return blocked_product(block, shape.nested ? CuteLayout::of(std::move(repeats)) : repeats[0]);
}

Result<CuteLayout> upcast(const CuteLayout& layout, std::int64_t n) {
  auto out = layout;
  if (auto why = cast_up(out, n); !why.empty()) return Tiled::fail(std::move(why));
  return Tiled::ok(std::move(out));
}

Result<CuteLayout> downcast(const CuteLayout& layout, std::int64_t n) {
  if (!any_unit_stride(layout)) {
    return Tiled::fail("Downcast needs adjacent elements, and no mode has stride 1: choose a contiguous A.");
  }
  auto out = layout;
  cast_down(out, n);
  return Tiled::ok(std::move(out));
}

Result<CuteLayout> recast(const CuteLayout& layout, std::int64_t old_bits, std::int64_t new_bits) {
  const std::int64_t common = std::gcd(old_bits, new_bits);
  const auto up = new_bits == common ? Tiled::ok(layout) : upcast(layout, new_bits / common);
  if (!up || old_bits == common) return up;
  return downcast(*up, old_bits / common);
}

}  // namespace models::gpu
