#pragma once
#include "chapters/mechanism/lab.h"

namespace support {

/// A lab with one field of every kind and arithmetic that can be followed by hand: area = width * height (infeasible
/// above 5,000), total = area + sum(weights) + sum over rows (amount, twice if doubled). `square` makes height follow
/// width.
chapters::LabPtr toy_lab(bool job = false);

}  // namespace support
