#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "chapters/mechanism/catalog.h"
#include "chapters/serving/capacity/lab.h"
#include "models/transformer/transformer.h"
#include "widgets/number/number.h"

namespace chapters::serving::capacity {
namespace {

using models::CapacityReplica, models::CapacityWalls;
using widgets::format_text;

constexpr std::array<std::int64_t, 4> offered_sizes{1, 2, 4, 8};

/// What is served, and on what.
struct Kind {
  const models::LanguageModel* model = nullptr;
  const models::Chip* chip = nullptr;
  models::Format format{};
  models::KvFormat kv{};
  double share = models::assumed_reached_share;
};

/// A size of replica and the fleet of such.
struct SizedFleet {
  std::int64_t replica_chips = 1;
  std::optional<CapacityReplica> replica;
  CapacityWalls walls;
  std::int64_t replicas = 0;
  std::string why;   ///< not empty: there is no such fleet
  std::string late;  ///< not empty: it keeps the limits in no number, and is as large as the other walls ask
  std::int64_t chips() const { return replicas * replica_chips; }
  bool able() const { return why.empty(); }
};

std::int64_t whole(double replicas) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(replicas - 1e-9)));
}

models::CapacityLimits limits_of(const Inputs& in) {
  return {.ttft_s = in.ttft_limit_s, .tpot_s = in.tpot_limit_s, .share = 0.99, .busy = in.busy_percent / 100};
}

double share_of(const Inputs& in, const models::Chip& chip, models::Format format) {
  if (in.reached == Reached::own) return in.roof_percent / 100;
  const models::ReachedShare* fit = models::find_reached_share(chip.id, format);
  return fit ? fit->share : models::assumed_reached_share;
}

models::ServingMachine machine_for(const Inputs& in, const Kind& kind, std::int64_t chips) {
  models::ServingMachine m{
      .chip = kind.chip, .chips = static_cast<double>(chips), .format = kind.format, .kv = kind.kv};
  m.roof_share = kind.share;
  m.memory_share = in.memory_percent / 100;
  return m;
}

models::Result<models::ServingCost> cost_of_one(const Inputs& in, const Kind& kind, Kept& kept) {
  using Outcome = models::Result<models::ServingCost>;
  const models::Architecture& a = kind.model->architecture;
  CostKey key{.model = kind.model->id, .chip = kind.chip->id, .format = kind.format, .kv = kind.kv};
  key.parameters = static_cast<double>(models::count_parameters(a).total);
  key.layers = static_cast<double>(a.layers * a.heads + a.kv_heads);
  key.peak = kind.chip->peak_flops_per_s(kind.format).value_or(0);
  key.bandwidth = kind.chip->memory_bandwidth_bytes_per_s;
  std::string error;
  const auto cost = kept.costs.get(key, [&](const CostKey&) -> std::shared_ptr<const models::ServingCost> {
    auto made = models::serving_cost_of_one(a, machine_for(in, kind, 1));
    if (made) return std::make_shared<const models::ServingCost>(std::move(*made));
    error = std::move(made.error);
    return nullptr;
  });
  return cost ? Outcome::ok(*cost) : Outcome::fail(std::move(error));
}

std::string too_slow(const Inputs& in, const CapacityWalls& walls) {
  if (!std::isfinite(walls.memory)) return "Beside the weights there is no room for the caches of the requests.";
  if (!std::isfinite(walls.tpot))
    return "Even alone, a request gets its tokens more slowly than every " + format_text(in.tpot_limit_s, "s") + ".";
  return "Even alone, a prompt takes longer than " + format_text(in.ttft_limit_s, "s") + " to its first token.";
}

SizedFleet fleet_of(const Inputs& in, const Kind& kind, const models::ServingCost& one, const Demand& demand,
                    std::int64_t chips) {
  SizedFleet out{.replica_chips = chips};
  const models::CapacityEngine engine{.chunk_tokens = static_cast<double>(in.chunk_tokens),
                                      .slots = static_cast<double>(in.slots)};
  auto replica = models::capacity_replica(one, kind.model->architecture, machine_for(in, kind, chips), engine);
  if (!replica) {
    out.why = std::move(replica.error);
    return out;
  }
  out.replica = std::move(*replica);
  out.walls = models::capacity_walls(*out.replica, demand.asks, limits_of(in));
  if (const double highest = out.walls.highest(); highest < 1e7)
    out.replicas = whole(highest);
  else if (const double others = std::max(out.walls.memory, out.walls.rate); others < 1e7) {
    out.replicas = whole(others);
    out.late = too_slow(in, out.walls);
  } else {
    out.why = too_slow(in, out.walls);
  }
  return out;
}

/// The fewest chips; whoever keeps the limits goes before who does not.
bool better(const SizedFleet& f, const SizedFleet* best) {
  if (!best || f.late.empty() != best->late.empty()) return !best || f.late.empty();
  return f.chips() < best->chips();
}

struct SizedFleets {
  std::vector<SizedFleet> sizes;
  const SizedFleet* best = nullptr;  ///< the fewest chips; of equal ones the smallest replica
};
/// Fleets of a kind, by size of replica; `own` is looked at too, where it is not 0.
models::Result<SizedFleets> fleets_of(const Inputs& in, const Kind& kind, const Demand& demand, std::int64_t own,
                                      Kept& kept) {
  using Outcome = models::Result<SizedFleets>;
  const auto one = cost_of_one(in, kind, kept);
  if (!one) return Outcome::fail(one.error);
  std::vector<std::int64_t> sizes(offered_sizes.begin(), offered_sizes.end());
  if (own > 0 && std::find(sizes.begin(), sizes.end(), own) == sizes.end()) sizes.push_back(own);
  std::sort(sizes.begin(), sizes.end());
  SizedFleets out;
  out.sizes.reserve(sizes.size());
  for (const std::int64_t chips : sizes) out.sizes.push_back(fleet_of(in, kind, *one, demand, chips));
  for (const SizedFleet& f : out.sizes)
    if (f.able() && f.replica_chips <= offered_sizes.back() && better(f, out.best)) out.best = &f;
  return Outcome::ok(std::move(out));
}

std::string format_name(models::Format format) {
  std::string out(models::format_id(format));
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

double per_million(double dollars_per_hour, const Demand& demand) {
  return dollars_per_hour / (3600 * demand.mean_rate_per_s * demand.asks.output_mean) * 1e6;
}

/// What a chip costs, from the table of dated prices or from the catalog; `own`: a price that was typed.
void set_price(const models::Chip& chip, double own, PlanRow& row) {
  const models::ChipPrice* dated = models::find_chip_price(chip.id);
  if (dated) {
    row.price_per_hour = dated->on_demand;
    row.price_date = dated->date;
    if (dated->high > 0) {
      row.price_low = dated->low;
      row.price_high = dated->high;
    }
  } else if (const auto listed = chip.price.on_demand_usd_per_hour ? chip.price.on_demand_usd_per_hour
                                                                   : chip.price.launch_on_demand_usd_per_hour) {
    row.price_per_hour = *listed;
    row.price_date = "no day stated";
  }
  if (!(own > 0)) return;
  row.price_per_hour = own;
  row.price_date = "as set";
}

void set_dollars(const Demand& demand, PlanRow& row) {
  const double chips = static_cast<double>(row.chips);
  row.dollars_per_hour = chips * row.price_per_hour;
  row.dollars_per_million_tokens = per_million(row.dollars_per_hour, demand);
  row.dollars_low = per_million(chips * row.price_low, demand);
  row.dollars_high = per_million(chips * row.price_high, demand);
}

PlanRow row_of(const Kind& kind, const SizedFleet& f, double own_price, const Demand& demand) {
  PlanRow row{.chip_name = kind.chip->short_name, .format_name = format_name(kind.format)};
  row.name = row.chip_name + " in " + row.format_name;
  row.format = kind.format;
  set_price(*kind.chip, own_price, row);
  row.replica_chips = f.replica_chips;
  row.why = f.why;
  if (!f.able()) return row;
  const double size = static_cast<double>(f.replica_chips);
  row.replicas = f.replicas;
  row.chips = f.chips();
  row.memory_wall = size * f.walls.memory;
  row.rate_wall = size * f.walls.rate;
  row.latency_wall = f.late.empty() ? size * f.walls.latency() : no_number;
  row.binds = f.walls.binds();
  set_dollars(demand, row);
  return row;
}

void add_rivals(const Inputs& in, const Kind& own, const Demand& demand, Kept& kept, Outputs& out) {
  for (const Rival& rival : rivals_of(in)) {
    const auto chip = find_chip(rival.chip);
    if (!chip) continue;
    const Kind kind{own.model, *chip, rival.format, rival.kv, share_of(in, **chip, rival.format)};
    const auto fleets = fleets_of(in, kind, demand, 0, kept);
    SizedFleet none;
    if (fleets && !fleets->best) none = fleets->sizes.back();
    if (!fleets) none.why = fleets.error;
    if (fleets && fleets->best) none = *fleets->best;
    if (!none.late.empty()) none.why = none.late;
    out.plans.push_back(row_of(kind, none, 0, demand));
  }
}

/// Which of the plans is cheapest by the hour, and which by the token.
void compare_prices(Outputs& out) {
  const PlanRow *cheapest = nullptr, *best = nullptr;
  for (const PlanRow& row : out.plans) {
    if (!row.why.empty() || !std::isfinite(row.dollars_per_million_tokens)) continue;
    if (!cheapest || row.price_per_hour < cheapest->price_per_hour) cheapest = &row;
    if (!best || row.dollars_per_million_tokens < best->dollars_per_million_tokens) best = &row;
  }
  if (!cheapest) return;
  out.cheapest_name = cheapest->name;
  out.cheapest_price = cheapest->price_per_hour;
  out.cheapest_dollars = cheapest->dollars_per_million_tokens;
  out.best_name = best->name;
  out.best_dollars = best->dollars_per_million_tokens;
}

void fill_sizes(const SizedFleets& fleets, const SizedFleet& yours, const PlanRow& now, const Demand& demand,
                Outputs& out) {
  for (const SizedFleet& f : fleets.sizes) {
    SizeRow row{.replica_chips = f.replica_chips, .why = f.why};
    row.yours = f.replica_chips == yours.replica_chips;
    row.fits = f.replica && f.replica->sequences_within(demand.asks) >= 1;
    if (f.replica) row.sequences_fit = f.replica->sequences_within(demand.asks);
    if (row.fits) {
      row.saturated_tokens_per_s =
          models::saturated_replica(*f.replica, demand.asks).rate_per_s * demand.asks.output_mean;
      row.saturated_per_chip = row.saturated_tokens_per_s / static_cast<double>(f.replica_chips);
    }
    if (f.able() && f.late.empty()) {
      row.chips = static_cast<double>(f.chips());
      row.dollars_per_million_tokens = per_million(row.chips * now.price_per_hour, demand);
    }
    out.sizes.push_back(std::move(row));
  }
}

void fill_replica(const SizedFleet& f, const Demand& demand, Outputs& out) {
  const auto& asks = demand.asks;
  const double replicas = static_cast<double>(f.replicas), size = static_cast<double>(f.replica_chips);
  const models::ReplicaState s = models::replica_at(*f.replica, asks, asks.rate_per_s / replicas);
  out.planned_rate_per_s = asks.rate_per_s;
  out.planned_prompt = asks.prompt_mean;
  out.planned_output = asks.output_mean;
  out.output_tokens_per_s = asks.rate_per_s * asks.output_mean;
  out.input_tokens_per_s = asks.rate_per_s * asks.prompt_mean;
  out.tokens_per_s_per_chip = out.output_tokens_per_s / (replicas * size);
  out.sequences = s.sequences;
  out.users = s.sequences * replicas;
  out.sequences_fit = f.replica->sequences_within(asks);
  out.gap_s = s.gap_s;
  // Where prompts come faster than replicas read them, waits grow for ever and no figure stands there.
  const auto where_it_ends = [](double seconds) { return std::isfinite(seconds) ? seconds : no_number; };
  out.ttft_p99_s = where_it_ends(models::ttft_of_share(s, *f.replica, asks, replicas, 0.99));
  out.tpot_p99_s = where_it_ends(models::tpot_of_share(s, *f.replica, asks, replicas, 0.99));
  out.busy = 100 * asks.rate_per_s / replicas * models::least_work_s(*f.replica, asks);
  const double full = models::saturated_replica(*f.replica, asks).rate_per_s * asks.output_mean;
  out.saturated_tokens_per_s = full;
  out.saturated_per_chip = full / size;
  out.kv_bytes_per_user = asks.context_mean * f.replica->cost.kv_bytes_per_token * f.replica->copies;
  const auto chips = [&](double wall) {
    return std::isfinite(wall) ? size * static_cast<double>(whole(wall)) : no_number;
  };
  out.chips_for_memory = static_cast<std::int64_t>(chips(f.walls.memory));
  out.chips_for_rate = static_cast<std::int64_t>(chips(f.walls.rate));
  out.chips_for_latency = chips(f.walls.latency());
  out.late = f.late;
  out.chips_for_ttft = chips(f.walls.ttft);
  out.chips_for_tpot = chips(f.walls.tpot);
  out.chips = f.chips();
  out.binds = f.walls.binds();
}

/// The engine serves what was planned for.
void try_plan(const Inputs& in, const SizedFleet& f, const Demand& demand, const Progress& progress, Outputs& out) {
  models::FleetTrial trial{.replicas = f.replicas,
                           .limits = limits_of(in),
                           .variation = in.length_variation,
                           .seed = static_cast<std::uint64_t>(in.seed),
                           .speed = in.speed,
                           .most_tokens = 1.2e6,
                           .cancelled = &progress.cancelled};
  if (demand.recorded) trial.recorded = demand.arrivals;
  out.engine = models::try_fleet(*f.replica, demand.asks, trial);
  if (out.engine.stopped || out.engine.requests == 0) return;
  out.engine_ttft_p99_s = out.engine.ttft_p99_s;
  out.engine_tpot_p99_s = out.engine.tpot_p99_s;
  out.engine_kept_percent = out.engine.kept_percent;
  out.ttft_off_percent = 100 * (out.ttft_p99_s / out.engine_ttft_p99_s - 1);
  out.tpot_off_percent = 100 * (out.tpot_p99_s / out.engine_tpot_p99_s - 1);
}

void fill_arrivals(const Demand& demand, Outputs& out) {
  out.arrivals = models::arrival_figures(demand.arrivals, demand.window_us);
  out.busiest_minute_per_s = models::busiest_rate_per_s(demand.arrivals, demand.window_us, 60'000'000);
  out.rows_left_out = demand.rows_left_out;
  if (demand.rows_left_out > 0)
    out.losses = std::to_string(demand.rows_left_out) +
                 (demand.rows_left_out == 1 ? " row is left out. " : " rows are left out. ") + demand.first_fault;
}

void fill_money(const Kind& kind, const Demand& demand, Outputs& out) {
  out.price_per_hour_used = out.now.price_per_hour;
  out.dollars_per_million_all = out.now.dollars_per_million_tokens * demand.asks.output_mean /
                                (demand.asks.output_mean + demand.asks.prompt_mean);
  const models::ChipPrice* dated = models::find_chip_price(kind.chip->id);
  out.price_source = out.now.price_date == "as set"          ? "yours"
                     : dated                                 ? std::string(dated->source)
                     : std::isfinite(out.now.price_per_hour) ? "list price in the hardware catalog"
                                                             : "nobody's price is carried for this chip: set one";
  out.price_band_source = dated && dated->high > 0 ? std::string(dated->band_source) : "none is carried";
}

void fill_reached(const Inputs& in, const Kind& kind, Outputs& out) {
  out.reached_percent = 100 * kind.share;
  const models::ReachedShare* fit =
      in.reached == Reached::published ? models::find_reached_share(kind.chip->id, kind.format) : nullptr;
  out.reached_from = in.reached == Reached::own ? "as set"
                     : fit ? "fitted to " + std::to_string(fit->runs) + " saturated runs of TensorRT-LLM"
                           : "assumed: no runs on this chip in this format are carried";
  if (fit) out.reached_error_percent = 100 * fit->median_error;
}

/// Chips for each wall, of replicas as yours, at other loads.
void add_loads(const Inputs& in, const SizedFleet& f, const Demand& demand, Run& run) {
  const double size = static_cast<double>(f.replica_chips);
  models::CapacityDemand asks = demand.asks;
  for (int i = -24; i <= 24; ++i) {
    asks.rate_per_s = demand.asks.rate_per_s * std::pow(10.0, i / 24.0);
    const CapacityWalls walls = models::capacity_walls(*f.replica, asks, limits_of(in));
    run.rates.push_back(asks.rate_per_s);
    const auto chips = [&](double wall) { return wall < 1e12 ? size * static_cast<double>(whole(wall)) : no_number; };
    run.memory.push_back(chips(walls.memory));
    run.work.push_back(chips(walls.rate));
    run.latency.push_back(chips(walls.latency()));
  }
}

std::string no_fleet(const Kind& kind, const SizedFleet& f) {
  const std::string who = std::to_string(f.replica_chips) + "\xC3\x97 " + kind.chip->short_name + ": ";
  return who + f.why;
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Kept& kept) {
  const auto model = find_model(in.model);
  const auto chip = find_chip(in.chip);
  if (!model || !chip) return {{.reason = !model ? model.error : chip.error}};
  auto demand = demand_of(in, kept);
  if (!demand) return {{.reason = demand.error}};
  const Kind kind{*model, *chip, in.format, in.kv_format, share_of(in, **chip, in.format)};
  const bool own = in.replica_size == ReplicaSize::own;
  const auto fleets = fleets_of(in, kind, *demand, own ? in.tensor_parallel : 0, kept);
  if (!fleets) return {{.reason = fleets.error}};
  const SizedFleet* yours = fleets->best;
  if (own)
    for (const SizedFleet& f : fleets->sizes)
      if (f.replica_chips == in.tensor_parallel) yours = &f;
  if (!yours || !yours->able()) return {{.reason = no_fleet(kind, yours ? *yours : fleets->sizes.back())}};
  Outputs out;
  out.now = row_of(kind, *yours, in.price_per_hour, *demand);
  out.now.yours = true;
  out.plans.push_back(out.now);
  add_rivals(in, kind, *demand, kept, out);
  compare_prices(out);
  fill_replica(*yours, *demand, out);
  fill_sizes(*fleets, *yours, out.now, *demand, out);
  fill_money(kind, *demand, out);
  fill_reached(in, kind, out);
  fill_arrivals(*demand, out);
  if (in.trial) try_plan(in, *yours, *demand, progress, out);
  if (progress.facts_alone) return {std::move(out)};
  Run run;
  add_loads(in, *yours, *demand, run);
  run.arrivals = std::move(demand->arrivals);
  run.window_us = demand->window_us;
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::serving::capacity
