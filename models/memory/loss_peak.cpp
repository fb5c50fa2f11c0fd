#include "models/memory/loss_peak.h"

#include "models/base/integer_math.h"
#include "models/memory/state_bytes.h"

namespace models::memory {

LossPeak loss_peak(const Architecture& a, const TrainingPlan& p, bool late, double others) {
  const Workload w = workload_of(p);
  const double t = as_double(p.tensor), tokens = new_tokens(w), wide = w.activation_bytes;
  const double whole = tokens * as_double(a.hidden) * wide, stream = p.sequence_parallel ? whole / t : whole;
  const double logits = tokens * as_double(a.vocab) / t;
  const ParameterCount count = count_parameters(a);
  const double head = as_double(a.tied ? count.embedding : count.head) / t;
  double gradient = p.fused_gradients || p.frozen ? 0 : wide * head;
  if (late && !p.frozen) gradient = bytes_per_parameter(a, p).gradients * head;
  const bool gathers = p.sequence_parallel && p.tensor > 1, kept = gathers && p.gathered_inputs;
  const double gathered = gathers && !kept ? whole : 0;

  LossPeak out{.ends = stream + (kept ? whole : stream)};
  const double of_kind = p.loss == LossKind::fused ? wide : loss_bytes_per_logit(p.loss);
  out.spike = of_kind * logits;
  const double at_spike = p.loss == LossKind::chunked ? whole : 0;
  const double behind = p.loss == LossKind::chunked ? 0 : wide * logits;
  const double beside = whole + gathered + gradient;
  const bool spike_first = out.spike + at_spike >= behind + beside + others;
  out.head_backward = !spike_first;
  out.logits = spike_first ? out.spike : behind;
  out.beside = spike_first ? at_spike : beside;
  out.gradient = spike_first ? 0 : gradient;
  return out;
}

}  // namespace models::memory
