#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/content/load_catalog.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

using chapters::OwnEntry;

namespace {

/// A person's folder of chips and models beside the bundled ones.
struct OwnFolders {
  support::Folder folder;
  OwnFolders() {
    for (const char* name : {"models/acme-13b", "models/empty", "chips"})
      std::filesystem::create_directories(folder / name);
  }
  app::LoadedCatalog load() const { return app::load_catalog(support::source_file("assets"), folder.path); }
};

std::string label_of(const chapters::Choices& choices, std::string_view id) {
  const auto at = std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.id == id; });
  return at == choices.end() ? std::string() : at->label;
}

std::string config() { return support::read_text(support::data_file("configs/llama-3-8b.json")); }

}  // namespace

TEST_CASE("a bare config.json among one's models is called as its folder or as itself, and is yours") {
  const OwnFolders own;
  own.folder.write("models/acme-13b/config.json", config());
  own.folder.write("models/Small One.json", support::read_text(support::data_file("configs/gpt2.json")));
  const auto loaded = own.load();
  CHECK(loaded.errors.empty());
  const auto& c = *loaded.catalog;
  CHECK(label_of(c.model_choices, "acme-13b") == "acme-13b, yours");
  CHECK(label_of(c.model_choices, "small-one") == "Small One, yours");
  CHECK(label_of(c.model_choices, "llama-3-8b").find("yours") == std::string::npos);
  REQUIRE(c.model("acme-13b"));
  CHECK(c.model("acme-13b")->architecture == c.model("llama-3-8b")->architecture);
  const OwnEntry* entry = c.own_entry(OwnEntry::Kind::model, "acme-13b");
  REQUIRE(entry);
  CHECK(entry->file == (own.folder / "models/acme-13b/config.json").string());
  CHECK_FALSE(c.own_entry(OwnEntry::Kind::model, "llama-3-8b"));
}

TEST_CASE("a bad config among one's models gives one sentence, two of a name give one, and the rest is loaded") {
  const OwnFolders own;
  own.folder.write("models/acme-13b/config.json", config());
  own.folder.write("models/acme-13b.json", config());
  auto broken = nlohmann::json::parse(config());
  broken["hidden_size"] = "wide";
  own.folder.write("models/broken.json", broken.dump());
  own.folder.write("models/ours.json", R"({"id": "ours", "name": "Ours", "source": "us", "config": )" + config() + "}");
  const auto loaded = own.load();
  REQUIRE(loaded.errors.size() == 2);
  CHECK(loaded.errors[0].find("The model \"acme-13b\" of ") == 0);
  CHECK(loaded.errors[0].find(" is left out, since ") != std::string::npos);
  CHECK(loaded.errors[1].find("broken.json") == 0);
  CHECK(loaded.errors[1].find("hidden_size") != std::string::npos);
  CHECK(loaded.catalog->model("acme-13b"));
  CHECK(label_of(loaded.catalog->model_choices, "ours") == "Ours, yours");
}

TEST_CASE("a chip and a network of one's own are yours, and one network needs no list around it") {
  const OwnFolders own;
  own.folder.write("chips/mine.json",
                   R"({"id": "my_chip", "name": "My chip", "vendor": "Me", "peak_flops_per_s": {"bf16": 4e14},
                       "memory_bytes": 64e9, "memory_bandwidth_bytes_per_s": 2e12})");
  own.folder.write("chips/fabric.json", R"({"id": "our_fabric", "name": "Our fabric", "kind": "ethernet",
                                            "bytes_per_s_per_direction": 2e10, "source": "measured"})");
  const auto loaded = own.load();
  CHECK(loaded.errors.empty());
  CHECK(label_of(loaded.catalog->chip_choices, "my_chip") == "My chip, yours");
  CHECK(label_of(loaded.catalog->network_choices, "our_fabric") == "Our fabric, yours");
  REQUIRE(loaded.catalog->network("our_fabric"));
  CHECK(loaded.catalog->network("our_fabric")->bytes_per_s_per_direction == 2e10);
}
