#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "app/scenario/scenario.h"

namespace app {
namespace {

constexpr off_t most_bytes = off_t{4} << 30;

struct Descriptor {
  explicit Descriptor(int number) : fd(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  const int fd;
};

bool read_all(int fd, char* to, std::size_t bytes, std::uint64_t from) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::pread(fd, to + done, bytes - done, static_cast<off_t>(from + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

std::int64_t modified_ns(const struct stat& about) {
  return static_cast<std::int64_t>(about.st_mtim.tv_sec) * 1'000'000'000 + about.st_mtim.tv_nsec;
}

void collect(const chapters::Fields& fields, std::vector<std::shared_ptr<const chapters::FileBytes>>& out) {
  chapters::Fields cells;
  for (const chapters::Field& f : fields) {
    if (f.kind == chapters::Kind::file && f.file().bytes) out.push_back(f.file().bytes);
    if (f.kind == chapters::Kind::table)
      for (std::size_t row = 0; row < f.table_size(); ++row) {
        f.table_row(row, cells);
        collect(cells, out);
      }
  }
}

}  // namespace

FileContent read_file_bytes(const std::string& path) {
  const auto refuse = [&](const std::string& why) { return FileContent{nullptr, "The file " + path + " " + why}; };
  const auto file = std::make_shared<const Descriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (file->fd < 0 || ::fstat(file->fd, &about) != 0)
    return refuse("cannot be opened: check the path and that it may be read.");
  if (!S_ISREG(about.st_mode)) return refuse("is a folder or a device: choose a file.");
  if (about.st_size == 0) return refuse("is empty: choose another.");
  auto out = std::make_shared<chapters::FileBytes>();
  out->path = path;
  out->size_bytes = static_cast<std::uint64_t>(about.st_size);
  out->modified_ns = modified_ns(about);
  out->read_at = [file, path, size = out->size_bytes](std::uint64_t offset, char* to,
                                                      std::size_t bytes) -> std::string {
    if (offset > size || bytes > size - offset)
      return "The file " + path + " has " + std::to_string(size) + " bytes: a part beyond its end was asked for.";
    return read_all(file->fd, to, bytes, offset)
               ? ""
               : "The file " + path +
                     " cannot be read to its end: it was shortened after it was chosen; choose it again.";
  };
  out->read_part = [read_at = out->read_at, path, size = out->size_bytes](std::uint64_t offset, std::uint64_t length,
                                                                          std::string& text) -> std::string {
    if (offset > size || length > size - offset)
      return read_at(offset, nullptr, static_cast<std::size_t>(length));  // says so
    try {
      text.resize(static_cast<std::size_t>(length));
    } catch (const std::bad_alloc&) {
      return "The file " + path + " does not fit into the memory that is free.";
    }
    return read_at(offset, text.data(), text.size());
  };
  out->read = [part = out->read_part, path, size = out->size_bytes](std::string& text) {
    return size > static_cast<std::uint64_t>(most_bytes)
               ? "The file " + path + " is larger than 4 GiB: only parts of it can be read."
               : part(0, size, text);
  };
  return {std::move(out), {}};
}

FileReader reader_keeping(const chapters::Lab& lab) {
  std::vector<std::shared_ptr<const chapters::FileBytes>> held;
  collect(lab.inputs(), held);
  FileReader read;
  read.bytes = [held = std::move(held)](const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0)
      for (const auto& file : held)
        if (file->path == path && file->modified_ns == modified_ns(about) &&
            file->size_bytes == static_cast<std::uint64_t>(about.st_size))
          return FileContent{file, {}};
    return read_file_bytes(path);
  };
  return read;
}

bool accepts(const chapters::Field& f, std::string_view path) {
  std::string name(path);
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  for (std::string_view rest = f.file_spec.accepts; !rest.empty();) {
    const auto comma = rest.find(", ");
    const std::string suffix = "." + std::string(rest.substr(0, comma));
    if (name.ends_with(suffix)) return true;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 2);
  }
  return false;
}

std::string load_file(const chapters::Field& f, const std::string& path, const FileReader& read) {
  if (f.file_spec.by_bytes) {
    FileContent content = read.bytes(path);
    if (content.error.empty()) f.file() = {path, {}, std::move(content.bytes)};
    return content.error;
  }
  FileText content = read.text(path);
  if (content.error.empty()) f.file() = {path, std::move(content.text), nullptr};
  return content.error;
}

}  // namespace app
