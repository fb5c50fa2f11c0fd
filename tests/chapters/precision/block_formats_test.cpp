#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "tests/support/base/paths.h"

namespace {

struct Blocks {
  chapters::LabPtr lab = chapters::make_lab_by_id("precision/block-formats");
  Blocks& set(const char* key, const std::string& text) {
    CHECK(app::set_field_from_text(*lab->inputs().find(key), text).error == "");
    lab->compute();
    return *this;
  }
  double of(const char* key) const { return lab->outputs().find(key)->number(); }
  const std::vector<double>& list(const char* key) const { return lab->outputs().find(key)->reals(); }
};

}  // namespace

TEST_CASE("block formats: values given come back as scales, codes and values, as the oracle has them") {
  std::ifstream in(support::data_file("formats.json"));
  const auto data = nlohmann::json::parse(in);
  Blocks b;
  b.set("scheme", "mxfp4").set("values", data.at("mx_vectors")[0].at("block").dump());
  CHECK(b.list("scales") == std::vector<double>{1});
  CHECK(b.of("bits_per_element") == 4.25);
  for (std::size_t i = 0; i < 8; ++i)
    CHECK(b.list("values")[i] == data.at("mx_vectors")[0].at("first8")[i].get<double>());
  CHECK(b.list("codes")[0] == 7);   // 6
  CHECK(b.list("codes")[1] == 13);  // -3
  b.set("rule", "ceil");
  CHECK(b.list("scales") == std::vector<double>{2});
  b.set("scheme", "nvfp4").set("values", data.at("nvfp4_vectors")[0].at("block").dump());
  CHECK(b.list("scales") == std::vector<double>{448});
  CHECK(std::abs(b.of("tensor_scale") - 7.9 / 2688) <= 1e-15);
  CHECK(b.of("bits_per_element") == 4.5);
}

TEST_CASE("block formats: smaller blocks lose less next to outliers and cost more bits") {
  Blocks b;
  double error = HUGE_VAL, bits = 0;
  for (const char* size : {"256", "64", "16"}) {
    b.set("block", size);
    CHECK(b.of("rms_error") < error);
    CHECK(b.of("bits_per_element") > bits);
    error = b.of("rms_error");
    bits = b.of("bits_per_element");
  }
  b.set("block", "own");
  const double lost = b.of("lost");
  CHECK(b.set("outliers", "0").of("lost") < lost / 2);
}

TEST_CASE("block formats: 4.25 bits at a group of 64 with an FP16 scale, and what the other schemes cost") {
  Blocks b;
  CHECK(b.set("scheme", "int4_group").of("bits_per_element") == 4.25);
  CHECK(b.set("block", "128").of("bits_per_element") == 4.125);
  CHECK(b.set("scheme", "mxfp8_e4m3").set("block", "own").of("bits_per_element") == 8.25);
  CHECK(b.set("scheme", "mxfp6_e2m3").of("bits_per_element") == 6.25);
}
