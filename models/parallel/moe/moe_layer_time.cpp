#include "models/parallel/moe/moe_layer_time.h"

#include <algorithm>
#include <cmath>

#include "models/machine/op_cost.h"

namespace models::parallel {
namespace {

MoeRankTime rank_time(const MoeLayerShape& shape, const MoeChip& chip, const std::vector<double>& slots) {
  MoeRankTime out;
  double padded_flops = 0;
  for (const double rows : slots) {
    if (!(rows > 0)) continue;
    const double e = shape.element_bytes;
    const OpCost useful =
        gemm(rows, 2 * shape.ffn, shape.hidden, e, e, e) + gemm(rows, shape.hidden, shape.ffn, e, e, e);
    const double padded = std::ceil(rows / moe_tile_rows - 1e-9) * moe_tile_rows;
    out.rows += rows;
    out.padded_rows += padded;
    out.flops += useful.flops;
    out.bytes += useful.bytes();
    padded_flops += useful.flops * padded / rows;
  }
  out.compute_s = padded_flops / (chip.peak_flops_per_s * chip.matmul_share);
  out.memory_s = out.bytes / chip.memory_bytes_per_s;
  return out;
}

}  // namespace

double dispatch_row_bytes(const MoeLayerShape& s) {
  const double scales = s.scale_group > 0 ? 4 * std::ceil(s.hidden / s.scale_group) : 0;
  return s.hidden * s.dispatch_bytes + scales;
}
double combine_row_bytes(const MoeLayerShape& s) { return s.hidden * s.combine_bytes; }

MoeLayerTime moe_layer_time(const MoeLayerShape& shape, const MoeChip& chip, const MoeExchangeSetting& exchange,
                            const MoeTraffic& traffic, const std::vector<std::vector<double>>& rows, double experts,
                            double top_k) {
  MoeLayerTime out;
  for (const std::vector<double>& slots : rows) {
    out.ranks.push_back(rank_time(shape, chip, slots));
    const double time_s = out.ranks.back().time_s();
    out.mean_experts_s += time_s / static_cast<double>(rows.size());
    if (time_s <= out.experts_s) continue;
    out.experts_s = time_s;
    out.slowest = static_cast<std::int64_t>(out.ranks.size()) - 1;
  }
  out.dispatch = exchange_time(exchange, traffic, dispatch_row_bytes(shape));
  out.combine = exchange_time(exchange, traffic, combine_row_bytes(shape));
  const double tokens = exchange.tokens_per_rank;
  const OpCost local = moe_router(tokens, shape.hidden, experts, top_k, 2, 2) +
                       moe_dispatch(tokens, shape.hidden, traffic.copies, 2) +
                       moe_combine(tokens, shape.hidden, traffic.copies, 2);
  out.local_s = local.bytes() / chip.memory_bytes_per_s;
  out.layer_s = out.local_s + out.dispatch.time_s + out.experts_s + out.combine.time_s;
  return out;
}

std::vector<std::vector<double>> slot_rows(const MoePlacement& placement, const std::vector<double>& load,
                                           double tokens) {
  std::vector<std::vector<double>> out;
  for (const auto& slots : placement.experts) {
    out.emplace_back();
    for (const std::int32_t e : slots) {
      const auto expert = static_cast<std::size_t>(e);
      out.back().push_back(tokens * load[expert] / static_cast<double>(placement.ranks[expert].size()));
    }
  }
  return out;
}

}  // namespace models::parallel
