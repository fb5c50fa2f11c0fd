#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/platform/json.h"
#include "app/scenario/link.h"
#include "chapters/mechanism/lab.h"

/// The files that a scenario names. In a scenario file a relative path counts from the folder of that file.
namespace app {

/// Puts what `change` makes of it in place of each path that the file inputs of a lab have in `inputs`, those in rows
/// of tables too. Empty paths, and whatever is not as described, stay.
void change_paths(const chapters::Fields& fields, Json& inputs,
                  const std::function<std::string(const std::string& path)>& change);

/// Every path that `inputs` names, in description order, each once.
std::vector<std::string> named_files(const chapters::Fields& fields, const Json& inputs);

/// For a scenario file in `folder`: files beneath it get a path relative to it, so that the folder can be handed on.
void make_paths_relative(const chapters::Fields& fields, Json& inputs, const std::filesystem::path& folder);

/// For a scenario file in `folder`: relative paths get their whole path.
void make_paths_whole(const chapters::Fields& fields, Json& inputs, const std::filesystem::path& folder);

/// The same inputs without any file.
void leave_files_out(const chapters::Fields& fields, Json& inputs);

/// The inputs that a link to a lab sets, with what its files need to count, and the lab's defaults for the rest. No
/// file is touched. Fails on an unknown key, on a value out of range and on a file whose mode the link itself sets
/// otherwise.
models::Result<Json> link_inputs(const Link& link);

}  // namespace app
