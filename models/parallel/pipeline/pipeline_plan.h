#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/memory/pipeline_schedule.h"

/// How one step of training is spread over many devices.
namespace models::parallel {

using models::pipeline_schedule_count;
using models::PipelineSchedule;

/// B computes both gradients; I only the one that the stage before waits for, W only the one that the optimizer needs.
/// A pair is a forward and a whole backward that overlap each other.
enum class PipeKind : std::uint8_t { forward, backward, input_gradient, weight_gradient, pair };

/// One operation of one rank on one micro-batch.
struct PipeOp {
  PipeKind kind = PipeKind::forward;
  std::uint16_t stage = 0, micro_batch = 0;            ///< where it is a pair, its forward's
  std::uint16_t back_stage = 0, back_micro_batch = 0;  ///< where it is a pair, its backward's; else 0
  bool operator==(const PipeOp&) const = default;
};

struct PipelineSpec {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::int64_t ranks = 4, micro_batches = 8;
  std::int64_t chunks = 2;  ///< stages that each rank holds in the schedules that loop: both interleaved, breadth-first
  /// Micro-batches that go through one chunk before the next chunk's turn in the interleaved schedules; 0: `ranks`, as
  /// Megatron-LM does.
  std::int64_t round = 0;
};

/// The order in which every rank works. Stages are numbered along the model; those of the second direction of DualPipe
/// follow, so that stage `ranks + k` lies on rank `ranks - 1 - k`.
struct PipelinePlan {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::int64_t ranks = 0;
  std::int64_t depth = 0;          ///< stages that a micro-batch passes
  std::int64_t stages = 0;         ///< stages of all directions together
  std::int64_t micro_batches = 0;  ///< micro-batches of each direction
  std::int64_t chunks = 1;         ///< parts that a rank's share of the model is cut into: 1 / chunks is a chunk's size
  std::vector<std::uint16_t> rank_of;       ///< the rank that each stage lies on
  std::vector<std::vector<PipeOp>> orders;  ///< what each rank does
};

/// Whether the plan of a spec can be made; a sentence says why not.
Status check(const PipelineSpec& spec);

/// The plan of a spec by the published rule of its schedule: GPipe (Huang 2019, backward in ascending order as
/// PyTorch), 1F1B and interleaved 1F1B (Narayanan 2021), ZB-H1 and ZB-H2 (Qi 2023), ZB-V (Qi 2024), DualPipe and
/// DualPipe-V (DeepSeek 2025), PipeDream (2019) and PipeDream-2BW (2021), whose order is that of 1F1B without a flush,
/// interleaved zero bubble (PyTorch), breadth-first (Lamy-Poirier 2023), V-Half and V-Min (Qi 2024).
/// Fails where `check` does.
Result<PipelinePlan> pipeline_plan(const PipelineSpec& spec);

/// `steps` optimizer steps with no barrier between them: each rank's order that many times, on new micro-batches. The
/// two PipeDream schedules never drain between steps, so theirs is the order of steps x micro-batches.
Result<PipelinePlan> steps_in_a_row(const PipelineSpec& spec, std::int64_t steps);
/// Whether a schedule's ranks go on with the next step's micro-batches before all have done those of the last.
bool never_drains(PipelineSchedule schedule);

/// One operation taken out of a rank's order and put in front of another of the same rank: where its weights lie, no
/// other rank can do it.
struct PipelineMove {
  std::int64_t rank = 0;
  PipeOp block;
  std::optional<PipeOp> before;  ///< nothing: to the end of the rank's order
};
/// The plan of `steps` steps in a row with these moves, one after the other, made in every step; in a schedule that
/// never drains, in the first. Fails where `steps_in_a_row` does, and with a sentence where a rank has no such
/// operation.
Result<PipelinePlan> edited_steps(const PipelineSpec& spec, std::int64_t steps, std::span<const PipelineMove> moves);

/// "F3", "B3", "I3", "W3" where there is one stage a rank, else "5F3" with the stage before it; "(5F3;2B1)" for a pair.
std::string label(const PipelinePlan& plan, const PipeOp& op);
/// All of a rank, with spaces between.
std::string order_text(const PipelinePlan& plan, std::size_t rank);
/// Reads what `label` writes; `rank` gives the stage where the label has none. Fails with a sentence.
Result<PipeOp> parse_op(std::string_view text, std::size_t rank);

std::string_view schedule_name(PipelineSchedule schedule);
/// Chunks that one rank of this schedule holds of its direction: their own of the schedules that loop, 2 of those laid
/// as a V, else 1.
std::int64_t chunks_of(const PipelineSpec& spec);
/// Times that a rank holds its share of the weights because two directions run through it.
std::int64_t copies_of(PipelineSchedule schedule);

}  // namespace models::parallel
