#include <catch2/catch_test_macros.hpp>

#include <cstring>
#include <string>

#include "app/scenario/scenario.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

/// A safetensors file of one F32 matrix [rows, cols] whose element is row + col / 1000, and a small vector.
std::string weights_file(int rows, int cols) {
  const int bytes = rows * cols * 4;
  std::string header = "{\"layer.weight\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(rows) + "," +
                       std::to_string(cols) + "],\"data_offsets\":[0," + std::to_string(bytes) +
                       "]},\"layer.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[" + std::to_string(bytes) +
                       "," + std::to_string(bytes + 8) + "]}}";
  while (header.size() % 8 != 0) header += ' ';
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  file += header;
  const auto add = [&](float v) {
    char four[4];
    std::memcpy(four, &v, 4);
    file.append(four, 4);
  };
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) add(static_cast<float>(r) + static_cast<float>(c) / 1000.0f);
  add(3.0f), add(-1.0f);
  return file;
}

}  // namespace

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

TEST_CASE("quantizer lab: a click on the map chooses the row whose levels are drawn") {
  const LabPtr lab = open_lab("compression/quantizer");
  lab->compute();
  Canvas canvas(*lab, {1200, 900});
  support::UiDriver& ui = canvas.ui;
  ui.click("error of each weight");
  const double row = lab->inputs().find("row")->number();
  CHECK((row > 15 && row < 50));  // about the middle of 64
}

TEST_CASE("quantizer lab: the row that loses most is shown until another is chosen") {
  const LabPtr lab = open_lab("compression/quantizer");
  lab->compute();
  const double worst = out(*lab, "largest_row"), step = out(*lab, "shown_step");
  CHECK(out(*lab, "largest_row_share") > 100.0 / 64);
  set(*lab, "row", worst);
  lab->compute();
  CHECK(out(*lab, "shown_step") == step);
  set(*lab, "row", worst > 0 ? 0 : 1);
  lab->compute();
  CHECK(out(*lab, "shown_step") < step);
  CHECK(std::string(lab->answer()).find("row `" + std::to_string(static_cast<int>(worst)) + "`, one of `64`, pays") !=
        std::string::npos);
}

// Pins of the other labs of this half of the chapter.
TEST_CASE("methods lab: GPTQ and AWQ beat rounding at the same bits, and the printed sign loses") {
  const LabPtr lab = open_lab("compression/methods");
  CHECK(computed(*lab, "gptq_ratio") < 0.66);  // errata 13: 0.453 / 0.686
  CHECK(computed(*lab, "awq_ratio") < 0.66);
  CHECK(computed(*lab, "weight_bits") == 4.5);
  CHECK(computed(*lab, "smooth_ratio") < 0.5);
  CHECK(computed(*open_lab("compression/methods", R"({"sign": "plus"})"), "gptq_ratio") > 1.368 / 0.686);
  CHECK(computed(*open_lab("compression/methods", R"({"sign": "none"})"), "gptq_ratio") == 1);
  // Less than one percent is no "0 %", which stands for the very same error.
  const LabPtr tied = open_lab("compression/methods", R"({"correlation": 0.95, "outlier_inputs": 0})");
  tied->compute();
  CHECK(std::string(tied->answer()).ends_with("AWQ `0 %`, SmoothQuant `+0.2 %` of the error."));
}

TEST_CASE("methods lab: dragging the cursor shows the weights after as many columns") {
  const LabPtr lab = open_lab("compression/methods");
  lab->compute();
  Canvas canvas(*lab, {1200, 1100});
  support::UiDriver& ui = canvas.ui;
  ui.drag_by("drag column", {-600, 0});
  CHECK(lab->view().find("time")->real() == 0);
  ui.frames(2);
  const widgets::Record record = ui.record();
  for (const auto& t : record.tables)
    if (t.name == "weights moved")
      for (const auto& row : t.rows)
        for (std::size_t i = 1; i < row.size(); ++i) CHECK(row[i] == "0");  // nothing is rounded yet
}

// 68,451,041,280 parameters of matrices and 2,102,665,216 others (two vocabulary matrices of 128,256 x 8,192 and the
// norms).
TEST_CASE("deploy lab: weights, cache and speed of Llama 3 70B follow bits and bytes") {
  const LabPtr w4 = open_lab("compression/deploy");
  CHECK(near(computed(*w4, "weights_bytes"), 68451041280.0 * 4.125 / 8 + 2102665216.0 * 2, 1e-9));
  CHECK(near(computed(*w4, "cache_bytes"), 8 * 4096 * 327680.0, 1e-12));  // errata: 327,680 B a token
  CHECK(computed(*w4, "fits") == 1);
  CHECK(computed(*w4, "largest_batch") == 24);
  CHECK(computed(*open_lab("compression/deploy", R"({"kv": "fp8"})"), "largest_batch") == 48);
  CHECK(near(computed(*w4, "prefill_speedup"), 1, 0.01));  // weight-only: products stay in 16 bits
  CHECK(computed(*w4, "decode_speedup") > 3);
  const LabPtr fp8 = open_lab("compression/deploy", R"({"recipe": "fp8"})");
  CHECK(computed(*fp8, "fits") == 0);
  CHECK(computed(*fp8, "chips_needed") == 2);
  CHECK(computed(*fp8, "prefill_speedup") > 1.8);
  // One sequence, a short context: a step is the bytes of the weights over the bandwidth, and an embedding row.
  const LabPtr one =
      open_lab("compression/deploy", R"({"recipe": "bf16", "batch": 1, "context": 128, "roof_share": 1})");
  CHECK(near(computed(*one, "decode_s"), 2 * (70553706496.0 - 128256.0 * 8192) / 3.35e12, 0.01));
}

TEST_CASE("deploy lab: the tree goes another way for another need") {
  const auto says = [](const char* inputs) {
    const LabPtr lab = open_lab("compression/deploy", inputs);
    lab->compute();
    REQUIRE(lab->reason() == "");
    return lab->outputs().find("recommended")->text();
  };
  CHECK(says("{}") == "W4A16");
  CHECK(says(R"({"may_lose": 0})") == "BF16 on more chips");
  CHECK(says(R"({"may_lose": 0, "chips": 4})") == "BF16");
  CHECK(says(R"({"may_lose": 0.5})") == "W8A16");
  CHECK(says(R"({"chip": "b200_sxm"})") == "NVFP4");
  CHECK(says(R"({"batch": 64, "context": 32768})") == "W8A16, FP8 cache");
  CHECK(says(R"({"batch": 1024, "context": 128})") == "FP8, FP8 cache");
  CHECK(says(R"({"batch": 1024, "context": 128, "chip": "a100_80_sxm"})") == "W8A8 INT8");
}

TEST_CASE("deploy lab: a recipe that the chip cannot multiply is said, and the others are still compared") {
  const LabPtr lab = open_lab("compression/deploy", R"({"recipe": "nvfp4"})");
  lab->compute();
  CHECK_FALSE(lab->reason().empty());
  CHECK(lab->reason().find("FP4") != std::string::npos);
  const LabPtr other = open_lab("compression/deploy");
  other->compute();
  chapters::Fields row;
  other->outputs().find("recipes")->table_row(5, row);
  CHECK(row.find("possible")->number() == 0);
}

TEST_CASE("quantizer lab: with one scale a row of large weights sets it, and the row of the smallest weights pays") {
  const LabPtr lab = open_lab("compression/quantizer", R"({"grain": "tensor"})");
  compute(*lab);
  CHECK(out(*lab, "hurt_row_error") == 100);  // all of it became 0
  CHECK(out(*lab, "largest_row_share") < 5);
  CHECK(lab->answer().find("sets the one scale, all others pay, and row `") != std::string_view::npos);
  CHECK(lab->answer().ends_with(" most: `100 %` of its size."));
  compute(set(*lab, "grain", "channel"));
  CHECK(lab->answer().find(" of the squared error.") != std::string_view::npos);
}
