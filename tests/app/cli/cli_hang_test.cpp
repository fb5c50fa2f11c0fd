#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/base/paths.h"
#include "tests/support/lab/cli_run.h"

using support::Ran;
using support::run_cli;

using Catch::Matchers::ContainsSubstring;

TEST_CASE("hang: a folder of dumps gives verdict, evidence and next step") {
  const Ran r = run_cli({"hang", support::data_file("hangs/loader_stuck")});
  CHECK(r.status == 0);
  CHECK_THAT(r.out, ContainsSubstring("Rank 2 never made call 10 of the default group."));
  CHECK_THAT(r.out, ContainsSubstring("Next: Take a stack of that process"));
  CHECK_THAT(r.out, ContainsSubstring("PyTorch's own analyzer names rank 2 first."));
}

TEST_CASE("hang: files of both forms, and JSON for programs") {
  const std::string folder = support::data_file("hangs/skip_call/");
  const Ran r = run_cli({"hang", folder + "rank0.json", folder + "rank1.pickle", folder + "rank2.json",
                         folder + "rank3.pickle", "--json"});
  REQUIRE(r.status == 0);
  const auto j = nlohmann::json::parse(r.out);
  CHECK(j.at("fault") == "skipped_collective");
  CHECK(j.at("culprit_ranks") == nlohmann::json::array({2}));
  CHECK(j.at("first_divergence").at("collective_seq_id") == 8);
  CHECK(j.at("first_divergence").at("group") == "default_pg");
  CHECK(j.at("ranks").size() == 4);
}

TEST_CASE("hang: what is no dump is one sentence and status 2") {
  CHECK(run_cli({"hang"}).status == 2);
  CHECK(run_cli({"hang", "no-such-file"}).status == 2);
  const Ran r = run_cli({"hang", support::data_file("formats.json")});
  CHECK(r.status == 2);
  CHECK(r.out.empty());
  CHECK_THAT(r.error, ContainsSubstring("no dump of PyTorch's flight recorder"));
}
