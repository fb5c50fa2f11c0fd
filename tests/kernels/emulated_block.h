#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <vector>

#include "tests/kernels/emulated_language.h"
#include "tests/kernels/emulated_stack.h"

/// A block of threads on one thread of the CPU: each has a stack that is left at a barrier, and at what a warp does
/// together, and entered again. For the one file that has the kernels.
namespace {

enum class Wait : unsigned char { nothing, block, warp };
/// One thread of the block.
struct Fiber {
  Stack stack;
  bool finished = false;
  Wait wait = Wait::nothing;
  unsigned mask = 0;  ///< the lanes that it waits for
  std::uint64_t given = 0;
  std::array<std::uint64_t, 32> received{};
};
struct Block {
  std::vector<Fiber> fibers;
  std::size_t running = 0;
  const std::function<void()>* body = nullptr;
};
Block block;

void run_body() {
  (*block.body)();
  Fiber& me = block.fibers[block.running];
  me.finished = true;
  me.stack.leave();
}

void leave(Wait wait) {
  Fiber& me = block.fibers[block.running];
  me.wait = wait;
  me.stack.leave();
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
    throw std::logic_error("Threads of a block wait for each other at different barriers.");
  }
  if (at_barrier)
    for (std::size_t t = 0; t < threads; ++t) block.fibers[t].wait = Wait::nothing;
}

void run_with_barriers(std::size_t threads, const std::function<void()>& body) {
  block.body = &body;
  if (block.fibers.empty()) block.fibers.resize(1024);  // a stack that has begun never moves
  for (std::size_t t = 0; t < threads; ++t) {
    block.fibers[t].finished = false;
    block.fibers[t].wait = Wait::nothing;
    block.fibers[t].stack.begin(run_body);
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
      f.stack.enter();
    }
    if (more) release(threads);
  }
}

}  // namespace
