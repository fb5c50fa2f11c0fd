#pragma once
#include <cstdint>
#include <string>

#include "models/base/result.h"
#include "models/gpu/fusion_chain.h"
#include "models/gpu/occupancy.h"

/// What one kernel costs that does a run of a chain's operations.
namespace models::gpu {

struct FusionMachine {
  const SmLimits* sm = nullptr;
  std::int64_t sms = 0;
  double bandwidth_bytes_per_s = 0, l2_bytes_per_s = 0, l2_bytes = 0;
  double matrix_flops_per_s = 0;
  double vector_per_s = 0;   ///< instructions of all lanes
  double latency_s = 0;      ///< The latency of main memory.
  double start_s = 0;        ///< between two kernels
  double host_s = 0;         ///< Time that the CPU takes for a launch.
  double break_s = 0;        ///< Time that the CPU takes for a graph break.
  std::int64_t cluster = 1;  ///< blocks that share the columns of a row, where a row must be whole
  bool l2_keeps = false;     ///< what the kernel before wrote is read from L2 where half of L2 holds it
  bool backward = false;     ///< what the backward pass reads is written, fused or not
};

/// What a kernel waits for; latency: it is over before its first bytes are followed by many.
enum class KernelBound : std::uint8_t { memory, l2, matrix, vector, latency };
inline constexpr int kernel_bound_count = 5;

struct FusedKernel {
  int first = 0, last = 0;  ///< operations, both included
  double read_bytes = 0, write_bytes = 0;
  double l2_bytes = 0;                 ///< that blocks load again, weights above all, and spilled registers
  double flops = 0, instructions = 0;  ///< Matrix units' work; vector units'. Work that is repeated counts again.
  std::int64_t trips = 0;              ///< tensors with rows that are read or written
  std::int64_t tile_rows = 0, tile_columns = 0, blocks = 0, threads = 256;
  std::int64_t registers = 0, spilled = 0;  ///< a thread; needed = registers + spilled
  std::int64_t shared_bytes = 0;
  SmOccupancy occupancy;
  double repeats = 1;       ///< how often the work before a product is done
  double weight_reads = 0;  ///< how often a weight is loaded from L2
  double memory_s = 0, l2_s = 0, matrix_s = 0, vector_s = 0;
  double time_s = 0;  ///< without its start
  KernelBound bound = KernelBound::memory;
  std::int64_t needed() const { return registers + spilled; }
  double bytes() const { return read_bytes + write_bytes; }
};

/// The run as one kernel, with the fastest of the tiles tried: 8 to 256 rows, 32 to 256 columns, 256 threads.
/// Assumptions, all of which the lab says on screen:
/// - Without a product a thread holds 8 values, or its part of a whole row, in FP32, and 14 registers and the
///   temporaries of its hungriest operation beside; a row that has no room is read twice.
/// - A product accumulates its tile in FP32, with 40 registers beside; what exceeds 255 a thread is spilled, stored
///   once and loaded twice through L2.
/// - A norm or a softmax behind a product needs the whole row of the tile in its block, or in a cluster of blocks.
/// - Element-wise work before a product is done again by each block of columns.
/// - Two products in one kernel: the block holds its rows of the last result and takes the columns between in pieces; a
///   softmax between is an online one (FlashAttention), a norm needs the row in shared memory.
/// - A kernel takes two latencies of main memory at least, one in and one out.
/// - Bytes, L2 and arithmetic overlap; matrix and vector units do where an SM holds two blocks.
/// - Pairs of blocks share the weights that they load from capability 9.0 on.
/// Infeasible: three products, or no tile that an SM takes with 512 accumulators a thread or fewer.
Result<FusedKernel> fuse_run(const FusionChain& chain, int first, int last, const FusionMachine& machine);

/// Bytes of main memory that the run reads and writes as one kernel, each tensor once.
struct RunTraffic {
  double read_bytes = 0, write_bytes = 0, l2_read_bytes = 0;
  std::int64_t trips = 0;
};
RunTraffic run_traffic(const FusionChain& chain, int first, int last, const FusionMachine& machine);
/// Does a kernel that begins with operation `first` read tensor `t` from L2: was it the last that was written, and does
/// half of L2 hold it?
bool read_from_l2(const FusionChain& chain, int t, int first, const FusionMachine& machine);

}  // namespace models::gpu
