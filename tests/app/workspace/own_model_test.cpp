#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/scenario/hand_on.h"
#include "app/scenario/own_handed_on.h"
#include "tests/app/workspace/person.h"

// A model, a chip or a network of a person's own, opened anywhere, is a choice of every lab and stays.
namespace person_test {

namespace {

constexpr const char* layer = "roofline/transformer-layer";

/// A person with a config.json somewhere; the catalog is the bundled one again at the end.
struct Owner {
  Person person;
  std::unique_ptr<app::Workspace> w;
  Owner() {
    support::put_back_bundled_catalog();
    std::filesystem::create_directories(person.folder / "acme-8b");
    write("acme-8b/config.json", "llama-3-8b");
    person.folder.write("chip.json", R"({"id": "my_chip", "name": "My chip", "peak_flops_per_s": {"bf16": 4e14},
                                         "memory_bytes": 64e9, "memory_bandwidth_bytes_per_s": 2e12})");
    person.folder.write("fabric.json", R"({"id": "our_fabric", "name": "Our fabric", "kind": "ethernet",
                                           "bytes_per_s_per_direction": 2e10, "source": "measured"})");
    start();
  }
  ~Owner() {
    w.reset();
    support::put_back_bundled_catalog();
  }
  void write(const std::string& name, const std::string& config) const {
    person.folder.write(name, support::read_text(support::data_file("configs/" + config + ".json")));
  }
  /// The program ends and begins again, with what lies in the folders.
  void start() {
    if (w) w->save();
    w.reset();
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), person.folder / "config").catalog);
    w = std::make_unique<app::Workspace>(support::bundled_content(), person.paths());
  }
  std::string open(const char* name) const { return w->opening.open_and_wait((person.folder / name).string()).error; }
  double out(const char* key) const { return w->lab().outputs().find(key)->number(); }
  std::string in(const char* key) const { return text(*w, key); }
  bool offers(const char* key, const char* label) const {
    for (const auto& option : *w->lab().inputs().find(key)->options)
      if (option.label == label) return true;
    return false;
  }
  int kept(const char* folder) const {
    const auto path = person.folder / "config" / folder;
    if (!std::filesystem::exists(path)) return 0;
    return static_cast<int>(std::distance(std::filesystem::directory_iterator(path), {}));
  }
};

}  // namespace

TEST_CASE("a config that opens a lab for itself says all that happened in one message") {
  Owner o;
  REQUIRE(o.w->open("roofline/roofline"));
  o.w->lab().inputs().find("batch")->set_number(7);
  o.w->update(false);
  REQUIRE(o.w->open("precision/bits"));  // has no choice of a model
  o.w->messages().clear();
  CHECK(o.open("acme-8b/config.json") == "");
  CHECK(open_lab(*o.w) != "precision/bits");
  REQUIRE(o.w->messages().size() == 1);
  const std::string& text = o.w->messages()[0].text;
  INFO(text);
  CHECK(text.find("The model acme-8b is kept with your own") == 0);
  CHECK(text.find(" Carried over: ") != std::string::npos);
  CHECK(text.find("Batch from Roofline.") != std::string::npos);
  CHECK(o.w->messages()[0].action.label == "Take it away");
}

TEST_CASE("a config that is opened is chosen where a model is chosen, offered in every lab, and there next time") {
  Owner o;
  REQUIRE(o.w->open("distributed/planner"));
  CHECK(o.open("acme-8b/config.json") == "");
  CHECK(open_lab(*o.w) == "distributed/planner");  // a lab with a choice of a model stays
  CHECK(o.in("model") == "acme-8b");
  CHECK(said(*o.w, "The model acme-8b is kept with your own: choose it anywhere a model is chosen."));
  for (const char* lab : {"serving/batching", "training/optimizer", layer}) {
    INFO(lab);
    REQUIRE(o.w->open(lab));
    CHECK(o.in("model") == "acme-8b");  // a shared choice follows
    CHECK(o.offers("model", "acme-8b, yours"));
  }
  CHECK(o.out("parameters_total") == 8030261248);
  o.start();
  REQUIRE(o.w->open(layer));
  CHECK(o.in("model") == "acme-8b");
  CHECK(o.out("parameters_total") == 8030261248);
  CHECK(o.kept("models") == 1);
  CHECK(o.open("acme-8b/config.json") == "");  // the same once more is no other
  CHECK(o.kept("models") == 1);
}

TEST_CASE("choosing an opened model is one step of undo") {
  Owner o;
  REQUIRE(o.w->open("training/optimizer"));
  const std::string before = o.in("model");
  CHECK(o.open("acme-8b/config.json") == "");
  CHECK(o.in("model") == "acme-8b");
  o.w->undo();
  o.w->update(false);
  CHECK(o.in("model") == before);
}

TEST_CASE("another model of the same name gets a name of its own, and what was there stays") {
  Owner o;
  REQUIRE(o.w->open(layer));
  CHECK(o.open("acme-8b/config.json") == "");
  o.write("acme-8b/config.json", "gpt2");
  CHECK(o.open("acme-8b/config.json") == "");
  CHECK(o.in("model") == "acme-8b-2");
  CHECK(o.out("parameters_total") == 124439808);  // GPT-2 as Hugging Face counts it
  CHECK(said(*o.w, "acme-8b 2 (acme-8b-2, since another model is called acme-8b)"));
  choose(*o.w, "model", "acme-8b");
  CHECK(o.out("parameters_total") == 8030261248);
  CHECK(o.kept("models") == 2);
}

TEST_CASE("a kept model can be taken away again, and survives that the catalog is read anew meanwhile") {
  Owner o;
  REQUIRE(o.w->open(layer));
  o.w->reload_catalog();
  CHECK(o.open("acme-8b/config.json") == "");
  CHECK(o.in("model") == "acme-8b");
  CHECK(o.offers("model", "acme-8b, yours"));
  const app::Action away = o.w->messages().back().action;
  REQUIRE(away.label == "Take it away");
  choose(*o.w, "model", "llama-3-8b");
  away.run();
  o.w->finish_catalog();
  CHECK(o.kept("models") == 0);
  CHECK_FALSE(o.offers("model", "acme-8b, yours"));
}

TEST_CASE("a lab that uses a model which is taken away goes back to the one that it opens with") {
  Owner o;
  REQUIRE(o.w->open(layer));
  const auto opens_with = o.in("model");
  CHECK(o.open("acme-8b/config.json") == "");
  REQUIRE(o.in("model") == "acme-8b");
  o.w->messages().back().action.run();
  o.w->finish_catalog();
  CHECK(o.in("model") == opens_with);
  CHECK_FALSE(o.offers("model", "acme-8b, yours"));
  REQUIRE(o.w->open("framework/training-memory"));  // whose choice it was too
  CHECK(o.in("model") != "acme-8b");
}

TEST_CASE("without folders of one's own an opened model is there until the program ends") {
  Owner o;
  o.w = std::make_unique<app::Workspace>(support::bundled_content(),
                                         models::Result<app::UserPaths>::fail("Nothing is kept in this test."));
  REQUIRE(o.w->open(layer));
  CHECK(o.open("acme-8b/config.json") == "");
  CHECK(o.in("model") == "acme-8b");
  CHECK(said(*o.w, "Nothing is kept in this test."));
  o.w->reload_catalog();
  o.w->finish_catalog();
  CHECK(o.offers("model", "acme-8b, yours"));
}

TEST_CASE("a chip and a network that are opened become choices, and the open lab's where it has one") {
  Owner o;
  REQUIRE(o.w->open("distributed/planner"));
  CHECK(o.open("chip.json") == "");
  CHECK(o.in("chip") == "my_chip");
  CHECK(o.open("fabric.json") == "");
  CHECK(o.in("network") == "our_fabric");
  REQUIRE(o.w->open("distributed/overlap"));
  CHECK(o.in("chip") == "my_chip");
  CHECK(o.in("network") == "our_fabric");
  CHECK(o.offers("network", "Our fabric, yours"));
  o.start();
  REQUIRE(o.w->open("distributed/overlap"));
  CHECK(o.in("network") == "our_fabric");
  CHECK(o.kept("chips") == 2);
}

TEST_CASE("a config.json in a file input becomes the model of the lab; one that is none stays and is said") {
  Owner o;
  REQUIRE(o.w->open(layer));
  const auto give = [&](const std::string& path) {
    REQUIRE(app::apply_inputs(o.w->lab(), {{"config", path}}));
    o.w->update(false);
  };
  give((o.person.folder / "acme-8b/config.json").string());
  CHECK(o.in("model") == "acme-8b");
  CHECK(o.w->lab().inputs().find("config")->file().path == "");
  CHECK(o.out("parameters_total") == 8030261248);
  REQUIRE(o.w->open("training/optimizer"));
  CHECK(o.in("model") == "acme-8b");
  REQUIRE(o.w->open(layer));
  give(support::data_file("configs/heads_do_not_divide.json"));
  CHECK(o.in("model") == "acme-8b");
  CHECK(o.w->lab().reason().find("num_key_value_heads") != std::string::npos);
}

TEST_CASE("a scenario from another machine opens with its model, which is kept, and never takes another's place") {
  Owner sender;
  REQUIRE(sender.w->open(layer));
  CHECK(sender.open("acme-8b/config.json") == "");
  const std::string file = app::scenario_to_hand_on(sender.w->lab(), "/").text;
  const std::string link = app::link_to_hand_on(sender.w->lab()).text;
  sender.w.reset();

  Owner o;
  o.person.folder.write("sent.json", file);
  o.write("acme-8b.json", "gpt2");
  for (const bool other_there : {false, true}) {
    for (const bool by_link : {false, true}) {
      INFO(other_there << by_link);
      if (other_there) {
        o.write("acme-8b/config.json", "gpt2");
        CHECK(o.open("acme-8b/config.json") == "");
      }
      REQUIRE(o.w->open("roofline/iron-law"));
      CHECK((by_link ? o.w->open_link(link).error : o.open("sent.json")) == "");
      CHECK_FALSE(o.w->opening.asked());
      CHECK(open_lab(*o.w) == layer);
      CHECK(o.out("parameters_total") == 8030261248);
      CHECK(o.in("model") == (other_there ? "acme-8b-2" : "acme-8b"));
      CHECK(said(*o.w, by_link ? "came with the link" : "came with the scenario"));
      CHECK(o.kept("models") == (other_there ? 2 : 1));
      std::filesystem::remove_all(o.person.folder / "config");
      o.start();
    }
  }
}

TEST_CASE("a list of scenarios, and where the person was, bring back a model and a file that were carried") {
  Owner o;
  REQUIRE(o.w->open("roofline/roofline"));
  const app::Json rows = {{"name", "runs.csv"}, {"text", "name,flops,bytes,time_s\nmatmul,2e12,4e9,0.004\n"}};
  const app::Json sent = {{"lab", "roofline/roofline"}, {"version", 1}, {"inputs", {{"measured", rows}}}};
  CHECK(o.w->open_scenario(app::to_text(sent)).error == "");
  REQUIRE(o.w->lab().inputs().find("measured")->file().path == "runs.csv");
  o.w->lab().inputs().find("bytes")->set_number(3e9);
  o.w->update(false);
  o.w->undo();
  o.w->update(false);
  CHECK(o.w->lab().inputs().find("measured")->file().text.find("matmul") != std::string::npos);
  o.start();
  REQUIRE(o.w->open("roofline/roofline"));
  CHECK(o.w->lab().inputs().find("measured")->file().path == "runs.csv");
  CHECK(o.w->lab().inputs().find("measured")->file().text.find("matmul") != std::string::npos);
}

TEST_CASE("undo takes back a link or a scenario as one step, and goes back to the lab that was open before") {
  Owner o;
  REQUIRE(o.w->open("roofline/iron-law"));
  choose(*o.w, "chip", "b200_sxm");
  REQUIRE(o.w->open(layer));
  o.w->lab().inputs().find("batch")->set_number(5);
  o.w->update(false);
  REQUIRE(o.w->open("roofline/iron-law"));
  CHECK(o.w->open_link("ridgeline://roofline/transformer-layer?phase=decode&batch=8&chip=mi300x").error == "");
  CHECK(open_lab(*o.w) == layer);
  CHECK(input_number(*o.w, "batch") == 8);
  SECTION("undo, and redo") {
    o.w->undo();
    CHECK(open_lab(*o.w) == "roofline/iron-law");
    CHECK(o.in("chip") == "b200_sxm");
    REQUIRE(o.w->can_redo());
    o.w->redo();
    CHECK(open_lab(*o.w) == layer);
    CHECK(input_number(*o.w, "batch") == 8);
    CHECK(o.in("phase") == "decode");
    o.w->undo();
    CHECK(open_lab(*o.w) == "roofline/iron-law");
    REQUIRE(o.w->open(layer));
    CHECK(input_number(*o.w, "batch") == 5);  // as it was before the link
  }
  SECTION("what was changed since is taken back first") {
    o.w->lab().inputs().find("batch")->set_number(16);
    o.w->update(false);
    o.w->undo();
    o.w->update(false);
    CHECK(open_lab(*o.w) == layer);
    CHECK(input_number(*o.w, "batch") == 8);
    o.w->undo();
    CHECK(open_lab(*o.w) == "roofline/iron-law");
  }
  SECTION("a link to the lab that is open, and a preset, are a step in it") {
    CHECK(o.w->open_link("ridgeline://roofline/transformer-layer?batch=32").error == "");
    o.w->undo();
    o.w->update(false);
    CHECK(open_lab(*o.w) == layer);
    CHECK(input_number(*o.w, "batch") == 8);
    CHECK(o.w->apply_preset(o.w->content.of(layer).presets.front()));
    o.w->undo();
    o.w->update(false);
    CHECK(input_number(*o.w, "batch") == 8);
    CHECK(o.in("phase") == "decode");
  }
}

}  // namespace person_test
