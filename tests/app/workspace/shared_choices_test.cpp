#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/app/workspace/person.h"

// The choices that follow a person from lab to lab.
namespace person_test {

TEST_CASE("shared choices follow from lab to lab, and stay behind when my scenario is not kept") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open(first));
  choose(*w, "chip", "b200_sxm");
  REQUIRE(w->open(second));
  CHECK(text(*w, "chip") == "b200_sxm");
  w->lab().inputs().find("batch")->set_number(32);
  w->update(false);
  REQUIRE(w->open(first));
  CHECK(input_number(*w, "batch") == 32);
  w->settings.keep_my_scenario = false;
  choose(*w, "chip", "a100_80_sxm");
  REQUIRE(w->open(second));
  CHECK(text(*w, "chip") == "b200_sxm");
  w->settings.keep_my_scenario = true;
  REQUIRE(w->open(first));
  CHECK(text(*w, "chip") == "a100_80_sxm");  // chosen here by hand after the other was shared: the newer one stays
}

TEST_CASE("a choice from the top bar reaches the open lab and every other, and asks for keeping it") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open(first));
  w->settings.keep_my_scenario = false;
  w->share("chip", "mi300x");
  CHECK(text(*w, "chip") == "mi300x");
  CHECK(w->settings.keep_my_scenario);
  REQUIRE(w->open(second));
  CHECK(text(*w, "chip") == "mi300x");
  w->update(false);
  w->current().undo();
  w->update(false);
  CHECK(text(*w, "chip") != "mi300x");  // undo is the lab's own
  std::vector<std::string> names;
  for (const auto& group : w->shared().groups()) names.push_back(group.name);
  // The bar shows what the open lab has, and nothing else.
  for (const std::string& name : names) {
    bool own = false;
    for (const auto& f : w->lab().inputs()) own |= f.spec.shared.starts_with(name) && !f.spec.shared.empty();
    CHECK(own);
  }
  CHECK(std::find(names.begin(), names.end(), "chip") != names.end());
}

TEST_CASE("the bar shows the values of the lab that is open, not of another that shares them") {
  const Person person;
  const auto w = person.workspace();
  const auto shown = [&](std::string_view name) {
    for (const auto& group : w->shared().groups())
      for (const auto* f : group.fields)
        if (f->spec.shared == name) return f->number();
    return -1.0;
  };
  CHECK(w->open("roofline/hierarchy"));
  const double chips = w->lab().inputs().find("chips")->number();
  CHECK(shown("cluster.chips") == chips);
  // Chips of a cluster and chips that share every layer are two things, each with a name of its own.
  CHECK(w->open("serving/batching"));
  CHECK(w->lab().inputs().find("chips")->number() != chips);
  CHECK(shown("parallel.tensor") == w->lab().inputs().find("chips")->number());
  CHECK(shown("cluster.chips") == -1);  // batching has none, so the bar shows none
}

TEST_CASE("a shared value that a lab does not allow leaves that lab's own") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open(second));
  const double most_there = w->lab().inputs().find("batch")->spec.range.hi;
  w->lab().inputs().find("batch")->set_number(most_there);
  w->update(false);
  REQUIRE(w->open(first));
  const auto* batch = w->lab().inputs().find("batch");
  CHECK(batch->number() <= batch->spec.range.hi);
  CHECK(w->lab().reason() == "");
}

TEST_CASE("a shared choice that a lab does not offer is refused with a sentence, not dropped in silence") {
  const Person person;
  const auto w = person.workspace();
  w->settings.keep_my_scenario = true;
  REQUIRE(w->open("roofline/roofline"));
  REQUIRE(w->lab().inputs().find("format")->set_choice_id("fp64"));
  w->update(false);
  w->messages().clear();
  REQUIRE(w->open("compression/sparsity"));
  CHECK(text(*w, "format") == "bf16");
  REQUIRE(w->messages().size() == 1);
  CHECK(w->messages()[0].text.find("keeps its own \"Format\"") != std::string::npos);
  CHECK(w->messages()[0].text.find("fp64") != std::string::npos);
}

TEST_CASE("what a preset, a link or a lesson sets is not carried to other labs; what a hand sets is, and it says so") {
  const Person person;
  const auto w = person.workspace();
  // Every preset of every lab, and every step of every lesson: nothing is shared by them.
  for (const auto& [lab, content] : w->content.labs)
    for (const auto& preset : content.presets) {
      REQUIRE(w->open(lab));
      CHECK(w->apply_preset(preset));
      w->update(false);
    }
  for (const auto& lesson : w->content.lessons)
    for (const auto& step : lesson.steps) {
      (void)w->open_with(step.lab, app::parse_own_json(step.inputs), app::Json::object());
      w->update(false);
    }
  for (const auto& entry : w->labs())
    for (const auto& f : entry.copy->inputs()) CHECK_FALSE((!f.spec.shared.empty() && w->shared().has(f.spec.shared)));
  REQUIRE(w->open("compression/deploy"));
  const double own_batch = input_number(*w, "batch");
  // By hand:
  REQUIRE(w->open_with("roofline/roofline", app::Json::object(), app::Json::object()));
  w->lab().inputs().find("batch")->set_number(own_batch + 7);
  w->update(false);
  w->messages().clear();
  REQUIRE(w->open("compression/deploy"));
  CHECK(input_number(*w, "batch") == own_batch + 7);
  REQUIRE(w->messages().size() == 1);
  CHECK(w->messages()[0].text == "Carried over: Batch from Roofline.");
  REQUIRE(w->messages()[0].action.run);
  w->messages()[0].action.run();
  w->update(false);
  CHECK(input_number(*w, "batch") == own_batch);
  // What was put back, and a preset that was loaded since, are not carried over again.
  REQUIRE(w->open("roofline/roofline"));
  REQUIRE(w->open("compression/deploy"));
  CHECK(input_number(*w, "batch") == own_batch);
}

TEST_CASE("a batch of training and sequences that decode together are two choices") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open("framework/training-memory"));
  const double trained = input_number(*w, "batch");
  REQUIRE(w->open("roofline/roofline"));
  w->lab().inputs().find("batch")->set_number(4096);
  w->update(false);
  REQUIRE(w->open("framework/training-memory"));
  CHECK(input_number(*w, "batch") == trained);
  REQUIRE(w->open("role/scaling"));
  CHECK(input_number(*w, "batch") != 4096);
}

TEST_CASE("what a service is asked for and promises follows from its capacity to its load and its batches") {
  const Person person;
  const auto w = person.workspace();
  REQUIRE(w->open("serving/capacity"));
  w->lab().inputs().find("arrival_rate")->set_number(23);
  w->lab().inputs().find("prompt_tokens")->set_number(50'000);
  w->lab().inputs().find("tpot_limit_s")->set_number(0.031);
  w->update(false);
  for (const char* id : {"serving/slo", "serving/batching"}) {
    INFO(id);
    REQUIRE(w->open(id));
    CHECK(input_number(*w, "arrival_rate") == 23);
    CHECK(input_number(*w, "prompt_tokens") == 50'000);
    CHECK(input_number(*w, "tpot_limit_s") == 0.031);
  }
}

}  // namespace person_test
