#include "app/platform/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "app/platform/plain_file.h"
#include "app/platform/quoted_text.h"
#include "app/platform/text_encoding.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using models::Status;
using Text = models::Result<std::string>;

constexpr std::size_t max_text_bytes = 8u << 20;
constexpr int patience_ms = 10'000;

std::string reason(int error) { return std::generic_category().message(error); }

Status cannot_write(const fs::path& path, int error) {
  const std::string what = "The file " + path_text(path) + " cannot be written: ";
  if (error == ENXIO) return Status::fail(what + "it is a pipe that nobody reads; choose another place.");
  if (error == ETIMEDOUT) return Status::fail(what + "who reads it takes nothing; choose another place.");
  return Status::fail(what + reason(error) + "; choose another place or free some space.");
}

/// Writes to a device or a pipe without waiting for one that is stuck; 0, or the system's error number.
int write_to_device(const fs::path& path, std::string_view bytes) {
  const Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!device.good()) return errno;
  while (!bytes.empty()) {
    const ssize_t put = ::write(device.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno != EAGAIN) return errno;
    if (put < 0) {
      pollfd ready{device.get(), POLLOUT, 0};
      if (::poll(&ready, 1, patience_ms) == 0) return ETIMEDOUT;
      continue;
    }
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

/// What a link stands for in the end, whether or not that is there yet; a path that is no link is itself.
fs::path followed(fs::path path) {
  std::error_code error;
  constexpr int max_links = 16;  // of a ring of links one is replaced
  for (int i = 0; i < max_links && fs::is_symlink(path, error); ++i) {
    const fs::path next = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / next;  // which is `next` where that begins at the root
  }
  return path;
}

Status write_anything(const fs::path& path, std::string_view bytes) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return cannot_write(path, EISDIR);
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), ignored);
  // Renaming replaces a link or a device instead of writing to what it stands for (/dev/stdout, a linked notes file).
  const fs::path target = followed(path);
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  const int error = exists && !S_ISREG(old.st_mode) ? write_to_device(target, bytes)
                                                    : replace_file(target, bytes, exists ? old.st_mode & 0777 : 0644);
  return error == 0 ? Status::ok() : cannot_write(path, error);
}

Text text_of(int file, const std::string& path) {
  const auto fail = [&](const std::string& why) { return Text::fail("The file " + path_text(path) + " " + why); };
  std::string text;
  if (const int error = read_to_end(file, max_text_bytes, text); error != 0)
    return fail("cannot be read to its end (" + reason(error) + "): choose another.");
  if (text.size() > max_text_bytes) return fail("is larger than 8 MiB: choose a smaller one.");
  text = to_utf8(std::move(text));
  if (text.empty()) return fail("is empty or cannot be read: choose another.");
  return Text::ok(std::move(text));
}

Text no_memory_for(const fs::path& path) {
  return Text::fail("The file " + path_text(path) + " does not fit into the memory that is free.");
}

}  // namespace

Status write_file(const fs::path& path, std::string_view bytes) {
  try {
    return write_anything(path, bytes);
  } catch (const std::bad_alloc&) {
    return cannot_write(path, ENOMEM);
  }
}

Status folder_exists(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return Status::ok();
  return Status::fail(fs::exists(folder, ignored)
                          ? "\"" + path_text(folder) + "\" is not a folder: choose another place."
                          : "The folder \"" + path_text(folder) + "\" does not exist: make it first.");
}

Text read_file(const fs::path& path, std::size_t max_bytes) {
  const auto fail = [&](const std::string& why) { return Text::fail("The file " + path_text(path) + " " + why + "."); };
  try {
    const PlainFile opened = open_plain_file(path);
    if (opened.fault == PlainFile::Fault::not_there) return fail("cannot be opened: " + reason(opened.error));
    if (opened.fault == PlainFile::Fault::not_a_file)
      return fail(opened.is_folder ? "is a folder: name a file in it"
                                   : "is a pipe or a device: name a file on the disk");
    std::string bytes;
    // Growing by doubling would touch a trace of gigabytes twice; a file of no stated size grows as it is read.
    if (const auto size = static_cast<std::size_t>(opened.about.st_size); size <= max_bytes) bytes.reserve(size + 1);
    if (const int error = read_to_end(opened.file.get(), max_bytes, bytes); error != 0)
      return fail("cannot be read to its end: " + reason(error));
    if (bytes.size() > max_bytes) return fail("is larger than " + std::to_string(max_bytes) + " bytes");
    return Text::ok(std::move(bytes));
  } catch (const std::bad_alloc&) {
    return no_memory_for(path);
  }
}

Text read_text_file(const std::string& path) {
  const auto fail = [&](const std::string& why) { return Text::fail("The file " + path_text(path) + " " + why); };
  try {
    const PlainFile opened = open_plain_file(path);
    if (opened.fault == PlainFile::Fault::not_there)
      return fail("cannot be opened: check the path and that it may be read.");
    if (opened.fault == PlainFile::Fault::not_a_file)
      return fail(opened.is_folder ? "is a folder: choose a file in it."
                                   : "is a pipe or a device: choose a file on the disk.");
    return text_of(opened.file.get(), path);
  } catch (const std::bad_alloc&) {
    return no_memory_for(path);
  }
}

Text read_text_argument(const std::string& path) {
  if (path != "/dev/stdin") return read_text_file(path);
  try {
    return text_of(STDIN_FILENO, path);
  } catch (const std::bad_alloc&) {
    return no_memory_for(path);
  }
}

}  // namespace app
