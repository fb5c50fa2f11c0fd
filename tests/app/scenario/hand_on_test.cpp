#include "app/scenario/hand_on.h"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/scenario/carried_file.h"
#include "app/scenario/link.h"
#include "app/scenario/own_handed_on.h"
#include "app/scenario/scenario.h"
#include "app/scenario/scenario_files.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"

using app::Json;

namespace {

std::string llama_text() { return support::read_text(support::data_file("configs/llama-3-8b.json")); }
std::string gpt2_text() { return support::read_text(support::data_file("configs/gpt2.json")); }

/// The bundled catalog with a model of one's own, until the test ends.
struct OwnModel {
  explicit OwnModel(const std::string& config, const std::string& name = "Acme") {
    support::use_bundled_catalog();
    take(config, name);
  }
  ~OwnModel() { support::put_back_bundled_catalog(); }
  static void take(const std::string& config, const std::string& name) {
    auto set = app::read_own_models(config, "config.json", "/mine/config.json", name);
    REQUIRE(set);
    REQUIRE(app::take_handed_on(app::to_text(list_of(*set))));
  }
  static Json list_of(const app::OwnSet& set) { return app::own_to_json({&set.models[0].entry}); }
};

chapters::LabPtr lab_with(const char* lab, const Json& inputs) {
  auto made = chapters::make_lab_by_id(lab);
  const auto set = app::apply_inputs(*made, inputs);
  INFO(set.error);
  REQUIRE(set);
  return made;
}

double parameters(chapters::Lab& lab) {
  lab.compute();
  return lab.outputs().find("parameters_total")->number();
}

constexpr const char* layer = "roofline/transformer-layer";
constexpr const char* measured = "name,flops,bytes,time_s\nmatmul,2e12,4e9,0.004\n";

}  // namespace

TEST_CASE("a link and a scenario carry a model of one's own to a machine that has not heard of it") {
  std::string link, scenario;
  {
    const OwnModel own(llama_text());
    const auto lab = lab_with(layer, {{"model", "acme"}, {"batch", 3}});
    const app::HandedOn linked = app::link_to_hand_on(*lab), saved = app::scenario_to_hand_on(*lab, "/tmp");
    CHECK(linked.notice == "");
    CHECK(saved.notice == "");
    link = linked.text;
    scenario = saved.text;
  }
  CHECK(link.find("/mine") == std::string::npos);  // no path of that machine goes along
  CHECK(scenario.find("/mine") == std::string::npos);
  REQUIRE_FALSE(chapters::catalog().model("acme"));
  for (const bool from_link : {true, false}) {
    const std::string own = from_link ? app::parse_link(link).own : app::parse_scenario(scenario)->own_text;
    REQUIRE(app::take_handed_on(own));
    auto inputs = from_link ? app::link_inputs(app::parse_link(link))
                            : app::parse_json(app::parse_scenario(scenario)->inputs_text);
    REQUIRE(inputs);
    CHECK((*inputs)["model"] == "acme");
    CHECK(parameters(*lab_with(layer, *inputs)) == 8030261248);
    support::put_back_bundled_catalog();
  }
}

TEST_CASE("where another thing has the name, what was sent gets another and the inputs follow it") {
  Json sent;
  {
    const OwnModel own(llama_text());
    sent = app::scenario_to_json(*lab_with(layer, {{"model", "acme"}}));
  }
  const OwnModel other(gpt2_text());
  const auto taken = app::take_handed_on(app::to_text(sent["own"]));
  REQUIRE(taken);
  const auto lab = chapters::make_lab_by_id(layer);
  app::rename_own(lab->inputs(), *taken, sent["inputs"]);
  CHECK(sent["inputs"]["model"] == "acme-2");
  CHECK(parameters(*lab_with(layer, sent["inputs"])) == 8030261248);
  CHECK(parameters(*lab_with(layer, {{"model", "acme"}})) == 124439808);  // GPT-2 as Hugging Face counts it
}

TEST_CASE("a chip of one's own in a list of choices goes along and is renamed in it") {
  support::use_bundled_catalog();
  const Json list = Json::parse(R"([{"kind": "chip", "entry": {"id": "h100_sxm", "name": "Ours",
      "peak_flops_per_s": {"bf16": 4e14}, "memory_bytes": 64e9, "memory_bandwidth_bytes_per_s": 2e12}}])");
  const auto taken = app::take_handed_on(app::to_text(list));
  REQUIRE(taken);
  Json inputs = {{"chip", "h100_sxm"}, {"chips", {"b200_sxm", "h100_sxm"}}};
  const auto lab = chapters::make_lab_by_id("roofline/roofline");
  app::rename_own(lab->inputs(), *taken, inputs);
  CHECK(inputs == Json{{"chip", "h100_sxm_2"}, {"chips", {"b200_sxm", "h100_sxm_2"}}});
  REQUIRE(app::apply_inputs(*lab, inputs));
  CHECK(app::own_used(lab->inputs()).size() == 1);
  support::put_back_bundled_catalog();
}

TEST_CASE("what is damaged in what a scenario carries is said, and nothing is taken") {
  support::use_bundled_catalog();
  const std::size_t before = chapters::catalog().models.size();
  for (const char* bad :
       {"{}", "[7]", R"([{"kind": "model"}])", R"([{"kind": "car", "entry": {}}])", "[", "nonsense",
        R"([{"kind": "model", "entry": {"model_type": "mamba"}}])", R"([{"kind": "chip", "entry": {"id": "x"}}])"}) {
    const auto taken = app::take_handed_on(bad);
    INFO(bad << ": " << taken.error);
    CHECK_FALSE(taken);
    CHECK(taken.error.back() == '.');
  }
  CHECK(chapters::catalog().models.size() == before);
}

TEST_CASE("a small file goes along in a link and in a scenario, as its name and what it holds") {
  const support::Folder folder;
  folder.write("runs.csv", measured);
  const auto lab = lab_with("roofline/roofline", {{"measured", (folder / "runs.csv").string()}});
  const app::HandedOn link = app::link_to_hand_on(*lab), saved = app::scenario_to_hand_on(*lab, folder.path);
  CHECK(link.notice == "");
  CHECK(saved.notice == "");
  CHECK(link.text.find(folder.path.string()) == std::string::npos);
  CHECK(saved.text.find(folder.path.string()) == std::string::npos);
  std::filesystem::remove(folder / "runs.csv");
  const auto linked = app::link_inputs(app::parse_link(link.text));
  REQUIRE(linked);
  CHECK((*linked)["measured"] == Json{{"name", "runs.csv"}, {"text", measured}});
  CHECK(app::named_files(lab->inputs(), *linked).empty());  // so nobody is asked
  for (const Json& inputs : {*linked, Json::parse(saved.text)["inputs"]}) {
    const auto there = lab_with("roofline/roofline", inputs);
    const chapters::FileInput& file = there->inputs().find("measured")->file();
    CHECK(file.path == "runs.csv");
    CHECK(file.text == measured);
    CHECK(app::is_carried(file));
    lab->compute();
    there->compute();
    CHECK(app::fields_to_json(lab->outputs()) == app::fields_to_json(there->outputs()));
    // Handed on once more from there, it is the same.
    CHECK(app::link_to_hand_on(*there).text == link.text);
  }
}

TEST_CASE("a recording goes along where it is small, and is read from the memory as from the disk") {
  const support::Folder folder;
  folder.write("small.json", support::read_text(support::data_file("traces/small.json")));
  const auto lab = lab_with("profiling/trace-viewer", {{"file", (folder / "small.json").string()}});
  const auto there =
      lab_with("profiling/trace-viewer", Json::parse(app::scenario_to_hand_on(*lab, folder.path).text)["inputs"]);
  CHECK(app::is_carried(there->inputs().find("file")->file()));
  lab->compute();
  there->compute();
  CHECK(there->reason() == "");
  CHECK(app::fields_to_json(lab->outputs()) == app::fields_to_json(there->outputs()));
}

TEST_CASE("a file that is too large or no text stays a path, and one sentence says so") {
  const support::Folder folder;
  const std::string many = "name,flops,bytes,time_s\n" + [] {
    std::string rows;
    for (int i = 0; i < 1000; ++i) rows += "matmul" + std::to_string(i) + ",2e12,4e9,0.004\n";
    return rows;
  }();
  REQUIRE(many.size() > app::max_link_bytes);
  REQUIRE(many.size() < app::max_carried_bytes);
  folder.write("runs.csv", many);
  const std::string path = (folder / "runs.csv").string();
  const auto lab = lab_with("roofline/roofline", {{"measured", path}});
  const app::HandedOn link = app::link_to_hand_on(*lab);
  CHECK(link.notice ==
        "The link names \"runs.csv\" by its path on this machine, which no other has: a link carries texts up to 16 "
        "KiB, a saved scenario up to 256 KiB each.");
  CHECK(app::parse_link(link.text).sets == decltype(app::Link::sets){{"measured", path}});
  CHECK(app::scenario_to_hand_on(*lab, folder.path).notice == "");

  folder.write("runs.csv", many + std::string(app::max_carried_bytes, '\n'));
  const app::HandedOn saved =
      app::scenario_to_hand_on(*lab_with("roofline/roofline", {{"measured", path}}), folder.path);
  CHECK(saved.notice ==
        "The scenario names \"runs.csv\" by its path alone, since it carries texts up to 256 KiB: send that file "
        "along.");
  CHECK(Json::parse(saved.text)["inputs"]["measured"] == "runs.csv");  // beneath the scenario's folder
  CHECK(Json::parse(app::scenario_to_hand_on(*lab_with("roofline/roofline", {{"measured", path}}), "/else")
                        .text)["inputs"]["measured"] == path);
}

TEST_CASE("what eval used is named with its file, and a config.json in a file input is the model") {
  const OwnModel own(llama_text());
  const Json used = app::used_by(lab_with("distributed/planner", {{"model", "llama-3-8b"}})->inputs());
  CHECK(used["model"] == Json{{"id", "llama-3-8b"}, {"name", chapters::catalog().model("llama-3-8b")->name}});
  CHECK(used["chip"]["id"] == "h100_sxm");
  CHECK(used.contains("network"));
  const std::string path = support::data_file("configs/gpt2.json");
  const Json file = app::used_by(lab_with(layer, {{"model", "llama-3-70b"}, {"config", path}})->inputs());
  CHECK(file["model"] == Json{{"name", "gpt2"}, {"file", path}});
}
