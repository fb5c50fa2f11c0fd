#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/json.h"
#include "chapters/mechanism/field.h"

/// Small files that a scenario or a link carries itself, in place of a path that another machine does not have. A
/// carried file has a name and no path; in JSON it is {"name", "text"}.
namespace app {

inline constexpr std::size_t max_carried_bytes = 256 << 10;  ///< B, for one file in a scenario
inline constexpr std::size_t max_scenario_bytes = 4 << 20;   ///< B, for all that a scenario carries
inline constexpr std::size_t max_link_bytes = 16 << 10;      ///< B, for all that a link carries

bool is_carried(const chapters::FileInput& file);

/// The file that a scenario carried, as the field's Spec asks for it.
chapters::FileInput carried_file(const chapters::Field& field, std::string name, std::string text);

/// {"name", "text"} of a file that was carried here.
Json carried_to_json(const chapters::FileInput& file);
/// Is this the JSON of a carried file?
bool is_carried_json(const Json& value);

/// What could not be carried.
struct LeftFile {
  std::string name;          ///< fit to be quoted
  bool has_no_path = false;  ///< it was carried here itself, so nothing of it is left
};

/// Puts what a file input holds in place of its path in `values`, in rows of tables too, where that is a text of at
/// most `max_file` bytes, and takes its size from `left`, which is never exceeded. Gives those of which there is no
/// room for more than a path.
std::vector<LeftFile> carry_files(const chapters::Fields& inputs, std::size_t max_file, std::size_t& left,
                                  Json& values);

}  // namespace app
