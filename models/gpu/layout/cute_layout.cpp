#include "models/gpu/layout/cute_layout.h"

#include <algorithm>

#include "models/base/integer_math.h"

namespace models::gpu {
namespace {

void collect_leaves(const CuteLayout& layout, std::vector<CuteLayout>& out) {
  if (!layout.nested) {
    out.push_back(layout);
    return;
  }
  for (const auto& mode : layout.modes) collect_leaves(mode, out);
}

/// What is left of `i` for the leaves behind; the last one takes all that is left.
std::int64_t walk_leaves(const CuteLayout& layout, bool last, std::int64_t& rest) {
  if (!layout.nested) {
    const std::int64_t at = last ? rest : rest % layout.shape;
    rest = last ? 0 : rest / layout.shape;
    return saturating_mul(at, layout.stride);
  }
  std::int64_t index = 0;
  for (std::size_t m = 0; m < layout.modes.size(); ++m) {
    index = saturating_add(index, walk_leaves(layout.modes[m], last && m + 1 == layout.modes.size(), rest));
  }
  return index;
}

CuteCoordinate walk_coordinate(const CuteLayout& shape, bool last, std::int64_t& rest) {
  if (!shape.nested) {
    const std::int64_t at = last ? rest : rest % shape.shape;
    rest = last ? 0 : rest / shape.shape;
    return {.at = at};
  }
  CuteCoordinate out{.nested = true};
  for (std::size_t m = 0; m < shape.modes.size(); ++m) {
    out.modes.push_back(walk_coordinate(shape.modes[m], last && m + 1 == shape.modes.size(), rest));
  }
  return out;
}

Status misfit(const CuteLayout& layout, std::size_t given) {
  return Status::fail("The coordinate has " + std::to_string(given) + (given == 1 ? " entry" : " entries") +
                      " where A has modes of another number, " + std::to_string(layout.rank()) + ": give one a mode.");
}

/// Adds what the fixed parts of a coordinate are worth, and collects the modes that are kept.
Status slice_into(const CuteLayout& layout, const CuteCoordinate& at, CuteSlice& out, std::vector<CuteLayout>& kept) {
  if (at.kept) {
    kept.push_back(layout);
    return Status::ok();
  }
  if (!at.nested) {
    out.offset = saturating_add(out.offset, layout(at.at));
    return Status::ok();
  }
  if (!layout.nested || at.modes.size() != layout.modes.size()) return misfit(layout, at.modes.size());
  for (std::size_t m = 0; m < at.modes.size(); ++m) {
    if (auto done = slice_into(layout.modes[m], at.modes[m], out, kept); !done) return done;
  }
  return Status::ok();
}

}  // namespace

std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) || out > max_layout_number * 2 ? max_layout_number * 2 : out;
}
std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return std::min(a + b, max_layout_number * 2); }

CuteLayout CuteLayout::leaf(std::int64_t shape, std::int64_t stride) {
  CuteLayout out;
  out.shape = shape;
  out.stride = stride;
  return out;
}
CuteLayout CuteLayout::of(std::vector<CuteLayout> modes) {
  CuteLayout out;
  out.nested = true;
  out.modes = std::move(modes);
  return out;
}
int CuteLayout::rank() const { return nested ? static_cast<int>(modes.size()) : 1; }
const CuteLayout& CuteLayout::mode(int i) const { return nested ? modes[static_cast<std::size_t>(i)] : *this; }
std::int64_t CuteLayout::size() const {
  if (!nested) return shape;
  std::int64_t out = 1;
  for (const auto& mode : modes) out = saturating_mul(out, mode.size());
  return out;
}
std::int64_t CuteLayout::cosize() const {
  if (!nested) return saturating_add(saturating_mul(shape - 1, stride), 1);
  std::int64_t out = 1;
  for (const auto& mode : modes) out = saturating_add(out, mode.cosize() - 1);
  return out;
}
std::vector<CuteLayout> CuteLayout::flat() const {
  std::vector<CuteLayout> out;
  collect_leaves(*this, out);
  return out;
}
std::int64_t CuteLayout::operator()(std::int64_t i) const { return walk_leaves(*this, true, i); }

CuteCoordinate coordinate_of(const CuteLayout& shape, std::int64_t i) { return walk_coordinate(shape, true, i); }

Result<std::int64_t> index_at(const CuteLayout& layout, const CuteCoordinate& coordinate) {
  using Made = Result<std::int64_t>;
  const auto cut = slice(layout, coordinate);
  if (!cut) return Made::fail(cut.error);
  if (cut->any_kept) return Made::fail("The coordinate keeps a mode with _: give a number in its place.");
  return Made::ok(cut->offset);
}

Result<CuteSlice> slice(const CuteLayout& layout, const CuteCoordinate& coordinate) {
  CuteSlice out;
  std::vector<CuteLayout> kept;
  if (const auto done = slice_into(layout, coordinate, out, kept); !done) return Result<CuteSlice>::fail(done.error);
  out.any_kept = !kept.empty();
  if (out.any_kept) out.layout = coordinate.kept ? kept.front() : CuteLayout::of(std::move(kept));
  return Result<CuteSlice>::ok(std::move(out));
}

CuteLayout canonical(CuteLayout layout) {
  if (!layout.nested && layout.shape == 1) layout.stride = 0;
  for (auto& mode : layout.modes) mode = canonical(std::move(mode));
  return layout;
}

}  // namespace models::gpu
