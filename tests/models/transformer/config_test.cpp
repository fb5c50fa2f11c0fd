#include <catch2/catch_test_macros.hpp>
#include <string>

#include "models/transformer/transformer.h"

using models::parse_config;

namespace {

constexpr const char* llama =
    R"({"model_type": "llama", "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
  "num_hidden_layers": 32, "num_attention_heads": 32)";

std::string error(const std::string& text) {
  const auto parsed = parse_config(text, "config.json");
  CHECK(parsed.error.empty() == static_cast<bool>(parsed));
  return parsed.error;
}

/// The Llama config above with `more` fields; a field given in `more` replaces the one above.
std::string changed(const std::string& key, const std::string& value) {
  std::string text = std::string(llama) + "}";
  const std::size_t at = text.find("\"" + key + "\"");
  if (at == std::string::npos) return std::string(llama) + ", \"" + key + "\": " + value + "}";
  const std::size_t from = text.find(": ", at) + 2, to = text.find_first_of(",}", from);
  return text.replace(from, to - from, value);
}

}  // namespace

TEST_CASE("a config may leave out what Hugging Face fills in") {
  const auto parsed = parse_config(std::string(llama) + "}", "config.json");
  REQUIRE(parsed);
  CHECK(parsed->kv_heads == 32);
  CHECK(parsed->head_dim == 128);
  CHECK_FALSE(parsed->tied);
  CHECK(models::count_parameters(*parsed).total == 6738415616);  // Llama 2 7B
  // Mistral's class has 8 key-value heads and a window of 4096; null means none of it.
  std::string mistral = std::string(llama) + "}";
  mistral.replace(mistral.find("llama"), 5, "mistral");
  const auto left_out = parse_config(mistral, "config.json");
  REQUIRE(left_out);
  CHECK(left_out->kv_heads == 8);
  CHECK(left_out->sliding_window == 4096);
  mistral.insert(mistral.size() - 1, R"(, "sliding_window": null, "num_key_value_heads": null)");
  const auto null = parse_config(mistral, "config.json");
  REQUIRE(null);
  CHECK(null->kv_heads == 32);
  CHECK(null->sliding_window == 0);
}

TEST_CASE("a multimodal wrapper is read as its language model, with class defaults where it writes only differences") {
  // The text part of a LLaVA 1.5 7B config: Llama's class defaults and one changed size.
  const auto llava = parse_config(R"({"model_type": "llava", "vision_config": {"hidden_size": 1024},
    "text_config": {"model_type": "llama", "vocab_size": 32064}})",
                                  "config.json");
  REQUIRE(llava);
  CHECK(models::count_parameters(*llava).total == 6738415616 + 2 * 64 * 4096);
  CHECK(llava->left_out ==
        "Of this multimodal model the language model alone is counted; left out is the vision tower with its "
        "projector.");
  const auto tied =
      parse_config(R"({"tie_word_embeddings": true, "text_config": {"model_type": "qwen2"}})", "config.json");
  REQUIRE(tied);
  CHECK(tied->tied);
  CHECK(tied->left_out ==
        "Of this multimodal model the language model alone is counted; left out is whatever is next to it.");
  CHECK(error(R"({"text_config": {"model_type": "llama", "hidden_size": 0}})") ==
        "config.json: text_config.hidden_size is 0; a whole number from 1 to 1000000 is expected.");
}

TEST_CASE("an unknown architecture is named with what is supported") {
  const std::string known =
      "one of bloom, deepseek_v2, deepseek_v3, falcon, gemma, gemma2, gemma3_text, gpt2, gpt_neox, gpt_oss, llama, "
      "llama4_text, mistral, mixtral, mllama_text_model, mpt, olmo2, opt, phi, phi3, qwen2, qwen2_5_vl, "
      "qwen2_5_vl_text, qwen2_vl, qwen2_vl_text, qwen3, qwen3_moe, qwen3_vl_moe_text, qwen3_vl_text, smollm3 is "
      "expected.";
  CHECK(error(R"({"model_type": "bert"})") == "config.json: model_type is \"bert\"; " + known);
  CHECK(error("{}") == "config.json: model_type is missing; " + known);
  CHECK(error(R"({"model_type": 7})") == "config.json: model_type is 7; a text in quotes is expected.");
}

TEST_CASE("a wrong field is named with its value and what is expected") {
  const std::string hidden = "config.json: hidden_size is ", size = "; a whole number from 1 to 1000000 is expected.";
  CHECK(error(changed("hidden_size", "-5")) == hidden + "-5" + size);
  CHECK(error(changed("hidden_size", "0")) == hidden + "0" + size);
  CHECK(error(changed("hidden_size", "1000001")) == hidden + "1000001" + size);
  CHECK(error(changed("hidden_size", "18446744073709551615")) == hidden + "18446744073709551615" + size);
  CHECK(error(changed("hidden_size", "4096.0")) == hidden + "4096.0" + size);
  CHECK(error(changed("hidden_size", "1e300")) == hidden + "1e+300" + size);
  CHECK(error(changed("hidden_size", "\"4096\"")) == hidden + "\"4096\"" + size);
  CHECK(error(changed("hidden_size", "true")) == hidden + "true" + size);
  CHECK(error(changed("hidden_size", "null")) == hidden + "null" + size);
  CHECK(error(changed("hidden_size", "[4096]")) == hidden + "[4096]" + size);
  CHECK(error(R"({"model_type": "gpt2"})") ==
        "config.json: vocab_size is missing; a whole number from 1 to 10000000 is expected.");
  CHECK(error(changed("tie_word_embeddings", "1")) ==
        "config.json: tie_word_embeddings is 1; true or false is expected.");
  CHECK(error(changed("hidden_act", "\"cube\"")) ==
        "config.json: hidden_act is \"cube\"; a gelu, silu or relu is expected.");
  CHECK(error(changed("hidden_size", "\"" + std::string(500, 'x') + "\"")) ==
        hidden + "\"" + std::string(59, 'x') + "..." + size);
}

TEST_CASE("sizes that do not fit each other are refused") {
  CHECK(error(changed("num_attention_heads", "33")) ==
        "config.json: hidden_size is 4096, which num_attention_heads (33) does not divide; a multiple of it, or "
        "head_dim, is expected.");
  CHECK(error(changed("num_key_value_heads", "5")) ==
        "config.json: num_key_value_heads is 5, which does not divide num_attention_heads (32); a divisor of it is "
        "expected.");
  CHECK(error(changed("num_key_value_heads", "64")) ==
        "config.json: num_key_value_heads is 64, which does not divide num_attention_heads (32); a divisor of it is "
        "expected.");
  std::string huge = changed("hidden_size", "1000000");
  huge.replace(huge.find("11008"), 5, "10000000");
  huge.replace(huge.find("layers\": 32"), 11, "layers\": 10000");
  huge.replace(huge.find("heads\": 32"), 10, "heads\": 100");
  CHECK(error(huge) == "config.json: these sizes make more than 1e15 parameters; smaller ones are expected.");
  CHECK(error(R"({"model_type": "mixtral", "vocab_size": 9, "hidden_size": 8, "intermediate_size": 8, )"
              R"("num_hidden_layers": 1,
    "num_attention_heads": 8, "num_local_experts": 2, "num_experts_per_tok": 3})") ==
        "config.json: num_experts_per_tok is 3 of 2 experts; at most all of them can be chosen.");
  CHECK(error(R"({"model_type": "mpt", "vocab_size": 9, "d_model": 8, "n_layers": 1, "n_heads": 3, )"
              R"("attn_config": {"alibi": "yes"}})") ==
        "config.json: attn_config.alibi is \"yes\"; true or false is expected.");
  CHECK(
      error(R"({"model_type": "gpt2", "vocab_size": 9, "n_embd": 10, "n_layer": 1, "n_head": 3, "n_positions": 4})") ==
      "config.json: n_embd is 10, which n_head (3) does not divide; a multiple of it is expected.");
}

TEST_CASE("text that is no config ends in one sentence") {
  CHECK(error("") == "config.json is not complete JSON: it ends on line 1 too early.");
  CHECK(error("{\"model_type\": \"llama\",\n") == "config.json is not complete JSON: it ends on line 2 too early.");
  CHECK(error("{\n\"a\": nan}") == "config.json is not JSON: line 2 has something else than expected at byte 8.");
  CHECK(error("[1, 2]") == "config.json: the file holds array; a config is one object in braces.");
  CHECK(error("{\"model_type\": \"ll\xff\"}") ==
        "config.json is not UTF-8 text: the byte at offset 18 on line 1 belongs to no character.");
  CHECK(error("{\"a\": \"\xed\xa0\x80\"}") ==
        "config.json is not UTF-8 text: the byte at offset 7 on line 1 belongs to no character.");
  CHECK(error(std::string(1'000'000, '[')) == "config.json nests 1000000 levels deep; at most 64 are read.");
  CHECK(error("{\"a\": \"" + std::string(100, '[') + "\"}").find("model_type is missing") != std::string::npos);
  CHECK(error(changed("vocab_size", "1e999")) ==
        "config.json is not JSON that can be read: a number in it is too large.");
  CHECK(error(std::string(llama) + R"(, "hidden_size": 1})") ==
        "config.json gives the key \"hidden_size\" twice in one object; once is allowed.");
  CHECK(error(std::string(5'000'000, ' ')) == "config.json is 5000000 bytes long; at most 4194304 are read.");
}

TEST_CASE("every prefix of a config is refused or read, never worse") {
  const std::string whole =
      std::string(llama) +
      R"(, "rope_scaling": {"factor": 8.0, "text": "\u00e9\ud83d\ude00"}, "list": [1, [2, {"x": null}]]})";
  REQUIRE(parse_config(whole, "config.json"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    INFO(length);
    CHECK_FALSE(error(whole.substr(0, length)).empty());
  }
}
