#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/inference/state_space/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

// State space: figures by key, the order of the ways on each task, and what does not train again.

using namespace support;

namespace {
constexpr const char* state_lab = "inference/state-space";
}

TEST_CASE("state space lab: bytes and steps are those of the shapes, and a cache catches up where they are equal") {
  const LabPtr lab = open_lab(state_lab, R"({"pairs": 6, "width": 4, "steps": 10})");
  CHECK(computed(*lab, "fixed_bytes") == 2.0 * 56 * (128.0 * 64 * 128 + 3 * (8192 + 2 * 8 * 128)));
  CHECK(out(*lab, "token_bytes") == 0);
  CHECK(near(out(*lab, "equal_tokens"), 922, 1e-2));
  CHECK(near(out(*lab, "reference_bytes"), 131072.0 * 131072, 1e-12));
  CHECK(std::isnan(output(*lab, "doubles_tokens").number()));
  const double step = out(*lab, "step_s");
  CHECK(computed(set(*lab, "context", 1000000), "step_s") == step);
  // Without its input embedding it reads 14.38 GB of weights, Llama 3 8B 15.01 GB: shorter from the start. The hybrid
  // and a batch, whose states are read and written, are equal at a context of their own.
  CHECK(out(*lab, "crossing_tokens") == 0);
  CHECK(near(out(*lab, "read_bytes"), 14.377e9, 1e-4));
  CHECK(near(out(*lab, "reference_read_bytes"), 15.010e9, 1e-4));
  set(*lab, "batch", 64);
  REQUIRE(computed(*lab, "crossing_tokens") > 1000);
  CHECK(near(computed(set(*lab, "context", static_cast<std::int64_t>(out(*lab, "crossing_tokens"))), "speedup"), 1,
             1e-3));
  set(*lab, "batch", 1);
  CHECK(computed(set(*lab, "state_format", "fp32"), "fixed_bytes") == 4.0 * 56 * (128.0 * 64 * 128 + 3 * 10240));
  CHECK(computed(set(*lab, "model", "jamba", "context", 262144), "token_bytes") == 4 * 4096);
  // Mamba's decays differ within a head: no scan of matrix products.
  CHECK(std::isnan(output(*lab, "blocked_s").number()));
  // 456 billion parameters in 16 bits and 5.5 GB of one sequence, against 80 GB; on 16 such chips it fits.
  compute(set(*lab, "model", "minimax-01", "context", 131072));
  CHECK(lab->answer().find("MiniMax-01 456B does not fit") != std::string::npos);
  CHECK(near(out(*lab, "memory_bytes"), 917.5e9, 1e-3));
  compute(set(*lab, "chips", 16));
  CHECK(output(*lab, "fits").toggle());
  compute(set(*lab, "chips", 1, "reference", "llama-3-70b", "model", "mamba2-8b"));
  CHECK(lab->answer().find("the attention model does not fit") != std::string::npos);
  set(*lab, "reference", "llama-3-8b", "model", "own", "blocks", 28, "attention_every", 7);
  CHECK(computed(*lab, "token_bytes") == 4 * 4096);
  CHECK(reason_of(set(*lab, "hidden", 1000)).starts_with("A width of 1000 holds no whole heads"));
}

TEST_CASE("state space lab: a gate loses the needle, the delta rule keeps it, nothing rewritten loses little") {
  const LabPtr lab = open_lab(state_lab, R"({})");
  const double gated = computed(*lab, "recall"), gated_needle = out(*lab, "needle_recall");
  CHECK(out(*lab, "attention_recall") > 95);
  CHECK(out(*lab, "entries") == 8);  // 256 numbers of the state over 32 of an entry
  CHECK_FALSE(output(*lab, "needle_found").toggle());
  CHECK(out(*lab, "lost_after") >= 1);
  CHECK(out(*lab, "half_life") < 12);
  set(*lab, "keeping", "delta");
  CHECK(computed(*lab, "recall") > gated + 5);
  CHECK(out(*lab, "needle_recall") > gated_needle + 20);
  CHECK(std::isnan(output(*lab, "half_life").number()));
  set(*lab, "keeping", "linear");
  CHECK(computed(*lab, "recall") < gated);
  CHECK(out(*lab, "needle_recall") > gated_needle);
  set(*lab, "rewritten", 0, "width", 40);
  CHECK(computed(*lab, "recall") > 97);
}

TEST_CASE("state space lab: a needle behind the end is the last pair, and other ways to keep it are seen at the foot") {
  const LabPtr lab = open_lab(state_lab, R"({"pairs": 6, "needle": 40, "width": 8, "steps": 80, "rewritten": 0})");
  CHECK(computed(*lab, "needle_place") == 6);
  CHECK(out(*lab, "window_needle") > 90);
  set(*lab, "needle", 3, "cache_entries", 2, "sinks", 0);
  CHECK(computed(*lab, "window_needle") < 40);
  CHECK(out(*lab, "entries") == 2);
  CHECK(near(computed(set(*lab, "cache_entries", 48), "window_recall"), out(*lab, "attention_recall"), 0.05));
}

TEST_CASE("state space lab: the step behind its door is the attention model's here, and the cache as large") {
  use_bundled_catalog();
  const std::string set_here =
      R"({"pairs": 6, "width": 4, "steps": 10, "chips": 2, "batch": 4, "format": "fp8", "kv_format": "fp8"})";
  const LabPtr lab = open_lab(state_lab, set_here);
  compute(*lab);
  namespace state = chapters::inference::state_space;
  const state::Inputs in{.kv_format = "fp8", .format = models::Format::fp8, .batch = 4, .chips = 2};
  const chapters::LabDoors doors = state::doors_of(in);
  REQUIRE(doors.size() == 3);
  for (const auto& door : doors) REQUIRE(door.link);
  CHECK(near(computed(*open_link(*doors[2].link), "decode_time_s"), out(*lab, "reference_step_s"), 1e-9));
  CHECK(near(computed(*open_link(*doors[0].link), "sequence_bytes"), out(*lab, "reference_bytes"), 1e-9));
}

TEST_CASE("state space lab: the picture of costs has what the facts say: bytes at the end, and a step by its parts") {
  use_bundled_catalog();
  namespace state = chapters::inference::state_space;
  state::Trained trained;
  chapters::Progress progress;
  // One sequence waits for memory, 64 short ones with states of FP32 too; 4,096 of them multiply for longer.
  for (const std::int64_t batch : {1, 64, 4096}) {
    const state::Inputs in{.shown = state::Shown::cost,
                           .width = 4,
                           .pairs = 6,
                           .steps = 10,
                           .model = "nemotron-h-8b",
                           .context = 2048,
                           .batch = batch};
    const state::Computed made = state::compute(in, progress, trained);
    REQUIRE(made.run);
    const state::ModelCost &own = made.run->own, &other = made.run->reference;
    CHECK(near(own.fixed_bytes + own.cache_bytes.back(), made.facts.sequence_bytes, 1e-12));
    CHECK(near(other.fixed_bytes + other.cache_bytes.back(), made.facts.reference_bytes, 1e-12));
    CHECK(near(own.step.total_s(), made.facts.step_s, 1e-12));
    CHECK(near(other.step.total_s(), made.facts.reference_step_s, 1e-12));
    CHECK((own.attention_layers == 4 && own.state_layers == 24 && other.attention_layers == 32));
    CHECK(other.step.states_s == 0);
    const state::Picture picture = state::arrange(in, made.facts, *made.run);
    if (made.facts.fits && made.facts.reference_fits) CHECK(picture.answer.starts_with("Nemotron-H 8B keeps"));
    CHECK(picture.own.layers == "Nemotron-H 8B: 24 layers with a state, 4 with attention");
  }
}
