#include <algorithm>
#include <filesystem>
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
using models::Status;

constexpr std::size_t max_files = 4096;

struct GivenFile {
  std::string path;
  bool of_folder = false;
  FileKind holds = FileKind::unknown;
};

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// The files given and those in the folders given, hidden ones aside; one more than the most where there are more.
std::vector<GivenFile> files_given(const std::vector<std::string>& paths) {
  std::vector<GivenFile> out;
  for (const std::string& path : paths) {
    if (!is_folder(path)) {
      out.push_back({path});
      continue;
    }
    std::error_code fault;
    for (fs::directory_iterator at(path, fault), end; !fault && at != end; at.increment(fault)) {
      std::error_code ignored;
      if (out.size() > max_files) break;
      if (at->is_regular_file(ignored) && !at->path().filename().string().starts_with('.'))
        out.push_back({at->path().string(), true});
    }
  }
  // A window gives files in any order.
  std::stable_sort(out.begin(), out.end(),
                   [](const GivenFile& a, const GivenFile& b) { return natural_less(a.path, b.path); });
  return out;
}

/// Where a lab holds a set: its first file, or none, and the table of the others.
struct SetPlace {
  const Field* file = nullptr;
  FileTable rows;
  chapters::FileSpec takes;
};

SetPlace set_place(const chapters::Fields& inputs, const std::vector<GivenFile>& files, bool open) {
  const auto takes_some = [&](const chapters::FileSpec& takes, bool in_its_lab) {
    return std::any_of(files.begin(), files.end(),
                       [&](const GivenFile& f) { return takes.offered(f.holds, in_its_lab); });
  };
  bool file_alone = false;
  for (const Field& f : inputs) {
    if (f.kind != Kind::file || !takes_some(f.file_spec, true)) continue;
    file_alone = true;
    if (!takes_some(f.file_spec, open)) continue;
    if (const FileTable rows = table_beside(inputs, f); rows.table) return {&f, rows, f.file_spec};
  }
  if (file_alone) return {};
  chapters::Fields columns;
  for (const Field& f : inputs) {
    if (f.kind != Kind::table) continue;
    columns.clear();
    f.table_columns(columns);
    for (const Field& c : columns)
      if (c.kind == Kind::file && takes_some(c.file_spec, open))
        return {nullptr, {&f, std::string(c.key)}, c.file_spec};
  }
  return {};
}

/// Puts the files there; fails with what cannot be read.
Status fill(const SetPlace& place, const std::vector<std::string>& paths, const std::string& title) {
  const std::size_t beside = paths.size() - (place.file ? 1 : 0);
  if (beside > place.rows.table->spec.max_items)
    return Status::fail(std::to_string(paths.size()) + " files are more than " + title + " takes: give fewer.");
  auto next = paths.begin();
  if (place.file)
    if (auto loaded = load_file(*place.file, *next++); !loaded) return Status::fail(loaded.error);
  place.rows.table->table_resize(beside);
  chapters::Fields cells;
  for (std::size_t row = 0; row < beside; ++row) {
    cells.clear();
    place.rows.table->table_row(row, cells);
    if (auto loaded = load_file(*cells.find(place.rows.column), *next++); !loaded) return Status::fail(loaded.error);
  }
  return Status::ok();
}

class SetLook {
 public:
  SetLook(const std::vector<std::string>& paths, const std::vector<FileTaker>& takers, chapters::Progress& progress)
      : paths_(paths), takers_(takers), progress_(progress) {}

  FoundFile look() {
    files_ = files_given(paths_);
    if (files_.size() > max_files) return RefusedFile{"More than 4,096 files were given: give those of one job."};
    for (GivenFile& f : files_) {
      if (const auto bytes = read_file_bytes(f.path)) f.holds = sniff_file(**bytes).holds;
      if (progress_.cancelled) return {};
    }
    std::vector<FoundInput> taken;
    RefusedFile refused;
    for (const FileTaker& taker : takers_) {
      const bool open = &taker == &takers_.front();
      FoundInput found{taker.lab, taker.title, {}, {}, nullptr};
      const Status tried = try_in(taker, open, found);
      if (progress_.cancelled) return {};
      if (tried && found.trial) taken.push_back(std::move(found));
      if (!tried && refused.why.empty()) refused = {tried.error, taker.lab, taker.title};
      if (open && (!taken.empty() || !tried)) break;
    }
    if (taken.size() == 1) return std::move(taken.front());
    if (!taken.empty()) return FoundReaders{{}, std::move(taken)};
    if (!refused.why.empty()) return refused;
    if (paths_.size() > 1) return FoundSingles{paths_};
    return RefusedFile{"\"" + file_name(paths_.front()) + "\" is a folder: choose a file in it."};
  }

 private:
  /// Fails with why the lab refuses them; without a trial in `found` it takes no set of such files.
  Status try_in(const FileTaker& taker, bool open, FoundInput& found) {
    std::shared_ptr<chapters::Lab> trial = taker.copy->with_inputs(*taker.copy->keep_inputs());
    const SetPlace place = set_place(trial->inputs(), files_, open);
    if (!place.rows.table) return Status::ok();
    std::vector<std::string> set;
    for (const GivenFile& f : files_) {
      if (place.takes.offered(f.holds, open))
        set.push_back(f.path);
      else if (!f.of_folder)
        return Status::ok();  // they do not belong together
    }
    if (auto filled = fill(place, set, taker.title); !filled) return filled;
    if (place.file) choose_mode(trial->inputs(), *place.file);
    trial->compute(progress_);
    if (progress_.cancelled) return Status::ok();
    if (const std::string reason = trial->reason(); !reason.empty())
      return Status::fail(taker.title + " does not take these files: " + reason);
    trial->arrange();
    found.key = place.file ? place.file->key : std::string_view();
    found.label = place.file ? place.file->spec.label : place.rows.table->spec.label;
    found.table = place.rows.table->key;
    found.files = set.size();
    found.trial = std::move(trial);
    return Status::ok();
  }

  const std::vector<std::string>& paths_;
  const std::vector<FileTaker>& takers_;
  chapters::Progress& progress_;
  std::vector<GivenFile> files_;
};

}  // namespace

FoundFile look_at_set(const std::vector<std::string>& paths, const std::vector<FileTaker>& takers,
                      chapters::Progress& progress) try {
  return SetLook(paths, takers, progress).look();
} catch (const std::bad_alloc&) {
  return RefusedFile{"There is not enough memory to open these files: close other programs."};
}

}  // namespace app
