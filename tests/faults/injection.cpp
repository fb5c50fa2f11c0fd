#include "tests/faults/injection.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string_view>

namespace faults {
namespace {

struct Armed {
  bool on = false, lasting = false, hit = false;
  What what = What::memory;
  long left = 0;
};
thread_local Armed current;

/// Is this the call that fails?
bool fails(What what) {
  if (!current.on || current.what != what) return false;
  if (current.left > 1) {
    --current.left;
    return false;
  }
  if (current.left == 0 && !current.lasting) return false;
  current.left = current.lasting ? 1 : 0;
  current.hit = true;
  return true;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void Attempt::arm() { current = {true, lasting_, hit_, what_, n_}; }
void Attempt::disarm() {
  if (!current.on) return;
  hit_ = current.hit;
  current.on = false;
}

int open_descriptors() {
  return static_cast<int>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

bool is_sentence(const std::string& text) {
  return !text.empty() && std::string_view(".!?").find(text.back()) != std::string_view::npos &&
         text.find('\n') == std::string::npos;
}

}  // namespace faults

using faults::fails;
using faults::What;

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);

void* malloc(std::size_t bytes) {
  if (!fails(What::memory)) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
void* calloc(std::size_t count, std::size_t bytes) {
  if (!fails(What::memory)) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}
void* realloc(void* old, std::size_t bytes) {
  if (!fails(What::memory)) return __libc_realloc(old, bytes);
  errno = ENOMEM;
  return nullptr;
}

int open(const char* path, int flags, ...) {
  static const auto real = faults::next<int (*)(const char*, int, ...)>("open");
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (!fails(What::files)) return real(path, flags, mode);
  errno = EMFILE;
  return -1;
}
ssize_t read(int file, void* to, std::size_t bytes) {
  static const auto real = faults::next<ssize_t (*)(int, void*, std::size_t)>("read");
  if (!fails(What::files)) return real(file, to, bytes);
  errno = EIO;
  return -1;
}
ssize_t pread(int file, void* to, std::size_t bytes, off_t from) {
  static const auto real = faults::next<ssize_t (*)(int, void*, std::size_t, off_t)>("pread");
  if (!fails(What::files)) return real(file, to, bytes, from);
  errno = EIO;
  return -1;
}
ssize_t write(int file, const void* from, std::size_t bytes) {
  static const auto real = faults::next<ssize_t (*)(int, const void*, std::size_t)>("write");
  if (!fails(What::files)) return real(file, from, bytes);
  errno = ENOSPC;
  return -1;
}
int fsync(int file) {
  static const auto real = faults::next<int (*)(int)>("fsync");
  if (!fails(What::files)) return real(file);
  errno = EIO;
  return -1;
}
int close(int file) {  // what cannot be closed is closed all the same
  static const auto real = faults::next<int (*)(int)>("close");
  const int closed = real(file);
  if (!fails(What::files)) return closed;
  errno = EIO;
  return -1;
}
int fstat(int file, struct stat* about) {
  static const auto real = faults::next<int (*)(int, struct stat*)>("fstat");
  if (!fails(What::files)) return real(file, about);
  errno = EIO;
  return -1;
}
int fchmod(int file, mode_t mode) {
  static const auto real = faults::next<int (*)(int, mode_t)>("fchmod");
  if (!fails(What::files)) return real(file, mode);
  errno = EPERM;
  return -1;
}
int rename(const char* from, const char* to) {
  static const auto real = faults::next<int (*)(const char*, const char*)>("rename");
  if (!fails(What::files)) return real(from, to);
  errno = EIO;
  return -1;
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  static const auto real = faults::next<int (*)(int, const char*, int, const char*, int)>("linkat");
  if (!fails(What::files)) return real(from_folder, from, to_folder, to, flags);
  errno = EIO;
  return -1;
}
int mkostemp(char* name, int flags) {
  static const auto real = faults::next<int (*)(char*, int)>("mkostemp");
  if (!fails(What::files)) return real(name, flags);
  errno = ENOSPC;
  return -1;
}
int mkdir(const char* path, mode_t mode) {
  static const auto real = faults::next<int (*)(const char*, mode_t)>("mkdir");
  if (!fails(What::files)) return real(path, mode);
  errno = EROFS;
  return -1;
}

}  // extern "C"
