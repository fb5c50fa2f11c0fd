#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

/// A rung is one .cu file whose extern "C" entry is named after the file, and a row in the list of its ladder
/// (copy.cpp, sgemm.cpp, ...); a geometry of its own is a case in that file's launches(). A rung of several kernels has
/// them all in its file, and names each in its launches. A ladder is one such file more, in operation.cpp's two lists.
namespace kernels::cuda {

/// How the elements of an array lie in memory and how they are made from a seed, on the device by fill_* of
/// instruments.cu and on the host, exactly alike, by input_value().
enum class Element : std::uint8_t {
  f32,   ///< uniform in [lo, lo + scale), 24 random bits
  f16,   ///< the same, rounded to the nearest
  bf16,  ///< the same, rounded to the nearest
  i8,    ///< -127 to 127, uniform
  u4,    ///< 0 to 15, uniform, two in a byte, the first in the low half
  e4m3,  ///< a random finite FP8 pattern
  u32,   ///< a whole number in [0, below), uniform
  made,  ///< bytes that the operation's `make` writes on the host: page tables, lengths, offsets
};
/// Bits of one element; 8 for `made`, whose count is in bytes.
int bits_of(Element element);

/// One input.
struct Array {
  Element element = Element::f32;
  std::int64_t (*count)(std::int64_t size) = nullptr;                             ///< elements
  float lo = 0, scale = 1;                                                        ///< f32, f16, bf16
  std::uint32_t below = 1;                                                        ///< u32
  void (*make)(std::int64_t size, std::uint32_t seed, std::byte* out) = nullptr;  ///< made
};

/// One argument of a kernel.
struct Argument {
  enum class Kind : std::uint8_t { input, output, scratch, whole, real };
  Kind kind = Kind::whole;
  int input = 0;            ///< which input
  std::int64_t offset = 0;  ///< bytes from the start of the array
  std::uint32_t whole = 0;  ///< an unsigned (or, with the same bits, an int)
  float real = 0;
};
Argument input(int which, std::int64_t byte_offset = 0);
Argument output(std::int64_t byte_offset = 0);
Argument scratch(std::int64_t byte_offset = 0);
Argument whole(std::int64_t value);
Argument real(float value);

/// One launch of a kernel. Without `arguments` it takes the input arrays, the output array and a count: (in, out, n) or
/// (a, b, c, n).
struct Launch {
  unsigned grid_x = 1, grid_y = 1, block_x = 1, block_y = 1;
  unsigned n = 0;
  /// The first input is the output array of an earlier launch, from this float on; -1: the operand itself.
  std::int64_t input_offset = -1;
  std::int64_t output_offset = 0;  ///< floats from the start of the output array
  unsigned grid_z = 1;
  unsigned shared_bytes = 0;             ///< dynamic shared memory of a block
  std::string_view entry = {};           ///< a further kernel of the rung's file; empty: the rung's entry
  std::vector<Argument> arguments = {};  ///< in the order of the kernel's parameters
};

/// How far an output is from its reference.
struct Deviation {
  double error = 0;                ///< |out - reference| / |reference| over the elements compared
  double bound = 0;                ///< accepted when error <= bound
  std::int64_t never_written = 0;  ///< elements that still hold the poison, or another NaN
};

class HostRung;
class Session;
struct DeviceFacts;
struct ExpectedSums;
struct Operation;
/// What a run has left, to be held against the reference.
struct Outcome {
  const Operation& operation;
  std::string_view rung;
  std::int64_t size = 0;
  std::span<const std::byte> out;  ///< output_bytes of it
  std::uint32_t seed = 0;          ///< the inputs' values come from it
  /// What earlier rungs of the ladder were held to at this size, where whoever checks them keeps it (sums.h).
  ExpectedSums* expected = nullptr;
};
/// The output as float32 numbers, where it is that; the storage is on a boundary of 16 bytes.
std::span<const float> floats_of(const Outcome& outcome);
std::span<const std::uint32_t> words_of(const Outcome& outcome);
/// Element `index` of an output of 16-bit floats, exactly.
double f16_at(const Outcome& outcome, std::int64_t index);
double bf16_at(const Outcome& outcome, std::int64_t index);

/// What is the same for every rung of a ladder: sizes, operands, launches and the reference.
struct Operation {
  const Ladder* ladder = nullptr;
  std::int64_t granule = 1;  ///< sizes are rounded up to a multiple of this
  std::int64_t edge_size =
      0;  ///< a small size that is no power of two: it is checked in full before the size asked for
  std::vector<Array> inputs;
  bool repeatable = true;  ///< two runs on one input must agree bit for bit: if they do not, threads race
  std::int64_t (*output_bytes)(std::int64_t size) = nullptr;
  std::int64_t (*scratch_bytes)(std::int64_t size) = nullptr;  ///< null: none; what it holds at first is poison
  std::vector<Launch> (*launches)(std::string_view rung, std::int64_t size, int multiprocessors) = nullptr;
  /// In place of launches() on a device, where the geometry asks for more of it than the number of multiprocessors.
  std::vector<Launch> (*launches_on)(std::string_view rung, std::int64_t size, const DeviceFacts& device) = nullptr;
  /// Holds the output against float64.
  Deviation (*compare)(const Outcome& outcome) = nullptr;
  /// A ladder whose runs the host makes and times, launches and copies among them (host_rung.h): it has neither
  /// launches nor kernels of its own, its rungs have no entry, and their source is the host's. Throws Failure.
  std::unique_ptr<HostRung> (*host)(const Session& session, std::string_view rung, std::int64_t size) = nullptr;

  std::int64_t rounded(std::int64_t size) const { return (size + granule - 1) / granule * granule; }
};

using Cost = models::OpCost (*)(std::int64_t size);
/// A ladder over one array of 1 MiB to 1 GiB, compared by bandwidth.
Ladder array_ladder(std::string_view id, std::string_view title, std::span<const Rung> rungs, Cost cost);
/// A ladder over N x N matrices.
struct MatrixSizes {
  std::int64_t lo = 0, usual = 0, hi = 0;  ///< The range of N and its usual value.
};
Ladder matrix_ladder(std::string_view id, std::string_view title, Measure measure, MatrixSizes sizes,
                     std::span<const Rung> rungs, Cost cost);

/// The operations in the order of ladders(), and one of them by its ladder's id (null when there is none).
std::span<const Operation> operations();
const Operation* find_operation(std::string_view ladder);

const Operation& copy_operation();
const Operation& transpose_operation();
const Operation& reduction_operation();
const Operation& sgemm_operation();
const Operation& histogram_operation();
const Operation& softmax_operation();
const Operation& layernorm_gelu_operation();
const Operation& gemv_operation();
const Operation& decode_operation();
const Operation& fp8_quantize_operation();
const Operation& bf16_gemm_operation();
const Operation& attention_operation();
const Operation& stride_operation();
const Operation& banks_operation();
const Operation& ilp_operation();
const Operation& l2_operation();
const Operation& launch_operation();
const Operation& host_copy_operation();

/// Element `index` of input `which`, exactly as the device's fill made it (not for `made`).
double input_value(const Operation& operation, std::uint32_t seed, int which, std::int64_t index);
/// The whole of an input on the host, bit for bit what the device holds: for tests, and for inputs that are `made`.
std::vector<std::byte> input_bytes(const Operation& operation, std::int64_t size, std::uint32_t seed, int which);
/// Bytes of an input.
std::int64_t bytes_of_input(const Operation& operation, std::int64_t size, int which);
std::uint32_t input_seed(std::uint32_t seed, int input);

/// What output memory holds before a run: a NaN that no kernel makes.
inline constexpr std::uint32_t poison_word = 0x7fc0dead;

}  // namespace kernels::cuda
