#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/shell/home/home.h"
#include "app/workspace/workspace.h"

/// The course as this person stands in it.
namespace app {

/// "1 question", "4 questions".
std::string counted(std::size_t n, std::string_view what);

/// Every chapter with its labs, as far as each is done. One open lab is `next`: the first in teaching order that was
/// never opened and whose needed labs all were; else the first never opened, else the first that is not done. The lab
/// that was open last is `here` and never `next`.
std::vector<HomeChapter> course_of(const Workspace& w);

/// The lab that is next; null where all are done.
const HomeLab* next_of(const std::vector<HomeChapter>& course);

}  // namespace app
