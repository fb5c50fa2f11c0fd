#include "app/platform/text_encoding.h"

#include <catch2/catch_test_macros.hpp>

#include "app/platform/file.h"
#include "app/platform/file_bytes.h"
#include "tests/support/base/files.h"
#include "tests/support/base/weights_file.h"

using app::Encoding;
using std::string_literals::operator""s;

namespace {

/// ASCII in units of two bytes.
std::string units(const std::string& text, bool big) {
  std::string out;
  for (const char c : text) out += big ? std::string{'\0', c} : std::string{c, '\0'};
  return out;
}

}  // namespace

TEST_CASE("byte order marks and UTF-16 in both orders, with a mark and without one, become plain UTF-8") {
  CHECK(app::to_utf8("\xEF\xBB\xBFname,flops\n") == "name,flops\n");
  CHECK(app::to_utf8("\xFF\xFE" + units("{\"a\": 1}", false)) == "{\"a\": 1}");
  CHECK(app::to_utf8("\xFE\xFF" + units("{\"a\": 1}", true)) == "{\"a\": 1}");
  CHECK(app::to_utf8(units("time,x\n", false)) == "time,x\n");
  CHECK(app::to_utf8(units("[[1]]", true)) == "[[1]]");
  CHECK(app::to_utf8("\xFF\xFE\xB5\0\xAC\x20\x3D\xD8\0\xDE"s) == "\xC2\xB5\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(app::to_utf8("\xFF\xFEx\0\x3D\xD8y\0z"s) == "x\xEF\xBF\xBDy");  // half a pair, and half a unit
  CHECK(app::to_utf8("plain") == "plain");
  CHECK(app::to_utf8("") == "");
}

TEST_CASE("bytes that are no text are left as they are, even where they begin like a mark") {
  CHECK(app::encoding_of("\xFF\xFE\0\0\0\0\0\0{\"a\""s) == Encoding::plain);  // a safetensors header of 65,279 bytes
  CHECK(app::encoding_of("\xEF\xBB\xBF\0\0\0\0\0{"s) == Encoding::plain);
  CHECK(app::encoding_of("{\0\0\0\0\0\0\0{\""s) == Encoding::plain);  // one of 123
  CHECK(app::encoding_of("SQLite format 3\0"s) == Encoding::plain);
  CHECK(app::encoding_of("\x1f\x8b\x08\0"s) == Encoding::plain);
}

TEST_CASE("files are read so, as texts and as bytes, by parts too, and stay the file that was chosen") {
  const support::Folder folder;
  const std::string text = "{\"traceEvents\": []}";
  folder.write("marked", "\xEF\xBB\xBF" + text);
  folder.write("little", "\xFF\xFE" + units(text, false));
  folder.write("big", "\xFE\xFF" + units(text, true));
  for (const char* name : {"marked", "little", "big"}) {
    INFO(name);
    const std::string path = (folder / name).string();
    CHECK(*app::read_text_file(path) == text);
    const auto bytes = app::read_file_bytes(path);
    REQUIRE(bytes);
    CHECK((*bytes)->size_bytes == text.size());
    std::string read;
    CHECK((*bytes)->read(read).error == "");
    CHECK(read == text);
    CHECK((*bytes)->read_part(2, 11, read).error == "");
    CHECK(read == "traceEvents");
    CHECK((*bytes)->read_part(2, text.size(), read).error.find("a part beyond its end") != std::string::npos);
    CHECK(app::is_unchanged(**bytes));
  }
  folder.write("mark alone", "\xEF\xBB\xBF");
  CHECK(app::read_text_file((folder / "mark alone").string()).error.find("is empty") != std::string::npos);
  CHECK(app::read_file_bytes((folder / "mark alone").string()).error.find("is empty") != std::string::npos);
}
