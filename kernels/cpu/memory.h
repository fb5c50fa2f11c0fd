#pragma once
#include <cstdint>

namespace kernels::cpu {

/// Floats between two guards of 4 KiB each that a kernel must not touch. The first float is aligned to 64 bytes.
class Buffer {
 public:
  Buffer() = default;
  /// In 2 MiB pages where the system has them, unless `small_pages`. Zeros, and every page is there. Null data when
  /// there is no memory.
  explicit Buffer(std::int64_t count, bool small_pages = false);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  float* data() const { return data_; }
  std::int64_t count() const { return count_; }
  std::int64_t bytes() const { return count_ * 4; }
  void poison();              ///< every float becomes NaN
  bool guards_whole() const;  ///< nobody wrote before the first float or behind the last
  void set_guards();          ///< as they were
  void flush() const;         ///< out of every cache, written back

 private:
  float* data_ = nullptr;
  void* block_ = nullptr;
  std::int64_t count_ = 0;
};

/// Bytes of the data cache at a level 1 to 3; a usual value where the system does not say (32 KiB, 1 MiB, 32 MiB).
std::int64_t cache_bytes(int level);

}  // namespace kernels::cpu
