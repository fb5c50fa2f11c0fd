#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/trace/trace.h"

/// A recording of a pipeline's operations, one span an operation, as ByteDance's StragglerAnalysis publishes them: each
/// worker is one stage of one data-parallel replica, and a communication's span is its transfer alone, from when the
/// last participant has come.
namespace models::trace {

enum class PipelineOp : std::uint8_t {
  forward,
  backward,
  forward_send,
  forward_recv,
  backward_send,
  backward_recv,
  params_gather,
  grads_scatter,
  layernorm_grads,
  embedding_grads,
  clip,
  optimizer,
  garbage_collection
};
inline constexpr std::size_t pipeline_op_count = 13;

/// The name that the recording gives it, such as "forward-compute".
std::string_view pipeline_op_name(PipelineOp op);
/// Work of one worker alone. The others are communication, whose usual time is a median and not a mean.
bool computes(PipelineOp op);

/// An operation that every replica repeats in every step.
struct PipelineNode {
  PipelineOp op{};
  int stage = 0;
  int sequence = 0;  ///< which of its kind in the step, from 0
  bool operator==(const PipelineNode&) const = default;
};

/// What a pipeline's steps consist of and how long each operation took. A lane is one step of one replica.
struct PipelineJob {
  int stages = 0, replicas = 0, micro_batches = 0;
  std::vector<int> steps;           ///< their numbers in the recording
  std::vector<PipelineNode> nodes;  ///< by stage, kind and sequence
  std::vector<double> duration_s;   ///< nodes x lanes; lane = step x replicas + replica
  std::vector<std::vector<int>>
      compute_order;          ///< by stage: nodes of forward and backward, in the order in which they ran
  std::int64_t left_out = 0;  ///< steps that miss an operation

  std::size_t lanes() const { return steps.size() * static_cast<std::size_t>(replicas); }
  /// Index into `nodes`; -1: there is none.
  int find(PipelineOp op, int stage, int sequence) const;
};

/// Does the recording hold such operations?
bool holds_pipeline(const Trace& trace);

/// Reads them. Fails in a sentence when replicas or steps differ so much that no step is whole on all of them.
Result<PipelineJob> pipeline_job_of(const Trace& trace);

}  // namespace models::trace
