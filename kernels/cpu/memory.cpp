#include "kernels/cpu/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/cpu/target.h"
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__unix__)
#include <unistd.h>
#endif

namespace kernels::cpu {
namespace {

constexpr std::int64_t guard_floats = 1024;
constexpr float guard_value = -6.25e18f;  // no kernel computes it
constexpr std::size_t huge_page_bytes = 2u << 20, small_page_bytes = 4096;

}  // namespace

Buffer::Buffer(std::int64_t count, bool small_pages) : count_(count) {
  const auto wanted = static_cast<std::size_t>(count + 2 * guard_floats) * sizeof(float);
  const std::size_t page = small_pages || wanted < huge_page_bytes ? small_page_bytes : huge_page_bytes;
  const std::size_t bytes = (wanted + page - 1) / page * page;
  block_ = std::aligned_alloc(page, bytes);
  if (!block_) return;
#if defined(__linux__)
  madvise(block_, bytes,
          page == huge_page_bytes ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // advice: nothing depends on it being taken
#endif
  std::memset(block_, 0, bytes);
  data_ = static_cast<float*>(block_) + guard_floats;
  set_guards();
}

Buffer::~Buffer() { std::free(block_); }
Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      block_(std::exchange(other.block_, nullptr)),
      count_(std::exchange(other.count_, 0)) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(block_, other.block_);
  std::swap(count_, other.count_);
  return *this;
}

void Buffer::poison() { std::fill_n(data_, count_, std::numeric_limits<float>::quiet_NaN()); }

void Buffer::set_guards() {
  std::fill_n(data_ - guard_floats, guard_floats, guard_value);
  std::fill_n(data_ + count_, guard_floats, guard_value);
}

bool Buffer::guards_whole() const {
  const auto whole = [](const float* at) {
    return std::all_of(at, at + guard_floats, [](float v) { return v == guard_value; });
  };
  return whole(data_ - guard_floats) && whole(data_ + count_);
}

void Buffer::flush() const {
#if RIDGELINE_X86
  const char* at = reinterpret_cast<const char*>(data_);
  for (const char* end = at + bytes(); at < end; at += 64) _mm_clflush(at);
  _mm_mfence();
#else
  Buffer sweep(cache_bytes(3) / 2);  // twice the last cache, in floats of 4 bytes
  if (sweep.data()) sweep.poison();
#endif
}

std::int64_t cache_bytes(int level) {
  constexpr std::int64_t usual[] = {32 << 10, 1 << 20, 32 << 20};
  const int index = std::clamp(level, 1, 3) - 1;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  constexpr int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  if (const long said = sysconf(names[index]); said > 0) return said;
#endif
  return usual[index];
}

}  // namespace kernels::cpu
