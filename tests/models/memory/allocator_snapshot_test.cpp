#include "models/memory/allocator_snapshot.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "models/trace/text/bytes.h"
#include "tests/models/trace/files.h"

using namespace models::memory;

namespace {

/// Made up: a large segment of 20 MiB in which a block of 4 MiB (from before the history) and one of 6 MiB live at the
/// end; the history frees a block of 6 MiB and takes its place again.
const std::string made_up = R"({"segments": [{"device": 0, "address": 1000, "total_size": 20971520, "stream": 0,
  "segment_type": "large", "segment_pool_id": [0, 0], "is_expandable": false, "blocks": [
  {"size": 4194304, "requested_size": 4194304, "state": "active_allocated",
   "frames": [{"name": "load", "filename": "a.py", "line": 1}]},
  {"size": 6291456, "requested_size": 6291000, "state": "active_allocated", "frames": []},
  {"size": 10485760, "state": "inactive"}]}],
 "device_traces": [[
  {"action": "free_requested", "addr": 4195304, "size": 6291456, "stream": 0},
  {"action": "free_completed", "addr": 4195304, "size": 6291456, "stream": 0},
  {"action": "alloc", "addr": 4195304, "size": 6291000, "stream": 0,
   "frames": [{"name": "step", "filename": "a.py", "line": 2}]},
  {"action": "snapshot", "addr": 0, "size": 0, "stream": 0}]]})";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string inflated(const std::filesystem::path& path) {
  const auto bytes = models::trace::in_memory(support::read_text(path));
  models::trace::Inflater inflater(bytes);
  std::string text, part(1 << 20, '\0');
  for (std::size_t n = 0; (n = inflater.read(part.data(), part.size())) > 0;) text.append(part, 0, n);
  return text;
}

}  // namespace

TEST_CASE(
    "memory snapshot: the state before the history is found backwards, and the replay ends in the file's blocks") {
  const auto s = read_allocator_snapshot(made_up);
  REQUIRE(s);
  CHECK(s->reserved_bytes == 20 * mib);
  CHECK(s->allocated_bytes == 10 * mib);
  REQUIRE(s->initial.size() == 1);
  REQUIRE(s->initial[0].parts.size() == 3);  // what was freed stood where its successor stands
  CHECK(s->initial[0].parts[1].bytes == 6 * mib);
  CHECK(s->initial[0].parts[1].id == 1);
  CHECK(s->list.owners == std::vector<std::string>{"other", "step", "load"});
  const SnapshotAgreement a = replay_snapshot(*s);
  CHECK(a.allocations == 1);
  CHECK(a.address_hits == 1);
  CHECK(a.blocks == 3);
  CHECK(a.equal_blocks == 3);
  CHECK(a.replayed_reserved_bytes == 20 * mib);
}

TEST_CASE("memory snapshot: an address that the rules would not give is no hit") {
  // A block of 6 MiB in the middle of the hole: best fit would have put it at the hole's beginning.
  std::string moved = replaced(made_up, "\"addr\": 4195304, \"size\": 6291000", "\"addr\": 5243880, \"size\": 6291000");
  moved = replaced(moved, R"({"size": 6291456, "requested_size": 6291000, "state": "active_allocated", "frames": []},
  {"size": 10485760,)",
                   R"({"size": 1048576, "state": "inactive"}, {"size": 6291456, "state": "active_allocated"},
  {"size": 9437184,)");
  const auto s = read_allocator_snapshot(moved);
  REQUIRE(s);
  CHECK(replay_snapshot(*s).address_hits == 0);
}

TEST_CASE("memory snapshot: every bad file is refused with one sentence") {
  const auto says = [](const std::string& text) { return read_allocator_snapshot(text).error; };
  CHECK(says("\x80\x04\x95").starts_with("This is a pickle, which may run code when it is read: write it as JSON"));
  CHECK(says("{").starts_with("This is no memory snapshot"));
  CHECK(says("[]").starts_with("This is no memory snapshot"));
  CHECK(says("{}").starts_with("The snapshot's dictionary has no list 'segments'"));
  CHECK(says(std::string(40, '[')) == "The file nests deeper than a memory snapshot does.");
  CHECK(says(replaced(made_up, "10485760", "10485761")) == "The blocks of a segment of the snapshot do not fill it.");
  CHECK(says(replaced(made_up, "\"size\": 4194304", "\"size\": -1")) ==
        "The snapshot's block has no whole number 'size' from 0 on.");
  CHECK(says(replaced(made_up, "\"addr\": 4195304", "\"addr\": 9")).empty());  // free_requested is not read
  CHECK(says(replaced(made_up, "\"alloc\", \"addr\": 4195304", "\"alloc\", \"addr\": 9")) ==
        "The snapshot's history does not lead to its segments; record both at one time.");
}

// Recordings of public repositories, no part of the project.
TEST_CASE("memory snapshot: four real ones open, and every recorded address is hit", "[real]") {
  const auto traces = trace_test::real_traces();
  if (traces.empty()) SKIP("real traces are not here");
  const auto folder = traces.parent_path() / "memory";
  struct Real {
    const char* name;
    std::uint64_t allocations, reserved, allocated;
  };
  for (const Real& r : {Real{"snapshot_complete_weighted_sum", 36, 3781165056, 31719936},
                        Real{"snapshot_gpt_medium_inference_128", 1280, 1763704832, 1703276544},
                        Real{"snapshot_gpt_medium_training_512", 7591, 12660506624, 6838108672},
                        Real{"snapshot_state_only_llm", 0, 17133731840, 16397578240}}) {
    INFO(r.name);
    const auto s = read_allocator_snapshot(inflated(folder / (std::string(r.name) + ".json.gz")));
    CHECK(s.error == "");
    REQUIRE(s);
    CHECK(s->reserved_bytes == r.reserved);
    CHECK(s->allocated_bytes == r.allocated);
    const SnapshotAgreement a = replay_snapshot(*s);
    CHECK(a.allocations == r.allocations);
    CHECK(a.address_hits == a.allocations);
    CHECK(a.equal_blocks == a.blocks);
    CHECK(a.replayed_reserved_bytes == a.recorded_reserved_bytes);
  }
}
