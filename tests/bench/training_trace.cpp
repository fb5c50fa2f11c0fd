#include "tests/bench/training_trace.h"

namespace bench {

std::string training_trace(std::int64_t events, const std::function<void(std::string&)>& full) {
  std::string s = "{\"schemaVersion\": 1, \"traceEvents\": [\n";
  for (std::int64_t i = 0; i < events; i += 3) {
    const std::string n = std::to_string(i), at = std::to_string(4458676416788 + 20 * i);
    if (i > 0) s += ",\n";
    if (full && s.size() > (1 << 20)) full(s);
    s += "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::addmm\", \"pid\": 4711, \"tid\": 4711,\n    "
         "\"ts\": " +
         at + ".066, \"dur\": 18.250,\n    \"args\": {\n      \"External id\": " + n +
         ", \"Record function id\": 0, \"Concrete Inputs\": [\"\", \"\", \"\"], \"Input Dims\": [[4096], [8192, 4096], "
         "[4096, 4096]], \"Ev Idx\": " +
         n + "\n    }\n  },\n";
    s += "  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 4711, \"tid\": "
         "4711,\n    \"ts\": " +
         at + ".566, \"dur\": 4.125,\n    \"args\": {\n      \"External id\": " + n +
         ", \"cbid\": 211, \"correlation\": " + n + "\n    }\n  },\n";
    s += "  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void "
         "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_nn_align8>(Params)\", \"pid\": "
         "0, \"tid\": 7,\n    \"ts\": " +
         at + ".900, \"dur\": 17.010,\n    \"args\": {\n      \"External id\": " + n +
         ", \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": " + n +
         ", \"registers per thread\": 230, \"shared memory\": 81920, \"blocks per SM\": 18.96, \"warps per SM\": "
         "75.85, \"grid\": [64, 32, 1], \"block\": [128, 1, 1], \"est. achieved occupancy %\": 12\n    }\n  }";
  }
  return s + "\n], \"traceName\": \"bench.json\"}\n";
}

}  // namespace bench
