#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "chapters/kernels/lab/rate.h"
#include "chapters/mechanism/catalog.h"

namespace chapters::kernels::lab {
namespace {

using ::kernels::Device;
using ::kernels::Ladder;

/// What a kernel of the ladder of launches reads and writes: its roof, a time, is a rate of these.
constexpr double launch_bytes = 8;

/// The first measured roof of the unit among the ids, in order of preference.
const RoofRow* first_roof(const Inputs& in, std::string_view device, std::span<const std::string_view> ids,
                          std::string_view unit) {
  for (const auto id : ids)
    if (const RoofRow* r = id.empty() ? nullptr : measured_roof(in, device, id); r && r->unit == unit) return r;
  return nullptr;
}

/// Chips of these makers run no CUDA, and accelerators that are no GPUs no OpenGL either; of a chip of the learner's
/// own nothing is known, and it is taken.
bool runs_none(const models::Chip& chip, Device device) {
  static constexpr std::array<std::string_view, 4> makers{"AWS", "Google", "Intel", "AMD"};
  const std::size_t count = makers.size() - (device == Device::opengl ? 1 : 0);
  const auto end = makers.begin() + static_cast<std::ptrdiff_t>(count);
  return std::find(makers.begin(), end, chip.vendor) != end;
}

/// What is assumed of the core, for a rung with this roof.
Ceilings assumed_core(const Inputs& in, std::string_view rung_roof) {
  Ceilings c;
  models::CorePorts& core = c.ports.core;
  core.clock_hz = in.clock_hz;
  core.dram_bytes_per_s = in.dram_bytes_per_s;
  core.lanes = in.simd == Simd::avx512 ? 16 : 8;
  if (rung_roof == "fma_avx2")
    core.lanes = 8;
  else if (rung_roof == "fma_avx512" || measured_roof(in, "cpu", "fma_avx512"))
    core.lanes = 16;
  c.machine = {in.clock_hz * core.lanes * core.fma_per_cycle * 2, in.dram_bytes_per_s, 0};
  c.arithmetic = "the assumed core";
  c.bandwidth = "the assumed memory";
  return c;
}

/// What the chosen chip states. Infeasible: a chip that is unknown, no GPU, or without a peak of the rung's format.
models::Result<Ceilings> stated_gpu(const Inputs& in, bool bf16) {
  using Stated = models::Result<Ceilings>;
  const auto found = find_chip(in.chip);
  if (!found) return Stated::fail(found.error);
  const models::Chip* chip = *found;
  if (chip->architecture.starts_with("CPU"))
    return Stated::fail(chip->name + " is a processor, and these kernels run on a GPU: choose one as the chip.");
  if (runs_none(*chip, in.device))
    return Stated::fail(chip->name + " is made by " + chip->vendor + " and runs no " +
                        (in.device == Device::opengl
                             ? "OpenGL, in which these kernels are written: choose a GPU"
                             : "CUDA, in which these kernels are written: choose an NVIDIA GPU") +
                        " as the chip.");
  const auto machine = models::machine_of(*chip, models::Format::fp32);
  if (!machine)
    return Stated::fail(chip->name +
                        " states no FP32 peak, which these kernels are held against: choose another chip.");
  const auto tensor = models::machine_of(*chip, models::Format::bf16);
  if (bf16 && !tensor)
    return Stated::fail(chip->name +
                        " states no BF16 peak, which these kernels are held against: choose another chip.");
  Ceilings c;
  c.machine = *machine;
  models::GpuPorts& gpu = c.ports.gpu;
  gpu.clock_hz = chip->boost_clock_hz.value_or(1.7e9);
  gpu.multiprocessors = chip->compute_units ? static_cast<double>(*chip->compute_units)
                                            : std::max(1.0, c.machine.peak_flops_per_s / (256 * gpu.clock_hz));
  // Data sheets state the peak at a clock of their own: the lanes are the nearest warp's worth.
  gpu.fma_lanes =
      32 * std::max(1.0, std::round(c.machine.peak_flops_per_s / (2 * gpu.clock_hz * gpu.multiprocessors) / 32));
  // So is what the tensor cores do in a cycle the nearest power of two.
  const double flops_per_cycle = tensor ? tensor->peak_flops_per_s / gpu.clock_hz / gpu.multiprocessors : 0;
  gpu.tensor_flops_per_cycle = tensor ? std::exp2(std::round(std::log2(flops_per_cycle))) : 0;
  if (bf16) c.machine = *tensor;
  gpu.dram_bytes_per_s = c.machine.bandwidth_bytes_per_s;
  gpu.l2_bytes_per_s = chip->measured.l2_bytes_per_s.value_or(1.65 * gpu.dram_bytes_per_s);
  gpu.loaded_latency_s = 1.5 * chip->measured.dram_latency_s.value_or(373e-9);
  gpu.l2_bytes = chip->l2_bytes.value_or(gpu.l2_bytes);
  c.link_bytes_per_s = 2 * models::pcie_bytes_per_s_per_direction(chip->pcie_generation.value_or(5)).value_or(64e9);
  c.arithmetic = c.bandwidth = chip->short_name.empty() ? chip->name : chip->short_name;
  // A CPU ladder's core is not this one, but its assumptions stand as set.
  c.ports.core.lanes = in.simd == Simd::avx512 ? 16 : 8;
  c.ports.core.clock_hz = in.clock_hz;
  c.ports.core.dram_bytes_per_s = in.dram_bytes_per_s;
  return Stated::ok(std::move(c));
}

/// Holds a rung that measures a part of the machine against that part's own rate, measured or stated: no other
/// bandwidth stands in for it. False: the roof is none of those.
bool own_roof(const Inputs& in, std::string_view roof, Ceilings& c) {
  static constexpr std::array<std::string_view, 4> parts{"gpu_shared", "gpu_l2_read", "gpu_host", "gpu_launch"};
  if (std::find(parts.begin(), parts.end(), roof) == parts.end()) return false;
  models::GpuPorts& gpu = c.ports.gpu;
  const auto measured = [&](std::string_view id) {
    const RoofRow* r = measured_roof(in, "cuda", id);
    return r ? r->value : 0;
  };
  const auto hold = [&](double stated, const char* name) {
    const RoofRow* r = measured_roof(in, "cuda", roof);
    c.bandwidth_measured = r != nullptr;
    c.bandwidth = r ? r->title : c.bandwidth + ", " + name;
    c.machine.bandwidth_bytes_per_s = r ? r->value : stated;
  };
  if (const double read = measured("gpu_read"); read > 0) gpu.dram_bytes_per_s = read;
  if (const double l2 = measured("gpu_l2"); l2 > 0) gpu.l2_bytes = l2;
  if (const double node = measured("gpu_launch"); node > 0) gpu.node_s = node;
  if (const double call = measured("gpu_call"); call > 0) gpu.call_s = call;
  if (roof == "gpu_shared") {
    hold(gpu.multiprocessors * gpu.shared_bytes_per_cycle * gpu.clock_hz, "its shared memory");
  } else if (roof == "gpu_l2_read") {
    hold(gpu.l2_bytes_per_s, "its L2");
    gpu.l2_bytes_per_s = c.machine.bandwidth_bytes_per_s;
  } else if (roof == "gpu_host") {
    hold(c.link_bytes_per_s, "its link, both ways");
  } else {
    hold(0, "");
    c.machine.bandwidth_bytes_per_s = launch_bytes / gpu.node_s;
    c.bandwidth = c.bandwidth_measured ? "a kernel of a graph" : "a kernel of a graph on an H100";
  }
  return true;
}

}  // namespace

const RoofRow* measured_roof(const Inputs& in, std::string_view device, std::string_view id) {
  for (const RoofRow& r : in.roofs)
    if (r.device == device && r.id == id && r.value > 0) return &r;
  return nullptr;
}

models::Result<Ceilings> ceilings_of(const Inputs& in, const Ladder& ladder, std::string_view rung_roof) {
  const bool cpu = ladder.device == Device::cpu, bf16 = rung_roof == "gpu_bf16";
  const bool opengl = ladder.device == Device::opengl;
  const std::string_view device = ::kernels::id_of(ladder.device);
  auto stated = cpu ? models::Result<Ceilings>::ok(assumed_core(in, rung_roof)) : stated_gpu(in, bf16);
  if (!stated) return stated;
  Ceilings& c = *stated;
  if (!cpu && own_roof(in, rung_roof, c)) return stated;
  models::CorePorts& core = c.ports.core;
  const std::array<std::string_view, 5> rates{rung_roof,
                                              cpu      ? "fma"
                                              : opengl ? "gl_fma"
                                              : bf16   ? ""
                                                       : "gpu_fma",
                                              cpu              ? "fma_avx512"
                                              : opengl || bf16 ? ""
                                                               : "gpu_sgemm",
                                              cpu ? "fma_avx2" : "", ""};
  const std::array<std::string_view, 5> wires{rung_roof,
                                              cpu      ? "dram_copy"
                                              : opengl ? "gl_copy"
                                                       : "gpu_copy",
                                              cpu      ? "dram_read"
                                              : opengl ? "gl_read"
                                                       : "gpu_read",
                                              "", ""};
  if (const RoofRow* r = measured_roof(in, device, "clock"); r && r->unit == "Hz")
    core.clock_hz = c.ports.gpu.clock_hz = r->value;
  if (const RoofRow* r = measured_roof(in, device, "latency_dram"); r && r->unit == "s") core.dram_latency_s = r->value;
  // Where the roof is that of a cache or of all threads, one core's or one thread's does not stand for it.
  const bool wider = cpu && assume_wider_roof(in, rung_roof, c) && !measured_roof(in, device, rung_roof);
  if (wider) return stated;
  if (const RoofRow* r = first_roof(in, device, rates, "FLOP/s")) {
    c.machine.peak_flops_per_s = r->value;
    c.arithmetic = r->title;
    c.arithmetic_measured = true;
  }
  if (const RoofRow* r = first_roof(in, device, wires, "B/s")) {
    c.machine.bandwidth_bytes_per_s = r->value;
    c.bandwidth = r->title;
    c.bandwidth_measured = true;
    (cpu ? core.dram_bytes_per_s : c.ports.gpu.dram_bytes_per_s) = r->value;
  }
  return stated;
}

}  // namespace chapters::kernels::lab
