#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// A small safe language for the index that a thread of a kernel forms, and for lines pasted from a kernel.
namespace models::gpu {

inline constexpr int warp_lanes = 32;

/// The names that an expression may use without being told what they are. In a kernel's text `threadIdx.x` is col,
/// `threadIdx.y` row, `blockDim.x` width, `blockDim.y` height, `blockIdx.x` block, `warpSize` 32.
enum class ThreadName : std::uint8_t {
  tid,     ///< the thread's number in its block, row after row
  lane,    ///< tid % 32
  warp,    ///< tid / 32
  block,   ///< the block's number
  row,     ///< tid / width
  col,     ///< tid % width
  width,   ///< threads in a row of the block
  height,  ///< rows of the block
};
inline constexpr int thread_name_count = 8;
std::string_view thread_name(ThreadName name);

/// What the names are worth in one thread, by ThreadName.
struct ThreadPlace {
  std::array<std::int64_t, thread_name_count> values{};

  std::int64_t operator[](ThreadName name) const { return values[static_cast<std::size_t>(name)]; }
};
/// A block of width x height threads. Both at least 1; threads of a width that does not divide 32 wrap to the next row.
struct BlockShape {
  std::int64_t width = 256, height = 1;
};
ThreadPlace thread_place(const BlockShape& shape, std::int64_t block, std::int64_t tid);

/// A constant of one's own.
struct NamedValue {
  std::string name;
  std::int64_t value = 0;
};

enum class IndexOp : std::uint8_t {
  number,   ///< value
  name,     ///< value is a ThreadName
  defined,  ///< value is the number of a definition
  off,      ///< the lane does not take part
  negate,
  invert,
  is_not,
  multiply,
  divide,
  remainder,
  add,
  subtract,
  shift_left,
  shift_right,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  bit_and,
  bit_xor,
  bit_or,
  both,
  either,
  choose,  ///< first ? second : third
  minimum,
  maximum,
  swizzle  ///< Swizzle<first's B, M, S> packed in value, of first
};
struct IndexNode {
  IndexOp op = IndexOp::number;
  std::int16_t first = -1, second = -1, third = -1;  ///< nodes
  std::uint16_t at = 0;                              ///< letter of the text, from 1
  std::int64_t value = 0;
};

/// One index, ready to be evaluated for any thread: 64-bit integers with C's precedence and C's division. What does not
/// fit, a division by zero and a shift by less than 0 or more than 63 are refused, never wrapped.
struct IndexExpression {
  std::string text;              ///< as it was given
  std::string array;             ///< whose index it is, where the text says so
  std::vector<IndexNode> nodes;  ///< at most 512
  std::vector<int> definitions;  ///< nodes, in order
  int root = -1;
  std::uint32_t names = 0;  ///< which ThreadNames it uses, a bit each

  bool uses(ThreadName name) const { return (names >> static_cast<unsigned>(name)) & 1U; }
  /// Nothing inside the result: the thread is off. Fails with a sentence that names the lane and the letter.
  Result<std::optional<std::int64_t>> at(const ThreadPlace& place) const;
};

inline constexpr std::size_t index_text_most = 1000;  ///< letters
inline constexpr int index_depth_most = 48;           ///< brackets and operators inside each other

/// Reads an index. Accepted are
/// - an expression: `+ - * / % & | ^ ~ << >> ! < <= > >= == != && || ?:`, brackets, min(a, b), max(a, b),
///   swizzle(B, M, S, a), numbers (also 0x40, 1u, 64UL), casts to integer types, the names above and as threadIdx.x and
///   the like, own names; `off` for a lane that does not take part: `lane < 16 ? lane : off`. Whatever is done with off
///   is off;
/// - definitions before it, each closed by `;` or the end of the line: `N = 1024; int i = tid + N; 2*i`. Comments are
///   left out;
/// - a line of a kernel with one access: `out[i] = ...`, `float v = a[2*i + 1];`, `if (i < n) a[i] = 0;`. Several
///   accesses are taken where all have the same index.
/// Fails with one sentence: what, at which letter, and what to do.
Result<IndexExpression> read_index(std::string_view text, std::span<const NamedValue> constants = {});

}  // namespace models::gpu
