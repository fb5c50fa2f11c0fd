#pragma once
#include "chapters/roofline/roofline/lab.h"
#include "models/machine/hardware.h"

namespace chapters::roofline::roofline {

/// The published kernels that belong under the roof drawn: those of this chip, in this format or in one with the same
/// peak. A rate that stands as a ceiling of its own is left out.
std::vector<Picture::Dot> published_dots(const Inputs& in, const models::Chip& chip, const Outputs& out);

}  // namespace chapters::roofline::roofline
