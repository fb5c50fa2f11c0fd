#include "models/parallel/memory_split/memory_split_estimators.h"

#include <algorithm>

namespace models::parallel {

DeepSpeedEstimate deepspeed_zero3_estimate(const DeepSpeedSetting& s) {
  const double each = static_cast<double>(s.gpus_per_node), nodes = static_cast<double>(s.nodes);
  const double gpus = each * nodes, share = 1 / nodes;
  const double largest = 4 * s.largest_layer;  // its weights and gradients in 16 bits
  DeepSpeedEstimate out;
  if (!s.offload_optimizer && !s.offload_parameters) {
    out.gpu_bytes = largest + 18 * s.parameters / gpus;
    out.host_bytes = 4 * (s.zero_init ? s.largest_layer : s.parameters) * each * s.additional_buffers;
    return out;
  }
  const double bytes = s.offload_parameters ? 18 : 16;
  out.gpu_bytes = largest + (s.offload_parameters ? 0 : 2 * s.parameters / gpus);
  out.host_bytes =
      s.parameters * (s.zero_init ? bytes * share : std::max(4 * gpus, bytes * share)) * s.additional_buffers;
  return out;
}

DeepSpeedEstimate deepspeed_zero2_estimate(const DeepSpeedSetting& s) {
  const double each = static_cast<double>(s.gpus_per_node), gpus = each * static_cast<double>(s.nodes);
  DeepSpeedEstimate out;
  if (s.offload_optimizer) {
    out.gpu_bytes = 2 * s.parameters;
    out.host_bytes = s.parameters * std::max(4 * gpus, 16.0) * s.additional_buffers;
  } else {
    out.gpu_bytes = 4 * s.parameters + 16 * s.parameters / gpus;
    out.host_bytes = 4 * s.parameters * each * s.additional_buffers;
  }
  return out;
}

namespace {

/// Tokens' ids (8 bytes) and the embedding's dropout mask of the micro-batches under way, and the interleaved
/// schedule's factor.
double under_way(const MegatronShapes& m, double layers_bytes) {
  const double tokens = m.sequence * m.micro_batch;
  const double bytes = layers_bytes + tokens * (8 + m.hidden) * m.pipeline;
  return m.virtual_pipeline > 1 ? bytes * (1 + (m.pipeline - 1) / (m.pipeline * m.virtual_pipeline)) : bytes;
}

}  // namespace

double megatron_activation_bytes(const MegatronShapes& m) {
  const double sbh = m.sequence * m.micro_batch * m.hidden;
  double bytes = under_way(m, sbh * (18 + 4 * m.ffn / m.hidden) * m.layers);
  if (m.pipeline <= 1) bytes += 4 * sbh * (1 + m.vocab / m.hidden);
  return bytes / m.tensor;
}

double megatron_activation_without_sp_bytes(const MegatronShapes& m) {
  const double tokens = m.sequence * m.micro_batch, sbh = tokens * m.hidden;
  double bytes = under_way(m, sbh * (10 + 24 / m.tensor) * m.layers);
  if (m.pipeline <= 1) bytes += 2 * (tokens * m.vocab / m.tensor + sbh);
  return 1.05 * bytes;
}

CookbookEstimate cookbook_estimate(const CookbookShapes& c) {
  CookbookEstimate out;
  const double h = c.hidden, l = c.layers;
  out.parameters = l * h * h * (4 + 2 * c.ffn_ratio) + h * (2 * c.vocab + c.sequence + 8 * l + 2);
  const double zero = c.gpus, model = c.tensor * c.pipeline;
  out.weights = 2 * out.parameters / model / (c.zero_stage >= 3 ? zero / model : 1);
  out.gradients = 4 * out.parameters / (c.zero_stage >= 2 ? zero : 1);
  out.optimizer = 12 * out.parameters / (c.zero_stage >= 1 ? zero : 1);
  // DeepSpeed's buckets of 5e8 elements, and 1e9 elements of live parameters.
  if (c.gpus > 1 && c.zero_stage >= 1) out.communication = c.zero_stage >= 3 ? 3e9 : 1e9;
  const double sbh = c.sequence * c.batch * h;
  const double scores = c.checkpoint ? 0 : 5 * c.heads * c.sequence / h;
  out.activations = sbh * l * (34 + scores) / c.tensor;
  return out;
}

}  // namespace models::parallel
