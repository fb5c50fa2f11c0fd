#include <catch2/catch_test_macros.hpp>

#include "chapters/mechanism/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

// One rule in every lab: matrices inside the layers at 4.125 bits (INT4 in groups of 128 with a 16-bit scale), all
// other weights in 16.
TEST_CASE("how much faster 4-bit weights decode Llama 3 70B has one answer in every lab") {
  const LabPtr roof = open_lab("roofline/roofline"), layer = open_lab("roofline/transformer-layer"),
               deploy = open_lab("compression/deploy"), law = open_lab("roofline/iron-law");
  for (Lab* lab : {roof.get(), layer.get(), deploy.get()})
    set(*lab, "model", "llama-3-70b", "chip", "mi300x", "batch", 1, "context", 4096);
  compute(set(*roof, "launch_s", 0, "weight_bits", "4"));
  const double answer = out(*roof, "quantized_speedup");
  CHECK(near(answer, 3.62, 0.005));

  const double wide_s = computed(set(*layer, "phase", "decode", "format", "bf16"), "time_s");
  CHECK(near(wide_s / computed(set(*layer, "format", "fp4"), "time_s"), answer, 0.01));

  compute(set(*deploy, "chips", 1, "recipe", "w4a16", "kv", "bf16"));
  CHECK(near(out(*deploy, "decode_speedup"), answer, 0.01));
  CHECK(near(out(*deploy, "weights_bytes"), out(*layer, "weights_bytes"), 1e-12));

  // One eighth of the same step: the term that loads take.
  const double loads_s = computed(set(*law, "chip", "mi300x", "techniques", ""), "memory_s");
  CHECK(near(loads_s / computed(set(*law, "techniques", "weights_4bit"), "memory_s"), answer, 0.01));
}

TEST_CASE("a rack is offered by no lab of one chip, and a scenario that names it says why not") {
  for (const char* id : {"roofline/roofline", "roofline/transformer-layer", "roofline/tiling-waves",
                         "roofline/hierarchy", "roofline/iron-law", "compression/deploy", "precision/mixed"}) {
    INFO(id);
    const LabPtr lab = open_lab(id);
    const chapters::Field& chip = input(*lab, "chip");
    for (const auto& option : *chip.options) CHECK(option.id != "gb200_nvl72");
    CHECK_FALSE(chip.set_choice_id("gb200_nvl72"));
    REQUIRE(chip.spec.refused);
    REQUIRE(chip.spec.refused->size() == 1);
    CHECK(chip.spec.refused->front().id == "gb200_nvl72");
    CHECK(chip.spec.refused->front().help ==
          "NVIDIA GB200 NVL72 (rack of 72) is 72 chips together, and this computes one: choose a single chip.");
  }
  CHECK(chapters::find_chip("gb200_nvl72").error ==
        "NVIDIA GB200 NVL72 (rack of 72) is 72 chips together, and this computes one: choose a single chip.");
}
