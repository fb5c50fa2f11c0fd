#pragma once
#include <string>
#include <vector>

#include "chapters/mechanism/lab.h"

/// What would make infeasible inputs feasible again.
namespace app {

/// One input set to another value, all others as they are.
struct Fix {
  std::string key;    ///< key of the input that is set
  double value = 0;   ///< as Field::set_number takes it
  std::string words;  ///< "Chips: 2"
  int steps = 0;      ///< how far away the value was found; smaller is nearer
};

/// At most `most` single changes that make the lab feasible, nearest first: an option of a choice, the other side of a
/// toggle, or the nearest number at which it starts to be feasible, to three significant digits. Empty for a feasible
/// lab, and where no single change helps. Works on a clone; stops early when cancelled.
std::vector<Fix> find_fixes(const chapters::Lab& lab, chapters::Progress& progress, std::size_t most = 3);

}  // namespace app
