#include "models/serving/fleet/load_ladder.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace models {
namespace {

/// 1, 2 or 5 times a power of ten, at most `value`.
double round_down(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double times : {5.0, 2.0})
    if (times * power <= value * (1 + 1e-12)) return times * power;
  return power;
}

}  // namespace

LoadLadder load_ladder(double capacity_per_s) {
  constexpr std::array shares{0.0625, 0.25, 0.45, 0.62, 0.75, 0.83, 0.89, 0.94, 0.98, 1.03, 1.1, 1.2, 1.3};
  LoadLadder out;
  if (!(capacity_per_s > 0) || !std::isfinite(capacity_per_s)) return out;
  out.step_per_s = round_down(capacity_per_s / 200);
  for (const double share : shares) out.rungs.push_back(std::llround(share * capacity_per_s / out.step_per_s));
  while (out.start + 1 < out.rungs.size() && out.rate(out.rungs[out.start]) <= capacity_per_s) ++out.start;
  return out;
}

namespace {

/// Asks, counts, and remembers that somebody was silent.
class LadderQuestion {
 public:
  LadderQuestion(const std::function<std::optional<bool>(std::int64_t)>& keeps, LoadSearch& search)
      : keeps_(keeps), search_(search) {}
  bool operator()(std::int64_t steps) {
    if (search_.stopped) return false;
    ++search_.asked;
    const std::optional<bool> kept = keeps_(steps);
    search_.stopped = !kept.has_value();
    return kept.value_or(false);
  }

 private:
  const std::function<std::optional<bool>(std::int64_t)>& keeps_;
  LoadSearch& search_;
};

}  // namespace

LoadSearch highest_load(const LoadLadder& ladder, const std::function<std::optional<bool>(std::int64_t)>& keeps,
                        int beyond) {
  LoadSearch out;
  const std::vector<std::int64_t>& rungs = ladder.rungs;
  if (rungs.empty()) return out;
  LadderQuestion ask(keeps, out);
  std::int64_t kept = 0, missed = 0;
  const auto go_to = [&](std::int64_t steps) { (ask(steps) ? kept : missed) = steps; };
  std::size_t at = std::min(ladder.start, rungs.size() - 1);
  go_to(rungs[at]);
  if (kept == 0)
    while (kept == 0 && at > 0 && !out.stopped) go_to(rungs[--at]);
  else
    while (missed == 0 && ++at < rungs.size() && !out.stopped) go_to(rungs[at]);
  for (int more = 0; more < beyond && missed == 0 && !out.stopped; ++more)
    go_to(kept + std::max<std::int64_t>(1, kept / 4));
  out.open = missed == 0;
  while (!out.open && missed - kept > 1 && !out.stopped) go_to(kept + (missed - kept) / 2);
  if (kept > 0 && !out.stopped) out.highest = kept;
  return out;
}

double saturated_rate(std::vector<double> leave_s) {
  if (leave_s.empty()) return 0;
  std::sort(leave_s.begin(), leave_s.end());
  if (leave_s.size() < 10) return leave_s.back() > 0 ? static_cast<double>(leave_s.size()) / leave_s.back() : 0;
  const std::size_t from = leave_s.size() / 5, to = leave_s.size() - 1 - leave_s.size() / 5;
  const double span_s = leave_s[to] - leave_s[from];
  return span_s > 0 ? static_cast<double>(to - from) / span_s : 0;
}

}  // namespace models
