#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/result.h"

/// Reads safetensors files: 8 bytes with the length of a JSON header (little endian), the header, then the tensors'
/// bytes, which cover the rest of the file without holes or overlaps. Source: github.com/huggingface/safetensors,
/// README "Format" and tensor.rs. It takes bytes, not a path, and never needs the data to list it: give it the
/// beginning of the file, then the part of one tensor.
namespace models {

enum class TensorType : std::uint8_t {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64
};
std::string_view tensor_type_name(TensorType type);  ///< as in a header: "BF16"
int tensor_type_bits(TensorType type);               ///< bits of one element: 4 to 64

struct TensorEntry {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<std::int64_t> shape;  ///< empty: one number
  std::int64_t elements = 0;
  std::uint64_t begin_bytes = 0, end_bytes = 0;  ///< in the file, counted from its first byte
};

struct TensorFile {
  std::vector<TensorEntry> tensors;  ///< in the order of their bytes
  std::vector<std::pair<std::string, std::string>> metadata;
  std::uint64_t header_bytes = 0;                        ///< where the data begin
  const TensorEntry* find(std::string_view name) const;  ///< null when there is none
};

/// Bytes from the file's start that `parse_safetensors` needs: 8 and the header. `start`: at least the first 8 bytes,
/// or the whole file. Infeasible: a file of fewer than 8 bytes, a header that is longer than the file or than 4 MiB.
Result<std::uint64_t> safetensors_head_bytes(std::string_view start, std::uint64_t file_bytes, std::string_view origin);

/// Lists the tensors. `head`: the file's first `safetensors_head_bytes` bytes at least; `file_bytes`: the size of the
/// whole file; `origin` names it in sentences. Refused with one sentence: what is above, JSON that is broken, repeats a
/// key or nests deeply, an unknown type, a shape that overflows or does not fit its bytes, offsets that overlap, leave
/// a hole, or end before or after the file. Never throws.
Result<TensorFile> parse_safetensors(std::string_view head, std::uint64_t file_bytes, std::string_view origin);

/// The elements that `bytes` hold, from the first on, as doubles; whole ones only, at most out.size(). Returns how
/// many. Exact but for I64 and U64 beyond 2^53. BOOL gives 0 and 1, C64 its real part. Elements under a byte are packed
/// from the low bits on.
std::size_t decode_tensor(TensorType type, std::string_view bytes, std::span<double> out);

}  // namespace models
