#pragma once
#include <string>
#include <vector>

namespace support {

/// What a call of the program left: its exit status and all that it wrote.
struct Ran {
  int status = 0;
  std::string out, error;
};

/// `ridgeline ARGUMENTS` in this process, with `typed` on its standard input.
Ran run_cli(const std::vector<std::string>& arguments, const std::string& typed = {});

/// For bad input: checks that nothing stands on standard output, one line on standard error and that the exit status
/// is 2. Gives the line.
std::string refused_by_cli(const std::vector<std::string>& arguments);

}  // namespace support
