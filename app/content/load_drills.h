#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "chapters/practice/drill.h"

namespace app {

/// Reads {"topic": {"id", "label"}, "drills": [{"id", "title", "level", "lab", "set", "vary", "published", "output",
/// "tolerance", "ask", "hint", "steps", "slips", "follows", "carry"}]}. What is wrong with one template is said in
/// `errors`, one sentence each, and the others are taken. Whether a lab has what a template names is known only when a
/// question is made of it.
std::vector<chapters::Drill> parse_drills(std::string_view text, std::string_view origin,
                                          std::vector<std::string>& errors);

}  // namespace app
