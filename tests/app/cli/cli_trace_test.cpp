#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "chapters/profiling/trace_viewer/rows.h"
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
  for (const char* part :
       {"28 events, rank 1 of 4, 2 steps", "GPU 0: busy for 130 µs of 320 µs, 40.6 %", "100 µs\n",
        "33.3 % of it behind computation, 20.0 µs exposed", "10 µs between kernels, 100 µs for other causes",
        "- The device is idle. GPU 0 is idle for 59.4 % of 320 µs"}) {
    INFO(part);
    CHECK(text.out.find(part) != std::string::npos);
  }
  CHECK(text.out.find("_ns") == std::string::npos);
  const Ran r = run_cli({"trace", small, support::data_file("traces/small.sqlite"), "--json"});
  REQUIRE(r.status == 0);
  const auto doc = nlohmann::json::parse(r.out);
  REQUIRE(doc.size() == 3);  // a file each, and what they say together
  CHECK(doc[2]["ranks"]["rows"].size() >= 2);
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
  CHECK(r.out.find("busy for 130 µs") != std::string::npos);
}

// The made-up run of the trace viewer: rank 2 of four computes longer.
TEST_CASE("several files are the ranks of one job: who is in it, and who is late") {
  const support::Folder folder;
  const auto runs = chapters::profiling::trace_viewer::sample_recordings(models::SampleFault::straggler);
  REQUIRE(runs.size() == 4);
  std::vector<std::string> call{"trace"};
  for (const auto& run : runs) {
    const std::string name = "rank" + std::to_string(run->trace.rank) + ".json";
    const auto json = models::trace::to_chrome_json(run->trace);
    REQUIRE(json);
    folder.write(name, *json);
    call.push_back((folder / name).string());
  }
  const Ran r = run_cli(call);
  CHECK(r.status == 0);
  CHECK(r.error == "");
  // The block of the job stands last, after each file's own.
  const auto job = r.out.find("One job of 4 ranks: 4 recordings, ");
  REQUIRE(job != std::string::npos);
  CHECK(r.out.rfind("GPU 3: busy") < job);
  const std::string block = r.out.substr(job);
  INFO(block);
  for (const char* part :
       {"\n  rank 3 ", "in collectives", "costliest collectives",
        "  Rank 2 arrives last in 20 of 20 collectives and costs the others 149 ms, 100 % of all waiting",
        "It computes 21.3 % longer a step than the median of the others", "The recordings share one clock",
        "On time, no later than the last of the others, it would spare them 149 ms of that, call by call; a replay "
        "that "
        "explains 99.1 % of the job is 17.9 ms shorter."})
    CHECK(block.find(part) != std::string::npos);
  call.push_back("--json");
  const auto doc = nlohmann::json::parse(run_cli(call).out);
  REQUIRE(doc.size() == 5);
  const auto& ranks = doc[4]["ranks"];
  CHECK(ranks["culprit"]["rank"] == 2);
  CHECK(ranks["culprit"]["stands_out"] == true);
  // The run without a slow rank is 18.1 ms shorter (tests/models/trace/replay/planted_test.cpp).
  CHECK(ranks["culprit"]["on_time"]["won_ns"].get<double>() == Catch::Approx(17.9e6).epsilon(0.02));
  CHECK(doc[0]["replay"]["explained"].get<double>() > 0.99);
  CHECK(doc[0]["replay"]["collectives_without_other_ranks"] == 20);
  CHECK(ranks["one_clock"] == true);
  REQUIRE(ranks["collectives"].size() == 20);
  std::int64_t waited = 0;
  for (const auto& ns : ranks["collectives"][0]["waited_ns"]) waited += ns.get<std::int64_t>();
  CHECK(waited == ranks["collectives"][0]["cost_ns"]);
  CHECK(ranks["rows"][2]["caused_ns"] == ranks["total_waited_ns"]);
  call.pop_back();
  // Twice the same rank is not compared with itself.
  const Ran twice = run_cli({"trace", call[1], call[1]});
  CHECK(twice.error.find(" was given twice; the second is left out.") != std::string::npos);
  CHECK(twice.out.find("One job") == std::string::npos);
  CHECK(twice.out.find("computes") == std::string::npos);
}

TEST_CASE("trace -o writes Chrome JSON that reopens to the same figures") {
  const support::Folder folder;
  const std::string copy = (folder.path / "copy.json").string();
  REQUIRE(run_cli({"trace", small, "-o", copy}).status == 0);
  const auto doc = nlohmann::json::parse(run_cli({"trace", copy, "--json"}).out);
  CHECK(doc[0]["devices"]["0"]["exposed_comm_ns"] == 19999);
}

TEST_CASE("trace --extract writes what the diagnosis reads, of a window or of all") {
  const support::Folder folder;
  const std::string part = (folder.path / "part.json").string();
  REQUIRE(run_cli({"trace", small, "-o", part, "--extract"}).status == 0);
  const auto all = nlohmann::json::parse(run_cli({"trace", part, "--json"}).out);
  CHECK(all[0]["devices"]["0"]["busy_ns"] == 130000);
  CHECK(all[0]["devices"]["0"]["exposed_comm_ns"] == 19999);
  CHECK(all[0]["events"].get<int>() < 28);
  // The second half of the recording, which begins with its second step.
  REQUIRE(run_cli({"trace", small, "-o", part, "--extract", "--window", "100us:"}).status == 0);
  const auto half = nlohmann::json::parse(run_cli({"trace", part, "--json"}).out);
  CHECK(half[0]["devices"]["0"]["busy_ns"].get<int>() < 130000);
  CHECK(run_cli({"trace", small, "--extract"}).error.find("-o") != std::string::npos);
  for (const char* window : {"1", "2:x", "1:-2"}) {
    const Ran r = run_cli({"trace", small, "-o", part, "--extract", "--window", window});
    CHECK(r.status == 2);
    CHECK(r.error.size() > 20);
  }
  CHECK(run_cli({"trace", small, "-o", part, "--extract", "--window", "9:"}).error.find("No work of a device") !=
        std::string::npos);
}
