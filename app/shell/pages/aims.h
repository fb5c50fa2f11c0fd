#pragma once
#include <string>
#include <string_view>

namespace chapters {
class Lab;
}

namespace app {

class Workspace;
struct Shell;

/// What a person can do after a lab, where each of it can be checked, and what should come first, as Markdown with
/// links to labs and terms. Empty where the lab's content says neither.
std::string aims_markdown(const Workspace& w, const chapters::Lab& lab);
/// The same in a few plain lines, of what should come first only what was not opened yet.
std::string aims_text(const Workspace& w, std::string_view lab);

/// What the drawer's Concept shows of the open lab: what it is for, and then its prose.
const std::string& concept_with_aims(Shell& shell);

struct AimsState {
  std::string lab, prose, whole;  ///< whose Concept it is, its prose as it is written, and both together
};

}  // namespace app
