#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "chapters/mechanism/catalog.h"

namespace app {

struct LoadedCatalog {
  std::shared_ptr<chapters::Catalog> catalog;
  std::vector<std::string> errors;  ///< one sentence each; what is good is loaded all the same
};

/// Reads `hardware/*.json`, `models/*.json`, `collectives/*.json`, `drills/*.json`, `recall/*.json`, `scenarios/*.json`
/// and `published/*.json` under `assets`, then `chips`, `models`, `drills`, `recall` and `scenarios` under `user` (may
/// be empty): an entry of the user's with the id of a bundled one takes its place. A bare config.json among the user's
/// models is called as its file, or as the folder of `models` that it lies in.
LoadedCatalog load_catalog(const std::filesystem::path& assets, const std::filesystem::path& user);

}  // namespace app
