#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"

/// The shape of a decoder-only transformer, read from a Hugging Face config.json, and its parameters counted to the
/// last one.
namespace models {

enum class NormKind { rms, layer };
enum class Activation { silu, gelu, relu };

/// What differs between the layers of one model. An architecture whose layers are all alike lists none.
struct LayerForm {
  bool experts = false;  ///< feed-forward is a mixture of experts
  bool sliding = false;  ///< attention looks back `sliding_window` tokens only
  bool rope = true;      ///< rotary embedding is applied
  bool operator==(const LayerForm&) const = default;
};

/// A mixture of experts; `routed` = 0 means there is none.
struct MixtureOfExperts {
  std::int64_t routed = 0;
  std::int64_t shared = 0;  ///< always-on experts, merged into one feed-forward `shared` times as wide
  std::int64_t per_token = 0;
  std::int64_t ffn = 0;      ///< inner width of one expert
  bool router_bias = false;  ///< one bias per routed expert: balancing (DeepSeek-V3) or of the router itself (gpt-oss)
  /// Experts lie in so many groups, and a token may only use experts of `groups_per_token` of them, so that it goes to
  /// no more nodes than that (DeepSeek-V3's node-limited routing: 8 groups, 4 of them). 0: it may use any.
  std::int64_t groups = 0, groups_per_token = 0;
  bool operator==(const MixtureOfExperts&) const = default;
};

/// Multi-head latent attention (DeepSeek); `kv_lora_rank` = 0 means plain multi-head attention.
struct LatentAttention {
  std::int64_t q_lora_rank = 0;  ///< 0: queries are projected directly
  std::int64_t kv_lora_rank = 0;
  std::int64_t nope_dim = 0;  ///< per head, without position
  std::int64_t rope_dim = 0;  ///< per head of the query; one for all heads of the key
  std::int64_t v_dim = 0;
  bool operator==(const LatentAttention&) const = default;
};

/// Counts are plain integers; widths are numbers of elements.
struct Architecture {
  std::string model_type;
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;  ///< inner width of a dense feed-forward
  std::int64_t vocab = 0;
  std::int64_t embedding_width = 0;    ///< 0: as hidden; else projected in and out (OPT-350m)
  std::int64_t learned_positions = 0;  ///< rows of the position table; 0 without one
  std::int64_t sliding_window = 0;     ///< tokens; 0 without one
  std::int64_t norms_per_layer = 2;    ///< 1 parallel, 2 usual, 4 with norms after each block too (Gemma 2)
  std::int64_t mtp_layers = 0;         ///< multi-token-prediction layers behind the model, counted apart
  double rotary_fraction = 1;          ///< part of each head that is rotated
  NormKind norm = NormKind::rms;
  Activation activation = Activation::silu;
  bool gated = true;  ///< feed-forward with gate, up and down matrices
  bool tied = false;  ///< output matrix is the embedding
  bool qkv_bias = false;
  bool output_bias = false;
  bool mlp_bias = false;
  bool head_bias = false;
  bool norm_bias = false;
  bool qk_norm = false;          ///< a norm of queries and keys
  bool qk_norm_whole = false;    ///< That norm spans all heads, a weight for each element (OLMo 2); else head by head.
  bool post_norm = false;        ///< each block's result is normed before it is added, and its input is not (OLMo 2)
  bool attention_sinks = false;  ///< one learned score a head, in every softmax (gpt-oss)
  bool final_norm = true;
  bool embedding_norm = false;  ///< BLOOM
  bool rotary = true;
  bool alibi = false;
  bool parallel_attention = false;  ///< attention and feed-forward read the same input (Phi, GPT-NeoX)
  MixtureOfExperts moe;
  LatentAttention latent;
  std::vector<LayerForm> layer_forms;  ///< one per layer, or empty when all are alike
  std::string left_out;  ///< What a multimodal config has that the model leaves out, as a sentence; else empty.

  bool has_latent() const { return latent.kv_lora_rank > 0; }
  bool operator==(const Architecture&) const = default;
};

/// Reads the text of a config.json. `origin` names it in error sentences (a file name, say).
/// Fails with one sentence that names the field, its value and what is allowed: unknown model_type, a missing field, a
/// wrong type, a size out of range, heads that do not divide; a model whose layers are not all attention (state spaces,
/// recurrences, linear attention) is refused by name. A multimodal config is read as its language model alone, and
/// `left_out` says so. Fields that a config may leave out take Hugging Face's own defaults. Never throws.
Result<Architecture> parse_config(std::string_view json_text, std::string_view origin);

/// The form of layer `index` (0-based).
LayerForm layer_form(const Architecture& architecture, std::int64_t index);

/// A group of layers of the same form: "dense layer", "expert layer", "dense layer, sliding window", ...
struct LayerKind {
  std::string name;
  LayerForm form;
  std::int64_t count = 0;
  bool operator==(const LayerKind&) const = default;
};

/// The different kinds of layers in order of first appearance; their counts sum to `layers`.
std::vector<LayerKind> layer_kinds(const Architecture& architecture);

/// Parameters of one layer by part. Latent attention's inner norms and qk-norms count as norms.
struct LayerParameters {
  std::int64_t attention = 0;
  std::int64_t norms = 0;
  std::int64_t dense_ffn = 0;
  std::int64_t routed_experts = 0;
  std::int64_t shared_experts = 0;
  std::int64_t router = 0;
  std::int64_t router_bias = 0;

  std::int64_t total() const {
    return attention + norms + dense_ffn + routed_experts + shared_experts + router + router_bias;
  }
  bool operator==(const LayerParameters&) const = default;
};
LayerParameters layer_parameters(const Architecture& architecture, const LayerForm& form);

/// Parameters of the whole model. Buffers (rotary tables, masks, quantization scales) are none.
struct ParameterCount {
  std::int64_t embedding = 0;    ///< input matrix, with its projections where it is narrower than hidden
  std::int64_t positions = 0;    ///< learned position table
  LayerParameters layers;        ///< summed over all layers
  std::int64_t outer_norms = 0;  ///< final norm and embedding norm
  std::int64_t head = 0;         ///< output matrix and bias; 0 when tied and without bias
  std::int64_t total = 0;        ///< without multi-token-prediction layers
  std::int64_t active =
      0;  ///< total less the experts a token is not routed to: both embedding matrices and the full router are in
  std::int64_t active_without_input_embedding =
      0;                            ///< active less the input matrix if the output matrix is another one
  std::int64_t mtp_layer_body = 0;  ///< transformer layers alone of multi-token prediction, without router bias
  std::int64_t mtp = 0;             ///< with projection, norms and router bias; embedding and head are the model's own

  bool operator==(const ParameterCount&) const = default;
};

/// Exact counts. Convention of the active count as in the published Mixtral and Qwen3 figures.
ParameterCount count_parameters(const Architecture& architecture);

/// The same total in floating point, safe for any sizes: what parse_config checks before it counts in integers.
double approximate_parameters(const Architecture& architecture);

}  // namespace models
