#pragma once
#include "models/base/result.h"
#include "models/machine/roofline.h"

/// How decode climbs the roofline as its batch grows, and why long contexts keep it from the ridge.
namespace models {

/// One decode step: every sequence of the batch emits one token. Weights cross memory once for the whole batch, the KV
/// cache once for each sequence.
struct DecodeStep {
  double flops_per_token = 0;             ///< Flops with the weights: 2 x active parameters.
  double weight_bytes = 0;                ///< read once a step
  double activation_bytes_per_token = 0;  ///< small: model width x element bytes
  double kv_bytes_per_token = 0;          ///< Bytes of cache for each token of context.
  double context_tokens = 0;
  double attention_flops_per_token =
      0;  ///< at this context; 0 leaves attention out of the count as most napkin sums do
  bool count_kv_reads = true;
};

Work decode_work(const DecodeStep& step, double batch);
/// flop/byte of a step: without KV reads 2PB / (P b + B d b_e), about 2B / b; with them at most 2P / (context x kv
/// bytes).
double decode_intensity(const DecodeStep& step, double batch);
/// flop/byte that no batch passes: what one sequence computes over what it reads for itself.
double decode_intensity_limit(const DecodeStep& step);
/// The batch at which a step reaches the ridge, or a sentence that names the intensity it can never pass.
Result<double> critical_batch(const DecodeStep& step, double ridge);

}  // namespace models
