#include "app/cli/version.h"

namespace app {
const char* version() { return RIDGELINE_VERSION; }
}  // namespace app
