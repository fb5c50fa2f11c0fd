#pragma once
#include <string>
#include <vector>

namespace app {

/// One lab of the whole plan, open or not.
struct CurriculumLab {
  std::string id, title;  ///< "chapter/lab"; a lab that is open has the title of its own LabInfo
};

/// One chapter of the whole plan, in teaching order. What of it is open, chapters/mechanism/registry.h says.
struct CurriculumChapter {
  std::string slug, ordinal, title;
  std::vector<CurriculumLab> labs;
};

struct LabContent;
/// Minutes that a lab takes: a minute for 200 words of its prose, half a minute a preset, a minute and a half a
/// question.
double minutes_of(const LabContent& lab);

}  // namespace app
