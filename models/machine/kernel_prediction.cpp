#include "models/machine/kernel_prediction.h"

#include <algorithm>
#include <array>

namespace models {
namespace {

constexpr double mma_flops = 2.0 * 16 * 8 * 16;

/// Keeps the smaller bound; on a tie the one that came first.
void limit_by(KernelBound& bound, double share, KernelLimit limit) {
  if (share < bound.share) bound = {share, limit};
}

KernelBound sane(KernelBound bound) {
  bound.share = std::clamp(bound.share, 1e-6, 1.0);
  return bound;
}

void ask(PortLoads& loads, std::string_view port, std::string_view unit, double demand, double supply) {
  loads.room[loads.count++] = {port, unit, demand, supply};
}

double chase_wait_s(const CorePorts& core, const ChaseLoop& loop) {
  return loop.waits * core.dram_latency_s + loop.walks * core.page_walk_s + loop.cycles / core.clock_hz;
}

}  // namespace

std::string_view limit_label(KernelLimit limit) {
  static constexpr std::string_view labels[] = {"arithmetic",
                                                "latency",
                                                "load ports",
                                                "store ports",
                                                "memory bandwidth",
                                                "sectors at the L2",
                                                "the pipe of L1 and shared memory",
                                                "instructions",
                                                "its threads"};
  static_assert(std::size(labels) == static_cast<std::size_t>(KernelLimit::threads) + 1);
  return labels[static_cast<std::size_t>(limit)];
}

KernelBound fma_bound(const CorePorts& core, const FmaLoop& loop) {
  KernelBound bound{1, KernelLimit::arithmetic};
  const double latency = core.fma_latency_cycles + (loop.through_memory ? core.forward_cycles : 0);
  limit_by(bound, loop.chains / (latency * core.fma_per_cycle), KernelLimit::latency);
  if (loop.loads > 0) limit_by(bound, core.loads_per_cycle / loop.loads / core.fma_per_cycle, KernelLimit::loads);
  if (loop.stores > 0) limit_by(bound, core.stores_per_cycle / loop.stores / core.fma_per_cycle, KernelLimit::stores);
  bound.share *= std::min(1.0, loop.lanes / core.lanes);
  return sane(bound);
}

KernelBound stream_bound(const CorePorts& core, const StreamLoop& loop) {
  KernelBound bound{1, KernelLimit::memory};
  limit_by(bound, 1 / std::max(loop.moved, 1e-9), KernelLimit::memory);
  if (loop.cycles_per_byte > 0)
    limit_by(bound, core.clock_hz / loop.cycles_per_byte / core.dram_bytes_per_s, KernelLimit::issue);
  return sane(bound);
}

KernelBound chase_bound(const CorePorts& core, const ChaseLoop& loop) {
  KernelBound bound{1, KernelLimit::memory};
  const double wait_s = chase_wait_s(core, loop);
  if (wait_s > 0) limit_by(bound, loop.chains * 64 / wait_s / core.dram_bytes_per_s, KernelLimit::latency);
  return sane(bound);
}

KernelBound thread_bound(double threads, double each) {
  KernelBound bound{1, KernelLimit::memory};
  limit_by(bound, threads * each, KernelLimit::threads);
  return sane(bound);
}

KernelBound warp_fma_bound(const GpuPorts& gpu, double wavefronts_per_fma) {
  KernelBound bound{1, KernelLimit::arithmetic};
  if (wavefronts_per_fma > 0) limit_by(bound, 32 / gpu.fma_lanes / wavefronts_per_fma, KernelLimit::shared_memory);
  return sane(bound);
}

KernelBound warp_mma_bound(const GpuPorts& gpu, double wavefronts_per_product) {
  KernelBound bound{1, KernelLimit::arithmetic};
  if (wavefronts_per_product > 0)
    limit_by(bound, mma_flops / gpu.tensor_flops_per_cycle / wavefronts_per_product, KernelLimit::shared_memory);
  return sane(bound);
}

KernelBound warp_stream_bound(const GpuPorts& gpu, const WarpStream& loop) {
  KernelBound bound{1, KernelLimit::memory};
  limit_by(bound, loop.useful_bytes / (32 * loop.sectors) * gpu.l2_bytes_per_s / gpu.dram_bytes_per_s,
           KernelLimit::sectors);
  if (loop.wavefronts > 0)
    limit_by(bound, loop.useful_bytes / loop.wavefronts * gpu.multiprocessors * gpu.clock_hz / gpu.dram_bytes_per_s,
             KernelLimit::shared_memory);
  // Little's law: what is in flight leaves once per waiting time.
  const double waiting_s = gpu.loaded_latency_s + loop.tree_cycles / gpu.clock_hz;
  limit_by(bound, gpu.threads * loop.bytes_per_thread * gpu.multiprocessors / waiting_s / gpu.dram_bytes_per_s,
           KernelLimit::latency);
  return sane(bound);
}

PortLoads fma_ports(const CorePorts& core, const FmaLoop& loop) {
  PortLoads out;
  const double fma = core.fma_per_cycle,
               latency = core.fma_latency_cycles + (loop.through_memory ? core.forward_cycles : 0);
  ask(out, "multiply-add ports", "/cycle", fma, fma);
  ask(out, "vector lanes", "lanes", core.lanes, loop.lanes);
  ask(out, "sums under way", "", latency * fma, loop.chains);
  if (loop.loads > 0) ask(out, "load ports", "/cycle", loop.loads * fma, core.loads_per_cycle);
  if (loop.stores > 0) ask(out, "store ports", "/cycle", loop.stores * fma, core.stores_per_cycle);
  return out;
}

PortLoads stream_ports(const CorePorts& core, const StreamLoop& loop) {
  PortLoads out;
  ask(out, "memory", "B/s", loop.moved * core.dram_bytes_per_s, core.dram_bytes_per_s);
  if (loop.cycles_per_byte > 0)
    ask(out, "instructions", "Gcycles/s", loop.cycles_per_byte * core.dram_bytes_per_s / 1e9, core.clock_hz / 1e9);
  return out;
}

PortLoads chase_ports(const CorePorts& core, const ChaseLoop& loop) {
  PortLoads out;
  ask(out, "memory", "B/s", core.dram_bytes_per_s, core.dram_bytes_per_s);
  const double wait_s = chase_wait_s(core, loop);
  if (wait_s > 0) ask(out, "loads under way", "", core.dram_bytes_per_s * wait_s / 64, loop.chains);
  return out;
}

PortLoads thread_ports(double threads, double each) {
  PortLoads out;
  ask(out, "all threads together", "", 1, 1);
  ask(out, "threads", "", 1 / std::max(each, 1e-6), threads);
  return out;
}

PortLoads warp_fma_ports(const GpuPorts& gpu, double wavefronts_per_fma) {
  PortLoads out;
  const double warps = gpu.fma_lanes / 32;
  ask(out, "multiply-add lanes", "warps/cycle", warps, warps);
  if (wavefronts_per_fma > 0) ask(out, "L1 and shared memory", "wavefronts/cycle", warps * wavefronts_per_fma, 1);
  return out;
}

PortLoads warp_mma_ports(const GpuPorts& gpu, double wavefronts_per_product) {
  PortLoads out;
  const double products = gpu.tensor_flops_per_cycle / mma_flops;
  ask(out, "Tensor Cores", "products/cycle", products, products);
  ask(out, "L1 and shared memory", "wavefronts/cycle", products * wavefronts_per_product, 1);
  return out;
}

PortLoads warp_stream_ports(const GpuPorts& gpu, const WarpStream& loop) {
  PortLoads out;
  const double dram = gpu.dram_bytes_per_s, waiting_s = gpu.loaded_latency_s + loop.tree_cycles / gpu.clock_hz;
  ask(out, "memory", "B/s", dram, dram);
  ask(out, "sectors at the L2", "B/s", 32 * loop.sectors / loop.useful_bytes * dram, gpu.l2_bytes_per_s);
  if (loop.wavefronts > 0)
    ask(out, "L1 and shared memory", "wavefronts/cycle",
        loop.wavefronts / loop.useful_bytes * dram / gpu.multiprocessors / gpu.clock_hz, 1);
  ask(out, "bytes under way", "B", dram * waiting_s / gpu.multiprocessors, gpu.threads * loop.bytes_per_thread);
  return out;
}

}  // namespace models
