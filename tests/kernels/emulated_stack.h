#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

/// What both emulations of a block stand on: the names of the place of a thread, and a stack for each thread of the
/// block, on one thread of the CPU. For the files that have the kernels.
namespace {

struct Dim {
  unsigned x = 0, y = 0, z = 0;
};
Dim threadIdx, blockIdx, blockDim, gridDim;

#if defined(__x86_64__)
// Leaves one stack and enters another: swapcontext without its two calls of the kernel.
asm(R"(
.text
.type emulated_switch, @function
emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size emulated_switch, .-emulated_switch
)");
extern "C" void emulated_switch(void** leave, void* enter) __attribute__((visibility("hidden")));
#endif

/// A stack of its own, left and entered again.
class Stack {
 public:
  void begin(void (*entry)()) {
    if (!bytes_) bytes_ = std::make_unique<std::byte[]>(size);
#if defined(__x86_64__)
    const auto top = (reinterpret_cast<std::uintptr_t>(bytes_.get()) + size) / 16 * 16 - 16;
    auto* words = reinterpret_cast<std::uintptr_t*>(top - 64);  // six registers, where ret goes, and a word
    for (int i = 0; i < 6; ++i) words[i] = 0;
    words[6] = reinterpret_cast<std::uintptr_t>(entry);
    own_ = words;
#else
    getcontext(&own_);
    own_.uc_stack.ss_sp = bytes_.get();
    own_.uc_stack.ss_size = size;
    makecontext(&own_, entry, 0);
#endif
  }
  void enter() {
#if defined(__x86_64__)
    emulated_switch(&outside_, own_);
#else
    swapcontext(&outside_, &own_);
#endif
  }
  void leave() {
#if defined(__x86_64__)
    emulated_switch(&own_, outside_);
#else
    swapcontext(&own_, &outside_);
#endif
  }

 private:
  static constexpr std::size_t size = 64 * 1024;
  std::unique_ptr<std::byte[]> bytes_;
#if defined(__x86_64__)
  void *own_ = nullptr, *outside_ = nullptr;
#else
  ucontext_t own_{}, outside_{};
#endif
};

/// The place of thread `thread` of a block, counted along x first.
inline void place(std::size_t thread) {
  threadIdx = {static_cast<unsigned>(thread) % blockDim.x, static_cast<unsigned>(thread) / blockDim.x, 0};
}

}  // namespace
