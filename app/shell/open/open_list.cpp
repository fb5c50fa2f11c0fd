#include "app/shell/open/open_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <system_error>

namespace app {
namespace {

namespace fs = std::filesystem;

std::string small_letters(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

bool ends_in_any(const std::string& small_name, const std::vector<std::string>& suffixes) {
  return suffixes.empty() ||
         std::any_of(suffixes.begin(), suffixes.end(), [&](const auto& s) { return small_name.ends_with(s); });
}

/// As strcmp of the names in small letters.
int compare_small(std::string_view a, std::string_view b) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (small(a[i]) != small(b[i]))
      return static_cast<unsigned char>(small(a[i])) < static_cast<unsigned char>(small(b[i])) ? -1 : 1;
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

struct Close {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, Close>;

FolderList listed(const fs::path& folder, const std::vector<std::string>& suffixes, std::string_view part) {
  FolderList out;
  // Not std::filesystem: its iterator ends the program where there is no memory for a name.
  const Directory directory(::opendir(folder.c_str()));
  if (!directory) {
    if (errno == ENOENT)
      out.note = "This folder does not exist.";
    else
      out.note = "This folder cannot be read: " + std::system_category().message(errno) + ".";
    return out;
  }
  const std::string wanted = small_letters(part);
  bool hidden_by_kind = false, more = false;
  while (const dirent* const at = ::readdir(directory.get())) {
    const std::string_view name = at->d_name;
    if (name == "." || name == "..") continue;
    const std::string small = small_letters(name);
    if ((small[0] == '.' && !wanted.starts_with('.')) || small.find(wanted) == std::string::npos) continue;
    struct stat what {};
    if (::fstatat(::dirfd(directory.get()), at->d_name, &what, 0) != 0) continue;
    const bool is_folder = S_ISDIR(what.st_mode);
    if (!is_folder && !S_ISREG(what.st_mode)) continue;
    if (!is_folder && !ends_in_any(small, suffixes)) {
      hidden_by_kind = true;
      continue;
    }
    if (out.entries.size() == max_listed) {
      more = true;
      break;
    }
    FolderEntry entry{std::string(name), is_folder, 0, {}, {}};
    if (!is_folder) entry.size_bytes = static_cast<std::uintmax_t>(std::max<off_t>(what.st_size, 0));
    out.entries.push_back(std::move(entry));
  }
  std::sort(out.entries.begin(), out.entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
    if (a.folder != b.folder) return a.folder;
    const int by_letters = compare_small(a.name, b.name);
    return by_letters != 0 ? by_letters < 0 : a.name < b.name;
  });
  if (more) out.note = "Only 2,000 names are shown: type a part of the one you want.";
  if (out.entries.empty())
    out.note = hidden_by_kind ? "No file here is of a kind that labs read." : "Nothing here has such a name.";
  if (out.entries.empty() && !hidden_by_kind && part.empty()) out.note = "This folder is empty.";
  return out;
}

}  // namespace

FolderList list_folder(const fs::path& folder, const std::vector<std::string>& suffixes, std::string_view part) {
  try {
    return listed(folder, suffixes, part);
  } catch (const std::bad_alloc&) {
    FolderList none;
    try {
      none.note = "There is not enough memory to list this folder.";
    } catch (const std::bad_alloc&) {  // not for the sentence either
    }
    return none;
  }
}

fs::path typed_path(std::string_view typed, const fs::path& folder, const fs::path& home) {
  while (!typed.empty() && typed.back() == ' ') typed.remove_suffix(1);
  while (!typed.empty() && typed.front() == ' ') typed.remove_prefix(1);
  if (!home.empty() && (typed == "~" || typed.starts_with("~/")))
    return (home / std::string(typed.substr(std::min<std::size_t>(2, typed.size())))).lexically_normal();
  return (folder / std::string(typed)).lexically_normal();
}

std::string free_name(const fs::path& folder, const std::string& name) {
  std::error_code error;
  const fs::path whole(name);
  std::string candidate = name;
  for (int n = 2; fs::exists(folder / candidate, error) && n < 10000; ++n)
    candidate = whole.stem().string() + "-" + std::to_string(n) + whole.extension().string();
  return candidate;
}

}  // namespace app
