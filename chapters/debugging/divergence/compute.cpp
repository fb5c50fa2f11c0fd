#include <algorithm>
#include <array>

#include "chapters/debugging/divergence/lab.h"

namespace chapters::debugging::divergence {
namespace {

using namespace models::debugging;

constexpr double max_percent = 1e6;  ///< what is further apart, or no number, counts as this

double percent_of(double share) {
  const double percent = 100 * share;
  return percent <= max_percent ? percent : max_percent;
}

TwinFault fault_of(const Inputs& in) {
  return {
      .kind = in.fault,
      .layer = static_cast<int>(in.layer),
      .step = static_cast<int>(in.step),
      .tensor = in.tensor,
      .entry = static_cast<int>(in.entry),
      .bit = static_cast<int>(in.bit),
      .upsets = static_cast<int>(in.upsets),
      .ecc = in.ecc,
      .rank = static_cast<int>(in.rank),
      .factor = in.factor,
      .fixed_order = in.fixed_order,
  };
}

std::string refusal_of(const Inputs& in) {
  if (in.fault != PlantedFault::none && in.step >= in.steps)
    return "The runs end after " + std::to_string(in.steps) + " steps, before step " + std::to_string(in.step) +
           ": plant the fault earlier, or train longer.";
  if (in.fault == PlantedFault::dropout_seed && in.layer == twin_layers - 1)
    return "The last layer has no dropout: choose a layer from 0 to 6.";
  return {};
}

void fill_flip(const Inputs& in, const TwinSecond& second, Outputs& out) {
  const SecdedCounts& counts = secded_counts(static_cast<int>(in.upsets));
  out.patterns = static_cast<double>(counts.patterns);
  out.passed_share = 100 * static_cast<double>(counts.miscorrected + counts.unseen) / out.patterns;
  if (!second.flipped) return;
  out.ecc_outcome = second.flipped->ecc;
  if (std::isfinite(second.flipped->before)) out.value_before = static_cast<double>(second.flipped->before);
  if (std::isfinite(second.flipped->after)) out.value_after = static_cast<double>(second.flipped->after);
}

void fill_loss(const Inputs& in, const TwinHealthy& healthy, const std::vector<double>& spread,
               const TwinSecond& second, Outputs& out) {
  const auto last = static_cast<std::size_t>(in.steps - 1);
  out.loss_first = healthy.passes[last].loss;
  if (second.losses.size() == static_cast<std::size_t>(in.steps) && std::isfinite(second.losses.back()))
    out.loss_second = second.losses.back();
  const std::size_t at = second.parts_step ? static_cast<std::size_t>(*second.parts_step) : last;
  out.visible_nats = in.spreads * spread[at];
  if (!second.first) return;
  const double first = second.first->step;
  if (second.parts_step) out.loss_parts_step = *second.parts_step;
  // A loss that never parts is silent to the end of the run.
  out.silent_steps = (second.parts_step ? out.loss_parts_step : static_cast<double>(in.steps - 1)) - first;
}

void fill_search(const HashSearch& search, Outputs& out) {
  out.comparisons = static_cast<double>(search.probes.size());
  out.in_order = search.in_order;
  out.entries = search.logged_entries;
  out.replayed_steps = search.replayed_steps;
  out.search_end = search.end;
  out.left_steps = search.end == SearchEnd::nothing ? 0 : search.to_step - search.from_step + 1;
  out.hashed_bytes = (out.entries + out.replayed_steps) * logged_state_bytes;
}

std::string hash_text(std::uint64_t hash) {
  std::string text(16, '0');
  for (std::size_t k = 0; k < 16; ++k) text[k] = "0123456789abcdef"[(hash >> (60 - 4 * k)) & 15u];
  return text;
}

void fill_layers(const TwinHealthy& healthy, const TwinSecond& second, Outputs& out) {
  for (int l = 0; l < twin_layers; ++l) {
    const auto layer = static_cast<std::size_t>(l),
               cell = static_cast<std::size_t>(twin_cell_index({TwinTensor::weight, l}));
    LayerRow row{.layer = l};
    if (second.layer_step[layer] >= 0) row.differs_from = second.layer_step[layer];
    row.first_percent = percent_of(second.layer_first[layer]);
    row.end_percent = percent_of(second.layer_end[layer]);
    if (!second.hashes.empty()) {
      const std::size_t last = second.hashes.size() - 1;
      row.hash_first = hash_text(healthy.hashes[last][cell]);
      row.hash_second = hash_text(second.hashes[last][cell]);
    }
    out.layers.push_back(std::move(row));
  }
}

}  // namespace

std::string_view tensor_name(TwinTensor tensor) {
  static constexpr std::array<std::string_view, twin_tensor_count> names{"activation", "gradient", "moment", "weight"};
  return names[static_cast<std::size_t>(tensor)];
}

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, HealthyRuns& kept) {
  if (in.runs == Runs::logs) return compute_logs(in, progress);
  Outputs out;
  out.reason = refusal_of(in);
  if (!out.reason.empty()) return {std::move(out)};
  const auto healthy = kept.runs.get(in.seed, [&progress](std::int64_t seed) {
    return train_healthy(static_cast<std::uint64_t>(seed), &progress.cancelled);
  });
  progress.fraction = 0.5;
  const auto spread =
      kept.spread.get(0, [](int) { return std::make_shared<const std::vector<double>>(healthy_spread()); });
  const TwinFault fault = fault_of(in);
  auto run = std::make_shared<Run>();
  if (healthy)
    run->second = run_second(*healthy, fault, static_cast<int>(in.steps), {*spread, in.spreads},
                             !progress.facts_alone || in.runs == Runs::written, &progress.cancelled);
  if (!healthy || progress.cancelled)
    return infeasible<Computed<Outputs, Run>>("The training was stopped before its end.");
  const TwinSecond& second = run->second;
  if (in.runs == Runs::written) return compute_written(in, *healthy, second);
  run->healthy = healthy;
  run->search = search_hashes(*healthy, second, fault, static_cast<int>(in.steps), static_cast<int>(in.interval));
  out.equal = !second.first;
  if (second.first) {
    out.first_step = second.first->step;
    out.first_layer = second.first->cell.layer;
    out.first_tensor = tensor_name(second.first->cell.tensor);
  }
  if (second.by_norm) {
    out.norm_step = second.by_norm->step;
    out.norm_layer = second.by_norm->cell.layer;
  }
  if (second.loudest_layer >= 0) out.loudest_layer = second.loudest_layer;
  out.layers_next = second.layers_next;
  out.apart_first = percent_of(second.apart_first);
  out.apart_end = percent_of(second.apart_end);
  out.stopped = second.stopped;
  out.not_a_number = second.not_a_number;
  fill_flip(in, second, out);
  fill_loss(in, *healthy, *spread, second, out);
  fill_search(run->search, out);
  // A difference that nothing depends on is over with its step: no silence follows.
  if (out.search_end == SearchEnd::nothing && std::isnan(out.loss_parts_step)) out.silent_steps = std::nan("");
  fill_layers(*healthy, second, out);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::debugging::divergence
