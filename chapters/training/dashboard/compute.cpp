#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "chapters/mechanism/catalog.h"
#include "chapters/training/dashboard/lab.h"
#include "models/base/integer_math.h"

namespace chapters::training::dashboard {
namespace {

using models::SwitchSet;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
/// Steps that pass before the figures count, as in profiling/step-trace.
constexpr std::int64_t warm_up = 16;
constexpr double token_bytes = 8;  ///< int64 ids, as torch has them
/// The first four switches are those of the study's stack.
constexpr std::size_t study_count = 4;

std::size_t index_of(Part part) { return static_cast<std::size_t>(part); }

/// Kernel time as simulated, cut by what the kernels do, and the causes of waiting.
Parts parts_of(const models::SwitchedStep& step, const models::StepMeans& mean) {
  Parts out{};
  double kernels_s = 0;
  for (const double s : step.kernel_s) kernels_s += s;
  const double simulated_s = mean.forward_s + mean.backward_s;
  for (std::size_t i = 0; i < models::kernel_work_count; ++i)
    out[i] = kernels_s > 0 ? step.kernel_s[i] / kernels_s * simulated_s : 0;
  const auto idle = [&](models::StepCause cause) { return mean.idle_s[static_cast<std::size_t>(cause)]; };
  out[index_of(Part::optimizer)] = mean.optimizer_s;
  out[index_of(Part::communication)] = idle(models::StepCause::communication);
  out[index_of(Part::loader)] = idle(models::StepCause::data);
  out[index_of(Part::launches)] = idle(models::StepCause::launch);
  out[index_of(Part::host)] = idle(models::StepCause::copy) + idle(models::StepCause::sync);
  return out;
}

/// Each set of switches is simulated once.
class Presses {
 public:
  explicit Presses(const models::SwitchedJob& job) : job_(job) {}
  const PressedStep& of(SwitchSet on) {
    const auto [at, fresh] = known_.try_emplace(on.bits);
    if (fresh) at->second = press(job_, on);
    return at->second;
  }

 private:
  const models::SwitchedJob& job_;
  std::unordered_map<std::uint16_t, PressedStep> known_;
};

double peak_of(const PressedStep& p) { return p.held.total(); }

/// Below a nanosecond there is no difference: the simulation counts them.
double change_between(const PressedStep& before, const PressedStep& after) {
  const double change_s = after.step_s() - before.step_s();
  return std::abs(change_s) < 1e-9 ? 0 : change_s;
}

/// The switches that are on, in the order in which they were pressed.
std::vector<StepSwitch> in_order(const Inputs& in, Presses& presses) {
  std::vector<StepSwitch> left;
  for (const StepSwitch s : models::all_step_switches)
    if (in.on[static_cast<std::size_t>(s)]) left.push_back(s);
  if (in.order == Order::reversed) std::reverse(left.begin(), left.end());
  if (in.order != Order::steepest) return left;
  std::vector<StepSwitch> out;
  SwitchSet so_far;
  while (!left.empty()) {
    const auto step_s = [&](StepSwitch s) {
      const PressedStep& p = presses.of(so_far.with(s));
      return p.why_not.empty() ? p.step_s() : std::numeric_limits<double>::infinity();
    };
    const auto best =
        std::min_element(left.begin(), left.end(), [&](StepSwitch a, StepSwitch b) { return step_s(a) < step_s(b); });
    so_far = so_far.with(*best);
    out.push_back(*best);
    left.erase(best);
  }
  return out;
}

double cost_of(const Inputs& in, double step_s) {
  const double steps = in.run_tokens / (models::as_double(in.batch) * models::as_double(in.sequence));
  return steps * step_s * in.gpu_hour_usd / 3600;  // each GPU takes its share of the tokens
}

std::string_view bottleneck_name(const PressedStep& p) {
  constexpr std::array<std::string_view, part_count> names{
      "matmuls",           "attention",      "norms, loss, the rest", "FP8 casts",
      "recomputed layers", "optimizer",      "the all-reduce",        "the loader",
      "launches",          "copies or syncs"};
  return names[index_of(p.bottleneck())];
}

StageRow stage_of(const Inputs& in, const Outputs& out, std::string name, const PressedStep& p) {
  StageRow row{.name = std::move(name), .bottleneck = std::string(bottleneck_name(p))};
  row.step_s = p.step_s();
  row.peak_bytes = peak_of(p);
  row.cost_usd = cost_of(in, row.step_s);
  row.share = p.bottleneck_share();
  row.fits = row.peak_bytes <= out.chip_bytes;
  row.parts = p.parts;
  return row;
}

void fill_switches(const Inputs& in, const std::vector<StepSwitch>& order, Presses& presses, Outputs& out) {
  const SwitchSet all = pressed(in);
  for (const StepSwitch s : models::all_step_switches) {
    const auto i = static_cast<std::size_t>(s);
    SwitchRow row{.name = std::string(switch_name(i)), .on = in.on[i]};
    if (i < study_count) row.claimed = in.claimed[i];
    SwitchSet before = all;
    if (row.on) {
      before = {};
      for (const StepSwitch o : order) {
        if (o == s) break;
        before = before.with(o);
      }
    }
    const PressedStep &a = presses.of(before), &b = presses.of(before.with(s)),
                      &first = presses.of(SwitchSet().with(s));
    row.why_not = !b.why_not.empty() ? b.why_not : first.why_not;
    row.possible = row.why_not.empty() && a.why_not.empty();
    row.first_s = first.why_not.empty() ? change_between(out.found, first) : missing;
    row.change_s = row.possible ? change_between(a, b) : missing;
    // What a compiler frees is not modelled: the kernels that it makes decide which results are never stored.
    row.memory_bytes = row.possible && s != StepSwitch::compile ? peak_of(b) - peak_of(a) : missing;
    row.speedup = row.possible ? a.step_s() / b.step_s() : missing;
    out.change_s[i] = row.change_s;
    out.first_s[i] = row.first_s;
    out.memory_bytes[i] = row.memory_bytes;
    out.gain[i] = row.speedup;
    if (row.possible) {
      row.before = a.parts;
      row.after = b.parts;
    }
    if (row.on) {
      out.product_of_alone *= first.why_not.empty() ? out.found.step_s() / first.step_s() : 1;
      if (i < study_count) out.claimed_product *= in.claimed[i];
    }
    out.switches.push_back(std::move(row));
  }
}

/// The switch that is worth pressing next: what saves most of the step and fits. Where the step does not fit: what
/// makes it fit at the least time, or, where no switch alone does, what frees most.
void fill_next(Outputs& out) {
  out.next = "none";
  out.next_s = out.next_bytes = missing;
  double best = 0;
  for (const SwitchRow& row : out.switches) {
    if (row.on || !row.possible) continue;
    const double freed = std::isfinite(row.memory_bytes) ? -row.memory_bytes : 0, peak = out.peak_bytes - freed;
    const bool fits = peak <= out.chip_bytes;
    // Where the step does not fit, fitting is worth more than any time, and what does not help to fit is worth nothing.
    const double worth =
        out.fits || fits ? (fits && !out.fits ? 1e6 : 0) - row.change_s : 1e3 * std::max(0.0, freed) / out.peak_bytes;
    if ((out.fits && !fits) || worth <= std::max(best, 1e-4 * out.now.step_s())) continue;
    best = worth;
    out.next = row.name;
    out.next_s = row.change_s;
    out.next_bytes = -freed;
  }
}

void fill_study(const Inputs& in, Presses& presses, Outputs& out) {
  SwitchSet so_far;
  double before_s = out.found.step_s();
  StudyRow sum;
  for (std::size_t i = 0; i < study_count; ++i) {
    so_far = so_far.with(models::all_step_switches[i]);
    const PressedStep& p = presses.of(so_far);
    if (!p.why_not.empty()) return;
    sum.name = std::string(switch_name(i));
    sum.claimed = in.claimed[i];
    sum.computed = before_s / p.step_s();
    sum.claimed_product *= sum.claimed;
    sum.computed_product *= sum.computed;
    sum.claimed_usd = out.found_cost_usd / sum.claimed_product;
    sum.computed_usd = cost_of(in, p.step_s());
    out.study.push_back(sum);
    before_s = p.step_s();
  }
}

}  // namespace

double PressedStep::floor_s() const {
  const double batches = models::loader_ceilings(step.setup.loader).least_per_s();
  return std::isfinite(batches) ? static_cast<double>(step.setup.micro_batches) / batches : 0;
}
Part PressedStep::bottleneck() const {
  if (step.setup.loader.workers > 0 && parts[index_of(Part::loader)] > slight * step_s()) return Part::loader;
  return static_cast<Part>(std::max_element(parts.begin(), parts.end()) - parts.begin());
}
double PressedStep::bottleneck_share() const {
  const Part part = bottleneck();
  const bool paced = part == Part::loader && step.setup.loader.workers > 0;
  return 100 * (paced ? std::min(floor_s(), step_s()) : parts[index_of(part)]) / step_s();
}

SwitchSet pressed(const Inputs& in) {
  SwitchSet out;
  for (const StepSwitch s : models::all_step_switches) out = out.with(s, in.on[static_cast<std::size_t>(s)]);
  return out;
}

models::Result<models::SwitchedJob> read_job(const Inputs& in) {
  using Out = models::Result<models::SwitchedJob>;
  const auto model = find_model(in.model);
  if (!model) return Out::fail(model.error);
  const auto chip = find_chip(in.chip);
  if (!chip) return Out::fail(chip.error);
  models::SwitchedJob job;
  job.architecture = (*model)->architecture;
  job.chip = *chip;
  job.batch = in.batch;
  job.sequence = in.sequence;
  job.micro_batches = in.micro_batches;
  job.workers = in.workers;
  job.found_format = in.found_format == FoundFormat::tf32 ? models::Format::tf32 : models::Format::fp32;
  job.by_hand = in.by_hand;
  job.roof_share = in.roof_share;
  job.loss = in.loss;
  models::StepSetup& s = job.host;
  s.loader.workers = in.found_workers;
  s.loader.samples = in.batch;
  s.loader.sample_bytes = 0;
  s.loader.request_latency_s = 0;
  s.loader.decode_s = in.load_s;
  s.loader.cores = in.cores;
  s.loader.batch_bytes = token_bytes * models::as_double(in.batch) * models::as_double(in.sequence);
  s.loader.pinned = true;
  s.copy = models::BatchCopy::copy_stream;
  s.launch_s = in.launch_s;
  s.launch_latency_s = in.launch_latency_s;
  s.ranks = in.ranks;
  s.buckets = in.buckets;
  s.bus_bytes_per_s = in.bus_bytes_per_s;
  s.hop_latency_s = in.hop_latency_s;
  s.sync_every = in.sync_every;
  s.log_s = in.log_s;
  return Out::ok(std::move(job));
}

PressedStep press(const models::SwitchedJob& job, SwitchSet on) {
  PressedStep out;
  auto step = models::switched_step(job, on);
  if (!step) {
    out.why_not = step.error;
    return out;
  }
  const auto memory = models::switched_memory(job, *step);
  const std::int64_t steady = models::steady_steps(step->setup);
  const auto run = models::simulate_steps(step->setup, {.steps = warm_up + steady});
  if (!memory || !run) {
    out.why_not = !memory ? memory.error : run.error;
    return out;
  }
  out.mean = models::mean_of_last(*run, steady);
  if (!(out.mean.period_s > 0)) out.why_not = "A step takes no time here: raise the batch or the sequence.";
  out.held = memory->held;
  out.parts = parts_of(*step, out.mean);
  out.step = std::move(*step);
  return out;
}

namespace {

/// The step over the loader's workers, as found and with the switches that are on.
std::vector<WorkersPoint> steps_by_workers(const Inputs& in, const Progress& progress) {
  std::vector<WorkersPoint> out;
  Inputs at = in;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 8, 10, 12, 16}) {
    at.workers = n;
    const auto job = read_job(at);
    if (!job || progress.cancelled) return out;
    const PressedStep found = press(*job, SwitchSet{}.with(StepSwitch::loader)),
                      now = press(*job, pressed(in).with(StepSwitch::loader));
    if (!found.why_not.empty() || !now.why_not.empty()) return out;
    const double rate = models::loader_ceilings(now.step.setup.loader).least_per_s();
    out.push_back({n, found.step_s(), now.step_s(), static_cast<double>(now.step.setup.micro_batches) / rate});
  }
  return out;
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  const auto job = read_job(in);
  if (!job) return {{.reason = job.error}};
  Outputs out;
  Presses presses(*job);
  const SwitchSet all = pressed(in);
  out.found = presses.of({});
  out.now = presses.of(all);
  if (!out.found.why_not.empty() || !out.now.why_not.empty()) {
    out.reason = !out.found.why_not.empty() ? out.found.why_not : out.now.why_not;
    return {std::move(out)};
  }
  out.chip_bytes = job->chip->memory_bytes;
  out.peak_bytes = peak_of(out.now);
  out.found_peak_bytes = peak_of(out.found);
  out.free_bytes = out.chip_bytes - out.peak_bytes;
  out.fits = out.free_bytes >= 0;
  const double step_s = out.now.step_s();
  out.speedup = out.found.step_s() / step_s;
  out.cost_usd = cost_of(in, step_s);
  out.found_cost_usd = cost_of(in, out.found.step_s());
  out.bottleneck = bottleneck_name(out.now);
  out.found_bottleneck = bottleneck_name(out.found);
  out.bottleneck_share = out.now.bottleneck_share();
  out.waits_s = out.now.mean.idle_total_s();
  out.kernels_s = step_s - out.waits_s;
  out.floor_s = out.now.floor_s();
  out.tokens_per_s = models::as_double(in.batch) * models::as_double(in.sequence) / step_s;
  const auto peak = job->chip->peak_flops_per_s(models::Format::bf16);
  out.mfu =
      peak && *peak > 0 ? 100 * (out.now.step.forward_flops + out.now.step.backward_flops) / step_s / *peak : missing;
  const models::SwitchedStep& step = out.now.step;
  double own_s = 0;
  for (std::size_t i = 0; i < models::kernel_work_count; ++i)
    if (i != index_of(Part::again)) own_s += step.kernel_s[i];
  out.again_share = own_s > 0 ? 100 * step.kernel_s[index_of(Part::again)] / own_s : 0;

  const std::vector<StepSwitch> order = in_order(in, presses);
  fill_switches(in, order, presses, out);
  fill_next(out);
  out.claimed_usd = out.found_cost_usd / out.claimed_product;
  SwitchSet so_far;
  out.stages.push_back(stage_of(in, out, "as found", out.found));
  out.last = "none";
  out.last_s = out.last_first_s = missing;
  for (const StepSwitch s : order) {
    if (progress.cancelled) return {std::move(out)};
    so_far = so_far.with(s);
    const auto i = static_cast<std::size_t>(s);
    const PressedStep& p = presses.of(so_far);
    if (!p.why_not.empty()) continue;
    out.stages.push_back(stage_of(in, out, std::string(switch_name(i)), p));
    out.last = switch_name(i);
    out.last_s = out.switches[i].change_s;
    out.last_first_s = out.switches[i].first_s;
  }
  fill_study(in, presses, out);
  if (progress.facts_alone) return {std::move(out)};
  return {std::move(out), std::make_shared<const Run>(Run{steps_by_workers(in, progress)})};
}

}  // namespace chapters::training::dashboard
