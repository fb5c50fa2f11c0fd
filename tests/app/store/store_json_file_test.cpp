#include "app/store/json_file.h"

#include <sys/stat.h>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/base/files.h"

using app::store::Found;
using app::store::load_json;
using app::store::save_json;
using nlohmann::json;
using support::Folder;

namespace {

app::store::LoadReport load(const std::filesystem::path& path, json& out) {
  return load_json(path, 1, [&](const json& content) {
    out = content;
    return std::string();
  });
}
app::store::LoadReport load(const std::filesystem::path& path) {
  json ignored;
  return load(path, ignored);
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a saved file comes back, private to its owner, in a folder that was not there") {
  const Folder folder;
  const auto path = folder / "a/b/file.json";
  REQUIRE(save_json(path, 1, {{"x", 0.1}, {"text", "\xc3\xa9"}}).error.empty());
  json back;
  REQUIRE(load(path, back).found == Found::loaded);
  CHECK(back == json{{"x", 0.1}, {"text", "\xc3\xa9"}, {"version", 1}});
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a file that is not there is no news") {
  const Folder folder;
  const auto report = load(folder / "file.json");
  CHECK(report.found == Found::nothing);
  CHECK(report.notice.empty());
  CHECK(folder.count("") == 0);  // looking leaves no trace
}

TEST_CASE("a bad file is set aside whole under a free name, and the sentence says why and where") {
  struct Bad {
    std::string text;
    const char* why;
  };
  const std::string deep = R"({"version":1,"a":)" + std::string(100, '[') + std::string(100, ']') + "}";
  for (const Bad& bad :
       {Bad{R"({"version":1,"a":[1,2)", "not complete JSON"}, Bad{"", "empty"}, Bad{"[1]", "not a JSON object"},
        Bad{R"({"a":1})", "does not say its version"}, Bad{R"({"version":"1"})", "does not say its version"},
        Bad{R"({"version":7})", "version 7, this program reads version 1"}, Bad{deep, "deeper than 64"},
        Bad{"{\"version\":1,\"a\":\"\xff\"}", "not complete JSON"},
        Bad{R"({"version":1,"a":1e999})", "not complete JSON"}}) {
    const Folder folder;
    folder.write("file.json", bad.text);
    folder.write("file.json.corrupt-1", "an older one");
    const auto report = load(folder / "file.json");
    INFO(bad.text << ": " << report.notice);
    CHECK(report.found == Found::set_aside);
    CHECK(contains(report.notice, bad.why));
    CHECK(contains(report.notice, "file.json.corrupt-2"));
    CHECK(folder.read("file.json.corrupt-2") == bad.text);
    CHECK(folder.read("file.json.corrupt-1") == "an older one");
    CHECK_FALSE(std::filesystem::exists(folder / "file.json"));
  }
}

TEST_CASE("a file that is larger than allowed is set aside unread") {
  const Folder folder;
  folder.write("file.json", "{}");
  std::filesystem::resize_file(folder / "file.json", app::store::max_file_bytes + 1);  // sparse
  const auto report = load(folder / "file.json");
  CHECK(report.found == Found::set_aside);
  CHECK(contains(report.notice, "larger than 64 MiB"));
}

TEST_CASE("nesting of a hundred thousand levels does not exhaust the stack") {
  const Folder folder;
  folder.write("file.json", R"({"version":1,"a":)" + std::string(100000, '['));
  CHECK(load(folder / "file.json").found == Found::set_aside);
}

TEST_CASE("what take objects to sets the file aside, and so does a type error that it throws") {
  const Folder folder;
  folder.write("one.json", R"({"version":1,"a":5})");
  const auto objected = load_json(folder / "one.json", 1, [](const json&) { return std::string("a is odd"); });
  CHECK(objected.found == Found::set_aside);
  CHECK(contains(objected.notice, "a is odd"));
  folder.write("two.json", R"({"version":1,"a":5})");
  const auto threw =
      load_json(folder / "two.json", 1, [](const json& content) { return content["a"].get<std::string>(); });
  CHECK(threw.found == Found::set_aside);
}

TEST_CASE("something in the file's place that cannot be read is neither moved nor replaced") {
  const Folder folder;
  std::filesystem::create_directory(folder / "file.json");
  const auto report = load(folder / "file.json");
  CHECK(report.found == Found::unreadable);
  CHECK_FALSE(report.may_save());
  const auto saved = app::store::save_merged(
      folder / "file.json", 1, [](const json&) { return models::Status::ok(); },
      [](json& content) { content["x"] = 1; });
  CHECK_FALSE(saved.saved);
  CHECK(contains(saved.notice, "not a plain file"));
  CHECK(std::filesystem::is_directory(folder / "file.json"));
}

TEST_CASE("a folder that cannot be made is one sentence, not an exception") {
  const Folder folder;
  folder.write("plain", "a file where a folder is asked for");
  CHECK(contains(save_json(folder / "plain/file.json", 1, json::object()).error, "could not be saved"));
  CHECK(folder.read("plain") == "a file where a folder is asked for");
}

TEST_CASE("text that is not UTF-8 is saved with replacements instead of being lost") {
  const Folder folder;
  REQUIRE(save_json(folder / "file.json", 1,
                    {{"text",
                      "a\xff"
                      "b"}})
              .error.empty());
  json back;
  REQUIRE(load(folder / "file.json", back).found == Found::loaded);
  CHECK(back["text"] ==
        "a\xef\xbf\xbd"
        "b");
}

TEST_CASE("a store file that is a link stays a link") {
  const Folder folder;
  folder.write("real.json", R"({"version":1})");
  std::filesystem::create_symlink(folder / "real.json", folder / "file.json");
  REQUIRE(save_json(folder / "file.json", 1, {{"x", 1}}).error.empty());
  CHECK(std::filesystem::is_symlink(folder / "file.json"));
  CHECK(json::parse(folder.read("real.json"))["x"] == 1);
}
