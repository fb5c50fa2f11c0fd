#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/transformer/layer_ops.h"

/// A language model on a device under every quantization recipe: memory, speed of prefill and decode, and what is known
/// to be lost.
namespace models {

/// How weights and products are stored and computed. Embedding, norms, router and output matrix stay in 16 bits, as
/// published recipes leave them.
struct Recipe {
  std::string_view id, label;
  double weight_bits = 16;        ///< bits a weight in the matrices of the layers, scales included
  Format product = Format::bf16;  ///< in which they multiply; bf16 falls back to fp16 on chips that have no other
  double published_loss_low = 0, published_loss_high = 0;  ///< percent of a benchmark's score
  std::string_view loss_source;                            ///< what was measured, on what, by whom
};
std::span<const Recipe> deployment_recipes();  ///< bf16, w8a16, w8a8, fp8, w4a16, nvfp4
const Recipe* find_recipe(std::string_view id);

/// How the cache is stored.
struct KvRecipe {
  std::string_view id, label;
  double bits = 16;  ///< bits an element, scales included
  std::string_view loss_source;
};
std::span<const KvRecipe> kv_recipes();  ///< bf16, fp8, int4, int2
const KvRecipe* find_kv_recipe(std::string_view id);

struct Deployment {
  const Chip* chip = nullptr;
  double chips = 1;  ///< they share every layer (tensor parallel)
  double batch = 8, context = 4096,
         prompt = 2048;       ///< sequences that decode, tokens in the cache of each; tokens of one prompt
  double roof_share = 0.7;    ///< share of peak and of bandwidth that kernels reach
  double memory_share = 0.9;  ///< share of the memory that weights and cache may take
  double allreduce_s = 8e-6;  ///< latency of one; two in each layer when there are several chips
};

struct DeploymentEstimate {
  double weights_bytes = 0, cache_bytes = 0, memory_bytes = 0;  ///< memory: what may be taken, over all chips
  bool fits = false;
  double chips_needed = 1;   ///< chips of this kind that hold the weights and this cache
  double largest_batch = 0;  ///< sequences of this context that fit beside the weights; 0: not one
  double prefill_s = 0;      ///< time of one prompt
  double decode_s = 0;       ///< time of one step of the batch
  double decode_weights_s = 0, decode_cache_s = 0,
         decode_other_s = 0;       ///< reading or multiplying matrices; attention; the rest and the links
  double decode_memory_share = 0;  ///< share of the step in operations that are bound by memory
};

/// Times by step_time.h, scaled by roof_share; activations move in 2 bytes, attention multiplies in 16 bits.
/// Infeasible, in one sentence: a chip without peak in the recipe's format, several chips whose link nobody states, a
/// workload out of range.
Result<DeploymentEstimate> estimate_deployment(const Architecture& architecture, const Recipe& recipe,
                                               const KvRecipe& kv, const Deployment& deployment);

/// Bytes of all weights under a recipe.
double recipe_weight_bytes(const Architecture& architecture, const Recipe& recipe);

/// What a question looks at.
enum class DecisionFigure : std::uint8_t {
  allowed_loss,  ///< percent of the score
  fit_bytes,     ///< weights and cache, against the memory that they may take
  memory_share,  ///< share of a decode step, 0 to 1, in operations that are bound by memory
  cache_bytes,   ///< cache, against the weights
  peak           ///< FLOP/s in a format; 0 where the chip states none
};
/// One question on the way to a recipe, with the figures that decided.
struct DecisionStep {
  int node = 0;  ///< index into decision_nodes()
  bool yes = false;
  DecisionFigure figure{};
  double value = 0;
  double against = 0;  ///< what the value is held against: memory, weights, or what the recipe costs; 0: nothing
};
/// The tree: a question, or a recipe at its end.
struct DecisionNode {
  std::string_view text;
  int yes = -1, no = -1;                 ///< -1 on leaves
  std::string_view recipe, kv = "bf16";  ///< on leaves
};
struct Decision {
  std::vector<DecisionStep> steps;
  std::string_view recipe, kv;  ///< ids
  int leaf = 0;                 ///< index into decision_nodes()
};
/// The tree for this chip. Where 8 bits are the answer they are FP8 on a chip that multiplies it, which takes the same
/// bytes, speeds up prefill and had no loss in published tests, and INT8 weights elsewhere.
std::span<const DecisionNode> decision_nodes(const Chip& chip);

/// Walks the tree: may anything be lost, does decode wait for memory, is the cache the larger part, may as much be lost
/// as 4 bits cost in published tests, what does the chip multiply in. `may_lose`: percent of the score. Infeasible as
/// estimate_deployment for 16 bits.
Result<Decision> decide_recipe(const Architecture& architecture, const Deployment& deployment, double may_lose);

}  // namespace models
