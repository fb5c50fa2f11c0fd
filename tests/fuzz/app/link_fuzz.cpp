// A deep link, and what follows `--set key=`: either takes the value or says in one sentence why not.
#include "app/content/load_catalog.h"
#include "app/scenario/fields_json.h"
#include "app/scenario/link.h"
#include "chapters/mechanism/registry.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/base/paths.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool ready = [] {
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
    return true;
  }();
  const app::Link link = app::parse_link(fuzz::text_of(data, ready ? size : 0));
  if (link.lab.empty()) return 0;
  const auto lab = chapters::make_lab_by_id(link.lab);
  fuzz::require(lab != nullptr, "a link to no lab", link.lab);
  app::FileReader no_file(+[](const std::string& path) { return models::Result<std::string>::ok(path); });
  no_file.bytes = [](const std::string&) {
    return models::Result<app::FileBytesPtr>::fail("No file is read while fuzzing.");
  };
  for (const auto& [key, value] : link.sets)
    if (const auto* field = lab->inputs().find(key))
      if (const auto set = app::set_field_from_text(*field, value, no_file); !set) fuzz::require_sentence(set.error);
  const auto twin = chapters::make_lab_by_id(link.lab);
  for (const auto& [key, value] : app::parse_link(app::link_of(*lab)).sets) {
    const auto set = app::set_field_from_text(*twin->inputs().find(key), value, no_file);
    fuzz::require(static_cast<bool>(set), "a link of ours is refused", set.error);
  }
  fuzz::require(twin->same_inputs(*lab), "a link of ours leads elsewhere", app::link_of(*lab));
  return 0;
}
