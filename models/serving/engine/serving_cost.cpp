#include "models/serving/engine/serving_cost.h"

#include <algorithm>
#include <cmath>

#include "models/transformer/step_time.h"
#include "models/transformer/weight_storage.h"

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

/// A decode step: its weights, with the scales of narrow ones, and its cache in the machine's formats.
Workload decode_of(const ServingMachine& m) {
  Workload w;
  w.phase = Phase::decode;
  w.weight_bytes = stored_bits(m.format, m.format) / 8;
  w.kv_bytes = kv_number_bytes(m.kv);
  return w;
}

/// What each step takes besides the chips' work: scheduling, and the messages of several chips. Ring: 2 (N - 1) / N of
/// the message leaves each chip; two all-reduces of [tokens, hidden] in 2 bytes a layer (Megatron-LM 2019).
Status add_links(const Architecture& architecture, const ServingMachine& m, ServingCost& cost) {
  cost.fixed_s = m.step_overhead_s;
  if (!(m.chips > 1)) return Status::ok();
  if (!m.chip->interconnect.bytes_per_s_per_direction)
    return Status::fail("Nobody states how fast " + m.chip->short_name +
                        " chips are linked: take one chip, or another kind.");
  const double layers = static_cast<double>(architecture.layers);
  const double bytes = 2 * static_cast<double>(architecture.hidden), factor = 2 * (m.chips - 1) / m.chips;
  cost.fixed_s += 2 * layers * m.allreduce_s;
  cost.link_s_per_token = 2 * layers * factor * bytes / *m.chip->interconnect.bytes_per_s_per_direction;
  return Status::ok();
}

/// What grows with the context, and with the pairs of a prompt, is read off two workloads each.
void add_attention(const Architecture& architecture, Workload w, const Machine& machine, ServingCost& cost) {
  constexpr double sequences = 8, context = 2048, prompt = 16384;
  w.context = 1;
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

ServingMemory serving_memory(const Architecture& architecture, const ServingMachine& m) {
  ServingMemory out;
  out.offered_bytes = m.memory_share * m.chips * m.chip->memory_bytes;
  out.weights_bytes = resident_bytes(architecture, decode_of(m)).weights;
  out.free_bytes = out.offered_bytes - out.weights_bytes - kv_scale_bytes(m.kv, architecture.layers);
  return out;
}

namespace {

constexpr const char* weights_too_large =
    "The weights do not fit into the memory of the chips: take more chips, a narrower format or a smaller model.";

}  // namespace

Result<ServingCost> serving_cost(const Architecture& architecture, const ServingMachine& m) {
  using Outcome = Result<ServingCost>;
  const auto one = machine_of(*m.chip, m.format);
  if (!one) return Outcome::fail(one.error);
  const Machine machine{.peak_flops_per_s = one->peak_flops_per_s * m.chips * m.roof_share,
                        .bandwidth_bytes_per_s = one->bandwidth_bytes_per_s * m.chips * m.roof_share};
  const ServingMemory memory = serving_memory(architecture, m);
  if (!memory.holds_weights()) return Outcome::fail(weights_too_large);
  ServingCost cost;
  cost.weights_bytes = memory.weights_bytes;
  cost.free_bytes = memory.free_bytes;
  Workload w = decode_of(m);
  cost.kv_bytes_per_token = kv_bytes_per_token(architecture, w.kv_bytes);
  if (const Status linked = add_links(architecture, m, cost); !linked) return Outcome::fail(linked.error);
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
  add_attention(architecture, w, machine, cost);
  return Outcome::ok(std::move(cost));
}

Result<ServingCost> serving_cost_of_one(const Architecture& architecture, const ServingMachine& m) {
  using Outcome = Result<ServingCost>;
  const auto machine = machine_of(*m.chip, m.format);
  if (!machine) return Outcome::fail(machine.error);
  ServingCost cost;
  Workload w = decode_of(m);
  cost.kv_bytes_per_token = kv_bytes_per_token(architecture, w.kv_bytes);
  w.context = 1;
  for (double n = 1; n <= 131072; n = n < 16 ? n + 1 : std::ceil(n * 1.25)) {
    w.batch = static_cast<std::int64_t>(n);
    const auto step = time_step(architecture, w, *machine);
    if (!step) return Outcome::fail(step.error);
    const Parts p = parts_of(*step);
    cost.tokens_.push_back(n);
    cost.body_s_.push_back(p.all_s - p.head_s);
    cost.head_s_.push_back(p.head_s);
  }
  add_attention(architecture, w, *machine, cost);
  return Outcome::ok(std::move(cost));
}

Result<ServingCost> serving_cost_on(const ServingCost& one, const Architecture& architecture, const ServingMachine& m) {
  using Outcome = Result<ServingCost>;
  const ServingMemory memory = serving_memory(architecture, m);
  if (!memory.holds_weights()) return Outcome::fail(weights_too_large);
  ServingCost cost = one;
  if (const Status linked = add_links(architecture, m, cost); !linked) return Outcome::fail(linked.error);
  cost.weights_bytes = memory.weights_bytes;
  cost.free_bytes = memory.free_bytes;
  const double slower = 1 / (m.chips * m.roof_share);
  for (std::vector<double>* seconds : {&cost.body_s_, &cost.head_s_})
    for (double& s : *seconds) s *= slower;
  cost.context_s *= slower;
  cost.pair_s *= slower;
  return Outcome::ok(std::move(cost));
}

}  // namespace models
