#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/fleet/cost/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace lab_cost = chapters::fleet::cost;

TEST_CASE("cost: the contract's five inputs give dollars, energy and carbon") {
  const LabPtr lab = open_lab("fleet/cost", R"({"price_per_hour": 30, "output_tokens_per_s": 8000, "power_w": 5600,
                                               "pue": 1.1, "carbon_g_per_kwh": 400})");
  compute(*lab);
  CHECK(near(out(*lab, "dollars_per_million_tokens"), 1.041667, 1e-6));
  CHECK(near(out(*lab, "kwh_per_million_tokens"), 0.213889, 1e-5));
  CHECK(near(out(*lab, "kg_co2_per_million_tokens"), 0.0855556, 1e-5));
}

TEST_CASE("cost: the wedges sum to the coin in every kind of work") {
  for (const char* inputs :
       {"{}", R"({"filled": 100})", R"({"users": 4096, "context": 16, "output_tokens_per_s": 30000})",
        R"({"work": "train", "chips": 1024, "output_tokens_per_s": 500000})"}) {
    const LabPtr lab = open_lab("fleet/cost", inputs);
    compute(*lab);
    INFO(inputs);
    CHECK(out(*lab, "part_empty") + out(*lab, "part_not_reached") + out(*lab, "part_weights") +
              out(*lab, "part_cache") + out(*lab, "part_computing") ==
          Catch::Approx(out(*lab, "dollars_per_million_tokens")));
  }
}

TEST_CASE("cost: the answer names the largest piece, and a rate beyond the bandwidth is refused") {
  const auto says = [](const char* inputs) { return answer_of("fleet/cost", inputs); };
  CHECK(says("{}").starts_with("A million tokens cost `$1.04`: "));
  CHECK(says(R"({"filled": 35, "output_tokens_per_s": 4308})").find(" goes to hours without work.\n") !=
        std::string::npos);
  CHECK(says(R"({"filled": 100, "output_tokens_per_s": 20000})").find(" goes to reading caches.\n") !=
        std::string::npos);
  CHECK(says(R"({"output_tokens_per_s": 100000})").starts_with("So many tokens per second need "));
}

// The study: 75 to 85 % of the bandwidth, 100 machines of $30: 13.3 % more tokens, 11.8 % fewer dollars, $3.09 M.
TEST_CASE("cost: ten points of the bandwidth save what division says") {
  const models::fleet::PaidHour hour{.price_per_hour = 30, .reach = 0.75, .weights_s = 1e-3};
  const double share = 1 - models::fleet::pull(hour, {.reach = 0.1}).dollars_per_million() / hour.dollars_per_million();
  CHECK(near(share, 1 - 75.0 / 85, 1e-12));
  CHECK(near(share * 30 * 100 * 8760, 3091764.706, 1e-6));
}

TEST_CASE("cost: one user alone pays for all of the weights, and coins shrink with users") {
  const LabPtr lab = open_lab("fleet/cost");
  compute(*lab);
  const double price = out(*lab, "dollars_per_million_tokens"), weights = out(*lab, "part_weights"),
               cache = out(*lab, "part_cache");
  CHECK(near(out(*lab, "one_user_dollars"), price * (256 * weights + cache) / (weights + cache), 1e-6));
  const lab_cost::Inputs in;
  const lab_cost::Outputs facts = lab_cost::compute(in);
  const lab_cost::Picture p = lab_cost::arrange(in, facts);
  REQUIRE(p.coins.size() == 5);
  REQUIRE(facts.by_users.size() == 5);
  for (std::size_t i = 1; i < p.coins.size(); ++i) CHECK(facts.by_users[i].price < facts.by_users[i - 1].price);
  CHECK(p.coins.back().here);
  CHECK(near(facts.by_users.back().price, price, 1e-9));
  CHECK(near(facts.by_users.front().price, out(*lab, "one_user_dollars"), 1e-6));
  CHECK(near(p.wedges.back().to, 1.0, 1e-9));  // the coin closes
}
