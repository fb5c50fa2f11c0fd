#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// What a folder holds, for the panel that opens and saves files.
namespace app {

struct FolderEntry {
  std::string name;
  bool folder = false;
  std::uintmax_t size_bytes = 0;  ///< size of a file; 0 for a folder
  std::string shown, readers;     ///< as the panel writes them: the name, and the labs that read the file
};

struct FolderList {
  std::vector<FolderEntry> entries;  ///< folders first, each by name, letters of either case alike
  std::string note;                  ///< a sentence: why there is nothing, or that there is more; mostly empty
};

/// At most this many names are listed.
inline constexpr std::size_t max_listed = 2000;

/// Folders, and the files that end in one of `suffixes` (every file where there are none), whose names contain `part`.
/// Names that begin with a dot are left out unless `part` does. Never fails: `note` says what is wrong, where there is
/// no memory for the names too.
FolderList list_folder(const std::filesystem::path& folder, const std::vector<std::string>& suffixes,
                       std::string_view part);

/// The path that a person typed while looking at `folder`: "~" is `home`, a relative one counts from `folder`.
std::filesystem::path typed_path(std::string_view typed, const std::filesystem::path& folder,
                                 const std::filesystem::path& home);

/// `name` in `folder`, or the same with "-2", "-3" and so on before its suffix: the first that does not exist.
std::string free_name(const std::filesystem::path& folder, const std::string& name);

}  // namespace app
