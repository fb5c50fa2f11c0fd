#include "models/memory/gathered_units.h"

#include <algorithm>

#include "models/base/integer_math.h"

namespace models::memory {

std::vector<GatherUnit> gather_units(const Architecture& a, const TrainingPlan& p) {
  std::vector<GatherUnit> units;
  const double t = as_double(p.tensor);
  const ParameterCount count = count_parameters(a);
  // A bare number of parameters has the model's proportions.
  const double scale = p.parameters > 0 ? p.parameters / as_double(count.total) : 1;
  const auto [first, last] = stage_ends(p);
  const auto add = [&](UnitKind kind, std::int64_t layer, const LayerShare& share) {
    // Pairs next to frozen matrices are split and gathered with their layer.
    const double pairs = p.frozen ? share.adapters : 0, expert_pairs = p.frozen ? share.expert_adapters : 0;
    units.push_back({.kind = kind,
                     .layer = layer,
                     .parameters = scale * share.total() + pairs + expert_pairs,
                     .held = (scale * share.dense + pairs) / zero_ranks(p) +
                             (scale * share.experts + expert_pairs) / expert_zero_ranks(p),
                     .trained = p.frozen ? pairs + expert_pairs : scale * share.total()});
  };
  const double embedding = as_double(count.embedding) / t;
  if (first) add(UnitKind::embedding, 0, {.dense = embedding + as_double(count.positions)});
  for (const auto& [begin, end] : stage_layers(a, p))
    for (std::int64_t layer = begin; layer < end; ++layer)
      add(UnitKind::layer, layer, layer_share(a, p, layer_form(a, layer)));
  if (last) {
    const double head = a.tied ? (first ? as_double(count.head) / t : embedding) : as_double(count.head) / t;
    add(UnitKind::head, a.layers, {.dense = head + as_double(count.outer_norms)});
  }
  return units;
}

bool gathers_units(const TrainingPlan& p) {
  return p.zero_stage == 3 && (p.data * p.context > 1 || p.offload == Offload::parameters);
}

bool stays_whole(const TrainingPlan& p) { return p.whole_in_pipeline && p.pipeline > 1 && gathers_units(p); }

double gathered_bytes_each(const Architecture& a, const TrainingPlan& p) {
  return std::min(bytes_per_parameter(a, p).weights, workload_of(p).activation_bytes);
}

double reduced_bytes_each(const Architecture& a, const TrainingPlan& p) {
  return p.reduce_bytes > 0 ? p.reduce_bytes : std::min(4.0, bytes_per_parameter(a, p).gradients);
}

namespace {

constexpr double summed_bytes = 4;  // gradients that wait for the last micro-batch are FP32

/// All units at once, from the first micro-batch to the last.
WholeUnits all_whole(const std::vector<GatherUnit>& units, std::size_t unit, const Architecture& a,
                     const TrainingPlan& p) {
  WholeUnits out{.unit = static_cast<std::ptrdiff_t>(unit)};
  for (const GatherUnit& u : units) {
    out.at_work += gathered_bytes_each(a, p) * u.parameters;
    out.reducing += summed_bytes * u.trained;
  }
  return out;
}

/// A matrix that is embedding and output at once is there throughout.
bool first_stays(const std::vector<GatherUnit>& units, const Architecture& a) {
  return a.tied && units.front().kind == UnitKind::embedding && units.back().kind == UnitKind::head;
}

}  // namespace

WholeUnits whole_in_forward(const std::vector<GatherUnit>& units, std::size_t unit, const Architecture& a,
                            const TrainingPlan& p) {
  if (stays_whole(p)) return all_whole(units, unit, a, p);
  WholeUnits out{.unit = static_cast<std::ptrdiff_t>(unit)};
  const double each = gathered_bytes_each(a, p);
  const std::size_t first = first_stays(units, a) ? 1 : 0;
  if (first > 0) out.at_work = each * units.front().parameters;
  for (std::size_t i = p.reshard ? std::max(first, unit) : first; i <= unit; ++i)
    out.at_work += each * units[i].parameters;
  for (std::size_t i = unit + 1; i < units.size() && i <= unit + static_cast<std::size_t>(p.gather_ahead); ++i)
    out.ahead += each * units[i].parameters;
  return out;
}

WholeUnits whole_in_backward(const std::vector<GatherUnit>& units, std::size_t unit, const Architecture& a,
                             const TrainingPlan& p) {
  if (stays_whole(p)) return all_whole(units, unit, a, p);
  WholeUnits out{.unit = static_cast<std::ptrdiff_t>(unit)};
  const double each = gathered_bytes_each(a, p), reduced = reduced_bytes_each(a, p);
  const std::size_t first = first_stays(units, a) ? 1 : 0;
  if (first > 0) out.at_work = each * units.front().parameters;
  if (!p.reshard) {
    for (std::size_t i = first; i <= unit; ++i) out.at_work += each * units[i].parameters;
  } else {
    if (unit >= first) out.at_work += each * units[unit].parameters;
    for (std::size_t k = 1; k <= static_cast<std::size_t>(p.gather_ahead) && k + first <= unit; ++k)
      out.ahead += each * units[unit - k].parameters;
  }
  if (unit + 1 < units.size()) out.reducing = reduced * units[unit + 1].trained;
  return out;
}

}  // namespace models::memory
