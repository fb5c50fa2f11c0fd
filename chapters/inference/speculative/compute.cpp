#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "chapters/inference/speculative/lab.h"
#include "models/inference/kv_cache.h"
#include "models/inference/phases.h"
#include "models/machine/op_cost.h"
#include "models/transformer/roofline_ops.h"
#include "models/transformer/weight_storage.h"

namespace chapters::inference::speculative {
namespace {

using namespace models::inference;

constexpr std::size_t toy_words = 12;
constexpr std::int64_t measured_rounds = 8000, shown_rounds = 60, dotted_rounds = 400, max_length = 16;

/// What passes of the target take at the roofs, whatever the batch and the tokens that are checked.
class Target {
 public:
  Target(const models::Architecture& a, PhaseSetup s, bool priced) : priced_(priced) {
    s.batch = 1;
    const PhaseWork one = decode_step_work(a, s);
    const models::ParameterCount n = models::count_parameters(a);
    experts_ = static_cast<double>(a.moe.routed);
    per_token_ = static_cast<double>(a.moe.per_token);
    routed_bytes_ = static_cast<double>(n.layers.routed_experts) * s.weight_bytes_each;
    dense_bytes_ = one.weight_bytes - routed_bytes_ * touched(1);
    cache_bytes_ = one.cache_bytes;
    flops_ = one.flops();
    bytes_per_s_ = s.machine.bandwidth_bytes_per_s * static_cast<double>(s.chips);
    flops_per_s_ = s.machine.peak_flops_per_s * static_cast<double>(s.chips);
  }
  /// What a pass that checks `length` drafted tokens of each request, and the next, costs over a plain one.
  double checked(std::int64_t batch, double length) const {
    return priced_ ? pass_s(static_cast<double>(batch), length + 1) / pass_s(static_cast<double>(batch), 1) : 1;
  }

 private:
  /// The share of the experts that so many tokens are expected to touch.
  double touched(double tokens) const {
    return experts_ > 0 ? models::expected_distinct_experts(experts_, per_token_, tokens) / experts_ : 0;
  }
  double pass_s(double batch, double tokens) const {
    const double bytes = dense_bytes_ + routed_bytes_ * touched(batch * tokens) + batch * cache_bytes_;
    return std::max(bytes / bytes_per_s_, batch * tokens * flops_ / flops_per_s_);
  }
  bool priced_;
  double experts_ = 0, per_token_ = 0, routed_bytes_ = 0, dense_bytes_ = 0, cache_bytes_ = 0, flops_ = 0;
  double bytes_per_s_ = 1, flops_per_s_ = 1;
};

DraftRow row_of(std::string name, double acceptance, double length, double cost, const Target& target,
                std::int64_t batch) {
  DraftRow r{.name = std::move(name), .acceptance = acceptance, .length = length, .cost = cost};
  r.expected_tokens = expected_tokens(acceptance, length);
  r.speedup = speculative_speedup(acceptance, length, cost, target.checked(batch, length));
  const auto verify = [&](double g) { return target.checked(batch, g); };
  r.best_length = static_cast<double>(best_draft_length(acceptance, cost, verify));
  r.best_speedup = speculative_speedup(acceptance, r.best_length, cost, verify(r.best_length));
  return r;
}

SpeculativeSetup setup_of(const DraftRow& r, double verify, std::int64_t rounds, std::int64_t seed) {
  return {.length = static_cast<std::int64_t>(r.length),
          .draft_cost = r.cost,
          .verify_cost = verify,
          .rounds = rounds,
          .seed = seed};
}

/// The smallest batch at which your draft no longer pays; NaN where there is none.
double off_batch(const DraftRow& r, const Target& target) {
  const auto pays = [&](std::int64_t batch) {
    return speculative_speedup(r.acceptance, r.length, r.cost, target.checked(batch, r.length)) >= 1;
  };
  constexpr std::int64_t most = 65536;
  if (pays(most)) return Outputs::none;
  std::int64_t lo = 0, hi = most;  // it pays at lo, and does not at hi
  while (hi - lo > 1) {
    const std::int64_t at = (lo + hi) / 2;
    (pays(at) ? lo : hi) = at;
  }
  return static_cast<double>(hi);
}

/// What only the picture needs: rounds, curves over length and batch, and shares of words.
void fill_run(const Inputs& in, const Outputs& out, const Target& target, const SpeculativeRun& measured,
              const ToyLanguage& language, Run& run) {
  for (std::int64_t g = 0; g <= max_length; ++g) run.lengths.push_back(static_cast<double>(g));
  for (const DraftRow& d : out.drafts) {
    const ToyLanguage own = toy_language(toy_words, d.acceptance, in.seed);
    run.runs.push_back(run_speculative(setup_of(d, target.checked(in.batch, d.length), shown_rounds, in.seed), own));
    std::vector<double>&line = run.speedups.emplace_back(), &dots = run.simulated.emplace_back();
    for (const double g : run.lengths) {
      const double verify = target.checked(in.batch, g);
      line.push_back(speculative_speedup(d.acceptance, g, d.cost, verify));
      DraftRow at = d;
      at.length = g;
      if (static_cast<std::int64_t>(g) % 2 == 0)
        dots.push_back(run_speculative(setup_of(at, verify, dotted_rounds, in.seed + static_cast<std::int64_t>(g)), own)
                           .speedup());
    }
  }
  const DraftRow& yours = out.drafts.front();
  for (std::int64_t batch = 1; batch <= 2048; batch *= 2) {
    run.batches.push_back(static_cast<double>(batch));
    run.batch_speedups.push_back(
        speculative_speedup(yours.acceptance, yours.length, yours.cost, target.checked(batch, yours.length)));
  }
  // Shares of words over all that stood before, weighed by how often they did.
  run.target_share.assign(toy_words, 0);
  run.written_share.assign(toy_words, 0);
  const double all = static_cast<double>(measured.tokens);
  for (std::size_t before = 0; before < toy_words; ++before) {
    double seen = 0;
    for (std::size_t j = 0; j < toy_words; ++j) seen += static_cast<double>(measured.counts[before * toy_words + j]);
    for (std::size_t j = 0; j < toy_words; ++j) {
      run.target_share[j] += 100 * seen / all * language.target_at(before, j);
      run.written_share[j] += 100 * static_cast<double>(measured.counts[before * toy_words + j]) / all;
    }
  }
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, const Progress& progress) {
  const auto chip = find_chip(in.chip);
  if (!chip) return {.facts = {.reason = chip.error}};
  const auto model = find_model(in.model);
  if (!model) return {.facts = {.reason = model.error}};
  auto machine = models::machine_of(**chip, models::Format::bf16);
  if (!machine) machine = models::machine_of(**chip, models::Format::fp16);
  if (!machine) return {.facts = {.reason = machine.error}};
  const PhaseSetup setup{.machine = *machine, .chips = in.tensor_parallel, .context = in.context};
  const models::Architecture& a = (*model)->architecture;
  const Target target(a, setup, in.price_check);
  Outputs out;
  const auto length = static_cast<double>(in.draft_length);
  out.drafts.push_back(row_of("yours", in.acceptance, length, in.draft_cost_ratio, target, in.batch));
  out.drafts.front().yours = true;
  for (const std::string& id : in.against) {
    const KnownDraft* known = find_draft(id);
    if (!known || out.drafts.size() > 2) continue;
    DraftRow& row =
        out.drafts.emplace_back(row_of(std::string(known->label), known->acceptance, static_cast<double>(known->length),
                                       known->draft_cost, target, in.batch));
    row.measured_speedup = known->measured_speedup;
    row.source = known->source;
  }
  const DraftRow& yours = out.drafts.front();
  out.expected_tokens = yours.expected_tokens;
  out.speedup = yours.speedup;
  out.best_draft_length = yours.best_length;
  out.best_speedup = yours.best_speedup;
  out.operations = speculative_operations(in.acceptance, length, 0);
  out.verify_cost = target.checked(in.batch, length);
  out.round_passes = length * in.draft_cost_ratio + out.verify_cost;
  out.thrown_percent = length > 0 ? 100 * (1 - (out.expected_tokens - 1) / length) : 0;
  out.off_batch = in.draft_length > 0 ? off_batch(yours, target) : Outputs::none;
  const auto fastest = std::max_element(out.drafts.begin(), out.drafts.end(),
                                        [](const auto& x, const auto& y) { return x.speedup < y.speedup; });
  const KvMachine room{
      .chip = *chip, .chips = in.tensor_parallel, .product = *models::nearest_format(**chip, models::Format::bf16)};
  if (const auto fit = fit_cache(a, {}, room, static_cast<double>(in.context))) out.fits_batch = fit->sequences;
  const auto likeliest = std::max_element(out.drafts.begin() + (out.drafts.size() > 1 ? 1 : 0), out.drafts.end(),
                                          [](const auto& x, const auto& y) { return x.acceptance < y.acceptance; });
  out.likeliest_speedup = likeliest->speedup;
  out.fastest = fastest->name;
  out.fastest_speedup = fastest->speedup;
  const ToyLanguage language = toy_language(toy_words, in.acceptance, in.seed);
  const SpeculativeRun measured = run_speculative(setup_of(yours, out.verify_cost, measured_rounds, in.seed), language);
  out.simulated_tokens = measured.tokens_a_round();
  out.simulated_speedup = measured.speedup();
  out.chi_z = chi_square(measured, language).z();
  auto run = std::make_shared<Run>();
  if (!progress.facts_alone) fill_run(in, out, target, measured, language, *run);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::inference::speculative
