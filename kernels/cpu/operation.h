#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/cpu/target.h"
#include "kernels/error_norm.h"
#include "kernels/kernel.h"
#include "kernels/turns.h"

/// A CPU ladder from the inside: its operands, its reference and its kernels. kernels/cpu/run.cpp does everything with
/// it.
namespace kernels::cpu {

/// Reads a and b, writes c; `work` is scratch. What n and the operands are is the operation's to say.
using Kernel = void (*)(std::int64_t n, const float* a, const float* b, float* c, float* work);

struct Version {
  Rung rung;  ///< its source is the key of kernels/sources.h until ladders.cpp puts the text there
  Isa needs = Isa::any;
  Kernel call = nullptr;     ///< null: not built for this architecture
  std::int64_t size_hi = 0;  ///< larger sizes are refused: one call would take too long; 0: the ladder's limit
  double flops_per_s = 0;    ///< with `size_hi`: about what the rung reaches beyond it, to say how long that would be
  std::int64_t size_lo = 0;  ///< smaller sizes are refused: the rung's working set is larger; 0: the ladder's limit
  int threads = 1;           ///< that the kernel runs on, refused where there are fewer; 0: all that there are
};

/// A version whose kernel `call` stands in the file of kernels at `source`: "cpu/copy.cpp:copy-simd".
constexpr Version make_version(std::string_view id, std::string_view title, std::string_view change,
                               std::string_view source, std::string_view roof, Kernel call, Isa needs = Isa::any) {
  Version v;
  v.rung = {id, title, change, source, {}, roof};
  v.needs = needs;
  v.call = call;
  return v;
}

/// The same for a kernel that runs on several threads: it is timed by the wall's clock.
constexpr Version on(int threads, Version v) {
  v.threads = threads;
  return v;
}

/// Floats in each operand.
struct Shape {
  std::int64_t n = 0;  ///< what the kernel is told
  std::int64_t a = 0, b = 0, c = 0, work = 0;
  std::int64_t runs = 1;  ///< runs (in the sense of the ladder's cost) in one call
};

struct Operation {
  Ladder ladder;  ///< without its rungs
  std::span<const Version> versions;
  Shape (*shape)(std::int64_t size) = nullptr;
  /// Fills the operands for a seed.
  void (*fill)(const Shape& shape, std::uint64_t seed, float* a, float* b) = nullptr;
  /// |c - r| / |r| with r computed in float64 from the same operands.
  double (*error)(const Shape& shape, const float* a, const float* b, const float* c) = nullptr;
  double (*error_bound)(const Shape& shape) = nullptr;
  bool b_in_small_pages = false;  ///< operand b lies in 4 KiB pages, all else in 2 MiB pages where the system has them
};

const Operation& copy_operation();
const Operation& triad_operation();
const Operation& latency_operation();
const Operation& softmax_operation();
const Operation& sgemm_operation();
const Operation& fma_operation();
const Operation& layer_norm_operation();
const Operation& gemv_operation();
const Operation& sum_operation();
const Operation& read_sets_operation();
const Operation& latency_sets_operation();
const Operation& triad_threads_operation();
const Operation& sgemm_threads_operation();

/// All of them in teaching order.
std::span<const Operation* const> operations();

/// Checks and times the rungs of `request` (all, when it names none); what kernels::run() promises. The request fits
/// the operation.
models::Status run(const Request& request, const Operation& operation, const Listener& listener);

/// The same for two rungs in an order that is given: what kernels::run_turns() promises.
models::Status run_turns(const TurnsRequest& request, const Operation& operation, const TakeTurn& take);

/// Uniform in [lo, hi), the same everywhere for a seed (splitmix64).
void fill_uniform(std::uint64_t seed, float lo, float hi, float* out, std::int64_t count);

inline constexpr double float_epsilon = 1.1920928955078125e-7;  // 2^-23

}  // namespace kernels::cpu
