#include "models/memory/snapshot_json.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "models/memory/allocator_snapshot.h"
#include "models/memory/recorded_curve.h"
#include "tests/support/base/gzip.h"

using namespace models;
using namespace models::memory;

namespace {

std::string refusal(const std::string& text, std::size_t most = 10) { return parse_snapshot_json(text, most).error; }

std::string history_of(std::size_t entries) {
  std::string text = R"({"segments": [], "device_traces": [[)";
  for (std::size_t i = 0; i < entries; ++i) text += std::string(i > 0 ? "," : "") + R"({"action":"snapshot"})";
  return text + "]]}";
}

}  // namespace

TEST_CASE("of a snapshot what is looked at is kept, of a stack the innermost frame with a name of Python") {
  const auto read = parse_snapshot_json(
      R"({"external": [1, 2, {"segments": 7}], "segments": [{"device": 0, "secret": [[1]], "blocks": [{"size": 8}]}],
          "device_traces": [[{"action": "alloc", "addr": 1, "user_metadata": {"size": 3}, "frames": [
            {"filename": "a.cpp", "name": ""}, {"name": 7}, "odd", {"line": 3, "name": "forward"},
            {"name": "outer"}]}]],
          "allocator_settings": {"anything": {"at": ["all"]}}})",
      10);
  REQUIRE(read);
  CHECK(*read == nlohmann::json::parse(
                     R"({"segments": [{"device": 0, "blocks": [{"size": 8}]}],
                         "device_traces": [[{"action": "alloc", "addr": 1, "frames": ["odd", {"name": "forward"}]}]],
                         "allocator_settings": {"anything": {"at": ["all"]}}})"));
}

TEST_CASE("what is no snapshot, or too much of one, is refused at the place where that is seen") {
  const std::string none = "This is no memory snapshot: give the dictionary of torch.cuda.memory._snapshot() as JSON.";
  CHECK(refusal("[]") == none);
  CHECK(refusal("7") == none);
  CHECK(refusal("") == none);
  CHECK(refusal("{") == none);
  CHECK(refusal(R"({"segments": [)") == "The JSON ends early or is damaged; write it again.");
  CHECK(refusal(history_of(10)) == "");
  CHECK(refusal(history_of(11)) ==
        "The snapshot's history has more than 200,000 entries; record fewer with max_entries.");
  CHECK(refusal(history_of(11) + " oops") == refusal(history_of(11)));  // the rest is not read
  CHECK(refusal(std::string(40, '[')) == "The file nests deeper than a memory snapshot does.");
  std::string many = R"({"segments": [1)";
  for (int i = 0; i < 4'000'000; ++i) many += ",1";
  CHECK(refusal(many + "]}").find("The snapshot holds more than 4,000,000 values") == 0);
  CHECK(read_allocator_snapshot(R"({"device_traces": []})").error.find("has no list 'segments'") != std::string::npos);
}

TEST_CASE("a gz that unpacks to what no recording does is given up early") {
  const std::string bomb = support::gzipped(R"({"x": ")" + std::string(64 << 20, 'a') + "\"}");
  REQUIRE(bomb.size() * 200 < (64u << 20));
  const auto text = whole_recording_text(trace::in_memory(bomb));
  CHECK(text.error == "It unpacks to more than 200 times its size, which no recording does; record it again.");
  CHECK(read_memory_curve(trace::in_memory(bomb), "x.gz", {}).error.find("x.gz: It unpacks to more than") == 0);
  CHECK(*whole_recording_text(trace::in_memory(support::gzipped("{}"))) == "{}");
  CHECK(*whole_recording_text(trace::in_memory("{}")) == "{}");
  CHECK(whole_recording_text(trace::in_memory("x")).error == "The file is empty; choose a recording.");
}
