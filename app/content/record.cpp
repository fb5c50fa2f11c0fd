#include "app/content/record.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "app/content/handout.h"
#include "chapters/mechanism/registry.h"
#include "widgets/number/number.h"

namespace app {
namespace {

/// "2026-11-28" in UTC; "earlier" of a time that is not known.
std::string date_text(std::int64_t unix_s) {
  if (unix_s <= 0) return "earlier";
  const std::time_t time = static_cast<std::time_t>(unix_s);
  std::tm utc{};
  if (!::gmtime_r(&time, &utc)) return "earlier";
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

/// "1 h 05 min"; a dash below half a minute.
std::string time_text(double seconds) {
  const long minutes = std::lround(seconds / 60);
  if (minutes < 1) return "\xE2\x80\x93";
  std::array<char, 48> text{};
  if (minutes < 60)
    std::snprintf(text.data(), text.size(), "%ld min", minutes);
  else
    std::snprintf(text.data(), text.size(), "%ld h %02ld min", minutes / 60, minutes % 60);
  return text.data();
}

std::string score_of(const store::TestResult& test) {
  return widgets::format_text(test.score(), "", 3) + " of " + std::to_string(test.asked);
}

std::string title_of(const CurriculumLab& row) {
  const auto lab = chapters::make_lab_by_id(row.id);
  return lab ? std::string(lab->info().title) : row.title;
}

constexpr const char* head =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Ridgeline: my "
    "record</title>\n<style>\n"
    "@page{margin:16mm}\n"
    "body{font:10.5pt/1.4 Inter,Helvetica,Arial,sans-serif;color:#17202a;background:#fff;max-width:178mm;margin:8mm "
    "auto;"
    "padding:0 4mm}\n"
    "h1{font-size:17pt;margin:0 0 1mm}p{margin:0 0 4mm;color:#566472}\n"
    "table{border-collapse:collapse;width:100%;margin:0 0 5mm}\n"
    "th,td{text-align:left;padding:0.8mm 2mm;border-bottom:0.2mm solid #d6dce3;vertical-align:top}\n"
    "td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    "tr.chapter td{font-weight:700;border-bottom:0.4mm solid #566472;padding-top:3mm}\n"
    "tr{page-break-inside:avoid}thead{display:table-header-group}\n"
    "@media print{body{margin:0;padding:0;max-width:none}}\n"
    "</style>\n</head>\n<body>\n";

std::string cells(std::initializer_list<std::string> numbers, const std::string& first, const char* kind) {
  std::string row = std::string("<tr") + kind + "><td>" + html_text(first) + "</td>";
  for (const std::string& number : numbers) row += "<td class=\"n\">" + html_text(number) + "</td>";
  return row + "</tr>\n";
}

/// The rows of a chapter: its labs that were opened, and its tests. Empty where nothing was done.
std::string rows_of(const CurriculumChapter& chapter, const store::Progress& progress) {
  std::string rows;
  std::size_t opened = 0, all = 0;
  double spent_s = 0;
  for (const CurriculumLab& lab : chapter.labs) {
    if (!chapters::has_lab(lab.id)) continue;
    ++all;
    const auto at = progress.labs.find(lab.id);
    if (at == progress.labs.end() || !at->second.visited) continue;
    ++opened;
    spent_s += at->second.spent_s;
    rows += cells({date_text(at->second.opened_unix_s), time_text(at->second.spent_s)}, title_of(lab), "");
  }
  for (const store::TestResult& test : progress.tests)
    if (test.chapter == chapter.slug) rows += cells({date_text(test.time_unix_s), score_of(test)}, "Chapter test", "");
  if (rows.empty()) return {};
  const std::string title = chapter.ordinal + " " + chapter.title + ", " + std::to_string(opened) + " of " +
                            std::to_string(all) + (all == 1 ? " lab" : " labs");
  return cells({"", time_text(spent_s)}, title, " class=\"chapter\"") + rows;
}

}  // namespace

std::string record_html(const Content& content, const store::Progress& progress, std::int64_t now_unix_s) {
  std::string rows;
  std::size_t opened = 0;
  for (const CurriculumChapter& chapter : content.curriculum) rows += rows_of(chapter, progress);
  for (const auto& [id, lab] : progress.labs) opened += lab.visited && chapters::has_lab(id) ? 1 : 0;
  std::string page = head;
  page += "<h1>Ridgeline: my record</h1>\n<p>" + html_text(date_text(now_unix_s)) +
          ". Labs opened: " + std::to_string(opened) +
          ". Chapter tests taken: " + std::to_string(progress.tests.size()) +
          ". Time with a hand on a lab: " + time_text(progress.spent_s()) +
          ". A near answer of a test counts half. Written by the program from what it kept on this machine; nobody "
          "has watched the tests.</p>\n";
  if (rows.empty()) page += "<p>No lab was opened yet.</p>\n";
  if (!rows.empty())
    page +=
        "<table>\n<thead><tr><th>Chapter and lab</th><th class=\"n\">Opened or taken</th><th class=\"n\">Time or "
        "score</th></tr></thead>\n<tbody>\n" +
        rows + "</tbody>\n</table>\n";
  return page + "</body>\n</html>\n";
}

}  // namespace app
