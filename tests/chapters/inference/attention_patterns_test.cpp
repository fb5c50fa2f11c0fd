#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/inference/attention_patterns/reach_layout.h"
#include "models/inference/attention_patterns_cost.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

// Attention patterns: figures by the keys that others rely on, what a hand does to the cone, and what models' own
// config files make of it.

using namespace support;
namespace attention = chapters::inference::attention_patterns;

namespace {
constexpr const char* patterns_lab = "inference/attention-patterns";
}

TEST_CASE("attention patterns lab: entries, cache and reach by key, pattern for pattern") {
  const LabPtr lab = open_lab(patterns_lab, R"({"pattern": "causal", "sequence": 8, "window": 3, "layers": 2})");
  CHECK(computed(*lab, "entries") == 36);
  CHECK(out(*lab, "cache_tokens") == 8);
  CHECK(out(*lab, "reach_tokens") == 8);
  set(*lab, "pattern", "window");
  CHECK(computed(*lab, "entries") == 1 + 2 + 6 * 3);
  CHECK(out(*lab, "cache_tokens") == 3);
  CHECK(out(*lab, "reach_tokens") == 5);
  CHECK(out(*lab, "layers_to_all") == 4);
  set(*lab, "pattern", "sinks", "sinks", 1);
  CHECK(computed(*lab, "entries") == 1 + 2 + 3 + 5 * 4);
  CHECK(out(*lab, "cache_tokens") == 4);
  CHECK(out(*lab, "reach_tokens") == 6);
  // Every other one of three: the last token, 7, hears 7, 5, 3, 1 in two layers.
  set(*lab, "pattern", "dilated", "dilation", 2);
  CHECK(computed(*lab, "reach_tokens") == 4);
  CHECK(out(*lab, "back_tokens") == 7);
  CHECK(std::isnan(output(*lab, "layers_to_all").number()));
  // Blocks 0-2, 3-5, 6-7.
  set(*lab, "pattern", "block");
  CHECK(computed(*lab, "entries") == 6 + 6 + 3);
  CHECK(out(*lab, "reach_tokens") == 2);
  CHECK(computed(set(*lab, "blocks_back", 1), "reach_tokens") == 8);
  // Tokens 0 and 4 are global: the last one sees 4, which sees all before it.
  set(*lab, "pattern", "global", "global_every", 4);
  CHECK(computed(*lab, "reach_tokens") == 8);
  CHECK(out(*lab, "entries") == 1 + 2 + 3 + 4 + 5 + 4 + 4 + 5);
  set(*lab, "pattern", "document", "documents", "5, 2");
  CHECK(computed(*lab, "entries") == 15 + 3 + 1);
  CHECK(out(*lab, "reach_tokens") == 1);
  CHECK(reason_of(set(*lab, "documents", "5, none")).starts_with("Number 2 of the list is no whole number"));
  CHECK(computed(set(*lab, "pattern", "causal"), "entries") == 36);  // there it does not matter
}

TEST_CASE("attention patterns lab: a whole layer brings everything, and models are taken as their config files are") {
  const LabPtr lab = open_lab(patterns_lab, R"({"window": 1024, "full_every": 6, "layers": 36})");
  CHECK(computed(*lab, "reach_tokens") == 131072);
  CHECK(out(*lab, "layers_to_all") == 1);  // the sixth from below is the first from above
  CHECK(near(out(*lab, "cache_share"), 100 * (1 / 6.0 + 5 / 6.0 / 128), 1e-9));
  set(*lab, "pattern", "model", "model", "gemma-3-27b");
  // 10 layers of 131,072 tokens and 52 of 1,024, 16 key and value heads of 128 numbers in 16 bits.
  CHECK(computed(*lab, "cache_bytes") == (10.0 * 131072 + 52.0 * 1024) * 8192);
  CHECK(out(*lab, "window_tokens") == 1024);
  CHECK(out(*lab, "stack_layers") == 62);
  CHECK(out(*lab, "full_layers") == 10);
  set(*lab, "model", "gpt-oss-120b", "sequence", 2016);
  CHECK(computed(*lab, "cache_bytes") == (18.0 * 2016 + 18.0 * 128) * 2048);
  // llama.cpp prints 70.88 MiB and 22.50 MiB: window and a batch of the prompt.
  CHECK(computed(set(*lab, "margin_tokens", 512), "cache_bytes") == 93.375 * 1048576);
  set(*lab, "model", "llama-3-8b");
  CHECK(computed(*lab, "work_share") == 100);
  CHECK(std::isnan(output(*lab, "window_tokens").number()));
}

TEST_CASE("attention patterns lab: a config.json with layer_types is one's own model") {
  const std::string config = R"({"model_type": "gpt_oss", "hidden_size": 64, "intermediate_size": 64,
      "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100,
      "num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 8,
      "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]})";
  const auto a = models::parse_config(config, "own");
  REQUIRE(a);
  const auto stack = models::inference::stack_of_model(*a, 100);
  REQUIRE(stack);
  CHECK(stack->mask.shape().window == 8);
  CHECK(stack->full == std::vector<bool>{false, false, false, true});
  CHECK(models::inference::reach_of(*stack).back().tokens == 100);
  // Llama 4's layers with a rotation see their own chunk: a window is no chunk.
  const std::string chunks = R"({"model_type": "llama4_text", "hidden_size": 64, "intermediate_size": 64,
      "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 100,
      "num_local_experts": 2, "num_experts_per_tok": 1, "attention_chunk_size": 8})";
  const auto b = models::parse_config(chunks, "own");
  REQUIRE(b);
  const auto apart = models::inference::stack_of_model(*b, 100);
  REQUIRE(apart);
  CHECK(apart->mask.pattern() == models::inference::AttentionPattern::block);
  CHECK(models::inference::reach_of(*apart).back().tokens == 4);  // 96 to 99
}

TEST_CASE("attention patterns lab: a dilated mask has few pairs and a kernel skips nothing of its span") {
  const LabPtr lab = open_lab(patterns_lab, R"({"pattern": "dilated", "window": 512})");
  CHECK(computed(*lab, "work_share") < 0.8);
  CHECK(out(*lab, "tile_share") > 6);
  CHECK(out(*lab, "tile_fill") < 13);
  // Tiles of one eighth of a token's distance would skip; tiles as wide as the dilation do not.
  const double wide = out(*lab, "tile_share");
  CHECK(computed(set(*lab, "dilation", 1), "tile_share") < wide / 6);
}

TEST_CASE("attention patterns lab: the window's edge, the top layer and a mask are taken by hand") {
  const LabPtr lab = open_lab(patterns_lab);
  compute(*lab);
  Canvas canvas(*lab, {1000, 640});
  canvas.ui.frames(3);
  const double reach = out(*lab, "reach_tokens");
  canvas.ui.drag_by("drag the window's edge", {60, 0});
  compute(*lab);
  CHECK(input(*lab, "window").number() < 4096);
  CHECK(out(*lab, "reach_tokens") < reach);
  canvas.ui.drag_by("drag the top layer", {0, 40});
  compute(*lab);
  CHECK(input(*lab, "layers").number() < 32);
  canvas.ui.frames(2);
  canvas.ui.click("mask");
  CHECK(input(*lab, "pattern").choice_id() == "causal");
}

TEST_CASE("attention patterns lab: cone, axis and cards have places that do not touch") {
  for (const ImVec2 room :
       {ImVec2{560, 330}, ImVec2{780, 380}, ImVec2{1040, 560}, ImVec2{1500, 800}, ImVec2{360, 240}, ImVec2{900, 250}}) {
    const auto l = attention::layout_reach({{5, 7}, {5 + room.x, 7 + room.y}}, 1, 12, 8);
    INFO(room.x << " x " << room.y);
    CHECK(l.cone.height() > 24);
    CHECK(l.words.max.y <= l.cone.min.y);
    CHECK(l.cone.max.y <= l.axis.min.y);
    CHECK(l.shown == 8);
    for (std::size_t i = 0; i < l.shown; ++i) {
      CHECK(l.cards[i].min.y + 15 >= l.heading.max.y);
      CHECK(l.cards[i].max.y <= 7.01f + room.y);
      CHECK(l.cards[i].min.x + l.thumb <= 5.01f + room.x);
      if (i > 0) CHECK(l.cards[i - 1].min.x + l.thumb < l.cards[i].min.x);
    }
    if (room.y >= 330) CHECK(l.axis.max.y <= l.heading.min.y);
  }
}

TEST_CASE("attention patterns lab: the answer says reach as a fact and influence as even, and blocks that stay apart") {
  CHECK(answer_of(patterns_lab).starts_with("A window of `4,096` can reach `131,041` tokens in `32` layers; "));
  CHECK(answer_of(patterns_lab).find("even attention") != std::string::npos);
  CHECK(answer_of(patterns_lab, R"({"pattern": "block", "window": 8192, "layers": 48})")
            .starts_with("Blocks of `8,192` stay apart: after `48` layers the last token has heard `8,192`"));
  CHECK(answer_of(patterns_lab, R"({"pattern": "model", "model": "gemma-3-27b"})")
            .find("`11.2 GB` instead of `66.6 GB`") != std::string::npos);
}
