#pragma once
#include <string_view>

namespace chapters {

/// The last part of a path, which is the name of its file.
inline std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace chapters
