#include "models/memory/allocator_workload.h"

#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "models/memory/allocator_replay.h"

using namespace models::memory;

namespace {

AllocatorRun run_of(const char* events, const AllocatorConfig& config = {}) {
  const auto list = parse_allocator_events(events);
  REQUIRE(list);
  return replay_allocator(*list, config);
}

std::string says(const char* events) { return parse_allocator_events(events).error; }

}  // namespace

TEST_CASE("allocator events: what cannot be read is named with its place") {
  CHECK(says("") == "The list is empty; write events such as a0 9437184;a1 512;f0.");
  CHECK(says("a0 512;b1") ==
        "Event 2, 'b1', is not a<id> <bytes>, f<id>, r<id> <stream>, s<stream>, e or set key=value.");
  CHECK(says("a0") == "Event 1, 'a0', says no whole number of bytes; write a<id> <bytes> [<stream>].");
  CHECK(says("a0 1e30") == "Event 1, 'a0 1e30', says no whole number of bytes; write a<id> <bytes> [<stream>].");
  CHECK(says("a0 2.5 1") == "Event 1, 'a0 2.5 1', says no whole number of bytes; write a<id> <bytes> [<stream>].");
  CHECK(says("a0 512;a0 512") == "Event 2, 'a0 512', allocates an id that has not been freed.");
  CHECK(says("a0 512;f0;a0 512").empty());
  CHECK(says("f0 7") == "Event 1, 'f0 7', goes on after its end.");
  CHECK(says("a0 99999999999999999") == "Event 1, 'a0 99999999999999999', asks for more than 1 PiB.");
  CHECK(says("set max_split_size_mb=20") == "Event 1, a setting: max_split_size must be above 20 MiB.");
  CHECK(says("set speed=1") ==
        "Event 1, 'set speed=1', is no setting that is known; write set expandable_segments=1, for example.");
  CHECK(says("set roundup_power2_divisions=3") ==
        "Event 1, a setting: roundup_power2_divisions must be a power of two.");
  CHECK(parse_allocator_events("a0 512\na1 512 2\n\ne")->events.size() == 3);
}

TEST_CASE("allocator: the failure says what lay free after everything that could go had gone") {
  // Three segments [9 9 2] MiB on 64 MiB; every second block is freed, and 12 MiB fail.
  const AllocatorRun run =
      run_of("a0 9437184;a1 9437184;a2 9437184;a3 9437184;a4 9437184;a5 9437184;f0;f2;f4;a6 12582912",
             {.capacity_bytes = 64 * mib});
  REQUIRE(run.failure);
  CHECK(run.failure->event == 9);
  CHECK(run.failure->bytes == 12 * mib);
  CHECK(run.failure->free_bytes == 33 * mib);
  CHECK(run.failure->largest_free_bytes == 9 * mib);
  CHECK(run.failure->holes == 6);
  CHECK(run.failure->device_free_bytes == 4 * mib);
  CHECK(run.failure->emptiable_bytes == 0);
}

TEST_CASE("allocator: what empty_cache would give back is what it gives back") {
  for (const bool expandable : {false, true}) {
    const AllocatorConfig config{.expandable_segments = expandable};
    const char* list = "a0 31457280;a1 31457280;a2 5242880;a3 512;f1;f3";
    const AllocatorRun before = run_of(list, config), after = run_of((std::string(list) + ";e").c_str(), config);
    CHECK(before.emptiable_bytes == before.figures.reserved_bytes() - after.figures.reserved_bytes());
    CHECK(before.emptiable_bytes > 0);
    CHECK(after.emptiable_bytes == 0);
  }
}

TEST_CASE("allocator: a hundred caches of different lengths run into a wall that expandable segments do not meet") {
  const AllocatorProgram program =
      make_allocator_program({.workload = AllocatorWorkload::requests, .batch = 100, .longest = 8192});
  const AllocatorRun run = replay_allocator(program.list, {}, {.stop_at_failure = true}),
                     expandable = replay_allocator(program.list, {.expandable_segments = true});
  REQUIRE(run.failure);
  CHECK(run.failure->free_bytes > 2 * run.failure->bytes);  // the holes would hold it twice
  CHECK(run.failure->largest_free_bytes < run.failure->bytes);
  CHECK(run.failure->emptiable_bytes == 0);
  CHECK(!expandable.failure);
  CHECK(expandable.peaks.reserved_bytes <= 80 * gib);
}

TEST_CASE("allocator: every program frees what it may, names its owners and is the same twice") {
  for (int w = 0; w < allocator_workload_count; ++w) {
    const AllocatorWorkloadSetup setup{.workload = static_cast<AllocatorWorkload>(w), .layers = 4, .steps = 3};
    const AllocatorProgram program = make_allocator_program(setup), again = make_allocator_program(setup);
    INFO(w);
    CHECK(program.list.events.size() > 20);
    CHECK(program.list.events.size() == again.list.events.size());
    CHECK(!program.steps.empty());
    std::set<std::int32_t> live;
    for (const AllocatorEvent& e : program.list.events) {
      if (e.action == AllocatorAction::allocate) {
        CHECK(live.insert(e.id).second);
        CHECK(e.owner < program.list.owners.size());
      }
      if (e.action == AllocatorAction::free) CHECK(live.erase(e.id) == 1);
    }
    if (setup.workload == AllocatorWorkload::lengths) {
      // Behind the last step there are the weights (7 a layer and 2), and the adapter's states.
      CHECK(live.size() == 4 * 7 + 2 + 4);
    }
  }
}

TEST_CASE("allocator: the weights of the default are Llama 3 8B's, and a sequence's cache is 131,072 B a token") {
  const AllocatorProgram p = make_allocator_program(
      {.workload = AllocatorWorkload::requests, .batch = 1, .steps = 1, .shortest = 1000, .longest = 1000});
  std::uint64_t weights = 0;
  for (std::size_t i = 0; i < 32 * 7 + 2; ++i) weights += p.list.events[i].bytes;
  CHECK(weights == 2 * (8'030'261'248 - 65 * 4096));  // without the 65 norms of 4,096 elements
  CHECK(p.list.events[32 * 7 + 2].bytes == 131'072 * 1000);
}
