#include "models/machine/iron_law_effects.h"

#include <algorithm>
#include <cmath>

namespace models {

double part_s(const IronTime& time, IronPart part) {
  switch (part) {
    case IronPart::memory:
      return time.memory_s;
    case IronPart::compute:
      return time.compute_s;
    case IronPart::latency:
      return time.latency_s;
  }
  return 0;
}

double exposed_s(Combine combine, const IronTime& time, IronPart part) {
  if (combine == Combine::added || part == IronPart::latency) return part_s(time, part);
  const bool memory_longer = time.memory_s >= time.compute_s;
  return memory_longer == (part == IronPart::memory) ? part_s(time, part) : 0.0;
}

bool helps(IronTerm term, double factor) {
  const bool less_is_better = term == IronTerm::bytes || term == IronTerm::operations || term == IronTerm::latency;
  return less_is_better ? factor < 1 : factor > 1;
}

Result<TechniqueEffect> effect_of(const IronLaw& law, const Technique& technique, double strength) {
  using Out = Result<TechniqueEffect>;
  const auto before = iron_time(law);
  if (!before) return Out::fail(before.error);
  TechniqueEffect out{.technique = &technique, .law = apply(law, technique, strength), .before = *before};
  const auto after = iron_time(out.law);
  if (!after) return Out::fail(after.error);
  out.after = *after;
  for (std::size_t i = 0; i < iron_term_count; ++i) {
    const double was = iron_value(law, static_cast<IronTerm>(i));
    out.factor[i] = was > 0 ? iron_value(out.law, static_cast<IronTerm>(i)) / was : 1.0;
  }
  if (after->time_s > 0) out.speedup = before->time_s / after->time_s;
  double most = -1;
  for (const IronPart part : {IronPart::memory, IronPart::compute, IronPart::latency}) {
    const double change = std::abs(exposed_s(law, *before, part) - exposed_s(out.law, *after, part));
    if (change <= most) continue;
    most = change;
    out.part = part;
  }
  return Out::ok(out);
}

Result<std::vector<TechniqueEffect>> effects_in_order(IronLaw law, std::span<const Technique* const> chosen,
                                                      double strength) {
  using Out = Result<std::vector<TechniqueEffect>>;
  std::vector<TechniqueEffect> out;
  for (const Technique* technique : chosen) {
    if (!technique) continue;
    const auto effect = effect_of(law, *technique, strength);
    if (!effect) return Out::fail(effect.error);
    law = effect->law;
    out.push_back(*effect);
  }
  return Out::ok(std::move(out));
}

Result<std::array<double, iron_part_count>> speedup_bounds(const IronLaw& law) {
  using Out = Result<std::array<double, iron_part_count>>;
  const auto now = iron_time(law);
  if (!now) return Out::fail(now.error);
  const double parts[] = {now->memory_s, now->compute_s, now->latency_s};
  std::array<double, iron_part_count> out{};
  for (std::size_t gone = 0; gone < iron_part_count; ++gone) {
    const double memory = gone == 0 ? 0.0 : parts[0], compute = gone == 1 ? 0.0 : parts[1],
                 latency = gone == 2 ? 0.0 : parts[2];
    out[gone] =
        now->time_s / (latency + (law.combine == Combine::added ? memory + compute : std::max(memory, compute)));
  }
  return Out::ok(out);
}

std::string counted_twice(std::span<const Technique* const> chosen, Format format) {
  const Technique* narrower = nullptr;
  for (const Technique* one : chosen) {
    if (!one) continue;
    if (one->id == "tensor_cores" && format != Format::fp32)
      return std::string(one->label) + " counts from the FP32 lanes, but the rate is already that of " +
             std::string(format_label(format)) + ": choose FP32, or leave it off.";
    if (one->id == "fp8_math" && format != Format::bf16 && format != Format::fp16)
      return std::string(one->label) + " counts from a 16-bit rate, but the format is " +
             std::string(format_label(format)) + ": choose BF16 or FP16, or leave it off.";
    if (one->id != "weights_8bit" && one->id != "weights_4bit" && one->id != "fp8_math") continue;
    if (narrower)
      return std::string(narrower->label) + " and " + std::string(one->label) +
             " both shrink the same 16-bit numbers: keep one of them.";
    narrower = one;
  }
  return {};
}

}  // namespace models
