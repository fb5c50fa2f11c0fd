#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "app/store/json_file.h"

namespace app::store {

/// A lab as it was left.
struct LabResume {
  std::string inputs, view;      ///< JSON objects, as in a scenario
  std::int64_t time_unix_s = 0;  ///< when it was left so
  bool operator==(const LabResume&) const = default;
};

/// Where the person was, to go on there after a quit or a crash.
struct Resume {
  std::map<std::string, LabResume, std::less<>> labs;             ///< by lab id
  std::map<std::string, std::int64_t, std::less<>> lesson_steps;  ///< by lesson id: the step it stands at, from 0
  std::string lesson;                                             ///< id of the one that plays; empty: none
  std::string drawer;                                             ///< name of the open tab
  bool operator==(const Resume&) const = default;
};

/// Members of a wrong type set the file aside; what is good is kept.
LoadReport load(const std::filesystem::path& path, Resume& resume);
/// Where several instances run, each lab is kept as the one left last has it; for the rest the last to save wins.
SaveReport save(const std::filesystem::path& path, Resume& resume);

}  // namespace app::store
