#pragma once
#include "models/machine/hardware.h"
#include "models/machine/iron_law.h"

#include <array>
#include <span>
#include <string>
#include <vector>

/// What techniques do to a law: alone, in order, at most; and which of them count one saving twice.
namespace models {

/// The three parts of the time.
using IronPart = IronTime::Dominant;
inline constexpr std::size_t iron_part_count = 3;
double part_s(const IronTime& time, IronPart part);

/// What is seen of a part: when loads and arithmetic overlap, the shorter of the two is hidden and counts 0 s.
double exposed_s(Combine combine, const IronTime& time, IronPart part);
inline double exposed_s(const IronLaw& law, const IronTime& time, IronPart part) {
  return exposed_s(law.combine, time, part);
}

/// Does multiplying this quantity by `factor` shorten its part? Bytes, operations and latency fall, the others rise.
bool helps(IronTerm term, double factor);

struct TechniqueEffect {
  const Technique* technique = nullptr;
  IronLaw law;  ///< after it
  IronTime before, after;
  std::array<double, iron_term_count>
      factor{};  ///< after / before of each quantity: smaller than the technique's own where efficiency is cut at 1
  double speedup = 1;                ///< time before / time after
  IronPart part = IronPart::memory;  ///< the part whose seconds changed most
};
/// One technique on a law. Infeasible: as iron_time.
Result<TechniqueEffect> effect_of(const IronLaw& law, const Technique& technique, double strength = 1);
/// Each technique on what the ones before it left. Infeasible: as iron_time.
Result<std::vector<TechniqueEffect>> effects_in_order(IronLaw law, std::span<const Technique* const> chosen,
                                                      double strength = 1);

/// The speedup if one part took no time at all: T / T without it (Amdahl 1967), by IronPart. Infinite where nothing
/// else is left.
Result<std::array<double, iron_part_count>> speedup_bounds(const IronLaw& law);

/// One sentence when two of the techniques count the same saving, or one counts from another format than this; else
/// empty.
std::string counted_twice(std::span<const Technique* const> chosen, Format format);

}  // namespace models
