#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/serving/chunked_disaggregated/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

// A long prompt among users: the contract's keys, who pays, what a pool costs when nothing comes, and the hand.

using namespace support;

namespace {

LabPtr long_prompt(std::string_view inputs = "{}") { return open_lab("serving/chunked-disaggregated", inputs); }

}  // namespace

TEST_CASE("long prompt: the contract's keys give three worlds on the same GPUs") {
  const LabPtr lab = long_prompt();
  compute(*lab);
  // The whole prompt and one decode step with the newcomer; a chunk's step; a step of all users on one GPU.
  CHECK(near(out(*lab, "longest_gap_s_stalled"), out(*lab, "prefill_s") + out(*lab, "calm_gap_s"), 0.01));
  CHECK(out(*lab, "longest_gap_s_chunked") < 0.1 * out(*lab, "longest_gap_s_stalled"));
  CHECK(out(*lab, "longest_gap_s_parted") < out(*lab, "longest_gap_s_chunked"));
  CHECK(out(*lab, "longest_gap_s_parted") > out(*lab, "calm_gap_s"));
  // Whoever cuts the prompt has its first token later; the pool has it as soon as an idle GPU.
  CHECK(out(*lab, "ttft_s_chunked") > out(*lab, "ttft_s_stalled"));
  CHECK(near(out(*lab, "ttft_s_parted"), out(*lab, "prefill_s"), 1e-9));
  // Eight users pay on the prompt's GPU, all sixteen where they share one.
  CHECK(out(*lab, "payers_stalled") == 8);
  CHECK(out(*lab, "payers_chunked") == 8);
  CHECK(out(*lab, "payers_parted") == 16);
  for (const std::string world : {"stalled", "chunked", "parted"})
    CHECK(out(*lab, "tokens_lost_" + world) == out(*lab, "calm_tokens") - out(*lab, "tokens_" + world));
  CHECK(out(*lab, "replicas") == 2);
  CHECK(out(*lab, "idle_percent_stalled") < 0.01);
  CHECK(near(out(*lab, "idle_percent_parted"), 50 * (1 - out(*lab, "prefill_s")), 0.01));
}

TEST_CASE("long prompt: what a prompt costs stays, what a pool costs grows with the time between prompts") {
  const LabPtr lab = long_prompt(R"({"answer": 1})");
  compute(*lab);
  const double chunks = out(*lab, "tokens_lost_chunked"), kept = out(*lab, "kept_lost"),
               even_s = out(*lab, "even_interval_s");
  set(*lab, "interval_s", 4);
  CHECK(near(computed(*lab, "tokens_lost_chunked"), chunks, 0.06));
  CHECK(near(out(*lab, "kept_lost"), 4 * kept, 0.05));
  CHECK(out(*lab, "tokens_lost_parted") > 1.5 * out(*lab, "tokens_lost_chunked"));
  set(*lab, "interval_s", even_s);
  // To a token of each user.
  CHECK(std::abs(computed(*lab, "tokens_lost_parted") - out(*lab, "tokens_lost_chunked")) <= 16);
}

TEST_CASE("long prompt: larger steps are longer silences and earlier first tokens") {
  const LabPtr lab = long_prompt();
  double gap = 0, first = 1e9;
  for (const double tokens : {256.0, 1024.0, 4096.0, 16384.0}) {
    set(*lab, "chunk_tokens", tokens);
    CHECK(computed(*lab, "longest_gap_s_chunked") > gap);
    CHECK(out(*lab, "ttft_s_chunked") < first);
    gap = out(*lab, "longest_gap_s_chunked");
    first = out(*lab, "ttft_s_chunked");
  }
}

TEST_CASE("long prompt: one GPU that reads is too few for a prompt each 0.35 s, two are enough") {
  const LabPtr lab = long_prompt(R"({"prompts": 6, "interval_s": 0.35})");
  const double alone_s = computed(*lab, "prefill_s");
  CHECK(out(*lab, "longest_ttft_s_parted") > 1.5 * alone_s);
  CHECK(lab->answer().starts_with("Prompts wait for the GPUs that read"));
  set(*lab, "prefill_chips", 2, "decode_chips", 2);
  CHECK(near(computed(*lab, "longest_ttft_s_parted"), alone_s, 1e-6));
}

TEST_CASE("long prompt: a cache has its bytes on the wire, and more chips than KV heads send them twice") {
  const LabPtr lab = long_prompt();
  CHECK(computed(*lab, "cache_bytes") == 131072.0 * 16384);
  CHECK(near(out(*lab, "transfer_s"), 131072.0 * 16384 / 50e9, 1e-3));
  CHECK(out(*lab, "newcomer_gap_s") > out(*lab, "transfer_s"));
  // Qwen3 235B on eight chips, printed by Mooncake: 12.62 GB and 39.14 ms at 16,384 tokens, over four ports of 50 GB/s.
  set(*lab, "model", "qwen3-235b-a22b", "chip", "h20_sxm", "prefill_chips", 8, "decode_chips", 8);
  input(*lab, "replica_chips").set_choice_id("8");
  set(*lab, "prompt", 32768, "interval_s", 4, "decoders", 1, "link_bytes_per_s", 2e11);
  CHECK(near(computed(*lab, "cache_bytes"), 12.62e9, 0.001));
  CHECK(out(*lab, "kv_copies") == 2);
  CHECK(computed(set(*lab, "prompt", 16384), "transfer_s") < 39.14e-3);
}

TEST_CASE("long prompt: the answer says who pays, and in another state what else is wrong") {
  const auto answers = [](std::string_view inputs, std::string_view start) {
    const std::string answer = answer_of("serving/chunked-disaggregated", inputs);
    INFO(answer);
    CHECK(answer.starts_with(start));
  };
  answers("{}",
          "The longest silence of a user falls from `484 ms`, when the prompt goes first, to `20.4 ms` in "
          "chunks and `11.7 ms` parted.\nStalled, `480` tokens are not written, `296` in chunks and `384` "
          "parted: who pays changes more than what is paid.");
  answers(R"({"interval_s": 4})", "GPUs kept for reading cost the users `1,648` tokens, the prompt in chunks only");
  answers(R"({"link_bytes_per_s": 1e9, "interval_s": 3})", "Sending a cache takes `2.15 s`, longer than the `474 ms`");
  CHECK(answer_of("serving/chunked-disaggregated", R"({"prompt": 65536})").find("Tokens are counted for `1 s` only") !=
        std::string::npos);
  answers(R"({"chunk_tokens": 16384})", "Steps of `16,384 tokens` leave a silence of");
  answers(R"({"prompt": 16, "decoders": 160, "context": 1900, "prefill_chips": 3})", "Parted, users wait up to");
}

TEST_CASE("long prompt: what cannot be is refused in a sentence") {
  CHECK(reason_of(*long_prompt(R"({"replica_chips": "2", "prefill_chips": 1, "decode_chips": 2})")) ==
        "A replica takes 2 GPUs, and the pools have 1 and 2: give each 2 or more.");
  // A GPU that fills no replica stands still in every world: the figures are those without it.
  const LabPtr spare = long_prompt(R"({"replica_chips": "2", "prefill_chips": 3, "decode_chips": 2})"),
               exact = long_prompt(R"({"replica_chips": "2", "prefill_chips": 2, "decode_chips": 2})");
  CHECK(reason_of(*spare).empty());
  CHECK(reason_of(*exact).empty());
  for (const char* key : {"tokens_lost_stalled", "tokens_lost_chunked", "tokens_lost_parted"})
    CHECK(out(*spare, key) == out(*exact, key));
  CHECK(reason_of(*long_prompt(R"({"model": "llama-3-70b"})")) ==
        "The weights do not fit into the memory of the chips: take more chips, a narrower format or a smaller model.");
  CHECK(reason_of(*long_prompt(R"({"decoders": 256, "context": 65536})")).starts_with("The caches of the users"));
  CHECK(reason_of(*long_prompt(R"({"decoders": 256, "prompts": 32, "interval_s": 60, "context": 16})"))
            .ends_with("take fewer or more frequent prompts, or fewer users."));
}

TEST_CASE("long prompt: the hand drags the prompt's end, a chunk's edge, and a row to the GPUs that read") {
  const LabPtr lab = long_prompt(R"({"prefill_chips": 1, "decode_chips": 3})");
  compute(*lab);
  Canvas canvas(*lab, {1000, 720});
  canvas.ui.frames(2);
  canvas.ui.drag_by("the prompt's end", {60, 0});
  CHECK(input(*lab, "prompt").number() > 17000);
  set(*lab, "prompt", 16384);
  canvas.ui.frames(2);
  canvas.ui.drag_by("a chunk's edge", {12, 0});
  CHECK(input(*lab, "chunk_tokens").number() > 600);
  canvas.ui.drag_by("parted world", {0, -120}, {0.5f, 0.95f});
  CHECK(input(*lab, "prefill_chips").number() == 2);
  CHECK(input(*lab, "decode_chips").number() == 2);
}
