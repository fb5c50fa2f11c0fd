#include "app/cli/plan_typed.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>

namespace app::cli {
namespace {

using namespace models::parallel;

constexpr std::array<std::pair<std::string_view, models::PipelineSchedule>, 7> orders{{
    {"1f1b", models::PipelineSchedule::one_f_one_b},
    {"gpipe", models::PipelineSchedule::gpipe},
    {"zb_h1", models::PipelineSchedule::zb_h1},
    {"zb_h2", models::PipelineSchedule::zb_h2},
    {"zb_v", models::PipelineSchedule::zb_v},
    {"dualpipe", models::PipelineSchedule::dualpipe},
    {"dualpipe_v", models::PipelineSchedule::dualpipe_v},
}};

struct Axis {
  std::string_view name;
  std::int32_t PlanPoint::*to;
};
constexpr std::array<Axis, 7> axes{{{"tp", &PlanPoint::tensor},
                                    {"pp", &PlanPoint::pipeline},
                                    {"vp", &PlanPoint::virtual_pipeline},
                                    {"cp", &PlanPoint::context},
                                    {"ep", &PlanPoint::expert},
                                    {"mbs", &PlanPoint::micro_batch},
                                    {"group", &PlanPoint::shard_group}}};

/// One sentence where the word is no axis with a value; nothing otherwise.
std::string take(const PlannerJob& job, std::string_view name, std::string_view value, PlanPoint& p) {
  const auto bad = [&](std::string_view expected) {
    return "--plan has " + std::string(name) + "=" + std::string(value.substr(0, 40)) + "; " + std::string(expected) +
           " is expected.";
  };
  if (name == "recompute") {
    const models::Architecture& a = job.architecture;
    const auto block = bit(a.moe.routed > 0 ? models::memory::RecomputeModule::experts
                                            : models::memory::RecomputeModule::feed_forward);
    p.recompute = value == "none" ? 0 : value == "full" ? 2 : 1;
    if (value == "selective" || value == "block")
      p.modules = job.stack.fused_attention ? small_modules(a) : bit(models::memory::RecomputeModule::core_attention);
    else if (value != "none" && value != "full")
      return bad("none, selective, block or full");
    if (value == "block") p.modules = static_cast<std::uint8_t>(p.modules | block);
    return {};
  }
  if (name == "order") {
    const auto found = std::find_if(orders.begin(), orders.end(), [&](const auto& o) { return o.first == value; });
    if (found == orders.end()) return bad("1f1b, gpipe, zb_h1, zb_h2, zb_v, dualpipe or dualpipe_v");
    p.schedule = found->second;
    return {};
  }
  std::int32_t number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == value.data() + value.size();
  if (name == "zero") {
    if (!whole || number < 0 || number > 3) return bad("0, 1, 2 or 3");
    p.zero_stage = static_cast<std::uint8_t>(number);
    return {};
  }
  const auto axis = std::find_if(axes.begin(), axes.end(), [&](const Axis& x) { return x.name == name; });
  if (axis == axes.end())
    return "--plan knows no \"" + std::string(name.substr(0, 40)) +
           "\"; tp, pp, vp, cp, ep, zero, group, mbs, recompute and order are its words.";
  if (!whole || number < (name == "group" ? 0 : 1) || number > 1'000'000) return bad("a whole number up to 1,000,000");
  p.*axis->to = number;
  return {};
}

}  // namespace

models::Result<PlanPoint> typed_plan(const PlannerJob& job, const std::string& text) {
  using Out = models::Result<PlanPoint>;
  PlanPoint p;
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
    if (std::string problem = take(job, name, word.substr(is + 1), p); !problem.empty())
      return Out::fail(std::move(problem));
  }
  const std::int64_t replica = std::int64_t{p.tensor} * p.pipeline * p.context;
  p.data = static_cast<std::int32_t>(std::max<std::int64_t>(1, job.cluster.gpus / replica));
  p.sequence_parallel = p.tensor > 1 && job.stack.sequence_parallel;
  p.second_products = job.stack.selective_by_operation;
  if (p.data * p.context == 1) p.zero_stage = 0;
  const std::int64_t chunks = std::int64_t{p.pipeline} * p.virtual_pipeline, layers = job.architecture.layers;
  p.ends_take_slots = p.virtual_pipeline > 1 && layers % chunks != 0 &&
                      (layers + models::memory::slots_of_ends(job.architecture)) % chunks == 0;
  const auto price = price_plan(job, plan_of(job, p));
  if (!price) return Out::fail("--plan: " + price.error);
  p.step_s = price->step_s;
  p.memory_bytes = price->memory_bytes;
  p.fits = price->fits;
  return Out::ok(p);
}

}  // namespace app::cli
