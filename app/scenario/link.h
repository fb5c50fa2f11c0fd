#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/platform/json.h"
#include "chapters/mechanism/lab.h"

/// A scenario in one line: as a deep link or as a call of the command line.
namespace app {

/// "ridgeline roofline/roofline --set chip=b200_sxm" with only the inputs that differ from the defaults.
std::string command_line_of(const chapters::Lab& lab);

/// "roofline/roofline?chip=b200_sxm&batch=4" with the same inputs, for this machine: a file is its path. For others:
/// hand_on.h.
std::string link_of(const chapters::Lab& lab);

/// The inputs that differ from the lab's defaults and count as the others are set.
Json changed_inputs(const chapters::Lab& lab);
/// The link to a lab with these values.
std::string link_with(std::string_view lab, const Json& values);

/// A deep link, its values not yet checked.
struct Link {
  std::string lab;                                        ///< the lab's id; empty when the text is no link to a lab
  std::vector<std::pair<std::string, std::string>> sets;  ///< inputs as key and text, "%XX" decoded
  std::string own;  ///< JSON of the models and chips that it carries (own_handed_on.h); empty: none
};
Link parse_link(std::string_view link);

}  // namespace app
