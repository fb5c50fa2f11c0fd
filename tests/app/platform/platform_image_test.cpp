#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>

#include "app/platform/file.h"
#include "app/platform/image.h"
#include "tests/support/base/files.h"

using Catch::Matchers::ContainsSubstring;
using support::Folder;
namespace fs = std::filesystem;

namespace {

app::Image ramp(int width, int height) {
  app::Image image{width, height, {}};
  for (int i = 0; i < width * height; ++i)
    for (const int c : {i, i * 7, 255 - i, i % 3 == 0 ? 255 : i}) image.rgba.push_back(static_cast<std::uint8_t>(c));
  return image;
}

}  // namespace

TEST_CASE("a PNG read back is the picture written, transparency included, and leaves no temporary") {
  const Folder folder;
  const app::Image image = ramp(17, 9);
  REQUIRE(app::write_png(folder.path / "new" / "a.png", image).error == "");
  REQUIRE(app::write_png(folder.path / "new" / "a.png", image).error == "");  // over the old one
  const auto back = app::read_png(folder.path / "new" / "a.png");
  REQUIRE(back);
  CHECK(*back == image);
  CHECK(std::distance(fs::directory_iterator(folder.path / "new"), fs::directory_iterator()) == 1);
}

TEST_CASE("a PNG that cannot be written says where and why") {
  const Folder folder;
  CHECK_THAT(app::write_png(folder.path / "a.png", {}).error, ContainsSubstring("a.png") && ContainsSubstring("empty"));
  CHECK_THAT(app::write_png(folder.path / "a.png", {2, 2, {0, 0, 0}}).error, ContainsSubstring("empty"));
  CHECK(folder.count() == 0);
  std::ofstream(folder.path / "file") << "x";
  CHECK_THAT(app::write_png(folder.path / "file" / "a.png", ramp(2, 2)).error,
             ContainsSubstring("cannot be written") && ContainsSubstring("Not a directory"));
  fs::create_directory(folder.path / "dir.png");
  CHECK_THAT(app::write_png(folder.path / "dir.png", ramp(2, 2)).error, ContainsSubstring("Is a directory"));
  CHECK(folder.count() == 2);
}

TEST_CASE("a broken PNG gives a sentence, not a picture") {
  const Folder folder;
  CHECK_THAT(app::read_png(folder.path / "none.png").error, ContainsSubstring("No such file"));
  std::ofstream(folder.path / "text.png") << "not a picture at all";
  CHECK_THAT(app::read_png(folder.path / "text.png").error, ContainsSubstring("text.png is no PNG"));
  REQUIRE(app::write_png(folder.path / "cut.png", ramp(40, 40)).error == "");
  fs::resize_file(folder.path / "cut.png", fs::file_size(folder.path / "cut.png") / 2);
  CHECK_FALSE(app::read_png(folder.path / "cut.png"));
}

TEST_CASE("cropping keeps the inside and leaves out what lies beyond") {
  const app::Image image = ramp(10, 8);
  const app::Image part = app::crop(image, 8, 6, 5, 5);
  REQUIRE(part.width == 2);
  REQUIRE(part.height == 2);
  CHECK(part.rgba[0] == 6 * 10 + 8);
  CHECK(part.rgba[4 * 3] == 7 * 10 + 9);
  CHECK(app::crop(image, 20, 20, 5, 5).rgba.empty());
}

TEST_CASE("files are replaced whole, keep their permissions, and links stay links") {
  const Folder folder;
  const fs::path real = folder.path / "real.txt", link = folder.path / "link.txt";
  REQUIRE(app::write_file(real, "old").error == "");
  fs::permissions(real, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(real, link);
  REQUIRE(app::write_file(link, "new").error == "");
  CHECK(fs::is_symlink(link));
  CHECK(*app::read_file(real, 100) == "new");
  CHECK(fs::status(real).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(folder.count() == 2);
  // What the link stands for need not be there yet.
  fs::create_symlink("later.txt", folder.path / "ahead.txt");
  REQUIRE(app::write_file(folder.path / "ahead.txt", "first").error == "");
  CHECK(fs::is_symlink(folder.path / "ahead.txt"));
  CHECK(*app::read_file(folder.path / "later.txt", 100) == "first");
}

TEST_CASE("reading says what is wrong: missing, a folder, too large") {
  const Folder folder;
  REQUIRE(app::write_file(folder.path / "f", "12345").error == "");
  CHECK_THAT(app::read_file(folder.path / "f", 4).error, ContainsSubstring("larger than 4 bytes"));
  CHECK(*app::read_file(folder.path / "f", 5) == "12345");
  CHECK_THAT(app::read_file(folder.path, 4).error, ContainsSubstring("is a folder"));
  CHECK_THAT(app::read_file(folder.path / "g", 4).error, ContainsSubstring("No such file"));
}
