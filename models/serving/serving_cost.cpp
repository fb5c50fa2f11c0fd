#include "models/serving/serving_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "models/transformer/step_time.h"

namespace models {
namespace {

struct Parts {
  double all_s = 0, head_s = 0, attention_s = 0;
};

Parts parts_of(const StepTime& step) {
  Parts p;
  p.all_s = step.time_s;
  for (const TimedOperation& op : step.operations) {
    const double s = static_cast<double>(op.operation.count) * op.placement.time_s;
    if (op.operation.group == OperationGroup::output) p.head_s += s;
    if (op.operation.group == OperationGroup::attention) p.attention_s += s;
  }
  return p;
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GB", bytes / 1e9);
  return text;
}

}  // namespace

double ServingCost::at(const std::vector<double>& seconds, double tokens) const {
  if (tokens <= 0 || tokens_.size() < 2) return 0;
  const auto above = std::upper_bound(tokens_.begin(), tokens_.end(), tokens);
  const std::size_t i =
      std::clamp<std::size_t>(static_cast<std::size_t>(above - tokens_.begin()), 1, tokens_.size() - 1);
  const double slope = (seconds[i] - seconds[i - 1]) / (tokens_[i] - tokens_[i - 1]);
  return seconds[i - 1] + slope * (tokens - tokens_[i - 1]);
}

Result<ServingCost> serving_cost(const Architecture& architecture, const ServingMachine& m) {
  using Outcome = Result<ServingCost>;
  const auto one = machine_of(*m.chip, m.format);
  if (!one) return Outcome::fail(one.error);
  const Machine machine{.peak_flops_per_s = one->peak_flops_per_s * m.chips * m.roof_share,
                        .bandwidth_bytes_per_s = one->bandwidth_bytes_per_s * m.chips * m.roof_share};
  ServingCost cost;
  Workload w;
  w.phase = Phase::decode;
  w.weight_bytes = format_bytes(m.format);
  w.kv_bytes = kv_number_bytes(m.kv);
  cost.weights_bytes = resident_bytes(architecture, w).weights;
  cost.kv_bytes_per_token = kv_bytes_per_token(architecture, w.kv_bytes);
  const double memory = m.memory_share * m.chips * m.chip->memory_bytes;
  cost.free_bytes = memory - cost.weights_bytes - kv_scale_bytes(m.kv, architecture.layers);
  const std::string where = std::to_string(static_cast<int>(m.chips)) + " x " + m.chip->short_name;
  if (!(cost.free_bytes > 0))
    return Outcome::fail("The weights take " + gigabytes(cost.weights_bytes) + " and " + where + " offer " +
                         gigabytes(memory) + ": take more chips, a narrower format or a smaller model.");
  const double layers = static_cast<double>(architecture.layers);
  cost.fixed_s = m.step_overhead_s;
  if (m.chips > 1) {
    if (!m.chip->interconnect.bytes_per_s_per_direction)
      return Outcome::fail("Nobody states how fast " + m.chip->short_name +
                           " chips are linked: take one chip, or another kind.");
    // Ring: 2 (N - 1) / N of the message leaves each chip; two all-reduces of [tokens, hidden] in 2 bytes a layer
    // (Megatron-LM 2019).
    const double bytes = 2 * static_cast<double>(architecture.hidden), factor = 2 * (m.chips - 1) / m.chips;
    cost.fixed_s += 2 * layers * m.allreduce_s;
    cost.link_s_per_token = 2 * layers * factor * bytes / *m.chip->interconnect.bytes_per_s_per_direction;
  }
  w.context = 1;
  for (double n = 1; n <= 131072; n = n < 16 ? n + 1 : std::ceil(n * 1.25)) {
    w.batch = static_cast<std::int64_t>(n);
    const auto step = time_step(architecture, w, machine);
    if (!step) return Outcome::fail(step.error);
    const Parts p = parts_of(*step);
    cost.tokens_.push_back(n);
    cost.body_s_.push_back(p.all_s - p.head_s);
    cost.head_s_.push_back(p.head_s);
  }
  // What grows with the context, and with the pairs of a prompt, is read off two workloads each.
  constexpr double sequences = 8, context = 2048, prompt = 16384;
  w.batch = static_cast<std::int64_t>(sequences);
  const double short_s = parts_of(*time_step(architecture, w, machine)).all_s;
  w.context = static_cast<std::int64_t>(context);
  const double long_s = parts_of(*time_step(architecture, w, machine)).all_s;
  cost.context_s = std::max(0.0, (long_s - short_s) / (sequences * (context - 1)));
  w.context = 1;
  w.batch = static_cast<std::int64_t>(prompt);
  const double apart_s = parts_of(*time_step(architecture, w, machine)).attention_s;
  w.phase = Phase::prefill;
  w.batch = 1;
  w.sequence = static_cast<std::int64_t>(prompt);
  const double together_s = parts_of(*time_step(architecture, w, machine)).attention_s;
  cost.pair_s = std::max(0.0, (together_s - apart_s) / (prompt * (prompt + 1) / 2));
  return Outcome::ok(std::move(cost));
}

}  // namespace models
