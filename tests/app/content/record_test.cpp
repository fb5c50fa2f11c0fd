#include "app/content/record.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/lab/catalog.h"

namespace {

bool text_holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the record says which labs were opened and when, tests with scores and dates, and the time spent") {
  support::use_bundled_catalog();
  app::store::Progress progress;
  progress.visit("roofline/roofline", 1'700'000'000);
  progress.spend("roofline/roofline", 4000);
  progress.visit("roofline/hierarchy");
  progress.keep_test({"roofline", 1'700'100'000, 7, 1, 10});
  const std::string page = app::record_html(support::bundled_content(), progress, 1'700'200'000);
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(text_holds(page, "01 The roofline, 2 of 5 labs"));
  CHECK(text_holds(page, "<td>Roofline</td><td class=\"n\">2023-11-14</td><td class=\"n\">1 h 07 min</td>"));
  CHECK(text_holds(page, "<td>Memory hierarchy</td><td class=\"n\">earlier</td>"));
  CHECK(text_holds(page, "<td>Chapter test</td><td class=\"n\">2023-11-16</td><td class=\"n\">7.5 of 10</td>"));
  CHECK(text_holds(page, "Labs opened: 2. Chapter tests taken: 1. Time with a hand on a lab: 1 h 07 min."));
  CHECK_FALSE(text_holds(page, "Frameworks"));
}

TEST_CASE("the record needs no other file, prints, and has no markup from outside") {
  support::use_bundled_catalog();
  app::Content content = support::bundled_content();
  content.curriculum[0].title = "<script>alert(1)</script> & \"more\"";
  app::store::Progress progress;
  CHECK(text_holds(app::record_html(content, progress, 0), "No lab was opened yet."));
  progress.visit("role/scaling", 1'700'000'000);
  const std::string page = app::record_html(content, progress, 1'700'000'000);
  CHECK(text_holds(page, "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;more&quot;"));
  CHECK_FALSE(text_holds(page, "<script"));
  for (const char* outside : {"http:", "https:", "src=", "url(", "@import"}) CHECK_FALSE(text_holds(page, outside));
  CHECK(text_holds(page, "@page"));
}
