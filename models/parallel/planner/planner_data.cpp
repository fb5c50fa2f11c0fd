#include "models/parallel/planner/planner_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "models/base/integer_math.h"
#include "models/memory/gathered_units.h"
#include "models/memory/state_bytes.h"
#include "models/parallel/planner/planner_times.h"

namespace models::parallel {
namespace {

using memory::TrainingPlan;

/// Micro-batches that are gone through one by one; from there on each is as the last one was.
constexpr std::int64_t micro_batches_in_full = 3;
/// Units on each side of the one at work whose times decide what comes next.
constexpr std::size_t reach = 4;

/// Which of the rows of units alike one lies in.
class RowCursor {
 public:
  explicit RowCursor(std::span<const ShardedUnit> rows) : row_(rows.data()), end_(size_of(*row_)) {}
  const ShardedUnit& at(std::size_t unit) {
    while (unit >= end_) {
      begin_ = end_;
      end_ += size_of(*++row_);
    }
    while (unit < begin_) {
      end_ = begin_;
      begin_ -= size_of(*--row_);
    }
    return *row_;
  }
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }

 private:
  static std::size_t size_of(const ShardedUnit& row) { return static_cast<std::size_t>(row.alike); }
  const ShardedUnit* row_;
  std::size_t begin_ = 0, end_ = 0;
};

/// One GPU and one communicator, both in order. In a row of units alike the times soon move on by the same step from
/// unit to unit; then the rest of the row is skipped.
class ShardedClock {
 public:
  ShardedClock(std::span<const ShardedUnit> units, const ShardedOrder& order) : order_(order), rows_(units) {
    for (const ShardedUnit& unit : units) count_ += static_cast<std::size_t>(unit.alike);
  }

  /// The ends of the last micro-batch and of the one before it, of `micro_batches` one after the other.
  struct Ends {
    double before_s = 0, last_s = 0;
  };
  Ends run(std::int64_t micro_batches) {
    // One array for all; what is read of it was written before.
    const std::size_t passes = static_cast<std::size_t>(micro_batches) * 2 * count_;
    const auto room = std::make_unique_for_overwrite<double[]>(passes + 2 * count_ + 2);
    passes_ = room.get();
    ready_ = passes_ + passes;
    scattered_ = ready_ + count_;
    Ends ends;
    for (std::int64_t m = 0; m < micro_batches; ++m) {
      ends.before_s = ends.last_s;
      forward();
      backward();
      ends.last_s = std::max(compute_, network_);
    }
    return ends;
  }

 private:
  using State = std::array<double, 2 * reach + 1>;

  void gather(const ShardedUnit& unit, std::size_t at, std::size_t position, std::int64_t ahead) {
    if (unit.gather_s <= 0) return;
    const std::int64_t need = static_cast<std::int64_t>(position) - 1 - ahead;
    network_ = std::max(network_, need >= 0 ? passes_[static_cast<std::size_t>(need)] : 0) + unit.gather_s;
    ready_[at] = network_;
  }

  /// Times around the pass that just ended, from its end on: `at(i)` are those that the next ones will ask for.
  template <class At>
  State state(const At& at) const {
    State out{};
    out[0] = network_ - compute_;
    for (std::size_t i = 0; i + 1 < out.size(); ++i) out[i + 1] = at(i) - compute_;
    return out;
  }
  static bool alike(const State& x, const State& y, double scale) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::abs(x[i] - y[i]) > 1e-12 * scale) return false;
    return true;
  }

  void forward() {
    const std::size_t n = count_;
    const auto ahead = static_cast<std::size_t>(order_.forward_ahead);
    std::fill(ready_, ready_ + n, 0.0);
    State before{};
    double before_s = -1;
    RowCursor row(rows_), gathered(rows_);
    std::size_t next = 0;
    for (std::size_t u = 0; u < n; ++u) {
      for (; next < n && next <= u + ahead; ++next)
        gather(gathered.at(next), next, first_ + next, order_.forward_ahead);
      compute_ = std::max(compute_, ready_[u]) + row.at(u).forward_s;
      passes_[first_ + u] = compute_;
      if (u < row.begin() + reach || u + 2 * reach >= row.end()) continue;
      const State now = state([&](std::size_t i) {
        return i < reach ? ready_[std::min(n - 1, u + 1 + i)] * (u + 1 + i < next ? 1 : 0)
                         : passes_[first_ + u - (i - reach)];
      });
      if (before_s >= 0 && alike(now, before, compute_)) {
        const std::size_t skipped = row.end() - 1 - 2 * reach - u;
        const double by_s = static_cast<double>(skipped) * (compute_ - before_s);
        for (std::size_t i = 0; i < reach; ++i) {
          if (u + 1 + i < next) ready_[u + skipped + 1 + i] = ready_[u + 1 + i] + by_s;
          passes_[first_ + u + skipped - i] = passes_[first_ + u - i] + by_s;
        }
        compute_ += by_s;
        network_ += by_s;
        u += skipped;
        next += skipped;
        before_s = -1;
        continue;
      }
      before = now;
      before_s = compute_;
    }
    first_ += n;
  }

  void backward() {
    const std::size_t n = count_;
    const auto ahead = static_cast<std::size_t>(order_.backward_ahead);
    std::fill(scattered_, scattered_ + n + 2, 0.0);
    State before{};
    double before_s = -1;
    RowCursor row(rows_), gathered(rows_);
    std::size_t next = n;  // units from here on are gathered for this pass, or stay so
    for (std::size_t u = n; u-- > 0;) {
      for (; next > 0 && next - 1 + ahead >= u; --next)
        if (const ShardedUnit& unit = gathered.at(next - 1); !unit.stays_gathered)
          gather(unit, next - 1, first_ + (n - next), order_.backward_ahead);
      const ShardedUnit& unit = row.at(u);
      compute_ = std::max({compute_, ready_[u], scattered_[u + 2]}) + unit.backward_s;
      passes_[first_ + (n - 1 - u)] = compute_;
      if (unit.scatter_s > 0) {
        network_ = std::max(network_, compute_) + unit.scatter_s;
        scattered_[u] = network_;
      }
      if (u + reach >= row.end() || u < row.begin() + 2 * reach) continue;
      const State now = state([&](std::size_t i) {
        if (i == 0) return scattered_[u];
        if (i == 1) return scattered_[u + 1];
        if (i < reach + 2) return u - (i - 1) >= next ? ready_[u - (i - 1)] : compute_;
        return passes_[first_ + (n - 1 - u) - (i - reach - 2)];
      });
      if (before_s >= 0 && alike(now, before, compute_)) {
        const std::size_t skipped = u - row.begin() - 2 * reach;
        const double by_s = static_cast<double>(skipped) * (compute_ - before_s);
        for (std::size_t i = 0; i < reach; ++i) {
          if (i < 2) scattered_[u - skipped + i] = scattered_[u + i] + by_s;
          if (u - (i + 1) >= next) ready_[u - skipped - (i + 1)] = ready_[u - (i + 1)] + by_s;
          passes_[first_ + (n - 1 - u) + skipped - i] = passes_[first_ + (n - 1 - u) - i] + by_s;
        }
        compute_ += by_s;
        network_ += by_s;
        u -= skipped;
        next -= skipped;
        before_s = -1;
        continue;
      }
      before = now;
      before_s = compute_;
    }
    first_ += n;
  }

  const ShardedOrder& order_;
  const std::span<const ShardedUnit> rows_;
  std::size_t count_ = 0;                                               ///< units of all rows
  double *passes_ = nullptr, *ready_ = nullptr, *scattered_ = nullptr;  ///< parts of the array of `run`
  std::size_t first_ = 0;                                               ///< passes before the one at work
  double compute_ = 0, network_ = 0;
};

}  // namespace

double sharded_exposed_s(std::span<const ShardedUnit> units, const ShardedOrder& order) {
  double work = 0;
  for (const ShardedUnit& unit : units) work += unit.alike * (unit.forward_s + unit.backward_s);
  const std::int64_t most = std::min(order.micro_batches, micro_batches_in_full);
  const ShardedClock::Ends ends = ShardedClock(units, order).run(most);
  double end = ends.last_s;
  if (order.micro_batches > most) end += as_double(order.micro_batches - most) * (ends.last_s - ends.before_s);
  return end - as_double(order.micro_batches) * work;
}

namespace {

ShardingGroups groups_of(const PlannerCluster& c, std::int64_t ranks, std::int64_t stride, std::int64_t shard_group) {
  const std::int64_t shards = shard_group > 0 ? std::min(shard_group, ranks) : ranks;
  return {planner_group(c, shards, stride),
          planner_group(c, std::max<std::int64_t>(1, ranks / shards), stride * shards)};
}

}  // namespace

ShardingGroups dense_groups(const PlannerCluster& c, const TrainingPlan& p) {
  return groups_of(c, p.data * p.context, p.tensor, p.shard_group);
}

ShardingGroups expert_groups(const PlannerCluster& c, const TrainingPlan& p) {
  const auto ranks = static_cast<std::int64_t>(std::max(1.0, memory::expert_zero_ranks(p)));
  const std::int64_t stage = p.data * p.context * p.tensor;
  const std::int64_t shards =
      p.shard_group > 0 ? std::max<std::int64_t>(1, p.shard_group * ranks / (p.data * p.context)) : 0;
  return groups_of(c, ranks, std::max<std::int64_t>(1, stage / ranks), shards);
}

namespace {

/// The collectives of one plan: rings with the share of the links that the software reaches.
class DataClock {
 public:
  DataClock(const PlannerJob& job, const TrainingPlan& p) : job_(job), links_(reached(planner_links(job.cluster))) {
    dense_ = dense_groups(job.cluster, p);
    experts_ = expert_groups(job.cluster, p);
  }
  AllReduceLinks links(const AllReduceGroup& group) const {
    return job_.cluster.is_torus() ? reached(planner_links(job_.cluster, group)) : links_;
  }
  const ShardingGroups& dense() const { return dense_; }
  double gather_s(double dense, double experts, double each) const {
    return ring_gather_time(dense_.shards, links(dense_.shards), dense * each).total_s() +
           (experts > 0 ? ring_gather_time(experts_.shards, links(experts_.shards), experts * each).total_s() : 0);
  }
  /// An all-reduce of shards over the replicas; of what is whole where `whole`.
  double sum_s(double dense, double experts, double each, bool whole) const {
    const auto one = [&](const ShardingGroups& g, double elements) {
      if (elements <= 0) return 0.0;
      const AllReduceGroup over =
          whole ? AllReduceGroup{g.shards.ranks * g.replicas.ranks, g.shards.ranks_per_node} : g.replicas;
      const double part = whole ? 1 : 1 / as_double(g.shards.ranks);
      return planner_sum_s(job_.cluster, over, links(over), job_.stack.data_link, elements * each * part);
    };
    return one(dense_, dense) + one(experts_, experts);
  }

 private:
  AllReduceLinks reached(AllReduceLinks links) const {
    links.inside_bytes_per_s *= job_.stack.data_link;
    links.between_bytes_per_s *= job_.stack.data_link;
    return links;
  }

  const PlannerJob& job_;
  AllReduceLinks links_;
  ShardingGroups dense_, experts_;
};

/// Collectives that an amount of parameters is cut into.
double buckets_of(const PlannerStack& stack, double elements, double ranks) {
  const double bucket = std::max(stack.bucket_elements, stack.bucket_elements_per_rank * ranks);
  return bucket > 0 ? std::max(1.0, std::ceil(elements / bucket)) : 1;
}

}  // namespace

ShardedUnits sharded_units(const PlannerJob& job, const TrainingPlan& p, const memory::StageMemory& stage,
                           const StageWork& work) {
  const DataClock clock(job, p);
  const double weight = memory::workload_of(p).weight_bytes, gradient = job.stack.gradient_bytes;
  const double hidden = job.stack.data_hidden, layers = as_double(static_cast<std::int64_t>(stage.layers.size()));
  const memory::StageParameters &n = stage.parameters, trained = memory::trained_of(p, n);
  const auto unit = [&](double dense, double experts, double reduced, double reduced_experts, double forward_s,
                        double backward_s, double alike, bool stays) {
    ShardedUnit u{.forward_s = forward_s * hidden, .backward_s = backward_s * hidden, .alike = alike};
    u.gather_s = clock.gather_s(dense, experts, weight);
    if (reduced > 0 || reduced_experts > 0)
      u.scatter_s =
          clock.gather_s(reduced, reduced_experts, gradient) + clock.sum_s(reduced, reduced_experts, gradient, false);
    u.stays_gathered = stays || !p.reshard || memory::stays_whole(p);
    return u;
  };
  std::array<ShardedUnit, 3> units;
  std::size_t count = 0;
  const double ends = work.first && work.last ? 2 : work.first || work.last ? 1 : 0;
  if (work.first) units[count++] = unit(n.outer / ends, 0, trained.outer / ends, 0, 0, 0, 1, false);
  if (layers > 0)
    units[count++] = unit(n.dense / layers, n.experts / layers, trained.dense / layers, trained.experts / layers,
                          (work.forward_s - work.head_forward_s) / layers,
                          (work.backward_s - work.head_backward_s) / layers, layers, false);
  if (work.last)
    units[count++] =
        unit(n.outer / ends, 0, trained.outer / ends, 0, work.head_forward_s, work.head_backward_s, 1, true);
  return {units, count};
}

DataCall data_call(const PlannerJob& job, const TrainingPlan& p, const memory::StageMemory& stage) {
  const DataClock clock(job, p);
  const memory::StageParameters& n = stage.parameters;
  const memory::StageParameters trained = memory::trained_of(p, n);
  const double layers = as_double(static_cast<std::int64_t>(stage.layers.size())),
               dense = trained.dense + trained.outer;
  DataCall out{.sums = p.zero_stage == 0, .gathers = p.zero_stage == 3};
  out.group = clock.dense().shards;
  out.links = clock.links(out.group);
  if (out.gathers)
    out.bytes = n.dense / std::max(1.0, layers) * memory::workload_of(p).weight_bytes;
  else
    out.bytes = dense / buckets_of(job.stack, dense, as_double(p.data * p.context)) * job.stack.gradient_bytes;
  out.time = out.sums ? all_reduce_time(AllReduceAlgorithm::fastest, out.group, out.links, out.bytes)
                      : ring_gather_time(out.group, out.links, out.bytes);
  return out;
}

double data_parallel_s(const PlannerJob& job, const TrainingPlan& p, const memory::StageMemory& stage,
                       const StageWork& work) {
  const std::int64_t ranks = p.data * p.context;
  if (ranks == 1 && memory::expert_zero_ranks(p) <= 1) return 0;
  if (p.zero_stage == 3)
    // Units that stay whole are gathered in the first micro-batch's forward and reduced in the last one's backward
    // pass.
    return sharded_exposed_s(sharded_units(job, p, stage, work).all(),
                             {.micro_batches = memory::stays_whole(p) ? 1 : p.micro_batches});
  const DataClock clock(job, p);
  const memory::StageParameters n = memory::trained_of(p, stage.parameters);
  const PlannerStack& stack = job.stack;
  const double dense = n.dense + n.outer, hidden = stack.data_hidden;
  const double weight = memory::workload_of(p).weight_bytes, gradient = stack.gradient_bytes;
  const double pieces = buckets_of(stack, dense, as_double(ranks)),
               expert_pieces = n.experts > 0 ? buckets_of(stack, n.experts, as_double(ranks)) : 1;
  // So many calls of a piece each; the last one, or a gather's first, has nothing left to hide behind.
  const auto calls = [&](auto one) {
    const double dense_s = one(dense / pieces, 0.0), experts_s = one(0.0, n.experts / expert_pieces);
    struct Sent {
      double all_s, piece_s;
    };
    return Sent{pieces * dense_s + (n.experts > 0 ? expert_pieces * experts_s : 0),
                std::max(dense_s, n.experts > 0 ? experts_s : 0)};
  };
  // Of a stage that interleaves, only the last chunk's pass is left to hide behind when all gradients are there.
  const double chunks = as_double(p.virtual_pipeline);
  const auto exposed = [&](const auto& sent, double window) {
    return std::max(sent.piece_s, sent.all_s - hidden * window / chunks);
  };
  if (p.zero_stage == 0) {
    const auto sent =
        calls([&](double d, double e) { return d > 0 || e > 0 ? clock.sum_s(d, e, gradient, true) : 0.0; });
    return exposed(sent, work.backward_s);
  }
  const auto scatter = calls([&](double d, double e) {
    return (d > 0 || e > 0) ? clock.gather_s(d, e, gradient) + clock.sum_s(d, e, gradient, false) : 0.0;
  });
  const auto gather = calls([&](double d, double e) { return (d > 0 || e > 0) ? clock.gather_s(d, e, weight) : 0.0; });
  const double times = p.zero_stage == 2 ? as_double(p.micro_batches) : 1;
  const double broadcasts_s = stack.broadcast_s * as_double(dense_groups(job.cluster, p).shards.ranks);
  return times * exposed(scatter, work.backward_s) + exposed(gather, work.forward_s) + broadcasts_s;
}

}  // namespace models::parallel
