#include <algorithm>
#include <numeric>

#include "models/base/integer_math.h"
#include "models/gpu/layout/cute_layout.h"

// Coalesce, composition, complement, inverses.
namespace models::gpu {
namespace {

using Composed = Result<CuteLayout>;

/// Merges from the right what continues: shape x stride of a mode is the stride of the next. `last` stands for the last
/// leaf, whose size composition keeps open.
CuteLayout merge_leaves(const std::vector<CuteLayout>& flat, const CuteLayout& last) {
  std::vector<CuteLayout> out{last};  // rightmost first
  for (std::size_t i = flat.size() - 1; i-- > 0;) {
    const auto& mode = flat[i];
    if (mode.shape == 1) continue;
    auto& next = out.back();
    if (out.size() == 1 && next.shape == 1) {
      next = mode;
    } else if (saturating_mul(mode.shape, mode.stride) == next.stride) {
      next.shape = saturating_mul(next.shape, mode.shape);
      next.stride = mode.stride;
    } else {
      out.push_back(mode);
    }
  }
  if (out.size() == 1) return out[0].shape == 1 ? CuteLayout::leaf(1, 0) : out[0];
  std::reverse(out.begin(), out.end());
  return CuteLayout::of(std::move(out));
}

/// What A o B walks: A coalesced, its last mode open even where its size is 1.
CuteLayout open_ended(const CuteLayout& a) {
  const auto flat = a.flat();
  auto last = flat.back();
  if (last.shape == 1) last.shape = 2;
  return merge_leaves(flat, last);
}

CuteLayout unwrapped(std::vector<CuteLayout> modes) {
  return modes.size() == 1 ? modes[0] : CuteLayout::of(std::move(modes));
}

std::string number_text(std::int64_t n) { return std::to_string(n); }

/// One mode s:d of B against A's modes: keep ceil(shape / stride) of each, go on with ceil(stride / shape).
Composed compose_leaf(const CuteLayout& a, std::int64_t shape, std::int64_t stride) {
  if (stride == 0) return Composed::ok(CuteLayout::leaf(shape, 0));
  if (!a.nested) return Composed::ok(CuteLayout::leaf(shape, saturating_mul(stride, a.stride)));
  std::vector<CuteLayout> out;
  std::int64_t rest_shape = shape, rest_stride = stride;
  for (std::size_t i = 0; i + 1 < a.modes.size(); ++i) {
    const auto& mode = a.modes[i];
    if (rest_stride % mode.shape != 0 && rest_stride >= mode.shape) {
      return Composed::fail("The stride condition fails: a step of " + number_text(rest_stride) +
                            " over a mode of A of size " + number_text(mode.shape) +
                            " is neither a multiple of the size nor below it.");
    }
    const std::int64_t left = ceil_div(mode.shape, rest_stride);
    const std::int64_t next_stride = ceil_div(rest_stride, mode.shape);
    if (left != 1 && rest_shape != 1) {
      const std::int64_t taken = std::min(left, rest_shape);
      if (rest_shape % taken != 0) {
        return Composed::fail("The shape condition fails: " + number_text(rest_shape) +
                              " elements of B are no multiple of the " + number_text(taken) +
                              " that a mode of A of size " + number_text(mode.shape) + " has left.");
      }
      out.push_back(CuteLayout::leaf(taken, saturating_mul(rest_stride, mode.stride)));
      rest_shape /= taken;
    }
    rest_stride = next_stride;
  }
  if (out.empty() || rest_shape != 1) {
    out.push_back(CuteLayout::leaf(rest_shape, saturating_mul(rest_stride, a.modes.back().stride)));
  }
  return Composed::ok(unwrapped(std::move(out)));
}

Composed compose_tree(const CuteLayout& a, const CuteLayout& b) {
  if (!b.nested) return compose_leaf(a, b.shape, b.stride);
  std::vector<CuteLayout> modes;
  for (const auto& mode : b.modes) {
    auto done = compose_tree(a, mode);
    if (!done) return done;
    modes.push_back(std::move(*done));
  }
  return Composed::ok(CuteLayout::of(std::move(modes)));
}

CuteLayout without_zeros(CuteLayout layout) {
  if (!layout.nested && layout.stride == 0) layout.shape = 1;
  for (auto& mode : layout.modes) mode = without_zeros(std::move(mode));
  return layout;
}

/// Leaves of the coalesced layout, their places by growing stride, and the product of the shapes before each.
struct SortedModes {
  std::vector<CuteLayout> modes;
  std::vector<std::size_t> order;
  std::vector<std::int64_t> before;
};
SortedModes sorted_modes(const CuteLayout& layout) {
  SortedModes out{.modes = coalesce(layout).flat(), .order = {}, .before = {}};
  std::int64_t product = 1;
  for (const auto& mode : out.modes) {
    out.before.push_back(product);
    product = saturating_mul(product, mode.shape);
  }
  out.order.resize(out.modes.size());
  std::iota(out.order.begin(), out.order.end(), std::size_t{0});
  std::stable_sort(out.order.begin(), out.order.end(),
                   [&](std::size_t a, std::size_t b) { return out.modes[a].stride < out.modes[b].stride; });
  return out;
}

}  // namespace

CuteLayout coalesce(const CuteLayout& layout) {
  const auto flat = layout.flat();
  return merge_leaves(flat, flat.back());
}

CuteLayout coalesce_by(const CuteLayout& layout, const CuteLayout& profile) {
  if (!profile.nested) return coalesce(layout);
  std::vector<CuteLayout> modes;
  for (int i = 0; i < layout.rank(); ++i) {
    modes.push_back(i < profile.rank() ? coalesce_by(layout.mode(i), profile.mode(i)) : layout.mode(i));
  }
  return CuteLayout::of(std::move(modes));
}

CuteLayout filter(const CuteLayout& layout) { return coalesce(without_zeros(layout)); }

Result<CuteLayout> composition(const CuteLayout& a, const CuteLayout& b) { return compose_tree(open_ended(a), b); }

Result<CuteLayout> composition(const CuteLayout& a, const CuteTiler& tiler) {
  if (tiler.kept) return Composed::ok(a);
  if (!tiler.list) return composition(a, tiler.layout);
  if (static_cast<int>(tiler.parts.size()) > a.rank()) {
    return Composed::fail("The tiler has " + std::to_string(tiler.parts.size()) +
                          " entries, more than A has modes: drop some.");
  }
  std::vector<CuteLayout> modes;
  for (std::size_t i = 0; i < tiler.parts.size(); ++i) {
    auto done = composition(a.mode(static_cast<int>(i)), tiler.parts[i]);
    if (!done) return done;
    modes.push_back(std::move(*done));
  }
  return Composed::ok(CuteLayout::of(std::move(modes)));
}

Result<CuteLayout> complement(const CuteLayout& layout, std::vector<std::int64_t> cotarget) {
  const auto filtered = filter(layout);
  if (cotarget.empty()) cotarget.push_back(filtered.cosize());
  auto modes = filtered.flat();
  if (!filtered.nested && filtered.stride == 0) {
    std::int64_t all = 1;
    for (const auto extent : cotarget) all = saturating_mul(all, extent);
    return Composed::ok(CuteLayout::leaf(all, all == 1 ? 0 : 1));
  }
  std::stable_sort(modes.begin(), modes.end(), [](const auto& a, const auto& b) { return a.stride < b.stride; });
  std::vector<CuteLayout> out;
  std::int64_t reached = 1;
  for (const auto& mode : modes) {
    const std::int64_t gap = mode.stride / reached;
    if (gap == 0) {
      return Composed::fail("The layout is not injective: a mode of stride " + number_text(mode.stride) +
                            " lies within the span of " + number_text(reached) +
                            " below it, so nothing complements it.");
    }
    out.push_back(CuteLayout::leaf(gap, reached));
    reached = saturating_mul(mode.stride, mode.shape);
  }
  std::int64_t rest = 1, divisor = reached;
  for (const auto extent : cotarget) {
    rest = saturating_mul(rest, ceil_div(extent, divisor));
    divisor = ceil_div(divisor, extent);
  }
  out.push_back(CuteLayout::leaf(rest, reached));
  return Composed::ok(coalesce(CuteLayout::of(std::move(out))));
}

CuteLayout right_inverse(const CuteLayout& layout) {
  const auto sorted = sorted_modes(layout);
  std::vector<CuteLayout> out{CuteLayout::leaf(1, 0)};
  std::int64_t reached = 1;
  for (const auto i : sorted.order) {
    const auto& mode = sorted.modes[i];
    if (mode.stride != reached) continue;
    out.push_back(CuteLayout::leaf(mode.shape, sorted.before[i]));
    reached = saturating_mul(mode.shape, mode.stride);
  }
  return coalesce(CuteLayout::of(std::move(out)));
}

Result<CuteLayout> left_inverse(const CuteLayout& layout) {
  const auto sorted = sorted_modes(layout);
  std::vector<CuteLayout> out;
  std::int64_t stride = 0, reached = 1;
  for (const auto i : sorted.order) {
    const auto& mode = sorted.modes[i];
    if (mode.stride == 0) continue;
    if (mode.stride % reached != 0) {
      return Composed::fail("The condition of a left inverse fails: stride " + number_text(mode.stride) +
                            " is no multiple of the " + number_text(reached) + " places below it.");
    }
    out.push_back(CuteLayout::leaf(mode.stride / reached, stride));
    reached = mode.stride;
    stride = sorted.before[i];
  }
  out.push_back(CuteLayout::leaf(sorted.modes[sorted.order.back()].shape, stride));
  return Composed::ok(coalesce(CuteLayout::of(std::move(out))));
}

CuteLayout nullspace(const CuteLayout& layout) {
  std::vector<CuteLayout> out;
  std::int64_t before = 1;
  for (const auto& mode : layout.flat()) {
    if (mode.stride == 0) out.push_back(CuteLayout::leaf(mode.shape, before));
    before = saturating_mul(before, mode.shape);
  }
  return out.empty() ? CuteLayout::leaf(1, 0) : unwrapped(std::move(out));
}

Result<CuteLayout> max_common_layout(const CuteLayout& a, const CuteLayout& b) {
  const auto inverse = right_inverse(b);
  const auto common = composition(a, inverse);
  if (!common) return common;
  const auto merged = coalesce(*common);
  if (merged.mode(0).stride != 1 || merged.mode(0).nested) return Composed::ok(CuteLayout::leaf(1, 0));
  return composition(inverse, merged.mode(0));
}

}  // namespace models::gpu
