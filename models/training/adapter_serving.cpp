#include "models/training/adapter_serving.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "models/base/integer_math.h"
#include "models/transformer/roofline_decode.h"
#include "models/transformer/roofline_ops.h"
#include "models/transformer/weight_storage.h"

namespace models::adapters {
namespace {

constexpr double served_bytes = 2;

/// A decode step of the base for `batch` sequences.
Result<Placement> base_step(const Architecture& a, const ServingSetup& s, std::int64_t batch, const Machine& machine,
                            DecodeStep& step) {
  OpSizes sizes;
  sizes.batch = batch;
  sizes.context = s.context;
  sizes.element_bytes = served_bytes;
  step = decode_step(a, sizes, served_bytes);
  Work work = decode_work(step, as_double(batch));
  work.kernels = decode_kernels(a, sizes);
  return place(machine, work, LaunchCost::added);
}

}  // namespace

Result<ServedStep> served_step(const Architecture& a, const ServingSetup& s, const Machine& machine) {
  using Outcome = Result<ServedStep>;
  if (s.distinct > s.batch)
    return Outcome::fail("A batch of " + std::to_string(s.batch) + " cannot hold " + std::to_string(s.distinct) +
                         " different adapters: take fewer of them or a larger batch.");
  ServedStep out;
  const double batch = as_double(s.batch), distinct = as_double(s.distinct);
  double matrices = 0, parameters = 0, activations = 0;
  for (const TargetMatrix& m : target_matrices(a, s.targets)) {
    matrices += m.count;
    parameters += m.count * s.rank * (m.inputs + m.outputs);
    // The input is read, the middle written and read, the output read and written.
    activations += m.count * (m.inputs + 2 * s.rank + 2 * m.outputs) * served_bytes;
  }
  out.adapter_bytes = parameters * served_bytes;
  out.flops_per_token = 2 * parameters;
  DecodeStep step;
  const auto whole = base_step(a, s, s.batch, machine, step);
  if (!whole) return Outcome::fail(whole.error);
  out.base_s = whole->time_s;
  const Work base = decode_work(step, batch);
  out.base_bytes = base.bytes;
  out.base_flops_per_token = base.flops / batch;
  out.read_bytes = distinct * out.adapter_bytes;
  const Work pairs{batch * out.flops_per_token, out.read_bytes + batch * activations, 2 * matrices};
  if (pairs.bytes > 0) {
    const auto placed = place(machine, pairs, LaunchCost::added);
    if (!placed) return Outcome::fail(placed.error);
    out.adapters_s = placed->time_s;
  }
  // Copies have the sequences of their adapter: some one more than others.
  const std::int64_t fewer = s.batch / s.distinct, more = s.batch % s.distinct;
  DecodeStep own;
  const auto small = base_step(a, s, fewer, machine, own);
  if (!small) return Outcome::fail(small.error);
  out.merged_s = (distinct - as_double(more)) * small->time_s;
  if (more > 0) {
    const auto large = base_step(a, s, fewer + 1, machine, own);
    if (!large) return Outcome::fail(large.error);
    out.merged_s += as_double(more) * large->time_s;
  }
  const double weights = stored_weight_bytes(a, 8 * served_bytes);
  const double cache = batch * kv_cache_bytes(a, as_double(s.context), served_bytes);
  const double room = s.memory_bytes - cache;
  out.merged_fit = std::max(0.0, std::floor(room / weights));
  out.adapters_fit = out.adapter_bytes > 0 ? std::max(0.0, std::floor((room - weights) / out.adapter_bytes)) : 0;
  return Outcome::ok(std::move(out));
}

}  // namespace models::adapters
