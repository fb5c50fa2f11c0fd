#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/kernels/emulated_stack.h"

/// A block of threads as a GPU runs it, on one thread of the CPU: a warp goes on alone until it stands at the block's
/// barrier, and its lanes meet at every instruction that they do together. Whichever warp is first sees nothing of what
/// the others have yet to do, so a barrier that is missing shows as a wrong result; every second block runs its warps
/// in the opposite order. For the one file that has the kernels: all of it must be optimized with them.
namespace {

/// 16 bytes under way to shared memory; from nowhere: zeros.
struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
};
/// A product of a warpgroup that has been asked for.
struct Product {
  float* sum = nullptr;
  std::uint64_t a = 0, b = 0;
};
enum class Waiting : std::uint8_t { no, warp, block };
struct Lane {
  Stack stack;
  bool finished = false;
  Waiting waiting = Waiting::no;
  unsigned meetings = 0;
  std::vector<std::vector<Copy>> copies;  ///< committed groups, the oldest first
  std::vector<Copy> open_copies;
  std::vector<std::vector<Product>> products;
  std::vector<Product> open_products;
  bool unfenced = false;  ///< copies have arrived that wgmma has not been shown
};

/// What a lane brings to a meeting of its warp.
struct Brought {
  std::string_view instruction;
  std::array<std::uint32_t, 6> words{};
  const void* address = nullptr;
};
struct Meeting {
  std::array<Brought, 32> lanes;
  bool resolved = false;
  std::array<std::array<float, 8>, 16> product{};
};
struct EmulatedBlock {
  std::vector<Lane> lanes;
  std::vector<std::array<Meeting, 2>> warps;
  std::size_t running = 0;
  const std::function<void()>* body = nullptr;
  bool unfenced = false;
  std::string fault;
};
EmulatedBlock emulated;

Lane& this_lane() { return emulated.lanes[emulated.running]; }

void note_fault(const std::string& what) {
  if (emulated.fault.empty()) emulated.fault = what;
}

void lane_body() {
  (*emulated.body)();
  this_lane().finished = true;
  this_lane().stack.leave();
}

void place_lane(std::size_t thread) {
  emulated.running = thread;
  place(thread);
}

/// All 32 lanes come to one instruction, each with what it brings. A lane may be one meeting ahead of another: two
/// meetings of a warp are kept.
Meeting& meet(const Brought& brought) {
  Lane& lane = this_lane();
  const std::size_t me = emulated.running;
  Meeting& meeting = emulated.warps[me / 32][lane.meetings++ % 2];
  meeting.lanes[me % 32] = brought;
  meeting.resolved = false;
  lane.waiting = Waiting::warp;
  lane.stack.leave();
  const Brought& other = meeting.lanes[(me + 1) % 32];  // each lane its neighbour: that is all of them
  if (other.instruction.data() != brought.instruction.data())
    note_fault("Lanes of a warp part: one is at " + std::string(brought.instruction) + ", another at " +
               std::string(other.instruction) + ".");
  return meeting;
}

/// The lanes of one warp until all stand at the block's barrier or have ended.
void run_warp(std::size_t warp) {
  for (;;) {
    std::size_t at_warp = 0, at_block = 0;
    for (std::size_t t = 32 * warp; t < 32 * warp + 32; ++t) {
      Lane& lane = emulated.lanes[t];
      if (!lane.finished && lane.waiting == Waiting::no) {
        place_lane(t);
        lane.stack.enter();
      }
      at_warp += !lane.finished && lane.waiting == Waiting::warp;
      at_block += !lane.finished && lane.waiting == Waiting::block;
    }
    if (at_warp == 0) return;
    if (at_warp != 32)
      note_fault("Only " + std::to_string(at_warp) + " lanes of a warp come to an instruction of all 32.");
    for (std::size_t t = 32 * warp; t < 32 * warp + 32; ++t)
      if (emulated.lanes[t].waiting == Waiting::warp) emulated.lanes[t].waiting = Waiting::no;
  }
}

void run_block(std::size_t threads, bool backwards, const std::function<void()>& body) {
  emulated.body = &body;
  emulated.unfenced = false;
  if (emulated.lanes.size() < threads) emulated.lanes.resize(threads);
  if (emulated.warps.size() < threads / 32) emulated.warps.resize(threads / 32);
  for (std::size_t t = 0; t < threads; ++t) {
    Lane& lane = emulated.lanes[t];
    lane.finished = false;
    lane.waiting = Waiting::no;
    lane.meetings = 0;
    lane.unfenced = false;
    lane.copies.clear();
    lane.open_copies.clear();
    lane.products.clear();
    lane.open_products.clear();
    lane.stack.begin(lane_body);
  }
  for (bool more = true; more;) {
    more = false;
    for (std::size_t w = 0; w < threads / 32; ++w) run_warp(backwards ? threads / 32 - 1 - w : w);
    for (std::size_t t = 0; t < threads; ++t) {
      Lane& lane = emulated.lanes[t];
      more = more || !lane.finished;
      emulated.unfenced = emulated.unfenced || lane.unfenced;
      lane.waiting = Waiting::no;
    }
  }
}

}  // namespace
