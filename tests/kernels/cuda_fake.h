#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/cuda/api.h"
#include "kernels/cuda/operation.h"

/// A GPU that a test plays: memory is the host's, kernels run in the emulator (except between events: what is timed
/// takes a given time and computes nothing), NVRTC knows a few mistakes. Every call is written down; every call can
/// fail.
class FakeGpu {
 public:
  FakeGpu();
  kernels::cuda::Machine machine();

  /// What goes wrong with a kernel.
  enum class Fault { none, wrong, not_a_number, outside, race, stale, illegal_address, too_many_registers };
  std::map<std::string, Fault> faults;
  std::map<std::string, double> run_s;  ///< 50 us when not given
  /// What the host's clock sees: a call that launches, what a wait adds, and the bytes of a second over the link.
  double call_s = 4e-6, wake_s = 3e-6, link_bytes_per_s = 25e9, pageable_bytes_per_s = 5e9;
  bool has_pinned_memory = true;  ///< false: an old driver, without the functions that pin
  std::size_t memory_bytes = std::size_t{1} << 30;
  int capability = 90, devices = 1, l2_bytes = 4 << 20;
  bool watchdog = false, capture_works = true;
  bool knows_no_cache = true;  ///< false: an older NVRTC, to which the option is a mistake
  bool computes = true;        ///< false: launches take their time and compute nothing
  kernels::cuda::Status init_status = 0;

  std::vector<std::string> calls;    ///< "compile copy_scalar.cu", "load", "launch copy_scalar", "record", "graph", ...
  std::vector<std::string> options;  ///< options of the last compilation
  std::set<std::string> compiled;    ///< sources that NVRTC remembers: it says nothing of them when it meets them again
  std::vector<std::uint64_t> timed_inputs;  ///< first argument of every kernel launched between events or in a graph
  std::map<std::string, int>
      open;  ///< "memory", "module", "stream", "event", "graph", "context": made and not yet given back

  std::int64_t count(const std::string& call) const;
  std::size_t first(const std::string& call) const;  ///< index in `calls`; calls.size() when it is not there
  std::size_t last(const std::string& call) const;

 private:
  struct Loaded;
  struct Text;
  struct Recorded;
  kernels::cuda::Status answer(const std::string& call);
  kernels::cuda::Status launch(const std::string& entry, const kernels::cuda::Launch& shape, void** arguments);
  void execute(const std::string& entry, const kernels::cuda::Launch& shape, void** arguments);
  kernels::cuda::Driver driver();
  void add_host_copies(kernels::cuda::Driver& driver);
  kernels::cuda::Nvrtc nvrtc();
  kernels::cuda::Blas blas();

  kernels::cuda::Status lost_ = 0, pending_ = 0;
  /// A launch that a graph holds, with the bytes of its arguments.
  struct Captured {
    std::string entry;
    kernels::cuda::Launch shape;
    std::vector<std::vector<std::byte>> arguments;
  };
  std::vector<Captured> captured_;
  std::map<const std::byte*, std::size_t> pinned_;
  double host_s_ = 0;
  double now_s_ = 0, captured_s_ = 0;
  bool timing_ = false, capturing_ = false;
  std::size_t used_ = 0;
  struct Held {
    std::unique_ptr<std::uint32_t[]> words;
    std::size_t bytes = 0;
  };
  std::map<std::uint64_t, Held> arrays_;
  std::map<std::string, int> executed_;
  std::vector<std::unique_ptr<std::string>> functions_;
};
