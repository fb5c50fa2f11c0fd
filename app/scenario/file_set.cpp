#include "app/scenario/file_set.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/platform/file_bytes.h"
#include "app/scenario/file_sniff.h"
#include "app/scenario/sentences.h"
#include "models/base/characters.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using chapters::Field;
using chapters::Fields;
using chapters::Kind;
using models::is_digit;

/// The digits from `i` on without zeros in front; `i` is moved behind them.
std::string_view digits_at(const std::string& s, std::size_t& i) {
  while (i < s.size() && s[i] == '0') ++i;
  const std::size_t begin = i;
  while (i < s.size() && is_digit(s[i])) ++i;
  return std::string_view(s).substr(begin, i - begin);
}

/// The paths that a value names for an input: those of a folder, or of a list. Empty: it names one file.
models::Result<std::vector<std::string>> paths_of(const Field& input, const Json& value) {
  using Paths = models::Result<std::vector<std::string>>;
  std::vector<std::string> out;
  std::error_code ignored;
  if (value.is_string() && fs::is_directory(value.get_ref<const std::string&>(), ignored))
    return files_of_folder(value.get_ref<const std::string&>(), input.file_spec.reads);
  if (!value.is_array()) return Paths::ok({});
  for (const Json& path : value) {
    if (!path.is_string()) return Paths::ok({});  // which setting it refuses
    out.push_back(path.get<std::string>());
  }
  return Paths::ok(std::move(out));
}

}  // namespace

FileTable table_beside(const Fields& inputs, const Field& file) {
  Fields columns;
  for (const Field& f : inputs) {
    if (f.kind != Kind::table) continue;
    columns.clear();
    f.table_columns(columns);
    for (const Field& c : columns)
      if (c.kind == Kind::file && c.file_spec.reads == file.file_spec.reads) return {&f, std::string(c.key)};
  }
  return {};
}

bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = digits_at(a, i), y = digits_at(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a[i] != b[j]) return a[i] < b[j];
    ++i;
    ++j;
  }
  return a.size() - i < b.size() - j;
}

models::Result<std::vector<std::string>> files_of_folder(const std::string& folder, chapters::FileKinds reads) {
  using Paths = models::Result<std::vector<std::string>>;
  constexpr std::size_t max_files = 4096;
  const std::string name = "\"" + excerpt(folder) + "\"";
  std::vector<std::string> all, out;
  std::error_code fault;
  for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
    std::error_code ignored;
    if (!at->is_regular_file(ignored) || at->path().filename().string().starts_with('.')) continue;
    if (all.size() >= max_files) return Paths::fail("The folder " + name + " holds more than 4,096 files.");
    all.push_back(at->path().string());
  }
  if (fault) return Paths::fail("The folder " + name + " cannot be read.");
  std::sort(all.begin(), all.end(), natural_less);
  for (const std::string& path : all)
    if (const auto bytes = read_file_bytes(path); bytes && reads.has(sniff_file(**bytes).holds)) out.push_back(path);
  if (out.empty()) return Paths::fail("The folder " + name + " holds no file that is read here: choose another.");
  return Paths::ok(std::move(out));
}

models::Result<Json> with_file_sets(const chapters::Lab& lab, const Json& inputs) {
  using Whole = models::Result<Json>;
  Json out = inputs;
  for (const auto& [key, value] : inputs.items()) {
    const Field* f = lab.inputs().find(key);
    if (!f || f->kind != Kind::file) continue;
    const FileTable beside = table_beside(lab.inputs(), *f);
    if (!beside.table) continue;
    const auto paths = paths_of(*f, value);
    if (!paths) return Whole::fail(paths.error);
    if (paths->empty()) continue;
    out[key] = paths->front();
    Json rows = Json::array();
    for (std::size_t i = 1; i < paths->size(); ++i) rows.push_back({{beside.column, (*paths)[i]}});
    if (!inputs.contains(std::string(beside.table->key))) out[std::string(beside.table->key)] = std::move(rows);
  }
  return Whole::ok(std::move(out));
}

}  // namespace app
