#include <catch2/catch_test_macros.hpp>
#include <string>

#include "chapters/serving/prefix_cache/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;

namespace {

LabPtr prefix_cache(std::string_view inputs = "{}") { return open_lab("serving/prefix-cache", inputs); }

/// A file that came with a scenario.
std::string with_file(const std::string& text, const std::string& more = "") {
  std::string quoted;
  for (const char c : text) quoted += c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
  return R"({"source": "file", "trace": {"name": "mine.jsonl", "text": ")" + quoted + "\"}" + more + "}";
}

}  // namespace

TEST_CASE("prefix cache: the contract's keys give the recorded figures of Mooncake's synthetic trace") {
  const LabPtr lab = prefix_cache(R"({"source": "mooncake", "eviction": "none"})");
  CHECK(computed(*lab, "hit_blocks") == 29303);
  CHECK(out(*lab, "total_blocks") == 68538);
  CHECK(near(out(*lab, "block_hit_rate"), 0.4275438443, 1e-9));
  CHECK(out(*lab, "hit_tokens") == 14980981);
  CHECK(near(out(*lab, "token_hit_rate"), 0.4373213701, 1e-9));
  CHECK(near(out(*lab, "mean_request_token_hit_rate"), 0.2363772746, 1e-9));
  CHECK(out(*lab, "nodes") == 39235);
  CHECK(out(*lab, "max_depth") == 374);
  CHECK(out(*lab, "root_children") == 1962);
  CHECK(out(*lab, "leaves") == 2528);
  CHECK(out(*lab, "branching_nodes") == 297);
  CHECK(out(*lab, "compressed_nodes") == 2825);
  CHECK(out(*lab, "distinct_end_nodes") == 2528);
  CHECK(near(out(*lab, "mean_node_depth"), 31.72109086, 1e-9));
  CHECK(computed(set(*lab, "eviction", "lru", "capacity_blocks", 3000), "hit_blocks") == 5119);
  CHECK(out(*lab, "cached_blocks") == 3000);
  CHECK(computed(set(*lab, "eviction", "lru_root_first", "capacity_blocks", 10000), "hit_tokens") == 7640014);
  CHECK(computed(set(*lab, "eviction", "ttl", "ttl_s", 300), "hit_blocks") == 25302);
  CHECK(computed(set(*lab, "eviction", "none", "rule", "full_blocks"), "hit_tokens") == 14967808);
  CHECK(out(*lab, "nodes") == 36710);
}

TEST_CASE("prefix cache: agents find nearly all, and more of them side by side need more room") {
  const LabPtr lab = prefix_cache(R"({"source": "agents", "eviction": "none"})");
  CHECK(computed(*lab, "hit_blocks") == 4852068);
  CHECK(near(out(*lab, "session_hit_mean"), 92.74760634, 1e-8));
  CHECK(near(out(*lab, "session_hit_median"), 95.56357104, 1e-8));
  CHECK(out(*lab, "block_tokens_counted") == 64);
  CHECK(computed(set(*lab, "eviction", "ttl", "ttl_s", 300), "hit_blocks") == 4618185);
  set(*lab, "eviction", "lru", "capacity_blocks", 3000);
  const double in_turn = computed(*lab, "hit_percent"), room = out(*lab, "capacity_for_all");
  input(*lab, "at_once").toggle() = true;
  CHECK(computed(*lab, "hit_percent") < 0.6 * in_turn);
  CHECK(out(*lab, "capacity_for_all") > 5 * room);
}

TEST_CASE("prefix cache: at first the order costs a third of all blocks, and along the tree nothing is lost") {
  const LabPtr lab = prefix_cache();
  CHECK(near(computed(*lab, "hit_percent"), 43.08, 1e-3));
  CHECK(near(out(*lab, "along_percent"), out(*lab, "ideal_percent"), 1e-12));
  CHECK(out(*lab, "computed_blocks") == out(*lab, "nodes") + out(*lab, "recomputed_blocks"));
  choose(*lab, "order", "along_tree");
  CHECK(computed(*lab, "recomputed_blocks") == 0);
  CHECK(near(out(*lab, "as_came_percent"), 43.08, 1e-3));
  // From capacity_for_all on nothing is lost, and one block less loses some.
  choose(*lab, "order", "as_came");
  const double enough = computed(*lab, "capacity_for_all");
  CHECK(computed(set(*lab, "capacity_blocks", enough), "recomputed_blocks") == 0);
  CHECK(computed(set(*lab, "capacity_blocks", enough - 1), "recomputed_blocks") > 0);
}

TEST_CASE("prefix cache: an order of one's own takes any list of places") {
  const LabPtr lab = prefix_cache(R"({"order": "own"})");
  const double as_came = computed(*lab, "as_came_percent");
  CHECK(computed(*lab, "hit_percent") == as_came);
  // The first request comes last.
  set(*lab, "places", "[36,2,3]");
  CHECK(computed(*lab, "hit_percent") != as_came);
  CHECK(out(*lab, "as_came_percent") == as_came);
  set(*lab, "places", "[7,7,7,7]");
  CHECK(reason_of(*lab) == "");
}

TEST_CASE("prefix cache: savings are those of arithmetic and memory") {
  const LabPtr lab = prefix_cache(R"({"eviction": "none", "systems": 1, "groups": 1, "each": 8})");
  // 173 blocks of 512 tokens, 320 KiB a token: 33 are kept, all but the first prompt's own are found.
  CHECK(computed(*lab, "kv_bytes_per_token") == 327680);
  CHECK(out(*lab, "tree_bytes") == 33.0 * 512 * 327680);
  CHECK(out(*lab, "unshared_bytes") == 173.0 * 512 * 327680);
  CHECK(out(*lab, "cached_bytes") == out(*lab, "tree_bytes"));
  CHECK(near(out(*lab, "whole_flops"), out(*lab, "prefill_flops") + out(*lab, "saved_flops"), 1e-12));
  CHECK(near(out(*lab, "saved_s"), out(*lab, "saved_flops") / 989.4e12, 1e-3));
  // Tokens found are 82 % of all; attention makes the first tokens of a prompt the cheaper ones.
  CHECK(out(*lab, "saved_percent") < 100 * out(*lab, "token_hit_rate"));
  CHECK(out(*lab, "saved_percent") > 90 * out(*lab, "token_hit_rate"));
}

TEST_CASE("prefix cache: a file of one's own is read, and what is wrong with it is said by its line") {
  const std::string good = "{\"timestamp\": 0, \"input_length\": 1100, \"hash_ids\": [0, 1, 2]}\n",
                    next = "{\"timestamp\": 900, \"input_length\": 1300, \"hash_ids\": [0, 1, 3]}\n";
  const LabPtr lab = prefix_cache(with_file(good + "{\"timestamp\": 5}\n" + next));
  CHECK(computed(*lab, "hit_blocks") == 2);
  CHECK(out(*lab, "hit_tokens") == 1024);
  CHECK(out(*lab, "rows_left_out") == 1);
  CHECK(text_of(*lab, "losses") == "1 row is left out. Line 2 has no input_length that is a whole number from 1 on.");
  CHECK(reason_of(*prefix_cache(with_file("{\"timestamp\": 5}"))) ==
        "Line 1 has no input_length that is a whole number from 1 on.");
  CHECK(reason_of(*prefix_cache(R"({"source": "file"})")) ==
        "No requests are chosen: open a file of them, or take others than your own.");
  // Blocks of another size than the file's ids have.
  CHECK(reason_of(*prefix_cache(with_file(good, R"(, "block_tokens": 64)"))) ==
        "Line 1 has 3 hash_ids for 1100 tokens, which is not one for each 64: set the tokens of a block.");
  const LabPtr session = prefix_cache(
      with_file("{\"block_size\": 64, \"requests\": [{\"t\": 0, \"in\": 192, \"hash_runs\": [[1, 3]]}, {\"t\": 9}, "
                "{\"t\": 20, \"in\": 256, \"hash_runs\": [[1, 4]]}]}\n"));
  CHECK(computed(*session, "hit_blocks") == 3);
  CHECK(out(*session, "without_ids") == 1);
  CHECK(out(*session, "block_tokens_counted") == 64);
  CHECK(near(out(*session, "session_hit_mean"), 100.0 * 3 / 7, 1e-9));
}

TEST_CASE("prefix cache: the answer names what decides, and its figures are the outputs") {
  CHECK(answer_of("serving/prefix-cache") ==
        "`35` requests find `43.1 %` of their blocks in the cache as they came, and `78.2 %` along the tree.\n"
        "For lack of room `607` blocks are recomputed; a cache of `344` blocks would lose none.");
  CHECK(answer_of("serving/prefix-cache", R"({"systems": 8, "groups": 1, "each": 1})") ==
        "No prompt of `1` request begins with a block of another: no cache would save anything.");
}

TEST_CASE("prefix cache: a column that is dragged takes another place") {
  ShellDriver d(bundled_content(), nowhere(), {1600, 1000}, true);
  REQUIRE(d.workspace.open("serving/prefix-cache"));
  REQUIRE(d.settle());
  d.ui.drag("requests", 3.5f / 35, 20.5f / 35);
  REQUIRE(d.settle());
  CHECK(input(d.workspace.lab(), "order").choice_id() == "own");
  const auto& places = input(d.workspace.lab(), "places").reals();
  REQUIRE(places.size() == 35);
  CHECK(places[20] == 4);
  CHECK(places[3] == 5);
  CHECK(places[0] == 1);
  CHECK(out(d.workspace.lab(), "hit_percent") != out(d.workspace.lab(), "as_came_percent"));
}

TEST_CASE("prefix cache: the line through all returns of a recording is dragged, in blocks and in seconds") {
  ShellDriver d(bundled_content(), nowhere(), {1600, 1000}, true);
  REQUIRE(d.workspace.open("serving/prefix-cache"));
  set(d.workspace.lab(), "source", "mooncake", "capacity_blocks", 100);
  d.workspace.current().finish();
  REQUIRE(d.settle());
  const double before = out(d.workspace.lab(), "hit_blocks");
  d.ui.click_at(d.ui.point_in("cache line", {0.5f, 0.1f}));
  REQUIRE(d.settle());
  CHECK(input(d.workspace.lab(), "capacity_blocks").number() > 5000);
  CHECK(out(d.workspace.lab(), "hit_blocks") > 10 * before);
  set(d.workspace.lab(), "eviction", "ttl");
  d.workspace.current().finish();
  REQUIRE(d.settle());
  d.ui.click_at(d.ui.point_in("cache line", {0.5f, 0.95f}));
  REQUIRE(d.settle());
  CHECK(input(d.workspace.lab(), "ttl_s").number() < 10);
}
