#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/content/content.h"
#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "chapters/precision/number_line/lab.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;

TEST_CASE("number line: counts and limits of every format are the oracle's") {
  const auto data = nlohmann::json::parse(read_text(data_file("formats.json")));
  const LabPtr lab = open_lab("precision/number-line");
  for (const auto& o : data.at("formats")) {
    const std::string id = o.at("id");
    INFO(id);
    compute(set(*lab, "format", id.c_str()));
    CHECK(out(*lab, "values") == o.at("n_distinct_finite_values").get<double>());
    CHECK(out(*lab, "codes") == o.at("n_codes").get<double>());
    CHECK(out(*lab, "largest") == o.at("max_finite").get<double>());
    CHECK(out(*lab, "smallest_normal") == o.at("min_normal").get<double>());
    CHECK(out(*lab, "smallest") == o.at("min_subnormal").get<double>());
    CHECK(out(*lab, "subnormals") == o.at("n_subnormal_codes").get<double>());
    CHECK(out(*lab, "epsilon") == o.at("epsilon_ulp_at_1").get<double>());
  }
}

// Phi(-1.75) = 4.01 %: median 2^-18, half of FP16's smallest value 2^-25, four octaves a standard deviation.
TEST_CASE("number line: shares that fall off are tails of the distribution, and add up to all") {
  const LabPtr lab = open_lab("precision/number-line");
  compute(set(*lab, "format", "fp16"));
  CHECK(std::abs(out(*lab, "underflow") - 100 * 0.5 * std::erfc(1.75 / std::sqrt(2.0))) <= 1e-9);
  CHECK(out(*lab, "overflow") == 0);
  compute(set(*lab, "scale", "65536"));
  CHECK(out(*lab, "underflow") < 1e-5);
  compute(set(*lab, "format", "e4m3fn", "spread", "normal", "size", "448", "scale", "1"));
  CHECK(std::abs(out(*lab, "overflow") - 100 * std::erfc(464.0 / 448 / std::sqrt(2.0))) <=
        1e-9);  // past 464, half a step beyond 448
  for (const char* spread : {"normal", "heavy", "gradients"}) {
    compute(set(*lab, "spread", spread));
    CHECK(std::abs(out(*lab, "underflow") + out(*lab, "subnormal") + out(*lab, "normal") + out(*lab, "overflow") -
                   100) <= 1e-9);
  }
}

TEST_CASE(
    "number line: a learner's own tensor is counted number by number, and what is wrong with a file is said in a "
    "sentence") {
  const Folder folder;
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
  const LabPtr lab = open_lab("precision/number-line");
  compute(set(*lab, "format", "e4m3fn", "file", write("w.safetensors", header).c_str()));
  REQUIRE(lab->reason() == "");
  CHECK(out(*lab, "overflow") == 12.5);   // 500 of the eight of "w", the larger tensor
  CHECK(out(*lab, "underflow") == 25);    // both 1e-9; the zeros were zero before
  CHECK(out(*lab, "subnormal") == 12.5);  // 0.001
  compute(set(*lab, "tensor", "small"));
  CHECK(out(*lab, "overflow") == 0);
  CHECK(reason_of(set(*lab, "tensor", "none")) == "The file has no tensor none: it has 2, among them small, w.");
  std::string overlapping = header;
  overlapping.replace(overlapping.find("[8,40]"), 6, "[4,36]");
  const std::string refusal = reason_of(set(*lab, "tensor", "", "file", write("bad.safetensors", overlapping).c_str()));
  CHECK(refusal.find("bad.safetensors") != std::string::npos);
  CHECK(refusal.back() == '.');
}

TEST_CASE("number line: its buttons lead to single values with their labels, and back") {
  use_bundled_catalog();
  ShellDriver d(bundled_content(), models::Result<app::UserPaths>::fail("Nothing is kept in a test."), {1600, 1000});
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

TEST_CASE("number line: of numbers with signs a format without one takes the magnitudes, and the answer says so") {
  const LabPtr lab = open_lab("precision/number-line");
  compute(set(*lab, "format", "e8m0"));
  CHECK(lab->answer() ==
        "E8M0 loses none of the magnitudes of these gradients and stores none as subnormals.\n"
        "E8M0 has no mantissa: each is rounded to a power of two.");
}

TEST_CASE("number line: a share that nobody could see is a word, in the answer and in the picture") {
  using namespace chapters::precision::number_line;
  Inputs in;
  in.scale = 65536;
  chapters::Progress progress;
  const auto computed = compute(in, progress);
  const Picture p = arrange(in, computed.facts, *computed.run);
  CHECK(p.answer.starts_with("FP16 loses hardly any of these gradients and stores `0.135 %` as subnormals.\n"));
  bool tiny = false;
  for (const RowPicture& row : p.rows)
    for (const std::string& text : {row.underflow_text, row.overflow_text}) {
      CHECK(text.find("e-") == std::string::npos);
      tiny = tiny || text.ends_with("under 0.01 %");
    }
  CHECK(tiny);
}

TEST_CASE(
    "number line: under a loss scale the answer says what would be lost without it, and by ULP where values lie") {
  const LabPtr lab = open_lab("precision/number-line", R"({"scale": 65536})");
  lab->compute();
  CHECK(out(*lab, "underflow_unscaled") == computed(set(*open_lab("precision/number-line"), "scale", 1), "underflow"));
  CHECK(
      lab->answer().ends_with("\nWithout the loss scale of `65,536`, `4.01 %` of them would become zero; with a "
                              "larger one more overflow, past `65,504`."));
  compute(set(*lab, "axis", "ordinal"));
  CHECK(lab->answer().starts_with("Of the positive values of FP16, `48.4 %` are at most 1.\n"));
}

TEST_CASE("number line: dragging the curve of the numbers by eight octaves multiplies the loss scale by 256") {
  use_bundled_catalog();
  ShellDriver d(bundled_content(), models::Result<app::UserPaths>::fail("Nothing is kept in a test."), {1600, 1000});
  REQUIRE(d.workspace.open("precision/number-line"));
  REQUIRE(d.settle());
  const auto canvas = d.ui.item("number line");
  const auto scale = [&] { return d.workspace.lab().inputs().find("scale")->real(); };
  const auto from = [&] { return d.workspace.lab().view().find("from")->real(); };
  // The curve stands in the middle third of the canvas, at its top; the median 2^-18 lies left of the middle.
  const ImVec2 bell{canvas.min.x + (canvas.max.x - canvas.min.x) * 0.42f, canvas.min.y + 80};
  d.ui.drag_points(bell, {bell.x + 100, bell.y});
  REQUIRE(d.settle());
  const double once = scale();
  CHECK(once > 2);
  CHECK(from() == 0);  // the stretch that is shown has not moved
  d.ui.drag_points({bell.x + 100, bell.y}, {bell.x - 400, bell.y});
  REQUIRE(d.settle());
  CHECK(scale() == 1);  // and no further
}
