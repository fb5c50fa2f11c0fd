#include "models/serving/prefix/prefix_cache_cost.h"

namespace models {

PrefillPrice prefill_price(const Architecture& a) {
  const auto keys = static_cast<double>(a.has_latent() ? a.latent.nope_dim + a.latent.rope_dim : a.head_dim),
             values = static_cast<double>(a.has_latent() ? a.latent.v_dim : a.head_dim);
  return {2 * static_cast<double>(count_parameters(a).active_without_input_embedding),
          2 * static_cast<double>(a.layers) * static_cast<double>(a.heads) * (keys + values)};
}

}  // namespace models
