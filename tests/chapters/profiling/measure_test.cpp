#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/profiling/measure/lab.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

constexpr const char* steady =
    R"({"order": "random", "drift": 0, "correlation": 0, "cold": 0, "discard": 0, "noise": 2})";

}  // namespace

TEST_CASE("measure: the default is a win that the order of the runs made, and turns take it away") {
  const LabPtr lab = open_lab("profiling/measure");
  compute(*lab);
  CHECK(choice_of(*lab, "verdict") == "faster");
  CHECK(near(out(*lab, "order_bias"), 2.8777, 1e-3));
  CHECK(out(*lab, "real_gain") == 0);
  CHECK(out(*lab, "found_lo") > 0);
  CHECK(out(*lab, "alarm_computed") > 90);
  CHECK(answer_of("profiling/measure", "{}")
            .ends_with("\nThe order of the runs alone makes `2.9 %` of gain; really B saves `0 %`."));
  set(*lab, "order", "mirrored", "paired", "true");
  compute(*lab);
  CHECK(std::abs(out(*lab, "order_bias")) < 0.1);
  CHECK(std::abs(out(*lab, "found")) < 1);
  // Other orders of the same budget stand in the table: the first is the win, the second its mirror.
  CHECK(rows(*lab, "orders") == 5);
  CHECK(cell(*lab, "orders", 0, "bias") > 2);
  CHECK(cell(*lab, "orders", 1, "bias") < -2);
}

TEST_CASE("measure: figures of a t test follow from each other") {
  const LabPtr lab = open_lab("profiling/measure", steady);
  set(*lab, "paired", "true", "gain", 1);
  compute(*lab);
  CHECK(near(out(*lab, "standard_error"), out(*lab, "pair_spread") / std::sqrt(out(*lab, "pairs")), 1e-9));
  CHECK(near(out(*lab, "half_width"), out(*lab, "critical_t") * out(*lab, "standard_error"), 1e-9));
  CHECK(near(out(*lab, "rule_pairs"), 64, 1e-9));
  CHECK(near(out(*lab, "found"), 100 * (1 - out(*lab, "b_time_s") / out(*lab, "a_time_s")), 1e-9));
  CHECK(out(*lab, "looks") == 16);
  CHECK(near(out(*lab, "independent_looks"), 100 * (1 - std::pow(0.95, 16)), 1e-9));
  CHECK(std::abs(out(*lab, "power_simulated") - out(*lab, "power_computed")) < 2 * out(*lab, "power_error") + 1);
  // The set method is one of the table's.
  CHECK(rows(*lab, "methods") == 6);
  CHECK(near(cell(*lab, "methods", 1, "lo"), out(*lab, "found_lo"), 1e-12));
}

TEST_CASE("measure: the answer's words follow what B really does, and no share of few trials is sure") {
  CHECK(answer_of("profiling/measure", R"({"gain": -5})").ends_with("really B takes `5 %` longer."));
  CHECK(answer_of("profiling/measure", R"({"drift": -8})")
            .ends_with("\nThe order of the runs alone makes B look `3.2 %` slower; really B saves `0 %`."));
  const LabPtr lab = open_preset("profiling/measure", "Cold starts kept");
  compute(*lab);
  // None of 200: Wilson's interval ends at z^2 / (200 + z^2), with z = 1.96.
  CHECK(out(*lab, "power_simulated") == 0);
  CHECK(near(out(*lab, "power_error"), 100 * 3.8415 / 203.8415, 1e-4));
  CHECK(near(out(*lab, "alarm_error"), out(*lab, "power_error"), 1e-9));
}

TEST_CASE("measure: the rule of sixteen takes what the clock and interruptions add to a run's spread") {
  const LabPtr lab = open_preset("profiling/measure", "A coarse clock");
  compute(*lab);
  CHECK(near(out(*lab, "run_spread"), std::hypot(0.5, out(*lab, "clock_spread")), 1e-9));
  CHECK(out(*lab, "rule_pairs") == std::ceil(4 * out(*lab, "run_spread") * out(*lab, "run_spread")));
  CHECK(near(out(*lab, "rule_pairs"), out(*lab, "runs_needed") / 2, 0.05));
}

TEST_CASE("measure: a pair has two runs, and a budget of recorded runs is no larger than it says") {
  const LabPtr lab = open_lab("profiling/measure");
  set(*lab, "runs", 41, "paired", "true");
  compute(*lab);
  CHECK(out(*lab, "runs_used") == 36);
  CHECK(out(*lab, "thrown_away") == 4);
  CHECK(near(out(*lab, "found"), 100 * (1 - out(*lab, "b_time_s") / out(*lab, "a_time_s")), 1e-9));
  set(*lab, "source", "recorded_same", "paired", "false", "runs", 41);
  compute(*lab);
  CHECK(out(*lab, "runs_used") + out(*lab, "thrown_away") == 41);
}

TEST_CASE("measure: pairs help where neighbours are alike, and not where they share nothing") {
  const LabPtr lab = open_lab("profiling/measure", steady);
  set(*lab, "paired", "true");
  const double alone = computed(*lab, "smallest");
  CHECK(alone >= out(*lab, "smallest_other"));
  set(*lab, "correlation", 0.9);
  compute(*lab);
  CHECK(out(*lab, "smallest") < 0.5 * alone);
  CHECK(out(*lab, "pair_correlation") > 0.5);
}

TEST_CASE("measure: a look after every pair calls equals different far more often than one look") {
  const LabPtr lab = open_lab("profiling/measure", steady);
  set(*lab, "runs", 120, "paired", "true");
  compute(*lab);
  CHECK(out(*lab, "peeking") > 15);
  CHECK(out(*lab, "alarm_simulated") < 12);
  CHECK(out(*lab, "split") < out(*lab, "peeking"));
  CHECK(out(*lab, "one_look") == out(*lab, "alarm_simulated"));  // both are a t test at the end
}

TEST_CASE("measure: the same code, recorded twice, looks faster by ranks, and nobody knows what the order made") {
  const LabPtr lab = open_preset("profiling/measure", "Recorded: the same code twice");
  compute(*lab);
  CHECK(choice_of(*lab, "verdict") == "faster");
  CHECK(out(*lab, "real_gain") == 0);
  CHECK(std::isnan(out(*lab, "order_bias")));
  CHECK(rows(*lab, "orders") == 0);
  // Three runs that took a thousand times as long hide everything from a mean.
  set(*lab, "test", "t");
  compute(*lab);
  CHECK(choice_of(*lab, "verdict") == "undecided");
}

TEST_CASE("measure: runs that were timed here stand for themselves, and a rung against itself really gains nothing") {
  namespace measure = chapters::profiling::measure;
  use_bundled_catalog();
  measure::Inputs in;
  in.source = measure::Source::machine;
  in.order = measure::Order::alternate;
  chapters::Progress progress;
  const auto before = measure::compute(in, progress);
  CHECK(before.facts.reason.empty());
  CHECK(measure::arrange(in, before.facts, *before.run).answer.ends_with("recorded elsewhere."));
  // Eight and twelve chains of the ladder, forty runs in turns. A quarter of 200,000 in whole tiles, as the kernel lab
  // makes it: 3 x 2^14.
  CHECK(measure::turns_request(in) ==
        "call turns\nladder cpu-fma\nrungs chains-8,chains-12\nsize 49152\ncold 1\nseed 7\nturns "
        "ABABABABABABABABABABABABABABABABABABABAB\n");
  in.timed = {{.ladder = "cpu-fma", .a = "chains-8", .b = "chains-8", .size = 49'152}};
  for (int i = 0; i < 40; ++i) in.timed_runs.push_back({.is_b = i % 2 == 1, .time_s = 1e-3 * (1 + 0.01 * (i % 7))});
  const auto after = measure::compute(in, progress);
  CHECK(after.run->a_name == "chains-8");
  CHECK(after.run->b_name == "chains-8 again");
  CHECK(after.facts.runs_used == 36);
  CHECK(after.facts.real_gain == 0);
  CHECK(std::isnan(after.facts.order_bias));
  const measure::Picture p = measure::arrange(in, after.facts, *after.run);
  CHECK(p.answer.find("A and B are the same code") != std::string::npos);
  CHECK(p.runs_words == "40 runs, timed here; next: chains-8 and chains-12");
  CHECK_FALSE(p.more);
}

TEST_CASE("measure: times of a file are read, and too few are refused with what to do") {
  const Folder folder;
  std::string text = "version,time_ms\n";
  for (int i = 0; i < 12; ++i)
    text += "old," + std::to_string(20 + i % 3) + "\nnew," + std::to_string(17 + i % 3) + "\n";
  folder.write("times.csv", text);
  folder.write("few.csv", "version,time_s\na,1\nb,2\na,1\n");
  const LabPtr lab = open_lab("profiling/measure");
  set(*lab, "source", "file");
  CHECK(reason_of(*lab).starts_with("There are no times yet: "));
  set(*lab, "file", (folder / "times.csv").string(), "discard", 0);
  compute(*lab);
  CHECK(choice_of(*lab, "verdict") == "faster");
  CHECK(near(out(*lab, "found"), 100 * 3.0 / 21, 1e-9));
  set(*lab, "file", (folder / "few.csv").string());
  CHECK(reason_of(*lab) == "Fewer than four runs of a version count: give a larger budget, or throw away fewer.");
}

TEST_CASE("measure: the drift's line ends where its handle is, and one more run is one more") {
  namespace measure = chapters::profiling::measure;
  use_bundled_catalog();
  measure::Inputs in;
  chapters::Progress progress;
  const auto done = measure::compute(in, progress);
  const measure::Picture p = measure::arrange(in, done.facts, *done.run);
  CHECK(near(p.drift_at, 0.02 * (1 + 0.08 * (1 - std::exp(-39.0 / 22))), 1e-9));
  CHECK(done.run->slots.size() == 40);
  CHECK(done.run->funnel.back().pairs == 18);
  CHECK(near(done.run->funnel.back().found, done.facts.found, 1e-9));
  in.runs = 41;
  CHECK(measure::compute(in, progress).facts.runs_used == 37);
  // What a sweep asks for leaves out what only the picture shows.
  progress.facts_alone = true;
  const auto facts = measure::compute(in, progress);
  CHECK(facts.run->funnel.empty());
  CHECK(facts.facts.peeking == measure::compute(in, progress).facts.peeking);
}
