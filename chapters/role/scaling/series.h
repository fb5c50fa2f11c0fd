#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "models/training/scaling.h"

/// Published scaling tables: the same job on more and more GPUs.
namespace chapters::role::scaling {

enum class Series : std::uint8_t {
  internlm_shared,
  internlm_own,
  llama_405b,
  gpt_177b,
  decode_7b,
  maxtext_16b,
  points
};
inline constexpr std::size_t series_count = 7;

struct PublishedSeries {
  std::string_view name;
  models::BatchRule rule{};
  std::span<const models::MeasuredStep> steps;  ///< seconds of one step; of shared batches, of one size
};
/// Empty steps for `points`, which are the learner's own.
const PublishedSeries& published_series(Series series);

}  // namespace chapters::role::scaling
