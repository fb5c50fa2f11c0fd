#include "tests/support/lab/sample_files.h"

#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/base/weights_file.h"

namespace support {
namespace {

using chapters::FileKind;

/// A kernel with the operator that launched it, and, where asked for, what the allocator did.
std::string recording(bool memory) {
  std::string text = R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "traceEvents": [)"
                     R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":9,"tid":1,"ts":100,"dur":30,)"
                     R"("args":{"External id":1,"Input Dims":[[64,64],[64,64]],"Input type":["float","float"]}},)"
                     R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,"ts":110,"dur":5,)"
                     R"("args":{"correlation":7,"External id":1}},)"
                     R"({"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":120,"dur":50,)"
                     R"("args":{"device":0,"stream":7,"correlation":7,"External id":1}})";
  if (memory)
    text += R"(,{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":9,"tid":1,"ts":105,)"
            R"("args":{"Device Type":1,"Device Id":0,"Bytes":4096,"Addr":1024,)"
            R"("Total Allocated":4096,"Total Reserved":8192}},)"
            R"({"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":9,"tid":1,"ts":180,)"
            R"("args":{"Device Type":1,"Device Id":0,"Bytes":-4096,"Addr":1024,)"
            R"("Total Allocated":0,"Total Reserved":8192}})";
  return text + "]}";
}

/// One segment of 2 MiB with a live block, and the history that led to it.
constexpr const char* snapshot =
    R"({"segments": [{"device": 0, "address": 1048576, "total_size": 2097152, "allocated_size": 1024,)"
    R"( "active_size": 1024, "stream": 0, "segment_type": "small", "blocks": [)"
    R"({"size": 1024, "state": "active_allocated", "frames": []},)"
    R"({"size": 2096128, "state": "inactive", "frames": []}]}],)"
    R"( "device_traces": [[{"action": "segment_alloc", "addr": 1048576, "size": 2097152, "stream": 0, "time_us": 1},)"
    R"( {"action": "alloc", "addr": 1048576, "size": 1024, "stream": 0, "time_us": 2, "frames": []}]]})";

constexpr const char* log =
    "# nThread 1 nGpus 8 minBytes 1048576 maxBytes 67108864\n"
    "#       size         count    type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "     1048576        262144   float     sum      -1    27.37   38.31   67.04      0    26.93   38.94   68.14      "
    "0\n"
    "    67108864      16777216   float     sum      -1   324.70  206.68  361.69      0   324.70  206.68  361.69      "
    "0\n";

constexpr const char* table =
    "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tNV12\tPIX\tSYS\t0-15\t0\n"
    "GPU1\tNV12\t X \tSYS\tPIX\t16-31\t1\n"
    "NIC0\tPIX\tSYS\t X \tSYS\n"
    "NIC1\tSYS\tPIX\tSYS\t X \n";

}  // namespace

std::string sample_file(FileKind kind) {
  switch (kind) {
    case FileKind::recording:
    case FileKind::memory_recording:
      return recording(kind == FileKind::memory_recording);
    case FileKind::memory_snapshot:
      return snapshot;
    case FileKind::memory_timeline:
      return "[[1000, 1, 4096, 0], [2000, 1, 512, 3], [3000, 2, -512, 3]]";
    case FileKind::allocator_events:
      return "a0 1048576;a1 512;f0";
    case FileKind::collective_log:
      return log;
    case FileKind::topology_table:
      return table;
    case FileKind::arrivals:
      // With the ids of the prompts' blocks, which not every reader of arrivals asks for.
      return "{\"timestamp\": 0, \"input_length\": 1100, \"output_length\": 9, \"hash_ids\": [0, 1, 2]}\n"
             "{\"timestamp\": 900, \"input_length\": 1300, \"output_length\": 7, \"hash_ids\": [0, 1, 3]}\n";
    case FileKind::kernel_measurements:
      return "name,flops,bytes,time_s\nmatmul,2e12,4e9,0.004\n";
    case FileKind::model_config:
      return read_text(data_file("configs/gpt2.json"));
    case FileKind::safetensors:
      return weights_file(64, 64);
    case FileKind::kernel_report:
      return read_text(data_file("kernel_reports/details.txt"));
    case FileKind::flight_recorder:
      return read_text(data_file("hangs/p2p_missing_send/rank0.json"));
    default:
      return {};
  }
}

}  // namespace support
