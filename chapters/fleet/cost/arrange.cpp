#include <algorithm>
#include <cmath>

#include "chapters/fleet/cost/lab.h"
#include "widgets/number/number.h"

namespace chapters::fleet::cost {
namespace {

using widgets::figure, widgets::format_text;

void arrange_wedges(const Inputs& in, const Outputs& out, Picture& p) {
  const models::fleet::PriceParts& parts = out.parts;
  const auto add = [&](std::string name, std::string more, std::string_view output, double value, widgets::Tint tint) {
    if (!(value > 0)) return;
    const double from = p.wedges.empty() ? 0 : p.wedges.back().to;
    p.wedges.push_back({std::move(name), std::move(more), format_text(value, "$", 3), output, from,
                        from + value / out.dollars_per_million_tokens, tint});
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
                                     [](const Wedge& a, const Wedge& b) { return a.to - a.from < b.to - b.from; });
  text += figure((most->to - most->from) * out.dollars_per_million_tokens, "$") + " goes to " +
          (most->output == "part_empty" ? "hours without work."
           : most->output == "part_not_reached"
               ? std::string(out.parts.computing > 0 ? "peak" : "bandwidth") + " that is never reached."
               : most->name + ".");
  if (out.electricity_per_million > out.dollars_per_million_tokens)
    return text + "\nElectricity alone would be " + figure(out.electricity_per_million, "$") +
           ": the price does not cover it.";
  text += "\nElectricity is " + figure(out.electricity_per_million, "$") + " of it";
  if (out.parts.empty > out.electricity_per_million && most->output != "part_empty")
    text += ", empty hours are " + figure(out.parts.empty, "$");
  if (!(out.parts.empty > 0)) return text + "; every hour is filled already.";
  return text + "; with every hour filled a million would cost " + figure(out.filled_dollars, "$") + ".";
}

void arrange_coins(const Outputs& out, Picture& p) {
  double dearest = 0;
  for (const UsersRow& row : out.by_users) dearest = std::max(dearest, row.price);
  for (const UsersRow& row : out.by_users)
    p.coins.push_back({std::to_string(row.sharing), format_text(row.price, "$", 3),
                       static_cast<float>(std::sqrt(row.price / dearest)), &row == &out.by_users.back()});
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture p;
  if (!out.reason.empty()) return p;
  arrange_wedges(in, out, p);
  p.answer = answer_of(out, p);
  p.doors = doors_of(in);
  arrange_coins(out, p);
  for (const GridRow& row : out.by_grid) p.grids.push_back({row.grid, row.emitted, false});
  p.grids.push_back({"yours", out.kg_co2_per_million_tokens, true});
  std::stable_sort(p.grids.begin(), p.grids.end(), [](const GridBar& a, const GridBar& b) { return a.kg < b.kg; });
  p.saved_together = out.together_saved;
  p.saved_promised = out.promised_saved;
  return p;
}

}  // namespace chapters::fleet::cost
