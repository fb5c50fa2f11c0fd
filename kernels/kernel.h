#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/machine/op_cost.h"

namespace kernels {

/// One timed run of an operation, as the kernel lab or any other tool measured it.
/// Quantities are SI; `flops` and `bytes` are counts of the work, not rates.
struct Measurement {
  std::string name;
  double flops = 0;
  double bytes = 0;
  double time_s = 0;

  double intensity() const { return flops / bytes; }     ///< flop per byte
  double flops_per_s() const { return flops / time_s; }  ///< achieved rate
  bool operator==(const Measurement&) const = default;
};

/// Reads measurements from CSV text with the header `name,flops,bytes,time_s` (columns in any order, others ignored).
/// Fails at the first bad row, whose line and column the sentence names, with what is expected there.
models::Result<std::vector<Measurement>> parse_measurements(const std::string& csv);

enum class Device : std::uint8_t { cpu, cuda, opengl };
inline constexpr std::string_view device_ids[] = {"cpu", "cuda", "opengl"};
/// As it is written on the command line, in files and between processes.
constexpr std::string_view id_of(Device device) { return device_ids[static_cast<std::size_t>(device)]; }
constexpr bool is_gpu(Device device) { return device != Device::cpu; }

/// What the rungs of a ladder are compared by.
enum class Measure : std::uint8_t { flops_per_s, bytes_per_s, latency_s };

/// One version of a kernel.
struct Rung {
  std::string_view id;      ///< "packed", unique in its ladder
  std::string_view title;   ///< "packed panels"
  std::string_view change;  ///< one line: what differs from the rung before and what that does
  std::string_view source;  ///< the text of the kernel, embedded by the build; lines end in \n
  std::string_view entry;   ///< CUDA: the function that is launched; OpenGL: the kernel's name; empty on the CPU
  std::string_view roof =
      {};  ///< id of the Roof that bounds it: "fma_avx2", "dram_copy", "gpu_copy", "gl_copy"; empty: none
  models::OpCost (*cost)(std::int64_t size) = nullptr;  ///< work of one run where it is not the ladder's; null: it is
  /// CUDA: the lowest and the highest compute capability that has its instructions (90: 9.0; 0: no limit), and whether
  /// it is compiled with the features of one architecture alone (sm_90a).
  int capability_lo = 0, capability_hi = 0;
  bool architecture_specific = false;
};

/// Several versions of one operation, each (mostly) faster than the one before it.
struct Ladder {
  std::string_view id;  ///< "cpu-sgemm", "cuda-transpose"
  std::string_view title;
  Device device{};
  Measure measure{};
  std::string_view size_label;  ///< "Size N", "Working set"
  std::string_view size_unit;   ///< "" or "B"
  std::int64_t size_lo = 0, size_default = 0, size_hi = 0;
  std::span<const Rung> rungs;
  models::OpCost (*cost)(std::int64_t size) = nullptr;  ///< algorithmic work of one run of every rung without its own
};
/// Algorithmic work of one run of a rung.
inline models::OpCost cost_of(const Ladder& ladder, const Rung& rung, std::int64_t size) {
  return rung.cost ? rung.cost(size) : ladder.cost(size);
}

/// The ladders in teaching order: CPU first. Explicit list in registry.cpp.
std::span<const Ladder> all_ladders();
const Ladder* find_ladder(std::string_view id);  ///< null when there is none
const Rung* find_rung(const Ladder& ladder, std::string_view id);

/// The ladder's usual size divided by `parts`, within what the ladder takes, as size_of_tiles makes it.
std::int64_t part_of_size(const Ladder& ladder, double parts);
/// To two significant binary digits from 64 up (96, 128, 192): sizes that divide into tiles.
std::int64_t size_of_tiles(double size);

/// Can a ladder be timed here? Fails with the reason ("No CUDA driver was found ...").
models::Status can_be_timed(const Ladder& ladder);

/// What to run.
struct Request {
  std::string ladder;
  std::vector<std::string> rungs;  ///< empty: all
  std::int64_t size = 0;           ///< 0: the ladder's default
  bool cold = true;                ///< operands out of cache at the start of each timed run; otherwise warm
  std::uint64_t seed = 1;          ///< seed of the operands' values
  bool check_only = false;         ///< CUDA: correctness alone, at a small size that is no power of two; no time
  double seconds_per_rung = 0.5;   ///< at most about this long on each, after warm-up
  std::string edited_rung;         ///< On a GPU: this rung's source is replaced by `edited_source`
  std::string edited_source;
};

/// One message of a compiler, at a line of the source that was given (from 1; 0: of no line).
struct Diagnostic {
  int line = 0;
  std::string text;
  bool error = false;
  bool operator==(const Diagnostic&) const = default;
};

/// What the compiler says of a kernel for one compute capability; needs no device.
struct KernelReport {
  std::string arch;  ///< "sm_90"; empty: nothing was compiled
  int registers_per_thread = 0;
  std::int64_t spill_store_bytes = 0, spill_load_bytes = 0, shared_bytes = 0;  ///< with what a launch asks for
  int block_threads = 0;
  bool operator==(const KernelReport&) const = default;
};

/// What happened to one rung. Times are medians; `failure` is one sentence when it was not timed (or not compiled, or
/// is wrong).
struct Result {
  std::string ladder, rung;
  std::int64_t size = 0;
  double time_s = 0, spread_s = 0;  ///< median and interquartile range of one run
  std::int64_t samples = 0;
  double flops = 0, bytes = 0;  ///< algorithmic work of one run
  double error = 0;             ///< |out - reference| / |reference|, the reference in float64
  double error_bound = 0;       ///< what was accepted
  bool compiled = true;
  bool checked = false;  ///< Right against float64, where it was not timed: `failure` then says why not.
  std::string failure;
  std::vector<Diagnostic> diagnostics;
  KernelReport report;
  bool operator==(const Result&) const = default;
};

/// One measured ceiling of this machine: "fma", "fma_avx2", "dram_copy", "dram_read", "l2_read", "clock", "gpu_copy",
/// "gl_copy", ...
struct Roof {
  std::string id, title;
  std::string unit;  ///< "FLOP/s", "B/s", "Hz", "s", "B"
  double value = 0;
  bool operator==(const Roof&) const = default;
};
/// Peaks of the device that a ladder runs on.
struct Roofs {
  Device device{};
  std::string device_name;
  std::vector<Roof> roofs;
  std::string failure;  ///< one sentence when they could not be measured
  std::string note{};   ///< one sentence on what spoils them: other work ran meanwhile; mostly empty
  double value(std::string_view id) const;  ///< 0 when there is none
};

/// Called as things happen; false asks to stop. `fraction` is of the whole request.
struct Listener {
  std::function<bool(const Result&)> result;
  std::function<bool(double fraction)> progress;
};

/// Can a request be tried? Measures nothing.
models::Status check(const Request& request);

/// Runs the rungs one after the other on this thread: correctness first, then time (kernels are interleaved and
/// repeated until the median is known to 1 % or the time is over). Fails when nothing could be run at all (unknown
/// ladder, rung or size); what happens to one rung is its Result's `failure`.
models::Status run(const Request& request, const Listener& listener);

/// Measures the ceilings of a device, about `seconds` long.
Roofs measure_roofs(Device device, double seconds, const Listener& listener);

}  // namespace kernels
