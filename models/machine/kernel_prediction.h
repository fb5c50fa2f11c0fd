#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

/// What one version of a kernel can reach at most, from what its inner loop asks of the ports and wires of the machine:
/// the bound that runs out first. A prediction to hold a measurement against, not a simulation. Shares are of the roof
/// that the kernel is compared with.
namespace models {

/// What starves the kernel.
enum class KernelLimit : unsigned char {
  arithmetic,
  latency,
  loads,
  stores,
  memory,
  sectors,
  shared_memory,
  issue,
  threads
};
std::string_view limit_label(KernelLimit limit);

struct KernelBound {
  double share = 1;  ///< The share of the roof that is reached, above 0, at most 1.
  KernelLimit limit = KernelLimit::arithmetic;
};

/// What running at the roof would ask of one port, unit or wire, and what it gives, both in `unit`.
struct PortLoad {
  std::string_view port, unit;
  double demand = 0, supply = 0;
};
/// All that the inner loop asks for, in fixed room.
struct PortLoads {
  std::array<PortLoad, 5> room;
  std::size_t count = 0;
  std::span<const PortLoad> all() const { return {room.data(), count}; }
};

/// A core as its ports see it. Defaults: two FMA ports of four cycles, two loads and one store a cycle (Haswell to Zen
/// 4; later cores store two), eight floats a vector. Source: Fog, Instruction tables; uops.info.
struct CorePorts {
  double lanes = 8;  ///< floats in a vector of the roof
  double fma_per_cycle = 2, fma_latency_cycles = 4;
  double loads_per_cycle = 2, stores_per_cycle = 1;
  double forward_cycles = 4;  ///< from a store to a load of the same place
  double clock_hz = 4e9;
  double dram_bytes_per_s = 40e9;    ///< What one thread gets.
  double dram_latency_s = 100e-9;    ///< The time of one load that misses every cache.
  double page_walk_s = 35e-9;        ///< and the table of pages in 4 KiB pages: what 2 MiB pages save
  double threads = 8;                ///< hardware threads of the machine
  double thread_bytes_per_s = 40e9;  ///< what one thread gets where `dram_bytes_per_s` is what all get together
};

/// The inner loop of a matrix product, per vector multiply-add. `chains`: sums that do not wait for each other.
struct FmaLoop {
  double lanes = 8, chains = 8, loads = 0, stores = 0;
  bool through_memory = false;  ///< each sum is stored and loaded again: the chain waits for store and load as well
};
/// min(chains / (latency x ports), loads, stores) x lanes / lanes of the roof.
KernelBound fma_bound(const CorePorts& core, const FmaLoop& loop);
/// The same loop port by port. The lanes multiply the tightest of the others.
PortLoads fma_ports(const CorePorts& core, const FmaLoop& loop);

/// A loop over memory: `moved` bytes cross the wire for each useful one (write-allocate, several passes, partly used
/// lines) and `cycles_per_byte` of instructions are spent on a useful byte.
struct StreamLoop {
  double moved = 1, cycles_per_byte = 0;
};
KernelBound stream_bound(const CorePorts& core, const StreamLoop& loop);
PortLoads stream_ports(const CorePorts& core, const StreamLoop& loop);

/// Loads that wait for each other: `chains` at a time, each bringing a line of 64 bytes after `waits` x latency +
/// `walks` x page walk + `cycles` of a cache that has it.
struct ChaseLoop {
  double chains = 1, waits = 1, walks = 0, cycles = 0;
};
/// Lines over waiting time, by Little's law, as a share of the bandwidth.
KernelBound chase_bound(const CorePorts& core, const ChaseLoop& loop);
PortLoads chase_ports(const CorePorts& core, const ChaseLoop& loop);

/// A kernel on `threads` of the machine's threads, each with `each` of the roof that all of them make together.
KernelBound thread_bound(double threads, double each);
PortLoads thread_ports(double threads, double each);

/// A GPU as its multiprocessors see it. `fma_lanes` x 2 x clock x multiprocessors is its FP32 peak.
struct GpuPorts {
  double multiprocessors = 132, clock_hz = 1.755e9, fma_lanes = 128;
  double dram_bytes_per_s = 3.35e12, l2_bytes_per_s = 5.5e12;
  double loaded_latency_s = 560e-9;      ///< A miss while memory is busy: about 1.5 times the idle one.
  double shared_bytes_per_cycle = 128;   ///< What one multiprocessor has: 32 banks of 4 bytes.
  double threads = 2048;                 ///< that a multiprocessor holds
  double tensor_flops_per_cycle = 4096;  ///< dense bf16, of one multiprocessor; 0: it has no such tensor cores
  double l2_bytes = 50 * 1048576.0;      ///< what L2 holds
  /// Seconds of a kernel in a graph of a thousand and of the call that launches one: our own run on an H100 in a
  /// virtual machine, 22 November 2026 (assets/measured/h100-launches.json, h100-memory.json).
  double node_s = 1.69e-6, call_s = 4.19e-6;
};

/// Matrix product: shared-memory (or L1) wavefronts for each multiply-add of a warp. A multiprocessor serves one a
/// cycle while it could start lanes/32 multiply-adds.
KernelBound warp_fma_bound(const GpuPorts& gpu, double wavefronts_per_fma);
PortLoads warp_fma_ports(const GpuPorts& gpu, double wavefronts_per_fma);

/// The same on the tensor cores: wavefronts for each 16 x 8 x 16 product of a warp, 4,096 operations.
KernelBound warp_mma_bound(const GpuPorts& gpu, double wavefronts_per_product);
PortLoads warp_mma_ports(const GpuPorts& gpu, double wavefronts_per_product);

/// Kernel that moves `useful` bytes a warp by `sectors` sectors of 32 bytes at the L2 and `wavefronts` of shared
/// memory, with `bytes_per_thread` in flight while a thread waits for memory, and `tree_cycles` of other waiting in a
/// block's life.
struct WarpStream {
  double useful_bytes = 256, sectors = 8, wavefronts = 0, bytes_per_thread = 4, tree_cycles = 0;
};
/// The least of: DRAM (1), sectors at the L2, shared memory, and Little's law (bytes in flight over the latency).
KernelBound warp_stream_bound(const GpuPorts& gpu, const WarpStream& loop);
/// The same of one multiprocessor.
PortLoads warp_stream_ports(const GpuPorts& gpu, const WarpStream& loop);

}  // namespace models
