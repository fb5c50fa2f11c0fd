#include <algorithm>

#include "models/gpu/access/index_parts.h"
#include "models/gpu/access/swizzle.h"

namespace models::gpu {
namespace {

struct IndexValue {
  std::int64_t value = 0;
  bool off = false;
};

/// Evaluates for one thread. The first failure stays.
class IndexEvaluation {
 public:
  IndexEvaluation(const IndexExpression& index, const ThreadPlace& place) : index_(index), place_(place) {
    for (const int d : index.definitions) {
      const IndexValue v = of(d);
      if (count_ < defined_.size()) defined_[count_++] = v;
    }
  }
  IndexValue of(int number);
  const std::string& error() const { return error_; }

 private:
  IndexValue of_two(const IndexNode& n, std::int64_t a, std::int64_t b);
  IndexValue of_one(const IndexNode& n, std::int64_t a);
  IndexValue refuse(const IndexNode& n, std::string_view what);

  const IndexExpression& index_;
  const ThreadPlace& place_;
  std::array<IndexValue, 64> defined_{};
  std::size_t count_ = 0;
  std::string error_;
};

IndexValue IndexEvaluation::refuse(const IndexNode& n, std::string_view what) {
  if (error_.empty())
    error_ = "In lane " + std::to_string(place_[ThreadName::lane]) + " the " + std::string(what) + " (" +
             index_place(n.at) + ").";
  return {};
}

IndexValue IndexEvaluation::of(int number) {
  if (number < 0 || !error_.empty()) return {};
  const IndexNode& n = index_.nodes[static_cast<std::size_t>(number)];
  switch (n.op) {
    case IndexOp::number:
      return {n.value, false};
    case IndexOp::name:
      return {place_[static_cast<ThreadName>(n.value)], false};
    case IndexOp::defined:
      return defined_[static_cast<std::size_t>(n.value)];
    case IndexOp::off:
      return {0, true};
    default:
      break;
  }
  const IndexValue a = of(n.first);
  if (a.off || !error_.empty()) return a;
  if (n.op == IndexOp::choose) return of(a.value != 0 ? n.second : n.third);
  if (n.op == IndexOp::both && a.value == 0) return {0, false};
  if (n.op == IndexOp::either && a.value != 0) return {1, false};
  if (n.second < 0) return of_one(n, a.value);
  const IndexValue b = of(n.second);
  if (b.off || !error_.empty()) return b;
  return of_two(n, a.value, b.value);
}

IndexValue IndexEvaluation::of_one(const IndexNode& n, std::int64_t a) {
  if (n.op == IndexOp::invert) return {~a, false};
  if (n.op == IndexOp::is_not) return {a == 0 ? 1 : 0, false};
  if (n.op == IndexOp::negate) {
    std::int64_t out = 0;
    return __builtin_sub_overflow(std::int64_t{0}, a, &out) ? refuse(n, "number does not fit in 64 bits")
                                                            : IndexValue{out, false};
  }
  if (a < 0) return refuse(n, "swizzle is given an offset below 0");
  const Swizzle s{.bits = static_cast<int>(n.value & 255),
                  .base = static_cast<int>((n.value >> 8) & 255),
                  .shift = static_cast<int>(n.value >> 16) - 64};
  return {s(a), false};
}

IndexValue IndexEvaluation::of_two(const IndexNode& n, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  switch (n.op) {
    case IndexOp::multiply:
      return __builtin_mul_overflow(a, b, &out) ? refuse(n, "product does not fit in 64 bits") : IndexValue{out};
    case IndexOp::add:
      return __builtin_add_overflow(a, b, &out) ? refuse(n, "sum does not fit in 64 bits") : IndexValue{out};
    case IndexOp::subtract:
      return __builtin_sub_overflow(a, b, &out) ? refuse(n, "difference does not fit in 64 bits") : IndexValue{out};
    case IndexOp::divide:
    case IndexOp::remainder:
      if (b == 0) return refuse(n, n.op == IndexOp::divide ? "division is by zero" : "remainder is by zero");
      if (b == -1) return n.op == IndexOp::remainder ? IndexValue{0} : of_one({.op = IndexOp::negate, .at = n.at}, a);
      return {n.op == IndexOp::divide ? a / b : a % b, false};
    case IndexOp::shift_left:
    case IndexOp::shift_right:
      if (b < 0 || b > 63) return refuse(n, "shift is by less than 0 or more than 63");
      if (n.op == IndexOp::shift_right) return {a >> b, false};
      out = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
      return out >> b == a ? IndexValue{out} : refuse(n, "shifted number does not fit in 64 bits");
    case IndexOp::less:
      return {a < b};
    case IndexOp::less_equal:
      return {a <= b};
    case IndexOp::greater:
      return {a > b};
    case IndexOp::greater_equal:
      return {a >= b};
    case IndexOp::equal:
      return {a == b};
    case IndexOp::not_equal:
      return {a != b};
    case IndexOp::bit_and:
      return {a & b};
    case IndexOp::bit_xor:
      return {a ^ b};
    case IndexOp::bit_or:
      return {a | b};
    case IndexOp::minimum:
      return {std::min(a, b)};
    case IndexOp::maximum:
      return {std::max(a, b)};
    default:
      return {b != 0 ? 1 : 0};  // both, either
  }
}

}  // namespace

ThreadPlace thread_place(const BlockShape& shape, std::int64_t block, std::int64_t tid) {
  return {{tid, tid % warp_lanes, tid / warp_lanes, block, tid / shape.width, tid % shape.width, shape.width,
           shape.height}};
}

Result<std::optional<std::int64_t>> IndexExpression::at(const ThreadPlace& place) const {
  using Out = Result<std::optional<std::int64_t>>;
  IndexEvaluation evaluation(*this, place);
  const IndexValue v = evaluation.of(root);
  if (!evaluation.error().empty()) return Out::fail(evaluation.error());
  return Out::ok(v.off ? std::nullopt : std::optional<std::int64_t>(v.value));
}

}  // namespace models::gpu
