#include "kernels/opengl/operation.h"

#include <algorithm>
#include <array>

#include "kernels/opengl/opengl.h"

namespace kernels::opengl {

Ladder array_ladder(std::string_view id, std::string_view title, std::span<const Rung> rungs, Cost cost) {
  return {id, title, Device::opengl, Measure::bytes_per_s, "Array", "B", 1 << 20, 1 << 26, 1 << 27, rungs, cost};
}

Launch line_of_groups(std::int64_t count, std::int64_t n) {
  constexpr std::int64_t widest = 32768;
  const std::int64_t groups = (count + 255) / 256, rows = (groups + widest - 1) / widest;
  return {
      .groups_x = static_cast<unsigned>((groups + rows - 1) / rows),
      .groups_y = static_cast<unsigned>(rows),
      .n = static_cast<unsigned>(n),
  };
}

std::span<const Operation> operations() {
  static const std::array all{copy_operation(),      gather_operation(), reduction_operation(),
                              transpose_operation(), sgemm_operation(),  fma_operation()};
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

}  // namespace kernels::opengl
