#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/data_home.h"
#include "tests/support/lab/cli_run.h"

namespace {

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("predict asks in the terminal, marks what is typed, explains it and keeps it") {
  const support::DataHome home;
  const auto ran = support::run_cli({"predict", "roofline/roofline"}, "1169\nmany\n1\n\nquit\n");
  INFO(ran.out);
  CHECK(ran.status == 0);
  CHECK(holds(ran.out, "A B200 computes 9 PFLOP/s"));
  CHECK(holds(ran.out, "Right: 1,169"));
  CHECK(holds(ran.out, "four times the BF16 ridge"));
  CHECK(holds(ran.out, "\"many\""));
  CHECK(holds(ran.out, "1 of 2 close."));
  CHECK(holds(ran.out, "1 more asks for a curve"));
  CHECK(holds(home.folder.read("ridgeline/kept.json"), "prediction.history"));
}

TEST_CASE("one question with its answer on the line; choices by place or name; a curve is drawn in the window") {
  const support::DataHome home;
  const auto one = support::run_cli({"predict", "roofline/roofline", "--question", "1", "--answer", "300"});
  CHECK(one.status == 0);
  CHECK(holds(one.out, "Not quite: you said 300"));
  CHECK(holds(one.out, "(3.9\xC3\x97 too low)"));
  const auto chosen = support::run_cli({"predict", "roofline/iron-law", "--question", "5", "--answer", "latency"});
  INFO(chosen.out << chosen.error);
  CHECK(holds(chosen.out, "Right: "));
  CHECK(holds(chosen.out, "2.64 ms"));
  const auto curve = support::run_cli({"predict", "roofline/roofline", "--question", "6"});
  CHECK(curve.status == 0);
  CHECK(holds(curve.out, "A curve is drawn in the window"));
}

TEST_CASE("an answer to a choice of numbers is a figure first, and the place of an option at last") {
  const support::DataHome home;
  const auto said = [](const char* answer) {
    return support::run_cli({"predict", "distributed/pipeline", "--question", "4", "--answer", answer}).out;
  };
  CHECK(holds(said("4"), "Right: 4"));  // of 4, 8, 16 and 32, not the fourth of them
  CHECK(holds(said("32"), "you said 32,"));
  CHECK(holds(said("~8.0"), "Taken as the figure 8."));
  CHECK(holds(said("2"), "Taken as option number 2, 8."));
  const auto none = support::run_cli({"predict", "distributed/pipeline", "--question", "4", "--answer", "7"});
  CHECK(none.status == 2);
  CHECK(holds(none.error, "is no option"));
}

TEST_CASE("predict refuses what it does not know with one sentence") {
  CHECK(holds(support::refused_by_cli({"predict", "roofline/rofline"}), "did you mean \"roofline/roofline\"?"));
  CHECK(holds(support::refused_by_cli({"predict"}), "predict needs a lab"));
  CHECK(holds(support::refused_by_cli({"predict", "roofline/roofline", "--question", "99"}), "counted from 1"));
  CHECK(holds(support::refused_by_cli({"predict", "roofline/roofline", "--seed", "x"}), "--seed is \"x\""));
}
