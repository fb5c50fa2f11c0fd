#pragma once
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/descriptor.h"

/// The system calls by which files are read and replaced. Nothing here waits for somebody else's process or device.
namespace app {

/// A file that was opened to be read, or why it was not.
struct PlainFile {
  enum class Fault : unsigned char {
    none,
    not_there,   ///< no such file, or it may not be read: `error` says which
    not_a_file,  ///< a folder, a pipe, a device or a socket: opening it was not waited for
  };
  Descriptor file;
  Fault fault = Fault::none;
  int error = 0;  ///< the system's number, for not_there
  bool is_folder = false;
  struct stat about {};
};
PlainFile open_plain_file(const std::filesystem::path& path);

/// Reads on until the end into `text`, at most one byte more than `max_bytes`; 0, or the system's error number.
int read_to_end(int file, std::size_t max_bytes, std::string& text);

/// What a folder holds, but itself and the one above, in no order, into `names`; 0, or the system's error number. The
/// standard library's iterators of folders end the program where there is no memory for them; this throws
/// std::bad_alloc or says ENOMEM.
int read_names(const std::filesystem::path& folder, std::vector<std::string>& names);

/// Puts `bytes` in the place of a plain file, or makes it, in a folder that exists; 0, or the system's error number.
/// At every moment the file is the old one or the new one, and both are on the disk: what is new is written beside it,
/// synced and renamed. Where the file system has files without a name, nothing is left of a process that is killed
/// while it writes; elsewhere only SIGKILL leaves something, which the next call sweeps once it is a minute old.
int replace_file(const std::filesystem::path& target, std::string_view bytes, mode_t mode);

}  // namespace app
