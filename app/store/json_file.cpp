#include "app/store/json_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "app/platform/json.h"
#include "app/platform/plain_file.h"
#include "app/platform/quoted_text.h"

namespace app::store {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string reason(int error) { return std::generic_category().message(error); }
std::string quoted(const fs::path& path) { return "\"" + path_text(path) + "\""; }

/// A store file may be a link into a folder that the person backs up: the link stays, its target is replaced.
fs::path target_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  fs::path target = fs::canonical(path, error);
  return error ? path : target;
}

fs::path with_suffix(fs::path path, const std::string& suffix) { return path += suffix; }

/// What a store file holds.
struct FileContent {
  bool missing = false;
  bool too_large = false;  ///< then `text` is its beginning
  std::string text;
};

models::Result<FileContent> read_all(const fs::path& path) {
  using Read = models::Result<FileContent>;
  FileContent out;
  const PlainFile opened = open_plain_file(path);
  out.missing = opened.fault == PlainFile::Fault::not_there && (opened.error == ENOENT || opened.error == ENOTDIR);
  if (out.missing) return Read::ok(std::move(out));
  const auto fail = [&](const std::string& why) {
    return Read::fail(quoted(path) + " cannot be read (" + why +
                      "), so nothing is saved to it: make it a readable file, then start again.");
  };
  if (opened.fault == PlainFile::Fault::not_there) return fail(reason(opened.error));
  if (opened.fault == PlainFile::Fault::not_a_file) return fail("it is not a plain file");
  if (const int error = read_to_end(opened.file.get(), max_file_bytes, out.text); error != 0)
    return fail(reason(error));
  out.too_large = out.text.size() > max_file_bytes;
  return Read::ok(std::move(out));
}

/// Hands the content of a store file to `take`. Fails with what is wrong with the text, as a clause.
models::Status take_text(const std::string& text, int version, const Take& take) {
  using models::Status;
  if (!shallow_enough(text, max_depth))
    return Status::fail("it is nested deeper than " + std::to_string(max_depth) + " levels");
  const auto content = parse_sorted_json(text, max_depth);
  if (!content) return Status::fail(text.empty() ? "it is empty" : "it is not complete JSON");
  if (!content->is_object()) return Status::fail("it is not a JSON object");
  const auto found = content->find("version");
  if (found == content->end() || !found->is_number_integer()) return Status::fail("it does not say its version");
  if (*found != version)
    return Status::fail("it is of version " + to_text(*found) + ", this program reads version " +
                        std::to_string(version));
  try {
    return take(*content);
  } catch (const json::exception&) {
    return Status::fail("a value in it has an unexpected type");
  }
}

/// Gives the bad file a name of its own without taking anybody's.
LoadReport set_aside(const fs::path& path, const std::string& fault) {
  for (int n = 1; n <= 9999; ++n) {
    const fs::path aside = with_suffix(path, ".corrupt-" + std::to_string(n));
    // Made first, so that the name is ours; the rename then replaces this empty file.
    const Descriptor name(::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!name.good() && errno == EEXIST) continue;
    if (!name.good() || ::rename(path.c_str(), aside.c_str()) != 0) {
      const int error = errno;
      if (name.good()) ::unlink(aside.c_str());
      if (error == ENOENT) return {};  // another instance was faster
      return {Found::unreadable, quoted(path) + " cannot be used (" + fault + ") nor renamed (" + reason(error) +
                                     "), so nothing is saved to it: move it away, then start again."};
    }
    return {Found::set_aside,
            quoted(path) + " could not be used (" + fault + "); it is kept as " + quoted(aside.filename()) + "."};
  }
  return {Found::unreadable,
          quoted(path) + " cannot be used (" + fault + ") and 9,999 others are kept next to it: remove some."};
}

bool make_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return true;
  if (!make_folder(folder.parent_path())) return false;
  return ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;  // 0700 is what the XDG specification asks for
}

/// Keeps other instances from reading and writing around one change of `path`; goes with the process however that ends.
class FileLock {
 public:
  explicit FileLock(const fs::path& path) : file_(open_beside(path)) {
    if (!file_.good()) return;
    for (int tries = 0; tries < 2000; ++tries) {
      if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return;
      if (errno != EWOULDBLOCK) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  static int open_beside(const fs::path& path) {
    return make_folder(path.parent_path())
               ? ::open(with_suffix(path, ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)
               : -1;
  }
  Descriptor file_;
};

models::Status cannot_save(const fs::path& path, int error) {
  const std::string advice = error == ENOSPC || error == EDQUOT || error == EFBIG ? "free some space on that disk"
                                                                                  : "make its folder writable";
  return models::Status::fail(quoted(path) + " could not be saved (" + reason(error) +
                              "); what was saved before is unharmed: " + advice + ".");
}

LoadReport load(const fs::path& real, int version, const Take& take) {
  const auto content = read_all(real);
  if (!content) return {Found::unreadable, content.error};
  if (content->missing) return {};
  if (content->too_large) return set_aside(real, "it is larger than " + std::to_string(max_file_bytes >> 20) + " MiB");
  const auto taken = take_text(content->text, version, take);
  return taken ? LoadReport{Found::loaded, {}} : set_aside(real, taken.error);
}

models::Status save(const fs::path& real, int version, const json& content) {
  json versioned = content;
  versioned["version"] = version;
  const std::string text = to_text(versioned, 1) + "\n";
  if (text.size() > max_file_bytes)
    return models::Status::fail(quoted(real) + " could not be saved: it would be larger than " +
                                std::to_string(max_file_bytes >> 20) + " MiB.");
  if (!make_folder(real.parent_path())) return cannot_save(real, errno);

  const int error = replace_file(real, text, 0600);
  return error == 0 ? models::Status::ok() : cannot_save(real, error);
}

std::string no_memory_for(const fs::path& path, const char* what) {
  return quoted(path) + " could not be " + what + ": there is not enough memory; close other programs.";
}

}  // namespace

LoadReport load_json(const fs::path& path, int version, const Take& take) {
  try {
    const fs::path real = target_of(path);
    std::error_code error;
    if (fs::status(real, error).type() == fs::file_type::not_found) return {};
    const FileLock lock(real);
    return load(real, version, take);
  } catch (const std::bad_alloc&) {
    return {Found::unreadable, no_memory_for(path, "read")};
  }
}

models::Status save_json(const fs::path& path, int version, const json& content) {
  try {
    const fs::path real = target_of(path);
    const FileLock lock(real);
    return save(real, version, content);
  } catch (const std::bad_alloc&) {
    return models::Status::fail(no_memory_for(path, "saved"));
  }
}

SaveReport save_merged(const fs::path& path, int version, const Take& merge, const std::function<void(json&)>& write) {
  try {
    const fs::path real = target_of(path);
    const FileLock lock(real);
    LoadReport present = load(real, version, merge);
    if (!present.may_save()) return {false, std::move(present.notice)};
    json content = json::object();
    write(content);
    auto saved = save(real, version, content);
    if (saved) return {true, std::move(present.notice)};
    return {false, std::move(saved.error)};
  } catch (const std::bad_alloc&) {
    return {false, no_memory_for(path, "saved")};
  }
}

}  // namespace app::store
