#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "models/base/result.h"
#include "models/machine/hardware.h"
#include "models/transformer/transformer.h"

/// Keys and values that a model keeps of every token: their bytes under each way to keep fewer, how many sequences
/// stand beside the weights, and what it takes to fetch one that was parked elsewhere.
namespace models::inference {

/// How the heads of a layer share keys and values. own: as the model has it. grouped: `kv_heads` of them, each used by
/// as many query heads (1 is multi-query attention, as many as query heads is multi-head attention; Shazeer 2019,
/// Ainslie et al. 2023). latent: one vector a layer from which all heads are made (multi-head latent attention,
/// DeepSeek-V2, 2024).
enum class KvSharing : std::uint8_t { own, grouped, latent };

/// What is changed about a model's cache; as it stands here nothing is.
struct KvDesign {
  KvSharing sharing = KvSharing::own;
  std::int64_t kv_heads = 8;           ///< where heads are grouped
  std::int64_t latent_elements = 512;  ///< a layer's, where there is a latent
  std::int64_t rotary_elements =
      64;                         ///< where there is a latent, the part of the key with the position, one for all heads
  std::int64_t window = 0;        ///< tokens that windowed layers keep; 0: the model's own layers
  std::int64_t global_every = 0;  ///< in windowed designs one layer in so many keeps all tokens; 0: none does
  /// Neighbouring layers of a kind that use the keys and values of the first of them (cross-layer attention, Brandon et
  /// al. 2024).
  std::int64_t layers_share = 1;
  double bits = 16;  ///< what one number takes, with the scales of its group
};

/// The model with these heads and windows; its projections change with them, so its weights do too. Fails with one
/// sentence where the key and value heads do not divide the query heads, or a model with a latent is asked for groups
/// whose head width it does not have.
Result<Architecture> redesigned(const Architecture& architecture, const KvDesign& design);

/// Numbers that one layer keeps of one token: 2 x kv_heads x head_dim, or latent + rotary.
double kv_elements_per_layer(const Architecture& redesigned_architecture);
/// Bytes of the next token, while no window is full.
double kv_token_bytes(const Architecture& redesigned_architecture, const KvDesign& design);
/// Bytes of one sequence of `tokens`: windowed layers keep no more than their window, shared layers once.
double kv_sequence_bytes(const Architecture& redesigned_architecture, const KvDesign& design, double tokens);
/// Tokens at which one sequence takes `bytes`; 0 where not even one fits, infinite where windows end all growth.
double kv_tokens_within(const Architecture& redesigned_architecture, const KvDesign& design, double bytes);

/// How several chips share attention. by_head: every chip holds its heads of every sequence; where there are fewer key
/// and value heads than chips, heads are held more than once, and a latent by every chip. by_sequence: every chip holds
/// whole sequences and all attention weights (data-parallel attention, DeepSeek-V3).
enum class KvPlacement : std::uint8_t { by_head, by_sequence };

struct KvMachine {
  const Chip* chip = nullptr;
  std::int64_t chips = 1;
  KvPlacement placement = KvPlacement::by_head;
  double memory_bytes = 0;  ///< one chip's; 0: its nameplate. Devices report some percent more (an H100 of 80 GB: 85.0)
  double memory_share = 0.9;       ///< the share that the engine may take (vLLM's gpu_memory_utilization)
  double workspace_bytes = 0;      ///< a chip: activations, graphs and libraries
  double weight_bits = 16;         ///< bits a weight of the matrices inside the layers, scales counted
  Format product = Format::bf16;   ///< in which they multiply
  double host_bytes = 512e9;       ///< memory of the host that may hold parked caches, for all chips
  double link_bytes_per_s = 64e9;  ///< between a chip and the host, one direction
};

/// Chips that hold the same number: 1 where every chip holds its own heads.
double kv_copies(const Architecture& redesigned_architecture, const KvMachine& machine);

/// Whole sequences of `tokens` that `room_bytes` of all chips hold, copies counted; by sequence, as many on each chip.
double kv_sequences_within(const Architecture& redesigned_architecture, const KvDesign& design,
                           const KvMachine& machine, double room_bytes, double tokens);

/// All chips together, in bytes, unless a line says otherwise.
struct KvFit {
  double weights_bytes = 0;    ///< with the attention weights that each chip repeats
  double offered_bytes = 0;    ///< that the engine may take
  double workspace_bytes = 0;  ///< kept for activations
  double room_bytes = 0;       ///< left for the cache; negative where the weights do not fit
  double token_bytes = 0;      ///< one token, once
  double sequence_bytes = 0;   ///< one sequence, once
  double held_bytes = 0;       ///< one sequence as the chips hold it: copies counted
  double copies = 1;
  double sequences = 0;       ///< that fit, a whole number
  double left_bytes = 0;      ///< room that no whole sequence fills
  double longest_tokens = 0;  ///< one sequence's, alone
  // The decode step when the memory is full, at most, with all roofs reached.
  double step_s = 0;        ///< reading weights and caches, or the arithmetic, whichever takes longer
  double tokens_per_s = 0;  ///< all sequences together
  // One sequence parked in the host's memory.
  double host_sequences = 0;  ///< that fit there, a whole number
  double fetch_s = 0;         ///< bringing one back over the links of all chips that hold it
  double recompute_s = 0;     ///< computing its tokens again instead, at the chips' peak
};

/// What fits at `context` tokens a sequence. Infeasible, in one sentence: a chip without peak in the format. Weights
/// that do not fit are no error: `room_bytes` is negative and no sequence fits.
Result<KvFit> fit_cache(const Architecture& redesigned_architecture, const KvDesign& design, const KvMachine& machine,
                        double context);

}  // namespace models::inference
