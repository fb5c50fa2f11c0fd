#pragma once
#include <cstdint>
#include <span>
#include <string_view>

/// What ends large trainings, as published.
namespace models::debugging {

struct FailureCause {
  std::string_view name;
  bool gpu = false;  ///< the GPU itself, with its memory
  std::int64_t count = 0;
};

/// Unplanned interruptions of Llama 3 405B by cause, most frequent first: 419 in 54 days on 16,384 H100 (The Llama 3
/// Herd of Models, arXiv:2407.21783, table 5). The share that is printed next to the first, 30.1 %, is not 148 of 419.
std::span<const FailureCause> llama3_causes();
/// All of them together, and those of the GPU itself.
std::int64_t count_all(std::span<const FailureCause> causes);
std::int64_t count_gpu(std::span<const FailureCause> causes);

}  // namespace models::debugging
