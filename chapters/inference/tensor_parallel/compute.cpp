#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "chapters/inference/tensor_parallel/lab.h"
#include "models/transformer/weight_storage.h"

namespace chapters::inference::tensor_parallel {
namespace {

using namespace models::inference;

/// The fitted runs were of up to eight chips; beyond them there are roofs and talk alone.
constexpr std::int64_t max_fitted = 8;

models::Result<DecodeGroup> group_of(const Inputs& in, const models::Chip& chip) {
  using Outcome = models::Result<DecodeGroup>;
  const auto machine = models::machine_of(chip, in.format);
  if (!machine) return Outcome::fail(machine.error);
  const auto link = chip.interconnect.bytes_per_s_per_direction;
  if (!link)
    return Outcome::fail("Nobody states how fast " + chip.short_name + " chips are linked: take another chip.");
  return Outcome::ok({.chip = &chip,
                      .machine = *machine,
                      .links = {.inside_bytes_per_s = *link * in.link_reached / 100, .base_s = in.call_s},
                      .chips_per_node = 72,  // One set of fast links, however many there are.
                      .weight_bytes_each = models::stored_bits(in.format, in.format) / 8,
                      .kv_bytes_each = in.kv_bits / 8,
                      .batch = in.batch,
                      .context = in.context,
                      .whole_head = in.whole_head});
}

SlabRow row_of(const models::Architecture& a, const DecodeGroup& g, const LoadedFit* fit, std::int64_t chips) {
  if (chips > max_fitted) fit = nullptr;
  SlabRow row{.slab = decode_slab(a, g, chips)};
  const double n = static_cast<double>(chips), users = static_cast<double>(g.batch);
  row.time_s = row.slab.step_s;
  if (fit) {
    row.expected_s = fit->seconds(row.slab.read_s(), users, n);
    row.time_s = std::max(row.expected_s, row.slab.step_s);
    row.rest_s = row.time_s - row.slab.read_s() - row.slab.talk_s();
  } else {
    row.rest_s = row.slab.step_s - row.slab.read_s() - row.slab.talk_s();
  }
  if (std::abs(row.rest_s) < 1e-9 * row.time_s) row.rest_s = 0;
  row.tokens_per_s = users / row.time_s;
  row.tokens_per_s_per_chip = row.tokens_per_s / n;
  row.chip_s_per_token = n * row.time_s / users;
  return row;
}

/// The fastest and the cheapest that fit; where runs were fitted, of the numbers of chips that they were of.
void judge(const LoadedFit* fit, Outputs& out) {
  const SlabRow *best = nullptr, *cheapest = nullptr;
  for (const SlabRow& r : out.slabs) {
    if (!r.slab.fits || (fit && r.slab.chips > max_fitted)) continue;
    if (!best || r.time_s < best->time_s) best = &r;
    if (!cheapest || r.chip_s_per_token < cheapest->chip_s_per_token) cheapest = &r;
  }
  if (!best) return;
  out.best_tensor_parallel = static_cast<double>(best->slab.chips);
  out.best_s = best->time_s;
  out.cheapest_tensor_parallel = static_cast<double>(cheapest->slab.chips);
  out.price_ratio = out.now.chip_s_per_token / cheapest->chip_s_per_token;
}

void add_curves(const models::Architecture& a, DecodeGroup g, const LoadedFit* fit, const Outputs& out, Run& run) {
  for (std::int64_t batch = 1; batch <= 1024; batch *= 2) run.batches.push_back(static_cast<double>(batch));
  for (const SlabRow& r : out.slabs) {
    std::vector<double>& line = run.times.emplace_back();
    for (const double batch : run.batches) {
      g.batch = static_cast<std::int64_t>(batch);
      line.push_back(row_of(a, g, fit, r.slab.chips).time_s);
    }
  }
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, const Progress& progress) {
  const auto chip = find_chip(in.chip);
  if (!chip) return {.facts = {.reason = chip.error}};
  const auto model = find_model(in.model);
  if (!model) return {.facts = {.reason = model.error}};
  const auto group = group_of(in, **chip);
  if (!group) return {.facts = {.reason = group.error}};
  const models::Architecture& a = (*model)->architecture;
  if (const std::string problem = decode_cut_problem(a, in.tensor_parallel); !problem.empty())
    return {.facts = {.reason = problem}};
  const LoadedFit* fit = find_loaded_fit(in.chip, models::format_id(in.format), in.model);
  Outputs out;
  std::vector<std::int64_t> counts = decode_cuts(
      a, std::max(max_fitted, std::min<std::int64_t>(64, fit ? in.tensor_parallel : 2 * in.tensor_parallel)));
  if (std::find(counts.begin(), counts.end(), in.tensor_parallel) == counts.end()) {
    counts.push_back(in.tensor_parallel);
    std::sort(counts.begin(), counts.end());
  }
  for (const std::int64_t n : counts) {
    SlabRow& row = out.slabs.emplace_back(row_of(a, *group, fit, n));
    row.divided_s = out.slabs.front().time_s / static_cast<double>(n);
    row.yours = n == in.tensor_parallel;
    if (row.yours) out.now = row;
    if (n == 2 * in.tensor_parallel) {
      out.next_s = row.time_s;
      out.next_gain_s = out.now.time_s - row.time_s;
    }
  }
  judge(fit, out);
  out.not_reading_percent = 100 * (1 - out.now.slab.read_s() / out.now.time_s);
  out.read_s = out.now.slab.read_s();
  out.communication_time_s = out.now.slab.talk_s();
  out.collectives = in.tensor_parallel > 1 ? 2 * static_cast<double>(a.layers) : 0;
  out.pipeline_s = decode_pipeline_s(a, *group, in.tensor_parallel);
  if (fit && in.tensor_parallel <= max_fitted) {
    out.engine = fit->engine;
    out.start_s = fit->start_s;
    out.slower_s = fit->reading_s(out.now.slab.read_s()) - out.now.slab.read_s();
    out.requests_s = fit->requests_s(static_cast<double>(in.batch), static_cast<double>(in.tensor_parallel));
  }
  auto run = std::make_shared<Run>();
  if (!progress.facts_alone) add_curves(a, *group, fit, out, *run);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::inference::tensor_parallel
