#include "models/serving/prefix/prefix_cache_file.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "models/serving/prefix/prefix_cache.h"
#include "tests/models/serving/prefix_cache_direct.h"

using namespace models;

namespace {

std::string request(int ms, int tokens, const std::string& ids) {
  return R"({"timestamp": )" + std::to_string(ms) + R"(, "input_length": )" + std::to_string(tokens) +
         R"(, "output_length": 5, "hash_ids": [)" + ids + "]}\n";
}

Result<PromptFile> read(const std::string& text) { return parse_prompt_file(text, 512, 1000); }

}  // namespace

TEST_CASE("prefix cache file: Mooncake's lines are read as they stand") {
  const auto file = read(request(0, 1100, "0,1,2") + "\n" + request(1500, 1300, "0,1,7") + request(1500, 600, "9,8"));
  REQUIRE(file);
  CHECK(file->rows_left_out == 0);
  CHECK(file->trace.block_tokens == 512);
  REQUIRE(file->trace.requests.size() == 3);
  const PromptRequest& second = file->trace.requests[1];
  CHECK(second.time_ms == 1500);
  CHECK(second.tokens == 1300);
  CHECK(second.blocks == 3);
  CHECK(second.like == 0);
  CHECK(second.shared == 2);
  CHECK(file->trace.requests[2].like == -1);
  CHECK(file->trace.sessions.empty());
  // The same as runs, and with seconds.
  const auto runs = read(R"({"arrival_s": 1.5, "input_tokens": 1300, "hash_runs": [[0,2],[7,1]]})");
  REQUIRE(runs);
  CHECK(runs->trace.requests[0].time_ms == 1500);
  CHECK(runs->trace.requests[0].blocks == 3);
}

TEST_CASE("prefix cache file: sessions say their blocks, and their ids are their own") {
  const auto file = read(R"({"id": "a", "block_size": 64, "requests": [{"t": 0.5, "in": 200, "hash_runs": [[1, 3]]},)"
                         R"( {"t": 2, "type": "subagent"}, {"t": 3.25, "in": 330, "hash_ids": [1, 2, 3, 9, 10]}]})"
                         "\n"
                         R"({"id": "b", "block_size": 64, "requests": [{"t": 0, "in": 130, "hash_ids": [1, 2]}]})");
  REQUIRE(file);
  CHECK(file->trace.block_tokens == 64);
  CHECK(file->without_ids == 1);
  CHECK(file->rows_left_out == 0);
  REQUIRE(file->trace.requests.size() == 3);
  CHECK(file->trace.requests[1].shared == 3);
  CHECK(file->trace.requests[1].time_ms == 3250);
  CHECK(file->trace.requests[2].like == -1);
  CHECK(file->trace.sessions == std::vector<std::int32_t>{0, 0, 1});
  CHECK(order_of_time(file->trace) == std::vector<std::int32_t>{2, 0, 1});
}

TEST_CASE("prefix cache file: a bad line is named, and the rest is offered") {
  struct Bad {
    std::string line, says;
  };
  const Bad all[] = {
      {"not json\n",
       "Line 2 is no JSON object: each line is a request with timestamp, input_length and hash_ids, or a "
       "session with block_size and requests."},
      {"[1]\n",
       "Line 2 is no JSON object: each line is a request with timestamp, input_length and hash_ids, or a session "
       "with block_size and requests."},
      {R"({"timestamp": -1, "input_length": 600, "hash_ids": [4, 5]})"
       "\n",
       "Line 2 has no timestamp that is a number from 0 on."},
      {R"({"timestamp": 1, "input_length": 0.5, "hash_ids": [4]})"
       "\n",
       "Line 2 has no input_length that is a whole number from 1 on."},
      {R"({"timestamp": 1, "input_length": 600, "hash_ids": [4, "x"]})"
       "\n",
       "Line 2 has no hash_ids that are a list of whole numbers from 0 on."},
      {R"({"timestamp": 1, "input_length": 600})"
       "\n",
       "Line 2 has no hash_ids that are a list of whole numbers from 0 on."},
      {request(1, 600, "4,5,6,7"),
       "Line 2 has 4 hash_ids for 600 tokens, which is not one for each 512: set the tokens of a block."},
      {request(1, 1100, "0,2,3"),
       "Line 2 has the id 2 behind another id than before: an id must stand for one whole prefix."},
      {request(1, 1100, "4,5,4"),
       "Line 2 has the id 4 behind another id than before: an id must stand for one whole prefix."},
      {R"({"block_size": 64, "requests": [{"t": 0, "in": 64, "hash_ids": [1]}]})"
       "\n",
       "Line 2 is a session, and the lines before are requests."}};
  for (const Bad& bad : all) {
    const auto file = read(request(0, 1100, "0,1,2") + bad.line + request(5, 1100, "0,1,3"));
    REQUIRE(file);
    CHECK(file->rows_left_out == 1);
    CHECK(file->first_fault == bad.says);
    CHECK(file->trace.requests.size() == 2);
    CHECK(file->trace.requests.back().shared == 2);
  }
}

TEST_CASE("prefix cache file: a text without a good request, or with too many, is refused with one sentence") {
  CHECK(read("").error ==
        "The file holds no request with ids of its blocks: each line is a request with timestamp, input_length and "
        "hash_ids, or a session with block_size and requests.");
  CHECK(read("time,prompt\n1,2\n").error.starts_with("Line 1 is no JSON object"));
  CHECK(read(R"({"requests": []})").error == "Line 1 has a session without a list of requests.");
  CHECK(read(R"({"requests": [{"t": 0, "in": 64, "hash_ids": [1]}]})").error ==
        "Line 1 has a session without a block_size from 1 on.");
  CHECK(read(std::string(5000, '[')).error.starts_with("Line 1 is no JSON object"));
  CHECK(parse_prompt_file(request(0, 100, "0") + request(1, 100, "1"), 512, 1).error ==
        "The file holds more than 1 requests or 50000000 ids: cut it before line 2.");
  CHECK_FALSE(read(R"({"arrival_s": 0, "input_tokens": 1e8, "hash_runs": [[0, 1e8]]})"));
}

TEST_CASE("prefix cache file: a recording written as lines is the recording") {
  const PromptTrace trace = most_shared_families(mooncake_synthetic_trace(), 20);
  const auto ids = prefix_test::ids_of(trace);
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::string list;
    for (const std::int64_t id : ids[i]) list += (list.empty() ? "" : ",") + std::to_string(id);
    text += request(static_cast<int>(trace.requests[i].time_ms), static_cast<int>(trace.requests[i].tokens), list);
  }
  const auto file = read(text);
  REQUIRE(file);
  const PrefixTree a = prefix_tree(trace, PrefixRule::every_block),
                   b = prefix_tree(file->trace, PrefixRule::every_block);
  CHECK(count_prefix_tree(a) == count_prefix_tree(b));
  CHECK(prefix_hits_by_capacity(a, prefix_test::pass_of(trace, a), PrefixEviction::lru) ==
        prefix_hits_by_capacity(b, prefix_test::pass_of(file->trace, b), PrefixEviction::lru));
}
