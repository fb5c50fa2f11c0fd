#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "tests/support/lab/lab_bench.h"

// Scenarios of earlier versions may name a rack, which was offered as one chip.
TEST_CASE("a scenario that names a rack as its chip gets the sentence that says why not, and changes nothing") {
  const auto lab = support::open_lab("roofline/roofline");
  const std::string why =
      "NVIDIA GB200 NVL72 (rack of 72) is 72 chips together, and this computes one: choose a single chip.";
  CHECK(app::apply_inputs(*lab, {{"chip", "gb200_nvl72"}}).error == "chip is \"gb200_nvl72\": " + why);
  CHECK(app::apply_inputs(*lab, {{"chips", {"h200_sxm", "gb200_nvl72"}}}).error == "chips is \"gb200_nvl72\": " + why);
  CHECK(support::input(*lab, "chip").choice_id() == "h100_sxm");
  CHECK(support::input(*lab, "chips").chosen().empty());
}
