#include "app/scenario/carried_file.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/scenario/sentences.h"

namespace app {
namespace {

using chapters::Field;
using chapters::FileInput;

/// Bytes that lie in the memory and on no disk: by that a carried file is known.
std::shared_ptr<const chapters::FileBytes> bytes_in_memory(const std::string& name, const std::string& text) {
  auto out = std::make_shared<chapters::FileBytes>();
  const auto held = std::make_shared<const std::string>(text);
  out->path = name;
  out->size_bytes = text.size();
  out->modified_ns = static_cast<std::int64_t>(std::hash<std::string>()(text));  // another text is another file
  out->read_at = [held, name](std::uint64_t offset, char* to, std::size_t bytes) {
    if (offset > held->size() || bytes > held->size() - offset)
      return models::Status::fail("The file " + excerpt(name) + " ends before what was asked for.");
    held->copy(to, bytes, static_cast<std::size_t>(offset));
    return models::Status::ok();
  };
  out->read_part = [read_at = out->read_at](std::uint64_t offset, std::uint64_t length, std::string& part) {
    part.resize(static_cast<std::size_t>(std::min<std::uint64_t>(length, max_carried_bytes)));
    return read_at(offset, part.data(), part.size());
  };
  out->read = [held](std::string& all) {
    all = *held;
    return models::Status::ok();
  };
  return out;
}

/// What the file holds, as far as it may be carried at all. False: it is larger than `most`, or cannot be read.
bool read_small(const FileInput& file, std::size_t most, std::string& text) {
  if (!file.bytes || !file.text.empty()) {
    if (file.text.size() > most) return false;
    text = file.text;
    return true;
  }
  return file.bytes->size_bytes <= most && static_cast<bool>(file.bytes->read(text));
}

/// Is it UTF-8 without a zero? JSON gives back what is.
bool is_plain_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) return false;
  const auto read = parse_json(to_text(Json(text)));
  return read && *read == text;
}

}  // namespace

bool is_carried(const FileInput& file) { return file.bytes && file.bytes->disk_bytes == 0; }

FileInput carried_file(const Field& field, std::string name, std::string text) {
  auto bytes = bytes_in_memory(name, text);
  if (field.file_spec.by_bytes) text.clear();
  return {std::move(name), std::move(text), std::move(bytes)};
}

Json carried_to_json(const FileInput& file) {
  std::string text = file.text;
  if (text.empty()) (void)file.bytes->read(text);  // from the memory, which never fails
  return {{"name", file.path}, {"text", std::move(text)}};
}

bool is_carried_json(const Json& value) {
  if (!value.is_object() || value.size() != 2 || !value.contains("name") || !value.contains("text")) return false;
  const Json &name = value["name"], &text = value["text"];
  return name.is_string() && !name.get_ref<const std::string&>().empty() && text.is_string();
}

std::vector<LeftFile> carry_files(const chapters::Fields& inputs, std::size_t max_file, std::size_t& left,
                                  Json& values) {
  std::vector<LeftFile> stay;
  chapters::Fields cells;
  for (const Field& f : inputs) {
    const auto at = values.find(std::string(f.key));
    if (at == values.end()) continue;
    for (std::size_t row = 0; f.kind == chapters::Kind::table && row < f.table_size() && row < at->size(); ++row) {
      f.table_row(row, cells);
      for (LeftFile& file : carry_files(cells, max_file, left, (*at)[row])) stay.push_back(std::move(file));
    }
    if (f.kind != chapters::Kind::file || f.file().path.empty()) continue;
    const std::string name = std::filesystem::path(f.file().path).filename().string();
    std::string text;
    const bool small = read_small(f.file(), std::min(max_file, left), text);
    if (small && is_plain_text(text)) {
      left -= text.size();
      *at = {{"name", name.empty() ? std::string(f.key) : name}, {"text", std::move(text)}};
    } else {
      stay.push_back({excerpt(name), is_carried(f.file())});
      if (stay.back().has_no_path) *at = std::string();
    }
  }
  return stay;
}

}  // namespace app
