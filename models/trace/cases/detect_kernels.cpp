#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>

#include "models/trace/cases/detect_parts.h"

namespace models::trace {
namespace {

/// A step whose kernels are so much slower all together is slow.
constexpr double slow_step = 0.022;

/// Does a kernel of this name mostly move bytes, so that the clock of the arithmetic units hardly matters to it?
bool moves_bytes(std::string_view name) {
  for (const std::string_view part : {"elementwise", "norm", "reduce", "softmax", "copy", "Memcpy", "Memset", "cat",
                                      "multi_tensor", "dropout", "transpose"})
    if (name.find(part) != std::string_view::npos) return true;
  return false;
}

struct SeenKernel {
  std::uint32_t event = none;
  std::size_t step = 0;
  std::uint64_t place = 0;  ///< its name, and which one of that name in its step
  double ns = 0, usual_ns = 0;
  bool bytes = false;
  double ratio() const { return usual_ns > 0 ? ns / usual_ns : 1; }
};

/// What a step's kernels take above the usual, the two kinds apart.
struct StepExcess {
  double above_ns = 0, usual_ns = 0, bytes_above_ns = 0, bytes_usual_ns = 0;
  double share() const { return usual_ns > 0 ? above_ns / usual_ns : 0; }
  double bytes_share() const { return bytes_usual_ns > 0 ? bytes_above_ns / bytes_usual_ns : 0; }
};

using SeenKernels = std::vector<std::vector<SeenKernel>>;

SeenKernels seen_kernels(std::span<const DetectRow> rows) {
  SeenKernels out(rows.size());
  std::unordered_map<std::string_view, std::uint64_t> numbers;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const DetectRow& row = rows[r];
    std::unordered_map<std::uint64_t, std::uint64_t> counts;
    std::size_t step = 0, counted_of = 0;
    for (const std::uint32_t i : row.work) {
      const Event& e = row.trace->events[i];
      if (e.cls != EventClass::computation) continue;
      // A kernel belongs to the step in which it was launched.
      const std::int64_t at = e.link == none ? e.start_ns : row.trace->events[e.link].start_ns;
      while (step + 1 < row.steps.size() && at >= row.steps[step + 1].start_ns) ++step;
      if (step != counted_of) counts.clear();
      counted_of = step;
      const std::string_view name = row.trace->name(e);
      const std::uint64_t number = numbers.try_emplace(name, numbers.size()).first->second;
      out[r].push_back(
          {i, step, number << 20 | counts[number]++, static_cast<double>(e.duration_ns), 0, moves_bytes(name)});
    }
  }
  return out;
}

/// The usual time of a kernel is that of the lower quarter of all steps and ranks at its place: a fault that slows more
/// than half of them is still seen.
void set_usual_times(SeenKernels& seen) {
  std::unordered_map<std::uint64_t, std::vector<double>> all;
  for (const auto& row : seen)
    for (const SeenKernel& k : row) all[k.place].push_back(k.ns);
  for (auto& [place, times] : all) {
    const auto at = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 4);
    std::nth_element(times.begin(), at, times.end());
    times.front() = *at;
  }
  for (auto& row : seen)
    for (SeenKernel& k : row) k.usual_ns = all[k.place].front();
}

/// Kernels far above their usual time whose neighbours are not: somebody else had the device.
double add_interrupted(std::vector<SeenKernel>& row, RowCosts& costs) {
  double alone = 0, together = 0;
  std::int64_t cost = 0;
  CostliestSpan longest;
  const auto slow = [&](std::size_t i) { return row[i].ratio() > 1.15; };
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!slow(i)) continue;
    // Neighbours of its own kind: kernels that move bytes stay as they are when clocks drop.
    int near = 0, near_slow = 0;
    for (const int way : {-1, 1}) {
      std::size_t j = i;
      for (int steps = 0; steps < 3; ++steps) {
        if ((way < 0 && j == 0) || (way > 0 && j + 1 >= row.size())) break;
        j = way < 0 ? j - 1 : j + 1;
        if (row[j].bytes && !row[i].bytes) continue;
        ++near;
        near_slow += row[j].ratio() - 1 > 0.4 * (row[i].ratio() - 1);
        break;
      }
    }
    const double above = row[i].ns - row[i].usual_ns;
    (near_slow * 2 > near || near == 0 ? together : alone) += above;
    found.push_back(i);
    cost += static_cast<std::int64_t>(above);
    if (static_cast<std::int64_t>(above) > longest.ns) longest = {row[i].event, static_cast<std::int64_t>(above)};
  }
  if (alone <= together || found.size() * 5 > row.size() * 2) return 0;
  costs.add(Cause::contention, cost, longest.event);
  for (const std::size_t i : found) row[i].ns = row[i].usual_ns;  // told; nobody else counts them
  return alone;
}

/// The steps of a row: which are slow, and whether kernels that move bytes are slow with the others.
void judge_steps(const std::vector<SeenKernel>& row, const std::vector<StepExcess>& steps, double base,
                 RowCosts& costs) {
  double above = 0, slowest = 0;
  double bytes_share = 0, share = 0;
  std::size_t slow = 0, full = 0;
  for (const StepExcess& s : steps) {
    const double g = s.share() - base;
    if (g < slow_step) continue;
    ++slow;
    above += g * s.usual_ns;
    share += g;
    bytes_share += s.bytes_share() - base;
    slowest = std::max(slowest, g);
  }
  if (slow == 0) return;
  for (const StepExcess& s : steps) full += s.share() - base > 0.55 * slowest;
  std::uint32_t event = none;
  double longest = 0;
  for (const SeenKernel& k : row)
    if (k.ratio() > 1 + 0.5 * slowest && k.ns - k.usual_ns > longest) {
      longest = k.ns - k.usual_ns;
      event = k.event;
    }
  const Cause cause = bytes_share > 0.55 * share                 ? Cause::uneven_batch
                      : full == steps.size() && steps.size() > 1 ? Cause::throttled_rank
                                                                 : Cause::clock_drop;
  costs.add(cause, static_cast<std::int64_t>(above), event);
}

}  // namespace

void cost_of_kernels(std::span<const DetectRow> rows, std::vector<RowCosts>& costs) {
  SeenKernels seen = seen_kernels(rows);
  set_usual_times(seen);
  for (std::size_t r = 0; r < rows.size(); ++r) add_interrupted(seen[r], costs[r]);
  std::vector<std::vector<StepExcess>> steps(rows.size());
  std::vector<double> shares;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    steps[r].resize(rows[r].steps.size());
    for (const SeenKernel& k : seen[r]) {
      StepExcess& s = steps[r][k.step];
      (k.bytes ? s.bytes_above_ns : s.above_ns) += k.ns - k.usual_ns;
      (k.bytes ? s.bytes_usual_ns : s.usual_ns) += k.usual_ns;
    }
    for (const StepExcess& s : steps[r])
      if (s.usual_ns > 0) shares.push_back(s.share());
  }
  if (shares.empty()) return;
  // The lower quarter of all steps is what noise alone puts above the usual.
  const auto at = shares.begin() + static_cast<std::ptrdiff_t>((shares.size() - 1) / 4);
  std::nth_element(shares.begin(), at, shares.end());
  const double base = *at;
  for (std::size_t r = 0; r < rows.size(); ++r) judge_steps(seen[r], steps[r], base, costs[r]);
}

}  // namespace models::trace
