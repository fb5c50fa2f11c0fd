#include <algorithm>

#include "chapters/distributed/collectives/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::distributed::collectives {

using namespace models::parallel;
using models::as_double;

CollectiveSpec spec_of(const Inputs& in, CollectiveAlgorithm algorithm) {
  return {.primitive = in.primitive,
          .algorithm = algorithm,
          .ranks = in.ranks,
          .node_ranks = in.node_ranks,
          .pieces = in.pieces,
          .nccl_start = in.nccl_start};
}

AlphaBetaLinks links_of(const Inputs& in) {
  return {.latency_s = in.latency_s,
          .bandwidth_bytes_per_s = in.bandwidth_bytes_per_s,
          .reduce_bytes_per_s = in.adding_counts ? in.reduce_bytes_per_s : 0,
          .inside_latency_s = in.inside_latency_s,
          .inside_bandwidth_bytes_per_s = in.inside_bandwidth_bytes_per_s};
}

std::vector<CollectiveAlgorithm> algorithms_for(const Inputs& in) {
  std::vector<CollectiveAlgorithm> out;
  for (std::size_t i = 0; i < collective_algorithm_count; ++i) {
    const auto algorithm = static_cast<CollectiveAlgorithm>(i);
    const bool special = algorithm == CollectiveAlgorithm::hierarchical || algorithm == CollectiveAlgorithm::in_network;
    if (special && algorithm != in.algorithm && algorithm != in.beside) continue;
    if (check(spec_of(in, algorithm))) out.push_back(algorithm);
  }
  return out;
}

namespace {

AlgorithmRow row_of(const Inputs& in, CollectiveAlgorithm algorithm) {
  const CollectiveSpec spec = spec_of(in, algorithm);
  const double time_s = collective_time(spec, in.bytes, links_of(in)).total_s();
  return {.algorithm = algorithm,
          .steps = collective_steps(spec),
          .sent_bytes = in.bytes * sent_share(spec),
          .time_s = time_s,
          .busbw_bytes_per_s = bus_factor(in.primitive, in.ranks) * in.bytes / time_s};
}

void compare_with_beside(const Inputs& in, Outputs& out) {
  const CollectiveSpec own = spec_of(in, in.algorithm), other = spec_of(in, in.beside);
  if (in.beside == in.algorithm || !check(other)) return;
  const AlgorithmRow row = row_of(in, in.beside);
  out.beside_s = row.time_s;
  out.beside_steps = as_double(row.steps);
  out.beside_sent_bytes = row.sent_bytes;
  out.times_faster = row.time_s / out.time_s;
  const double own_serial = serial_share(own), other_serial = serial_share(other);
  out.serial_times = own_serial / other_serial;
  out.beside_serial_times = other_serial / own_serial;
  out.crosses_nodes =
      in.algorithm == CollectiveAlgorithm::hierarchical || in.beside == CollectiveAlgorithm::hierarchical;
  const std::vector<double> at = crossing_bytes(own, other, links_of(in), 1, 1e13);
  if (!at.empty()) out.crossing_bytes = at.back();
}

std::string_view action_name(ChunkAction action) {
  return action == ChunkAction::reduce ? "reduce" : action == ChunkAction::copy ? "copy" : "move";
}

void fill_schedule(const Inputs& in, const ExecutedSchedule& executed, Outputs& out) {
  const CollectiveSchedule& schedule = executed.schedule;
  const CollectiveRun& run = executed.run;
  out.schedule_steps = schedule.steps;
  out.step_by_step_s = step_by_step_time(schedule, in.bytes, links_of(in)).total_s();
  out.checked =
      widgets::format_text(as_double(run.right), "", 9) + " of " + widgets::format_text(as_double(run.asked), "", 9);
  out.wrong = as_double(run.asked - run.right);
  if (in.ranks > widgets::max_board_ranks_in_full) return;
  out.transfers.reserve(schedule.transfers.size());
  for (const ChunkTransfer& t : schedule.transfers)
    out.transfers.push_back({t.step, t.source, t.target, t.chunk, std::string(action_name(t.action))});
}

void fill_algorithms(const Inputs& in, Outputs& out) {
  for (const CollectiveAlgorithm algorithm : algorithms_for(in)) out.algorithms.push_back(row_of(in, algorithm));
  std::stable_sort(out.algorithms.begin(), out.algorithms.end(),
                   [](const AlgorithmRow& a, const AlgorithmRow& b) { return a.time_s < b.time_s; });
  out.fastest = out.algorithms.front().algorithm;
  out.fastest_s = out.algorithms.front().time_s;
}

void fill_hierarchy(const CollectiveSpec& spec, const Inputs& in, Outputs& out) {
  if (in.primitive != Primitive::all_reduce || in.algorithm != CollectiveAlgorithm::hierarchical) return;
  const HierarchyTimes h = hierarchy_times(spec, in.bytes, links_of(in));
  out.inside_s = h.inside_s;
  out.between_s = h.between_s;
  out.pipelined_s = h.pipelined_s;
  out.flat_ring_s = h.flat_ring_s;
  out.flat_rails_s = h.flat_rails_s;
  out.one_port_s = h.one_port_s;
}

}  // namespace

std::optional<ExecutedSchedule> execute_schedule(const Inputs& in, CollectiveAlgorithm algorithm, bool drawn) {
  auto schedule = make_collective(spec_of(in, algorithm));
  if (!schedule) return std::nullopt;
  const bool film = drawn && in.ranks <= max_film_ranks;
  ExecutedSchedule out{.schedule = std::move(*schedule), .run = {}, .state_s = {}};
  out.run = run_collective(out.schedule, film);
  if (film) out.state_s = state_times(out.schedule, in.bytes, links_of(in));
  return out;
}

Computed<Outputs, Run> compute(const Inputs& in, bool facts_alone) {
  const CollectiveSpec spec = spec_of(in, in.algorithm);
  if (const models::Status fit = check(spec); !fit) return {.facts = {.reason = fit.error}};
  MeasuredFound measured = compute_measured(in.measured);
  if (in.measured.of_file() && !measured.run.source.fault.empty())
    return {.facts = {.reason = measured.run.source.fault}};
  Outputs out;
  const AlgorithmRow own = row_of(in, in.algorithm);
  out.time = collective_time(spec, in.bytes, links_of(in));
  out.time_s = own.time_s;
  out.steps = out.schedule_steps = own.steps;
  out.bytes_sent_per_rank = own.sent_bytes;
  out.algbw_bytes_per_s = in.bytes / out.time_s;
  out.busbw_bytes_per_s = own.busbw_bytes_per_s;
  out.link_percent = 100 * out.busbw_bytes_per_s / in.bandwidth_bytes_per_s;
  out.latency_percent = 100 * out.time.latency_s / out.time_s;
  fill_algorithms(in, out);
  compare_with_beside(in, out);
  fill_hierarchy(spec, in, out);
  Run run;
  run.own = execute_schedule(in, in.algorithm, !facts_alone);
  if (run.own) fill_schedule(in, *run.own, out);
  if (!facts_alone && in.beside != in.algorithm && in.ranks <= max_film_ranks)
    run.beside = execute_schedule(in, in.beside, true);
  out.measured = std::move(measured.facts);
  run.measured = std::move(measured.run);
  return {.facts = std::move(out), .run = std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::distributed::collectives
