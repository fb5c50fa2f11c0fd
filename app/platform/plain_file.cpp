#include "app/platform/plain_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

namespace app {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view mark = ".ridgeline-";
constexpr int not_supported = -1;

/// The signals by which a person or the system ends a program wait meanwhile, so that it can tidy up.
class EndingHeld {
 public:
  EndingHeld() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) sigaddset(&ending, signal);
    pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~EndingHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndingHeld(const EndingHeld&) = delete;
  EndingHeld& operator=(const EndingHeld&) = delete;

 private:
  sigset_t before_{};
};

int write_and_sync(int file, std::string_view bytes, mode_t mode) {
  if (::fchmod(file, mode) != 0) return errno;
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return ::fsync(file) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

/// What processes that were killed have left beside this file.
void sweep_leftovers(const fs::path& folder, const fs::path& target) {
  const std::string start = target.filename().string() + std::string(mark);
  const auto old = fs::file_time_type::clock::now() - std::chrono::minutes(1);
  std::vector<std::string> names;
  read_names(folder, names);
  for (const std::string& name : names) {
    if (name.size() != start.size() + 6 || !name.starts_with(start)) continue;
    const fs::path path = folder / name;
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown)) continue;
    if (const auto written = fs::last_write_time(path, unknown); !unknown && written < old) ::unlink(path.c_str());
  }
}

/// Gives the file its name, or first one of its own where another file has it already.
int link_and_rename(int file, const fs::path& target) {
  char self[32];
  std::snprintf(self, sizeof self, "/proc/self/fd/%d", file);
  const EndingHeld held;
  if (::linkat(AT_FDCWD, self, AT_FDCWD, target.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
  if (errno != EEXIST) return not_supported;
  auto number = static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count()) ^
                static_cast<unsigned>(::getpid()) << 12;
  for (int tries = 0; tries < 100; ++tries, ++number) {
    char digits[8];
    std::snprintf(digits, sizeof digits, "%06x", number & 0xffffffu);
    const std::string beside = target.string() + std::string(mark) + digits;
    if (::linkat(AT_FDCWD, self, AT_FDCWD, beside.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      if (errno == EEXIST) continue;
      return not_supported;
    }
    if (::rename(beside.c_str(), target.c_str()) == 0) return 0;
    const int error = errno;
    ::unlink(beside.c_str());
    return error;
  }
  return not_supported;
}

int replace_by_unnamed(const fs::path& folder, const fs::path& target, std::string_view bytes, mode_t mode) {
  Descriptor file(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!file.good()) return not_supported;
  if (const int error = write_and_sync(file.get(), bytes, mode); error != 0) return error;
  return link_and_rename(file.get(), target);
}

int replace_by_named(const fs::path& target, std::string_view bytes, mode_t mode) {
  std::string beside = target.string() + std::string(mark) + "XXXXXX";
  const EndingHeld held;
  Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
  if (!file.good()) return errno;
  int error = write_and_sync(file.get(), bytes, mode);
  if (!file.close() && error == 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(beside.c_str());
  return error;
}

}  // namespace

PlainFile open_plain_file(const fs::path& path) {
  PlainFile out;
  // Without O_NONBLOCK a pipe would wait for a writer, and a terminal could become this process's own.
  out.file = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!out.file.good() || ::fstat(out.file.get(), &out.about) != 0) {
    out.error = errno;
    out.fault = out.error == ENXIO ? PlainFile::Fault::not_a_file : PlainFile::Fault::not_there;  // a socket
  } else if (!S_ISREG(out.about.st_mode)) {
    out.fault = PlainFile::Fault::not_a_file;
    out.is_folder = S_ISDIR(out.about.st_mode);
  }
  return out;
}

int read_to_end(int file, std::size_t max_bytes, std::string& text) {
  // The pieces follow the size of the file: clearing a buffer of the limit for each of a hundred files would take
  // longer than reading them.
  for (std::size_t piece = 64u << 10; text.size() <= max_bytes; piece *= 2) {
    const std::size_t before = text.size(), room = text.capacity() - before;
    std::size_t wanted = std::min(piece, max_bytes + 1 - before);
    if (room >= 4096) wanted = std::min(wanted, room);  // as long as what was reserved lasts, nothing is moved
    text.resize(before + wanted);
    std::size_t got = 0;
    while (got < wanted) {
      const ssize_t n = ::read(file, text.data() + before + got, wanted - got);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const int error = errno;
        text.resize(before + got);
        return error;
      }
      if (n == 0) break;
      got += static_cast<std::size_t>(n);
    }
    text.resize(before + got);
    if (got < wanted) return 0;
  }
  return 0;
}

int read_names(const fs::path& folder, std::vector<std::string>& names) {
  struct Close {
    void operator()(DIR* opened) const { ::closedir(opened); }
  };
  const std::unique_ptr<DIR, Close> opened(::opendir(folder.c_str()));
  if (!opened) return errno;
  for (;;) {
    errno = 0;
    const dirent* const at = ::readdir(opened.get());
    if (!at) return errno;
    const std::string_view name(at->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

int replace_file(const fs::path& target, std::string_view bytes, mode_t mode) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  sweep_leftovers(folder, target);
  int error = replace_by_unnamed(folder, target, bytes, mode);
  if (error == not_supported) error = replace_by_named(target, bytes, mode);
  if (error != 0) return error;
  // The rename itself reaches the disk with its folder; a file system that cannot sync folders has renamed all the
  // same.
  const Descriptor held(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (held.good()) ::fsync(held.get());
  return 0;
}

}  // namespace app
