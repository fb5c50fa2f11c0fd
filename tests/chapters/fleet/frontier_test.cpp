#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/fleet/frontier/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace lab_frontier = chapters::fleet::frontier;

namespace {

lab_frontier::Inputs own_points(const char* text) {
  lab_frontier::Inputs in;
  in.set = "own";
  in.points.path = "mine.csv";
  in.points.text = text;
  in.wall_x = 0;
  return in;
}

}  // namespace

TEST_CASE("frontier: a file, its axes and what is best give the front in the file's order") {
  lab_frontier::Inputs in = own_points("name,acc,ips,ms\nc,80,5,9\na,70,10,3\nb,70,10,3\nd,60,4,2\ne,81,,1\n");
  in.axes = "[acc, ips]";
  in.best = R"(["high", "high"])";
  const auto first = lab_frontier::compute(in);
  REQUIRE(first.facts.reason.empty());
  CHECK(first.facts.front == std::vector<std::string>{"c", "a", "b"});
  CHECK(first.facts.points_count == 4);
  CHECK(first.facts.left_out == 1);
  CHECK(first.facts.dominated == 1);
  in.axes = "acc, ips, ms";
  in.best = "high, high, low";
  CHECK(lab_frontier::compute(in).facts.front == std::vector<std::string>{"c", "a", "b", "d"});
  in.best = "high";
  CHECK(lab_frontier::compute(in).facts.reason ==
        "What is best is said of 1 axes where there are 3: write high or low for each.");
  in.axes = "acc, speed";
  in.best = "";
  CHECK(lab_frontier::compute(in).facts.reason == "No column is named \"speed\": there are acc, ips, ms.");
}

TEST_CASE("frontier: chat with Llama 3.1 70B, and what the 405B costs at the same exchange rate") {
  const LabPtr lab = open_lab("fleet/frontier");
  compute(*lab);
  CHECK(near(out(*lab, "winner_x"), 35.835, 1e-9));
  CHECK(near(out(*lab, "winner_y"), 0.36143, 1e-9));
  // 405B FP8 on 4 B200 with 64 at once: 38.192 ms and 2.56132 J; half the wait is worth 1.6 times the energy.
  const double price = 2.56132 / 0.36143 * std::pow(1.6, std::log2(38.192 / 35.835));
  CHECK(near(out(*lab, "against_times"), price, 1e-9));
  CHECK(near(price, 7.4, 0.01));
}

TEST_CASE("frontier: one front a quality, never mixed") {
  const auto chat = lab_frontier::compute({});
  for (std::size_t q = 0; q < chat.run->fronts.size(); ++q)
    for (const std::size_t p : chat.run->fronts[q].points) CHECK(chat.run->set->quality_of[p] == q);
  CHECK(chat.facts.fronts.size() == 11);
}

TEST_CASE("frontier: a tenth of a point costs three times the speed at the top of timm") {
  const LabPtr lab = open_lab("fleet/frontier", R"({"set": "timm", "pays_units": 0.5, "wall_x": 0})");
  compute(*lab);
  CHECK(out(*lab, "front_count") == 31);
  CHECK(out(*lab, "dominated") == 764);
  CHECK(near(out(*lab, "winner_y"), 89.238, 1e-9));
  CHECK(near(out(*lab, "more_times"), 313.85 / 105.26, 1e-9));
}

TEST_CASE("frontier: the winner stays within its rates and not beyond, and walls are kept") {
  const auto now = lab_frontier::compute({});
  const auto winner_at = [](double pays) {
    lab_frontier::Inputs in;
    in.pays = pays;
    return lab_frontier::compute(in).facts.winner;
  };
  CHECK(winner_at(now.facts.rate_to * 0.999) == now.facts.winner);
  CHECK(winner_at(now.facts.rate_to * 1.001) == now.facts.winner_above);
  lab_frontier::Inputs in;
  in.pays = 1.01;
  in.wall_x = 20;
  CHECK(lab_frontier::compute(in).facts.winner_x <= 20);
  in.wall_x = 5;
  CHECK(lab_frontier::compute(in).facts.passed == 0);
  CHECK(answer_of("fleet/frontier", R"({"wall_x": 5})")
            .starts_with("Without the walls Llama 3.1 70B: 2 B200, 256 at once is best"));
}

TEST_CASE("frontier: a wall beyond all points is none, and a guessed direction is said") {
  lab_frontier::Inputs in;
  in.set = "gguf_8b";  // no file has more than 50 GiB, the wall that chat begins with
  const auto beyond = lab_frontier::compute(in);
  CHECK(beyond.run->x.wall_is_beyond);
  CHECK(beyond.run->x.wall == 0);
  CHECK_FALSE(beyond.run->y.wall_is_beyond);
  CHECK(lab_frontier::answer_of(in, beyond.facts, *beyond.run)
            .find("The wall across lies beyond all points and does nothing; yours stays") != std::string::npos);
  in.wall_x = 0;
  CHECK(lab_frontier::compute(in).facts.winner == beyond.facts.winner);
  CHECK_FALSE(lab_frontier::compute({}).run->x.wall_is_beyond);

  lab_frontier::Inputs own = own_points("name,latency,acc\na,1,60\nb,2,70\nc,3,65\n");
  const auto guessed = lab_frontier::compute(own);
  CHECK(guessed.facts.front == std::vector<std::string>{"a", "b"});
  CHECK(lab_frontier::answer_of(own, guessed.facts, *guessed.run)
            .find("By its name less latency is better, a guess; yours stays") != std::string::npos);
  own.best = "low, high";
  const auto said = lab_frontier::compute(own);
  CHECK(said.facts.front == guessed.facts.front);
  CHECK(lab_frontier::answer_of(own, said.facts, *said.run).find("guess") == std::string::npos);
}

TEST_CASE("frontier: a model is found by a part of its name, with those that beat it") {
  lab_frontier::Inputs in;
  in.set = "timm";
  in.wall_x = 0;
  in.mine = "ResNet50D";
  const auto found = lab_frontier::compute(in);
  REQUIRE(found.facts.reason.empty());
  CHECK(found.facts.mine_found.starts_with("resnet50d"));
  CHECK(found.facts.mine_dominators > 10);
  CHECK(found.facts.mine_times > 1.5);
  in.mine = "nobody has this";
  CHECK(lab_frontier::compute(in).facts.mine_found == "none");
}

TEST_CASE("frontier: in the picture better is right and up, and the ruler passes over no point of the front") {
  const auto chat = lab_frontier::compute({});
  const lab_frontier::Picture p = lab_frontier::arrange({}, chat.facts, *chat.run);
  for (const auto& spot : p.fronts[p.quality].points) {
    const auto& row = p.winner;
    if (spot.u < 0.2f) continue;  // beyond the wall
    CHECK(static_cast<double>(spot.v - row.v) <= -p.fall * static_cast<double>(spot.u - row.u) + 1e-5);
  }
  lab_frontier::Inputs walled;
  walled.wall_x = 5;
  const auto none = lab_frontier::compute(walled);
  const lab_frontier::Picture q = lab_frontier::arrange(walled, none.facts, *none.run);
  CHECK((q.winner.u > 0 && q.winner.u < 1));  // it is seen, though no point passes the wall
  const std::size_t eight = 0;                // the 8B lies right of and above the 70B
  CHECK(p.fronts[eight].winner.u > p.winner.u);
  CHECK(p.fronts[eight].winner.v > p.winner.v);
}

TEST_CASE("frontier: the answer names the point, its figures, and what a little more or another quality costs") {
  CHECK(answer_of("fleet/frontier", "{}")
            .starts_with("For you Llama 3.1 70B: 2 B200, 256 at once is best, with `35.8 ms`"));
  CHECK(answer_of("fleet/frontier", R"({"set": "timm", "pays_units": 0.5, "wall_x": 0})")
            .find("`0.1` points more top-1 accuracy divides images per second by `2.98") != std::string::npos);
}

TEST_CASE("frontier: the exchange rate is dragged no further than it may be set, on either scale") {
  use_bundled_catalog();
  for (const char* inputs : {R"({"pays": 100, "wall_x": 0})", R"({"set": "timm", "pays_units": 1000, "wall_x": 0})"}) {
    const LabPtr lab = open_lab("fleet/frontier", inputs);
    compute(*lab);
    Canvas canvas(*lab, {1180, 900});
    canvas.ui.frames(3);
    const auto& rate = input(*lab, std::string(inputs).find("timm") == std::string::npos ? "pays" : "pays_units");
    for (const float by : {600.0f, -3000.0f, 3000.0f}) {
      canvas.ui.drag_by("drag the exchange rate", {by, 0});
      canvas.ui.frames(3);
      CHECK(rate.number() >= rate.spec.range.lo);
      CHECK(rate.number() <= rate.spec.range.hi);
    }
  }
}
