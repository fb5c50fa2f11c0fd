#include "app/platform/file_bytes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "app/platform/plain_file.h"
#include "app/platform/quoted_text.h"
#include "app/platform/text_encoding.h"

namespace app {
namespace {

constexpr off_t max_whole_bytes = off_t{4} << 30;
constexpr off_t max_utf16_bytes = off_t{256} << 20;

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

std::string beyond_end(const std::string& name, std::uint64_t size) {
  return "The file " + name + " has " + std::to_string(size) + " bytes: a part beyond its end was asked for.";
}

/// Reading a part and the whole, by what reads at a place.
void add_parts(const std::string& name, chapters::FileBytes& file) {
  file.read_part = [read_at = file.read_at, name, size = file.size_bytes](std::uint64_t offset, std::uint64_t length,
                                                                          std::string& text) {
    if (offset > size || length > size - offset) return models::Status::fail(beyond_end(name, size));
    try {
      text.resize(static_cast<std::size_t>(length));
    } catch (const std::bad_alloc&) {
      return models::Status::fail("The file " + name + " does not fit into the memory that is free.");
    }
    return read_at(offset, text.data(), text.size());
  };
  file.read = [part = file.read_part, name, size = file.size_bytes](std::string& text) {
    if (size > static_cast<std::uint64_t>(max_whole_bytes))
      return models::Status::fail("The file " + name + " is larger than 4 GiB: only parts of it can be read.");
    return part(0, size, text);
  };
}

}  // namespace

models::Result<FileBytesPtr> read_file_bytes(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return models::Result<FileBytesPtr>::fail("The file " + path_text(path) + " " + why);
  };
  PlainFile opened = open_plain_file(path);
  if (opened.fault == PlainFile::Fault::not_there)
    return refuse("cannot be opened: check the path and that it may be read.");
  if (opened.fault == PlainFile::Fault::not_a_file) return refuse("is a folder or a device: choose a file.");
  const struct stat& about = opened.about;
  if (about.st_size == 0) return refuse("is empty: choose another.");
  const auto file = std::make_shared<const Descriptor>(std::move(opened.file));
  auto out = std::make_shared<chapters::FileBytes>();
  out->path = path;
  out->size_bytes = out->disk_bytes = static_cast<std::uint64_t>(about.st_size);
  out->modified_ns = modified_ns(about);
  char head[8] = {};
  const std::size_t known = std::min(sizeof head, static_cast<std::size_t>(about.st_size));
  const Encoding encoding =
      read_all(file->get(), head, known, 0) ? encoding_of({head, known}) : Encoding::plain;  // reading says the fault
  if (encoding == Encoding::utf16_little || encoding == Encoding::utf16_big) {
    if (about.st_size > max_utf16_bytes) return refuse("is UTF-16 and larger than 256 MiB: save it as UTF-8.");
    std::string text(static_cast<std::size_t>(about.st_size), '\0');
    if (!read_all(file->get(), text.data(), text.size(), 0))
      return refuse("cannot be read to its end: choose another.");
    text = to_utf8(std::move(text), encoding);
    out->size_bytes = text.size();
    out->read_at = [text = std::make_shared<const std::string>(std::move(text)), name = path_text(path)](
                       std::uint64_t offset, char* to, std::size_t bytes) {
      if (offset > text->size() || bytes > text->size() - offset)
        return models::Status::fail(beyond_end(name, text->size()));
      text->copy(to, bytes, static_cast<std::size_t>(offset));
      return models::Status::ok();
    };
  } else {
    const std::uint64_t mark = encoding == Encoding::utf8_marked ? 3 : 0;
    out->size_bytes -= mark;
    if (out->size_bytes == 0) return refuse("is empty: choose another.");
    out->read_at = [file, mark, name = path_text(path), size = out->size_bytes](std::uint64_t offset, char* to,
                                                                                std::size_t bytes) {
      if (offset > size || bytes > size - offset) return models::Status::fail(beyond_end(name, size));
      if (read_all(file->get(), to, bytes, mark + offset)) return models::Status::ok();
      return models::Status::fail("The file " + name +
                                  " cannot be read to its end: it was shortened after it was chosen; choose it again.");
    };
  }
  add_parts(path_text(path), *out);
  return models::Result<FileBytesPtr>::ok(std::move(out));
}

bool is_unchanged(const chapters::FileBytes& file) {
  struct stat about {};
  return ::stat(file.path.c_str(), &about) == 0 && file.modified_ns == modified_ns(about) &&
         file.disk_bytes == static_cast<std::uint64_t>(about.st_size);
}

}  // namespace app
