#include "models/parallel/planner/planner_search.h"

#include <algorithm>
#include <array>
#include <map>

#include "models/base/integer_math.h"
#include "models/parallel/planner/planner_traffic.h"

namespace models::parallel {
namespace {

using memory::TrainingPlan;

std::vector<std::int64_t> powers_of_two(std::int64_t most) {
  std::vector<std::int64_t> out;
  for (std::int64_t n = 1; n <= most; n *= 2) out.push_back(n);
  return out;
}

/// What depends on tensor, pipeline, virtual stages and experts alone.
struct StageKey {
  std::int64_t tensor, pipeline, virtual_pipeline, expert;
  PipelineSchedule schedule;
  bool slots;
  auto operator<=>(const StageKey&) const = default;
};

/// Plans whose states alone take more than so many times the memory are left out.
constexpr double overflow_left_out = 2.5;

class Search {
 public:
  Search(const PlannerJob& job, const PlannerSpace& space, const std::function<bool(double)>& go_on,
         PlannerSchedules& schedules)
      : job_(job), space_(space), go_on_(go_on), schedules_(schedules) {
    constexpr std::size_t most_kept = 16'384;
    if (schedules.kept() > most_kept) schedules = {};
    if (space.recompute[0]) recomputations_.push_back({});
    if (space.recompute[1]) add_selective();
    if (space.recompute[2]) recomputations_.push_back({.recompute = Recompute::full});
  }

  PlannerSearch run() {
    if (out_.reason = adapters_problem(job_); !out_.reason.empty()) return std::move(out_);
    const std::vector<LayerCut> cuts = layer_cuts();
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      if (go_on_ && !go_on_(static_cast<double>(i + 1) / static_cast<double>(cuts.size()))) {
        out_.stopped = true;
        return std::move(out_);
      }
      price_layer(cuts[i]);
    }
    rank();
    return std::move(out_);
  }

 private:
  /// How a layer is cut over GPUs, and how many sequences of a replica go through it at once.
  struct LayerCut {
    std::int64_t tensor, context, expert, micro;
    bool one_stage = false;  ///< there is no pipeline with these micro-batches
  };

  std::vector<LayerCut> layer_cuts() const {
    const Architecture& a = job_.architecture;
    std::vector<LayerCut> out;
    for (const std::int64_t tensor : tensor_counts())
      for (const std::int64_t context : powers_of_two(std::min(space_.max_context, job_.cluster.gpus))) {
        if (job_.cluster.gpus % (tensor * context) != 0) continue;
        for (const std::int64_t expert :
             powers_of_two(a.moe.routed > 0 ? std::min(space_.max_expert, a.moe.routed) : 1)) {
          const auto micros = powers_of_two(std::min(space_.max_micro_batch, job_.global_batch));
          for (const std::int64_t micro : micros) out.push_back({tensor, context, expert, micro});
          const std::int64_t alone = only_micro_batch(job_.cluster.gpus / (tensor * context));
          if (alone > 0 && std::find(micros.begin(), micros.end(), alone) == micros.end())
            out.push_back({tensor, context, expert, alone, true});
        }
      }
    return out;
  }

  /// The sequences of a micro-batch where the software runs one alone without a pipeline, on so many replicas; 0: it
  /// runs any number, or the global batch does not divide.
  std::int64_t only_micro_batch(std::int64_t replicas) const {
    return job_.stack.accumulates || job_.global_batch % replicas != 0 ? 0 : job_.global_batch / replicas;
  }

  /// All pipelines, ZeRO stages and recomputations of one layout of a layer.
  void price_layer(const LayerCut& cut) {
    const std::int64_t tensor = cut.tensor, context = cut.context, expert = cut.expert, micro = cut.micro;
    TrainingPlan p;
    p.tensor = tensor;
    p.context = context;
    p.expert = expert;
    p.batch = micro;
    p.data = job_.cluster.gpus / (tensor * context);
    p.sequence_parallel = job_.stack.sequence_parallel && tensor > 1;
    p = planned(job_, p);
    p.micro_batches = std::max<std::int64_t>(2, p.micro_batches);
    TrainingPlan alone = p;
    alone.data = 1'000'000;  // whether experts find enough ranks is asked for each plan
    std::string problem = memory::plan_problem(job_.architecture, alone);
    if (problem.empty()) problem = context_problem(job_, alone);
    if (!problem.empty()) {
      out_.considered += 1;
      note(problem);
      return;
    }
    times_ = micro_batch_times(job_, p);
    for (auto& made : made_) made = {};
    const std::int64_t layers = job_.architecture.layers;
    const std::int64_t most = cut.one_stage ? 1 : std::min(space_.max_pipeline, layers);
    for (std::int64_t stages = 1; stages <= most; ++stages) {
      const std::int64_t of_stage = tensor * context * stages;
      if (job_.cluster.gpus % of_stage != 0) continue;
      const std::int64_t data = job_.cluster.gpus / of_stage;
      out_.considered += 1;
      if (job_.global_batch % (data * micro) != 0) {
        if (ceil_div(layers, stages) * (stages - 1) < layers) note_batch(data * micro);
        continue;
      }
      if (expert > data * context * tensor || (expert > 1 && (data * context * tensor) % expert != 0)) continue;
      p.pipeline = stages;
      p.data = data;
      p.micro_batches = job_.global_batch / (data * micro);
      if (runs_micro_batches(job_.stack, p))
        for (const std::int64_t v : chunk_counts(p)) price_chunks(p, v);
      for (std::size_t i = 0; i < pipeline_schedule_count && stages > 1; ++i) {
        p.schedule = static_cast<PipelineSchedule>(i);
        if ((job_.stack.schedules & schedule_bit(p.schedule)) != 0) price_schedule(p);
      }
      p.schedule = PipelineSchedule::one_f_one_b;
    }
  }

  /// A schedule other than 1F1B, with every number of chunks that it can run.
  void price_schedule(TrainingPlan p) {
    if (!loops_over_chunks(p.schedule)) {
      if (schedule_problem(p).empty()) price_chunks(p, 1);
      return;
    }
    for (const std::int64_t v : chunk_counts(p)) {
      p.virtual_pipeline = v;
      if (v > 1 && schedule_problem(p).empty()) price_chunks(p, v);
    }
  }

  /// Numbers of GPUs that share a layer: divisors of the node that the model can be cut over.
  std::vector<std::int64_t> tensor_counts() const {
    std::vector<std::int64_t> out;
    const std::int64_t most = std::min(job_.cluster.gpus_per_node, job_.cluster.gpus);
    for (std::int64_t n = 1; n <= std::min(space_.max_tensor, most); ++n)
      if (job_.cluster.gpus_per_node % n == 0) out.push_back(n);
    return out;
  }

  /// Chunks a stage: every number that makes equal ones, with embedding and output as layers or without; where there is
  /// none, powers of two.
  std::vector<std::int64_t> chunk_counts(const TrainingPlan& p) const {
    std::vector<std::int64_t> out{1};
    const bool rounds = p.schedule != PipelineSchedule::breadth_first;
    if (p.pipeline == 1 || (rounds && p.micro_batches % p.pipeline != 0)) return out;
    const std::int64_t layers = job_.architecture.layers, most = std::min(space_.max_virtual, layers / p.pipeline);
    for (std::int64_t v = 2; v <= most; ++v)
      if (layers % (p.pipeline * v) == 0 || (layers + memory::slots_of_ends(job_.architecture)) % (p.pipeline * v) == 0)
        out.push_back(v);
    if (out.size() == 1)
      for (std::int64_t v = 2; v <= most; v *= 2) out.push_back(v);
    return out;
  }

  void price_chunks(TrainingPlan p, std::int64_t v) {
    p.virtual_pipeline = v;
    const std::int64_t layers = job_.architecture.layers, chunks = memory::chunks_of_model(p);
    if (chunks > layers) return;
    p.ends_take_slots = false;
    price_sharding(p);
    if (layers % chunks == 0 || v == 1) return;
    p.ends_take_slots = true;
    price_sharding(p);
  }

  void add_selective() {
    using memory::bit;
    using memory::RecomputeModule;
    if (!job_.stack.fused_attention || job_.stack.selective_by_operation) {
      recomputations_.push_back({.recompute = Recompute::selective});
      return;
    }
    const Architecture& a = job_.architecture;
    const std::uint8_t small = small_modules(a);
    const std::uint8_t block = bit(a.moe.routed > 0 ? RecomputeModule::experts : RecomputeModule::feed_forward);
    recomputations_.push_back({Recompute::selective, small});
    recomputations_.push_back({Recompute::selective, static_cast<std::uint8_t>(small | block)});
  }

  /// Whether the states that nothing can split take several times the memory, so that no recomputation helps.
  bool states_alone_overflow(TrainingPlan p, const PlannerStages& stages) const {
    const std::int64_t most = p.pipeline > 1 ? job_.stack.most_zero_of_pipeline : 3;
    for (std::int64_t zero = most; zero >= 0; --zero)
      if (space_.zero[zero]) {
        p.zero_stage = p.data * p.context > 1 ? zero : 0;
        break;
      }
    const memory::BytesPerParameter each = memory::bytes_per_parameter(job_.architecture, p);
    return std::any_of(stages.groups.begin(), stages.groups.end(), [&](const PlannerStages::Group& g) {
      return memory::state_bytes(p, each, g.memory.parameters).total() > overflow_left_out * job_.cluster.memory_bytes;
    });
  }

  /// Every recomputation and every way to split the states of one layout.
  void price_sharding(TrainingPlan p) {
    const PlannerStages& stages = stages_of(p);
    const std::int64_t ranks = p.data * p.context, node = job_.cluster.gpus_per_node / p.tensor;
    if (states_alone_overflow(p, stages)) return;
    for (std::size_t r = 0; r < recomputations_.size(); ++r) {
      p.recompute = recomputations_[r].recompute;
      p.modules = recomputations_[r].modules;
      p.shard_group = 0;
      const StepWork work = step_work(job_, p, times_, stages, schedules_);
      for (std::int64_t zero = 0; zero < (ranks > 1 ? 4 : 1); ++zero) {
        if (!space_.zero[zero] || (p.pipeline > 1 && zero > job_.stack.most_zero_of_pipeline)) continue;
        p.zero_stage = zero;
        if (!software_shards(job_.stack, p)) continue;
        p.shard_group = 0;
        const memory::MicroBatchMemory& micro = micro_memory(p, r);
        bytes_beside_states(job_, p, micro, stages, schedules_, beside_);
        add(p, price_plan(job_, p, work, micro, stages, beside_));
        if (zero == 0 || !job_.stack.hybrid_sharding) continue;
        for (p.shard_group = node; p.shard_group < ranks; p.shard_group *= 4)
          if (p.shard_group > 1 && ranks % p.shard_group == 0)
            add(p, price_plan(job_, p, work, micro, stages, beside_));
      }
    }
  }

  void add(const TrainingPlan& p, const PricedPlan& price) {
    out_.points.push_back({
        .tensor = static_cast<std::int32_t>(p.tensor),
        .pipeline = static_cast<std::int32_t>(p.pipeline),
        .virtual_pipeline = static_cast<std::int32_t>(p.virtual_pipeline),
        .context = static_cast<std::int32_t>(p.context),
        .expert = static_cast<std::int32_t>(p.expert),
        .data = static_cast<std::int32_t>(p.data),
        .micro_batch = static_cast<std::int32_t>(p.batch),
        .shard_group = static_cast<std::int32_t>(p.shard_group),
        .zero_stage = static_cast<std::uint8_t>(p.zero_stage),
        .recompute = static_cast<std::uint8_t>(p.recompute),
        .schedule = p.schedule,
        .modules = p.modules,
        .fits = price.fits,
        .sequence_parallel = p.sequence_parallel,
        .ends_take_slots = p.ends_take_slots,
        .second_products = p.every_second_product,
        .step_s = price.step_s,
        .memory_bytes = price.memory_bytes,
    });
  }

  const PlannerStages& stages_of(const TrainingPlan& p) {
    const StageKey key{p.tensor, p.pipeline, p.virtual_pipeline, p.expert, p.schedule, p.ends_take_slots};
    const auto found = stages_.find(key);
    if (found != stages_.end()) return found->second;
    return stages_.emplace(key, planner_stages(job_.architecture, p)).first->second;
  }

  const memory::MicroBatchMemory& micro_memory(const TrainingPlan& p, std::size_t recompute) {
    // Two things about the gradients decide what a layer holds: whether they grow, and whether units are gathered.
    const std::size_t late = memory::gathers_units(p) ? 2 : memory::gradients_grow(p) ? 1 : 0;
    if (!made_[recompute][late]) {
      micro_[recompute][late] = memory::micro_batch_memory(job_.architecture, p);
      made_[recompute][late] = true;
    }
    return micro_[recompute][late];
  }

  void note(const std::string& problem) {
    if (out_.reason.empty()) out_.reason = problem;
  }

  /// A plan that only the global batch keeps from running would take every multiple of `each` sequences.
  void note_batch(std::int64_t each) {
    const std::int64_t below = job_.global_batch / each * each;
    below_ = std::max(below_, below);
    above_ = above_ == 0 ? below + each : std::min(above_, below + each);
  }

  void rank() {
    if (out_.points.empty() && above_ > 0)
      out_.reason = "A global batch of " + std::to_string(job_.global_batch) +
                    " sequences is no multiple of the replicas of any plan; " +
                    (below_ > 0 ? std::to_string(below_) + " or " : std::string()) + std::to_string(above_) +
                    " would be.";
    sort_points();
    for (const PlanPoint& p : out_.points) out_.fitting += p.fits ? 1 : 0;
    if (!out_.points.empty()) out_.reason.clear();
    const auto lower_left = [&](std::size_t from, std::size_t to, double under_s) {
      std::vector<std::size_t> line;
      double least = 1e30;
      // Points are in order of time, so that each that needs less memory than all faster ones is on the line.
      for (std::size_t i = from; i < to; ++i) {
        const PlanPoint& p = out_.points[i];
        if (p.step_s > under_s) break;
        if (p.memory_bytes < least) {
          least = p.memory_bytes;
          line.push_back(i);
        }
      }
      std::reverse(line.begin(), line.end());
      return line;
    };
    out_.frontier = lower_left(0, out_.fitting, 1e30);
    const double best = out_.fitting > 0 ? out_.points.front().step_s : 1e30;
    out_.beyond = lower_left(out_.fitting, out_.points.size(), best);
  }

  /// Points are long: their keys are sorted, and each point is moved once.
  void sort_points() {
    struct Key {
      double step_s, memory_bytes;
      std::uint32_t at;
      bool fits;
    };
    std::vector<Key> keys;
    keys.reserve(out_.points.size());
    for (const PlanPoint& p : out_.points)
      keys.push_back({p.step_s, p.memory_bytes, static_cast<std::uint32_t>(keys.size()), p.fits});
    std::sort(keys.begin(), keys.end(), [](const Key& x, const Key& y) {
      if (x.fits != y.fits) return x.fits;
      if (x.step_s != y.step_s) return x.step_s < y.step_s;
      if (x.memory_bytes != y.memory_bytes) return x.memory_bytes < y.memory_bytes;
      return x.at < y.at;
    });
    std::vector<PlanPoint> sorted;
    sorted.reserve(keys.size());
    for (const Key& key : keys) sorted.push_back(out_.points[key.at]);
    out_.points = std::move(sorted);
  }

  const PlannerJob& job_;
  const PlannerSpace& space_;
  const std::function<bool(double)>& go_on_;
  PlannerSchedules& schedules_;
  PlannerSearch out_;
  MicroBatchTimes times_;
  std::int64_t below_ = 0, above_ = 0;  ///< the nearest global batches that a plan could take; 0: none
  std::map<StageKey, PlannerStages> stages_;
  std::vector<double> beside_;  ///< What the layout at work holds beside states.
  struct Recomputation {
    Recompute recompute = Recompute::none;
    std::uint8_t modules = memory::bit(memory::RecomputeModule::core_attention);
  };
  std::vector<Recomputation> recomputations_;
  static constexpr std::size_t most_recomputations = 4;
  std::array<std::array<memory::MicroBatchMemory, 3>, most_recomputations> micro_;
  std::array<std::array<bool, 3>, most_recomputations> made_{};
};

}  // namespace

PlannerSearch search_plans(const PlannerJob& job, const PlannerSpace& space, const std::function<bool(double)>& go_on,
                           PlannerSchedules* schedules) {
  PlannerSchedules own;
  return Search(job, space, go_on, schedules ? *schedules : own).run();
}

TrainingPlan plan_of(const PlannerJob& job, const PlanPoint& point) {
  TrainingPlan p;
  p.tensor = point.tensor;
  p.pipeline = point.pipeline;
  p.virtual_pipeline = point.virtual_pipeline;
  p.context = point.context;
  p.expert = point.expert;
  p.data = point.data;
  p.batch = point.micro_batch;
  p.zero_stage = point.zero_stage;
  p.shard_group = point.shard_group;
  p.expert_tensor = point.expert_tensor;
  p.offload = point.offload ? memory::Offload::optimizer : memory::Offload::none;
  p.host_activations = point.host_activations;
  p.schedule = point.schedule;
  p.recompute = static_cast<Recompute>(point.recompute);
  p.modules = point.modules;
  p.sequence_parallel = point.sequence_parallel;
  p.ends_take_slots = point.ends_take_slots;
  return planned(job, p);
}

}  // namespace models::parallel
