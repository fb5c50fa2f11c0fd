#include "app/shell/open_list.h"

#include <algorithm>
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

}  // namespace

FolderList list_folder(const fs::path& folder, const std::vector<std::string>& suffixes, std::string_view part) {
  FolderList out;
  std::error_code error;
  if (!fs::exists(folder, error)) {
    out.note = "This folder does not exist.";
    return out;
  }
  fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  if (error) {
    out.note = "This folder cannot be read: " + error.message() + ".";
    return out;
  }
  const std::string wanted = small_letters(part);
  bool hidden_by_kind = false, more = false;
  for (; at != fs::directory_iterator(); at.increment(error)) {
    if (error) break;
    std::error_code unknown;
    FolderEntry entry{at->path().filename().string(), at->is_directory(unknown), 0};
    const std::string small = small_letters(entry.name);
    if ((small[0] == '.' && !wanted.starts_with('.')) || small.find(wanted) == std::string::npos) continue;
    if (!entry.folder && !at->is_regular_file(unknown)) continue;
    if (!entry.folder && !ends_in_any(small, suffixes)) {
      hidden_by_kind = true;
      continue;
    }
    if (out.entries.size() == max_listed) {
      more = true;
      break;
    }
    if (!entry.folder) entry.size_bytes = at->file_size(unknown);
    if (unknown) entry.size_bytes = 0;
    out.entries.push_back(std::move(entry));
  }
  std::sort(out.entries.begin(), out.entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
    if (a.folder != b.folder) return a.folder;
    const std::string x = small_letters(a.name), y = small_letters(b.name);
    return x != y ? x < y : a.name < b.name;
  });
  if (more) out.note = "Only 2,000 names are shown: type a part of the one you want.";
  if (out.entries.empty())
    out.note = hidden_by_kind ? "No file here is of a kind that labs read." : "Nothing here has such a name.";
  if (out.entries.empty() && !hidden_by_kind && part.empty()) out.note = "This folder is empty.";
  return out;
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
