#include "models/debugging/failure_causes.h"

#include <array>

namespace models::debugging {

std::span<const FailureCause> llama3_causes() {
  static constexpr std::array<FailureCause, 18> causes{{{"Faulty GPU", true, 148},
                                                        {"GPU memory (HBM3)", true, 72},
                                                        {"Software bug", false, 54},
                                                        {"Network switch or cable", false, 35},
                                                        {"Host maintenance", false, 32},
                                                        {"GPU SRAM", true, 19},
                                                        {"GPU system processor", true, 17},
                                                        {"Network card", false, 7},
                                                        {"NCCL watchdog timeout", false, 7},
                                                        {"Silent data corruption", true, 6},
                                                        {"GPU heat or its sensor", true, 6},
                                                        {"SSD", false, 3},
                                                        {"Power supply", false, 3},
                                                        {"Server chassis", false, 2},
                                                        {"I/O board", false, 2},
                                                        {"Dependency", false, 2},
                                                        {"CPU", false, 2},
                                                        {"System memory", false, 2}}};
  return causes;
}

std::int64_t count_all(std::span<const FailureCause> causes) {
  std::int64_t sum = 0;
  for (const FailureCause& cause : causes) sum += cause.count;
  return sum;
}

std::int64_t count_gpu(std::span<const FailureCause> causes) {
  std::int64_t sum = 0;
  for (const FailureCause& cause : causes) sum += cause.gpu ? cause.count : 0;
  return sum;
}

}  // namespace models::debugging
