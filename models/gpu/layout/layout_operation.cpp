#include "models/gpu/layout/layout_operation.h"

#include <algorithm>

namespace models::gpu {
namespace {

using Op = LayoutOperation;

struct LayoutOperands {
  CuteLayout a, b, shape;
  CuteTiler tiler;
  CuteCoordinate coordinate;
};

/// First index at which what is given is not what is wanted.
struct Disagreement {
  bool compared = true;  ///< false: the operation has no other definition than its computation
  std::int64_t at = -1, gives = 0, wanted = 0;
};

template <class Gives, class Wanted>
Disagreement first_disagreement(std::int64_t size, Gives gives, Wanted wanted) {
  for (std::int64_t i = 0; i < std::min(size, max_indices_verified); ++i) {
    const std::int64_t g = gives(i), w = wanted(i);
    if (g != w) return {.compared = true, .at = i, .gives = g, .wanted = w};
  }
  return {};
}

Disagreement check_composition(const CuteLayout& r, const CuteLayout& a, const CuteLayout& b) {
  return first_disagreement(r.size(), r, [&](std::int64_t i) { return a(b(i)); });
}

Disagreement check_divide(const CuteLayout& a, const CuteTiler& tiler) {
  if (tiler.kept) return {};
  if (!tiler.list) {
    const auto r = logical_divide(a, tiler);
    std::vector<std::int64_t> extents;
    for (const auto& leaf : coalesce(a).flat()) extents.push_back(leaf.shape);
    const auto rest = complement(tiler.layout, extents);
    return r && rest ? check_composition(*r, a, CuteLayout::of({tiler.layout, *rest})) : Disagreement{};
  }
  for (std::size_t i = 0; i < tiler.parts.size(); ++i) {
    if (const auto found = check_divide(a.mode(static_cast<int>(i)), tiler.parts[i]); found.at >= 0) return found;
  }
  return {};
}

/// The second half of a product is complement(A) o B.
Disagreement check_product(const CuteLayout& a, const CuteTiler& tiler) {
  if (tiler.kept) return {};
  if (!tiler.list) {
    const auto room = complement(a, {saturating_mul(a.size(), tiler.layout.cosize())});
    const auto repeats = room ? composition(*room, tiler.layout) : room;
    return repeats ? check_composition(*repeats, *room, tiler.layout) : Disagreement{};
  }
  for (std::size_t i = 0; i < tiler.parts.size(); ++i) {
    if (const auto found = check_product(a.mode(static_cast<int>(i)), tiler.parts[i]); found.at >= 0) return found;
  }
  return {};
}

Disagreement check_composition_by(const CuteLayout& r, const CuteLayout& a, const CuteTiler& tiler) {
  if (tiler.kept) return {};
  if (!tiler.list) return check_composition(r, a, tiler.layout);
  for (std::size_t i = 0; i < tiler.parts.size(); ++i) {
    const int m = static_cast<int>(i);
    if (const auto found = check_composition_by(r.mode(m), a.mode(m), tiler.parts[i]); found.at >= 0) return found;
  }
  return {};
}

Disagreement check_result(Op op, const CuteLayout& r, const LayoutOperands& on) {
  const auto same = [](std::int64_t i) { return i; };
  switch (op) {
    case Op::composition:
      return check_composition(r, on.a, on.b);
    case Op::composition_tiler:
      return check_composition_by(r, on.a, on.tiler);
    case Op::logical_divide:
    case Op::logical_divide_tiler:
    case Op::zipped_divide:
    case Op::tiled_divide:
    case Op::flat_divide:
      return check_divide(on.a, on.tiler);
    case Op::logical_product:
    case Op::zipped_product:
    case Op::tiled_product:
    case Op::flat_product:
      return check_product(on.a, on.tiler);
    case Op::coalesce:
    case Op::coalesce_profile:
      return first_disagreement(on.a.size(), r, on.a);
    case Op::right_inverse:
    case Op::max_common_layout:
      return first_disagreement(
          r.size(), [&](std::int64_t i) { return on.a(r(i)); }, same);
    case Op::left_inverse:
      return first_disagreement(
          on.a.size(), [&](std::int64_t i) { return on.a(r(on.a(i))); }, on.a);
    case Op::nullspace:
      return first_disagreement(
          r.size(), [&](std::int64_t i) { return on.a(r(i)); }, [](std::int64_t) { return 0; });
    default:
      return {.compared = false};
  }
}

Result<CuteLayout> done(CuteLayout layout) { return Result<CuteLayout>::ok(std::move(layout)); }

Result<CuteLayout> compute_layout(const LayoutQuestion& q, const LayoutOperands& on) {
  switch (q.operation) {
    case Op::eval:
    case Op::swizzled_layout:
      return done(on.a);
    case Op::composition:
      return composition(on.a, on.b);
    case Op::composition_tiler:
      return composition(on.a, on.tiler);
    case Op::logical_divide:
    case Op::logical_divide_tiler:
      return logical_divide(on.a, on.tiler);
    case Op::zipped_divide:
      return zipped_divide(on.a, on.tiler);
    case Op::tiled_divide:
      return tiled_divide(on.a, on.tiler);
    case Op::flat_divide:
      return flat_divide(on.a, on.tiler);
    case Op::logical_product:
      return logical_product(on.a, on.tiler);
    case Op::zipped_product:
      return zipped_product(on.a, on.tiler);
    case Op::tiled_product:
      return tiled_product(on.a, on.tiler);
    case Op::flat_product:
      return flat_product(on.a, on.tiler);
    case Op::blocked_product:
      return blocked_product(on.a, on.b);
    case Op::raked_product:
      return raked_product(on.a, on.b);
    case Op::tile_to_shape:
      return tile_to_shape(on.a, on.shape);
    case Op::complement:
      return complement(on.a, q.n > 0 ? std::vector{q.n} : std::vector<std::int64_t>{});
    case Op::right_inverse:
      return done(right_inverse(on.a));
    case Op::left_inverse:
      return left_inverse(on.a);
    case Op::nullspace:
      return done(nullspace(on.a));
    case Op::max_common_layout:
      return max_common_layout(on.a, on.b);
    case Op::coalesce:
      return done(coalesce(on.a));
    case Op::coalesce_profile:
      return done(coalesce_by(on.a, on.shape));
    case Op::filter:
      return done(filter(on.a));
    case Op::upcast:
      return upcast(on.a, std::max<std::int64_t>(q.n, 1));
    case Op::downcast:
      return downcast(on.a, std::max<std::int64_t>(q.n, 1));
    default:
      return done({});
  }
}

template <class T>
bool read_operand(std::string_view name, Result<T> read, T& into, std::string& error) {
  if (!read) error = std::string(name) + ": " + read.error;
  if (read) into = std::move(*read);
  return read.error.empty();
}

/// Empty, or the sentence that says which text does not read.
std::string read_operands(const LayoutQuestion& q, LayoutOperands& on) {
  const auto needs = layout_needs(q.operation);
  std::string error;
  if (needs.a && !read_operand("A", parse_layout(q.a), on.a, error)) return error;
  if (needs.shape && !read_operand("The shape", parse_shape(q.shape), on.shape, error)) return error;
  if (needs.coordinate && !read_operand("The coordinate", parse_coordinate(q.coordinate), on.coordinate, error)) {
    return error;
  }
  if (!needs.b || !read_operand("B", parse_tiler(q.b), on.tiler, error)) return error;
  const bool layout_alone = q.operation == Op::composition || q.operation == Op::blocked_product ||
                            q.operation == Op::raked_product || q.operation == Op::max_common_layout;
  if (layout_alone && on.tiler.list) {
    return "B: " + std::string(layout_operation_names[static_cast<std::size_t>(q.operation)]) +
           " takes a layout, not a list in square brackets: choose the operation by a tiler.";
  }
  on.b = on.tiler.layout;
  return {};
}

void list_indices(LayoutAnswer& out, const CuteLayout& layout, const Swizzle& swizzle) {
  for (std::int64_t i = 0; i < std::min(layout.size(), max_indices_listed); ++i) {
    out.indices.push_back(swizzle(layout(i)));
  }
}

LayoutAnswer refused(std::string reason) { return {.status = LayoutStatus::refused, .reason = std::move(reason)}; }

LayoutAnswer with_layout(CuteLayout layout, const LayoutQuestion& q) {
  LayoutAnswer out{.has_layout = true, .layout = std::move(layout)};
  out.text = text_of(out.layout);
  out.size = out.layout.size();
  out.cosize = out.layout.cosize();
  list_indices(out, out.layout, q.operation == Op::swizzled_layout ? q.swizzle : Swizzle{});
  return out;
}

LayoutAnswer answer_slice(const LayoutOperands& on, const LayoutQuestion& q) {
  const auto cut = slice(on.a, on.coordinate);
  if (!cut) return refused(cut.error);
  auto out = with_layout(cut->layout, q);
  out.offset = cut->offset;
  for (auto& index : out.indices) index += out.offset;
  return out;
}

std::string swizzle_text(const Swizzle& swizzle) {
  return "Swizzle<" + std::to_string(swizzle.bits) + "," + std::to_string(swizzle.base) + "," +
         std::to_string(swizzle.shift) + ">";
}

/// The swizzle alone: its bits decide a square of 2^(B+M+|S|) offsets.
LayoutAnswer answer_swizzle(const LayoutQuestion& q) {
  const int bits = q.swizzle.bits + q.swizzle.base + std::max(q.swizzle.shift, -q.swizzle.shift);
  auto out = with_layout(CuteLayout::leaf(std::int64_t{1} << std::min(bits, 50), 1), q);
  out.indices.clear();
  list_indices(out, out.layout, q.swizzle);
  out.text = swizzle_text(q.swizzle);
  return out;
}

LayoutAnswer answer_coordinate(const LayoutOperands& on, const LayoutQuestion& q) {
  LayoutAnswer out;
  out.text = text_of(coordinate_of(on.shape, q.index));
  out.size = out.cosize = on.shape.size();
  out.indices = {q.index};
  return out;
}

}  // namespace

const std::array<std::string_view, layout_operation_count> layout_operation_names{"eval",
                                                                                  "swizzled_layout",
                                                                                  "composition",
                                                                                  "composition_tiler",
                                                                                  "logical_divide",
                                                                                  "logical_divide_tiler",
                                                                                  "zipped_divide",
                                                                                  "tiled_divide",
                                                                                  "flat_divide",
                                                                                  "logical_product",
                                                                                  "zipped_product",
                                                                                  "tiled_product",
                                                                                  "flat_product",
                                                                                  "blocked_product",
                                                                                  "raked_product",
                                                                                  "tile_to_shape",
                                                                                  "complement",
                                                                                  "right_inverse",
                                                                                  "left_inverse",
                                                                                  "nullspace",
                                                                                  "max_common_layout",
                                                                                  "coalesce",
                                                                                  "coalesce_profile",
                                                                                  "filter",
                                                                                  "upcast",
                                                                                  "downcast",
                                                                                  "slice",
                                                                                  "idx2crd",
                                                                                  "swizzle"};

LayoutNeeds layout_needs(LayoutOperation op) {
  const bool tiled = op >= Op::composition && op <= Op::raked_product;
  return {.a = op != Op::idx2crd && op != Op::swizzle,
          .b = tiled || op == Op::max_common_layout,
          .n = op == Op::complement || op == Op::upcast || op == Op::downcast,
          .shape = op == Op::tile_to_shape || op == Op::coalesce_profile || op == Op::idx2crd,
          .coordinate = op == Op::slice,
          .swizzle = op == Op::swizzled_layout || op == Op::swizzle,
          .index = op == Op::idx2crd};
}

Result<LayoutAnswer> answer_layout(const LayoutQuestion& q) {
  using Made = Result<LayoutAnswer>;
  LayoutOperands on;
  if (const auto error = read_operands(q, on); !error.empty()) return Made::fail(error);
  if (layout_needs(q.operation).swizzle && !q.swizzle.admissible()) {
    return Made::ok(refused("A swizzle needs 0 bits or more, and a shift of at least as many either way: " +
                            swizzle_text(q.swizzle) + " is refused."));
  }
  if (q.operation == Op::slice) return Made::ok(answer_slice(on, q));
  if (q.operation == Op::swizzle) return Made::ok(answer_swizzle(q));
  if (q.operation == Op::idx2crd) return Made::ok(answer_coordinate(on, q));
  auto result = compute_layout(q, on);
  if (!result) return Made::ok(refused(std::move(result.error)));
  if (result->size() > max_layout_number || result->cosize() > max_layout_number) {
    return Made::ok(refused("The result has more than 2^53 elements or places: write smaller numbers."));
  }
  auto out = with_layout(std::move(*result), q);
  const bool divide = q.operation >= Op::logical_divide && q.operation <= Op::flat_divide;
  out.over_covers = divide && out.size > on.a.size();
  const auto wrong = check_result(q.operation, out.layout, on);
  out.compared = wrong.compared;
  if (wrong.at >= 0) {
    out.status = LayoutStatus::non_functional;
    out.wrong_at = wrong.at;
    out.gives = wrong.gives;
    out.wanted = wrong.wanted;
  }
  return Made::ok(std::move(out));
}

namespace {
std::string cpp_tree(const CuteLayout& layout, bool strides) {
  if (!layout.nested) return "_" + std::to_string(strides ? layout.stride : layout.shape);
  std::string out = strides ? "Stride<" : "Shape<";
  for (std::size_t i = 0; i < layout.modes.size(); ++i)
    out += (i == 0 ? "" : ", ") + cpp_tree(layout.modes[i], strides);
  return out + ">";
}
}  // namespace

std::string cpp_text(const CuteLayout& layout, const Swizzle& swizzle) {
  const std::string plain = "Layout<" + cpp_tree(layout, false) + ", " + cpp_tree(layout, true) + ">{}";
  if (swizzle.bits == 0) return plain;
  return "composition(Swizzle<" + std::to_string(swizzle.bits) + ", " + std::to_string(swizzle.base) + ", " +
         std::to_string(swizzle.shift) + ">{}, " + plain + ")";
}

}  // namespace models::gpu
