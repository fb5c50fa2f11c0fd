#pragma once
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "chapters/catalog.h"

/// Puts the chips and language models of assets/ in force, once.
inline void use_bundled_catalog() {
  if (!chapters::catalog().chips.empty()) return;
  const auto each = [](const char* folder, auto use) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(RIDGELINE_SOURCE_DIR "/assets/") + folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << file.rdbuf();
      use(text.str(), entry.path().filename().string());
    }
  };
  auto catalog = std::make_shared<chapters::Catalog>();
  each("hardware", [&](const std::string& text, const std::string& name) {
    const auto chips = models::parse_chips(text, name);
    INFO(chips.error);
    REQUIRE(chips);
    catalog->chips.insert(catalog->chips.end(), chips->begin(), chips->end());
    if (const auto networks = models::parse_networks(text, name)) catalog->networks.insert(catalog->networks.end(), networks->begin(), networks->end());
  });
  each("models", [&](const std::string& text, const std::string& name) {
    const auto read = models::parse_language_models(text, name);
    INFO(read.error);
    REQUIRE(read);
    catalog->models.insert(catalog->models.end(), read->begin(), read->end());
  });
  chapters::index_catalog(*catalog);
  chapters::set_catalog(std::move(catalog));
}
