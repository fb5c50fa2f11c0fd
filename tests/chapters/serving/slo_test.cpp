#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/serving/slo/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"
#include "tests/support/lab/shell_driver.h"

using namespace support;

namespace {

LabPtr slo(std::string_view inputs = "{}") { return open_lab("serving/slo", inputs); }

/// One server whose services of a tenth of a second are exponential.
constexpr std::string_view plain = R"({"service": "exponential", "service_time_s": 0.1, "share": 0.9, "arrival_rate": 8,
                                      "requests": 10000, "policy": "single", "servers": 1, "replicas": 1,
                                      "router": "round_robin", "seed": 3, "ttft_limit_s": 1, "tpot_limit_s": 1})";

/// A file of arrivals that came with a scenario.
std::string with_arrivals(const std::string& text, const std::string& more = "") {
  std::string quoted;
  for (const char c : text) quoted += c == '\n' ? "\\n" : std::string(1, c);
  return R"({"trace": {"name": "mine.csv", "text": ")" + quoted + "\"}" + more + "}";
}

}  // namespace

// The time in the system is exponential with rate 10 - load: the knee for nine of ten within a second is 10 - ln 10.
TEST_CASE("slo: the contract's keys give M/M/1's share in time, rates and knee") {
  const LabPtr lab = slo(plain);
  CHECK(near(computed(*lab, "goodput_per_s"), 8 * (1 - std::exp(-2.0)), 0.03));
  CHECK(near(out(*lab, "throughput_per_s"), 8, 0.02));
  CHECK(near(out(*lab, "knee_rate_per_s"), 10 - std::log(10.0), 0.03));
  CHECK(near(out(*lab, "capacity_per_s"), 10, 1e-12));
  CHECK(near(out(*lab, "offered_load"), 80, 1e-12));
  CHECK(out(*lab, "replicas_needed") == 2);
  CHECK(std::abs(out(*lab, "in_time_percent") + out(*lab, "late_percent") - 100) < 1e-9);
}

TEST_CASE("slo: past the knee goodput falls while throughput rises, and limits alone move the knee") {
  const LabPtr lab = slo(R"({"arrival_rate": 15, "requests": 1000})");
  const double good = computed(*lab, "goodput_per_s"), served = out(*lab, "throughput_per_s"),
               knee = out(*lab, "knee_rate_per_s");
  CHECK(knee < 15);
  CHECK(computed(set(*lab, "arrival_rate", 17), "goodput_per_s") < 0.7 * good);
  CHECK(out(*lab, "throughput_per_s") > 1.05 * served);
  CHECK(out(*lab, "knee_rate_per_s") == knee);
  CHECK(near(out(*lab, "lost_per_s"), out(*lab, "throughput_per_s") - out(*lab, "goodput_per_s"), 1e-12));
  const double ran = out(*lab, "throughput_per_s");
  CHECK(computed(set(*lab, "tpot_limit_s", 0.1), "knee_rate_per_s") > 1.1 * knee);
  CHECK(out(*lab, "throughput_per_s") == ran);
  CHECK(computed(set(*lab, "ttft_limit_s", 0.05), "in_time_percent") < 50);
}

TEST_CASE("slo: a queue that grows is said, and its latencies are not given") {
  const LabPtr lab = slo(R"({"arrival_rate": 22, "requests": 1100})");
  lab->compute();
  CHECK(text_of(*lab, "state").starts_with("overloaded"));
  CHECK(std::isnan(out(*lab, "ttft_p99_s")));
  CHECK(out(*lab, "throughput_per_s") < 18);
  // Who is refused at the door keeps the queue of the others short.
  set(*lab, "longest_queue", 8, "slots", 64);
  CHECK(computed(*lab, "ttft_p50_s") < 2);
  CHECK(out(*lab, "sent_away_percent") > 10);
  CHECK(out(*lab, "queue_refused") > 0);
}

TEST_CASE("slo: a router that knows the caches reads less, and scaling pays for replicas by the time") {
  const LabPtr lab = slo(R"({"replicas": 4, "turns": 6, "prompt_tokens": 300, "requests": 250, "arrival_rate": 40})");
  const double blind = computed(*lab, "kept_tokens_percent"), late = out(*lab, "ttft_p99_s");
  choose(*lab, "router", "prefix_aware");
  CHECK(computed(*lab, "kept_tokens_percent") > blind + 20);
  CHECK(out(*lab, "ttft_p99_s") < late);
  const LabPtr scaled = slo(R"({"arrivals": "waves", "wave": 0.7, "wave_s": 60, "scale_on": "queue", "cold_start_s": 10,
                                "hold_s": 20, "look_s": 5, "most_replicas": 3, "arrival_rate": 16, "requests": 350})");
  CHECK(computed(*scaled, "most_replicas_seen") > 1);
  CHECK(out(*scaled, "paid_replicas") > 1);
  CHECK(out(*scaled, "paid_replicas") < out(*scaled, "most_replicas_seen"));
  CHECK(std::isnan(out(*scaled, "replicas_needed")));
}

TEST_CASE("slo: a file of arrivals is stretched to the load, and what is wrong with it is said by its line") {
  std::string rows = "time,prompt,output\n";
  for (int i = 0; i < 400; ++i) rows += std::to_string(i * i / 400.0) + ",300,40\n";
  const LabPtr lab = slo(with_arrivals(rows, R"(, "arrival_rate": 5)"));
  CHECK(near(computed(*lab, "arrivals_per_s"), 5, 0.35));
  CHECK(near(out(*lab, "file_rate_per_s"), 399 / (399.0 * 399 / 400), 1e-6));
  CHECK(near(out(*lab, "run_s"), 399 / 5.0, 1e-6));
  CHECK(reason_of(*slo(with_arrivals("time,prompt,output\n1,abc,2\n"))).find("ine 2") != std::string::npos);
  CHECK(reason_of(*slo(with_arrivals("time,prompt,output\n1,5,2\n1,5,2\n"))) ==
        "All requests of the file come at once: a load curve takes times that differ.");
}

TEST_CASE("slo: what does not go together is refused in a sentence") {
  CHECK(reason_of(*slo(R"({"policy": "static", "replicas": 2, "router": "two_choices"})"))
            .starts_with("One by one, static and dynamic batching take requests in turn here"));
  CHECK(reason_of(*slo(R"({"chips": 1})")).starts_with("The weights take"));
  CHECK(reason_of(*slo(R"({"policy": "static", "slots": 8, "arrival_rate": 3, "requests": 300})")) == "");
}

TEST_CASE("slo: the answer names who is served and who in time") {
  const std::string past = answer_of("serving/slo"), before = answer_of("serving/slo", R"({"arrival_rate": 10})");
  CHECK(past.find("but only") != std::string::npos);
  CHECK(before.find("of them in time") != std::string::npos);
  CHECK(answer_of("serving/slo", R"({"tpot_limit_s": 0.001})").find("at no load") != std::string::npos);
}

TEST_CASE("slo: the limit is dragged through the dots, the load along the hill") {
  ShellDriver d(bundled_content(), nowhere(), {1600, 1000}, true);
  REQUIRE(d.workspace.open("serving/slo"));
  REQUIRE(d.settle());
  const double limit = input(d.workspace.lab(), "ttft_limit_s").number(),
               load = input(d.workspace.lab(), "arrival_rate").number();
  d.ui.drag_by("drag the limit", {0, -40});
  REQUIRE(d.settle());
  CHECK(input(d.workspace.lab(), "ttft_limit_s").number() > 1.1 * limit);
  d.ui.drag_by("drag the load", {-60, 0});
  REQUIRE(d.settle());
  CHECK(input(d.workspace.lab(), "arrival_rate").number() < load);
}

// Forty prompts of three blocks of 512 tokens begin with the same two: all but the first find 1,024 of 1,536.
TEST_CASE("slo: where a file names the blocks of its prompts, replicas keep a tree of them") {
  std::string rows, plain_rows;
  for (int i = 0; i < 40; ++i) {
    const std::string row =
        R"({\"timestamp\": )" + std::to_string(2000 * i) + R"(, \"input_length\": 1536, \"output_length\": 4)";
    rows += row + R"(, \"hash_ids\": [1, 2, )" + std::to_string(100 + i) + "]}\n";
    plain_rows += row + "}\n";
  }
  const std::string more = R"(, "arrival_rate": 1, "replicas": 1)";
  const LabPtr named = slo(with_arrivals(rows, more)), unnamed = slo(with_arrivals(plain_rows, more));
  CHECK(near(computed(*named, "kept_tokens_percent"), 100.0 * 39 / 40 * 1024 / 1536, 1e-9));
  CHECK(computed(*unnamed, "kept_tokens_percent") == 0);
  CHECK(out(*named, "ttft_p50_s") < out(*unnamed, "ttft_p50_s"));
}
