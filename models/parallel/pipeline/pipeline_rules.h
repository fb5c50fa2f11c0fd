#pragma once
#include <vector>

#include "models/parallel/pipeline/pipeline_plan.h"

/// The published rule of each schedule: what one rank of a plan does, in order. The plan's stages, chunks and
/// micro-batches are set; `rank` counts from 0.
namespace models::parallel {

std::vector<PipeOp> gpipe_order(const PipelinePlan& plan, std::int64_t rank);
std::vector<PipeOp> one_f_one_b_order(const PipelinePlan& plan, std::int64_t rank);
/// `round`: micro-batches that go through one chunk before the next chunk's turn.
std::vector<PipeOp> interleaved_order(const PipelinePlan& plan, std::int64_t rank, std::int64_t round);
std::vector<PipeOp> zb_h1_order(const PipelinePlan& plan, std::int64_t rank);
std::vector<PipeOp> zb_h2_order(const PipelinePlan& plan, std::int64_t rank);
std::vector<PipeOp> zb_v_order(const PipelinePlan& plan, std::int64_t rank);
/// The order of DualPipe and of DualPipe-V, whose eight steps are the same.
std::vector<PipeOp> dualpipe_order(const PipelinePlan& plan, std::int64_t rank);

}  // namespace models::parallel
