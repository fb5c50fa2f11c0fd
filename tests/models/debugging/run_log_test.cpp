#include "models/debugging/run_log.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "models/base/counter_random.h"

using namespace models::debugging;

namespace {

RunLog log_of(const std::string& text) {
  auto read = read_run_log(text);
  INFO(read.error);
  REQUIRE(read);
  return std::move(*read);
}

std::string refusal(const std::string& text) { return read_run_log(text).error; }

const std::string csv = "step,loss,grad_norm,note\n0,2.5,1.25,a\n1,2.25,,b\n2,nan,0.5,c\n";
const std::string lines =
    "{\"step\": 0, \"loss\": 2.5, \"grad_norm\": 1.25, \"deep\": {\"a\": [1, {\"b\": 2}]}}\n"
    "{\"loss\": 2.25, \"_step\": 1, \"text\": \"a \\\"b\\\", c\"}\n"
    "{\"step\": 2, \"loss\": NaN, \"grad_norm\": 0.5}\n{\"summary\": 7}\n";

}  // namespace

TEST_CASE("a log is the same as CSV and as JSON lines: steps, numbers, and what was not logged") {
  for (const std::string& text :
       {csv, lines, "\r\n" + csv, std::string("Step;loss;grad_norm\r\n2;nan;.5\r\n0;2.5;1.25\r\n1;2.25;\r\n"),
        std::string("global_step\tloss\tgrad_norm\n0\t2.5\t1.25\n1\t9\t\n1\t2.25\t\n2\tNaN\t5e-1\n")}) {
    INFO(text);
    const RunLog log = log_of(text);
    CHECK(log.steps == std::vector<std::int64_t>{0, 1, 2});
    REQUIRE(log.columns.size() >= 2);
    CHECK(log.columns[0].name == "loss");
    CHECK(log.columns[0].values[1] == 2.25);
    CHECK(std::isnan(log.columns[0].values[2]));
    CHECK(log.columns[0].there[2] == 1);
    CHECK(log.columns[1].name == "grad_norm");
    CHECK(log.columns[1].there == std::vector<std::uint8_t>{1, 0, 1});
    CHECK(log.columns[1].values[2] == 0.5);
  }
  CHECK(log_of(lines).without_step == 1);
  CHECK(log_of("step,loss\n1,3\n1,2\n").repeated == 1);
  CHECK(log_of("step,a\n1,1e999\n2,-1e-999\n").columns[0].values[0] == std::numeric_limits<double>::infinity());
}

TEST_CASE("what is wrong with a log is said with its line") {
  CHECK(refusal("") == "The log is empty: give CSV with a step column, or JSON lines with steps.");
  CHECK(refusal("loss,norm\n1,2\n") ==
        "Line 1 of the log names no step: its first line needs a column step, global_step or iteration.");
  CHECK(refusal("step,loss\n0,1\n\n1\n") == "Line 4 of the log has 1 value, its first line names 2.");
  CHECK(refusal("step,loss\n0,1\nx,2\n") == "Line 3 of the log has no number for its step but \"x\".");
  CHECK(refusal("step,loss\n0.5,1\n") ==
        "Line 2 of the log has a step that is no whole number from 0 to 1,000,000,000.");
  CHECK(refusal("step,loss\nnan,1\n").starts_with("Line 2 of the log has a step"));
  CHECK(refusal("step,note\n0,a\n") == "The log has steps and no number next to them: give loss, grad_norm or others.");
  CHECK(refusal("{\"step\": 1, \"loss\": 2}\n{\"step\": 2,\n") ==
        "Line 2 of the log is no whole object of JSON: one object a line is read.");
  CHECK(refusal("{\"loss\": 2}\n") == "The log has no row with a step.");
  std::string deep = "{\"step\": 1, \"a\": ", wide = "step";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  CHECK(refusal(deep + "\n").starts_with("Line 1 of the log is no whole object"));
  for (int i = 0; i < 300; ++i) wide += ",q" + std::to_string(i);
  CHECK(refusal(wide + "\n") == "Line 1 of the log names more than 256 columns.");
}

TEST_CASE("a log that is cut at any byte is refused with a sentence, or read up to there") {
  for (const std::string& text : {csv, lines})
    for (std::size_t n = 0; n <= text.size(); ++n) {
      const auto read = read_run_log(text.substr(0, n));
      INFO(n << ": " << read.error);
      if (!read) {
        CHECK(read.error.ends_with('.'));
        continue;
      }
      CHECK(!read->steps.empty());
      CHECK(!read->columns.empty());
      for (const LogColumn& c : read->columns) CHECK(c.values.size() == read->steps.size());
    }
}

TEST_CASE("two logs part at the first step beyond the noise, by the quantity that is furthest, and differ before") {
  const RunLog a = log_of("step,loss,norm,step_time\n0,4,1,7\n1,2,1,7\n2,1,1,7\n3,1,1,7\n9,5,5,5\n");
  const RunLog b = log_of("step,norm,loss,step_time\n1,1,2,9\n2,1,1.004,9\n3,1.5,1.02,9\n4,1,1,9\n");
  const auto near = compare_logs(a, b, 0.01);
  REQUIRE(near);
  CHECK(near->steps == std::vector<std::int64_t>{1, 2, 3});
  CHECK(near->names == std::vector<std::string>{"loss", "norm"});
  CHECK(near->left_out == std::vector<std::string>{"step_time"});
  CHECK(near->only_first == 2);
  CHECK(near->only_second == 1);
  CHECK(near->differs.step == 1);
  CHECK(near->differs.name == 0);
  CHECK(near->parts.step == 2);
  CHECK(near->parts.name == 1);
  CHECK(std::abs(near->differences[1][2] - 0.5f) <= 1e-6f);
  CHECK(compare_logs(a, b, 0)->parts.step == 1);
  CHECK(compare_logs(a, b, 0.6)->parts.step == -1);
  CHECK(compare_logs(a, a, 0)->differs.step == -1);
}

TEST_CASE("a number that is none parts from every number and not from itself; logs that share nothing are refused") {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  CHECK(log_difference(nan, nan) == 0);
  CHECK(log_difference(infinite, infinite) == 0);
  CHECK(log_difference(nan, 1) == infinite);
  CHECK(log_difference(1, nan) == infinite);
  CHECK(log_difference(0, 1e-9) == infinite);
  CHECK(log_difference(0, -0.0) == 0);
  CHECK(log_difference(1, std::nextafter(1, 2)) > 0);
  CHECK(compare_logs(log_of("step,a\n1,1\n"), log_of("step,a\n2,1\n"), 0).error ==
        "The logs share no step: the first has steps 1 to 1, the second 2 to 2.");
  CHECK(compare_logs(log_of("step,a\n1,1\n"), log_of("step,b\n1,1\n"), 0).error ==
        "The logs share no quantity: the first has \"a\", the second \"b\". Give both the same names.");
}

TEST_CASE("a random log with one number changed parts there and nowhere before") {
  for (std::uint64_t round = 0; round < 40; ++round) {
    const auto draw = [&](std::uint64_t i) { return models::unit_draw(round, i); };
    const int rows = 5 + static_cast<int>(draw(0) * 40), hit = static_cast<int>(draw(1) * rows);
    std::string a = "iter,x,y,z\n", b = a;
    for (int r = 0; r < rows; ++r)
      for (int c = -1; c < 3; ++c) {
        const double value =
            c < 0 ? 10 * r : 1 + draw(10 + 3 * static_cast<std::uint64_t>(r) + static_cast<std::uint64_t>(c));
        const std::string cell = std::to_string(value) + (c < 2 ? "," : "\n");
        a += cell;
        b += r == hit && c == 1 ? std::to_string(value * 1.5) + "," : cell;
      }
    const auto found = compare_logs(log_of(a), log_of(b), 0.1);
    REQUIRE(found);
    CHECK(found->parts.step == hit);
    CHECK(found->differs.step == hit);
    CHECK(found->names[found->parts.name] == "y");
  }
}
