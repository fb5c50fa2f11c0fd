#include <catch2/catch_test_macros.hpp>
#include <string>

#include "chapters/training/batch/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("batch lab: the answer tells rounding from another training, and refuses more pieces than examples") {
  const auto says = [](const char* inputs) { return answer_of("training/batch", inputs); };
  CHECK(says("{}").find("from the batch of 64, which is rounding; with a critical batch of") != std::string::npos);
  CHECK(says(R"({"rule": "mean_of_means", "uneven": true})").find("from the batch of 64, which is another training;") !=
        std::string::npos);
  CHECK(says(R"({"rate": 1.6, "warm_up": 40, "steps": 80})").find(": rounding that so high a rate makes grow;") !=
        std::string::npos);
  CHECK(
      says(R"({"micro_batches": 1})").starts_with("1 piece ends `0 %` from the batch of 64, since it is that batch;"));
  CHECK(says(R"({"batch": 4})") == "A batch of 4 cannot be cut into 8 pieces: take fewer micro-batches.");
}

TEST_CASE("batch lab: what the fit says is said of the best rate, since it is the same at every rate") {
  const std::string fit = " a batch of 64, at its best rate, takes ";
  for (const char* inputs : {"{}", R"({"rate": 5, "rule": "summed"})", R"({"rate": 0.01})", R"({"momentum": 0.9})"})
    CHECK(answer_of("training/batch", inputs).find(fit) != std::string::npos);
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
