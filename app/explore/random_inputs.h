#pragma once
#include <cstdint>

#include "chapters/mechanism/lab.h"

namespace app {

/// Sets every input to a value drawn from its description: numbers in their range (even in ratio on a log scale, now
/// and then an end of it; of what is costly no more than the lab opens with), any option, lists and tables of up to
/// eight entries. Texts and files stay as they are: nothing describes what they may hold. The same seed gives the same
/// inputs on every machine. The lab is not computed.
void randomize(chapters::Lab& lab, std::uint64_t seed);

}  // namespace app
