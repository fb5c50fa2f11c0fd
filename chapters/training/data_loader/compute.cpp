#include <algorithm>
#include <cmath>
#include <limits>

#include "chapters/training/data_loader/lab.h"

namespace chapters::training::data_loader {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Steps whose history is kept for the picture, at least.
constexpr std::int64_t kept_steps = 32;
/// The loader is known up to the last batch that was taken: the last steps are left out of what is said of it.
constexpr std::int64_t unseen_steps = 2;

struct StorageKind {
  double latency_s, bytes_per_s;
};
/// Typical figures, assumed: a PCIe 4 drive read at random, a file server behind 10 Gb/s that others use too, and
/// objects behind 25 Gb/s.
constexpr std::array<StorageKind, storage_count - 1> kinds{{{80e-6, 6e9}, {1e-3, 5e8}, {30e-3, 3e9}}};

std::int64_t steps_of(const models::StepSetup& setup, std::int64_t& steady) {
  steady = models::steady_steps(setup);
  // Luck needs many steps to average out; rounds over the workers stay whole.
  if (setup.loader.decode_spread > 0) {
    const std::int64_t round = std::max<std::int64_t>(1, setup.loader.workers);
    steady = std::max(steady, 240 / round * round);
  }
  return std::max(steady, kept_steps) + 8 + 2 * setup.loader.workers;
}

struct Steady {
  models::StepRun run;
  models::StepMeans mean;
  std::int64_t steps = 0;
};

models::Result<Steady> steady_of(const models::StepSetup& setup, bool record) {
  std::int64_t steady = 1;
  const std::int64_t steps = steps_of(setup, steady);
  auto run = models::simulate_steps(
      setup,
      {.steps = steps, .record_from = steps - std::max(steady, kept_steps) - unseen_steps, .record_blocks = record});
  if (!run) return models::Result<Steady>::fail(run.error);
  Steady out{std::move(*run), {}, steady};
  out.mean = models::mean_of_last(out.run, steady);
  return models::Result<Steady>::ok(std::move(out));
}

/// Mean of a level over the time from `from_ns` to `to_ns`.
double mean_level(const std::vector<models::LoaderLevel>& levels, std::int64_t from_ns, std::int64_t to_ns) {
  double sum = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::int64_t start = std::max(from_ns, levels[i].time_ns),
                       end = std::min(to_ns, i + 1 < levels.size() ? levels[i + 1].time_ns : to_ns);
    if (end > start) sum += static_cast<double>(levels[i].count) * static_cast<double>(end - start);
  }
  return to_ns > from_ns ? sum / static_cast<double>(to_ns - from_ns) : 0;
}

void fill_worker_time(const Inputs& in, const models::StepRun& run, std::int64_t from_ns, std::int64_t to_ns,
                      Outputs& out) {
  std::array<double, 4> ns{};
  for (const models::LoaderPiece& p : run.loader_pieces) {
    const std::int64_t start = std::max(from_ns, p.start_ns), end = std::min(to_ns, p.end_ns);
    if (end > start) ns[static_cast<std::size_t>(p.stage)] += static_cast<double>(end - start);
  }
  const double all = static_cast<double>(to_ns - from_ns) * static_cast<double>(std::max<std::int64_t>(1, in.workers));
  for (std::size_t i = 0; i < 3; ++i) out.worker_share[i] = in.workers > 0 ? 100 * ns[i] / all : 0;
  // What is left over is idle.
  const double named = out.worker_share[0] + out.worker_share[1] + out.worker_share[2];
  out.worker_share[3] = in.workers > 0 ? std::max(0.0, 100 - named) : 0;
}

/// Writes what each part lets through, and returns the narrowest.
Bound fill_ceilings(const Inputs& in, const models::StepSetup& setup, Outputs& out) {
  const models::LoaderCeilings c = models::loader_ceilings(setup.loader);
  const auto samples = static_cast<double>(in.samples);
  out.ceilings = {c.storage_per_s * samples, c.workers_per_s * samples, c.cores_per_s * samples, c.pin_per_s * samples,
                  samples / in.gpu_s};
  const auto narrowest =
      static_cast<std::size_t>(std::min_element(out.ceilings.begin(), out.ceilings.end()) - out.ceilings.begin());
  out.bound = in.workers == 0 && narrowest == 1 ? "the training process" : bound_names[narrowest];
  out.ceiling_per_s = out.ceilings[narrowest];
  for (double& x : out.ceilings)
    if (!std::isfinite(x)) x = nothing;
  return static_cast<Bound>(narrowest);
}

/// Samples a second in the steady state; NaN where it cannot be simulated.
double simulated_rate(const Inputs& in, std::int64_t workers) {
  const auto steady = steady_of(setup_of(in, workers), false);
  return steady && steady->mean.period_s > 0 ? static_cast<double>(in.samples) / steady->mean.period_s : nothing;
}

std::vector<WorkersPoint> rates_by_workers(const Inputs& in) {
  std::vector<WorkersPoint> out;
  for (const std::int64_t n : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
    const double bound = std::min(models::loader_ceilings(setup_of(in, n).loader).least_per_s(), 1 / in.gpu_s);
    out.push_back({n, simulated_rate(in, n), bound * static_cast<double>(in.samples)});
  }
  return out;
}

/// How long the training process asks, reads and decodes in a step that has no workers.
std::array<double, 3> process_s_of(const Inputs& in, const models::LoaderSetup& loader) {
  const auto samples = static_cast<double>(in.samples);
  return {samples / loader.samples_per_request * loader.request_latency_s,
          samples * loader.sample_bytes / loader.storage_bytes_per_s, samples * loader.decode_s};
}

}  // namespace

models::StepSetup setup_of(const Inputs& in, std::int64_t workers) {
  models::StepSetup s;
  models::LoaderSetup& l = s.loader;
  l.workers = workers;
  l.prefetch = in.prefetch;
  l.samples = in.samples;
  l.samples_per_request = in.samples_per_request;
  l.sample_bytes = in.sample_bytes;
  const auto kind = static_cast<std::size_t>(in.storage);
  l.request_latency_s = in.storage == Storage::own ? in.request_latency_s : kinds[kind].latency_s;
  l.storage_bytes_per_s = in.storage == Storage::own ? in.storage_bytes_per_s : kinds[kind].bytes_per_s;
  l.decode_s = in.decode_s;
  l.decode_spread = in.decode_spread;
  l.cores = in.cores;
  l.batch_bytes = in.batch_bytes;
  l.pinned = in.pinned;
  l.host_copy_bytes_per_s = in.host_copy_bytes_per_s;
  l.seed = in.seed;
  l.pieces = 32;
  // The GPU takes a batch every gpu_s and is bound by nothing else.
  s.copy = models::BatchCopy::copy_stream;
  s.pinned_bytes_per_s = 1e15;
  s.layers = 1;
  s.kernels_per_layer = 1;
  s.forward_s = in.gpu_s / 3;
  s.backward_s = in.gpu_s * 2 / 3;
  s.launch_s = s.launch_latency_s = 1e-9;
  s.parameters = 0;
  s.optimizer = models::OptimizerCode::fused;
  // The host takes a batch when the step before the last is done: it is one step ahead.
  s.queue_depth = 7;
  s.ranks = 1;
  s.buckets = 1;
  s.sync_every = in.reads_loss ? 1 : 0;
  s.log_s = 0;
  return s;
}

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  Outputs out;
  Run run;
  const models::StepSetup setup = setup_of(in, in.workers);
  auto steady = steady_of(setup, true);
  if (!steady) {
    out.reason = steady.error;
    return {std::move(out)};
  }
  run.steps = std::move(steady->run);
  out.step_s = steady->mean.period_s;
  out.samples_per_s = static_cast<double>(in.samples) / out.step_s;
  // Whatever the stream waits for here comes with the batch, but for gaps below a microsecond a step.
  out.starved_s = steady->mean.idle_total_s() < 1e-6 ? 0 : steady->mean.idle_total_s();
  out.starved = 100 * out.starved_s / out.step_s;
  run.narrowest = fill_ceilings(in, setup, out);
  const auto& steps = run.steps.steps;
  const std::size_t last = steps.size() - 1 - static_cast<std::size_t>(unseen_steps);
  const std::int64_t to_ns = steps[last].end_ns, from_ns = steps[last - static_cast<std::size_t>(steady->steps)].end_ns;
  fill_worker_time(in, run.steps, from_ns, to_ns, out);
  out.mean_queue = mean_level(run.steps.ready, from_ns, to_ns);
  out.queue_room = static_cast<double>(in.workers * in.prefetch);
  const double batches_per_s = 1 / out.step_s;
  const auto samples = static_cast<double>(in.samples);
  out.storage_use = 100 * batches_per_s * samples * in.sample_bytes / setup.loader.storage_bytes_per_s;
  out.core_use = 100 * batches_per_s * samples * in.decode_s / static_cast<double>(in.workers > 0 ? in.cores : 1);
  const double one_sample_s =
      setup.loader.request_latency_s / in.samples_per_request + in.sample_bytes / setup.loader.storage_bytes_per_s;
  out.one_reader_bytes_per_s = in.sample_bytes / one_sample_s;
  out.asked_bytes_per_s = samples * in.sample_bytes / in.gpu_s;
  models::LoaderSetup lone = setup.loader;
  lone.workers = 1;
  // Storage, cores and the pinning thread are shared: below the GPU's pace no number of workers keeps it fed.
  out.workers_needed = models::loader_ceilings(lone).shared_per_s() * in.gpu_s < 1 - 1e-9
                           ? nothing
                           : std::ceil(1 / models::loader_ceilings(lone).workers_per_s / in.gpu_s - 1e-9);
  out.twice_per_s = in.workers > 0 ? simulated_rate(in, 2 * in.workers) : nothing;
  out.twice_gain = 100 * (out.twice_per_s / out.samples_per_s - 1);
  if (std::abs(out.twice_gain) < 1e-6) out.twice_gain = 0;  // the same but for rounding
  out.gain_over_none = out.samples_per_s / simulated_rate(in, 0);
  if (progress.facts_alone) return {std::move(out)};
  run.process_s = process_s_of(in, setup.loader);
  run.by_workers = rates_by_workers(in);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::training::data_loader
