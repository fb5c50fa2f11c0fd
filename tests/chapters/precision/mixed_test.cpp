#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/precision/mixed/lab.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using Catch::Approx;
using namespace support;

namespace {

LabPtr lab_of(const char* inputs) {
  LabPtr lab = open_lab("precision/mixed", inputs);
  lab->compute();
  return lab;
}
chapters::Fields row(const LabPtr& lab, std::string_view table, std::size_t index) {
  chapters::Fields fields;
  lab->outputs().find(table)->table_row(index, fields);
  return fields;
}

}  // namespace

// Errata 33, S0's table of a 7B model, and the published 16, 18, 20.
TEST_CASE("mixed precision: states are not smaller than FP32's, activations and time are") {
  const LabPtr zero = lab_of(R"({"recipe": "amp_bf16", "keeping": "zero"})");
  CHECK(out(*zero, "bytes_per_parameter") == 16);
  CHECK(out(*zero, "states_over_fp32") == 1);
  CHECK(out(*lab_of(R"({"recipe": "amp_bf16"})"), "bytes_per_parameter") == 18);
  CHECK(out(*lab_of(R"({"recipe": "amp_bf16", "keeping": "accumulate"})"), "bytes_per_parameter") == 20);
  CHECK(out(*zero, "activations_over_bf16") == 1);
  CHECK(out(*zero, "total_over_fp32") < 0.7);
  CHECK(out(*lab_of(R"({"recipe": "amp_bf16", "chip": "a100_80_sxm"})"), "peak_ratio") == 16);
  CHECK(out(*zero, "states_bytes") == Approx(16 * 8030261248.0 / 8));
}

// S0 ch.4 says about 1.5 times on an H100; the peak alone would say 2.
TEST_CASE("mixed precision: FP8 speeds a step up by less than its peak, and saves an eighth of the activations") {
  const LabPtr fp8 = lab_of("{}");
  CHECK(out(*fp8, "speedup_bf16") > 1.35);
  CHECK(out(*fp8, "speedup_bf16") < 1.6);
  CHECK(out(*fp8, "activations_over_bf16") == Approx((2 * 69632.0 - 22528 + 4096 + 128) / (2 * 69632.0 + 128)));
  CHECK(out(*lab_of(R"({"scaling": "current"})"), "casts_s") == Approx(1.5 * out(*fp8, "casts_s")));
}

TEST_CASE("mixed precision: a chip without the format is named, and the other recipes still are compared") {
  const LabPtr v100 = lab_of(R"({"chip": "v100_sxm2", "recipe": "amp_bf16"})");
  CHECK(v100->reason().find("BF16") != std::string::npos);
  const LabPtr fp16 = lab_of(R"({"chip": "v100_sxm2", "recipe": "amp_fp16"})");
  CHECK(out(*fp16, "speedup_fp32") > 4);
  CHECK(std::isnan(out(*fp16, "speedup_tf32")));  // absent: a V100 has no TF32 unit
  CHECK(fp16->outputs().find("speedup_tf32")->spec.absent == "The chip has no TF32 unit.");
  CHECK(fp16->answer().find("\xC3\x97` as fast.\n") != std::string_view::npos);
  const auto bf16 = row(fp16, "recipes", 2);
  CHECK(bf16.find("runs")->toggle() == false);
  CHECK(bf16.find("note")->text().find("BF16") != std::string::npos);
}

TEST_CASE("mixed precision: parts of the step and of the memory add up") {
  const LabPtr lab = lab_of(R"({"model": "deepseek-v3", "shards": 512, "recompute": "full"})");
  double parts = 0;
  for (const char* key : {"products_s", "attention_s", "vector_s", "casts_s", "optimizer_s"}) parts += out(*lab, key);
  CHECK(parts == Approx(out(*lab, "time_s")));
  double states = 0;
  for (const char* key : {"weights_bytes", "copies_bytes", "gradients_bytes", "master_bytes", "moments_bytes"})
    states += out(*lab, key);
  CHECK(states == Approx(out(*lab, "states_bytes")));
  CHECK(states + out(*lab, "activations_bytes") + out(*lab, "logits_bytes") == Approx(out(*lab, "total_bytes")));
  CHECK(out(*lab, "bytes_per_parameter") * out(*lab, "parameters") / 512 == Approx(states));
  CHECK(row(lab, "recipes", 4).find("time_s")->number() == out(*lab, "time_s"));
}

TEST_CASE("mixed precision: a recipe that is slower says so, and what casting takes") {
  const LabPtr small = lab_of(R"({"model": "qwen2.5-0.5b", "sequence": 128})");
  CHECK(out(*small, "speedup_bf16") < 0.95);
  CHECK(small->answer().find(" in BF16: it is slower.\nCasting to 8 bits takes `") != std::string_view::npos);
}

TEST_CASE("mixed precision: the answer sets the states next to those of FP32, which are not larger") {
  CHECK(lab_of("{}")->answer().ends_with("The states take `19.7 B` per parameter; in FP32 they take 16 B."));
  const LabPtr tf32 = lab_of(R"({"recipe": "tf32", "sequence": 2048})");
  CHECK(tf32->answer().ends_with("The states take `16 B` per parameter, as in FP32."));
}

TEST_CASE("mixed precision: what does not fit names a cure that is not taken yet") {
  CHECK(lab_of(R"({"shards": 1})")->answer().ends_with("split the states over more chips."));
  CHECK(lab_of(R"({"batch": 8})")->answer().ends_with("recompute its activations."));
  CHECK(lab_of(R"({"sequence": 131072, "recompute": "full"})")->answer().ends_with("use shorter sequences."));
}

// The picture says what the sentence says.
TEST_CASE("mixed precision: parts of one parameter add up to its bytes, and blocks of the rows to the steps") {
  using namespace chapters::precision::mixed;
  using models::NumberFormat;
  support::use_bundled_catalog();
  Inputs in;
  in.keeping = models::StateKeeping::accumulate;
  const Outputs out = compute(in);
  const Picture p = arrange(in, out);
  REQUIRE(p.recipes.size() == 2);
  const std::vector<StatePart>& states = p.recipes[1].states;
  REQUIRE(states.size() == 6);
  double bytes = 0, fp32 = 0;
  for (const StatePart& part : states) {
    bytes += part.bytes;
    if (part.format == NumberFormat::fp32) fp32 += part.bytes;
  }
  CHECK(bytes == Approx(out.step.bytes_per_parameter));
  CHECK(fp32 == Approx(4 + 4 + 8));  // the sum of the gradients, the master and the moments
  CHECK(states[2].name == "gradients");
  CHECK(states[2].bytes == Approx(2));
  CHECK(states[2].format == NumberFormat::bf16);
  CHECK(p.recipes[0].states.size() == 5);  // BF16 has no copies
  CHECK(p.recipes[0].time_s / p.recipes[1].time_s == Approx(out.speedup_bf16));
  in.recipe = models::PrecisionRecipe::fp32;
  CHECK(arrange(in, compute(in)).recipes.size() == 1);  // nothing to compare with
}

TEST_CASE(
    "mixed precision: every operation is in one block of the row, and casts drop the bits that formats differ by") {
  using namespace chapters::precision::mixed;
  support::use_bundled_catalog();
  for (const char* model : {"llama-3-8b", "deepseek-v3", "qwen2.5-0.5b"}) {
    INFO(model);
    Inputs in;
    in.model = model;
    in.shards = 512;
    const Outputs out = compute(in);
    const std::vector<FlowBlock> blocks = flow_of(out.step);
    CHECK(blocks.back().from_s + blocks.back().time_s == Approx(out.step.time_s));
    const auto block = [&](std::string_view title) {
      return *std::find_if(blocks.begin(), blocks.end(), [&](const FlowBlock& b) { return b.title == title; });
    };
    CHECK(block("Down").exponent_lost == 4);  // BF16 has 8 and 7 bits of exponent and mantissa, E4M3 4 and 3
    CHECK(block("Down").mantissa_lost == 4);
    CHECK(block("Attention").lost_text.empty());
    CHECK(block("Casts").time_s == Approx(out.step.part_s[static_cast<std::size_t>(models::StepPart::casts)]));
  }
}
