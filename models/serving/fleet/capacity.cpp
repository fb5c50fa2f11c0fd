#include "models/serving/fleet/capacity.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/inference/kv_cache.h"
#include "models/inference/tensor_decode.h"

namespace models {
namespace {

constexpr double capacity_infinite = std::numeric_limits<double>::infinity();
/// Least room for prompts in a step, as the engine keeps it (ServingSetup::chunk_tokens).
constexpr double capacity_least_room = 16;
/// The normal deviate that 1 of 100 exceed.
constexpr double capacity_one_in_a_hundred = 2.3263478740408408;
double capacity_prompt_room(const CapacityReplica& r, double sequences) {
  return std::max(r.engine.chunk_tokens - sequences, capacity_least_room);
}
/// Tokens after the first; a thousandth where there are none, so that n / o stays a number.
double capacity_later_tokens(const CapacityDemand& d) { return std::max(1e-3, d.output_mean - 1); }

/// Variance over mean of the arrivals at one of so many replicas that get requests in turn.
double capacity_dealt_burst(const CapacityDemand& d, double replicas) { return d.burst / std::max(1.0, replicas); }
/// How the number in a batch varies: as much as a Poisson number where arrivals are Poisson, less where they are dealt
/// more evenly, more where they come in bursts (peakedness of exponential stays: (1 + burst) / 2).
double capacity_batch_variance(const CapacityDemand& d, double n, double replicas) {
  return n * (1 + capacity_dealt_burst(d, replicas)) / 2;
}

double capacity_normal_beyond(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

/// The least x in [lo, hi] with `bad(x)` false, where it is true below and false above.
template <class Bad>
double capacity_least_good(double lo, double hi, Bad&& bad) {
  for (int i = 0; i < 60 && hi - lo > 1e-6 * hi; ++i) {
    const double middle = lo > 0 ? std::sqrt(lo * hi) : hi / 2;
    (bad(middle) ? lo : hi) = middle;
  }
  return hi;
}

/// The largest n up to `most` at which `good(n)`, which is so from 0 on until it ends; 0: nowhere.
template <class Good>
double capacity_most_good(double most, Good&& good) {
  double lo = 1e-6, hi = most;
  if (!good(lo)) return 0;
  if (good(hi)) return hi;
  for (int i = 0; i < 60 && hi - lo > 1e-6 * hi; ++i) {
    const double middle = std::sqrt(lo * hi);
    (good(middle) ? lo : hi) = middle;
  }
  return lo;
}

}  // namespace

double CapacityReplica::sequences_within(const CapacityDemand& d) const {
  return std::min(engine.slots, room_tokens / std::max(1.0, d.context_mean));
}

Result<CapacityReplica> capacity_replica(const ServingCost& one, const Architecture& a, const ServingMachine& machine,
                                         const CapacityEngine& engine) {
  using Outcome = Result<CapacityReplica>;
  const auto chips = static_cast<std::int64_t>(machine.chips);
  if (chips > 1)
    if (std::string problem = inference::decode_cut_problem(a, chips); !problem.empty())
      return Outcome::fail(std::move(problem));
  auto cost = serving_cost_on(one, a, machine);
  if (!cost) return Outcome::fail(std::move(cost.error));
  CapacityReplica out{.cost = std::move(*cost), .chips = machine.chips, .engine = engine};
  inference::KvMachine held;
  held.chip = machine.chip;
  held.chips = chips;
  out.copies = inference::kv_copies(a, held);
  out.cost.context_s *= out.copies;
  out.cost.link_s_per_token /= machine.roof_share;  // links are no nearer to their roof than kernels are
  out.room_tokens = out.cost.free_bytes / (out.cost.kv_bytes_per_token * out.copies);
  return Outcome::ok(std::move(out));
}

ReplicaState replica_with(const CapacityReplica& r, const CapacityDemand& d, double n) {
  ReplicaState s{.sequences = n};
  const double room = capacity_prompt_room(r, n), o = capacity_later_tokens(d), context = n * d.context_mean;
  s.empty_step_s = n > 0 ? r.cost.step_s(n, n, context) : 0;
  s.full_step_s = r.cost.step_s(n + room, n + room / d.prompt_mean, context);
  const double alone_s = n > 0 ? s.empty_step_s : r.cost.fixed_s, attention_s = d.pairs_mean * r.cost.pair_s;
  const double added_s = d.prompt_mean / room * (s.full_step_s - alone_s) + attention_s;
  s.prompt_s = d.prompt_mean / room * s.full_step_s + attention_s;
  s.gap_s = s.empty_step_s + n * added_s / o;
  s.rate_per_s = n > 0 ? n / (o * s.gap_s) : 0;
  s.prompts_share = s.rate_per_s * s.gap_s * d.prompt_mean / room;
  s.prompts_busy = s.rate_per_s * s.prompt_s;
  return s;
}

ReplicaState replica_at(const CapacityReplica& r, const CapacityDemand& d, double rate_per_s) {
  constexpr double most = 1e7;
  const double n = capacity_most_good(most, [&](double x) { return replica_with(r, d, x).rate_per_s <= rate_per_s; });
  ReplicaState s = replica_with(r, d, std::max(n, 1e-6));
  if (n >= most) s.sequences = capacity_infinite;
  s.rate_per_s = rate_per_s;
  return s;
}

double share_beyond_ttft(const ReplicaState& s, const CapacityReplica& r, const CapacityDemand& d, double replicas,
                         double limit_s) {
  if (!(s.prompts_busy < 1) || !std::isfinite(s.sequences)) return 1;
  const auto weights = capacity_shares();
  const double room = capacity_prompt_room(r, s.sequences), full_s = s.full_step_s / room;
  const auto attention_s = [&](double p) { return p * (p + 1) / 2 * r.cost.pair_s; };
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double service_s = d.prompts[i] * full_s + attention_s(d.prompts[i]);
    mean += weights[i] * service_s;
    square += weights[i] * service_s * service_s;
  }
  const double service_scv = square / (mean * mean) - 1, arrival_scv = capacity_dealt_burst(d, replicas),
               waits = s.prompts_busy;  // the share that meets a prompt before its own
  const double wait_s = waits / (1 - waits) * mean * (arrival_scv + service_scv) / 2;
  const double rest_s = ((1 - waits) * s.empty_step_s + waits * s.full_step_s) / 2;
  double beyond = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double p = d.prompts[i], steps = std::ceil(p / room);
    const double own_s = steps * s.empty_step_s + p * (full_s - s.empty_step_s / room) + attention_s(p),
                 left_s = limit_s - own_s - rest_s;
    if (left_s < 0)
      beyond += weights[i];
    else if (wait_s > 0)
      beyond += weights[i] * waits * std::exp(-left_s * waits / wait_s);
  }
  return beyond;
}

double share_beyond_tpot(const ReplicaState& s, const CapacityReplica& r, const CapacityDemand& d, double replicas,
                         double limit_s) {
  if (!std::isfinite(s.sequences) || s.prompts_busy >= 1) return 1;
  const double n = s.sequences, more = std::sqrt(n + 1);
  const double slope_s = (replica_with(r, d, n + more).gap_s - s.gap_s) / more;
  const double f = std::min(1.0, s.prompts_share),
               jump_s = s.full_step_s - s.empty_step_s +
                        capacity_prompt_room(r, n) / d.prompt_mean * d.pairs_mean * r.cost.pair_s;
  const double batch_variance = slope_s * slope_s * capacity_batch_variance(d, n, replicas),
               mixed = f * (1 - f) * jump_s * jump_s;
  // Steps with prompts come in runs: as long as prompts wait for each other.
  const double run_steps = std::max(1.0, s.prompt_s / s.full_step_s) / (1 - s.prompts_busy);
  const auto weights = capacity_shares();
  double beyond = 0, counted = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double o = d.outputs[i];
    if (o < 1.5) continue;
    counted += weights[i];
    const double deviation = std::sqrt(batch_variance + mixed * std::min(1.0, 2 * run_steps / (o - 1)));
    beyond += weights[i] * (deviation > 0 ? capacity_normal_beyond((limit_s - s.gap_s) / deviation)
                                          : (s.gap_s > limit_s ? 1.0 : 0.0));
  }
  return counted > 0 ? beyond / counted : 0;
}

double ttft_of_share(const ReplicaState& s, const CapacityReplica& r, const CapacityDemand& d, double replicas,
                     double share) {
  if (!(s.prompts_busy < 1) || !std::isfinite(s.sequences)) return capacity_infinite;
  return capacity_least_good(1e-5, 1e6, [&](double t) { return share_beyond_ttft(s, r, d, replicas, t) > 1 - share; });
}

double tpot_of_share(const ReplicaState& s, const CapacityReplica& r, const CapacityDemand& d, double replicas,
                     double share) {
  if (!(s.prompts_busy < 1) || !std::isfinite(s.sequences)) return capacity_infinite;
  return capacity_least_good(1e-6, 1e6, [&](double t) { return share_beyond_tpot(s, r, d, replicas, t) > 1 - share; });
}

double least_work_s(const CapacityReplica& r, const CapacityDemand& d) {
  constexpr double many = 65536;
  const double token_s = (r.cost.step_s(2 * many, 0, 0) - r.cost.step_s(many, 0, 0)) / many,
               row_s = (r.cost.step_s(0, 2 * many, 0) - r.cost.step_s(0, many, 0)) / many;
  const double later = std::max(0.0, d.output_mean - 1);
  return (d.prompt_mean + later) * token_s + d.output_mean * row_s + d.pairs_mean * r.cost.pair_s +
         later * d.context_mean * r.cost.context_s;
}

double CapacityWalls::highest() const { return std::max({memory, rate, latency()}); }

CapacityWall CapacityWalls::binds() const {
  if (highest() <= 1) return CapacityWall::memory;  // the weights alone need the one replica
  if (latency() >= memory && latency() >= rate) return CapacityWall::latency;
  return memory >= rate ? CapacityWall::memory : CapacityWall::rate;
}

CapacityWalls capacity_walls(const CapacityReplica& r, const CapacityDemand& d, const CapacityLimits& limits) {
  CapacityWalls out;
  if (!(d.rate_per_s > 0)) return out;
  out.rate = d.rate_per_s * least_work_s(r, d) / limits.busy;
  const double fit = r.sequences_within(d);
  const double spread = d.context_cv * d.context_cv;
  const double n_fit = capacity_most_good(fit, [&](double n) {
    const double replicas = d.rate_per_s / replica_with(r, d, n).rate_per_s;
    const double deviation = std::sqrt(capacity_batch_variance(d, n, replicas) + n * spread);
    return n + capacity_one_in_a_hundred * deviation <= fit;
  });
  out.memory = n_fit > 0 ? d.rate_per_s / replica_with(r, d, n_fit).rate_per_s : capacity_infinite;
  const double late = 1 - limits.share;
  const auto wall = [&](auto&& keeps) {
    const double n = capacity_most_good(1e7, [&](double x) { return keeps(replica_with(r, d, x)); });
    return n > 0 ? d.rate_per_s / replica_with(r, d, n).rate_per_s : capacity_infinite;
  };
  out.tpot = wall([&](const ReplicaState& s) {
    return share_beyond_tpot(s, r, d, d.rate_per_s / s.rate_per_s, limits.tpot_s) <= late;
  });
  out.ttft = wall([&](const ReplicaState& s) {
    return share_beyond_ttft(s, r, d, d.rate_per_s / s.rate_per_s, limits.ttft_s) <= late;
  });
  return out;
}

ReplicaState saturated_replica(const CapacityReplica& r, const CapacityDemand& d) {
  const double fit = std::max(1e-6, std::min(r.sequences_within(d), r.engine.slots));
  return replica_with(r, d,
                      capacity_most_good(fit, [&](double n) { return replica_with(r, d, n).prompts_share <= 1; }));
}

}  // namespace models
