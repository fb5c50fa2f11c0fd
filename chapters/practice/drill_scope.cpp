#include "chapters/practice/drill_scope.h"

#include <algorithm>

#include "chapters/mechanism/registry.h"
#include "chapters/practice/drill_history.h"

namespace chapters {
namespace {

std::string_view chapter_of_lab(std::string_view lab) { return lab.substr(0, lab.find('/')); }

void add_chapter(std::vector<std::string>& to, std::string_view chapter) {
  if (std::find(to.begin(), to.end(), chapter) == to.end()) to.emplace_back(chapter);
}

bool has_drills(const std::vector<Drill>& drills, const std::vector<std::string>& chapters) {
  return std::any_of(drills.begin(), drills.end(), [&](const Drill& d) { return DrillScope::holds(chapters, d); });
}

/// The chapters of these labs; where they have no templates, the first of the course that has.
std::vector<std::string> chapters_with_drills(const std::vector<Drill>& drills, std::span<const OpenedLab> opened) {
  std::vector<std::string> chapters;
  for (const OpenedLab& row : opened)
    if (!row.lab.empty()) add_chapter(chapters, chapter_of_lab(row.lab));
  for (const Chapter& chapter : all_chapters())
    if (!has_drills(drills, chapters)) add_chapter(chapters, chapter.slug);
  return chapters;
}

}  // namespace

void describe(Fields& f, OpenedLab& r) {
  f.text("lab", r.lab, "Lab");
  f.real("time_s", r.time_s, {"Opened", "s"}, "Seconds since 1970.", {.range = {0, 1e11}});
}

bool DrillScope::holds(const std::vector<std::string>& chapters, const Drill& drill) {
  return std::find(chapters.begin(), chapters.end(), chapter_of_lab(drill.lab)) != chapters.end();
}

DrillScope scope_of(const std::vector<Drill>& drills, std::span<const OpenedLab> opened, double now_s) {
  DrillScope scope;
  if (opened.empty()) {
    for (const Chapter& chapter : all_chapters()) scope.chapters.emplace_back(chapter.slug);
    scope.day_chapters = scope.chapters;
    return scope;
  }
  std::vector<OpenedLab> before_today;
  double begun_s = now_s;
  for (const OpenedLab& row : opened) {
    begun_s = std::min(begun_s, row.time_s);
    if (day_of(row.time_s) < day_of(now_s)) before_today.push_back(row);
  }
  scope.chapters = chapters_with_drills(drills, opened);
  scope.day_chapters = chapters_with_drills(drills, before_today);
  scope.first_week = day_of(now_s) - day_of(begun_s) < 7;
  return scope;
}

}  // namespace chapters
