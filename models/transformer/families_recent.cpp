#include <algorithm>

#include "models/transformer/fields.h"

/// Families that depart from Llama's layer: norms behind the blocks, one key head for all, experts with biases, chunks.
/// Source of names and defaults: the configuration classes of transformers.
namespace models {

namespace {

/// Sizes that Falcon's class calls as Llama does, without a gate and with LayerNorm.
void read_falcon_sizes(ConfigFields& f, Architecture& a) {
  a.norm = NormKind::layer;
  a.norm_bias = true;
  a.gated = false;
  a.vocab = f.size({"vocab_size"}, max_vocab, 65024);
  a.hidden = f.size({"hidden_size"}, max_hidden, 4544);
  a.layers = f.size({"num_hidden_layers", "n_layer"}, max_layers, 32);
  a.heads = f.size({"num_attention_heads", "n_head"}, max_heads, 71);
  a.ffn = f.size_or({"ffn_hidden_size"}, 1, max_ffn, {4 * a.hidden, 4 * a.hidden});
  if (a.hidden % a.heads != 0)
    f.fail("hidden_size is " + std::to_string(a.hidden) + ", which num_attention_heads (" + std::to_string(a.heads) +
           ") does not divide; a multiple of it is expected.");
  a.head_dim = std::max<std::int64_t>(1, a.hidden / a.heads);
}

}  // namespace

/// Norms of the blocks' results instead of their inputs, and of all queries and all keys of a token as one row each.
void read_olmo2(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {50304, 4096, 11008, 32, 32});
  a.tied = f.tied(false);
  a.qkv_bias = a.output_bias = f.flag({"attention_bias"}, false);
  a.post_norm = true;
  a.qk_norm = a.qk_norm_whole = true;
}

/// Three architectures under one name: 7B (one key head, attention and feed-forward side by side behind one norm), the
/// "new decoder" of 40B, 180B and 11B (grouped heads; two norms side by side, 11B one), and RW (all heads, ALiBi,
/// biases, one block after the other).
void read_falcon(ConfigFields& f, Architecture& a) {
  read_falcon_sizes(f, a);
  const bool new_decoder = f.flag({"new_decoder_architecture"}, false);
  const bool multi_query = f.flag({"multi_query"}, true);
  const std::int64_t given = f.size_or({"num_kv_heads", "n_head_kv"}, 1, max_heads, {a.heads, a.heads});
  a.kv_heads = new_decoder || !multi_query ? given : 1;
  a.parallel_attention = new_decoder || f.flag({"parallel_attn"}, true);
  const std::int64_t norms = f.size_or({"num_ln_in_parallel_attn"}, 1, 2, {new_decoder ? 2 : 1, new_decoder ? 2 : 1});
  a.norms_per_layer = a.parallel_attention ? (new_decoder ? norms : 1) : 2;
  a.qkv_bias = a.output_bias = a.mlp_bias = f.flag({"bias"}, false);
  a.alibi = f.flag({"alibi"}, false);
  a.rotary = !a.alibi;
  read_activation(f, a, {"activation"}, "gelu");
  a.tied = f.tied(true);
}

/// Every layer a mixture, experts and router with biases; every second layer slides; a learned score a head takes part
/// in each softmax.
void read_gpt_oss(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {201088, 2880, 2880, 36, 64, 8, 64});
  a.tied = f.tied(false);
  a.qkv_bias = a.output_bias = f.flag({"attention_bias"}, true);
  a.mlp_bias = true;
  a.attention_sinks = true;
  a.moe.routed = f.size({"num_local_experts"}, max_experts, 128);
  a.moe.per_token = f.size({"num_experts_per_tok", "experts_per_token"}, max_experts, 4);
  a.moe.ffn = a.ffn;
  a.moe.router_bias = true;
  a.sliding_window = f.size_or({"sliding_window"}, 1, max_window, {128, 0});
  const std::vector<bool> listed = read_layer_types(f, a);
  std::vector<LayerForm> forms;
  for (std::int64_t i = 0; i < a.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    forms.push_back({true, at < listed.size() ? listed[at] : a.sliding_window > 0 && i % 2 == 0, true});
  }
  keep_forms(a, std::move(forms));
}

/// One routed and one shared expert a token on every `interleave_moe_layer_step`-th layer, wider dense ones between.
/// Layers with a rotation attend within a chunk; it is taken as a window of the chunk's length, which is the most that
/// a query looks back.
void read_llama4(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {202048, 5120, 8192, 48, 40, 8, 128});
  a.tied = f.tied(false);
  a.qkv_bias = a.output_bias = f.flag({"attention_bias"}, false);
  a.moe.routed = f.size({"num_local_experts"}, max_experts, 16);
  a.moe.per_token = f.size({"num_experts_per_tok"}, max_experts, 1);
  a.moe.shared = 1;
  a.moe.ffn = a.ffn;
  a.ffn = f.size_or({"intermediate_size_mlp"}, 1, max_ffn, {16384, 16384});
  const std::int64_t step = f.size_or({"interleave_moe_layer_step"}, 1, max_layers, {1, 1});
  const std::vector<std::int64_t> moe_layers = f.integers("moe_layers", max_layers);
  const std::vector<std::int64_t> rotated = f.integers("no_rope_layers", 1);  // despite its name, 1 means rotated
  const std::int64_t interval = f.size_or({"no_rope_layer_interval"}, 1, max_layers, {4, 4});
  a.sliding_window = f.size_or({"attention_chunk_size"}, 1, max_window, {8192, 0});
  std::vector<LayerForm> forms;
  for (std::int64_t i = 0; i < a.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool experts = moe_layers.empty() ? (i + 1) % step == 0
                                            : std::find(moe_layers.begin(), moe_layers.end(), i) != moe_layers.end();
    const bool rope = at < rotated.size() ? rotated[at] == 1 : (i + 1) % interval != 0;
    forms.push_back({experts, rope && a.sliding_window > 0, rope});
  }
  keep_forms(a, std::move(forms));
}

/// The text of Llama 3.2 Vision: without an image its cross-attention layers are skipped, which leaves Llama 3.1.
void read_mllama(ConfigFields& f, Architecture& a) {
  read_llama_sizes(f, a, {128256, 4096, 14336, 40, 32, 8});
  a.tied = f.tied(false);
  const std::vector<std::int64_t> cross = f.has({"cross_attention_layers"})
                                              ? f.integers("cross_attention_layers", max_layers)
                                              : std::vector<std::int64_t>{3, 8, 13, 18, 23, 28, 33, 38};
  const auto crossing = static_cast<std::int64_t>(cross.size());
  if (crossing >= a.layers)
    f.fail_value({"cross_attention_layers"},
                 "a list shorter than num_hidden_layers (" + std::to_string(a.layers) + ")");
  a.layers = std::max<std::int64_t>(1, a.layers - crossing);
  a.left_out =
      "Of this multimodal model the language model alone is counted; left out are the vision tower with its "
      "projector, the cross-attention layers (" +
      std::to_string(crossing) + ") and the 8 embedding rows of the image token.";
}

}  // namespace models
