#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "chapters/inference/phases/lab.h"
#include "models/inference/kv_cache.h"
#include "models/transformer/weight_storage.h"

namespace chapters::inference::phases {
namespace {

using namespace models::inference;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

PhaseSetup setup_of(const Inputs& in, const models::Machine& machine) {
  const double bits = in.weight_bits > 0 ? in.weight_bits : models::stored_bits(in.format, in.format);
  return {.machine = machine,
          .chips = in.tensor_parallel,
          .weight_bytes_each = bits / 8,
          .kv_bytes_each = in.kv_bits / 8,
          .batch = in.batch,
          .prompt = in.prompt,
          .context = in.context > 0 ? in.context : std::max<std::int64_t>(1, in.prompt + in.answer / 2)};
}

Lane lane_of(const Inputs& in, const PhaseWork& prefill, const PhaseWork& step, const PhaseSetup& s) {
  Lane lane{.prefill = phase_bound(prefill, s), .decode = phase_bound(step, s)};
  lane.first_token_s = lane.prefill.time_s + lane.prefill.attention_s;
  lane.request_s = lane.first_token_s + static_cast<double>(in.answer) * lane.decode.time_s;
  lane.tokens_per_s = static_cast<double>(in.batch) / lane.decode.time_s;
  return lane;
}

/// Batches from 1 until no more fit, doubling; at least up to the one that is set.
void walk_batches(const models::Architecture& a, PhaseSetup s, double most, Run& run) {
  const auto last = static_cast<std::int64_t>(std::clamp(most, static_cast<double>(s.batch), 65536.0));
  for (std::int64_t batch = 1;; batch = std::min(batch * 2, last)) {
    s.batch = batch;
    const PhaseWork step = decode_step_work(a, s);
    const PhaseBound bound = phase_bound(step, s);
    run.batches.push_back(static_cast<double>(batch));
    run.step_s.push_back(bound.time_s);
    run.tokens_per_s.push_back(static_cast<double>(batch) / bound.time_s);
    run.intensity.push_back(phase_intensity(step));
    run.flops_per_s.push_back(step.flops() / bound.time_s / static_cast<double>(s.chips));
    if (batch >= last) break;
  }
}

void add_expected(const Inputs& in, const models::Machine& machine, Outputs& out) {
  const DecodeFit* fit = find_decode_fit(in.chip);
  const bool as_run = fit && in.tensor_parallel == 1 && in.batch == 1 && in.flops_scale == 1 && in.bandwidth_scale == 1;
  out.expected_step_s = as_run ? expected_step_s(*fit, out.decode_work, machine) : none;
  out.expected_tokens_per_s = static_cast<double>(in.batch) / out.expected_step_s;
  out.expected_request_s = out.now.first_token_s + static_cast<double>(in.answer) * out.expected_step_s;
  if (as_run) out.engine = fit->engine;
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, const Progress& progress) {
  const auto chip = find_chip(in.chip);
  if (!chip) return {.facts = {.reason = chip.error}};
  const auto model = find_model(in.model);
  if (!model) return {.facts = {.reason = model.error}};
  auto machine = models::machine_of(**chip, in.format);
  if (!machine) return {.facts = {.reason = machine.error}};
  machine.value->peak_flops_per_s *= in.flops_scale;
  machine.value->bandwidth_bytes_per_s *= in.bandwidth_scale;
  const models::Architecture& a = (*model)->architecture;
  PhaseSetup s = setup_of(in, *machine);
  Outputs out;
  const auto chips = static_cast<double>(in.tensor_parallel);
  out.peak_flops_per_s = chips * machine->peak_flops_per_s;
  out.bandwidth_bytes_per_s = chips * machine->bandwidth_bytes_per_s;
  out.decode_context = static_cast<double>(s.context);
  out.prefill_work = prefill_work(a, s);
  out.decode_work = decode_step_work(a, s);
  out.now = lane_of(in, out.prefill_work, out.decode_work, s);
  PhaseSetup faster = s;
  faster.machine.peak_flops_per_s *= 2;
  out.faster_flops = lane_of(in, out.prefill_work, out.decode_work, faster);
  faster = s;
  faster.machine.bandwidth_bytes_per_s *= 2;
  out.faster_bytes = lane_of(in, out.prefill_work, out.decode_work, faster);
  out.flops_gain_s = out.now.request_s - out.faster_flops.request_s;
  out.first_token_gain_s = out.now.first_token_s - out.faster_flops.first_token_s;
  out.bytes_gain_s = out.now.request_s - out.faster_bytes.request_s;
  out.decode_percent = 100 * (1 - out.now.first_token_s / out.now.request_s);
  out.ridge = models::ridge_flops_per_byte(*machine);
  out.intensity_prefill = phase_intensity(out.prefill_work);
  out.intensity_decode = phase_intensity(out.decode_work);
  const auto critical = phase_critical_batch(a, s);
  out.critical_batch = critical ? *critical : none;
  const KvDesign design{.bits = in.kv_bits};
  const KvMachine room{
      .chip = *chip, .chips = in.tensor_parallel, .weight_bits = 8 * s.weight_bytes_each, .product = in.format};
  if (const auto fit = fit_cache(a, design, room, out.decode_context)) out.fits_batch = fit->sequences;
  add_expected(in, *machine, out);
  auto run = std::make_shared<Run>();
  run->machine = *machine;
  if (!progress.facts_alone) walk_batches(a, s, out.fits_batch, *run);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::inference::phases
