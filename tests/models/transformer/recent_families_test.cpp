#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "models/transformer/layer_ops.h"
#include "models/transformer/transformer.h"

using Catch::Approx;
using models::Architecture;

namespace {

Architecture parsed(const std::string& config) {
  const auto architecture = models::parse_config(config, "config.json");
  INFO(architecture.error);
  REQUIRE(architecture);
  return *architecture;
}
std::string refused(const std::string& config) {
  const auto architecture = models::parse_config(config, "config.json");
  CHECK_FALSE(architecture);
  return architecture.error;
}
/// All parameters; the operations of the model, whatever runs, hold the same ones.
std::int64_t total(const std::string& config) {
  const Architecture a = parsed(config);
  const std::int64_t count = models::count_parameters(a).total;
  for (const bool fused : {true, false}) {
    models::Workload w;
    w.fused_attention = w.fused_elementwise = fused;
    CHECK(models::total_operations(models::model_operations(a, w), w).parameters == count);
  }
  return count;
}

const std::string olmo2 = R"({"model_type": "olmo2", "hidden_size": 4096, "intermediate_size": 11008,
  "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 100352,
  "tie_word_embeddings": false, "attention_bias": false, "hidden_act": "silu"})";
const std::string falcon_7b = R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
  "num_attention_heads": 71, "vocab_size": 65024, "multi_query": true, "parallel_attn": true,
  "new_decoder_architecture": false, "bias": false, "alibi": false})";

std::string gpt_oss(int layers, int experts) {
  return R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": )" +
         std::to_string(layers) + R"(, "num_local_experts": )" + std::to_string(experts) +
         R"(, "num_experts_per_tok": 4, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
         "vocab_size": 201088, "sliding_window": 128, "attention_bias": true, "tie_word_embeddings": false})";
}

}  // namespace

// Counts of the modules that transformers 5.23 builds from these configs on the meta device; gpt-oss-120b's is also
// what its checkpoint's readers print.
TEST_CASE("OLMo 2, Falcon and gpt-oss are counted to the last parameter") {
  CHECK(total(olmo2) == 7298617344);
  CHECK(total(R"({"model_type": "olmo2", "hidden_size": 5120, "intermediate_size": 27648, "num_hidden_layers": 64,
    "num_attention_heads": 40, "num_key_value_heads": 8, "vocab_size": 100352, "tie_word_embeddings": false})") ==
        32234279936);
  CHECK(total(falcon_7b) == 6921720704);
  CHECK(total(R"({"model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60, "num_attention_heads": 128,
    "num_kv_heads": 8, "vocab_size": 65024, "multi_query": true, "parallel_attn": true,
    "new_decoder_architecture": true, "bias": false, "alibi": false})") == 41303293952);
  CHECK(total(R"({"model_type": "falcon", "hidden_size": 14848, "num_hidden_layers": 80, "num_attention_heads": 232,
    "num_kv_heads": 8, "vocab_size": 65024, "new_decoder_architecture": true})") == 178557088768);
  // Falcon2 11B: one norm in the parallel block, an output matrix of its own.
  CHECK(total(R"({"model_type": "falcon", "hidden_size": 4096, "ffn_hidden_size": 16384, "num_hidden_layers": 60,
    "num_attention_heads": 32, "num_kv_heads": 8, "vocab_size": 65024, "new_decoder_architecture": true,
    "num_ln_in_parallel_attn": 1, "tie_word_embeddings": false})") == 11102822400);
  // Falcon RW 1B: all heads, biases, ALiBi, one block after the other.
  CHECK(total(R"({"model_type": "falcon", "hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 32,
    "vocab_size": 50304, "multi_query": false, "parallel_attn": false, "bias": true, "alibi": true})") == 1311625216);
  CHECK(total(gpt_oss(24, 32)) == 20914757184);
  CHECK(total(gpt_oss(36, 128)) == 116829156672);
}

TEST_CASE("OLMo 2 norms what its blocks give and all queries of a token at once") {
  const Architecture a = parsed(olmo2);
  CHECK(a.post_norm);
  CHECK(models::layer_parameters(a, models::layer_form(a, 0)).norms == 2 * 4096 + 2 * 32 * 128);
  models::Workload w;
  const auto operations = models::layer_operations(a, models::layer_kinds(a).front(), w);
  CHECK(operations.front().name == "query projection");  // no norm in front of the block
  CHECK(operations.back().name == "post-feed-forward norm and residual");
  // Read: the block's result and the stream; written: the sum. Two reads and one write of 4,096 numbers of 2 B.
  CHECK(operations.back().forward.bytes() == Approx(2048 * 4096.0 * 2 * 3).epsilon(1e-3));
}

TEST_CASE("Falcon 7B has one key head, the new decoder groups them, RW keeps all") {
  CHECK(parsed(falcon_7b).kv_heads == 1);
  CHECK(models::kv_bytes_per_token(parsed(falcon_7b), 2) == 8192);  // 2 x 32 layers x 64 x 2 B
  CHECK(parsed(falcon_7b).parallel_attention);
  CHECK(parsed(falcon_7b).rotary);
  const Architecture rw = parsed(R"({"model_type": "falcon", "hidden_size": 2048, "num_hidden_layers": 24,
    "num_attention_heads": 32, "vocab_size": 50304, "multi_query": false, "parallel_attn": false, "alibi": true})");
  CHECK(rw.kv_heads == 32);
  CHECK_FALSE(rw.rotary);
  CHECK(rw.norms_per_layer == 2);
}

TEST_CASE("gpt-oss slides in every second layer and runs 4 of its experts") {
  const Architecture a = parsed(gpt_oss(24, 32));
  CHECK(a.attention_sinks);
  CHECK(models::layer_form(a, 0).sliding);
  CHECK_FALSE(models::layer_form(a, 1).sliding);
  // 12 layers keep 128 tokens, 12 all of them.
  CHECK(models::kv_cache_bytes(a, 131072, 2) == 12 * (131072.0 + 128) * 2 * 8 * 64 * 2);
  // "3.6B active" of the model card leaves the input embedding out, and counts 28 of 32 experts as idle.
  CHECK(static_cast<double>(models::count_parameters(a).active_without_input_embedding) == Approx(3.6e9).epsilon(0.01));
  const auto large = models::count_parameters(parsed(gpt_oss(36, 128)));
  CHECK(static_cast<double>(large.active_without_input_embedding) == Approx(5.1e9).epsilon(0.01));
  CHECK(refused(gpt_oss(24, 2)) ==
        "config.json: num_experts_per_tok is 4 of 2 experts; at most all of them can be chosen.");
}

TEST_CASE("a model that is not all attention is refused by name, in one sentence") {
  const std::string tail = ", whose cost is not modelled here; a model whose layers all have attention is expected.";
  CHECK(refused(R"({"model_type": "mamba2"})") ==
        "config.json: model_type is \"mamba2\", a model with state-space layers" + tail);
  for (const char* type : {"mamba", "falcon_mamba", "jamba", "bamba", "zamba", "zamba2", "nemotron_h",
                           "granitemoehybrid", "rwkv", "qwen3_next", "recurrent_gemma", "lfm2"}) {
    const std::string sentence = refused(R"({"model_type": ")" + std::string(type) + R"(", "hidden_size": 64})");
    INFO(sentence);
    CHECK(sentence.find("model_type is \"" + std::string(type) + "\", a model with ") != std::string::npos);
    CHECK(sentence.ends_with(tail));
  }
  CHECK(refused(R"({"model_type": "nemotron_vl", "text_config": {"model_type": "nemotron_h"}})").ends_with(tail));
}

TEST_CASE("a multimodal config is read as its language model, and says what is left out") {
  // Llama 4 Scout and Maverick: counts of transformers 5.23 on the meta device.
  const auto llama4 = [](int experts, int step) {
    return R"({"model_type": "llama4", "vision_config": {"hidden_size": 1408}, "text_config": {
      "model_type": "llama4_text", "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
      "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
      "vocab_size": 202048, "num_experts_per_tok": 1, "num_local_experts": )" +
           std::to_string(experts) + R"(, "interleave_moe_layer_step": )" + std::to_string(step) + "}}";
  };
  CHECK(total(llama4(16, 1)) == 107769861120);
  CHECK(total(llama4(128, 2)) == 400711848960);
  CHECK(models::layer_kinds(parsed(llama4(128, 2))).size() >= 2);
  CHECK(parsed(llama4(16, 1)).left_out ==
        "Of this multimodal model the language model alone is counted; left out is the vision tower with its "
        "projector.");
  // Llama 3.2 11B Vision without an image is Llama 3.1 8B.
  const std::string mllama = R"({"model_type": "mllama", "vision_config": {"hidden_size": 1280},
    "text_config": {"model_type": "mllama_text_model", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38], "tie_word_embeddings": false}})";
  CHECK(total(mllama) == 8030261248);
  CHECK(parsed(mllama).left_out.find("the cross-attention layers (8)") != std::string::npos);
  // Qwen2-VL writes its language model beside the vision tower, without a wrapper.
  const std::string qwen = R"({"model_type": "qwen2_vl", "hidden_size": 3584, "intermediate_size": 18944,
    "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064,
    "tie_word_embeddings": false, "vision_config": {"depth": 32}})";
  CHECK(total(qwen) == 7615616512);
  CHECK(parsed(qwen).left_out.find("vision tower") != std::string::npos);
  CHECK(parsed(olmo2).left_out.empty());
  const std::string both = R"({"model_type": "qwen2_5_omni_thinker", "audio_config": {}, "vision_config": {},
    "text_config": {"model_type": "qwen2"}})";
  CHECK(parsed(both).left_out ==
        "Of this multimodal model the language model alone is counted; left out is the vision tower with its projector "
        "and the audio tower with its projector.");
}
