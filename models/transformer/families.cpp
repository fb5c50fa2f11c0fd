#include <algorithm>

#include "models/transformer/fields.h"

/// What each Hugging Face model type calls its sizes and what it takes for those left out.
/// Source of names and defaults: the configuration classes of transformers.
namespace models {

namespace {

void read_head_dim(ConfigFields& f, Architecture& a, std::int64_t missing) {
  a.head_dim = f.size_or({"head_dim"}, 1, max_heads, {missing, 0});
  if (a.head_dim > 0) return;
  if (a.hidden % a.heads != 0)
    f.fail("hidden_size is " + std::to_string(a.hidden) + ", which num_attention_heads (" + std::to_string(a.heads) +
           ") does not divide; a multiple of it, or head_dim, is expected.");
  a.head_dim = std::max<std::int64_t>(1, a.hidden / a.heads);
}

}  // namespace

void read_activation(ConfigFields& f, Architecture& a, Names names, const char* missing) {
  const std::string name = f.word(names, missing);
  if (name.find("gelu") != std::string::npos) {
    a.activation = Activation::gelu;
  } else if (name == "silu" || name == "swish") {
    a.activation = Activation::silu;
  } else if (name == "relu") {
    a.activation = Activation::relu;
  } else {
    f.fail_value(names, "a gelu, silu or relu");
  }
}

void read_llama_sizes(ConfigFields& f, Architecture& a, const SizeDefaults& d) {
  a.vocab = f.size({"vocab_size"}, max_vocab, d.vocab);
  a.hidden = f.size({"hidden_size"}, max_hidden, d.hidden);
  a.ffn = f.size({"intermediate_size"}, max_ffn, d.ffn);
  a.layers = f.size({"num_hidden_layers"}, max_layers, d.layers);
  a.heads = f.size({"num_attention_heads"}, max_heads, d.heads);
  a.kv_heads = f.size_or({"num_key_value_heads"}, 1, max_heads, {d.kv_heads > 0 ? d.kv_heads : a.heads, a.heads});
  read_head_dim(f, a, d.head_dim);
  read_activation(f, a, {"hidden_act", "hidden_activation"}, "silu");
}

void keep_forms(Architecture& a, std::vector<LayerForm> forms) {
  const auto none = [&](auto member) {
    return std::none_of(forms.begin(), forms.end(), [&](const LayerForm& form) { return form.*member; });
  };
  if (none(&LayerForm::sliding)) a.sliding_window = 0;
  if (none(&LayerForm::experts)) a.moe = {};
  if (none(&LayerForm::rope)) a.rotary = false;
  const bool alike =
      std::all_of(forms.begin(), forms.end(), [&](const LayerForm& form) { return form == forms.front(); });
  if (!alike) a.layer_forms = std::move(forms);
}

std::vector<bool> read_layer_types(ConfigFields& f, const Architecture& a) {
  std::vector<bool> sliding;
  for (const std::string& type : f.words_per_layer("layer_types", a.layers)) {
    const bool slides = type == "sliding_attention" || type == "chunked_attention";
    if (!slides && type != "full_attention")
      f.fail("layer_types has \"" + type.substr(0, 40) + "\"; sliding_attention or full_attention is expected.");
    sliding.push_back(a.sliding_window > 0 && slides);
  }
  return sliding;
}

namespace {

void read_biases(ConfigFields& f, Architecture& a) {
  a.qkv_bias = a.output_bias = f.flag({"attention_bias"}, false);
  a.mlp_bias = f.flag({"mlp_bias"}, false);
}

/// Sets the form of every layer by its index.
template <class FormOf>
void set_forms(Architecture& a, FormOf form_of) {
  std::vector<LayerForm> forms;
  for (std::int64_t i = 0; i < a.layers; ++i) forms.push_back(form_of(i));
  keep_forms(a, std::move(forms));
}

/// Which layers slide: `layer_types` where the config lists them, the rule `slides(index)` otherwise.
template <class Slides>
std::vector<bool> read_sliding(ConfigFields& f, const Architecture& a, Slides slides) {
  std::vector<bool> sliding = read_layer_types(f, a);
  if (sliding.empty())
    for (std::int64_t i = 0; i < a.layers; ++i) sliding.push_back(a.sliding_window > 0 && slides(i));
  return sliding;
}

void read_llama(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {32000, 4096, 11008, 32, 32});
  a.tied = f.tied(false);
  read_biases(f, a);
}

void read_mistral(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {32000, 4096, 14336, 32, 32, 8});
  a.tied = f.tied(false);
  a.sliding_window = f.size_or({"sliding_window"}, 1, max_window, {4096, 0});
}

void read_mixtral(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {32000, 4096, 14336, 32, 32, 8});
  a.tied = f.tied(false);
  a.sliding_window = f.size_or({"sliding_window"}, 1, max_window, {0, 0});
  a.moe.routed = f.size({"num_local_experts"}, max_experts, 8);
  a.moe.per_token = f.size({"num_experts_per_tok"}, max_experts, 2);
  a.moe.ffn = a.ffn;
}

/// Qwen2 and Qwen3 slide, if told to, from layer max_window_layers on.
void read_qwen_window(ConfigFields& f, Architecture& a) {
  if (!f.flag({"use_sliding_window"}, false)) return;
  a.sliding_window = f.size_or({"sliding_window"}, 1, max_window, {4096, 0});
  const std::int64_t full = f.size_or({"max_window_layers"}, 0, max_layers, {28, 28});
  const auto sliding = read_sliding(f, a, [&](std::int64_t i) { return i >= full; });
  set_forms(a, [&](std::int64_t i) { return LayerForm{false, sliding[static_cast<std::size_t>(i)], true}; });
}

void read_qwen2(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {151936, 4096, 22016, 32, 32, 32});
  a.tied = f.tied(false);
  a.qkv_bias = true;
  read_qwen_window(f, a);
}

void read_qwen3(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {151936, 4096, 22016, 32, 32, 32, 128});
  a.tied = f.tied(false);
  a.qk_norm = true;
  read_biases(f, a);
  a.mlp_bias = false;
  read_qwen_window(f, a);
}

void read_qwen3_moe(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {151936, 2048, 6144, 24, 32, 4});
  a.tied = f.tied(false);
  a.qk_norm = true;
  read_biases(f, a);
  a.mlp_bias = false;
  a.moe.routed = f.size({"num_experts"}, max_experts, 128);
  a.moe.per_token = f.size({"num_experts_per_tok"}, max_experts, 8);
  a.moe.ffn = f.size({"moe_intermediate_size"}, max_ffn, 768);
  const std::int64_t step = f.size_or({"decoder_sparse_step"}, 1, max_layers, {1, 1});
  const std::vector<std::int64_t> dense = f.integers("mlp_only_layers", max_layers);
  set_forms(a, [&](std::int64_t i) {
    return LayerForm{(i + 1) % step == 0 && std::find(dense.begin(), dense.end(), i) == dense.end(), false, true};
  });
}

void read_gemma(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {256000, 3072, 24576, 28, 16, 16, 256});
  a.activation = Activation::gelu;  // hidden_act said "gelu" before it was found to be the tanh form
  a.tied = f.tied(true);
  read_biases(f, a);
  a.mlp_bias = false;
}

/// Gemma 2 and 3: norms before and after each block; every `period`-th layer looks back over everything.
void read_alternating_gemma(ConfigFields& f, Architecture& a, std::int64_t period) {
  a.activation = Activation::gelu;
  a.tied = f.tied(true);
  a.norms_per_layer = 4;
  read_biases(f, a);
  a.mlp_bias = false;
  a.sliding_window = f.size_or({"sliding_window"}, 1, max_window, {4096, 0});
  const auto sliding = read_sliding(f, a, [&](std::int64_t i) { return (i + 1) % period != 0; });
  set_forms(a, [&](std::int64_t i) { return LayerForm{false, sliding[static_cast<std::size_t>(i)], true}; });
}

void read_gemma2(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {256000, 2304, 9216, 26, 8, 4, 256});
  read_alternating_gemma(f, a, 2);
}

void read_gemma3(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {262208, 2304, 9216, 26, 8, 4, 256});
  a.qk_norm = true;
  read_alternating_gemma(f, a, f.size_or({"sliding_window_pattern"}, 1, max_layers, {6, 6}));
}

void read_smollm3(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {128256, 2048, 11008, 36, 16, 4});
  a.tied = f.tied(true);
  read_biases(f, a);
  const std::int64_t interval = f.size_or({"no_rope_layer_interval"}, 1, max_layers, {4, 4});
  const std::vector<std::int64_t> rotated = f.integers("no_rope_layers", 1);  // despite its name, 1 means rotated
  if (!rotated.empty() && static_cast<std::int64_t>(rotated.size()) != a.layers)
    f.fail_value({"no_rope_layers"}, "a list of " + std::to_string(a.layers) + " numbers, one for each layer,");
  if (!f.error().empty()) return;
  set_forms(a, [&](std::int64_t i) {
    return LayerForm{false, false,
                     rotated.empty() ? (i + 1) % interval != 0 : rotated[static_cast<std::size_t>(i)] == 1};
  });
}

void read_phi3(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {32064, 3072, 8192, 32, 32});
  a.tied = f.tied(false);
  a.rotary_fraction = f.fraction({"partial_rotary_factor"}, 1.0);
  a.sliding_window = f.size_or({"sliding_window"}, 1, max_window, {0, 0});
}

void read_deepseek(ConfigFields& f, Architecture& a, bool third) {
  read_llama_sizes(
      f, a, third ? SizeDefaults{129280, 7168, 18432, 61, 128, 128} : SizeDefaults{32000, 4096, 11008, 32, 32, 32});
  a.tied = f.tied(false);
  a.qkv_bias = a.output_bias = f.flag({"attention_bias"}, false);
  a.latent.q_lora_rank = f.size_or({"q_lora_rank"}, 1, max_hidden, {1536, 0});
  a.latent.kv_lora_rank = f.size({"kv_lora_rank"}, max_hidden, 512);
  a.latent.nope_dim = f.size({"qk_nope_head_dim"}, max_heads, 128);
  a.latent.rope_dim = f.size({"qk_rope_head_dim"}, max_heads, 64);
  a.latent.v_dim = f.size({"v_head_dim"}, max_heads, 128);
  a.kv_heads = a.heads;
  a.head_dim = a.latent.nope_dim + a.latent.rope_dim;
  a.moe.routed = f.size_or({"n_routed_experts"}, 1, max_experts, {third ? 256 : 64, 0});
  if (a.moe.routed > 0) {
    a.moe.shared = f.size_or({"n_shared_experts"}, 0, max_experts, {third ? 1 : 0, 0});
    a.moe.per_token = f.size({"num_experts_per_tok"}, max_experts, 8);
    a.moe.ffn = f.size({"moe_intermediate_size"}, max_ffn, third ? 2048 : 1407);
    a.moe.router_bias = f.word({"topk_method"}, third ? "noaux_tc" : "greedy") == "noaux_tc";
    a.moe.groups = f.size_or({"n_group"}, 0, max_experts, {third ? 8 : 0, 0});
    a.moe.groups_per_token = f.size_or({"topk_group"}, 0, max_experts, {third ? 4 : 0, 0});
    const std::int64_t dense = f.size_or({"first_k_dense_replace"}, 0, max_layers, {third ? 3 : 0, 0});
    const std::int64_t every = f.size_or({"moe_layer_freq"}, 1, max_layers, {1, 1});
    set_forms(a, [&](std::int64_t i) { return LayerForm{i >= dense && i % every == 0, false, true}; });
  }
  a.mtp_layers = f.size_or({"num_nextn_predict_layers"}, 0, 100, {0, 0});
}

void read_deepseek_v2(ConfigFields& f, Architecture& a) { read_deepseek(f, a, false); }
void read_deepseek_v3(ConfigFields& f, Architecture& a) { read_deepseek(f, a, true); }

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> list = {
      {"bloom", read_bloom},
      {"deepseek_v2", read_deepseek_v2},
      {"deepseek_v3", read_deepseek_v3},
      {"falcon", read_falcon},
      {"gemma", read_gemma},
      {"gemma2", read_gemma2},
      {"gemma3_text", read_gemma3},
      {"gpt2", read_gpt2},
      {"gpt_neox", read_gpt_neox},
      {"gpt_oss", read_gpt_oss},
      {"llama", read_llama},
      {"llama4_text", read_llama4},
      {"mistral", read_mistral},
      {"mixtral", read_mixtral},
      {"mllama_text_model", read_mllama},
      {"mpt", read_mpt},
      {"olmo2", read_olmo2},
      {"opt", read_opt},
      {"phi", read_phi},
      {"phi3", read_phi3},
      {"qwen2", read_qwen2},
      {"qwen2_5_vl", read_qwen2},
      {"qwen2_5_vl_text", read_qwen2},
      {"qwen2_vl", read_qwen2},
      {"qwen2_vl_text", read_qwen2},
      {"qwen3", read_qwen3},
      {"qwen3_moe", read_qwen3_moe},
      {"qwen3_vl_moe_text", read_qwen3_moe},
      {"qwen3_vl_text", read_qwen3},
      {"smollm3", read_smollm3},
  };
  return list;
}

}  // namespace models
