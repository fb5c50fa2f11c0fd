#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/profiling/step_trace/lab.h"
#include "models/trace/measure/metrics.h"

namespace chapters::profiling::step_trace {
namespace {

/// Steps that pass before the figures count.
constexpr std::int64_t warm_up = 16;
/// Steps whose history is kept for the picture, at most.
constexpr std::int64_t most_kept = 64, most_kernels = 30'000;

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

/// The steady figures, and the history of the last `kept` steps.
models::Result<SimulatedStep> simulated(const models::StepSetup& setup, std::int64_t kept) {
  const std::int64_t steady = models::steady_steps(setup), steps = warm_up + std::max(steady, kept);
  auto run = models::simulate_steps(setup, {.steps = steps, .record_from = steps - kept, .record_blocks = kept > 0});
  if (!run) return models::Result<SimulatedStep>::fail(run.error);
  SimulatedStep out{.mean = models::mean_of_last(*run, steady)};
  out.run = std::move(*run);
  out.parts = {out.mean.forward_s, out.mean.backward_s, out.mean.optimizer_s};
  for (std::size_t c = 0; c < models::step_cause_count; ++c) out.parts[3 + c] = out.mean.idle_s[c];
  out.largest = static_cast<std::size_t>(std::max_element(out.parts.begin(), out.parts.end()) - out.parts.begin());
  return models::Result<SimulatedStep>::ok(std::move(out));
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
void fill_fixes(const Inputs& in, Outputs& out, Progress& progress) {
  Switches so_far = in.found;
  double last_s = out.found.mean.period_s;
  for (const Change& change : changes) {
    if (!change.differs(in.found, in.now) || progress.cancelled) continue;
    change.make(so_far, in.now);
    Switches alone = in.found;
    change.make(alone, in.now);
    // The last is the step as changed, and the first stands alone.
    const SimulatedStep* together = &out.now;
    models::Result<SimulatedStep> made = models::Result<SimulatedStep>::ok({}), lone = made;
    if (!(so_far == in.now)) {
      made = simulated(setup_of(in, so_far), 0);
      if (!made) continue;
      together = &*made;
    }
    const SimulatedStep* by_itself = together;
    if (!(alone == so_far)) {
      lone = simulated(setup_of(in, alone), 0);
      if (!lone) continue;
      by_itself = &*lone;
    }
    out.fixes.push_back({
        .name = std::string(change.name),
        .then = std::string(part_names[together->largest]),
        .in_order_s = together->mean.period_s - last_s,
        .alone_s = by_itself->mean.period_s - out.found.mean.period_s,
        .step_s = together->mean.period_s,
        .then_share = 100 * together->parts[together->largest] / together->mean.period_s,
        .parts = together->parts,
    });
    if (change.name == changes[0].name) out.data_cut = -100 * out.fixes.back().alone_s / out.found.mean.period_s;
    last_s = together->mean.period_s;
  }
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress) {
  Outputs out;
  out.setup = setup_of(in, in.now);
  const models::StepSetup as_found = setup_of(in, in.found);
  auto found = simulated(as_found, 0), now = simulated(out.setup, 0);
  if (found && now) {
    // Both are shown over the longer of the two steps.
    const double range_s = 1.06 * std::max(found->mean.period_s, now->mean.period_s);
    // A loader that is too slow brings batches in rounds over its workers: a whole round is kept. What the main thread
    // and the workers do ahead of the last step is known only if steps after those that are shown are kept too.
    const auto kept = [&](const SimulatedStep& s, const Switches& as, const models::StepSetup& setup) {
      const double steps = s.mean.period_s > 0 ? range_s / s.mean.period_s : 1;
      const std::int64_t ahead = as.workers * as.prefetch, round = std::max<std::int64_t>(as.workers, 1),
                         lead = s.run.largest_lead / (3 * setup.layers * setup.kernels_per_layer) + 1;
      // Where launches leave gaps each kernel is kept.
      const double gaps_s = s.mean.idle_s[static_cast<std::size_t>(models::StepCause::launch)],
                   kernels = static_cast<double>(3 * setup.layers * setup.kernels_per_layer);
      const bool gaps = gaps_s > 0.02 * kernels * setup.launch_s;
      const std::int64_t room = gaps ? std::llround(most_kernels / kernels) : most_kept;
      return std::clamp<std::int64_t>(std::llround(std::min(steps, 100.0)) + 3 + round + ahead + lead, 4,
                                      std::clamp<std::int64_t>(room, 4, most_kept));
    };
    found = simulated(as_found, kept(*found, in.found, as_found));
    now = simulated(out.setup, kept(*now, in.now, out.setup));
  }
  if (!found || !now) {
    out.reason = !found ? found.error : now.error;
    return out;
  }
  out.found = std::move(*found);
  out.now = std::move(*now);
  const models::StepMeans &a = out.found.mean, &b = out.now.mean;
  if (!(a.period_s > 0 && b.period_s > 0)) {
    out.reason = "A step takes no time here: give its kernels a time above 0.";
    return out;
  }
  out.speedup = a.period_s / b.period_s;
  out.idle_s = b.idle_total_s();
  out.busy_found = 100 * (1 - a.idle_total_s() / a.period_s);
  out.busy = 100 * (1 - out.idle_s / b.period_s);
  out.useful_found = 100 * (a.forward_s + a.backward_s) / a.period_s;
  out.useful = 100 * (b.forward_s + b.backward_s) / b.period_s;
  for (std::size_t i = 0; i < part_count; ++i) {
    out.found_share[i] = 100 * out.found.parts[i] / a.period_s;
    out.share[i] = 100 * out.now.parts[i] / b.period_s;
  }
  out.largest_found = part_names[out.found.largest];
  out.largest = part_names[out.now.largest];
  out.optimizer_gain = b.optimizer_s > 0 ? a.optimizer_s / b.optimizer_s : std::numeric_limits<double>::quiet_NaN();
  models::LoaderSetup lone = out.setup.loader;
  lone.workers = 1;
  const models::LoaderCeilings one = models::loader_ceilings(lone);
  out.load_s = 1 / one.workers_per_s;
  // Without a wait for data the step is what is left of it; workers must bring a batch in that time.
  const double rest_s = b.period_s - b.idle_s[0];
  out.workers_needed = rest_s > 0 ? std::ceil(out.load_s / rest_s - 1e-9) : std::numeric_limits<double>::quiet_NaN();
  out.ceiling_per_s = models::loader_ceilings(out.setup.loader).least_per_s();
  if (!std::isfinite(out.ceiling_per_s)) out.ceiling_per_s = std::numeric_limits<double>::quiet_NaN();
  const double exposed_s = b.idle_s[static_cast<std::size_t>(models::StepCause::communication)];
  out.hidden_communication =
      b.communication_s > 0 ? 100 * (1 - exposed_s / b.communication_s) : std::numeric_limits<double>::quiet_NaN();
  out.peak_bytes = in.state_bytes + in.activation_bytes;
  out.lead = out.now.run.largest_lead;
  fill_fixes(in, out, progress);
  return out;
}

models::Result<std::string> document_of(const Outputs& out) {
  if (!out.reason.empty()) return models::Result<std::string>::fail(out.reason);
  constexpr std::int64_t steps = 8;
  const auto run =
      models::simulate_steps(out.setup, {.steps = warm_up + steps, .record_from = warm_up, .record_traces = true});
  if (!run) return models::Result<std::string>::fail(run.error);
  return models::trace::to_chrome_json(run->traces.front());
}

}  // namespace chapters::profiling::step_trace
