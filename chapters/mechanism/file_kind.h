#pragma once
#include <cstdint>
#include <initializer_list>

namespace chapters {

/// What a file is by its content, whatever it is called. The app tells them apart (app/scenario/file_sniff.h); a lab
/// names those that a file input reads.
enum class FileKind : std::uint8_t {
  unknown,
  recording,            ///< a profiler's timeline: Chrome JSON, rocprofv3 JSON, Nsight Systems SQLite
  memory_recording,     ///< one whose JSON has [memory] events beside the others
  memory_snapshot,      ///< JSON of torch.cuda.memory._snapshot()
  memory_timeline,      ///< JSON of the PyTorch profiler's export_memory_timeline
  allocator_events,     ///< lines such as "a0 512"
  pickle,               ///< a pickle of Python, which is never read
  flight_recorder,      ///< JSON of PyTorch's flight recorder
  collective_log,       ///< what nccl-tests or rccl-tests printed
  topology_table,       ///< nvidia-smi topo -m or rocm-smi --showtopo
  arrivals,             ///< requests of a service with their times: CSV or JSON lines
  kernel_measurements,  ///< CSV with the columns name, flops, bytes, time_s
  benchmark_log,        ///< what a serving benchmark printed or wrote
  model_config,         ///< Hugging Face config.json
  safetensors,
  kernel_report,  ///< Nsight Compute
  scenario,
  lesson,
  chips,
};

/// A set of kinds.
class FileKinds {
 public:
  constexpr FileKinds() = default;
  constexpr FileKinds(std::initializer_list<FileKind> kinds) {
    for (const FileKind kind : kinds) bits_ |= 1u << static_cast<unsigned>(kind);
  }
  constexpr bool has(FileKind kind) const { return (bits_ >> static_cast<unsigned>(kind) & 1u) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const FileKinds&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

}  // namespace chapters
