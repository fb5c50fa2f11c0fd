#pragma once
#include "models/memory/frozen_layers.h"
#include "models/parallel/planner/planner_job.h"

/// What the low-rank pair beside a matrix sends over the GPUs that share it.
namespace models::parallel {

/// The pair A, inputs x rank, and B, rank x outputs, beside a matrix that `ranks` neighbouring GPUs cut.
struct SharedPair {
  memory::MatrixCut cut = memory::MatrixCut::columns;
  std::int64_t ranks = 1;
  bool sequence_parallel = false;
  bool experts = false;  ///< the matrix of an expert, whose tokens and results the exchange of experts moves
  double rows = 0, inputs = 0, outputs = 0, rank = 0;  ///< whole widths; rows: tokens that all these GPUs work on
  double element_bytes = 2;
};

/// Seconds that a pair adds to the passes of its layer; nothing runs beside them.
struct PairTraffic {
  double forward_s = 0, backward_s = 0;
};

/// Every rank has a part of A and of B, so that no gradient of theirs is summed over these GPUs. Of a matrix cut by
/// columns A is cut by its columns and B by its own: the middle, rows x rank, is gathered, and backward its gradient
/// summed; without sequence parallelism the gradient of the input, rows x inputs, is summed too (with it that joins the
/// layer's own scatter). Of one cut by rows A is cut by its rows and B by columns: the middle is summed in either pass,
/// and the result, rows x outputs, gathered; with sequence parallelism every rank takes its tokens of it, and backward
/// their gradient is gathered. Of an expert's results each rank's part goes into the sum that the exchange makes. A
/// matrix that every GPU has whole needs nothing.
///
/// `before`: pairs that read the same input send as one (a single pair stands beside queries, keys and values, and
/// beside gate and up), and the middle of those before this one had so many bytes; its calls are then longer, not more.
/// Source: ParallelLinearAdapter of Megatron Bridge (megatron/bridge/peft/utils.py) and of NeMo, on which it rests;
/// gathers are rings, sums planner_sum_s.
PairTraffic pair_traffic(const PlannerCluster& cluster, const SharedPair& pair, double before = 0);

/// Bytes of a pair's middle, rows x rank.
double middle_bytes(const SharedPair& pair);

}  // namespace models::parallel
