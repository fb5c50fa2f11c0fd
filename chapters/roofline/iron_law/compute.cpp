#include <algorithm>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/iron_law/lab.h"
#include "models/machine/roofline.h"

namespace chapters::roofline::iron_law {
namespace {

using models::IronLaw, models::IronTerm, models::Technique;

/// The quantities in which two laws differ, by name.
std::string listed(const IronLaw& before, const IronLaw& after) {
  std::string out;
  for (std::size_t i = 0; i < models::iron_term_count; ++i) {
    const auto term = static_cast<IronTerm>(i);
    if (models::iron_value(before, term) != models::iron_value(after, term))
      out.append(out.empty() ? "" : ", ").append(models::iron_term_label(term));
  }
  if (before.combine != after.combine) out.append(out.empty() ? "" : ", ").append("overlap");
  return out.empty() ? "nothing" : out;
}

/// What the technique adds to the others that are on, whether it is on itself or not.
double gain_now(const Inputs& in, const IronLaw& law, const Technique& one) {
  std::vector<const Technique*> others;
  for (const std::string& id : in.techniques)
    if (id != one.id) others.push_back(models::find_technique(id));
  const auto effect = models::effect_of(models::apply_all(law, others, in.strength), one, in.strength);
  return effect ? effect->speedup : 1.0;
}

TechniqueRow row_of(const Inputs& in, const IronLaw& before, const models::TechniqueEffect& alone) {
  const Technique& one = *alone.technique;
  const bool on = std::find(in.techniques.begin(), in.techniques.end(), one.id) != in.techniques.end();
  return {std::string(one.label), listed(before, alone.law), alone, gain_now(in, before, one), on};
}

}  // namespace

Outputs compute(const Inputs& in) {
  Outputs out;
  const auto infeasible = [&](std::string why) {
    out.reason = std::move(why);
    return out;
  };
  const auto chip = find_chip(in.chip);
  if (!chip) return infeasible(chip.error);
  const auto machine = models::machine_of(**chip, in.format);
  if (!machine) return infeasible(machine.error);
  const IronLaw law_before{in.bytes,      machine->bandwidth_bytes_per_s,
                           in.flops,      machine->peak_flops_per_s,
                           in.efficiency, in.overhead_s,
                           in.combine,    in.weight_share};
  std::vector<const Technique*> chosen;
  for (const std::string& id : in.techniques) chosen.push_back(models::find_technique(id));
  out.law = models::apply_all(law_before, chosen, in.strength);
  const auto before = models::iron_time(law_before);
  if (!before) return infeasible(before.error);
  const auto now = models::iron_time(out.law);
  if (!now) return infeasible(now.error);
  const auto steps = models::effects_in_order(law_before, chosen, in.strength);
  if (!steps) return infeasible(steps.error);
  const auto bounds = models::speedup_bounds(out.law);
  if (!bounds) return infeasible(bounds.error);
  out.before = *before;
  out.now = *now;
  for (const models::TechniqueEffect& step : *steps)
    out.steps.push_back({std::string(step.technique->label), step, step.before.time_s - step.after.time_s});
  out.bounds = *bounds;
  out.speedup = before->time_s / now->time_s;
  out.bandwidth_use = 100 * now->memory_s / now->time_s;
  out.compute_use = 100 * now->compute_s * out.law.efficiency / now->time_s;
  out.moved = listed(law_before, out.law);
  out.caution = models::counted_twice(chosen, in.format);
  for (const Technique& one : models::techniques())
    if (const auto alone = models::effect_of(law_before, one, in.strength))
      out.rows.push_back(row_of(in, law_before, *alone));
  return out;
}

}  // namespace chapters::roofline::iron_law
