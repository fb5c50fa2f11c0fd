#include "app/content/content.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "app/content/load_catalog.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

using support::Folder;

namespace {

/// An assets folder with what a test writes; names may lie in folders.
struct Assets {
  Folder folder;
  Assets() {
    for (const char* name : {"labs/roofline", "claims", "lessons"}) std::filesystem::create_directories(folder / name);
    if (chapters::catalog().chips.empty())
      chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
  }
  app::Content load() const { return app::load_content(folder.path.string()); }
};

constexpr const char* claim = R"({"id": "c", "source": "S", "statement": "It is so.", "lab": "roofline/roofline", )"
                              R"("inputs": {"operation": "custom", "flops": 1e12, "bytes": 2e9},
  "output": "intensity", "claimed": 490, "tolerance": 0.03, "verdict": "right", "why": "1e12 / 2e9 = 500."})";

app::Claim parsed_claim() {
  const Assets a;
  a.folder.write("claims/c.json", "{\"claims\": [" + std::string(claim) + "]}");
  const auto content = a.load();
  REQUIRE(content.errors.empty());
  REQUIRE(content.claims.size() == 1);
  return content.claims[0];
}

}  // namespace

TEST_CASE("Markdown is parted at its five headings, whatever stands before them or between") {
  const auto parts =
      app::split_angles("lost\n# Concept\na\n## Not an angle\nb\n# Code\n```\n# Debugging notes\n```\n# Debug\nd");
  CHECK(parts[0] == "a\n## Not an angle\nb\n");
  CHECK(parts[1] == "");
  CHECK(parts[2].find("```") != std::string::npos);
  CHECK(parts[3] == "d");
  CHECK(app::split_angles("")[0] == "");
}

TEST_CASE("a heading inside a code block is code, and a heading that only begins like an angle is none") {
  const auto parts = app::split_angles("# Code\n```sh\n# Debug this first\nls\n# Concept\n```\nafter\n# Frontier\nf\n");
  CHECK(parts[2] == "```sh\n# Debug this first\nls\n# Concept\n```\nafter\n");
  CHECK(parts[0] == "");
  CHECK(parts[3] == "");
  CHECK(parts[4] == "f\n");
  CHECK(app::split_angles("# Designers\nx\n")[1] == "");
}

TEST_CASE(
    "presets, questions and terms are read; a broken one is named with its file, place and fault, and the others "
    "stay") {
  const Assets a;
  a.folder.write("labs/roofline/roofline.json",
                 R"({"presets": [{"name": "One", "set": {"bytes": 1e9}}, {"note": "no name"}, {"name": "Three", )"
                 R"("set": [1]}, {"name": 4}],
    "predictions": [{"id": "q", "question": "How many?", "output": "ridge", "explain": "So.", "tolerance": "wide"}]})");
  a.folder.write("glossary.json",
                 R"({"terms": [{"term": "ridge", "meaning": "Where the roof bends."}, {"term": "x"}]})");
  const auto content = a.load();
  REQUIRE(content.of("roofline/roofline").presets.size() == 1);
  CHECK(content.of("roofline/roofline").presets[0].set == R"({"bytes":1000000000.0})");
  CHECK(content.of("roofline/roofline").predictions.empty());
  CHECK(content.glossary.size() == 1);
  CHECK(content.errors == std::vector<std::string>{
                              "roofline/roofline.json, presets 2: the key \"name\" is missing.",
                              "roofline/roofline.json, presets 3: set must be an object.",
                              "roofline/roofline.json, presets 4: name must be a text.",
                              "roofline/roofline.json, predictions 1: tolerance must be a number.",
                              "glossary.json, terms 2: the key \"meaning\" is missing.",
                          });
  CHECK(content.of("no/such").presets.empty());
}

TEST_CASE("objectives, needs and other words for a term are read; a broken one is named, and the others stay") {
  const Assets a;
  a.folder.write("labs/roofline/roofline.json",
                 R"({"objectives": [{"can": "Find the ridge.", "check": ["ridge"]}, {"check": ["ridge"]},
                     {"can": "Name it.", "check": "ridge"}], "needs": ["roofline/hierarchy", "term:FLOP"]})");
  a.folder.write("labs/roofline/hierarchy.json", R"({"needs": [7]})");
  a.folder.write("glossary.json", R"({"terms": [{"term": "GEMM", "meaning": "A product.", "also": ["matmul"]}]})");
  const auto content = a.load();
  const auto& lab = content.of("roofline/roofline");
  REQUIRE(lab.objectives.size() == 1);
  CHECK(lab.objectives[0].check == std::vector<std::string>{"ridge"});
  CHECK(lab.needs == std::vector<std::string>{"roofline/hierarchy", "term:FLOP"});
  CHECK(content.glossary[0].also == std::vector<std::string>{"matmul"});
  CHECK(content.errors == std::vector<std::string>{
                              "roofline/hierarchy.json: needs must be a list of texts.",
                              "roofline/roofline.json, objectives 2: the key \"can\" is missing.",
                              "roofline/roofline.json, objectives 3: check must be a list of texts.",
                          });
}

TEST_CASE("files that are not JSON, too deep, or hold the wrong thing are said and skipped") {
  const Assets a;
  a.folder.write("claims/a.json", "{");
  a.folder.write("claims/b.json", std::string(1000, '['));
  a.folder.write("claims/c.json", "{\"claims\": [7, " + std::string(claim) + "]}");
  a.folder.write("claims/d.json", "");
  a.folder.write("claims/readme.txt", "not read");
  a.folder.write("lessons/l.json", "[]");
  const auto content = a.load();
  CHECK(content.claims.size() == 1);
  REQUIRE(content.errors.size() == 5);
  CHECK(content.errors[0] == "a.json is not valid JSON: mend or remove it.");
  CHECK(content.errors[1] == "b.json is not valid JSON: mend or remove it.");
  CHECK(content.errors[2] == "c.json, claims 1: an object is expected.");
  CHECK(content.errors[3].find("d.json") != std::string::npos);
  CHECK(content.errors[4] == "l.json: an object is expected.");
}

// 1e12 / 2e9 = 500; 490 is 2 % below.
TEST_CASE("a claim is right within its tolerance of what is computed, and agrees or not with its recorded verdict") {
  auto c = parsed_claim();
  auto checked = app::check_claim(c);
  REQUIRE(checked.error == "");
  CHECK(checked->computed == Catch::Approx(500));
  CHECK(checked->residual == Catch::Approx(-0.02));
  CHECK(checked->unit == "FLOP/B");
  CHECK(checked->verdict == app::Verdict::right);
  CHECK(checked->agrees);
  c.tolerance = 0.01;
  checked = app::check_claim(c);
  CHECK(checked->verdict == app::Verdict::wrong);
  CHECK_FALSE(checked->agrees);
  c.verdict = app::Verdict::wrong;
  CHECK(app::check_claim(c)->agrees);
  // Where the figure rests on an assumption nothing is judged, however far the claim is.
  c.verdict = app::Verdict::unsettled;
  c.claimed = 5;
  CHECK(app::check_claim(c)->verdict == app::Verdict::unsettled);
  CHECK(app::check_claim(c)->agrees);
}

TEST_CASE("a claim whose own data is broken never agrees, and says why") {
  const auto broken = [](auto change) {
    auto c = parsed_claim();
    change(c);
    const auto checked = app::check_claim(c);
    CHECK_FALSE(checked);
    return checked.error;
  };
  CHECK(
      broken([](app::Claim& c) { c.lab = "roofline/rofline"; }) ==
      "Claim c: There is no lab \"roofline/rofline\": did you mean \"roofline/roofline\"? `ridgeline list` names all.");
  CHECK(broken([](app::Claim& c) { c.set = R"({"bytes": -1})"; }).find("Claim c: bytes is -1: ") == 0);
  CHECK(broken([](app::Claim& c) {
          c.output = "intensty";
        }).find("Claim c: roofline/roofline has no output \"intensty\": did you mean \"intensity\"?") == 0);
  CHECK(broken([](app::Claim& c) { c.output = "roofs"; }) == "Claim c: roofs is not a number.");
}

TEST_CASE("a claim with a verdict that is none, or without a number, is refused") {
  const Assets a;
  std::string maybe = claim, unsaid = claim;
  maybe.replace(maybe.find("\"right\""), 7, "\"maybe\"");
  unsaid.replace(unsaid.find("\"claimed\": 490,"), 15, "");
  a.folder.write("claims/c.json", "[" + maybe + "," + unsaid + "]");
  const auto content = a.load();
  CHECK(content.claims.empty());
  CHECK(content.errors ==
        std::vector<std::string>{"c.json, claims 1: verdict is \"maybe\": right, wrong or unsettled is allowed.",
                                 "c.json, claims 2: claimed must be a number."});
}

TEST_CASE("a lesson written and read again is the same, and each fault of one is named") {
  const app::Lesson lesson{"id",
                           "Title \xC3\xA9",
                           {{"roofline/roofline", "One", "Say \"it\".\nTwice.", R"({"chip":"b200_sxm"})", "{}"},
                            {"roofline/roofline", "", "", "{}", "{}"}}};
  const auto back = app::parse_lesson(app::lesson_to_text(lesson), "x.json");
  REQUIRE(back.error == "");
  CHECK(back->title == lesson.title);
  REQUIRE(back->steps.size() == 2);
  CHECK(back->steps[0].say == lesson.steps[0].say);
  CHECK(back->steps[0].inputs == lesson.steps[0].inputs);
  const auto error = [](const char* text) { return app::parse_lesson(text, "x.json").error; };
  CHECK(error("{") == "x.json is not valid JSON: a lesson reads {\"id\", \"title\", \"steps\": [...]}.");
  CHECK(error("{\"title\": \"t\"}") == "x.json: the key \"id\" is missing.");
  CHECK(error(R"({"id": "i", "title": "t"})") == "x.json has no steps: a lesson needs at least one.");
  CHECK(error(R"({"id": "i", "title": "t", "steps": [{"lab": "roofline/roofline"}, {"lab": "x/y"}]})") ==
        "x.json, steps 2: There is no lab \"x/y\". `ridgeline list` names all.");
  CHECK(error(R"({"id": "i", "title": "t", "steps": [{"lab": "roofline/roofline", "inputs": 3}]})") ==
        "x.json, steps 1: inputs must be an object.");
}
