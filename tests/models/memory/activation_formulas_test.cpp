#include "models/memory/activation_formulas.h"

#include <catch2/catch_test_macros.hpp>

#include "models/memory/training_memory.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using support::near;
using namespace models;
using namespace models::memory;

TEST_CASE("under context parallelism a GPU's queries meet the keys of the whole sequence") {
  // b (s/c) queries of a heads, each with s scores: c GPUs hold as many scores as one did, and no fewer.
  const FormulaSizes whole{.sequence = 8192, .batch = 1, .hidden = 4096, .heads = 32};
  FormulaSizes part = whole;
  part.sequence = 8192 / 4;
  part.keys = 8192;
  CHECK(near(4 * formula_layer_bytes(part, Recompute::none), formula_layer_bytes(whole, Recompute::none), 1e-12));
  const Architecture a = models_test::shipped_model("llama-3-8b").architecture;
  TrainingPlan p{.batch = 1, .sequence = 8192, .context = 4, .fused_attention = false, .dropout = true};
  const auto cut = training_memory(a, p, {.count = ActivationCount::formula});
  REQUIRE(cut);
  CHECK(near(cut->formula_layer_bytes, 2048.0 * 4096 * (34 + 5 * 32 * 8192.0 / 4096), 1e-12));
  // Operation by operation they are the same scores.
  CHECK(near(cut->layer_none_bytes - cut->layer_selective_bytes, 5.0 * 32 * 2048 * 8192, 1e-12));
  const auto counted = training_memory(a, p, {.count = ActivationCount::operations});
  REQUIRE(counted);
  CHECK(near(counted->layer_none_bytes - counted->layer_selective_bytes, 5.0 * 32 * 2048 * 8192, 1e-12));
}
