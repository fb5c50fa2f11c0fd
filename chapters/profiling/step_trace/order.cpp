#include "chapters/profiling/step_trace/order.h"

#include <algorithm>
#include <cmath>

#include "widgets/number/number.h"

namespace chapters::profiling::step_trace {
namespace {

/// What a change comes to, in a few words: the same order of changes as compute() has.
std::string words_of_change(std::string_view name, const Switches& to) {
  const auto with = [](std::int64_t n, std::string_view one) {
    return std::to_string(n) + " " + std::string(one) + (n == 1 ? "" : "s");
  };
  if (name == "loader workers")
    return to.workers == 0 ? "no workers" : with(to.workers, "worker") + ", " + std::to_string(to.prefetch) + " ahead";
  if (name == "how batches are copied")
    return to.copy == models::BatchCopy::pageable ? "pageable copies"
           : to.copy == models::BatchCopy::pinned ? "pinned pages"
                                                  : "pinned, a copy stream";
  if (name == "how often the loss is read")
    return to.sync_every == 0   ? "loss never read"
           : to.sync_every == 1 ? "loss read every step"
                                : "loss read every " + std::to_string(to.sync_every) + " steps";
  if (name == "optimizer")
    return to.optimizer == models::OptimizerCode::fused     ? "fused AdamW"
           : to.optimizer == models::OptimizerCode::foreach ? "foreach AdamW"
                                                            : "looped AdamW";
  if (name == "BF16 by autocast") return to.amp ? "BF16 by autocast" : "no autocast";
  if (name == "torch.compile") return to.compile ? "torch.compile" : "no torch.compile";
  if (name == "buckets and overlap") return with(to.buckets, "bucket") + (to.overlap ? "" : ", after backward");
  return std::string(name);
}

std::string signed_seconds(double s) {
  if (std::abs(s) < 0.5e-6) return "0 ms";
  return (s > 0 ? "+" : "\xE2\x88\x92") + widgets::format_text(std::abs(s), "s");
}

}  // namespace

Order order_of(const Inputs& in, const Outputs& out, const Run& run) {
  Order order;
  double furthest_s = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < out.fixes.size(); ++i) {
    const FixRow& fix = out.fixes[i];
    const double apart_s = std::abs(fix.alone_s - fix.in_order_s);
    if (apart_s > furthest_s) most = order.rows.size();
    furthest_s = std::max(furthest_s, apart_s);
    order.largest_s = std::max(order.largest_s, std::abs(fix.in_order_s));
    order.rows.push_back({.name = words_of_change(fix.name, in.now),
                          .in_order = signed_seconds(fix.in_order_s),
                          .alone = signed_seconds(fix.alone_s),
                          .step = widgets::format_text(fix.step_s, "s"),
                          .then = fix.then + ", " + widgets::format_text(fix.then_share, "%"),
                          .in_order_s = fix.in_order_s,
                          .largest = run.fix_parts[i].largest,
                          .differs = apart_s > 0.01 * out.found.mean.period_s &&
                                     apart_s > 0.25 * std::max(std::abs(fix.alone_s), std::abs(fix.in_order_s))});
  }
  if (order.rows.size() < 2) return order;
  const Order::Row& row = order.rows[most];
  order.says = row.differs
                   ? "Order decides the worth: " + row.name + " alone changes the step by " +
                         widgets::figure(row.alone) + ", after those above it by " + widgets::figure(row.in_order) + "."
                   : "Alone or in this order, each of these changes is worth about the same.";
  return order;
}

}  // namespace chapters::profiling::step_trace
