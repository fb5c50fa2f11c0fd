#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/scenario/file_input.h"
#include "app/scenario/file_mode.h"
#include "app/scenario/scenario.h"
#include "app/workspace/file_look.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_walk.h"
#include "tests/support/lab/sample_files.h"

// A file that is given is used, or refused: no lab passes one over and answers of something else.

using namespace support;
using chapters::FileKind;

namespace {

/// The sentence that refuses `path`; "" where it is taken.
std::string put(chapters::Lab& lab, const Field& input, const std::string& path) {
  if (const auto loaded = app::load_file(input, path); !loaded) return loaded.error;
  app::choose_mode(lab.inputs(), input);
  lab.compute();
  return lab.reason();
}

/// The lab as it stands without a file, in the mode that a file would choose.
std::string result_without(const chapters::LabEntry& entry, const Field& input) {
  const auto lab = entry.make();
  if (const Field* mode = lab->inputs().find(input.spec.mode.key)) mode->set_choice_id(input.spec.mode.value);
  lab->compute();
  return result_of(*lab);
}

/// Calls `visit` for each file input of each lab; one in a row of a table is not among them.
template <class Visit>
void each_file_input(const Visit& visit) {
  use_bundled_catalog();
  for (const auto& entry : labs_under_test()) {
    const auto lab = entry.make();
    for (const Field& f : lab->inputs())
      if (f.kind == Kind::file) {
        INFO(entry.id << "." << f.key);
        visit(entry, f);
      }
  }
}

}  // namespace

TEST_CASE("every lab: each file input says what it reads, and its mode is an option of a choice") {
  each_file_input([](const chapters::LabEntry& entry, const Field& f) {
    CHECK_FALSE(f.file_spec.reads.empty());
    const auto lab = entry.make();
    if (f.spec.mode.empty()) {
      CHECK((f.spec.when.empty() || f.spec.when.value.empty()));  // what waits for a choice must be able to make it
      return;
    }
    const Field* mode = lab->inputs().find(f.spec.mode.key);
    REQUIRE(mode);
    REQUIRE(mode->kind == Kind::choice);
    CHECK(mode->set_choice_id(f.spec.mode.value));
  });
}

TEST_CASE("every lab: a file that it reads changes an output, whatever kind it is") {
  const Folder folder;
  each_file_input([&](const chapters::LabEntry& entry, const Field& f) {
    const std::string without = result_without(entry, f);
    for (const FileKind kind : sampled_kinds) {
      if (!f.file_spec.reads.has(kind)) continue;
      INFO("kind " << static_cast<int>(kind));
      folder.write("given", sample_file(kind));
      const auto lab = entry.make();
      CHECK(put(*lab, *lab->inputs().find(f.key), (folder / "given").string()) == "");
      CHECK(result_of(*lab) != without);
      CHECK_FALSE(app::waits_for_mode(*lab->inputs().find(f.key), lab->inputs()));
    }
  });
}

TEST_CASE("every lab: a file of another kind is refused with a sentence") {
  const Folder folder;
  folder.write("words", "To whom it may concern: nothing here is of use to any lab.\n");
  folder.write("other.json", R"({"cells": [], "nbformat": 4})");
  each_file_input([&](const chapters::LabEntry& entry, const Field& f) {
    std::vector<std::string> names{"words", "other.json"};
    for (const FileKind kind : sampled_kinds) {
      if (f.file_spec.reads.has(kind)) continue;
      names.push_back("kind " + std::to_string(static_cast<int>(kind)));
      folder.write(names.back(), sample_file(kind));
    }
    for (const std::string& name : names) {
      INFO(name);
      const auto lab = entry.make();
      const std::string why = put(*lab, *lab->inputs().find(f.key), (folder / name).string());
      CHECK_FALSE(why.empty());
    }
  });
}

TEST_CASE("every lab: files that an input takes in its lab alone are offered to it there, and from nowhere else") {
  const Folder folder;
  each_file_input([&](const chapters::LabEntry& entry, const Field& f) {
    if (!f.file_spec.only_in_its_lab) return;
    std::shared_ptr<chapters::Lab> lab = entry.make();
    const std::vector<app::FileTaker> takers{{std::string(entry.id), std::string(lab->info().title), lab}};
    for (const FileKind kind : sampled_kinds) {
      if (!f.file_spec.reads.has(kind)) continue;
      INFO("kind " << static_cast<int>(kind));
      folder.write("given", sample_file(kind));
      chapters::Progress nobody_waits;
      const auto open = app::look_at_file((folder / "given").string(), takers, nobody_waits, true);
      const auto* taken = std::get_if<app::FoundInput>(&open);
      REQUIRE(taken);
      CHECK(taken->key == f.key);
      const auto elsewhere = app::look_at_file((folder / "given").string(), takers, nobody_waits, false);
      CHECK(std::holds_alternative<app::RefusedFile>(elsewhere));
      CHECK(app::readers_of(takers, kind).empty());
    }
  });
}
