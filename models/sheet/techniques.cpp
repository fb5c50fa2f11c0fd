#include "models/sheet/techniques.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/inference/kv_cache.h"
#include "models/parallel/memory_split/memory_split.h"
#include "models/serving/prefix/prefix_cache_cost.h"
#include "models/sheet/sheet_training.h"

namespace models::sheet {
namespace {

using inference::ChangeSet, inference::RequestChange, inference::RequestJob, inference::RequestPricer,
    inference::RequestState;
using memory::MemoryOwner;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

double over(double with, double without) {
  if (without > 0) return with / without;
  return with > 0 ? std::numeric_limits<double>::infinity() : 1;
}

class Page {
 public:
  explicit Page(const WorkCase& work) : work_(work), engine_(engine_of(work)), pricer_(work.request) {
    for (std::size_t i = 0; i < technique_count; ++i) {
      TechniqueEffect& row = rows_.emplace_back();
      row.technique = static_cast<Technique>(i);
      row.factor.fill(1);
    }
    const auto base = pricer_.price(engine_);
    if (base) {
      base_ = *base.value;
    } else {
      for (std::size_t i = 0; i < serving_count; ++i) give_up(static_cast<Technique>(i), base.error);
    }
    served_ = static_cast<bool>(base);
  }

  std::vector<TechniqueEffect> fill() {
    if (served_) fill_serving();
    fill_training();
    return std::move(rows_);
  }

 private:
  static ChangeSet engine_of(const WorkCase& work) {
    ChangeSet set =
        ChangeSet().with(RequestChange::flash_attention).with(RequestChange::fusion).with(RequestChange::graph);
    return work.request.chips > 1 ? set.with(RequestChange::tensor_parallel) : set;
  }
  double& at(Technique t, Moved m) { return rows_[static_cast<std::size_t>(t)].factor[static_cast<std::size_t>(m)]; }
  void give_up(Technique t, const std::string& why) {
    TechniqueEffect& row = rows_[static_cast<std::size_t>(t)];
    row.factor.fill(unknown);
    row.why_not = why;
  }

  double sent_bytes(const RequestState& s) const {
    const Architecture& a = *work_.request.architecture;
    return 2 * static_cast<double>(a.layers) * ring_all_reduce_bytes(s.chips, 2 * static_cast<double>(a.hidden));
  }
  static double whole_flops(const RequestState& s, double output) {
    return static_cast<double>(s.chips) * (s.prefill.flops + (output - 1) / s.tokens * s.decode.flops);
  }
  void compare(Technique t, const RequestState& with, const RequestState& without) {
    const auto output = static_cast<double>(work_.request.output);
    at(t, Moved::first_token) = over(with.ttft_s, without.ttft_s);
    at(t, Moved::per_token) = over(with.tpot_s, without.tpot_s);
    at(t, Moved::throughput) = over(with.tokens_per_s, without.tokens_per_s);
    at(t, Moved::flops) = over(whole_flops(with, output), whole_flops(without, output));
    at(t, Moved::read) = over(with.decode.bytes() / with.tokens, without.decode.bytes() / without.tokens);
    at(t, Moved::launches) = over(with.decode.launches / with.tokens, without.decode.launches / without.tokens);
  }
  void held(Technique t, const RequestState& with, const RequestState& without) {
    at(t, Moved::weights) = over(with.decode.weight_bytes, without.decode.weight_bytes);
    at(t, Moved::cache) = over(with.decode.cache_bytes, without.decode.cache_bytes);
  }
  /// With the change over without it, everything else as the engine has it.
  void toggle(Technique t, RequestChange change, bool holds_less = false) {
    const auto with = pricer_.price(engine_.with(change)), without = pricer_.price(engine_.without(change));
    if (!with || !without) return give_up(t, with ? without.error : with.error);
    compare(t, *with.value, *without.value);
    if (holds_less) held(t, *with.value, *without.value);
    if (t == Technique::tensor) at(t, Moved::sent) = over(sent_bytes(*with.value), 0);
  }

  /// A graph is one launch whatever it holds: launches that a kernel spares are counted without it.
  void count_launches(Technique t, RequestChange change) {
    const ChangeSet bare = engine_.without(RequestChange::graph);
    const auto with = pricer_.price(bare.with(change)), without = pricer_.price(bare.without(change));
    if (with && without)
      at(t, Moved::launches) = over(with->decode.launches / with->tokens, without->decode.launches / without->tokens);
  }

  void fill_serving();
  void fill_batches();
  void fill_prompts();
  void fill_training();
  void fill_states(const TrainingCase& training, const memory::TrainingPlan& plan);
  void hold(Technique t, const TrainingCase& training, const memory::TrainingPlan& with,
            const memory::TrainingPlan& without);

  const WorkCase& work_;
  ChangeSet engine_;
  RequestPricer pricer_;
  RequestState base_;
  bool served_ = false;
  std::vector<TechniqueEffect> rows_;
};

void Page::fill_serving() {
  toggle(Technique::flash, RequestChange::flash_attention);
  count_launches(Technique::flash, RequestChange::flash_attention);
  toggle(Technique::fusion, RequestChange::fusion);
  count_launches(Technique::fusion, RequestChange::fusion);
  toggle(Technique::graph, RequestChange::graph);
  toggle(Technique::weights8, RequestChange::eight_bit_weights, true);
  toggle(Technique::weights4, RequestChange::four_bit_weights, true);
  toggle(Technique::cache8, RequestChange::eight_bit_cache, true);
  toggle(Technique::speculative, RequestChange::speculative);
  if (work_.request.chips > 1)
    toggle(Technique::tensor, RequestChange::tensor_parallel, true);
  else
    give_up(Technique::tensor, "One chip shares with nobody: set more chips.");
  fill_batches();
  fill_prompts();
}

/// Techniques of many requests at once.
void Page::fill_batches() {
  const auto batch = work_.request.batch;
  if (batch > 1) {
    RequestJob one = work_.request;
    one.batch = 1;
    if (const auto alone = inference::price_request(one, engine_)) {
      compare(Technique::batch, base_, *alone.value);
      at(Technique::batch, Moved::cache) = static_cast<double>(batch);
      at(Technique::batch, Moved::flops) = 1;
      // For a token: the weights are read once for all.
      at(Technique::batch, Moved::read) = over(base_.bytes_per_token, alone->bytes_per_token);
      at(Technique::batch, Moved::launches) = 1 / static_cast<double>(batch);
    }
    at(Technique::continuous, Moved::throughput) = longest_of(batch);
  } else {
    give_up(Technique::batch, "A batch of one is no batch: set more requests.");
    give_up(Technique::continuous, "A batch of one waits for nobody: set more requests.");
  }
  const Architecture& a = *work_.request.architecture;
  if (a.has_latent() || a.kv_heads == a.heads) {
    give_up(Technique::grouped_heads, a.has_latent() ? "The model keeps a latent in place of heads."
                                                     : "Every head of the model has its own keys and values.");
    return;
  }
  const auto wide = inference::redesigned(a, {.sharing = inference::KvSharing::grouped, .kv_heads = a.heads});
  if (!wide) return give_up(Technique::grouped_heads, wide.error);
  RequestJob own = work_.request;
  own.architecture = &*wide.value;
  const auto without = inference::price_request(own, engine_);
  if (!without) return give_up(Technique::grouped_heads, without.error);
  compare(Technique::grouped_heads, base_, *without.value);
  at(Technique::grouped_heads, Moved::cache) = static_cast<double>(a.kv_heads) / static_cast<double>(a.heads);
}

/// Techniques of caches and prompts.
void Page::fill_prompts() {
  const RequestJob& job = work_.request;
  const auto prompt = static_cast<double>(job.prompt), output = static_cast<double>(job.output);
  // A request holds its prompt and, on average, half of its answer; the last block is half full.
  const double used = prompt + output / 2 + work_.block_tokens / 2;
  at(Technique::paged, Moved::cache) = std::min(1.0, used / std::max(used, work_.reserved_tokens));

  const double shared = std::min(work_.shared_tokens, prompt - 1);
  const PrefillPrice price = prefill_price(*job.architecture);
  const double saved = price.flops(prompt, 0) - price.flops(prompt, shared), all = price.flops(prompt, 0);
  at(Technique::prefix, Moved::flops) = (all - saved) / all;
  const double chips = static_cast<double>(base_.chips),
               saved_s = saved * static_cast<double>(job.batch) / (chips * base_.peak_flops_per_s * job.shares.peak),
               least_s = base_.decode.busy_s;  // the weights are read whatever is left of the prompt
  at(Technique::prefix, Moved::first_token) =
      std::max(base_.ttft_s - saved_s, std::min(base_.ttft_s, least_s)) / base_.ttft_s;

  RequestJob part = job;
  part.batch = 1;
  const auto whole = inference::price_request(part, engine_);
  part.prompt = std::min<std::int64_t>(job.prompt, static_cast<std::int64_t>(work_.chunk_tokens));
  const auto chunk = inference::price_request(part, engine_);
  if (whole && chunk) {
    const double step = base_.decode.time_s, stalled = step + whole->prefill.time_s;
    const double chunks = std::ceil(prompt / static_cast<double>(part.prompt));
    const double mixed = std::max(step, chunk->prefill.time_s);
    at(Technique::chunked, Moved::gap) = std::min(1.0, mixed / stalled);
    at(Technique::chunked, Moved::first_token) = std::max(1.0, chunks * mixed / whole->prefill.time_s);
    at(Technique::parted, Moved::gap) = step / stalled;
    const auto design = inference::KvDesign{};
    const double cache = inference::kv_sequence_bytes(*job.architecture, design, prompt);
    at(Technique::parted, Moved::first_token) = 1 + cache / work_.link_bytes_per_s / whole->ttft_s;
    at(Technique::parted, Moved::sent) = over(cache, 0);
  }
}

void Page::hold(Technique t, const TrainingCase& training, const memory::TrainingPlan& with,
                const memory::TrainingPlan& without) {
  const auto a = training.held(with), b = training.held(without);
  if (!a || !b) return give_up(t, a ? b.error : a.error);
  const auto states = [](const memory::TrainingMemory& m) {
    return m.states[MemoryOwner::gradients] + m.states[MemoryOwner::master] + m.states[MemoryOwner::optimizer];
  };
  at(t, Moved::weights) = over(a->states[MemoryOwner::weights], b->states[MemoryOwner::weights]);
  at(t, Moved::states) = over(states(*a.value), states(*b.value));
  at(t, Moved::activations) = over(a->operations_bytes, b->operations_bytes);
}

void Page::fill_training() {
  const TrainingCase training(work_);
  const SwitchSet modern = TrainingCase::modern();
  const auto base = training.step(modern);
  if (!base) {
    for (std::size_t i = serving_count; i < technique_count; ++i) give_up(static_cast<Technique>(i), base.error);
    return;
  }
  const auto toggle = [&](Technique t, StepSwitch s) {
    const auto with = training.step_s(modern.with(s)), without = training.step_s(modern.with(s, false));
    if (!with || !without) {
      give_up(t, work_.request.chip->name + " states no peak for this format.");
      return false;
    }
    at(t, Moved::throughput) = *without / *with;
    return true;
  };
  if (toggle(Technique::bf16, StepSwitch::bf16)) {
    const auto wide = training.step(modern.with(StepSwitch::bf16, false));
    if (wide) {
      hold(Technique::bf16, training, base->plan, wide->plan);
      at(Technique::bf16, Moved::sent) = over(base->setup.gradient_bytes, wide->setup.gradient_bytes);
    }
  }
  toggle(Technique::fp8_training, StepSwitch::fp8);
  toggle(Technique::fused_update, StepSwitch::fused_optimizer);
  toggle(Technique::overlap, StepSwitch::overlap);
  if (toggle(Technique::checkpoint, StepSwitch::checkpoint)) {
    const auto again = training.step(modern.with(StepSwitch::checkpoint));
    if (again) hold(Technique::checkpoint, training, again->plan, base->plan);
    at(Technique::checkpoint, Moved::flops) = 1 + base->forward_flops / (base->forward_flops + base->backward_flops);
  }
  if (toggle(Technique::accumulate, StepSwitch::accumulate)) {
    const auto pieces = training.step(modern.with(StepSwitch::accumulate));
    if (pieces) hold(Technique::accumulate, training, pieces->plan, base->plan);
  }
  fill_states(training, base->plan);
  const double fill = padded_fill(work_.document_tokens, static_cast<double>(work_.sequence));
  at(Technique::packing, Moved::throughput) = 1 / fill;
  at(Technique::packing, Moved::activations) = fill;
  at(Technique::packing, Moved::flops) = fill;
  // The square of the scores is kept by attention in pieces.
  const auto square = training.step(modern.with(StepSwitch::flash, false));
  if (square && served_) {
    const auto a = training.held(base->plan), b = training.held(square->plan);
    if (a && b) at(Technique::flash, Moved::activations) = over(a->operations_bytes, b->operations_bytes);
  }
}

/// Techniques that split or shrink what is kept of a parameter.
void Page::fill_states(const TrainingCase& training, const memory::TrainingPlan& alone) {
  memory::TrainingPlan base = alone;
  base.data = work_.gpus;
  const double traffic = parallel::zero_traffic(base).total();
  for (const auto& [technique, stage] : {std::pair{Technique::zero1, 1}, std::pair{Technique::zero3, 3}}) {
    memory::TrainingPlan split = base;
    split.zero_stage = stage;
    hold(technique, training, split, base);
    at(technique, Moved::activations) = 1;
    at(technique, Moved::sent) = over(parallel::zero_traffic(split).total(), traffic);
  }
  memory::TrainingPlan narrow = base;
  narrow.optimizer = memory::OptimizerKind::adamw_8bit;
  hold(Technique::adam8, training, narrow, base);
  memory::TrainingPlan staged = base;
  staged.pipeline = std::min(work_.stages, work_.request.architecture->layers);
  staged.micro_batches = work_.pieces;
  staged.batch = work_.micro_batch;
  memory::TrainingPlan pieces = base;
  pieces.micro_batches = work_.pieces;
  pieces.batch = work_.micro_batch;
  hold(Technique::pipeline, training, staged, pieces);
  const auto p = static_cast<double>(staged.pipeline), m = static_cast<double>(work_.pieces);
  at(Technique::pipeline, Moved::throughput) = m / (m + p - 1);  // a GPU's; Narayanan et al. 2021, section 2.2
}

}  // namespace

double longest_of(std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 1; i <= n; ++i) sum += 1 / static_cast<double>(i);
  return sum;
}

double padded_fill(double document_tokens, double sequence) {
  return document_tokens / sequence * -std::expm1(-sequence / document_tokens);
}

std::vector<TechniqueEffect> technique_effects(const WorkCase& work) { return Page(work).fill(); }

}  // namespace models::sheet
