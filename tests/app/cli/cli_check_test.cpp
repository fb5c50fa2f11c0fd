#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/platform/json.h"
#include "tests/support/base/effort.h"
#include "tests/support/lab/cli_run.h"

using app::Json;
using Catch::Approx;
using support::Ran;
using support::run_cli;
using support::sanitized;

TEST_CASE("check recomputes every claim and published count, and all agree") {
  if (sanitized()) return;  // some claims of each lab are recomputed under sanitizers by the generic tests
  const Ran r = run_cli({"check"});
  INFO(r.out);
  CHECK(r.status == 0);
  CHECK(r.error == "");
  CHECK(r.out.find("DIFFERS") == std::string::npos);
  CHECK(r.out.find("llama-2-7b  published 6,738,415,616, counted 6,738,415,616") != std::string::npos);
  CHECK(r.out.find(" 0 failed\n") != std::string::npos);
}

TEST_CASE("check sets published measurements beside the model, and ends with a table of their residuals") {
  const Ran r = run_cli({"check", "roofline/roofline"});
  CHECK(r.status == 0);
  // 2 x 4096 x 22016 x 4096 FLOP in 0.987 ms, under 989.4 TFLOP/s.
  CHECK(r.out.find("vidur-h100-gate-up-4096  measured 748.46 TFLOP/s, model 989.4 TFLOP/s: -24.4 %, 75.6 % of the "
                   "bound reached") != std::string::npos);
  CHECK(r.out.find("(measured - model) / model") != std::string::npos);
  const Ran json = run_cli({"check", "roofline/roofline", "--json"});
  const Json doc = Json::parse(json.out);
  REQUIRE(doc["residuals"].size() == 2);  // rates of work, and tokens a second: a mean over both would say nothing
  std::size_t rows = 0;
  for (const Json& sum : doc["residuals"]) {
    CHECK(sum["lab"] == "roofline/roofline");
    CHECK(sum["model_is"] == "ceiling");
    double mean = 0, of = 0;
    for (const Json& row : doc["published"])
      if (row["output"] == sum["output"]) {
        mean += row["residual"].get<double>();
        ++of;
      }
    CHECK(sum["rows"].get<double>() == of);
    CHECK(sum["mean"].get<double>() == Approx(mean / of));
    CHECK(sum["most_share_of_bound"].get<double>() <= 1);
    rows += sum["rows"].get<std::size_t>();
  }
  CHECK(rows == doc["published"].size());
  CHECK(doc["errors"].empty());
}

TEST_CASE("check prints what stands beside a lab's figures without a residual") {
  const Ran r = run_cli({"check", "compression/methods"});
  CHECK(r.status == 0);
  CHECK(r.out.find("awq-table-awq-int4-7b  measured 0.5, model ") != std::string::npos);
  CHECK(r.out.find(": another quantity, no residual\n") != std::string::npos);
  const Json doc = Json::parse(run_cli({"check", "compression/methods", "--json"}).out);
  for (const Json& row : doc["published"]) CHECK(row["residual"].is_null());
  for (const Json& sum : doc["residuals"]) {
    CHECK(sum["mean"].is_null());
    CHECK(sum["worst"].is_null());
  }
}
