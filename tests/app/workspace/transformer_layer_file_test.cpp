#include <catch2/catch_test_macros.hpp>

#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/cli.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/base/paths.h"

// A configuration from outside reaches the transformer layer by path and by drop: the main job of chapter 01.

namespace {

const std::string configs = support::data_file("configs/");

struct Ran {
  int status;
  std::string out, error;
};

Ran eval(const std::vector<std::string>& sets) {
  std::vector<std::string> arguments{"eval", "roofline/transformer-layer", "--json"};
  for (const auto& set : sets) {
    arguments.push_back("--set");
    arguments.push_back(set);
  }
  std::ostringstream out, error;
  const int status = app::cli::run(arguments, {out, error});
  return {status, out.str(), error.str()};
}

}  // namespace

TEST_CASE("eval takes a config.json by path, and prints its operations") {
  const Ran ran = eval({"config=" + configs + "llama-3-8b.json", "chip=h100_sxm", "phase=decode"});
  INFO(ran.error);
  REQUIRE(ran.status == 0);
  const auto printed = nlohmann::json::parse(ran.out);
  CHECK(printed["feasible"] == true);
  CHECK(printed["inputs"]["config"] == configs + "llama-3-8b.json");
  const auto& out = printed["outputs"];
  CHECK(out["parameters_total"] == 8030261248);  // tensor sizes of the Hugging Face checkpoint
  CHECK(out["kv_bytes_per_token"] == 131072);    // 2 x 32 layers x 8 heads x 128 x 2 bytes
  double bytes = 0;
  for (const auto& op : out["operations"]) {
    CHECK((op["regime"] == "memory" || op["regime"] == "compute"));
    bytes += op["count"].get<double>() * op["bytes"].get<double>();
  }
  CHECK(std::abs(bytes / out["bytes_total"].get<double>() - 1) <= 1e-9);
}

TEST_CASE("eval says in one sentence what is wrong with a file") {
  const Ran unknown = eval({"config=" + configs + "unknown_type.json"});
  const std::string said =
      unknown.error +
      nlohmann::json::parse(unknown.out.empty() ? "{\"reason\":\"\"}" : unknown.out)["reason"].get<std::string>();
  INFO(said);
  CHECK(said.find("mamba2") != std::string::npos);
  const Ran missing = eval({"config=" + configs + "no_such_file.json"});
  CHECK(missing.status == 2);
  CHECK(missing.error.find("no_such_file.json cannot be opened") != std::string::npos);
}

TEST_CASE("a dropped config.json becomes the open lab's model; a broken one changes nothing and says why") {
  REQUIRE(app::cli::load_assets());
  app::Workspace w({}, models::Result<app::UserPaths>::fail("Nothing is kept in this test."));
  REQUIRE(w.open("roofline/transformer-layer"));
  const auto parameters = [&] { return w.lab().outputs().find("parameters_total")->integer(); };
  CHECK(w.opening.open_and_wait(configs + "deepseek-v3.json").error.empty());
  CHECK(parameters() == 671026419200);
  const std::string refused = w.opening.open_and_wait(configs + "heads_do_not_divide.json").error;
  CHECK(refused.find("num_key_value_heads") != std::string::npos);
  CHECK(w.lab().inputs().find("model")->choice_id() == "deepseek-v3");
  CHECK(parameters() == 671026419200);
  CHECK(w.opening.open_and_wait(configs + "gpt2.json").error.empty());
  CHECK(parameters() == 124439808);
}
