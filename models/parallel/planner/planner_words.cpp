#include <algorithm>
#include <array>
#include <cmath>

#include "models/parallel/planner/planner_search.h"

namespace models::parallel {

std::string zero_words(const PlanPoint& p) {
  if (p.zero_stage == 0) return "no ZeRO";
  const std::string stage = "ZeRO-" + std::to_string(p.zero_stage);
  return p.shard_group > 0 ? stage + " over " + std::to_string(p.shard_group) : stage;
}

/// "recomputing norms, activations"
std::string recompute_words(const PlanPoint& p) {
  if (p.recompute == 0) return "nothing recomputed";
  if (p.recompute == 2) return "layers recomputed";
  if (p.second_products) return "every second matmul recomputed";
  constexpr std::array<const char*, memory::recompute_module_count> names{
      "scores", "norms", "activations", "MLA up projections", "feed-forward", "experts"};
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    if ((p.modules >> i & 1) != 0) out += (out.empty() ? "" : ", ") + std::string(names[i]);
  return out.empty() ? "nothing recomputed" : "recomputing " + out;
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

namespace {

int chunks_of_a_stage(const PlanPoint& p) { return laid_as_v(p.schedule) ? 2 : p.virtual_pipeline; }
std::string chunk_words(const PlanPoint& p) {
  const int chunks = chunks_of_a_stage(p);
  return std::to_string(chunks) + (chunks == 1 ? " chunk" : " chunks");
}

}  // namespace

std::string expert_tensor_words(const PlanPoint& p) {
  if (p.expert_tensor == 0) return "experts as the layers";
  return "experts over " + std::to_string(p.expert_tensor);
}

std::string plan_difference(const PlanPoint& p, const PlanPoint& other) {
  std::string out;
  const auto add = [&](bool differs, const std::string& words) {
    if (differs) out += (out.empty() ? "" : ", ") + words;
  };
  add(p.micro_batch != other.micro_batch, "micro-batch " + std::to_string(p.micro_batch));
  add(chunks_of_a_stage(p) != chunks_of_a_stage(other), chunk_words(p));
  add(p.schedule != other.schedule, std::string(schedule_name(p.schedule)));
  add(p.zero_stage != other.zero_stage || p.shard_group != other.shard_group, zero_words(p));
  add(p.recompute != other.recompute || (p.recompute == 1 && p.modules != other.modules), recompute_words(p));
  add(p.ends_take_slots != other.ends_take_slots,
      p.ends_take_slots ? "ends count as layers" : "ends count for nothing");
  add(p.offload != other.offload, p.offload ? "optimizer on the host" : "optimizer on the GPU");
  add(p.host_activations != other.host_activations,
      p.host_activations ? "activations on the host" : "activations on the GPU");
  add(p.expert_tensor != other.expert_tensor, expert_tensor_words(p));
  add(p.sequence_parallel != other.sequence_parallel,
      p.sequence_parallel ? "sequence parallel" : "no sequence parallel");
  return out;
}

std::string plan_detail(const PlannerJob& job, const PlanPoint& p) {
  const std::int64_t m = job.global_batch / (static_cast<std::int64_t>(p.data) * p.micro_batch);
  std::string out =
      std::to_string(m) + (m == 1 ? " micro-batch of " : " micro-batches of ") + std::to_string(p.micro_batch);
  if (p.pipeline > 1) out += ", " + chunk_words(p);
  if (p.schedule != PipelineSchedule::one_f_one_b) out += ", " + std::string(schedule_name(p.schedule));
  if (p.expert_tensor > 0) out += ", experts over " + std::to_string(p.expert_tensor);
  out += ", " + zero_words(p);
  if (p.offload) out += ", optimizer on the host";
  if (p.host_activations) out += ", activations on the host";
  return out + ", " + recompute_words(p);
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
