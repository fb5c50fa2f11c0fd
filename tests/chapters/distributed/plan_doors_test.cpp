#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "chapters/distributed/planner/links.h"
#include "models/parallel/planner/planner_traffic.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

// One plan in every lab that can express it: what that lab computes of it equals what the planner counted, or a
// sentence says why the lab cannot.

namespace plan_doors_test {

using namespace support;
using namespace models::parallel;
namespace lab_planner = chapters::distributed::planner;

namespace {

/// The lab that a link leads to, computed for its facts over few steps.
LabPtr follow(const std::string& link) {
  LabPtr lab = open_link(link);
  if (lab->inputs().find("step_tokens") != nullptr) set(*lab, "steps", 20, "step_tokens", 64);
  lab->compute_facts();
  INFO(link);
  CHECK(lab->reason() == "");
  return lab;
}

lab_planner::Inputs inputs_of(const app::Preset& preset) {
  lab_planner::Inputs in;
  chapters::Fields fields;
  describe(fields, in);
  const app::Json sets = app::Json::parse(preset.set);
  for (const auto& [key, value] : sets.items()) {
    INFO(key);
    const chapters::Field* f = fields.find(key);
    REQUIRE(f);
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    REQUIRE(app::set_field_from_text(*f, text).error == "");
  }
  return in;
}

/// One plan behind all of its doors.
struct Opened {
  const lab_planner::Inputs& in;
  const lab_planner::PlannerDoor& door;
  std::map<std::string, int>& counts;

  void memory(const Lab& lab, const char* key) const {
    // To the byte.
    CHECK(std::abs(out(lab, key) - door.price.memory_bytes) < 0.5);
  }

  /// The stage that sets the pace waits as long as the planner's bubble. Orders without a closed form are rounded to a
  /// sixteenth of a forward pass there.
  void pipeline(const Lab& lab) const {
    const double waits = cell(lab, "ranks", static_cast<std::size_t>(door.work.slowest_stage), "wall_bubble_s");
    const double bubble = door.price.parts[PlanCause::bubble];
    const bool exact =
        door.plan.schedule == PipelineSchedule::one_f_one_b || door.plan.schedule == PipelineSchedule::gpipe;
    CHECK(near(waits, bubble, exact ? 1e-9 : 0.06));
    CHECK(near(out(lab, "busiest_s") > 0, true, 1e-9));
  }

  void overlap(const Lab& lab) const {
    const DataCall call = data_call(door.job, door.plan, *door.work.slowest);
    if (door.plan.zero_stage == 3) {
      const auto units = sharded_units(door.job, door.plan, *door.work.slowest, door.work.stage);
      CHECK(near(out(lab, "layer_gather_s"), units.units[1].gather_s, 1e-9));
      CHECK(near(out(lab, "layer_gather_s"), call.time.total_s(), 1e-9));
    } else {
      CHECK(near(out(lab, "largest_bytes"), call.bytes, 0.3));
    }
  }

  void tensor(const Lab& lab) const {
    double forward_s = 0;
    for (std::size_t i = 0; i < rows(lab, "collectives"); ++i)
      if (cell_text(lab, "collectives", i, "pass") == "forward") forward_s += cell(lab, "collectives", i, "time_s");
    const auto& kinds = door.times.kinds;
    const double exposed_s = kinds.back().forward.tensor_s;
    CHECK(near(forward_s * door.job.stack.tensor_exposed_forward, exposed_s, 1e-9));
  }

  void context(const Lab& lab) const {
    const double merge_s = context_merge_s(door.job, door.plan, door.price.context_method);
    CHECK(near(out(lab, "exposed_s") + merge_s, door.times.kinds.front().forward.context_s, 1e-9));
  }

  /// Cards are dealt to 2,048 tokens, and the planner takes what is expected of endless ones.
  void experts(const Lab& lab) const {
    const double exchange_s = door.times.kinds.back().forward.expert_s / door.job.stack.expert_exposed;
    CHECK(near(out(lab, "even_exchange_s"), exchange_s, door.job.stack.expert_once_per_node ? 0.03 : 1e-9));
  }

  void collective(const Lab& lab) const {
    const StepParts& s = door.price.parts;
    const bool tensor = door.plan.tensor > 1 && s[PlanCause::tensor] >= s[PlanCause::data];
    const double time_s =
        tensor ? tensor_sum_s(door.job.cluster, door.plan, out(lab, "time_s") > 0 ? input(lab, "bytes").number() : 0)
               : data_call(door.job, door.plan, *door.work.slowest).time.total_s();
    CHECK(near(out(lab, "time_s"), time_s, 1e-9));
  }

  /// That lab prices links of its own, one by one; here it has the plan's ranks and sums what the planner sums.
  void topology(const Lab& lab) const {
    CHECK(out(lab, "ranks_asked") == static_cast<double>(door.job.cluster.gpus));
    for (std::size_t i = 0; i < rows(lab, "axes"); ++i)
      if (cell_text(lab, "axes", i, "axis") == "tensor") {
        const models::Workload load = models::memory::workload_of(door.plan);
        CHECK(near(cell(lab, "axes", i, "bytes"),
                   models::new_tokens(load) * static_cast<double>(door.job.architecture.hidden) * 2, 1e-9));
      }
  }

  /// The same step, riser by riser.
  void stairs(const Lab& lab) const { CHECK(near(out(lab, "step_s"), door.price.step_s, 1e-9)); }

  /// `all`: topology too, whose search over placements takes longer than all the others.
  void check(const lab_planner::PlanCard& card, bool all) const {
    for (const chapters::DoorTo& to : lab_planner::plan_doors()) {
      const auto link = lab_planner::link_to(in, card, to.lab);
      const std::string_view lab = to.lab;
      INFO(card.name << ", " << card.details << ": " << lab << " " << link.error);
      if (!link) {
        CHECK(link.error.ends_with("."));
        CHECK(link.error.find("beyond what that lab takes") == std::string::npos);
        continue;
      }
      REQUIRE(link->starts_with(lab));
      ++counts[to.lab];
      if (!all && lab == "distributed/topology") continue;
      const LabPtr opened = follow(*link);
      if (!opened->reason().empty()) continue;
      if (lab == "framework/training-memory") memory(*opened, "total_bytes");
      if (lab == "distributed/memory-split") memory(*opened, "peak_bytes");
      if (lab == "framework/memory-timeline") memory(*opened, "peak_bytes");
      if (lab == "distributed/pipeline") pipeline(*opened);
      if (lab == "distributed/overlap") overlap(*opened);
      if (lab == "distributed/tensor-parallel") tensor(*opened);
      if (lab == "distributed/context") context(*opened);
      if (lab == "distributed/moe") experts(*opened);
      if (lab == "distributed/collectives") collective(*opened);
      if (lab == "distributed/topology") topology(*opened);
      if (lab == "fleet/scaling-tax") stairs(*opened);
    }
  }
};

/// The typed plan and some of the table's.
void walk(const lab_planner::Inputs& in, std::size_t every, std::map<std::string, int>& counts) {
  const auto job = lab_planner::job_of(in);
  REQUIRE(job);
  static lab_planner::Searches searches;
  chapters::Progress progress;
  progress.facts_alone = true;
  const auto search = lab_planner::searched(in, progress, searches);
  std::vector<PlanPoint> points;
  if (price_plan(*job, plan_of(*job, lab_planner::point_of(in)))) points.push_back(lab_planner::point_of(in));
  for (std::size_t i = 0; i < std::min<std::size_t>(40, search->fitting); i += every)
    points.push_back(search->points[i]);
  for (const PlanPoint& point : points) {
    const lab_planner::PlanCard card = lab_planner::price_card(*job, point);
    const lab_planner::PlannerDoor door(*job, card.price);
    Opened{in, door, counts}.check(card, &point == &points.front());
  }
}

}  // namespace

TEST_CASE("every plan of every preset's table opens in the labs that can hold it, with the planner's figures") {
  use_bundled_catalog();
  std::map<std::string, int> counts;
  for (const auto& preset : bundled_content().of("distributed/planner").presets) {
    INFO(preset.name);
    walk(inputs_of(preset), 1, counts);
  }
  for (const chapters::DoorTo& door : lab_planner::plan_doors()) {
    INFO(door.lab);
    if (std::string_view(door.lab) != "framework/memory-timeline") CHECK(counts[door.lab] > 0);
  }
}

TEST_CASE("what a plan may have beside its axes opens with the same bytes, or the lab says that it has none") {
  use_bundled_catalog();
  std::map<std::string, int> counts;
  for (const char* model : {"llama-3-8b", "deepseek-v2-lite"}) {
    lab_planner::Inputs in;
    in.model = model;
    in.gpus = 16;
    in.global_batch = 32;
    in.tensor_parallel = 2;
    in.pipeline_parallel = in.virtual_pipeline = 1;
    in.expert_parallel = std::string_view(model) == "llama-3-8b" ? 1 : 8;
    const auto open = [&](const char* lab, bool holds) {
      const auto job = lab_planner::job_of(in);
      REQUIRE(job);
      const lab_planner::PlanCard card = lab_planner::price_card(*job, lab_planner::point_of(in));
      INFO(card.name << ", " << card.details << ": " << lab);
      REQUIRE(card.name != "");
      const auto link = lab_planner::link_to(in, card, lab);
      CHECK(link.error == (holds ? "" : link.error));
      REQUIRE(static_cast<bool>(link) == holds);
      if (holds)
        CHECK(std::abs(
                  out(*follow(*link), lab == std::string("distributed/memory-split") ? "peak_bytes" : "total_bytes") -
                  card.price.memory_bytes) < 0.5);
    };
    in.recompute = models::Recompute::selective;
    for (std::size_t i = 0; i + 1 < chapters::given_up_count; ++i) {
      in.given_up = static_cast<chapters::GivenUp>(i);
      open("framework/training-memory", true);
      open("distributed/memory-split", true);
    }
    in.offload = true;
    open("framework/training-memory", false);
    open("distributed/memory-split", true);
    in.host_activations = true;
    open("distributed/memory-split", true);
    in.offload = false;
    open("framework/training-memory", false);
    open("distributed/memory-split", true);
    in.host_activations = false;
    in.adapter_rank = 16;
    for (const auto targets : {models::memory::AdapterTargets::attention, models::memory::AdapterTargets::all_linear})
      for (const auto frozen : {chapters::FrozenIn::bf16, chapters::FrozenIn::fp8, chapters::FrozenIn::nf4}) {
        in.adapter_targets = targets;
        in.frozen = frozen;
        open("framework/training-memory", true);
        open("distributed/memory-split", true);
      }
    in.adapter_rank = 0;
    in.segments = chapters::Segments::fixed;
    open("framework/training-memory", true);
    open("distributed/memory-split", true);
    in.segments = chapters::Segments::software;
    if (in.expert_parallel == 1) {
      // PyTorch's stages stay whole, which the lab of the split holds.
      in.software = StackId::fsdp_compiled;
      in.recompute = models::Recompute::full;
      in.pipeline_parallel = 2;
      in.zero_stage = 3;
      open("framework/training-memory", false);
      open("distributed/memory-split", true);
      continue;
    }
    in.expert_tensor = 1;
    open("framework/training-memory", false);
    open("distributed/memory-split", false);
  }
}

TEST_CASE("a plan on one GPU opens in the timeline, and every order of passes in the labs of memory") {
  use_bundled_catalog();
  std::map<std::string, int> counts;
  lab_planner::Inputs in;
  in.model = "llama-3.2-1b";
  in.gpus = 1;
  in.global_batch = 2;
  in.software = StackId::fsdp_eager;
  in.tensor_parallel = in.pipeline_parallel = in.virtual_pipeline = 1;
  walk(in, 7, counts);
  CHECK(counts["framework/memory-timeline"] > 0);
}

TEST_CASE("a plan that trains adapters opens with its bytes, passes and calls, or the lab says what it trains") {
  use_bundled_catalog();
  std::map<std::string, int> counts;
  struct Tuned {
    const char* model;
    std::int64_t tensor, pipeline, expert, zero;
    StackId software;
  };
  const auto cases = {Tuned{"llama-3-70b", 4, 4, 1, 1, StackId::megatron_core},
                      Tuned{"llama-3-70b", 1, 1, 1, 3, StackId::fsdp_compiled},
                      Tuned{"deepseek-v2-lite", 2, 1, 4, 1, StackId::megatron_core}};
  for (const Tuned& tuned : cases) {
    lab_planner::Inputs in;
    in.model = tuned.model;
    in.gpus = 16;
    in.global_batch = 32;
    in.tensor_parallel = tuned.tensor;
    in.pipeline_parallel = tuned.pipeline;
    in.virtual_pipeline = 1;
    in.expert_parallel = tuned.expert;
    in.zero_stage = tuned.zero;
    in.software = tuned.software;
    in.adapter_rank = 16;
    for (const auto targets : {models::memory::AdapterTargets::attention, models::memory::AdapterTargets::all_linear}) {
      in.adapter_targets = targets;
      const auto job = lab_planner::job_of(in);
      REQUIRE(job);
      const lab_planner::PlanCard card = lab_planner::price_card(*job, lab_planner::point_of(in));
      REQUIRE(card.name != "");
      const lab_planner::PlannerDoor door(*job, card.price);
      Opened{in, door, counts}.check(card, true);
      const bool dense = job->architecture.moe.routed == 0;
      for (const chapters::DoorTo& to : lab_planner::plan_doors()) {
        const std::string_view lab = to.lab;
        const auto link = lab_planner::link_to(in, card, lab);
        INFO(card.name << ": " << lab << " " << link.error);
        const bool holds =
            lab == "framework/training-memory" || lab == "distributed/memory-split" ||
            lab == "distributed/collectives" || (lab == "distributed/pipeline" && tuned.pipeline > 1) ||
            (lab == "distributed/moe" && !dense && targets != models::memory::AdapterTargets::all_linear);
        CHECK(static_cast<bool>(link) == holds);
        const bool has_no_side = lab == "distributed/pipeline" || (lab == "distributed/moe" && dense);
        if (!holds && !has_no_side) CHECK(link.error.find("adapters") != std::string::npos);
      }
    }
  }
  for (const char* lab : {"framework/training-memory", "distributed/memory-split", "distributed/pipeline",
                          "distributed/collectives", "distributed/moe"})
    CHECK(counts[lab] > 0);
}

namespace {

/// The bundled catalog with a model whose 72 heads a whole rack can share, in the shape of OPT 66B (Zhang et al. 2022,
/// table 1); the bundled one again at the end.
struct SeventyTwoHeads {
  SeventyTwoHeads() {
    use_bundled_catalog();
    auto more = std::make_shared<chapters::Catalog>(chapters::catalog());
    models::LanguageModel wide = *more->model("opt-175b");
    wide.id = wide.name = "opt-66b";
    wide.published.reset();
    wide.architecture.hidden = 9216;
    wide.architecture.layers = 64;
    wide.architecture.heads = wide.architecture.kv_heads = 72;
    wide.architecture.head_dim = 128;
    wide.architecture.ffn = 36864;
    more->models.push_back(std::move(wide));
    chapters::index_catalog(*more);
    chapters::set_catalog(std::move(more));
  }
  SeventyTwoHeads(const SeventyTwoHeads&) = delete;
  ~SeventyTwoHeads() { put_back_bundled_catalog(); }
};

}  // namespace

TEST_CASE("plans whose layers 16 to 72 GPUs of an NVL72 rack share open where others do, with the same figures") {
  const SeventyTwoHeads models;
  struct Wide {
    const char* model;
    std::vector<std::int64_t> tensors;
  };
  const auto cases = {Wide{"deepseek-v3", {16, 32, 64}}, Wide{"gpt-3", {16, 24, 48}}, Wide{"bloom-176b", {28, 56}},
                      Wide{"korthikanti-1t", {20, 40}}, Wide{"opt-66b", {18, 36, 72}}};
  for (const Wide& wide : cases)
    for (const std::int64_t tensor : wide.tensors)
      for (const std::int64_t stages : {1, 2}) {
        lab_planner::Inputs in;
        in.model = wide.model;
        in.chip = "gb200_gpu";
        in.sequence = 5040;  // a multiple of all of these
        if (tensor % 16 == 0) in.sequence = 8192 / 64 * 192;
        in.gpus = 72 / tensor * tensor * stages;
        in.global_batch = 72 / tensor * 2;
        in.tensor_parallel = tensor;
        in.pipeline_parallel = stages;
        in.virtual_pipeline = in.expert_parallel = 1;
        in.recompute = models::Recompute::full;
        const auto job = lab_planner::job_of(in);
        REQUIRE(job);
        const lab_planner::PlanCard card = lab_planner::price_card(*job, lab_planner::point_of(in));
        INFO(wide.model << " " << tensor);
        REQUIRE(card.name != "");
        const lab_planner::PlannerDoor door(*job, card.price);
        std::map<std::string, int> counts;
        Opened{in, door, counts}.check(card, tensor >= 64);
        for (const char* lab : {"framework/training-memory", "distributed/memory-split", "distributed/tensor-parallel",
                                "distributed/collectives", "distributed/topology"})
          CHECK(counts[lab] == 1);
        CHECK(counts["distributed/pipeline"] == (stages > 1 ? 1 : 0));
      }
}

}  // namespace plan_doors_test
