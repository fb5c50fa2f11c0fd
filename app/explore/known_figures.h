#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/lab.h"

/// The figures of all labs at their defaults, to be looked for by value.
namespace app {

struct KnownFigure {
  std::string lab, key;
  std::string label;  ///< label of the output
  std::string unit;
  double value = 0;
};

/// What labs say at their defaults, in teaching order; hidden labs, infeasible ones and figures without a value are
/// left out. Computes every lab, so it is for a job; empty where that is cancelled.
std::vector<KnownFigure> known_figures(chapters::Progress& progress);

/// Those that read as `typed` ("3.35 TB/s"): its unit is theirs, and rounded to as many digits as were typed they are
/// the same. Nothing for a number without a unit, which would find too much.
std::vector<const KnownFigure*> figures_that_read(const std::vector<KnownFigure>& known, std::string_view typed);

}  // namespace app
