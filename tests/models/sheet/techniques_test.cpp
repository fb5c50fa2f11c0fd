// What each technique moves, against the closed forms that each subject is known by, and the order of the chains.
#include "models/sheet/techniques.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdio>
#include <string>

#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using namespace models::sheet;
using support::near;

namespace {

WorkCase sheet_case(const char* model, const char* chip, std::int64_t chips) {
  WorkCase work;
  work.request = {.architecture = &models_test::shipped_model(model).architecture, .chip = &bundled_chip(chip)};
  work.request.prompt = 2048;
  work.request.output = 256;
  work.request.batch = 32;
  work.request.chips = chips;
  work.request.eight_bits = inference::EightBits::fp8;
  work.request.links = {.inside_bytes_per_s = 450e9, .between_bytes_per_s = 50e9};
  work.links = work.request.links;
  return work;
}

}  // namespace

TEST_CASE("dump") {
  WorkCase work = sheet_case("llama-3-70b", "h100_sxm", 8);
  for (const auto& e : technique_effects(work)) {
    std::printf("%2d", static_cast<int>(e.technique));
    for (const double f : e.factor) std::printf(" %7.3f", f);
    std::printf(" %s\n", e.why_not.c_str());
  }
  const Priorities p = priorities(work);
  for (const auto* c : {&p.inference, &p.training, &p.memory, &p.communication}) {
    for (const auto& s : *c) std::printf("%s %.3f%s > ", s.name.c_str(), s.gain, s.reaches ? "!" : "");
    std::printf("\n");
  }
}
