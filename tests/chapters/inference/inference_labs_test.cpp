#include <catch2/catch_test_macros.hpp>
#include <string>

#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

// Phases, the KV cache and tensor parallel: their figures by the keys that others rely on, what a hand does to their
// pictures, and what stands under a veil.

using namespace support;

TEST_CASE("phases lab: bounds by key are those of bytes over bandwidth and FLOP over peak") {
  const LabPtr lab = open_lab("inference/phases", R"({"model": "llama-3-70b", "chip": "h100_sxm", "tensor_parallel": 4,
      "batch": 1, "prompt": 128, "context": 128, "format": "bf16"})");
  // 139.0 GB that are read over 4 x 3.35 TB/s: 96 tokens a second.
  CHECK(near(computed(*lab, "decode_tokens_per_s"), 96.1, 0.01));
  CHECK(near(out(*lab, "decode_time_s"), 1 / 96.1, 0.01));
  // 405 billion parameters in FP8 on eight: 15.1 ms a token by total parameters; the embedding is not read.
  set(*lab, "model", "llama-3.1-405b", "tensor_parallel", 8, "format", "fp8");
  CHECK(near(computed(*lab, "decode_time_s"), 15.11e-3, 0.01));
  set(*lab, "model", "llama-3-8b", "chip", "h200_sxm", "tensor_parallel", 1, "format", "bf16", "context", 1);
  CHECK(near(computed(*lab, "decode_time_s"), 15.01e9 / 4.8e12, 0.01));
  set(*lab, "chip", "h100_sxm");
  CHECK(near(computed(*lab, "critical_batch"), 295, 0.02));
  CHECK(near(out(*lab, "intensity_decode"), 1, 0.02));
}

TEST_CASE("phases lab: an engine's figures are those of one request on one chip, and absent elsewhere") {
  const LabPtr lab = open_lab("inference/phases");
  CHECK(near(computed(*lab, "expected_tokens_per_s"), 58.7, 0.01));
  CHECK(std::isnan(computed(set(*lab, "batch", 8), "expected_step_s")));
  CHECK(std::isnan(computed(set(*lab, "batch", 1, "bandwidth_scale", 2), "expected_step_s")));
  CHECK(std::isnan(computed(set(*lab, "bandwidth_scale", 1, "chip", "h100_sxm"), "expected_step_s")));
  CHECK(answer_of("inference/phases", R"({"batch": 1024, "prompt": 100, "answer": 100})")
            .starts_with("Decode of Llama 3 8B on one H100 PCIe waits for arithmetic: twice the FLOP/s gives"));
}

TEST_CASE("phases lab: a roof that is dragged changes the chip, and the work stays") {
  const LabPtr lab = open_lab("inference/phases");
  lab->compute();
  const double flops = out(*lab, "prefill_flops"), first = out(*lab, "first_token_s");
  Canvas canvas(*lab, {1000, 720});
  canvas.ui.frames(2);
  canvas.ui.drag_by("drag the peak", {0, -30});
  lab->compute();
  CHECK(input(*lab, "flops_scale").number() > 1.1);
  CHECK(out(*lab, "first_token_s") < first);
  CHECK(out(*lab, "prefill_flops") == flops);
}

TEST_CASE("kv cache lab: bytes by key, and heads and context by hand") {
  const LabPtr lab = open_lab("inference/kv-cache", R"({"model": "llama-2-7b", "batch": 1, "context": 8192})");
  CHECK(computed(*lab, "bytes_per_token") == 524288);
  CHECK(out(*lab, "total_bytes") == 4294967296);
  set(*lab, "model", "llama-3-70b", "batch", 32, "chips", 8);
  CHECK(computed(*lab, "total_bytes") == 327680.0 * 8192 * 32);
  set(*lab, "kv_format", "fp8");
  CHECK(computed(*lab, "bytes_per_token") == 163840);

  const LabPtr own = open_lab("inference/kv-cache");
  own->compute();
  Canvas canvas(*own, {1000, 720});
  canvas.ui.frames(2);
  canvas.ui.drag("drag KV heads", 0.99f, 0.6f);
  own->compute();
  CHECK(input(*own, "kv_heads").number() == 32);
  CHECK(out(*own, "sequences") == 3);
  canvas.ui.drag_by("drag a user's context", {0, -20});
  own->compute();
  CHECK(input(*own, "context").number() > 32768);
}

// 4.29 GB of one user: over PCIe 5 at 63 GB/s, from drives at 56 and from a store over a port of 50.
TEST_CASE("kv cache lab: users wait in three tiers, and a link between the dies brings them back sooner") {
  const LabPtr lab = open_lab("inference/kv-cache");
  compute(*lab);
  REQUIRE(rows(*lab, "tiers") == 3);
  chapters::Fields cells;
  const auto of_tier = [&](std::size_t i, const char* key) {
    output(*lab, "tiers").table_row(i, cells);
    return cells.find(key)->number();
  };
  CHECK(near(of_tier(0, "fetch_s"), 68.2e-3, 0.001));
  CHECK(near(of_tier(1, "fetch_s"), 76.8e-3, 0.001));
  CHECK(near(of_tier(2, "fetch_s"), 86.9e-3, 0.001));
  CHECK(of_tier(0, "sequences") == out(*lab, "host_sequences"));
  CHECK(out(*lab, "parked_sequences") == 119 + 7152 + 232830);
  choose(*lab, "host_link", "dies");
  CHECK(near(computed(*lab, "fetch_s"), 9.54e-3, 0.001));
  CHECK(near(of_tier(1, "fetch_s"), 76.8e-3, 0.001));
  CHECK(out(*lab, "farthest_worth") == 3);
}

TEST_CASE("kv cache lab: a design that cannot be says why") {
  const LabPtr lab = open_lab("inference/kv-cache", R"({"sharing": "grouped", "kv_heads": 5})");
  CHECK(reason_of(*lab) == "32 query heads cannot share 5 key and value heads evenly: take a divisor of 32.");
  CHECK(answer_of("inference/kv-cache", R"({"model": "llama-3-70b"})")
            .starts_with("One H100 SXM holds no user next to Llama 3 70B: its weights take `141 GB` of `72 GB`."));
}

TEST_CASE("tensor parallel lab: what a chip reads and says by key, and the fastest number") {
  const LabPtr lab = open_lab("inference/tensor-parallel");
  CHECK(computed(*lab, "best_tensor_parallel") == 4);
  CHECK(out(*lab, "next_gain_s") < 0);  // eight are slower than four
  CHECK(out(*lab, "collectives") == 160);
  // A quarter of 39.1 GB, and of 128 caches of 1,536 tokens of 163,840 bytes.
  CHECK(near(out(*lab, "weights_bytes_per_chip"), 9.774e9, 1e-3));
  CHECK(near(out(*lab, "cache_bytes_per_chip"), 128 * 1536 * 163840.0 / 4, 1e-9));
  CHECK(out(*lab, "step_time_s") < out(*lab, "token_s"));
  // Beyond the eight chips that were measured there are roofs and talk alone.
  CHECK(std::isnan(computed(set(*lab, "tensor_parallel", 16), "expected_step_s")));
  CHECK(reason_of(set(*lab, "tensor_parallel", 3)) == "64 query heads cannot be dealt evenly to 3 chips.");

  const LabPtr pressed = open_lab("inference/tensor-parallel");
  pressed->compute();
  Canvas canvas(*pressed, {1000, 720});
  canvas.ui.frames(2);
  canvas.ui.click("slab");
  CHECK(input(*pressed, "tensor_parallel").number() != 4);
}

TEST_CASE("speculative lab: the formulas by key, rounds that are run beside them, and when a batch ends it") {
  const LabPtr lab =
      open_lab("inference/speculative", R"({"acceptance": 0.8, "draft_length": 5, "draft_cost_ratio": 0.0666666667,
      "against": []})");
  CHECK(near(computed(*lab, "expected_tokens"), 3.68928, 1e-6));
  CHECK(near(out(*lab, "speedup"), 2.76696, 1e-4));
  CHECK(near(out(*lab, "simulated_tokens"), 3.68928, 0.02));
  CHECK(std::abs(out(*lab, "chi_z")) < 4);
  CHECK(out(*lab, "verify_cost") == 1);
  set(*lab, "acceptance", 0.8, "draft_cost_ratio", 0.05);
  CHECK(computed(*lab, "best_draft_length") == 8);
  const double off = out(*lab, "off_batch");
  CHECK(computed(set(*lab, "batch", off - 1), "speedup") >= 1);
  CHECK(computed(set(*lab, "batch", off), "speedup") < 1);

  const LabPtr dragged = open_lab("inference/speculative");
  dragged->compute();
  Canvas canvas(*dragged, {1000, 720});
  canvas.ui.frames(2);
  canvas.ui.drag_by("drag the draft's length", {0, 40});
  CHECK(input(*dragged, "draft_length").number() < 7);
}
