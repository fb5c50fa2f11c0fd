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

/// Whether each rank holds two chunks, the i-th from the model's beginning and the i-th from its end.
constexpr bool laid_as_v(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::zb_v || schedule == PipelineSchedule::dualpipe_v ||
         schedule == PipelineSchedule::v_half || schedule == PipelineSchedule::v_min;
}
/// Whether a rank may hold any number of chunks that a micro-batch passes in rounds, in an order other than interleaved
/// 1F1B.
constexpr bool loops_over_chunks(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::interleaved_zb || schedule == PipelineSchedule::breadth_first;
}

}  // namespace models
