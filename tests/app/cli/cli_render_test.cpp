#include <catch2/catch_test_macros.hpp>

#include "app/platform/headless.h"
#include "app/platform/image.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/cli_run.h"

using support::Ran;
using support::refused_by_cli;
using support::run_cli;

using support::Folder;

namespace {

void need_egl() {
  if (const auto made = app::Headless::create(64, 64); !made) SKIP(made.error);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

}  // namespace

TEST_CASE(
    "render writes a PNG of the size asked for, the same pixels each time, another picture for other inputs and "
    "themes") {
  need_egl();
  const Folder folder;
  const auto png = [&](const char* name, std::vector<std::string> more) {
    std::vector<std::string> all = {"render", "roofline/roofline", "-o", (folder / name).string(), "--size", "640x480"};
    all.insert(all.end(), more.begin(), more.end());
    const Ran r = run_cli(all);
    CHECK(r.error == "");
    CHECK(r.status == 0);
    CHECK(r.out == (folder / name).string() + "\n");
    auto image = app::read_png(folder / name);
    REQUIRE(image);
    CHECK(image->width == 640);
    CHECK(image->height == 480);
    return std::move(*image);
  };
  const auto first = png("a.png", {});
  CHECK(png("b.png", {}) == first);
  CHECK_FALSE(png("c.png", {"--set", "chip=b200_sxm"}) == first);
  const auto light = png("d.png", {"--theme", "light"});
  CHECK(first.rgba[0] < 64);  // the corner is the rail: dark in one theme, pale in the other
  CHECK(light.rgba[0] > 192);
  CHECK_FALSE(png("e.png", {"--canvas"}) == first);
}

TEST_CASE("render writes true vector SVG with text as text, and the canvas's data as CSV") {
  need_egl();
  const Folder folder;
  const Ran svg = run_cli({"render", "roofline/roofline", "-o", (folder / "r.svg").string()});
  CHECK(svg.error == "");
  REQUIRE(svg.status == 0);
  const std::string text = folder.read("r.svg");
  CHECK(text.find("<svg") != std::string::npos);
  CHECK(text.find("<image") == std::string::npos);
  CHECK(text.find(">Which ceiling stops this operation, and what would move it?<") != std::string::npos);
  CHECK(count_of(text, "<text") >= 10);
  CHECK(count_of(text, "<poly") >= 4);  // a roof for each of four chips
  const Ran csv = run_cli({"render", "roofline/roofline", "-o", (folder / "r.csv").string()});
  CHECK(csv.error == "");
  REQUIRE(csv.status == 0);
  const std::string rows = folder.read("r.csv");
  CHECK(rows.rfind("# ", 0) == 0);
  CHECK(std::count(rows.begin(), rows.end(), '\n') > 10);
}

TEST_CASE("a tour has home and each lab: in the theme, on a small screen and in presentation, with an index") {
  need_egl();
  const Folder folder;
  const Ran r = run_cli({"tour", "driving", "-o", folder.path.string(), "--theme", "light", "--size", "640x480"});
  CHECK(r.error == "");
  REQUIRE(r.status == 0);
  // Home in two sizes, and each lab of the chapter in three.
  const auto labs = chapters::all_labs();
  const auto of_driving = std::count_if(labs.begin(), labs.end(),
                                        [](const chapters::LabEntry& lab) { return lab.id.starts_with("driving/"); });
  CHECK(r.out.find(std::to_string(2 + 3 * of_driving) + " pictures and ") == 0);
  const std::string page = folder.read("index.html");
  const auto size_of = [&](const char* name) {  // from the PNG's header, big-endian
    INFO(name);
    CHECK(page.find(name) != std::string::npos);
    const std::string bytes = folder.read(name);
    REQUIRE(bytes.size() > 24);
    const auto number = [&](std::size_t at) {
      int n = 0;
      for (std::size_t i = 0; i < 4; ++i) n = n * 256 + static_cast<unsigned char>(bytes[at + i]);
      return n;
    };
    return std::pair{number(16), number(20)};
  };
  CHECK(size_of("home-light.png") == std::pair{640, 480});
  CHECK(size_of("home-1280x800.png") == std::pair{1280, 800});
  CHECK(size_of("driving-gantt-light.png") == std::pair{640, 480});
  CHECK(size_of("driving-gantt-1280x800.png") == std::pair{1280, 800});
  CHECK(size_of("driving-gantt-presentation.png") == std::pair{640, 480});
}

TEST_CASE("render and tour refuse what they cannot do in one sentence, and write nothing") {
  const Folder folder;
  const std::string out = (folder / "x.png").string();
  const auto refused = [&](std::vector<std::string> arguments) {
    const Ran r = run_cli(arguments);
    CHECK(r.status == 2);
    CHECK(std::count(r.error.begin(), r.error.end(), '\n') == 1);
    CHECK(folder.count("x.") == 0);
    return r.error;
  };
  for (const char* size : {"640", "640x", "x480", "64x48", "640x480x2", "20000x20000", "6e2x480", "-640x480"})
    CHECK(refused({"render", "roofline/roofline", "-o", out, "--size", size}) ==
          "--size is \"" + std::string(size) +
              "\": WIDTHxHEIGHT from 320x240 to 16384x16384 is allowed, such as 1600x1000.\n");
  CHECK(refused({"render", "roofline/roofline", "-o", out, "--theme", "blue"}) ==
        "--theme is \"blue\": dark or light is allowed.\n");
  CHECK(refused({"render", "roofline/roofline", "-o", out, "--scale", "9"}) ==
        "--scale is \"9\": a number from 0.5 to 4 is allowed.\n");
  CHECK(refused({"render", "roofline/roofline", "-o", out, "--drawer", "cupboard"})
            .find("--drawer is \"cupboard\": allowed are concept, ") == 0);
  CHECK(refused({"render", "roofline/roofline"}) == "render needs -o FILE.png, FILE.svg or FILE.csv.\n");
  CHECK(refused({"render", "roofline/roofline", "-o", (folder / "x.gif").string()}) ==
        "render needs -o FILE.png, FILE.svg or FILE.csv.\n");
  CHECK(refused({"render", "-o", out}) == "Name a lab: `ridgeline list` shows them all.\n");
  CHECK(refused({"render", "roofline/roofline", "-o", out, "--at", "3 s"}) ==
        "roofline/roofline has nothing that plays: --at has no meaning there.\n");
  CHECK(refused({"render", "roofline/roofline", "-o", (folder / "none/x.png").string()}) ==
        "The folder \"" + (folder / "none").string() + "\" does not exist: make it first.\n");
  CHECK_FALSE(std::filesystem::exists(folder / "none"));
  CHECK(refused({"tour"}) == "tour needs -o DIR.\n");
  CHECK(refused({"tour", "rofline", "-o", folder.path.string()}).find("did you mean \"roofline\"?") !=
        std::string::npos);
  CHECK(refused({"tour", "-o", folder.path.string(), "--size", "1x1"}).find("--size is \"1x1\"") == 0);
}

TEST_CASE("a picture that cannot be written says where") {
  need_egl();
  const Folder folder;
  folder.write("file", "not a folder");
  const Ran r = run_cli({"render", "roofline/roofline", "-o", (folder / "file/x.png").string(), "--size", "320x240"});
  CHECK(r.status == 2);
  CHECK(r.error.find((folder / "file").string()) != std::string::npos);
}

TEST_CASE("a picture alone is the panel that answers, in twice the pixels at twice the scale, and no word around it") {
  need_egl();
  const Folder folder;
  const auto render = [&](const char* name, std::vector<std::string> more) {
    std::vector<std::string> all = {"render", "roofline/roofline", "-o", (folder / name).string(), "--picture"};
    all.insert(all.end(), more.begin(), more.end());
    const Ran r = run_cli(all);
    INFO(r.error);
    CHECK(r.status == 0);
  };
  render("a.png", {"--scale", "2", "--theme", "light"});
  const auto image = app::read_png(folder / "a.png");
  REQUIRE(image);
  CHECK(image->width == 3200);
  CHECK(image->height == 2000);
  CHECK(image->rgba[0] > 192);
  render("b.png", {"--size", "640x480"});
  CHECK(app::read_png(folder / "b.png")->width == 640);
  render("c.svg", {});
  const std::string svg = folder.read("c.svg");
  CHECK(svg.find("<svg") != std::string::npos);
  CHECK(svg.find("Which ceiling stops") == std::string::npos);  // the question
  CHECK(svg.find("FLOP/s") != std::string::npos);               // an axis of the picture
  CHECK(refused_by_cli({"render", "roofline/roofline", "-o", "x.png", "--picture", "--presentation"})
            .starts_with("--picture and --presentation are two pictures"));
}

TEST_CASE("sweep and render write long form: a header, then lab, scenario, inputs, output, value and unit a row") {
  const Ran sweep = run_cli({"sweep", "roofline/roofline", "--set", "operation=custom", "--over", "bytes=1e9:2e9:2",
                             "--over", "kernels=1:2:2", "--output", "time_s", "--long"});
  CHECK(sweep.error == "");
  REQUIRE(sweep.status == 0);
  CHECK(sweep.out.starts_with("lab,scenario,bytes,kernels,output,value,unit\nroofline/roofline,roofline/roofline"));
  CHECK(count_of(sweep.out, "\n") == 5);
  CHECK(count_of(sweep.out, ",time_s,") == 4);
  CHECK(count_of(sweep.out, ",s\n") == 4);
  CHECK(refused_by_cli({"render", "roofline/roofline", "-o", "x.png", "--long"}) ==
        "--long is a form of data: it needs -o FILE.csv.");
  need_egl();
  const Folder folder;
  const Ran csv =
      run_cli({"render", "roofline/roofline", "-o", (folder / "r.csv").string(), "--long", "--set", "chip=b200_sxm"});
  CHECK(csv.error == "");
  const std::string text = folder.read("r.csv");
  CHECK(text.starts_with("lab,scenario,table,row,input,input_value,input_unit,output,value,unit\n"));
  CHECK(text.find("\nroofline/roofline,roofline/roofline?chip=b200_sxm,") != std::string::npos);
  CHECK(text.find("\n\n") == std::string::npos);
}
