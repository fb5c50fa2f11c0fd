#include <algorithm>
#include <cmath>
#include <utility>

#include "chapters/mechanism/catalog.h"
#include "chapters/training/adapters/lab.h"
#include "models/base/integer_math.h"

namespace chapters::training::adapters {
namespace {

using namespace models::adapters;
using models::as_double;

Job job_of(const Inputs& in, Method method) {
  return {.method = method,
          .targets = in.targets,
          .rank = as_double(in.rank),
          .batch = in.batch,
          .sequence = in.sequence,
          .micro_batches = as_double(in.micro_batches),
          .gpus = as_double(in.gpus),
          .recompute = in.recompute,
          .double_quantized = in.double_quantized,
          .fused = in.fused,
          .states = in.states,
          .loss = in.loss};
}

void fill_step(const models::Chip& chip, const TunedStep& mine, const TunedStep& full, Outputs& out) {
  out.held = mine.held;
  out.memory_bytes = mine.held.total();
  out.full_memory_bytes = full.held.total();
  out.memory_share = 100 * out.memory_bytes / out.full_memory_bytes;
  out.full_states_bytes = full.held.states();
  out.full_activations_bytes = full.held.activations;
  out.chip_bytes = chip.memory_bytes;
  out.fits = out.memory_bytes <= out.chip_bytes;
  out.full_fits = out.full_memory_bytes <= out.chip_bytes;
  out.parameters = mine.parameters;
  out.trained = mine.trained;
  out.trained_share = 100 * mine.trained / mine.parameters;
  out.adapter_bytes = mine.adapter_bytes;
  out.base_bits = mine.base_bits;
  out.pairs = mine.pairs;
  out.flops = mine.flops;
  out.step_flops = mine.flops.total();
  out.full_flops = full.flops.total();
  out.flops_saved = 100 * (1 - out.step_flops / out.full_flops);
  out.full_weight_gradient_flops = full.flops.weight_gradient;
  out.tokens = mine.tokens;
  out.flops_per_token = out.step_flops / mine.tokens;
  out.time = mine.time;
  out.step_s = mine.time.total();
  out.full_step_s = full.time.total();
  out.speedup = out.full_step_s / out.step_s;
  out.tokens_per_s = mine.tokens / out.step_s;
}

ServingSetup serving_of(const Inputs& in, const models::Chip& chip) {
  return {.batch = in.served,
          .context = in.context,
          .distinct = in.distinct,
          .targets = in.targets,
          .rank = as_double(in.rank),
          .memory_bytes = chip.memory_bytes};
}

void fill_serving(const Inputs& in, const ServedStep& s, Outputs& out) {
  const double batch = as_double(in.served);
  out.decode_s = s.step_s();
  out.base_decode_s = s.base_s;
  out.slowdown = 100 * s.adapters_s / s.base_s;
  out.merged_decode_s = s.merged_s;
  out.batched_gain = s.merged_s / s.step_s();
  out.served_tokens_per_s = batch / s.step_s();
  out.merged_tokens_per_s = batch / s.merged_s;
  out.one_adapter_bytes = s.adapter_bytes;
  out.adapter_read_bytes = s.read_bytes;
  out.flops_added = 100 * s.flops_per_token / s.base_flops_per_token;
  out.adapters_fit = s.adapters_fit;
  out.merged_fit = s.merged_fit;
  out.served_fit = s.adapters_fit >= as_double(in.distinct);
  out.copies_fit = s.merged_fit >= as_double(in.distinct);
}

std::shared_ptr<const FineTuned> tuned_at(const Inputs& in, const FitTask& task, std::int64_t rank, Fits& fits) {
  return fits.ranks.get({{in.seed, in.shift}, rank}, [&](const FitKey& key) {
    return std::make_shared<const FineTuned>(fine_tune(
        task, {.rank = static_cast<std::size_t>(key.rank), .seed = static_cast<std::uint64_t>(key.task.seed)}));
  });
}

std::shared_ptr<const FitLadder> ladder_of(const Inputs& in, Fits& fits) {
  return fits.tasks.get({in.seed, in.shift}, [](const TaskKey& key) {
    const auto seed = static_cast<std::uint64_t>(key.seed);
    auto made = std::make_shared<FitLadder>();
    made->task = make_fit_task(seed, key.shift);
    made->full = fine_tune(made->task, {.rank = 0, .seed = seed});
    return std::shared_ptr<const FitLadder>(std::move(made));
  });
}

void fill_fit(const Inputs& in, const FitLadder& ladder, const FineTuned& own, Outputs& out) {
  out.base_loss = ladder.task.base_loss;
  out.fit_loss = own.loss;
  out.full_fit_loss = ladder.full.loss;
  out.fit_training_loss = own.training_loss;
  out.full_fit_training_loss = ladder.full.training_loss;
  out.base_accuracy = 100 * ladder.task.base_accuracy;
  out.fit_accuracy = 100 * own.accuracy;
  out.full_fit_accuracy = 100 * ladder.full.accuracy;
  out.first_accuracy = 100 * ladder.task.first_accuracy;
  out.fit_kept = 100 * own.kept_accuracy;
  out.full_fit_kept = 100 * ladder.full.kept_accuracy;
  out.fit_trained = static_cast<double>(own.trained);
  out.fit_trained_share = 100 * out.fit_trained / static_cast<double>(ladder.full.trained);
  out.won_share = 100 * (out.base_loss - out.fit_loss) / (out.base_loss - out.full_fit_loss);
  out.rank_share =
      100 * models::adapters::rank_share(ladder.task.base, ladder.full.network, static_cast<std::size_t>(in.fit_rank));
}

/// What the picture shows besides: other ranks, other numbers of adapters, the matrix.
void fill_run(const Inputs& in, const models::Architecture& a, const models::Chip& chip, const models::Machine& serving,
              const FitLadder& ladder, const Outputs& out, Fits& fits, Run& run) {
  for (const std::int64_t rank : ladder_ranks)
    if (auto tuned = tuned_at(in, ladder.task, rank, fits)) run.ranks.emplace_back(rank, std::move(tuned));
  // Powers of two, and the last number of copies and of adapters that fits.
  std::vector<std::int64_t> numbers{in.served};
  for (std::int64_t distinct = 1; distinct < in.served; distinct *= 2) numbers.push_back(distinct);
  for (const double last : {out.merged_fit, out.adapters_fit})
    if (last >= 1 && last < as_double(in.served)) numbers.push_back(static_cast<std::int64_t>(last));
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  ServingSetup setup = serving_of(in, chip);
  for (const std::int64_t distinct : numbers) {
    setup.distinct = distinct;
    if (const auto s = served_step(a, setup, serving))
      run.served.push_back({as_double(distinct), s->step_s(), s->merged_s});
  }
  const auto matrices = target_matrices(a, in.targets);
  const auto largest = std::max_element(matrices.begin(), matrices.end(), [](const auto& x, const auto& y) {
    return x.inputs * x.outputs < y.inputs * y.outputs;
  });
  run.inputs = largest->inputs;
  run.outputs = largest->outputs;
  run.wide_parameters = run.inputs * run.outputs;
  run.pair_parameters = as_double(in.rank) * (run.inputs + run.outputs);
}

}  // namespace

std::int64_t rank_at(double share, double side) {
  const double s = std::clamp(share, 0.0, 1.0);
  return std::clamp<std::int64_t>(std::llround(s * s * side), 1, max_rank);
}

Computed compute(const Inputs& in, Progress& progress, Fits& fits) {
  const auto model = find_model(in.model);
  const auto chip = find_chip(in.chip);
  if (!model || !chip) return infeasible<Computed>(!model ? model.error : chip.error);
  const models::Architecture& a = (*model)->architecture;
  const auto format = in.format == Products::fp8 ? models::Format::fp8 : models::Format::bf16;
  auto machine = models::machine_of(**chip, format);
  if (!machine) return infeasible<Computed>(machine.error);
  machine->peak_flops_per_s *= in.reached / 100;
  machine->bandwidth_bytes_per_s *= in.reached / 100;
  auto serving = *machine;
  serving.launch_s = in.launch_s;
  Computed done;
  Outputs& out = done.facts;
  auto run = std::make_shared<Run>();
  std::string problem;
  for (std::size_t m = 0; m < method_count; ++m) {
    const auto method = static_cast<Method>(m);
    auto step = tuned_step(a, job_of(in, method), *machine);
    run->possible[m] = static_cast<bool>(step);
    if (!step) {
      if (method == in.method || method == Method::full || method == Method::lora) problem = step.error;
      continue;
    }
    out.methods.push_back({.method = std::string(method_name(method)),
                           .trained = step->trained,
                           .memory_bytes = step->held.total(),
                           .flops = step->flops.total(),
                           .step_s = step->time.total()});
    run->steps[m] = *std::move(step);
  }
  if (!problem.empty()) return infeasible<Computed>(std::move(problem));
  fill_step(**chip, run->steps[static_cast<std::size_t>(in.method)], run->steps[0], out);
  const auto served = served_step(a, serving_of(in, **chip), serving);
  if (!served) return infeasible<Computed>(served.error);
  fill_serving(in, *served, out);
  progress.fraction = 0.2;
  const auto ladder = ladder_of(in, fits);
  progress.fraction = 0.6;
  if (progress.cancelled) return infeasible<Computed>("The training was stopped before its end.");
  const auto own = tuned_at(in, ladder->task, in.fit_rank, fits);
  fill_fit(in, *ladder, *own, out);
  if (progress.facts_alone) return done;
  fill_run(in, a, **chip, serving, *ladder, out, fits, *run);
  done.run = std::move(run);
  return done;
}

}  // namespace chapters::training::adapters
