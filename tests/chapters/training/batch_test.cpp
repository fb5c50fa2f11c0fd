#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/training/batch/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("batch lab: the answer tells rounding from another training, and refuses more pieces than examples") {
  const auto says = [](const char* inputs) { return answer_of("training/batch", inputs); };
  CHECK(
      says("{}").starts_with("`8` pieces train like one batch of `64`, up to rounding: after `60` steps their weights "
                             "are `8.6e-6 %` apart.\nThis batch is above the critical one of `22`: at its best rate "
                             "it takes `1.3\xC3\x97` the fewest steps and `3.9\xC3\x97` the fewest examples."));
  CHECK(says(R"({"rule": "mean_of_means", "uneven": true})")
            .starts_with("`8` uneven pieces whose means count the same are another training: their weights end "));
  CHECK(says(R"({"rule": "mean_of_means", "uneven": true})").find(" away from those of one batch of `64`.\n") !=
        std::string::npos);
  CHECK(says(R"({"rule": "summed"})").starts_with("`8` pieces whose means are added up train at `8\xC3\x97` the rate"));
  CHECK(says(R"({"rate": 1.6, "warm_up": 40, "steps": 80})").find("but at a rate of `1.6` rounding grows") !=
        std::string::npos);
  CHECK(says(R"({"micro_batches": 1})")
            .starts_with("A batch of `64` in one piece is the batch itself: both trainings are the same.\n"));
  CHECK(says(R"({"batch": 4})") == "A batch of 4 cannot be cut into 8 pieces: take fewer micro-batches.");
}

TEST_CASE("batch lab: what the fit says is said of the best rate, and the run's own progress is at the rate set") {
  for (const char* inputs : {"{}", R"({"rate": 5, "rule": "summed"})", R"({"rate": 0.01})", R"({"momentum": 0.9})"})
    CHECK(answer_of("training/batch", inputs).find(": at its best rate it takes ") != std::string::npos);
  const LabPtr lab = open_lab("training/batch");
  compute(*lab);
  const double loss = out(*lab, "held_out_loss"), best = out(*lab, "steps_here");
  CHECK(out(*lab, "examples_read") == 64 * 60);
  CHECK(std::isnan(out(*lab, "target_step")));
  // A rate of 0.01 has come less far after as many steps; what the fit says is the same.
  CHECK(computed(set(*lab, "rate", 0.01), "held_out_loss") > loss + 0.3);
  CHECK(out(*lab, "steps_here") == best);
  // At the rate that the search found best the target of 1 nat is reached within 80 steps.
  compute(set(*lab, "rate", 1.0, "target", "easy", "steps", 80));
  CHECK(out(*lab, "target_step") <= 80);
  CHECK(out(*lab, "held_out_loss") <= 1.3);
}

TEST_CASE("batch lab: the line of distances leaves the band of rounding where the gradients are others") {
  namespace lab_batch = chapters::training::batch;
  const auto apart = [](lab_batch::Inputs in) {
    in.target = lab_batch::Target::easy;
    chapters::Progress progress;
    lab_batch::Searches searches;
    const auto computed = lab_batch::compute(in, progress, searches);
    return lab_batch::arrange(in, computed.facts, *computed.run);
  };
  const auto rounding = apart({});
  CHECK(rounding.apart.back().y.size() == 60);
  CHECK(rounding.apart.back().y.back() < lab_batch::rounding_percent);
  const auto other = apart({.rule = models::AccumulationRule::mean_of_means, .uneven = true});
  CHECK(other.apart.back().y.front() > lab_batch::rounding_percent);
  CHECK(apart({.micro_batches = 1}).same);
}

TEST_CASE("batch lab: steps and examples here follow from the fit") {
  const LabPtr lab = open_lab("training/batch", R"({"batch": 128})");
  compute(*lab);
  const double critical = out(*lab, "critical_batch");
  CHECK(near(out(*lab, "steps_here"), out(*lab, "steps_min") * (1 + critical / 128)));
  CHECK(near(out(*lab, "examples_here"), 128 * out(*lab, "steps_here")));
  CHECK(out(*lab, "memory_share") == 12.5);
  CHECK(rows(*lab, "costs") == 5);
}

TEST_CASE("batch lab: a compute that is stopped says so, and its search is done anew") {
  namespace lab_batch = chapters::training::batch;
  lab_batch::Searches searches;
  chapters::Progress stopped, goes_on;
  stopped.cancelled = true;
  const lab_batch::Inputs in{.target = lab_batch::Target::easy};
  CHECK(lab_batch::compute(in, stopped, searches).facts.reason ==
        "The search for the critical batch was stopped before its end.");
  CHECK(lab_batch::compute(in, goes_on, searches).facts.critical_batch > 1);
}

TEST_CASE("batch lab: the table has the linear and the root rule next to the rate that was found best") {
  namespace lab_batch = chapters::training::batch;
  chapters::Progress progress;
  lab_batch::Searches searches;
  const auto costs = lab_batch::compute({}, progress, searches).facts.costs;
  REQUIRE(costs.size() == 5);
  CHECK(costs.front().linear_rate == costs.front().rate);
  CHECK(near(costs[3].linear_rate, 64 * costs.front().rate, 1e-12));
  CHECK(near(costs[3].root_rate, 8 * costs.front().rate, 1e-12));
  // What the Design page says: between the rules up to 16, and 1 from there on.
  for (const std::size_t i : {1, 2}) {
    CHECK(costs[i].rate > costs[i].root_rate);
    CHECK(costs[i].rate < costs[i].linear_rate);
  }
  for (const std::size_t i : {2, 3, 4}) CHECK(costs[i].rate == 1);
}
