// What a person did, as each of the documents that are kept: a bad file is set aside byte for byte and said so in a
// sentence, and what was read reads the same after being saved.
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/store/resume.h"
#include "app/workspace/stored.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/scratch_folder.h"
#include "tests/support/lab/documents.h"

namespace {

namespace fs = std::filesystem;

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
void try_as(const fs::path& folder, std::string_view text) {
  const fs::path path = folder / "kept.json";
  for (const auto& left : fs::directory_iterator(folder)) fs::remove_all(left.path());
  std::ofstream(path, std::ios::binary) << text;
  T document{};
  const auto report = app::load_document(path, document);
  if (!report.notice.empty()) fuzz::require_sentence(report.notice);
  if (report.found == app::store::Found::set_aside) {
    fuzz::require(!fs::exists(path), "a file that was set aside is still there");
    fuzz::require(bytes_of(folder / "kept.json.corrupt-1") == text, "a file was not set aside byte for byte");
  } else {
    fuzz::require(report.found == app::store::Found::loaded && report.notice.empty(), "neither read nor set aside");
  }
  if constexpr (requires { document.changed(); }) document.set("roofline/roofline", "a note");
  const auto saved = app::save_document(path, document);
  fuzz::require(saved.saved && saved.notice.empty(), "what was read cannot be saved", saved.notice);
  T again{};
  const auto second = app::load_document(path, again);
  fuzz::require(second.found == app::store::Found::loaded, "what was saved is not read", second.notice);
  fuzz::require(support::same_document(document, again), "what was saved reads differently");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path folder = fuzz::scratch_folder();
  const std::string_view text = fuzz::text_of(data, size);
  try_as<app::store::Settings>(folder, text);
  try_as<app::store::Progress>(folder, text);
  try_as<app::store::Notes>(folder, text);
  try_as<app::store::Kept>(folder, text);
  try_as<app::store::Recent>(folder, text);
  try_as<app::store::Resume>(folder, text);
  try_as<app::store::Files>(folder, text);
  return 0;
}
