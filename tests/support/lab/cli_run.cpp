#include "tests/support/lab/cli_run.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "app/cli/cli.h"

namespace support {

Ran run_cli(const std::vector<std::string>& arguments, const std::string& typed) {
  std::ostringstream out, error;
  std::istringstream in(typed);
  const int status = app::cli::run(arguments, {out, error, &in});
  return {status, out.str(), error.str()};
}

std::string refused_by_cli(const std::vector<std::string>& arguments) {
  const Ran ran = run_cli(arguments);
  CHECK(ran.status == 2);
  CHECK(ran.out == "");
  REQUIRE_FALSE(ran.error.empty());
  CHECK(std::count(ran.error.begin(), ran.error.end(), '\n') == 1);
  CHECK(ran.error.back() == '\n');
  return ran.error.substr(0, ran.error.size() - 1);
}

}  // namespace support
