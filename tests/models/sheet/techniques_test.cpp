// What each technique moves, against the closed forms that each subject is known by, and the order of the chains.
#include "models/sheet/techniques.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
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

TEST_CASE("techniques move what their closed forms say") {
  const WorkCase work = sheet_case("llama-3-70b", "h100_sxm", 8);
  const auto effects = technique_effects(work);
  REQUIRE(effects.size() == technique_count);
  const auto of = [&](Technique t, Moved m) { return effects[static_cast<std::size_t>(t)].of(m); };
  for (const TechniqueEffect& e : effects) CHECK(e.why_not.empty());
  CHECK(near(of(Technique::weights8, Moved::weights), 0.5, 1e-9));
  CHECK(near(of(Technique::weights4, Moved::weights), 5.0 / 16, 1e-9));  // with the constants of a group
  CHECK(near(of(Technique::cache8, Moved::cache), 0.5, 1e-9));
  CHECK(near(of(Technique::tensor, Moved::weights), 1.0 / 8, 1e-9));
  CHECK(std::isinf(of(Technique::tensor, Moved::sent)));
  CHECK(near(of(Technique::grouped_heads, Moved::cache), 8.0 / 64, 1e-12));
  CHECK(near(of(Technique::continuous, Moved::throughput), 4.0584951, 1e-6));  // the 32nd harmonic number
  CHECK(near(of(Technique::paged, Moved::cache), (2048 + 128 + 8) / 8192.0, 1e-12));
  // Rajbhandari et al. 2019, figure 1: 16 bytes a parameter become 4 + 12/N and 16/N, of which 2 and 2/N are weights.
  CHECK(near(of(Technique::zero1, Moved::states), (2 + 12.0 / 64) / 14, 1e-9));
  CHECK(near(of(Technique::zero3, Moved::states), 1.0 / 64, 1e-9));
  CHECK(near(of(Technique::zero3, Moved::weights), 1.0 / 64, 1e-9));
  CHECK(near(of(Technique::zero3, Moved::sent), 1.5, 1e-12));
  CHECK(of(Technique::zero1, Moved::sent) == 1);
  CHECK(near(of(Technique::adam8, Moved::states), (2 + 4 + 2.03125) / 14, 1e-3));
  CHECK(near(of(Technique::checkpoint, Moved::flops), 4.0 / 3, 1e-3));
  CHECK(near(of(Technique::accumulate, Moved::activations), 1.0 / 8, 1e-9));
  CHECK(near(of(Technique::pipeline, Moved::throughput), 8.0 / 15, 1e-12));
  CHECK(near(of(Technique::packing, Moved::throughput), 1 / (0.25 * (1 - std::exp(-4.0))), 1e-12));
  CHECK(near(of(Technique::bf16, Moved::weights), 0.5, 1e-12));
  CHECK(near(of(Technique::bf16, Moved::states), 14.0 / 12, 1e-12));  // a master of 4 B comes, gradients halve
  // What pays and what it costs.
  CHECK(of(Technique::speculative, Moved::per_token) < 1);
  CHECK(of(Technique::speculative, Moved::flops) > 1);
  // Fewer kernels are fewer launches where no graph makes one of all.
  CHECK(of(Technique::fusion, Moved::launches) < 1);
  CHECK(of(Technique::flash, Moved::launches) < 1);
  CHECK(of(Technique::chunked, Moved::gap) < 1);
  CHECK(of(Technique::chunked, Moved::first_token) > 1);
  CHECK(of(Technique::batch, Moved::throughput) > 8);
  CHECK(of(Technique::batch, Moved::per_token) > 1);
}

TEST_CASE("a technique that a case cannot have says why in a sentence") {
  WorkCase work = sheet_case("gpt2-124m", "v100_sxm2", 1);
  work.request.batch = 1;
  const auto effects = technique_effects(work);
  for (const Technique t : {Technique::tensor, Technique::batch, Technique::continuous, Technique::grouped_heads,
                            Technique::bf16, Technique::fp8_training}) {
    const TechniqueEffect& e = effects[static_cast<std::size_t>(t)];
    INFO(e.why_not);
    CHECK(e.why_not.ends_with('.'));
    CHECK(std::isnan(e.of(Moved::throughput)));
  }
}

TEST_CASE("chains take what gains most of what is left, and end where the goal is met") {
  const WorkCase work = sheet_case("llama-3-8b", "h100_sxm", 1);
  const Priorities p = priorities(work);
  REQUIRE(p.inference.size() >= 4);
  for (const auto* chain : {&p.inference, &p.training, &p.memory, &p.communication})
    for (const PriorityStep& step : *chain) CHECK(step.gain >= 1.01);
  CHECK(p.training.front().name == "BF16");
  // 8B with 16 bytes a parameter does not fit in 80 GB: the chain ends with the step that makes it fit.
  REQUIRE_FALSE(p.memory.empty());
  for (std::size_t i = 0; i < p.memory.size(); ++i) CHECK(p.memory[i].reaches == (i + 1 == p.memory.size()));
  REQUIRE_FALSE(p.communication.empty());

  // A small request waits for launches, a large batch does not.
  WorkCase small = work, large = work;
  small.request.batch = 1;
  small.request.prompt = 16;
  large.request.batch = 256;
  const auto place_of_graph = [](const Priorities& order) {
    std::size_t at = 0;
    while (at < order.inference.size() && order.inference[at].name != "CUDA graph") ++at;
    return at;
  };
  CHECK(place_of_graph(priorities(small)) < place_of_graph(priorities(large)));
}
