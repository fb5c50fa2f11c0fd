#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

// The lab of capacity: contract keys, walls and prices that follow from each other, a file of requests, and what a hand
// does to a wall.

using namespace support;

namespace {

LabPtr capacity_lab(std::string_view inputs = R"({"trial": false})") { return open_lab("serving/capacity", inputs); }

std::string capacity_with_requests(const std::string& text, const std::string& more = "") {
  std::string quoted;
  for (const char c : text) quoted += c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
  return R"({"trial": false, "traffic": "file", "trace": {"name": "mine.csv", "text": ")" + quoted + "\"}" + more + "}";
}

}  // namespace

TEST_CASE("capacity lab: the fleet clears the highest wall in whole replicas, and money follows from it") {
  const LabPtr lab = capacity_lab();
  const double chips = computed(*lab, "chips");
  CHECK(chips ==
        std::max({out(*lab, "chips_for_memory"), out(*lab, "chips_for_rate"), out(*lab, "chips_for_latency")}));
  CHECK(chips == out(*lab, "replicas") * out(*lab, "replica_chips"));
  CHECK(out(*lab, "chips_for_latency") == std::max(out(*lab, "chips_for_ttft"), out(*lab, "chips_for_tpot")));
  CHECK(near(out(*lab, "dollars_per_hour"), chips * 6.88, 1e-12));
  // 40 x 1,000 output tokens a second.
  CHECK(near(out(*lab, "dollars_per_million_tokens"), chips * 6.88 / 144, 1e-12));
  CHECK(near(out(*lab, "dollars_per_million_all"), out(*lab, "dollars_per_million_tokens") / 2, 1e-12));
  CHECK(near(out(*lab, "users"), 40 * 999 * out(*lab, "gap_s"), 1e-6));
  CHECK(text_of(*lab, "price_date") == "2026-08-26");
  CHECK(near(computed(set(*lab, "price_per_hour", 3.44), "dollars_per_hour"), chips * 3.44, 1e-12));
  CHECK(text_of(*lab, "price_date") == "as set");
}

TEST_CASE("capacity lab: each wall can be the highest, and the cheapest chip by the hour is the dearest by the token") {
  const LabPtr lab = capacity_lab();
  lab->compute();
  CHECK(choice_of(*lab, "binds") == "latency");
  CHECK(out(*lab, "cheapest_dollars") > 4 * out(*lab, "best_dollars"));
  CHECK(out(*lab, "cheapest_price") < 3);
  CHECK(text_of(*lab, "best_name") == "B200 in FP4");
  set(*lab, "tpot_limit_s", 0.2, "ttft_limit_s", 10);
  lab->compute();
  CHECK(choice_of(*lab, "binds") == "rate");
  set(*lab, "replica_size", "own", "tensor_parallel", 1);
  lab->compute();
  CHECK(choice_of(*lab, "binds") == "memory");
  // Two chips hold the weights once where two replicas of one hold them twice: eight times as much per chip.
  const double one = out(*lab, "sequences_fit");
  CHECK(computed(set(*lab, "tensor_parallel", 2), "sequences_fit") > 10 * one);
  CHECK(answer_of("serving/capacity", R"({"trial": false})")
            .starts_with("`26` chips serve `40` requests a second: the time between tokens asks for the most.\n"));
}

TEST_CASE("capacity lab: a plan is tried in the engine, and says by how much they differ") {
  const LabPtr lab = open_lab("serving/capacity", R"({"output_tokens": 200, "against": []})");
  const double kept = computed(*lab, "engine_kept_percent");
  CHECK(kept > 97);
  CHECK(
      near(out(*lab, "tpot_off_percent"), 100 * (out(*lab, "tpot_p99_s") / out(*lab, "engine_tpot_p99_s") - 1), 1e-9));
  CHECK(std::abs(out(*lab, "tpot_off_percent")) < 30);
  CHECK(out(*lab, "engine_requests") >= 1000);
}

TEST_CASE("capacity lab: the contract's keys of a file of requests") {
  std::string rows = "arrival_s,input_tokens,output_tokens\n";
  for (int i = 0; i < 40; ++i)
    rows +=
        std::to_string(i / 2) + ".250000," + std::to_string(100 + i) + "," + std::to_string(i % 4 == 0 ? 0 : 10) + "\n";
  const LabPtr lab = capacity_lab(capacity_with_requests(rows + "x,1,1\n"));
  CHECK(computed(*lab, "count") == 40);
  CHECK(out(*lab, "failed") == 10);
  CHECK(out(*lab, "rate_per_s") == 2);  // a window of 20 s
  CHECK(near(out(*lab, "gap_mean_s"), 19.0 / 39, 1e-12));
  CHECK(out(*lab, "dispersion_1s") == 0);
  CHECK(out(*lab, "dispersion_10s") == 0);
  CHECK(out(*lab, "peak_1s") == 2);
  CHECK(out(*lab, "prompt_p50") == 119);
  CHECK(out(*lab, "prompt_p90") == 135);
  CHECK(out(*lab, "prompt_p99") == 139);
  CHECK(out(*lab, "prompt_mean") == 119.5);
  CHECK(out(*lab, "output_p50") == 10);
  CHECK(out(*lab, "output_mean") == 7.5);
  CHECK(out(*lab, "planned_rate_per_s") == 1.5);  // failed ones are not served
  CHECK(text_of(*lab, "losses").starts_with("1 row is left out. Line 42 of the arrivals"));
  CHECK(out(*lab, "planned_output_tokens") == 10);
  CHECK(computed(set(*lab, "window_s", 10, "speed", 4), "count") == 20);
  CHECK(out(*lab, "planned_rate_per_s") == 6);
  CHECK(reason_of(*capacity_lab(capacity_with_requests("1,two,3\n"))).starts_with("Line 1 of the arrivals"));
  CHECK(reason_of(*capacity_lab(R"({"traffic": "file"})")) ==
        "No file of requests is open: open one, or take other requests than your own.");
}

TEST_CASE("capacity lab: bursts ask for more chips than their mean, and the busiest minute for more than that") {
  const LabPtr lab = capacity_lab(R"({"trial": false, "traffic": "code", "against": []})");
  CHECK(near(computed(*lab, "dispersion_10s"), 84.64008097165987, 1e-9));
  CHECK(out(*lab, "peak_1s") == 41);
  CHECK(out(*lab, "chips_for_latency") > 5 * out(*lab, "chips_for_rate"));
  const LabPtr day =
      capacity_lab(R"({"trial": false, "traffic": "client", "client": "m-large-113", "speed": 40, "against": []})");
  const double mean = computed(*day, "chips"), dollars = out(*day, "dollars_per_million_tokens");
  CHECK(computed(set(*day, "plan_for", "minute"), "chips") > 1.5 * mean);
  CHECK(out(*day, "dollars_per_million_tokens") > 1.5 * dollars);
}

TEST_CASE("capacity lab: what cannot be served says why") {
  const LabPtr late = capacity_lab(R"({"tpot_limit_s": 0.001, "trial": false})");
  CHECK(std::isnan(computed(*late, "chips_for_latency")));
  CHECK(out(*late, "chips") == std::max(out(*late, "chips_for_memory"), out(*late, "chips_for_rate")));
  CHECK(choice_of(*late, "binds") == "latency");
  CHECK(text_of(*late, "late") == "Even alone, a request gets its tokens more slowly than every 1 ms.");
  CHECK(answer_of("serving/capacity", R"({"ttft_limit_s": 0.01, "trial": false})")
            .starts_with("No number of chips keeps the limits: even alone, 1 in 100 prompts takes over `10 ms` to its "
                         "first token.\nMemory and work alone ask for `"));
  CHECK(reason_of(*capacity_lab(R"({"model": "llama-3.1-405b", "chip": "l4", "trial": false})"))
            .starts_with("8\xC3\x97 L4: The weights do not fit"));
  CHECK(reason_of(*capacity_lab(R"({"replica_size": "own", "tensor_parallel": 3, "trial": false})")) ==
        "3\xC3\x97 H100 SXM: 64 query heads cannot be dealt evenly to 3 chips.");
  const LabPtr lab = capacity_lab(R"({"chip": "l40s", "model": "llama-3-8b", "trial": false, "against": []})");
  CHECK(std::isnan(computed(*lab, "dollars_per_million_tokens")));
  CHECK(answer_of("serving/capacity", R"({"chip": "l40s", "model": "llama-3-8b", "trial": false, "against": []})")
            .ends_with("What tokens cost is not known: no price of this chip is carried, so set one."));
}

TEST_CASE("capacity lab: a wall that is dragged changes what it is made of") {
  const LabPtr lab = capacity_lab();
  lab->compute();
  Canvas canvas(*lab, {1000, 640});
  canvas.ui.frames(2);
  canvas.ui.drag_by("drag latency", {0, -40});
  CHECK(input(*lab, "tpot_limit_s").number() < 0.04);
  canvas.ui.drag_by("drag work", {0, -40});
  CHECK(input(*lab, "arrival_rate").number() > 40);
  canvas.ui.drag_by("drag memory", {0, 40});
  CHECK(input(*lab, "output_tokens").number() < 1000);
  const LabPtr recorded = capacity_lab(R"({"traffic": "conversations", "trial": false})");
  recorded->compute();
  Canvas other(*recorded, {1000, 640});
  other.ui.frames(2);
  other.ui.drag_by("drag work", {0, -40});
  CHECK(input(*recorded, "speed").number() > 1);
}
