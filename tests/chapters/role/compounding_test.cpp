#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>
#include <string>

#include "chapters/role/compounding/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

chapters::role::compounding::Outputs compounding_facts(const chapters::role::compounding::Inputs& in) {
  return chapters::role::compounding::compute(in).facts;
}

}  // namespace

TEST_CASE("compounding lab: 2 x 2 x 2 is not 8, and one factor of a part is less on the step") {
  const auto says = [](const char* inputs) { return answer_of("role/compounding", inputs); };
  CHECK(says("{}") ==
        "The step is `1.90\xC3\x97` as fast, not the `8\xC3\x97` that its factors multiply to: `446 ms` instead of "
        "`850 ms`.\nThe untouched `5 %` of the step before caps any speed-up at `20\xC3\x97`.");
  CHECK(says(R"({"precision_on": false, "optimizer_on": false})")
            .starts_with(
                "Data pipeline is `2\xC3\x97` on data and makes the step `1.25\xC3\x97` as fast: `680 ms` instead of "
                "`850 ms`.\n"));
  CHECK(says(R"({"pipeline_on": false, "precision_on": false, "optimizer_on": false})")
            .starts_with("No technique is on: the step takes `850 ms`.\n"));
  // 850 / 680 = 1.25 before the others, 615 / 446.25 after them.
  CHECK(says(R"({"order": "reversed"})")
            .ends_with(
                "\nIn reverse order, the last (Data pipeline) gains `1.38\xC3\x97`, not the `1.25\xC3\x97` it would as "
                "the first; the end is the same."));
  CHECK(says(R"({"pipeline_touches": "everything"})")
            .ends_with("\nEvery part is touched, so nothing caps what a larger factor could give."));
  CHECK(says(R"({"forward_s": 0, "backward_s": 0, "optimizer_s": 0, "rest_s": 0, "data_s": 0})") ==
        "A step needs at least one part that takes time.");
}

TEST_CASE("compounding lab: order changes gains and never the end, cost and time follow the step") {
  const LabPtr lab = open_lab("role/compounding");
  compute(*lab);
  const double speedup = out(*lab, "speedup"), first = cell(*lab, "stages", 2, "gain");
  CHECK(near(speedup, 850.0 / 446.25));
  CHECK(near(out(*lab, "run_cost_after"), 50000 / speedup));
  CHECK(near(out(*lab, "run_after_s"), 259200 / speedup));
  CHECK(cell_text(*lab, "stages", 2, "name") == "Fused optimizer");
  CHECK(near(first, cell(*lab, "stages", 2, "last_gain")));
  set(*lab, "order", "smallest");
  compute(*lab);
  CHECK(near(out(*lab, "speedup"), speedup));
  CHECK(cell_text(*lab, "stages", 0, "name") == "Fused optimizer");
  CHECK(near(cell(*lab, "stages", 0, "gain"), cell(*lab, "stages", 0, "first_gain")));
  CHECK(cell(*lab, "stages", 0, "gain") < first);
  CHECK(near(cell(*lab, "stages", 0, "saved_s"), 0.0425));  // the same milliseconds
}

// A loader beside the device makes the order matter most: what is hidden first comes out later.
TEST_CASE("compounding lab: the order matters by a technique's largest gain over its smallest, over all 120 orders") {
  using namespace chapters::role::compounding;
  for (const bool beside : {false, true}) {
    Inputs in;
    in.loader_beside = beside;
    in.techniques[2].on = true;
    const double widest = compounding_facts(in).widest;
    in.order = Order::own;
    std::map<std::string, std::pair<double, double>> gains;
    for (in.own_order = 1; in.own_order <= 120; ++in.own_order)
      for (const StageRow& row : compounding_facts(in).stages) {
        auto& [least, most] = gains.try_emplace(row.name, row.gain, row.gain).first->second;
        least = std::min(least, row.gain);
        most = std::max(most, row.gain);
      }
    double over_all = 1;
    for (const auto& [name, gain] : gains) over_all = std::max(over_all, gain.second / gain.first);
    CHECK(near(widest, over_all, 1e-9));
  }
}

TEST_CASE("compounding lab: every number of an order is another order") {
  using namespace chapters::role::compounding;
  std::set<std::array<std::size_t, technique_count>> seen;
  Inputs in;
  in.order = Order::own;
  for (in.own_order = 1; in.own_order <= 120; ++in.own_order) {
    seen.insert(order_of(in));
    CHECK(order_number(order_of(in)) == in.own_order);
  }
  CHECK(seen.size() == 120);
}

TEST_CASE("compounding lab: rows of the picture are the step, the techniques, the end and both products") {
  using namespace chapters::role::compounding;
  const Inputs in;
  const Picture picture = picture_of(in, chapters::role::compounding::compute, arrange);
  REQUIRE(picture.rows.size() == 9);
  CHECK(picture.rows[0].name == "Before");
  CHECK(picture.rows[6].packed);
  CHECK(picture.rows[7].ghost);
  CHECK(near(picture.rows[7].ghost_s, 0.85 / 8));
  CHECK(near(picture.rows[8].ghost_s, 0.85 / (1.25 * 850 / 658.75 * 850 / 807.5)));
  // Parts keep their places: 170, 212.5, 85 and 42.5 ms, then data.
  for (const auto& [part, at] : {std::pair{0, 0.0}, {1, 0.17}, {2, 0.3825}, {3, 0.4675}, {4, 0.51}})
    CHECK(near(picture.slot_s[static_cast<std::size_t>(part)], at));
  CHECK(near(picture.longest_s, 0.85));
}

TEST_CASE("compounding lab: a loader that runs meanwhile is said and drawn at the step before") {
  using namespace chapters::role::compounding;
  Inputs in;
  in.loader_beside = true;
  const Picture picture = picture_of(in, chapters::role::compounding::compute, arrange);
  CHECK(picture.rows[0].words == "loading takes 340 ms meanwhile");
  CHECK(near(picture.rows[0].meanwhile_s, 0.34));
  in.data_s = 2;  // longer than the device: the picture has room for it
  CHECK(picture_of(in, chapters::role::compounding::compute, arrange).longest_s >= 2);
  CHECK(picture_of(Inputs{}, chapters::role::compounding::compute, arrange).rows[0].words.empty());
}

TEST_CASE("compounding lab: what five quantized decode steps were measured at") {
  for (const auto& [preset, measured] : {std::pair{"Decode in 4 bits", 1 / 196.80}}) {
    const LabPtr lab = open_preset("role/compounding", preset);
    compute(*lab);
    CHECK(near(out(*lab, "step_s"), measured, 0.02));
    CHECK(near(out(*lab, "base_s"), 1 / 104.9, 1e-5));
  }
}

TEST_CASE("compounding lab: a click switches a technique, a drag moves it") {
  const LabPtr lab = open_lab("role/compounding");
  lab->compute();
  Canvas canvas(*lab, {1400, 900});
  canvas.ui.frames(3);
  const auto height = [&](const char* row) { return canvas.ui.item(row).max.y - canvas.ui.item(row).min.y; };
  CHECK(height("Compilation") < 0.6f * height("Fused optimizer"));  // what is off is a line of words alone
  canvas.ui.click("Compilation");
  CHECK(input(*lab, "compile_on").toggle());
  canvas.ui.click("Compilation");
  CHECK_FALSE(input(*lab, "compile_on").toggle());
  const float row = canvas.ui.item("Fused optimizer").max.y - canvas.ui.item("Fused optimizer").min.y;
  canvas.ui.drag_by("Fused optimizer", {0, -3 * row});
  canvas.ui.frames(2);
  CHECK(input(*lab, "order").choice_id() == "own");
  CHECK(input(*lab, "optimizer_on").toggle());  // a drag is no click
  compute(*lab);
  CHECK(cell_text(*lab, "stages", 0, "name") == "Fused optimizer");
  CHECK(cell_text(*lab, "stages", 1, "name") == "Data pipeline");
}

TEST_CASE("compounding lab: a technique at a factor of 1 already bounds the stack, and products say how they err") {
  const LabPtr one =
      open_lab("role/compounding", R"({"pipeline_on": false, "optimizer_on": false, "precision_factor": 1})");
  compute(*one);
  CHECK(near(out(*one, "speedup"), 1));
  CHECK(near(out(*one, "ceiling"), 1 / 0.55));
  using namespace chapters::role::compounding;
  const Inputs in;
  const auto rows = picture_of(in, chapters::role::compounding::compute, arrange).rows;
  CHECK(rows[rows.size() - 2].verdict == "promises too much");
  CHECK(rows[rows.size() - 1].verdict == "promises too little");
}
