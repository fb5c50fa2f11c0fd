#pragma once
#include <vector>

#include "app/store/progress.h"
#include "chapters/practice/drill_scope.h"

namespace app {

/// The labs that the learner has opened, as drills and readiness take them. Before the first there is one row without
/// a lab, so that a beginner is not taken for somebody of whom nothing is known.
std::vector<chapters::OpenedLab> opened_labs(const store::Progress& progress, double now_s);

/// Fills a table whose shared name is chapters::opened_table.
void fill_opened(const chapters::Field& table, const store::Progress& progress, double now_s);

}  // namespace app
