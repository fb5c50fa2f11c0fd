#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "app/content/load_catalog.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/registry.h"
#include "models/trace/writers/sample.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"

using support::Folder;

namespace {

constexpr const char* viewer = "profiling/trace-viewer";

std::unique_ptr<app::Workspace> workspace() {
  if (chapters::catalog().chips.empty())
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
  return std::make_unique<app::Workspace>(support::bundled_content(),
                                          models::Result<app::UserPaths>::fail("Nothing is kept in this test."));
}

std::string small_trace() {
  return models::sample_traces({
                                   .fault = models::SampleFault::none,
                                   .ranks = 1,
                                   .steps = 2,
                                   .layers = 1,
                               })
      .front();
}

}  // namespace

TEST_CASE("a file for bytes is known by path, size and time, and read when asked") {
  const Folder folder;
  folder.write("a.json", "12345");
  const std::string path = (folder / "a.json").string();
  const auto a = app::read_file_bytes(path);
  REQUIRE(a.error == "");
  CHECK((*a)->size_bytes == 5);
  std::string text;
  CHECK((*a)->read(text).error == "");
  CHECK(text == "12345");
  const chapters::FileInput one{path, {}, *a}, again{path, {}, *app::read_file_bytes(path)};
  CHECK(one == again);
  folder.write("a.json", "123456");
  CHECK_FALSE(one == chapters::FileInput{path, {}, *app::read_file_bytes(path)});
  CHECK_FALSE(one == chapters::FileInput{path, {}, nullptr});
}

TEST_CASE(
    "a file shortened after it was chosen is refused in a sentence; one replaced under its name stays the one chosen") {
  const Folder folder;
  folder.write("a.json", "0123456789");
  const std::string path = (folder / "a.json").string();
  const auto chosen = app::read_file_bytes(path);
  folder.write("b.json", "new");
  std::filesystem::rename(folder / "b.json", folder / "a.json");
  std::string text;
  CHECK((*chosen)->read(text).error == "");
  CHECK(text == "0123456789");
  const auto shorter = app::read_file_bytes(path);
  std::filesystem::resize_file(folder / "a.json", 1);
  CHECK((*shorter)->read(text).error ==
        "The file " + path + " cannot be read to its end: it was shortened after it was chosen; choose it again.");
}

TEST_CASE("a part of a file is read without the rest, and a part beyond its end is refused") {
  const Folder folder;
  folder.write("a.bin", "0123456789");
  const std::string path = (folder / "a.bin").string();
  const auto file = app::read_file_bytes(path);
  std::string text;
  CHECK((*file)->read_part(3, 4, text).error == "");
  CHECK(text == "3456");
  CHECK((*file)->read_part(10, 0, text).error == "");
  for (const auto& [offset, length] : {std::pair<std::uint64_t, std::uint64_t>{8, 3}, {11, 0}, {1, ~std::uint64_t{0}}})
    CHECK((*file)->read_part(offset, length, text).error ==
          "The file " + path + " has 10 bytes: a part beyond its end was asked for.");
}

TEST_CASE("a file may be larger than memory: its end can be read, all of it at once cannot") {
  const Folder folder;
  const char* const name = GENERATE("w.safetensors", "trace.json");
  folder.write(name, "x");
  std::filesystem::resize_file(folder / name, (std::uint64_t{5} << 30));  // a hole: it takes no room
  const std::string path = (folder / name).string();
  const auto file = app::read_file_bytes(path);
  REQUIRE(file.error == "");
  std::string text;
  CHECK((*file)->read_part((std::uint64_t{5} << 30) - 2, 2, text).error == "");
  CHECK(text == std::string(2, '\0'));
  CHECK((*file)->read(text).error == "The file " + path + " is larger than 4 GiB: only parts of it can be read.");
}

TEST_CASE("what cannot be a recording is refused before anything is read") {
  const Folder folder;
  folder.write("empty.json", "");
  const std::string empty = (folder / "empty.json").string(), missing = (folder / "none.json").string();
  CHECK(app::read_file_bytes(empty).error == "The file " + empty + " is empty: choose another.");
  CHECK(app::read_file_bytes(missing).error ==
        "The file " + missing + " cannot be opened: check the path and that it may be read.");
  CHECK(app::read_file_bytes(folder.path.string()).error ==
        "The file " + folder.path.string() + " is a folder or a device: choose a file.");
}

TEST_CASE("suffixes are matched whole and in either case") {
  const auto lab = chapters::make_lab_by_id(viewer);
  const auto& f = *lab->inputs().find("file");
  for (const char* name : {"a/rank0.json", "rank0.JSON", "rank0.json.gz", "run.sqlite"}) CHECK(app::accepts(f, name));
  for (const char* name : {"json", "a.jsonl", "a.json.txt", "sqlite", "a.nsys-rep"}) CHECK_FALSE(app::accepts(f, name));
  CHECK_FALSE(app::accepts(*lab->inputs().find("beside_file"), "rank0.json"));  // says nothing of what it accepts
}

TEST_CASE("a trace dropped on any lab opens the trace viewer with it; what is no trace does not") {
  const Folder folder;
  folder.write("rank0.json", small_trace());
  folder.write("config.json", R"({"model_type": "gpt2"})");
  const auto w = workspace();
  REQUIRE(w->open("roofline/iron-law"));
  app::Action remedy;
  const std::string refused = w->opening.open_and_wait((folder / "config.json").string(), &remedy).error;
  CHECK(refused.find("Transformer layer does not take \"config.json\": ") == 0);
  CHECK(remedy.label == "Open Transformer layer");
  CHECK(w->lab().info().id == "roofline/iron-law");
  CHECK(w->opening.open_and_wait((folder / "rank0.json").string()).error == "");
  // Its operators have shapes and it has [memory] events, so that other labs read it too: the person says which.
  REQUIRE(w->opening.asked_reader());
  const auto& readers = w->opening.asked_reader()->found.readers;
  CHECK(readers.size() == 3);  // the detective takes recordings only while it is the open lab
  const auto chosen = std::find_if(readers.begin(), readers.end(), [](const auto& r) { return r.lab == viewer; });
  w->opening.choose_reader(static_cast<std::size_t>(chosen - readers.begin()));
  REQUIRE(w->lab().info().id == viewer);
  w->current().finish();
  CHECK(w->lab().reason() == "");
  CHECK(w->lab().outputs().find("steps")->integer() == 2);
  CHECK(w->lab().outputs().find("devices")->integer() == 1);
}

TEST_CASE("undo brings back the recording without reading it again, and cancelling a job keeps the last picture") {
  const Folder folder;
  folder.write("rank0.json", small_trace());
  const auto w = workspace();
  REQUIRE(w->open(viewer));
  w->current().finish();
  w->update(false);
  REQUIRE(w->opening.open_and_wait((folder / "rank0.json").string()).error == "");
  w->current().finish();
  w->update(false);
  const auto bytes = w->lab().inputs().find("file")->file().bytes;
  w->lab().inputs().find("step")->set_number(1);
  w->update(false);
  w->current().undo();
  CHECK(w->lab().inputs().find("step")->integer() == 0);
  CHECK(w->lab().inputs().find("file")->file().bytes == bytes);
  w->current().undo();
  CHECK(w->lab().inputs().find("file")->file().path == "");
}

TEST_CASE("a file that cannot be read is refused with one sentence, and what is open stays") {
  const Folder folder;
  folder.write("bad.sqlite", "SQLite format 3");
  const auto w = workspace();
  REQUIRE(w->open("roofline/iron-law"));
  const std::string refused = w->opening.open_and_wait((folder / "bad.sqlite").string()).error;
  CHECK(refused.find("bad.sqlite") != std::string::npos);
  CHECK(refused.back() == '.');
  CHECK(w->lab().info().id == "roofline/iron-law");
}
