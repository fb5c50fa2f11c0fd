#pragma once
#include <string>
#include <vector>

#include "tests/house/sources.h"

namespace house {

/// Headers that use a name of the standard library which neither they nor a header of ours that they include bring: a
/// line each, "path: std::optional needs <optional>". The headers are compiled alone on top of a precompiled header
/// with the library in it, which a compiler takes a third of the time for, and this says what that would hide.
std::string missing_std_includes(const std::vector<Source>& sources);

}  // namespace house
