#include "kernels/cuda/operation.h"

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/cuda/cuda.h"

namespace kernels::cuda {

Ladder array_ladder(std::string_view id, std::string_view title, std::span<const Rung> rungs, Cost cost) {
  return {id, title, Device::cuda, Measure::bytes_per_s, "Array", "B", 1 << 20, 1 << 28, 1 << 30, rungs, cost};
}

Ladder matrix_ladder(std::string_view id, std::string_view title, Measure measure, MatrixSizes sizes,
                     std::span<const Rung> rungs, Cost cost) {
  return {id, title, Device::cuda, measure, "Size N", "", sizes.lo, sizes.usual, sizes.hi, rungs, cost};
}

std::span<const Operation> operations() {
  static const std::array all{copy_operation(),      transpose_operation(), reduction_operation(),
                              histogram_operation(), softmax_operation(),   layernorm_gelu_operation(),
                              gemv_operation(),      decode_operation(),    fp8_quantize_operation(),
                              sgemm_operation(),     bf16_gemm_operation(), attention_operation(),
                              stride_operation(),    banks_operation(),     ilp_operation(),
                              l2_operation(),        launch_operation(),    host_copy_operation()};
  return all;
}

const Operation* find_operation(std::string_view ladder) {
  const auto all = operations();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Operation& o) { return o.ladder->id == ladder; });
  return at == all.end() ? nullptr : &*at;
}

std::span<const Ladder> ladders() {
  static const std::vector<Ladder> all = [] {
    std::vector<Ladder> list;
    for (const Operation& o : operations()) list.push_back(*o.ladder);
    return list;
  }();
  return all;
}

Argument input(int which, std::int64_t byte_offset) {
  return {.kind = Argument::Kind::input, .input = which, .offset = byte_offset};
}
Argument output(std::int64_t byte_offset) { return {.kind = Argument::Kind::output, .offset = byte_offset}; }
Argument scratch(std::int64_t byte_offset) { return {.kind = Argument::Kind::scratch, .offset = byte_offset}; }
Argument whole(std::int64_t value) {
  return {.kind = Argument::Kind::whole, .whole = static_cast<std::uint32_t>(value)};
}
Argument real(float value) { return {.kind = Argument::Kind::real, .real = value}; }

std::uint32_t input_seed(std::uint32_t seed, int input) {
  return (seed + 1) * 0x85ebca6bu + static_cast<std::uint32_t>(input) * 0xc2b2ae35u;
}

}  // namespace kernels::cuda
