#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/cli_run.h"

using support::Ran;
using support::run_cli;

namespace {

std::string report_file(const char* name) { return support::data_file(std::string("kernel_reports/") + name); }

}  // namespace

TEST_CASE("counters prints verdict, evidence and next step of each kernel, in text and as JSON") {
  const Ran text = run_cli({"counters", report_file("details.txt")});
  CHECK(text.status == 0);
  CHECK(text.error == "");
  for (const char* part :
       {"register_tiled(const float *, const float *, float *, int)\n",
        "verdict neither, bound by latency, cause the MIO queue",
        "time 12.3 ms, compute 47.1 %, memory 49.0 %, DRAM 21.5 %, waves 12.8", "the MIO queue, 49.1 %",
        "next: Issue fewer and wider shared loads", "row_sums", "bound by memory"}) {
    INFO(part << "\n" << text.out);
    CHECK(text.out.find(part) != std::string::npos);
  }
  const Ran r = run_cli({"counters", report_file("details.csv"), report_file("rocprof.txt"), "--json"});
  REQUIRE(r.status == 0);
  const auto doc = nlohmann::json::parse(r.out);
  REQUIRE(doc.size() == 2);
  REQUIRE(doc[0]["kernels"].size() == 2);
  const auto& first = doc[0]["kernels"][0];
  CHECK(first["verdict"] == "latency");
  CHECK(first["class"] == "latency");
  CHECK(first["cause"] == "mio_queue");
  CHECK(first["waves"] == 12.8);
  CHECK_FALSE(first["figures"].contains("dram_pct"));  // not printed, so not there
  CHECK(doc[1]["kernels"][0]["verdict"] == "undecided");
  CHECK(doc[1]["kernels"][0]["waves"].is_null());
}

TEST_CASE("counters refuses in a sentence what is no report, and still prints those that are") {
  CHECK(run_cli({"counters"}).status == 2);
  const support::Folder folder;
  folder.write("binary.ncu-rep", std::string("NVR\0\1\2", 6));
  const Ran r = run_cli({"counters", (folder / "binary.ncu-rep").string(), "no-such-file", report_file("list.json")});
  CHECK(r.status == 2);
  CHECK(r.error.find("ncu --import FILE --page details") != std::string::npos);
  CHECK(r.error.find("no-such-file") != std::string::npos);
  CHECK(r.out.find("SobelNaive") != std::string::npos);
  CHECK(r.out.find("1 kernel is left out") != std::string::npos);
}
