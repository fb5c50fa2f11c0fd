#include <catch2/catch_test_macros.hpp>

#include <string>

#include "app/scenario/scenario.h"
#include "tests/support/base/files.h"
#include "tests/support/base/weights_file.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

// Errata 14: the largest of 4,096 normals is about 3.8; 3.8 / 127 / 4 = 0.0075.
TEST_CASE("quantizer lab: INT8 for each row of a normal matrix has a mean error near 0.0075") {
  CHECK(
      near(computed(*open_lab("compression/quantizer",
                              R"({"format": "int8", "rows": 8, "columns": 4096, "outlier_share": 0, "row_spread": 0})"),
                    "mean_error"),
           0.0075, 0.05));
}

// Curriculum and errata 166: 4.25 bits at group 64 with an FP16 scale; 4.3125 with a zero point of 4 bits.
TEST_CASE("quantizer lab: bits a weight with their overhead, and the size they make") {
  const LabPtr lab =
      open_lab("compression/quantizer", R"({"grain": "group", "group": 64, "columns": 256, "rows": 96})");
  CHECK(computed(*lab, "bits_per_weight") == 4.25);
  CHECK(computed(*lab, "size_bytes") == 96 * 256 * 4.25 / 8);
  CHECK(computed(*lab, "scales") == 96 * 4);
  CHECK(computed(*open_lab("compression/quantizer", R"({"grain": "group", "group": 64, "symmetric": false})"),
                 "bits_per_weight") == 4.3125);
  CHECK(near(computed(*open_lab("compression/quantizer",
                                R"({"grain": "group", "format": "nf4", "group": 64, "scale_bits": 32})"),
                      "bits_per_weight"),
             4.5, 1e-12));
}

TEST_CASE("quantizer lab: outliers cost a row, groups fence them in, and clipping takes gradient away") {
  const double rows = computed(*open_lab("compression/quantizer"), "sqnr_db");
  CHECK(computed(*open_lab("compression/quantizer", R"({"outlier_share": 0})"), "sqnr_db") > rows + 3);
  CHECK(computed(*open_lab("compression/quantizer", R"({"grain": "group", "group": 32})"), "sqnr_db") > rows + 3);
  const LabPtr clipped = open_lab("compression/quantizer", R"({"range": "percentile", "percentile": 95})");
  CHECK(near(computed(*clipped, "clipped"), 5, 0.1));
  CHECK(near(computed(*clipped, "gradient_passed"), 100 - computed(*clipped, "clipped"), 1e-12));
  CHECK(computed(*open_lab("compression/quantizer"), "gradient_passed") == 100);
}

TEST_CASE(
    "quantizer lab: a learner's own file: the largest matrix, a named tensor, and what is said when there is none") {
  const Folder folder;
  folder.write("w.safetensors", weights_file(64, 32));
  const std::string path = (folder / "w.safetensors").string();
  const LabPtr lab = open_lab("compression/quantizer", R"({"rows": 8, "columns": 16})");
  REQUIRE(app::set_field_from_text(*lab->inputs().find("file"), path).error == "");
  CHECK(computed(*lab, "weight_count") == 8 * 16);
  CHECK(lab->outputs().find("weights")->text() ==
        "layer.weight, F32: 8 rows evenly out of 64, the first 16 of 32 columns");
  CHECK(lab->outputs().find("tensors")->table_size() == 2);
  // Rows 0, 8, ... 56; the largest weight is 56.015, and INT4 has 7 steps up to it.
  lab->inputs().find("row")->set_number(7);
  CHECK(near(computed(*lab, "shown_step"), 56.015 / 7, 1e-6));
  REQUIRE(app::set_field_from_text(*lab->inputs().find("tensor"), "layer.bias").error == "");
  CHECK(computed(*lab, "weight_count") == 2);
  REQUIRE(app::set_field_from_text(*lab->inputs().find("tensor"), "lm_head").error == "");
  lab->compute();
  CHECK(lab->reason() == "The file holds no tensor 'lm_head'; among its 2 are layer.weight, layer.bias.");
}

TEST_CASE("quantizer lab: a broken file is answered in a sentence") {
  const Folder folder;
  std::string file = weights_file(4, 16);
  folder.write("cut.safetensors", file.substr(0, file.size() - 5));
  folder.write("text.safetensors", "these are no tensors at all");
  const auto reason = [&](const char* name) {
    const LabPtr lab = open_lab("compression/quantizer");
    REQUIRE(app::set_field_from_text(*lab->inputs().find("file"), (folder / name).string()).error == "");
    lab->compute();
    return lab->reason();
  };
  CHECK(reason("cut.safetensors") ==
        "cut.safetensors has 259 bytes of data and its header describes 264: it is cut off; download it again.");
  CHECK(reason("text.safetensors").find("it is cut off, or no safetensors file.") != std::string::npos);
}

TEST_CASE("quantizer lab: a press on the bars of the rows chooses the row whose levels are drawn") {
  const LabPtr lab = open_lab("compression/quantizer");
  lab->compute();
  Canvas canvas(*lab, {1200, 900});
  support::UiDriver& ui = canvas.ui;
  ui.click("error of each row");
  const double row = lab->inputs().find("row")->number();
  CHECK((row > 15 && row < 50));  // about the middle of 64
}

TEST_CASE("quantizer lab: the row that loses most is shown until another is chosen") {
  const LabPtr lab = open_lab("compression/quantizer");
  lab->compute();
  const double worst = out(*lab, "largest_row"), step = out(*lab, "shown_step");
  CHECK(out(*lab, "largest_row_share") > 100.0 / 64);
  CHECK(out(*lab, "shown_row") == worst);
  set(*lab, "row", worst);
  lab->compute();
  CHECK(out(*lab, "shown_step") == step);
  set(*lab, "row", worst > 0 ? 0 : 1);
  lab->compute();
  CHECK(out(*lab, "shown_step") < step);
  CHECK(out(*lab, "shown_row") == (worst > 0 ? 0 : 1));
  const LabPtr tensor = open_lab("compression/quantizer", R"({"grain": "tensor"})");
  compute(*tensor);  // one scale for all: the row shown is the one that the sentence calls hurt most
  CHECK(out(*tensor, "shown_row") == out(*tensor, "hurt_row"));
  CHECK(out(*tensor, "shown_row") != out(*tensor, "largest_row"));
  CHECK(std::string(lab->answer()).find("row `" + std::to_string(static_cast<int>(worst)) + "` alone holds") !=
        std::string::npos);
}

TEST_CASE("quantizer lab: an outlier leaves levels empty, and dragging it in brings them together") {
  const LabPtr lab = open_lab("compression/quantizer");
  lab->compute();
  CHECK(out(*lab, "shown_levels") == 15);  // -7 to 7
  CHECK(out(*lab, "levels_used") < 8);
  CHECK(near(out(*lab, "shown_largest"), 7 * out(*lab, "shown_step"), 1e-12));
  CHECK(near(out(*lab, "shown_error"), out(*lab, "hurt_row_error"), 1e-12));  // the same row in this matrix
  const double used = out(*lab, "levels_used"), size = lab->inputs().find("outlier_size")->number();
  Canvas canvas(*lab, {1200, 900});
  CHECK(canvas.ui.text_present("10 levels are empty and still cost bits"));
  canvas.ui.drag_by("weights on their levels", {-260, 0});
  lab->compute();
  CHECK(lab->inputs().find("outlier_size")->number() < size);
  CHECK(out(*lab, "levels_used") > used);
}

TEST_CASE("quantizer lab: a group that is longer than a row is said to be the row") {
  const LabPtr lab = open_lab("compression/quantizer", R"({"grain": "group", "group": 512})");
  compute(*lab);
  CHECK(text_of(*lab, "note") == "A group of 512 is the whole row of 128 weights: one scale per row.");
  compute(set(*lab, "group", 128));
  CHECK(text_of(*lab, "note").empty());
}
