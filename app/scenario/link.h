#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chapters/mechanism/lab.h"

/// A scenario in one line: as a deep link or as a call of the command line.
namespace app {

/// "ridgeline roofline/roofline --set chip=b200_sxm" with only the inputs that differ from the defaults.
std::string command_line_of(const chapters::Lab& lab);

/// "roofline/roofline?chip=b200_sxm&batch=4" with the same inputs.
std::string link_of(const chapters::Lab& lab);

/// A deep link, its values not yet checked.
struct Link {
  std::string lab;                                        ///< the lab's id; empty when the text is no link to a lab
  std::vector<std::pair<std::string, std::string>> sets;  ///< inputs as key and text, "%XX" decoded
};
Link parse_link(std::string_view link);

}  // namespace app
