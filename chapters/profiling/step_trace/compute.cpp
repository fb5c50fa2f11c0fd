#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/profiling/step_trace/lab.h"
#include "models/trace/measure/metrics.h"
#include "models/trace/replay/host_spans.h"
#include "widgets/number/number.h"

namespace chapters::profiling::step_trace {
namespace {

/// Steps that pass before the figures count.
constexpr std::int64_t warm_up = 16;
/// Steps whose history is kept for the picture, at most.
constexpr std::int64_t max_kept = 64, max_kernels = 30'000;

models::StepSetup setup_of(const Inputs& in, const Switches& s) {
  models::StepSetup out;
  models::LoaderSetup& l = out.loader;
  l.workers = s.workers;
  l.prefetch = s.prefetch;
  l.samples = in.samples;
  l.sample_bytes = in.sample_bytes;
  l.request_latency_s = in.request_latency_s;
  l.storage_bytes_per_s = in.storage_bytes_per_s;
  l.decode_s = in.decode_s;
  l.decode_spread = in.decode_spread;
  l.cores = in.cores;
  l.batch_bytes = in.batch_bytes;
  l.pinned = s.copy != models::BatchCopy::pageable;
  l.host_copy_bytes_per_s = in.pageable_bytes_per_s;
  l.seed = in.seed;
  out.copy = s.copy;
  out.pageable_bytes_per_s = in.pageable_bytes_per_s;
  out.pinned_bytes_per_s = in.pinned_bytes_per_s;
  out.layers = in.layers;
  out.kernels_per_layer = s.compile ? std::min(in.compiled_kernels, in.kernels_per_layer) : in.kernels_per_layer;
  // Products of matrices, and the rest, which moves bytes.
  const double matmul = in.matmul_share / (s.amp ? in.amp_matmul : 1),
               other = (1 - in.matmul_share) / (s.amp ? in.amp_other : 1) * (s.compile ? in.compile_keeps : 1);
  out.forward_s = in.forward_s * (matmul + other);
  out.backward_s = in.backward_s * (matmul + other);
  out.launch_s = in.launch_s;
  out.launch_latency_s = in.launch_latency_s;
  out.parameters = in.parameters;
  out.optimizer_bytes_per_s = in.optimizer_bytes_per_s;
  out.optimizer = s.optimizer;
  out.ranks = in.ranks;
  out.gradient_bytes = in.parameters * (in.bf16_gradients ? 2 : 4);
  out.buckets = s.buckets;
  out.bus_bytes_per_s = in.bus_bytes_per_s;
  out.hop_latency_s = in.hop_latency_s;
  out.overlap = s.overlap;
  out.sync_every = s.sync_every;
  out.log_s = in.log_s;
  out.state_bytes = in.state_bytes;
  out.activation_bytes = in.activation_bytes;
  return out;
}

/// A run of `steps` steps and its steady figures.
struct SimulatedStep {
  models::StepRun run;
  models::StepMeans mean;
  StepParts parts;
};

/// How many steps a run has whose figures count.
std::int64_t figure_steps(const models::StepSetup& setup, std::int64_t kept) {
  return warm_up + std::max(models::steady_steps(setup), kept);
}

/// The steady figures, and the history of the last `recorded` of the steps.
models::Result<SimulatedStep> simulated(const models::StepSetup& setup, std::int64_t steps, std::int64_t recorded) {
  auto run =
      models::simulate_steps(setup, {.steps = steps, .record_from = steps - recorded, .record_blocks = recorded > 0});
  if (!run) return models::Result<SimulatedStep>::fail(run.error);
  SimulatedStep out{.mean = models::mean_of_last(*run, models::steady_steps(setup))};
  out.run = std::move(*run);
  std::array<double, part_count>& s = out.parts.s;
  s = {out.mean.forward_s, out.mean.backward_s, out.mean.optimizer_s};
  for (std::size_t c = 0; c < models::step_cause_count; ++c) s[3 + c] = out.mean.idle_s[c];
  out.parts.largest = static_cast<std::size_t>(std::max_element(s.begin(), s.end()) - s.begin());
  return models::Result<SimulatedStep>::ok(std::move(out));
}
models::Result<SimulatedStep> simulated(const models::StepSetup& setup) {
  return simulated(setup, figure_steps(setup, 0), 0);
}

/// How many steps a picture of `range_s` needs. A loader that is too slow brings batches in rounds over its workers: a
/// whole round is kept. What the main thread and the workers do ahead of the last step is known only if steps after
/// those that are shown are kept too.
std::int64_t kept_steps(const SimulatedStep& s, const Switches& as, const models::StepSetup& setup, double range_s) {
  const double steps = s.mean.period_s > 0 ? range_s / s.mean.period_s : 1;
  const std::int64_t ahead = as.workers * as.prefetch, round = std::max<std::int64_t>(as.workers, 1),
                     lead = s.run.largest_lead / (3 * setup.layers * setup.kernels_per_layer) + 1;
  // Where launches leave gaps each kernel is kept.
  const double gaps_s = s.mean.idle_s[static_cast<std::size_t>(models::StepCause::launch)],
               kernels = static_cast<double>(3 * setup.layers * setup.kernels_per_layer);
  const bool gaps = gaps_s > 0.02 * kernels * setup.launch_s;
  const std::int64_t room = gaps ? std::llround(max_kernels / kernels) : max_kept;
  return std::clamp<std::int64_t>(std::llround(std::min(steps, 100.0)) + 3 + round + ahead + lead, 4,
                                  std::clamp<std::int64_t>(room, 4, max_kept));
}

/// The step again with the history that is shown, whose length `first` tells; without one where nobody looks, and then
/// only where the longer run has other figures.
models::Result<SimulatedStep> shown_step(SimulatedStep first, const Switches& as, const models::StepSetup& setup,
                                         double range_s, bool facts_alone) {
  const std::int64_t kept = kept_steps(first, as, setup, range_s), steps = figure_steps(setup, kept);
  if (facts_alone && steps == figure_steps(setup, 0)) return models::Result<SimulatedStep>::ok(std::move(first));
  return simulated(setup, steps, facts_alone ? 0 : kept);
}

/// A change: its name, whether it is one here, and how it is made.
struct Change {
  std::string_view name;
  bool (*differs)(const Switches& a, const Switches& b);
  void (*make)(Switches& to, const Switches& from);
};
/// In the order in which a plan takes them: data first, then what holds the host, then the device, then the network.
constexpr std::array<Change, 7> changes{{
    {"loader workers",
     [](const Switches& a, const Switches& b) { return a.workers != b.workers || a.prefetch != b.prefetch; },
     [](Switches& to, const Switches& from) {
       to.workers = from.workers;
       to.prefetch = from.prefetch;
     }},
    {"how batches are copied", [](const Switches& a, const Switches& b) { return a.copy != b.copy; },
     [](Switches& to, const Switches& from) { to.copy = from.copy; }},
    {"how often the loss is read", [](const Switches& a, const Switches& b) { return a.sync_every != b.sync_every; },
     [](Switches& to, const Switches& from) { to.sync_every = from.sync_every; }},
    {"optimizer", [](const Switches& a, const Switches& b) { return a.optimizer != b.optimizer; },
     [](Switches& to, const Switches& from) { to.optimizer = from.optimizer; }},
    {"BF16 by autocast", [](const Switches& a, const Switches& b) { return a.amp != b.amp; },
     [](Switches& to, const Switches& from) { to.amp = from.amp; }},
    {"torch.compile", [](const Switches& a, const Switches& b) { return a.compile != b.compile; },
     [](Switches& to, const Switches& from) { to.compile = from.compile; }},
    {"buckets and overlap",
     [](const Switches& a, const Switches& b) { return a.overlap != b.overlap || a.buckets != b.buckets; },
     [](Switches& to, const Switches& from) {
       to.overlap = from.overlap;
       to.buckets = from.buckets;
     }},
}};

/// What each change takes: after those above it, and alone.
void fill_fixes(const Inputs& in, const SimulatedStep& found, const SimulatedStep& now, Progress& progress, Run& run,
                Outputs& out) {
  Switches so_far = in.found;
  double last_s = found.mean.period_s;
  for (const Change& change : changes) {
    if (!change.differs(in.found, in.now) || progress.cancelled) continue;
    change.make(so_far, in.now);
    Switches alone = in.found;
    change.make(alone, in.now);
    // The last is the step as changed, and the first stands alone.
    const SimulatedStep* together = &now;
    models::Result<SimulatedStep> made = models::Result<SimulatedStep>::ok({}), lone = made;
    if (!(so_far == in.now)) {
      made = simulated(setup_of(in, so_far));
      if (!made) continue;
      together = &*made;
    }
    const SimulatedStep* by_itself = together;
    if (!(alone == so_far)) {
      lone = simulated(setup_of(in, alone));
      if (!lone) continue;
      by_itself = &*lone;
    }
    const StepParts& parts = together->parts;
    out.fixes.push_back({
        .name = std::string(change.name),
        .then = std::string(part_names[parts.largest]),
        .in_order_s = together->mean.period_s - last_s,
        .alone_s = by_itself->mean.period_s - found.mean.period_s,
        .step_s = together->mean.period_s,
        .then_share = 100 * parts.s[parts.largest] / together->mean.period_s,
    });
    run.fix_parts.push_back(parts);
    if (change.name == changes[0].name) out.data_cut = -100 * out.fixes.back().alone_s / found.mean.period_s;
    last_s = together->mean.period_s;
  }
}

StepFigures figures_of(const SimulatedStep& s) {
  const models::StepMeans& m = s.mean;
  StepFigures f{.mean = m,
                .busy = 100 * (1 - m.idle_total_s() / m.period_s),
                .idle_s = m.idle_total_s(),
                .useful = 100 * (m.forward_s + m.backward_s) / m.period_s,
                .largest = std::string(part_names[s.parts.largest]),
                .lead = s.run.largest_lead};
  for (std::size_t i = 0; i < part_count; ++i) f.share[i] = 100 * s.parts.s[i] / m.period_s;
  return f;
}

/// The longest step of the last round over the workers: a loader that is too slow brings batches in rounds.
double longest_of_round(const models::StepRun& run, std::int64_t workers) {
  const std::size_t round = std::min(run.steps.size(), static_cast<std::size_t>(std::max<std::int64_t>(1, workers)));
  std::int64_t longest_ns = 0;
  for (std::size_t i = run.steps.size() - round; i < run.steps.size(); ++i)
    longest_ns = std::max(longest_ns, run.steps[i].period_ns);
  return static_cast<double>(longest_ns) * 1e-9;
}

/// What the loader can do, and what the step asks of it.
void fill_loader(const models::StepSetup& setup, Outputs& out) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  models::LoaderSetup lone = setup.loader;
  lone.workers = 1;
  out.load_s = 1 / models::loader_ceilings(lone).workers_per_s;
  // Without a wait for data the step is what is left of it; workers must bring a batch in that time.
  const double rest_s = out.now.mean.period_s - out.now.mean.idle_s[0];
  const bool enough = models::loader_ceilings(lone).shared_per_s() * rest_s >= 1 - 1e-9;
  out.workers_needed = rest_s > 0 && enough ? std::ceil(out.load_s / rest_s - 1e-9) : unknown;
  out.ceiling_per_s = models::loader_ceilings(setup.loader).least_per_s();
  if (!std::isfinite(out.ceiling_per_s)) out.ceiling_per_s = unknown;
}

}  // namespace

Computed compute(const Inputs& in, Progress& progress) {
  const auto fail = [](std::string reason) { return Computed{.facts = {.reason = std::move(reason)}}; };
  const models::StepSetup as_found = setup_of(in, in.found), setup = setup_of(in, in.now);
  auto found = simulated(as_found), now = simulated(setup);
  double range_s = 1;
  if (found && now) {
    range_s = 1.06 * std::max(found->mean.period_s, now->mean.period_s);
    found = shown_step(std::move(*found), in.found, as_found, range_s, progress.facts_alone);
    now = shown_step(std::move(*now), in.now, setup, range_s, progress.facts_alone);
  }
  if (!found || !now) return fail(!found ? found.error : now.error);
  const models::StepMeans &a = found->mean, &b = now->mean;
  if (!(a.period_s > 0 && b.period_s > 0)) return fail("A step takes no time here: give its kernels a time above 0.");
  const auto run = std::make_shared<Run>();
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  Outputs out;
  out.found = figures_of(*found);
  out.now = figures_of(*now);
  out.speedup = a.period_s / b.period_s;
  out.optimizer_gain = b.optimizer_s > 0 ? a.optimizer_s / b.optimizer_s : unknown;
  out.longest_step_s = longest_of_round(now->run, in.now.workers);
  fill_loader(setup, out);
  const double exposed_s = b.idle_s[static_cast<std::size_t>(models::StepCause::communication)];
  out.hidden_communication = b.communication_s > 0 ? 100 * (1 - exposed_s / b.communication_s) : unknown;
  out.gradient_bytes = setup.gradient_bytes;
  out.peak_bytes = in.state_bytes + in.activation_bytes;
  fill_fixes(in, *found, *now, progress, *run, out);
  run->setup = setup;
  run->as_found = as_found;
  run->range_s = 1.06 * std::max(a.period_s, b.period_s);
  run->found_parts = found->parts;
  run->parts = now->parts;
  run->found = std::move(found->run);
  run->now = std::move(now->run);
  return {.facts = std::move(out), .run = run};
}

SpanTable host_spans_of(const Run& run) {
  SpanTable out;
  constexpr double most_kernels = 200'000;
  const double kernels = static_cast<double>(3 * run.as_found.layers * run.as_found.kernels_per_layer);
  const auto steps = static_cast<std::int64_t>(std::clamp(most_kernels / std::max(1.0, kernels), 2.0, 8.0));
  const auto recorded =
      models::simulate_steps(run.as_found, {.steps = warm_up + steps, .record_from = warm_up, .record_traces = true});
  if (!recorded) {
    out.words = recorded.error;
    return out;
  }
  const auto wins = models::trace::host_span_wins(recorded->traces.front());
  if (!wins) {
    out.words = wins.error;
    return out;
  }
  const double each = 1e-9 / static_cast<double>(steps);
  for (const auto& s : wins->spans)
    out.rows.push_back({.name = s.name,
                        .count = static_cast<double>(s.count) / static_cast<double>(steps),
                        .length_s = static_cast<double>(s.total_ns) * each,
                        .longest_s = static_cast<double>(s.longest_ns) * 1e-9,
                        .won_s = static_cast<double>(s.won_ns) * each});
  out.words = "One name at a time taken out of the step as found, and its recording run again; the replay explains " +
              widgets::format_text(100 * wins->fit.explained, "%", 3) + " of it.";
  return out;
}

models::Result<std::string> document_of(const Outputs& out, const Run& run) {
  if (!out.reason.empty()) return models::Result<std::string>::fail(out.reason);
  constexpr std::int64_t steps = 8;
  const auto eight =
      models::simulate_steps(run.setup, {.steps = warm_up + steps, .record_from = warm_up, .record_traces = true});
  if (!eight) return models::Result<std::string>::fail(eight.error);
  return models::trace::to_chrome_json(eight->traces.front());
}

}  // namespace chapters::profiling::step_trace
