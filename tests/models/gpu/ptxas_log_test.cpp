#include "models/gpu/ptxas_log.h"

#include <catch2/catch_test_macros.hpp>

namespace gpu = models::gpu;

namespace {

constexpr std::string_view two_kernels =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function '_Z4tileILi16EEviiPKfS1_Pf' for 'sm_90a'\n"
    "ptxas info    : Function properties for _Z4tileILi16EEviiPKfS1_Pf\n"
    "    752 bytes stack frame, 3008 bytes spill stores, 2700 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 752 bytes cumulative stack size, 16384 bytes smem\n"
    "ptxas info    : Compile time = 137.512 ms\n"
    "ptxas info    : Compiling entry function '_ZN3lab5sgemmEPf' for 'sm_75'\n"
    "ptxas info    : Function properties for _ZN3lab5sgemmEPf\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 96 registers, used 3 barriers, 49152 bytes smem, 400 bytes cmem[0]\n";

}  // namespace

TEST_CASE("ptxas: kernels, targets, registers, barriers, shared memory and spills of what CUDA 13.0 prints") {
  const auto read = gpu::read_ptxas_log(two_kernels);
  REQUIRE(read);
  REQUIRE(read->size() == 2);
  const gpu::PtxasKernel& tile = (*read)[0];
  CHECK(tile.name == "tile");
  CHECK(tile.capability == 90);
  CHECK(tile.registers == 255);
  CHECK(tile.static_shared_bytes == 16384);
  CHECK(tile.barriers == 1);
  CHECK(tile.stack_bytes == 752);
  CHECK(tile.spill_store_bytes == 3008);
  CHECK(tile.spill_load_bytes == 2700);
  const gpu::PtxasKernel& sgemm = (*read)[1];
  CHECK(sgemm.name == "sgemm");
  CHECK(sgemm.capability == 75);
  CHECK(sgemm.registers == 96);
  CHECK(sgemm.barriers == 3);
  CHECK(sgemm.static_shared_bytes == 49152);
  CHECK(sgemm.spill_store_bytes == 0);
}

TEST_CASE("ptxas: a text that lost its ends of lines reads the same, and one line alone is a kernel without a name") {
  std::string joined(two_kernels);
  for (char& c : joined)
    if (c == '\n') c = ' ';
  const auto read = gpu::read_ptxas_log(joined);
  REQUIRE(read);
  REQUIRE(read->size() == 2);
  CHECK((*read)[0].static_shared_bytes == 16384);
  CHECK((*read)[1].registers == 96);
  const auto line = gpu::read_ptxas_log("Used 96 registers, 49152 bytes smem");
  REQUIRE(line);
  REQUIRE(line->size() == 1);
  CHECK((*line)[0].name.empty());
  CHECK((*line)[0].capability == -1);
  CHECK((*line)[0].barriers == -1);
  CHECK((*line)[0].registers == 96);
  CHECK((*line)[0].static_shared_bytes == 49152);
  CHECK((*gpu::read_ptxas_log("Used 20 registers, 8192+16 bytes smem, 4 bytes cmem[1]"))[0].static_shared_bytes ==
        8208);
}

TEST_CASE("ptxas: what is no such text is refused with what, where and what to do") {
  const auto refusal = [](std::string_view text) { return gpu::read_ptxas_log(text).error; };
  CHECK(refusal("").find("--ptxas-options=-v") != std::string::npos);
  CHECK(refusal("hello").find("Used N registers") != std::string::npos);
  CHECK(refusal("Used 256 registers").find("1 to 255") != std::string::npos);
  CHECK(refusal("Used 99999999999999999999 registers").find("1 to 255") != std::string::npos);
  CHECK(refusal("Used 32 registers, 300000 bytes smem").find("228 KiB") != std::string::npos);
  CHECK(refusal("Used 32 registers, used 65 barriers").find("barriers") != std::string::npos);
  CHECK(refusal("Compiling entry function 'f' for 'sm_90'\n").find("\"f\"") != std::string::npos);
  CHECK(refusal("Compiling entry function 'f").find("two quotes") != std::string::npos);
  CHECK(refusal("Compiling entry function 'f\xFF\x01' for 'sm_90'\nUsed 3 registers").find("two quotes") !=
        std::string::npos);
  CHECK(refusal("ptxas error   : Entry function 'f' uses too much shared data\n").find("The compiler stopped") == 0);
  CHECK(refusal("Used 32 registers, used 1 barriers, 81").find("ends within") != std::string::npos);
  CHECK(refusal(std::string(gpu::max_ptxas_bytes + 1, 'x')).find("256 KiB") != std::string::npos);
  std::string many;
  for (std::size_t i = 0; i <= gpu::max_ptxas_kernels; ++i) many += "Used 32 registers\n";
  CHECK(refusal(many).find("512") != std::string::npos);
}

TEST_CASE("ptxas: cut at any byte it is read or refused in one sentence, and never with a number that was cut") {
  for (std::size_t n = 0; n <= two_kernels.size(); ++n) {
    const auto read = gpu::read_ptxas_log(two_kernels.substr(0, n));
    CAPTURE(n);
    if (!read) {
      CHECK(read.error.find('\n') == std::string::npos);
      CHECK(read.error.back() == '.');
      continue;
    }
    for (const gpu::PtxasKernel& k : *read) {
      CHECK((k.registers == 255 || k.registers == 96));
      CHECK((k.static_shared_bytes == 16384 || k.static_shared_bytes == 49152 || k.static_shared_bytes == 0));
    }
  }
}
