#pragma once

namespace app {
/// The program's version, "major.minor.patch".
const char* version();
}  // namespace app
