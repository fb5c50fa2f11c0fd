#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

// Bounds and not figures: the last bits of exp and log differ between C libraries, and a digit near the border may
// change sides.
TEST_CASE("playground: eight bits are free, two are not, and tuning straight through brings most back") {
  const LabPtr lab = open_lab("compression/playground");
  set(*lab, "sparsity", 0);
  set(*lab, "weight_bits", 8);
  lab->compute();
  const double original = out(*lab, "original_accuracy");
  CHECK((original > 90 && original < 97));
  CHECK(std::abs(out(*lab, "accuracy_lost")) <= 1);
  CHECK(out(*lab, "size_bytes") == 2712);  // 2,368 + 4 (42 scales + 42 biases + 2 activation scales)
  CHECK(near(out(*lab, "compression"), 9640.0 / 2712, 1e-12));
  CHECK(near(out(*lab, "bits_per_weight"), 8 * 2712.0 / 2368, 1e-12));
  CHECK(near(out(*lab, "speed_compute"), 2, 1e-3));  // INT8 over BF16 on H100: 1,979 over 989.4 TFLOP/s
  set(*lab, "weight_bits", 2);
  lab->compute();
  const double rounded = out(*lab, "accuracy");
  CHECK(rounded < original - 25);
  lab->inputs().find("fine_tune")->toggle() = true;
  lab->compute();
  CHECK(out(*lab, "accuracy") > rounded + 15);
  CHECK(out(*lab, "original_accuracy") == original);  // the teacher was not trained again
}

TEST_CASE("playground: the goal is found in the sweep, and what beats the sweep says so") {
  const LabPtr lab = open_lab("compression/playground");
  lab->compute();
  const double smallest = out(*lab, "goal_bytes");
  CHECK((smallest > 100 && smallest < 400));
  CHECK(out(*lab, "goal_accuracy") > 70);
  CHECK(near(out(*lab, "goal_compression"), 9640 / smallest, 1e-12));
  const chapters::Field* front = lab->outputs().find("front");
  REQUIRE(front->table_size() >= 8);
  double bytes = 0, accuracy = 0;
  for (std::size_t i = 0; i < front->table_size(); ++i) {
    chapters::Fields row;
    front->table_row(i, row);
    CHECK(row.find("bytes")->number() > bytes);
    CHECK(row.find("accuracy")->number() > accuracy);
    bytes = row.find("bytes")->number();
    accuracy = row.find("accuracy")->number();
  }
  set(*lab, "goal", 95);
  choose(*lab, "difficulty", "hard");
  lab->compute();
  CHECK(out(*lab, "goal_bytes") == 0);
  CHECK_FALSE(lab->outputs().find("goal_met")->toggle());
}

TEST_CASE("playground: the same seed gives the same figures in a lab of its own, another seed others") {
  const LabPtr a = open_lab("compression/playground"), b = open_lab("compression/playground");
  set(*b, "seed", 2);
  b->compute();
  const double other = out(*b, "last_loss");
  set(*b, "seed", 1);
  a->compute();
  b->compute();
  for (const char* key : {"accuracy", "last_loss", "goal_bytes", "size_bytes", "first_loss"})
    CHECK(out(*a, key) == out(*b, key));
  CHECK(out(*a, "last_loss") != other);
  CHECK(out(*a, "last_loss") < out(*a, "first_loss") / 4);
}

TEST_CASE("playground: a run that is stopped says so and keeps nothing half trained") {
  const LabPtr lab = open_lab("compression/playground");
  chapters::Progress stopped;
  stopped.cancelled = true;
  lab->compute(stopped);
  CHECK(lab->reason() == "The training was stopped before its end.");
  lab->compute();
  CHECK(out(*lab, "original_accuracy") > 90);
}

TEST_CASE("sparsity: zeros that are stored bring nothing, 2:4 brings two or 16/9, rows bring what is left") {
  const LabPtr lab = open_lab("compression/sparsity");
  lab->compute();
  CHECK(out(*lab, "memory_ratio") == 0.5625);
  CHECK(near(out(*lab, "speedup"), 2, 1e-9));
  CHECK(near(out(*lab, "flops_skipped"), 50, 1e-9));
  CHECK(out(*lab, "kept") == 50);
  CHECK(out(*lab, "speedup_unstructured") == 1);
  CHECK(out(*lab, "error_unstructured") < out(*lab, "error_two_four"));
  CHECK(out(*lab, "error_two_four") < out(*lab, "error_structured"));
  set(*lab, "tokens", 1);
  lab->compute();
  CHECK(near(out(*lab, "speedup"), 16.0 / 9, 0.002));
  CHECK(lab->outputs().find("regime")->text() == "memory");
  choose(*lab, "chip", "v100_sxm2");
  choose(*lab, "format", "fp16");
  lab->compute();
  CHECK(out(*lab, "speedup") == 1);
  choose(*lab, "format", "fp8");
  lab->compute();
  CHECK(lab->reason() == "NVIDIA V100 SXM2 16/32GB states no dense FP8 peak: choose another format or chip.");
}

TEST_CASE("sparsity: dragging the tokens moves the layer from memory to compute") {
  const LabPtr lab = open_lab("compression/sparsity");
  set(*lab, "tokens", 4);
  lab->compute();
  Canvas canvas(*lab, {1000, 1000});
  support::UiDriver& ui = canvas.ui;
  ui.drag_by("drag tokens", {500, 0});
  CHECK(lab->inputs().find("tokens")->number() > 300);
  lab->compute();
  CHECK(lab->outputs().find("regime")->text() == "compute");
}

// Hinton et al. 2015: the soft part needs T^2 to keep its weight; KL is from the teacher to the student.
TEST_CASE("distillation: a teacher is worth most when digits are few, and labels alone are labels alone") {
  const LabPtr lab = open_lab("compression/distillation");
  lab->compute();
  CHECK(out(*lab, "gain") > 8);
  CHECK(out(*lab, "distilled_accuracy") < out(*lab, "teacher_accuracy"));
  CHECK(lab->outputs().find("students")->table_size() == 3);
  CHECK(near(out(*lab, "times_smaller"), 9640.0 / (4 * (74 * 8 + 18)), 1e-12));
  CHECK(near(out(*lab, "loss"), 0.1 * out(*lab, "hard_loss") + 0.9 * out(*lab, "soft_loss"), 1e-9));
  CHECK(near(out(*lab, "soft_loss"), 16 * out(*lab, "kl_teacher_student"), 1e-9));
  set(*lab, "alpha", 1);
  lab->compute();
  CHECK(out(*lab, "gain") == 0);
  CHECK(out(*lab, "soft_gradient") == 0);
}

TEST_CASE("distillation: before the first step the pull of the teacher stays with T squared and fades without") {
  const LabPtr lab = open_lab("compression/distillation");
  choose(*lab, "train", "none");
  set(*lab, "temperature", 20);
  lab->compute();
  CHECK((out(*lab, "soft_gradient") > 0.7 * out(*lab, "hot_gradient") &&
         out(*lab, "soft_gradient") < 1.4 * out(*lab, "hot_gradient")));
  CHECK(near(out(*lab, "soft_gradient") / out(*lab, "soft_gradient_plain"), 400, 1e-9));
  CHECK(out(*lab, "entropy_soft") > 3);
  CHECK(out(*lab, "entropy_soft") > out(*lab, "entropy"));
  set(*lab, "temperature", 1);
  lab->compute();
  CHECK(out(*lab, "entropy_soft") == out(*lab, "entropy"));
  CHECK(out(*lab, "kl_student_teacher") > 2 * out(*lab, "kl_teacher_student"));
}
