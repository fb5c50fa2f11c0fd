#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/numerics/float_format.h"

/// Narrow elements that share a scale: OCP MX v1.0, NVFP4, and integers or NF4 in groups.
namespace models {

enum class BlockScale : std::uint8_t {
  e8m0,       ///< a power of two (OCP MX)
  e4m3,       ///< E4M3 of a block, under one FP32 of the tensor (NVFP4)
  fp16,       ///< largest magnitude over the largest code
  fp16_zero,  ///< range over the number of steps, and a zero point of the element's width
  fp32,       ///< largest magnitude (NF4 as QLoRA stores it)
};

struct BlockScheme {
  std::string_view id;       ///< "mxfp4"
  std::string_view name;     ///< "MXFP4"
  std::string_view element;  ///< id of the elements' FloatFormat
  int block_size = 32;       ///< as the format's definition has it, or as is usual
  BlockScale scale = BlockScale::e8m0;
  std::string_view source;
};

std::span<const BlockScheme> block_schemes();
const BlockScheme* find_block_scheme(std::string_view id);  ///< null when there is none
const FloatFormat& element_of(const BlockScheme& scheme);

/// How a block's scale is chosen. Floor and ceil differ under MX alone: the others then take the largest magnitude
/// (or the range) over the largest code.
enum class ScaleRule : std::uint8_t {
  floor,        ///< OCP MX v1.0, 6.3: 2^(floor(log2 amax) - emax); the largest element may saturate
  ceil,         ///< 2^ceil(log2(amax / element max)): nothing saturates, up to a binade of resolution lost
  least_error,  ///< the scale whose rounding to nearest has the least squared error, of those tried: see to_blocks
};

struct BlockOptions {
  int block_size = 0;  ///< 0: the scheme's own
  ScaleRule rule = ScaleRule::floor;
  Rounding rounding = Rounding::nearest_even;  ///< how elements are rounded
  std::uint64_t seed = 0;                      ///< for stochastic rounding
};

struct Blocks {
  int block_size = 0;
  double tensor_scale = 1;  ///< NVFP4: amax / (6 x 448); kept in double, its FP32 differs by 6e-8 at most
  std::vector<double>
      scales;  ///< one a block, as stored: 2^k, or the E4M3 or FP16 value; an element counts scale x tensor_scale
  std::vector<std::uint32_t> scale_codes;  ///< E8M0, E4M3, FP16 or FP32 bits
  std::vector<int> zero_points;            ///< one a block for fp16_zero, otherwise empty
  std::vector<std::uint32_t> codes;        ///< one an element
  std::vector<double> values;              ///< what the codes are worth
  std::size_t saturated = 0;               ///< elements that were clipped to the largest value
  std::size_t lost = 0;                    ///< elements other than 0 that became 0
};

/// Cuts `values` into blocks in order (the last may be shorter) and quantizes each. A block with a NaN or an infinity
/// becomes NaN under MX (the scale code 0xFF); otherwise infinities count as the largest double. A block of zeros has
/// the smallest scale. Least error tries, for each block: powers of two up to two below and one above that of floor
/// (MX), the E4M3 code of the largest magnitude, the next one and the eight below (NVFP4), and 1, 0.95 ... 0.5 of the
/// range (the others).
Blocks to_blocks(const BlockScheme& scheme, std::span<const double> values, const BlockOptions& options = {});

/// Bits of one element with its part of the block's scale (and zero point): 4.25 for MXFP4. NVFP4's 32 bits a tensor
/// are not in it.
double bits_per_element(const BlockScheme& scheme, int block_size = 0);

struct QuantizationError {
  double rms = 0, mean_abs = 0, max_abs = 0;
  double signal_to_noise_db =
      0;  ///< 10 log10(sum x^2 / sum e^2); 0 for no signal, 400 (more than double holds) without error
};
QuantizationError error_of(std::span<const double> exact, std::span<const double> quantized);

}  // namespace models
