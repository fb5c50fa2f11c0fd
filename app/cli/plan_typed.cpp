#include "app/cli/plan_typed.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "chapters/described/adapter_inputs.h"
#include "chapters/described/planned_step.h"
#include "chapters/described/training_memory.h"

namespace app::cli {
namespace {

using namespace models::parallel;

struct Module {
  std::string_view name;
  models::memory::RecomputeModule module;
};
constexpr std::array<Module, models::memory::recompute_module_count> modules{
    {{"attention", models::memory::RecomputeModule::core_attention},
     {"norms", models::memory::RecomputeModule::norms},
     {"activation", models::memory::RecomputeModule::activation},
     {"mla", models::memory::RecomputeModule::latent_up},
     {"mlp", models::memory::RecomputeModule::feed_forward},
     {"experts", models::memory::RecomputeModule::experts}}};

/// Why this job has nothing of a module to give up; nothing where it has.
std::string nothing_of(const PlannerJob& job, models::memory::RecomputeModule module) {
  using models::memory::RecomputeModule;
  if (module == RecomputeModule::core_attention && job.stack.fused_attention)
    return "fused attention keeps no scores to give up.";
  if (module == RecomputeModule::latent_up && !job.architecture.has_latent()) return "this model keeps no latents.";
  if (module == RecomputeModule::experts && job.architecture.moe.routed == 0) return "this model has no experts.";
  return {};
}

/// Reads "norms+experts" into the plan's modules; one sentence where a word is none or gives nothing up.
std::string take_modules(const PlannerJob& job, std::string_view value, PlanPoint& p) {
  const std::string said = "--plan has recompute=" + std::string(value.substr(0, 60)) + "; ";
  std::uint8_t taken = 0;
  for (std::string_view left = value; !left.empty();) {
    const std::string_view word = left.substr(0, left.find('+'));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    const auto known = std::find_if(modules.begin(), modules.end(), [&](const Module& m) { return m.name == word; });
    if (known == modules.end())
      return said +
             "none, selective, block, full, or some of attention, norms, activation, mla, mlp and experts with + "
             "between them are expected.";
    if (const std::string why = nothing_of(job, known->module); !why.empty()) return said + why;
    taken |= bit(known->module);
  }
  if (job.stack.selective_by_operation)
    return said + "this software recomputes every second matmul, which is recompute=selective.";
  p.recompute = 1;
  p.modules = taken;
  return {};
}

std::string take_recompute(const PlannerJob& job, std::string_view value, PlanPoint& p) {
  const models::Architecture& a = job.architecture;
  if (value == "none" || value == "full") {
    p.recompute = value == "none" ? 0 : 2;
    return {};
  }
  if (value != "selective" && value != "block") return take_modules(job, value, p);
  p.recompute = 1;
  p.modules = job.stack.fused_attention ? small_modules(a) : bit(models::memory::RecomputeModule::core_attention);
  if (value == "block")
    p.modules |= bit(a.moe.routed > 0 ? models::memory::RecomputeModule::experts
                                      : models::memory::RecomputeModule::feed_forward);
  return {};
}

struct Axis {
  std::string_view name;
  std::int32_t PlanPoint::*to;
};
constexpr std::array<Axis, 8> axes{{{"tp", &PlanPoint::tensor},
                                    {"etp", &PlanPoint::expert_tensor},
                                    {"pp", &PlanPoint::pipeline},
                                    {"vp", &PlanPoint::virtual_pipeline},
                                    {"cp", &PlanPoint::context},
                                    {"ep", &PlanPoint::expert},
                                    {"mbs", &PlanPoint::micro_batch},
                                    {"group", &PlanPoint::shard_group}}};

/// The plan so far, and what follows from its axes unless it is told.
struct Typed {
  PlanPoint point;
  std::optional<bool> sequence_parallel, slots;
};

/// One sentence where the word is no axis with a value; nothing otherwise.
std::string take(const PlannerJob& job, std::string_view name, std::string_view value, Typed& t) {
  const auto bad = [&](std::string_view expected) {
    return "--plan has " + std::string(name) + "=" + std::string(value.substr(0, 40)) + "; " + std::string(expected) +
           " is expected.";
  };
  if (name == "recompute") return take_recompute(job, value, t.point);
  if (name == "order") {
    const chapters::Choices& orders = chapters::pass_order_choices();
    const auto found = std::find_if(orders.begin(), orders.end(), [&](const auto& o) { return o.id == value; });
    if (found == orders.end()) return bad(ids_of(orders));
    t.point.schedule = chapters::schedule_of(static_cast<chapters::PassOrder>(found - orders.begin()));
    return {};
  }
  if (name == "offload") {
    if (value != "none" && value != "optimizer" && value != "activations" && value != "both")
      return bad("none, optimizer, activations or both");
    t.point.offload = value == "optimizer" || value == "both";
    t.point.host_activations = value == "activations" || value == "both";
    return {};
  }
  if (name == "sp" || name == "slots") {
    if (value != "on" && value != "off") return bad("on or off");
    (name == "sp" ? t.sequence_parallel : t.slots) = value == "on";
    return {};
  }
  std::int32_t number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == value.data() + value.size();
  if (name == "zero") {
    if (!whole || number < 0 || number > 3) return bad("0, 1, 2 or 3");
    t.point.zero_stage = static_cast<std::uint8_t>(number);
    return {};
  }
  const auto axis = std::find_if(axes.begin(), axes.end(), [&](const Axis& x) { return x.name == name; });
  if (axis == axes.end())
    return "--plan knows no \"" + std::string(name.substr(0, 40)) +
           "\"; tp, pp, vp, cp, ep, zero, group, mbs, recompute, order, sp, slots, etp and offload are its words.";
  if (!whole || number < (name == "group" ? 0 : 1) || number > 1'000'000) return bad("a whole number up to 1,000,000");
  t.point.*axis->to = number;
  return {};
}

}  // namespace

std::string ids_of(std::span<const chapters::Choice> choices) {
  std::string out;
  for (std::size_t i = 0; i < choices.size(); ++i)
    out += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i].id;
  return out;
}

std::string take_adapters(const std::string& text, PlannerJob& job) {
  std::int64_t rank = 0;
  auto targets = models::memory::AdapterTargets::attention;
  auto frozen = chapters::FrozenIn::bf16;
  for (std::string_view left = text; !left.empty();) {
    const std::string_view word = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    const std::string_view name = word.substr(0, word.find('=')),
                           value = word.substr(std::min(word.size(), name.size() + 1));
    const auto place = [&](const chapters::Choices& all) {
      return std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.id == value; }) - all.begin();
    };
    const auto bad = [&](const std::string& expected) {
      return "--lora has \"" + std::string(word.substr(0, 60)) + "\"; " + expected + " is expected.";
    };
    if (name == "rank") {
      const auto read = std::from_chars(value.data(), value.data() + value.size(), rank);
      if (read.ec != std::errc() || read.ptr != value.data() + value.size() || rank < 1 || rank > 1024)
        return bad("rank= and a whole number from 1 to 1,024");
    } else if (name == "on") {
      const auto at = place(chapters::adapter_target_choices());
      if (at == std::ssize(chapters::adapter_target_choices()))
        return bad("on=" + ids_of(chapters::adapter_target_choices()));
      targets = static_cast<models::memory::AdapterTargets>(at);
    } else if (name == "base") {
      const auto at = place(chapters::frozen_in_choices());
      if (at == std::ssize(chapters::frozen_in_choices())) return bad("base=" + ids_of(chapters::frozen_in_choices()));
      frozen = static_cast<chapters::FrozenIn>(at);
    } else {
      return bad("rank=16, with on= and base= where they are told,");
    }
  }
  if (rank == 0) return "--lora needs rank=, such as rank=16,on=attention.";
  job.adapters = chapters::planner_adapters(rank, targets, frozen);
  return adapters_problem(job);
}

models::Result<PlanPoint> typed_plan(const PlannerJob& job, const std::string& text) {
  using Out = models::Result<PlanPoint>;
  Typed typed;
  PlanPoint& p = typed.point;
  p.zero_stage = 1;
  std::set<std::string_view> named;
  std::string_view left = text;
  while (!left.empty()) {
    const std::string_view word = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    const std::size_t is = word.find('=');
    if (is == std::string_view::npos)
      return Out::fail("--plan has \"" + std::string(word.substr(0, 40)) + "\"; axes are written tp=8,pp=4.");
    const std::string_view name = word.substr(0, is);
    if (!named.insert(name).second) return Out::fail("--plan names " + std::string(name.substr(0, 40)) + " twice.");
    if (std::string problem = take(job, name, word.substr(is + 1), typed); !problem.empty())
      return Out::fail(std::move(problem));
  }
  const std::int64_t replica = std::int64_t{p.tensor} * p.pipeline * p.context;
  p.data = static_cast<std::int32_t>(std::max<std::int64_t>(1, job.cluster.gpus / replica));
  p.sequence_parallel = p.tensor > 1 && typed.sequence_parallel.value_or(job.stack.sequence_parallel);
  p.second_products = job.stack.selective_by_operation;
  if (std::int64_t{p.data} * p.context == 1 && !p.offload) p.zero_stage = 0;
  const std::int64_t chunks = std::int64_t{p.pipeline} * p.virtual_pipeline, layers = job.architecture.layers;
  const bool even = p.virtual_pipeline == 1 || layers % chunks == 0;
  p.ends_take_slots =
      !even && typed.slots.value_or((layers + models::memory::slots_of_ends(job.architecture)) % chunks == 0);
  const auto price = price_plan(job, plan_of(job, p));
  if (!price) return Out::fail("--plan: " + price.error);
  p.step_s = price->step_s;
  p.memory_bytes = price->memory_bytes;
  p.fits = price->fits;
  return Out::ok(p);
}

}  // namespace app::cli
