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
/// For each chunk all forwards, then for each, from the last on, all backwards, the newest first.
std::vector<PipeOp> breadth_first_order(const PipelinePlan& plan, std::int64_t rank);
/// Fewer forwards first than `interleaved_order`, and from the rank's own number of input gradients on a weight
/// gradient behind each.
std::vector<PipeOp> interleaved_zb_order(const PipelinePlan& plan, std::int64_t rank, std::int64_t round);
std::vector<PipeOp> zb_h1_order(const PipelinePlan& plan, std::int64_t rank);
std::vector<PipeOp> zb_h2_order(const PipelinePlan& plan, std::int64_t rank);
std::vector<PipeOp> zb_v_order(const PipelinePlan& plan, std::int64_t rank);
/// The order of DualPipe and of DualPipe-V, whose eight steps are the same.
std::vector<PipeOp> dualpipe_order(const PipelinePlan& plan, std::int64_t rank);
/// Fills the orders of V-Half or V-Min as their authors make them (Qi et al. 2024, and the scheduler that they
/// publish): each micro-batch repeats one building block, six slots after the one before it; weight gradients take the
/// free slots; then what can comes earlier at both ends of the step, as far as no rank keeps more than the fullest one
/// did. All in operations of equal length. O(ranks^2 x micro-batches) time.
void order_by_building_block(PipelinePlan& plan);

}  // namespace models::parallel
