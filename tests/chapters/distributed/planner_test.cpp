#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "chapters/distributed/planner/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_planner = chapters::distributed::planner;

namespace {

/// A small job, so that a search is short.
constexpr const char* small_job = R"({"model": "llama-3-8b", "gpus": 16, "global_batch": 32, "tensor_parallel": 2,
                                      "pipeline_parallel": 1, "virtual_pipeline": 1})";

lab_planner::Inputs small_inputs() {
  lab_planner::Inputs in;
  in.model = "llama-3-8b";
  in.gpus = 16;
  in.global_batch = 32;
  in.tensor_parallel = 2;
  in.pipeline_parallel = in.virtual_pipeline = 1;
  return in;
}

lab_planner::Computed planned(const lab_planner::Inputs& in) {
  use_bundled_catalog();
  static lab_planner::Searches searches;
  chapters::Progress progress;
  lab_planner::Computed done = lab_planner::compute(in, progress, searches);
  INFO(done.facts.reason);
  REQUIRE(done.run);
  return done;
}

}  // namespace

TEST_CASE("planner: the keys that other programs rely on") {
  const LabPtr lab = open_lab("distributed/planner", small_job);
  compute(*lab);
  CHECK(out(*lab, "step_time_s") > 0);
  CHECK(out(*lab, "mfu") > 20);
  CHECK(out(*lab, "mfu") < 80);
  CHECK(output(*lab, "fits").toggle() == (out(*lab, "memory_bytes") <= 80e9));
  CHECK(out(*lab, "plan_rank") >= 1);
  CHECK(out(*lab, "plan_rank") <= out(*lab, "plans_fit") + 1);
  CHECK(out(*lab, "plans_fit") <= out(*lab, "plans_total"));
  CHECK(out(*lab, "best_step_time_s") <= out(*lab, "step_time_s"));
  CHECK_FALSE(text_of(*lab, "best_plan").empty());
  // The causes are the step.
  double sum = 0;
  for (const char* key : {"products_s", "attention_s", "elements_s", "recompute_s", "tensor_s", "context_s", "expert_s",
                          "pipeline_s", "bubble_s", "data_s", "optimizer_s", "other_s"})
    sum += out(*lab, key);
  CHECK(near(sum, out(*lab, "step_time_s"), 1e-9));
}

TEST_CASE("planner: the best plan, made yours, is first") {
  lab_planner::Inputs in = small_inputs();
  const lab_planner::Computed first = planned(in);
  const lab_planner::Outputs& before = first.facts;
  REQUIRE(before.plan_rank > 1);
  lab_planner::choose(in, first.run->search->points.front());
  const lab_planner::Outputs after = planned(in).facts;
  CHECK(after.plan_rank == 1);
  CHECK(near(after.yours.step_s, before.best_step_time_s, 1e-12));
  CHECK(near(after.yours.memory_bytes, before.best_memory_bytes, 1e-12));
  CHECK(near(after.held.total(), after.yours.memory_bytes, 1e-12));
}

TEST_CASE("planner: filters leave out what they name, and a smaller wall leaves fewer plans") {
  const LabPtr lab = open_lab("distributed/planner", small_job);
  compute(*lab);
  const double all = out(*lab, "plans_total"), fit = out(*lab, "plans_fit");
  CHECK(computed(set(*lab, "max_tensor", 1), "plans_total") < all);
  CHECK(text_of(*lab, "best_plan").find("TP") == std::string::npos);
  CHECK(computed(set(*lab, "max_tensor", 8, "context_plans", "false"), "plans_total") < all);
  CHECK(computed(set(*lab, "context_plans", "true", "keep_free_bytes", 40e9), "plans_fit") < fit);
  CHECK(out(*lab, "plans_total") == all);
}

TEST_CASE("planner: a plan that cannot run says why, and the others are ranked all the same") {
  const auto problem = [](const char* inputs) {
    const LabPtr lab = open_lab("distributed/planner", inputs);
    compute(*lab);
    CHECK(out(*lab, "plans_fit") > 0);
    CHECK(std::isnan(out(*lab, "step_time_s")));
    return text_of(*lab, "plan_problem");
  };
  CHECK(problem(R"({"tensor_parallel": 3})") == "Tensor parallel 3 does not divide the 64 heads; choose a divisor.");
  CHECK(problem(R"({"gpus": 1000, "global_batch": 1000})").find("the cluster has 1000") != std::string::npos);
  CHECK(problem(R"({"global_batch": 96, "virtual_pipeline": 1, "micro_batch": 2})")
            .find("whole number of micro-batches") != std::string::npos);
  CHECK(problem(R"({"expert_parallel": 2})").find("this model has none") != std::string::npos);
  CHECK(problem(R"({"order": "dualpipe", "virtual_pipeline": 1, "global_batch": 128})")
            .find("needs at least twice as many micro-batches as stages") != std::string::npos);
}

TEST_CASE("planner: a job that cannot be is refused") {
  const auto reason = [](const char* inputs) {
    const LabPtr lab = open_lab("distributed/planner", inputs);
    return reason_of(*lab);
  };
  CHECK(reason(R"({"chip": "a100_80_sxm", "format": "fp8"})").find("states no peak for FP8") != std::string::npos);
}

TEST_CASE("planner: where nothing fits the answer says what is needed least") {
  const lab_planner::Inputs in = [] {
    lab_planner::Inputs i = small_inputs();
    i.model = "llama-3-70b";
    return i;
  }();
  const auto [o, run] = planned(in);
  CHECK(o.plans_fit == 0);
  CHECK(std::isnan(o.best_step_time_s));
  CHECK(o.least_memory_bytes > o.wall_bytes);
  const lab_planner::Picture p = lab_planner::arrange(in, o, *run);
  CHECK(p.answer.starts_with("None of `"));
  CHECK(p.answer.find("the leanest needs `") != std::string::npos);
}

TEST_CASE("planner: a job that no plan can run is refused with the nearest batches that divide") {
  const auto reason = [](const char* inputs) {
    const LabPtr lab = open_lab("distributed/planner", inputs);
    return reason_of(*lab);
  };
  CHECK(reason(R"({"model": "llama-3-8b", "gpus": 1021, "global_batch": 7})") ==
        "A global batch of 7 sequences is no multiple of the replicas of any plan; 1021 would be.");
  // Stages need not be equal, so that 126 layers on 125 stages of eight GPUs leave one replica, which takes any batch.
  CHECK(reason(R"({"model": "llama-3.1-405b", "gpus": 1000, "global_batch": 256})").empty());
}

TEST_CASE("planner: two plans with the same axes are named by what differs") {
  const LabPtr lab =
      open_lab("distributed/planner", R"({"model": "llama-3.1-405b", "gpus": 16384, "global_batch": 2048})");
  compute(*lab);
  CHECK(lab->answer().starts_with("TP 8 x CP 2 x PP 16 x DP 64, ZeRO-1 over 16 is fastest"));
  CHECK(cell_text(*lab, "plans", 0, "plan") != cell_text(*lab, "plans", 1, "plan"));
  CHECK(out(*lab, "runner_up_later") < lab_planner::tie_percent);
}

TEST_CASE("planner: the picture's frontier only falls, and its staircase stays inside the step") {
  const lab_planner::Inputs in = small_inputs();
  const auto [o, run] = planned(in);
  const lab_planner::Picture p = lab_planner::arrange(in, o, *run);
  REQUIRE_FALSE(run->second.name.empty());
  REQUIRE_FALSE(p.frontiers.empty());
  const widgets::Curve& line = p.frontiers.front();
  for (std::size_t i = 1; i < line.x.size(); ++i) {
    CHECK(line.x[i] >= line.x[i - 1]);
    CHECK(line.y[i] <= line.y[i - 1]);
  }
  REQUIRE_FALSE(run->best.blocks.empty());
  for (const lab_planner::StairBlock& b : run->best.blocks) {
    CHECK(b.from >= 0);
    CHECK(b.to <= 1.0001f);
    CHECK(b.lane < run->best.lanes);
  }
  CHECK(p.dots.size() <= run->search->points.size());
}

TEST_CASE("planner: why the runner-up lost is told by cause, and the causes add up to what it lost") {
  const LabPtr lab = open_lab("distributed/planner", small_job);
  compute(*lab);
  double sum = 0, before = 1e9;
  for (std::size_t i = 0; i < rows(*lab, "lost"); ++i) {
    const double seconds = cell(*lab, "lost", i, "seconds");
    CHECK(std::abs(seconds) <= before);
    before = std::abs(seconds);
    sum += seconds;
  }
  // Causes under a thousandth of the step are left out.
  CHECK(std::abs(sum - out(*lab, "runner_up_lost_s")) <= 0.012 * out(*lab, "best_step_time_s"));
}

TEST_CASE("planner: facts alone are the same and bring no picture") {
  const lab_planner::Inputs in = small_inputs();
  lab_planner::Searches searches;
  chapters::Progress alone;
  alone.facts_alone = true;
  const lab_planner::Computed facts = lab_planner::compute(in, alone, searches);
  CHECK_FALSE(facts.run);
  const lab_planner::Computed whole = planned(in);
  CHECK(facts.facts.best_plan == whole.facts.best_plan);
  CHECK(facts.facts.runner_up_lost_s == whole.facts.runner_up_lost_s);
  CHECK(facts.facts.lost.size() == whole.facts.lost.size());
}

TEST_CASE("planner: the plan under the pointer has a card, priced aside, and a press on its dot makes it yours") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("distributed/planner", small_job);
  compute(*lab);
  Canvas canvas(*lab, {1300, 800});
  canvas.ui.frames(3);
  const auto said = [&](std::string_view text) {
    const auto& strokes = canvas.ui.record().strokes;
    return std::any_of(strokes.begin(), strokes.end(), [&](const widgets::Stroke& s) {
      return s.kind == widgets::Stroke::Kind::text && s.text == text;
    });
  };
  CHECK(said("fastest that fits"));
  ImVec2 at{};
  for (float y = 0.9f; y > 0.3f && !said("under the pointer"); y -= 0.02f)
    for (float x = 0.1f; x < 0.6f && !said("under the pointer"); x += 0.02f) {
      at = canvas.ui.point_in("plans", {x, y});
      canvas.ui.move_to(at);
      canvas.ui.frames(3);
    }
  REQUIRE(said("under the pointer"));
  CHECK_FALSE(said("fastest that fits"));
  const double before = out(*lab, "step_time_s");
  canvas.ui.click_at(at);
  canvas.ui.frames(2);
  compute(*lab);
  CHECK(out(*lab, "step_time_s") != before);
}

TEST_CASE("planner: a plan opens in the other labs with its axes") {
  use_bundled_catalog();
  lab_planner::Inputs in;
  const auto job = lab_planner::job_of(in);
  REQUIRE(job);
  const lab_planner::PlanCard card = lab_planner::card_of(*job, lab_planner::point_of(in));
  const std::string pipeline = *lab_planner::link_to(in, card, "distributed/pipeline");
  CHECK(pipeline.find("schedule=interleaved") != std::string::npos);
  CHECK(pipeline.find("stages=4") != std::string::npos);
  CHECK(pipeline.find("chunks=5") != std::string::npos);
  const std::string memory = *lab_planner::link_to(in, card, "framework/training-memory");
  CHECK(memory.find("tensor_parallel=8") != std::string::npos);
  CHECK(memory.find("data_parallel=32") != std::string::npos);
  CHECK(memory.find("zero_stage=1") != std::string::npos);
  CHECK(!lab_planner::link_to(in, card, "distributed/nothing"));
  // Another order of the passes is another order there; what a lab cannot show is refused with a sentence.
  in.order = lab_planner::Order::zb_v;
  in.virtual_pipeline = 1;
  const lab_planner::PlanCard folded = lab_planner::card_of(*job, lab_planner::point_of(in));
  CHECK(lab_planner::link_to(in, folded, "distributed/memory-split")->find("order=zb_v") != std::string::npos);
  CHECK(!lab_planner::link_to(in, folded, "distributed/moe"));
  CHECK(lab_planner::link_to(in, folded, "distributed/pipeline")->find("schedule=zb_v") != std::string::npos);
}

TEST_CASE("planner: a plan that is opened in the labs of memory holds there what it holds here") {
  use_bundled_catalog();
  const auto same = [](const lab_planner::Inputs& in) {
    const auto job = lab_planner::job_of(in);
    REQUIRE(job);
    const lab_planner::PlanCard card = lab_planner::card_of(*job, lab_planner::point_of(in));
    REQUIRE(card.price.memory_bytes > 0);
    for (const auto& [lab, output] :
         {std::pair{"distributed/memory-split", "peak_bytes"}, std::pair{"framework/training-memory", "total_bytes"}}) {
      const std::string link = *lab_planner::link_to(in, card, lab);
      CAPTURE(link);
      REQUIRE(link.starts_with(lab));
      const LabPtr opened = open_lab(lab);
      const std::size_t query = link.find('?');
      for (std::size_t at = query + 1; at < link.size();) {
        const std::size_t end = std::min(link.find('&', at), link.size()), is = link.find('=', at);
        set(*opened, link.substr(at, is - at), std::string_view(link).substr(is + 1, end - is - 1));
        at = end + 1;
      }
      compute(*opened);
      CHECK(near(out(*opened, output), card.price.memory_bytes, 1e-9));
    }
  };
  same({});
  lab_planner::Inputs in = small_inputs();
  for (const std::int64_t zero : {0, 1, 2, 3}) {
    in.zero_stage = zero;
    same(in);
  }
  in.software = models::parallel::StackId::fsdp_compiled;
  in.recompute = models::Recompute::full;
  same(in);
  in.software = models::parallel::StackId::nanotron;
  same(in);
}

TEST_CASE("planner: a published plan stands in the picture of its own job alone") {
  lab_planner::Inputs in;
  in.gpus = 64;
  in.format = "fp8";
  in.max_tensor = 4;
  in.context_plans = in.recompute_plans = false;
  const auto published = [&] {
    const auto [o, run] = planned(in);
    return lab_planner::arrange(in, o, *run).published.x.size();
  };
  CHECK(published() == 1);
  in.format = "bf16";
  CHECK(published() == 0);
  in.format = "fp8";
  in.global_batch = 512;
  CHECK(published() == 0);
}

TEST_CASE("planner: a press on the fastest makes it yours, and the card's doors open labs") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("distributed/planner", small_job);
  compute(*lab);
  Canvas canvas(*lab, {1300, 800});
  canvas.ui.frames(3);
  canvas.ui.click("make it yours");
  canvas.ui.frames(2);
  compute(*lab);
  CHECK(out(*lab, "plan_rank") == 1);
  canvas.ui.frames(2);
  canvas.ui.click("open the memory");
  canvas.ui.frames(1);
  REQUIRE(lab->requests() != nullptr);
  CHECK(lab->requests()->open_link.starts_with("framework/training-memory?"));
}
