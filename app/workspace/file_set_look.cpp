#include <algorithm>
#include <filesystem>
#include <map>
#include <new>

#include "app/platform/file_bytes.h"
#include "app/scenario/file_input.h"
#include "app/scenario/file_mode.h"
#include "app/scenario/file_set.h"
#include "app/scenario/file_sniff.h"
#include "app/workspace/file_look.h"

/// Files that were chosen or dropped together.
namespace app {
namespace {

namespace fs = std::filesystem;
using chapters::Field;
using chapters::FileKind;
using chapters::Kind;

constexpr std::size_t most_files = 4096;

struct GivenFile {
  std::string path;
  bool of_folder = false;
  FileKind holds = FileKind::unknown;
};

/// The files given, and those in the folders given, in the order of their names.
std::vector<GivenFile> files_given(const std::vector<std::string>& paths) {
  std::vector<GivenFile> out;
  for (const std::string& path : paths) {
    std::error_code fault;
    if (!fs::is_directory(path, fault)) {
      out.push_back({path});
      continue;
    }
    for (fs::directory_iterator at(path, fault), end; !fault && at != end; at.increment(fault)) {
      std::error_code ignored;
      if (out.size() > most_files) break;
      if (at->is_regular_file(ignored) && !at->path().filename().string().starts_with('.'))
        out.push_back({at->path().string(), true});
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const GivenFile& a, const GivenFile& b) { return natural_less(a.path, b.path); });
  return out;
}

/// The kind that most of them are; a document of this program or an unknown file is no part of a set.
FileKind main_kind(const std::vector<GivenFile>& files) {
  std::map<FileKind, std::size_t> counts;
  for (const GivenFile& f : files) ++counts[f.holds];
  FileKind best = FileKind::unknown;
  std::size_t most = 0;
  for (const auto& [kind, n] : counts) {
    const bool document = kind == FileKind::scenario || kind == FileKind::lesson || kind == FileKind::chips;
    if (kind != FileKind::unknown && !document && n > most) {
      most = n;
      best = kind;
    }
  }
  return best;
}

/// A lab with all of them in it; null where this one takes no set of such files.
std::shared_ptr<chapters::Lab> filled(const FileTaker& taker, const std::vector<std::string>& paths, FileKind kind,
                                      FoundInput& found, std::string& why) {
  std::shared_ptr<chapters::Lab> trial = taker.copy->with_inputs(*taker.copy->keep_inputs());
  for (const Field& f : trial->inputs()) {
    if (f.kind != Kind::file || !f.file_spec.reads.has(kind)) continue;
    const FileTable beside = table_beside(trial->inputs(), f);
    if (!beside.table) continue;
    if (paths.size() - 1 > beside.table->spec.max_items) {
      why = std::to_string(paths.size()) + " files are more than " + taker.title + " takes: give fewer.";
      return nullptr;
    }
    if (auto loaded = load_file(f, paths.front()); !loaded) {
      why = loaded.error;
      return nullptr;
    }
    beside.table->table_resize(paths.size() - 1);
    chapters::Fields cells;
    for (std::size_t i = 1; i < paths.size(); ++i) {
      cells.clear();
      beside.table->table_row(i - 1, cells);
      if (auto loaded = load_file(*cells.find(beside.column), paths[i]); !loaded) {
        why = loaded.error;
        return nullptr;
      }
    }
    choose_mode(trial->inputs(), f);
    found.key = f.key;
    found.label = f.spec.label;
    found.table = beside.table->key;
    return trial;
  }
  return nullptr;
}

FoundFile look(const std::vector<std::string>& paths, const std::vector<FileTaker>& takers,
               chapters::Progress& progress) {
  std::vector<GivenFile> files = files_given(paths);
  if (files.size() > most_files) return RefusedFile{"More than 4,096 files were given: give those of one job."};
  for (GivenFile& f : files) {
    const auto bytes = read_file_bytes(f.path);
    if (bytes) f.holds = sniff_file(**bytes).holds;
    if (progress.cancelled) return {};
  }
  const FileKind kind = main_kind(files);
  FoundSingles singles;
  std::vector<std::string> set;
  bool all = true;
  for (const GivenFile& f : files) {
    if (f.holds == kind && kind != FileKind::unknown) set.push_back(f.path);
    if (f.holds != kind && !f.of_folder) all = false;
    if (!f.of_folder || (f.holds != FileKind::unknown && f.holds == kind)) singles.paths.push_back(f.path);
  }
  if (singles.paths.empty())
    return RefusedFile{"\"" + file_name(paths.front()) + "\" is a folder: choose a file in it."};
  if (set.size() < 2 || !all) return singles;
  for (const FileTaker& taker : takers) {
    FoundInput found{taker.lab, taker.title, {}, {}, nullptr};
    std::string why;
    found.trial = filled(taker, set, kind, found, why);
    if (!why.empty()) return RefusedFile{std::move(why), taker.lab, taker.title};
    if (!found.trial) continue;
    found.files = set.size();
    found.trial->compute(progress);
    if (progress.cancelled) return {};
    if (const std::string reason = found.trial->reason(); !reason.empty())
      return RefusedFile{taker.title + " does not take these files: " + reason, taker.lab, taker.title};
    found.trial->arrange();
    return found;
  }
  return singles;
}

}  // namespace

FoundFile look_at_set(const std::vector<std::string>& paths, const std::vector<FileTaker>& takers,
                      chapters::Progress& progress) try {
  return look(paths, takers, progress);
} catch (const std::bad_alloc&) {
  return RefusedFile{"There is not enough memory to open these files: close other programs."};
}

}  // namespace app
