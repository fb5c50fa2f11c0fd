#include "models/gpu/layout/layout_parts.h"

#include <algorithm>

namespace models::gpu {
namespace {

std::int64_t look_up(const LayoutParts& p, std::int64_t place) {
  const auto at = std::lower_bound(p.parts.begin(), p.parts.end(), std::pair(place, std::int64_t{-1}));
  return at == p.parts.end() || at->first != place ? -1 : at->second;
}

/// Elements of `whole`, so many to a part, by their places.
void list_parts(const CuteLayout& whole, std::int64_t per_part, std::int64_t offset, LayoutParts& out) {
  const std::int64_t n = std::min(whole.size(), max_indices_verified);
  for (std::int64_t i = 0; i < n; ++i)
    out.parts.emplace_back(whole(i) + offset, i / std::max<std::int64_t>(1, per_part));
  std::sort(out.parts.begin(), out.parts.end());
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  out.parts.erase(std::unique(out.parts.begin(), out.parts.end(), same), out.parts.end());
  for (const auto& [place, part] : out.parts) out.count = std::max(out.count, part + 1);
}

bool divides(LayoutOperation op) { return op >= LayoutOperation::logical_divide && op <= LayoutOperation::flat_divide; }
bool multiplies(LayoutOperation op) {
  return op >= LayoutOperation::logical_product && op <= LayoutOperation::raked_product;
}

}  // namespace

std::int64_t LayoutParts::in_a(std::int64_t place) const {
  return per_part_a > 0 ? place / per_part_a : look_up(*this, place);
}
std::int64_t LayoutParts::in_result(std::int64_t place) const {
  return per_part_r > 0 ? place / per_part_r : look_up(*this, place);
}

LayoutParts layout_parts(const LayoutQuestion& q, const LayoutAnswer& answer) {
  LayoutParts out;
  if (answer.status == LayoutStatus::refused || !answer.has_layout) return out;
  const auto a = parse_layout(q.a);
  if (!a) return out;
  const auto listed = [&](PartKind kind, const Result<CuteLayout>& whole, std::int64_t per_part) {
    if (!whole) return;
    out.kind = kind;
    list_parts(*whole, per_part, 0, out);
  };
  if (divides(q.operation) || multiplies(q.operation)) {
    const auto tiler = parse_tiler(q.b);
    if (!tiler) return out;
    const bool divide = divides(q.operation);
    const auto whole = divide ? zipped_divide(*a, *tiler) : logical_product(*a, *tiler);
    if (whole && whole->rank() >= 2) listed(divide ? PartKind::tile : PartKind::copy, whole, whole->mode(0).size());
    return out;
  }
  switch (q.operation) {
    case LayoutOperation::tile_to_shape:
      if (a->size() == a->cosize()) {
        out.kind = PartKind::copy;
        out.per_part_a = out.per_part_r = std::max<std::int64_t>(1, a->size());
        out.count = answer.size / out.per_part_r;
      }
      return out;
    case LayoutOperation::complement:
      listed(PartKind::room, Result<CuteLayout>::ok(CuteLayout::of({*a, answer.layout})), a->size());
      return out;
    case LayoutOperation::composition:
    case LayoutOperation::composition_tiler:
    case LayoutOperation::slice:
      out.kind = PartKind::chosen;
      list_parts(answer.layout, answer.layout.size(), answer.offset, out);
      return out;
    case LayoutOperation::upcast:
    case LayoutOperation::downcast: {
      out.kind = PartKind::element;
      const bool up = q.operation == LayoutOperation::upcast;
      out.per_part_a = up ? q.n : 1;
      out.per_part_r = up ? 1 : q.n;
      out.count = up ? answer.size : a->size();
      return out;
    }
    default:
      return out;
  }
}

}  // namespace models::gpu
