#include "chapters/registry.h"

#include <array>

// The table of contents: LAB(chapter, lab) in teaching order; `lab` names the function in chapters/<chapter>/ that makes it.
#define ROLE_LABS(LAB)
#define ROOFLINE_LABS(LAB)

namespace chapters {

std::span<const Chapter> all_chapters() { return {}; }
std::span<const LabEntry> all_labs() { return {}; }
LabPtr make_lab_by_id(std::string_view) { return nullptr; }

}  // namespace chapters
