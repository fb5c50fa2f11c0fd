#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/fleet/cost/lab.h"
#include "widgets/number/number.h"

namespace chapters::fleet::cost {
namespace {

using widgets::figure, widgets::format_text;

/// Grams of CO2 equivalent per kilowatt-hour of a year's electricity, by Our World in Data as codecarbon carries it
/// (2022 and 2023), and that of coal.
struct Grid {
  const char* name;
  double g_per_kwh;
};
constexpr std::array grids{Grid{"Iceland", 27.68},  Grid{"Sweden", 40.695},  Grid{"France", 56.039},
                           Grid{"Canada", 170.043}, Grid{"Germany", 380.95}, Grid{"World", 475},
                           Grid{"Poland", 661.926}, Grid{"Coal alone", 995}};

void arrange_wedges(const Inputs& in, const Outputs& out, Picture& p) {
  const models::fleet::PriceParts& parts = out.parts;
  const auto add = [&](std::string name, std::string more, std::string_view output, double value, widgets::Tint tint) {
    if (value > 0)
      p.wedges.push_back({std::move(name), std::move(more), format_text(value, "$", 3), output, value, tint});
  };
  add("empty hours", "paid, and nothing ran", "part_empty", parts.empty, widgets::Meaning::idle);
  add("never reached", format_text(100 - out.reach, "%", 2) + " of a step's time", "part_not_reached",
      parts.not_reached, widgets::Meaning::launch_bound);
  add("computing", in.work == WorkKind::train ? "6 N per token" : "multiply-adds", "part_computing", parts.computing,
      widgets::Meaning::compute_bound);
  add("reading caches", "of " + std::to_string(in.users) + (in.users == 1 ? " user" : " users"), "part_cache",
      parts.cache, widgets::Meaning::kv_cache);
  add("reading weights", "once for all users", "part_weights", parts.weights, widgets::Meaning::memory_bound);
  p.total = format_text(out.dollars_per_million_tokens, "$", 3);
  p.electricity = "rim: electricity " + format_text(out.electricity_per_million, "$", 2) + " of it";
  p.electricity_share = std::min(1.0, out.electricity_per_million / out.dollars_per_million_tokens);
}

std::string answer_of(const Outputs& out, const Picture& p) {
  std::string text = "A million tokens cost " + figure(out.dollars_per_million_tokens, "$") + ": ";
  const auto most = std::max_element(p.wedges.begin(), p.wedges.end(),
                                     [](const Wedge& a, const Wedge& b) { return a.value < b.value; });
  text += figure(most->value, "$") + " goes to " +
          (most->name == "empty hours" ? "hours without work."
           : most->output == "part_not_reached"
               ? std::string(out.parts.computing > 0 ? "peak" : "bandwidth") + " that is never reached."
               : most->name + ".");
  if (out.electricity_per_million > out.dollars_per_million_tokens)
    return text + "\nElectricity alone would be " + figure(out.electricity_per_million, "$") +
           ": the price does not cover it.";
  text += "\nElectricity is " + figure(out.electricity_per_million, "$") + " of it";
  if (out.parts.empty > out.electricity_per_million && most->name != "empty hours")
    text += ", empty hours are " + figure(out.parts.empty, "$");
  return text + "; with every hour filled a million would cost " + figure(out.filled_dollars, "$") + ".";
}

/// The same hour with fewer users. Reading the weights is shared, reading the cache is not.
void arrange_coins(const Inputs& in, const Outputs& out, Picture& p) {
  if (in.work != WorkKind::serve) return;
  const models::fleet::PriceParts& parts = out.parts;
  if (parts.computing > 0) return;
  const double reading = parts.weights + parts.cache, users = static_cast<double>(in.users);
  double dearest = 0;
  const auto add = [&](double count, bool here) {
    const double value = out.dollars_per_million_tokens * (parts.weights * users / count + parts.cache) / reading;
    p.coins.push_back({std::to_string(static_cast<std::int64_t>(count)), format_text(value, "$", 3), value, 1, here});
    dearest = std::max(dearest, value);
  };
  for (double count = 1; count < users / 1.5 && p.coins.size() < 8; count *= 4) add(count, false);
  add(users, true);
  for (Coin& c : p.coins) c.radius = static_cast<float>(std::sqrt(c.value / dearest));
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty()) return p;
  arrange_wedges(in, out, p);
  p.answer = answer_of(out, p);
  arrange_coins(in, out, p);
  for (const Grid& g : grids) p.grids.push_back({g.name, out.kwh_per_million_tokens * g.g_per_kwh / 1000, false});
  p.grids.push_back({"yours", out.kg_co2_per_million_tokens, true});
  std::stable_sort(p.grids.begin(), p.grids.end(), [](const GridBar& a, const GridBar& b) { return a.kg < b.kg; });
  p.saved_together = out.together_saved;
  p.saved_promised = out.promised_saved;
  return p;
}

}  // namespace chapters::fleet::cost
