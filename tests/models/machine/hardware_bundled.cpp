#include "tests/models/machine/hardware_bundled.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

#include <catch2/catch_test_macros.hpp>

#include <filesystem>

const std::map<std::string, models::Chip>& bundled_chips() {
  static const std::map<std::string, models::Chip> all = [] {
    std::map<std::string, models::Chip> out;
    for (const auto& entry : std::filesystem::directory_iterator(support::source_file("assets/hardware"))) {
      const auto chips =
          models::parse_chips(support::read_text(entry.path().string()), entry.path().filename().string());
      INFO(chips.error);
      REQUIRE(chips);
      for (const models::Chip& chip : *chips) REQUIRE(out.emplace(chip.id, chip).second);
    }
    return out;
  }();
  return all;
}
