#include "models/memory/activation_formulas.h"

namespace models::memory {

double formula_coefficient(const FormulaSizes& z, Recompute recompute) {
  if (recompute == Recompute::full) return z.value_bytes;
  const double keys = z.keys > 0 ? z.keys : z.sequence;
  const double scores = z.heads * keys / z.hidden * formula_score_bytes(z);
  const double kept = recompute == Recompute::none ? scores : 0;
  // Norms' inputs, the inputs of the first products and the masks are whole without sequence parallelism.
  const double whole = 4 * z.value_bytes + (z.dropout ? 2 : 0), split = 12 * z.value_bytes + kept;
  return (z.sequence_parallel ? whole / z.tensor : whole) + split / z.tensor;
}

double formula_score_bytes(const FormulaSizes& z) { return z.dropout ? 2 * z.value_bytes + 1 : z.value_bytes; }

double formula_layer_bytes(const FormulaSizes& z, Recompute recompute) {
  return z.sequence * z.batch * z.hidden * formula_coefficient(z, recompute);
}

double formula_layers_held(double layers, double pipeline, double virtual_pipeline) {
  return virtual_pipeline > 1 ? layers * (1 + (pipeline - 1) / (pipeline * virtual_pipeline)) : layers;
}

}  // namespace models::memory
