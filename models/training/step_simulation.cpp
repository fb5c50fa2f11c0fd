#include "models/training/step_simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/machine/all_reduce_time.h"
#include "models/training/step_rank.h"

namespace models {
namespace {

constexpr double traffic_looped = 80, traffic_fused = 28;
constexpr std::int64_t tensors_per_layer = 12, operations = 8, lists = 4, max_steps = 4096, max_ranks = 1024;

std::string refusal(const StepSetup& s, const StepOptions& o) {
  const auto whole = [](double x) { return std::isfinite(x) && x >= 0; };
  const auto above = [](double x) { return std::isfinite(x) && x > 0; };
  const LoaderSetup& l = s.loader;
  if (s.layers < 1 || s.kernels_per_layer < 1) return "A pass has at least one layer and one kernel.";
  if (l.samples < 1 || l.workers < 0 || l.prefetch < 1 || l.cores < 1)
    return "A batch has at least one sample, and the loader at least one batch ahead and one core.";
  if (!(above(l.samples_per_request) && above(l.storage_bytes_per_s) && above(l.host_copy_bytes_per_s) &&
        above(s.pageable_bytes_per_s) && above(s.pinned_bytes_per_s) && above(s.optimizer_bytes_per_s) &&
        above(s.bus_bytes_per_s)))
    return "Every bandwidth, and the samples that one request reads, must be above 0.";
  if (!(whole(l.sample_bytes) && whole(l.request_latency_s) && whole(l.decode_s) && whole(l.batch_bytes) &&
        l.decode_spread >= 0 && l.decode_spread <= 0.9 && whole(s.forward_s) && whole(s.backward_s) &&
        whole(s.launch_s) && whole(s.launch_latency_s) && whole(s.parameters) && whole(s.gradient_bytes) &&
        whole(s.hop_latency_s) && whole(s.log_s) && whole(s.state_bytes) && whole(s.activation_bytes) &&
        whole(s.update_bytes) && std::isfinite(s.recompute_s)))
    return "Every time and every amount of bytes must be 0 or above.";
  if (s.micro_batches < 1 || s.micro_batches > 1024) return "A step has between 1 and 1024 micro-batches.";
  if (s.ranks < 1 || s.buckets < 1 || s.queue_depth < 1 || s.sync_every < 0)
    return "There is at least one rank, one bucket, and room for one launch.";
  if (s.ranks > 1 && s.buckets > s.layers)
    return "There are more buckets than layers: a bucket holds the gradients of at least one layer here.";
  if (o.steps < 1 || o.steps > max_steps || o.simulated_ranks < 1 || o.simulated_ranks > max_ranks)
    return "Between 1 and 4096 steps of at most 1024 ranks can be simulated.";
  const double step_s = s.forward_s + s.backward_s + optimizer_time_s(s) +
                        bucket_time_s(s) * static_cast<double>(s.buckets) + s.log_s +
                        1 / loader_ceilings(l).least_per_s();
  if (!(step_s < 1e6)) return "A step would take more than eleven days: make a part of it shorter.";
  return {};
}

}  // namespace

std::int64_t StepLedger::idle_total_ns() const {
  return std::accumulate(idle_ns.begin(), idle_ns.end(), std::int64_t{0});
}
double StepMeans::idle_total_s() const { return std::accumulate(idle_s.begin(), idle_s.end(), 0.0); }

double optimizer_bytes_per_parameter(OptimizerCode code) {
  return code == OptimizerCode::fused ? traffic_fused : traffic_looped;
}

std::int64_t optimizer_kernels(const StepSetup& s) {
  if (s.optimizer == OptimizerCode::looped) return s.layers * tensors_per_layer * operations;
  return s.optimizer == OptimizerCode::foreach ? operations * lists : lists;
}

double optimizer_time_s(const StepSetup& s) {
  const double bytes = s.update_bytes > 0 ? s.update_bytes : optimizer_bytes_per_parameter(s.optimizer);
  return s.parameters * bytes / s.optimizer_bytes_per_s;
}

double bucket_time_s(const StepSetup& s) {
  return ring_all_reduce_s(s.ranks, s.gradient_bytes / static_cast<double>(s.buckets), s.bus_bytes_per_s,
                           s.hop_latency_s);
}

std::int64_t steady_steps(const StepSetup& s) {
  const std::int64_t workers = std::max<std::int64_t>(1, s.loader.workers),
                     reads = std::max<std::int64_t>(1, s.sync_every);
  constexpr std::int64_t most = 200;
  const std::int64_t both = std::lcm(workers, reads);
  if (both <= most) return std::max<std::int64_t>(both, (8 + both - 1) / both * both);
  return reads <= most ? most / reads * reads : most;
}

StepMeans mean_of_last(const StepRun& run, std::int64_t count) {
  StepMeans out;
  const auto n = std::clamp<std::int64_t>(count, 1, static_cast<std::int64_t>(run.steps.size()));
  const double share = 1e-9 / static_cast<double>(n);
  for (std::size_t i = run.steps.size() - static_cast<std::size_t>(n); i < run.steps.size(); ++i) {
    const StepLedger& l = run.steps[i];
    out.period_s += static_cast<double>(l.period_ns) * share;
    out.forward_s += static_cast<double>(l.forward_ns) * share;
    out.backward_s += static_cast<double>(l.backward_ns) * share;
    out.optimizer_s += static_cast<double>(l.optimizer_ns) * share;
    out.communication_s += static_cast<double>(l.communication_ns) * share;
    for (std::size_t c = 0; c < step_cause_count; ++c) out.idle_s[c] += static_cast<double>(l.idle_ns[c]) * share;
  }
  return out;
}

Result<StepRun> simulate_steps(const StepSetup& setup, const StepOptions& options) {
  if (std::string why = refusal(setup, options); !why.empty()) return Result<StepRun>::fail(std::move(why));
  std::vector<std::unique_ptr<StepRank>> ranks;
  for (std::int64_t r = 0; r < options.simulated_ranks; ++r)
    ranks.push_back(std::make_unique<StepRank>(setup, options, r));
  const auto bucket_ns = static_cast<std::int64_t>(std::llround(bucket_time_s(setup) * 1e9));
  std::vector<std::int64_t> starts(ranks.size());
  for (std::int64_t step = 0; step < options.steps; ++step) {
    for (const auto& rank : ranks) rank->before_collectives(step);
    // A collective ends on all ranks at once: when the last has joined, and its own time later.
    for (std::size_t b = 0; b < ranks.front()->buckets(); ++b) {
      for (std::size_t r = 0; r < ranks.size(); ++r) starts[r] = ranks[r]->bucket_start_ns(b);
      const std::int64_t end_ns = *std::max_element(starts.begin(), starts.end()) + bucket_ns;
      for (std::size_t r = 0; r < ranks.size(); ++r) ranks[r]->end_collective(b, starts[r], end_ns);
    }
    for (const auto& rank : ranks) rank->after_collectives();
  }
  StepRun run;
  if (options.record_traces)
    for (const auto& rank : ranks) run.traces.push_back(rank->finish_trace());
  ranks.front()->finish(run);
  return Result<StepRun>::ok(std::move(run));
}

}  // namespace models
