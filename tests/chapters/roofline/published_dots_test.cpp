#include "chapters/roofline/roofline/published_dots.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "chapters/mechanism/catalog.h"
#include "tests/support/lab/answers.h"

using Catch::Approx;
using chapters::roofline::roofline::Inputs;
using chapters::roofline::roofline::Picture;

namespace {

Picture picture_of(const Inputs& in) {
  return support::picture_of(in, chapters::roofline::roofline::compute, chapters::roofline::roofline::arrange);
}

const Picture::Dot* dot_named(const Picture& picture, std::string_view name) {
  const auto at = std::find_if(picture.published.begin(), picture.published.end(),
                               [&](const Picture::Dot& d) { return d.name == name; });
  return at == picture.published.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("published kernels of the chip stand under its roof by default, at their own intensity, with their share") {
  const Picture picture = picture_of({});
  const Picture::Dot* dot = dot_named(picture, "cuBLAS 4096 x 22016 x 4096, FP16, H100");
  REQUIRE(dot);
  // FP16 has BF16's peak on this chip, so that the roof is the same.
  CHECK(dot->y == Approx(748.46e12).epsilon(1e-4));
  CHECK(dot->x == Approx(2.0 * 4096 * 22016 * 4096 / (2.0 * (4096.0 * 4096 + 4096.0 * 22016 + 4096.0 * 22016))));
  CHECK(dot->info.find("76 % of the roof") != std::string::npos);
  CHECK(dot->info.find("vidur") != std::string::npos);
  CHECK(dot_named(picture, "FlashAttention-3 forward, 16384 tokens, head 128, H100"));
  CHECK_FALSE(dot_named(picture, "DeepGEMM 4096 x 7168 x 16384, FP8"));  // another roof
  for (const Picture::Dot& d : picture.published) CHECK(d.y <= d.roof);
}

TEST_CASE("the best matrix product found is a ceiling and not a dot, and both go when measured is not shown") {
  Inputs in;
  const Picture picture = picture_of(in);
  REQUIRE(picture.measured_ceilings.size() == 1);
  CHECK(picture.measured_ceilings[0].label.find("80 % of the peak") != std::string::npos);
  CHECK_FALSE(dot_named(picture, "largest matmul rate found, BF16, H100 SXM"));
  in.show = {"operations"};
  CHECK(picture_of(in).published.empty());
}

TEST_CASE("published decode of one sequence stands under the decode walk, in FLOP of its own model") {
  Inputs in;
  in.chip = "a100_80_sxm";
  const Picture picture = picture_of(in);
  const Picture::Dot* dot = dot_named(picture, "Llama 3 8B decodes one sequence, BF16, A100, gpt-fast");
  REQUIRE(dot);
  CHECK(dot->x == Approx(1).epsilon(0.05));                  // 2 FLOP for each weight of 2 B
  CHECK(dot->y == Approx(93.89 * 2 * 7.5e9).epsilon(0.01));  // tokens/s x 2 FLOP a parameter
  CHECK(dot->y / dot->roof == Approx(0.69).epsilon(0.01));
  CHECK(dot->work.flops / dot->work.bytes == Approx(dot->x));
}
