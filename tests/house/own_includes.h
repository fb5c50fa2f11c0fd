#pragma once
#include <string>
#include <vector>

#include "tests/house/sources.h"

namespace house {

/// Headers that name a type which a header of ours defines and neither they nor a header that they include do: a line
/// each, "path: Trace stands in models/trace/trace.h". A declaration without a body ("struct Trace;") brings the name
/// too. `./test full` compiles every header alone, which sees functions as well and takes five minutes of CPU; this
/// sees what nearly every such fault is about, at once.
std::string missing_own_includes(const std::vector<Source>& sources);

}  // namespace house
