#include "app/scenario/file_input.h"

#include <utility>
#include <vector>

namespace app {
namespace {

/// Hands `use` every file that these fields hold, those in the rows of tables too.
template <class Use>
void each_file(const chapters::Fields& fields, const Use& use) {
  chapters::Fields cells;
  for (const chapters::Field& f : fields) {
    if (f.kind == chapters::Kind::file && !f.file().path.empty()) use(f.file());
    if (f.kind == chapters::Kind::table)
      for (std::size_t row = 0; row < f.table_size(); ++row) {
        f.table_row(row, cells);
        each_file(cells, use);
      }
  }
}

}  // namespace

FileReader reader_keeping(const chapters::Lab& lab) {
  std::vector<FileBytesPtr> held;
  each_file(lab.inputs(), [&](const chapters::FileInput& file) {
    if (file.bytes) held.push_back(file.bytes);
  });
  FileReader read;
  read.bytes = [held = std::move(held)](const std::string& path) {
    for (const auto& file : held)
      if (file->path == path && is_unchanged(*file)) return models::Result<FileBytesPtr>::ok(file);
    return read_file_bytes(path);
  };
  return read;
}

FileReader reader_of(const chapters::Lab& lab) {
  const auto held = [&lab](const std::string& path, bool by_bytes) {
    const chapters::FileInput* found = nullptr;
    each_file(lab.inputs(), [&](const chapters::FileInput& file) {
      if (file.path == path && static_cast<bool>(file.bytes) == by_bytes) found = &file;
    });
    return found;
  };
  FileReader read;
  read.text = [held](const std::string& path) {
    const chapters::FileInput* file = held(path, false);
    return file ? models::Result<std::string>::ok(file->text) : read_text_file(path);
  };
  read.bytes = [held](const std::string& path) {
    const chapters::FileInput* file = held(path, true);
    return file ? models::Result<FileBytesPtr>::ok(file->bytes) : read_file_bytes(path);
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

models::Status load_file(const chapters::Field& f, const std::string& path, const FileReader& read) {
  if (f.file_spec.by_bytes) {
    auto bytes = read.bytes(path);
    if (!bytes) return models::Status::fail(std::move(bytes.error));
    f.file() = {path, {}, std::move(*bytes)};
    return models::Status::ok();
  }
  auto text = read.text(path);
  if (!text) return models::Status::fail(std::move(text.error));
  f.file() = {path, std::move(*text), nullptr};
  return models::Status::ok();
}

}  // namespace app
