#include "app/scenario/scenario.h"
#include "app/scenario/link.h"
#include "app/scenario/sentences.h"

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/lab/toy_lab.h"

using app::Json;

namespace {

/// A reader that knows one file.
models::Result<std::string> fake_read(const std::string& path) {
  using Text = models::Result<std::string>;
  if (path == "good.txt") return Text::ok("content");
  return Text::fail("The file " + path + " cannot be opened: check the path and that it may be read.");
}

std::string set(chapters::Lab& lab, const char* key, const Json& value) {
  return app::field_from_json(*lab.inputs().find(key), value, fake_read).error;
}
std::string type(chapters::Lab& lab, const char* key, std::string_view text) {
  return app::set_field_from_text(*lab.inputs().find(key), text, fake_read).error;
}

}  // namespace

TEST_CASE("inputs written as JSON and read back are the same inputs") {
  const auto a = support::toy_lab();
  REQUIRE(app::apply_inputs(*a,
                            {{"width", 7.25},
                             {"count", 9},
                             {"loud", true},
                             {"shape", "square"},
                             {"tone", "green"},
                             {"tones", {"green"}},
                             {"note", "näh"},
                             {"file", "good.txt"},
                             {"weights", {0.5}},
                             {"rows", {{{"name", "x"}, {"amount", 3}, {"doubled", true}}, {{"name", "y"}}}}},
                            fake_read)
              .error == "");
  const auto b = support::toy_lab();
  REQUIRE(app::apply_inputs(*b, Json::parse(app::fields_to_json(a->inputs()).dump()), fake_read).error == "");
  CHECK(a->same_inputs(*b));
  a->compute();
  CHECK(a->outputs().find("total")->real() == 7.25 * 7.25 + 0.5 + 6 + 1);
  CHECK(a->outputs().find("says")->text() == "HO nähgreen1content");
}

TEST_CASE("a wrong value is one sentence with key, value and what is allowed, and changes nothing") {
  const auto lab = support::toy_lab();
  const Json before = app::fields_to_json(lab->inputs());
  CHECK(set(*lab, "width", 0) == "width is 0: a number from 0.001 to 1,000 s is allowed.");
  CHECK(set(*lab, "width", "wide") == "width is \"wide\": a number from 0.001 to 1,000 s is allowed.");
  CHECK(set(*lab, "count", 2.5) == "count is 2.5: a whole number from 1 to 64 is allowed.");
  CHECK(set(*lab, "loud", 2) == "loud is 2: true or false is allowed.");
  CHECK(set(*lab, "shape", "circle") == "shape is \"circle\": allowed are box and square.");
  CHECK(set(*lab, "tone", 3) == "tone is 3: allowed are red, green and blue.");
  CHECK(set(*lab, "tones", {"red", "pink"}) == "tones is \"pink\": allowed are red, green and blue.");
  CHECK(set(*lab, "note", 1) == "note is 1: a text of at most 4,096 bytes is allowed.");
  CHECK(set(*lab, "file", "none.txt") ==
        "file: The file none.txt cannot be opened: check the path and that it may be read.");
  CHECK(set(*lab, "weights", {1, 11}) == "weights is 11: a list of at most 4 numbers from 0 to 10 B is allowed.");
  CHECK(set(*lab, "weights", {1, 1, 1, 1, 1}) ==
        "weights is [1,1,1,1,1]: a list of at most 4 numbers from 0 to 10 B is allowed.");
  CHECK(set(*lab, "rows", {{{"amount", -1}}}) == "rows[0].amount is -1: a number from 0 to 1,000 B is allowed.");
  CHECK(set(*lab, "rows", {{{"size", 1}}}) == "rows[0] has no column \"size\". It has name, amount and doubled.");
  CHECK(set(*lab, "width", nullptr) == "width is null: a number from 0.001 to 1,000 s is allowed.");
  CHECK(app::fields_to_json(lab->inputs()) == before);
}

TEST_CASE("several inputs are set all or none, and an unknown key names its neighbour") {
  const auto lab = support::toy_lab();
  const Json before = app::fields_to_json(lab->inputs());
  CHECK(app::apply_inputs(*lab, {{"width", 5}, {"count", 0}}).error ==
        "count is 0: a whole number from 1 to 64 is allowed.");
  CHECK(app::fields_to_json(lab->inputs()) == before);
  CHECK(app::apply_inputs(*lab, {{"widht", 5}}).error.find("toy/box has no input \"widht\": did you mean \"width\"?") ==
        0);
  CHECK(app::apply_inputs(*lab, Json::array()).error == "The inputs are []: an object of keys and values is expected.");
}

TEST_CASE("what follows --set takes units, options, switches and lists") {
  const auto lab = support::toy_lab();
  CHECK(type(*lab, "width", "310ms") == "");
  CHECK(lab->inputs().find("width")->real() == 0.310);
  CHECK(type(*lab, "loud", "on") == "");
  CHECK(lab->inputs().find("loud")->toggle());
  CHECK(type(*lab, "loud", "0") == "");
  CHECK_FALSE(lab->inputs().find("loud")->toggle());
  CHECK(type(*lab, "weights", "[1, 2.5]") == "");
  CHECK(lab->inputs().find("weights")->reals() == std::vector<double>{1, 2.5});
  CHECK(type(*lab, "tones", "green,blue") == "");
  CHECK(lab->inputs().find("tones")->chosen() == std::vector<std::string>{"green", "blue"});
  CHECK(type(*lab, "weights", "1 2") == "weights is \"1 2\": a JSON list such as [1,2,3] is expected.");
  CHECK(type(*lab, "width", "3 GB").error.find("width: ") == 0);
  CHECK(lab->inputs().find("width")->real() == 0.310);
}

TEST_CASE("scenario documents are checked before anything opens") {
  CHECK(app::parse_scenario("{").error.find("not a JSON object") != std::string::npos);
  CHECK(app::parse_scenario("[]").error.find("not a JSON object") != std::string::npos);
  CHECK(app::parse_scenario("{\"inputs\": {}}").error.find("names no lab") != std::string::npos);
  CHECK(app::parse_scenario("{\"lab\": \"roofline/rofline\"}").error.find("There is no lab \"roofline/rofline\"") == 0);
  CHECK(app::parse_scenario("{\"lab\": 7}").error.find("lab is 7") == 0);
  CHECK(app::parse_scenario("{\"lab\": \"x\", \"version\": 2}").error == "version is 2: this program reads version 1.");
  CHECK(app::parse_scenario("{\"lab\": \"x\", \"extra\": 1}").error.find("unknown key \"extra\"") != std::string::npos);
  CHECK(app::parse_scenario(std::string(100000, '[')).error ==
        "The scenario is nested deeper than 64 levels: it is not one of ours.");
}

TEST_CASE("the command and the link of a scenario carry what differs from the defaults, and nothing else") {
  const auto lab = support::toy_lab();
  CHECK(app::command_line_of(*lab) == "ridgeline toy/box");
  CHECK(app::link_of(*lab) == "toy/box");
  REQUIRE(app::apply_inputs(*lab, {{"width", 5.5}, {"note", "it's"}, {"weights", {1}}}).error == "");
  CHECK(app::command_line_of(*lab) == "ridgeline toy/box --set width=5.5 --set note='it'\\''s' --set weights='[1.0]'");
  CHECK(app::link_of(*lab) == "toy/box?width=5.5&note=it%27s&weights=[1.0]");
}

TEST_CASE("an infeasible evaluation says why and gives no numbers") {
  const auto lab = support::toy_lab();
  REQUIRE(app::apply_inputs(*lab, {{"width", 1000}, {"height", 100}}).error == "");
  lab->compute();
  const Json e = app::evaluation_to_json(*lab);
  CHECK(e["feasible"] == false);
  CHECK(e["reason"] == "The area is above 5,000: make it smaller.");
  CHECK(e["outputs"]["area"].is_null());
  CHECK(e["inputs"]["width"] == 1000.0);
}

TEST_CASE("words: lists, near misses, depth") {
  CHECK(app::sentence_list({"a"}) == "a");
  CHECK(app::sentence_list({"a", "b", "c"}) == "a, b and c");
  CHECK(app::sentence_list({"a", "b", "c", "d"}, 2) == "a, b and 2 more");
  CHECK(app::nearest("chp", {"chip", "batch"}) == "chip");
  CHECK(app::nearest("zzzzzz", {"chip", "batch"}).empty());
}
