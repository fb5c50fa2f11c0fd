#include <algorithm>

#include "chapters/profiling/measure/lab.h"

/// What is timed on this machine: two rungs of a CPU's ladder, run by run.
namespace chapters::profiling::measure {
namespace {

const ::kernels::Rung* rung_at(const ::kernels::Ladder& ladder, std::int64_t number) {
  const auto last = static_cast<std::int64_t>(ladder.rungs.size());
  return &ladder.rungs[static_cast<std::size_t>(std::clamp<std::int64_t>(number, 1, last) - 1)];
}

}  // namespace

const Choices& timed_ladders() {
  static const Choices all = [] {
    Choices out;
    for (const auto& ladder : ::kernels::all_ladders()) {
      if (ladder.device != ::kernels::Device::cpu) continue;
      std::string versions;
      for (const auto& rung : ladder.rungs) (versions += versions.empty() ? "" : ", ") += rung.title;
      out.push_back({std::string(ladder.id), std::string(ladder.title), "From the first rung: " + versions + "."});
    }
    return out;
  }();
  return all;
}

ChosenRungs rungs_of(const Inputs& in) {
  const auto* ladder = ::kernels::find_ladder(in.ladder);
  if (!ladder || ladder->rungs.empty()) return {};
  const std::int64_t size = in.size == WorkSize::smallest ? ::kernels::part_of_size(*ladder, 16)
                            : in.size == WorkSize::small  ? ::kernels::part_of_size(*ladder, 4)
                                                          : ladder->size_default;
  return {ladder, rung_at(*ladder, in.rung_a), rung_at(*ladder, in.rung_b), size};
}

std::string next_of(const Inputs& in) {
  const ChosenRungs chosen = rungs_of(in);
  if (!chosen.ladder) return "nothing";
  std::string text(chosen.a->id);
  ((text += " and ") += chosen.b->id) += " of " + in.ladder;
  return text + ", size " + std::to_string(chosen.size) + (in.cold_caches ? ", cold" : ", warm");
}

std::string turns_request(const Inputs& in) {
  const ChosenRungs chosen = rungs_of(in);
  if (!chosen.ladder) return {};
  std::string turns;
  for (const auto& slot : models::measure::slots_of(bench_of(in), static_cast<std::uint64_t>(in.seed)))
    turns += slot.is_b ? 'B' : 'A';
  std::string text = "call turns\nladder " + in.ladder + "\nrungs ";
  ((text += chosen.a->id) += ',') += chosen.b->id;
  return text + "\nsize " + std::to_string(chosen.size) + "\ncold " + (in.cold_caches ? "1" : "0") + "\nseed " +
         std::to_string(in.seed) + "\nturns " + turns + "\n";
}

}  // namespace chapters::profiling::measure
