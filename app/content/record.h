#pragma once
#include <cstdint>
#include <string>

#include "app/content/content.h"
#include "app/store/progress.h"

namespace app {

/// What a person has done, as one HTML page that needs no other file and prints on A4 and Letter: chapters, labs that
/// were opened and when, tests with scores and dates, and the time spent with a hand on each lab. Nothing in it is
/// markup that came from outside.
std::string record_html(const Content& content, const store::Progress& progress, std::int64_t now_unix_s);

}  // namespace app
