#pragma once
#include <string>

#include "models/machine/hierarchy.h"

namespace chapters::roofline {

/// Where a figure of a level comes from: its source without the commit, or what it was worked out from.
std::string source_words(const models::Sourced& figure);

}  // namespace chapters::roofline
