#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/cli_run.h"

using support::Ran;
using support::run_cli;

namespace {

const std::string small = support::data_file("traces/small.json");

}  // namespace

// The figures are derived by hand in tests/models/trace/trace_test.cpp.
TEST_CASE("trace prints the metrics of every device, in text and as JSON") {
  const Ran text = run_cli({"trace", small});
  CHECK(text.status == 0);
  CHECK(text.error == "");
  for (const char* line : {"events 28", "busy_ns 130000", "idle_ns 190000", "span_ns 320000", "comp_ns 100001",
                           "comm_ns 30000", "mem_ns 10000", "exposed_comm_ns 19999", "overlap_pct_of_comm 33.33"})
    CHECK(text.out.find(line) != std::string::npos);
  const Ran r = run_cli({"trace", small, support::data_file("traces/small.sqlite"), "--json"});
  REQUIRE(r.status == 0);
  const auto doc = nlohmann::json::parse(r.out);
  REQUIRE(doc.size() == 2);
  CHECK(doc[0]["events"] == 28);
  CHECK(doc[0]["devices"]["0"]["busy_ns"] == 130000);
  CHECK(doc[0]["devices"]["0"]["overlap_pct_of_comm"] == Catch::Approx(100.0 * 10001 / 30000));
  CHECK(doc[1]["devices"]["1"]["exposed_comm_ns"] == 2000);
}

TEST_CASE("trace refuses in a sentence, and still prints the files that are good") {
  CHECK(run_cli({"trace"}).status == 2);
  const Ran r = run_cli({"trace", "no-such-file.json", small});
  CHECK(r.status == 2);
  CHECK(r.error.find("no-such-file.json") != std::string::npos);
  CHECK(r.out.find("busy_ns 130000") != std::string::npos);
}

TEST_CASE("trace -o writes Chrome JSON that reopens to the same figures") {
  const support::Folder folder;
  const std::string copy = (folder.path / "copy.json").string();
  REQUIRE(run_cli({"trace", small, "-o", copy}).status == 0);
  const auto doc = nlohmann::json::parse(run_cli({"trace", copy, "--json"}).out);
  CHECK(doc[0]["devices"]["0"]["exposed_comm_ns"] == 19999);
}
