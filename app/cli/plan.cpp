#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "app/cli/cli.h"
#include "app/cli/plan_typed.h"
#include "app/cli/table.h"
#include "app/platform/json.h"
#include "app/scenario/own_handed_on.h"
#include "chapters/described/planned_step.h"
#include "chapters/mechanism/catalog.h"
#include "models/parallel/planner/planner_search.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

using namespace models::parallel;
using widgets::format_text;

std::optional<std::int64_t> count_of(const std::string& text, std::int64_t lo, std::int64_t hi) {
  std::int64_t v = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), v);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || v < lo || v > hi) return {};
  return v;
}

/// What the options ask for, and what it is computed with.
struct AskedPlan {
  PlannerJob job;
  std::string model, chip, network;  ///< ids in the catalog; no network: that of the chip's generation
  double keep_free_bytes = 0;
};

/// The ids of what the options name, which are ids or paths of files.
models::Result<AskedPlan> asked_choices(const Arguments& a) {
  using Out = models::Result<AskedPlan>;
  AskedPlan out;
  struct Option {
    const char* name;
    OwnKind kind;
    std::string& to;
  };
  for (const Option& option : {Option{"--model", OwnKind::model, out.model}, Option{"--chip", OwnKind::chip, out.chip},
                               Option{"--network", OwnKind::network, out.network}}) {
    if (!a.has(option.name)) continue;
    auto chosen = choose_own(option.kind, a.value(option.name));
    if (!chosen) return Out::fail(std::string(option.name) + ": " + chosen.error);
    option.to = std::move(*chosen);
  }
  return Out::ok(std::move(out));
}

std::optional<double> number_of(const std::string& text, double lo, double hi) {
  double v = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), v);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !(v >= lo && v <= hi)) return {};
  return v;
}

/// How the GPUs are put together, and what of their memory stays free; one sentence where a value is none.
std::string asked_site(const Arguments& a, PlannerSite& site, double& keep_free) {
  struct Number {
    const char* option;
    double lo, hi;
    double& to;
    const char* expected;
  };
  double per_node = 0;
  for (const Number& n : {Number{"--port", 1e6, 1e13, site.network_bytes_per_s, "bytes a second from 1e6 to 1e13"},
                          Number{"--latency", 0, 1, site.network_latency_s, "seconds from 0 to 1"},
                          Number{"--keep-free", 0, 1e13, keep_free, "bytes from 0 to 1e13"},
                          Number{"--gpus-per-node", 1, 65'536, per_node, "a whole number from 1 to 65,536"}}) {
    if (!a.has(n.option)) continue;
    const auto value = number_of(a.value(n.option), n.lo, n.hi);
    const bool whole = !value || &n.to != &per_node || *value == static_cast<double>(static_cast<std::int64_t>(*value));
    if (!value || !whole)
      return std::string(n.option) + " is \"" + a.value(n.option).substr(0, 80) + "\"; " + n.expected +
             " are expected.";
    n.to = *value;
  }
  if (per_node > 0) site.gpus_per_node = static_cast<std::int64_t>(per_node);
  return {};
}

models::Result<StackId> asked_software(const std::string& name) {
  for (std::size_t i = 0; i < stack_count; ++i)
    if (stack_name(static_cast<StackId>(i)) == name) return models::Result<StackId>::ok(static_cast<StackId>(i));
  return models::Result<StackId>::fail("--software is \"" + name.substr(0, 80) +
                                       "\"; megatron_core, fsdp_compiled or deepseek is one, and `ridgeline list "
                                       "distributed/planner` names all.");
}

/// Widths and the way to share sequences, where they are not the software's own; one sentence where a word is none.
std::string asked_habits(const Arguments& a, PlannerJob& job) {
  std::string problem;
  // The place of an option's word in the lab's choices, whose first leaves it to the program; 0 where it is not told.
  const auto asked = [&](const char* option, const chapters::Choices& all) -> std::size_t {
    if (!a.has(option)) return 0;
    const auto found = std::find_if(all.begin() + 1, all.end(), [&](const auto& c) { return c.id == a.value(option); });
    if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
    problem = std::string(option) + " is \"" + a.value(option).substr(0, 80) + "\"; " +
              ids_of(std::span(all).subspan(1)) + " is expected.";
    return 0;
  };
  const auto width = [&](const char* option) {
    return static_cast<chapters::KeptWidth>(asked(option, chapters::kept_width_choices()));
  };
  const chapters::KeptWidth gradients = width("--gradients"), moments = width("--moments");
  if (a.has("--gradients") || a.has("--moments")) chapters::set_widths(gradients, moments, job.stack);
  job.context_method = chapters::context_method_of(
      static_cast<chapters::ContextBy>(asked("--context-by", chapters::context_by_choices())));
  chapters::set_segments(static_cast<chapters::Segments>(asked("--segments", chapters::segment_choices())), job.stack);
  if (problem.empty() && a.has("--lora")) problem = take_adapters(a.value("--lora"), job);
  return problem;
}

struct PlanCounts {
  std::int64_t gpus = 0, batch = 256, sequence = 8192;
};

/// One sentence where a word is no such count.
std::string asked_counts(const Arguments& a, PlanCounts& counts) {
  struct Count {
    const char* option;
    std::int64_t hi;
    std::int64_t& to;
  };
  for (const Count& c : {Count{"--gpus", 1'000'000, counts.gpus}, Count{"--batch", 65'536, counts.batch},
                         Count{"--sequence", 1'000'000'000, counts.sequence}}) {
    if (!a.has(c.option)) continue;
    const auto value = count_of(a.value(c.option), 1, c.hi);
    if (!value)
      return std::string(c.option) + " is \"" + a.value(c.option).substr(0, 80) + "\"; a whole number from 1 to " +
             std::string(widgets::format(static_cast<double>(c.hi), "", 10)) + " is expected.";
    c.to = *value;
  }
  return {};
}

/// The network between nodes and the switches that add; one sentence where they do not go together.
std::string asked_network(const Arguments& a, const std::string& id, PlannerSite& site) {
  const std::string adding = a.value("--switches", "none");
  if (adding != "none" && adding != "node" && adding != "infiniband" && adding != "both")
    return "--switches is \"" + adding.substr(0, 80) + "\"; none, node, infiniband or both is expected.";
  site.in_switch = adding == "node" || adding == "both";
  site.in_network = adding == "infiniband" || adding == "both";
  if (!a.has("--network")) return {};
  const models::Network* n = chapters::catalog().network(id);
  if (n == nullptr)
    return "There is no network \"" + a.value("--network").substr(0, 80) +
           "\"; infiniband_ndr is one, and `ridgeline list distributed/planner` names all.";
  if (n->kind != "infiniband" && site.in_network)
    return n->name + " has no switches that add; InfiniBand has, such as --network infiniband_ndr.";
  site.network_bytes_per_s = n->bytes_per_s_per_direction;
  return {};
}

/// What the options ask for, or one sentence.
models::Result<AskedPlan> asked_plan(const Arguments& a) {
  using Out = models::Result<AskedPlan>;
  for (const char* needed : {"--model", "--chip", "--gpus"})
    if (!a.has(needed))
      return Out::fail("plan needs " + std::string(needed) +
                       ", such as --model llama-3-70b --chip h100_sxm --gpus 1024.");
  auto asked = asked_choices(a);
  if (!asked) return asked;
  const auto model = chapters::find_model(asked->model);
  if (!model) return Out::fail(model.error);
  const auto chip = chapters::find_chip(asked->chip);
  if (!chip) return Out::fail(chip.error);
  PlanCounts counts;
  if (std::string problem = asked_counts(a, counts); !problem.empty()) return Out::fail(std::move(problem));
  const auto format = models::format_from_id(a.value("--format", "bf16"));
  if (!format || (*format != models::Format::bf16 && *format != models::Format::fp8 && *format != models::Format::fp4))
    return Out::fail("--format is \"" + a.value("--format").substr(0, 80) + "\"; bf16, fp8 or fp4 is expected.");
  PlannerSite site{.gpus = counts.gpus};
  if (std::string problem = asked_network(a, asked->network, site); !problem.empty())
    return Out::fail(std::move(problem));
  double keep_free = models::parallel::kept_free_bytes;
  if (std::string problem = asked_site(a, site, keep_free); !problem.empty()) return Out::fail(std::move(problem));
  auto cluster = planner_cluster(**chip, site, *format);
  if (!cluster) return Out::fail(cluster.error);
  const auto software = asked_software(a.value("--software", "megatron_core"));
  if (!software) return Out::fail(software.error);
  PlannerJob& job = asked->job;
  job.architecture = (*model)->architecture;
  job.cluster = *cluster;
  job.cluster.memory_bytes = std::max(0.0, job.cluster.memory_bytes - keep_free);
  asked->keep_free_bytes = keep_free;
  job.stack = planner_stack(*software);
  if (std::string problem = asked_habits(a, job); !problem.empty()) return Out::fail(std::move(problem));
  job.format = *format;
  job.global_batch = counts.batch;
  job.sequence = counts.sequence;
  return asked;
}

Json used_json(const AskedPlan& asked) {
  Json used = {{"model", used_to_json(OwnKind::model, asked.model)}, {"chip", used_to_json(OwnKind::chip, asked.chip)}};
  if (!asked.network.empty()) used["network"] = used_to_json(OwnKind::network, asked.network);
  return used;
}

Json plan_json(const PlannerJob& job, const PlanPoint& p, std::size_t rank) {
  constexpr const char* recompute[] = {"none", "selective", "full"};
  Json parts = Json::object();
  const auto price = price_plan(job, plan_of(job, p));
  if (price)
    for (std::size_t i = 0; i < plan_cause_count; ++i)
      parts[std::string(step_cause_name(static_cast<PlanCause>(i)))] = price->parts.seconds[i];
  return {{"rank", rank},
          {"tensor_parallel", p.tensor},
          {"context_parallel", p.context},
          {"pipeline_parallel", p.pipeline},
          {"virtual_pipeline", p.virtual_pipeline},
          {"expert_parallel", p.expert},
          {"data_parallel", p.data},
          {"zero_stage", p.zero_stage},
          {"micro_batch", p.micro_batch},
          {"recompute", recompute[p.recompute]},
          {"shard_group", p.shard_group},
          {"order", std::string(schedule_name(p.schedule))},
          {"details", plan_detail(job, p)},
          {"sequence_parallel", p.sequence_parallel},
          {"step_time_s", p.step_s},
          {"mfu_percent", 100 * planner_mfu(job, p.step_s)},
          {"memory_bytes", p.memory_bytes},
          {"fits", p.fits},
          {"seconds", parts}};
}

void print_lost(const PlannerJob& job, const PlannerSearch& search, std::ostream& out) {
  const auto first = price_plan(job, plan_of(job, search.points[0]));
  const auto second = price_plan(job, plan_of(job, search.points[1]));
  if (!first || !second) return;
  const double lost = second->step_s - first->step_s;
  out << "\nThe second lost " << format_text(lost, "s") << " (" << widgets::format_percent(lost / first->step_s, 2)
      << "):\n";
  std::vector<std::vector<std::string>> rows;
  for (const LostTime& l : lost_time(first->parts, second->parts))
    rows.push_back({std::string(step_cause_name(l.cause)), (l.seconds > 0 ? "+" : "") + format_text(l.seconds, "s")});
  if (rows.empty()) rows.push_back({"nothing above a thousandth of the step", ""});
  print_table(out, rows);
}

/// The place that your plan has, or would have, by time.
std::size_t rank_of(const PlannerSearch& search, const PlanPoint& yours) {
  std::size_t rank = 1;
  for (std::size_t i = 0; i < search.fitting; ++i) rank += search.points[i].step_s < yours.step_s * (1 - 1e-12) ? 1 : 0;
  return rank;
}

Json yours_json(const PlannerJob& job, const PlannerSearch& search, const PlanPoint& yours) {
  Json out = plan_json(job, yours, rank_of(search, yours));
  out["way"] = Json::array();
  if (search.fitting > 0)
    for (const PlanStep& step : plan_path(job, yours, search.points.front()))
      out["way"].push_back({{"changed", step.changed},
                            {"gain_s", step.gain_s},
                            {"step_time_s", step.plan.step_s},
                            {"fits", step.plan.fits}});
  return out;
}

void print_yours(const PlannerJob& job, const PlannerSearch& search, const PlanPoint& yours, std::ostream& out) {
  out << "\nYour plan, " << plan_name(yours) << " (" << plan_detail(job, yours) << "), takes "
      << format_text(yours.step_s, "s") << " and " << format_text(yours.memory_bytes, "B")
      << (yours.fits ? "; rank " : ", which does not fit; its place would be ") << rank_of(search, yours) << ".\n";
  const auto best = price_plan(job, plan_of(job, search.points.front())), mine = price_plan(job, plan_of(job, yours));
  if (!best || !mine) return;
  std::vector<std::vector<std::string>> rows;
  for (const LostTime& l : lost_time(best->parts, mine->parts))
    rows.push_back({std::string(step_cause_name(l.cause)), (l.seconds > 0 ? "+" : "") + format_text(l.seconds, "s")});
  if (!rows.empty()) {
    out << "Against the fastest it loses:\n";
    print_table(out, rows);
  }
  const std::vector<PlanStep> way = plan_path(job, yours, search.points.front());
  if (way.empty()) return;
  out << "The way to the fastest, one change at a time:\n";
  rows.clear();
  for (const PlanStep& step : way)
    rows.push_back({step.changed, format_text(step.plan.step_s, "s"),
                    (step.gain_s < 0 ? "slower by " : "gains ") + format_text(std::abs(step.gain_s), "s"),
                    step.plan.fits ? "" : "does not fit"});
  print_table(out, rows);
}

/// The whole answer, of whose plans the first `shown` are told.
Json plan_document(const AskedPlan& asked, const PlannerSearch& search, std::size_t shown,
                   const std::optional<PlanPoint>& yours) {
  const PlannerJob& job = asked.job;
  Json document = {{"model", asked.model},
                   {"chip", asked.chip},
                   {"used", used_json(asked)},
                   {"gpus", job.cluster.gpus},
                   {"global_batch", job.global_batch},
                   {"sequence", job.sequence},
                   {"format", std::string(models::format_id(job.format))},
                   {"chip_compared", job.cluster.compared},
                   {"memory_limit_bytes", job.cluster.memory_bytes},
                   {"plans_total", search.points.size()},
                   {"plans_fit", search.fitting},
                   {"plans", Json::array()}};
  for (std::size_t i = 0; i < shown; ++i) document["plans"].push_back(plan_json(job, search.points[i], i + 1));
  if (yours) document["yours"] = yours_json(job, search, *yours);
  return document;
}

void print_ranking(const AskedPlan& asked, const PlannerSearch& search, std::size_t shown, std::ostream& out) {
  const PlannerJob& job = asked.job;
  out << widgets::format(static_cast<double>(search.points.size()), "", 9).view() << " plans can run, "
      << widgets::format(static_cast<double>(search.fitting), "", 9).view() << " fit "
      << format_text(job.cluster.memory_bytes, "B") << " a GPU"
      << (asked.keep_free_bytes > 0 ? ", with " + format_text(asked.keep_free_bytes, "B") + " kept free" : "") << ".\n"
      << (job.cluster.compared ? "\n"
                               : "No run of this chip was compared: what it reaches of its peaks is assumed.\n\n");
  std::vector<std::vector<std::string>> rows{{"", "step", "MFU", "memory", "plan"}};
  for (std::size_t i = 0; i < shown; ++i) {
    const PlanPoint& p = search.points[i];
    rows.push_back({std::to_string(i + 1), format_text(p.step_s, "s"),
                    widgets::format_percent(planner_mfu(job, p.step_s)), format_text(p.memory_bytes, "B"),
                    plan_name(p) + "; " + plan_detail(job, p)});
  }
  print_table(out, rows);
}

}  // namespace

/// Every plan of a job, ranked; 1 where none can run or none fits.
int plan(const Arguments& a, const Streams& s) {
  const auto assets = load_assets();
  if (!assets) return complain(s, assets.error);
  const auto asked = asked_plan(a);
  if (!asked) return complain(s, asked.error);
  const PlannerJob* const job = &asked->job;
  const auto top = a.has("--top") ? count_of(a.value("--top"), 1, 1000) : std::optional<std::int64_t>(10);
  if (!top)
    return complain(s,
                    "--top is \"" + a.value("--top").substr(0, 80) + "\"; a whole number from 1 to 1,000 is expected.");
  std::optional<PlanPoint> yours;
  if (a.has("--plan")) {
    const auto typed = typed_plan(*job, a.value("--plan"));
    if (!typed) return complain(s, typed.error);
    yours = *typed;
  }
  const PlannerSearch search = search_plans(*job, {});
  if (search.points.empty())
    return say_infeasible(
        s, search.reason.empty() ? "No plan can run on so many GPUs; choose another number of them." : search.reason);
  const std::size_t shown = std::min(static_cast<std::size_t>(*top), search.fitting);
  if (a.has("--json")) s.out << to_text(plan_document(*asked, search, shown, yours), 2) << "\n";
  if (search.fitting == 0) {
    double least = search.points.front().memory_bytes;
    for (const PlanPoint& p : search.points) least = std::min(least, p.memory_bytes);
    return say_infeasible(
        s, "None of " + std::string(widgets::format(static_cast<double>(search.points.size()), "", 9)) +
               " plans fits " + format_text(job->cluster.memory_bytes, "B") + " a GPU; the least that one needs is " +
               format_text(least, "B") + ". Take more GPUs or a chip with more memory.");
  }
  if (a.has("--json")) return 0;
  print_ranking(*asked, search, shown, s.out);
  if (search.fitting > 1) print_lost(*job, search, s.out);
  if (yours) print_yours(*job, search, *yours, s.out);
  return 0;
}

}  // namespace app::cli
