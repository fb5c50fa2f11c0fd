#include "app/platform/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <new>
#include <system_error>
#include <vector>

namespace app {
namespace {

models::Status failure(const std::filesystem::path& path, int error) {
  return models::Status::fail("cannot write " + path.string() + ": " + std::generic_category().message(error) +
                              "; choose another place or free some space");
}

/// Writes and syncs everything; 0 or the error number.
int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(file) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

}  // namespace

models::Status write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return failure(path, EISDIR);
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  // Renaming replaces a link or a device instead of writing to what it stands for (/dev/stdout, a linked notes file).
  std::filesystem::path target = path;
  if (std::filesystem::is_symlink(path, ignored)) {
    if (const auto real = std::filesystem::canonical(path, ignored); !ignored) target = real;
  }
  if (std::filesystem::exists(target, ignored) && !std::filesystem::is_regular_file(target, ignored)) {
    const int device = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (device < 0) return failure(path, errno);
    const int error = write_all(device, bytes);
    ::close(device);
    return error ? failure(path, error) : models::Status::ok();
  }
  const std::string pattern = target.string() + ".XXXXXX";
  std::vector<char> temporary(pattern.c_str(), pattern.c_str() + pattern.size() + 1);
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return failure(path, errno);
  struct stat old {};
  ::fchmod(file, ::stat(target.c_str(), &old) == 0 ? old.st_mode & 0777 : 0644);  // mkostemp makes 0600
  int error = write_all(file, bytes);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.data(), target.c_str()) != 0) error = errno;
  if (error == 0) return models::Status::ok();
  ::unlink(temporary.data());
  return failure(path, error);
}

models::Status folder_exists(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return models::Status::ok();
  return models::Status::fail(std::filesystem::exists(folder, ignored)
                                  ? "\"" + folder.string() + "\" is not a folder: choose another place."
                                  : "The folder \"" + folder.string() + "\" does not exist: make it first.");
}

models::Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  using Text = models::Result<std::string>;
  const auto fail = [&](const std::string& why) { return Text::fail("cannot read " + path.string() + ": " + why); };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return fail("there is no such file");
  if (std::filesystem::is_directory(status)) return fail("it is a folder; name a file in it");
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail("you may not read it; change its permissions");
  std::string bytes;
  // Growing by doubling would touch a trace of gigabytes twice; a file of no stated size grows as it is read.
  if (const auto size = std::filesystem::file_size(path, error); !error && size <= max_bytes) {
    try {
      bytes.reserve(static_cast<std::size_t>(size));
    } catch (const std::bad_alloc&) {
      return fail("there is no memory for its " + std::to_string(size) + " bytes");
    }
  }
  std::vector<char> chunk(64 << 10);
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > max_bytes) return fail("it is larger than " + std::to_string(max_bytes) + " bytes");
  }
  if (in.bad()) return fail("the disk reported an error part-way");
  return Text::ok(std::move(bytes));
}

models::Result<std::string> read_text_file(const std::string& path) {
  constexpr std::size_t max_bytes = 8u << 20;
  const auto fail = [&](const std::string& why) {
    return models::Result<std::string>::fail("The file " + path + " " + why);
  };
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail("cannot be opened: check the path and that it may be read.");
  std::string text;
  // The pieces follow the size of the file: clearing a buffer of the limit for each of a hundred files would take
  // longer than reading them.
  for (std::size_t piece = 64u << 10; in && text.size() <= max_bytes; piece *= 2) {
    const std::size_t before = text.size();
    text.resize(std::min(before + piece, max_bytes + 1));
    in.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return fail("cannot be read: is it a folder?");
  if (text.size() > max_bytes) return fail("is larger than 8 MiB: choose a smaller one.");
  if (text.empty()) return fail("is empty or cannot be read: choose another.");
  return models::Result<std::string>::ok(std::move(text));
}

}  // namespace app
