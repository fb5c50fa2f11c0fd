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

/// Times of the table in one unit: of the largest, but seconds only where none is less than one.
class ColumnTime {
 public:
  ColumnTime(double least_s, double largest_s)
      : unit_s_(least_s >= 1        ? 1
                : largest_s >= 1e-3 ? 1e-3
                                    : 1e-6),
        unit_(least_s >= 1        ? " s"
              : largest_s >= 1e-3 ? " ms"
                                  : " \xC2\xB5s") {}
  std::string of(double s) const { return widgets::format_text(s / unit_s_, "", 3) + std::string(unit_); }
  /// Nothing where it would be less than a hundredth of the unit.
  std::string change(double s) const {
    if (std::abs(s) < std::max(0.5e-6, 0.01 * unit_s_)) return "0" + std::string(unit_);
    return (s > 0 ? "+" : "\xE2\x88\x92") + of(std::abs(s));
  }

 private:
  double unit_s_;
  std::string_view unit_;
};

ColumnTime column_of(const Outputs& out) {
  double largest_s = 0, least_s = HUGE_VAL;
  for (const FixRow& fix : out.fixes)
    for (const double s : {fix.step_s, std::abs(fix.in_order_s), std::abs(fix.alone_s)}) {
      largest_s = std::max(largest_s, s);
      if (s >= 0.5e-6) least_s = std::min(least_s, s);
    }
  return {least_s, largest_s};
}

}  // namespace

Order order_of(const Inputs& in, const Outputs& out, const Run& run) {
  Order order;
  double furthest_s = 0;
  const ColumnTime time = column_of(out);
  std::size_t most = 0;
  for (std::size_t i = 0; i < out.fixes.size(); ++i) {
    const FixRow& fix = out.fixes[i];
    const double apart_s = std::abs(fix.alone_s - fix.in_order_s);
    const bool differs = apart_s > 0.01 * out.found.mean.period_s &&
                         apart_s > 0.25 * std::max(std::abs(fix.alone_s), std::abs(fix.in_order_s));
    if (differs && apart_s > furthest_s) most = order.rows.size();
    if (differs) furthest_s = std::max(furthest_s, apart_s);
    order.largest_s = std::max(order.largest_s, std::abs(fix.in_order_s));
    order.rows.push_back({.name = words_of_change(fix.name, in.now),
                          .in_order = time.change(fix.in_order_s),
                          .alone = time.change(fix.alone_s),
                          .step = time.of(fix.step_s),
                          .then = fix.then + ", " + widgets::format_text(fix.then_share, "%"),
                          .in_order_s = fix.in_order_s,
                          .largest = run.fix_parts[i].largest,
                          .differs = differs});
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
