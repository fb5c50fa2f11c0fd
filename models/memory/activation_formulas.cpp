#include "models/memory/activation_formulas.h"

namespace models::memory {

double formula_coefficient(const FormulaSizes& z, Recompute recompute) {
  const double t = z.tensor, scores = 5 * z.heads * z.sequence / z.hidden;
  if (recompute == Recompute::full) return 2;
  const double kept = recompute == Recompute::none ? scores : 0;
  return z.sequence_parallel ? (34 + kept) / t : 10 + (24 + kept) / t;
}

double formula_layer_bytes(const FormulaSizes& z, Recompute recompute) {
  return z.sequence * z.batch * z.hidden * formula_coefficient(z, recompute);
}

double formula_layers_held(double layers, double pipeline, double virtual_pipeline) {
  return virtual_pipeline > 1 ? layers * (1 + (pipeline - 1) / (pipeline * virtual_pipeline)) : layers;
}

}  // namespace models::memory
