#include "app/scenario/own_entries.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"

namespace {

std::string llama_config() { return support::read_text(support::data_file("configs/llama-3-8b.json")); }
std::string gpt2_config() { return support::read_text(support::data_file("configs/gpt2.json")); }

app::OwnSet model_called(const std::string& name, const std::string& config) {
  auto set = app::read_own_models(config, "config.json", "/x/config.json", name);
  REQUIRE(set);
  return std::move(*set);
}

constexpr const char* chip = R"({"id": "my_chip", "name": "My chip", "peak_flops_per_s": {"bf16": 4e14},
                                 "memory_bytes": 64e9, "memory_bandwidth_bytes_per_s": 2e12})";
constexpr const char* faster_chip =
    R"({"chips": [{"id": "my_chip", "name": "My chip", "peak_flops_per_s": {"bf16": 4e14},
                                        "memory_bytes": 64e9, "memory_bandwidth_bytes_per_s": 3e12}]})";

}  // namespace

TEST_CASE("a config.json is called as its file, else as itself, else as its folder or repository") {
  CHECK(app::model_name("{}", "/a/acme-13b.json") == "acme-13b");
  CHECK(app::model_name(R"({"_name_or_path": "x/Base"})", "/a/acme-13b.json") == "acme-13b");
  CHECK(app::model_name(R"({"_name_or_path": "x/Base"})", "/a/run7/config.json") == "Base");
  CHECK(app::model_name("{}", "/a/run7/config.json") == "run7");
  CHECK(app::model_name("{}", "/hub/models--acme--acme-13b/snapshots/8a7b6c/config.json") == "acme-13b");
  CHECK(app::model_name("{}", "config.json") == "config");
}

TEST_CASE("what is taken into a catalog replaces nothing: the same stays, another gets the next name") {
  support::use_bundled_catalog();
  chapters::Catalog c = chapters::catalog();
  const std::size_t before = c.models.size();
  auto taken = app::take_own(c, model_called("Acme", llama_config()));
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].id == "acme");
  CHECK(taken[0].is_new);
  CHECK_FALSE(app::take_own(c, model_called("Acme", llama_config()))[0].is_new);
  taken = app::take_own(c, model_called("Acme", gpt2_config()));
  CHECK(taken[0].id == "acme-2");
  CHECK(taken[0].was == "acme");
  CHECK(taken[0].name == "Acme 2");
  CHECK(app::taken_words(taken[0]) == "The model Acme 2 (acme-2, since another model is called acme)");
  taken = app::take_own(c, model_called("Acme", gpt2_config()));  // the same once more is found under its new name
  CHECK(taken[0].id == "acme-2");
  CHECK_FALSE(taken[0].is_new);
  CHECK(c.models.size() == before + 2);
  CHECK(c.model("acme")->architecture != c.model("acme-2")->architecture);
  // A bundled one of that name with the same sizes is that one.
  CHECK_FALSE(app::take_own(c, model_called("llama-3-8b", llama_config()))[0].is_new);
  CHECK(app::take_own(c, model_called("llama-3-8b", gpt2_config()))[0].id == "llama-3-8b-2");
}

TEST_CASE("a renamed chip is read again from its own text, whatever form its file had") {
  support::use_bundled_catalog();
  chapters::Catalog c = chapters::catalog();
  auto first = app::read_own_hardware(chip, "a.json", "/a.json");
  auto second = app::read_own_hardware(faster_chip, "b.json", "/b.json");
  REQUIRE((first && second));
  CHECK(app::take_own(c, std::move(*first))[0].id == "my_chip");
  CHECK(app::take_own(c, std::move(*second))[0].id == "my_chip_2");
  for (const auto& entry : c.own) {
    const auto again = app::read_own_hardware(entry.text, "text", "");
    REQUIRE(again);
    CHECK(again->chips[0].thing == *c.chip(entry.id));
  }
  CHECK(c.chip("my_chip_2")->memory_bandwidth_bytes_per_s == 3e12);
}

TEST_CASE("a file that a person names holds what it is named for, or one sentence says what is wrong") {
  const support::Folder folder;
  std::filesystem::create_directories(folder / "acme");
  folder.write("acme/config.json", llama_config());
  folder.write("chip.json", chip);
  folder.write("bad.json", "{");
  const auto model = app::read_own_file(app::OwnEntry::Kind::model, (folder / "acme").string());
  REQUIRE(model);
  CHECK(model->models[0].thing.id == "acme");
  CHECK(model->models[0].entry.file == (folder / "acme/config.json").string());
  CHECK(app::read_own_file(app::OwnEntry::Kind::chip, (folder / "chip.json").string()));
  CHECK(app::read_own_file(app::OwnEntry::Kind::network, (folder / "chip.json").string()).error ==
        "\"chip.json\" holds no network: name another file.");
  for (const char* name : {"bad.json", "none.json", "chip.json"}) {
    const auto bad = app::read_own_file(app::OwnEntry::Kind::model, (folder / name).string());
    INFO(bad.error);
    CHECK(bad.error.find(name) != std::string::npos);
    CHECK(bad.error.back() == '.');
  }
}
