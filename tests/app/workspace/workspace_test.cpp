#include "app/workspace/workspace.h"
#include "app/scenario/link.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "chapters/mechanism/registry.h"
#include "tests/app/workspace/person.h"

namespace person_test {

using app::Json;
using support::Folder;

namespace {

constexpr const char* tiny_gpt2 =
    R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024, "n_ctx": 1024, )"
    R"("vocab_size": 50257})";

}  // namespace

TEST_CASE("a dropped scenario opens its lab with its inputs and the rest at their defaults") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open(second));
  REQUIRE(w->open(first));
  w->lab().inputs().find("batch")->set_number(64);
  w->update(false);
  person.folder.write(
      "s.json",
      R"({"lab": "roofline/roofline", "version": 1, "inputs": {"chip": "a100_80_sxm", "operation": "custom", )"
      R"("bytes": 5e9}})");
  CHECK(w->opening.open_and_wait((person.folder / "s.json").string()).error == "");
  CHECK(open_lab(*w) == first);
  CHECK(text(*w, "chip") == "a100_80_sxm");
  CHECK(input_number(*w, "bytes") == 5e9);
  CHECK(input_number(*w, "batch") == chapters::make_lab_by_id(first)->inputs().find("batch")->number());
  w->current().undo();
  w->update(false);
  CHECK(input_number(*w, "batch") == 64);
}

TEST_CASE("a dropped scenario that is wrong says what, and leaves lab and inputs as they were") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open(second));
  w->lab().inputs().find("batch")->set_number(3);
  w->update(false);
  const auto drop = [&](const char* content) {
    person.folder.write("s.json", content);
    const auto before = w->lab().clone();
    const std::string sentence = w->opening.open_and_wait((person.folder / "s.json").string()).error;
    CHECK(open_lab(*w) == second);
    CHECK(w->lab().same_inputs(*before));
    return sentence;
  };
  CHECK(drop(R"({"lab": "roofline/roofline", "inputs": {"bytes": -1}})").find("bytes is -1: a number from ") == 0);
  CHECK(drop(R"({"lab": "roofline/rofline", "inputs": {}})") ==
        "There is no lab \"roofline/rofline\": did you mean \"roofline/roofline\"? `ridgeline list` names all.");
  CHECK(drop(R"({"lab": "roofline/roofline", "inputs": {"chip": "b200_sxm", "chop": 1}})")
            .find("roofline/roofline has no input \"chop\"") == 0);
  CHECK(drop(R"({"lab": "roofline/roofline", "inputs": {}, "version": 9})") ==
        "version is 9: this program reads version 1.");
  CHECK(drop(R"({"id": "x", "title": "t", "steps": []})").find("has no steps: a lesson needs at least one.") !=
        std::string::npos);
  CHECK(drop(R"({"id": "x", "title": "t", "steps": [{"lab": "a/b"}]})").find("There is no lab \"a/b\"") !=
        std::string::npos);
}

TEST_CASE("garbage dropped on the window gets one sentence, and the state before it is kept") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open(second));
  const auto before = w->lab().clone();
  for (const std::string& content : {std::string("\0\1\2\xff", 4), std::string(100000, '['), std::string("{\"a\":"),
                                     std::string("[1, 2, 3]"), std::string("\"text\""), std::string("{}")}) {
    person.folder.write("x.bin", content);
    const std::string sentence = w->opening.open_and_wait((person.folder / "x.bin").string()).error;
    INFO(sentence);
    CHECK_FALSE(sentence.empty());
    CHECK(sentence.back() == '.');
    CHECK(sentence.find('\n') == std::string::npos);
    CHECK(w->lab().same_inputs(*before));
    CHECK(w->lab().reason() == "");
  }
  CHECK(w->opening.open_and_wait((person.folder / "none").string()).error ==
        "The file " + (person.folder / "none").string() + " cannot be opened: check the path and that it may be read.");
  CHECK_FALSE(w->opening.open_and_wait(person.folder.path.string()).error.empty());
}

TEST_CASE("a dropped config.json becomes the model of the lab that is open, and undo takes it away") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open(second));
  person.folder.write("config.json", tiny_gpt2);
  const std::string path = (person.folder / "config.json").string();
  CHECK(w->opening.open_and_wait(path).error == "");
  CHECK(said(*w, "is kept with your own"));
  CHECK(w->lab().outputs().find("parameters_total")->integer() == 124439808);  // GPT-2 small, as published
  w->update(false);
  w->current().undo();
  w->update(false);
  CHECK(w->lab().outputs().find("parameters_total")->integer() != 124439808);
  w->current().redo();
  w->update(false);
  CHECK(w->lab().outputs().find("parameters_total")->integer() == 124439808);
}

TEST_CASE("measured points dropped on the roofline become its dots; a wrong row says where it is wrong") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open(first));
  person.folder.write("runs.csv", "name,flops,bytes,time_s\nmatmul,2e12,4e9,0.004\ncopy,1e9,8e9,0.003\n");
  CHECK(w->opening.open_and_wait((person.folder / "runs.csv").string()).error == "");
  const auto* points = w->lab().outputs().find("measured_points");
  REQUIRE(points->table_size() == 2);
  chapters::Fields cells;
  points->table_row(0, cells);
  CHECK(cells.find("intensity")->real() == 500);     // 2e12 / 4e9
  CHECK(cells.find("flops_per_s")->real() == 5e14);  // 2e12 / 0.004 s
  person.folder.write("bad.csv", "name,flops,bytes,time_s\nmatmul,2e12,4e9,fast\n");
  const auto before = w->lab().clone();
  const std::string sentence = w->opening.open_and_wait((person.folder / "bad.csv").string()).error;
  CHECK(sentence.find("fast") != std::string::npos);
  CHECK(sentence.back() == '.');
  CHECK(w->lab().same_inputs(*before));
}

TEST_CASE("a dropped lesson is there to be played") {
  const Person person;
  const auto w = person.workspace();
  const auto lessons = w->content.lessons.size();
  person.folder.write(
      "l.json",
      R"({"id": "mine", "title": "Mine", "steps": [{"lab": "roofline/roofline", "title": "One", "say": "Look.", )"
      R"("inputs": {"chip": "b200_sxm"}, "view": {}}]})");
  CHECK(w->opening.open_and_wait((person.folder / "l.json").string()).error == "");
  REQUIRE(w->content.lessons.size() == lessons + 1);
  CHECK(w->content.lessons.back().steps[0].say == "Look.");
  CHECK(said(*w, "Lesson \"Mine\" is loaded"));
}

TEST_CASE("links open a lab with what they set; wrong ones say what is wrong and change nothing") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open(second));
  CHECK(w->open_link("lab:roofline/roofline?chip=b200_sxm&operation=custom&bytes=2.5%20GB").error == "");
  CHECK(open_lab(*w) == first);
  CHECK(text(*w, "chip") == "b200_sxm");
  CHECK(input_number(*w, "bytes") == 2.5e9);
  CHECK(app::link_of(w->lab()).find("roofline/roofline?") == 0);
  const auto before = w->lab().clone();
  CHECK(w->open_link("https://example.org").error ==
        "\"https://example.org\" is not a link to a lab: one reads roofline/roofline?chip=h100_sxm.");
  CHECK(w->open_link("roofline/roofline?chip=none").error.find("chip is \"none\": allowed are ") == 0);
  CHECK(w->open_link("roofline/roofline?chap=h100_sxm")
            .error.find("roofline/roofline has no input \"chap\": did you mean \"chip\"") == 0);
  CHECK(w->lab().same_inputs(*before));
  CHECK_FALSE(w->open("nothing/here"));
  CHECK(open_lab(*w) == first);
}

TEST_CASE("progress, settings and notes are saved and come back; the window opens where it was left") {
  const Person person;
  {
    const auto w = person.workspace();
    REQUIRE(w->open(first));
    REQUIRE(w->open(second));
    w->progress.predict(second, {"q", 3.0, 4.0, 100});
    w->notes.set(first, "the ridge is at 295");
    w->settings.light = true;
    w->settings.scale = 1.5;
    const auto& presets = w->content.of(second).presets;
    REQUIRE_FALSE(presets.empty());
    CHECK(w->apply_preset(presets[0]).error == "");
    w->save();
    CHECK(w->messages().empty());
  }
  const auto w = person.workspace();
  CHECK(w->messages().empty());
  CHECK(open_lab(*w) == second);
  CHECK(w->settings.light);
  CHECK(w->settings.scale == 1.5);
  CHECK(w->notes.of(first) == "the ridge is at 295");
  REQUIRE(w->progress.latest(second, "q"));
  CHECK(w->progress.latest(second, "q")->committed == 3.0);
  CHECK(w->progress.labs.at(second).presets.size() == 1);
  CHECK(w->learner.quarters(second) == app::store::Quarters{.opened = true, .explored = true});
  CHECK(w->learner.quarters(first).fraction() == 0.25);
  CHECK(w->learner.quarters("roofline/iron-law").fraction() == 0.0);
}

TEST_CASE("a corrupt progress file is set aside and said so, and work goes on") {
  const Person person;
  std::filesystem::create_directories(person.folder / "data");
  person.folder.write("data/progress.json", "{\"version\": 1, \"labs\": {");
  {
    const auto w = person.workspace();
    CHECK(said(*w, "progress.json.corrupt-1"));
    CHECK(std::filesystem::exists(person.folder / "data/progress.json.corrupt-1"));
    CHECK(person.folder.read("data/progress.json.corrupt-1") == "{\"version\": 1, \"labs\": {");
    w->progress.predict(first, {"q", 1, 2, 3});
    w->save();
  }
  const auto w = person.workspace();
  CHECK(w->messages().empty());
  CHECK(w->progress.latest(first, "q"));
}

TEST_CASE("without a home nothing is kept, which is said once, and everything else works") {
  use_assets();
  const Folder folder;
  app::Workspace w(support::bundled_content(), models::Result<app::UserPaths>::fail("Nothing can be kept: set HOME."));
  REQUIRE(w.messages().size() >= 1);
  CHECK(w.messages()[0].text == "Nothing can be kept: set HOME.");
  REQUIRE(w.open(first));
  w.notes.set(first, "gone");
  w.save();
  CHECK(w.keep_lesson({"x", "X", {}}).error == "Nothing can be kept: set HOME.");
  CHECK(w.export_folder() == ".");
}

TEST_CASE("a kept lesson has a file of its own, never over another of the same title, and is there next time") {
  const Person person;
  {
    const auto w = person.workspace();
    const app::Lesson lesson{
        "", "Bytes & flops", {{std::string(first), "One", "Say \"this\".", R"({"chip":"b200_sxm"})", "{}"}}};
    CHECK(w->keep_lesson(lesson).error == "");
    CHECK(w->keep_lesson(lesson).error == "");
    CHECK(std::filesystem::exists(person.folder / "data/lessons/bytes---flops.json"));
    CHECK(std::filesystem::exists(person.folder / "data/lessons/bytes---flops-2.json"));
    CHECK(w->content.lessons.back().id == "bytes---flops-2");  // progress tells them apart
  }
  const auto w = person.workspace();
  std::size_t found = 0;
  for (const auto& lesson : w->content.lessons)
    if (lesson.title == "Bytes & flops") {
      ++found;
      REQUIRE(lesson.steps.size() == 1);
      CHECK(lesson.steps[0].say == "Say \"this\".");
    }
  CHECK(found == 2);
}

TEST_CASE("claims of the open lab are recomputed once and agree with what is recorded") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open("roofline/iron-law"));
  const auto* found = w->claims.of("roofline/iron-law");
  CHECK(found == nullptr);  // a job computes them
  while (!(found = w->claims.of("roofline/iron-law"))) std::this_thread::yield();
  const auto& checked = *found;
  CHECK(checked.size() == w->claims.count("roofline/iron-law"));
  REQUIRE(checked.size() >= 3);
  for (const auto& [claim, result] : checked) {
    INFO(claim->id);
    REQUIRE(result);
    CHECK(result->agrees);
  }
  CHECK(w->claims.of("roofline/iron-law") == found);
}

TEST_CASE("the figures that the first lesson says are those of the labs that it shows") {
  const Person person;
  const auto w = person.workspace();
  const auto lesson = std::find_if(w->content.lessons.begin(), w->content.lessons.end(),
                                   [](const app::Lesson& l) { return l.id == "start"; });
  REQUIRE(lesson != w->content.lessons.end());
  const auto out_at = [&](std::size_t step, const char* key) {
    const app::LessonStep& s = lesson->steps.at(step);
    REQUIRE(w->open_with(s.lab, app::parse_own_json(s.inputs), Json::object()));
    w->finish();
    return w->lab().outputs().find(key)->number();
  };
  const auto says = [&](std::size_t step, const char* words) {
    return lesson->steps.at(step).say.find(words) != std::string::npos;
  };
  CHECK(says(0, "fetches 20 GB in about 6 ms and calculates for 1 ms"));
  CHECK(std::abs(out_at(0, "memory_s") - 6e-3) < 0.1e-3);
  CHECK(std::abs(out_at(0, "compute_s") - 1e-3) < 0.05e-3);
  CHECK(says(1, "calculating takes about 20 ms"));
  CHECK(std::abs(out_at(1, "compute_s") - 20e-3) < 0.5e-3);
  CHECK(out_at(1, "memory_s") < 0.5 * out_at(1, "compute_s"));
  CHECK(says(2, "1,290 small pieces"));
  CHECK(out_at(2, "launches") == 1290);
  CHECK(out_at(2, "host_bound") == 1);
  CHECK(says(2, "waits for two thirds of the step"));
  CHECK(std::abs(out_at(2, "idle") - 66.7) < 2);
}

}  // namespace person_test
