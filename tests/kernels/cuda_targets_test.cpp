// Every kernel for every architecture that the project names. tests/nvcc gives each a test of its own, run once: no
// code of ours runs in the compiler.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <map>

#include "kernels/cuda/compile.h"
#include "kernels/cuda/compiler_log.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/libraries.h"
#include "kernels/cuda/operation.h"
#include "kernels/cuda/run.h"
#include "kernels/sources.h"

using namespace kernels;
using namespace kernels::cuda;

namespace {

/// The compute capability that this process is asked for, and a machine with a compiler and no driver; skips where
/// there is neither.
int asked_target() {
  const char* asked = std::getenv("RIDGELINE_CUDA_TARGET");
  if (!asked) SKIP("RIDGELINE_CUDA_TARGET does not name a compute capability; tests/nvcc does");
  return std::atoi(asked);
}
Machine compiler_for_targets() {
  Machine machine = open_machine(false);
  if (!machine.no_nvrtc.empty()) SKIP(machine.no_nvrtc);
  machine.no_driver = "No driver in this test.";
  return machine;
}

bool has_instructions(const Rung& rung, int capability) {
  return rung.capability_lo <= capability && (rung.capability_hi == 0 || capability <= rung.capability_hi);
}

/// What NVRTC 13.0 gives for sm_80 (wgmma: sm_90a), shared memory with the dynamic part.
struct Compiled {
  std::string_view ladder, rung;
  int registers = 0;
  std::int64_t shared_bytes = 0;
  unsigned threads = 256;
};
constexpr auto compiled_rungs = std::to_array<Compiled>({
    {"cuda-bf16-gemm", "wmma", 32, 8192},
    {"cuda-bf16-gemm", "mma", 120, 32768},
    {"cuda-bf16-gemm", "async", 120, 32768},
    {"cuda-bf16-gemm", "ldmatrix", 127, 32768},
    {"cuda-bf16-gemm", "swizzle", 125, 32768},
    {"cuda-bf16-gemm", "pipeline", 125, 98304},
    {"cuda-bf16-gemm", "wgmma", 154, 196608},
    {"cuda-attention", "naive", 28, 0},
    {"cuda-attention", "online", 40, 24832},
    {"cuda-attention", "mma", 213, 32768, 128},
    {"cuda-attention", "swizzle", 227, 32768, 128},
    {"cuda-attention", "pipeline", 243, 65536, 128},
});

/// What the rungs on the tensor cores use, from the log of a unit that has them all. A block of an sm_120 may have
/// 99 KiB.
void check_tensor_core_rungs(std::string_view log, int capability) {
  std::size_t rungs = 0;
  for (const Compiled& row : compiled_rungs) {
    const Operation& o = *find_operation(row.ladder);
    const Rung& rung = *find_rung(*o.ladder, row.rung);
    const Launch shape = o.launches(rung.id, o.ladder->size_default, 132).front();
    CHECK(shape.block_x * shape.block_y == row.threads);
    CHECK(shape.shared_bytes <= (rung.architecture_specific ? 227u : 99u) * 1024);
    ++rungs;
    if (rung.architecture_specific) continue;
    const KernelReport report = parse_report(log, rung.entry);
    INFO(row.ladder << " " << row.rung << " for " << capability);
    CHECK(report.registers_per_thread > 0);
    CHECK(report.spill_store_bytes + report.spill_load_bytes == 0);
    // Rounded up to the 1,024 bytes to which other kernels of the unit align their dynamic shared memory.
    CHECK(report.shared_bytes + shape.shared_bytes == (row.shared_bytes + 1023) / 1024 * 1024);
    CHECK(report.registers_per_thread * static_cast<int>(row.threads) <= 65536 / 2);  // two blocks a multiprocessor
    if (capability == 80) CHECK(std::abs(report.registers_per_thread - row.registers) <= 16);  // other NVRTCs differ
  }
  CHECK(rungs == bf16_gemm_operation().ladder->rungs.size() + attention_operation().ladder->rungs.size());
}

}  // namespace

// One unit of all files, each in a namespace of its own: half of the time of one compilation a file.
TEST_CASE("every .cu compiles for the architecture that is asked for, without a warning") {
  const int capability = asked_target();
  if (capability == default_capability) SKIP("there each is compiled alone");
  const Machine machine = compiler_for_targets();
  std::string unit(embedded_source("cuda/rungs/instruments.cu"));
  std::map<std::string_view, bool> taken;
  bool specific = false;
  for (const Ladder& ladder : ladders())
    for (const Rung& rung : ladder.rungs) {
      if (rung.entry.empty() || !has_instructions(rung, capability) || taken[rung.entry]) continue;
      taken[rung.entry] = true;
      specific = specific || rung.architecture_specific;
      // Helpers of different files may share a name.
      const std::string entry(rung.entry);
      unit += "\nnamespace of_" + entry + " {\n#line 1 \"" + entry + ".cu\"\n";
      unit += std::string(rung.source) + "}\n";
    }
  REQUIRE(taken.size() > 40);
  const Compilation compiled = compile(machine.nvrtc, unit, "instruments.cu", "copy_scalar", capability, specific);
  CHECK(compiled.failure == "");
  for (const Diagnostic& d : compiled.diagnostics) FAIL_CHECK("line " << d.line << ": " << d.text);
  CHECK(compiled.report.registers_per_thread > 0);
  check_tensor_core_rungs(compiled.log, capability);
}

// The oracle: the 8 x 8 register tile takes 128 registers on sm_90 without a spill; 128 is also what lets two blocks of
// 256 threads share the 65,536 registers of a multiprocessor.
TEST_CASE("every rung compiles alone for sm_90 without spills, and what it uses is reported") {
  if (asked_target() != default_capability) SKIP("another target is asked for");
  const Machine machine = compiler_for_targets();
  std::map<std::string, KernelReport> reports;
  for (const Ladder& ladder : ladders()) {
    const models::Status ran =
        run_on(machine, {.ladder = std::string(ladder.id)}, ladder,
               {.result =
                    [&](const Result& r) {
                      INFO(r.ladder << " " << r.rung << " " << r.failure);
                      if (find_operation(ladder.id)->host) return true;  // it compiles nothing
                      CHECK(r.compiled);
                      const std::string arch = find_rung(ladder, r.rung)->architecture_specific ? "sm_90a" : "sm_90";
                      CHECK(r.failure == "Compiled for " + arch + " but not timed: No driver in this test.");
                      CHECK(r.diagnostics.empty());
                      CHECK(r.report.arch == arch);
                      CHECK(r.report.registers_per_thread > 0);
                      CHECK(r.report.registers_per_thread <= 255);
                      CHECK(r.report.spill_store_bytes == 0);
                      CHECK(r.report.spill_load_bytes == 0);
                      CHECK(r.report.block_threads * r.report.registers_per_thread <= 65536);
                      reports[r.ladder + "/" + r.rung] = r.report;
                      return true;
                    },
                .progress = {}});
    CHECK(ran.error == "");
  }
  CHECK(reports.size() >= 82);
  // 255 registers are all that a thread can have: two m64n128 sums are 128 of them.
  CHECK(reports["cuda-bf16-gemm/wgmma"].registers_per_thread <= 168);
  CHECK(reports["cuda-bf16-gemm/wgmma"].shared_bytes == 4 * (256 + 128) * 64 * 2);
  CHECK(reports["cuda-attention/online"].shared_bytes == 24832);
  // Two 128 x 8 tiles of floats; one of 32 x 32, then with a word more in each row.
  CHECK(reports["cuda-sgemm/register"].shared_bytes == 8192);
  CHECK(reports["cuda-transpose/tile"].shared_bytes == 4096);
  CHECK(reports["cuda-transpose/padded"].shared_bytes == 4224);
  for (const char* rung : {"cuda-sgemm/register", "cuda-sgemm/vector", "cuda-sgemm/warp"}) {
    CHECK(reports[rung].registers_per_thread > 96);
    CHECK(reports[rung].registers_per_thread <= 128);
  }
  // 2,048 threads a multiprocessor leave each 32 registers: without that there is no full occupancy to compare with.
  for (const char* rung : {"cuda-ilp/full_1", "cuda-ilp/full_4"}) CHECK(reports[rung].registers_per_thread <= 32);
}
