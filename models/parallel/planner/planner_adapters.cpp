#include "models/parallel/planner/planner_adapters.h"

#include "models/parallel/planner/planner_times.h"

namespace models::parallel {

using memory::MatrixCut;

double middle_bytes(const SharedPair& pair) { return pair.rows * pair.rank * pair.element_bytes; }

PairTraffic pair_traffic(const PlannerCluster& c, const SharedPair& pair, double before) {
  if (pair.ranks < 2 || pair.cut == MatrixCut::whole) return {};
  const AllReduceGroup group = planner_group(c, pair.ranks, 1);
  const AllReduceLinks links = planner_links(c, group);
  const auto gather_s = [&](double bytes) { return ring_gather_time(group, links, bytes).total_s(); };
  const auto sum_s = [&](double bytes) { return planner_sum_s(c, group, links, 1, bytes); };
  const double middle = middle_bytes(pair);
  PairTraffic out;
  if (pair.cut == MatrixCut::columns) {
    out.forward_s = gather_s(before + middle) - (before > 0 ? gather_s(before) : 0);
    out.backward_s = sum_s(before + middle) - (before > 0 ? sum_s(before) : 0);
    const bool sums_input = !pair.sequence_parallel && !pair.experts && !(before > 0);
    if (sums_input) out.backward_s += sum_s(pair.rows * pair.inputs * pair.element_bytes);
    return out;
  }
  out.forward_s = out.backward_s = sum_s(middle);
  if (pair.experts) return out;
  const double result_s = gather_s(pair.rows * pair.outputs * pair.element_bytes);
  out.forward_s += result_s;
  if (pair.sequence_parallel) out.backward_s += result_s;
  return out;
}

}  // namespace models::parallel
