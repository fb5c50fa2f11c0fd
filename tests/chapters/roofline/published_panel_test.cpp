#include "chapters/mechanism/published_panel.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "chapters/roofline/transformer_layer/lab.h"
#include "tests/support/lab/catalog.h"

using Catch::Approx;
namespace layer = chapters::roofline::transformer_layer;

TEST_CASE("published training rows stand beside the best possible of one chip, those of the model and chip set first") {
  support::use_bundled_catalog();
  layer::Inputs in;
  in.model = "llama-2-7b";
  in.chip = "a100_80_sxm";
  const auto marks = layer::arrange(in, layer::compute(in)).published;
  CHECK(marks.marks.size() == chapters::catalog().published_of("roofline/transformer-layer").size());
  CHECK(marks.bounds);
  REQUIRE_FALSE(marks.marks.empty());
  CHECK(marks.marks[0].label == "Llama 2 7B, 4096 tokens, 128 x A100, BF16");
  CHECK_FALSE(marks.marks[0].faint);
  CHECK(marks.marks.back().faint);
  CHECK(marks.marks[0].value.find("4,550 tokens/s measured") != std::string::npos);
  CHECK(marks.marks[0].info.find("fms-fsdp") != std::string::npos);
  for (const auto& mark : marks.marks) {
    INFO(mark.label);
    CHECK((mark.ratio > 0.2 && mark.ratio <= 1));
  }
}
