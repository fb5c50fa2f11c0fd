#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/precision/loss_scaling/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using Catch::Approx;
using namespace support;

namespace {

LabPtr scaling(const char* inputs = "{}") {
  LabPtr lab = open_lab("precision/loss-scaling", inputs);
  lab->compute();
  INFO(lab->reason());
  REQUIRE(lab->reason().empty());
  return lab;
}

}  // namespace

// Errata 32, 35, 36: underflow is FP16's problem; GradScaler starts at 65,536; one skip in 2,000 is normal.
TEST_CASE("loss scaling: one step in fifty is forty times the normal rate and ends in zeros") {
  const LabPtr healthy = scaling(R"({"steps": 20000})"), broken = scaling(R"({"bad_rate": 2, "steps": 20000})");
  CHECK(out(*healthy, "highest_scale") == 65536);
  CHECK(out(*healthy, "balance_rate") == Approx(100.0 / 2001));
  CHECK(out(*healthy, "times_balance") <= 2);
  CHECK(healthy->outputs().find("health")->choice_id() == "healthy");
  CHECK(out(*broken, "times_balance") == Approx(40).epsilon(0.15));
  CHECK(out(*broken, "scale_drift") < -15);
  CHECK(out(*broken, "worst_zero_scaled") == Approx(100));
  CHECK(broken->outputs().find("health")->choice_id() == "collapsed");
}

TEST_CASE("loss scaling: zeros without a scale are the tail below 2^-25, with it nearly none, in BF16 none") {
  const LabPtr none = scaling(R"({"policy": "none", "drift_binades": 0})");
  CHECK(out(*none, "zero_unscaled") == Approx(100 * 0.5 * std::erfc(0.75 / std::sqrt(2.0))));  // 22.66 %
  CHECK(out(*none, "zero_scaled") == out(*none, "zero_unscaled"));
  CHECK(out(*none, "skips") == 0);
  CHECK(out(*none, "zero_bf16") < 1e-100);
  CHECK(out(*scaling(R"({"drift_binades": 0})"), "zero_scaled") < 0.5);
}

TEST_CASE("loss scaling: a fixed scale loses every step once gradients have grown past it") {
  const LabPtr fixed = scaling(R"({"policy": "fixed", "init_scale": 16384, "drift_binades": 12, "spike_rate": 0})");
  CHECK(out(*fixed, "final_scale") == 16384);
  CHECK(out(*fixed, "headroom_binades") < 0);
  CHECK(out(*fixed, "longest_skip_run") > 5000);
  CHECK(out(*scaling(R"({"drift_binades": 12, "spike_rate": 0})"), "skips") < 50);
}

// A rate that the sentence states rests on a dozen skips in the default run, not on three, and the sentence counts
// them.
TEST_CASE("loss scaling: the default run is long enough for its rate, which other seeds hardly move") {
  const LabPtr lab = scaling();
  const double rate = out(*lab, "late_skip_rate"), skips = out(*lab, "late_skips");
  CHECK(skips >= 10);
  CHECK(rate == Approx(100 * skips / 48000));
  CHECK(out(*lab, "early_skips") + skips == out(*lab, "skips"));
  CHECK(lab->answer() ==
        "A healthy scaler skips at most 1 step in `2,001`: 1 in 50 is `40.0\xC3\x97` as often and not normal.\n"
        "This run is healthy: it skips `12` of its last `48,000` steps.");
  CHECK(scaling(R"({"spike_rate": 2, "drift_binades": 0})")
            ->answer()
            .ends_with("Spikes come in `2 %` of the steps, yet the scale settles where they fit: it skips `18` of its "
                       "last `48,000` steps."));
  for (const char* seed : {R"({"seed": 2})", R"({"seed": 3})", R"({"seed": 4})"})
    CHECK(out(*scaling(seed), "late_skip_rate") == Approx(rate).epsilon(0.25));
}

TEST_CASE("loss scaling: dragging the cursor shows another step's shares") {
  const LabPtr lab = scaling(R"({"bad_rate": 2, "steps": 20000})");
  Canvas canvas(*lab, {1200, 1000});
  support::UiDriver& ui = canvas.ui;
  const double before = lab->view().find("time")->real();
  ui.drag_by("drag step", {-350, 0});
  const double after = lab->view().find("time")->real();
  CHECK(before == 15000);
  CHECK((after > 100 && after < 5000));
}

TEST_CASE("loss scaling: the answer is whole where nothing is skipped, where all is, and where a run is short") {
  CHECK(scaling(R"({"steps": 500, "drift_binades": 0, "median": 1e-12})")->answer() ==
        "A healthy scaler skips at most 1 step in `2,001`: 1 in 50 is `40.0\xC3\x97` as often and not normal.\n"
        "This run is too short to say: it skips no step.");
  CHECK(scaling(R"({"spike_rate": 0, "drift_binades": -24, "steps": 20000})")
            ->answer()
            .starts_with("The scale is of no use here: at worst `"));
  CHECK(scaling(R"({"steps": 500, "drift_binades": -24})")->answer().find("\xE2\x80\x94") == std::string_view::npos);
  CHECK(
      scaling(R"({"growth_interval": 10, "growth": 8, "backoff": 0.99})")
          ->answer()
          .starts_with("These settings have no healthy rate: growth outweighs backoff, and up to `95.4 %` of the steps "
                       "may be skipped."));
  // The most extreme settings that the controls give: more than every step cannot be skipped.
  CHECK(out(*scaling(R"({"growth_interval": 10, "growth": 8, "backoff": 0.99})"), "balance_rate") < 100);
}

// At most one skip in 2,001 holds the scale; a run with more is not called healthy in the same breath.
TEST_CASE("loss scaling: a run that skips a little more often than is normal says that its scale sinks") {
  const LabPtr lab = scaling(R"({"drift_binades": 24})");
  CHECK(out(*lab, "times_balance") > 1);
  CHECK(out(*lab, "times_balance") < 2);
  CHECK(out(*lab, "final_scale") < out(*lab, "highest_scale"));
  CHECK(lab->answer().ends_with("of its last `48,000` steps, a little more often: on the whole its scale sinks."));
}

TEST_CASE("loss scaling: without a scaler nothing is skipped, and what overflows reaches the weights") {
  CHECK(scaling(R"({"policy": "none", "drift_binades": 0})")->answer().find("Nothing overflows here; BF16, ") !=
        std::string::npos);
  const LabPtr grown = scaling(R"({"policy": "none", "drift_binades": 24})");
  CHECK(out(*grown, "skips") > 1);
  CHECK(grown->answer().starts_with("Without a scaler no step is skipped, and "));
  CHECK(grown->answer().ends_with(" steps put inf or NaN into the weights, since nothing looks for them."));
}

// The question's own rate stands beside the run's and the normal one, and leaves the frame at its upper end.
TEST_CASE("loss scaling: one step in fifty is a line where it is far from normal, and none where it is not") {
  using namespace chapters::precision::loss_scaling;
  Inputs in;
  const auto picture_of = [](const Inputs& inputs) {
    return support::picture_of(inputs, chapters::precision::loss_scaling::compute, arrange);
  };
  const Picture p = picture_of(in);
  REQUIRE(p.fifty.x.size() == 2);
  // Rates count from the end of the first interval, and from what was skipped by then.
  CHECK(p.fifty.x[0] == 2000);
  CHECK(p.fifty.y[0] == p.rates_on);
  CHECK(p.rates_on > 0);
  CHECK(p.fifty.x[1] == Approx(2000 + 50 * (p.skipped_hi - p.rates_on)));
  CHECK(p.fifty.y[1] == Approx(p.skipped_hi));
  CHECK(p.normal.y[1] - p.normal.y[0] == Approx(48000.0 / 2001));
  CHECK(p.skipped.y.back() - p.rates_on < p.normal.y[1] - p.normal.y[0]);  // healthy: it climbs less
  in.bad_rate = 2;
  const Picture broken = picture_of(in);
  REQUIRE(broken.fifty.x.size() == 2);
  CHECK(broken.fifty.x[1] == 50000);
  CHECK(broken.fifty.y[1] - broken.fifty.y[0] == Approx(48000.0 / 50));
  in.policy = models::ScalerPolicy::fixed;
  CHECK(picture_of(in).fifty.x.empty());
}
