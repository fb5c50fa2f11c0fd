// The walls of a fleet: the steady state of a replica against Little's law and its own ceiling, the plan against the
// engine that serves the requests one by one, and what more load, more memory and looser limits must do.
#include "models/serving/fleet/capacity.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "models/serving/fleet/capacity_judge.h"
#include "tests/models/machine/hardware_bundled.h"
#include "tests/models/transformer/language_model_files.h"
#include "tests/support/base/near.h"

using namespace models;

using support::near;

namespace {

ServingMachine capacity_machine(const char* chip, double chips, Format format, double share) {
  ServingMachine m{.chip = &bundled_chip(chip), .chips = chips, .format = format};
  m.kv = format == Format::bf16 ? KvFormat::bf16 : KvFormat::fp8;
  m.roof_share = share;
  m.memory_share = 0.95;
  return m;
}

CapacityReplica capacity_replica_of(const char* model, const char* chip, double chips, Format format, double share,
                                    double chunk = 1024) {
  const Architecture& a = models_test::shipped_model(model).architecture;
  const ServingMachine m = capacity_machine(chip, chips, format, share);
  const auto one = serving_cost_of_one(a, m);
  REQUIRE(one);
  auto out = capacity_replica(*one, a, m, {.chunk_tokens = chunk});
  REQUIRE(out);
  return *out;
}

double planned_over_served(double planned, double served) { return planned / served; }

}  // namespace

TEST_CASE("capacity: the cost of many chips follows from that of one, to rounding") {
  const Architecture& a = models_test::shipped_model("llama-3-70b").architecture;
  for (const double chips : {2.0, 8.0}) {
    const ServingMachine m = capacity_machine("h100_sxm", chips, Format::fp8, 0.63);
    const auto whole = serving_cost(a, m), scaled = serving_cost_on(*serving_cost_of_one(a, m), a, m);
    REQUIRE(whole);
    REQUIRE(scaled);
    for (const double n : {1.0, 7.0, 100.0, 3000.0})
      CHECK(near(scaled->step_s(n, n, 900 * n), whole->step_s(n, n, 900 * n), 1e-9));
    CHECK(near(scaled->chunk_attention_s(500, 4000), whole->chunk_attention_s(500, 4000), 1e-9));
    CHECK(scaled->free_bytes == whole->free_bytes);
  }
  CHECK(serving_cost_on(*serving_cost_of_one(a, capacity_machine("h100_sxm", 1, Format::bf16, 1)), a,
                        capacity_machine("h100_sxm", 1, Format::bf16, 1))
            .error.starts_with("The weights do not fit"));
}

TEST_CASE("capacity: a replica's state keeps Little's law, and its rate runs into the least work") {
  const CapacityReplica r = capacity_replica_of("llama-3-70b", "h100_sxm", 2, Format::fp8, 0.63);
  const CapacityDemand d = demand_of_lengths(40, 1000, 1000, 0.8);
  double before = 0;
  for (const double n : {1.0, 10.0, 100.0, 500.0}) {
    const ReplicaState s = replica_with(r, d, n);
    CHECK(near(s.rate_per_s * 999 * s.gap_s, n, 1e-9));
    CHECK(s.rate_per_s > before);
    before = s.rate_per_s;
    CHECK(near(replica_at(r, d, s.rate_per_s).sequences, n, 1e-4));
    // Prompts and empty steps fill a second.
    CHECK(s.rate_per_s * least_work_s(r, d) < 1);
  }
  CHECK(std::isinf(replica_at(r, d, 1.01 / least_work_s(r, d)).sequences));
  // 69.5 G active parameters, 2 operations each, at 63 % of 3.958 PFLOP/s, for prompt and answer, and more for the
  // rest.
  CHECK(least_work_s(r, d) > 2 * 69.5e9 * 2000 / (2 * 0.63 * 1978.9e12));
  CHECK(least_work_s(r, d) < 2 * 2 * 69.5e9 * 2000 / (2 * 0.63 * 1978.9e12));
}

TEST_CASE("capacity: shares of lengths keep means, of a distribution and of what was recorded") {
  const CapacityDemand d = demand_of_lengths(1, 800, 300, 1.2);
  double prompt = 0, output = 0, share = 0;
  for (std::size_t i = 0; i < capacity_shares().size(); ++i) {
    share += capacity_shares()[i];
    prompt += capacity_shares()[i] * d.prompts[i];
    output += capacity_shares()[i] * d.outputs[i];
  }
  CHECK(near(share, 1, 1e-9));
  CHECK(near(prompt, 800, 1e-3));
  CHECK(near(output, 300, 1e-2));
  // Two requests, one failed: steps read 101 and 102 tokens of cache.
  const std::vector<RequestArrival> a{{0, 100, 3}, {5, 900, 0}};
  const CapacityDemand own = demand_of_arrivals(a, 2, 1);
  CHECK(own.prompt_mean == 100);
  CHECK(own.output_mean == 3);
  CHECK(near(own.context_mean, 101.5, 1e-9));
  CHECK(own.pairs_mean == 5050);
  CHECK(demand_of_arrivals(std::span(a).last(1), 2, 1).rate_per_s == 0);
}

TEST_CASE("capacity: more load, longer answers and stricter limits never ask for fewer chips") {
  const CapacityReplica r = capacity_replica_of("llama-3-70b", "h100_sxm", 4, Format::fp8, 0.63);
  const CapacityWalls base = capacity_walls(r, demand_of_lengths(40, 1000, 1000, 0.8), {});
  const CapacityWalls more = capacity_walls(r, demand_of_lengths(80, 1000, 1000, 0.8), {});
  const CapacityWalls longer = capacity_walls(r, demand_of_lengths(40, 1000, 2000, 0.8), {});
  const CapacityWalls strict = capacity_walls(r, demand_of_lengths(40, 1000, 1000, 0.8), {.tpot_s = 0.02});
  CHECK(near(more.rate, 2 * base.rate, 1e-9));
  CHECK(more.memory > 1.9 * base.memory);
  CHECK(more.latency() > base.latency());
  CHECK(more.latency() <= 2.001 * base.latency());  // a larger fleet is dealt more evenly
  CHECK(longer.memory > base.memory);
  CHECK(strict.tpot > base.tpot);
  CHECK(near(strict.memory, base.memory, 1e-9));
  CHECK(near(strict.rate, base.rate, 1e-9));
  CHECK(std::isinf(capacity_walls(r, demand_of_lengths(1, 1000, 1000, 0), {.tpot_s = 0.001}).tpot));
  CHECK(std::isinf(capacity_walls(r, demand_of_lengths(1, 100000, 10, 0), {.ttft_s = 0.01}).ttft));
  CHECK(capacity_walls(r, demand_of_lengths(0.001, 1000, 1000, 0.8), {}).binds() == CapacityWall::memory);
}

// Poisson requests, log-normal lengths; the engine serves what one of the replicas gets.
TEST_CASE("capacity: what the plan says of tails is what the engine serves, within a quarter and on the safe side") {
  struct Case {
    const char *model, *chip;
    double chips;
    Format format;
    double share, rate, prompt, output, variation;
    std::int64_t replicas;
  };
  for (const Case& c : {Case{"llama-3-70b", "h100_sxm", 2, Format::fp8, 0.63, 40, 1000, 250, 0.8, 6},
                        Case{"llama-3-70b", "h100_sxm", 4, Format::fp8, 0.63, 40, 500, 500, 0.8, 4},
                        Case{"llama-3-70b", "b200_sxm", 1, Format::fp4, 0.48, 40, 1000, 250, 0.8, 4},
                        Case{"llama-3-8b", "h100_sxm", 1, Format::fp8, 0.63, 400, 1000, 200, 0.8, 14},
                        Case{"llama-3-70b", "h100_sxm", 4, Format::fp8, 0.63, 10, 4000, 200, 0.8, 4}}) {
    const CapacityReplica r = capacity_replica_of(c.model, c.chip, c.chips, c.format, c.share);
    const CapacityDemand d = demand_of_lengths(c.rate, c.prompt, c.output, c.variation);
    const double replicas = static_cast<double>(c.replicas);
    const ReplicaState s = replica_at(r, d, c.rate / replicas);
    const TrialVerdict v = try_fleet(r, d, {.replicas = c.replicas, .variation = c.variation, .most_tokens = 4e5});
    INFO(c.model << " on " << c.replicas << " x " << c.chips << " " << c.chip);
    CHECK(v.requests >= 1000);
    CHECK(v.preemptions_percent == 0);
    CHECK(planned_over_served(s.sequences, v.sequences) > 0.9);
    CHECK(planned_over_served(s.sequences, v.sequences) < 1.25);
    const double tpot = planned_over_served(tpot_of_share(s, r, d, replicas, 0.99), v.tpot_p99_s),
                 ttft = planned_over_served(ttft_of_share(s, r, d, replicas, 0.99), v.ttft_p99_s);
    INFO("later tokens " << tpot << ", first token " << ttft);
    CHECK(tpot > 0.93);
    CHECK(tpot < 1.25);
    CHECK(ttft > 0.85);
    CHECK(ttft < 1.4);
  }
}

TEST_CASE("capacity: a plan's fleet keeps its limits in the engine, and one of half the size does not") {
  const CapacityReplica r = capacity_replica_of("llama-3-70b", "h100_sxm", 4, Format::fp8, 0.63);
  const CapacityDemand d = demand_of_lengths(30, 1000, 200, 0.8);
  const CapacityLimits limits{.ttft_s = 1, .tpot_s = 0.03};
  const CapacityWalls walls = capacity_walls(r, d, limits);
  CHECK(walls.binds() == CapacityWall::latency);
  const auto fleet = static_cast<std::int64_t>(std::ceil(walls.highest()));
  FleetTrial trial{.replicas = fleet, .limits = limits, .most_tokens = 3e5};
  CHECK(try_fleet(r, d, trial).kept_percent > 98);
  trial.replicas = fleet / 2;
  CHECK(try_fleet(r, d, trial).kept_percent < 80);
  CHECK(try_fleet(r, d, trial).ttft_p99_s == try_fleet(r, d, trial).ttft_p99_s);
}
