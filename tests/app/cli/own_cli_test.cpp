#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/platform/json.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/cli_run.h"

using app::Json;
using support::refused_by_cli;
using support::run_cli;

namespace {

/// Files of one's own, named on the command line; the catalog is the bundled one again at the end.
struct OwnFiles {
  support::Folder folder;
  OwnFiles() {
    support::use_bundled_catalog();
    std::filesystem::create_directories(folder / "acme-8b");
    folder.write("acme-8b/config.json", support::read_text(support::data_file("configs/llama-3-8b.json")));
    folder.write("chip.json", R"({"id": "my_chip", "name": "My chip", "peak_flops_per_s": {"bf16": 1979e12},
        "memory_bytes": 160e9, "memory_bandwidth_bytes_per_s": 6.7e12,
        "interconnect": {"bytes_per_s_per_direction": 450e9}})");
    folder.write("fabric.json", R"({"id": "our_fabric", "name": "Our fabric", "kind": "ethernet",
        "bytes_per_s_per_direction": 2e10, "source": "measured"})");
  }
  ~OwnFiles() { support::put_back_bundled_catalog(); }
  std::string path(const char* name) const { return (folder / name).string(); }
};

Json evaluated(std::vector<std::string> words, const std::vector<std::string>& sets) {
  words.insert(words.begin(), "eval");
  words.emplace_back("--json");
  for (const std::string& set : sets) {
    words.emplace_back("--set");
    words.push_back(set);
  }
  const support::Ran ran = run_cli(words);
  INFO(ran.error);
  REQUIRE(ran.status == 0);
  return Json::parse(ran.out);
}

}  // namespace

TEST_CASE("plan takes a config.json, a chip and a network by path, and says which it used") {
  const OwnFiles own;
  const support::Ran ran = run_cli({"plan", "--model", own.path("acme-8b/config.json"), "--chip", own.path("chip.json"),
                                    "--network", own.path("fabric.json"), "--gpus", "16", "--top", "1", "--json"});
  INFO(ran.error);
  REQUIRE(ran.status == 0);
  const Json doc = Json::parse(ran.out);
  CHECK(doc["model"] == "acme-8b");
  CHECK(doc["used"]["model"]["file"] == own.path("acme-8b/config.json"));
  CHECK(doc["used"]["chip"]["name"] == "My chip");
  CHECK(doc["used"]["network"]["id"] == "our_fabric");
  CHECK(doc["memory_limit_bytes"] == 158e9);  // 160 GB, of which 2 stay free
  // The same sizes under a bundled name give the same plans.
  const std::vector<std::string> rest{"--chip", "h100_sxm", "--gpus", "16", "--top", "2", "--json"};
  const auto plans_of = [&](const std::string& model) {
    std::vector<std::string> words{"plan", "--model", model};
    words.insert(words.end(), rest.begin(), rest.end());
    return Json::parse(run_cli(words).out)["plans"];
  };
  CHECK(plans_of(own.path("acme-8b/config.json")) == plans_of("llama-3-8b"));
}

TEST_CASE("eval takes a model and a chip of one's own by path in any lab, and names them with their files") {
  const OwnFiles own;
  const Json doc = evaluated({"serving/batching"}, {"model=" + own.path("acme-8b"), "chip=" + own.path("chip.json")});
  CHECK(doc["inputs"]["model"] == "acme-8b");
  CHECK(doc["used"]["model"] ==
        Json{{"id", "acme-8b"}, {"name", "acme-8b"}, {"file", own.path("acme-8b/config.json")}});
  CHECK(doc["used"]["chip"]["file"] == own.path("chip.json"));
  const Json bundled = evaluated({"serving/batching"}, {"model=llama-3-8b", "chip=h100_sxm"});
  CHECK_FALSE(bundled["used"]["model"].contains("file"));
  // Behind a lab the file goes to the choice that it is one for; the lab's own file input keeps its key.
  CHECK(evaluated({"training/optimizer", own.path("acme-8b/config.json")}, {})["inputs"]["model"] == "acme-8b");
  CHECK(evaluated({"roofline/roofline", own.path("chip.json")}, {})["inputs"]["chip"] == "my_chip");
}

TEST_CASE("render and sweep take a model by path as eval does") {
  const OwnFiles own;
  const std::string set = "model=" + own.path("acme-8b/config.json");
  const auto swept = [&](const std::string& model) {
    return run_cli(
        {"sweep", "roofline/transformer-layer", "--over", "batch=1:4:2", "--output", "time_s", "--set", model});
  };
  CHECK(swept(set).status == 0);
  CHECK(swept(set).out == swept("model=llama-3-8b").out);
  const std::string svg = own.path("out.svg");
  CHECK(run_cli({"render", "roofline/transformer-layer", "-o", svg, "--set", set, "--size", "640x480"}).status == 0);
  CHECK(std::filesystem::exists(svg));
}

TEST_CASE("a path that is no model, or not there, is one sentence and exit status 2") {
  const OwnFiles own;
  const auto plan = [&](const std::string& model) {
    return refused_by_cli({"plan", "--model", model, "--chip", "h100_sxm", "--gpus", "8"});
  };
  CHECK(plan(own.path("none.json")).find("none.json cannot be opened") != std::string::npos);
  CHECK(plan(own.path("chip.json")).find("chip.json") != std::string::npos);
  own.folder.write("mamba.json", R"({"model_type": "mamba", "hidden_size": 2048})");
  CHECK(plan(own.path("mamba.json")).find("--model: mamba.json: model_type is \"mamba\"") == 0);
  CHECK(refused_by_cli({"eval", "serving/batching", "--set", "model=" + own.path("mamba.json")})
            .find("state-space layers") != std::string::npos);
}

TEST_CASE("eval of a scenario and of a link that carry a model needs nothing else") {
  const OwnFiles own;
  const Json config = Json::parse(own.folder.read("acme-8b/config.json"));
  const Json carried = Json::array(
      {{{"kind", "model"}, {"entry", {{"id", "acme"}, {"name", "Acme"}, {"source", "us"}, {"config", config}}}}});
  const Json scenario = {
      {"lab", "training/optimizer"}, {"version", 1}, {"inputs", {{"model", "acme"}}}, {"own", carried}};
  own.folder.write("s.json", app::to_text(scenario));
  const support::Ran ran = run_cli({"eval", "--scenario", own.path("s.json"), "--json"});
  INFO(ran.error);
  REQUIRE(ran.status == 0);
  const Json bundled = evaluated({"training/optimizer"}, {"model=llama-3-8b"});
  CHECK(Json::parse(ran.out)["outputs"] == bundled["outputs"]);
  CHECK(Json::parse(ran.out)["used"]["model"] == Json{{"id", "acme"}, {"name", "Acme"}});
}
