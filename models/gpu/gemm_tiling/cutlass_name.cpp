#include "models/gpu/gemm_tiling/cutlass_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "models/base/characters.h"
#include "models/base/printable.h"

namespace models::gpu {
namespace {

using Named = Result<CutlassKernel>;
constexpr std::size_t max_quoted = 60, longest_name = 400;
constexpr std::string_view example = "cutlass_tensorop_h16816gemm_128x256_32x3_tn_align8";

std::optional<std::int64_t> number_of(std::string_view s) {
  std::int64_t n = 0;
  const auto [end, fault] = std::from_chars(s.data(), s.data() + s.size(), n);
  return s.empty() || fault != std::errc() || end != s.data() + s.size() ? std::nullopt : std::optional(n);
}

/// "128x256" or "2x1x1" as its numbers, at most three; 0 of them where it is anything else.
struct Sizes {
  std::array<std::int64_t, 3> of{};
  std::size_t count = 0;
};
Sizes sizes_of(std::string_view s) {
  Sizes out;
  while (true) {
    const std::string_view one = s.substr(0, s.find('x'));
    const auto n = number_of(one);
    if (!n || *n < 0 || *n > 4096 || out.count == 3) return {};
    out.of[out.count++] = *n;
    if (one.size() == s.size()) return out.count < 2 ? Sizes{} : out;
    s.remove_prefix(one.size() + 1);
  }
}

struct TypeBytes {
  std::string_view name;
  double bytes;
};
constexpr std::array element_types{
    TypeBytes{"f64", 8},     TypeBytes{"f32", 4},   TypeBytes{"tf32", 4},   TypeBytes{"s32", 4},
    TypeBytes{"f16", 2},     TypeBytes{"bf16", 2},  TypeBytes{"e4m3", 1},   TypeBytes{"e5m2", 1},
    TypeBytes{"f8", 1},      TypeBytes{"s8", 1},    TypeBytes{"u8", 1},     TypeBytes{"e3m2", 0.75},
    TypeBytes{"e2m3", 0.75}, TypeBytes{"f6", 0.75}, TypeBytes{"e2m1", 0.5}, TypeBytes{"f4", 0.5},
    TypeBytes{"s4", 0.5},    TypeBytes{"u4", 0.5},  TypeBytes{"b1", 0.125}};

std::optional<double> bytes_of(std::string_view type) {
  const auto* const at =
      std::find_if(element_types.begin(), element_types.end(), [&](const TypeBytes& t) { return t.name == type; });
  return at == element_types.end() ? std::nullopt : std::optional(at->bytes);
}

/// "16816" as 16 x 8 x 16: instructions of CUTLASS 2.x are written without signs between their sizes.
struct Instruction {
  std::string_view digits;
  std::int64_t m, n, k;
};
constexpr std::array instructions{
    Instruction{"884", 8, 8, 4},       Instruction{"1684", 16, 8, 4},     Instruction{"1688", 16, 8, 8},
    Instruction{"16816", 16, 8, 16},   Instruction{"16832", 16, 8, 32},   Instruction{"16864", 16, 8, 64},
    Instruction{"168128", 16, 8, 128}, Instruction{"168256", 16, 8, 256}, Instruction{"8816", 8, 8, 16},
    Instruction{"8832", 8, 8, 32},     Instruction{"88128", 8, 8, 128},   Instruction{"161616", 16, 16, 16},
    Instruction{"32816", 32, 8, 16},   Instruction{"83216", 8, 32, 16}};

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::string_view one = name.substr(0, name.find('_'));
    parts.push_back(one);
    if (one.size() == name.size()) return parts;
    name.remove_prefix(one.size() + 1);
  }
}

/// The name itself within "void cutlass::Kernel2<...>(...)"; empty where there is none.
std::string_view name_in(std::string_view text) {
  for (const std::string_view begin : {"cutlass_", "cutlass3x_"})
    if (const std::size_t at = text.find(begin); at != std::string_view::npos) {
      std::size_t end = at;
      const auto is_name = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
      while (end < text.size() && (is_name(text[end]) || is_digit(text[end]) || text[end] == '_')) ++end;
      return text.substr(at, end - at);
    }
  return {};
}

/// Reads the parts of one name from left to right.
class Reader {
 public:
  explicit Reader(std::string_view name) : parts_(parts_of(name)) { out_.name = std::string(name); }
  Named read();

 private:
  std::string_view here() const { return at_ < parts_.size() ? parts_[at_] : std::string_view(); }
  Named refuse(std::string why) const {
    return Named::fail("The kernel name \"" + printable(out_.name, max_quoted) + "\" " + std::move(why));
  }
  std::string unread(std::string_view expected) const {
    if (here().empty())
      return "ends where " + std::string(expected) + " should stand, as in " + std::string(example) + ".";
    return "has \"" + printable(here(), 20) + "\" where " + std::string(expected) + " should stand, as in " +
           std::string(example) + ".";
  }
  std::string read_class();
  std::string read_core();
  std::string read_old();
  std::string read_new();
  void take_rest();
  void take_warp_tile();
  std::string fault() const;

  std::vector<std::string_view> parts_;
  std::size_t at_ = 0;
  bool new_ = false;  ///< CUTLASS 3.x
  bool simt_ = false, pair_ = false, cooperative_ = false;
  CutlassKernel out_;
};

/// "80", "sm90", "wmma", and the class of operations.
std::string Reader::read_class() {
  new_ = here() == "cutlass3x";
  ++at_;
  std::string_view arch = here();
  if (arch.starts_with("sm")) arch.remove_prefix(2);
  if (const auto n = number_of(arch); n && *n >= 50 && *n < 200) {
    out_.capability = static_cast<int>(*n);
    ++at_;
  }
  if (here() == "wmma") ++at_;
  if (here() == "sptensorop" || here() == "bstensorop" || here() == "spbstensorop")
    return here() == "bstensorop" ? "has block-scaled operands, whose scales this lab does not count: give a dense one."
                                  : "is of sparse operands, which this lab does not count: give a dense one.";
  simt_ = here() == "simt";
  if (!simt_ && here() != "tensorop") return unread("\"tensorop\" or \"simt\"");
  ++at_;
  return {};
}

/// "s16816gemm", "h1688gemm", "sgemm", "s64x128x16gemm", "gemm".
std::string Reader::read_core() {
  const std::string_view core = here();
  const std::size_t end = core.find("gemm");
  if (end == std::string_view::npos) return unread("an operation such as \"s16816gemm\"");
  std::string_view head = core.substr(0, end);
  const char letter = head.empty() ? 's' : head.front();
  if (letter == 'c' || letter == 'z' || letter == 'g')
    return "is of complex numbers, which this lab does not count: give one of real numbers.";
  if (!head.empty() && head.front() >= 'a' && head.front() <= 'z') head.remove_prefix(1);
  std::size_t digits = 0;
  while (digits < head.size() && (is_digit(head[digits]) || head[digits] == 'x')) ++digits;
  std::string_view shape = head.substr(0, digits);
  if (const Sizes s = sizes_of(shape); s.count == 3) {
    out_.instruction_m = s.of[0];
    out_.instruction_n = s.of[1];
    out_.instruction_k = s.of[2];
  } else if (!shape.empty()) {
    const auto* const known =
        std::find_if(instructions.begin(), instructions.end(), [&](const Instruction& i) { return i.digits == shape; });
    if (known == instructions.end())
      return "names an instruction \"" + printable(shape, 20) + "\" that is not known here: 16816 is 16 × 8 × 16.";
    out_.instruction_m = known->m;
    out_.instruction_n = known->n;
    out_.instruction_k = known->k;
  }
  const double sums = letter == 'h' ? 2 : letter == 'd' ? 8 : 4;
  out_.output_bytes = sums;
  // Whole names say the type of A where it is not that of the sums; tf32, bf16 within the operation are what FP32
  // operands are rounded to on their way into the Tensor Core.
  out_.element_bytes = letter == 'i' ? 1 : sums;
  ++at_;
  return {};
}

/// "[f16_]s16816gemm[_relu][_f16]_256x128_32x3_nn_align8"
std::string Reader::read_old() {
  const auto written = bytes_of(here());
  if (written) ++at_;
  if (std::string why = read_core(); !why.empty()) return why;
  if (written) out_.output_bytes = *written;
  for (; at_ < parts_.size() && sizes_of(here()).count == 0; ++at_) {
    if (const auto bytes = bytes_of(here())) {
      out_.element_bytes = *bytes;
    } else if (here() == "relu" || here() == "gelu" || here() == "silu" || here() == "sigmoid") {
      out_.activation = true;
    } else if (here() != "grouped" && here() != "universal" && here() != "splitk") {
      return unread("a tile such as \"128x256\"");
    }
  }
  const Sizes block = sizes_of(here());
  if (block.count != 2) return unread("a tile such as \"128x256\"");
  ++at_;
  const Sizes depth = sizes_of(here());
  if (depth.count != 2) return unread("depth and stages such as \"32x3\"");
  ++at_;
  out_.tile.block_m = block.of[0];
  out_.tile.block_n = block.of[1];
  out_.tile.block_k = depth.of[0];
  out_.tile.stages = depth.of[1];
  return {};
}

/// "s64x128x16gemm_f16_f16_f32_void_f16_128x128x64_2x1x1_0_tnn_align8_..."
std::string Reader::read_new() {
  if (std::string why = read_core(); !why.empty()) return why;
  for (int operand = 0; operand < 5; ++operand, ++at_) {
    const auto bytes = here() == "void" && operand == 3 ? std::optional(0.0) : bytes_of(here());
    if (!bytes) {
      if (here().find("xe") != std::string_view::npos || here().find("xf") != std::string_view::npos)
        return "has block-scaled operands, whose scales this lab does not count: give a dense one.";
      return unread("the type of A, B, sums, C and D, such as \"f16\"");
    }
    if (operand < 2) out_.element_bytes = operand == 0 ? *bytes : std::max(*bytes, out_.element_bytes);
    if (operand == 4) out_.output_bytes = *bytes;
  }
  const Sizes block = sizes_of(here());
  if (block.count != 3) return unread("a tile such as \"128x128x64\"");
  ++at_;
  if (const Sizes cluster = sizes_of(here()); cluster.count == 3) {
    out_.tile.cluster_m = std::max<std::int64_t>(1, cluster.of[0]);  // 0: chosen when it is launched
    out_.tile.cluster_n = std::max<std::int64_t>(1, cluster.of[1]);
    ++at_;
  }
  const auto stages = number_of(here());
  if (!stages) return unread("the number of stages, 0 for as many as fit,");
  ++at_;
  out_.automatic_stages = *stages == 0;
  out_.tile.block_m = block.of[0];
  out_.tile.block_n = block.of[1];
  out_.tile.block_k = block.of[2];
  out_.tile.stages = std::max<std::int64_t>(1, *stages);
  return {};
}

/// Layout, alignment and schedule: what of them counts here.
void Reader::take_rest() {
  for (; at_ < parts_.size(); ++at_) {
    const std::string_view part = here();
    if (part == "k" && at_ > 0 && parts_[at_ - 1] == "stream") out_.stream_k = true;
    if (part == "streamk") out_.stream_k = true;
    if (part == "2sm") pair_ = true;
    if (part == "cooperative") cooperative_ = true;
  }
}

/// Warps as CUTLASS's library lays them (python/cutlass_library/generator.py): 64 x 64 where the block is 256 long,
/// else two by two; eight of 32 x 64 for FP32 lanes; for groups of four warps all columns, rows halved by two groups.
void Reader::take_warp_tile() {
  GemmTile& t = out_.tile;
  t.unit = simt_                                                    ? GemmUnit::fma
           : new_ && out_.capability >= 90 && out_.capability < 120 ? GemmUnit::wgmma
                                                                    : GemmUnit::mma;
  constexpr std::int64_t side = 64;
  if (t.unit == GemmUnit::wgmma) {
    t.warp_m = cooperative_ && t.block_m >= 2 * side ? t.block_m / 2 : t.block_m;
    if (out_.capability < 100) t.warp_m = std::min(t.warp_m, side);
    t.warp_n = t.block_n;
  } else if (t.block_m >= 256 || t.block_n >= 256) {
    t.warp_m = std::min(side, t.block_m);
    t.warp_n = std::min(side, t.block_n);
  } else {
    t.warp_m = std::max<std::int64_t>(1, t.block_m / (simt_ && t.block_m >= 128 && t.block_n >= 128 ? 4 : 2));
    t.warp_n = std::max<std::int64_t>(1, t.block_n / 2);
  }
}

std::string Reader::fault() const {
  const GemmTile& t = out_.tile;
  if (pair_)
    return "makes a tile with two SMs, each of which reads half of B, and that is not counted here: give one with "
           "\"1sm\".";
  for (const std::int64_t edge : {t.block_m, t.block_n, t.block_k})
    if (edge < 8 || edge > 1024)
      return "has a tile edge of " + std::to_string(edge) + ", but edges are from 8 to 1,024.";
  if (t.stages > 64 || t.cluster_m > 16 || t.cluster_n > 16)
    return "has more than 64 stages or 16 blocks of a cluster in a row: check its numbers.";
  return {};
}

Named Reader::read() {
  std::string why = read_class();
  if (why.empty()) why = new_ ? read_new() : read_old();
  if (why.empty()) {
    take_rest();
    take_warp_tile();
    why = fault();
  }
  if (!why.empty()) return refuse(std::move(why));
  return Named::ok(std::move(out_));
}

}  // namespace

Result<CutlassKernel> parse_cutlass_name(std::string_view text) {
  const std::string_view name = name_in(text.substr(0, 4096));
  if (name.empty())
    return Named::fail("\"" + printable(text, max_quoted) + "\" is no name of a CUTLASS kernel: give one such as " +
                       std::string(example) + ".");
  if (name.size() > longest_name)
    return Named::fail("A kernel name of " + std::to_string(name.size()) +
                       " letters is longer than any of CUTLASS: give at most 400.");
  return Reader(name).read();
}

}  // namespace models::gpu
