#include "app/platform/paths.h"

#include <catch2/catch_test_macros.hpp>
#include <map>

#include "tests/support/base/files.h"

namespace {

app::Environment environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
}

}  // namespace

// XDG Base Directory Specification 0.8: the defaults, and that relative values are to be ignored.
static std::string unknown() { return {}; }

TEST_CASE("where HOME is set, nobody asks the user database, which may be on the network") {
  int asked = 0;
  const auto home = [&] {
    ++asked;
    return "/home/db";
  };
  REQUIRE(app::user_paths(environment({{"HOME", "/home/ada"}}), home));
  CHECK(asked == 0);
  REQUIRE(app::user_paths(environment({}), home));
  CHECK(asked == 1);
}

TEST_CASE("user paths follow the XDG variables, then HOME, then the user database") {
  const auto home = app::user_paths(environment({{"HOME", "/home/ada"}}), [] { return "/not/asked"; });
  CHECK(home->data == "/home/ada/.local/share/ridgeline");
  CHECK(home->config == "/home/ada/.config/ridgeline");
  CHECK(home->state == "/home/ada/.local/state/ridgeline");
  CHECK(home.error.empty());

  const auto xdg = app::user_paths(
      environment(
          {{"HOME", "/home/ada"}, {"XDG_DATA_HOME", "/data"}, {"XDG_CONFIG_HOME", "relative"}, {"XDG_STATE_HOME", ""}}),
      unknown);
  CHECK(xdg->data == "/data/ridgeline");
  CHECK(xdg->config == "/home/ada/.config/ridgeline");
  CHECK(xdg->state == "/home/ada/.local/state/ridgeline");

  CHECK(app::user_paths(environment({}), [] { return "/home/db"; })->data == "/home/db/.local/share/ridgeline");
}

TEST_CASE("without any home there are no paths but a sentence") {
  const auto none = app::user_paths(environment({{"XDG_DATA_HOME", "/data"}}), unknown);
  CHECK_FALSE(none);
  CHECK(none.error.find("set HOME") != std::string::npos);
  const auto all = app::user_paths(
      environment({{"XDG_DATA_HOME", "/d"}, {"XDG_CONFIG_HOME", "/c"}, {"XDG_STATE_HOME", "/s"}}), unknown);
  CHECK(all.error.empty());
  CHECK(all->state == "/s/ridgeline");
}

TEST_CASE(
    "assets are found beside the installed program, else in the source tree, and RIDGELINE_ASSETS overrules both") {
  const support::Folder folder;
  const auto bin = folder / "bin", installed = folder / "share/ridgeline/assets", source = folder / "source",
             chosen = folder / "chosen";
  std::filesystem::create_directories(bin);
  std::filesystem::create_directories(source);
  std::filesystem::create_directories(chosen);
  CHECK(*app::find_assets(environment({}), bin, source) == source);
  std::filesystem::create_directories(installed);
  CHECK(*app::find_assets(environment({}), bin, source) == installed);
  CHECK(*app::find_assets(environment({{"RIDGELINE_ASSETS", chosen.string()}}), bin, source) == chosen);
  CHECK(*app::find_assets(environment({{"RIDGELINE_ASSETS", ""}}), bin, source) == installed);

  const auto wrong = app::find_assets(environment({{"RIDGELINE_ASSETS", "/nowhere/at/all"}}), bin, source);
  CHECK_FALSE(wrong);
  CHECK(wrong.error.find("/nowhere/at/all") != std::string::npos);
  const auto none = app::find_assets(environment({}), "/nowhere/bin", "/nowhere/source");
  CHECK_FALSE(none);
  CHECK(none.error.find("/nowhere/share/ridgeline/assets") != std::string::npos);
}

TEST_CASE("the folder of the running program is found") {
  CHECK(std::filesystem::exists(app::executable_folder() / "test_app"));
}
