#include <algorithm>
#include <limits>

#include "chapters/framework/training_memory/lab.h"
#include "models/memory/activation_formulas.h"

namespace chapters::framework::training_memory {
namespace {

using models::memory::HeldBytes;
using models::memory::MemoryOwner;

constexpr double whole = 100;

ChangeRow row_of(const Inputs& in, Change change, const Outputs& now, Schedules& schedules) {
  ChangeRow row{.change = change, .name = std::string(change_name(change))};
  const auto setting = read_setting(with_change(in, change), schedules);
  if (!setting) {
    row.why_not = setting.error;
    return row;
  }
  const auto memory = models::memory::training_memory(setting->architecture, setting->plan, setting->options);
  if (!memory) {
    row.why_not = memory.error;
    return row;
  }
  row.possible = true;
  row.held = memory->held;
  row.total_bytes = memory->total();
  row.saved_bytes = now.total_bytes - row.total_bytes;
  row.fits = row.total_bytes <= now.chip_bytes;
  return row;
}

/// The longest sequence that fits with everything else as it is, by halving the interval; 0 where none does.
double largest_sequence(const TrainingCase& s, std::int64_t step, double chip_bytes) {
  const auto fits = [&](std::int64_t sequence) {
    models::memory::TrainingPlan plan = s.plan;
    plan.sequence = sequence * step;
    const auto memory = models::memory::training_memory(s.architecture, plan, s.options);
    return memory && memory->total() <= chip_bytes;
  };
  std::int64_t lo = 0, hi = (std::int64_t{1} << 20) / step;
  if (hi < 1 || !fits(1)) return 0;
  if (fits(hi)) return static_cast<double>(hi * step);
  lo = 1;
  while (hi - lo > std::max<std::int64_t>(1, lo / 512)) {
    const std::int64_t middle = lo + (hi - lo) / 2;
    (fits(middle) ? lo : hi) = middle;
  }
  return static_cast<double>(lo * step);
}

/// A layer by the formula (attention 11, feed-forward 19, norms 4, scores 5as/h, of which t divides all but 10; without
/// dropout a mask less in both blocks) and operation by operation.
std::vector<LayerParts> layer_parts(const Inputs& in, const TrainingCase& s, const std::vector<SavedTensorRow>& saved) {
  const double t = static_cast<double>(in.tensor_parallel), split = in.sequence_parallel ? t : 1;
  const double value = in.recipe == models::memory::StateRecipe::fp32 ? 4 : 2, mask = in.dropout ? 1 : 0;
  const double each = models::memory::formula_score_bytes({.dropout = in.dropout, .value_bytes = value});
  const double scores =
      each * static_cast<double>(s.architecture.heads * in.sequence) / static_cast<double>(s.architecture.hidden);
  const double block = (value + mask) / split;
  const LayerParts formula{"formula", 4 * value / t + block, 8 * value / t + block, 2 * value / split, scores / t};
  LayerParts own{.name = "this model"};
  for (const SavedTensorRow& row : saved) {
    const std::string& name = row.operation;
    const double dropped = row.bytes > 0 ? row.per_sbh * row.dropped_bytes / row.bytes : 0;
    const bool norm = name.find("norm") != std::string::npos;
    const bool feed = name.find("gate") != std::string::npos || name.find("up") != std::string::npos ||
                      name.find("down") != std::string::npos || name.find("activation") != std::string::npos ||
                      name.find("expert") != std::string::npos || name == "router";
    const bool latent =
        name.find("latent") != std::string::npos || name.starts_with("query") || name.starts_with("key");
    own.scores += dropped;
    (norm ? own.norms : feed && !latent ? own.feed_forward : own.attention) += row.per_sbh - dropped;
  }
  return {formula, own};
}

/// Shares and what is left, from the memory that is held.
void fill_shares(const Inputs& in, const TrainingCase& s, Outputs& out) {
  const models::memory::TrainingMemory& memory = out.memory;
  out.total_bytes = memory.total();
  out.chip_bytes = s.chip->memory_bytes;
  out.free_bytes = out.chip_bytes - out.total_bytes;
  out.fits = out.free_bytes >= 0;
  out.chip_share = whole * out.total_bytes / out.chip_bytes;
  out.states_bytes = memory.states.total();
  out.states_share = whole * out.states_bytes / out.total_bytes;
  out.kept_bytes = memory.held[MemoryOwner::optimizer] + memory.held[MemoryOwner::master];
  out.weights_share = whole * memory.held[MemoryOwner::weights] / out.total_bytes;
  const HeldBytes& held = memory.held;
  const double others = out.total_bytes - held[MemoryOwner::weights] - held[MemoryOwner::gradients] -
                        held[MemoryOwner::master] - held[MemoryOwner::optimizer];
  out.left_per_parameter = (out.chip_bytes - others - memory.frozen_bytes) / memory.trained;
  const double tokens = static_cast<double>(in.batch * in.sequence) / static_cast<double>(in.context_parallel);
  const double hidden = static_cast<double>(s.architecture.hidden);
  const bool formula = in.count == models::memory::ActivationCount::formula;
  const double layer = formula ? memory.formula_layer_bytes : memory.operations_layer_bytes;
  out.layer_sbh = layer / (tokens * hidden);
  out.bytes_per_token = (others - held[MemoryOwner::buffers]) / tokens;
  out.counts_ratio = memory.formula_bytes > 0 ? memory.operations_bytes / memory.formula_bytes : 1;
  out.scores_bytes = memory.layer_none_bytes - memory.layer_selective_bytes;
}

/// Every change alone, and the first that makes the step fit.
void fill_changes(const Inputs& in, Schedules& schedules, Outputs& out) {
  out.best_total_bytes = std::numeric_limits<double>::quiet_NaN();
  out.best_change = out.fits ? "none is needed" : "no single one";
  for (std::size_t i = 1; i + 1 < change_count; ++i) {
    out.changes.push_back(row_of(in, static_cast<Change>(i), out, schedules));
    const ChangeRow& row = out.changes.back();
    if (row.possible && row.fits && row.change != Change::plain && !out.fits && !(out.best_total_bytes > 0)) {
      out.best_change = row.name;
      out.best_total_bytes = row.total_bytes;
    }
  }
}

/// What the most frequent layer keeps, nothing recomputed.
void fill_layer(const Inputs& in, const TrainingCase& s, Outputs& out) {
  models::memory::TrainingPlan all = s.plan;
  all.recompute = models::Recompute::none;
  const auto kinds = models::layer_kinds(s.architecture);
  const auto most =
      std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.count < b.count; });
  for (models::memory::SavedRow& row : models::memory::saved_rows(s.architecture, *most, all))
    out.saved.push_back({std::move(row.operation), std::string(row.what), row.bytes, row.dropped, row.per_sbh});
  out.layer_parts = layer_parts(in, s, out.saved);
}

}  // namespace

Inputs in_force(const Inputs& in) {
  Inputs c = in;
  if (in.split == Split::as_set) return c;
  c.split = Split::as_set;
  c.tensor_parallel = c.pipeline = c.virtual_pipeline = c.stage = 1;
  c.data_parallel = c.context_parallel = c.expert_parallel = 1;
  c.zero_stage = c.details.shard_group = 0;
  c.sequence_parallel = c.details.ends_take_slots = c.details.step_gradients = false;
  c.details.order = PassOrder::one_f_one_b;
  return c;
}

std::int64_t sequence_step(const Inputs& set) {
  const Inputs in = in_force(set);
  return in.tensor_parallel * (in.context_parallel > 1 ? 2 * in.context_parallel : 1);
}

models::Result<TrainingCase> read_setting(const Inputs& set, Schedules& schedules) {
  const Inputs in = in_force(set);
  auto setting = training_case(in.model, in.chip);
  if (!setting) return setting;
  if (in.layers > 0) setting->architecture = models::memory::with_layers(setting->architecture, in.layers);
  setting->plan = {
      .recipe = in.recipe,
      .optimizer = in.optimizer,
      .batch = in.batch,
      .sequence = in.sequence,
      .micro_batches = in.micro_batches,
      .tensor = in.tensor_parallel,
      .pipeline = in.pipeline,
      .virtual_pipeline = in.virtual_pipeline,
      .data = in.data_parallel,
      .context = in.context_parallel,
      .expert = in.expert_parallel,
      .stage = in.stage - 1,
      .sequence_parallel = in.sequence_parallel,
      .zero_stage = in.zero_stage,
      .recompute = in.recompute,
      .fused_attention = in.fused_attention,
      .dropout = in.dropout,
      .loss = in.loss,
      .fused_gradients = in.fused_gradients,
      .gradient_stand_ins = in.stand_ins,
      .parameters = in.parameters,
  };
  if (models::Status done = put_details(setting->architecture, in.details, setting->plan); !done)
    return models::Result<TrainingCase>::fail(std::move(done.error));
  setting->plan.in_flight = schedules.in_flight(setting->plan);
  setting->options = {.count = in.count, .slack_share = in.slack / whole, .fixed_bytes = in.fixed_bytes};
  return setting;
}

Inputs with_change(const Inputs& set, Change change) {
  const Inputs in = in_force(set);
  using models::memory::LossKind;
  using models::memory::OptimizerKind;
  using models::memory::StateRecipe;
  Inputs c = in;
  switch (change) {
    case Change::eight_bit:
      c.optimizer = OptimizerKind::adamw_8bit;
      break;
    case Change::no_master:
      c.recipe = StateRecipe::no_master;
      break;
    case Change::eight_bit_no_master:
      c.optimizer = OptimizerKind::adamw_8bit;
      c.recipe = StateRecipe::no_master;
      break;
    case Change::adafactor:
      c.optimizer = OptimizerKind::adafactor;
      break;
    case Change::recompute:
      c.recompute = models::Recompute::full;
      break;
    case Change::fused_loss:
      c.loss = LossKind::fused;
      break;
    case Change::half_sequence:
      c.sequence = std::max<std::int64_t>(1, in.sequence / 2 / sequence_step(in)) * sequence_step(in);
      break;
    case Change::shard:
      c.zero_stage = 3;
      c.data_parallel = in.data_parallel * 8;
      break;
    case Change::tensor:
      c.tensor_parallel = in.tensor_parallel * 8;
      c.sequence_parallel = true;
      break;
    case Change::plain:
      c.split = Split::one_gpu;
      c = in_force(c);
      c.recipe = StateRecipe::zero;
      c.optimizer = OptimizerKind::adamw;
      c.recompute = models::Recompute::selective;
      c.details = {};
      c.loss = LossKind::eager;
      break;
    case Change::best:
    case Change::none:
      break;
  }
  return c;
}

Outputs compute(const Inputs& set, Schedules& schedules) {
  Outputs out;
  const Inputs in = in_force(set);
  const auto setting = read_setting(in, schedules);
  if (!setting) {
    out.reason = setting.error;
    return out;
  }
  const TrainingCase& s = *setting;
  const auto memory = models::memory::training_memory(s.architecture, s.plan, s.options);
  if (!memory) {
    out.reason = memory.error;
    return out;
  }
  out.memory = *memory;
  fill_shares(in, s, out);
  Inputs single = in;
  single.micro_batches = 1;
  out.one_micro_batch_bytes = std::numeric_limits<double>::quiet_NaN();
  if (const auto alone = read_setting(single, schedules))
    if (const auto one = models::memory::training_memory(alone->architecture, alone->plan, alone->options))
      out.one_micro_batch_bytes = one->total();
  for (const auto& [first, end] : models::memory::stage_layers(s.architecture, s.plan))
    out.stage_layers += static_cast<double>(end - first);
  out.largest_sequence = largest_sequence(s, sequence_step(in), out.chip_bytes);
  fill_changes(in, schedules, out);
  fill_layer(in, s, out);
  return out;
}

}  // namespace chapters::framework::training_memory
