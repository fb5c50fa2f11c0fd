#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/content/content.h"
#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "tests/app/store/store_folder.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog_fixture.h"
#include "tests/support/lab/shell_driver.h"

namespace {

struct Line {
  chapters::LabPtr lab = chapters::make_lab_by_id("precision/number-line");
  Line& set(const char* key, const char* text) {
    CHECK(app::set_field_from_text(*lab->inputs().find(key), text).error == "");
    lab->compute();
    return *this;
  }
  double of(const char* key) const { return lab->outputs().find(key)->number(); }
};

}  // namespace

TEST_CASE("number line: counts and limits of every format are the oracle's") {
  std::ifstream in(support::data_file("formats.json"));
  const auto data = nlohmann::json::parse(in);
  Line line;
  for (const auto& o : data.at("formats")) {
    const std::string id = o.at("id");
    INFO(id);
    line.set("format", id.c_str());
    CHECK(line.of("values") == o.at("n_distinct_finite_values").get<double>());
    CHECK(line.of("codes") == o.at("n_codes").get<double>());
    CHECK(line.of("largest") == o.at("max_finite").get<double>());
    CHECK(line.of("smallest_normal") == o.at("min_normal").get<double>());
    CHECK(line.of("smallest") == o.at("min_subnormal").get<double>());
    CHECK(line.of("subnormals") == o.at("n_subnormal_codes").get<double>());
    CHECK(line.of("epsilon") == o.at("epsilon_ulp_at_1").get<double>());
  }
}

// Phi(-1.75) = 4.01 %: median 2^-18, half of FP16's smallest value 2^-25, four octaves a standard deviation.
TEST_CASE("number line: shares that fall off are tails of the distribution, and add up to all") {
  Line line;
  line.set("format", "fp16");
  CHECK(std::abs(line.of("underflow") - 100 * 0.5 * std::erfc(1.75 / std::sqrt(2.0))) <= 1e-9);
  CHECK(line.of("overflow") == 0);
  line.set("scale", "65536");
  CHECK(line.of("underflow") < 1e-5);
  line.set("format", "e4m3fn").set("spread", "normal").set("size", "448").set("scale", "1");
  CHECK(std::abs(line.of("overflow") - 100 * std::erfc(464.0 / 448 / std::sqrt(2.0))) <=
        1e-9);  // past 464, half a step beyond 448
  for (const char* spread : {"normal", "heavy", "gradients"}) {
    line.set("spread", spread);
    CHECK(std::abs(line.of("underflow") + line.of("subnormal") + line.of("normal") + line.of("overflow") - 100) <=
          1e-9);
  }
}

TEST_CASE(
    "number line: a learner's own tensor is counted number by number, and what is wrong with a file is said in a "
    "sentence") {
  const store_test::Folder folder;
  const std::string header = R"({"small":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32",)"
                             R"("shape":[2,4],"data_offsets":[8,40]}})";
  const std::vector<float> numbers{0, 1, 500, -1e-9f, 0, 0.001f, -2, 0, 1e-9f, 1};
  const auto write = [&](const std::string& name, const std::string& head) {
    const std::string path = (folder / name.c_str()).string();
    std::ofstream out(path, std::ios::binary);
    const std::uint64_t size = head.size();
    out.write(reinterpret_cast<const char*>(&size), 8);
    out << head;
    out.write(reinterpret_cast<const char*>(numbers.data()),
              static_cast<std::streamsize>(numbers.size() * sizeof(float)));
    return path;
  };
  Line line;
  line.set("format", "e4m3fn").set("file", write("w.safetensors", header).c_str());
  REQUIRE(line.lab->reason() == "");
  CHECK(line.of("overflow") == 12.5);   // 500 of the eight of "w", the larger tensor
  CHECK(line.of("underflow") == 25);    // both 1e-9; the zeros were zero before
  CHECK(line.of("subnormal") == 12.5);  // 0.001
  line.set("tensor", "small");
  CHECK(line.of("overflow") == 0);
  CHECK(line.set("tensor", "none").lab->reason() == "The file has no tensor none: it has 2, among them small, w.");
  std::string overlapping = header;
  overlapping.replace(overlapping.find("[8,40]"), 6, "[4,36]");
  line.set("tensor", "").set("file", write("bad.safetensors", overlapping).c_str());
  CHECK(line.lab->reason().find("bad.safetensors") != std::string::npos);
  CHECK(line.lab->reason().back() == '.');
}

TEST_CASE("number line: its buttons lead to single values with their labels, and back") {
  use_bundled_catalog();
  support::ShellDriver d(app::load_content(support::source_file("assets")), {{}, {}, {}, "Nothing is kept in a test."},
                         {1600, 1000});
  REQUIRE(d.workspace.open("precision/number-line"));
  REQUIRE(d.settle());
  d.ui.click("single values at 1");
  d.ui.frames(3);
  const auto view = [&](const char* key) { return d.workspace.lab().view().find(key)->real(); };
  // FP16 in view: two values on each side of 1, steps of 2^-11 below and 2^-10 above
  CHECK(view("from") > std::log2(1 - 3 * 0x1p-11));
  CHECK(view("from") < std::log2(1 - 2 * 0x1p-11));
  CHECK(view("to") > std::log2(1 + 2 * 0x1p-10));
  CHECK(view("to") < std::log2(1 + 3 * 0x1p-10));
  d.ui.click("all of it");
  d.ui.frames(3);
  CHECK(view("from") == view("to"));
  const auto canvas = d.ui.item("number line");
  d.ui.wheel_at(canvas.centre(), 3.0f);
  d.ui.frames(3);
  const double span = view("to") - view("from");
  CHECK(span > 0);
  d.ui.wheel_at(canvas.centre(), 3.0f);
  d.ui.frames(3);
  CHECK(std::abs((view("to") - view("from")) / span - std::pow(0.8, 3)) <= 1e-6);
}
