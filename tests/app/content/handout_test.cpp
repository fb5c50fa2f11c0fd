#include <catch2/catch_test_macros.hpp>

#include "app/content/handout.h"
#include "app/content/load_catalog.h"
#include "app/platform/headless.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/cli_run.h"
#include "widgets/number/number.h"

// A chapter for paper.

TEST_CASE("base64 is that of RFC 4648, section 10") {
  CHECK(app::base64("").empty());
  CHECK(app::base64("f") == "Zg==");
  CHECK(app::base64("fo") == "Zm8=");
  CHECK(app::base64("foo") == "Zm9v");
  CHECK(app::base64("foobar") == "Zm9vYmFy");
  CHECK(app::base64("\xff\xef") == "/+8=");
}

TEST_CASE("a handout escapes every text, needs no other file, and has its answers behind all of its questions") {
  const std::string hostile = "<script>alert(\"x\")</script> & 'so'";
  app::Handout paper{"01", hostile, {}};
  app::HandoutLab lab{
      .title = hostile, .question = hostile, .png = "not a picture", .formula = hostile, .answer = hostile};
  lab.questions.push_back({.asks = "How much < 3?", .unit = "s", .answer = "139 \xC2\xB5s", .why = "Since a & b."});
  lab.questions.push_back({.asks = "Which?", .options = {"<a>", "b"}, .answer = "<a>", .why = "So."});
  lab.questions.push_back({.asks = "Draw it.", .curve = true, .why = "It bends."});
  paper.labs.push_back(lab);
  const std::string html = app::handout_html(paper);
  CHECK(html.starts_with("<!doctype html>"));
  CHECK(html.find("<script") == std::string::npos);
  CHECK(html.find("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp;") != std::string::npos);
  CHECK(html.find("http") == std::string::npos);
  CHECK(html.find("src=\"data:image/png;base64," + app::base64("not a picture")) != std::string::npos);
  const auto back = html.find("<h1>Answers</h1>");
  REQUIRE(back != std::string::npos);
  for (const char* front : {"How much &lt; 3?", "Which?", "Draw it.", "class=\"frame\"", "class=\"line\""}) {
    CHECK(html.find(front) < back);
    CHECK(html.find(front, back) == std::string::npos);
  }
  for (const char* answer : {"139 \xC2\xB5s", "Since a &amp; b.", "It bends.", "<b>&lt;a&gt;.</b>"}) {
    CHECK(html.find(answer) > back);
    CHECK(html.find(answer) != std::string::npos);
  }
  for (const char* tag : {"section", "ol", "li", "p", "div", "html", "body", "head", "style"}) {
    const auto count = [&](const std::string& part) {
      std::size_t n = 0;
      for (auto at = html.find(part); at != std::string::npos; at = html.find(part, at + 1))
        n += html.find_first_of(" >", at) == at + part.size();
      return n;
    };
    CHECK(count("<" + std::string(tag)) == count("</" + std::string(tag)));
  }
}

TEST_CASE("of each lab a number, a choice and a curve are asked, and the answers are what it computes") {
  if (chapters::catalog().chips.empty())
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
  const auto lab = chapters::make_lab_by_id("roofline/roofline");
  lab->compute();
  const auto& content = support::bundled_content().of("roofline/roofline");
  const app::HandoutLab paper = app::handout_lab(*lab, content);
  REQUIRE(paper.questions.size() == 3);
  CHECK(paper.question == lab->info().question);
  CHECK_FALSE(paper.answer.empty());
  CHECK(paper.answer.find('`') == std::string::npos);
  // 9 PFLOP/s over 7.7 TB/s are 1,169 FLOP a byte.
  CHECK(paper.questions[0].answer.starts_with("1,1"));
  CHECK(paper.questions[1].options.size() >= 2);
  CHECK(std::find(paper.questions[1].options.begin(), paper.questions[1].options.end(), paper.questions[1].answer) !=
        paper.questions[1].options.end());
  CHECK(paper.questions[2].curve);
  for (const auto& question : paper.questions) CHECK(question.why.find('{') == std::string::npos);
}

TEST_CASE("a handout's formulas have the sign of multiplication") {
  support::use_bundled_catalog();
  for (const auto& entry : chapters::all_labs()) {
    const auto lab = chapters::make_lab_by_id(entry.id);
    const auto outputs = lab->outputs();
    const auto shown = std::find_if(outputs.begin(), outputs.end(),
                                    [](const auto& f) { return f.spec.headline && !f.spec.formula.empty(); });
    if (shown == outputs.end() || shown->spec.formula.find(" x ") == std::string_view::npos) continue;
    lab->compute();
    const app::HandoutLab paper = app::handout_lab(*lab, app::LabContent{});
    INFO(entry.id << ": " << paper.formula);
    CHECK(paper.formula.find(" x ") == std::string::npos);
    CHECK(paper.formula.find(" × ") != std::string::npos);
    return;
  }
  FAIL("no lab has such a formula");
}

TEST_CASE("ridgeline handout writes one file with a picture a lab, and says what is wrong with its call") {
  CHECK(support::refused_by_cli({"handout"}).starts_with("handout needs a chapter"));
  CHECK(support::refused_by_cli({"handout", "rofline", "-o", "x.html"}).find("did you mean \"roofline\"?") !=
        std::string::npos);
  CHECK(support::refused_by_cli({"handout", "roofline", "-o", "x.pdf"}) == "handout needs -o FILE.html.");
  if (const auto made = app::Headless::create(64, 64); !made) SKIP(made.error);
  const support::Folder folder;
  const auto ran = support::run_cli({"handout", "10", "-o", (folder / "c.html").string()});
  CHECK(ran.error == "");
  REQUIRE(ran.status == 0);
  const std::string html = folder.read("c.html");
  std::size_t pictures = 0, labs = 0;
  for (auto at = html.find("<img"); at != std::string::npos; at = html.find("<img", at + 1)) ++pictures;
  for (const auto& chapter : chapters::all_chapters())
    if (chapter.ordinal == "10") labs = chapter.labs.size();
  CHECK(pictures == labs);
  CHECK(html.find("<h1>10 Driving</h1>") != std::string::npos);
}
