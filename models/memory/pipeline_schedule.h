#pragma once
#include <cstddef>
#include <cstdint>

namespace models {

/// The order in which the stages of a pipeline do forward and backward passes; models/parallel/pipeline has their
/// rules.
enum class PipelineSchedule : std::uint8_t {
  gpipe,
  one_f_one_b,
  interleaved,
  zb_h1,
  zb_h2,
  zb_v,
  dualpipe,
  dualpipe_v,
  pipedream,
  pipedream_2bw,
  interleaved_zb,
  breadth_first,
  v_half,
  v_min
};
inline constexpr std::size_t pipeline_schedule_count = 14;

}  // namespace models
