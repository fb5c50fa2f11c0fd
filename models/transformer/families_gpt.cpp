#include <algorithm>

#include "models/transformer/fields.h"

/// The families before Llama's names: LayerNorm, biases, and a plain feed-forward of two matrices.
namespace models {

namespace {

void set_gpt_style(Architecture& a, bool bias) {
  a.norm = NormKind::layer;
  a.activation = Activation::gelu;
  a.gated = false;
  a.norm_bias = a.qkv_bias = a.output_bias = a.mlp_bias = bias;
}

/// These families have no head_dim: the hidden size is split over the heads.
void split_heads(ConfigFields& f, Architecture& a, const char* hidden_name, const char* heads_name) {
  if (a.kv_heads == 0) a.kv_heads = a.heads;
  if (a.hidden % a.heads != 0)
    f.fail(std::string(hidden_name) + " is " + std::to_string(a.hidden) + ", which " + heads_name + " (" +
           std::to_string(a.heads) + ") does not divide; a multiple of it is expected.");
  a.head_dim = std::max<std::int64_t>(1, a.hidden / a.heads);
}

}  // namespace

void read_gpt2(ConfigFields& f, Architecture& a) {
  set_gpt_style(a, true);
  a.rotary = false;
  a.vocab = f.size({"vocab_size"}, max_vocab, 50257);
  a.hidden = f.size({"n_embd", "hidden_size"}, max_hidden, 768);
  a.layers = f.size({"n_layer", "num_hidden_layers"}, max_layers, 12);
  a.heads = f.size({"n_head", "num_attention_heads"}, max_heads, 12);
  a.learned_positions = f.size({"n_positions", "n_ctx", "max_position_embeddings"}, max_positions, 1024);
  a.ffn = f.size_or({"n_inner"}, 1, max_ffn, {4 * a.hidden, 4 * a.hidden});
  a.tied = f.tied(true);
  split_heads(f, a, "n_embd", "n_head");
}

void read_opt(ConfigFields& f, Architecture& a) {
  constexpr std::int64_t padding_rows = 2;  // the position table keeps two rows for padding
  set_gpt_style(a, f.flag({"enable_bias"}, true));
  a.norm_bias = true;
  a.rotary = false;
  a.activation = Activation::relu;
  a.vocab = f.size({"vocab_size"}, max_vocab, 50272);
  a.hidden = f.size({"hidden_size"}, max_hidden, 768);
  a.layers = f.size({"num_hidden_layers"}, max_layers, 12);
  a.heads = f.size({"num_attention_heads"}, max_heads, 12);
  a.ffn = f.size({"ffn_dim"}, max_ffn, 3072);
  a.learned_positions = padding_rows + f.size({"max_position_embeddings"}, max_positions, 2048);
  a.final_norm = f.flag({"do_layer_norm_before"}, true) && !f.flag({"_remove_final_layer_norm"}, false);
  const std::int64_t width = f.size_or({"word_embed_proj_dim"}, 1, max_hidden, {a.hidden, a.hidden});
  if (width != a.hidden) a.embedding_width = width;
  a.tied = f.tied(true);
  if (a.embedding_width > 0 && !a.tied)
    f.fail_value({"tie_word_embeddings"}, "true next to a word_embed_proj_dim of its own");
  split_heads(f, a, "hidden_size", "num_attention_heads");
}

void read_bloom(ConfigFields& f, Architecture& a) {
  set_gpt_style(a, true);
  a.rotary = false;
  a.alibi = true;
  a.embedding_norm = true;
  a.vocab = f.size({"vocab_size"}, max_vocab, 250880);
  a.hidden = f.size({"hidden_size", "n_embed"}, max_hidden, 64);
  a.layers = f.size({"n_layer", "num_hidden_layers"}, max_layers, 2);
  a.heads = f.size({"n_head", "num_attention_heads"}, max_heads, 8);
  a.ffn = 4 * a.hidden;
  a.tied = f.tied(true);
  split_heads(f, a, "hidden_size", "n_head");
}

void read_phi(ConfigFields& f, Architecture& a) {
  set_gpt_style(a, true);
  a.norms_per_layer = 1;
  a.parallel_attention = true;
  a.head_bias = true;
  a.vocab = f.size({"vocab_size"}, max_vocab, 51200);
  a.hidden = f.size({"hidden_size"}, max_hidden, 2048);
  a.ffn = f.size({"intermediate_size"}, max_ffn, 8192);
  a.layers = f.size({"num_hidden_layers"}, max_layers, 24);
  a.heads = f.size({"num_attention_heads"}, max_heads, 32);
  a.kv_heads = f.size_or({"num_key_value_heads"}, 1, max_heads, {a.heads, a.heads});
  a.rotary_fraction = f.fraction({"partial_rotary_factor"}, 0.5);
  a.qk_norm = f.flag({"qk_layernorm"}, false);
  a.tied = f.tied(false);
  split_heads(f, a, "hidden_size", "num_attention_heads");
}

/// Both forms of the type: Hugging Face's own (ALiBi, no biases) and the training framework's (a learned table when not
/// ALiBi).
void read_mpt(ConfigFields& f, Architecture& a) {
  set_gpt_style(a, !f.flag({"no_bias"}, true));
  a.vocab = f.size({"vocab_size"}, max_vocab, 50368);
  a.hidden = f.size({"d_model", "hidden_size"}, max_hidden, 2048);
  a.layers = f.size({"n_layers", "num_hidden_layers"}, max_layers, 24);
  a.heads = f.size({"n_heads", "num_attention_heads"}, max_heads, 16);
  a.ffn = a.hidden * f.size_or({"expansion_ratio"}, 1, 100, {4, 4});
  f.enter("attn_config");
  a.alibi = f.flag({"alibi"}, true);
  a.rotary = !a.alibi && f.flag({"rope"}, false);
  a.kv_heads = f.size_or({"kv_n_heads"}, 1, max_heads, {a.heads, a.heads});
  if (f.word({"attn_type"}, "multihead_attention") == "multiquery_attention") a.kv_heads = 1;
  if (f.flag({"qk_ln"}, false)) f.fail_value({"qk_ln"}, "false (a norm over the whole query is not counted)");
  f.leave();
  const std::int64_t longest = f.size_or({"max_seq_len"}, 1, max_positions, {2048, 2048});
  if (!a.alibi && !a.rotary && f.flag({"learned_pos_emb"}, true)) a.learned_positions = longest;
  a.tied = f.tied(true);
  split_heads(f, a, "d_model", "n_heads");
}

void read_gpt_neox(ConfigFields& f, Architecture& a) {
  set_gpt_style(a, true);
  a.parallel_attention = f.flag({"use_parallel_residual"}, true);
  a.vocab = f.size({"vocab_size"}, max_vocab, 50432);
  a.hidden = f.size({"hidden_size"}, max_hidden, 6144);
  a.ffn = f.size({"intermediate_size"}, max_ffn, 24576);
  a.layers = f.size({"num_hidden_layers"}, max_layers, 44);
  a.heads = f.size({"num_attention_heads"}, max_heads, 64);
  a.qkv_bias = a.output_bias = f.flag({"attention_bias"}, true);
  a.rotary_fraction = f.fraction({"rotary_pct", "partial_rotary_factor"}, 0.25);
  a.tied = f.tied(false);
  split_heads(f, a, "hidden_size", "num_attention_heads");
}

}  // namespace models
