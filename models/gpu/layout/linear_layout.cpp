#include "models/gpu/layout/linear_layout.h"

#include <algorithm>
#include <bit>

#include "models/gpu/layout/encoding_text.h"

namespace models::gpu {
namespace {

using Numbers = std::vector<std::int64_t>;

std::int64_t up_to_power_of_two(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, n))));
}

/// A layout that grows: inputs by place, outputs by dimension.
struct Growing {
  LinearLayout layout;
  Numbers shape;  ///< powers of two

  Growing(std::vector<std::string> inputs, const Numbers& tensor) {
    layout.inputs = std::move(inputs);
    layout.bases.resize(layout.inputs.size());
    layout.sizes.assign(tensor.size(), 1);
    for (const auto extent : tensor) shape.push_back(up_to_power_of_two(extent));
  }
  std::size_t rank() const { return shape.size(); }
  void basis(std::size_t input, std::size_t dim, std::int64_t value) {
    layout.bases[input].emplace_back(rank(), 0).at(dim) = value;
  }
  /// The next `count` places of a dimension, bit by bit.
  void add(std::size_t input, std::size_t dim, std::int64_t count) {
    for (std::int64_t bit = 1; bit < count; bit *= 2) {
      basis(input, dim, layout.sizes[dim]);
      layout.sizes[dim] *= 2;
    }
  }
  void copies(std::size_t input, std::int64_t count) {
    for (std::int64_t bit = 1; bit < count; bit *= 2) basis(input, 0, 0);
  }
  void add_all(std::size_t input, const Numbers& counts, const Numbers& order) {
    for (const auto dim : order) add(input, static_cast<std::size_t>(dim), counts[static_cast<std::size_t>(dim)]);
  }
  /// As add_all, where one dimension is held by all of them.
  void add_but(std::size_t input, const Numbers& counts, const Numbers& order, std::size_t shared) {
    for (const auto d : order) {
      const auto dim = static_cast<std::size_t>(d);
      if (dim == shared) copies(input, counts[dim]);
      if (dim != shared) add(input, dim, counts[dim]);
    }
  }
  void extend(const Numbers& order, const Numbers& to) {
    for (const auto d : order) {
      const auto dim = static_cast<std::size_t>(d);
      if (layout.sizes[dim] < to[dim]) add(0, dim, to[dim] / layout.sizes[dim]);
    }
  }
  /// Bases beyond the shape become copies.
  void shrink(const Numbers& to) {
    for (auto& input : layout.bases) {
      for (auto& one : input) {
        for (std::size_t dim = 0; dim < rank(); ++dim) one[dim] = one[dim] >= to[dim] ? 0 : one[dim];
      }
    }
    for (std::size_t dim = 0; dim < rank(); ++dim) layout.sizes[dim] = std::min(layout.sizes[dim], to[dim]);
  }
};

Numbers descending(std::size_t rank) {
  Numbers out;
  for (std::size_t dim = rank; dim-- > 0;) out.push_back(static_cast<std::int64_t>(dim));
  return out;
}
Numbers ascending(std::size_t rank) {
  auto out = descending(rank);
  std::reverse(out.begin(), out.end());
  return out;
}

const std::vector<std::string> distributed{"register", "lane", "warp", "block"};

/// Fills the shape with registers, after the cluster has taken its part of it. The arguments of the cluster begin at
/// `first`: blocks of a cluster, how many of them split each dimension, their order.
void spread(Growing& g, const EncodingText& e, std::size_t first, const Numbers& order) {
  const auto blocks = e.list(first, g.rank(), 1), split = e.list(first + 1, g.rank(), 1);
  const auto block_order = first < e.parts.size() ? e.list(first + 2, g.rank(), 0) : descending(g.rank());
  Numbers part = g.shape;
  for (std::size_t dim = 0; dim < g.rank(); ++dim) part[dim] /= std::clamp<std::int64_t>(split[dim], 1, g.shape[dim]);
  g.extend(order, part);
  g.shrink(part);
  for (const auto d : block_order) {
    const auto dim = static_cast<std::size_t>(d);
    for (std::int64_t bit = 1; bit < split[dim]; bit *= 2) {
      const bool within = g.layout.sizes[dim] < g.shape[dim];
      g.basis(3, dim, within ? g.layout.sizes[dim] : 0);
      if (within) g.layout.sizes[dim] *= 2;
    }
    g.copies(3, blocks[dim] / std::max<std::int64_t>(1, split[dim]));
  }
}

bool valid_orders(const EncodingText& e, std::size_t place, std::size_t rank) {
  auto order = e.list(place, rank, -1);
  std::sort(order.begin(), order.end());
  return order == ascending(rank);
}

LinearLayout blocked(const EncodingText& e, const Numbers& shape) {
  Growing g(distributed, shape);
  const auto order = e.list(5, g.rank(), 0);
  for (std::size_t level = 0; level < 3; ++level) g.add_all(level, e.list(level, g.rank(), 1), order);
  // Arguments: registers, lanes, warps, blocks, split, order, order of blocks.
  EncodingText cluster{.parts = {e.parts[3], e.parts[4], e.parts.size() > 6 ? e.parts[6] : e.parts[5]}};
  spread(g, cluster, 0, order);
  return std::move(g.layout);
}

/// A tile of mma: packed elements, four lanes, eight lanes, and what is left in registers.
void add_mma_tile(Growing& g, std::size_t inner, std::size_t outer, std::int64_t packed, std::int64_t inner_extent,
                  std::int64_t outer_extent) {
  g.add(0, inner, packed);
  g.add(1, inner, 4);
  g.add(1, outer, 8);
  g.add(0, outer, outer_extent / 8);
  g.add(0, inner, inner_extent / (4 * packed));
}

LinearLayout mma(const EncodingText& e, const Numbers& shape) {
  Growing g(distributed, shape);
  const std::size_t rank = g.rank();
  const auto instruction = e.list(2, rank, 1), warps = e.list(3, rank, 1);
  const bool hopper = e.at(0) == 3;
  // The third extent of a Hopper instruction is k.
  const std::int64_t m = hopper ? e.list(2, 2, 1)[0] : instruction[rank - 2];
  const std::int64_t n = hopper ? e.list(2, 2, 1)[1] : instruction[rank - 1];
  add_mma_tile(g, rank - 1, rank - 2, 2, n, m);
  g.add_all(2, warps, hopper ? ascending(rank) : descending(rank));
  spread(g, e, 4, descending(rank));
  return std::move(g.layout);
}

/// The dimension that is summed over, the other one of the operand, then batches.
Numbers operand_order(std::size_t rank, std::size_t k) {
  Numbers out{static_cast<std::int64_t>(k), static_cast<std::int64_t>(k == rank - 1 ? rank - 2 : rank - 1)};
  for (std::size_t dim = rank - 2; dim-- > 0;) out.push_back(static_cast<std::int64_t>(dim));
  return out;
}

LinearLayout dot(const EncodingText& e, const Numbers& shape) {
  Growing g(distributed, shape);
  const std::size_t rank = g.rank();
  const auto& parent = e.parts[0];
  const std::size_t k = e.at(1) == 0 ? rank - 1 : rank - 2, other = e.at(1) == 0 ? rank - 2 : rank - 1;
  if (parent.name == "blocked") {
    const auto order = parent.list(5, rank, 0);
    auto registers = parent.list(0, rank, 1);
    registers[k] = g.shape[k];
    g.add_all(0, registers, order);
    g.add_but(1, parent.list(1, rank, 1), order, k);
    g.add_but(2, parent.list(2, rank, 1), order, k);
    spread(g, {}, 0, order);
    return std::move(g.layout);
  }
  const std::int64_t width = std::max<std::int64_t>(1, e.at(2));
  add_mma_tile(g, k, other, width, 8 * width, e.at(1) == 0 ? 16 : 8);
  g.add_but(2, parent.list(3, rank, 1), parent.at(0) == 3 ? ascending(rank) : descending(rank), k);
  spread(g, {}, 0, operand_order(rank, k));
  return std::move(g.layout);
}

/// AMD's matrix instructions, version and shape by `e`: the rows that a lane's registers hold, and those of lane bits.
void add_amd_tile(Growing& g, const EncodingText& e) {
  const std::size_t rank = g.rank();
  const bool wave32 = e.name == "wmma", transposed = e.at(wave32 ? 2 : 3) != 0;
  const std::size_t m = transposed ? rank - 1 : rank - 2, n = transposed ? rank - 2 : rank - 1;
  const std::int64_t extent = wave32 ? 16 : e.list(2, 1, 16)[0];
  Numbers in_registers{1, 2}, in_lanes{4, 8};
  if (!wave32 && extent == 32) in_registers = {1, 2, 8, 16}, in_lanes = {4};
  if (!wave32 && e.at(5) == 64) in_registers = {4, 8}, in_lanes = {1, 2};
  if (wave32 && e.at(1) == 1) in_registers = {2, 4, 8}, in_lanes = {1};
  if (wave32 && e.at(1) != 1) in_registers = {1, 2, 4}, in_lanes = {8};
  for (const auto row : in_registers) g.basis(0, m, row);
  for (std::int64_t column = 1; column < extent; column *= 2) g.basis(1, n, column);
  for (const auto row : in_lanes) g.basis(1, m, row);
  g.layout.sizes[m] = g.layout.sizes[n] = extent;
}

/// Tiles that one warp takes in registers, per dimension.
Numbers tiles_per_warp(const EncodingText& e, std::size_t rank) {
  Numbers out(rank, 1);
  if (e.name != "mfma" || e.parts.size() < 5 || e.parts[4].parts.size() != rank) return out;
  return e.list(4, rank, 1);
}

LinearLayout amd(const EncodingText& e, const Numbers& shape) {
  Growing g(distributed, shape);
  const auto order = descending(g.rank());
  add_amd_tile(g, e);
  g.add_all(0, tiles_per_warp(e, g.rank()), order);
  g.add_all(2, e.list(e.name == "wmma" ? 0 : 1, g.rank(), 1), order);
  spread(g, {}, 0, order);
  return std::move(g.layout);
}

LinearLayout amd_operand(const EncodingText& e, const Numbers& shape) {
  Growing g(distributed, shape);
  const auto& parent = e.parts[0];
  const std::size_t rank = g.rank();
  const bool wave32 = parent.name == "wmma";
  const std::size_t k = e.at(1) == 0 ? rank - 1 : rank - 2, other = e.at(1) == 0 ? rank - 2 : rank - 1;
  const std::int64_t extent = wave32 ? 16 : std::max<std::int64_t>(1, parent.list(2, 1, 16)[0]);
  g.add(0, k, e.at(2));
  g.add(1, other, extent);
  // The lanes that are left: 64 or 32 in a wave, and copies where wmma 1 has both halves hold the same.
  if (wave32 && parent.at(1) == 1) g.copies(1, 2);
  if (!wave32 || parent.at(1) != 1) g.add(1, k, (wave32 ? 32 : 64) / extent);
  g.extend({static_cast<std::int64_t>(k)}, g.shape);
  auto tiles = tiles_per_warp(parent, rank);
  tiles[k] = 1;
  g.add_all(0, tiles, descending(rank));
  g.add_but(2, parent.list(wave32 ? 0 : 1, rank, 1), descending(rank), k);
  spread(g, {}, 0, operand_order(rank, k));
  return std::move(g.layout);
}

/// Shared memory whose row `row` begins with an exclusive or of `phase(row)` vectors.
template <class Phase>
LinearLayout swizzled_rows(const EncodingText& e, const Numbers& shape, Phase phase) {
  Growing g({"offset", "block"}, shape);
  const auto order = e.list(5, g.rank(), 0);
  const auto column = static_cast<std::size_t>(order[0]), row = static_cast<std::size_t>(order[1]);
  g.add(0, column, g.shape[column]);
  for (std::int64_t r = 1; r < g.shape[row]; r *= 2) {
    g.basis(0, row, r);
    g.layout.bases[0].back()[column] = e.at(0) * phase(r) % g.shape[column];
  }
  g.layout.sizes[row] = g.shape[row];
  for (std::size_t i = 2; i < g.rank(); ++i) {
    const auto dim = static_cast<std::size_t>(order[i]);
    g.add(0, dim, g.shape[dim]);
  }
  return std::move(g.layout);
}

LinearLayout tma_tile(const EncodingText& e, const Numbers& shape) {
  Growing g({"offset", "block"}, shape);
  const bool transposed = e.at(1) != 0, padded = e.at(7) != 0;
  const std::size_t row = transposed ? 1 : 0, column = 1 - row;
  const std::int64_t bits = std::max<std::int64_t>(4, e.at(2)), vec = 128 / bits;
  const std::int64_t phases = std::max<std::int64_t>(1, e.at(0) / 16), per_phase = 8 / phases;
  const auto packed = [&](std::int64_t at) { return padded ? at / 16 * 8 + at % 8 : at; };
  const std::int64_t columns = 8 * std::max<std::int64_t>(16, e.at(0)) / bits;
  for (std::int64_t c = 1; c < columns; c *= 2) g.basis(0, column, packed(c));
  for (std::int64_t r = 1; r < 8; r *= 2) {
    g.basis(0, row, r);
    g.layout.bases[0].back()[column] = packed(vec * (r / per_phase % phases));
  }
  g.layout.sizes[column] = packed(columns);
  g.layout.sizes[row] = 8;
  g.extend({static_cast<std::int64_t>(row), static_cast<std::int64_t>(column)}, g.shape);
  return std::move(g.layout);
}

/// Blocks of 64 rows lie in lanes 0 to 15 of each quarter; the next block takes lanes 16 to 31.
LinearLayout tensor_memory(const EncodingText& e, const Numbers& shape) {
  Growing g({"row", "col"}, shape);
  const std::int64_t columns = up_to_power_of_two(e.at(1));
  g.add(0, 0, 16);
  g.add(1, 1, columns);
  g.layout.sizes[0] = 64;
  const std::size_t next = g.shape[0] > 64 ? 0 : 1;
  if (g.shape[next] > g.layout.sizes[next])
    g.add(0, next, 2);
  else
    g.copies(0, 2);
  g.basis(0, 0, 16);
  g.basis(0, 0, 32);
  for (const std::size_t dim : {std::size_t{0}, std::size_t{1}}) g.add(1, dim, g.shape[dim] / g.layout.sizes[dim]);
  return std::move(g.layout);
}

/// The parent's layout without one dimension; registers that hold nothing else are gone.
LinearLayout sliced(LinearLayout parent, std::size_t dim) {
  for (auto& input : parent.bases) {
    for (auto& one : input) one.erase(one.begin() + static_cast<std::ptrdiff_t>(dim));
  }
  parent.sizes.erase(parent.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
  std::erase_if(parent.bases[0],
                [](const auto& one) { return std::all_of(one.begin(), one.end(), [](auto v) { return v == 0; }); });
  return parent;
}

Result<LinearLayout> make_linear(const EncodingText& e, const Numbers& shape) {
  using Made = Result<LinearLayout>;
  const std::size_t rank = shape.size();
  if (e.name == "slice" && e.parts.size() == 2 && e.at(1) <= static_cast<std::int64_t>(rank)) {
    auto wider = shape;
    wider.insert(wider.begin() + static_cast<std::ptrdiff_t>(e.at(1)), 1);
    auto parent = make_linear(e.parts[0], wider);
    if (!parent || parent->inputs != distributed) return parent;
    return Made::ok(sliced(std::move(*parent), static_cast<std::size_t>(e.at(1))));
  }
  const bool has_parent = !e.parts.empty() && !e.parts[0].name.empty();
  const bool orders = e.parts.size() >= 6 && valid_orders(e, 5, rank);
  if (e.name == "blocked" && orders && (e.parts.size() < 7 || valid_orders(e, 6, rank)))
    return Made::ok(blocked(e, shape));
  if (rank < 2) return Made::fail("A tensor of one dimension has no encoding " + e.name + ": use blocked or slice.");
  const bool cluster = e.parts.size() < 5 || (e.parts.size() == 7 && valid_orders(e, 6, rank));
  if (e.name == "mma" && e.parts.size() >= 4 && cluster) return Made::ok(mma(e, shape));
  if (e.name == "dot" && has_parent && e.parts.size() == 3) {
    const auto& parent = e.parts[0];
    const bool known = parent.name == "mma" || (parent.parts.size() >= 6 && valid_orders(parent, 5, rank));
    if ((parent.name == "mma" || parent.name == "blocked") && known) return Made::ok(dot(e, shape));
  }
  if (e.name == "mfma" || e.name == "wmma") return Made::ok(amd(e, shape));
  if ((e.name == "mfmaDotOp" || e.name == "wmmaDotOp") && has_parent && e.parts.size() == 3) {
    return Made::ok(amd_operand(e, shape));
  }
  const std::int64_t per = std::max<std::int64_t>(1, e.at(1)), most = std::max<std::int64_t>(1, e.at(2));
  if (e.name == "shared" && orders) {
    return Made::ok(swizzled_rows(e, shape, [&](std::int64_t row) { return row / per % most; }));
  }
  if (e.name == "AMDRotatingShared" && orders) {
    return Made::ok(
        swizzled_rows(e, shape, [&](std::int64_t row) { return (row / per % most) ^ (row / most / per % most); }));
  }
  if (e.name == "nvmmaShared" && rank == 2 && e.at(0) <= 128) return Made::ok(tma_tile(e, shape));
  if (e.name == "tmem" && rank == 2) return Made::ok(tensor_memory(e, shape));
  return Made::fail("The encoding " + e.name + " is not known for " + std::to_string(rank) +
                    " dimensions with these arguments: take blocked, mma, dot, slice, shared, nvmmaShared or tmem.");
}

}  // namespace

std::vector<std::int64_t> LinearLayout::operator()(const std::vector<std::int64_t>& indices) const {
  std::vector<std::int64_t> out(sizes.size(), 0);
  for (std::size_t input = 0; input < bases.size() && input < indices.size(); ++input) {
    for (std::size_t bit = 0; bit < bases[input].size(); ++bit) {
      if ((indices[input] >> bit & 1) == 0) continue;
      for (std::size_t dim = 0; dim < out.size(); ++dim) out[dim] ^= bases[input][bit][dim];
    }
  }
  return out;
}

std::int64_t LinearLayout::reached() const {
  // The outputs stand side by side in one number, and bits are eliminated.
  std::vector<std::int64_t> pivots;
  std::int64_t out = 1;
  for (const auto& input : bases) {
    for (const auto& one : input) {
      std::int64_t word = 0;
      for (std::size_t dim = 0; dim < sizes.size(); ++dim) word = word * up_to_power_of_two(sizes[dim]) + one[dim];
      for (const auto pivot : pivots) word = std::min(word, word ^ pivot);
      if (word == 0) continue;
      pivots.push_back(word);
      std::sort(pivots.rbegin(), pivots.rend());
      out *= 2;
    }
  }
  return out;
}

Result<LinearLayout> triton_layout(std::string_view encoding, const std::vector<std::int64_t>& shape) {
  const auto read = read_encoding(encoding);
  if (!read) return Result<LinearLayout>::fail(read.error);
  for (const auto extent : shape) {
    if (extent < 1 || extent > 1 << 20 || shape.size() > 5) {
      return Result<LinearLayout>::fail("A tensor has one to five dimensions of 1 to 1,048,576: give other ones.");
    }
  }
  if (shape.empty()) return Result<LinearLayout>::fail("A tensor has at least one dimension: give its shape.");
  return make_linear(*read, shape);
}

}  // namespace models::gpu
