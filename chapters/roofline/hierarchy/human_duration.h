#pragma once
#include <string>

namespace chapters::roofline::hierarchy {

/// "1.0 s", "4.6 minutes", "11 days", "32 years": two significant digits, for times on the human scale.
std::string human_duration(double seconds);

}  // namespace chapters::roofline::hierarchy
