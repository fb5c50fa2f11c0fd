#pragma once
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/content/json_reader.h"
#include "app/platform/plain_file.h"

/// What the readers of this folder share.
namespace app {

/// The rows of `doc[key]` (or of `doc` itself when it is a list), each handed to `take`.
template <class Take>
void each(const Json& doc, const char* key, const std::string& origin, Take take) {
  const Json* list = doc.is_array() ? &doc : doc.is_object() && doc.contains(key) ? &doc[key] : nullptr;
  if (!list || !list->is_array()) return;
  for (std::size_t i = 0; i < list->size(); ++i)
    take(Reader((*list)[i], origin + ", " + key + " " + std::to_string(i + 1)), (*list)[i]);
}

/// Runs `read`; where there is no memory for it, that is one more of the errors.
template <class Read>
void or_no_memory(std::vector<std::string>& errors, std::string_view what, Read read) {
  try {
    read();
  } catch (const std::bad_alloc&) {
    errors.push_back("There is not enough memory to read " + std::string(what) + ": it is left out.");
  }
}

inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder, const char* extension) {
  std::vector<std::filesystem::path> out;
  std::vector<std::string> names;
  if (read_names(folder, names) == ENOMEM) throw std::bad_alloc();
  for (const std::string& name : names)
    if (std::filesystem::path path = folder / name; path.extension() == extension) out.push_back(std::move(path));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace app
