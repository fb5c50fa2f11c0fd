#include "models/machine/iron_law.h"

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "tests/models/machine/iron_law_example.h"
#include "tests/support/base/near.h"

using models::Combine;
using models::IronLaw;
using models::IronTerm;
using models::Technique;

using support::near;

namespace {

const std::vector<IronTerm> all_terms{IronTerm::bytes, IronTerm::bandwidth,  IronTerm::operations,
                                      IronTerm::rate,  IronTerm::efficiency, IronTerm::latency};

}  // namespace

TEST_CASE("the law adds its terms, or takes the longer of loads and arithmetic when they overlap") {
  const auto added = models::iron_time(iron_law_example);
  REQUIRE(added);
  CHECK(added->memory_s == 10);
  CHECK(added->compute_s == 30);
  CHECK(added->time_s == 42);
  CHECK(added->dominant == models::IronTime::Dominant::compute);
  IronLaw overlapped = iron_law_example;
  overlapped.combine = Combine::overlapped;
  CHECK(models::iron_time(overlapped)->time_s == 32);
  overlapped.operations = 0;
  overlapped.latency_s = 11;
  CHECK(models::iron_time(overlapped)->time_s == 21);
  CHECK(models::iron_time(overlapped)->dominant == models::IronTime::Dominant::latency);
}

TEST_CASE("laws without a time say why") {
  IronLaw law = iron_law_example;
  law.efficiency = 0;
  CHECK(models::iron_time(law).error == "Efficiency must be above 0 and at most 1.");
  law = iron_law_example;
  law.bandwidth_bytes_per_s = 0;
  CHECK(models::iron_time(law).error == "Bandwidth and rate must be above 0.");
  law = iron_law_example;
  law.bytes = std::numeric_limits<double>::quiet_NaN();
  CHECK(models::iron_time(law).error == "Bytes, operations and latency must be 0 or more.");
  law = iron_law_example;
  law.operations = 1e308;
  law.rate_flops_per_s = 1e-308;
  CHECK_FALSE(models::iron_time(law));
}

TEST_CASE("each technique moves exactly its own quantities") {
  const std::map<std::string, std::set<IronTerm>> moved{
      {"weights_8bit", {IronTerm::bytes}},
      {"weights_4bit", {IronTerm::bytes}},
      {"fp8_math", {IronTerm::bytes, IronTerm::rate}},
      {"tensor_cores", {IronTerm::rate}},
      {"fusion", {IronTerm::bytes, IronTerm::latency}},
      {"flash_attention", {IronTerm::bytes, IronTerm::latency}},
      {"tiling", {IronTerm::bytes, IronTerm::efficiency}},
      {"padding", {IronTerm::efficiency}},
      {"batching", {IronTerm::bytes, IronTerm::latency}},
      {"speculation", {IronTerm::bytes, IronTerm::operations, IronTerm::latency}},
      {"sparsity_2_4", {IronTerm::bytes, IronTerm::rate}},
      {"distillation", {IronTerm::bytes, IronTerm::operations}},
      {"cuda_graphs", {IronTerm::latency}},
      {"overlap", {}},
  };
  CHECK(moved.size() == models::techniques().size());
  for (const Technique& one : models::techniques()) {
    INFO(one.id);
    const auto expected = moved.find(std::string(one.id));
    REQUIRE(expected != moved.end());
    CHECK_FALSE(one.why.empty());
    const IronLaw after = models::apply(iron_law_example, one);
    for (const IronTerm term : all_terms) {
      INFO(models::iron_term_label(term));
      CHECK(models::moves(one, term) == expected->second.contains(term));
      CHECK((models::iron_value(after, term) != models::iron_value(iron_law_example, term)) ==
            expected->second.contains(term));
    }
    CHECK((after.combine == Combine::overlapped) == (one.id == "overlap"));
    CHECK(models::apply(iron_law_example, one, 0) == iron_law_example);
  }
}

TEST_CASE("only the right technique helps: halved bytes do nothing for overlapped, compute-bound work") {
  IronLaw law = iron_law_example;
  law.combine = Combine::overlapped;
  CHECK(models::iron_time(models::apply(law, technique("weights_8bit")))->time_s == 32);
  CHECK(models::iron_time(models::apply(law, technique("fp8_math")))->time_s == 17);
  CHECK(near(models::iron_time(models::apply(law, technique("cuda_graphs")))->time_s, 30 + 2 * 0.9 / 3.3));
}

TEST_CASE("factors follow from the cases they name") {
  IronLaw weights = iron_law_example, others = iron_law_example;
  weights.weight_share = 1;
  others.weight_share = 0;
  CHECK(near(models::iron_value(models::apply(weights, technique("weights_4bit")), IronTerm::bytes),
             100 * (0.98488 * 4.125 / 16 + 0.01512), 1e-5));
  // 65 times less attention traffic at 8192 tokens
  CHECK(std::abs(100 / models::iron_value(models::apply(others, technique("flash_attention")), IronTerm::bytes) - 65) <=
        0.1);
  // E[tokens] of four drafts at 0.8: (1 - 0.8^5) / 0.2
  CHECK(near(100 / models::iron_value(models::apply(iron_law_example, technique("speculation")), IronTerm::bytes),
             (1 - std::pow(0.8, 5)) / 0.2));
}

TEST_CASE("a technique touches its own bytes: weights, the others, or all") {
  IronLaw weights = iron_law_example, others = iron_law_example, mixed = iron_law_example;
  weights.weight_share = 1;
  others.weight_share = 0;
  mixed.weight_share = 0.8;
  CHECK(models::apply(weights, technique("flash_attention")).bytes == 100);
  CHECK(models::apply(weights, technique("fusion")).bytes == 100);
  CHECK(models::apply(others, technique("weights_8bit")).bytes == 100);
  CHECK(models::apply(others, technique("batching")).bytes == 100);
  CHECK(near(models::apply(mixed, technique("weights_8bit")).bytes, 80 * 0.5 + 20));
  CHECK(near(models::apply(mixed, technique("weights_8bit")).weight_share, 40.0 / 60));
  CHECK(near(models::apply(mixed, technique("fp8_math")).bytes, 50));
  mixed.weight_share = 1.5;
  CHECK(models::iron_time(mixed).error == "The weights' share of the bytes must be from 0 to 1.");
}

TEST_CASE("a set of techniques multiplies, in any order, and efficiency stops at 1") {
  const std::vector<const Technique*> one_way{&technique("fusion"), &technique("weights_8bit"), &technique("tiling"),
                                              &technique("padding"), &technique("overlap")};
  const std::vector<const Technique*> other_way(one_way.rbegin(), one_way.rend());
  const IronLaw a = models::apply_all(iron_law_example, one_way), b = models::apply_all(iron_law_example, other_way);
  for (const IronTerm term : all_terms) CHECK(near(models::iron_value(a, term), models::iron_value(b, term)));
  CHECK(near(a.bytes, 50 / 2.0 + 50 / 3.0 / 2));  // 8-bit weights; fusion and tiling of the rest
  CHECK(near(a.efficiency, 0.9375));
  IronLaw good = iron_law_example;
  good.efficiency = 0.9;
  CHECK(models::apply(good, technique("padding")).efficiency == 1);
  CHECK_FALSE(models::find_technique("turbo"));
}
