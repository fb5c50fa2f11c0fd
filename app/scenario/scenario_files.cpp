#include "app/scenario/scenario_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/scenario/file_mode.h"
#include "app/scenario/scenario.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using chapters::Field;
using chapters::Fields;
using chapters::Kind;

fs::path whole_path(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return (error ? path : absolute).lexically_normal();
}

}  // namespace

void change_paths(const Fields& fields, Json& inputs, const std::function<std::string(const std::string&)>& change) {
  if (!inputs.is_object()) return;
  Fields cells;
  for (const Field& f : fields) {
    const auto at = inputs.find(std::string(f.key));
    if (at == inputs.end()) continue;
    if (f.kind == Kind::file && at->is_string() && !at->get_ref<const std::string&>().empty())
      *at = change(at->get<std::string>());
    if (f.kind != Kind::table || !at->is_array()) continue;
    f.table_columns(cells);
    for (Json& row : *at) change_paths(cells, row, change);
  }
}

std::vector<std::string> named_files(const Fields& fields, const Json& inputs) {
  std::vector<std::string> out;
  Json copy = inputs;
  change_paths(fields, copy, [&](const std::string& path) {
    if (std::find(out.begin(), out.end(), path) == out.end()) out.push_back(path);
    return path;
  });
  return out;
}

void make_paths_relative(const Fields& fields, Json& inputs, const fs::path& folder) {
  const fs::path base = whole_path(folder);
  change_paths(fields, inputs, [&](const std::string& path) {
    const fs::path relative = whole_path(path).lexically_relative(base);
    const bool beneath = !relative.empty() && *relative.begin() != ".." && relative != ".";
    return beneath ? relative.string() : whole_path(path).string();
  });
}

void make_paths_whole(const Fields& fields, Json& inputs, const fs::path& folder) {
  change_paths(fields, inputs, [&](const std::string& path) {
    return fs::path(path).is_absolute() ? path : whole_path(folder / path).string();
  });
}

void leave_files_out(const Fields& fields, Json& inputs) {
  change_paths(fields, inputs, [](const std::string&) { return std::string(); });
}

models::Result<Json> link_inputs(const Link& link) {
  using Inputs = models::Result<Json>;
  const auto trial = chapters::make_lab_by_id(link.lab);
  if (!trial) return Inputs::fail(unknown_lab(link.lab));
  FileReader untouched([](const std::string&) { return models::Result<std::string>::ok({}); });
  untouched.bytes = [](const std::string&) { return models::Result<FileBytesPtr>::ok(nullptr); };
  Json given = Json::object();
  for (const auto& [key, value] : link.sets) {
    const Field* f = trial->inputs().find(key);
    if (!f) return Inputs::fail(unknown_key(link.lab, "input", key, trial->inputs()));
    if (auto set = set_field_from_text(*f, value, untouched); !set) return Inputs::fail(std::move(set.error));
    given[key] = field_to_json(*f);
  }
  const auto modes = missing_modes(*trial, given);
  if (!modes) return Inputs::fail(modes.error);
  if (auto set = apply_inputs(*trial, *modes, untouched); !set) return Inputs::fail(std::move(set.error));
  return Inputs::ok(fields_to_json(trial->inputs()));
}

}  // namespace app
