#include "app/scenario/scenario_files.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/base/files.h"

using app::Json;
using Paths = std::vector<std::string>;

namespace {

const char* files_viewer = "profiling/trace-viewer";

Json named() {
  return Json::parse(R"({"file": "/data/run/rank0.json", "beside_file": "/data/other.json", "search": "/data/run",
                         "ranks": [{"file": "/data/run/more/rank1.json"}, {"file": ""}, 7]})");
}

}  // namespace

TEST_CASE("the files of a scenario are those of its file inputs, in rows of tables too, and nothing else") {
  const auto lab = chapters::make_lab_by_id(files_viewer);
  const auto files = app::named_files(lab->inputs(), named());
  CHECK(files.size() == 3);
  for (const char* file : {"/data/run/rank0.json", "/data/other.json", "/data/run/more/rank1.json"})
    CHECK(std::find(files.begin(), files.end(), file) != files.end());
  CHECK(app::named_files(lab->inputs(), Json::parse(R"({"file": 7, "ranks": {"file": "x"}, "none": "x"})")).empty());
  CHECK(app::named_files(lab->inputs(), Json::parse("[]")).empty());
}

TEST_CASE("paths beneath a scenario's folder become relative and whole again; others stay whole") {
  const auto lab = chapters::make_lab_by_id(files_viewer);
  Json inputs = named();
  app::make_paths_relative(lab->inputs(), inputs, "/data/run");
  CHECK(inputs["file"] == "rank0.json");
  CHECK(inputs["beside_file"] == "/data/other.json");
  CHECK(inputs["ranks"][0]["file"] == "more/rank1.json");
  CHECK(inputs["search"] == "/data/run");
  app::make_paths_whole(lab->inputs(), inputs, "/elsewhere");
  CHECK(inputs["file"] == "/elsewhere/rank0.json");
  CHECK(inputs["ranks"][0]["file"] == "/elsewhere/more/rank1.json");
  // A name that only begins like the folder's is not beneath it.
  Json near_by = {{"file", "/data/runs/rank0.json"}};
  app::make_paths_relative(lab->inputs(), near_by, "/data/run");
  CHECK(near_by["file"] == "/data/runs/rank0.json");
  Json out = {{"file", "../../etc/passwd"}};
  app::make_paths_whole(lab->inputs(), out, "/data/run");
  CHECK(out["file"] == "/etc/passwd");  // said as what it is, when the person is asked
  app::leave_files_out(lab->inputs(), out);
  CHECK(out["file"] == "");
}

TEST_CASE("a link's inputs are checked without touching a file that it names") {
  const auto good = app::link_inputs(app::parse_link("ridgeline://profiling/trace-viewer?file=/no/such/file.json"));
  REQUIRE(good);
  CHECK((*good)["file"] == "/no/such/file.json");
  CHECK(app::link_inputs(app::parse_link("roofline/roofline?bytes=lots")).error.find("bytes: ") == 0);
  CHECK(app::link_inputs(app::parse_link("roofline/roofline?bites=1")).error.find("did you mean \"bytes\"?") !=
        std::string::npos);
}

TEST_CASE(
    "guesses are those that contain the word, else the fewest edits away, three at most, in any case of letters") {
  const Paths chips{"b100", "h100_sxm", "h100_pcie", "h100_nvl", "h100_cluster", "a100"};
  CHECK(app::nearest_few("H100", chips) == Paths{"h100_sxm", "h100_nvl", "h100_pcie"});  // the shortest first
  CHECK(app::did_you_mean("h10_sxm", chips) == "did you mean \"h100_sxm\"?");
  CHECK(app::did_you_mean("c100", chips) == "did you mean \"b100\" or \"a100\"?");
  CHECK(app::did_you_mean("zebra", chips) == "");
  CHECK(app::did_you_mean("", chips) == "");
  CHECK(app::did_you_mean(std::string(100000, 'x'), chips) == "");
  CHECK(app::nearest("batc", {"batch", "bytes"}) == "batch");
}
