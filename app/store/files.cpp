#include "app/store/files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/store/read.h"

namespace app::store {
namespace {

using nlohmann::json;
constexpr int files_version = 1;
constexpr std::size_t max_path_bytes = 4096;

models::Status take_files(const json& content, Files& files) {
  std::string fault;
  Reader top(content, "", fault);
  const json& opened = top.array("opened");
  for (std::size_t i = opened.size(); i-- > 0;) {
    if (!opened[i].is_string()) {
      if (fault.empty()) fault = "opened has an entry that is no text";
      continue;
    }
    if (const auto& path = opened[i].get_ref<const std::string&>(); path.size() <= max_path_bytes)
      files.add_opened(path);
  }
  for (const auto& [kind, path] : top.object("folder").items()) {
    if (path.is_string() && path.get_ref<const std::string&>().size() <= max_path_bytes)
      files.folder[kind] = path.get<std::string>();
    else if (fault.empty())
      fault = "folder has an entry that is no path";
  }
  return {std::move(fault)};
}

void add_once(std::vector<std::string>& to, std::string path) {
  if (!path.empty() && std::find(to.begin(), to.end(), path) == to.end()) to.push_back(std::move(path));
}

}  // namespace

void Files::add_opened(const std::string& path) {
  std::erase(opened, path);
  opened.insert(opened.begin(), path);
  if (opened.size() > most) opened.resize(most);
}

std::vector<std::string> Files::folders() const {
  std::vector<std::string> out;
  for (const auto& path : opened) add_once(out, std::filesystem::path(path).parent_path().string());
  for (const auto& [kind, path] : folder) add_once(out, path);
  return out;
}

LoadReport load(const std::filesystem::path& path, Files& files) {
  return load_json(path, files_version, [&](const json& content) { return take_files(content, files); });
}

SaveReport save(const std::filesystem::path& path, const Files& files) {
  return save_instead<Files>(path, files_version, take_files, [&](json& content) {
    content = {{"opened", files.opened}, {"folder", files.folder}};
  });
}

}  // namespace app::store
