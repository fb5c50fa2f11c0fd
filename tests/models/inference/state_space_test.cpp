// Models with a state of fixed size: parameters and bytes as published, and where a decode step stops growing.
#include "models/inference/state_space.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/base/integer_math.h"
#include "models/inference/state_scan.h"
#include "models/transformer/roofline_ops.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;
using namespace models::inference;
using support::near;

namespace {

const StateModel& published(const char* id) {
  const StateModel* m = find_state_model(id);
  REQUIRE(m != nullptr);
  return *m;
}

constexpr StateBits two_bytes{};
constexpr double bf16 = 989.5e12, memory = 3.35e12;  // an H100 SXM

}  // namespace

// The counts of the checkpoints: Nemotron-H-8B-Base-8K and state-spaces/mamba2-2.7b.
TEST_CASE("state space: parameters of Mamba-2 layers and hybrids are those of the checkpoints to the last one") {
  CHECK(state_model_parameters(published("nemotron-h-8b")) == 8'100'852'736.0);
  CHECK(state_model_parameters(published("mamba2-2.7b")) == 2'702'599'680.0);
}

// The papers' rounded figures: 12B of Jamba, 45.9B of MiniMax-01 without its input embedding, 3B of Qwen3-Next without
// both embeddings.
TEST_CASE("state space: a token of a mixture of experts uses as many parameters as its paper says") {
  CHECK(near(active_parameters(published("jamba")), 12e9, 0.02));
  CHECK(near(active_parameters(published("minimax-01")) - 200'064.0 * 6144 * 2, 45.9e9, 0.01));
  CHECK(near(active_parameters(published("qwen3-next-80b")) - 2 * 151'936.0 * 2048, 3e9, 0.1));
  // So large a batch hits all experts; the input embedding, 65,536 x 4,096, is looked up.
  CHECK(near(read_parameters(published("jamba"), 512), 51.57e9 - 65'536.0 * 4096, 1e-6));
}

// Jamba (2024), table 1: the cache of 256K tokens in 16 bits is 4 GB, Mixtral's 32 GB, Llama-2 7B's 128 GB.
TEST_CASE("state space: caches at 256K tokens are those of Jamba's table") {
  constexpr double gib = 1024.0 * 1024 * 1024, tokens = 262'144;
  CHECK(kept_bytes(published("jamba"), two_bytes, tokens) == 4 * gib);
  CHECK(kept_bytes(attention_model(models_test::shipped_model("mixtral-8x7b").architecture), two_bytes, tokens) ==
        32 * gib);
  CHECK(kept_bytes(attention_model(models_test::shipped_model("llama-2-7b").architecture), two_bytes, tokens) ==
        128 * gib);
}

TEST_CASE("state space: the state of Mamba-2 8B is as large as Llama 3 8B's cache of 922 tokens") {
  const StateModel& m = published("mamba2-8b");
  CHECK(state_numbers(m) == 56.0 * 128 * 64 * 128);
  CHECK(conv_numbers(m) == 56.0 * 3 * (8192 + 2 * 8 * 128));
  CHECK(token_bytes(m, two_bytes) == 0);
  const StateModel llama = attention_model(models_test::shipped_model("llama-3-8b").architecture);
  CHECK(token_bytes(llama, two_bytes) == 131'072);
  CHECK(near(fixed_bytes(m, two_bytes) / token_bytes(llama, two_bytes), 922.25, 1e-6));
  CHECK(equal_kept_tokens(m, llama, two_bytes, 1e8) == 923);  // the first whole token from there on
  CHECK(std::isinf(equal_kept_tokens(llama, m, two_bytes, 1e8)));
}

// One count of what a step reads: that of roofline_ops, which phases and adapters take too.
TEST_CASE("state space: of a transformer a step reads and computes what the house's decode step does") {
  for (const char* id : {"llama-3-8b", "gemma-3-1b", "mixtral-8x7b"}) {
    INFO(id);
    const Architecture a = models_test::shipped_model(id).architecture;
    const StateModel m = attention_model(a);
    for (const std::int64_t batch : {1, 8}) {
      const DecodeStep step = decode_step(a, {.batch = batch, .context = 1000}, 2);
      CHECK(near(read_parameters(m, as_double(batch)) * 2, step.weight_bytes, 1e-12));
      CHECK(near(kept_bytes(m, two_bytes, 1000), step.kv_bytes_per_token * 1000, 1e-12));
      CHECK(near(2 * read_parameters(m, 1), step.flops_per_token, 1e-12));
    }
  }
  CHECK(looked_up_parameters(published("mamba2-2.7b")) == 0);  // tied: all of it is read for the output
  CHECK(looked_up_parameters(published("mamba2-8b")) == 256'000.0 * 4096);
}

TEST_CASE("state space: the step of a model without attention is constant, a hybrid's grows by its share of layers") {
  const StateModel& m = published("mamba2-8b");
  const StateModel& hybrid = published("nemotron-h-8b");
  const StateModel llama = attention_model(models_test::shipped_model("llama-3-8b").architecture);
  const auto step = [&](const StateModel& model, double context) {
    return state_step(model, two_bytes, 1, context, bf16, memory).time_s;
  };
  CHECK(step(m, 0) == step(m, 1e6));
  // Weights once but for the input embedding, the state read and written: 14.38 GB and twice 0.12 GB.
  CHECK(near(step(m, 0), (2 * (state_model_parameters(m) - 256'000.0 * 4096) + 2 * fixed_bytes(m, two_bytes)) / memory,
             1e-12));
  CHECK(near(step(m, 0) * memory, 14.62e9, 1e-3));
  // 4 layers with 8 heads of 128 against 32: an eighth of the slope.
  CHECK(near((step(hybrid, 2e5) - step(hybrid, 1e5)) / (step(llama, 2e5) - step(llama, 1e5)), 1.0 / 8, 1e-9));
  CHECK(std::isinf(step_grows_tokens(m, two_bytes, 1, 2, 1e9, bf16, memory)));
  // Llama's step doubles where the cache is as large as the weights that it reads: 15.01 GB / 131,072 B.
  CHECK(near(step_grows_tokens(llama, two_bytes, 1, 2, 1e9, bf16, memory), 114'516, 1e-4));
  // Alone Mamba-2 8B reads less than Llama's 15.01 GB at once. The hybrid reads 15.23 GB: equal where the cache of the
  // other layers is 0.22 GB. And in a batch of 64 every state is read and written.
  CHECK(crossing_tokens(m, llama, two_bytes, 1, 1e7, bf16, memory) == 0);
  const double crossing = crossing_tokens(hybrid, llama, two_bytes, 1, 1e7, bf16, memory);
  CHECK(near(crossing, (15.232e9 - 15.010e9) / (131'072 - 16'384), 1e-2));
  CHECK(step(hybrid, crossing) <= step(llama, crossing));
  CHECK(step(hybrid, crossing - 2) > step(llama, crossing - 2));
  CHECK(near(crossing_tokens(m, llama, two_bytes, 64, 1e7, bf16, memory),
             (14.377e9 - 15.010e9 + 64 * 2 * 0.12088e9) / (64 * 131'072.0), 1e-3));
}

TEST_CASE("state space: a model of your own with Nemotron's shape has its state, and attention in one layer of k") {
  const StateModel own = own_state_model(4096, 28, 7, 64, 128, 8);
  CHECK(own.attention_layers == 4);
  CHECK(state_numbers(own) == state_numbers(published("nemotron-h-8b")));
  CHECK(token_bytes(own, two_bytes) == token_bytes(published("nemotron-h-8b"), two_bytes));
  CHECK(own_state_model(4096, 28, 0, 64, 128, 8).attention_layers == 0);
  CHECK(own_state_model(4096, 28, 1, 64, 128, 8).state_layers == 0);
}

TEST_CASE("scan: in blocks it gives what the recurrence gives, for every block, also one that does not divide") {
  for (const std::int64_t block : {1, 7, 64, 200, 512}) {
    const ScanRun run = run_scan(200, block, 4, 8, 1e-3, 0.5, 3);
    CHECK(run.sequential_error < 1e-5);
    CHECK(run.blocked_error < 2e-5);
  }
  // Sums of logarithms grow over a long block, and their differences lose digits.
  CHECK(run_scan(512, 512, 4, 8, 0.5, 0.6, 3).blocked_error > 3 * run_scan(512, 16, 4, 8, 0.5, 0.6, 3).blocked_error);
}

TEST_CASE("scan: blocks trade FLOPs for matrix units; traffic of their states falls and products grow with the block") {
  const ScanSize size{};
  const ScanCost one = sequential_scan(size, 67e12, memory);
  CHECK(one.flops == 5 * 4096.0 * 128 * 64 * 128);
  CHECK(one.dependent_steps == 4096);
  const ScanCost blocked = blocked_scan(size, 128, bf16, memory);
  CHECK(blocked.flops > one.flops);
  CHECK(blocked.dependent_steps == 32);
  CHECK(blocked.time_s < one.time_s);
  CHECK(blocked_scan(size, 16, bf16, memory).bytes > blocked.bytes);
  CHECK(blocked_scan(size, 512, bf16, memory).flops > blocked.flops);
  // One block is attention without softmax: 2 T^2 (N G + P H), and no state is passed on.
  CHECK(near(blocked_scan(size, 4096, bf16, memory).flops,
             2 * 4096.0 * 4096 * (8 * 128 + 128 * 64) + 4.0 * 4096 * 128 * 64 * 128, 1e-3));
}
