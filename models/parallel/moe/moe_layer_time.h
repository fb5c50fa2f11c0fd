#pragma once
#include <cstdint>
#include <vector>

#include "models/parallel/moe/moe_exchange.h"

/// Time of the forward pass of one expert layer: route, dispatch, experts, combine. The slowest rank sets it.
namespace models::parallel {

/// Rows of a grouped product are padded to this many for each expert: the row tile of DeepGEMM's grouped kernels.
inline constexpr double moe_tile_rows = 128;

struct MoeLayerShape {
  double hidden = 7168, ffn = 2048;            ///< width of a token, inner width of one expert (gate, up and down)
  double element_bytes = 2;                    ///< Weights and activations in the experts' products.
  double dispatch_bytes = 2, scale_group = 0;  ///< Bytes of an element; elements with a 4-byte scale together, 0: none.
  double combine_bytes = 2;
};
double dispatch_row_bytes(const MoeLayerShape& shape);
double combine_row_bytes(const MoeLayerShape& shape);

struct MoeChip {
  double peak_flops_per_s = 989e12;  ///< The peak in the experts' format.
  double matmul_share = 0.7;         ///< The share of the peak that large products reach.
  double memory_bytes_per_s = 3.35e12;
};

/// One rank's experts.
struct MoeRankTime {
  double rows = 0, padded_rows = 0;  ///< tokens, and with every expert's rows filled up to whole tiles
  double flops = 0, bytes = 0;       ///< useful work; weights of all its experts with rows, and activations
  double compute_s = 0, memory_s = 0;
  double time_s() const { return compute_s > memory_s ? compute_s : memory_s; }
};

struct MoeLayerTime {
  std::vector<MoeRankTime> ranks;
  MoeExchangeTime dispatch, combine;
  double local_s = 0;    ///< router, permutation and weighted sum, on every rank alike
  double experts_s = 0;  ///< The time of the slowest rank.
  double mean_experts_s = 0;
  std::int64_t slowest = 0;  ///< the rank whose experts take longest
  double layer_s = 0;        ///< local + dispatch + experts + combine, nothing overlapped
};

/// Times of ranks whose experts get these rows (by rank, by slot). Experts: gate, up and down products of op_cost over
/// padded rows at the share of peak, or the bytes at the memory's rate, whichever takes longer. `experts` and `top_k`
/// are the router's.
MoeLayerTime moe_layer_time(const MoeLayerShape& shape, const MoeChip& chip, const MoeExchangeSetting& exchange,
                            const MoeTraffic& traffic, const std::vector<std::vector<double>>& rows, double experts,
                            double top_k);

/// Rows of each rank's slots for `tokens` tokens in all; the copies of an expert share its rows evenly.
/// `load` is by expert: kept copies a token.
std::vector<std::vector<double>> slot_rows(const MoePlacement& placement, const std::vector<double>& load,
                                           double tokens);

}  // namespace models::parallel
