#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/cost/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/inference/phases.h"
#include "models/transformer/flops.h"
#include "models/transformer/weight_storage.h"
#include "widgets/number/number.h"

namespace chapters::fleet::cost {
namespace {

using models::fleet::PaidHour, models::fleet::PriceLever;

constexpr double year_s = 365.25 * 86400, lever_points = 0.1;  ///< what a lever adds to a share

/// Model and chip as the hour needs them.
struct Setting {
  const models::Chip* chip = nullptr;
  const models::Architecture* architecture = nullptr;
  models::Machine machine;
};

/// A sentence where the catalog lacks what is asked.
std::string read_setting(const Inputs& in, Setting& s) {
  const auto chip = find_chip(in.chip);
  if (!chip) return chip.error;
  const auto model = find_model(in.model);
  if (!model) return model.error;
  const auto machine = models::machine_of(**chip, in.format);
  if (!machine) return machine.error;
  s = {*chip, &(*model)->architecture, *machine};
  return {};
}

/// A decode step, or a token of a training, at full bandwidth and full peak.
PaidHour bound_of(const Inputs& in, const Setting& s, std::int64_t users) {
  PaidHour hour{.price_per_hour = in.price_per_hour, .filled = in.filled / 100};
  const auto chips = static_cast<double>(in.chips);
  if (in.work == WorkKind::train) {
    const auto active = static_cast<double>(models::count_parameters(*s.architecture).active);
    hour.compute_s = models::flops_6nd(active, 1) / (chips * s.machine.peak_flops_per_s);
    return hour;
  }
  const models::inference::PhaseSetup setup{.machine = s.machine,
                                            .chips = in.chips,
                                            .weight_bytes_each = models::stored_bits(in.format, in.format) / 8,
                                            .kv_bytes_each = models::kv_number_bytes(in.kv_format),
                                            .batch = users,
                                            .prompt = in.context,
                                            .context = in.context};
  const models::inference::PhaseWork step = models::inference::decode_step_work(*s.architecture, setup);
  const double bandwidth = chips * s.machine.bandwidth_bytes_per_s;
  hour.weights_s = step.weight_bytes / bandwidth;
  hour.cache_s = step.cache_bytes / bandwidth;
  hour.compute_s = step.matmul_flops / (chips * s.machine.peak_flops_per_s);
  hour.tokens_per_step = static_cast<double>(users);
  return hour;
}

/// Bytes of weights and caches, over all chips.
double held_bytes(const Inputs& in, const Setting& s, std::int64_t users) {
  const double weights = static_cast<double>(models::count_parameters(*s.architecture).total) *
                         models::stored_bits(in.format, in.format) / 8;
  const double bandwidth = static_cast<double>(in.chips) * s.machine.bandwidth_bytes_per_s;
  return weights + bound_of(in, s, users).cache_s * bandwidth;
}

/// Grams of CO2 equivalent per kilowatt-hour of a year's electricity (2022 and 2023), and that of coal: the data of
/// codecarbon, which carries Our World in Data.
struct Grid {
  const char* name;
  double g_per_kwh;
};
constexpr std::array grids{Grid{"Iceland", 27.68},  Grid{"Sweden", 40.695},  Grid{"France", 56.039},
                           Grid{"Canada", 170.043}, Grid{"Germany", 380.95}, Grid{"World", 475},
                           Grid{"Poland", 661.926}, Grid{"Coal alone", 995}};

void fill_price(const Inputs& in, const PaidHour& hour, Outputs& out) {
  out.dollars_per_million_tokens = models::fleet::dollars_per_million_tokens(in.price_per_hour, in.output_tokens_per_s);
  out.kwh_per_million_tokens = models::fleet::kwh_per_million_tokens(in.power_w, in.pue, in.output_tokens_per_s);
  out.kg_co2_per_million_tokens = models::fleet::kg_co2(out.kwh_per_million_tokens, in.carbon_g_per_kwh);
  for (const Grid& grid : grids)
    out.by_grid.push_back({grid.name, models::fleet::kg_co2(out.kwh_per_million_tokens, grid.g_per_kwh)});
  out.electricity_per_million = out.kwh_per_million_tokens * in.electricity_per_kwh;
  out.parts = models::fleet::price_parts(hour);
  out.filled_dollars = out.dollars_per_million_tokens * in.filled / 100;
  out.reach = 100 * hour.reach;
  out.step_s = hour.step_s();
  out.busy_tokens_per_s = hour.busy_tokens_per_s();
  out.bound_tokens_per_s = hour.tokens_per_step / hour.bound_s();
  const double per_year = in.tokens_per_day * year_s / 86400;
  out.year_dollars = out.dollars_per_million_tokens * per_year / 1e6;
  out.year_kwh = out.kwh_per_million_tokens * per_year / 1e6;
  out.year_co2_t = models::fleet::kg_co2(out.year_kwh, in.carbon_g_per_kwh) / 1000;
  out.nodes = std::ceil(in.tokens_per_day / 86400 / in.output_tokens_per_s - 1e-9);
}

/// The same tokens at the lowest and the highest rental price that the catalog has for the chip.
void fill_band(const Inputs& in, const models::Chip& chip, Outputs& out) {
  const models::Price& p = chip.price;
  for (const auto& price : {p.on_demand_usd_per_hour, p.low_usd_per_hour, p.high_usd_per_hour}) {
    if (!price) continue;
    const double dollars =
        models::fleet::dollars_per_million_tokens(static_cast<double>(in.chips) * *price, in.output_tokens_per_s);
    out.low_dollars = std::isnan(out.low_dollars) ? dollars : std::min(out.low_dollars, dollars);
    out.high_dollars = std::isnan(out.high_dollars) ? dollars : std::max(out.high_dollars, dollars);
  }
}

/// The same hour with fewer users, at the share of the bound that is reached here.
void fill_users(const Inputs& in, const Setting& s, double reach, Outputs& out) {
  const auto add = [&](std::int64_t users) {
    PaidHour hour = bound_of(in, s, users);
    hour.reach = reach;
    out.by_users.push_back({users, hour.dollars_per_million()});
  };
  for (std::int64_t users = 1; 3 * users < 2 * in.users; users *= 4) add(users);
  add(in.users);
  out.one_user_dollars = out.by_users.front().price;
}

void fill_levers(const Inputs& in, const PaidHour& hour, bool room_for_twice, Outputs& out) {
  const double before = hour.dollars_per_million(), a_year = in.tokens_per_day * year_s / 86400 / 1e6;
  PriceLever all;
  const auto add = [&](std::string name, const PriceLever& lever) {
    const double dollars = models::fleet::pull(hour, lever).dollars_per_million();
    if (!(dollars < before * (1 - 1e-9))) return;
    out.levers.push_back({std::move(name), dollars, (before - dollars) * a_year});
    out.promised_saved += out.levers.back().saved_per_year;
    all.weights *= lever.weights;
    all.cache *= lever.cache;
    all.compute *= lever.compute;
    all.tokens *= lever.tokens;
    all.filled += lever.filled;
    all.reach += lever.reach;
  };
  const auto share_words = [](std::string_view what, double share) {
    return std::string(what) + ", " + widgets::format_text(100 * share, "", 2) + " to " +
           widgets::format_text(100 * std::min(1.0, share + lever_points), "%", 2);
  };
  add(share_words("hours filled", hour.filled), {.filled = lever_points});
  add(share_words(hour.computes() ? "share of the peak" : "bandwidth reached", hour.reach), {.reach = lever_points});
  if (in.work == WorkKind::serve) {
    if (in.format != models::Format::fp8) add("weights in FP8", {.weights = 0.5});
    if (in.kv_format != models::KvFormat::fp8) add("cache in FP8", {.cache = 0.5});
    if (room_for_twice) add("twice the users", {.tokens = 2});
  }
  out.together_saved = (before - models::fleet::pull(hour, all).dollars_per_million()) * a_year;
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  Setting s;
  out.reason = read_setting(in, s);
  if (!out.reason.empty()) return out;
  const double memory = static_cast<double>(in.chips) * s.chip->memory_bytes;
  if (in.work == WorkKind::serve && held_bytes(in, s, in.users) > memory) {
    out.reason = "Weights and caches take " + widgets::format_text(held_bytes(in, s, in.users), "B") +
                 ", and the chips have " + widgets::format_text(memory, "B") +
                 ": take more chips, fewer users, a shorter context or FP8.";
    return out;
  }
  PaidHour hour = bound_of(in, s, in.users);
  const double busy = in.output_tokens_per_s / hour.filled;
  hour.reach = busy * hour.bound_s() / hour.tokens_per_step;
  if (!(hour.reach <= 1)) {
    out.reason = "So many tokens per second need " + widgets::format_text(busy, "") +
                 " while work runs, and these chips reach at most " +
                 widgets::format_text(hour.tokens_per_step / hour.bound_s(), "") +
                 ": take fewer tokens, fill more hours, or add chips" +
                 (in.work == WorkKind::serve ? " or users." : ".");
    return out;
  }
  fill_price(in, hour, out);
  fill_levers(in, hour, 2 * in.users <= max_users && held_bytes(in, s, 2 * in.users) <= memory, out);
  fill_band(in, *s.chip, out);
  if (in.work == WorkKind::train) {
    out.step_dollars = out.dollars_per_million_tokens * in.step_tokens / 1e6;
    out.run_dollars = out.dollars_per_million_tokens * in.run_tokens / 1e6;
    out.run_kwh = out.kwh_per_million_tokens * in.run_tokens / 1e6;
    return out;
  }
  fill_users(in, s, hour.reach, out);
  return out;
}

}  // namespace chapters::fleet::cost
