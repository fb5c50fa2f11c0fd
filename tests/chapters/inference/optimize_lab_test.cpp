#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/inference/optimize/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

// One request, bite by bite: its figures by key, the measured ladder, and the order by hand.

using namespace support;

TEST_CASE("optimize lab: the ladder by key, measured beside, and a bite that its place takes away") {
  const LabPtr lab = open_lab("inference/optimize");
  CHECK(near(computed(*lab, "found_tokens_per_s"), 25.5, 0.02));
  CHECK(out(*lab, "found_measured_tokens_per_s") == 25.5);
  CHECK(out(*lab, "measured_tokens_per_s") == 244.7);
  CHECK(out(*lab, "found_kernels") == 1290);
  CHECK(near(out(*lab, "eight_bit_first_gain"), 1, 0.01));
  const double here = out(*lab, "eight_bit_gain"), end = out(*lab, "request_s");
  CHECK(here > 1.35);
  // 8-bit weights before all others: 17,437 is 8-bit, 4-bit, fusion, graph, draft.
  set(*lab, "order", "own", "own_order", 17437);
  CHECK(near(computed(*lab, "eight_bit_gain"), 1, 0.01));
  CHECK(near(out(*lab, "request_s"), end, 1e-9));
  CHECK(near(out(*lab, "four_bit_gain"), 1, 0.01));
  // Savings add up to the whole in any order, and on average.
  double saved = 0, average = 0;
  for (const char* key : {"fusion", "graph", "eight_bit", "four_bit", "draft"}) {
    saved += out(*lab, std::string(key) + "_saved_s");
    average += out(*lab, std::string(key) + "_average_s");
  }
  CHECK(near(saved, out(*lab, "found_request_s") - end, 1e-9));
  CHECK(near(average, saved, 1e-9));
  CHECK(std::isnan(out(*lab, "sharded_gain")));
  // Another request was measured by nobody.
  CHECK(std::isnan(computed(set(*lab, "prompt", 6), "measured_tokens_per_s")));
}

TEST_CASE("optimize lab: every order has a number, and a change that moves keeps the others in line") {
  using namespace chapters::inference::optimize;
  for (const std::int64_t number : {std::int64_t{1}, std::int64_t{2}, std::int64_t{17437}, order_count})
    CHECK(number_of_order(order_of_number(number)) == number);
  CHECK(order_of_number(order_count).front() == RequestChange::tensor_parallel);
  Inputs in;
  move_change(in, changes_on(in, order_of_number(1)), 4, 0);  // the draft before fusion
  CHECK(in.order == Order::own);
  const auto now = changes_on(in, order_of_number(in.own_order));
  const std::vector<RequestChange> wanted{RequestChange::speculative, RequestChange::fusion, RequestChange::graph,
                                          RequestChange::eight_bit_weights, RequestChange::four_bit_weights};
  CHECK(now == wanted);
}

TEST_CASE("optimize lab: rows are dragged, pressed and moved by arrows, and the dot moves along its curve") {
  const LabPtr lab = open_lab("inference/optimize");
  lab->compute();
  Canvas canvas(*lab, {1000, 720});
  canvas.ui.frames(2);
  CHECK(out(*lab, "eight_bit_gain") > 1.35);
  canvas.ui.drag_by("change", {0, 120});  // the first row of this name is fusion
  lab->compute();
  CHECK(input(*lab, "order").choice_id() == "own");
  CHECK(near(out(*lab, "graph_gain"), out(*lab, "graph_first_gain"), 1e-9));

  const LabPtr pressed = open_lab("inference/optimize");
  pressed->compute();
  Canvas press(*pressed, {1000, 720});
  press.ui.frames(2);
  press.ui.click("change");
  CHECK(input(*pressed, "fusion").choice_id() == "off");
  press.ui.frames(2);
  press.ui.click("offer");
  CHECK(input(*pressed, "flash").choice_id() == "on");

  const LabPtr dragged = open_lab("inference/optimize");
  dragged->compute();
  Canvas drag(*dragged, {1000, 720});
  drag.ui.frames(3);
  drag.ui.drag_by("drag the batch", {0, -120});
  CHECK(input(*dragged, "batch").number() > 2);
}

TEST_CASE("optimize lab: what cannot be says why, and what does not fit is said") {
  const LabPtr lab = open_lab("inference/optimize", R"({"model": "mixtral-8x7b"})");
  CHECK(reason_of(*lab).starts_with("Without a compiler a layer of experts is a loop"));
  set(*lab, "fusion", "found");
  CHECK(reason_of(*lab).empty());
  CHECK(answer_of("inference/optimize", R"({"model": "llama-3-70b", "four_bit": "off", "eight_bit": "off"})")
            .starts_with("A request to Llama 3 70B does not fit: a chip would have to hold `148 GB`"));
  CHECK(reason_of(set(*lab, "chip", "tpu_v5e")).find("compiled whole") != std::string::npos);
}
