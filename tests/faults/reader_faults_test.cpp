#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/content/content.h"
#include "app/content/load_catalog.h"
#include "app/platform/file.h"
#include "app/platform/file_bytes.h"
#include "app/platform/json.h"
#include "app/scenario/scenario.h"
#include "app/shell/open/open_list.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"
#include "kernels/kernel.h"
#include "models/compression/safetensors.h"
#include "models/serving/arrivals/serving_requests.h"
#include "models/trace/measure/metrics.h"
#include "models/transformer/language_model.h"
#include "models/transformer/transformer.h"
#include "tests/faults/injection.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"

/// Each reader, with every request for memory and, where it opens files, every system call failing in turn: it gives
/// what it gives otherwise, or one sentence, and never half of it.

namespace {

using faults::Attempt;
using faults::What;

/// `read` returns a Result or Status; `matches` says whether a value is what is read without failures.
template <class Read, class Matches>
void check_reading(const char* name, What what, Read read, Matches matches) {
  {
    auto whole = read();
    REQUIRE(whole);
    REQUIRE(matches(whole));
  }
  const int descriptors = faults::open_descriptors();
  faults::at_every_call(name, what, [&](Attempt& attempt) {
    decltype(read()) got{};
    if (faults::armed(attempt, [&] { got = read(); })) {
      if (got && !matches(got)) FAIL(name << ": something else was read, and called good");
      if (!got && !faults::is_sentence(got.error)) FAIL(name << ": no sentence: \"" << got.error << "\"");
    } else if (what == What::files) {
      FAIL(name << ": threw where only a file failed");
    }
    got = {};
    if (faults::open_descriptors() != descriptors) FAIL(name << ": a file was left open");
  });
}

std::string corpus(const char* name) { return support::read_text(support::source_file("tests/fuzz/corpus/") + name); }

}  // namespace

TEST_CASE("readers of models meet no memory at any moment") {
  const std::string chips = corpus("chips/one.json");
  check_reading(
      "chips", What::memory, [&] { return models::parse_chips(chips, "chips.json"); },
      [](const auto& r) { return r->size() == 1 && r->front().name == "Toy 1"; });
  const std::string config = support::read_text(support::data_file("configs/gpt2.json"));
  check_reading(
      "config.json", What::memory, [&] { return models::parse_config(config, "config.json"); },
      [](const auto& r) { return r->hidden == 768; });
  const std::string tensors = corpus("safetensors/two.safetensors");
  check_reading(
      "safetensors", What::memory, [&] { return models::parse_safetensors(tensors, tensors.size(), "w.safetensors"); },
      [](const auto& r) { return r->tensors.size() == 2; });
  const std::string arrivals = corpus("arrivals/ok.csv");
  const auto requests = models::parse_requests(arrivals, 1000);
  REQUIRE(requests);
  check_reading(
      "arrivals CSV", What::memory, [&] { return models::parse_requests(arrivals, 1000); },
      [&](const auto& r) { return r->requests.size() == requests->requests.size(); });
  const std::string measured = "name,flops,bytes,time_s\na kernel with a long name,1e12,2e9,0.5\nb,1e9,1e9,1\n";
  check_reading(
      "measurements CSV", What::memory, [&] { return kernels::parse_measurements(measured); },
      [](const auto& r) { return r->size() == 2; });
}

TEST_CASE("recordings meet no memory at any moment, as JSON and as SQLite") {
  for (const char* file : {"traces/small.json", "traces/small.sqlite"}) {
    const std::string bytes = support::read_text(support::data_file(file));
    const auto whole = models::trace::read_trace(bytes, "small");
    REQUIRE(whole);
    check_reading(
        file, What::memory, [&] { return models::trace::read_trace(bytes, "small"); },
        [&](const auto& r) {
          // What is lost is said among the losses.
          return (r->events.size() == whole->events.size() && r->strings == whole->strings) ||
                 r->losses.size() > whole->losses.size();
        });
  }
}

TEST_CASE("names and arguments with escapes meet no memory at any moment, and so does rocprof's recording") {
  const std::string escaped =
      R"({"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"a \"long\" name of a process"}},)"
      R"({"ph":"X","pid":1,"tid":2,"ts":1,"dur":2,"cat":"k\"","name":"a \"quoted\" name \u00e9 that is long",)"
      R"("args":{"the \"key\"":"a \"value\" that is long enough for the heap"}}]})";
  const std::string rocprof = support::read_text(support::data_file("traces/rocprof.json"));
  const auto resolved = models::trace::read_trace(escaped, "small");
  REQUIRE((resolved && resolved->events.size() == 1));
  CHECK(resolved->name(resolved->events[0]) == "a \"quoted\" name \u00e9 that is long");
  const auto said = models::trace::arguments(*resolved, resolved->events[0]);
  REQUIRE(said.size() == 1);
  CHECK(said[0].first == "the \"key\"");
  CHECK(said[0].second.text == "a \"value\" that is long enough for the heap");
  for (const auto& [name, bytes] : {std::pair("escapes", escaped), std::pair("rocprof", rocprof)}) {
    const auto whole = models::trace::read_trace(bytes, "small");
    REQUIRE(whole);
    REQUIRE(!whole->events.empty());
    const auto text = models::trace::to_chrome_json(*whole);
    REQUIRE(text);
    check_reading(
        name, What::memory, [&] { return models::trace::read_trace(bytes, "small"); },
        [&](const auto& r) { return r->events.size() == whole->events.size() && r->strings == whole->strings; });
    check_reading(
        "and written", What::memory, [&] { return models::trace::to_chrome_json(*whole); },
        [&](const auto& r) { return *r == *text; });
  }
}

TEST_CASE("files meet no memory, no descriptor and no disk at any moment") {
  const support::Folder folder;
  const std::string text(200'000, 'x');
  folder.write("text.txt", text);
  const std::string path = (folder / "text.txt").string();
  for (const What what : {What::memory, What::files}) {
    check_reading(
        "a text file", what, [&] { return app::read_text_file(path); }, [&](const auto& r) { return *r == text; });
    check_reading(
        "a file", what, [&] { return app::read_file(path, 1 << 20); }, [&](const auto& r) { return *r == text; });
    check_reading(
        "a file's bytes", what,
        [&] {
          auto opened = app::read_file_bytes(path);
          if (!opened) return models::Result<std::string>::fail(std::move(opened.error));
          std::string bytes;
          auto read = (*opened)->read(bytes);
          return read ? models::Result<std::string>::ok(std::move(bytes))
                      : models::Result<std::string>::fail(std::move(read.error));
        },
        [&](const auto& r) { return *r == text; });
  }
}

TEST_CASE("JSON and lessons meet no memory at any moment") {
  const std::string json = R"({"b":[1,2,{"c":"a text that does not fit into a short string"}],"a":null,"b":2.5})";
  check_reading(
      "JSON", What::memory, [&] { return app::parse_json(json); },
      [](const auto& r) { return app::to_text(*r) == R"({"b":2.5,"a":null})"; });
  const std::string lesson = corpus("lesson/two_steps.json");
  check_reading(
      "a lesson", What::memory, [&] { return app::parse_lesson(lesson, "lesson.json"); },
      [](const auto& r) { return r->steps.size() == 2; });
}

/// Claims, lessons and chips in a folder.
static void check_folders(What what) {
  const std::string lesson = corpus("lesson/two_steps.json");
  const support::Folder folder;
  for (const char* kind : {"hardware", "models", "drills", "claims", "lessons"})
    std::filesystem::create_directories(folder / kind);
  folder.write("hardware/toy.json", corpus("chips/one.json"));
  folder.write("claims/one.json",
               R"({"claims":[{"id":"one","source":"nobody","statement":"It is so, and the sentence is long enough.",)"
               R"("lab":"roofline/roofline","inputs":{},"output":"intensity","claimed":1,"tolerance":0.1,)"
               R"("verdict":"right","why":"Because."}]})");
  folder.write("lessons/two.json", lesson);
  {
    // What could not be read is among the errors, in a sentence, and the rest is there.
    check_reading(
        "a folder of chips", what,
        [&] { return models::Result<app::LoadedCatalog>::ok(app::load_catalog(folder.path, {})); },
        [](const auto& r) {
          return r->catalog->chips.size() == 1 || (r->errors.size() == 1 && faults::is_sentence(r->errors.front()));
        });
    check_reading(
        "claims and lessons", what,
        [&] { return models::Result<app::Content>::ok(app::load_content(folder.path.string())); },
        [](const auto& r) {
          // Each lab has content of its own that there may be no memory for, so errors may be more than what is
          // missing.
          return r->claims.size() + r->lessons.size() + r->errors.size() >= 2 && r->claims.size() <= 1 &&
                 r->lessons.size() <= 1 && std::all_of(r->errors.begin(), r->errors.end(), faults::is_sentence);
        });
  }
}

TEST_CASE("claims, lessons and one's own chips meet no descriptor and no disk at any moment") {
  check_folders(What::files);
}

TEST_CASE("claims, lessons and one's own chips meet no memory at any moment") { check_folders(What::memory); }

TEST_CASE("a scenario that there is no memory for leaves every input as it was") {
  support::use_bundled_catalog();
  const std::string text =
      R"({"lab":"roofline/roofline","inputs":{"operation":"custom","flops":1e12,"bytes":2e9,"batch":3}})";
  check_reading(
      "a scenario's form", What::memory, [&] { return app::parse_scenario(text); },
      [](const auto& r) { return r->lab == "roofline/roofline" && !r->inputs_text.empty(); });

  const auto before = chapters::make_lab_by_id("roofline/roofline"), after = before->clone();
  const app::Json inputs = app::parse_own_json(text)["inputs"];
  REQUIRE(app::apply_inputs(*after, inputs));
  faults::at_every_call("a scenario's inputs", What::memory, [&](Attempt& attempt) {
    const auto lab = before->clone();
    models::Status status;
    if (!faults::armed(attempt, [&] { status = app::apply_inputs(*lab, inputs); })) return;
    if (status && !lab->same_inputs(*after)) FAIL("called opened, and is not");
    if (!status && !faults::is_sentence(status.error)) FAIL("no sentence: \"" << status.error << "\"");
    if (!status && !lab->same_inputs(*before)) FAIL("half a scenario was opened");
  });
}

TEST_CASE("a folder that is listed meets no memory at any moment: its names, or a sentence") {
  const support::Folder folder;
  for (const char* name : {"a name that is too long for the room inside of a string.csv", "b.csv", "c.csv"})
    folder.write(name, "x");
  std::filesystem::create_directory(folder / "deep");
  const std::vector<std::string> suffixes{".csv"};
  const long calls = faults::at_every_call("a folder's names", What::memory, [&](Attempt& attempt) {
    app::FolderList list;
    const bool returned = faults::armed(attempt, [&] { list = app::list_folder(folder.path, suffixes, ""); });
    if (!returned) FAIL("it threw");
    if (list.entries.size() != 4 && !list.entries.empty()) FAIL("a part of the folder stands for the whole");
    if (list.entries.empty() && !list.note.empty() && !faults::is_sentence(list.note))
      FAIL("no sentence: \"" << list.note << "\"");
  });
  CHECK(calls > 4);
}
