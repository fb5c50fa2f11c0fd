#include "tests/bench/allocations.h"

#include <imgui.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace bench {
namespace {

constinit std::atomic<std::uint64_t> count{0};

void* counted(std::size_t bytes) {
  count.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes > 0 ? bytes : 1);
}

void* counted_or_throw(std::size_t bytes) {
  if (void* p = counted(bytes)) return p;
  throw std::bad_alloc();
}

void* counted_aligned(std::size_t bytes, std::align_val_t alignment) {
  count.fetch_add(1, std::memory_order_relaxed);
  const auto align = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(align, (bytes + align - 1) / align * align)) return p;
  throw std::bad_alloc();
}

}  // namespace

std::uint64_t allocations() { return count.load(std::memory_order_relaxed); }

void count_imgui() {
  ImGui::SetAllocatorFunctions([](std::size_t bytes, void*) { return counted(bytes); },
                               [](void* p, void*) { std::free(p); });
}

}  // namespace bench

// The program's own operators: the array and nothrow forms of the library call these.
void* operator new(std::size_t bytes) { return bench::counted_or_throw(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return bench::counted_aligned(bytes, alignment); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
