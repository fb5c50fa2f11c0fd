#include "app/content/paper.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "app/platform/pdf.h"
#include "app/platform/svg.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/cli_run.h"
#include "tests/support/lab/lab_bench.h"

// A document in Markdown on A4 paper: nothing is left out and nothing lies outside of a page.

namespace {

/// All texts of a page, one after another, without spaces: cells wrap where they like.
std::string paper_letters(const widgets::Record& page) {
  std::string all;
  for (const auto& s : page.strokes)
    for (const char c : s.text)
      if (c != ' ') all += c;
  return all;
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

void check_inside(const widgets::Record& page) {
  for (const auto& s : page.strokes) {
    for (const ImVec2 p : s.points) CHECK((p.x >= 0 && p.x <= page.max.x && p.y >= 0 && p.y <= page.max.y));
    if (s.kind != widgets::Stroke::Kind::text) continue;
    INFO(s.text);
    CHECK(s.points[0].y + s.size <= page.max.y);
    const double width = 0.826 * static_cast<double>(s.size) * app::helvetica_width(s.text);
    CHECK(static_cast<double>(s.points[0].x) + width <= static_cast<double>(page.max.x));
  }
}

/// The offsets of a PDF's table lead to its objects, and the text is in it.
void check_pdf(const std::string& pdf, std::size_t pages) {
  REQUIRE(pdf.starts_with("%PDF-1.4\n"));
  REQUIRE(pdf.ends_with("%%EOF\n"));
  const std::size_t start = pdf.rfind("startxref\n");
  REQUIRE(start != std::string::npos);
  const std::size_t table = std::strtoul(pdf.c_str() + start + 10, nullptr, 10);
  REQUIRE(pdf.substr(table, 7) == "xref\n0 ");
  const std::size_t objects = std::strtoul(pdf.c_str() + table + 7, nullptr, 10);
  CHECK(objects == 5 + 2 * pages + 1 + 1);
  std::size_t row = pdf.find('\n', table + 7) + 1 + 20;
  for (std::size_t i = 1; i < objects; ++i, row += 20) {
    const std::string head = std::to_string(i) + " 0 obj\n";
    CHECK(pdf.substr(std::strtoul(pdf.substr(row, 10).c_str(), nullptr, 10), head.size()) == head);
  }
  std::size_t streams = 0;
  for (std::size_t at = pdf.find("/Length "); at != std::string::npos; at = pdf.find("/Length ", at + 1)) {
    const std::size_t length = std::strtoul(pdf.c_str() + at + 8, nullptr, 10), body = pdf.find("stream\n", at) + 7;
    CHECK(pdf.substr(body + length, 9) == "endstream");
    ++streams;
  }
  CHECK(streams == pages);
}

}  // namespace

TEST_CASE("the cheat sheet is two A4 pages, whole, as PDF, SVG and Markdown") {
  const support::LabPtr lab = support::open_lab("interview/cheat-sheet");
  support::compute(*lab);
  const auto document = lab->document();
  REQUIRE(document);
  const std::vector<widgets::Record> pages = app::paper_pages(*document.value);
  REQUIRE(pages.size() == 2);
  std::string letters;
  for (const auto& page : pages) {
    CHECK(page.max.x == 794);
    CHECK(page.max.y == 1123);
    check_inside(page);
    letters += paper_letters(page);
  }
  // Every row of every table, its name and its figures: in Markdown and on paper.
  std::size_t rows = 0;
  for (std::size_t at = 0; at < document->size();) {
    const std::size_t end = document->find('\n', at);
    std::string line = document->substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("| ") || line.starts_with("| ---")) continue;
    ++rows;
    for (std::size_t bar = line.find('|', 1), from = 1; bar != std::string::npos;
         from = bar + 1, bar = line.find('|', bar + 1))
      CHECK(letters.find(without_spaces(line.substr(from, bar - from))) != std::string::npos);
  }
  CHECK(rows == 4 + 2 * 26 + support::rows(*lab, "levels") + 25);  // heads, techniques twice, ladder, sums
  for (std::size_t i = 0; i < support::rows(*lab, "techniques"); ++i) {
    chapters::Fields row;
    support::output(*lab, "techniques").table_row(i, row);
    CHECK(letters.find(without_spaces(row.find("technique")->text())) != std::string::npos);
  }
  check_pdf(app::to_pdf(pages, app::paper_title(*document.value)), 2);
  for (const auto& page : pages) {
    const std::string svg = app::to_svg(page, IM_COL32_WHITE);
    CHECK(svg.starts_with("<"));
    CHECK(svg.find("</svg>") != std::string::npos);
    CHECK(svg.find("<text") != std::string::npos);
  }
}

TEST_CASE("paper: what does not fit goes on, hostile text stays text, and a long word is split") {
  std::string long_table = "# Title with (brackets\\\n\n| a | b |\n| --- | ---: |\n";
  for (int i = 0; i < 150; ++i) long_table += "| row" + std::to_string(i) + " | " + std::string(200, 'x') + " |\n";
  const auto pages = app::paper_pages(long_table);
  CHECK(pages.size() > 2);
  std::string letters;
  for (const auto& page : pages) {
    check_inside(page);
    letters += paper_letters(page);
  }
  CHECK(std::count(letters.begin(), letters.end(), 'x') == 150 * 200);
  check_pdf(app::to_pdf(pages, app::paper_title(long_table)), pages.size());
  CHECK(app::paper_pages("").empty());
  CHECK(app::paper_title("no heading") == "Page");
  CHECK(app::to_pdf(app::paper_pages("a \xFF\xF0 (b) \\ \xC3\x97"), "t").find("(a ?? \\(b\\) \\\\ \xD7)") !=
        std::string::npos);
}

TEST_CASE("ridgeline sheet writes the page in three forms, and says what it needs") {
  const support::Folder folder;
  const auto run = [](std::vector<std::string> words) { return support::run_cli(words, ""); };
  for (const char* name : {"s.pdf", "s.svg", "s.md"}) {
    const std::string path = (folder / name).string();
    CHECK(run({"sheet", "interview/cheat-sheet", "--set", "model=llama-3-8b", "-o", path}).status == 0);
  }
  CHECK(std::filesystem::exists(folder / "s-2.svg"));
  CHECK(folder.read("s.md").find("# Cheat sheet: Llama 3 8B on") == 0);
  CHECK(run({"sheet", "interview/cheat-sheet", "-o", "x.txt"}).error.find("FILE.pdf") != std::string::npos);
  CHECK(run({"sheet", "roofline/roofline", "-o", (folder / "x.pdf").string()}).error.find("interview/cheat-sheet") !=
        std::string::npos);
}
