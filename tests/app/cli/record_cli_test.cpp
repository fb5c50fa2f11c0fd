#include <catch2/catch_test_macros.hpp>

#include "app/store/progress.h"
#include "tests/support/base/data_home.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/cli_run.h"

TEST_CASE("record writes the page of what was done, and says where; without a place it is refused") {
  const support::DataHome home;
  const support::Folder folder;
  const std::string path = (folder / "record.html").string();
  const auto ran = support::run_cli({"record", "-o", path});
  INFO(ran.error);
  CHECK(ran.status == 0);
  CHECK(ran.out == path + "\n");
  CHECK(support::read_text(path).find("No lab was opened yet.") != std::string::npos);
  CHECK(support::refused_by_cli({"record"}).find("-o FILE.html") != std::string::npos);
}
