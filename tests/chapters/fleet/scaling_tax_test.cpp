#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/fleet/scaling_tax/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("scaling tax: the answer goes down the stairs, and says what the second line is about") {
  const auto says = [](const char* inputs) { return answer_of("fleet/scaling-tax", inputs); };
  CHECK(says("{}") ==
        "A large matmul reaches `77 %` of the peak, a node `59.8 %`, the fleet `41.0 %`, a month of it `39.0 %`.\nOne "
        "slow node costs all `1,024` nodes `2.49` points; failures, with the saves and restarts that are set, cost "
        "`2.01`.");
  CHECK(says(R"({"slow_node": 0})").find("\nThe largest riser loses `23` points, the work of `1,884` GPUs: ") !=
        std::string::npos);
  CHECK(says(R"({"lift_pipeline": 100})").find("\nWhat you take away saves the work of ") != std::string::npos);
  CHECK(says(R"({"gpus": 8200})")
            .ends_with("cannot run; the nearest that divides has a batch of `2,048` on `8,192` GPUs: `95.5 GB` "
                       "each do not fit."));
  // No published run has 4,096 GPUs: what the model leaves unexplained is unknown there.
  CHECK(says(R"({"gpus": 4096})").find(" by this model alone, a month of it ") != std::string::npos);
  CHECK(says(R"({"gpu_hours_per_failure": 100, "restart_s": 14400})").starts_with("Next to nothing "));
}

// Llama 3, 2024, table 4: 430 TFLOP/s a GPU on 8,192 H100; MegaScale, NSDI 2024, table 2.
TEST_CASE("scaling tax: a published run is the end where job and plan are its own, and nowhere else") {
  const LabPtr lab = open_lab("fleet/scaling-tax", R"({"slow_node": 0})");
  compute(*lab);
  CHECK(near(out(*lab, "fleet_mfu"), 430 / 989.5 * 100, 1e-4));
  CHECK(near(out(*lab, "unexplained_points"), out(*lab, "model_mfu") - out(*lab, "published_mfu"), 1e-9));
  CHECK(std::abs(out(*lab, "published_mfu") / out(*lab, "model_mfu") - 1) < 0.2);
  CHECK(near(out(*lab, "effective_mfu"), out(*lab, "fleet_mfu") * out(*lab, "goodput_used") / 100, 1e-12));
  CHECK(near(out(*lab, "tax_points"), out(*lab, "node_mfu") - out(*lab, "fleet_mfu"), 1e-12));
  CHECK(near(out(*lab, "tax_percent"), 100 * out(*lab, "tax_points") / out(*lab, "node_mfu"), 1e-12));
  // Whose software and what it costs is no part of the run.
  CHECK(near(computed(set(*lab, "price_per_hour", 5), "published_mfu"), 43.456, 1e-4));
  CHECK(std::isnan(computed(set(*lab, "gpus", 4096), "published_mfu")));
  const LabPtr megascale = open_lab(
      "fleet/scaling-tax",
      R"({"model": "gpt-3", "chip": "a100_80_sxm", "network": "infiniband_hdr", "sequence": 2048, "gpus": 12288,
          "global_batch": 6144, "pipeline_parallel": 8, "virtual_pipeline": 6, "slow_node": 0})");
  compute(*megascale);
  CHECK(out(*megascale, "unexplained_points") < 0);  // its own kernels are faster than the model's
  CHECK(near(out(*megascale, "fleet_mfu"), 55.2, 1e-9));
}

TEST_CASE("scaling tax: risers add up to the peak, in GPUs and in dollars") {
  const LabPtr lab = open_lab("fleet/scaling-tax");
  compute(*lab);
  double points = 0, gpus = 0, dollars = 0;
  for (std::size_t i = 0; i < rows(*lab, "risers"); ++i) {
    points += cell(*lab, "risers", i, "points");
    gpus += cell(*lab, "risers", i, "work_gpus");
    dollars += cell(*lab, "risers", i, "dollars_per_month");
  }
  CHECK(near(points, 100 - out(*lab, "effective_mfu"), 1e-9));
  CHECK(near(gpus, out(*lab, "lost_gpus"), 1e-9));
  CHECK(near(dollars, out(*lab, "lost_dollars_per_month"), 1e-9));
  // One slow node costs more than all failures; of a percent little is seen behind the slowest healthy GPU.
  CHECK(out(*lab, "slow_points") > out(*lab, "failure_points"));
  const double tenth = out(*lab, "slow_points");
  CHECK(computed(set(*lab, "slow_node", 1), "slow_points") < 0.03 * tenth);
}

TEST_CASE("scaling tax: GPUs that no copy needs are a riser, and the step is that of the GPUs that work") {
  const LabPtr lab = open_lab("fleet/scaling-tax", R"({"slow_node": 0, "published": false})");
  compute(*lab);
  const double step_s = out(*lab, "step_s"), fleet = out(*lab, "fleet_mfu");
  CHECK(text_of(*lab, "plan_problem").empty());
  compute(set(*lab, "gpus", 8300));
  CHECK_FALSE(text_of(*lab, "plan_problem").empty());
  CHECK(out(*lab, "used_gpus") == 8192);
  CHECK(near(out(*lab, "step_s"), step_s, 1e-9));
  CHECK(near(out(*lab, "fleet_mfu"), fleet * 8192 / 8300, 1e-9));
  // Heads, layers and GPUs bound the axes.
  compute(set(*lab, "tensor_parallel", 7, "pipeline_parallel", 1000, "virtual_pipeline", 60));
  CHECK(text_of(*lab, "plan_used").find("TP 4") != std::string::npos);
}

TEST_CASE("scaling tax: a tread that is dragged up takes its part of the riser, and the fleet wins GPUs") {
  namespace tax = chapters::fleet::scaling_tax;
  use_bundled_catalog();
  tax::Inputs in;
  in.slow_node = 0;
  chapters::Progress progress;
  auto done = tax::compute(in, progress);
  tax::Picture p = tax::arrange(in, done.facts, *done.run);
  const auto bubble = std::find_if(p.treads.begin(), p.treads.end(),
                                   [](const tax::Tread& t) { return t.cause == tax::TaxCause::pipeline; });
  REQUIRE(bubble != p.treads.end());
  CHECK(tax::lift_at(*bubble, bubble->after) == 0);
  CHECK(tax::lift_at(*bubble, bubble->before) == 100);
  in.lifted[static_cast<std::size_t>(bubble->lift)] = 100;
  const tax::Outputs lifted = tax::compute(in, progress).facts;
  CHECK(lifted.won_mfu > 2);
  CHECK(near(lifted.won_gpus, 8192 * (lifted.effective_mfu / done.facts.effective_mfu - 1), 1e-9));
  const double at = done.run->slow[10].mfu;
  CHECK(std::abs(tax::slower_at(*done.run, at) - done.run->slow[10].slower) < 0.11);
}

TEST_CASE("scaling tax: rare pauses are found on many GPUs alone, a release as before on none") {
  const LabPtr lab = open_lab("fleet/scaling-tax", R"({"slow_node": 0})");
  compute(*lab);
  CHECK(out(*lab, "canary_gpus") == 1024);
  CHECK(out(*lab, "first_found") < 5);
  // Two of three looks beyond two spreads, 12 looks, on each of seven numbers of GPUs: 1 - (1 - 0.011799)^7.
  CHECK(near(out(*lab, "false_alarm"), 7.972, 1e-3));
  // 1 - (1 - 1e-4)^8192 of the steps meet a pause of 30 % of the computation, which is most of the step.
  const double meets = -std::expm1(8192 * std::log1p(-1e-4));
  CHECK(out(*lab, "full_shortfall") < 100 * (1 - 1 / (1 + 0.3 * meets)));
  CHECK(out(*lab, "full_shortfall") > 10);
  CHECK(std::isnan(computed(set(*lab, "release", "as_before"), "canary_gpus")));
  CHECK(out(*lab, "full_shortfall") == 0);
  CHECK(computed(set(*lab, "release", "slower_kernels"), "first_found") > 90);
}
