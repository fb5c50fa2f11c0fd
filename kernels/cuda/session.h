#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/cuda/failure.h"
#include "kernels/cuda/operation.h"

namespace kernels::cuda {

/// Device memory for the length of a scope.
class DeviceArray {
 public:
  DeviceArray(const Driver& driver, std::int64_t bytes,
              const std::string& what);  ///< throws Failure naming `what`, needed and free bytes
  ~DeviceArray() { driver_.free(address_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DevicePointer address() const { return address_; }

 private:
  const Driver& driver_;
  DevicePointer address_ = 0;
};

/// A compiled image in the device, and its functions.
class LoadedModule {
 public:
  LoadedModule(const Driver& driver, const std::string& image);  ///< throws Failure
  ~LoadedModule() { driver_.unload(module_); }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  Function function(std::string_view name) const;  ///< throws Failure

 private:
  const Driver& driver_;
  Module module_ = nullptr;
};

struct DeviceFacts {
  std::string name;
  int capability = 0;  ///< 90 for sm_90
  int multiprocessors = 1;
  std::int64_t clock_khz = 1'000'000;  ///< highest clock of the multiprocessors
  std::int64_t l2_bytes = 0, memory_bytes = 0;
  int multiprocessor_threads = 2048;                     ///< most that one holds at a time
  std::int64_t multiprocessor_shared_bytes = 100 << 10;  ///< shared memory of one, for all its blocks
  bool watchdog = false;                                 ///< the display's driver ends launches of about 2 s
};

/// The first device, with the process's context on it, one stream, and the instruments. All calls throw Failure.
class Session {
 public:
  explicit Session(const Machine& machine);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Driver& driver() const { return machine_.driver; }
  const Machine& machine() const { return machine_; }
  const DeviceFacts& facts() const { return facts_; }
  Stream stream() const { return stream_; }

  /// Launches by geometry and the addresses of the kernel's arguments.
  void launch(Function function, const Launch& shape, std::span<void*> arguments, const std::string& name) const;
  void synchronize(const std::string& doing) const;
  /// `count` elements of an input, as input_value() gives them; not for `made`. `seed` is the input's own.
  void fill(DevicePointer out, const Array& array, std::int64_t count, std::uint32_t seed) const;
  /// n floats, uniform in [lo, lo + scale).
  void fill_uniform(DevicePointer out, std::int64_t n, std::uint32_t seed, float lo, float scale) const;
  void fill_bf16(DevicePointer out, std::int64_t words, std::uint32_t seed) const;
  void fill_words(DevicePointer out, std::uint32_t word, std::int64_t words) const;
  /// Keeps the stream busy, so that what is enqueued after it runs without a gap.
  void spin(std::int64_t nanoseconds) const;
  Function instrument(std::string_view name) const { return instruments_->function(name); }

 private:
  void close();

  const Machine& machine_;
  DeviceFacts facts_;
  int device_ = 0;
  bool retained_ = false;
  Stream stream_ = nullptr;
  std::unique_ptr<LoadedModule> instruments_;
  Function fill_uniform_ = nullptr, fill_halves_ = nullptr, fill_bytes_ = nullptr, fill_below_ = nullptr,
           fill_bf16_ = nullptr, spin_ = nullptr;
};

/// "1.0 GiB", "24.0 MiB": for sentences about memory.
std::string binary_bytes(std::int64_t bytes);

/// A driver that is open, initialized, and sees a device: empty; otherwise one sentence.
std::string why_no_device(const Machine& machine);

}  // namespace kernels::cuda
