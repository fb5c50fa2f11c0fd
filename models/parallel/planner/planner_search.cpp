#include "models/parallel/planner/planner_search.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "models/base/integer_math.h"
#include "models/parallel/tensor/tensor_layer.h"

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
  auto operator<=>(const StageKey&) const = default;
};

class Search {
 public:
  Search(const PlannerJob& job, const PlannerSpace& space, const std::function<bool(double)>& go_on)
      : job_(job), space_(space), go_on_(go_on) {}

  PlannerSearch run() {
    const Architecture& a = job_.architecture;
    const auto tensors = powers_of_two(std::min(space_.max_tensor, job_.cluster.gpus_per_node));
    const auto contexts = powers_of_two(std::min(space_.max_context, job_.cluster.gpus));
    const auto experts = powers_of_two(a.moe.routed > 0 ? std::min(space_.max_expert, a.moe.routed) : 1);
    const auto micros = powers_of_two(std::min(space_.max_micro_batch, job_.global_batch));
    const double rounds =
        as_double(static_cast<std::int64_t>(tensors.size() * contexts.size() * experts.size() * micros.size()));
    double done = 0;
    for (const std::int64_t tensor : tensors)
      for (const std::int64_t context : contexts)
        for (const std::int64_t expert : experts)
          for (const std::int64_t micro : micros) {
            done += 1;
            if (go_on_ && !go_on_(done / rounds)) {
              out_.stopped = true;
              return std::move(out_);
            }
            if (job_.cluster.gpus % (tensor * context) != 0) continue;
            price_layer(tensor, context, expert, micro);
          }
    rank();
    return std::move(out_);
  }

 private:
  /// All pipelines, ZeRO stages and recomputations of one layout of a layer.
  void price_layer(std::int64_t tensor, std::int64_t context, std::int64_t expert, std::int64_t micro) {
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
    if (problem.empty()) problem = copied_heads_problem(job_.architecture, tensor);
    if (!problem.empty()) {
      out_.considered += 1;
      note(problem);
      return;
    }
    times_ = micro_batch_times(job_, p);
    for (std::size_t r = 0; r < 3; ++r)
      for (bool& made : made_[r]) made = false;
    const std::int64_t layers = job_.architecture.layers;
    for (std::int64_t stages = 1; stages <= std::min(space_.max_pipeline, layers); ++stages) {
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
      for (std::int64_t v = 1; v <= (stages == 1 ? 1 : space_.max_virtual); ++v) price_chunks(p, v);
    }
  }

  void price_chunks(TrainingPlan p, std::int64_t v) {
    const std::int64_t layers = job_.architecture.layers, chunks = p.pipeline * v;
    p.virtual_pipeline = v;
    p.ends_take_slots = false;
    if (v > 1) {
      if (p.micro_batches % p.pipeline != 0) return;
      if (layers % chunks != 0) {
        if ((layers + 2) % chunks != 0) return;
        p.ends_take_slots = true;
      }
    } else {
      const std::int64_t each = ceil_div(layers, p.pipeline);
      if (each * (p.pipeline - 1) >= layers) return;
    }
    const PlannerStages& stages = stages_of(p);
    for (std::size_t r = 0; r < 3; ++r) {
      if (!space_.recompute[r]) continue;
      p.recompute = static_cast<Recompute>(r);
      // Fused attention keeps no scores, so that giving them up saves nothing.
      if (p.recompute == Recompute::selective && p.fused_attention) continue;
      for (std::int64_t zero = 0; zero < 4; ++zero) {
        if (!space_.zero[zero] || (zero >= 2 && p.pipeline > 1)) continue;
        if (zero > 0 && p.data * p.context == 1) continue;
        p.zero_stage = zero;
        const PricedPlan price = price_plan(job_, p, times_, micro_memory(p, r), stages);
        out_.points.push_back({
            .tensor = static_cast<std::int32_t>(p.tensor),
            .pipeline = static_cast<std::int32_t>(p.pipeline),
            .virtual_pipeline = static_cast<std::int32_t>(v),
            .context = static_cast<std::int32_t>(p.context),
            .expert = static_cast<std::int32_t>(p.expert),
            .data = static_cast<std::int32_t>(p.data),
            .micro_batch = static_cast<std::int32_t>(p.batch),
            .zero_stage = static_cast<std::uint8_t>(zero),
            .recompute = static_cast<std::uint8_t>(r),
            .fits = price.fits,
            .sequence_parallel = p.sequence_parallel,
            .ends_take_slots = p.ends_take_slots,
            .step_s = price.step_s,
            .memory_bytes = price.memory_bytes,
        });
      }
    }
  }

  const PlannerStages& stages_of(const TrainingPlan& p) {
    const StageKey key{p.tensor, p.pipeline, p.virtual_pipeline, p.expert};
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
    std::sort(out_.points.begin(), out_.points.end(), [](const PlanPoint& x, const PlanPoint& y) {
      if (x.fits != y.fits) return x.fits;
      if (x.step_s != y.step_s) return x.step_s < y.step_s;
      return x.memory_bytes < y.memory_bytes;
    });
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

  const PlannerJob& job_;
  const PlannerSpace& space_;
  const std::function<bool(double)>& go_on_;
  PlannerSearch out_;
  MicroBatchTimes times_;
  std::int64_t below_ = 0, above_ = 0;  ///< the nearest global batches that a plan could take; 0: none
  std::map<StageKey, PlannerStages> stages_;
  memory::MicroBatchMemory micro_[3][3];
  bool made_[3][3] = {};
};

}  // namespace

PlannerSearch search_plans(const PlannerJob& job, const PlannerSpace& space, const std::function<bool(double)>& go_on) {
  return Search(job, space, go_on).run();
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
  p.recompute = static_cast<Recompute>(point.recompute);
  p.sequence_parallel = point.sequence_parallel;
  p.ends_take_slots = point.ends_take_slots;
  return planned(job, p);
}

std::string plan_name(const PlanPoint& p) {
  std::string out;
  const auto axis = [&](const char* name, std::int32_t n, bool always) {
    if (n == 1 && !always) return;
    if (!out.empty()) out += " x ";
    out += std::string(name) + " " + std::to_string(n);
  };
  axis("TP", p.tensor, false);
  axis("CP", p.context, false);
  axis("PP", p.pipeline, false);
  axis("EP", p.expert, false);
  axis("DP", p.data, true);
  return out;
}

std::string plan_difference(const PlanPoint& p, const PlanPoint& other) {
  std::string out;
  const auto add = [&](bool differs, const std::string& words) {
    if (differs) out += (out.empty() ? "" : ", ") + words;
  };
  add(p.micro_batch != other.micro_batch, "micro-batch " + std::to_string(p.micro_batch));
  add(p.virtual_pipeline != other.virtual_pipeline,
      std::to_string(p.virtual_pipeline) + (p.virtual_pipeline == 1 ? " chunk" : " chunks"));
  add(p.zero_stage != other.zero_stage, p.zero_stage > 0 ? "ZeRO-" + std::to_string(p.zero_stage) : "no ZeRO");
  constexpr const char* recompute[] = {"nothing recomputed", "attention recomputed", "layers recomputed"};
  add(p.recompute != other.recompute, recompute[p.recompute]);
  add(p.sequence_parallel != other.sequence_parallel,
      p.sequence_parallel ? "sequence parallel" : "no sequence parallel");
  return out;
}

std::string plan_detail(const PlannerJob& job, const PlanPoint& p) {
  const std::int64_t m = job.global_batch / (static_cast<std::int64_t>(p.data) * p.micro_batch);
  std::string out =
      std::to_string(m) + (m == 1 ? " micro-batch of " : " micro-batches of ") + std::to_string(p.micro_batch);
  if (p.pipeline > 1)
    out += ", " + std::to_string(p.virtual_pipeline) + (p.virtual_pipeline == 1 ? " chunk" : " chunks");
  out += p.zero_stage > 0 ? ", ZeRO-" + std::to_string(p.zero_stage) : ", no ZeRO";
  constexpr const char* recompute[] = {", no recompute", ", attention recomputed", ", layers recomputed"};
  return out + recompute[p.recompute];
}

std::vector<LostTime> lost_time(const StepParts& better, const StepParts& worse) {
  std::vector<LostTime> out;
  const double least = better.total_s() / 1000;
  for (std::size_t i = 0; i < plan_cause_count; ++i) {
    const double more = worse.seconds[i] - better.seconds[i];
    if (std::abs(more) >= least) out.push_back({static_cast<PlanCause>(i), more});
  }
  std::sort(out.begin(), out.end(),
            [](const LostTime& x, const LostTime& y) { return std::abs(x.seconds) > std::abs(y.seconds); });
  return out;
}

}  // namespace models::parallel
