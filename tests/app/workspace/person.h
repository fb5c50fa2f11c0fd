#pragma once
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "app/content/load_catalog.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/catalog.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"

/// A person with folders of their own, and short words for the open lab.
namespace person_test {

inline void use_assets() {
  if (chapters::catalog().chips.empty())
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
}

/// A workspace of a person whose folders are all inside one temporary folder.
struct Person {
  support::Folder folder;
  models::Result<app::UserPaths> paths() const {
    return models::Result<app::UserPaths>::ok({folder / "data", folder / "config", folder / "state"});
  }
  std::unique_ptr<app::Workspace> workspace() const {
    use_assets();
    return std::make_unique<app::Workspace>(support::bundled_content(), paths());
  }
};

inline std::string text(app::Workspace& w, const char* key) {
  return std::string(w.lab().inputs().find(key)->choice_id());
}
inline double input_number(app::Workspace& w, const char* key) { return w.lab().inputs().find(key)->number(); }
inline std::string_view open_lab(app::Workspace& w) { return w.lab().info().id; }

inline bool said(app::Workspace& w, std::string_view part) {
  for (const auto& m : w.messages())
    if (m.text.find(part) != std::string::npos) return true;
  return false;
}

inline void choose(app::Workspace& w, const char* key, const char* id) {
  REQUIRE(w.lab().inputs().find(key)->set_choice_id(id));
  w.update(false);
}

inline constexpr const char* first = "roofline/roofline";
inline constexpr const char* second = "roofline/transformer-layer";

}  // namespace person_test
