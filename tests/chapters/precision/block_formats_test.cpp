#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "chapters/precision/block_formats/lab.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/base/weights_file.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("block formats: values given come back as scales, codes and values, as the oracle has them") {
  const auto data = nlohmann::json::parse(read_text(data_file("formats.json")));
  const LabPtr lab = open_lab("precision/block-formats");
  compute(set(*lab, "scheme", "mxfp4", "values", data.at("mx_vectors")[0].at("block").dump()));
  CHECK(reals_of(*lab, "scales") == std::vector<double>{1});
  CHECK(out(*lab, "bits_per_element") == 4.25);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(reals_of(*lab, "values")[i] == data.at("mx_vectors")[0].at("first8")[i].get<double>());
  CHECK(reals_of(*lab, "codes")[0] == 7);   // 6
  CHECK(reals_of(*lab, "codes")[1] == 13);  // -3
  compute(set(*lab, "rule", "ceil"));
  CHECK(reals_of(*lab, "scales") == std::vector<double>{2});
  compute(set(*lab, "scheme", "nvfp4", "values", data.at("nvfp4_vectors")[0].at("block").dump()));
  CHECK(reals_of(*lab, "scales") == std::vector<double>{448});
  CHECK(std::abs(out(*lab, "tensor_scale") - 7.9 / 2688) <= 1e-15);
  CHECK(out(*lab, "bits_per_element") == 4.5);
}

TEST_CASE("block formats: smaller blocks lose less next to outliers and cost more bits") {
  const LabPtr lab = open_lab("precision/block-formats");
  double error = HUGE_VAL, bits = 0;
  for (const char* size : {"256", "64", "16"}) {
    compute(set(*lab, "block", size));
    CHECK(out(*lab, "rms_error") < error);
    CHECK(out(*lab, "bits_per_element") > bits);
    error = out(*lab, "rms_error");
    bits = out(*lab, "bits_per_element");
  }
  compute(set(*lab, "block", "own"));
  const double lost = out(*lab, "lost");
  CHECK(computed(set(*lab, "outliers", "0"), "lost") < lost / 2);
}

TEST_CASE("block formats: 4.25 bits at a group of 64 with an FP16 scale, and what the other schemes cost") {
  const LabPtr lab = open_lab("precision/block-formats");
  CHECK(computed(set(*lab, "scheme", "int4_group"), "bits_per_element") == 4.25);
  CHECK(computed(set(*lab, "block", "128"), "bits_per_element") == 4.125);
  CHECK(computed(set(*lab, "scheme", "mxfp8_e4m3", "block", "own"), "bits_per_element") == 8.25);
  CHECK(computed(set(*lab, "scheme", "mxfp6_e2m3"), "bits_per_element") == 6.25);
}

TEST_CASE("block formats: each block says how many of its numbers became 0, the largest one's as many as the answer") {
  using namespace chapters::precision::block_formats;
  chapters::Progress progress;
  const Inputs in;
  const auto computed = compute(in, progress);
  const Picture p = arrange(in, computed.facts, *computed.run);
  REQUIRE(p.lost_texts.size() == 8);
  CHECK(p.lost_texts[p.largest_block] == "22 became 0");
  CHECK(computed.facts.beside_lost == 22);
}

TEST_CASE("block formats: the answer counts one neighbour as one, and loses nothing of zeros") {
  const LabPtr lab = open_lab("precision/block-formats");
  compute(set(*lab, "values", "[1, 2]"));
  CHECK(lab->answer() ==
        "In MXFP4 the largest number, `2`, does not turn the one number that shares its scale into zero.\n"
        "Its error is `0`.");
  compute(set(*lab, "values", "[0, 0]"));
  CHECK(lab->answer() == "All numbers are 0 and stay 0, so nothing is lost.");
}

TEST_CASE("block formats: neighbours that are 0 already are not counted among those that could become 0") {
  const LabPtr lab = open_lab("precision/block-formats");
  compute(set(*lab, "values", "[100, 0, 0, 1, 20, 0]"));
  CHECK(lab->answer().starts_with(
      "In MXFP4 the largest number, `100`, turns `1` of the `2` nonzero ones that share its scale into zero.\n"));
  compute(set(*lab, "values", "[100, 0, 0]"));
  CHECK(lab->answer() == "In MXFP4 the largest number, `100`, costs nothing: all that share its scale are 0 already.");
}

TEST_CASE("block formats: searching the scale gains under a decibel on a bell, and the rule itself loses less") {
  const LabPtr lab = open_lab("precision/block-formats");
  set(*lab, "scheme", "int4_group", "outliers", "0", "elements", "4096");
  const double plain = computed(*lab, "snr_db"), gain = out(*lab, "scale_gain_db");
  CHECK(near(gain, 0.64, 0.05));
  CHECK(near(computed(set(*lab, "rule", "least_error"), "snr_db"), plain + gain, 1e-9));
  CHECK(near(out(*lab, "scale_gain_db"), gain, 1e-9));
}

TEST_CASE("block formats: a learner's own tensor takes the made-up one's place, and a broken file is said") {
  const Folder folder;
  folder.write("w.safetensors", weights_file(8, 40));
  const LabPtr lab = open_lab("precision/block-formats", R"({"elements": 64})");
  compute(set(*lab, "file", (folder / "w.safetensors").string().c_str()));
  CHECK(text_of(*lab, "numbers") == "layer.weight, F32: the first of 8 rows, the first 40 of 40 columns");
  CHECK(reals_of(*lab, "values").size() == 40);
  CHECK(out(*lab, "blocks") == 2);
  compute(set(*lab, "elements", 1024));  // four rows of 256 are asked for, and 40 are there
  CHECK(reals_of(*lab, "values").size() == 4 * 40);
  CHECK(reason_of(set(*lab, "tensor", "lm_head")) ==
        "The file holds no tensor 'lm_head'; among its 2 are layer.weight, layer.bias.");
}
