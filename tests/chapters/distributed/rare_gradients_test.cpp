#include "chapters/distributed/rare_gradients/lab.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_rare = chapters::distributed::rare_gradients;

TEST_CASE("rare gradients lab: whoever sends least is first where bytes are time, and far behind where steps are") {
  CHECK(answer_of("distributed/rare-gradients", "{}")
            .starts_with(
                "4 bits is first to a loss of `1.2`, after `25.0 s`; 1 bit sends least, `13.9 GB`, and takes "
                "`42.0 s`.\nYours, DiLoCo, takes `40.4 s` and `30 GB`; between syncs it sends nothing for `6.12 s`."));
  CHECK(answer_of("distributed/rare-gradients", R"({"link": "line"})")
            .starts_with("1 bit sends least to a loss of `1.2`, `13.9 GB`, and is also first, after "));
  CHECK(answer_of("distributed/rare-gradients", R"({"target": 0.5})").starts_with("No method falls to a loss of "));
  CHECK(answer_of("distributed/rare-gradients", R"({"method": "top_k", "error_feedback": false})")
            .find("Yours, Top-k, ends above the goal, at `1.53`") != std::string::npos);
  // The same rounds send the same: both are named, and the average is ahead by DiLoCo's outer steps.
  CHECK(answer_of("distributed/rare-gradients", R"({"link": "line", "period": 48})")
            .starts_with("Local SGD and DiLoCo send least to a loss of `1.2`, `12 GB`, and Local SGD is also first, "));
  CHECK(answer_of("distributed/rare-gradients", R"({"period": 47})")
            .find("; Local SGD and DiLoCo send least, `12 GB`, and take at least `51.2 s`.") != std::string::npos);
  CHECK(answer_of("distributed/rare-gradients", R"({"method": "stale"})").find("; its link is never silent.") !=
        std::string::npos);
  const LabPtr lab = open_lab("distributed/rare-gradients");
  compute(set(*lab, "network", "infiniband_ndr"));
  // 67 steps of half a second against 72 of Local SGD, whose chip makes no messages.
  CHECK(out(*lab, "least_place") == 9);
  // Slow messages leave the plain all-reduce in front.
  compute(set(*lab, "code_slowdown", 300.0));
  CHECK(out(*lab, "first_s") == out(*lab, "all_reduce_s"));
}

TEST_CASE("rare gradients lab: link, chip and goal ask for no new training, and a training is its own") {
  chapters::Progress progress;
  lab_rare::Trainings trainings;
  lab_rare::Inputs in;
  const auto first = lab_rare::compute(in, progress, trainings);
  in.network = "infiniband_ndr";
  in.target = 1.5;
  in.parameters = 7e9;
  const auto second = lab_rare::compute(in, progress, trainings);
  for (std::size_t m = 0; m < lab_rare::rare_method_count; ++m)
    CHECK(first.run->runners[m].run == second.run->runners[m].run);
  // Steps between syncs touch the two that step alone.
  in.period = 24;
  const auto third = lab_rare::compute(in, progress, trainings);
  const auto same = [&](lab_rare::RareMethod m) {
    const auto i = static_cast<std::size_t>(m);
    return second.run->runners[i].run == third.run->runners[i].run;
  };
  CHECK(same(lab_rare::RareMethod::top_k));
  CHECK_FALSE(same(lab_rare::RareMethod::diloco));
}

TEST_CASE("rare gradients lab: lanes stand by time, and their green is the syncs until the goal") {
  chapters::Progress progress;
  lab_rare::Trainings trainings;
  const lab_rare::Inputs in;
  const auto computed = lab_rare::compute(in, progress, trainings);
  const auto picture = lab_rare::arrange(in, computed.facts, *computed.run);
  REQUIRE(picture.lanes.size() == 9);
  for (std::size_t i = 1; i < picture.lanes.size(); ++i) CHECK(picture.lanes[i - 1].time_s <= picture.lanes[i].time_s);
  for (const auto& lane : picture.lanes) {
    if (!lane.yours) continue;
    CHECK(lane.talks.size() == 10);  // five syncs, the goal at the end of the fifth
    CHECK(near(static_cast<double>(lane.talks.back()), lane.time_s, 1e-6));
  }
  for (const auto& row : computed.facts.runners) CHECK(row.step_compute_s > 0.45);
}

TEST_CASE("rare gradients lab: a training that is stopped says so") {
  chapters::Progress progress;
  progress.cancelled = true;
  lab_rare::Trainings trainings;
  CHECK(lab_rare::compute({}, progress, trainings).facts.reason == "The training was stopped before its end.");
}

TEST_CASE("rare gradients lab: the ring that a door opens takes as long as a sync here") {
  chapters::Progress progress;
  lab_rare::Trainings trainings;
  lab_rare::Inputs in;
  const auto facts = lab_rare::compute(in, progress, trainings).facts;
  const auto link = lab_rare::doors_of(in, facts).front().link;
  REQUIRE(link);
  for (const char* part : {"ranks=4", "bytes=4e+09", "latency_s=1e-05", "bandwidth_bytes_per_s=3.125e+09"}) {
    CAPTURE(*link, part);
    CHECK(link->find(part) != std::string::npos);
  }
  in.method = lab_rare::RareMethod::sign;
  CHECK_FALSE(lab_rare::doors_of(in, facts).front().link);
  in.link = lab_rare::RareLink::line;
  CHECK_FALSE(lab_rare::doors_of(in, facts)[1].link);
}

TEST_CASE("rare gradients lab: the goal and the first sync of yours are dragged in the picture") {
  const LabPtr lab = open_lab("distributed/rare-gradients");
  lab->compute();
  Canvas canvas(*lab, {1000, 760});
  canvas.ui.frames(2);
  canvas.ui.drag_by("drag the goal", {0, -20});
  lab->compute();
  CHECK(input(*lab, "target").number() > 1.3);
  const double before = input(*lab, "period").number();
  canvas.ui.drag_by("drag the first sync", {60, 0});
  CHECK(input(*lab, "period").number() > before);
}
