#include "models/transformer/roofline_decode.h"

#include <algorithm>
#include <cmath>

namespace models {
namespace {

double bytes_per_sequence(const DecodeStep& step) {
  return step.activation_bytes_per_token + (step.count_kv_reads ? step.context_tokens * step.kv_bytes_per_token : 0);
}
double flops_per_sequence(const DecodeStep& step) {
  return step.flops_per_token + (step.count_kv_reads ? step.attention_flops_per_token : 0);
}

}  // namespace

Work decode_work(const DecodeStep& step, double batch) {
  return {flops_per_sequence(step) * batch, step.weight_bytes + bytes_per_sequence(step) * batch, 1};
}

double decode_intensity(const DecodeStep& step, double batch) {
  const Work work = decode_work(step, batch);
  return work.flops / work.bytes;
}

double decode_intensity_limit(const DecodeStep& step) { return flops_per_sequence(step) / bytes_per_sequence(step); }

Result<double> critical_batch(const DecodeStep& step, double ridge) {
  // flops B = ridge (weights + bytes B), solved for B.
  const double slope = flops_per_sequence(step) - ridge * bytes_per_sequence(step);
  if (slope > 0) return Result<double>::ok(std::max(1.0, ridge * step.weight_bytes / slope));
  return Result<double>::fail("No batch reaches the ridge: the bytes of each sequence hold the intensity below it.");
}

}  // namespace models
