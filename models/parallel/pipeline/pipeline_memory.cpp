#include "models/parallel/pipeline/pipeline_memory.h"

#include <algorithm>

namespace models::parallel {
namespace {

/// What an operation takes at its start and gives back at its end.
struct KeptChange {
  double taken = 0, returned = 0;
};
KeptChange change_of(PipeKind kind, double after) {
  switch (kind) {
    case PipeKind::forward:
      return {1, 0};
    case PipeKind::backward:
      return {0, 1};
    case PipeKind::input_gradient:
      return {0, 1 - after};
    case PipeKind::weight_gradient:
      return {0, after};
    case PipeKind::pair:
      break;
  }
  return {1, 1};
}

void keep(std::vector<KeptActivations>& points, double time_s, double kept) {
  if (!points.empty() && points.back().time_s == time_s)
    points.back().kept = std::max(kept, points.back().kept);
  else
    points.push_back({time_s, kept});
}

}  // namespace

std::vector<KeptActivations> kept_activations(const PipelinePlan& plan, const PipelineTimes& times,
                                              const PipelineRun& run, std::size_t rank, double after) {
  std::vector<KeptActivations> out{{0, 0}};
  double kept = 0;
  const std::vector<PipeOp>& order = plan.orders[rank];
  for (std::size_t i = 0; i < run.start_s[rank].size(); ++i) {
    const auto [taken, returned] = change_of(order[i].kind, after);
    const double start_s = run.start_s[rank][i], end_s = start_s + duration_s(times, rank, order[i].kind);
    if (taken > 0) {
      // What the operation before gave back at this same time is gone first.
      if (out.back().time_s == start_s) out.pop_back();
      kept += taken;
      keep(out, start_s, kept);
    }
    if (returned > 0) {
      kept -= returned;
      out.push_back({end_s, kept});
    }
  }
  return out;
}

std::vector<double> peak_activations(const PipelinePlan& plan, double after) {
  std::vector<double> out;
  for (const std::vector<PipeOp>& order : plan.orders) {
    double kept = 0, peak = 0;
    for (const PipeOp& op : order) {
      const auto [taken, returned] = change_of(op.kind, after);
      kept += taken;
      peak = std::max(peak, kept);
      kept -= returned;
    }
    out.push_back(peak);
  }
  return out;
}

WeightVersions weight_versions(const PipelinePlan& plan, std::size_t rank, std::int64_t update_every) {
  WeightVersions out;
  const bool each = plan.schedule == PipelineSchedule::pipedream;
  if (!each && plan.schedule != PipelineSchedule::pipedream_2bw) return out;
  std::vector<std::int64_t> used(static_cast<std::size_t>(plan.micro_batches), -1), in_flight;
  std::int64_t newest = 0, backwards = 0;
  for (const PipeOp& op : plan.orders[rank]) {
    std::int64_t& version = used[op.micro_batch];
    if (op.kind == PipeKind::forward) {
      version = each ? newest : std::max<std::int64_t>(op.micro_batch / update_every - 1, 0);
      out.missing = out.missing || version > newest;
      in_flight.push_back(op.micro_batch);
    } else {
      out.staleness = std::max(out.staleness, newest - version);
      std::erase(in_flight, op.micro_batch);
      if (++backwards % (each ? 1 : update_every) == 0) ++newest;
    }
    std::vector<std::int64_t> live{newest};
    for (const std::int64_t m : in_flight) live.push_back(used[static_cast<std::size_t>(m)]);
    std::sort(live.begin(), live.end());
    live.erase(std::unique(live.begin(), live.end()), live.end());
    out.versions = std::max(out.versions, static_cast<std::int64_t>(live.size()));
  }
  return out;
}

}  // namespace models::parallel
