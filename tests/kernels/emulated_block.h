#pragma once
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "tests/kernels/emulated_language.h"

/// A block of threads on one thread of the CPU: each has a stack that is left at a barrier, and at what a warp does
/// together, and entered again. For the one file that has the kernels.
namespace {

struct Dim {
  unsigned x = 0, y = 0, z = 0;
};
Dim threadIdx, blockIdx, blockDim, gridDim;

enum class Wait : unsigned char { nothing, block, warp };
/// Where a stack was left. swapcontext would ask the system about signals at each switch.
using Place = std::array<void*, 5>;
[[noreturn, gnu::noinline]] void jump(Place& to) { __builtin_longjmp(to.data(), 1); }
/// The compiler must not look into it: what other threads write meanwhile is then read again.
[[gnu::noipa]] void leave_for(Place& here, Place& there) {
  if (__builtin_setjmp(here.data()) == 0) jump(there);
}

/// One thread of the block: a stack that is left at a barrier and entered again, and serves one block after the other.
struct Fiber {
  ucontext_t first{};
  Place place{};
  std::vector<std::byte> stack = std::vector<std::byte>(64 * 1024);
  bool begun = false, finished = false;
  Wait wait = Wait::nothing;
  unsigned mask = 0;  ///< the lanes that it waits for
  std::uint64_t given = 0;
  std::array<std::uint64_t, 32> received{};
};
struct Block {
  std::vector<Fiber> fibers;
  Place scheduler{};
  std::size_t running = 0;
  const std::function<void()>* body = nullptr;
};
Block block;

void run_bodies() {
  for (;;) {
    (*block.body)();
    Fiber& me = block.fibers[block.running];
    me.finished = true;
    leave_for(me.place, block.scheduler);
  }
}

/// Goes on with a thread until it leaves.
void enter(Fiber& f) {
  if (f.begun) {
    leave_for(block.scheduler, f.place);
    return;
  }
  f.begun = true;
  getcontext(&f.first);
  f.first.uc_stack.ss_sp = f.stack.data();
  f.first.uc_stack.ss_size = f.stack.size();
  makecontext(&f.first, run_bodies, 0);
  if (__builtin_setjmp(block.scheduler.data()) == 0) setcontext(&f.first);
}

void leave(Wait wait) {
  Fiber& me = block.fibers[block.running];
  me.wait = wait;
  leave_for(me.place, block.scheduler);
}

void __syncthreads() { leave(Wait::block); }

}  // namespace

namespace cuda_emulator {

const std::array<std::uint64_t, 32>& exchange(unsigned mask, std::uint64_t mine) {
  Fiber& me = block.fibers[block.running];
  me.mask = mask;
  me.given = mine;
  leave(Wait::warp);
  return me.received;
}

unsigned lane() { return static_cast<unsigned>(block.running % 32); }

}  // namespace cuda_emulator

namespace {

/// Every lane gives its value and takes another's. A lane past the end of the warp keeps its own.
float __shfl_down_sync(unsigned mask, float value, unsigned apart) {
  const auto& all = cuda_emulator::exchange(mask, std::bit_cast<std::uint32_t>(value));
  const unsigned from = cuda_emulator::lane() + apart;
  return from < 32 ? std::bit_cast<float>(static_cast<std::uint32_t>(all[from])) : value;
}

unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }

template <class T>
T __ldcg(const T* address) {
  return *address;
}

long long clock64() {
  static long long now = 0;
  return now += 1000;
}

void place(std::size_t thread) {
  threadIdx = {static_cast<unsigned>(thread) % blockDim.x, static_cast<unsigned>(thread) / blockDim.x, 0};
}

/// Lets go the lanes of a warp for which all others of their mask have come.
void release_warp(std::size_t first, std::size_t threads) {
  const std::size_t lanes = std::min<std::size_t>(32, threads - first);
  Fiber* warp = block.fibers.data() + first;
  for (std::size_t i = 0; i < lanes; ++i) {
    if (warp[i].finished || warp[i].wait != Wait::warp) continue;
    const unsigned mask = warp[i].mask;
    bool all = true;
    std::array<std::uint64_t, 32> given{};
    for (std::size_t j = 0; j < lanes; ++j) {
      if (!(mask >> j & 1u) || warp[j].finished) continue;
      all = all && warp[j].wait == Wait::warp && warp[j].mask == mask;
      given[j] = warp[j].given;
    }
    if (!all) continue;
    for (std::size_t j = 0; j < lanes; ++j) {
      if (!(mask >> j & 1u) || warp[j].finished) continue;
      warp[j].received = given;
      warp[j].wait = Wait::nothing;
    }
  }
}

/// After every thread has gone as far as it can: who may go on? Throws when nobody may.
void release(std::size_t threads) {
  bool at_barrier = true, free = false;
  for (std::size_t first = 0; first < threads; first += 32) release_warp(first, threads);
  for (std::size_t t = 0; t < threads; ++t) {
    const Fiber& f = block.fibers[t];
    if (f.finished) continue;
    at_barrier = at_barrier && f.wait == Wait::block;
    free = free || f.wait == Wait::nothing;
  }
  if (!at_barrier && !free) {
    block.fibers.clear();  // they stand in the middle of a kernel
    throw std::logic_error("Threads of a block wait for each other at different barriers.");
  }
  if (at_barrier)
    for (std::size_t t = 0; t < threads; ++t) block.fibers[t].wait = Wait::nothing;
}

void run_with_barriers(std::size_t threads, const std::function<void()>& body) {
  block.body = &body;
  if (block.fibers.empty()) block.fibers.resize(1024);  // a thread that has begun never moves
  for (std::size_t t = 0; t < threads; ++t) {
    block.fibers[t].finished = false;
    block.fibers[t].wait = Wait::nothing;
  }
  for (bool more = true; more;) {
    more = false;
    for (std::size_t t = 0; t < threads; ++t) {
      Fiber& f = block.fibers[t];
      if (f.finished) continue;
      more = true;
      if (f.wait != Wait::nothing) continue;
      block.running = t;
      place(t);
      enter(f);
    }
    if (more) release(threads);
  }
}

}  // namespace
