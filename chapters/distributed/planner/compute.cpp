#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/distributed/planner/lab.h"
#include "chapters/mechanism/published_panel.h"
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
  in.shard_group = plain.shard_group;
  in.expert_tensor = plain.expert_tensor;
  in.offload = plain.offload;
  in.host_activations = plain.host_activations;
  in.given_up = plain.given_up;
  in.order = plain.order;
  in.sequence_parallel = plain.sequence_parallel;
  in.ends_take_slots = plain.ends_take_slots;
  return in;
}

}  // namespace

models::Result<PlannerJob> job_of(const Inputs& in) {
  // InfiniBand's switches alone add.
  const models::Network* network = catalog().network(in.network);
  const bool adds = in.in_network && network != nullptr && network->kind == "infiniband";
  auto job = planner_job(in, {.gpus_per_node = in.gpus_per_node,
                              .network_bytes_per_s = in.port_bytes_per_s,
                              .network_latency_s = in.hop_s,
                              .in_switch = in.in_switch,
                              .in_network = adds});
  if (!job) return job;
  job->cluster.memory_bytes = std::max(0.0, job->cluster.memory_bytes - in.keep_free_bytes);
  set_widths(in.gradients, in.moments, job->stack);
  set_segments(in.segments, job->stack);
  job->context_method = context_method_of(in.context_by);
  job->adapters = planner_adapters(in.adapter_rank, in.adapter_targets, in.frozen);
  return job;
}

PlanPoint point_of(const Inputs& in) {
  PlanPoint p = plan_point(in);
  p.shard_group = in.zero_stage > 0 ? static_cast<std::int32_t>(in.shard_group) : 0;
  p.expert_tensor = static_cast<std::int32_t>(in.expert_tensor);
  p.offload = in.offload;
  p.host_activations = in.host_activations;
  p.schedule = in.pipeline_parallel > 1 ? schedule_of(in.order) : PipelineSchedule::one_f_one_b;
  p.ends_take_slots = p.ends_take_slots && in.ends_take_slots;
  if (const models::LanguageModel* model = catalog().model(in.model); model != nullptr)
    p.modules = modules_given_up(model->architecture, in.given_up);
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
  in.shard_group = p.shard_group;
  in.expert_tensor = p.expert_tensor;
  in.offload = p.offload;
  in.host_activations = p.host_activations;
  in.recompute = static_cast<models::Recompute>(p.recompute);
  in.given_up = given_up_of(p.modules, false);
  in.order = order_of(p.schedule);
  in.sequence_parallel = p.sequence_parallel || p.tensor == 1;
  // Where layers are dealt evenly the ends take no place, whatever the input says.
  const models::LanguageModel* model = catalog().model(in.model);
  const std::int64_t chunks = in.pipeline_parallel * in.virtual_pipeline;
  const bool even = model == nullptr || p.virtual_pipeline == 1 || model->architecture.layers % chunks == 0;
  in.ends_take_slots = p.ends_take_slots || even;
}

std::shared_ptr<const PlannerSearch> searched(const Inputs& in, Progress& progress, Searches& searches) {
  return searches.found.get({search_key(in), &catalog()},
                            [&](const SearchKey& entry) -> std::shared_ptr<const PlannerSearch> {
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
                              const std::unique_lock lent(searches.lent, std::try_to_lock);
                              *out = search_plans(
                                  *job, space,
                                  [&](double done) {
                                    progress.fraction = done;
                                    return !progress.cancelled.load();
                                  },
                                  lent.owns_lock() ? &searches.orders : nullptr);
                              return out->stopped ? nullptr : out;
                            });
}

namespace {

/// The plan that is set, where it can run; else the sentence that says why not, and no figures.
void price_yours(const Inputs& in, const PlannerJob& job, const PlannerSearch& search, Outputs& out, PlanCard& card) {
  card = price_card(job, point_of(in));
  if (card.name.empty()) {
    out.plan_problem = price_plan(job, plan_of(job, point_of(in))).error;
    out.yours.step_s = out.yours.memory_bytes = Outputs::none;
    out.yours.parts.seconds.fill(Outputs::none);
    out.held.bytes.fill(Outputs::none);
    return;
  }
  out.yours = card.price;
  out.held = card.held;
  out.fits = out.yours.fits;
  out.mfu = 100 * planner_mfu(job, out.yours.step_s);
  out.tokens_per_s = models::as_double(in.global_batch) * models::as_double(in.sequence) / out.yours.step_s;
  // Plans of the same price share a rank.
  const auto end = search.points.begin() + static_cast<std::ptrdiff_t>(search.fitting);
  const auto ahead = std::partition_point(
      search.points.begin(), end, [&](const PlanPoint& p) { return p.step_s < out.yours.step_s * (1 - 1e-12); });
  out.plan_rank = 1 + static_cast<double>(ahead - search.points.begin());
}

/// The plan's axes, and where another has the same what it does otherwise.
std::string distinct_name(const PlanPoint& plan, const PlanPoint& other) {
  std::string name = plan_name(plan);
  if (name != plan_name(other)) return name;
  const std::string more = plan_difference(plan, other);
  return more.empty() ? name : name + ", " + more;
}

void judge_best(const PlannerJob& job, const PlannerSearch& search, Outputs& out) {
  if (search.fitting == 0) return;
  const PlanPoint& best = search.points.front();
  out.best_step_time_s = best.step_s;
  out.best_memory_bytes = best.memory_bytes;
  out.best_mfu = 100 * planner_mfu(job, best.step_s);
  out.best_plan = plan_name(best) + ", " + plan_detail(job, best);
  out.behind_best = 100 * (out.yours.step_s / best.step_s - 1);
  out.near_best = 0;
  for (std::size_t i = 0; i < search.fitting && search.points[i].step_s <= 1.05 * best.step_s; ++i) out.near_best += 1;
  for (std::size_t i = 0; i < std::min(listed, search.fitting); ++i) {
    const PlanPoint& p = search.points[i];
    out.plans.push_back({.plan = distinct_name(p, i == 0 ? search.points[search.fitting > 1 ? 1 : 0] : best),
                         .details = plan_detail(job, p),
                         .step_s = p.step_s,
                         .memory_bytes = p.memory_bytes,
                         .mfu = 100 * planner_mfu(job, p.step_s),
                         .later = 100 * (p.step_s / best.step_s - 1)});
  }
}

/// The second fastest that fits, and what it needs more of each cause.
void judge_second(const PlannerJob& job, const PlannerSearch& search, Outputs& out, Run& run) {
  if (search.fitting > 0) run.best = price_card(job, search.points[0]);
  if (search.fitting < 2) return;
  const PlanPoint& second = search.points[1];
  run.second = price_card(job, second);
  run.best.name = distinct_name(search.points[0], second);
  run.second.name = distinct_name(second, search.points[0]);
  out.runner_up = plan_name(second) + ", " + plan_detail(job, second);
  out.runner_up_lost_s = second.step_s - search.points.front().step_s;
  out.runner_up_later = 100 * out.runner_up_lost_s / search.points.front().step_s;
  run.lost = lost_time(run.best.price.parts, run.second.price.parts);
  for (const LostTime& l : run.lost) out.lost.push_back({std::string(step_cause_name(l.cause)), l.seconds});
}

/// Published plans of the same job: model, chips, batch, sequence, format and software.
void price_published(const Inputs& in, Run& run) {
  for (const Published& row : catalog().published_of("distributed/planner")) {
    Inputs theirs;
    Fields fields;
    describe(fields, theirs);
    set_published_inputs(fields, row);
    if (theirs.model != in.model || theirs.chip != in.chip || theirs.gpus != in.gpus ||
        theirs.global_batch != in.global_batch || theirs.sequence != in.sequence || theirs.format != in.format ||
        theirs.software != in.software)
      continue;
    const auto price = price_plan(run.job, plan_of(run.job, point_of(theirs)));
    if (price) run.published.push_back({row.label.empty() ? row.name : row.label, price->memory_bytes, price->step_s});
  }
}

/// Single changes that lead from your plan to the fastest that fits.
void add_way(const PlannerJob& job, const PlannerSearch& search, Run& run) {
  if (run.yours.name.empty() || search.fitting == 0) return;
  const std::vector<PlanStep> path = plan_path(job, run.yours.point, search.points.front());
  if (path.empty()) return;
  run.way.push_back({run.yours, {}, 0});
  for (const PlanStep& step : path) run.way.push_back({price_card(job, step.plan), step.brief, step.gain_s});
}

}  // namespace

Computed compute(const Inputs& in, Progress& progress, Searches& searches) {
  const auto job = job_of(in);
  if (!job) return infeasible<Computed>(job.error);
  Run run{.job = *job, .search = searched(in, progress, searches)};
  if (!run.search) return infeasible<Computed>("The search was stopped; change an input to start it again.");
  const PlannerSearch& search = *run.search;
  if (search.points.empty())
    return infeasible<Computed>(
        search.reason.empty()
            ? "None of the plans that are allowed goes with the model; allow more, or change the GPUs."
            : search.reason);
  Computed done;
  Outputs& out = done.facts;
  price_yours(in, *job, search, out, run.yours);
  out.plans_total = static_cast<std::int64_t>(search.points.size());
  out.plans_fit = static_cast<std::int64_t>(search.fitting);
  out.wall_bytes = job->cluster.memory_bytes;
  out.chip_compared = job->cluster.compared;
  const PlanPoint& leanest =
      *std::min_element(search.points.begin(), search.points.end(),
                        [](const PlanPoint& a, const PlanPoint& b) { return a.memory_bytes < b.memory_bytes; });
  out.least_memory_bytes = leanest.memory_bytes;
  if (search.fitting == 0) run.leanest = price_card(*job, leanest);
  judge_best(*job, search, out);
  judge_second(*job, search, out, run);
  if (!search.beyond.empty()) {
    const PlanPoint& fastest = search.points[search.fitting];
    out.beyond_step_s = fastest.step_s;
    out.beyond_memory_bytes = fastest.memory_bytes;
  }
  if (progress.facts_alone) return done;
  for (PlanCard* card : {&run.best, &run.second, &run.yours, &run.leanest})
    if (!card->name.empty()) add_staircase(*card);
  for (PlanCard* card : {&run.best, &run.yours, &run.leanest}) add_doors(in, *card);
  price_published(in, run);
  add_way(*job, search, run);
  done.run = std::make_shared<const Run>(std::move(run));
  return done;
}

}  // namespace chapters::distributed::planner
