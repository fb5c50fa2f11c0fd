#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <sstream>

#include "kernels/cuda/compile.h"
#include "kernels/cuda/compiler_log.h"
#include "kernels/cuda/cuda.h"
#include "kernels/cuda/libraries.h"
#include "kernels/cuda/run.h"
#include "tests/support/base/effort.h"

using namespace kernels;
using namespace kernels::cuda;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// The machine's NVRTC without a driver, so that nothing here touches a GPU; skips where there is none.
Machine compiler_only() {
  Machine machine = open_machine(false);
  if (!machine.no_nvrtc.empty()) SKIP(machine.no_nvrtc);
  machine.no_driver = "No driver in this test.";
  return machine;
}

}  // namespace

// Texts as NVRTC 13.0 writes them.
TEST_CASE("messages of the compiler are found with their lines") {
  const auto found = parse_diagnostics(
      "a.cu(3): warning #177-D: variable \"unused\" was declared but never referenced\n    unsigned unused = 3;\n      "
      "       ^\n\n"
      "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n"
      "a(1).cu(12): error: identifier \"z\" is undefined\r\n    y[n] = z[3];\n\n"
      "a.cu(7): catastrophic error: cannot open source file \"cuda.h\"\n"
      "ptxas error   : Entry function 'a' uses too much shared data (0x3e800 bytes, 0xc000 max)\n"
      "2 errors detected in the compilation of \"a.cu\".\n");
  REQUIRE(found.size() == 4);
  CHECK(found[0] == Diagnostic{3, "variable \"unused\" was declared but never referenced", false});
  CHECK(found[1] == Diagnostic{12, "identifier \"z\" is undefined", true});
  CHECK(found[2] == Diagnostic{7, "cannot open source file \"cuda.h\"", true});
  CHECK(found[3] == Diagnostic{0, "Entry function 'a' uses too much shared data (0x3e800 bytes, 0xc000 max)", true});
}

TEST_CASE("what is no message of the compiler is none") {
  CHECK(parse_diagnostics("").empty());
  CHECK(parse_diagnostics("(): error").empty());
  CHECK(parse_diagnostics("a.cu(x): error: y\na.cu(99999999999999999999): error: y\n").empty());
  CHECK(parse_diagnostics("no end").empty());
}

TEST_CASE("registers, spills and shared memory are those of the entry asked for") {
  const char* log =
      "ptxas info    : 0 bytes gmem\nptxas info    : Compiling entry function 'b' for 'sm_90'\nptxas info    : "
      "Function properties for b\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 10 "
      "registers, used 0 barriers\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_80'\nptxas info    : Function properties for a\n"
      "ptxas         .     40 bytes stack frame, 36 bytes spill stores, 44 bytes spill loads\n"
      "ptxas info    : Used 128 registers, used 1 barriers, 40 bytes cumulative stack size, 8192 bytes smem, 380 bytes "
      "cmem[0]\n";
  CHECK(parse_report(log, "a") == KernelReport{"sm_80", 128, 36, 44, 8192, 0});
  CHECK(parse_report(log, "b") == KernelReport{"sm_90", 10, 0, 0, 0, 0});
  CHECK(parse_report(log, "c") == KernelReport{});
}

TEST_CASE("a library without a symbol is named with what it lacks; a complete one binds every function") {
  int anything = 0;
  Driver driver;
  CHECK(bind(driver, [&](const char*) -> void* { return &anything; }).empty());
  CHECK(driver.launch);
  CHECK(driver.error_name);
  CHECK(bind(driver, [&](const char* name) -> void* {
          return std::string(name) == "cuGraphLaunch" || std::string(name) == "cuMemAlloc_v2" ? nullptr : &anything;
        }) == "cuMemAlloc_v2, cuGraphLaunch");
  Nvrtc nvrtc;
  CHECK(bind(nvrtc, [&](const char* name) -> void* {
          return std::string(name) == "nvrtcGetCUBIN" ? nullptr : &anything;
        }) == "nvrtcGetCUBIN");
  Blas blas;
  CHECK(bind(blas, [](const char*) -> void* { return nullptr; }) ==
        "cublasCreate_v2, cublasDestroy_v2, cublasSetStream_v2, cublasSgemm_v2, cublasGemmEx");
}

// The toolkit's stub of the driver has the names of the real one and no code.
TEST_CASE("every driver function that is called is one that the driver has") {
  std::ifstream file("/usr/local/cuda/lib64/stubs/libcuda.so", std::ios::binary);
  if (!file) SKIP("The CUDA toolkit's stub of libcuda is not on this machine.");
  std::ostringstream read;
  read << file.rdbuf();
  const std::string stub = read.str();
  Driver driver;
  int anything = 0;
  CHECK(bind(driver, [&](const char* name) -> void* {
          return stub.find('\0' + std::string(name) + '\0') == std::string::npos ? nullptr : &anything;
        }).empty());
}

TEST_CASE("libraries are sought by name, then where CUDA and WSL put them") {
  CHECK(library_paths({"libx.so.2", "libx.so"}) ==
        std::vector<std::string>{"libx.so.2", "/usr/local/cuda/lib64/libx.so.2", "/usr/lib/wsl/lib/libx.so.2",
                                 "libx.so", "/usr/local/cuda/lib64/libx.so", "/usr/lib/wsl/lib/libx.so"});
}

TEST_CASE("NVRTC's mistakes come back at their lines without a device") {
  const Machine machine = compiler_only();
  const auto broken =
      compile(machine.nvrtc, "extern \"C\" __global__ void f(float* y) {\n  int unused;\n  y[0] = z;\n  y[1] = 3\n}\n",
              "f.cu", "f", 90);
  CHECK(broken.failure == "The kernel does not compile: line 3: identifier \"z\" is undefined.");
  REQUIRE(broken.diagnostics.size() >= 2);
  int errors = 0;
  for (const auto& d : broken.diagnostics) {
    if (!d.error) continue;
    CHECK((d.line == 3 || d.line == 5));
    ++errors;
  }
  CHECK(errors == 2);
  CHECK_THAT(compile(machine.nvrtc, "#include <vector>\n", "f.cu", "f", 90).failure,
             ContainsSubstring("line 1: could not open source file \"vector\""));
  CHECK_THAT(compile(machine.nvrtc, "", "f.cu", "f", 90).failure, StartsWith("The source has no kernel named f"));
  CHECK(compile(machine.nvrtc, std::string_view("a\0b", 3), "f.cu", "f", 90).failure ==
        "The kernel has a zero byte in its text: remove it.");
  CHECK_THAT(compile(machine.nvrtc,
                     "extern \"C\" __global__ void f(float* y) { __shared__ float t[64000]; t[threadIdx.x] = 1; "
                     "__syncthreads(); y[0] = t[9]; }",
                     "f.cu", "f", 90)
                 .failure,
             ContainsSubstring("shared"));
}

TEST_CASE("an edited kernel may have helpers and tables without __device__") {
  const Machine machine = compiler_only();
  CHECK(compile(machine.nvrtc,
                "int table[2] = {1, 2};\nint twice(int x) { return 2 * x; }\nextern \"C\" __global__ void f(int* y) { "
                "y[0] = twice(table[y[1]]); }\n",
                "f.cu", "f", 90)
            .failure.empty());
}

TEST_CASE("spills are counted when a kernel is held to few registers") {
  const Machine machine = compiler_only();
  const auto squeezed =
      compile(machine.nvrtc,
              "extern \"C\" __global__ void __launch_bounds__(1024, 2) f(const float* x, float* y) {\n  float "
              "v[64];\n#pragma unroll\n"
              "  for (int i = 0; i < 64; ++i) v[i] = x[i * 1024 + threadIdx.x];\n  __syncthreads();\n#pragma unroll\n"
              "  for (int i = 0; i < 64; ++i) y[i * 1024 + threadIdx.x] = v[i] * v[63 - i];\n}\n",
              "f.cu", "f", 90);
  CHECK(squeezed.failure.empty());
  CHECK(squeezed.report.registers_per_thread == 32);  // 65,536 registers over 2 x 1024 threads
  CHECK(squeezed.report.spill_store_bytes > 0);
}

// Where there is no driver the sentence says what to do; where there is one it may be empty.
TEST_CASE("why CUDA cannot be used is one sentence") {
  const std::string why = can_be_timed().error;
  if (!why.empty()) CHECK(why.ends_with('.'));
  Machine machine = open_machine(false);
  if (!machine.no_driver.empty()) CHECK(why == machine.no_driver);
}
