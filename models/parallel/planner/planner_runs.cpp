#include "models/parallel/planner/planner_runs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "models/base/integer_math.h"

namespace models::parallel {
namespace {

using nlohmann::json;

Architecture shape_of(const json& s) {
  Architecture a;
  const auto integer = [&](const char* key, std::int64_t or_else) { return s.value(key, or_else); };
  a.hidden = s.at("d_model");
  a.layers = s.at("layers");
  a.heads = s.at("heads");
  a.kv_heads = integer("kv_heads", a.heads);
  a.head_dim = integer("head_dim", a.hidden / a.heads);
  a.ffn = integer("ffn", 0);
  a.vocab = s.at("vocab");
  a.gated = s.value("gated", true);
  a.tied = s.value("tied", false);
  if (!a.gated) a.activation = Activation::gelu;
  if (!a.gated) a.norm = NormKind::layer;
  if (s.value("learned", false)) {
    a.learned_positions = 2048;
    a.rotary = false;
  }
  a.mtp_layers = integer("mtp", 0);
  if (s.contains("experts")) {
    a.moe.routed = s.at("experts");
    a.moe.per_token = s.at("topk");
    a.moe.ffn = s.at("moe_ffn");
    a.moe.shared = integer("shared_experts", 0);
    a.moe.groups = integer("groups", 0);
    a.moe.groups_per_token = integer("groups_per_token", 0);
    const std::int64_t dense = integer("dense_layers", 0), window_every = integer("window_every", 0);
    a.sliding_window = integer("window", 0);
    for (std::int64_t i = 0; i < a.layers; ++i)
      a.layer_forms.push_back({.experts = i >= dense, .sliding = window_every > 0 && i % window_every == 0});
  }
  if (s.contains("mla")) {
    const json& m = s.at("mla");
    a.latent = {.q_lora_rank = m.at("q_lora"),
                .kv_lora_rank = m.at("kv_lora"),
                .nope_dim = m.at("nope"),
                .rope_dim = m.at("rope"),
                .v_dim = m.at("v")};
    a.kv_heads = a.heads;
    a.head_dim = a.latent.nope_dim + a.latent.rope_dim;
  }
  return a;
}

/// The place of each column in a row.
using RunColumns = std::map<std::string, std::size_t>;

PlannerRun run_of(const json& row, const RunColumns& column) {
  const auto at = [&](const char* name) -> const json& { return row.at(column.at(name)); };
  PlannerRun r;
  r.id = at("id");
  r.group = at("group");
  r.stack = at("stack");
  r.chip = at("chip");
  r.set = at("set");
  r.grade = at("grade");
  r.shape = at("shape");
  const std::string format = at("format"), recompute = at("recompute");
  r.format = format == "fp8" ? Format::fp8 : format == "fp4" ? Format::fp4 : Format::bf16;
  r.any_recompute = recompute == "?";
  r.plan.recompute = recompute == "full"                       ? Recompute::full
                     : recompute == "none" || recompute == "?" ? Recompute::none
                                                               : Recompute::selective;
  r.gpus = at("gpus");
  r.global_batch = at("batch");
  r.plan.batch = at("micro");
  r.plan.sequence = at("seq");
  r.plan.tensor = at("tp");
  r.plan.pipeline = at("pp");
  r.plan.virtual_pipeline = at("vp");
  r.plan.data = at("dp");
  r.plan.context = at("cp");
  r.plan.expert = at("ep");
  r.plan.zero_stage = at("zero");
  r.sequence_parallel = at("sp");
  r.accumulates = at("accum32").get<int>() != 0;
  r.drops_tokens = at("drops").get<int>() != 0;
  r.adapters = r.group == "adapters";
  r.shard_group = at("zgroup");
  r.network_bytes_per_s = at("net");
  r.step_s = at("step");
  r.memory_bytes = at("memory");
  r.fits = at("fits");
  return r;
}

/// Adapters judge, and runs whose ids are `judging`; of the others, in the order of their ids, every second one does.
void choose_judges(PlannerRuns& all, const std::set<std::string>& judging) {
  std::vector<PlannerRun*> by_id;
  for (PlannerRun& r : all.runs) {
    r.judges = r.adapters || judging.contains(r.id);
    if (!r.judges) by_id.push_back(&r);
  }
  std::sort(by_id.begin(), by_id.end(), [](const PlannerRun* x, const PlannerRun* y) { return x->id < y->id; });
  for (std::size_t i = 1; i < by_id.size(); i += 2) by_id[i]->judges = true;
}

}  // namespace

Result<PlannerRuns> parse_planner_runs(std::string_view text, std::string_view origin) {
  using Outcome = Result<PlannerRuns>;
  try {
    const json all = json::parse(text);
    PlannerRuns out;
    for (const json& s : all.at("shapes")) out.shapes.push_back(shape_of(s));
    RunColumns column;
    for (const json& name : all.at("columns")) column.emplace(name.get<std::string>(), column.size());
    for (const json& row : all.at("rows")) {
      PlannerRun r = run_of(row, column);
      if (r.shape >= out.shapes.size())
        return Outcome::fail(std::string(origin) + ": a run names a shape that is not there.");
      // Layers that no equal chunks can hold were dealt with embedding and loss as a layer each.
      r.plan.ends_take_slots =
          r.plan.virtual_pipeline > 1 && out.shapes[r.shape].layers % (r.plan.pipeline * r.plan.virtual_pipeline) != 0;
      out.runs.push_back(std::move(r));
    }
    std::set<std::string> judging;  // runs that came when the constants were set
    for (const json& late : all.at("judging")) judging.insert(late.at("id").get<std::string>());
    choose_judges(out, judging);
    for (const json& some : all.at("left_out")) out.left_out.push_back({some.at("runs"), some.at("reason")});
    return Outcome::ok(std::move(out));
  } catch (const std::exception& e) {
    return Outcome::fail(std::string(origin) + " is no list of training runs: " + std::string(e.what()).substr(0, 80) +
                         ".");
  }
}

Result<PlannerJob> planner_job_of(const PlannerRuns& all, const PlannerRun& r, std::span<const Chip> chips) {
  using Outcome = Result<PlannerJob>;
  // What the driver reports of a chip's memory, and parts that the catalog does not have: torchtitan's H100 has HBM2e
  // and 500 of 700 W.
  struct Variant {
    const char* id;
    const char* chip;
    double memory_bytes, bandwidth, rate;
  };
  constexpr double mebi = 1048576;
  constexpr Variant variants[] = {
      {"h100_96", "h100_sxm", 97'280 * mebi, 2.4e12, 0.82}, {"v100_32", "v100_sxm2", 32'768 * mebi, 0, 1},
      {"v100_16", "v100_sxm2", 16'384 * mebi, 0, 1},        {"a100_80_sxm", "a100_80_sxm", 81'920 * mebi, 0, 1},
      {"a100_40_sxm", "a100_40_sxm", 40'960 * mebi, 0, 1},  {"h100_sxm", "h100_sxm", 81'559 * mebi, 0, 1},
  };
  std::string id = r.chip;
  const Variant* variant = nullptr;
  for (const Variant& v : variants)
    if (id == v.id) {
      variant = &v;
      id = v.chip;
      break;
    }
  const auto chip = std::find_if(chips.begin(), chips.end(), [&](const Chip& c) { return c.id == id; });
  if (chip == chips.end()) return Outcome::fail("The catalog has no chip " + id + ".");
  auto cluster = planner_cluster(*chip, {.gpus = r.gpus, .network_bytes_per_s = r.network_bytes_per_s}, r.format);
  if (!cluster) return Outcome::fail(cluster.error);
  PlannerJob job;
  job.architecture = all.shapes[r.shape];
  job.cluster = *cluster;
  if (variant != nullptr) {
    job.cluster.memory_bytes = variant->memory_bytes;
    if (variant->bandwidth > 0) job.cluster.memory_bandwidth_bytes_per_s = variant->bandwidth;
  }
  if (variant != nullptr) {
    job.cluster.peak_flops_per_s *= variant->rate;
    job.cluster.fast_peak_flops_per_s *= variant->rate;
  }
  for (std::size_t i = 0; i < stack_count; ++i)
    if (stack_name(static_cast<StackId>(i)) == r.stack) job.stack = planner_stack(static_cast<StackId>(i));
  if (r.stack == "megatron_deepspeed" && id == "v100_sxm2") job.cluster.gpus_per_node = 4;
  // With a fixed number of tokens for every expert the host need not be told by the GPU how many there are.
  if (r.drops_tokens) job.stack.expert_layer_host_s = 0;
  // Sources leave rank and matrices unsaid: those of MLPerf's reference are taken.
  if (r.adapters) job.adapters = {.rank = 16, .targets = memory::AdapterTargets::attention};
  if (r.accumulates) job.stack.recipe = memory::StateRecipe::accumulate;
  job.format = r.format;
  job.global_batch = r.global_batch;
  job.sequence = r.plan.sequence;
  return Outcome::ok(std::move(job));
}

memory::TrainingPlan plan_of(const PlannerJob& job, const PlannerRun& run) {
  memory::TrainingPlan p = planned(job, run.plan);
  const bool splits = run.sequence_parallel < 0 ? job.stack.sequence_parallel : run.sequence_parallel > 0;
  p.sequence_parallel = splits && p.tensor > 1;
  p.shard_group = run.shard_group;
  return p;
}

std::vector<PricedRun> price_runs(const PlannerRuns& all, std::span<const Chip> chips) {
  std::vector<PricedRun> out;
  PlannerSchedules schedules;
  for (std::size_t i = 0; i < all.runs.size(); ++i) {
    const PlannerRun& r = all.runs[i];
    PricedRun priced;
    priced.run = i;
    const auto job = planner_job_of(all, r, chips);
    if (!job) {
      priced.reason = job.error;
      out.push_back(std::move(priced));
      continue;
    }
    double best = -1;
    const memory::TrainingPlan plan = plan_of(*job, r);
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      if (!r.any_recompute && recompute != r.plan.recompute) continue;
      memory::TrainingPlan p = plan;
      p.recompute = recompute;
      if (r.any_recompute) p.modules = small_modules(job->architecture);
      std::string problem = memory::plan_problem(job->architecture, p);
      if (!problem.empty()) {
        priced.reason = problem;
        continue;
      }
      const PricedPlan price =
          price_plan(*job, p, micro_batch_times(*job, p), memory::micro_batch_memory(job->architecture, p),
                     planner_stages(job->architecture, p), schedules);
      const double error = r.step_s > 0 ? price.step_s / r.step_s - 1 : 0;
      if (best < 0 || std::abs(std::log1p(error)) < best) {
        best = std::abs(std::log1p(error));
        priced.price = price;
        priced.error = error;
        priced.reason.clear();
      }
    }
    out.push_back(std::move(priced));
  }
  return out;
}

}  // namespace models::parallel
