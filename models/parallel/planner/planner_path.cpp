#include "models/parallel/planner/planner_path.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>

namespace models::parallel {
namespace {

/// One thing that a plan may have different.
struct Axis {
  std::string (*words)(const PlanPoint& plan);
  std::string (*brief)(const PlanPoint& plan);
  bool (*same)(const PlanPoint& a, const PlanPoint& b);
  void (*take)(PlanPoint& to, const PlanPoint& from);
};

std::string counted(const char* name, std::int64_t n) { return std::string(name) + " " + std::to_string(n); }

std::string order_words(const PlanPoint& p) {
  if (p.schedule != PipelineSchedule::one_f_one_b) return std::string(schedule_name(p.schedule));
  return p.virtual_pipeline == 1 ? "plain 1F1B" : "1F1B in " + std::to_string(p.virtual_pipeline) + " chunks";
}

const Axis axes[] = {
    {[](const PlanPoint& p) { return counted("tensor parallel", p.tensor); },
     [](const PlanPoint& p) { return counted("TP", p.tensor); },
     [](const PlanPoint& a, const PlanPoint& b) {
       return a.tensor == b.tensor && a.sequence_parallel == b.sequence_parallel;
     },
     [](PlanPoint& to, const PlanPoint& from) {
       to.tensor = from.tensor;
       to.sequence_parallel = from.sequence_parallel;
     }},
    {[](const PlanPoint& p) { return counted("pipeline of", p.pipeline); },
     [](const PlanPoint& p) { return counted("PP", p.pipeline); },
     [](const PlanPoint& a, const PlanPoint& b) { return a.pipeline == b.pipeline; },
     [](PlanPoint& to, const PlanPoint& from) { to.pipeline = from.pipeline; }},
    {[](const PlanPoint& p) { return counted("context parallel", p.context); },
     [](const PlanPoint& p) { return counted("CP", p.context); },
     [](const PlanPoint& a, const PlanPoint& b) { return a.context == b.context; },
     [](PlanPoint& to, const PlanPoint& from) { to.context = from.context; }},
    {[](const PlanPoint& p) { return counted("expert parallel", p.expert); },
     [](const PlanPoint& p) { return counted("EP", p.expert); },
     [](const PlanPoint& a, const PlanPoint& b) { return a.expert == b.expert; },
     [](PlanPoint& to, const PlanPoint& from) { to.expert = from.expert; }},
    {expert_tensor_words, expert_tensor_words,
     [](const PlanPoint& a, const PlanPoint& b) { return a.expert_tensor == b.expert_tensor; },
     [](PlanPoint& to, const PlanPoint& from) { to.expert_tensor = from.expert_tensor; }},
    {[](const PlanPoint& p) { return std::string(p.offload ? "optimizer on the host" : "optimizer on the GPU"); },
     [](const PlanPoint& p) { return std::string(p.offload ? "on the host" : "on the GPU"); },
     [](const PlanPoint& a, const PlanPoint& b) { return a.offload == b.offload; },
     [](PlanPoint& to, const PlanPoint& from) { to.offload = from.offload; }},
    {[](const PlanPoint& p) {
       return std::string(p.host_activations ? "activations on the host" : "activations on the GPU");
     },
     [](const PlanPoint& p) { return std::string(p.host_activations ? "kept on the host" : "kept on the GPU"); },
     [](const PlanPoint& a, const PlanPoint& b) { return a.host_activations == b.host_activations; },
     [](PlanPoint& to, const PlanPoint& from) { to.host_activations = from.host_activations; }},
    {order_words,
     [](const PlanPoint& p) {
       if (p.schedule != PipelineSchedule::one_f_one_b) return std::string(schedule_name(p.schedule));
       return p.virtual_pipeline == 1 ? std::string("1F1B") : std::to_string(p.virtual_pipeline) + " chunks";
     },
     [](const PlanPoint& a, const PlanPoint& b) {
       return a.schedule == b.schedule && a.virtual_pipeline == b.virtual_pipeline &&
              a.ends_take_slots == b.ends_take_slots;
     },
     [](PlanPoint& to, const PlanPoint& from) {
       to.schedule = from.schedule;
       to.virtual_pipeline = from.virtual_pipeline;
       to.ends_take_slots = from.ends_take_slots;
     }},
    {[](const PlanPoint& p) { return zero_words(p); },
     [](const PlanPoint& p) { return p.zero_stage == 0 ? std::string("no ZeRO") : counted("ZeRO", p.zero_stage); },
     [](const PlanPoint& a, const PlanPoint& b) {
       return a.zero_stage == b.zero_stage && a.shard_group == b.shard_group;
     },
     [](PlanPoint& to, const PlanPoint& from) {
       to.zero_stage = from.zero_stage;
       to.shard_group = from.shard_group;
     }},
    {[](const PlanPoint& p) { return counted("micro-batch", p.micro_batch); },
     [](const PlanPoint& p) { return counted("batch", p.micro_batch); },
     [](const PlanPoint& a, const PlanPoint& b) { return a.micro_batch == b.micro_batch; },
     [](PlanPoint& to, const PlanPoint& from) { to.micro_batch = from.micro_batch; }},
    {[](const PlanPoint& p) { return recompute_words(p); },
     [](const PlanPoint& p) {
       return std::string(p.recompute == 0 ? "keep all" : p.recompute == 2 ? "keep inputs" : "keep some");
     },
     [](const PlanPoint& a, const PlanPoint& b) {
       return a.recompute == b.recompute && (a.recompute != 1 || a.modules == b.modules);
     },
     [](PlanPoint& to, const PlanPoint& from) {
       to.recompute = from.recompute;
       to.modules = from.modules;
       to.second_products = from.second_products;
     }},
};

bool same_plan(const PlanPoint& a, const PlanPoint& b) {
  return std::all_of(std::begin(axes), std::end(axes), [&](const Axis& axis) { return axis.same(a, b); });
}

/// All plans between two, by the set of axes that have changed already.
class Between {
 public:
  Between(const PlannerJob& job, const PlanPoint& from, const PlanPoint& to) : job_(job), from_(from), to_(to) {
    for (const Axis& axis : axes)
      if (!axis.same(from, to)) differing_.push_back(&axis);
  }
  std::size_t changes() const { return differing_.size(); }

  /// The plan with these axes changed; nothing where it cannot run.
  const std::optional<PlanPoint>& at(std::uint32_t changed) {
    const auto found = priced_.find(changed);
    if (found != priced_.end()) return found->second;
    PlanPoint p = from_;
    for (std::size_t i = 0; i < differing_.size(); ++i)
      if ((changed >> i & 1) != 0) differing_[i]->take(p, to_);
    const std::int64_t replica = std::int64_t{p.tensor} * p.pipeline * p.context;
    p.data = static_cast<std::int32_t>(std::max<std::int64_t>(1, job_.cluster.gpus / replica));
    if (p.pipeline == 1) {
      p.virtual_pipeline = 1;
      p.schedule = PipelineSchedule::one_f_one_b;
      p.ends_take_slots = false;
    }
    const auto price = price_plan(job_, plan_of(job_, p));
    std::optional<PlanPoint> out;
    if (price) {
      p.step_s = price->step_s;
      p.memory_bytes = price->memory_bytes;
      p.fits = price->fits;
      out = p;
    }
    return priced_.emplace(changed, out).first->second;
  }

  std::string brief(std::uint32_t before, std::uint32_t after) {
    std::string out;
    for (std::size_t i = 0; i < differing_.size(); ++i)
      if (((before ^ after) >> i & 1) != 0) out += (out.empty() ? "" : ", ") + differing_[i]->brief(*at(after));
    return out;
  }

  std::string words(std::uint32_t before, std::uint32_t after) {
    std::string out;
    for (std::size_t i = 0; i < differing_.size(); ++i)
      if (((before ^ after) >> i & 1) != 0)
        out +=
            (out.empty() ? "" : ", ") + differing_[i]->words(*at(before)) + " to " + differing_[i]->words(*at(after));
    return out;
  }

 private:
  const PlannerJob& job_;
  const PlanPoint &from_, &to_;
  std::vector<const Axis*> differing_;
  std::map<std::uint32_t, std::optional<PlanPoint>> priced_;
};

/// What a way costs: single steps that change two axes, plans on it that do not fit, seconds that it goes up by.
struct WayCost {
  int doubled = 0, beyond = 0;
  double slower_s = 0;
  auto operator<=>(const WayCost&) const = default;
};

}  // namespace

std::vector<PlanStep> plan_path(const PlannerJob& job, const PlanPoint& from, const PlanPoint& to) {
  Between between(job, from, to);
  const std::size_t n = between.changes();
  const std::uint32_t all = (std::uint32_t{1} << n) - 1;
  if (n == 0 || !between.at(0) || !between.at(all)) return {};
  struct Reached {
    WayCost cost;
    std::uint32_t before = 0;
  };
  std::map<std::uint32_t, Reached> reached{{0, {}}};
  // Every change adds bits, so that the sets in order of their numbers come after all that lead to them.
  for (std::uint32_t set = 0; set < all; ++set) {
    const auto here = reached.find(set);
    if (here == reached.end()) continue;
    const auto go = [&](std::uint32_t next, int doubled) {
      const auto& plan = between.at(next);
      // Without a pipeline its order is no change, for one.
      if (!plan || same_plan(*plan, *between.at(set))) return;
      WayCost cost = here->second.cost;
      cost.doubled += doubled;
      cost.beyond += plan->fits || next == all ? 0 : 1;
      cost.slower_s += std::max(0.0, plan->step_s - between.at(set)->step_s);
      const auto known = reached.find(next);
      if (known == reached.end() || cost < known->second.cost) reached[next] = {cost, set};
    };
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t one = set | std::uint32_t{1} << i;
      if (one == set) continue;
      go(one, 0);
      for (std::size_t k = i + 1; k < n; ++k)
        if (const std::uint32_t two = one | std::uint32_t{1} << k; two != one) go(two, 1);
    }
  }
  if (!reached.contains(all)) return {};
  std::vector<PlanStep> out;
  for (std::uint32_t set = all; set != 0; set = reached[set].before) {
    const std::uint32_t before = reached[set].before;
    out.push_back({*between.at(set), between.words(before, set), between.brief(before, set),
                   between.at(before)->step_s - between.at(set)->step_s});
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace models::parallel
