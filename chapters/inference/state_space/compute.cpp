#include <algorithm>
#include <cmath>

#include "chapters/inference/state_space/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/base/integer_math.h"
#include "models/compression/deployment.h"
#include "models/transformer/roofline_ops.h"
#include "models/transformer/weight_storage.h"

namespace chapters::inference::state_space {
namespace {

namespace mi = models::inference;
using mi::StateModel;
using models::as_double;

constexpr double none = Outputs::none;
/// Contexts up to which crossings are looked for: what no model has yet.
constexpr double max_context = 1e8;

struct StateMachine {
  mi::StateBits bits;
  double flops_per_s = 0, bytes_per_s = 0, memory_bytes = 0;
};

double or_none(double tokens) { return std::isfinite(tokens) ? tokens : none; }

ModelRow row_of(const StateModel& m, const Inputs& in, const StateMachine& machine) {
  const double context = as_double(in.context), sequence = mi::sequence_bytes(m, machine.bits, context),
               memory = mi::state_model_parameters(m) * machine.bits.weights / 8 + as_double(in.batch) * sequence;
  return {
      .name = std::string(m.name),
      .parameters = mi::state_model_parameters(m),
      .attention_layers = m.attention_layers + m.windowed_layers,
      .state_layers = m.state_layers,
      .fixed_bytes = mi::fixed_bytes(m, machine.bits),
      .token_bytes = mi::token_bytes(m, machine.bits),
      .sequence_bytes = sequence,
      .memory_bytes = memory,
      .fits = memory <= machine.memory_bytes,
      .step_s = mi::state_step(m, machine.bits, as_double(in.batch), context, machine.flops_per_s, machine.bytes_per_s)
                    .time_s};
}

ModelCost cost_of(const StateModel& m, const Inputs& in, const StateMachine& machine) {
  const double context = as_double(in.context);
  ModelCost cost{.name = std::string(m.name),
                 .attention_layers = m.attention_layers,
                 .windowed_layers = m.windowed_layers,
                 .state_layers = m.state_layers,
                 .fixed_bytes = mi::fixed_bytes(m, machine.bits)};
  for (std::size_t i = 1; i <= kept_columns; ++i)
    cost.cache_bytes.push_back(
        mi::kept_bytes(m, machine.bits, context * static_cast<double>(i) / static_cast<double>(kept_columns)));
  const mi::StateStep step =
      mi::state_step(m, machine.bits, as_double(in.batch), context, machine.flops_per_s, machine.bytes_per_s);
  cost.step = {.weights_s = step.weight_bytes / machine.bytes_per_s,
               .states_s = step.state_bytes / machine.bytes_per_s,
               .cache_s = step.kv_bytes / machine.bytes_per_s};
  if (step.compute_bound) cost.step.arithmetic_s = std::max(0.0, step.time_s - cost.step.total_s());
  return cost;
}

void compute_models(const Inputs& in, const StateModel& own, const StateModel& other, const StateMachine& machine,
                    Outputs& out, Run* run) {
  const double batch = as_double(in.batch);
  const auto step = [&](const StateModel& m, double tokens) {
    return mi::state_step(m, machine.bits, batch, tokens, machine.flops_per_s, machine.bytes_per_s).time_s;
  };
  const ModelRow mine = row_of(own, in, machine), theirs = row_of(other, in, machine);
  out.model_name = own.name;
  out.parameters = mine.parameters;
  out.active = mi::active_parameters(own);
  out.fixed_bytes = mine.fixed_bytes;
  out.token_bytes = mine.token_bytes;
  out.sequence_bytes = mine.sequence_bytes;
  out.reference_token_bytes = theirs.token_bytes;
  out.reference_bytes = theirs.sequence_bytes;
  out.equal_tokens = or_none(mi::equal_kept_tokens(own, other, machine.bits, max_context));
  out.step_s = mine.step_s;
  out.reference_step_s = theirs.step_s;
  out.tokens_per_s = batch / mine.step_s;
  out.reference_tokens_per_s = batch / theirs.step_s;
  out.speedup = theirs.step_s / mine.step_s;
  const auto doubles = [&](const StateModel& m) {
    return or_none(
        mi::step_grows_tokens(m, machine.bits, batch, 2, max_context, machine.flops_per_s, machine.bytes_per_s));
  };
  out.doubles_tokens = doubles(own);
  out.reference_doubles_tokens = doubles(other);
  out.crossing_tokens = or_none(
      mi::crossing_tokens(own, other, machine.bits, batch, max_context, machine.flops_per_s, machine.bytes_per_s));
  out.memory_bytes = mine.memory_bytes;
  out.reference_memory_bytes = theirs.memory_bytes;
  out.offered_bytes = machine.memory_bytes;
  out.fits = mine.fits;
  out.reference_fits = theirs.fits;
  out.read_bytes = mi::read_parameters(own, batch) * machine.bits.weights / 8;
  out.reference_read_bytes = mi::read_parameters(other, batch) * machine.bits.weights / 8;
  for (const StateModel& m : mi::state_models()) out.models.push_back(row_of(m, in, machine));
  if (run == nullptr) return;
  run->own = cost_of(own, in, machine);
  run->reference = cost_of(other, in, machine);
  for (double n = 256; n < 1.1e6; n *= std::sqrt(2.0)) {
    run->contexts.push_back(std::round(n));
    run->own_bytes.push_back(mi::sequence_bytes(own, machine.bits, n));
    run->reference_bytes.push_back(mi::sequence_bytes(other, machine.bits, n));
    run->own_step.push_back(step(own, n));
    run->reference_step.push_back(step(other, n));
  }
  for (const std::string_view id : {"mamba2-8b", "nemotron-h-8b", "jamba"}) {
    const StateModel* m = mi::find_state_model(id);
    if (m == nullptr || id == in.model) continue;
    run->other_names.emplace_back(m->name);
    std::vector<double>& line = run->other_bytes.emplace_back();
    for (const double n : run->contexts) line.push_back(mi::sequence_bytes(*m, machine.bits, n));
  }
}

/// One layer's scan over the prompt on this chip, and both ways really run.
void compute_scan(const Inputs& in, const StateModel& own, const models::Chip& chip, Outputs& out, Run* run) {
  const mi::ScanRun real =
      mi::run_scan(256, std::min<std::int64_t>(256, in.block), 8, 16, in.slowest, in.fastest, in.seed);
  out.scan_error = real.sequential_error;
  out.blocked_error = real.blocked_error;
  const auto vector = chip.peak_flops_per_s(models::Format::fp32);
  const auto product = models::nearest_format(chip, models::Format::bf16);
  if (!(own.state_layers > 0) || !own.one_decay || !vector || !product) return;
  const mi::ScanSize size{.tokens = as_double(in.scan_tokens),
                          .heads = own.state_heads,
                          .width = own.state_width,
                          .state = own.state_size,
                          .groups = std::max(1.0, own.groups)};
  const double matrix = chip.peak_flops_per_s(*product).value_or(1), memory = chip.memory_bandwidth_bytes_per_s;
  const mi::ScanCost one = mi::sequential_scan(size, *vector, memory);
  const mi::ScanCost blocked = mi::blocked_scan(size, as_double(in.block), matrix, memory);
  out.scan_flops = one.flops;
  out.scan_s = one.time_s;
  out.blocked_flops = blocked.flops;
  out.blocked_s = blocked.time_s;
  out.scan_blocks = blocked.dependent_steps;
  out.scan_speedup = one.time_s / blocked.time_s;
  double best = std::numeric_limits<double>::infinity();
  for (double q = 1; q <= std::min(4096.0, size.tokens); q *= 2) {
    const mi::ScanCost cost = mi::blocked_scan(size, q, matrix, memory);
    if (cost.time_s < best) {
      best = cost.time_s;
      out.best_block = q;
    }
    if (run == nullptr) continue;
    run->blocks.push_back(q);
    run->block_s.push_back(cost.time_s);
    run->block_matrix_s.push_back(cost.flops / matrix);
    run->block_memory_s.push_back(cost.bytes / memory);
  }
}

}  // namespace

StateModel model_of(const Inputs& in) {
  if (const StateModel* m = mi::find_state_model(in.model)) return *m;
  return mi::own_state_model(as_double(in.hidden), as_double(in.blocks), as_double(in.attention_every),
                             as_double(in.head_width), as_double(in.state_size), as_double(in.kv_heads));
}

double kv_bits(const Inputs& in) {
  const models::KvRecipe* kv = models::find_kv_recipe(in.kv_format);
  return kv != nullptr ? kv->bits : 16;
}

Computed compute(const Inputs& in, Progress& progress, Trained& trained) {
  const auto chip = find_chip(in.chip);
  if (!chip) return infeasible<Computed>(chip.error);
  const auto reference = find_model(in.reference);
  if (!reference) return infeasible<Computed>(reference.error);
  const auto product = models::nearest_format(**chip, in.format);
  if (!product) return infeasible<Computed>((*chip)->short_name + " states no peak for such products.");
  if (in.model == "own" && in.hidden % 128 != 0)
    return infeasible<Computed>("A width of " + std::to_string(in.hidden) +
                                " holds no whole heads of 128: take a multiple of 128.");
  const StateModel own = model_of(in);
  StateModel other = mi::attention_model((*reference)->architecture);
  other.name = (*reference)->name;
  const double chips = as_double(in.chips);
  const StateMachine machine{.bits = {.weights = models::stored_bits(in.format, in.format),
                                      .kv = kv_bits(in),
                                      .state = in.state_format == StateFormat::fp32 ? 32.0 : 16.0},
                             .flops_per_s = chips * (*chip)->peak_flops_per_s(*product).value_or(1),
                             .bytes_per_s = chips * (*chip)->memory_bandwidth_bytes_per_s,
                             .memory_bytes = chips * (*chip)->memory_bytes};
  Computed done;
  auto run = progress.facts_alone ? nullptr : std::make_shared<Run>();
  compute_models(in, own, other, machine, done.facts, run.get());
  compute_scan(in, own, **chip, done.facts, run.get());
  if (!compute_recall(in, progress, trained, done.facts, run.get()))
    return infeasible<Computed>("The training was stopped.");
  done.run = std::move(run);
  return done;
}

}  // namespace chapters::inference::state_space
