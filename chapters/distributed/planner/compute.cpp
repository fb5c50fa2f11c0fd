#include <algorithm>
#include <cmath>

#include "chapters/distributed/planner/lab.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/memo.h"
#include "models/base/integer_math.h"

namespace chapters::distributed::planner {

using namespace models::parallel;

namespace {

constexpr std::size_t listed = 40;

/// What a search depends on: the inputs without the plan to price.
Inputs search_key(Inputs in) {
  const Inputs plain;
  in.tensor_parallel = plain.tensor_parallel;
  in.pipeline_parallel = plain.pipeline_parallel;
  in.virtual_pipeline = plain.virtual_pipeline;
  in.context_parallel = plain.context_parallel;
  in.expert_parallel = plain.expert_parallel;
  in.zero_stage = plain.zero_stage;
  in.micro_batch = plain.micro_batch;
  in.recompute = plain.recompute;
  in.sequence_parallel = plain.sequence_parallel;
  return in;
}

}  // namespace

models::Result<PlannerJob> job_of(const Inputs& in) {
  using Out = models::Result<PlannerJob>;
  const auto model = find_model(in.model);
  if (!model) return Out::fail(model.error);
  const auto chip = find_chip(in.chip);
  if (!chip) return Out::fail(chip.error);
  const models::Network* network = catalog().network(in.network);
  const models::Format format = models::format_from_id(in.format).value_or(models::Format::bf16);
  auto cluster = planner_cluster(**chip, in.gpus, format, network != nullptr ? network->bytes_per_s_per_direction : 0);
  if (!cluster) return Out::fail(cluster.error);
  PlannerJob job;
  job.architecture = (*model)->architecture;
  job.cluster = *cluster;
  job.cluster.memory_bytes = std::max(0.0, job.cluster.memory_bytes - in.keep_free_bytes);
  job.stack = planner_stack(in.software);
  job.format = format;
  job.global_batch = in.global_batch;
  job.sequence = in.sequence;
  return Out::ok(std::move(job));
}

PlanPoint point_of(const Inputs& in) {
  PlanPoint p;
  const auto narrow = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
  p.tensor = narrow(in.tensor_parallel);
  p.pipeline = narrow(in.pipeline_parallel);
  p.virtual_pipeline = narrow(in.virtual_pipeline);
  p.context = narrow(in.context_parallel);
  p.expert = narrow(in.expert_parallel);
  p.micro_batch = narrow(in.micro_batch);
  const std::int64_t of_replica = in.tensor_parallel * in.pipeline_parallel * in.context_parallel;
  p.data = narrow(std::max<std::int64_t>(1, in.gpus / std::max<std::int64_t>(1, of_replica)));
  p.zero_stage = static_cast<std::uint8_t>(in.zero_stage);
  p.recompute = static_cast<std::uint8_t>(in.recompute);
  p.sequence_parallel = in.sequence_parallel && in.tensor_parallel > 1;
  const models::LanguageModel* model = catalog().model(in.model);
  const std::int64_t chunks = in.pipeline_parallel * in.virtual_pipeline;
  if (model != nullptr && in.virtual_pipeline > 1 && model->architecture.layers % chunks != 0)
    p.ends_take_slots = (model->architecture.layers + 2) % chunks == 0;
  return p;
}

void choose(Inputs& in, const PlanPoint& p) {
  in.tensor_parallel = p.tensor;
  in.pipeline_parallel = p.pipeline;
  in.virtual_pipeline = p.virtual_pipeline;
  in.context_parallel = p.context;
  in.expert_parallel = p.expert;
  in.micro_batch = p.micro_batch;
  in.zero_stage = p.zero_stage;
  in.recompute = static_cast<models::Recompute>(p.recompute);
  in.sequence_parallel = p.sequence_parallel || p.tensor == 1;
}

std::shared_ptr<const PlannerSearch> searched(const Inputs& in, Progress* progress) {
  struct Entry {
    Inputs inputs;
    const Catalog* of = nullptr;
    bool operator==(const Entry&) const = default;
  };
  static Memo<Entry, PlannerSearch, 6> searches;
  return searches.get({search_key(in), &catalog()}, [&](const Entry& entry) -> std::shared_ptr<const PlannerSearch> {
    const auto job = job_of(entry.inputs);
    auto out = std::make_shared<PlannerSearch>();
    if (!job) {
      out->reason = job.error;
      return out;
    }
    PlannerSpace space;
    space.max_tensor = in.max_tensor;
    space.max_pipeline = in.max_pipeline;
    if (!in.context_plans) space.max_context = 1;
    if (!in.recompute_plans) space.recompute[1] = space.recompute[2] = false;
    for (std::int64_t zero = in.max_zero + 1; zero < 4; ++zero) space.zero[zero] = false;
    *out = search_plans(*job, space, [&](double done) {
      if (progress == nullptr) return true;
      progress->fraction = done;
      return !progress->cancelled.load();
    });
    return out->stopped ? nullptr : out;
  });
}

namespace {

/// The plan that is set, where it can run; else the sentence that says why not, and no figures.
void price_yours(const Inputs& in, const PlannerJob& job, const PlannerSearch& search, Outputs& out) {
  const auto yours = price_plan(job, plan_of(job, point_of(in)));
  if (!yours) {
    out.plan_problem = yours.error;
    out.yours.step_s = out.yours.memory_bytes = Outputs::none;
    out.yours.parts.seconds.fill(Outputs::none);
    out.held.bytes.fill(Outputs::none);
    return;
  }
  out.yours = *yours;
  out.fits = yours->fits;
  out.mfu = 100 * planner_mfu(job, yours->step_s);
  out.tokens_per_s = models::as_double(in.global_batch) * models::as_double(in.sequence) / yours->step_s;
  const auto held = models::memory::training_memory(
      job.architecture, yours->plan, {.slack_share = job.stack.slack_share, .fixed_bytes = job.stack.reserve_bytes});
  if (held) out.held = held->held;
  // Plans of the same price share a rank.
  const auto end = search.points.begin() + static_cast<std::ptrdiff_t>(search.fitting);
  const auto ahead = std::partition_point(search.points.begin(), end,
                                          [&](const PlanPoint& p) { return p.step_s < yours->step_s * (1 - 1e-12); });
  out.plan_rank = 1 + static_cast<double>(ahead - search.points.begin());
}

}  // namespace

Outputs compute(const Inputs& in, Progress& progress) {
  const auto job = job_of(in);
  if (!job) return {.reason = job.error};
  Outputs out;
  const auto search = searched(in, &progress);
  if (!search) {
    out.reason = "The search was stopped; change an input to start it again.";
    return out;
  }
  price_yours(in, *job, *search, out);
  out.plans_total = static_cast<std::int64_t>(search->points.size());
  out.plans_fit = static_cast<std::int64_t>(search->fitting);
  if (search->fitting > 0) {
    const PlanPoint& best = search->points.front();
    out.best_step_time_s = best.step_s;
    out.best_memory_bytes = best.memory_bytes;
    out.best_mfu = 100 * planner_mfu(*job, best.step_s);
    out.best_plan = plan_name(best) + ", " + plan_detail(*job, best);
    out.behind_best = 100 * (out.yours.step_s / best.step_s - 1);
    out.near_best = 0;
    for (std::size_t i = 0; i < search->fitting && search->points[i].step_s <= 1.05 * best.step_s; ++i)
      out.near_best += 1;
  }
  if (search->fitting > 1) {
    const PlanPoint& second = search->points[1];
    out.runner_up = plan_name(second) + ", " + plan_detail(*job, second);
    out.runner_up_lost_s = second.step_s - search->points.front().step_s;
  }
  if (!search->beyond.empty()) {
    const PlanPoint& fastest = search->points[search->fitting];
    out.beyond_step_s = fastest.step_s;
    out.beyond_memory_bytes = fastest.memory_bytes;
  }
  for (std::size_t i = 0; i < std::min(listed, search->fitting); ++i) {
    const PlanPoint& p = search->points[i];
    out.plans.push_back({.plan = plan_name(p),
                         .details = plan_detail(*job, p),
                         .step_s = p.step_s,
                         .memory_bytes = p.memory_bytes,
                         .mfu = 100 * planner_mfu(*job, p.step_s),
                         .later = 100 * (p.step_s / search->points.front().step_s - 1)});
  }
  return out;
}

}  // namespace chapters::distributed::planner
